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
#define TRACE_KIND(NAME, name) TRACE_##NAME,
#include "base/trace_kinds.def"
#undef TRACE_KIND
    TRACE_DISPATCH, /* the first of the steps; value: as TRACE_WARP_START. In later steps,
                     * `slot` means this warp */
    TRACE_FETCH,    /* a word comes from the instruction memory */
    TRACE_DECODE,   /* a word is decoded */
    TRACE_TO_ISSUE, /* the instruction reaches issue as its warp's next one */
    TRACE_ISSUE,    /* it leaves for a unit; */
    TRACE_DONE,     /* the unit is done with it */
    TRACE_WRITE,    /* its result is in the register file */
    TRACE_KINDS
};

/*
 * Members of events that are not steps. `inst` is an instruction of the program or NO_INST.
 *
 *  BLOCK_START, _END, _HERE  slot: the block's place on the core; value: its number
 *  WARP_START, _END, _HERE   slot: the warp's place; value: block number << 16 | warp in block; more:
 *                            its scheduler
 *  WARP_STALL                slot: the warp; value: enum stall (0: it can issue); inst: where
 *  REQUEST_SENT              slot: enum packet_kind; value: address; more: traced_request
 *  REQUEST_DONE              slot, value: the same; more: when it was sent (fs)
 *
 * Only in traces of events (trace_buffer.causes), most of them recorded by the mechanism `causes`:
 *
 *  BLOCK_HERE, WARP_HERE  as _START, for those that are there when the trace begins
 *  NEEDS                  slot: the warp that has just begun to wait; value: enum trace_need, for a
 *                         register | its number << 8 (NO_VECTOR: a scalar or a predicate); inst, more: the instruction in flight that it
 *                         waits for and its record. For a barrier, more: its number
 *  FETCHED                slot, inst: the first of `value` instructions that arrive in its buffer
 *  ISSUED                 slot, inst; value: its record; more: enum pipe
 *  COLLECTING             value: its record; more: cycles that its banks need to read its operands
 *  COLLECTED, LEFT, RETIRED  value: its record. It has its operands, leaves the head of the load/store
 *                         unit, leaves the pipeline
 *  CONFLICT               value: its record; more: cycles that its access to shared memory takes at the
 *                         head because of bank conflicts
 *  SENT                   value: its record; more: the number of the transaction
 *  CACHE_READ             slot: enum packet_client; inst: enum cache_result | MSHR << 8; value: line;
 *                         more: the reader's record, or its slot if an instruction is fetched
 *  CACHE_FILLED           slot: enum packet_client; inst: MSHR; value: line
 *  REFUSED                slot: enum cache_result; value: the record; more: the transaction
 *  L2_ARRIVED, L2_READ, L2_REPLY  of a packet: core: its sender; value: address; more: when it was
 *                         sent (fs); inst: slice; slot: of L2_READ, enum cache_result
 *  DRAM_ARRIVED, _STARTED, _SERVED  core, inst: of the first requester; slot: bank; value: address;
 *                         more: channel << 48 | write << 47 | row
 *  DRAM_ROW               slot: bank; value: row; more: channel << 48 | 1: it is opened, 0: closed
 */
enum trace_need {
    NEED_REGISTER, /* an instruction that will write a register */
    NEED_ROOM,     /* an instruction in the latch, a collector or the queue of the pipe it needs */
    NEED_BARRIER,
    NEED_LINE, /* a line of instructions that has been requested */
};

#define NO_VECTOR 0xffff
#define TRACE_NO_MSHR 0xffffff /* of CACHE_READ and CACHE_FILLED */

/* REQUEST_SENT's `more`. */
static inline u64 traced_request(u32 client, u32 tag, u32 slot)
{
    return (u64)client << 48 | (u64)slot << 32 | tag;
}

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
    bool causes; /* stalls are followed by what they wait for */
    bool begun;  /* what was there when the trace began has been recorded */
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
