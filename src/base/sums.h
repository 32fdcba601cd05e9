/*
 * Sums of launches by kernel, for launches that are not recorded individually: shared between the
 * OpenCL driver and the command that runs the program, in a file that both use (cli/session.h).
 */
#ifndef BASE_SUMS_H
#define BASE_SUMS_H

#include "base/types.h"

enum {
    /* launches of a process that are always recorded individually: the file of a longer program
     * stays below some 7 MB in timing mode, 2 MB in functional mode */
    LAUNCHES_RECORDED = 500
};

struct launch_sum {
    u64 launches, timed; /* timed: launches in timing mode */
    u64 host_ns;         /* host time of these launches */
    u64 blocks;          /* of the running launch; 0: none */
};

/* The counters follow the struct, in the order of hd_launch_add. */
static inline u64 *launch_sum_counts(struct launch_sum *sum)
{
    return (u64 *)(sum + 1);
}

#endif
