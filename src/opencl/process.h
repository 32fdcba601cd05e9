/*
 * A private folder for the files of one compilation, and processes that use it.
 */
#ifndef OPENCL_PROCESS_H
#define OPENCL_PROCESS_H

#include "base/arena.h"
#include "base/temporary.h"

struct scratch {
    struct temporary temporary;
    const char *folder; /* its path; readable only by this user */
};

bool scratch_create(struct scratch *scratch);
/* Removes the folder with its contents. */
void scratch_destroy(struct scratch *scratch);
/* The path of a file in the folder, allocated in the arena. */
const char *scratch_path(const struct scratch *scratch, struct arena *arena, const char *name);
/* Writes a file and creates the folders of its name. False: failed, or the name leads out of the
 * folder. */
bool scratch_write(const struct scratch *scratch, const char *name, const void *data, size_t bytes);

/*
 * Runs a program to its end, without a shell: standard input from a file, output into a file (both
 * in the scratch folder, which also holds its temporary files). Returns its exit code, -1 if it did
 * not start (errno), -2 if a signal ended it.
 */
int process_run(const struct scratch *scratch, const char *const *words, const char *input,
                const char *output);

#endif
