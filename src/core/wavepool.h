/*
 * The wavepool stages: a compute unit whose warps have one instruction each at issue, as in the
 * published RTL of MIAOW (VerticalResearchGroup, "MIAOW: an open source GPGPU", 2015), which says
 * in which cycle each step happens. They take the place of fetch, issue, collectors, units and
 * load/store unit of the common stages (core.stages); all else of a core is the same.
 *
 *     wavepool.c    dispatch, fetch, a queue of words for each warp, the feeder to decode, decode
 *     arbiters.c    issue: busy registers, arbiters, barriers, ends
 *     passes.c      the scalar ALU, vector units, and who may write to the registers in a cycle
 *     lanewise.c    the load/store unit, a lane after the other, its memory and cache
 *
 * A step of a cycle sees what registers held when the cycle began. Where a value changes in a cycle
 * and is seen later, rings keep it by the cycle in which it is first seen; the order of the steps
 * in wavepool_tick does the rest.
 *
 * Invariants
 *  P1  A warp has at most one instruction between the feeder and issue (or a half of one).
 *  P2  `busy` of a slot holds the registers that instructions of the slot will write, until two
 *      cycles after they are written.
 *  P3  Meaning is exec's alone: an instruction takes effect when it issues (memory too), waits and
 *      barriers when decode has given them on, an end when nothing of the warp is under way.
 *  P4  After a cycle in which nothing has `moved`, nothing will before `wavepool_due`.
 */
#ifndef CORE_WAVEPOOL_H
#define CORE_WAVEPOOL_H

#include "core/core.h"

/* Kinds of units, in the order in which issue takes turns. */
enum pool_class {
    CLASS_SALU,
    CLASS_LSU,
    CLASS_SIMF,
    CLASS_SIMD,
    CLASSES
};

/* Units as bits: four vector units for integers, four for floats, then these. */
enum {
    POOL_SIMF = 4,
    POOL_LSU = 8,
    POOL_SALU = 9,
    VECTOR_UNITS = 8,
    NO_POOL_UNIT = 0xff,
    RING = 64,    /* cycles that words can be under way */
    SOON = 8,     /* cycles of rings for what follows from a step */
    RELEASES = 8, /* results that are written in a cycle, at most */
    RESULTS = 16,
};

struct pool_word {
    u8 slot;
    bool first; /* of a stretch: what came before is of no interest any more */
};

/* An instruction, or its first word, between the feeder and issue. */
struct pool_step {
    bool valid, half;
    u8 slot;
    u32 inst;
};

/* Registers become free; UINT32_MAX bits: all that an instruction writes. */
struct pool_release {
    const struct inst_time *time;
    u32 first, count;
    u8 slot;
    bool retires; /* an instruction of the scalar or vector units leaves */
};

/* What a warp has here. */
struct pool_slot {
    u64 fetch_pc, feed_pc; /* bytes from the code's start: the next word's */
    u32 feed_inst;         /* the instruction of the latter */
    u32 entry;             /* at issue */
    u16 reserved, held;    /* words of its queue: under way too; there */
    u8 in_flight;
    bool fresh; /* the next word fetched is the first of a stretch */
    bool half;  /* its next word is an instruction's second */
};

/* What makes the passes of a float unit as long as they are, at the begin of a cycle. */
struct pool_counter {
    bool starts, busy, ready;
    u32 count;
};

struct pool_unit {
    u64 free_at;  /* cycle from which it takes an instruction */
    u64 comes_at; /* cycle in which a result comes to its queue; UINT64_MAX: none is under way */
    u16 coming;
    struct pool_counter counter; /* in the cycle after free_at */
    u16 queue[RESULTS];
    u32 head, count;
};

struct lanewise; /* lanewise.c */

struct wavepool {
    /* dispatch */
    u8 waiting[CORE_WARPS]; /* slots in order, one goes in a cycle */
    u32 wait_head, wait_tail;
    /* fetch and queues */
    u64 running, full, alive, filled, hungry;
    u64 running_at[SOON], hungry_at[SOON]; /* bits that are set in a cycle to come */
    struct pool_word words[RING];
    u64 words_set; /* cycles, modulo RING, in which a word comes */
    u32 turn, requests;
    struct pool_slot slots[CORE_WARPS];
    struct pool_step decoding, decoded;
    /* issue */
    u64 valid, entering, clear, recheck;
    u64 of_class[CLASSES];
    u64 saturated, memory_wait, memory_done, halted, halted_next, parked, branching;
    u64 ready[CLASSES];       /* as the arbiters see them */
    u32 units_ready;          /* the same, bits */
    u32 units_now, units_all; /* that would take an instruction in this cycle; that there are */
    u32 last_slot, last_class, last_ended;
    u8 chosen_slot, chosen_unit; /* NO_POOL_UNIT: none */
    u64 *busy;                   /* scoreboard_words a slot */
    struct pool_release releases[SOON][RELEASES];
    u8 release_count[SOON];
    /* units */
    struct pool_unit units[VECTOR_UNITS];
    u32 working; /* of these, those that hold or just held an instruction or a result; bits */
    u32 write_turn;
    u16 scalar_task;
    u64 scalar_done, scalar_free;
    bool scalar_taken; /* the branch that it resolves is */
    bool writes_taken; /* somebody before the vector units writes in this cycle */
    struct lanewise *lanewise;
    bool moved;      /* something has changed in this cycle (P4) */
    u64 rings_until; /* the last cycle for which a ring holds something */
};

/* wavepool_time.c: what `time`, of the common stages, has to be for these ones. */
void wavepool_time(struct inst_time *time, const struct program *program, u32 i,
                   const struct core_config *config);
/* Whether reading EXEC is part of it. */
bool wavepool_reads_exec(const struct inst *inst);
/* Whether it waits for SCC without reading it. */
bool wavepool_reads_scc(const struct inst *inst);
/* Whether SCC counts as written although its value stays: s_mulk_i32. */
bool wavepool_writes_scc(const struct inst *inst);

/* wavepool.c */
static inline u64 *pool_ring(struct wavepool *pool, u64 *ring, u64 cycle)
{
    pool->rings_until = MAX(pool->rings_until, cycle);
    return &ring[cycle % SOON];
}
/* A warp goes on elsewhere, or has ended: its words go. */
void pool_reset_queue(struct core *core, u32 slot);
void pool_goto(struct core *core, u32 slot, u32 inst);

/* arbiters.c */
void arbiters_begin(struct core *core);
/* Releases that come due, and what they let go on. */
void arbiters_release(struct core *core);
/* Decode has given an instruction on. */
void arbiters_take(struct core *core, const struct pool_step *step);
void arbiters_issue(struct core *core);
void arbiters_choose(struct core *core);
void arbiters_end(struct core *core);
/* Results of a task, or `count` of the registers from `first` on, are written in this cycle. */
void arbiters_written(struct core *core, const struct task *task, bool retires);
void arbiters_written_some(struct core *core, const struct task *task, u32 first, u32 count);
enum stall arbiters_waits(const struct core *core, u32 slot);

/* passes.c */
void passes_start(struct core *core, struct task *task, u32 unit);
void passes_scalar(struct core *core, struct task *task, bool taken);
/* The scalar ALU's, and after that the vector units' part of a cycle. */
void passes_tick_scalar(struct core *core);
void passes_tick(struct core *core);
/* Units that would take an instruction, as the cycle began; bits. */
u32 passes_ready(const struct core *core);
/* The first cycle after this one at which a unit does something. */
u64 passes_due(const struct core *core);

/* lanewise.c */
struct lanewise *lanewise_create(const struct core_config *config);
void lanewise_destroy(struct lanewise *lanewise);
void lanewise_begin(struct core *core);
void lanewise_start(struct core *core, struct task *task);
void lanewise_tick(struct core *core);
bool lanewise_ready(const struct core *core);
u64 lanewise_due(const struct core *core);

/* What a step of an instruction is told as. */
static inline void pool_observe(struct core *core, enum observed what, u32 slot, u32 inst, u64 at)
{
    if (UNLIKELY(core->steps))
        core_observe(core, what, slot, inst, at, program_offset(core->exec->image->program, inst));
}
/* Registers that an instruction has written. */
void pool_observe_writes(struct core *core, const struct task *task);

#endif
