/* A process that is forked to run on its own, and whose end can be waited for with poll(). */
#ifndef FAULT_PROCESS_H
#define FAULT_PROCESS_H

#include "base/types.h"

struct fault_process {
    int pid, pipe; /* pipe: nothing is written to it; it is readable when the process has ended */
    u64 id;        /* of the fault */
};

/* Forks. In the child, which dies with its parent and has no standard input and output, returns 0;
 * otherwise the process, or -1. */
int process_fork(struct fault_process *process);
/* Waits for its end. False: it was killed, or has failed. */
bool process_reap(const struct fault_process *process);

#endif
