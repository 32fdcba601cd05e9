/*
 * The cycle-level machine of a device: cores and the memory side, run window by window.
 *
 * In a window every actor runs alone; between windows, serially and always in the same order:
 * ports meet, what cores stored becomes visible (cores in order), atomics that memory served act
 * (in the order of service), system calls are done (cores in order), blocks that ended leave and
 * new ones take their places. So no result depends on the order in which actors run in a window.
 *
 * Invariants
 *  T1  Every launch starts at a window's edge with cores empty and nothing under way.
 *  T2  Stretches in which nobody has anything to do are left out; cores charge them when they go
 * on. T3  A fault is the one with the earliest time, then the lowest core, of the window it is in.
 */
#ifndef GPU_TIMING_H
#define GPU_TIMING_H

#include "gpu/machine_stats.h"
#include "gpu/waiting.h"

struct core;
struct exec;
struct hd_device;
struct timing;

/* What a launch in time leaves. */
struct timed_launch {
    struct machine_stats stats;
    struct inst_profile *profile; /* by instruction of the program; malloc'd */
    struct waiting_list waiting;  /* rows only after a deadlock */
    u8 *mechanisms;               /* their counters; malloc'd, NULL: none is on */
    const struct lane_use *uses;  /* of the program's instructions, until the next launch */
};

/* Whether the configuration can be built; says what cannot. */
bool timing_check(const struct hd_device *device, struct error *error);
struct timing *timing_create(struct hd_device *device);
void timing_destroy(struct timing *timing);
/* For tests and tools that look into the machine. */
struct core *timing_core(struct timing *timing, u32 index);
/* Runs all blocks, `per_core` of them at once on a core. exec is prepared but for its blocks. */
void timing_run(struct timing *timing, struct exec *exec, u64 blocks, u32 per_core,
                struct timed_launch *launch);
void timed_launch_free(struct timed_launch *launch);
/* The host has copied to or from device memory. */
void timing_copied(struct timing *timing, u64 address, u64 bytes);
/* Modules are about to change: nothing known of their code stays. */
void timing_forget(struct timing *timing);

#endif
