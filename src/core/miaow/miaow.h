/*
 * The miaow pipeline: a compute unit in which each warp has one instruction at issue, as in the
 * published RTL of MIAOW (VerticalResearchGroup, "MIAOW: an open source GPGPU", 2015), which
 * determines the cycle of each step. It has its own fetch, issue, units and load/store unit;
 * blocks, retirement and the memory view are those of the common pipeline.
 *
 *     decode.c    timing properties of instructions
 *     frontend.c  dispatch, fetch, a queue of words for each warp, the feeder to decode, decode
 *     issue.c     busy registers, arbiters, barriers, ends
 *     alu.c       the scalar ALU, vector units, and arbitration of the registers' write port
 *     lsu.c       the load/store unit, one lane after another, its memory and cache
 *     words.c     instruction words with flipped bits
 *     storage.c   storage elements and logic, for area and energy
 *
 * A step in a cycle sees the register values at the start of the cycle. Values that become visible
 * in a later cycle are kept in rings, by the cycle in which they are first seen; the order of the
 * steps in `tick` (frontend.c) ensures the rest.
 *
 * Invariants
 *  P1  A warp has at most one instruction between the feeder and issue (or a half of one).
 *  P2  `busy` of a slot holds the registers that its instructions in flight will write, until two
 *      cycles after the write.
 *  P3  exec alone defines what instructions do. An instruction, even a memory access, takes effect
 *      when it issues; waits and barriers, when decode has passed them on; an end, when nothing of
 *      the warp is in flight.
 *  P4  After a cycle in which nothing has `moved`, nothing changes before `due_cycle` (frontend.c).
 */
#ifndef CORE_MIAOW_H
#define CORE_MIAOW_H

#include "core/common/common.h"

/* Classes of units, in the order in which issue takes turns. */
enum miaow_class {
    CLASS_SALU,
    CLASS_LSU,
    CLASS_SIMF,
    CLASS_SIMD,
    CLASSES
};

/* Units as bits: four integer vector units, four floating-point vector units, then these. */
enum {
    UNIT_SIMF = 4,
    UNIT_LSU = 8,
    UNIT_SALU = 9,
    VECTOR_UNITS = 8,
    NO_UNIT = 0xff,
    RING = 64,    /* cycles that a fetched word can be in flight */
    SOON = 8,     /* cycles covered by the rings for consequences of a step */
    RELEASES = 8, /* most results written in a cycle */
    RESULTS = 16,
};

struct miaow_word {
    u8 slot;
    bool first; /* the first word after a redirect: earlier words in flight are discarded */
};

/* An instruction, or its first word, between the feeder and issue. */
struct miaow_step {
    bool valid, half;
    u8 slot;
    u32 inst;
};

/* Registers become free: those that the instruction of `time` writes (NULL: none), and `count`
 * scoreboard bits from `first` on. */
struct miaow_release {
    const struct inst_time *time;
    u32 first, count;
    u8 slot;
    bool retires; /* an instruction of the scalar or vector units retires */
};

/* Per-warp state of this pipeline. */
struct miaow_slot {
    u64 fetch_pc, feed_pc; /* byte offsets in the code of the next word to fetch and to feed */
    u32 feed_inst;         /* the instruction at feed_pc */
    u32 entry;             /* the instruction at issue */
    u16 reserved, held;    /* queue entries with a word present or in flight; with a word present */
    u8 in_flight;
    u16 derail_in; /* not 0: after this many words of its queue, because the fetch PC was flipped, */
    u64 derail_to; /* the next one is from this byte offset */
    bool fresh;    /* the next fetched word is the first after a redirect */
    bool half;     /* the next word is the second of an instruction */
    u16 tag_flips; /* bits of the dispatcher's number that are flipped: nobody learns of its end */
};

/* The counter that determines the length of a floating-point unit's passes, at the start of a
 * cycle. */
struct miaow_counter {
    bool starts, busy, ready;
    u32 count;
};

struct miaow_unit {
    u64 began;    /* cycle in which its last instruction issued */
    u64 free_at;  /* cycle from which it accepts an instruction */
    u64 comes_at; /* cycle in which a result enters its queue; UINT64_MAX: none is in flight */
    u16 coming;
    struct miaow_counter counter; /* its state in the cycle after free_at */
    u16 queue[RESULTS];
    u32 head, count;
};

struct miaow_lsu;   /* miaow/lsu.c */
struct miaow_words; /* miaow/words.c */

struct miaow {
    /* dispatch */
    u8 waiting[CORE_WARPS]; /* slots in order; one is dispatched per cycle */
    u32 wait_head, wait_tail;
    /* fetch and queues */
    u64 running, full, alive, filled, hungry;
    u64 running_at[SOON], hungry_at[SOON]; /* bits that will be set in a later cycle */
    struct miaow_word words_coming[RING];
    u64 words_set; /* cycles, modulo RING, in which a word arrives */
    u32 turn, requests;
    struct miaow_slot slots[CORE_WARPS];
    struct miaow_step decoding, decoded;
    /* issue */
    u64 valid, entering, clear, recheck;
    u64 barring; /* barriers of PTX that wait for their registers, and waits and barriers at cuts */
    u64 of_class[CLASSES];
    u64 saturated, memory_wait, memory_done, halted, halted_next, parked, branching;
    u64 ready[CLASSES];       /* as the arbiters see them, a cycle late */
    u32 units_ready;          /* the same for units, bits */
    u32 units_now, units_all; /* units that would accept an instruction now; existing units */
    u32 last_slot, last_class, last_ended;
    u8 chosen_slot, chosen_unit; /* NO_UNIT: none */
    u64 *busy;                   /* scoreboard_words per slot */
    struct miaow_release releases[SOON][RELEASES];
    u8 release_count[SOON];
    /* units */
    struct miaow_unit units[VECTOR_UNITS];
    u32 working; /* units that hold, or have just held, an instruction or a result; bits */
    u32 write_turn;
    u16 scalar_inflight;
    u64 scalar_done, scalar_free;
    bool scalar_taken; /* the branch in the scalar ALU is taken */
    bool writes_taken; /* the write port is already taken this cycle */
    struct miaow_lsu *lsu;
    u64 odd;                      /* slots whose words are decoded one by one (words.c) */
    struct miaow_words *words;    /* NULL: live state is off */
    u64 group_flips[CORE_BLOCKS]; /* flipped bits of the sets of a block's warps */
    bool moved;                   /* something has changed in this cycle (P4) */
    u64 rings_until;              /* the last cycle for which a ring holds an entry */
};

/* decode.c: the pipeline's `time`. */
void miaow_time(struct inst_time *time, const struct timed_code *code, u32 i);
/* Whether SCC counts as written although its value does not change: s_mulk_i32. */
bool miaow_writes_scc(const struct inst *inst);

extern const struct pipeline miaow_pipeline;
static inline struct miaow *miaow_of(const struct core *core)
{
    return core->own;
}
/* Whether threads diverge by paths (PTX), not by EXEC: after any instruction a warp may continue on
 * another path, and it ends without s_endpgm. */
static inline bool miaow_has_paths(const struct core *core)
{
    return !core->exec->image->program->traits.explicit_exec;
}
/* storage.c */
void miaow_storage(struct state_list *list, const struct core_config *machine);
void miaow_logic(struct logic_list *list, const struct core_config *machine);

/* miaow/frontend.c */
static inline u64 *miaow_ring(struct miaow *miaow, u64 *ring, u64 cycle)
{
    miaow->rings_until = MAX(miaow->rings_until, cycle);
    return &ring[cycle % SOON];
}
/* A warp was redirected or has ended: discards its words. */
void miaow_reset_queue(struct core *core, u32 slot);
void miaow_goto(struct core *core, u32 slot, u32 inst);

/* words.c */
struct miaow_words *miaow_words_create(const struct core_config *config);
/* From now on a slot's words are decoded one by one; and its queue is discarded. */
void miaow_make_odd(struct core *core, u32 slot);
void miaow_words_reset(struct core *core, u32 slot);
/* Feeds a word of an odd slot to decode. Returns whether it is the first of two. */
bool miaow_feed_odd(struct core *core, u32 slot);
/* With live state, an instruction has been executed: if its warp goes straight on, it goes on with
 * the words in its queue. */
void miaow_follow(struct core *core, u32 slot, u32 inst);
/* The pipeline's `holds`. */
bool miaow_holds(const struct core *core, u32 inst);

/* live.c: a wavefront's queue goes on with the word of a flipped PC. */
void miaow_derail(struct core *core, u32 slot);
/* A slot gets a new wavefront: it is in no set of instructions. */
void miaow_forget(struct core *core, u32 slot);

/* miaow/issue.c */
void miaow_issue_begin(struct core *core);
/* Handles releases that are due, and rechecks the warps that they affect. */
void miaow_issue_release(struct core *core);
/* Decode has passed on an instruction. */
void miaow_issue_take(struct core *core, const struct miaow_step *step);
void miaow_issue_issue(struct core *core);
/* The pipeline's `restart`. */
void miaow_restart(struct core *core, u32 slot);
void miaow_issue_choose(struct core *core);
void miaow_issue_end(struct core *core);
/* Results of an instruction, or of `count` registers from `first` on, are written in this cycle. */
void miaow_issue_written(struct core *core, const struct inflight *inflight, bool retires);
void miaow_issue_written_some(struct core *core, const struct inflight *inflight, u32 first,
                              u32 count);
enum stall miaow_issue_waits(const struct core *core, u32 slot);

/* miaow/alu.c */
void miaow_alu_start(struct core *core, struct inflight *inflight, u32 unit);
void miaow_alu_scalar(struct core *core, struct inflight *inflight, bool taken);
/* The scalar ALU's part of a cycle, and after it that of the vector units. */
void miaow_alu_tick_scalar(struct core *core);
void miaow_alu_tick(struct core *core);
/* Units that would accept an instruction at the start of the cycle, bits. */
u32 miaow_alu_ready(const struct core *core);
/* The first cycle after this one in which a unit does something. */
u64 miaow_alu_due(const struct core *core);

/* miaow/lsu.c */
struct miaow_lsu *miaow_lsu_create(const struct core_config *config);
void miaow_lsu_destroy(struct miaow_lsu *lsu);
void miaow_lsu_begin(struct core *core);
void miaow_lsu_start(struct core *core, struct inflight *inflight);
void miaow_lsu_tick(struct core *core);
bool miaow_lsu_ready(const struct core *core);
u64 miaow_lsu_due(const struct core *core);

/* Records a step of an instruction. */
static inline void miaow_trace(struct core *core, enum trace_kind what, u32 slot, u32 inst, u64 at)
{
    if (UNLIKELY(core->trace.steps))
        core_trace(core, what, slot, inst, at, program_offset(core->exec->image->program, inst));
}
/* Records the registers that an instruction has written. */
void miaow_trace_writes(struct core *core, const struct inflight *inflight);

#endif
