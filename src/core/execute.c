/*
 * The units: an instruction with all its operands enters a unit that is free, when a result bus
 * and the unit's output register will be free at the end of its latency. Free units are offered the
 * instruction that waits longest, one after another; those behind it wait, as in the peer.
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

/* Whether a result of this unit leaves in cycle `done` already: it has one output register. */
static bool output_taken(const struct core *core, const struct task *task, u32 unit, u64 done)
{
    u16 at = core->bus[done % WHEEL] ? core->wheel[done % WHEEL].first : NO_TASK;
    for (; at != NO_TASK; at = core->tasks[at].next) {
        const struct task *other = &core->tasks[at];
        if (other->unit == unit && other->pipe == task->pipe && other->group == task->group)
            return true;
    }
    return false;
}

static void start(struct core *core, struct task *task, u32 unit, u64 done)
{
    task->unit = (u8)unit;
    core->bus[done % WHEEL]++;
    core->unit_free[task->group][task->pipe][unit] = core_cycle(core) + task->interval;
    count_unit(core, task);
    wheel_add(core, task, task->latency + UNIT_REGISTERS);
}

/* Units take from the front of their latch, in order. */
static void feed(struct core *core, u32 group, u32 pipe)
{
    struct latch *latch = &core->collected[group][pipe];
    const u64 now = core_cycle(core), *free_at = core->unit_free[group][pipe];
    for (u32 u = 0; u < core->unit_count[pipe] && latch->count; u++) {
        if (free_at[u] > now)
            continue;
        struct task *task = core_task(core, latch->tasks[0]);
        const u64 done = now + task->latency + UNIT_REGISTERS;
        if (core->bus[done % WHEEL] >= core->config.units->result_buses) {
            core->stats.units.bus_stalls++;
            break;
        }
        if (output_taken(core, task, u, done))
            continue;
        start(core, task, u, done);
        latch->count--;
        core->collected_count--;
        core->collectors_stuck = 0;
        for (u32 i = 0; i < latch->count; i++)
            latch->tasks[i] = latch->tasks[i + 1];
    }
    if (!latch->count)
        core->collected_pipes[group] &= (u8) ~(1u << pipe);
}

void execute_tick(struct core *core)
{
    if (!core->collected_count)
        return;
    for (u32 g = 0; g < core->groups; g++)
        for (u32 pipes = core->collected_pipes[g] & ~(1u << PIPE_MEMORY); pipes; pipes &= pipes - 1)
            feed(core, g, first_bit(pipes));
}
