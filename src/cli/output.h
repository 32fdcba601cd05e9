/*
 * Atomic output files: written to a temporary file beside the target, renamed when complete. "-" is
 * standard output; devices and pipes are written directly.
 */
#ifndef CLI_OUTPUT_H
#define CLI_OUTPUT_H

#include "base/error.h"
#include <stdio.h>

struct output {
    FILE *stream;
    char *path;      /* the target, symbolic links resolved; NULL for standard output */
    char *temporary; /* NULL when written directly */
};

/* Whether the file could be written, without touching it. */
bool output_check(const char *path, struct error *error);
/* Whether two paths name the same file, existing or not; devices and pipes may be shared. */
bool output_same(const char *a, const char *b);
bool output_open(struct output *output, const char *path, struct error *error);
/* Renames the complete file to its target; on failure nothing is left behind. */
bool output_commit(struct output *output, struct error *error);
void output_discard(struct output *output);

#endif
