/*
 * Compaction of diverged warps: what thread block compaction (tbc.c) and large warps (lwm.c) share.
 *
 * Warps of a block that belong together are a *unit*. At a conditional branch, warps of a unit wait
 * for each other. If their threads disagree, the warps become a *group*: its threads are sorted by
 * the way that they take, and each way is executed by as few warps as possible, formed from lanes of
 * several warps (core_reform). A thread stays in its lane. The ways are entries of a stack; the one
 * on top is executed, by all warps that it needs at a time, until its threads have exited or reached
 * the instruction where the ways meet, the branch's immediate post-dominator. Then the next entry is
 * executed. Branches inside a way are handled in the same manner. When the last way has ended, all
 * threads are at home again.
 *
 * Warps wait only at branches whose region, the code between the branch and its post-dominator, may
 * be executed in any order and by any warp (compaction_regions.c). At other branches, warps diverge
 * by themselves as without the mechanism, also re-formed ones.
 *
 * Invariants
 *  C1  A warp of a group executes threads of the stack's top entry only; every live thread of a
 *      group's warps is in the bottom entry.
 *  C2  Masks of entries may contain threads that have exited; they are ignored when it is executed.
 *  C3  An entry whose rpc is not its own pc is above one with that pc, or has NO_INST.
 *  C4  Warps are formed anew only when no warp of their group has an instruction in flight.
 */
#ifndef MECH_COMPACTION_H
#define MECH_COMPACTION_H

#include "core/mechanism.h"

/* What every mechanism's component begins with; the texts and initial values are its own. */
#define COMPACTION_ON ""
#define COMPACTION_WAIT 0
#define COMPACTION_WHEN 0
#define COMPACTION_WARPS 64
#define COMPONENT compaction
#define COMPONENT_DEF "mech/compaction.def"
#include "base/component_struct.h"
#undef COMPACTION_ON
#undef COMPACTION_WAIT
#undef COMPACTION_WHEN
#undef COMPACTION_WARPS

enum {
    WAIT_DIVERGENT, /* parameter wait */
    WAIT_ALL
};
enum {
    WHEN_GAIN, /* parameter when */
    WHEN_ALWAYS
};
enum {
    BANKS_LANE, /* parameter banks */
    BANKS_HOME
};

enum {
    STACK_ENTRIES = 32,
    MOST_PLACES = 16,    /* where threads of waiting warps continue */
    NO_UNIT = CORE_WARPS /* of warps that have no others */
};

/* A conditional branch. */
struct compaction_branch {
    bool waits;                       /* warps wait at it */
    u32 target;                       /* both sides: this one and the next instruction */
    u32 reconverge;                   /* where they meet; NO_INST: nowhere before the end */
    const struct lane_region *region; /* with explicit EXEC */
};

struct compaction_entry {
    u32 pc, rpc;
};

struct compaction_unit {
    bool on;
    u8 place;  /* of its block */
    u64 slots; /* of its warps */
    /* at home: */
    u64 arrived; /* waiting slots, */
    u64 awaited; /* those that they wait for, */
    u64 since;   /* and the cycle of the first arrival */
    /* the group: */
    u64 group;                        /* its slots; 0: there is none */
    u64 held;                         /* those of them that wait at a branch, */
    u64 settled;                      /* and these with those that have no lanes left */
    bool draining;                    /* all are settled; the next step waits for C4, */
    u64 drains_since;                 /* from this cycle on */
    const struct lane_region *region; /* with explicit EXEC: that of the first branch */
    u32 depth;
    struct compaction_entry stack[STACK_ENTRIES];
};

/* Threads that continue at the same instruction after the same branch. */
struct compaction_place {
    u32 branch, pc;
    lane_set lanes[CORE_WARPS]; /* by home */
};

struct compaction {
    MECHANISM_STATE(compaction);
    struct core *core;
    struct arena *arena;                          /* of a launch */
    struct compaction_branch *branches;           /* by instruction; NULL: nothing is compacted */
    struct compaction_unit units[CORE_WARPS + 1]; /* each has a live warp; NO_UNIT is none */
    /* by slot: */
    u8 unit_of[CORE_WARPS];
    u32 branch_of[CORE_WARPS];   /* where it waits */
    u64 since[CORE_WARPS];       /* cycle from which it waits */
    u64 homes[CORE_WARPS];       /* slots of the homes of its lanes, if it is re-formed */
    u64 released_at[CORE_WARPS]; /* cycle in which a formed warp begins; */
    u64 forming;                 /* slots for which it has not come */
    u64 waiting;                 /* units with arrived slots, by their number */
    lane_set stack[STACK_ENTRIES][CORE_WARPS];   /* lanes of entries, by depth and home */
    struct compaction_place places[MOST_PLACES]; /* of one decision */
    u32 place_count;
    u32 apart; /* warps with lanes at places that are not where the branch's sides meet */
};

/* compaction_regions.c: finds the branches at which warps wait; NULL: there are none. */
struct compaction_branch *compaction_regions(struct arena *arena,
                                             const struct compaction_params *params,
                                             const struct exec *exec, u64 *branches, u64 *refused);
/* The same with explicit EXEC: compaction_lanes.c. */
void compaction_lane_regions(struct arena *arena, const struct compaction_params *params,
                             const struct program *program, struct compaction_branch *found,
                             u64 *branches, u64 *refused);
/* Where the lanes of a slot continue that has executed a branch: as core_lane_places. */
u32 compaction_lane_places(const struct compaction *c, u32 slot, u32 branch, struct target *places);
/* Whether warps hold the same in the scalars that their region needs. */
bool compaction_alike(const struct compaction *c, u64 slots, const struct lane_region *region);

/* compaction_stack.c */
/* Finds where the threads of held slots continue. False: at too many places. */
bool compaction_places(struct compaction *c, u64 slots);
/* Warps that must be formed for all places. */
u32 compaction_warps(const struct compaction *c);
/* Pushes the places of the held slots, and starts the entry on top. */
bool compaction_fits(const struct compaction *c, const struct compaction_unit *u);
void compaction_push(struct compaction *c, struct compaction_unit *u);
void compaction_start_top(struct compaction *c, struct compaction_unit *u);
/* Ends the wait of slots. */
void compaction_release(struct compaction *c, u64 slots);

/* compaction.c: what a mechanism's table consists of. */
void compaction_create(void *state, struct core *core);
void compaction_destroy(void *state);
bool compaction_serves(const void *params, const struct core_config *machine, struct error *error);
void compaction_launch(void *state, struct core *core, bool begins);
void compaction_block(void *state, struct core *core, u32 place, bool started);
bool compaction_insert(void *state, struct core *core, u32 scheduler);
void compaction_issued(void *state, struct core *core, struct inflight *inflight);
void compaction_bank(void *state, struct core *core, const struct inflight *inflight, bool write,
                     struct places *places);
void compaction_retired(void *state, struct core *core, struct inflight *inflight);
void compaction_control(void *state, struct core *core, u32 slot, u32 inst);
bool compaction_stuck(void *state, struct core *core);
u32 compaction_idle(const void *params);

/* compaction_cost.c: the storage of the mechanism of this name, and its events. The adder of a base:
 * an addition of 8 bits takes 0.03 pJ at 45 nm (Horowitz, Computing's energy problem, ISSCC 2014). */
void compaction_storage(const void *params, const char *unit, struct state_list *list);
#define COMPACTION_EVENTS(name)                                                           \
    {"base_reads", "registers", ENERGY_READ, name ".homes"},                              \
        {"base_writes", "control", ENERGY_WRITE, name ".homes"},                          \
        {"stack_reads", "control", ENERGY_READ, name ".stack"},                           \
        {"stack_writes", "control", ENERGY_WRITE, name ".stack"},                         \
        {"base_lanes", "registers",                                                       \
         ENERGY_LOGIC, .pj = 0.03,                                                        \
         .nm = 45,     .source = "Horowitz, ISSCC 2014: an addition of 8 bits at 45 nm"}, \
        {0},

#define COMPACTION_SEAMS                                                                     \
    .state_size = sizeof(struct compaction), .reforms = true, .create = compaction_create,   \
    .destroy = compaction_destroy, .serves = compaction_serves, .launch = compaction_launch, \
    .block = compaction_block, .insert = compaction_insert, .issued = compaction_issued,     \
    .places = compaction_bank, .retired = compaction_retired, .control = compaction_control, \
    .stuck = compaction_stuck, .idle = compaction_idle

#endif
