/*
 * The units: an instruction with all its operands enters a unit that is free, when a result bus
 * will be free at the end of its latency.
 *
 * A unit is taken for the interval. The result stands in the unit's output register one cycle
 * after the latency and is written in the next: two cycles more than the latency from entering to
 * the registers, as in the peer.
 */
#include "core/core.h"

enum {
    UNIT_REGISTERS = 2 /* input and output register of a unit, in cycles */
};

void execute_create(struct core *core)
{
    const struct units_params *u = core->config.units;
    const u32 units[PIPES] = {
        [PIPE_SP] = u->sp,   [PIPE_INT] = u->integer, [PIPE_FP64] = u->fp64,
        [PIPE_SFU] = u->sfu, [PIPE_MEMORY] = 1,       [PIPE_SCALAR] = u->scalar,
    };
    for (u32 pipe = 0; pipe < PIPES; pipe++) {
        core->unit_count[pipe] = MAX(units[pipe] / core->groups, 1);
        for (u32 g = 0; g < core->groups; g++) {
            core->issued[g][pipe].limit = (u8)MIN(core->unit_count[pipe], 16);
            core->collected[g][pipe].limit = (u8)MIN(core->unit_count[pipe], 16);
        }
    }
}

static void count_unit(struct core *core, const struct task *task)
{
    struct units_stats *s = &core->stats.units;
    switch (task->pipe) {
    case PIPE_SP:
        s->sp_instructions++;
        s->sp_busy += task->interval;
        break;
    case PIPE_INT:
        s->int_instructions++;
        s->int_busy += task->interval;
        break;
    case PIPE_FP64:
        s->fp64_instructions++;
        s->fp64_busy += task->interval;
        break;
    case PIPE_SFU:
        s->sfu_instructions++;
        s->sfu_busy += task->interval;
        break;
    default:
        s->scalar_instructions++;
        s->scalar_busy += task->interval;
    }
}

/* False: no unit or no bus. */
static bool start(struct core *core, struct task *task)
{
    u64 now = core_cycle(core), *unit = core->unit_free[task->group][task->pipe];
    u32 u = 0, units = core->unit_count[task->pipe];
    while (u < units && unit[u] > now)
        u++;
    if (u == units)
        return false;
    u64 done = now + task->latency + UNIT_REGISTERS;
    if (core->bus[done % WHEEL] >= core->config.units->result_buses) {
        core->stats.units.bus_stalls++;
        return false;
    }
    core->bus[done % WHEEL]++;
    unit[u] = now + task->interval;
    count_unit(core, task);
    wheel_add(core, task, task->latency + UNIT_REGISTERS);
    return true;
}

void execute_tick(struct core *core)
{
    if (!core->collected_count)
        return;
    for (u32 g = 0; g < core->groups; g++)
        for (u32 pipes = core->collected_pipes[g] & ~(1u << PIPE_MEMORY); pipes;
             pipes &= pipes - 1) {
            const u32 pipe = first_bit(pipes);
            struct latch *latch = &core->collected[g][pipe];
            for (u32 i = 0; i < latch->count;) {
                if (!start(core, core_task(core, latch->tasks[i]))) {
                    i++;
                    continue;
                }
                latch->count--;
                core->collected_count--;
                for (u32 j = i; j < latch->count; j++)
                    latch->tasks[j] = latch->tasks[j + 1];
            }
            if (!latch->count)
                core->collected_pipes[g] &= (u8) ~(1u << pipe);
        }
}
