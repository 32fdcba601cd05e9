/*
 * Launches of a program that are not recorded one by one but added up by kernel: what the OpenCL
 * driver and the command that runs the program share, in a file that both map (cli/session.h).
 */
#ifndef BASE_SUMS_H
#define BASE_SUMS_H

#include "base/types.h"

enum {
    /* Launches of a process that are always recorded one by one: the file of a longer program
     * stays below some 7 MB with time, 2 MB without. */
    LAUNCHES_RECORDED = 500
};

struct launch_sum {
    u64 launches, timed; /* timed: of these, modelled in time */
    u64 host_ns;         /* that they took */
    u64 blocks;          /* of the launch under way; 0: there is none */
};

/* The counters stand behind it, as hd_launch_add adds them. */
static inline u64 *launch_sum_counts(struct launch_sum *sum)
{
    return (u64 *)(sum + 1);
}

#endif
