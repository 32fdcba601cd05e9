/*
 * The parts of the cycle-level machine that a launch goes through: making it (timing.c), running
 * its windows (run.c), giving out blocks (dispatcher.c) and reporting what happened
 * (report.c).
 */
#ifndef GPU_TIME_PARTS_H
#define GPU_TIME_PARTS_H

#include "core/stages.h"
#include "gpu/time/lanes.h"
#include "gpu/time/timing.h"
#include "mem/content.h"

struct timing {
    struct hd_device *device;
    const struct timing_params *params;
    const struct clock_params *clock;
    struct memory_system *memory_system;
    struct memory_system_params memory;
    struct content *content; /* NULL: not armed */
    struct core **cores;
    u32 *order; /* in which cores run in a window */
    u32 core_count;
    fs now, window;
    fs period; /* of the cores' nominal clock */
    struct hooks memory_hooks;
    struct inst_time *times;
    struct lane_use *uses;       /* of each instruction, as `times` */
    const struct program *timed; /* the program of both */
};

/* A core works on a launch of its own: its faults, counters and blocks are its alone. */
struct core_launch {
    struct exec exec; /* first: a warp knows it */
    const struct core *core;
};

/* A launch while it runs. */
struct timed_run {
    struct timing *timing;
    struct exec *exec;         /* of the whole launch */
    struct core_launch *execs; /* of each core */
    struct timed_launch *launch;
    u64 blocks, next, done;
    u32 copies; /* of blocks, on cores */
    u32 per_core;
    u32 *resident;              /* blocks of each core */
    u32 turn;                   /* core that is asked first for room */
    struct tables *tables;      /* of dispatch=tables, or NULL: dispatcher.c */
    fs start, end;              /* when the first block may start; when the last warp left */
    u64 progress;               /* instructions issued when something last moved */
    fs moved;                   /* and when that was */
    u64 answers;                /* of memory to cores, when answers_came was asked last */
    struct trace_buffer *seen;  /* spans of each core; NULL: not observed */
    struct trace_buffer *steps; /* steps of instructions; NULL: not traced */
};

/* run.c: instructions issued so far. */
u64 run_issued(const struct timed_run *run);

/* dispatcher.c: before anything else of the launch; after all of it */
void dispatcher_begin(struct timed_run *run);
void dispatcher_end(struct timed_run *run);
/* Between windows: */
void place_blocks(struct timed_run *run);
void take_finished(struct timed_run *run);
/* A block that has ended, or is left when the launch stops. */
void leave_block(struct timed_run *run, struct thread_block *block);

/* report.c */
/* Nothing moves any more: the launch stops with who waits for what. */
void stop_deadlocked(struct timed_run *run);
void observe_begin(struct timed_run *run);
/* After it: each instruction is followed, if someone wants to. */
void follow_begin(struct timed_run *run);
/* Between windows. */
void observe(struct timed_run *run, bool last);
void observe_end(struct timed_run *run);
/* All that has been counted so far goes to the launch's statistics. */
void take_counts(struct timed_run *run, fs now);
void take_mechanism_counts(struct timed_run *run);
void add_memory_counts(struct machine_stats *stats, const struct memory_system_stats *counts);

#endif
