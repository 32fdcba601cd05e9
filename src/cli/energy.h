/* The energy of timed launches as a table. */
#ifndef CLI_ENERGY_H
#define CLI_ENERGY_H

#include "base/types.h"
#include <jansson.h>
#include <stdio.h>

/* What hd_stats_json gives; launches without time have nothing to print. */
void print_energy(FILE *to, const json_t *stats);
/* The same, and the power of a core's modules beside what its machine's file says is published. */
struct hd_config;
void print_run_energy(FILE *to, const json_t *stats, const struct hd_config *config);

/* "12.3 nJ": three digits and a unit. */
const char *energy_text(f64 pj, char *text, size_t size);

#endif
