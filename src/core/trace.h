/*
 * The trace of a core: one record an event, kept in the core's own buffer until
 * the window ends. Nothing is recorded when the buffer is NULL.
 *
 * There are two buffers, for what takes a while (blocks, warps, stalls, requests) and for the steps
 * of single instructions. Steps are noted only on paths that instructions take when mechanisms are
 * on or instructions are followed (DETOUR_SEAMS), so that they cost nothing otherwise.
 *
 * A step's `value` is where it happened (trace_at), its `more` the byte address from the start
 * of the program. An instruction that runs has one to_issue, issue and done, and a write for each
 * of its results; each of its 32-bit words has a fetch and a decode. What is fetched or decoded
 * need not run. Steps of a core are in order of time, not sorted within a cycle.
 */
#ifndef CORE_TRACE_H
#define CORE_TRACE_H

#include "base/arena.h"
#include "base/time.h"

enum trace_kind {
    TRACE_BLOCK_START,  /* value: the block's number; slot: its place on the core */
    TRACE_BLOCK_END,    /* the same */
    TRACE_WARP_START,   /* slot: the warp's place; value: block number << 16 | warp in block */
    TRACE_WARP_END,     /* the same */
    TRACE_WARP_STALL,   /* slot: the warp; value: enum stall (0 = it can issue); inst: where */
    TRACE_REQUEST_SENT, /* value: address; inst: where it comes from; slot: packet_kind */
    TRACE_REQUEST_DONE, /* value: address; inst, slot: the same; more: when it was sent (fs) */
    TRACE_DISPATCH,     /* the first of the steps. value: as TRACE_WARP_START, from which
                         * on `slot` of other steps means this warp */
    TRACE_FETCH,        /* a word comes from the instruction memory */
    TRACE_DECODE,       /* a word is decoded */
    TRACE_TO_ISSUE,     /* issue sees the instruction: it is its warp's next */
    TRACE_ISSUE,        /* it leaves for a unit, */
    TRACE_DONE,         /* which is done with it */
    TRACE_WRITE,        /* its result is in the registers */
    TRACE_KINDS
};

/* Where a step happens. */
enum trace_place {
    AT_DISPATCHER,
    AT_FETCH,
    AT_DECODE,
    /* classes of instructions and units of the miaow pipeline */
    AT_SALU,
    AT_SIMD,
    AT_SIMF,
    AT_LSU,
    AT_LSUV,
    AT_LSUS,
    /* pipes of the common stages */
    AT_SP,
    AT_INT,
    AT_FP64,
    AT_SFU,
    AT_MEMORY,
    AT_SCALAR,
    /* registers */
    AT_SGPR,
    AT_VGPR,
    AT_SCC,
    AT_VCC,
    AT_EXEC,
    AT_M0,
    AT_MODE,
    AT_PLACES
};
extern const char *const trace_names[TRACE_KINDS];     /* "to_issue"; NULL: no step */
extern const char *const trace_place_names[AT_PLACES]; /* "simd" */

/* Codes of `value`: a place, or one of several of its kind, counted from 0. */
static inline u64 trace_at(enum trace_place place)
{
    return place;
}
static inline u64 trace_at_number(enum trace_place place, u32 number)
{
    return place | (u64)(number + 1) << 8;
}

struct trace_event {
    fs time;
    u64 value, more;
    u32 inst;
    u16 core;
    u8 slot;
    u8 what; /* enum trace_kind */
};

struct trace_buffer {
    VEC(struct trace_event) list;
    fs from, to; /* only what happens in [from, to) is kept */
};

struct core;
struct inflight;

/*
 * Who follows each instruction of a launch. All are called within a window, for instructions of
 * the program only (no mechanism's own): `issued` in the order of the warp's program, `retired`
 * when the results are in the registers, in any order. `written` is called only for instructions
 * whose registers may be overwritten before they retire, when the results have been written.
 */
struct core_watcher {
    void (*issued)(struct core_watcher *watcher, struct core *core,
                   const struct inflight *inflight);
    void (*written)(struct core_watcher *watcher, struct core *core,
                    const struct inflight *inflight);
    void (*retired)(struct core_watcher *watcher, struct core *core,
                    const struct inflight *inflight);
};

/* Why a scheduler issued nothing, or a warp cannot: the idle_ counters of issue.def, in order. */
enum stall {
    STALL_NONE,
    STALL_EMPTY,
    STALL_FETCH,
    STALL_BRANCH,
    STALL_BARRIER,
    STALL_RAW,
    STALL_WAW,
    STALL_MEMORY,
    STALL_WAIT,
    STALL_UNIT,
    STALL_COLLECTOR,
    STALL_HELD,
    STALLS
};
extern const char *const stall_names[STALLS]; /* "raw" */

/* What happened at one instruction of a program, summed over cores. */
struct inst_profile {
    u64 issued;  /* warp instructions */
    u64 threads; /* lanes */
    /* Lanes read from and written to vector registers, and computed, because of mechanisms: beyond
     * what `threads` says, or short of it. */
    i64 more_reads, more_ops, more_writes;
    u64 transactions;   /* of global and local accesses */
    u64 ace;            /* bit cycles in which vector registers held what it wrote and was needed */
    u64 stalls[STALLS]; /* idle issue slots whose reason was this instruction */
};
static inline void inst_profile_add(struct inst_profile *sum, const struct inst_profile *more)
{
    sum->issued += more->issued;
    sum->threads += more->threads;
    sum->more_reads += more->more_reads;
    sum->more_ops += more->more_ops;
    sum->more_writes += more->more_writes;
    sum->transactions += more->transactions;
    sum->ace += more->ace;
    for (u32 s = 0; s < STALLS; s++)
        sum->stalls[s] += more->stalls[s];
}

#endif
