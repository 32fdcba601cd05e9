/*
 * Threads that share the jobs of short rounds.
 *
 * Each thread has a queue of jobs for the round. It runs those from the front; when it has none
 * left, it takes jobs from the back of the longest queue. So a job that is given to the same thread
 * in every round finds its data in that thread's caches, and the rounds still end together.
 *
 * The thread that calls workers_run takes part; the others spin for a short time between rounds,
 * then sleep. No thread waits for one that has not begun its job: when the host has no core to
 * spare, the caller does all jobs itself.
 *
 * Invariants
 *  TH1  Each job of a round runs once, on one thread. All that was written before workers_run is
 *       seen by its jobs, and all that these write is seen when it returns.
 *  TH2  A queue is taken from the front by its own thread and from the back by others: large jobs
 *       should come first, so that small ones change threads.
 *  TH3  Threads block all signals, and compute with the floating-point environment that the caller
 *       of workers_begin has.
 */
#ifndef BASE_WORKERS_H
#define BASE_WORKERS_H

#include "base/types.h"

enum {
    HOST_LINE_PAIR =
        128, /* bytes: what threads write lies apart; processors fetch lines in pairs */
    WORKERS_MOST = 1024,
    WORKERS_JOBS = 65535 /* of a round, and the largest number of one */
};

/* A job of a round, on the thread `worker`: 0 is the caller. */
typedef void job_fn(void *user, u32 job, u32 worker);

struct workers;
/* `threads` of them, the caller included; from 2 to WORKERS_MOST. None is started yet. A round has
 * at most `jobs`. */
struct workers *workers_create(u32 threads, u32 jobs);
/* Ends the threads. */
void workers_destroy(struct workers *workers);
/* Before the first round, and whenever rounds may come from another thread or from another process
 * (after fork) than before: starts the threads if there are none. Fewer if the host refuses. */
void workers_begin(struct workers *workers);
/* How many take part at most. */
u32 workers_count(const struct workers *workers);
/* Appends a job to the queue of a thread, for the next round. */
void workers_add(struct workers *workers, u32 worker, u32 job);
/* Runs the jobs that were added; returns when all are done. Not from two threads at once. */
void workers_run(struct workers *workers, job_fn *run, void *user);

/* For tests: the caller leaves all jobs of every fourth round to the others. */
void workers_leave(struct workers *workers);

/* Cores that the host lets this process use, at least 1. */
u32 workers_host_cores(void);

#endif
