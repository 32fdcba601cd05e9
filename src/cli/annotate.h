/* Code beside what happened at it. */
#ifndef CLI_ANNOTATE_H
#define CLI_ANNOTATE_H

#include <jansson.h>
#include <stdio.h>

/*
 * The `profile` of a run's statistics: each function's source, if its lines are known and the file
 * is there, or else its instructions. Files are looked for in `folder` or, when it is NULL, where
 * they are named and beside their module.
 */
void print_annotated(FILE *to, const json_t *profile, const char *folder);

#endif
