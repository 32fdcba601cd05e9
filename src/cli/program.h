/* heddle run -- PROGRAM: an OpenCL program whose kernels run on the modelled machine. */
#ifndef CLI_PROGRAM_H
#define CLI_PROGRAM_H

#include "cli/files.h"

/* The request is parsed and has a program or a workload. The exit code is the program's own, but
 * EXIT_FAULT when that is 0 and a launch faulted; or EXIT_OWN; 126 and 127 when it cannot be
 * started, as shells have it. */
int program_run(struct run_command *run);
/* --list-devices */
int program_devices(struct run_command *run);

/* workloads.c: false after saying what is wrong and what might be meant. */
bool workload_known(const struct command *command, const char *name);

/* The folder of a part of Heddle beside the command: in the build folder `build`, or installed
 * under the prefix as `installed`. NULL: neither is there. */
const char *find_beside(struct arena *arena, const char *build, const char *installed);

#endif
