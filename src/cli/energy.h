/* The energy of launches in timing mode as a table. */
#ifndef CLI_ENERGY_H
#define CLI_ENERGY_H

#include "base/arena.h"
#include <jansson.h>
#include <stdio.h>

/* `stats`: from hd_stats_json; nothing is printed for functional launches. */
void print_energy(FILE *to, const json_t *stats);
/* print_energy() plus what mechanisms change of the machine's costs, and the power of a core's
 * modules beside the published values in the machine file. */
struct hd_config;
void print_run_energy(FILE *to, const json_t *stats, const struct hd_config *config);

/* What mechanisms change of a row of hd_energy_json or hd_area_json: "replaced by less", "at 0.86 V";
 * "": nothing. */
const char *change_text(struct arena *arena, const json_t *row);

#endif
