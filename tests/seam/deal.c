/*
 * Test mechanism: after the first trap of the code, whose guard is false and which all warps of a
 * block execute, its threads are dealt to its warps at random, each in its lane. They execute this
 * way until they exit, or (back) until the second trap, before which all of them return home. Nothing
 * but time changes.
 *
 * Seams: launch, block, control, retired.
 */
#include "seam/seam.h"

#define COMPONENT deal
#define COMPONENT_DEF "seam/deal.def"
#define COMPONENT_HELP "re-formed warps at random, for tests"
#include "base/component_struct.h"
#include "base/component_table.h"

struct deal {
    MECHANISM_STATE(deal);
    u32 from, to;             /* instructions: the first trap; where threads return, or NO_INST */
    u64 arrived[CORE_BLOCKS]; /* by block: slots that have executed the first */
    bool dealt[CORE_BLOCKS];
};

static u64 slots_of(const struct core *core, u32 place)
{
    return core_block(core, place)->slots & core_present(core) & ~core_ended(core);
}

/* Exchanges the homes of two lanes of a slot: each then executes a thread of the other's lane. */
static void swap_lanes(u8 *homes)
{
    for (u32 lane = 1; lane < MAX_LANES; lane++)
        if (homes[lane] != homes[0]) {
            const u8 home = homes[0];
            homes[0] = homes[lane];
            homes[lane] = home;
            return;
        }
}

static void deal(struct deal *d, struct core *core, u32 place)
{
    const u64 slots = slots_of(core, place);
    const u32 count = (u32)__builtin_popcountll(slots);
    u8 homes[CORE_WARPS][MAX_LANES], list[CORE_WARPS];
    lane_set lanes[CORE_WARPS] = {0};
    for (u32 lane = 0; lane < core_warp_size(core); lane++) {
        u32 n = 0;
        for (u64 set = slots; set; set &= set - 1)
            list[n++] = (u8)first_bit(set);
        for (u32 i = count; i > 1; i--) {
            const u32 j = (u32)mechanism_random_below(d, i);
            const u8 other = list[j];
            list[j] = list[i - 1];
            list[i - 1] = other;
        }
        n = 0;
        for (u64 set = slots; set; set &= set - 1, n++) {
            const u32 s = first_bit(set);
            homes[s][lane] = list[n];
            if (core_slot(core, list[n])->warp->live >> lane & 1)
                lanes[s] |= 1ull << lane;
            d->stats->strangers += list[n] != s && lanes[s] >> lane & 1;
        }
    }
    if (d->params->swap)
        swap_lanes(homes[first_bit(slots)]);
    for (u64 set = slots; set; set &= set - 1)
        core_reform(core, first_bit(set), homes[first_bit(set)], lanes[first_bit(set)], NULL,
                    d->from + 1, d->to);
    d->dealt[place] = true;
    d->stats->deals++;
    core_release(core, slots);
}

static bool idle(const struct core *core, u64 slots)
{
    for (u64 set = slots; set; set &= set - 1)
        if (core_slot(core, first_bit(set))->in_flight)
            return false;
    return true;
}

static void act(struct deal *d, struct core *core, u32 place)
{
    const u64 slots = slots_of(core, place);
    if (!slots || !idle(core, slots))
        return;
    if (!d->dealt[place]) {
        if (d->arrived[place] == slots)
            deal(d, core, place);
        return;
    }
    for (u64 set = slots; set; set &= set - 1)
        if (!core_is_empty(core, first_bit(set)))
            return;
    for (u64 set = slots; set; set &= set - 1)
        core_restore(core, first_bit(set), d->to);
    d->stats->returns++;
}

static void control(void *state, struct core *core, u32 slot, u32 inst)
{
    struct deal *d = state;
    const u32 place = core_slot(core, slot)->block;
    if (inst == d->from && !d->dealt[place]) {
        d->arrived[place] |= bit(slot);
        core_hold(core, bit(slot));
    }
}

static void retired(void *state, struct core *core, struct inflight *inflight)
{
    const struct slot *slot = core_slot(core, inflight->slot);
    if (slot->warp)
        act(state, core, slot->block);
}

static void launch(void *state, struct core *core, bool begins)
{
    struct deal *d = state;
    const struct program *program = core_exec(core)->image->program;
    d->from = d->to = NO_INST;
    for (u32 i = program->inst_count; i-- > 0;)
        if (program->insts[i].op == OP_trap) {
            d->to = d->params->back ? d->from : NO_INST;
            d->from = i;
        }
}

static void block(void *state, struct core *core, u32 place, bool started)
{
    struct deal *d = state;
    d->arrived[place] = 0;
    d->dealt[place] = false;
}

const struct mechanism deal_mechanism = {
    MECHANISM_NAMED(deal, "threads of a block are dealt to its warps at random"),
    .state_size = sizeof(struct deal),
    .forgets = true,
    .random = true,
    .reforms = true,
    .launch = launch,
    .control = control,
    .retired = retired,
    .block = block,
};
