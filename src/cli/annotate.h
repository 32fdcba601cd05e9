/* Annotated code: counts beside source lines or instructions. */
#ifndef CLI_ANNOTATE_H
#define CLI_ANNOTATE_H

#include <jansson.h>
#include <stdbool.h>
#include <stdio.h>

/*
 * Prints the profile in the statistics of hd_stats_json: each function's source, if its lines are
 * known and the file exists, or else its instructions. Files are searched at their absolute paths, and in
 * `folder` or, if it is NULL, at their paths and beside their module. `energy`: adds the energy of each line, and a line
 * for the rest.
 */
void print_annotated(FILE *to, const json_t *stats, const char *folder, bool energy);

#endif
