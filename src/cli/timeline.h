/*
 * Files that are written while launches run: the trace and the time series. Both appear whole when
 * they are closed, after a fault or Ctrl-C too.
 */
#ifndef CLI_TIMELINE_H
#define CLI_TIMELINE_H

#include "cli/files.h"

/* Nothing happens when neither is asked for. False after printing what is wrong. */
bool timeline_open(struct run_command *run);
bool timeline_close(struct run_command *run);
/* The same from what a program's driver has left in a folder, as `trace` and `series`. */
bool timeline_copy(struct run_command *run, const char *folder);

#endif
