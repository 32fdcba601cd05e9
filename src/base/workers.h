/*
 * Threads that share the jobs of short rounds.
 *
 * The thread that calls workers_run takes part; the others spin for a short time between rounds,
 * then sleep. No thread waits for one that has no job: when the host has no core to spare, the
 * caller does all jobs itself.
 *
 * Invariants
 *  TH1  Each job of a round runs once, on one thread. All that was written before workers_run is
 *       seen by its jobs, and all that these write is seen when it returns.
 *  TH2  Jobs are handed out in ascending order: large ones should come first.
 *  TH3  Threads block all signals, and compute with the floating-point environment that the caller
 *       of workers_begin has.
 */
#ifndef BASE_WORKERS_H
#define BASE_WORKERS_H

#include "base/types.h"

enum {
    WORKERS_MOST = 1024,
    WORKERS_JOBS = 65535 /* of a round, at most */
};

/* A job of a round, on the thread `worker`: 0 is the caller. */
typedef void job_fn(void *user, u32 job, u32 worker);

struct workers;
/* `threads` of them, the caller included; from 2 to WORKERS_MOST. None is started yet. */
struct workers *workers_create(u32 threads);
/* Ends the threads. */
void workers_destroy(struct workers *workers);
/* Before the first round, and whenever rounds may come from another thread or from another process
 * (after fork) than before: starts the threads if there are none. Fewer if the host refuses. */
void workers_begin(struct workers *workers);
/* How many take part at most. */
u32 workers_count(const struct workers *workers);
/* A round; returns when all jobs are done. Not from two threads at once. */
void workers_run(struct workers *workers, u32 jobs, job_fn *run, void *user);

/* For tests: the caller leaves all jobs of every fourth round to the others. */
void workers_leave(struct workers *workers);

/* Cores that the host lets this process use, at least 1. */
u32 workers_host_cores(void);

#endif
