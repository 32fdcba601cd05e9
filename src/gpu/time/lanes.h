/*
 * Lane counts of a launch: accesses to registers and shared memory, and operations by kind.
 *
 * Nothing is counted while cores run. The profile gives how often each instruction was issued and
 * for how many lanes, and what mechanisms added or saved; here these are multiplied by what the
 * instruction does and summed whenever statistics are taken.
 */
#ifndef GPU_TIME_LANES_H
#define GPU_TIME_LANES_H

#include "core/stages.h"
#include "gpu/machine/stats.h"

/* What one instruction does, per lane. */
struct lane_use {
    u8 reads, writes;               /* accesses to vector registers */
    u8 shared_reads, shared_writes; /* words of shared memory */
    u8 scalar_reads, scalar_writes; /* scalar registers, per warp */
    u8 kind;                        /* enum lane_kind */
    bool multiplies;                /* integers */
    bool constant;                  /* an access to constants or parameters */
};

/* The counters of units.def that end in _ops. */
enum lane_kind {
    LANE_INT,
    LANE_FP32,
    LANE_FP64,
    LANE_SFU,
    LANE_MEM,
    LANE_CONTROL,
    LANE_SCALAR, /* once per warp */
    LANE_KINDS
};

/* The sums for one instruction: lanes and words over all its issues. */
struct lane_work_sum {
    u64 reads, writes, shared_reads, shared_writes, scalar_reads, scalar_writes, ops;
};

/* One row per instruction of a program; free() it. */
struct lane_use *lanes_of_program(const struct program *program, const struct inst_time *times);
struct lane_work_sum lanes_of_profile(const struct lane_use *use,
                                      const struct inst_profile *profile);
/* Sets the counters; `unwritten`: lanes in the profile without write-back so far. */
void lanes_count(struct machine_stats *stats, const struct lane_use *uses,
                 const struct inst_profile *profile, u32 count, u64 unwritten);

#endif
