/*
 * What a core is made of: its warps, the instructions in flight, and a struct for each stage of
 * the common pipeline. For the files of src/core; mechanisms see a core through mechanism.h.
 *
 * Invariants
 *  K1  Warps of a core have places ("slots") 0 to 63; sets of them are words with a bit each.
 *  K2  `clear` of a slot is recomputed only by slot_update, which is called by everything that
 *      changes the head of its buffer or its scoreboard.
 *  K3  Every instruction fetched is issued, skipped, flushed or left in a buffer.
 *  K4  A slot of an issue cycle counts once: issued, or one of the idle_ reasons.
 *  K5  Nothing here allocates after core_begin.
 *  K6  While a scheduler is `asleep`, none of its warps can issue and none has changed since the
 *      scheduler last looked: everything that changes one, or a set of them, wakes it.
 *  K7  A core touches nothing outside itself but its ports, its blocks and the memory view.
 *  K8  A clear slot's warp is neither waiting, ended nor redirected.
 */
#ifndef CORE_STAGES_H
#define CORE_STAGES_H

#include "core/core.h"
#include "core/pipeline.h"
#include "exec/register_file.h"
#include "mem/cache.h"
#include "mem/coalesce.h"

enum {
    CORE_SCHEDULERS = 16,
    CORE_COLLECTORS = 64,
    CORE_BANKS = 64,
    CORE_INFLIGHT = 1024, /* instructions in flight on a core; issue waits when all are taken */
    WHEEL = 4096,         /* cycles that a result can lie ahead */
    MAX_BUFFER = 16,
    MAX_MARKS = 16, /* of skipped instructions in a buffer, beside its instructions */
    NO_INFLIGHT = 0xffff
};

/* Why nothing is fetched for a slot, bits. */
enum barred {
    BARRED_MISSING = 1 << 0, /* it waits for a line of instructions */
    BARRED_HELD = 1 << 1,    /* core_hold */
    BARRED_FETCH = 1 << 2,   /* core_hold_fetch */
};

/* An instruction in flight on a core. */
struct inflight {
    struct dyninst dyn;
    const struct inst_time
        *time; /* of its instruction; one of a mechanism's own may have another */
    u16 index; /* its place */
    u16 next;  /* of a list */
    u8 slot, pipe, group;
    u8 unit; /* of its pipe, once it has started */
    u16 latency, interval;
    u16 extra;        /* cycles before its unit, by mechanisms */
    u16 outstanding;  /* transactions not answered yet */
    bool sent;        /* all its transactions have left the load/store unit */
    bool memory_wait; /* its results count as waiting for memory */
    bool injected;    /* made by a mechanism: not the warp's own instruction */
    bool has_result;  /* mechanisms have been told of it */
    bool silent;      /* its stores go nowhere: no transactions (the view seam) */
    bool dropped;     /* its results were not written (the write-back seam) */
    bool waited;      /* its results are to be written, and wait for a bank or a bus */
    bool passes;      /* a mechanism has its result: it enters its unit, but leaves it at once */
    bool counted;     /* in a wait counter, */
    bool in_order;    /* whose turn of it has come: gcn/waitcnt.c */
    u8 order;         /* its place among those of its warp */
    /* With mechanisms, which may change them at `operand` and `issued`, and the last one until
     * `write_back`: accesses to single lanes of vector registers, and operations of single lanes.
     */
    u16 lane_reads, lane_ops, lane_writes;
};

/* What every instruction of the warp touches comes first. */
struct slot {
    struct warp *warp;
    const struct inst_time *time; /* of its head, while it is buffered */
    u64 *pending; /* scoreboard: registers to be written; then those that wait for memory */
    u64 issued;
    u32 at;          /* the instruction the warp stands at; NO_INST: it waits or has ended */
    u32 in_flight;   /* instructions */
    u32 fetch_at;    /* what would be fetched next */
    i32 limit;       /* the most entries its buffer may have and want more: the core's, and one for
                    * each mark */
    u32 skipped;     /* bits: the entry is not an instruction but the mark of a skipped one */
    u8 buffered;     /* entries, marks too */
    u8 barred;       /* enum barred */
    bool decoding;   /* instructions are between the cache and its buffer */
    bool ended;      /* the warp is done; the slot waits for what is under way */
    u8 region_count; /* scoreboard regions taken */
    u8 head;         /* its bit is in issue.heads of this pipe, */
    u8 blocked;      /* and in issue.blocked of this reason; STALL_NONE: in none */
    u8 block;        /* its block's place */
    u64 ready_since, age;
    u32 vector_accesses; /* under way, for wait counters */
    u32 scalar_accesses;
    u32 unacted; /* accesses that have not come to the head of the load/store unit */
    u32 stores;  /* requests not acknowledged */
    u32 buffer[MAX_BUFFER + MAX_MARKS];
    u64 missed_at;
    u64 started; /* cycle */
    u8 stall;    /* as last observed, and at which instruction */
    u32 stall_inst;
} __attribute__((aligned(64)));

/* Wait counters of a warp. */
enum {
    WAIT_QUEUE = 32
};
struct wait_queue {
    u8 first, used;           /* accesses under way, in their order, in a ring; */
    u8 count;                 /* what they count together; */
    u32 finished;             /* those whose data have come, by place; */
    u16 inflight[WAIT_QUEUE]; /* all of them; */
    u8 counts[WAIT_QUEUE];    /* and what each counts: more, if ones behind it were skipped */
};
struct waits {
    struct wait_queue vector, shared;
    u8 scalars, data; /* of scalar loads, in any order, and of stores */
};

struct resident {
    struct thread_block *block; /* NULL: free */
    u64 slots;                  /* its warps' places */
    u32 left;                   /* warps that have not ended */
    u64 started;
    bool copy; /* of a block that counts elsewhere (the dispatch seam) */
};

/* Instructions between two stages, in order. */
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
    u16 depth;  /* reads to come from the bank that has most of them */
    u16 ticket; /* of an access: its place in the order of its group, modulo 65536 */
};

/* Collectors that take turns: of one kind and group. */
struct turn {
    u64 collectors;
    u32 next; /* looked at first */
};

/* Collectors and units that serve the same warps: all, or those of a scheduler (sub-cores). */
struct core_group {
    struct latch issued[PIPES];       /* from issue to the collectors */
    struct latch collected[PIPES];    /* from there to the units */
    u8 issued_pipes, collected_pipes; /* latches that are not empty, bits */
    u16 tickets;                      /* given to accesses, which keep their order, */
    u16 served;                       /* and the next one's turn */
    u64 collectors[PIPES];            /* which serve a pipe */
    u64 unit_free[PIPES][LATCH];      /* cycle from which a unit takes an instruction */
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
    u32 line_packets, line_sectors; /* of a line: requests for it; all sectors, bits */
    i32 limit;        /* the most that a buffer may hold and want more, without marks */
    u32 extra_stages; /* that mechanisms have put between fetch and the buffers (at `create`) */
    u64 arrived;      /* slots whose line has just come: they are served first */
    struct {
        u32 inst, slot;
        u32 served; /* what a mechanism has delivered in its place, alone; NO_INST: it comes from
                     * the instruction cache */
        u64 ready;  /* cycle */
    } decode[64];
    u32 decode_head, decode_tail;
    struct {
        u32 mshr;
        u64 ready; /* cycle */
    } misses[64];  /* of a cache whose misses take a fixed time */
    u32 miss_head, miss_tail;
};

struct issue_stage {
    /* sets of slots */
    u64 buffered, clear, redirected;
    u64 waiting;         /* their warp waits for others (barrier, lanes) */
    u64 branching;       /* a branch of theirs is not resolved, or they are held */
    u64 held;            /* by core_hold: also in `branching`; */
    u64 held_branching;  /* of these, those whose branch is not resolved either */
    u64 serial;          /* their head is done between windows, by core_serial */
    u64 skipping;        /* the head of their buffer is the mark of a skipped instruction */
    u64 blocked[STALLS]; /* slots whose head is not clear, by reason */
    u64 heads[PIPES];    /* slots by where their head goes, or their last one went */
    /* schedulers */
    u32 asleep;   /* schedulers, bits (K6) */
    u32 idle_set; /* schedulers that were idle and have not been charged for it yet, bits */
    struct {
        u64 since; /* cycle: the first one that has not been charged */
        u32 inst;  /* NO_INST: none */
        u8 stall;
    } idle[CORE_SCHEDULERS]; /* and why */
    struct {
        u64 slots; /* that belong to it */
        u32 last;  /* issued last */
        u64 group; /* two-level: the active ones */
        u64 free;  /* cycle of its next turn, where turns have an interval */
    } schedulers[CORE_SCHEDULERS];
    u16 scheduler_of[CORE_WARPS]; /* of a slot: a bit */
    u32 all;                      /* schedulers, bits */
    u32 first;                    /* rotates */
    bool sleeps;                  /* schedulers of this launch may fall asleep */
    bool greedy;                  /* the warp that issued last goes first */
    /* dependences */
    u32 scoreboard_words;
    u64 *pending;    /* of all slots */
    bool by_waitcnt; /* wait counters order memory, not the scoreboard (issue.memory_order) */
    struct waits waits[CORE_WARPS];
};

struct collect_stage {
    struct core_group group[CORE_SCHEDULERS];
    u32 issued_groups;    /* with instructions for collectors, bits; */
    u32 collected_groups; /* for their units, */
    u32 access_groups;    /* and for the load/store unit */
    u32 starved_groups;   /* whose instructions found no collector in the last step, in so many */
    u32 starved;          /* latches: they wait until one is freed or another instruction issues */
    u8 full_pipes[CORE_SCHEDULERS]; /* latches of issue that have no room, bits */
    struct collector collectors[CORE_COLLECTORS];
    struct turn turns[CORE_COLLECTORS];
    u8 turn_of[CORE_COLLECTORS]; /* of a collector */
    u32 turn_count;
    u64 free, ready;             /* collectors */
    u64 stuck;                   /* ready, but their way was barred and is still */
    u8 reading[CORE_COLLECTORS]; /* those that wait for banks, in the order they were taken */
    u32 reading_count;
    u64 wanted[CORE_COLLECTORS][BANK_STEPS]; /* [n]: banks with more than n reads to come */
    u64 banks_written;                       /* in this cycle */
    u32 banks_per_group;
    u64 group_banks; /* the first group's */
    /* For mechanisms that say where registers are: */
    u32 spread;                 /* banks of the machine that count as one above */
    u64 busy;                   /* banks with a write that takes more than a cycle, */
    u64 busy_until[CORE_BANKS]; /* and the first cycle in which each is free again */
    struct {
        u8 up, down, base; /* as collect_banks uses them */
    } bank_turns[CORE_WARPS];
};

/* Result buses, or the load/store unit's write-back ports, while mechanisms take them for long. */
enum {
    MOST_BUSES = 16
};
struct buses {
    u64 until;             /* one is taken for long, or results wait, before this cycle */
    u64 taken[MOST_BUSES]; /* the first cycle in which each is free again */
};
struct write_waits {
    u64 banks, buses; /* cycles */
};

struct execute_stage {
    u32 count[PIPES]; /* units of a group */
    u8 bus[WHEEL];    /* results that leave in a cycle */
    struct buses buses, ports;
    struct write_waits waits;
    u64 held_for; /* the cycle of the wheel to which results were put back last, */
    u16 held;     /* and the last of them */
};

/* Results by the cycle in which they are written. */
struct wheel {
    struct inflight_list lists[WHEEL];
    u64 used[WHEEL / 64];
    u64 words; /* words of `used` that are not 0, bits */
};

struct lsu; /* common/lsu_parts.h */
struct lsu_stage {
    struct lsu *unit;
    u32 held; /* requests that wait for the network, and the instruction at its head */
    u64 due;  /* cycle in which an access comes to the end of a cache's pipe, */
    u64 done; /* or data that have come may be written back; UINT64_MAX: none */
};

/* ---- the core ---- */

struct inflight_pool {
    struct inflight *all; /* CORE_INFLIGHT */
    u64 *free;
    u32 count;     /* taken */
    u32 *rows;     /* for their values */
    u32 row_words; /* of one, a multiple of 16 */
};

/* Who follows this launch (trace.h). */
struct tracing {
    struct trace_buffer *spans; /* NULL: not traced */
    struct trace_buffer *steps; /* the same of instructions */
    struct core_watcher *watcher;
    bool on;     /* there are spans or steps */
    u64 told;    /* slots whose head has been told to have come to issue, */
    u32 fetched; /* and fetches that have been told, as fetch.decode_tail */
};

/* Why an instruction leaves the plain path from issue to write-back, bits: one test for all. */
enum detour {
    DETOUR_SEAMS = 1 << 0,    /* a mechanism fills a seam, or instructions are followed */
    DETOUR_PIPELINE = 1 << 1, /* the pipeline's own `enter`, or none */
    DETOUR_WAITCNT = 1 << 2,  /* issue.by_waitcnt */
    DETOUR_CONTENT = 1 << 3,  /* loads take their values when they are written back */
};

struct core {
    struct core_config config;
    struct arena *arena; /* of the core itself, its slots and its records */
    const struct pipeline *pipeline;
    void *own; /* the pipeline's, beyond the stages below */
    struct clock clock;
    struct core_counts stats;
    struct hooks hooks;
    u32 mechanism_work; /* not 0: a mechanism wants every cycle (it adds and takes away) */
    u32 detours;        /* of this launch */
    u32 groups;         /* schedulers that have their own units, or 1 */

    /* of the launch */
    struct exec *exec;
    const struct inst_time *times;
    u32 inst_count;
    lane_set all_lanes;
    struct inst_profile *profile;
    struct memory_view *view;
    struct tracing trace;
    bool stopped; /* the launch has stopped on this core */
    /* Nothing happens before this cycle unless an answer arrives or, between windows, a block
     * starts or a warp goes on; not in the future: not known. */
    u64 quiet_until;
    fs began;
    fs last_left;    /* when a warp last left it */
    u64 warp_cycles; /* of warps that have left */

    /* warps and blocks */
    struct slot *slots; /* CORE_WARPS */
    struct register_file *registers;
    struct {
        u64 permuted; /* slots; the others' threads run on the lanes of their number */
        u8 physical[CORE_WARPS][MAX_LANES];
    } lanes;
    struct resident blocks[CORE_BLOCKS];
    u32 block_count;
    u64 present, ended;
    u64 ages;                                  /* given out */
    u32 finished[CORE_BLOCKS], finished_count; /* places of blocks that ended, for the dispatcher */

    /* stages */
    struct issue_stage issue;
    struct fetch_stage fetch;
    struct collect_stage collect;
    struct execute_stage units;
    struct lsu_stage lsu;
    struct wheel wheel;
    u8 *awaiting[CLIENTS]; /* packets of a request not answered yet, by tag */

    struct inflight_pool inflight;
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
    for (u32 i = 0; i < left; i++) /* most hold one */
        latch->inflight[i] = latch->inflight[i + 1];
}
static inline bool core_hooked(const struct core *core, enum seam seam)
{
    return UNLIKELY(core->hooks.seams >> seam & 1);
}
/* Each instruction is followed. */
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

/* trace.c: steps of the common stages. An instruction has issued; is written; words have come to
 * the buffer; a cycle is over. */
void trace_issued(struct core *core, const struct inflight *inflight);
void trace_retired(struct core *core, const struct inflight *inflight);
void trace_decoded(struct core *core, u32 slot, u32 inst, u32 count);
void trace_steps(struct core *core);
/* Which registers a result goes to. */
enum trace_place trace_register(struct operand o);

/* core.c */
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
            inflight->sent = inflight->memory_wait = inflight->injected = false;
            inflight->has_result = inflight->silent = inflight->dropped = inflight->passes = false;
            inflight->waited = false;
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
/* The list of the wheel for `cycles` from now (at least 1). */
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
/* The results of the instruction are written `cycles` from now (at least 1). */
static inline void wheel_add(struct core *core, struct inflight *inflight, u64 cycles)
{
    list_push(core, wheel_list(core, cycles), inflight);
}
void core_take_replies(struct core *core);
void core_trace_stalls(struct core *core);
/* Cycles until something on the wheel is due; WHEEL: nothing is. */
u64 wheel_next(const struct core *core);
/* The warp of a slot, which is not clear, may have moved, or its scoreboard changed (K2). */
void slot_update(struct core *core, u32 slot);
/* What a slot's scheduler looks at has changed (K6). */
static inline void slot_wake(struct core *core, u32 s)
{
    core->issue.asleep &= ~(u32)core->issue.scheduler_of[s];
}
/* First words of scoreboards; written out, since compilers make loops of three of them. */
static inline void near_add(u64 *to, const u64 *bits)
{
    to[0] |= bits[0];
    to[1] |= bits[1];
    to[2] |= bits[2];
}
static inline void near_remove(u64 *from, const u64 *bits)
{
    from[0] &= ~bits[0];
    from[1] &= ~bits[1];
    from[2] &= ~bits[2];
}
/* Not 0: they have bits in common. */
static inline u64 near_hits(const u64 *a, const u64 *b)
{
    _Static_assert(NEAR_WORDS == 3, "all of them");
    return (a[0] & b[0]) | (a[1] & b[1]) | (a[2] & b[2]);
}
/* Something that the head of a slot may wait for has come: it can only become clear. */
void slot_recheck(struct core *core, u32 slot);
/* The same for what is not a register. */
static inline void slot_counted(struct core *core, u32 s)
{
    if (core->issue.buffered & ~core->issue.clear & bit(s) && !core->slots[s].time->plain)
        slot_recheck(core, s);
}
/* Warps of the slot's block may go on. */
void block_update(struct core *core, u32 slot);
void slot_maybe_leave(struct core *core, u32 slot);

#endif
