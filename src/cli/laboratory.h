/* What commands that run plans share: the parts of Heddle they need, and their options. */
#ifndef CLI_LABORATORY_H
#define CLI_LABORATORY_H

#include "cli/options.h"
#include "lab/runner.h"

/* Experiments, suites and workloads that are built in. */
extern const struct lab_files laboratory_files;

struct lab_host laboratory_host(struct arena *arena);
/* Reads --jobs and --max-seconds, and --max-memory if there is one; false after an error message.
 * By default as many run at a time as there are processors. */
bool laboratory_limits(const struct command *command, const struct command_line *line,
                       u32 *parallel, struct run_limits *limits);
/* Creates a folder unless it exists; false after an error message about `option`. */
bool laboratory_folder(const struct command *command, const char *option, const char *path);
/* The progress line on a terminal. */
void laboratory_draw(void *user, const struct runner_progress *progress);
void laboratory_clear(void);

#endif
