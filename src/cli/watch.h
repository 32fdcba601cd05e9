/*
 * A thread that waits for Ctrl-C and draws progress on a terminal while launches run.
 *
 * SIGINT and SIGTERM are blocked everywhere and taken by this thread alone, so that there is no
 * signal handler and no global state. The first one asks the device to stop; a second one removes
 * incomplete files and exits at once.
 */
#ifndef CLI_WATCH_H
#define CLI_WATCH_H

#include "base/types.h"
#include "cli/options.h"
#include "heddle/heddle.h"

struct watch;

/* `progress`: draw on standard error. NULL when the thread cannot be started. */
struct watch *watch_start(struct hd_device *device, bool progress);
/* Announces a launch: its name and number for the progress line; NULL: nothing to draw. */
void watch_launch(struct watch *watch, const char *kernel, u32 number, u32 count);
/* The signal that arrived, or 0. */
int watch_signal(struct watch *watch);
/* Announces a temporary file; NULL is none. Without a watch, these functions do nothing. */
void watch_temporary(struct watch *watch, const char *path);
/* The file is complete or removed. */
void watch_temporary_gone(struct watch *watch, const char *path);
/* Reports that a launch may be endless (hd_set_note), and how to stop it, if progress is drawn. */
void watch_note(struct watch *watch, const struct command *command, const char *kernel,
                const char *text);
/* Clears the progress line so that other output can be written. */
void watch_clear(struct watch *watch);
/* Ends the thread; the signals stay blocked for the rest of the run. */
void watch_stop(struct watch *watch);

#endif
