/*
 * Issuing instructions: see issue.c. In a header, because the tick of the common pipeline has the
 * plain way compiled in.
 */
#ifndef CORE_ISSUE_TICK_H
#define CORE_ISSUE_TICK_H

#include "core/common/issue_parts.h"
#include "core/live.h"
#include "exec/dyninst_execute.h"

/* issue.c: detours. */
/* From operands to the unit, for wait counters, mechanisms and the pipeline's own `enter`. */
void issue_compute_specially(struct core *core, struct inflight *inflight);
/* Sets the next turn of the instruction's scheduler, if issue.interval > 1. */
void issue_take_interval(struct core *core, const struct inflight *inflight, u32 slot);
void issue_tell_control(struct core *core, u32 slot, u32 inst);
/* Whether a mechanism loses the next instruction of a slot. */
enum lose_answer issue_ask_loss(struct core *core, u32 slot, u32 inst);
/* Marks of skipped instructions at the heads of buffers use no issue slot. */
void issue_skip_heads(struct core *core);
/* Issues the head of a slot, or what mechanisms issue instead, and further instructions of its warp
 * in the same cycle. False: nothing. */
bool issue_several(struct core *core, u32 slot, u32 group);

/* Everything that follows from issuing a dynamic instruction, which is filled. `plain`: it is the
 * warp's own, on a core without detours. */
PART_OF void issue_dyninst(struct core *core, struct inflight *inflight, u32 s,
                           const struct inst_time *time, bool plain)
{
    struct slot *slot = &core->slots[s];
    HELD(slot);
    inflight->slot = (u8)s;
    inflight->group = (u8)(core->groups > 1 ? s % core->groups : 0);
    inflight->time = time;
    inflight->pipe = time->pipe;
    inflight->latency = time->latency;
    inflight->interval = time->interval;
    slot->in_flight++;
    if (plain || !inflight->injected) {
        scoreboard_reserve(core, slot, time);
        core->stats.issue.reservations += time->reserves;
    }
    if (time->pipe == PIPE_MEMORY && inflight->dyn.kind == DYNINST_ACCESS) {
        slot->unacted++;
        inflight->memory_wait = time->flags & TIME_SCALAR_MEMORY || inflight->dyn.shared
                                    ? WAITS_AS_SCALAR
                                    : WAITS_AS_VECTOR;
        if (inflight->memory_wait == WAITS_AS_SCALAR)
            slot->scalar_accesses++;
        else
            slot->vector_accesses++;
    }
    if (!plain && core->detours) {
        issue_compute_specially(core, inflight);
    } else {
        if (inflight->dyn.kind == DYNINST_COMPUTE && dyninst_is_unfinished(&inflight->dyn))
            dyninst_compute(&inflight->dyn);
        collect_push(core, inflight);
    }
    if (!plain && core->config.issue->interval > 1)
        issue_take_interval(core, inflight, s);
}

PART_OF void count_issue(struct core *core, const struct dyninst *f, struct slot *slot)
{
    struct inst_profile *profile = &core->profile[f->inst];
    u32 lanes =
        LIKELY(f->lanes == core->all_lanes) ? core->config.core->warp_size : count_lanes(f->lanes);
    profile->issued++;
    slot->issued++;
    profile->threads += lanes;
    core->stats.issue.instructions++;
    core->stats.issue.threads += lanes;
}

/* Takes the head out of a slot's buffer. */
static inline void pop_buffer(struct slot *slot)
{
    slot->skipped >>= 1;
    if (!--slot->buffered)
        return;
    slot->buffer[0] = slot->buffer[1]; /* most buffers hold no more */
    for (u32 i = 1; i < slot->buffered; i++)
        slot->buffer[i] = slot->buffer[i + 1];
}

/* The warp has advanced to `next`: updates its position, its buffer and its block. */
PART_OF void step(struct core *core, u32 s, u32 inst, const struct inst_time *time, u32 next,
                  bool plain)
{
    struct slot *slot = &core->slots[s];
    HELD(slot);
    slot->at = next;
    pop_buffer(slot);
    u32 expected = slot->buffered ? slot->buffer[0] : slot->fetch_at;
    if (slot->at != expected && slot->at != NO_INST && /* a waiting warp may yet go straight on */
        !(UNLIKELY(slot->derailed) && live_follow(core, s, inst, expected)))
        core->issue.redirected |= bit(s);
    if (time->flags & TIME_BRANCH && core->config.issue->branch_resolve == 1)
        core->issue.branching |= bit(s);
    core->issue.clear &= ~bit(s); /* its next instruction becomes ready now at the earliest */
    slot_sort(core, s, slot);
    if (!plain && UNLIKELY(core->issue.crowded) && core->issue.clear & bit(s))
        slot_prefetch(core, slot);
    /* otherwise it did not want any before either */
    if (slot->buffered <= slot->limit && !slot->decoding)
        fetch_want_more(core, s);
    if (time->flags & (TIME_BRANCH | TIME_BARRIER)) {
        block_update(core, s);
        if (core_hooked(core, SEAM_CONTROL))
            issue_tell_control(core, s, inst);
    } else if (!plain && UNLIKELY(slot->at == NO_INST) && slot->warp->reformed) {
        issue_tell_control(core, s, inst); /* it has reached its end */
    }
}

/* Issues the head of a slot. False: no record is free. */
PART_OF bool issue_next(struct core *core, u32 s, bool plain)
{
    struct slot *slot = &core->slots[s];
    const struct inst_time *time = slot->time;
    const u32 inst = slot->at;
    struct inflight *inflight = inflight_take(core);
    if (!inflight)
        return false;
    if (plain || !core->detours) /* the scoreboard guards the results */
        dyninst_execute(&inflight->dyn, slot->warp, inst);
    else if (core->detours & DETOUR_OPERANDS)
        dyninst_issue(&inflight->dyn, slot->warp, inst);
    else
        dyninst_start(&inflight->dyn, slot->warp, inst);
    if (UNLIKELY(core->exec->stopped)) {
        core_count_issue(core, &inflight->dyn, s);
        core->stopped = true;
        inflight_give(core, inflight);
        return true;
    }
    count_issue(core, &inflight->dyn, slot);
    issue_dyninst(core, inflight, s, time, plain);
    step(core, s, inst, time,
         LIKELY(inflight->dyn.committed) ? warp_next_straight(slot->warp) : warp_next(slot->warp),
         plain);
    return true;
}

/* A scheduler's turn. `plain`: the core has no detours, and a turn is one instruction and one
 * cycle. */
PART_OF void take_turn(struct core *core, u32 scheduler, bool plain)
{
    const bool hooked = !plain && core->hooks.seams;
    end_idle_of_all(core, scheduler);
    if (hooked && core_hooked(core, SEAM_INSERT) && issue_ask_insert(core, scheduler)) {
        core->stats.issue.slots++;
        core->stats.issue.issued++;
        return;
    }
    u64 held = 0;
    u64 ready = plain ? ready_among(core, scheduler, able_slots(core)) /* nothing is skipped */
                      : ready_slots(core, scheduler);
    if (hooked && ready && core_hooked(core, SEAM_PICK))
        issue_ask_pick(core, scheduler, &ready, &held);
    const u32 s = ready ? pick(core, scheduler, ready) : CORE_WARPS;
    bool issued = false;
    if (s != CORE_WARPS)
        issued =
            plain ? issue_next(core, s, true) : issue_several(core, s, group_of(core, scheduler));
    if (!issued) {
        rest(core, scheduler, ready, reason_with(core, scheduler, held, 0));
        return;
    }
    core->stats.issue.slots++;
    core->stats.issue.issued++;
    core->issue.schedulers[scheduler].last = s;
}

PART_OF void run_scheduler(struct core *core, u32 scheduler, bool plain)
{
    if (core->issue.asleep >> scheduler & 1)
        return;
    if (!plain && core->issue.schedulers[scheduler].free > core_cycle(core))
        issue_wait_turn(core, scheduler);
    else
        take_turn(core, scheduler, plain);
}

PART_OF void prepare(struct core *core)
{
    for (u64 set = core->issue.redirected & ~core->issue.branching; set; set &= set - 1) {
        u32 s = first_bit(set);
        if (core->slots[s].at != NO_INST)
            fetch_redirect(core, s);
    }
    if (UNLIKELY(core->issue.skipping))
        issue_skip_heads(core);
}

PART_OF void run_schedulers(struct core *core, bool plain)
{
    const u32 n = core->config.issue->schedulers;
    const u32 first = is_pow2(n) ? core->issue.rounds & (n - 1) : (u32)(core->issue.rounds % n);
    prepare(core);
    u32 scheduler = first;
    do {
        run_scheduler(core, scheduler, plain);
        scheduler = scheduler + 1 == n ? 0 : scheduler + 1;
    } while (scheduler != first && !core->stopped);
    for (; scheduler != first; scheduler = scheduler + 1 == n ? 0 : scheduler + 1)
        core->issue.idle[scheduler].since++; /* the launch stopped before their turn */
}

/* Compiled twice: the plain way is that of the common pipeline, others have DETOUR_PIPELINE. */
PART_OF void issue_tick(struct core *core)
{
    core->stats.issue.cycles += core->present != 0;
    if (core->issue.asleep != core->issue.all || core->issue.redirected | core->issue.skipping) {
        if (LIKELY(core->issue.one_each && !core->detours))
            run_schedulers(core, true);
        else
            core->pipeline->issue(core);
    }
    core->issue.rounds++;
}

#endif
