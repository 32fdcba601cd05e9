/*
 * Regions that run again: what mechanisms ask for with core_cut and core_restart.
 *
 * A mechanism says where the code is cut. The warp waits at each cut until it has nothing in flight,
 * and the state of its paths is kept there: the core can then send the warp back to its last cut. What
 * it has in flight is annulled; registers and memory stay as they are. So a region must be idempotent
 * (analysis/regions.h).
 *
 * Invariants
 *  Z1  A slot has nothing in flight when an instruction with TIME_CUT issues: everything before the
 *      cut has been committed, everything after it can be annulled. Scoreboard and wait counters of
 *      the warp are then empty, which is how a restarted region finds them, too.
 *  Z2  An instruction that is annulled changes neither registers nor memory from then on. It passes
 *      through its stages as usual, and frees what it holds.
 *  Z3  Instructions that take effect at issue, but for branches, are cut off from those before them,
 *      and nothing is restarted between their issue and the next cut: the mechanism sees to it.
 */
#include "core/common/common.h"
#include "core/mechanism.h"
#include <stdlib.h>

enum {
    USUAL_PATHS = 32 /* of a warp; memory for more is taken when it has more (exec/paths.c) */
};

/* The last cut that a slot's warp has passed. */
struct region_start {
    struct paths_copy paths;
    u64 issued; /* instructions of the warp up to there */
};

void restart_begin(struct core *core)
{
    bool wanted = false;
    for (u32 i = 0; i < core->hooks.count; i++)
        wanted |= core->hooks.uses[i].mechanism->restarts;
    if (!wanted)
        return;
    core->starts = checked(calloc(CORE_WARPS, sizeof *core->starts));
    for (u32 s = 0; s < CORE_WARPS; s++) {
        struct paths_copy *paths = &core->starts[s].paths;
        paths->capacity = USUAL_PATHS;
        paths->paths = checked(calloc(USUAL_PATHS, sizeof *paths->paths));
    }
}

void restart_end(struct core *core)
{
    for (u32 s = 0; core->starts && s < CORE_WARPS; s++)
        free(core->starts[s].paths.paths);
    free(core->starts);
    core->starts = NULL;
}

COLD void restart_keep(struct core *core, u32 s)
{
    struct region_start *start = &core->starts[s];
    assert(!core->slots[s].in_flight); /* Z1 */
    paths_keep(core->slots[s].warp, &start->paths);
    start->issued = core->slots[s].issued;
}

void core_cut(struct core *core, u32 inst)
{
    core->times[inst].flags |= TIME_CUT;
    core->times[inst].plain = false;
}

u64 core_restart(struct core *core, u32 s)
{
    struct slot *slot = &core->slots[s];
    struct region_start *start = &core->starts[s];
    const u64 again = slot->issued - start->issued;
    assert(slot->warp && !slot->ended && slot->warp->state == WARP_READY);
    for (u32 word = 0; word < CORE_INFLIGHT / 64; word++)
        for (u64 set = ~core->inflight.free[word]; set; set &= set - 1) {
            struct inflight *inflight = &core->inflight.all[word * 64 + first_bit(set)];
            inflight->annulled |= inflight->slot == s && !inflight->injected;
        }
    paths_go_back(slot->warp, &start->paths);
    start->issued = slot->issued;
    slot->at = warp_next(slot->warp);
    core->quiet_until = 0;
    core->pipeline->restart(core, s);
    return again;
}
