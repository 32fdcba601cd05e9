/*
 * One compute core in time.
 *
 * A tick calls the stages in reverse order, so that what a stage gives on is seen by the next one
 * in the next cycle and no next-state copies are needed:
 *
 *     write-back    results that leave a unit in this cycle go to the registers
 *     execute       instructions with all operands enter their units; the load/store unit works
 *     collect       register banks serve reads; instructions take collectors
 *     issue         each scheduler gives one warp's next instructions on
 *     fetch         instructions come from the cache into warps' buffers
 *
 * Invariants
 *  K1  Warps of a core have places ("slots") 0 to 63; sets of them are words with a bit each.
 *  K2  `clear` of a slot is recomputed only by slot_update, which whoever changes the head of its
 *      buffer or its scoreboard calls.
 *  K3  Every instruction fetched is issued, skipped, flushed or left in a buffer.
 *  K4  A slot of an issue cycle counts once: issued, or one of the idle_ reasons.
 *  K5  Nothing here allocates after core_begin.
 *  K6  While a scheduler is `asleep`, none of its warps can issue and none has changed since it
 *      last looked: whoever changes one, or a set of them that issue looks at, ends it.
 *  K7  A core touches nothing outside itself but its ports, its blocks and the memory view.
 *  K8  A clear slot's warp is neither waiting, ended nor redirected.
 */
#ifndef CORE_CORE_H
#define CORE_CORE_H

#include "core/hooks.h"
#include "core/params.h"
#include "core/trace.h"
#include "exec/dyninst.h"
#include "mem/cache.h"
#include "mem/coalesce.h"
#include "mem/port.h"

enum {
    CORE_WARPS = 64,
    CORE_BLOCKS = 64,
    CORE_SCHEDULERS = 16,
    CORE_COLLECTORS = 64,
    CORE_BANKS = 64,
    CORE_INFLIGHT = 1024, /* instructions under way on a core; issue waits when all are taken */
    WHEEL = 4096,         /* cycles that a result can lie ahead */
    MAX_READS = 16,
    MAX_DEPENDENCES = 16,
    MAX_BUFFER = 16,
    MAX_MARKS = 16, /* of skipped instructions in a buffer, beside its instructions */
    NEAR_WORDS = 3, /* of a scoreboard: registers 0 to 127 of most programs and all their masks */
    NO_INFLIGHT = 0xffff
};

/* Where an instruction goes from issue. */
enum pipe {
    PIPE_SP,
    PIPE_INT,
    PIPE_FP64,
    PIPE_SFU,
    PIPE_MEMORY,
    PIPE_SCALAR,
    PIPES
};

/* What an instruction is to a scheduler that gives one of each on in its turn (issue.turns). */
enum turn_kind {
    TURN_VECTOR,   /* the vector unit of its warps */
    TURN_SCALAR,   /* the scalar unit of the core, and scalar loads */
    TURN_BRANCH,   /* jumps, taken or not */
    TURN_ACCESS,   /* lanes' accesses to memory */
    TURN_SHARED,   /* lanes' accesses to shared memory */
    TURN_INTERNAL, /* done in the warp's buffer: waits, barriers, ends; has no unit */
    TURN_KINDS
};

enum timing_flags {
    TIME_BRANCH = 1 << 0,   /* may change the PC */
    TIME_BARRIER = 1 << 1,  /* may wait for other warps or lanes */
    TIME_LOAD = 1 << 2,     /* its result comes from memory */
    TIME_FENCE = 1 << 3,    /* waits for the warp's accesses */
    TIME_COUNTERS = 1 << 4, /* waits for wait counters */
    TIME_DRAIN = 1 << 5,    /* reads or writes registers that are known only when it runs */
    TIME_SCALAR_MEMORY = 1 << 6,
    TIME_SERIAL = 1 << 7,        /* acts on what all cores share: done between windows */
    TIME_BLOCK_BARRIER = 1 << 8, /* what the warp stored before it must have acted */
    TIME_END = 1 << 9,           /* of the warp; MIAOW's stages only */
    TIME_DATA = 1 << 10,         /* a wait counter covers the data it stores */
    TIME_NEAR = 1 << 11,         /* all registers it looks at are in `near` */
    TIME_RESTART = 1 << 12,      /* leaves its unit at work; MIAOW's stages only */
};

/* What timing has to know of an instruction; made when a program is first launched. */
struct inst_time {
    u8 pipe; /* enum pipe */
    u16 flags;
    u8 read_count;
    u8 dependence_count; /* words of the scoreboard it looks at, those it writes first */
    u8 write_count;      /* these; */
    u8 reserve_count;    /* and of them, those it reserves: all, but for what counters cover */
    u8 region_count;     /* of registers it writes */
    bool reserves;       /* it has any */
    u8 result_count;     /* vector registers it writes, */
    u64 result_banks;    /* and where they are in slot 0's group (collect_banks) */
    u8 fetched;          /* instructions that a fetch of it brings, */
    u64 line;            /* from this line of the instruction cache */
    u16 latency, interval;
    bool plain;                  /* it waits for nothing but registers, and those of `near` */
    u8 kind;                     /* enum turn_kind */
    u8 counter, counts;          /* enum wait_counter that covers its results, and by how much */
    u64 near[NEAR_WORDS];        /* all bits it looks at in the first words of the scoreboard, */
    u64 near_writes[NEAR_WORDS]; /* those of them that it writes, */
    u64 near_reads[NEAR_WORDS];  /* and that it reads */
    bool far_writes;             /* it writes registers beyond `near` */
    u16 reads[MAX_READS];        /* vector registers, one bank access each */
    u8 read_depth;               /* accesses to the bank that has most of them */
    u64 read_banks[MAX_READS];   /* [n]: banks that are read more than n times, as result_banks */
    struct {
        u32 word;
        u64 bits;
    } dependences[MAX_DEPENDENCES];
};

/* Why nothing is fetched for a slot, bits. */
enum barred {
    BARRED_MISSING = 1 << 0, /* it waits for a line of instructions */
    BARRED_HELD = 1 << 1,    /* core_hold */
    BARRED_FETCH = 1 << 2,   /* core_hold_fetch */
};

/* An instruction under way. */
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
    bool passes;      /* a mechanism has its result: it enters its unit, but leaves it at once */
    bool counted;     /* in a wait counter, */
    bool in_order;    /* whose turn of it has come: gcn/waitcnt.c */
    u8 order;         /* its place among those of its warp */
    /* With mechanisms, which may change them at `operand` and `issued`, and the last one until
     * `write_back`: accesses to single lanes of vector registers, and operations of single lanes.
     */
    u16 lane_reads, lane_ops, lane_writes;
};

struct slot {
    struct warp *warp;
    u32 at; /* the instruction the warp stands at; NO_INST: it waits or has ended */
    u32 buffer[MAX_BUFFER + MAX_MARKS];
    u32 skipped;         /* bits: the entry is not an instruction but the mark of a skipped one */
    u8 buffered;         /* entries, marks too */
    u8 block;            /* its block's place */
    u8 barred;           /* enum barred */
    bool decoding;       /* instructions are between the cache and its buffer */
    bool ended;          /* the warp is done; the slot waits for what is under way */
    u8 region_count;     /* scoreboard regions taken */
    u32 fetch_at;        /* what would be fetched next */
    i32 limit;           /* the most entries its buffer may have and want more: the core's, and one
                          * for each mark */
    u32 in_flight;       /* instructions */
    u32 stores;          /* requests not acknowledged */
    u32 vector_accesses; /* under way, for wait counters */
    u32 scalar_accesses;
    u32 unacted;  /* accesses that have not come to the head of the load/store unit */
    u64 *pending; /* scoreboard: registers to be written; then those that wait for memory */
    u64 issued, age, ready_since, missed_at;
    u64 started; /* cycle */
    u8 stall;    /* as last observed, and at which instruction */
    u32 stall_inst;
    const struct inst_time *time; /* of its head, while it is buffered */
    u8 head;                      /* its bit is in core.heads of this pipe, */
    u8 blocked;                   /* and in core.blocked of this reason; STALL_NONE: in none */
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

/* Tasks between two stages, in order. */
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

/* A list of tasks in order. */
struct inflight_list {
    u16 first, last;
};

struct core_config {
    u32 index, cores;
    const struct core_params *core;
#define COMPONENT_ROW(name) const struct name##_params *name;
#include "core/components.def"
#undef COMPONENT_ROW
    f64 mhz;
    struct port *requests, *replies;
    /* For instructions, and for constants and scalar loads: to the caches that cores share, or the
     * same as for all others. */
    struct port *fetch_requests, *constant_requests;
    u32 l2_line_bytes;
    u64 memory_bytes;
    const struct mechanism_use *mechanisms; /* switched on, in order; copied */
    u32 mechanism_count;
};

/* All that a core counts. */
struct core_counts {
#define COMPONENT_ROW(name) struct name##_stats name;
#include "core/components.def"
#undef COMPONENT_ROW
};

struct lsu;   /* lsu.c */
struct miaow; /* miaow/miaow.h */

struct core {
    struct core_config config;
    struct clock clock;
    struct core_counts stats;
    struct hooks hooks;
    u32 mechanism_work; /* not 0: a mechanism wants every cycle (it adds and takes away) */
    u32 fetch_stages;   /* that mechanisms have put between fetch and the buffers (at `create`) */
    u32 groups;         /* schedulers that have their own units, or 1 */

    /* of the launch */
    struct exec *exec;
    const struct inst_time *times;
    u32 inst_count;
    lane_set all_lanes;
    struct inst_profile *profile;
    struct memory_view *view;
    struct miaow *miaow;        /* NULL: the common stages */
    struct trace_buffer *spans; /* NULL: nobody looks */
    u32 scoreboard_words;
    u64 *pending; /* of all slots */
    bool stopped; /* the launch has stopped on this core */
    bool counts;  /* wait counters order memory, not the scoreboard (issue.memory_order) */
    struct waits waits[CORE_WARPS];
    /* Nothing happens before this cycle unless an answer arrives or, between windows, a block
     * starts or a warp goes on; not in the future: not known. */
    u64 quiet_until;
    fs began;
    fs last_left;    /* when a warp last left it */
    u64 warp_cycles; /* of warps that have left */

    /* warps */
    struct slot *slots; /* CORE_WARPS */
    struct resident blocks[CORE_BLOCKS];
    u32 block_count;
    u64 present, ended;
    u64 buffered, clear, redirected;
    u64 waiting;         /* their warp waits for others (barrier, lanes) */
    u64 branching;       /* a branch of theirs is not resolved, or they are held */
    u64 held;            /* by core_hold: also in `branching`; */
    u64 held_branching;  /* of these, those whose branch is not resolved either */
    u64 serial;          /* their head is done between windows, by core_serial */
    u64 skipping;        /* the head of their buffer is the mark of a skipped instruction */
    u64 blocked[STALLS]; /* slots whose head is not clear, by reason */
    u64 heads[PIPES];    /* slots by where their head goes, or their last one went */
    u64 ages;            /* given out */
    u32 asleep;          /* schedulers, bits (K6) */
    u32 idle_set;        /* schedulers that were idle and have not been charged for it yet, bits */
    struct {
        u64 since; /* cycle: the first one that has not been charged */
        u32 inst;  /* NO_INST: none */
        u8 stall;
    } idle[CORE_SCHEDULERS];                   /* and why */
    u32 finished[CORE_BLOCKS], finished_count; /* places of blocks that ended, for the dispatcher */

    /* fetch */
    struct cache *icache;
    u32 last_fetched;
    u64 fetchable;                  /* slots that want instructions */
    u32 line_packets, line_sectors; /* of a line: requests for it; all sectors, bits */
    i32 fetch_limit; /* the most that a buffer may hold and want more, without marks */
    u64 arrived;     /* slots whose line has just come: they are served first */
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

    /* issue */
    struct {
        u64 slots; /* that belong to it */
        u32 last;  /* issued last */
        u64 group; /* two-level: the active ones */
        u64 free;  /* cycle of its next turn, where turns have an interval */
    } schedulers[CORE_SCHEDULERS];
    u16 scheduler_of[CORE_WARPS]; /* of a slot: a bit */
    u32 all_schedulers;           /* bits */
    u32 first_scheduler;          /* rotates */
    bool sleeps;                  /* schedulers of this launch may fall asleep */
    bool greedy;                  /* the warp that issued last goes first */
    bool in_turn;                 /* one scheduler a cycle (issue.turns) */
    void (*take_turns)(struct core *core, u32 first); /* issue_turns, or gcn_issue */
    u64 kind_free[TURN_KINDS]
                 [CORE_SCHEDULERS]; /* in turns: cycle from which a unit takes another;
                                     * those of the core as a whole are the first ones */

    /* collect */
    struct core_group group[CORE_SCHEDULERS];
    u32 issued_groups;              /* with tasks for collectors, bits; */
    u32 collected_groups;           /* for their units, */
    u32 access_groups;              /* and for the load/store unit */
    u8 full_pipes[CORE_SCHEDULERS]; /* latches of issue that have no room, bits */
    struct collector collectors[CORE_COLLECTORS];
    struct turn turns[CORE_COLLECTORS];
    u32 turn_count;
    u64 collectors_free, collectors_ready;
    u64 collectors_stuck;        /* ready, but their way was barred and is still */
    u8 reading[CORE_COLLECTORS]; /* those that wait for banks, in the order they were taken */
    u32 collectors_reading;      /* how many */
    u64 wanted[CORE_COLLECTORS][PLACES]; /* [n]: banks with more than n reads to come */
    u64 banks_written;                   /* in this cycle */
    u32 banks_per_group;
    u64 group_banks; /* the first group's */
    struct {
        u8 up, down, base; /* as collect_banks uses them */
    } bank_turns[CORE_WARPS];

    /* units and the wheel */
    u32 unit_count[PIPES]; /* of a group */
    u8 bus[WHEEL];         /* results that leave in a cycle */
    struct inflight_list wheel[WHEEL];
    u64 wheel_used[WHEEL / 64];
    u64 wheel_words; /* words of wheel_used that are not 0, bits */

    struct lsu *lsu;
    u32 lsu_held;          /* requests that wait for the network, and the inflight at its head */
    u64 lsu_due;           /* cycle in which an access comes to the end of a cache's pipe, */
    u64 lsu_done;          /* or data that have come may be written back; UINT64_MAX: none */
    u8 *awaiting[CLIENTS]; /* packets of a request not answered yet, by tag */

    /* records */
    struct inflight *inflight;
    u64 *inflight_free;
    u32 task_count, inflight_count;
    u32 *rows;
    u32 row_words; /* of a inflight, a multiple of 16 */

    /* who follows instructions */
    struct trace_buffer *steps;   /* as `observations`, of instructions */
    struct core_watcher *watcher; /* NULL: none */
    bool watched;                 /* there are observations or steps */
    u64 steps_told;               /* slots whose head has been told to have come to issue, */
    u32 steps_fetched;            /* and fetches that have been told, as decode_tail */
};

struct core *core_create(const struct core_config *config);
void core_destroy(struct core *core);

/* A launch begins at `now`. `times` has an entry for each instruction; `profile` too. */
void core_begin(struct core *core, struct exec *exec, const struct inst_time *times,
                struct inst_profile *profile, fs now);
/* Its tasks are gone; counters stay until core_take_counts. */
void core_end(struct core *core);
bool core_has_room(const struct core *core);
/* A block takes place, between windows; which one is returned. */
u32 core_start_block(struct core *core, struct thread_block *block, bool copy);
/* Runs its edges before `end`. */
void core_run(struct core *core, fs end);
/* The first time at which it has something to do, as far as it knows; FS_NEVER: nothing. */
fs core_next(const struct core *core);
/* The launch ends, or ended, at this time: slots in which the core had no block any more, or that
 * it ran too far, are put right. */
void core_settle(struct core *core, fs end);
void core_take_counts(struct core *core, struct core_counts *stats);
/* Lanes that instructions under way will still write, as the profile counts them already. */
u64 core_lanes_unwritten(const struct core *core);
/* An atomic request is performed (between windows). */
void core_atomic(struct core *core, const struct packet *packet);
/* First-level caches forget their lines. */
void core_flush(struct core *core);
/* What a warp waits for. */
enum stall core_waits(const struct core *core, u32 slot);
/* The instruction a slot's warp stands at, be it a barrier it waits at; NO_INST: it has ended. */
u32 core_stands(const struct core *core, u32 slot);
/* More about it, as far as it is known. */
struct core_wait {
    u32 inst;      /* where the warp is; NO_INST: unknown */
    u32 writer;    /* the instruction that will write the register it waits for, or NO_INST */
    u32 barrier;   /* its number, when it waits at one */
    char reg[16];  /* "R5", or "" */
    char more[96]; /* or "" */
    bool has_request;
    struct packet request; /* one that it waits for */
};
void core_explain(const struct core *core, u32 slot, struct core_wait *wait);
/* System calls that warps stand at, in the order of their slots; between windows. */
void core_serial(struct core *core);
/* Nothing moves: lanes that wait at reconvergence points go on alone. True: some did. */
bool core_unblock(struct core *core);
/* After core_end: answers to a launch that stopped are dropped. */
void core_drain(struct core *core, fs end);

/* trace.c: who looks at this launch, after core_begin; all NULL when it is over. */
void core_watch(struct core *core, struct trace_buffer *spans, struct trace_buffer *steps,
                struct core_watcher *watcher);

/* decode.c: `count` entries. */
void time_program(struct inst_time *times, const struct program *program,
                  const struct core_config *config);
/* Of a mechanism's own instruction, for core_issue_own: where it goes and what it costs. */
void time_own(struct inst_time *time, const struct inst *inst, const struct core_config *config);
/* Words of a warp's scoreboard. */
u32 time_scoreboard_words(const struct program *program, const struct function *kernel);
/* The longest latency of any instruction, cycles. */
u32 time_longest(const struct core_config *config);

/* ---- between the stages ---- */

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
    return &core->inflight[index];
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
        core->inflight[list->last].next = index;
    list->last = index;
}
static inline struct inflight *list_pop(struct core *core, struct inflight_list *list)
{
    if (list->first == NO_INFLIGHT)
        return NULL;
    struct inflight *inflight = &core->inflight[list->first];
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
static inline void core_trace(struct core *core, enum trace_kind what, u32 slot, u32 inst,
                              u64 value, u64 more)
{
    struct trace_buffer *o = what < TRACE_DISPATCH ? core->spans : core->steps;
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
        if (core->inflight_free[w]) {
            u32 index = w * 64 + first_bit(core->inflight_free[w]);
            struct inflight *inflight = &core->inflight[index];
            core->inflight_free[w] &= core->inflight_free[w] - 1;
            core->inflight_count++;
            inflight->dyn.rows = core->rows + (size_t)index * core->row_words;
            inflight->index = (u16)index;
            inflight->extra = inflight->outstanding = 0;
            inflight->sent = inflight->memory_wait = inflight->injected = false;
            inflight->has_result = inflight->silent = inflight->dropped = inflight->passes = false;
            return inflight;
        }
    return NULL;
}
static inline void inflight_give(struct core *core, struct inflight *inflight)
{
    u32 index = inflight_index(core, inflight);
    core->inflight_free[index / 64] |= bit(index % 64);
    core->inflight_count--;
}
/* The inflight's results are written `cycles` from now (at least 1). */
static inline void wheel_add(struct core *core, struct inflight *inflight, u64 cycles)
{
    assert(cycles && cycles < WHEEL);
    u32 at = (u32)((core_cycle(core) + cycles) % WHEEL);
    if (!(core->wheel_used[at / 64] >> at % 64 & 1)) {
        core->wheel_used[at / 64] |= bit(at % 64);
        core->wheel_words |= bit(at / 64);
        core->wheel[at].first = NO_INFLIGHT;
    }
    list_push(core, &core->wheel[at], inflight);
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
    core->asleep &= ~(u32)core->scheduler_of[s];
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
/* The same for what is not a register, and for registers that `time` has written. */
static inline void slot_counted(struct core *core, u32 s)
{
    if (core->buffered & ~core->clear & bit(s) && !core->slots[s].time->plain)
        slot_recheck(core, s);
}
static inline void slot_written(struct core *core, u32 s, const struct inst_time *time)
{
    if (!(core->buffered & ~core->clear & bit(s)))
        return;
    const struct inst_time *head = core->slots[s].time;
    if (!head->plain || near_hits(head->near, time->near_writes))
        slot_recheck(core, s);
}
/* Warps of the slot's block may go on. */
void block_update(struct core *core, u32 slot);
void slot_maybe_leave(struct core *core, u32 slot);

/* hold.c, for mechanisms. Held slots neither issue nor fetch until they are released; meanwhile
 * they cost nothing. A slot that has issued may be held from `control` on. */
void core_hold(struct core *core, u64 slots);
void core_release(struct core *core, u64 slots);
/* The same for fetching only. */
void core_hold_fetch(struct core *core, u64 slots);
void core_release_fetch(struct core *core, u64 slots);
/* An instruction in a slot's buffer, at this place, is not wanted: the mark of a skipped one takes
 * its place, for which `skip` is called. */
void core_mark(struct core *core, u32 slot, u32 at);
/* Marks in a slot's buffer. */
static inline u32 slot_marks(const struct core *core, const struct slot *slot)
{
    return (u32)(slot->limit - core->fetch_limit);
}
/* A branch of a held slot is resolved. */
void hold_resolved(struct core *core, u32 slot);
/* Nothing will happen on a core by itself: mechanisms may let go what they hold. */
bool hold_stuck(struct core *core);
/* All of them are asked. */
bool hooks_stuck(struct core *core);

/* hooks.c: its result is there. */
void hooks_result(struct core *core, struct inflight *inflight);

/* fetch.c */
void fetch_create(struct core *core);
void fetch_destroy(struct core *core);
void fetch_tick(struct core *core);
/* What `times`, an entry for each instruction of an image, have to say of fetching it. */
void fetch_time(struct inst_time *times, const struct image *image,
                const struct core_config *config);
/* The line under an MSHR has arrived. */
void fetch_reply(struct core *core, u32 mshr);
void fetch_redirect(struct core *core, u32 slot);
static inline bool fetch_idle(const struct core *core)
{
    return !core->fetchable && core->decode_head == core->decode_tail;
}
/* The first cycle at which it may have something to do by itself. */
static inline u64 fetch_next(const struct core *core)
{
    const u32 at = core->miss_head % ARRAY_LEN(core->misses);
    return core->miss_head == core->miss_tail ? UINT64_MAX : core->misses[at].ready;
}
/* Whether, behind a branch in a slot's buffer or one that is being resolved or has just been, the
 * next address is not where to go. */
bool fetch_behind_branch(const struct core *core, u32 slot);
/* The slot's buffer has changed: does it want more? */
static inline void fetch_want_more(struct core *core, u32 s)
{
    const struct slot *slot = &core->slots[s];
    const bool wants = !slot->barred && !slot->decoding && !slot->ended &&
                       slot->fetch_at < core->inst_count &&
                       !(core->config.fetch->branch == 1 && fetch_behind_branch(core, s));
    core->fetchable = (core->fetchable & ~bit(s)) | (u64)wants << s;
}
static inline void fetch_want(struct core *core, u32 s)
{
    if (core->slots[s].buffered > core->slots[s].limit)
        core->fetchable &= ~bit(s);
    else
        fetch_want_more(core, s);
}

/* issue.c */
/* Work of an instruction in lanes. */
struct lane_work {
    u32 reads, ops, writes;
};
/* With mechanisms: adds what a inflight did beyond what its instruction does, or short of it, when
 * its operands have been read or its results are `written`. */
void inflight_count_work(struct core *core, const struct inflight *inflight, bool written);
/* Schedulers take their turns, beginning with this one. */
void issue_turns(struct core *core, u32 first);
/* gcn/issue.c: one takes its turn, the one whose cycle this is. */
void gcn_issue(struct core *core, u32 first);
/* Slots of a scheduler whose head's unit is busy, and will be free by itself. */
u64 gcn_busy(const struct core *core, u32 scheduler);
/* The instruction enters its unit in the cycle in which it issues. */
void gcn_enter(struct core *core, struct inflight *inflight);
/* Turns that a scheduler has in the cycles from `since` on, before `until`. */
static inline u64 gcn_turns_between(const struct core *core, u32 scheduler, u64 since, u64 until)
{
    const u64 n = core->config.issue->schedulers, before = n - 1 - scheduler;
    return (until + before) / n - (since + before) / n;
}
static inline void issue_tick(struct core *core)
{
    const u32 first = core->first_scheduler;
    core->first_scheduler = first + 1 == core->config.issue->schedulers ? 0 : first + 1;
    core->stats.issue.cycles += core->present != 0;
    if (core->asleep != core->all_schedulers || core->redirected | core->skipping)
        core->take_turns(core, first);
}
/* Charges the cycles in which schedulers were idle up to now. */
void issue_charge_idle(struct core *core);
/* Charges `cycles` in which nothing could change. */
void issue_charge(struct core *core, u64 cycles);
/* For mechanisms. Puts a dynamic instruction that was issued by other means on its way; the
 * inflight's flight is filled. There must be room (core_room). */
void core_issue_dyninst(struct core *core, struct inflight *inflight, u32 slot);
/* The same for a inflight of a mechanism's own (injected) that goes another way than the
 * instruction it is numbered as; there must be room in that pipe (collect_room). */
void core_issue_own(struct core *core, struct inflight *inflight, u32 slot,
                    const struct inst_time *time);
/* copy.c. A move of a register, as the warp's view has it, to its own row. */
struct core_copy {
    struct inst inst;
    struct inst_time time;
};
void core_copy_make(struct core_copy *copy, u32 reg, const struct core_config *config);
/* A inflight for it, numbered as `inst`; NULL: there is no room. Then it is issued, and the
 * register is pending until the mechanism, which sees it retire, has said so. */
struct inflight *core_copy_take(struct core *core, u32 slot, u32 inst,
                                const struct core_copy *copy);
void core_copy_issue(struct core *core, struct inflight *inflight, u32 slot,
                     const struct core_copy *copy);
void core_copy_retired(struct core *core, const struct inflight *inflight);
/* Counts it as an instruction of the slot's warp. */
void core_count_issue(struct core *core, const struct dyninst *dyn, u32 slot);
/* The slot's warp has gone on from the head of its buffer. */
void core_step(struct core *core, u32 slot, u32 inst);
/* A packet of a mechanism's own to the L2 slice of an address; what it and its answer carry counts
 * in flits. False: there is no room. (requests.c) */
bool core_send_note(struct core *core, u64 address, u64 payload, u16 bits);
/* All of it for a group whose flight was filled by dyninst_issue_homes: the slot's warp goes on. */
void core_issue_group(struct core *core, struct inflight *inflight, u32 slot);
/* Slots of a scheduler that may issue. */
u64 core_ready(const struct core *core, u32 scheduler);

/* For MIAOW's stages. An instruction of a slot's warp issues in a record; false: the launch
 * has stopped. One that takes no unit acts at once, and is done. */
bool core_issue_direct(struct core *core, struct inflight *inflight, u32 slot, u32 inst);
void core_act(struct core *core, struct inflight *inflight, u32 slot, u32 inst);
/* The issue slot of this cycle was used, or not, and why; slot: one that it holds for. */
void issue_used(struct core *core);
void issue_idle(struct core *core, enum stall stall, u32 slot);

/* schedule.c: what a policy wants. */
bool schedule_is_greedy(const struct core *core);
/* A warp of the set `ready`, which is not empty; CORE_WARPS: none may. */
u32 schedule_pick(struct core *core, u32 scheduler, u64 ready);
/* It has issued nothing for `cycles`. */
void schedule_pass(struct core *core, u32 scheduler, u64 cycles);
/* Whether the turn passes when nothing is issued. */
bool schedule_passes(const struct core *core);

/* scoreboard.c: registers beyond the first words. */
void scoreboard_reserve_far(const struct core *core, struct slot *slot,
                            const struct inst_time *time);
void scoreboard_release_far(const struct core *core, struct slot *slot,
                            const struct inst_time *time);
static inline void scoreboard_reserve(struct core *core, struct slot *slot,
                                      const struct inst_time *time)
{
    u64 *const pending = slot->pending, *const memory = pending + core->scoreboard_words;
    near_add(pending, time->near_writes);
    if (time->flags & TIME_LOAD)
        near_add(memory, time->near_writes);
    if (UNLIKELY(time->far_writes))
        scoreboard_reserve_far(core, slot, time);
    slot->region_count += time->region_count;
}
static inline void scoreboard_release(struct core *core, struct slot *slot,
                                      const struct inst_time *time)
{
    u64 *const pending = slot->pending, *const memory = pending + core->scoreboard_words;
    near_remove(pending, time->near_writes);
    if (time->flags & TIME_LOAD)
        near_remove(memory, time->near_writes);
    if (UNLIKELY(time->far_writes))
        scoreboard_release_far(core, slot, time);
    slot->region_count -= time->region_count;
}
/* STALL_NONE: the instruction may issue as far as registers go. */
enum stall scoreboard_check(const struct core *core, const struct slot *slot,
                            const struct inst_time *time);

/* gcn/waitcnt.c: with core.counts. */
/* What the scoreboard does not cover of an instruction. */
void waitcnt_time(struct inst_time *time, const struct inst *inst);
void waitcnt_issue(struct core *core, struct inflight *inflight);
/* A mechanism has skipped an access: it is done when those before it are. */
void waitcnt_skip(struct core *core, u32 slot, const struct inst_time *time);
/* Whether an access under way will write a vector register. */
bool waitcnt_cover(const struct core *core, u32 slot, u32 reg);
/* Of the head of a slot: a wait, or an access. */
enum stall waitcnt_check(const struct core *core, u32 slot, const struct inst_time *time);
/* What a store needs has been read. */
void waitcnt_read(struct core *core, const struct inflight *inflight);
/* Its results are written. */
void waitcnt_settle(struct core *core, struct inflight *inflight);
/* Calls `retire` for it when it is its turn, and for those that waited for it. */
void waitcnt_retire(struct core *core, struct inflight *inflight,
                    void (*retire)(struct core *core, struct inflight *inflight));

/* collect.c */
void collect_create(struct core *core);
/* Where the registers of an instruction are. */
void collect_time(struct inst_time *time, const struct inst *inst,
                  const struct core_config *config);
void collect_tick(struct core *core);
/* Counts the registers that an instruction reads which needs no collector. */
void collect_count(struct core *core, struct inflight *inflight);
static inline bool collect_room(const struct core *core, u32 group, enum pipe pipe)
{
    return !(core->full_pipes[group] >> pipe & 1);
}
static inline void collect_push(struct core *core, struct inflight *inflight)
{
    struct core_group *group = &core->group[inflight->group];
    struct latch *latch = &group->issued[inflight->pipe];
    HELD(latch);
    latch_push(latch, inflight_index(core, inflight));
    core->issued_groups |= 1u << inflight->group;
    group->issued_pipes |= (u8)(1u << inflight->pipe);
    if (latch->count >= latch->limit)
        core->full_pipes[inflight->group] |= (u8)(1u << inflight->pipe);
}
/* Room behind issue for an instruction of a slot. */
static inline bool core_room(const struct core *core, u32 slot, u32 inst)
{
    return collect_room(core, core->groups > 1 ? slot % core->groups : 0, core->times[inst].pipe);
}
/* Bank of a register. */
static inline u32 collect_bank(const struct core *core, u32 slot, u32 group, u32 reg)
{
    return group * core->banks_per_group + (slot + reg) % core->banks_per_group;
}
/* The same for a set of them: slot 0's banks, turned by the slot's number within its group. */
static inline u64 collect_banks(const struct core *core, u32 slot, u64 set)
{
    const u32 up = core->bank_turns[slot].up, down = core->bank_turns[slot].down;
    return ((set << up | set >> 1 >> down) & core->group_banks) << core->bank_turns[slot].base;
}

/* execute.c */
void execute_create(struct core *core);
/* Counts an instruction that a unit takes. */
void execute_count(struct core *core, const struct inflight *inflight);
void execute_tick(struct core *core);

/* writeback.c */
void write_back_tick(struct core *core);
/* The inflight is done: its results are written, what waited for it may go on. */
void inflight_retire(struct core *core, struct inflight *inflight);

/* miaow/frontend.c: the stages of their own. */
void miaow_create(struct core *core);
void miaow_destroy(struct core *core);
void miaow_begin(struct core *core);
/* A warp has taken its place. */
void miaow_start(struct core *core, u32 slot);
void miaow_run(struct core *core, fs end);
fs miaow_next(const struct core *core);
enum stall miaow_waits(const struct core *core, u32 slot);
/* What a mechanism wants that these stages do not have; NULL: nothing. */
const char *miaow_lacks(const struct mechanism *mechanism, const void *params);

/* lsu.c */
void lsu_create(struct core *core);
void lsu_destroy(struct core *core);
void lsu_begin(struct core *core);
void lsu_work(struct core *core);
/* Memory acts for an access. False: it has faulted, and the core stops. */
bool lsu_act(struct core *core, struct inflight *inflight);
/* An access takes its place before the unit. */
static inline void lsu_enter(struct core *core, struct inflight *inflight)
{
    latch_push(&core->group[inflight->group].collected[PIPE_MEMORY],
               inflight_index(core, inflight));
    core->access_groups |= 1u << inflight->group;
}
static inline void lsu_tick(struct core *core)
{
    if (core->lsu_held | core->access_groups || core->lsu_due <= core_cycle(core))
        lsu_work(core);
}
void lsu_finish(struct core *core);
static inline void lsu_write_back(struct core *core)
{
    if (core->lsu_done <= core_cycle(core))
        lsu_finish(core);
}
void lsu_reply(struct core *core, const struct packet *packet);
static inline bool lsu_idle(const struct core *core)
{
    return !core->lsu_held;
}
/* lsu_due without accesses that their cache has refused: while the unit is idle, they are refused
 * again until an answer comes. */
u64 lsu_due_again(const struct core *core);
/* The first cycle at which it may have something to do by itself, while it is idle. */
static inline u64 lsu_next(const struct core *core)
{
    const u64 due = core->lsu_due > core_cycle(core) ? core->lsu_due : lsu_due_again(core);
    return MIN(due, core->lsu_done);
}
/* Charges `cycles` in which it was idle. */
void lsu_charge(struct core *core, u64 cycles);
void lsu_flush(struct core *core);
/* A first-level cache by who it serves: CLIENT_L1D, CLIENT_CONSTANT, CLIENT_READONLY. */
struct cache *lsu_cache(const struct core *core, enum packet_client client);
/* A request that an instruction of the slot waits for. */
bool lsu_request_of(const struct core *core, u32 slot, struct packet *request);

#ifdef HEDDLE_PLUGIN
#include "core/plugin.h"
#endif

#endif
