/*
 * Runs the jobs of a plan as processes of their own, several at a time, and keeps their results.
 *
 *  R1  Jobs with a stored result are not run again unless forced; failed jobs are.
 *  R2  A job's result is stored as soon as it ends. After Ctrl-C, SIGTERM or kill -9 a second run
 *      continues from there; jobs die with the process that started them.
 *  R3  Results do not depend on how many jobs run at a time or in which order.
 *  R4  Signals are taken by sigtimedwait: there is no handler and no global state.
 */
#ifndef LAB_RUNNER_H
#define LAB_RUNNER_H

#include "lab/plan.h"
#include "lab/store.h"

struct runner_options {
    u32 parallel;    /* jobs at a time, at least 1 */
    f64 max_seconds; /* per job, 0: no limit */
    bool force;      /* also run jobs with a stored result */
};

struct runner_progress {
    u32 done, failed, running, total; /* jobs; `done` includes failed and stored ones */
    f64 left;                         /* seconds, estimated; below 0: unknown */
    const char *label;                /* of the job running longest */
};
/* Called several times per second. */
typedef void runner_tell(void *user, const struct runner_progress *progress);

/* False and an error if results cannot be stored or nothing can be started; a failed job is not an
 * error. *signal: the signal that ended the run early, or 0. */
bool runner_run(struct plan *plan, struct store *store, const struct runner_options *options,
                runner_tell *tell, void *user, int *signal, struct error *error);

#endif
