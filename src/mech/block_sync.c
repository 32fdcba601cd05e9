/*
 * A barrier of the block at every end of a basic block: what synchronisation alone costs when
 * instructions are to be shared between warps that run in step. It gains nothing.
 *
 * The rule. A warp reaches a boundary when it has issued the last instruction of a basic block (or,
 * with `branches`, a branch with two possible successors). If all its live lanes are on one path,
 * it waits there, whatever it executes next, until every awaited warp of its block has reached a
 * boundary, too. Awaited are the warps that have not ended, whose live lanes are all on one path,
 * and that do not wait at a barrier of the program. So
 *  - warps on different paths wait for each other at whatever boundaries they reach;
 *  - a divergent warp passes all boundaries and is not awaited until its lanes have reconverged;
 *  - warps at a barrier of the program are not awaited: warps that have not reached it continue.
 * An awaited warp runs, and a loop has a boundary: the warp reaches one, ends, waits at a barrier
 * or diverges. When none of this happens, all waiting warps are released (`patience`, `stuck`).
 *
 * Seams: launch, issued, control, stuck.
 *
 * Invariants
 *  B1  The slots held by this mechanism are exactly those in `arrived`.
 *  B2  Whatever may change which warps are awaited is followed by a call of release_arrived() for the block.
 */
#include "analysis/cfg.h"
#include "core/mechanism.h"
#include <stdlib.h>

#define COMPONENT block_sync
#define COMPONENT_DEF "mech/block_sync.def"
#define COMPONENT_HELP "barriers at the ends of basic blocks"
#include "base/component_struct.h"
#include "base/component_table.h"

enum {
    WHERE_BLOCKS,
    WHERE_BRANCHES
};

struct block_sync {
    MECHANISM_STATE(block_sync);
    bool *ends;             /* by instruction: a boundary follows it */
    u64 arrived;            /* waiting slots, one bit each */
    u64 since[CORE_WARPS];  /* by slot: cycle of its arrival */
    u64 first[CORE_BLOCKS]; /* by block: cycle of the first arrival */
};

/* ---- boundaries ---- */

static void mark_function(struct block_sync *b, struct arena *arena, const struct program *program,
                          const struct function *function)
{
    const struct code code = code_of(program, function);
    if (!code.count)
        return;
    const struct cfg *cfg = cfg_build(arena, &code);
    for (u32 i = 0; i < cfg->count; i++) {
        const struct cfg_block *block = &cfg->blocks[i];
        if (b->params->where == WHERE_BLOCKS || block->successor_count + block->exits > 1)
            b->ends[code.base + block->end - 1] = true;
    }
}

static void launch(void *state, struct core *core, bool begins)
{
    struct block_sync *b = state;
    free(b->ends);
    b->ends = NULL;
    b->arrived = 0;
    if (!begins)
        return;
    const struct program *program = core_exec(core)->image->program;
    struct arena *arena = arena_create();
    b->ends = checked(calloc(MAX(core_inst_count(core), 1u), sizeof *b->ends));
    for (u32 i = 0; i < program->function_count; i++)
        mark_function(b, arena, program, &program->functions[i]);
    arena_destroy(arena);
}

static void destroy(void *state)
{
    free(((struct block_sync *)state)->ends);
}

/* ---- waiting ---- */

/* Whether all live lanes of the warp are on one path. */
static bool is_together(const struct warp *warp)
{
    return warp->active == warp->live;
}

static void release(struct block_sync *b, struct core *core, u64 slots)
{
    for (u64 set = slots; set; set &= set - 1)
        b->stats->waited += core_cycle(core) - b->since[first_bit(set)];
    b->arrived &= ~slots;
    core_release(core, slots);
}

/* Slots of a block's warps that have not ended; the slot of an ended warp may hold a warp of
 * another block by now. */
static u64 live_slots(const struct core *core, u32 place)
{
    u64 slots = core_block(core, place)->slots & core_present(core) & ~core_ended(core);
    for (u64 set = slots; set; set &= set - 1)
        if (core_slot(core, first_bit(set))->block != place)
            slots &= ~(set & -set);
    return slots;
}

/* Releases the waiting warps of a block when all awaited warps have arrived, or patience has run
 * out. */
static void release_arrived(struct block_sync *b, struct core *core, u32 place)
{
    const u64 slots = live_slots(core, place), here = b->arrived & slots;
    if (!here)
        return;
    for (u64 set = slots & ~(here | core_waiting(core)); set; set &= set - 1)
        if (is_together(core_slot(core, first_bit(set))->warp)) {
            if (!b->params->patience || core_cycle(core) - b->first[place] < b->params->patience)
                return;
            b->stats->impatient++;
            release(b, core, here);
            return;
        }
    b->stats->meetings++;
    release(b, core, here);
}

/* A warp has issued the last instruction of a basic block. */
static void arrive(struct block_sync *b, struct core *core, u32 s)
{
    const u32 place = core_slot(core, s)->block;
    b->stats->boundaries++;
    if (!is_together(core_slot(core, s)->warp)) {
        b->stats->diverged++;
        return;
    }
    b->stats->arrivals++;
    if (!(b->arrived & live_slots(core, place)))
        b->first[place] = core_cycle(core);
    b->since[s] = core_cycle(core);
    b->arrived |= bit(s);
    core_hold(core, bit(s));
}

/* ---- seams ---- */

static bool tells_control(const struct inst_time *time)
{
    return time->flags & (TIME_BRANCH | TIME_BARRIER);
}

/* Branches and barriers are handled by control(), once they have taken effect. */
static void issued(void *state, struct core *core, struct inflight *inflight)
{
    struct block_sync *b = state;
    const u32 s = inflight->slot;
    if (tells_control(inflight->time) || inflight->injected)
        return;
    if (b->ends[inflight->dyn.inst] && warp_next(core_slot(core, s)->warp) != NO_INST) {
        arrive(b, core, s);
        release_arrived(b, core, core_slot(core, s)->block);
    } else if (UNLIKELY(b->params->patience) && b->arrived) {
        release_arrived(b, core, core_slot(core, s)->block);
    }
}

static void control(void *state, struct core *core, u32 s, u32 inst)
{
    struct block_sync *b = state;
    const struct slot *slot = core_slot(core, s);
    if (b->ends[inst] && slot->warp && !slot->ended && slot->at != NO_INST)
        arrive(b, core, s);
    release_arrived(b, core, slot->block);
}

static bool stuck(void *state, struct core *core)
{
    struct block_sync *b = state;
    if (!b->arrived)
        return false;
    b->stats->unstuck++;
    release(b, core, b->arrived);
    return true;
}

/* each may release a warp that the other holds */
static const char *const conflicts[] = {"darsie", NULL};

static const char *const deviations[] = {
    "The published experiment inserts __syncthreads() at these boundaries in programs that run on "
    "silicon. Here no instruction is inserted: warps only wait, and continue from the cycle in "
    "which the last one arrives.",
    "Warps whose lanes are on different paths, or that wait at a barrier of the program, do not "
    "take part. The paper does not say how such programs were instrumented.",
    NULL,
};

const struct mechanism block_sync_mechanism = {
    MECHANISM_NAMED(block_sync,
                    "the warps of a block wait for each other at the ends of basic blocks"),
    .source = "SILICON-SYNC of T. T. Yeh, R. N. Green, T. G. Rogers, \"Dimensionality-aware "
              "redundant SIMT instruction elimination\", ASPLOS 2020",
    .deviations = deviations,
    .conflicts = conflicts,
    .state_size = sizeof(struct block_sync),
    .destroy = destroy,
    .launch = launch,
    .issued = issued,
    .control = control,
    .stuck = stuck,
};
