/* Raw programs of `heddle run`: code, a state, and what is left at the end. */
#ifndef CLI_RAW_H
#define CLI_RAW_H

#include "cli/files.h"

/* The state against the code; false after printing what is wrong. */
bool raw_prepare(struct run_command *run);
/* The exit code; the trace is written whatever comes of the guest. */
int raw_launch(struct run_command *run);

#endif
