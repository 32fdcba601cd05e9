/*
 * A thread beside the running launches: it waits for Ctrl-C and draws progress on a terminal.
 *
 * SIGINT and SIGTERM are blocked everywhere and taken by this thread alone, so that there is no
 * signal handler and no global state. The first one asks the device to stop; a second one removes
 * files that are half written and exits at once.
 */
#ifndef CLI_WATCH_H
#define CLI_WATCH_H

#include "base/types.h"
#include "cli/options.h"
#include "heddle/heddle.h"

struct watch;

/* `progress`: draw on standard error. NULL when the thread cannot be started. */
struct watch *watch_start(struct hd_device *device, bool progress);
/* A launch begins: its name and number for the progress line; NULL when there is none to draw. */
void watch_launch(struct watch *watch, const char *kernel, u32 number, u32 count);
/* The signal that came, or 0. */
int watch_signal(struct watch *watch);
/* A temporary file is being written; NULL is none. Without a watch, these three do nothing. */
void watch_temporary(struct watch *watch, const char *path);
/* It is there no more. */
void watch_temporary_gone(struct watch *watch, const char *path);
/* A launch may be endless (hd_set_note): says so, and how to stop it, where progress is drawn. */
void watch_note(struct watch *watch, const struct command *command, const char *kernel,
                const char *text);
/* Takes the progress line away so that other output can be written. */
void watch_clear(struct watch *watch);
/* Ends the thread; the signals stay blocked for the little that is left to do. */
void watch_stop(struct watch *watch);

#endif
