/*
 * A cycle of the units: see execute.c. In a header, because the tick of the common pipeline has it
 * compiled in.
 */
#ifndef CORE_EXECUTE_TICK_H
#define CORE_EXECUTE_TICK_H

#include "core/common/common.h"

enum {
    UNIT_REGISTERS = 2 /* input and output register of a unit, in cycles */
};

PART_OF void count_unit(struct core *core, const struct inflight *inflight)
{
    struct units_stats *s = &core->stats.units;
    switch (inflight->pipe) {
    case PIPE_SP:
        s->sp_instructions++;
        s->sp_busy += inflight->interval;
        break;
    case PIPE_INT:
        s->int_instructions++;
        s->int_busy += inflight->interval;
        break;
    case PIPE_FP64:
        s->fp64_instructions++;
        s->fp64_busy += inflight->interval;
        break;
    case PIPE_SFU:
        s->sfu_instructions++;
        s->sfu_busy += inflight->interval;
        break;
    default:
        s->scalar_instructions++;
        s->scalar_busy += inflight->interval;
    }
}

/* Whether another result of this unit leaves in cycle `done`, in which some do: a unit has one
 * output register. */
static bool output_taken(const struct core *core, const struct inflight *inflight, u32 unit,
                         u64 done)
{
    u16 at = core->wheel.lists[done % WHEEL].first;
    for (; at != NO_INFLIGHT; at = core->inflight.all[at].next) {
        const struct inflight *other = &core->inflight.all[at];
        if (other->unit == unit && other->pipe == inflight->pipe &&
            other->group == inflight->group && !(other->passes | inflight->passes))
            return true;
    }
    return false;
}

PART_OF void enter_unit(struct core *core, struct inflight *inflight, u32 unit, u64 done)
{
    inflight->unit = (u8)unit;
    core->units.bus[done % WHEEL]++;
    count_unit(core, inflight);
    wheel_add(core, inflight, inflight->latency + UNIT_REGISTERS);
}

/* Units take instructions from the front of their latch, in order. */
PART_OF void feed(struct core *core, struct core_group *group, u32 pipe)
{
    struct latch *latch = &group->collected[pipe];
    u64 *const free_at = group->unit_free[pipe];
    const u64 now = core_cycle(core);
    for (u32 u = 0; u < core->units.count[pipe]; u++) {
        if (free_at[u] > now)
            continue;
        struct inflight *inflight = core_inflight(core, latch_first(latch));
        const u64 done = now + inflight->latency + UNIT_REGISTERS;
        if (core->units.bus[done % WHEEL] >= core->config.units->result_buses) {
            core->stats.units.bus_stalls++;
            return;
        }
        if (core->units.bus[done % WHEEL] && output_taken(core, inflight, u, done))
            continue;
        free_at[u] = now + inflight->interval;
        enter_unit(core, inflight, u, done);
        latch_pop(latch);
        core->collect.stuck = 0;
        if (!latch->count) {
            group->collected_pipes &= (u8) ~(1u << pipe);
            return;
        }
    }
}

PART_OF void feed_group(struct core *core, u32 g)
{
    struct core_group *group = &core->collect.group[g];
    for (u32 pipes = group->collected_pipes; pipes; pipes &= pipes - 1)
        feed(core, group, first_bit(pipes));
    if (!group->collected_pipes)
        core->collect.collected_groups &= ~(1u << g);
}

PART_OF void execute_tick(struct core *core)
{
    if (core->groups == 1)
        feed_group(core, 0);
    else
        for (u32 groups = core->collect.collected_groups; groups; groups &= groups - 1)
            feed_group(core, first_bit(groups));
}

#endif
