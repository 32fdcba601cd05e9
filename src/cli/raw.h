/* Raw programs of `heddle run`: code, an initial and a final state. */
#ifndef CLI_RAW_H
#define CLI_RAW_H

#include "cli/files.h"

/* Checks the state against the code; false after printing an error. */
bool raw_prepare(struct run_command *run);
/* Returns the exit code; the trace is written whatever the outcome. */
int raw_launch(struct run_command *run);

#endif
