/*
 * MIAOW's stages: a compute unit whose warps have one instruction each at issue, as in the
 * published RTL of MIAOW (VerticalResearchGroup, "MIAOW: an open source GPGPU", 2015), which says
 * in which cycle each step happens. They take the place of fetch, issue, collectors, units and
 * load/store unit of the common stages (core.stages); all else of a core is the same.
 *
 *     miaow/frontend.c    dispatch, fetch, a queue of words for each warp, the feeder to decode,
 * decode miaow/issue.c    issue: busy registers, arbiters, barriers, ends miaow/alu.c      the
 * scalar ALU, vector units, and who may write to the registers in a cycle miaow/lsu.c    the
 * load/store unit, a lane after the other, its memory and cache
 *
 * A step of a cycle sees what registers held when the cycle began. Where a value changes in a cycle
 * and is seen later, rings keep it by the cycle in which it is first seen; the order of the steps
 * in miaow_tick does the rest.
 *
 * Invariants
 *  P1  A warp has at most one instruction between the feeder and issue (or a half of one).
 *  P2  `busy` of a slot holds the registers that instructions of the slot will write, until two
 *      cycles after they are written.
 *  P3  Meaning is exec's alone: an instruction takes effect when it issues (memory too), waits and
 *      barriers when decode has given them on, an end when nothing of the warp is under way.
 *  P4  After a cycle in which nothing has `moved`, nothing will before `miaow_due`.
 */
#ifndef CORE_MIAOW_H
#define CORE_MIAOW_H

#include "core/common/common.h"

/* Kinds of units, in the order in which issue takes turns. */
enum miaow_class {
    CLASS_SALU,
    CLASS_LSU,
    CLASS_SIMF,
    CLASS_SIMD,
    CLASSES
};

/* Units as bits: four vector units for integers, four for floats, then these. */
enum {
    UNIT_SIMF = 4,
    UNIT_LSU = 8,
    UNIT_SALU = 9,
    VECTOR_UNITS = 8,
    NO_UNIT = 0xff,
    RING = 64,    /* cycles that words can be under way */
    SOON = 8,     /* cycles of rings for what follows from a step */
    RELEASES = 8, /* results that are written in a cycle, at most */
    RESULTS = 16,
};

struct miaow_word {
    u8 slot;
    bool first; /* of a stretch: what came before is of no interest any more */
};

/* An instruction, or its first word, between the feeder and issue. */
struct miaow_step {
    bool valid, half;
    u8 slot;
    u32 inst;
};

/* Registers become free; UINT32_MAX bits: all that an instruction writes. */
struct miaow_release {
    const struct inst_time *time;
    u32 first, count;
    u8 slot;
    bool retires; /* an instruction of the scalar or vector units leaves */
};

/* What a warp has here. */
struct miaow_slot {
    u64 fetch_pc, feed_pc; /* bytes from the code's start: the next word's */
    u32 feed_inst;         /* the instruction of the latter */
    u32 entry;             /* at issue */
    u16 reserved, held;    /* words of its queue: under way too; there */
    u8 in_flight;
    bool fresh; /* the next word fetched is the first of a stretch */
    bool half;  /* its next word is an instruction's second */
};

/* What makes the passes of a float unit as long as they are, at the begin of a cycle. */
struct miaow_counter {
    bool starts, busy, ready;
    u32 count;
};

struct miaow_unit {
    u64 free_at;  /* cycle from which it takes an instruction */
    u64 comes_at; /* cycle in which a result comes to its queue; UINT64_MAX: none is under way */
    u16 coming;
    struct miaow_counter counter; /* in the cycle after free_at */
    u16 queue[RESULTS];
    u32 head, count;
};

struct miaow_lsu; /* miaow/lsu.c */

struct miaow {
    /* dispatch */
    u8 waiting[CORE_WARPS]; /* slots in order, one goes in a cycle */
    u32 wait_head, wait_tail;
    /* fetch and queues */
    u64 running, full, alive, filled, hungry;
    u64 running_at[SOON], hungry_at[SOON]; /* bits that are set in a cycle to come */
    struct miaow_word words[RING];
    u64 words_set; /* cycles, modulo RING, in which a word comes */
    u32 turn, requests;
    struct miaow_slot slots[CORE_WARPS];
    struct miaow_step decoding, decoded;
    /* issue */
    u64 valid, entering, clear, recheck;
    u64 of_class[CLASSES];
    u64 saturated, memory_wait, memory_done, halted, halted_next, parked, branching;
    u64 ready[CLASSES];       /* as the arbiters see them */
    u32 units_ready;          /* the same, bits */
    u32 units_now, units_all; /* that would take an instruction in this cycle; that there are */
    u32 last_slot, last_class, last_ended;
    u8 chosen_slot, chosen_unit; /* NO_UNIT: none */
    u64 *busy;                   /* scoreboard_words a slot */
    struct miaow_release releases[SOON][RELEASES];
    u8 release_count[SOON];
    /* units */
    struct miaow_unit units[VECTOR_UNITS];
    u32 working; /* of these, those that hold or just held an instruction or a result; bits */
    u32 write_turn;
    u16 scalar_inflight;
    u64 scalar_done, scalar_free;
    bool scalar_taken; /* the branch that it resolves is */
    bool writes_taken; /* the write port is already taken this cycle */
    struct miaow_lsu *lsu;
    bool moved;      /* something has changed in this cycle (P4) */
    u64 rings_until; /* the last cycle for which a ring holds something */
};

/* decode.c: the pipeline's `time`. */
void miaow_time(struct inst_time *time, const struct timed_code *code, u32 i);
/* Whether SCC counts as written although its value stays: s_mulk_i32. */
bool miaow_writes_scc(const struct inst *inst);

extern const struct pipeline miaow_pipeline;
static inline struct miaow *miaow_of(const struct core *core)
{
    return core->own;
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
/* A warp goes on elsewhere, or has ended: its words go. */
void miaow_reset_queue(struct core *core, u32 slot);
void miaow_goto(struct core *core, u32 slot, u32 inst);

/* miaow/issue.c */
void miaow_issue_begin(struct core *core);
/* Releases that come due, and what they let go on. */
void miaow_issue_release(struct core *core);
/* Decode has given an instruction on. */
void miaow_issue_take(struct core *core, const struct miaow_step *step);
void miaow_issue_issue(struct core *core);
void miaow_issue_choose(struct core *core);
void miaow_issue_end(struct core *core);
/* Results of an instruction, or `count` of the registers from `first` on, are written in this cycle. */
void miaow_issue_written(struct core *core, const struct inflight *inflight, bool retires);
void miaow_issue_written_some(struct core *core, const struct inflight *inflight, u32 first,
                              u32 count);
enum stall miaow_issue_waits(const struct core *core, u32 slot);

/* miaow/alu.c */
void miaow_alu_start(struct core *core, struct inflight *inflight, u32 unit);
void miaow_alu_scalar(struct core *core, struct inflight *inflight, bool taken);
/* The scalar ALU's, and after that the vector units' part of a cycle. */
void miaow_alu_tick_scalar(struct core *core);
void miaow_alu_tick(struct core *core);
/* Units that would take an instruction, as the cycle began; bits. */
u32 miaow_alu_ready(const struct core *core);
/* The first cycle after this one at which a unit does something. */
u64 miaow_alu_due(const struct core *core);

/* miaow/lsu.c */
struct miaow_lsu *miaow_lsu_create(const struct core_config *config);
void miaow_lsu_destroy(struct miaow_lsu *lsu);
void miaow_lsu_begin(struct core *core);
void miaow_lsu_start(struct core *core, struct inflight *inflight);
void miaow_lsu_tick(struct core *core);
bool miaow_lsu_ready(const struct core *core);
u64 miaow_lsu_due(const struct core *core);

/* What a step of an instruction is told as. */
static inline void miaow_trace(struct core *core, enum trace_kind what, u32 slot, u32 inst, u64 at)
{
    if (UNLIKELY(core->trace.steps))
        core_trace(core, what, slot, inst, at, program_offset(core->exec->image->program, inst));
}
/* Registers that an instruction has written. */
void miaow_trace_writes(struct core *core, const struct inflight *inflight);

#endif
