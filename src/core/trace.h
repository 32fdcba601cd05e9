/*
 * The trace of a core: one record per event, kept in the core's own buffer until the window ends.
 * Nothing is recorded while the buffer is NULL.
 *
 * There are two buffers: one for what takes a while (blocks, warps, stalls, requests) and one for
 * the steps of single instructions. Steps are recorded only on the paths that instructions take
 * while mechanisms are on or instructions are observed (DETOUR_SEAMS), so that they cost nothing
 * otherwise.
 *
 * A step's `value` is where it happened (trace_at), its `more` the byte offset from the start of
 * the program. An executed instruction has one to_issue, issue and done, and a write for each of
 * its results; each of its 32-bit words has a fetch and a decode. Fetched or decoded instructions
 * need not execute. Steps of a core are in order of time, but not sorted within a cycle.
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
    TRACE_WARP_STALL,   /* slot: the warp; value: enum stall (0: it can issue); inst: where */
    TRACE_REQUEST_SENT, /* value: address; inst: the instruction that sent it; slot: packet_kind */
    TRACE_REQUEST_DONE, /* value: address; inst, slot: the same; more: when it was sent (fs) */
    TRACE_DISPATCH,     /* the first of the steps; value: as TRACE_WARP_START. In later steps,
                         * `slot` means this warp */
    TRACE_FETCH,        /* a word comes from the instruction memory */
    TRACE_DECODE,       /* a word is decoded */
    TRACE_TO_ISSUE,     /* the instruction reaches issue as its warp's next one */
    TRACE_ISSUE,        /* it leaves for a unit; */
    TRACE_DONE,         /* the unit is done with it */
    TRACE_WRITE,        /* its result is in the register file */
    TRACE_KINDS
};

/* Where a step happens. */
enum trace_place {
    AT_DISPATCHER,
    AT_FETCH,
    AT_DECODE,
    /* instruction classes and units of the miaow pipeline */
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
extern const char *const trace_names[TRACE_KINDS];     /* "to_issue"; NULL: not a step */
extern const char *const trace_place_names[AT_PLACES]; /* "simd" */

/* Values of `value`: a place, or one of several of a kind, counted from 0. */
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
    fs from, to; /* only events in [from, to) are kept */
};

struct core;
struct inflight;

/*
 * An observer of each instruction of a launch. All functions are called within a window, for
 * instructions of the program only (no mechanism's own): `issued` in the program order of the warp,
 * `retired` when the results are in the registers, in any order. `written` is called only for
 * instructions whose registers may be overwritten before they retire, when the results have been
 * written.
 */
struct core_watcher {
    void (*issued)(struct core_watcher *watcher, struct core *core,
                   const struct inflight *inflight);
    void (*written)(struct core_watcher *watcher, struct core *core,
                    const struct inflight *inflight);
    void (*retired)(struct core_watcher *watcher, struct core *core,
                    const struct inflight *inflight);
};

/* Why a scheduler issued nothing, or a warp cannot issue: the idle_ counters of issue.def, in
 * order. */
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

/* Counts of one instruction of a program, summed over cores. */
struct inst_profile {
    u64 issued;  /* warp instructions */
    u64 threads; /* lanes */
    /* Lanes read from vector registers, computed and written because of mechanisms, in addition to
     * what follows from `threads`; negative if saved. */
    i64 more_reads, more_ops, more_writes;
    u64 transactions;   /* of its global and local accesses */
    u64 ace;            /* bit cycles in which vector registers held needed bits that it wrote */
    u64 stalls[STALLS]; /* idle issue slots charged to this instruction */
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
