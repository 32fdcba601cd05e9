/*
 * The seams: the points at which a machine calls mechanisms. docs/mechanisms.md is the guide to
 * them.
 *
 * A mechanism is a table of optional functions, with one state per core and, if it wants them, one
 * per memory partition and one for the dispatcher. Mechanisms that are switched on are called in
 * the order of their list; a seam that no mechanism fills costs one test of a mask.
 *
 * Invariants
 *  H1  A mechanism sees a core only through the functions it fills and what mechanism.h offers. A
 *      state belongs to a core, to a partition of the memory side (a channel with its slices) or to
 *      the dispatcher, and is accessed only in calls for its owner. Owners communicate through
 *      packets, or between windows: in `dispatch`, `launch` and `launch_done`. Cores and the memory
 *      side may run their windows at the same time, on several threads; a mechanism with data that
 *      all of them share sets `one_thread`.
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
struct core_config;
struct exec;
struct memory_view;
struct memory_view_mark;
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
    const char *group, *name; /* name: the member of struct mechanism */
    const char *called, *decides;
};
/* All seams; the last row has no name. */
extern const struct seam_row seam_rows[];

/* While a mechanism fills one of these, schedulers never sleep: its answer may change in any
 * cycle. */
#define SEAMS_EVERY_CYCLE (1u << SEAM_PICK | 1u << SEAM_INSERT)

/* While a mechanism fills one of these, the first-level data caches are watched (cache_watch). */
#define SEAMS_L1                                                                                  \
    (1u << SEAM_L1_ACCESS | 1u << SEAM_L1_SUPPLY | 1u << SEAM_L1_EVICTED | 1u << SEAM_L1_FILLED | \
     1u << SEAM_PREFETCHES)

/* A core has room for a block. */
struct dispatch {
    u64 block, blocks; /* the next block in order, or `blocks` (their number) if none is left */
    enum {
        DISPATCH_TAKE,
        DISPATCH_REFUSE, /* not on this core now; some core must accept the block eventually */
        DISPATCH_COPY,   /* the core takes a copy of block `copy`, which was started before,
                          * instead */
    } answer;
    u64 copy;
    void *dispatcher; /* the mechanism's dispatcher state; NULL: it has none */
};

enum fetch_answer {
    FETCH_SERVE, /* the normal fetch */
    FETCH_HERE,  /* the mechanism supplies this instruction, without the instruction cache */
    FETCH_SKIP,  /* do not fetch it: `skipped` is called when the warp reaches it */
    FETCH_HOLD,  /* not in this cycle */
};

/* Decisions on the next instructions of slots, before the fetch scheduler picks; one bit per
 * slot. */
struct skip_fetch {
    u64 skip; /* do not fetch the next instruction: `skipped` is called when the warp reaches it */
    u64 hold; /* not in this cycle */
};

enum skip_answer {
    SKIP_DONE,
    SKIP_WAIT,  /* not yet: called again in the next cycle */
    SKIP_FETCH, /* no longer skipped: fetch it after all, and what follows it */
};

/* Warps of a scheduler, one bit each. */
struct pick {
    u64 never;  /* must not issue in this cycle */
    u64 prefer; /* if one of these is ready, one of these issues */
};

enum issue_answer {
    ISSUE_PLAIN,
    ISSUE_DONE, /* the mechanism has issued something else (core_issue_dyninst) */
    ISSUE_WAIT, /* nothing issues: called again when the warp is picked again */
};

enum lose_answer {
    LOSE_NOTHING,
    LOSE_INST,   /* the turn is used, and the warp goes on behind the instruction */
    LOSE_REGION, /* the turn is used, and the mechanism has called core_restart for the warp */
};

/*
 * Bank accesses of an instruction: one for each register that it reads, or writes. A mechanism may
 * change, remove or add entries. A bank serves one access per cycle; a bank that is written serves
 * no read.
 */
enum {
    PLACES = 32,
    BANK_STEPS = 64 /* most accesses to one bank when an instruction reads its operands */
};
struct bank_access {
    u64 banks; /* the banks that hold the register, one bit each */
    u64 then;  /* reads only: banks that are asked for when all of `banks` have been read, in a
                * request of its own */
    u16 reg;   /* the vector register */
    u8 cycles; /* how long each of these banks is busy */
};
struct places {
    u32 count;
    struct bank_access at[PLACES];
    /* for writes: */
    bool waited;    /* called again, because the write had to wait */
    bool arbitrate; /* banks have one write port: the write waits while one of its banks is busy
                     * with an earlier write or written in this cycle */
    bool
        write_ports; /* the write port is not the one for reads: these banks can be read meanwhile */
    u8 bus_cycles;   /* how long the write occupies a result bus, or for loads a write-back port
                     * of the load/store unit. While one is occupied for more than a cycle,
                     * results that find none free wait, and so do their units; 0: the write
                     * needs none */
    bool shares_bus; /* it shares bus (or port) number `bus` with a write that still occupies it
                      * (inflight->bus of that one): it waits for none, and the bus stays occupied
                      * until both are done */
    u8 bus;
};

enum write_back_answer {
    WRITE_BACK_COMMIT,
    WRITE_BACK_DROP, /* the results are not written; otherwise as usual */
    WRITE_BACK_HOLD, /* not in this cycle: called again in the next one */
};

/* An access that a first-level data cache has accepted, or is about to. */
struct l1_access {
    enum packet_client cache; /* CLIENT_L1D or CLIENT_READONLY */
    u64 line;                 /* address */
    u32 sectors;              /* requested sectors of the line, bits; */
    u32 missing;              /* those that the cache lacks. If not all: the line is present
                               * without these sectors */
    u32 slot, inst;           /* the warp's slot and its instruction */
    bool store;               /* the store goes on to memory, whatever the result, unless: */
    bool kept;                /* the store stays in the line until that is evicted */
    bool supplied;            /* a hit because `l1_supply` delivered the line */
    bool prefetched;          /* the first load of a line that core_prefetch asked for */
    enum cache_result result; /* CACHE_HIT, CACHE_MERGED (with a line in flight) or CACHE_MISS */
};

/* A line of a first-level data cache that was evicted or filled. */
struct l1_line {
    enum packet_client cache;
    u64 line;
    u32 sectors;     /* that it held, or that have arrived */
    bool prefetched; /* by core_prefetch, and no load has asked for it */
};

/* The outcome of a prefetch. */
enum prefetch_answer {
    PREFETCH_SENT,    /* it has taken an MSHR and an entry of the queue to the network */
    PREFETCH_PRESENT, /* dropped: the sectors are in the cache or in flight */
    PREFETCH_BUSY,    /* dropped: no line, MSHR or queue entry is free */
    PREFETCH_OUTSIDE, /* dropped: the address is in no allocation */
};

#define NO_TRANSACTION UINT32_MAX

/* The first members of every mechanism's state: the component's structs and the mechanism's use. */
struct mechanism_state {
    const void *params;
    void *stats;
    struct mechanism_use *use;
};
/* The same members with the component's types. */
#define MECHANISM_STATE(id)           \
    const struct id##_params *params; \
    struct id##_stats *stats;         \
    struct mechanism_use *use

struct mechanism {
    const char *name; /* also the name of its component */
    const char *help;
    const struct component *component; /* its first parameter is FLAG(on, 0, ...) */
    u32 stats_size;                    /* of the component's stats struct */
    const char *const *conflicts;      /* names it cannot be combined with, NULL-terminated */
    const char *source;                /* the work it comes from: authors, title, where, year */
    const char *const
        *deviations; /* where it differs from that, a sentence each; NULL-terminated */
    const struct energy_event *events; /* counters that cost energy; the last row has no name */
    /* Changes to the machine's costs; the last row of each list has no element. */
    const struct energy_replace *replaces;
    const struct energy_cell *cells;
    const struct energy_supply *supplies;
    const struct energy_power *powers;

    /* ---- state ---- */
    bool marks;       /* it reads exec->marks */
    u32 state_size;   /* size of a core's state, which begins with struct mechanism_state; zeroed */
    bool forgets;     /* the rest of the state is zeroed when a launch begins */
    bool chip;        /* it reads the chip (core_chip): a device without one is refused, */
    bool may_chip;    /* or does without */
    bool reforms;     /* it calls core_reform */
    bool restarts;    /* it calls core_cut and core_restart */
    bool random;      /* it uses random numbers (mechanism_random): results depend on the seed */
    bool one_thread;  /* within a window it accesses data of more than one owner: launches use one
                      * thread */
    bool no_operands; /* it does not look at operands in the record (`src` and `masks` of struct
                       * dyninst): unless another mechanism does, or fills `allocate`, they are not
                       * copied into it */
    void (*create)(void *state, struct core *core);
    void (*destroy)(void *state); /* frees what create has allocated elsewhere */
    /* Whether it can serve a machine, under these parameters; if not, the error says what it needs
     * of the machine. NULL: all that have its seams. */
    bool (*serves)(const void *params, const struct core_config *machine, struct error *error);
    /* Seams (bits by enum seam) that it fills but does not need under these parameters: they are
     * called only while another mechanism needs them. */
    u32 (*idle)(const void *params);
    u32 optional; /* seams (bits by enum seam) that it does without on pipelines that lack them, */
    bool optional_dram; /* and whether `dram` is one */
    /* Size of memory for the whole device, zeroed: mechanism_device. Only for mechanisms that set
     * one_thread. */
    u32 device_size;
    void (*destroy_device)(void *device); /* frees what it has allocated */
    /* Its storage elements. They belong to a core unless state_owner says otherwise. */
    void (*storage)(const void *params, struct state_list *list);

    /* ---- allocate ---- */
    /* A launch begins on a core (core_exec, core_inst_time), or has ended. */
    void (*launch)(void *state, struct core *core, bool begins);
    /* A warp has taken a slot and is given rows of the register file, one for each of its `count`
     * registers; the mechanism may change them. The rows are then initialised, to zeros or to the
     * values that the warp starts with. A row that does not exist, or that belongs to another
     * register, stops the launch. While a mechanism fills this seam, registers may be moved
     * (core_move_register). */
    void (*allocate)(void *state, struct core *core, u32 slot, u32 *rows, u32 count);
    /* The banks of the registers that an instruction reads, when it takes a collector; or writes,
     * when its result is due and in each cycle until it is written. */
    void (*places)(void *state, struct core *core, const struct inflight *inflight, bool write,
                   struct places *places);

    /* The registers of a slot's warp that bits of are safe from now on have changed
     * (core_cover). */
    void (*covered)(void *state, struct core *core, u32 slot, const u64 *registers);

    /* ---- dispatch: between windows ---- */
    u32 dispatcher_size; /* size of the dispatcher's state, which begins with struct
                          * mechanism_state; zeroed, and again when a launch begins if the
                          * mechanism `forgets` */
    void (*dispatch)(void *state, struct core *core, struct dispatch *dispatch);
    /* A block has started on the core, or left it. */
    void (*block)(void *state, struct core *core, u32 block_slot, bool started);

    /* ---- fetch ---- */
    /* Acts beside the fetch scheduler: any number of slots may skip one instruction each in a
     * cycle, without using a fetch turn. The slots `wanting` (at least one) have room for their
     * next instruction (slots[s].fetch_at) and know its address. Called in every cycle with such
     * slots: a mechanism that holds slots back for long should call core_hold_fetch instead. */
    void (*skip_fetch)(void *state, struct core *core, u64 wanting, struct skip_fetch *slots);
    /* Whether `skip_fetch` must be called before this instruction is fetched: if so, a fetch of
     * earlier instructions does not bring it. */
    bool (*may_skip_fetch)(void *state, struct core *core, u32 slot, u32 inst);
    /* With FETCH_HERE, *inst is delivered: the requested instruction, unless the mechanism puts
     * another in its place. Called again after a miss in the instruction cache. For further
     * instructions that the same fetch brings, only mechanisms that fill `skipped` are called. */
    enum fetch_answer (*fetch)(void *state, struct core *core, u32 slot, u32 *inst);
    /* `count` instructions have arrived at the end of a slot's buffer, or were discarded because
     * its warp went elsewhere (they are not in the buffer then). `here`: supplied by a mechanism,
     * not by the instruction cache. Called in the order of the fetches. */
    void (*fetched)(void *state, struct core *core, u32 slot, u32 inst, u32 count, bool here);
    /* The warp reaches a skipped instruction, and nothing that this would write is pending: the
     * mechanism must now put its results into the warp's registers. */
    enum skip_answer (*skipped)(void *state, struct core *core, u32 slot, u32 inst);

    /* ---- pick ---- */
    void (*pick)(void *state, struct core *core, u32 scheduler, struct pick *pick);

    /* ---- issue ---- */
    /* A scheduler's turn begins. True: the mechanism has used it for an instruction of its own. */
    bool (*insert)(void *state, struct core *core, u32 scheduler);
    enum issue_answer (*issue)(void *state, struct core *core, u32 slot, u32 inst);
    /* The warp's next instruction is about to issue, and nothing of it has taken effect. Not asked
     * about instructions that use no turn, such as waits and barriers of the miaow pipeline. */
    enum lose_answer (*lose)(void *state, struct core *core, u32 slot, u32 inst);
    /* The instruction has issued; inflight->interval and inflight->latency may still be changed. */
    void (*issued)(void *state, struct core *core, struct inflight *inflight);

    /* ---- operand ---- */
    /* The operands have been read into the record, where they may be changed. Returns additional
     * cycles before the unit. inflight->checked may be set. */
    u32 (*operand)(void *state, struct core *core, struct inflight *inflight);

    /* It takes a collector: banks may be read for it from the next step on. */
    void (*collecting)(void *state, struct core *core, struct inflight *inflight);
    /* It has all operands, read from their banks, and leaves its collector. */
    void (*collected)(void *state, struct core *core, struct inflight *inflight);

    /* ---- result ---- */
    /* The result is in the record and may be changed; for a memory access, when all data have
     * arrived. */
    void (*result)(void *state, struct core *core, struct inflight *inflight);

    /* ---- write-back ---- */
    /* Called every cycle until no mechanism holds the result. */
    enum write_back_answer (*write_back)(void *state, struct core *core, struct inflight *inflight);
    /* The instruction has left the pipeline. */
    void (*retired)(void *state, struct core *core, struct inflight *inflight);

    /* ---- control ---- */
    /* A branch, barrier or exit has taken effect, or the last lane of a re-formed warp has left it
     * (core_reform). */
    void (*control)(void *state, struct core *core, u32 slot, u32 inst);

    /* Nothing makes progress on the core, or on any core. True: the mechanism has released
     * something that it held back. */
    bool (*stuck)(void *state, struct core *core);

    /* ---- memory view ---- */
    /* An access takes effect: what its warp sees of global memory, and where its stores go. */
    struct memory_view *(*view)(void *state, struct core *core, struct inflight *inflight,
                                struct memory_view *view);
    /* An access has faulted, and has done nothing. True: the mechanism takes the fault; the launch
     * goes on as if the access had been performed, and a load leaves any value. */
    bool (*faulted)(void *state, struct core *core, const struct inflight *inflight);
    /* An access with stores has taken effect: what it stored in global memory is in the log of its
     * view, after the mark. Not called for global atomics. */
    void (*stored)(void *state, struct core *core, const struct inflight *inflight,
                   const struct memory_view *view, struct memory_view_mark mark);
    /* A transaction has left the head of the load/store unit, for the tags of a cache or for the
     * network; `request` is its number: `waiter` of its cache_event, `tag` of its packet. Or
     * (NO_TRANSACTION) the access leaves the head. A line of local memory that is written back has
     * no access. */
    void (*sent)(void *state, struct core *core, struct inflight *inflight, u32 request);

    /* ---- packet ---- */
    /* A request leaves the core: its payload and the payload's size may be set. */
    void (*packet)(void *state, struct core *core, struct packet *packet);
    /* A reply has arrived, including the reply to a note (core_send_note). */
    void (*reply)(void *state, struct core *core, const struct packet *packet);

    /* ---- cache: those of a core; called when they are created ---- */
    bool (*cache)(void *state, struct core *core, enum packet_client which,
                  struct cache_hooks *hooks);

    /* ---- caches, observed ---- */
    /* Something happens to a line: CLIENT_FETCH is the instruction cache. Not called for caches of
     * clusters. */
    void (*cache_event)(void *state, struct core *core, enum packet_client which,
                        const struct cache_event *event);

    /* ---- first-level data caches: loads and stores that look up a line ---- */
    /* The cache has accepted an access: called once for every load and store. */
    void (*l1_access)(void *state, struct core *core, const struct l1_access *access);
    /* A load is about to miss. If the mechanism has all missing sectors, it returns the additional
     * latency, beyond that of a hit, at which it delivers them (at least 1); deliveries stay in
     * order. The load counts as a hit and takes no MSHR; the line enters the cache with *sectors:
     * the missing ones and any others that the mechanism adds. 0: it does not have them. Called
     * again when the load has to wait for an MSHR. */
    u32 (*l1_supply)(void *state, struct core *core, const struct l1_access *miss, u32 *sectors);
    /* A line was evicted by another one. Not called for lines that a store or the end of a launch
     * drops. */
    void (*l1_evicted)(void *state, struct core *core, const struct l1_line *line);
    /* Sectors have arrived from memory, and the accesses that waited for them have been served. */
    void (*l1_filled)(void *state, struct core *core, const struct l1_line *line);
    bool prefetches; /* it calls core_prefetch */

    /* ---- clock ---- */
    /* The core's clock rate as a factor; called at each launch. */
    f64 (*clock)(void *state, struct core *core);

    /* ---- content ---- */
    bool content; /* launches are armed: caches and requests carry data (mem/content.h) */

    /* ---- the memory side: mem/services.h has the functions that it offers ---- */
    u32 memory_size; /* size of a partition's state, which begins with struct mechanism_state;
                      * zeroed */
    /* `partition` is the number of its channel; its slices start at partition * slices. */
    void (*create_memory)(void *memory, struct memory_system *system, u32 partition, u32 slices);
    void (*destroy_memory)(void *memory);
    /* False: the mechanism wants no hooks. */
    bool (*l2)(void *memory, u32 slice, struct cache_hooks *hooks);
    bool (*dram)(void *memory, u32 channel, struct dram_hooks *hooks);
    /* A packet is about to be looked up in a slice (again, if it had to wait), or its reply leaves
     * the slice; with the time, and the cycle of the L2's clock. */
    void (*l2_request)(void *memory, u32 slice, struct packet *packet, fs now, u64 cycle);
    void (*l2_reply)(void *memory, u32 slice, struct packet *packet, fs now, u64 cycle);
    /* A cycle of a slice has ended, and memory_system_ask has been called for it since the last one:
     * nothing is in the middle of an access, so that lines may be dropped. */
    void (*l2_free)(void *memory, u32 slice, fs now, u64 cycle);
    /* Something happens to a line of a slice, which has the slice's own address. For a read, or
     * the write of a packet, the last l2_request of the slice was for its packet. */
    void (*l2_event)(void *memory, u32 slice, const struct cache_event *event);

    /* A launch begins: its time counts from `now` on; or it has ended, at `now`, and all its requests
     * have been answered. */
    void (*launch_memory)(void *memory, const struct exec *exec, bool begins, fs now);

    /* ---- counters ---- */
    /* Counters are about to be read: at a sample, between windows, and at the end of a launch, with
     * `now` the time of its last cycle. Counters that grow with time are brought up to `now`. */
    void (*settle)(void *state, struct core *core, fs now);
    void (*settle_memory)(void *memory, fs now);

    /* ---- results of all cores ---- */
    /* All blocks of a launch have ended, or it was stopped. Called once, with the states of all
     * cores, in order, before `launch` is called for each. Sums over all cores are counted in one
     * of them. `exec` is that of the whole launch: fault_check gives it an outcome. */
    void (*launch_done)(void *const *states, u32 count, struct exec *exec);

    /* ---- observing functional runs ---- */
    /* An observer may fill `observe`: then it can be on in functional runs, too. These have no core
     * and one state for all blocks; `create` gets NULL, and only these functions and `launch_done`
     * are called. */
    void (*observe_launch)(void *state, struct exec *exec, bool begins);
    /* Not called for the end of a block that is still running when its launch ends. */
    void (*observe_block)(void *state, struct thread_block *block, bool started);
    /* The current path of a warp has reached an instruction, whose sources are in the registers. */
    void (*observe)(void *state, struct warp *warp, u32 inst);
    /* The instruction has executed, or waits. Not called for branches. */
    void (*observed)(void *state, struct warp *warp, u32 inst);
};

/* The first members of a mechanism whose component has the same name. */
#define MECHANISM_NAMED(id, text) \
    .name = #id, .help = text, .component = &id##_component, .stats_size = sizeof(struct id##_stats)

/* The last line of a mechanism's file: outside this tree it exports the mechanism (plugin.h). */
#ifndef HEDDLE_PLUGIN
#define MECHANISM_PLUGIN(id)
#endif

/* All mechanisms of this build, NULL-terminated: src/mech/list.def. */
extern const struct mechanism *const mechanisms_built_in[];

/* Memory that belongs to a state (mechanism_alloc). */
struct state_block {
    struct state_block *next;
    size_t bytes;
    max_align_t memory[];
};

/* A mechanism that is switched on, with its state for one owner: a core, a partition or the
 * dispatcher. */
struct mechanism_use {
    const struct mechanism *mechanism;
    const void *params;
    void *state;
    void *stats;
    u32 state_bytes;
    struct state_block *blocks;
    struct rng random; /* its stream, if the mechanism sets `random` */
    void *device;      /* the device's memory, if the mechanism has a device_size */
};

struct hooks {
    u32 seams;     /* bits by enum seam: some mechanism needs it */
    bool caches;   /* a mechanism may change which accesses the core's caches accept */
    bool operands; /* a mechanism may look at operands in the record */
    u32 count;
    struct mechanism_use *uses;
};

/* Each mechanism that fills a seam, in list order. */
#define EACH_USE(use, hooks, seam)                                                            \
    for (const struct mechanism_use *use = (hooks)->uses, *const end_ = use + (hooks)->count; \
         use < end_; use++)                                                                   \
        if (use->mechanism->seam)

/* hooks.c. The name of the member of struct mechanism. */
const char *seam_name(enum seam seam);
/* Whether a mechanism fills a row of seam_rows. */
bool mechanism_fills(const struct mechanism *mechanism, u32 row);
/* The seams that it fills and needs under these parameters, bits. */
u32 mechanism_seams(const struct mechanism *mechanism, const void *params);
/* Creates a state as struct mechanism describes. `use` must not move afterwards. */
void mechanism_use_create(struct mechanism_use *use, u32 state_size);
void mechanism_use_destroy(struct mechanism_use *use);
/* At the start of a launch: restarts random streams, which are named by owner and index. */
void hooks_seed(const struct hooks *hooks, const struct exec *exec, const char *place, u64 index);
/* While states are closed, a build with AddressSanitizer reports any access to them
 * (base/guard.h). */
void hooks_close(const struct hooks *hooks);
void hooks_open(const struct hooks *hooks);
/* `uses` give mechanism and params; the rest is created here. `core` must be complete. */
void hooks_create(struct core *core, const struct mechanism_use *uses, u32 count);
void hooks_destroy(struct core *core);
/* Sets cache hooks after the caches were created anew. */
void hooks_set_caches(struct core *core);
/* Zeroes the states of mechanisms that `forget` at a launch. */
void hooks_forget(const struct hooks *hooks);
void hooks_launch(struct core *core, bool begins);
void hooks_block(struct core *core, u32 block_slot, bool started);
/* Allocates registers for the starting warps of these slots. */
void hooks_allocate(struct core *core, u64 slots);
/* DISPATCH_TAKE unless a mechanism decides otherwise. `dispatcher` has the dispatcher's states. */
struct dispatch hooks_dispatch(struct core *core, const struct hooks *dispatcher, u64 block,
                               u64 blocks);
/* Calls all mechanisms. True: one has released something that it held back. */
bool hooks_stuck(struct core *core);
/* The result of an instruction has been computed, or has arrived. */
void hooks_result(struct core *core, struct inflight *inflight);
/* Calls of mechanisms that watch first-level data caches. */
void hooks_l1_access(struct core *core, const struct l1_access *access);
void hooks_l1_evicted(struct core *core, const struct l1_line *line);
void hooks_l1_filled(struct core *core, const struct l1_line *line);
/* Latency of the first mechanism that supplies the line; 0: none does. */
u32 hooks_l1_supply(struct core *core, const struct l1_access *miss, u32 *sectors);
/* Counters of mechanisms are about to be read. */
void hooks_settle(struct core *core, fs now);
/* The product of all mechanisms' clock factors. */
f64 hooks_clock(struct core *core);

#endif
