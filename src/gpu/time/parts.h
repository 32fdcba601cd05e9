/*
 * Internals of the timing model: creation (timing.c), a launch, window by window (run.c), what runs
 * in a window and on which thread (window.c), dispatch of blocks (dispatcher.c) and reports
 * (report.c).
 */
#ifndef GPU_TIME_PARTS_H
#define GPU_TIME_PARTS_H

#include "base/bits.h"
#include "base/workers.h"
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
    struct live *live;       /* NULL: timing.live_state is off */
    struct core **cores;
    u32 core_count;
    /* window.c */
    struct workers *workers; /* NULL: one thread */
    struct {
        u64 *set; /* cores that have something to do or to wait for, bits */
        u32 words;
        struct core **list; /* the same in order, while it is `listed` */
        u32 count;
        bool listed;
    } awake;
    bool shares;          /* threads share the next window: the last one took long enough */
    bool share_all;       /* they share every window */
    u32 *jobs, job_count; /* what runs in a window, in order */
    u64 *issued;          /* by core: stats.issue.instructions when last looked at, */
    u32 *work;            /* and how many they were in its last window */
    u16 *home;            /* by core: the thread that ran it last, which runs it again if it can */
    struct {
        u8 *rows;      /* of all threads but the first, one after the other */
        size_t stride; /* bytes from one thread's to the next's */
        size_t room;   /* bytes */
        bool *used;    /* by thread */
    } profiles;
    struct {
        hd_window_fn *take; /* NULL: windows are not measured */
        void *user;
        uint64_t *cores; /* of a window, by core */
        u64 ended;       /* the last window; 0: none */
    } measure;
    fs now, window;
    fs period; /* of the cores' nominal clock */
    struct memory_hooks memory_hooks;
    struct hooks dispatcher_hooks;
    struct inst_time *times;
    struct lane_use *uses;       /* by instruction, like `times` */
    const struct program *timed; /* the program of `times` and `uses` */
};

/* Each core has an exec of its own: its faults, counters and blocks are separate, and in cache lines
 * of their own. */
struct core_launch {
    _Alignas(HOST_LINE_PAIR) struct exec exec; /* first member: a warp refers to it */
    const struct core *core;
};

/* A running launch. */
struct timed_run {
    struct timing *timing;
    struct exec *exec;         /* of the whole launch */
    struct core_launch *execs; /* by core */
    struct timed_launch *launch;
    u64 blocks, next, done;
    u32 copies; /* copies of blocks on cores */
    u32 per_core;
    u32 *resident;         /* by core: number of blocks */
    u32 turn;              /* core that is tried first */
    bool full;             /* no core has room, and no block has ended since */
    struct tables *tables; /* for dispatch=tables, or NULL: dispatcher.c */
    fs start, end; /* time at which the first block may start; at which the last warp ended */
    fs window_end;
    u64 issued;                 /* instructions issued so far */
    u64 progress;               /* instructions issued at the last progress */
    fs moved;                   /* time of the last progress */
    u64 answers;                /* replies from memory at the last call of answers_came */
    const struct slot *sampled; /* the slot of the warp that endless.h has picked, or NULL */
    struct trace_buffer *seen;  /* by core: trace events; NULL: not observed */
    struct trace_buffer *steps; /* by core: steps of instructions; NULL: not traced */
};

/* window.c */
void windows_begin(struct timed_run *run);
/* A core is about to get a block: it is listed from now on, and its clock is brought up to now. */
void core_wake(struct timing *timing, u32 core);
/* Makes awake.list up to date: after blocks were placed. */
void list_awake(struct timing *timing);
/* Runs cores and memory until `end`. */
void window_run(struct timed_run *run, fs end);
/* When blocks that ended are gone: counts what was issued; cores that became idle fall asleep. */
void windows_settle(struct timed_run *run);
/* Brings the launch's profile up to date. */
void windows_profile(struct timed_run *run);

/* dispatcher.c: at the start and at the end of a launch */
void dispatcher_begin(struct timed_run *run);
void dispatcher_end(struct timed_run *run);
/* Between windows: */
void place_blocks(struct timed_run *run);
void take_finished(struct timed_run *run);
/* Removes a block that has ended, or that is left when the launch stops. */
void leave_block(struct timed_run *run, struct thread_block *block);

/* report.c */
/* Stops a deadlocked launch, with a list of waiting warps. */
void stop_deadlocked(struct timed_run *run);
void observe_begin(struct timed_run *run);
/* After observe_begin: sets up the trace of instructions, if the block source wants one. */
void follow_begin(struct timed_run *run);
/* Between windows. */
void observe(struct timed_run *run, bool last);
void observe_end(struct timed_run *run);
/* The number of blocks on a core has changed. */
void observe_blocks(struct timed_run *run, u32 core, fs time);
/* Collects all counters so far into the launch's statistics. */
void take_counts(struct timed_run *run, fs now);
/* Counters of mechanisms that grow with time are brought up to it. */
void settle_mechanisms(struct timed_run *run, fs now);
void take_mechanism_counts(struct timed_run *run);
void add_memory_counts(struct machine_stats *stats, const struct memory_system_stats *counts);

#endif
