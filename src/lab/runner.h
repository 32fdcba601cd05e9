/*
 * Runs the points of a plan on an executor and keeps their results.
 *
 *  R1  Points with a stored result are not run again unless forced; failed ones are if the options
 *      say so. Points with equal keys are run once, even if of different plans; points that another
 *      process is running are waited for.
 *  R2  A result is stored as soon as its point ends. After Ctrl-C, SIGTERM or kill -9 a second run
 *      continues from there.
 *  R3  Results do not depend on how many points run at a time, where or in which order.
 *  R4  Signals are taken by sigtimedwait: there is no handler and no global state.
 */
#ifndef LAB_RUNNER_H
#define LAB_RUNNER_H

#include "lab/executor.h"
#include "lab/store.h"
#include "lab/survey.h"

struct runner_options {
    bool force;        /* also run points with a stored result */
    bool fail_fast;    /* stop at the first failure */
    const char *retry; /* failed points to run again: NULL: none, "": all, or a reason */
    const char *logs;  /* folder for the logs of failed points, or NULL */
};

struct runner_progress {
    u64 done, failed, running, total; /* points; `done` includes failed and stored ones */
    f64 left;                         /* seconds, estimated; below 0: unknown */
    const char *label;                /* of the point running longest */
};
/* Called several times per second. */
typedef void runner_tell(void *user, const struct runner_progress *progress);

struct runner_result {
    u64 stored;     /* distinct points with a result of others, before the run or meanwhile */
    u64 ran;        /* ended now */
    u64 failed;     /* of all distinct points, now or before */
    int signal;     /* that ended the run early, or 0 */
    bool cut_short; /* by fail_fast */
    f64 busy;       /* seconds of this process's processor time, without the points */
};

/* False and an error if results cannot be stored or nothing can be started; a failed point is not
 * an error. */
bool runner_run(struct plan *plan, const struct survey *survey, struct store *store,
                struct executor *executor, const struct runner_options *options, runner_tell *tell,
                void *user, struct runner_result *result, struct error *error);

#endif
