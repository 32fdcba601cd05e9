/* Slurm's own commands, for executor_slurm.c, whose state this is. */
#ifndef LAB_SLURM_H
#define LAB_SLURM_H

#include "lab/executor.h"

enum {
    SLURM_ABSENCES = 3 /* looks at the queue after which a task is gone */
};

struct slurm_batch {
    char *folder, *name; /* name: of the jobs */
    u32 tasks;           /* number of tasks */
    u8 *absent;          /* by task: looks at the queue that did not find it */
    u32 *first_task;     /* by array job: first task */
    u32 *job_numbers;
    u32 job_count;
};

enum point_state {
    KNOWN,   /* in the folder of an earlier runner; this runner has not planned it */
    PENDING, /* to be submitted */
    FLYING,
    ENDED
};

struct slurm_point {
    char key[SHA256_TEXT];
    u64 number;
    enum point_state state;
    u32 batch, task, attempts;
    bool arrived;     /* its result is there */
    const char *line; /* in a task file */
};

struct slurm {
    struct executor base;
    struct arena *arena;
    const char *heddle, *folder, *build;
    const char *const *options;
    struct run_limits limits;
    u32 throttle, pack, array_size;
    VEC(struct slurm_batch) batches;
    VEC(struct slurm_point) points;
    u32 *table;                            /* point + 1 by key, open addressing */
    u32 table_size, flying, pending, next; /* next: where the search for arrived ones continues */
    f64 looked, asked;                     /* times of the last looks */
    char *taken;   /* file of the result that the runner is storing, or NULL */
    bool unstored; /* it could not store one */
    bool stopped;
};

/* Whether jobs can be submitted from this host. */
bool slurm_present(void);
/* The cluster's MaxArraySize: indices are below it. */
u32 slurm_array_size(void);
/* Submits tasks of a batch as one array job; its number, or 0 and an error. */
u32 slurm_submit_array(struct slurm *slurm, const struct slurm_batch *batch, u32 first, u32 count,
                       u32 pack, struct error *error);
/* Notes which tasks are in the queue; the others are absent once more. False: the queue is unknown,
 * which says nothing about its tasks. */
bool slurm_look_at_queue(struct slurm *slurm);
/* Why the task of a point failed, as far as accounting knows; NULL: it does not. */
const char *slurm_accounted(struct slurm *slurm, const struct slurm_point *point);
/* What a runner that was killed, or runs elsewhere, has below a campaign's folder: result files first,
 * then tasks by accounting (sacct) or, where there is none, by the queue (squeue). */
struct slurm_left {
    u32 batches, results;        /* results: files that no runner has taken in yet */
    u32 running, queued, failed; /* tasks; failed: only accounting knows */
};
struct slurm_left slurm_left_in(const char *campaign_folder);

/* Cancels the jobs of a batch. */
void slurm_cancel(struct slurm *slurm, const struct slurm_batch *batch);

#endif
