/* Code beside what happened at it. */
#ifndef CLI_ANNOTATE_H
#define CLI_ANNOTATE_H

#include <jansson.h>
#include <stdbool.h>
#include <stdio.h>

/*
 * What hd_stats_json gives, its profile: each function's source, if its lines are known and the
 * file is there, or else its instructions. Files are looked for in `folder` or, when it is NULL,
 * where they are named and beside their module. `energy`: lines have theirs, and the rest has a
 * line.
 */
void print_annotated(FILE *to, const json_t *stats, const char *folder, bool energy);

#endif
