/* The vulnerability of a machine's structures (--avf) as a table. */
#ifndef CLI_AVF_H
#define CLI_AVF_H

#include <jansson.h>
#include <stdio.h>

/* `stats`: from hd_stats_json; nothing is printed if no launch was analysed. */
void print_avf(FILE *to, const json_t *stats);

#endif
