/*
 * The seams: where a mechanism may take part in what a core does.
 *
 * A mechanism is a table of optional functions with a state for each core. Those that are switched
 * on are chained in the order of their list; a seam that nobody fills costs one test of a mask.
 * The memory side has seams of its own: struct cache_hooks, struct dram_hooks, and the payload of
 * packets.
 *
 * Invariants
 *  H1  A mechanism sees a core only through the functions it fills and what core.h exports.
 *  H2  Off means identical results: no seam is called, no statistic changes.
 */
#ifndef CORE_HOOKS_H
#define CORE_HOOKS_H

#include "base/component.h"
#include "base/state.h"

struct core;
struct task;

enum seam {
    SEAM_BLOCK,
    SEAM_FETCH,
    SEAM_SKIP,
    SEAM_PICK,
    SEAM_ISSUE,
    SEAM_ISSUED,
    SEAM_OPERAND,
    SEAM_RESULT,
    SEAM_WRITE_BACK,
    SEAM_RETIRED,
    SEAM_CONTROL,
    SEAM_PACKET,
    SEAM_CLOCK,
    SEAMS
};

enum fetch_answer {
    FETCH_SERVE, /* as always */
    FETCH_SKIP,  /* do not fetch it: `skip` is called when the warp comes to it */
    FETCH_HOLD,  /* not in this cycle */
};

/* Warps of a scheduler, a bit each. */
struct pick {
    u64 never;  /* must not issue in this cycle */
    u64 prefer; /* if one of these is ready, one of these issues */
};

enum issue_answer {
    ISSUE_PLAIN,
    ISSUE_DONE, /* the mechanism has issued something else itself (core_issue_flight) */
};

enum write_back_answer {
    WRITE_BACK_COMMIT,
    WRITE_BACK_DROP, /* the results are not written; all else as always */
    WRITE_BACK_HOLD, /* not in this cycle: asked again in the next one */
};

struct mechanism {
    const char *name;
    const char *help;
    const struct component *component; /* parameters and statistics; NULL: none */
    u32 stats_size;
    void *(*create)(struct core *core);
    void (*destroy)(void *state);
    void (*storage)(struct state_list *list);

    /* A block has taken its place on the core, or left it. */
    void (*block)(void *state, struct core *core, u32 block_slot, bool started);
    enum fetch_answer (*fetch)(void *state, struct core *core, u32 slot, u32 inst);
    /* A skipped instruction is next and what it would write is not pending. False: not yet. */
    bool (*skip)(void *state, struct core *core, u32 slot, u32 inst);
    void (*pick)(void *state, struct core *core, u32 scheduler, struct pick *pick);
    enum issue_answer (*issue)(void *state, struct core *core, u32 slot, u32 inst);
    /* It has been issued: lanes, occupancy (task->interval), an inserted or repeated op. */
    void (*issued)(void *state, struct core *core, struct task *task);
    /* Its operands are asked for: places, banks, cycles. Returns cycles to add before the unit. */
    u32 (*operand)(void *state, struct core *core, struct task *task);
    /* Its result has been computed and may be changed. */
    void (*result)(void *state, struct core *core, struct task *task);
    enum write_back_answer (*write_back)(void *state, struct core *core, struct task *task);
    /* It has left the pipeline. */
    void (*retired)(void *state, struct core *core, struct task *task);
    /* A branch, barrier or exit has taken effect. */
    void (*control)(void *state, struct core *core, u32 slot, u32 inst);
    /* A request leaves the core: payload and its bits may be set. */
    void (*packet)(void *state, struct core *core, void *packet);
    /* The core's period as a factor, asked at each launch. */
    f64 (*clock)(void *state, struct core *core);
};

/* Mechanisms switched on, with their state on one core. */
struct mechanism_use {
    const struct mechanism *mechanism;
    void *state;
};

struct hooks {
    u32 seams; /* bit by enum seam: somebody fills it */
    u32 count;
    struct mechanism_use *uses;
};

#endif
