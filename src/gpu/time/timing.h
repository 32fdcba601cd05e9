/*
 * The timing model of a device: cores and the memory system, simulated window by window.
 *
 * In a window every core and the memory system run independently; between windows, serially and
 * always in the same order: ports exchange messages, stores of cores become visible (cores in
 * order), atomics served by memory are performed (in the order of service), system calls are done
 * (cores in order), ended blocks are removed and new ones dispatched. So no result depends on the
 * order of simulation within a window, nor on the number of threads that share it (window.c).
 *
 * Invariants
 *  T1  Every launch starts at a window's edge with empty cores and nothing in flight.
 *  T2  Windows in which nothing has work are skipped; cores account for skipped cycles later.
 *  T3  The fault of a window is the earliest one; of several at the same time, the lowest core's.
 */
#ifndef GPU_TIME_TIMING_H
#define GPU_TIME_TIMING_H

#include "gpu/machine/stats.h"
#include "gpu/observe/waiting.h"
#include "gpu/time/resources.h"
#include "heddle/heddle.h"

struct core;
struct core_watcher;
struct exec;
struct hd_device;
struct trace_buffer;
struct thread_block;
struct timing;

/* The time base of a launch. */
struct launch_clock {
    u32 cores;
    fs origin; /* start of the launch: its cycle 0 */
    fs period; /* of the cores' nominal clock */
};

/*
 * A source of blocks, which need not be alike: initialises them, gets them back when they end, and
 * may trace each instruction. All functions are called between windows.
 */
struct block_source {
    /* Resources of a block on a core. */
    void (*needs)(struct block_source *source, u64 number, struct amounts *needs);
    /* A new block in its initial state; may be changed, and have fewer warps (block_limit). */
    void (*start)(struct block_source *source, struct thread_block *block);
    /* The block has ended, or is as it was when the launch stopped. */
    void (*end)(struct block_source *source, struct thread_block *block);
    /* A launch begins whose instructions are traced; NULL: they are not. */
    void (*follow)(struct block_source *source, const struct launch_clock *clock);
    /* The watcher of a core, whose exec may get a watcher for its stores. */
    struct core_watcher *(*watcher)(struct block_source *source, u32 core, struct exec *exec);
    /* A window has ended: takes the `steps` of each core. */
    void (*take)(struct block_source *source, struct trace_buffer *steps);
};

/* The results of a launch in timing mode, and the source of its blocks. */
struct timed_launch {
    struct block_source *source; /* NULL: all blocks start alike, as the kernel requires */
    struct amounts needs;        /* resources of a block, if all are alike */
    u32 places;                  /* blocks that have local memory in guest memory; 0: no limit */
    struct machine_stats stats;
    struct inst_profile *profile; /* by instruction of the program; malloc'd */
    struct waiting_list waiting;  /* rows only after a deadlock */
    u8 *mechanisms;               /* counters of mechanisms; malloc'd, NULL: none is on */
    const struct lane_use *uses;  /* by instruction of the program; valid until the next launch */
};

/* Whether the pipeline has the seams that the active mechanisms need. */
bool timing_serves(const struct hd_device *device, struct error *error);
struct timing *timing_create(struct hd_device *device);
void timing_destroy(struct timing *timing);
/* Between launches: threads that share each window, the caller's included; at least 1. */
void timing_set_threads(struct timing *timing, u32 threads);
u32 timing_threads(const struct timing *timing);
/* For tests, after timing_set_threads: windows with little work are shared, too, and the caller
 * leaves some to the others. */
void timing_share_all(struct timing *timing);

/* hd_measure_windows. */
void timing_measure(struct timing *timing, hd_window_fn *take, void *user);

/* For tests and tools that inspect the machine. */
struct core *timing_core(struct timing *timing, u32 index);
/* Blocks that a core holds at most, of `per_core` for which it has the resources. */
u32 timing_per_core(const struct timing *timing, u64 blocks, u32 per_core);
/* Runs all blocks, `per_core` of them at once on a core. exec is prepared except for its blocks. */
void timing_run(struct timing *timing, struct exec *exec, u64 blocks, u32 per_core,
                struct timed_launch *launch);
void timed_launch_free(struct timed_launch *launch);
/* The host has copied to or from device memory. */
void timing_copied(struct timing *timing, u64 address, u64 bytes);
/* Modules are about to change: drops cached data about their code. */
void timing_forget(struct timing *timing);

#endif
