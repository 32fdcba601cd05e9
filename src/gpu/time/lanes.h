/*
 * What a launch did lane by lane: accesses to registers and shared memory, and operations by kind.
 *
 * Nothing is counted while cores run. The profile says how often each instruction was issued and
 * for how many lanes, and what mechanisms added or saved; here that is multiplied by what the
 * instruction does and summed whenever statistics are taken.
 */
#ifndef GPU_TIME_LANES_H
#define GPU_TIME_LANES_H

#include "core/stages.h"
#include "gpu/machine/stats.h"

/* Of one instruction, for a lane. */
struct lane_use {
    u8 reads, writes;               /* accesses to vector registers */
    u8 shared_reads, shared_writes; /* words of shared memory */
    u8 scalar_reads, scalar_writes; /* scalar registers, for the warp */
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
    LANE_SCALAR, /* once for its warp */
    LANE_KINDS
};

/* What an instruction's profile comes to: lanes and words of all times it was issued. */
struct lane_work_sum {
    u64 reads, writes, shared_reads, shared_writes, scalar_reads, scalar_writes, ops;
};

/* A row for each instruction of a program; free it. */
struct lane_use *lanes_of_program(const struct program *program, const struct inst_time *times);
struct lane_work_sum lanes_of_profile(const struct lane_use *use,
                                      const struct inst_profile *profile);
/* Sets the counters; `unwritten`: lanes of the profile that are not written yet. */
void lanes_count(struct machine_stats *stats, const struct lane_use *uses,
                 const struct inst_profile *profile, u32 count, u64 unwritten);

#endif
