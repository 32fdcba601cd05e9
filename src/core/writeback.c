/*
 * Write-back: results that are due in this cycle go to the registers, and what waited for them may
 * issue in the same cycle.
 *
 * Results of units always find their bank (the bus was reserved when they started); a bank that is
 * written serves no read in the cycle. Results of loads come through the load/store unit's port.
 */
#include "core/core.h"

/* Where mechanisms say that the results go. */
static __attribute__((noinline)) void claim_places(struct core *core, const struct task *task)
{
    const struct inst *code = task->flight.code;
    struct places places = {0};
    for (u32 k = 0; k < ARRAY_LEN(code->dst); k++)
        for (u32 r = 0; code->dst[k].kind == OPERAND_VECTOR && r < code->dst[k].count; r++) {
            u32 reg = code->dst[k].index + r;
            places.regs[places.count] = (u16)reg;
            places.banks[places.count++] = (u8)collect_bank(core, task->slot, task->group, reg);
        }
    EACH_USE(use, &core->hooks, places)
    use->mechanism->places(use->state, core, task, true, &places);
    core->stats.collect.writes += places.count;
    for (u32 i = 0; i < places.count; i++)
        core->banks_written |= bit(places.banks[i]);
}

PART_OF void claim_banks(struct core *core, const struct task *task, const struct inst_time *time)
{
    core->stats.collect.writes += time->result_count;
    core->banks_written |= collect_banks(core, task->slot, time->result_banks);
}

static COLD enum write_back_answer ask_mechanisms(struct core *core, struct task *task)
{
    enum write_back_answer answer = WRITE_BACK_COMMIT;
    EACH_USE(use, &core->hooks, write_back)
    {
        enum write_back_answer one = use->mechanism->write_back(use->state, core, task);
        if (one == WRITE_BACK_HOLD)
            return one;
        if (one == WRITE_BACK_DROP)
            answer = one;
    }
    return answer;
}

static void tell_retired(struct core *core, struct task *task)
{
    EACH_USE(use, &core->hooks, retired)
    use->mechanism->retired(use->state, core, task);
}

/* What a slot's warp waited for may have come. */
PART_OF void settle(struct core *core, struct task *task, const struct inst_time *time)
{
    struct slot *slot = &core->slots[task->slot];
    slot->in_flight--;
    if (!task->extra_task)
        scoreboard_release(core, slot, time);
    if (task->memory_wait) {
        if (time->flags & TIME_SCALAR_MEMORY || task->flight.shared)
            slot->scalar_accesses--;
        else
            slot->vector_accesses--;
    }
    if (UNLIKELY(core->branching >> task->slot & 1) && time->flags & TIME_BRANCH &&
        !task->extra_task) {
        if (UNLIKELY(core->held >> task->slot & 1)) {
            hold_resolved(core, task->slot);
        } else {
            core->branching &= ~bit(task->slot);
            slot_wake(core, task->slot);
            fetch_want(core, task->slot);
        }
    }
    slot_written(core, task->slot, time);
    if (slot->ended)
        slot_maybe_leave(core, task->slot);
}

/* The same with mechanisms. */
static __attribute__((noinline)) void retire_hooked(struct core *core, struct task *task)
{
    enum write_back_answer answer = WRITE_BACK_COMMIT;
    if (core_hooked(core, SEAM_RESULT) && !task->has_result)
        hooks_result(core, task);
    if (core_hooked(core, SEAM_WRITE_BACK)) {
        answer = ask_mechanisms(core, task);
        if (answer == WRITE_BACK_HOLD) {
            wheel_add(core, task, 1);
            return;
        }
    }
    if (LIKELY(answer == WRITE_BACK_COMMIT)) {
        if (core_hooked(core, SEAM_PLACES))
            claim_places(core, task);
        else
            claim_banks(core, task, task->time);
        flight_commit(&task->flight);
    }
    task->dropped = answer == WRITE_BACK_DROP;
    task_count_work(core, task, true);
    if (core_hooked(core, SEAM_STEPS)) /* before its warp may be gone */
        observe_retired(core, task);
    if (core->counts)
        counters_settle(core, task);
    settle(core, task, task->time);
    if (core_hooked(core, SEAM_RETIRED))
        tell_retired(core, task);
    task_give(core, task);
}

PART_OF void retire_plain(struct core *core, struct task *task, bool counts)
{
    const struct inst_time *time = task->time;
    claim_banks(core, task, time);
    flight_commit(&task->flight);
    if (counts)
        counters_settle(core, task);
    settle(core, task, time);
    task_give(core, task);
}

static void retire_counted(struct core *core, struct task *task)
{
    retire_plain(core, task, core->counts);
}

static __attribute__((noinline)) void retire_specially(struct core *core, struct task *task)
{
    void (*const retire)(struct core *, struct task *) =
        core->hooks.seams & ~SEAMS_OWN ? retire_hooked : retire_counted;
    if (core->counts)
        counters_retire(core, task, retire);
    else
        retire(core, task);
}

void task_retire(struct core *core, struct task *task)
{
    if (UNLIKELY(core->hooks.seams)) /* one test for four seams, and more */
        retire_specially(core, task);
    else
        retire_plain(core, task, false);
}

void write_back_tick(struct core *core)
{
    u32 at = core_cycle(core) % WHEEL;
    if (core->wheel_used[at / 64] >> at % 64 & 1) {
        core->bus[at] = 0;
        struct task_list list = core->wheel[at];
        core->wheel[at].first = NO_TASK;
        if (!(core->wheel_used[at / 64] &= ~bit(at % 64)))
            core->wheel_words &= ~bit(at / 64);
        for (struct task *task; (task = list_pop(core, &list));)
            task_retire(core, task);
    }
    lsu_write_back(core);
}
