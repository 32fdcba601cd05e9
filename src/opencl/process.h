/*
 * A folder of our own for the files of one compilation, and programs that run on them.
 */
#ifndef OPENCL_PROCESS_H
#define OPENCL_PROCESS_H

#include "base/arena.h"

struct scratch {
    char folder[256]; /* only we can read it */
};

bool scratch_create(struct scratch *scratch);
/* Removes the folder and all in it. */
void scratch_destroy(const struct scratch *scratch);
/* The path of a file in it; of the arena. */
const char *scratch_path(const struct scratch *scratch, struct arena *arena, const char *name);
/* Writes a file; folders of its name are made. False: it did not work, or the name leads out. */
bool scratch_write(const struct scratch *scratch, const char *name, const void *data, size_t bytes);

/*
 * Runs a program to its end: no shell, standard input from a file, what it says into a file (both
 * of the scratch folder, where it keeps its own temporary files too). Returns its exit code, -1
 * when it did not start (errno), -2 when a signal ended it.
 */
int process_run(const struct scratch *scratch, const char *const *words, const char *input,
                const char *output);

#endif
