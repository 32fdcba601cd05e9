/*
 * Write-back: results that are due in this cycle go to the registers, and what waited for them may
 * issue in the same cycle.
 *
 * Results of units always find their bank (the bus was reserved when they started); a bank that is
 * written serves no read in the cycle. Results of loads come through the load/store unit's port.
 */
#include "core/common/content.h"

/* Where mechanisms say that the results go. */
static __attribute__((noinline)) void claim_places(struct core *core,
                                                   const struct inflight *inflight)
{
    const struct inst *code = inflight->dyn.code;
    struct places places = {0};
    for (u32 k = 0; k < ARRAY_LEN(code->dst); k++)
        for (u32 r = 0; code->dst[k].kind == OPERAND_VECTOR && r < code->dst[k].count; r++) {
            u32 reg = code->dst[k].index + r;
            places.regs[places.count] = (u16)reg;
            places.banks[places.count++] =
                (u8)collect_bank(core, inflight->slot, inflight->group, reg);
        }
    EACH_USE(use, &core->hooks, places)
    use->mechanism->places(use->state, core, inflight, true, &places);
    core->stats.collect.writes += places.count;
    for (u32 i = 0; i < places.count; i++)
        core->collect.banks_written |= bit(places.banks[i]);
}

PART_OF void claim_banks(struct core *core, const struct inflight *inflight,
                         const struct inst_time *time)
{
    core->stats.collect.writes += time->result_count;
    core->collect.banks_written |= collect_banks(core, inflight->slot, time->result_banks);
}

static COLD enum write_back_answer ask_mechanisms(struct core *core, struct inflight *inflight)
{
    enum write_back_answer answer = WRITE_BACK_COMMIT;
    EACH_USE(use, &core->hooks, write_back)
    {
        enum write_back_answer one = use->mechanism->write_back(use->state, core, inflight);
        if (one == WRITE_BACK_HOLD)
            return one;
        if (one == WRITE_BACK_DROP)
            answer = one;
    }
    return answer;
}

static void tell_retired(struct core *core, struct inflight *inflight)
{
    EACH_USE(use, &core->hooks, retired)
    use->mechanism->retired(use->state, core, inflight);
}

/* What a slot's warp waited for may have come. */
PART_OF void settle(struct core *core, struct inflight *inflight, const struct inst_time *time)
{
    struct slot *slot = &core->slots[inflight->slot];
    slot->in_flight--;
    if (!inflight->injected)
        scoreboard_release(core, slot, time);
    if (inflight->memory_wait) {
        if (time->flags & TIME_SCALAR_MEMORY || inflight->dyn.shared)
            slot->scalar_accesses--;
        else
            slot->vector_accesses--;
    }
    if (UNLIKELY(core->issue.branching >> inflight->slot & 1) && time->flags & TIME_BRANCH &&
        !inflight->injected) {
        if (UNLIKELY(core->issue.held >> inflight->slot & 1)) {
            hold_resolved(core, inflight->slot);
        } else {
            core->issue.branching &= ~bit(inflight->slot);
            slot_wake(core, inflight->slot);
            fetch_want(core, inflight->slot);
        }
    }
    slot_written(core, inflight->slot, time);
    if (slot->ended)
        slot_maybe_leave(core, inflight->slot);
}

/* retire_plain plus mechanisms and traces. */
static __attribute__((noinline)) void retire_hooked(struct core *core, struct inflight *inflight)
{
    enum write_back_answer answer = WRITE_BACK_COMMIT;
    if (core_hooked(core, SEAM_RESULT) && !inflight->has_result)
        hooks_result(core, inflight);
    if (core_hooked(core, SEAM_WRITE_BACK)) {
        answer = ask_mechanisms(core, inflight);
        if (answer == WRITE_BACK_HOLD) {
            wheel_add(core, inflight, 1);
            return;
        }
    }
    if (LIKELY(answer == WRITE_BACK_COMMIT)) {
        if (core_hooked(core, SEAM_PLACES))
            claim_places(core, inflight);
        else
            claim_banks(core, inflight, inflight->time);
        dyninst_commit(&inflight->dyn);
    }
    inflight->dropped = answer == WRITE_BACK_DROP;
    inflight_count_work(core, inflight, true);
    if (core_followed(core)) /* before its warp may be gone */
        trace_retired(core, inflight);
    if (core->issue.by_waitcnt)
        waitcnt_settle(core, inflight);
    settle(core, inflight, inflight->time);
    if (core_hooked(core, SEAM_RETIRED))
        tell_retired(core, inflight);
    inflight_give(core, inflight);
}

PART_OF void retire_plain(struct core *core, struct inflight *inflight, bool counts)
{
    const struct inst_time *time = inflight->time;
    claim_banks(core, inflight, time);
    dyninst_commit(&inflight->dyn);
    if (counts)
        waitcnt_settle(core, inflight);
    settle(core, inflight, time);
    inflight_give(core, inflight);
}

static void retire_counted(struct core *core, struct inflight *inflight)
{
    retire_plain(core, inflight, core->issue.by_waitcnt);
}

static __attribute__((noinline)) void retire_specially(struct core *core, struct inflight *inflight)
{
    void (*const retire)(struct core *, struct inflight *) =
        core->detours & DETOUR_SEAMS ? retire_hooked : retire_counted;
    if (UNLIKELY(core->detours & DETOUR_CONTENT))
        core_content_take(core, inflight);
    if (core->issue.by_waitcnt)
        waitcnt_retire(core, inflight, retire);
    else
        retire(core, inflight);
}

void inflight_retire(struct core *core, struct inflight *inflight)
{
    if (UNLIKELY(core->detours))
        retire_specially(core, inflight);
    else
        retire_plain(core, inflight, false);
}

void write_back_tick(struct core *core)
{
    u32 at = core_cycle(core) % WHEEL;
    if (core->wheel.used[at / 64] >> at % 64 & 1) {
        core->units.bus[at] = 0;
        struct inflight_list list = core->wheel.lists[at];
        core->wheel.lists[at].first = NO_INFLIGHT;
        if (!(core->wheel.used[at / 64] &= ~bit(at % 64)))
            core->wheel.words &= ~bit(at / 64);
        for (struct inflight *inflight; (inflight = list_pop(core, &list));)
            inflight_retire(core, inflight);
    }
    lsu_write_back(core);
}
