/* heddle run -- PROGRAM: an OpenCL program whose kernels run on the modelled machine. */
#ifndef CLI_PROGRAM_H
#define CLI_PROGRAM_H

#include "cli/files.h"

/* The request is parsed and has a program or a workload. Returns the program's exit code, or
 * EXIT_FAULT if that is 0 and a launch faulted; or EXIT_OWN; 126 and 127 if it cannot be started,
 * as in shells. */
int program_run(struct run_command *run);
/* --list-devices */
int program_devices(struct run_command *run);

/* workloads.c: false after an error message with suggestions. */
bool workload_known(const struct command *command, const char *name);

/* The path of a part of Heddle beside the command: in the build folder as `build`, or under the
 * prefix as `installed`. NULL: neither exists. */
const char *find_beside(struct arena *arena, const char *build, const char *installed);

#endif
