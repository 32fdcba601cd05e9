/*
 * Files written while launches run: the trace and the time series. Both are renamed into place when
 * closed, also after a fault or Ctrl-C.
 */
#ifndef CLI_TIMELINE_H
#define CLI_TIMELINE_H

#include "cli/files.h"

/* Do nothing if neither is requested. False after printing an error. */
bool timeline_open(struct run_command *run);
bool timeline_close(struct run_command *run);
/* Copies the files that a program's driver has left in a folder, `trace` and `series`. */
bool timeline_copy(struct run_command *run, const char *folder);

#endif
