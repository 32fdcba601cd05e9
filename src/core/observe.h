/*
 * What a core tells whoever wants a trace: one record an event, kept in the core's own buffer until
 * the window ends. Nothing is recorded when the buffer is NULL.
 */
#ifndef CORE_OBSERVE_H
#define CORE_OBSERVE_H

#include "base/arena.h"
#include "base/time.h"

enum observed {
    OBSERVED_BLOCK_START,  /* value: the block's number; slot: its place on the core */
    OBSERVED_BLOCK_END,    /* the same */
    OBSERVED_WARP_START,   /* slot: the warp's place; value: block number << 16 | warp in block */
    OBSERVED_WARP_END,     /* the same */
    OBSERVED_WARP_STALL,   /* slot: the warp; value: enum stall (0 = it can issue); inst: where */
    OBSERVED_REQUEST_SENT, /* value: address; inst: where it comes from; slot: packet_kind */
    OBSERVED_REQUEST_DONE, /* value: address; inst, slot: the same; more: when it was sent (fs) */
};

struct observation {
    fs time;
    u64 value, more;
    u32 inst;
    u16 core;
    u8 slot;
    u8 what; /* enum observed */
};

struct observations {
    VEC(struct observation) list;
    fs from, to; /* only what happens in [from, to) is kept */
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
    u64 stalls[STALLS]; /* idle issue slots whose reason was this instruction */
};

#endif
