/*
 * The units: an instruction with all its operands enters a free unit if a result bus, and the
 * unit's output register, will be free at the end of its latency. Free units are offered the oldest
 * waiting instruction, one unit after another; instructions behind it wait, as in GPGPU-Sim.
 *
 * An instruction occupies its unit for the interval. The result is in the unit's output register
 * one cycle after the latency and is written in the next cycle: from entering the unit to the
 * registers takes the latency plus two cycles, as in GPGPU-Sim.
 */
#include "core/common/execute_tick.h"

void execute_create(struct core *core)
{
    const struct units_params *u = core->config.units;
    const u32 units[PIPES] = {
        [PIPE_SP] = u->sp,   [PIPE_INT] = u->integer, [PIPE_FP64] = u->fp64,
        [PIPE_SFU] = u->sfu, [PIPE_MEMORY] = 1,       [PIPE_SCALAR] = u->scalar,
    };
    for (u32 pipe = 0; pipe < PIPES; pipe++) {
        core->units.count[pipe] = MAX(units[pipe] / core->groups, 1);
        for (u32 g = 0; g < core->groups; g++) {
            core->collect.group[g].issued[pipe].limit =
                pipe == PIPE_MEMORY ? core->pipeline->accesses
                                    : (u8)MIN(core->units.count[pipe], LATCH);
            core->collect.group[g].collected[pipe].limit = (u8)MIN(core->units.count[pipe], LATCH);
        }
    }
}

void execute_begin(struct core *core)
{
    for (u32 g = 0; g < core->groups; g++)
        memset(core->collect.group[g].unit_free, 0, sizeof core->collect.group[g].unit_free);
    memset(core->units.bus, 0, sizeof core->units.bus);
    write_back_begin(core);
}

void execute_count(struct core *core, const struct inflight *inflight)
{
    count_unit(core, inflight);
}
