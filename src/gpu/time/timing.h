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
 *  T2  Windows in which no actor has work are skipped; cores charge the skipped cycles later.
 *  T3  The fault of a window is the earliest one; of several at the same time, the lowest core's.
 */
#ifndef GPU_TIME_TIMING_H
#define GPU_TIME_TIMING_H

#include "gpu/machine/stats.h"
#include "gpu/observe/waiting.h"
#include "gpu/time/resources.h"

struct core;
struct core_watcher;
struct exec;
struct hd_device;
struct trace_buffer;
struct thread_block;
struct timing;

/* How the time of a launch is told. */
struct launch_clock {
    u32 cores;
    fs origin; /* when the launch was given to the machine: its cycle 0 */
    fs period; /* of the cores' nominal clock */
};

/*
 * Who says how blocks start, which need not be alike, and takes them when they end; and may follow
 * each instruction. All is called between windows.
 */
struct block_source {
    /* What a block takes of a core. */
    void (*needs)(struct block_source *source, u64 number, struct amounts *needs);
    /* A block starts as the kernel says; it may be changed, and have fewer warps (block_limit). */
    void (*start)(struct block_source *source, struct thread_block *block);
    /* It has ended, or is where it was when the launch stopped. */
    void (*end)(struct block_source *source, struct thread_block *block);
    /* The launch begins, if its instructions are followed; NULL: they are not. */
    void (*follow)(struct block_source *source, const struct launch_clock *clock);
    /* Who watches a core, whose launch may get a watcher for its stores. */
    struct core_watcher *(*watcher)(struct block_source *source, u32 core, struct exec *exec);
    /* A window is over; `steps` of each core are taken out. */
    void (*take)(struct block_source *source, struct trace_buffer *steps);
};

/* What a launch in time leaves, and where its blocks come from. */
struct timed_launch {
    struct block_source *source; /* NULL: blocks are alike and start as the kernel says */
    struct amounts needs;        /* what a block takes of a core, where they are alike */
    struct machine_stats stats;
    struct inst_profile *profile; /* by instruction of the program; malloc'd */
    struct waiting_list waiting;  /* rows only after a deadlock */
    u8 *mechanisms;               /* their counters; malloc'd, NULL: none is on */
    const struct lane_use *uses;  /* of the program's instructions, until the next launch */
};

/* Mechanisms that are on have the seams they need. */
bool timing_serves(const struct hd_device *device, struct error *error);
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
