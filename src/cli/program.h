/* heddle run -- PROGRAM: an OpenCL or CUDA program whose kernels run on the modelled machine. */
#ifndef CLI_PROGRAM_H
#define CLI_PROGRAM_H

#include "cli/files.h"

/* The request is parsed and has a program or a workload. Returns the program's exit code, or
 * EXIT_FAULT if that is 0 and a launch faulted; or EXIT_OWN; 126 and 127 if it cannot be started,
 * as in shells. */
int program_run(struct run_command *run);
/* A program that is started several times: its driver, command line and a temporary folder. NULL
 * after an error message. */
struct child;
struct child *guest_open(struct run_command *run);
/* The folder; symbolic links in its path are resolved. */
const char *guest_folder(const struct child *child);
/* Starts it once in the folder `place`/cwd, with its output in files of `place` and without input; it
 * can write to `place` and the compiler's cache only, and dies with this process. `job`: the value of
 * HEDDLE_INJECT. Returns its process, or -1. */
i64 guest_start(struct child *child, const char *place, const char *job, struct hd_error *error);
void guest_close(struct child *child);
/* --list-devices */
int program_devices(struct run_command *run);

/* reach.c: why a program did not load one of Heddle's drivers, as far as its file tells, and what
 * to do. `path` may be NULL. */
const char *unreached_reason(const char *path);

/* workloads.c: false after an error message with suggestions. */
bool workload_known(const struct command *command, const char *name);

/* The path of a part of Heddle beside the command: in the build folder as `build`, or under the
 * prefix as `installed`. NULL: neither exists. */
const char *find_beside(struct arena *arena, const char *build, const char *installed);

#endif
