/*
 * What issue.c and gcn/issue.c share: which warps of a scheduler may issue, and why nothing was
 * issued.
 */
#ifndef CORE_ISSUE_PARTS_H
#define CORE_ISSUE_PARTS_H

#include "core/common/slots.h"

/* issue.c. The head of a slot, or what mechanisms issue in its place. False: neither. */
bool issue_slot(struct core *core, u32 slot);
/* Mechanisms take some of the ready slots away. */
void issue_ask_pick(struct core *core, u32 scheduler, u64 *ready, u64 *held);
/* Whether a mechanism has used the scheduler's turn. */
bool issue_ask_insert(struct core *core, u32 scheduler);
/* Its last instruction takes more than a cycle to issue: the reason, if another could. */
void issue_wait_turn(struct core *core, u32 scheduler);
/* Buffers are put right before turns are taken: warps that went elsewhere, skipped instructions. */
void issue_prepare(struct core *core);

static inline u32 group_of(const struct core *core, u32 scheduler)
{
    return core->groups > 1 ? scheduler : 0;
}

/* Slots whose head finds no room behind issue. */
static inline u64 without_room(const struct core *core, u32 group)
{
    u64 set = 0;
    for (u32 full = core->full_pipes[group]; full; full &= full - 1)
        set |= core->heads[first_bit(full)];
    return set;
}

struct reason {
    enum stall stall;
    u32 slot; /* one that it holds for, or CORE_WARPS */
};

/* Warps whose next instruction could issue, if there were room for it. */
static inline u64 able_slots(const struct core *core)
{
    return core->clear & ~core->branching; /* K8 */
}

/* `busy`: slots whose unit is. */
PART_OF struct reason reason_with(const struct core *core, u32 scheduler, u64 held, u64 busy)
{
    const u64 mine = core->schedulers[scheduler].slots & core->present;
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
        TRY(STALL_HELD, held | (able & core->skipping));
        TRY(STALL_COLLECTOR, able);
    }
    TRY(STALL_MEMORY, live & core->blocked[STALL_MEMORY]);
    TRY(STALL_RAW, live & core->blocked[STALL_RAW]);
    TRY(STALL_WAW, live & core->blocked[STALL_WAW]);
    TRY(STALL_WAIT, live & core->blocked[STALL_WAIT]);
    TRY(STALL_BRANCH, live & core->branching & ~core->held);
    TRY(STALL_HELD, live & core->held);
    TRY(STALL_BARRIER, live & core->waiting);
    TRY(STALL_FETCH, live & ~core->buffered);
    TRY(STALL_MEMORY, mine & core->ended);
#undef TRY
    return (struct reason){STALL_EMPTY, CORE_WARPS};
}

/* From this cycle on it is idle, until it takes a turn again. */
static inline void note_idle(struct core *core, u32 scheduler, struct reason reason)
{
    u32 inst = NO_INST;
    if (LIKELY(reason.slot != CORE_WARPS)) {
        inst = core->slots[reason.slot].at;
        if (UNLIKELY(inst == NO_INST))
            inst = core_stands(core, reason.slot);
    }
    core->idle[scheduler].since = core_cycle(core);
    core->idle[scheduler].inst = inst;
    core->idle[scheduler].stall = (u8)reason.stall;
    core->idle_set |= 1u << scheduler;
}

/* Charges turns in which it was idle. */
static inline void charge_idle(struct core *core, u32 scheduler, u64 turns)
{
    const u32 inst = core->idle[scheduler].inst, stall = core->idle[scheduler].stall;
    (&core->stats.issue.idle_empty)[stall - STALL_EMPTY] += turns;
    core->stats.issue.slots += turns;
    if (inst != NO_INST)
        core->profile[inst].stalls[stall] += turns;
}

/* The turns before this cycle that it was idle in. */
PART_OF u64 idle_turns(const struct core *core, u32 scheduler, bool in_turn)
{
    const u64 since = core->idle[scheduler].since, now = core_cycle(core);
    return in_turn ? gcn_turns_between(core, scheduler, since, now) : now - since;
}

/* Ends what it is idle for. */
PART_OF void end_idle(struct core *core, u32 scheduler, bool in_turn)
{
    if (core->idle_set >> scheduler & 1) {
        charge_idle(core, scheduler, idle_turns(core, scheduler, in_turn));
        core->idle_set &= ~(1u << scheduler);
    }
}

PART_OF u64 ready_slots(const struct core *core, u32 scheduler)
{
    u64 ready = core->schedulers[scheduler].slots & able_slots(core) & ~core->skipping;
    return ready ? ready & ~without_room(core, group_of(core, scheduler)) : 0;
}

/* Greedy policies mostly stay with a warp. */
PART_OF u32 pick(struct core *core, u32 scheduler, u64 ready)
{
    const u32 last = core->schedulers[scheduler].last;
    if (core->greedy && last < CORE_WARPS && ready >> last & 1)
        return last;
    return schedule_pick(core, scheduler, ready);
}

/* It has issued nothing. If it could not, it need not look again until something changes. */
PART_OF void rest(struct core *core, u32 scheduler, u64 ready, struct reason reason)
{
    note_idle(core, scheduler, reason);
    if (LIKELY(core->sleeps))
        core->asleep |= (u32)!ready << scheduler;
    else
        schedule_pass(core, scheduler, 1);
}

#endif
