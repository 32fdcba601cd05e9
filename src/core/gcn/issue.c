/*
 * Schedulers in turn: one a cycle, which issues several instructions at once (issue.turns=one).
 *
 * Each scheduler has warps and a vector unit of its own; the scalar unit and the branch unit are
 * the core's. In cycle c it is the turn of scheduler c mod schedulers: it gives on up to
 * issue.kinds instructions, each of another kind and each of another warp, in the order of its
 * policy. What is internal to a warp (waits, barriers, no-operations, ends) is done in the warp's
 * buffer: it needs no unit, does not count among the kinds, and any number of warps may do it in
 * one turn. AMD's whitepaper on Graphics Cores Next and its talk at Hot Chips 24 describe it so.
 *
 * An instruction enters its unit in the cycle in which it issues, and the unit reads the operands
 * in its own passes: there are neither collectors nor conflicts of banks, and a result is there
 * `latency` cycles after its instruction has issued. Accesses go on through a collector to the
 * load/store unit, which all kinds of them share, as elsewhere.
 *
 * Invariants
 *  T1  A turn is one issue slot, whatever it issues: slots = cycles.
 *  T2  A unit takes an instruction each `interval`; a scheduler with one that waits for a unit does
 *      not fall asleep, since a unit becomes free without telling.
 *
 * Deviations: exports and accesses to global data share, a sixth kind of the hardware, are not
 * modelled. Messages and accesses of scalars take the places of their kinds.
 */
#include "core/common/issue_parts.h"

/* The units of a kind: those of schedulers, or of the core. */
static inline u64 *unit_free(struct core *core, enum turn_kind kind, u32 scheduler)
{
    return &core->kind_free[kind][kind == TURN_VECTOR ? scheduler : 0];
}

u64 gcn_busy(const struct core *core, u32 scheduler)
{
    const u64 now = core_cycle(core);
    u32 kinds = 0;
    u64 set = 0;
    for (enum turn_kind kind = TURN_VECTOR; kind <= TURN_BRANCH; kind++)
        kinds |= (u32)(core->kind_free[kind][kind == TURN_VECTOR ? scheduler : 0] > now) << kind;
    if (LIKELY(!kinds))
        return 0;
    for (u64 able = core->schedulers[scheduler].slots & able_slots(core); able; able &= able - 1) {
        const struct inst_time *time = core->slots[first_bit(able)].time;
        if (kinds >> time->kind & 1 && time->pipe != PIPE_MEMORY)
            set |= able & -able;
    }
    return set;
}

void gcn_enter(struct core *core, struct inflight *inflight)
{
    const u64 now = core_cycle(core);
    collect_count(core, inflight);
    if (inflight->time->kind == TURN_INTERNAL) {
        wheel_add(core, inflight, 1);
        return;
    }
    u64 *const free_at = unit_free(core, inflight->time->kind, inflight->group);
    const u64 begin = MAX(now, *free_at); /* mechanisms do not ask whether it is free */
    *free_at = begin + inflight->interval;
    inflight->unit = 0;
    execute_count(core, inflight);
    wheel_add(core, inflight, begin - now + inflight->extra + inflight->latency);
}

/* Issues from a set of warps; false: nothing. */
static bool issue_kinds(struct core *core, u32 scheduler, u64 open)
{
    u32 kinds = 0; /* bits */
    u64 done = 0;  /* warps */
    bool any = false;
    while (open && !core->stopped) {
        const u32 s = any ? schedule_pick(core, scheduler, open) : pick(core, scheduler, open);
        if (s == CORE_WARPS)
            break;
        const u32 kind = core->slots[s].time->kind;
        done |= bit(s);
        if (issue_slot(core, s)) {
            if (!any || !core->greedy)
                core->schedulers[scheduler].last = s;
            any = true;
            if (kind != TURN_INTERNAL)
                kinds |= 1u << kind;
        }
        open &= able_slots(core) & ~done & ~core->skipping;
        if (open)
            open &= ~(without_room(core, group_of(core, scheduler)) | gcn_busy(core, scheduler));
        for (u64 set = open; set; set &= set - 1) {
            const u32 other = core->slots[first_bit(set)].time->kind;
            if (kinds >> other & 1 || (other != TURN_INTERNAL &&
                                       (u32)__builtin_popcount(kinds) == core->config.issue->kinds))
                open &= ~(set & -set);
        }
    }
    return any;
}

void gcn_issue(struct core *core, u32 first)
{
    const u32 scheduler = (u32)(core_cycle(core) % core->config.issue->schedulers);
    (void)first; /* that is for schedulers which act together */
    issue_prepare(core);
    if (core->asleep >> scheduler & 1)
        return;
    if (UNLIKELY(core->schedulers[scheduler].free > core_cycle(core))) {
        issue_wait_turn(core, scheduler);
        return;
    }
    end_idle(core, scheduler, true);
    const u64 busy = gcn_busy(core, scheduler);
    u64 held = 0, ready = ready_slots(core, scheduler) & ~busy;
    bool issued = core_hooked(core, SEAM_INSERT) && issue_ask_insert(core, scheduler);
    if (!issued) {
        if (ready && core_hooked(core, SEAM_PICK))
            issue_ask_pick(core, scheduler, &ready, &held);
        issued = ready && issue_kinds(core, scheduler, ready);
    }
    if (!issued) {
        rest(core, scheduler, ready | busy, reason_with(core, scheduler, held, busy));
        return;
    }
    core->stats.issue.slots++;
    core->stats.issue.issued++;
}
