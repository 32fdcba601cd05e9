/*
 * Points for workers on other hosts, as files in a folder that all hosts share:
 *
 *     batch.json          limits, and the hash of the Heddle that workers must be
 *     tasks/N.json        a line for each point of task N: its key and command line
 *     results/KEY.json    how a point ended, written by its worker
 *     results/KEY.log     what a failed point printed
 *     jobs                array jobs of the scheduler: number, first task, tasks
 *
 *  B1  A result is written under another name and renamed: what has its name is complete.
 *  B2  A worker leaves alone points that have a result. A task may be started again at any time.
 *  B3  Only the runner removes results, and only after they are in its store.
 */
#ifndef LAB_BATCH_H
#define LAB_BATCH_H

#include "lab/executor.h"

/* Writes the line of a point into a task's file. */
void batch_write_point(FILE *to, const struct point *point);
/* Reads the result of a point; false: there is none. The statistics are the caller's. */
bool batch_read_result(const char *folder, const char *key, struct arena *arena,
                       struct ended_run *run);

/* What a worker needs to know. */
struct worker_setup {
    const char *heddle;
    const char *build; /* hash of the files of this Heddle */
    const char *folder;
    u64 task;
    u32 parallel;
};

/* Runs the points of a task that have no result. *signal: what ended it early, or 0. */
bool batch_work(const struct worker_setup *setup, int *signal, struct error *error);

#endif
