/* The energy of timed launches as a table. */
#ifndef CLI_ENERGY_H
#define CLI_ENERGY_H

#include "base/arena.h"
#include <jansson.h>
#include <stdio.h>

/* What hd_stats_json gives; launches without time have nothing to print. */
void print_energy(FILE *to, const json_t *stats);
/* The same; what mechanisms change of the machine's costs; and the power of a core's modules beside
 * what its machine's file says is published. */
struct hd_config;
void print_run_energy(FILE *to, const json_t *stats, const struct hd_config *config);

/* What mechanisms change of a row of hd_energy_json or hd_area_json: "replaced by less", "at 0.86 V";
 * "": nothing. */
const char *change_text(struct arena *arena, const json_t *row);

/* "12.3 nJ": three digits and a unit. */
const char *energy_text(f64 pj, char *text, size_t size);

#endif
