/*
 * The seams: where a mechanism may take part in what a machine does. docs/mechanisms.md is the
 * guide to them.
 *
 * A mechanism is a table of optional functions with a state for each core and, if it wants one, a
 * state for the memory side. Those that are switched on are chained in the order of their list; a
 * seam that no mechanism fills costs one test of a mask.
 *
 * Invariants
 *  H1  A mechanism sees a core only through the functions it fills and what mechanism.h offers. A
 *      state belongs to a core, to a partition of the memory side (a channel with its slices) or to
 *      the dispatcher, and is touched only in calls for its owner. What one tells another travels
 *      in packets, or is passed on between windows: in `dispatch`, `launch` and `launch_done`.
 *      Cores and the memory side may run their windows at once, on several threads; a mechanism that
 *      keeps something for all of them says so (`one_thread`).
 *  H2  Off means identical results: no seam is called, no statistic changes or appears.
 *  H3  Nothing that is called in a tick allocates.
 */
#ifndef CORE_HOOKS_H
#define CORE_HOOKS_H

#include "base/component.h"
#include "base/energy.h"
#include "base/rng.h"
#include "base/state.h"
#include "mem/cache.h"
#include "mem/services.h"

struct core;
struct exec;
struct memory_view;
struct inflight;
struct thread_block;
struct warp;

/* Bits of the seams that the stages test before each call (seams.def). */
enum seam {
#define SEAM(group, member, name, called, decides) SEAM_##name,
#include "core/seams.def"
    SEAMS
};

/* A row of seams.def. */
struct seam_row {
    const char *group, *name; /* name: of the member of struct mechanism */
    const char *called, *decides;
};
/* All of them; ended by one without a name. */
extern const struct seam_row seam_rows[];

/* While one of these is filled, a scheduler takes its turn in every cycle: those who fill them may
 * change their mind at any time. */
#define SEAMS_EVERY_CYCLE (1u << SEAM_PICK | 1u << SEAM_INSERT)

/* While one of these is filled, the first-level data caches are watched (cache_watch). */
#define SEAMS_L1                                                                                  \
    (1u << SEAM_L1_ACCESS | 1u << SEAM_L1_SUPPLY | 1u << SEAM_L1_EVICTED | 1u << SEAM_L1_FILLED | \
     1u << SEAM_PREFETCHES)

/* A block that a core has room for. */
struct dispatch {
    u64 block, blocks; /* the next one in order, or `blocks`, their number: none is left */
    enum {
        DISPATCH_TAKE,
        DISPATCH_REFUSE, /* not this core, not now; no block may be refused by all forever */
        DISPATCH_COPY,   /* it takes a copy of `copy`, which was given out before, instead */
    } answer;
    u64 copy;
    void *dispatcher; /* the mechanism's state of the dispatcher; NULL: it has none */
};

enum fetch_answer {
    FETCH_SERVE, /* as always */
    FETCH_HERE,  /* the mechanism has it: this one, without the instruction cache */
    FETCH_SKIP,  /* do not fetch it: `skipped` is called when the warp comes to it */
    FETCH_HOLD,  /* not in this cycle */
};

/* Slots, a bit each, whose next instruction is decided upon before fetch takes its turn. */
struct skip_fetch {
    u64 skip; /* it is not fetched: `skipped` is called when the warp comes to it */
    u64 hold; /* not in this cycle */
};

enum skip_answer {
    SKIP_DONE,
    SKIP_WAIT,  /* not yet: asked again in the next cycle */
    SKIP_FETCH, /* no longer: it is fetched after all, with what is behind it */
};

/* Warps of a scheduler, a bit each. */
struct pick {
    u64 never;  /* must not issue in this cycle */
    u64 prefer; /* if one of these is ready, one of these issues */
};

enum issue_answer {
    ISSUE_PLAIN,
    ISSUE_DONE, /* the mechanism has issued something else itself (core_issue_dyninst) */
    ISSUE_WAIT, /* nothing is issued: it is asked again when the warp is picked again */
};

/*
 * Accesses of an instruction to the banks of the register file: one for each register that it reads,
 * or writes, which may be changed, taken out or added. A bank serves one access a cycle; one that is
 * written serves no read.
 */
enum {
    PLACES = 32,
    BANK_STEPS = 64 /* that the reads of an instruction may take of one bank */
};
struct bank_access {
    u64 banks; /* all that are accessed, a bit each: the register is spread over them */
    u16 reg;   /* the vector register */
    u8 cycles; /* for which each of the banks is busy */
};
struct places {
    u32 count;
    struct bank_access at[PLACES];
    /* of writes */
    bool waited;    /* asked again: the write had to wait */
    bool arbitrate; /* banks have one write port: the write waits while one of its banks is written,
                     * or busy with an earlier write */
    u8 bus_cycles;  /* for which the instruction's result bus, or the load/store unit's write-back
                     * port, is taken. While one is taken for more than one cycle, results that find
                     * no free one wait, and so do the units they come from; 0: it needs none */
};

enum write_back_answer {
    WRITE_BACK_COMMIT,
    WRITE_BACK_DROP, /* the results are not written; all else as always */
    WRITE_BACK_HOLD, /* not in this cycle: asked again in the next one */
};

/* An access of the load/store unit that a first-level data cache has taken, or is about to. */
struct l1_access {
    enum packet_client cache; /* CLIENT_L1D or CLIENT_READONLY */
    u64 line;                 /* address */
    u32 sectors;              /* of the line, bits: all that it asks for, */
    u32 missing;              /* and those that the cache lacks. Not all of them: the line is there,
                               * these sectors are not */
    u32 slot, inst;           /* of the warp, and its instruction */
    bool store;               /* it goes on to memory, whatever the result */
    bool supplied;            /* a hit, by `l1_supply` */
    bool prefetched;          /* the first load of a line that core_prefetch asked for */
    enum cache_result result; /* CACHE_HIT, CACHE_MERGED (with a line under way) or CACHE_MISS */
};

/* A line of a first-level data cache that has changed hands. */
struct l1_line {
    enum packet_client cache;
    u64 line;
    u32 sectors;     /* that it held, or that have arrived */
    bool prefetched; /* by core_prefetch, and no load has asked for it */
};

/* What became of a prefetch. */
enum prefetch_answer {
    PREFETCH_SENT,    /* it has taken an MSHR and a place in the queue to the network */
    PREFETCH_PRESENT, /* dropped: the sectors are in the cache, or under way */
    PREFETCH_BUSY,    /* dropped: no line, MSHR or place in the queue is free */
    PREFETCH_OUTSIDE, /* dropped: no allocation is there */
};

/* What every state begins with: the component's own structs, and what Heddle knows of it. */
struct mechanism_state {
    const void *params;
    void *stats;
    struct mechanism_use *use;
};
/* The same members with their types. */
#define MECHANISM_STATE(id)           \
    const struct id##_params *params; \
    struct id##_stats *stats;         \
    struct mechanism_use *use

struct mechanism {
    const char *name; /* of its component, too */
    const char *help;
    const struct component *component; /* its first parameter is FLAG(on, 0, ...) */
    u32 stats_size;                    /* of the component's stats struct */
    const char *const *conflicts;      /* names it cannot be combined with, NULL-terminated */
    const char *source;                /* the work it comes from: authors, title, where, year */
    const char *const
        *deviations; /* where it differs from that, a sentence each; NULL-terminated */
    const struct energy_event *events; /* counters that cost energy; ended by one without a name */
    /* What it changes of the machine's costs; each list ends with a row without an element. */
    const struct energy_replace *replaces;
    const struct energy_cell *cells;
    const struct energy_supply *supplies;
    const struct energy_power *powers;

    /* ---- state ---- */
    bool marks;      /* it looks at exec->marks */
    u32 state_size;  /* of the state of a core, which begins as struct mechanism_state; zeroed */
    bool forgets;    /* the rest of it is zeroed when a launch begins */
    bool random;     /* it uses random numbers (mechanism_random): results depend on the seed */
    bool one_thread; /* it touches, within a window, what is not of one owner: launches use one
                      * thread */
    void (*create)(void *state, struct core *core);
    void (*destroy)(void *state); /* what create has added */
    /* Seams (bits by enum seam) that it fills and does not need under these parameters: they cost
     * time only while others fill them. */
    u32 (*idle)(const void *params);
    /* Rows are those of a core, unless state_owner says otherwise. */
    void (*storage)(const void *params, struct state_list *list);

    /* ---- allocate ---- */
    /* A launch begins (core->exec, core->times), or has ended. */
    void (*launch)(void *state, struct core *core, bool begins);
    /* A warp has taken a slot, and is given rows of the register file: one for each of its `count`
     * registers, which may be changed. What they hold is then set: zeros, or what the warp begins
     * with. A row that does not exist, or that a register has already, stops the launch. While a
     * mechanism fills this seam, registers may be moved (core_move_register). */
    void (*allocate)(void *state, struct core *core, u32 slot, u32 *rows, u32 count);
    /* The banks of the registers that an instruction reads, when it takes a collector, or writes,
     * when its result is written: then in each cycle until it is. */
    void (*places)(void *state, struct core *core, const struct inflight *inflight, bool write,
                   struct places *places);

    /* ---- dispatch: between windows ---- */
    u32 dispatcher_size; /* of the state of the dispatcher, which begins as struct mechanism_state;
                          * zeroed, and again when a launch begins if it `forgets` */
    void (*dispatch)(void *state, struct core *core, struct dispatch *dispatch);
    /* A block has taken its place on the core, or left it. */
    void (*block)(void *state, struct core *core, u32 block_slot, bool started);

    /* ---- fetch ---- */
    /* Beside the fetch scheduler: any number of slots skip one instruction each in a cycle and take
     * no turn. `wanting` have room for their next instruction (slots[s].fetch_at) and know where to
     * go on; not empty. Called in every cycle in which one does: who holds slots back for long
     * rather calls core_hold_fetch. */
    void (*skip_fetch)(void *state, struct core *core, u64 wanting, struct skip_fetch *slots);
    /* Whether `skip_fetch` has to be asked before this instruction is fetched: if so, a fetch of
     * those before it does not bring it. */
    bool (*may_skip_fetch)(void *state, struct core *core, u32 slot, u32 inst);
    /* With FETCH_HERE, *inst is delivered: the one that is wanted, unless the mechanism has another
     * one in its place. Asked again when the instruction cache did not have it. Of those behind it
     * that the same fetch brings, only mechanisms that fill `skipped` are asked. */
    enum fetch_answer (*fetch)(void *state, struct core *core, u32 slot, u32 *inst);
    /* `count` instructions have come to a slot's buffer, where they are the last ones, or were
     * thrown away because its warp went elsewhere (they are not there then);
     * `here`: past the instruction cache. Told in the order of their fetches. */
    void (*fetched)(void *state, struct core *core, u32 slot, u32 inst, u32 count, bool here);
    /* A skipped instruction is next and what it would write is not pending: its results are to be
     * put into the warp's registers now. */
    enum skip_answer (*skipped)(void *state, struct core *core, u32 slot, u32 inst);

    /* ---- pick ---- */
    void (*pick)(void *state, struct core *core, u32 scheduler, struct pick *pick);

    /* ---- issue ---- */
    /* A scheduler's turn: true when the mechanism has used it for something of its own. */
    bool (*insert)(void *state, struct core *core, u32 scheduler);
    enum issue_answer (*issue)(void *state, struct core *core, u32 slot, u32 inst);
    /* It is on its way: inflight->interval and inflight->latency may still be changed. */
    void (*issued)(void *state, struct core *core, struct inflight *inflight);

    /* ---- operand ---- */
    /* Its operands have been read into the record, where they may be changed. Returns cycles to add
     * before the unit. */
    u32 (*operand)(void *state, struct core *core, struct inflight *inflight);

    /* It has all operands, read from their banks, and leaves its collector. */
    void (*collected)(void *state, struct core *core, struct inflight *inflight);

    /* ---- result ---- */
    /* Its result is in the record and may be changed: of an access, when all data have come. */
    void (*result)(void *state, struct core *core, struct inflight *inflight);

    /* ---- write-back ---- */
    /* Asked every cycle until all mechanisms agree. */
    enum write_back_answer (*write_back)(void *state, struct core *core, struct inflight *inflight);
    /* It has left the pipeline. */
    void (*retired)(void *state, struct core *core, struct inflight *inflight);

    /* ---- control ---- */
    /* A branch, barrier or exit has taken effect. */
    void (*control)(void *state, struct core *core, u32 slot, u32 inst);

    /* Nothing moves on the core any more, or on any core: true when the mechanism has let something
     * go on that it held back. */
    bool (*stuck)(void *state, struct core *core);

    /* ---- memory view ---- */
    /* An access acts: what its warp sees of global memory, and where its stores go. */
    struct memory_view *(*view)(void *state, struct core *core, struct inflight *inflight,
                                struct memory_view *view);

    /* ---- packet ---- */
    /* A request leaves the core: payload and its bits may be set. */
    void (*packet)(void *state, struct core *core, struct packet *packet);
    /* An answer has come; also that of a note (core_send_note). */
    void (*reply)(void *state, struct core *core, const struct packet *packet);

    /* ---- cache: of a core; asked when its caches are made ---- */
    bool (*cache)(void *state, struct core *core, enum packet_client which,
                  struct cache_hooks *hooks);

    /* ---- first-level data caches: loads and stores that are looked up in them ---- */
    /* The cache has taken an access: every load and store, once. */
    void (*l1_access)(void *state, struct core *core, const struct l1_access *access);
    /* A load is about to miss. If the mechanism has all its missing sectors, it returns after how
     * many cycles more than a hit they are there (at least 1); they leave in order. The load counts
     * as a hit and takes no MSHR; the line moves into the cache with *sectors, which are the
     * missing ones unless the mechanism adds others that come along. 0: it does not have them.
     * Asked again when the load has to wait for an MSHR. */
    u32 (*l1_supply)(void *state, struct core *core, const struct l1_access *miss, u32 *sectors);
    /* A line gave way to another one. Not told: lines that a store drops, or the end of a launch.
     */
    void (*l1_evicted)(void *state, struct core *core, const struct l1_line *line);
    /* Sectors have arrived from memory; those that waited for them have been served. */
    void (*l1_filled)(void *state, struct core *core, const struct l1_line *line);
    bool prefetches; /* it calls core_prefetch */

    /* ---- clock ---- */
    /* The core's rate as a factor, asked at each launch. */
    f64 (*clock)(void *state, struct core *core);

    /* ---- content ---- */
    bool content; /* launches are armed: caches and requests carry data (mem/content.h) */

    /* ---- the memory side: what it does for a mechanism is in mem/services.h ---- */
    u32 memory_size; /* of the state of a partition; begins as struct mechanism_state, zeroed */
    /* `partition` is the number of its channel; its slices are those from partition * slices on. */
    void (*create_memory)(void *memory, struct memory_system *system, u32 partition, u32 slices);
    void (*destroy_memory)(void *memory);
    /* False: it wants none. */
    bool (*l2)(void *memory, u32 slice, struct cache_hooks *hooks);
    bool (*dram)(void *memory, u32 channel, struct dram_hooks *hooks);
    /* A packet is about to be looked up in a slice (again, when it had to wait), and its answer
     * leaves the slice; the time, and the cycle of the L2's clock. */
    void (*l2_request)(void *memory, u32 slice, struct packet *packet, fs now, u64 cycle);
    void (*l2_reply)(void *memory, u32 slice, struct packet *packet, fs now, u64 cycle);

    /* ---- counters ---- */
    /* Counters are about to be taken: at a sample, between windows, and at the end of a launch,
     * with `now` the time of its last cycle. Those that grow with time are brought up to `now`. */
    void (*settle)(void *state, struct core *core, fs now);
    void (*settle_memory)(void *memory, fs now);

    /* ---- what all cores have seen ---- */
    /* All blocks of a launch have ended, or it was stopped: the states of all cores, in order,
     * before `launch` tells each. What they say together is counted with one of them. `exec` is
     * that of the whole launch: fault_check gives it an outcome. */
    void (*launch_done)(void *const *states, u32 count, struct exec *exec);

    /* ---- observing functional runs ---- */
    /* A mechanism that changes nothing may fill `observe`: then it can be on in functional runs,
     * too. There is no core and all blocks are of one state; `create` gets NULL, and these and
     * `launch_done` are all that is called. */
    void (*observe_launch)(void *state, struct exec *exec, bool begins);
    /* One that has not ended when its launch has is not told. */
    void (*observe_block)(void *state, struct thread_block *block, bool started);
    /* The current path of a warp has come to an instruction, whose sources are in the registers. */
    void (*observe)(void *state, struct warp *warp, u32 inst);
    /* It has done all it does, or waits. Branches are not told. */
    void (*observed)(void *state, struct warp *warp, u32 inst);
};

/* The first members of a mechanism whose component has its name. */
#define MECHANISM_NAMED(id, text) \
    .name = #id, .help = text, .component = &id##_component, .stats_size = sizeof(struct id##_stats)

/* The last line of a mechanism's file: outside of this tree it exports the mechanism (plugin.h). */
#ifndef HEDDLE_PLUGIN
#define MECHANISM_PLUGIN(id)
#endif

/* All of this build, NULL-terminated: src/mech/list.def. */
extern const struct mechanism *const mechanisms_built_in[];

/* Memory that belongs to a state (mechanism_alloc). */
struct state_block {
    struct state_block *next;
    size_t bytes;
    max_align_t memory[];
};

/* A mechanism that is switched on, with its state of one owner: a core, a partition or the
 * dispatcher. */
struct mechanism_use {
    const struct mechanism *mechanism;
    const void *params;
    void *state;
    void *stats;
    u32 state_bytes;
    struct state_block *blocks;
    struct rng random; /* its stream, if the mechanism declares that it uses one */
};

struct hooks {
    u32 seams;   /* bit by enum seam: a mechanism fills it */
    bool caches; /* a mechanism may change what its caches refuse */
    u32 count;
    struct mechanism_use *uses;
};

/* Each mechanism that fills a seam, in order. */
#define EACH_USE(use, hooks, seam)                                                            \
    for (const struct mechanism_use *use = (hooks)->uses, *const end_ = use + (hooks)->count; \
         use < end_; use++)                                                                   \
        if (use->mechanism->seam)

/* hooks.c. The member of struct mechanism. */
const char *seam_name(enum seam seam);
/* Whether a mechanism fills a row of seam_rows. */
bool mechanism_fills(const struct mechanism *mechanism, u32 row);
/* Those that it fills and needs under these parameters, bits. */
u32 mechanism_seams(const struct mechanism *mechanism, const void *params);
/* A state as struct mechanism says. `use` stays where it is. */
void mechanism_use_create(struct mechanism_use *use, u32 state_size);
void mechanism_use_destroy(struct mechanism_use *use);
/* A launch begins: streams of random numbers begin anew, by the names of their places. */
void hooks_seed(const struct hooks *hooks, const struct exec *exec, const char *place, u64 index);
/* While states are closed, a build with AddressSanitizer stops at an access to one (base/guard.h). */
void hooks_close(const struct hooks *hooks);
void hooks_open(const struct hooks *hooks);
/* `uses` have mechanism and params, the rest is made here; `core` is complete. */
void hooks_create(struct core *core, const struct mechanism_use *uses, u32 count);
void hooks_destroy(struct core *core);
/* The caches have been made anew. */
void hooks_set_caches(struct core *core);
/* What states that do so forget at a launch. */
void hooks_forget(const struct hooks *hooks);
void hooks_launch(struct core *core, bool begins);
void hooks_block(struct core *core, u32 block_slot, bool started);
/* Registers of warps that start, a bit each by slot. */
void hooks_allocate(struct core *core, u64 slots);
/* DISPATCH_TAKE unless a mechanism decides otherwise. `dispatcher` has its states. */
struct dispatch hooks_dispatch(struct core *core, const struct hooks *dispatcher, u64 block,
                               u64 blocks);
/* All of them are asked: true when one has let something go on that it held back. */
bool hooks_stuck(struct core *core);
/* The result of an instruction is there. */
void hooks_result(struct core *core, struct inflight *inflight);
/* Tell mechanisms of first-level data caches. */
void hooks_l1_access(struct core *core, const struct l1_access *access);
void hooks_l1_evicted(struct core *core, const struct l1_line *line);
void hooks_l1_filled(struct core *core, const struct l1_line *line);
/* Cycles until the first mechanism that has a line delivers it; 0: none has. */
u32 hooks_l1_supply(struct core *core, const struct l1_access *miss, u32 *sectors);
/* Counters of mechanisms are about to be taken. */
void hooks_settle(struct core *core, fs now);
/* The product of all factors. */
f64 hooks_clock(struct core *core);

#endif
