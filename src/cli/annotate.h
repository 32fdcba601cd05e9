/* Code beside what happened at it. */
#ifndef CLI_ANNOTATE_H
#define CLI_ANNOTATE_H

#include <jansson.h>
#include <stdio.h>

/*
 * The `profile` of a run's statistics: each function's source, if its lines are known and the file
 * is there, or else its instructions.
 */
void print_annotated(FILE *to, const json_t *profile);

#endif
