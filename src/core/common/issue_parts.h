/*
 * Code shared by common/issue.c and gcn/issue.c: which warps of a scheduler can issue, and why
 * nothing was issued.
 */
#ifndef CORE_ISSUE_PARTS_H
#define CORE_ISSUE_PARTS_H

#include "core/common/slots.h"

/* issue.c. Issues the head of a slot, or what mechanisms issue instead. False: nothing issued. */
bool issue_slot(struct core *core, u32 slot);
/* Removes slots that mechanisms exclude from `ready`, and prefers those that they prefer. */
void issue_ask_pick(struct core *core, u32 scheduler, u64 *ready, u64 *held);
/* Whether a mechanism has used the scheduler's turn. */
bool issue_ask_insert(struct core *core, u32 scheduler);
/* The scheduler's last instruction takes more than a cycle to issue: notes why the scheduler is
 * idle. */
void issue_wait_turn(struct core *core, u32 scheduler);
/* Before the turns: redirects warps that went elsewhere and handles skipped instructions. */
void issue_prepare(struct core *core);

static inline u32 group_of(const struct core *core, u32 scheduler)
{
    return core->groups > 1 ? scheduler : 0;
}

/* Slots whose head finds no room after issue. */
static inline u64 without_room(const struct core *core, u32 group)
{
    u64 set = 0;
    for (u32 full = core->collect.full_pipes[group]; full; full &= full - 1)
        set |= core->issue.heads[first_bit(full)];
    return set;
}

struct reason {
    enum stall stall;
    u32 slot; /* one to which the reason applies, or CORE_WARPS */
};

/* Warps whose next instruction could issue if there were room for it. */
static inline u64 able_slots(const struct core *core)
{
    return core->issue.clear & ~core->issue.branching; /* K8 */
}

/* Why a scheduler cannot issue. `held`: slots that mechanisms exclude; `busy`: slots with a busy
 * unit. */
PART_OF struct reason reason_with(const struct core *core, u32 scheduler, u64 held, u64 busy)
{
    const u64 mine = core->issue.schedulers[scheduler].slots & core->present;
    const u64 live = mine & ~core->ended;
    const u64 able = live & able_slots(core);
    u64 set;
#define TRY(stall, slots)         \
    if ((set = (slots)))          \
        return (struct reason)    \
        {                         \
            stall, first_bit(set) \
        }
    if (able | held) {
        TRY(STALL_UNIT, able & ~held & (busy | without_room(core, group_of(core, scheduler))));
        TRY(STALL_HELD, held | (able & core->issue.skipping));
        TRY(STALL_COLLECTOR, able);
    }
    TRY(STALL_MEMORY, live & core->issue.blocked[STALL_MEMORY]);
    TRY(STALL_RAW, live & core->issue.blocked[STALL_RAW]);
    TRY(STALL_WAW, live & core->issue.blocked[STALL_WAW]);
    TRY(STALL_WAIT, live & core->issue.blocked[STALL_WAIT]);
    TRY(STALL_BRANCH, live & core->issue.branching & ~core->issue.held);
    TRY(STALL_HELD, live & core->issue.held);
    TRY(STALL_BARRIER, live & core->issue.waiting);
    TRY(STALL_FETCH, live & ~core->issue.buffered);
    TRY(STALL_MEMORY, mine & core->ended);
#undef TRY
    return (struct reason){STALL_EMPTY, CORE_WARPS};
}

/* From this cycle on the scheduler is idle, until its next turn. */
static inline void note_idle(struct core *core, u32 scheduler, struct reason reason)
{
    u32 inst = NO_INST;
    if (LIKELY(reason.slot != CORE_WARPS)) {
        inst = core->slots[reason.slot].at;
        if (UNLIKELY(inst == NO_INST))
            inst = core_stands(core, reason.slot);
    }
    core->issue.idle[scheduler].since = core_cycle(core);
    core->issue.idle[scheduler].inst = inst;
    core->issue.idle[scheduler].stall = (u8)reason.stall;
    core->issue.idle_set |= 1u << scheduler;
}

/* The counter of a reason for an idle slot. */
static inline u64 *idle_counter(struct issue_stats *stats, enum stall stall)
{
#define COUNTER(reason) offsetof(struct issue_stats, idle_##reason)
    static const u16 at[STALLS] = {
        [STALL_EMPTY] = COUNTER(empty),   [STALL_FETCH] = COUNTER(fetch),
        [STALL_BRANCH] = COUNTER(branch), [STALL_BARRIER] = COUNTER(barrier),
        [STALL_RAW] = COUNTER(raw),       [STALL_WAW] = COUNTER(waw),
        [STALL_MEMORY] = COUNTER(memory), [STALL_WAIT] = COUNTER(wait),
        [STALL_UNIT] = COUNTER(unit),     [STALL_COLLECTOR] = COUNTER(collector),
        [STALL_HELD] = COUNTER(held),
    };
#undef COUNTER
    return (u64 *)((u8 *)stats + at[stall]);
}

/* Charges idle turns of a scheduler. */
static inline void charge_idle(struct core *core, u32 scheduler, u64 turns)
{
    const u32 inst = core->issue.idle[scheduler].inst, stall = core->issue.idle[scheduler].stall;
    *idle_counter(&core->stats.issue, stall) += turns;
    core->stats.issue.slots += turns;
    if (inst != NO_INST)
        core->profile[inst].stalls[stall] += turns;
}

/* The scheduler's idle issue slots before this cycle. */
static inline u64 idle_slots(const struct core *core, u32 scheduler)
{
    return core->pipeline->slots(core, scheduler, core->issue.idle[scheduler].since,
                                 core_cycle(core));
}

/* Ends a scheduler's idle time and charges it. */
static inline void end_idle(struct core *core, u32 scheduler)
{
    if (core->issue.idle_set >> scheduler & 1) {
        charge_idle(core, scheduler, idle_slots(core, scheduler));
        core->issue.idle_set &= ~(1u << scheduler);
    }
}

/* end_idle for pipelines in which every scheduler has an issue slot in every cycle. */
PART_OF void end_idle_of_all(struct core *core, u32 scheduler)
{
    if (core->issue.idle_set >> scheduler & 1) {
        charge_idle(core, scheduler, core_cycle(core) - core->issue.idle[scheduler].since);
        core->issue.idle_set &= ~(1u << scheduler);
    }
}

/* The scheduler's slots among `able`, slots whose heads may issue if they find room. */
PART_OF u64 ready_among(const struct core *core, u32 scheduler, u64 able)
{
    const u64 ready = core->issue.schedulers[scheduler].slots & able;
    return ready ? ready & ~without_room(core, group_of(core, scheduler)) : 0;
}

PART_OF u64 ready_slots(const struct core *core, u32 scheduler)
{
    return ready_among(core, scheduler, able_slots(core) & ~core->issue.skipping);
}

/* Greedy policies mostly stay with the same warp. */
PART_OF u32 pick(struct core *core, u32 scheduler, u64 ready)
{
    const u32 last = core->issue.schedulers[scheduler].last;
    if (core->issue.greedy && last < CORE_WARPS && ready >> last & 1)
        return last;
    return LIKELY(core->issue.oldest_next) ? schedule_oldest(core, ready)
                                           : schedule_pick(core, scheduler, ready);
}

/* The scheduler has issued nothing. If no warp could issue, it sleeps until something changes. */
PART_OF void rest(struct core *core, u32 scheduler, u64 ready, struct reason reason)
{
    note_idle(core, scheduler, reason);
    if (LIKELY(core->issue.sleeps))
        core->issue.asleep |= (u32)!ready << scheduler;
    else
        schedule_pass(core, scheduler, 1);
}

#endif
