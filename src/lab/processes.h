/* Points as processes of this host, for executors. Signals are not handled here: the runner
 * waits for SIGCHLD and then calls processes_next. */
#ifndef LAB_PROCESSES_H
#define LAB_PROCESSES_H

#include "lab/executor.h"

/* `wrapper`: text for a shell, in which {} stands for the command line of a point as one word, and
 * {slot} for a number below `parallel` that no other running point has; NULL: points are started
 * directly. */
struct executor *processes_open(const struct executor_kind *kind,
                                const struct executor_setup *setup, u32 parallel,
                                const char *wrapper);
u32 processes_room(const struct executor *executor);
bool processes_start(struct executor *executor, const struct point *point, u64 number,
                     struct error *error);
bool processes_next(struct executor *executor, struct arena *arena, struct ended_run *run,
                    struct error *error);
void processes_stop(struct executor *executor, bool now);
void processes_close(struct executor *executor);

#endif
