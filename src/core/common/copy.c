/*
 * Moves of a register to its own row, for mechanisms that keep registers elsewhere (struct
 * register_view): before some of its lanes are written, or when the warp gets its own copy.
 *
 * Like any other move, a copy takes a turn of the scheduler, the integer unit and bank accesses.
 * Meanwhile the register counts as pending, so that the warp waits for it.
 */
#include "core/common/common.h"

void core_copy_make(struct core_copy *copy, u32 reg, const struct core_config *config)
{
    const struct operand o = operand_make(OPERAND_VECTOR, reg, 1);
    copy->inst = (struct inst){.op = OP_mov_b32, .type = TYPE_B32, .dst = {o}, .src = {o}};
    time_own(&copy->time, &copy->inst, config);
}

struct inflight *core_copy_take(struct core *core, u32 s, u32 inst, const struct core_copy *copy)
{
    const u32 group = core->groups > 1 ? s % core->groups : 0;
    struct inflight *inflight =
        collect_room(core, group, copy->time.pipe) ? inflight_take(core) : NULL;
    if (!inflight)
        return NULL;
    inflight->injected = true;
    dyninst_rewrite(&inflight->dyn, core->slots[s].warp, inst, &copy->inst);
    return inflight;
}

void core_copy_issue(struct core *core, struct inflight *inflight, u32 s,
                     const struct core_copy *copy)
{
    const u32 reg = copy->inst.dst[0].index;
    core->slots[s].pending[reg / 64] |= bit(reg % 64);
    core->issue.clear &= ~bit(s);
    slot_update(core, s);
    core_issue_own(core, inflight, s, &copy->time);
}

void core_copy_retired(struct core *core, const struct inflight *inflight)
{
    const u32 s = inflight->slot, reg = inflight->dyn.code->dst[0].index;
    core->slots[s].pending[reg / 64] &= ~bit(reg % 64);
    if (core->issue.buffered & ~core->issue.clear & bit(s))
        slot_recheck(core, s);
}
