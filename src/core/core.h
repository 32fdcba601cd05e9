/*
 * The timing model of one compute core, as the device uses it.
 *
 * A core accepts blocks and runs until the end of a window. It communicates with the rest of the
 * machine only through its ports, and between windows. stages.h declares its parts; core.pipeline
 * selects its pipeline (pipeline.h).
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
    CORE_WARPS = 64, /* warp slots; a set of slots is a u64 with one bit per slot */
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
    /* Instruction fetches, and constants and scalar loads: to the caches that cores share, or,
     * without these, the same port as `requests`. */
    struct port *fetch_requests, *constant_requests;
    u32 l2_line_bytes;
    u64 memory_bytes;
    struct content *content;                /* NULL: not armed (mem/content.h) */
    struct memory_system *memory_system;    /* for replies whose header was flipped (mem/stray.h) */
    bool live;                              /* bits may be flipped (live.h) */
    const struct chip *chip;                /* its cells' variation; NULL: not given */
    const struct mechanism_use *mechanisms; /* switched on, in order; copied */
    u32 mechanism_count;
};

/* All counters of a core. */
struct core_counts {
#define COMPONENT_ROW(name) struct name##_stats name;
#include "core/components.def"
#undef COMPONENT_ROW
};

struct core *core_create(const struct core_config *config);
void core_destroy(struct core *core);

/* Begins a launch at `now`. `times` and `profile` have one entry per instruction. */
void core_begin(struct core *core, struct exec *exec, struct inst_time *times,
                struct inst_profile *profile, fs now);
/* Ends the launch and drops what a stopped launch left in flight; counters stay until
 * core_take_counts. */
void core_end(struct core *core);
bool core_has_room(const struct core *core);
/* Between windows: starts a block and returns its place on the core. */
u32 core_start_block(struct core *core, struct thread_block *block, bool copy);
/* Runs the clock edges before `end`. */
void core_run(struct core *core, fs end);
/* A core that runs calls this function, with itself, before its first clock edge at `time` or
 * later. */
void core_call_at(struct core *core, fs time, void (*call)(void *user, struct core *core),
                  void *user);
/* The earliest time at which the core may have something to do; FS_NEVER: none. */
fs core_next(const struct core *core);
/* The launch ends at `end`: adds idle issue slots from the core's current cycle to `end`, or, if
 * the core ran past `end`, subtracts them. What a stopped launch leaves in buffers is counted. */
void core_settle(struct core *core, fs end);
void core_take_counts(struct core *core, struct core_counts *stats);
/* Lanes that instructions in flight have yet to write; the profile counts them already. */
u64 core_lanes_unwritten(const struct core *core);
/* Performs an atomic request; between windows. */
void core_atomic(struct core *core, const struct packet *packet);
/* ---- content: common/content.c, for armed cores ---- */
/* How much data the requests of a core carry. */
struct content_change;
struct content_config;
void core_content_sizes(const struct core_config *config, struct content_config *sizes);
/* Between windows: a slice has stored data, or performed an atomic, in lines that this core may
 * hold. */
void core_content_changed(struct core *core, const struct content_change *change);
/* Makes stores that have not reached their slice visible to a system call (content_expose). */
void core_content_expose(struct core *core);
/* Begins a launch, after core_begin and core_flush. */
void core_content_begin(struct core *core);

/* Invalidates the L1, constant and read-only caches. */
void core_flush(struct core *core);
/* Why a warp does not issue. */
enum stall core_waits(const struct core *core, u32 slot);
/* The instruction that a slot's warp is at, or the barrier it waits at; NO_INST: the warp has
 * ended. */
u32 core_stands(const struct core *core, u32 slot);
/* Details of what a warp waits for, as far as they are known. */
struct core_wait {
    u32 inst;      /* where the warp is; NO_INST: unknown */
    u32 writer;    /* the instruction that will write the register the warp waits for, or NO_INST */
    u32 barrier;   /* number of the barrier that the warp waits at */
    char reg[16];  /* a register it waits for: "R5", or "" */
    char more[96]; /* further explanation, or "" */
    bool has_request;
    struct packet request; /* an outstanding memory request of the warp */
};
void core_explain(const struct core *core, u32 slot, struct core_wait *wait);
/* Between windows: performs the system calls that warps are at, in slot order. */
void core_serial(struct core *core);
/* When nothing makes progress: lanes that wait at reconvergence points continue alone. True: some
 * did. */
bool core_unblock(struct core *core);
/* After core_end: drops replies to a stopped launch. */
void core_drain(struct core *core, fs end);

/* trace.c: where this launch is traced to; called after core_begin, and with all NULL at its
 * end. */
void core_watch(struct core *core, struct trace_buffer *spans, struct trace_buffer *steps,
                struct core_watcher *watcher);

#endif
