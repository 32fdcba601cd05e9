/* A process that is forked to run on its own, and whose end can be waited for with poll(). */
#ifndef FAULT_PROCESS_H
#define FAULT_PROCESS_H

#include "base/types.h"

struct fault_process {
    int pid, pipe; /* pipe: nothing is written to it; it is readable when the process has ended. In
                    * the process itself: the other end */
    u64 id;        /* of the fault */
};

/* Forks. In the child, which dies with its parent, returns 0; otherwise the process, or -1. `quiet`:
 * the child has no standard input and output. */
int process_fork(struct fault_process *process, bool quiet);
/* A process that was started in another way; false: it cannot be waited for. */
bool process_watch(struct fault_process *process, int pid);
/* Waits for its end and returns its status, as of waitpid(). */
int process_reap(const struct fault_process *process);

#endif
