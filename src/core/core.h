/*
 * One compute core in time: what a device does with it.
 *
 * A core takes blocks, runs until the end of a window, and meets the rest of the machine only in
 * its ports and between windows. What it is made of is in stages.h; its pipeline is chosen by
 * core.pipeline (pipeline.h).
 */
#ifndef CORE_CORE_H
#define CORE_CORE_H

#include "core/hooks.h"
#include "core/inst_time.h"
#include "core/params.h"
#include "core/trace.h"
#include "exec/dyninst.h"
#include "mem/port.h"

enum {
    CORE_WARPS = 64, /* places for warps, "slots"; sets of them are words with a bit each */
    CORE_BLOCKS = 64
};

struct core_config {
    u32 index, cores;
    const struct core_params *core;
#define COMPONENT_ROW(name) const struct name##_params *name;
#include "core/components.def"
#undef COMPONENT_ROW
    f64 mhz;
    struct port *requests, *replies;
    /* For instructions, and for constants and scalar loads: to the caches that cores share, or the
     * same as for all others. */
    struct port *fetch_requests, *constant_requests;
    u32 l2_line_bytes;
    u64 memory_bytes;
    struct content *content;                /* NULL: not armed (mem/content.h) */
    const struct mechanism_use *mechanisms; /* switched on, in order; copied */
    u32 mechanism_count;
};

/* All that a core counts. */
struct core_counts {
#define COMPONENT_ROW(name) struct name##_stats name;
#include "core/components.def"
#undef COMPONENT_ROW
};

struct core *core_create(const struct core_config *config);
void core_destroy(struct core *core);

/* A launch begins at `now`. `times` has an entry for each instruction; `profile` too. */
void core_begin(struct core *core, struct exec *exec, const struct inst_time *times,
                struct inst_profile *profile, fs now);
/* Nothing is in flight any more; counters stay until core_take_counts. */
void core_end(struct core *core);
bool core_has_room(const struct core *core);
/* A block takes place, between windows; which one is returned. */
u32 core_start_block(struct core *core, struct thread_block *block, bool copy);
/* Runs its edges before `end`. */
void core_run(struct core *core, fs end);
/* The first time at which it has something to do, as far as it knows; FS_NEVER: nothing. */
fs core_next(const struct core *core);
/* The launch ends, or ended, at this time: slots in which the core had no block any more, or that
 * it ran too far, are put right. */
void core_settle(struct core *core, fs end);
void core_take_counts(struct core *core, struct core_counts *stats);
/* Lanes that instructions under way will still write, as the profile counts them already. */
u64 core_lanes_unwritten(const struct core *core);
/* An atomic request is performed (between windows). */
void core_atomic(struct core *core, const struct packet *packet);
/* ---- content: common/content.c, of cores that are armed ---- */
/* How much data their requests carry. */
struct content_change;
struct content_config;
void core_content_sizes(const struct core_config *config, struct content_config *sizes);
/* Between windows: a slice has stored, or an atomic has changed, what lines here may hold. */
void core_content_changed(struct core *core, const struct content_change *change);
/* Stores that have not reached their slice become visible to a system call (content_expose). */
void core_content_expose(struct core *core);
/* A launch begins, after core_begin and core_flush. */
void core_content_begin(struct core *core);

/* First-level caches forget their lines. */
void core_flush(struct core *core);
/* What a warp waits for. */
enum stall core_waits(const struct core *core, u32 slot);
/* The instruction a slot's warp stands at, be it a barrier it waits at; NO_INST: it has ended. */
u32 core_stands(const struct core *core, u32 slot);
/* More about it, as far as it is known. */
struct core_wait {
    u32 inst;      /* where the warp is; NO_INST: unknown */
    u32 writer;    /* the instruction that will write the register it waits for, or NO_INST */
    u32 barrier;   /* its number, when it waits at one */
    char reg[16];  /* "R5", or "" */
    char more[96]; /* or "" */
    bool has_request;
    struct packet request; /* one that it waits for */
};
void core_explain(const struct core *core, u32 slot, struct core_wait *wait);
/* System calls that warps stand at, in the order of their slots; between windows. */
void core_serial(struct core *core);
/* Nothing moves: lanes that wait at reconvergence points go on alone. True: some did. */
bool core_unblock(struct core *core);
/* After core_end: answers to a launch that stopped are dropped. */
void core_drain(struct core *core, fs end);

/* trace.c: where this launch is traced to, after core_begin; all NULL when it is over. */
void core_watch(struct core *core, struct trace_buffer *spans, struct trace_buffer *steps,
                struct core_watcher *watcher);

#endif
