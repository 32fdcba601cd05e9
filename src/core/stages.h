/*
 * The parts of a core: its warps, the instructions in flight, and a struct for each stage of the
 * common pipeline. For files in src/core only; mechanisms see a core through mechanism.h.
 *
 * Invariants
 *  K1  Warps occupy slots 0 to 63 of a core; a set of slots is a u64 with one bit per slot.
 *  K2  The `clear` bit of a slot is set only by slot_update and slot_recheck (slots.h); everything
 *      that changes the head of its buffer or its scoreboard calls one of them.
 *  K3  Every fetched instruction is issued, skipped, flushed or left in a buffer.
 *  K4  An issue slot counts once: as issued, or under one of the idle_ reasons.
 *  K5  Nothing here allocates after core_begin.
 *  K6  While a scheduler is `asleep`, none of its warps can issue and none has changed since the
 *      scheduler last checked them: everything that changes a warp, or a set of them, wakes it.
 *  K7  A core accesses nothing outside itself but its ports, its blocks and the memory view.
 *  K8  The warp of a clear slot is neither waiting, ended nor redirected.
 *  K9  A slot belongs to one block: one whose warp has left belongs to it until another takes it.
 */
#ifndef CORE_STAGES_H
#define CORE_STAGES_H

#include "core/core.h"
#include "core/pipeline.h"
#include "exec/register_file.h"
#include "mem/cache.h"
#include "mem/coalesce.h"

/* Device addresses for local memory, which has none of its own where the instruction set has a space
 * for it; far above those of memory_create. */
#define LOCAL_BASE (1ull << 46)

enum {
    CORE_SCHEDULERS = 16,
    CORE_COLLECTORS = 64,
    CORE_BANKS = 64,
    CORE_INFLIGHT = 1024, /* instructions in flight on a core; issue waits when all are taken */
    WHEEL = 4096,         /* cycles that a result can lie in the future */
    MAX_BUFFER = 16,
    MAX_MARKS = 16, /* of skipped instructions in a buffer, in addition to its instructions */
    NO_INFLIGHT = 0xffff
};

/* Why nothing is fetched for a slot, bits. */
enum barred {
    BARRED_MISSING = 1 << 0, /* it waits for a line of the instruction cache */
    BARRED_HELD = 1 << 1,    /* core_hold */
    BARRED_FETCH = 1 << 2,   /* core_hold_fetch */
};

/* The counter of its slot that an access is in. */
enum memory_wait {
    NOT_WAITING,
    WAITS_AS_VECTOR, /* vector_accesses */
    WAITS_AS_SCALAR, /* scalar_accesses: scalar loads and shared memory */
};

/* An instruction in flight on a core. */
struct inflight {
    struct dyninst dyn;
    const struct inst_time *time; /* of its instruction; a mechanism's own may have another */
    u16 index;                    /* its record's number */
    u16 next;                     /* in a list */
    u8 slot, pipe, group;
    u8 unit; /* number of its unit within the pipe, once it has started */
    u16 latency, interval;
    u16 extra;       /* additional cycles before its unit, from mechanisms */
    u16 outstanding; /* transactions that are not answered yet */
    bool sent;       /* all its transactions have left the load/store unit */
    u8 memory_wait;  /* enum memory_wait */
    bool injected;   /* made by a mechanism, not an instruction of the warp */
    bool has_result; /* `result` has been called for it */
    bool silent;     /* its stores create no transactions (the view seam) */
    bool dropped;    /* its results were not written (the write-back seam, or annulled) */
    bool annulled;   /* it accesses no memory and writes no register from now on */
    bool waited;     /* its results are due and wait for a bank or a bus */
    bool passes;     /* a mechanism has its result: it bypasses its unit's output register */
    bool astray;     /* its result goes to another register (live.h) */
    u8 astray_slot;
    u8 bus; /* the result bus, or port of the load/store unit, that its result took (places) */
    u16 astray_register;
    lane_set
        checked;  /* lanes whose result a mechanism compares with that of another execution, so that
                       * errors of units in it are found (set in `operand`) */
    bool counted; /* in a wait counter; */
    bool in_order; /* that counter's order allows it to retire: gcn/waitcnt.c */
    u8 order;      /* its position in the wait queue of its warp */
    /* With mechanisms: accesses to single lanes of vector registers, and operations of single
     * lanes. Mechanisms may change them in `operand` and `issued`, lane_writes until
     * `write_back`. */
    u16 lane_reads, lane_ops, lane_writes;
};

/* Members that every instruction of the warp needs come first. */
struct slot {
    struct warp *warp;
    const struct inst_time *time; /* of the head of its buffer, while that is valid */
    u64 *pending; /* scoreboard: registers with a pending write; then those waiting for memory */
    u64 issued;
    u32 at;          /* the warp's next instruction; NO_INST: it waits or has ended */
    u32 in_flight;   /* instructions */
    u32 fetch_at;    /* the next instruction to fetch */
    i32 limit;       /* entries up to which the buffer wants more: fetch.limit, plus one per mark */
    u32 skipped;     /* bits: this entry is the mark of a skipped instruction */
    u8 buffered;     /* entries, including marks */
    u8 barred;       /* enum barred */
    bool decoding;   /* instructions are between the instruction cache and the buffer */
    bool ended;      /* the warp has ended; the slot waits for what is in flight */
    bool derailed;   /* a flipped bit makes the buffer differ from the warp's path (live.h) */
    u8 region_count; /* scoreboard regions taken */
    u8 head;         /* the slot is in issue.heads of this pipe, */
    u8 blocked;      /* and in issue.blocked of this reason; STALL_NONE: in none */
    u8 block;        /* the place of its block */
    u64 ready_since, age;
    u32 vector_accesses; /* in flight, for wait counters */
    u32 scalar_accesses;
    u32 unacted; /* accesses that have not reached the head of the load/store unit */
    u32 stores;  /* requests not acknowledged */
    u32 buffer[MAX_BUFFER + MAX_MARKS];
    u64 missed_at;
    u64 started; /* cycle */
    u8 stall;    /* as last traced, and at which instruction */
    u32 stall_inst;
} __attribute__((aligned(64)));

/* A warp's wait counters. */
enum {
    WAIT_QUEUE = 32
};
struct wait_queue {
    u8 first, used;           /* a ring of the accesses in flight, in program order */
    u8 count;                 /* sum of their counts */
    u32 finished;             /* by position: the access's data have arrived */
    u16 inflight[WAIT_QUEUE]; /* all of them; */
    u8 counts[WAIT_QUEUE];    /* what each counts: more if accesses after it were skipped */
};
struct waits {
    struct wait_queue vector, shared;
    u8 scalars, data; /* counts of scalar loads, which are unordered, and of store data */
};

struct resident {
    struct thread_block *block; /* NULL: free */
    u64 slots;                  /* slots of its warps, but those that others have taken since */
    u32 left;                   /* warps that have not ended */
    u64 started;
    bool copy; /* a copy of a block that is counted elsewhere (the dispatch seam) */
};

/* A queue of instructions between two stages. */
enum {
    LATCH = 16
};
struct latch {
    u16 inflight[LATCH];
    u8 count, limit;
} __attribute__((aligned(64)));

struct collector {
    u16 inflight;
    u8 pipe, group;
    u16 depth;  /* remaining reads from its most requested bank */
    u16 ticket; /* of a memory access: its position in the order of its group, modulo 65536 */
};

/* Reads of a collector that mechanisms have made wait for others (bank_access.then). */
enum {
    LATER = 16 /* registers */
};
struct later_reads {
    u32 count;
    struct {
        u64 first; /* banks that have not been read yet, */
        u64 then;  /* and those that are asked for after them */
    } at[LATER];
};

/* Collectors of one kind and group, which take turns. */
struct turn {
    u64 collectors;
    u32 next; /* checked first */
};

/* Collectors and units that serve the same warps: all warps, or those of one scheduler
 * (sub-cores). */
struct core_group {
    struct latch issued[PIPES];       /* from issue to the collectors */
    struct latch collected[PIPES];    /* from the collectors to the units */
    u8 issued_pipes, collected_pipes; /* non-empty latches, bits */
    u16 tickets;                      /* tickets given to memory accesses, which stay in order, */
    u16 served;                       /* and the next ticket to leave */
    u64 collectors[PIPES];            /* those that serve a pipe */
    u64 unit_free[PIPES][LATCH];      /* cycle from which a unit accepts an instruction */
};

/* A list of instructions in flight, in order. */
struct inflight_list {
    u16 first, last;
};

/* ---- stages ---- */

struct fetch_stage {
    struct cache *cache;
    u32 last;                       /* slot fetched last */
    u64 wanting;                    /* slots that want instructions */
    u32 line_packets, line_sectors; /* per line: packets that request it; all its sectors, bits */
    i32 limit;                      /* entries, without marks, up to which a buffer wants more */
    u32 extra_stages; /* stages that mechanisms added between fetch and the buffers (at `create`) */
    u64 arrived;      /* slots whose line has just arrived: they are served first */
    struct {
        u32 inst, slot;
        u32 served; /* the single instruction that a mechanism delivered in place of `inst`;
                     * NO_INST: from the instruction cache */
        u64 ready;  /* cycle */
    } decode[64];
    u32 decode_head, decode_tail;
    struct {
        u32 mshr;
        u64 ready; /* cycle */
    } misses[64];  /* of an instruction cache with a fixed miss latency */
    u32 miss_head, miss_tail;
};

struct issue_stage {
    /* sets of slots */
    u64 buffered, clear, redirected;
    u64 waiting;         /* the warp waits for others (barrier, lanes) */
    u64 branching;       /* a branch is unresolved, or the slot is held */
    u64 held;            /* by core_hold: also in `branching`; */
    u64 held_branching;  /* those of them with an unresolved branch */
    u64 serial;          /* the head is performed between windows, by core_serial */
    u64 skipping;        /* the head of the buffer is the mark of a skipped instruction */
    u64 blocked[STALLS]; /* slots whose head is not clear, by reason */
    u64 heads[PIPES];    /* slots by the pipe of their head, or of their previous head */
    /* schedulers */
    u32 asleep;   /* schedulers, bits (K6) */
    u32 idle_set; /* schedulers with idle slots that are not charged yet, bits */
    struct {
        u64 since; /* the first cycle that is not charged */
        u32 inst;  /* NO_INST: none */
        u8 stall;
    } idle[CORE_SCHEDULERS]; /* and the reason */
    struct {
        u64 slots; /* its warps */
        u32 last;  /* the slot that issued last */
        u64 group; /* policy two_level: the active warps */
        u64 free;  /* the cycle of its next turn, if issue.interval > 1 */
    } schedulers[CORE_SCHEDULERS];
    u16 scheduler_of[CORE_WARPS]; /* by slot: a bit */
    u32 all;                      /* schedulers, bits */
    u64 rounds;                   /* of turns so far: the scheduler that goes first rotates */
    bool sleeps;                  /* schedulers may sleep in this launch */
    bool greedy;                  /* the policy prefers the warp that issued last, */
    bool oldest_next;             /* and then the oldest, which schedule_oldest finds */
    bool one_each;                /* a turn is one instruction and one cycle */
    bool crowded;                 /* the host's caches are too small for all registers: prefetch */
    /* dependences */
    u32 scoreboard_words; /* of each of the two sets of a warp */
    bool wide;            /* registers of this launch are beyond the first word */
    u64 *pending;         /* for all slots */
    bool by_waitcnt;      /* wait counters order memory results, not the scoreboard */
    struct waits waits[CORE_WARPS];
};

struct collect_stage {
    struct core_group group[CORE_SCHEDULERS];
    u32 issued_groups;    /* groups with instructions for collectors, bits; */
    u32 collected_groups; /* for units; */
    u32 access_groups;    /* for the load/store unit */
    /* Groups whose instructions found no collector in the last step, bits, and the number of their
     * latches: they wait until a collector is freed or another instruction issues. */
    u32 starved_groups, starved;
    u8 full_pipes[CORE_SCHEDULERS]; /* by group: full latches after issue, bits */
    struct collector collectors[CORE_COLLECTORS];
    struct turn turns[CORE_COLLECTORS];
    u8 turn_of[CORE_COLLECTORS]; /* by collector */
    u32 turn_count;
    u64 free, ready;             /* collectors */
    u64 stuck;                   /* ready but blocked since they last tried */
    u8 reading[CORE_COLLECTORS]; /* those that wait for banks, in the order they were taken */
    u32 reading_count;
    u64 wanted[CORE_COLLECTORS][BANK_STEPS]; /* [n]: banks with more than n remaining reads */
    struct later_reads later[CORE_COLLECTORS];
    u64 banks_written; /* in this cycle */
    u32 banks_per_group;
    u64 group_banks; /* banks of the first group */
    /* For mechanisms that change `places`: */
    u32 spread;                 /* the machine's banks that count as one bank above */
    u64 busy;                   /* banks with a write that takes more than one cycle, */
    u64 readable;               /* those whose last write left their read port free, */
    u64 busy_until[CORE_BANKS]; /* and the first cycle in which each is free again */
    struct {
        u8 up, down, base; /* shift amounts for collect_banks */
    } bank_turns[CORE_WARPS];
};

/* Result buses, or write-back ports of the load/store unit, while mechanisms occupy them for
 * long. */
enum {
    MOST_BUSES = 16
};
struct buses {
    u64 until;             /* until this cycle, one is occupied for long or results wait */
    u64 taken[MOST_BUSES]; /* the first cycle in which each is free again */
};
struct write_waits {
    u64 banks, buses; /* cycles */
};

struct execute_stage {
    u32 count[PIPES]; /* units per group */
    u8 bus[WHEEL];    /* results that leave in a cycle */
    struct buses buses, ports;
    struct write_waits waits;
    u64 held_for; /* the cycle to which waiting results were last postponed, */
    u16 held;     /* and the last of them */
};

/* Results by the cycle in which they are written back. */
struct wheel {
    struct inflight_list lists[WHEEL];
    u64 used[WHEEL / 64];
    u64 words; /* non-zero words of `used`, bits */
};

struct lsu; /* common/lsu_parts.h */
struct lsu_stage {
    struct lsu *unit;
    u32 held; /* requests that wait for the network, plus the instruction at the head */
    u64 due;  /* cycle in which an access reaches the end of a cache's pipe, */
    u64 done; /* or arrived data may be written back; UINT64_MAX: none */
};

/* ---- the core ---- */

struct inflight_pool {
    struct inflight *all; /* CORE_INFLIGHT */
    u64 *free;
    u32 count;     /* taken */
    u32 *rows;     /* storage for the values of all records */
    u32 row_words; /* words per record, a multiple of 16 */
};

/* What observes this launch (trace.h). */
struct tracing {
    struct trace_buffer *spans; /* NULL: not traced */
    struct trace_buffer *steps; /* of instructions; NULL: not traced */
    struct core_watcher *watcher;
    bool on;     /* spans or steps are traced */
    u64 told;    /* slots whose head has been traced as reaching issue, */
    u32 fetched; /* and the fetches traced so far, as fetch.decode_tail */
};

/* Why instructions leave the plain path from issue to write-back, bits: one test covers all. */
enum detour {
    DETOUR_SEAMS = 1 << 0,    /* a mechanism fills a seam, or instructions are observed */
    DETOUR_PIPELINE = 1 << 1, /* the pipeline does not use the common way from issue to the units */
    DETOUR_WAITCNT = 1 << 2,  /* issue.by_waitcnt */
    DETOUR_CONTENT = 1 << 3,  /* loads take their values at write-back */
    DETOUR_LIVE = 1 << 4,     /* operands stay in the record: config.live */
    DETOUR_COPIES = 1 << 5,   /* a mechanism or a trace may read operands in the record */
};

/* Mechanisms may read operands, or their bits be flipped: they are copied into the record. */
#define DETOUR_OPERANDS (DETOUR_COPIES | DETOUR_LIVE)

/* A cache of a core, for the cache_event seam. */
struct core_cache {
    struct core *core;
    enum packet_client which;
};

struct live_core; /* live.h */

/* Re-formed warps, if a mechanism forms them (common/reform.c). */
struct reformed;
struct reform {
    struct reformed *warps; /* by slot; NULL: no mechanism does */
    u32 *frames;
    u8 homes[CORE_WARPS][MAX_LANES]; /* by slot and lane: the home's slot */
};

/* Sees the instructions of a core with live state, unless mechanisms fill seams. */
struct core_watch {
    void *user;
    /* It has issued: operands and results are in the record. */
    void (*issued)(void *user, struct core *core, struct inflight *inflight);
    /* Its results are about to be written to the registers. */
    void (*written)(void *user, struct core *core, const struct inflight *inflight);
};

struct core {
    struct core_config config;
    struct arena *arena; /* of the core itself, its slots and its records */
    const struct pipeline *pipeline;
    void *own; /* the pipeline's private state */
    struct clock clock;
    struct core_counts stats;
    struct hooks hooks;
    struct core_cache observed[CLIENTS];
    u32 mechanism_work; /* not 0: mechanisms need every cycle (core_want_cycles) */
    u32 detours;        /* of this launch */
    u32 groups;         /* schedulers that have their own units, or 1 */

    /* the launch */
    struct exec *exec;
    struct inst_time *times; /* by instruction; cores write those of their spare instructions */
    u32 inst_count;
    lane_set all_lanes;
    struct inst_profile *profile;
    struct memory_view *view;
    struct tracing trace;
    bool stopped; /* the launch has stopped on this core */
    struct {
        fs time; /* calls `call` before the clock edge at or after this time, once; */
        void (*call)(void *user, struct core *core); /* NULL: nothing is to be called */
        void *user;
    } at;
    /* Nothing happens before this cycle unless a reply arrives or, between windows, a block starts
     * or a warp continues. Not in the future: unknown. */
    u64 quiet_until;
    fs began;
    fs last_left;    /* when a warp last left the core */
    u64 warp_cycles; /* of warps that have left */

    /* warps and blocks */
    struct slot *slots; /* CORE_WARPS */
    struct register_file *registers;
    struct {
        u32 first, count;
    } immune; /* rows whose bits do not flip */
    struct {
        u64 permuted; /* slots with a permutation; others run on lanes of the same number */
        u8 physical[CORE_WARPS][MAX_LANES];
    } lanes;
    struct resident blocks[CORE_BLOCKS];
    u32 block_count;
    u64 present, ended;
    /* Slots of warps that started together and are present; the oldest come first, and among them
     * lower slots are older. */
    u64 cohorts[CORE_BLOCKS];
    u32 cohort_count;
    u64 ages;                                  /* the age of the next warp */
    u32 finished[CORE_BLOCKS], finished_count; /* places of blocks that ended, for the dispatcher */

    /* stages */
    struct issue_stage issue;
    struct fetch_stage fetch;
    struct collect_stage collect;
    struct execute_stage units;
    struct lsu_stage lsu;
    struct wheel wheel;
    u8 *awaiting[CLIENTS]; /* by tag: packets of a request that are not answered yet */

    struct inflight_pool inflight;
    struct reform reform;
    struct region_start *starts;    /* by slot; NULL: no mechanism restarts warps (restart.c) */
    struct live_core *live;         /* NULL: config.live is not set */
    const struct core_watch *watch; /* NULL: none */
};

/* ---- what all pipelines use ---- */

static inline u64 bit(u32 n)
{
    return 1ull << n;
}
static inline u32 first_bit(u64 set)
{
    return (u32)__builtin_ctzll(set);
}
static inline struct inflight *core_inflight(struct core *core, u32 index)
{
    return &core->inflight.all[index];
}
static inline u32 inflight_index(const struct core *core, const struct inflight *inflight)
{
    return inflight->index;
}
static inline u64 core_cycle(const struct core *core)
{
    return core->clock.cycle;
}
static inline void list_push(struct core *core, struct inflight_list *list,
                             struct inflight *inflight)
{
    u16 index = (u16)inflight_index(core, inflight);
    inflight->next = NO_INFLIGHT;
    if (list->first == NO_INFLIGHT)
        list->first = index;
    else
        core->inflight.all[list->last].next = index;
    list->last = index;
}
static inline struct inflight *list_pop(struct core *core, struct inflight_list *list)
{
    if (list->first == NO_INFLIGHT)
        return NULL;
    struct inflight *inflight = &core->inflight.all[list->first];
    list->first = inflight->next;
    return inflight;
}
static inline void latch_push(struct latch *latch, u32 inflight)
{
    latch->inflight[latch->count++] = (u16)inflight;
}
static inline u32 latch_first(const struct latch *latch)
{
    return latch->inflight[0];
}
static inline void latch_pop(struct latch *latch)
{
    const u32 left = latch->count - 1u;
    latch->count = (u8)left;
    for (u32 i = 0; i < left; i++) /* most latches hold one */
        latch->inflight[i] = latch->inflight[i + 1];
}
static inline bool core_hooked(const struct core *core, enum seam seam)
{
    return UNLIKELY(core->hooks.seams >> seam & 1);
}
/* Whether each instruction is observed. */
static inline bool core_followed(const struct core *core)
{
    return UNLIKELY(core->trace.steps != NULL || core->trace.watcher != NULL);
}
static inline void core_trace(struct core *core, enum trace_kind what, u32 slot, u32 inst,
                              u64 value, u64 more)
{
    struct trace_buffer *o = what < TRACE_DISPATCH ? core->trace.spans : core->trace.steps;
    if (LIKELY(!o) || core->clock.next < o->from || core->clock.next >= o->to)
        return;
    struct trace_event *seen = vec_push(&o->list);
    *seen = (struct trace_event){core->clock.next,        value,    more,    inst,
                                 (u16)core->config.index, (u8)slot, (u8)what};
}

/* trace.c: steps of the common stages. An instruction has issued; its results are written;
 * instructions have entered the buffer; a cycle is over. */
void trace_issued(struct core *core, const struct inflight *inflight);
void trace_retired(struct core *core, const struct inflight *inflight);
void trace_decoded(struct core *core, u32 slot, u32 inst, u32 count);
void trace_steps(struct core *core);
/* Of a slot; pipelines with one scheduler do not say. */
static inline u32 trace_scheduler(const struct core *core, u32 s)
{
    return core->issue.scheduler_of[s] ? first_bit(core->issue.scheduler_of[s]) : 0;
}
/* Traces of events: what is on the core when the trace begins; why a warp does not issue, which may
 * also be a full unit; what a warp waits for that has just begun to. */
void trace_present(struct core *core);
enum stall trace_stall(const struct core *core, u32 slot);
void trace_needs(struct core *core, u32 slot, enum stall stall);
/* The next instruction in flight, from record *at on, that writes a register that the slot's next
 * instruction uses, and the number of that register on the scoreboard; NULL: none. */
const struct inflight *core_next_writer(const struct core *core, u32 slot, u32 *at, u32 *number);
/* The register file that a result goes to. */
enum trace_place trace_register(struct operand o);

/* NULL: none is free. */
static inline struct inflight *inflight_take(struct core *core)
{
    for (u32 w = 0; w < CORE_INFLIGHT / 64; w++)
        if (core->inflight.free[w]) {
            u32 index = w * 64 + first_bit(core->inflight.free[w]);
            struct inflight *inflight = &core->inflight.all[index];
            core->inflight.free[w] &= core->inflight.free[w] - 1;
            core->inflight.count++;
            inflight->dyn.rows = core->inflight.rows + (size_t)index * core->inflight.row_words;
            inflight->index = (u16)index;
            inflight->extra = inflight->outstanding = 0;
            inflight->sent = inflight->injected = false;
            inflight->memory_wait = NOT_WAITING;
            inflight->has_result = inflight->silent = inflight->dropped = inflight->passes = false;
            inflight->waited = inflight->annulled = false;
            inflight->checked = 0;
            return inflight;
        }
    return NULL;
}
static inline void inflight_give(struct core *core, struct inflight *inflight)
{
    u32 index = inflight_index(core, inflight);
    core->inflight.free[index / 64] |= bit(index % 64);
    core->inflight.count--;
}
/* The wheel's list for `cycles` from now (at least 1). */
static inline struct inflight_list *wheel_list(struct core *core, u64 cycles)
{
    assert(cycles && cycles < WHEEL);
    u32 at = (u32)((core_cycle(core) + cycles) % WHEEL);
    if (!(core->wheel.used[at / 64] >> at % 64 & 1)) {
        core->wheel.used[at / 64] |= bit(at % 64);
        core->wheel.words |= bit(at / 64);
        core->wheel.lists[at].first = NO_INFLIGHT;
    }
    return &core->wheel.lists[at];
}
/* The instruction's results are written back `cycles` from now (at least 1). */
static inline void wheel_add(struct core *core, struct inflight *inflight, u64 cycles)
{
    list_push(core, wheel_list(core, cycles), inflight);
}
void core_take_replies(struct core *core);
void core_trace_stalls(struct core *core);
/* Cycles until something on the wheel is due; WHEEL: nothing is. */
u64 wheel_next(const struct core *core);
/* Call after the warp of a slot, which must not be clear, moved or its scoreboard changed (K2). */
void slot_update(struct core *core, u32 slot);
/* Wakes the scheduler of a slot after a change that it checks (K6). */
static inline void slot_wake(struct core *core, u32 s)
{
    core->issue.asleep &= ~(u32)core->issue.scheduler_of[s];
}
/* Sets of registers in the first scoreboard words (NEAR_WORDS); most programs need one. Written out,
 * because compilers turn them into loops. */
static inline void near_add(const struct core *core, u64 *to, const u64 *bits)
{
    to[0] |= bits[0];
    if (UNLIKELY(core->issue.wide)) {
        to[1] |= bits[1];
        to[2] |= bits[2];
    }
}
static inline void near_remove(const struct core *core, u64 *from, const u64 *bits)
{
    from[0] &= ~bits[0];
    if (UNLIKELY(core->issue.wide)) {
        from[1] &= ~bits[1];
        from[2] &= ~bits[2];
    }
}
/* Not 0: the two sets intersect. */
static inline u64 near_hits(const struct core *core, const u64 *a, const u64 *b)
{
    _Static_assert(NEAR_WORDS == 3, "all of them");
    u64 hits = a[0] & b[0];
    if (UNLIKELY(core->issue.wide))
        hits |= (a[1] & b[1]) | (a[2] & b[2]);
    return hits;
}
/* Something that the head of a slot may wait for has arrived: the slot can only become clear. */
void slot_recheck(struct core *core, u32 slot);
/* slot_recheck after an event other than a register write. */
static inline void slot_counted(struct core *core, u32 s)
{
    if (core->issue.buffered & ~core->issue.clear & bit(s) && !core->slots[s].time->plain)
        slot_recheck(core, s);
}
/* common/reform.c: at the start and the end of a launch. */
void reform_begin(struct core *core);
void reform_end(struct core *core);
/* restart.c: at the start and the end of a launch; and the state of a warp's paths is kept. */
void restart_begin(struct core *core);
void restart_end(struct core *core);
void restart_keep(struct core *core, u32 slot);
/* An instruction of a slot issues next. */
static inline void restart_pass(struct core *core, u32 slot, const struct inst_time *time)
{
    if (UNLIKELY(time->flags & TIME_CUT))
        restart_keep(core, slot);
}
/* The slot in which the thread of a slot's lane has its home: another one only if a mechanism has
 * re-formed the warp. */
static inline u32 core_home(const struct core *core, u32 slot, u32 lane)
{
    return LIKELY(!core->slots[slot].warp->reformed) ? slot : core->reform.homes[slot][lane];
}
/* Warps of the slot's block may be able to continue. */
void block_update(struct core *core, u32 slot);
/* The same for one slot, which has no next instruction. */
void slot_continue(struct core *core, u32 slot);
void slot_maybe_leave(struct core *core, u32 slot);

#endif
