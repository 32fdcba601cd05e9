/*
 * Which ready warp of a scheduler issues:
 *
 *  lrr        the next ready warp after the one that issued last
 *  rr         strictly in turn: the warp after the last one, ready or not
 *  gto        the last one as long as it is ready, else the oldest
 *  oldest     the oldest
 *  two_level  round robin within an active group; when no warp of the group is ready, ready warps
 *             form a new group, the oldest first
 *  fair       the one that has issued least; among equals the oldest
 *  frfs       the one whose next instruction has been ready longest; among equals the oldest
 *  groups     groups are neighbours in the order of the scheduler's warps and never change: the
 *             next ready warp in the group of the one that issued last, else the next ready warp.
 *             These are the fetch groups of Narasiman et al., "Improving GPU performance via large
 *             warps and two-level warp scheduling", MICRO 2011
 *
 * Age is the order in which warps started on the core.
 */
#include "core/common/common.h"

enum policy {
    POLICY_LRR,
    POLICY_RR,
    POLICY_GTO,
    POLICY_OLDEST,
    POLICY_TWO_LEVEL,
    POLICY_FAIR,
    POLICY_FRFS,
    POLICY_GROUPS
};

/* The first member at or after `from`, wrapping around. */
static u32 next_from(u64 set, u32 from)
{
    u64 above = from < CORE_WARPS ? set & ~(bit(from) - 1) : 0;
    return first_bit(above ? above : set);
}

static u32 least(const struct core *core, u64 set, u64 (*key)(const struct slot *slot))
{
    u32 best = first_bit(set);
    for (u64 rest = set & (set - 1); rest; rest &= rest - 1) {
        const struct slot *a = &core->slots[first_bit(rest)], *b = &core->slots[best];
        u64 x = key(a), y = key(b);
        if (x < y || (x == y && a->age < b->age))
            best = first_bit(rest);
    }
    return best;
}

static u64 by_age(const struct slot *slot)
{
    return slot->age;
}
static u32 oldest(const struct core *core, u64 set)
{
    return UNLIKELY(core->config.live) ? least(core, set, by_age) : schedule_oldest(core, set);
}

static u64 by_issued(const struct slot *slot)
{
    return slot->issued;
}
static u64 by_ready(const struct slot *slot)
{
    return slot->ready_since;
}

/* The group of a slot among the warps of its scheduler; no slot: empty. */
static u64 neighbours(const struct core *core, u32 scheduler, u32 slot)
{
    const u32 n = core->config.issue->schedulers, span = core->config.issue->group_size * n;
    if (slot >= CORE_WARPS)
        return 0;
    const u32 first = slot / span * span;
    const u64 all = span < CORE_WARPS ? (bit(span) - 1) << first : ~0ull;
    return all & core->issue.schedulers[scheduler].slots;
}

/* Forms a new active group of ready warps, the oldest first. */
static u64 regroup(struct core *core, u32 scheduler, u64 ready)
{
    u64 group = 0;
    for (u32 n = 0; n < core->config.issue->group_size && ready; n++) {
        u32 slot = oldest(core, ready);
        group |= bit(slot);
        ready &= ~bit(slot);
    }
    return core->issue.schedulers[scheduler].group = group;
}

bool schedule_is_greedy(const struct core *core)
{
    return core->config.issue->policy == POLICY_GTO;
}

bool schedule_passes(const struct core *core)
{
    return core->config.issue->policy == POLICY_RR;
}

/* With policy rr, the turn passes on although nothing was issued. */
void schedule_pass(struct core *core, u32 scheduler, u64 cycles)
{
    u64 all = core->issue.schedulers[scheduler].slots & core->present & ~core->ended;
    if (core->config.issue->policy != POLICY_RR || !all)
        return;
    for (u64 n = cycles % (u32)__builtin_popcountll(all); n; n--)
        core->issue.schedulers[scheduler].last =
            next_from(all, core->issue.schedulers[scheduler].last + 1);
}

u32 schedule_pick(struct core *core, u32 scheduler, u64 ready)
{
    const u32 last = core->issue.schedulers[scheduler].last;
    switch (core->config.issue->policy) {
    case POLICY_LRR:
        return next_from(ready, last + 1);
    case POLICY_RR: {
        u64 all = core->issue.schedulers[scheduler].slots & core->present & ~core->ended;
        u32 turn = all ? next_from(all, last + 1) : CORE_WARPS;
        return turn < CORE_WARPS && ready >> turn & 1 ? turn : CORE_WARPS;
    }
    case POLICY_GTO:
        if (last < CORE_WARPS && ready >> last & 1)
            return last;
        return oldest(core, ready);
    case POLICY_OLDEST:
        return oldest(core, ready);
    case POLICY_TWO_LEVEL: {
        u64 group = ready & core->issue.schedulers[scheduler].group;
        return next_from(group ? group : regroup(core, scheduler, ready), last + 1);
    }
    case POLICY_FAIR:
        return least(core, ready, by_issued);
    case POLICY_GROUPS: {
        u64 group = ready & neighbours(core, scheduler, last);
        return next_from(group ? group : ready, last + 1);
    }
    default:
        return least(core, ready, by_ready);
    }
}
