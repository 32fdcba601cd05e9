/*
 * Warps that mechanisms hold back, and marks of instructions that are skipped after fetch.
 *
 * Invariants
 *  B1  Held slots are in `branching`, too, which prevents issue at no cost. Held slots with an
 *      unresolved branch are also in `held_branching`: if they are released first they wait for the
 *      branch, and if the branch is resolved first they stay held.
 *  B2  A held slot whose warp was redirected drops its buffer as soon as the target is known, so
 *      that a core with only held slots is quiet.
 */
#include "core/common/common.h"

/* Drops the slot's buffer if its warp was redirected and the target is known. */
static void redirect(struct core *core, u32 s)
{
    if (core->issue.redirected & ~core->issue.held_branching & bit(s) &&
        core->slots[s].at != NO_INST)
        fetch_redirect(core, s);
}

static void bar(struct core *core, u64 slots, enum barred why)
{
    for (u64 set = slots; set; set &= set - 1)
        core->slots[first_bit(set)].barred |= (u8)why;
    core->fetch.wanting &= ~slots;
}

static void unbar(struct core *core, u64 slots, enum barred why)
{
    core->quiet_until = 0; /* this may be called between windows */
    for (u64 set = slots; set; set &= set - 1) {
        const u32 s = first_bit(set);
        core->slots[s].barred &= (u8)~why;
        if (core->slots[s].warp)
            fetch_want(core, s);
    }
}

void core_hold(struct core *core, u64 slots)
{
    slots &= core->present & ~core->ended & ~core->issue.held;
    core->issue.held |= slots;
    core->issue.held_branching |= core->issue.branching & slots;
    core->issue.branching |= slots;
    bar(core, slots, BARRED_HELD);
    for (u64 set = slots; set; set &= set - 1) {
        slot_wake(core, first_bit(set));
        redirect(core, first_bit(set));
    }
}

void core_release(struct core *core, u64 slots)
{
    slots &= core->issue.held;
    core->issue.held &= ~slots;
    core->issue.branching &= ~(slots & ~core->issue.held_branching);
    core->issue.held_branching &= ~slots;
    unbar(core, slots, BARRED_HELD);
    for (u64 set = slots; set; set &= set - 1)
        slot_wake(core, first_bit(set));
}

void core_hold_fetch(struct core *core, u64 slots)
{
    bar(core, slots & core->present & ~core->ended, BARRED_FETCH);
}

void core_release_fetch(struct core *core, u64 slots)
{
    unbar(core, slots & core->present & ~core->ended, BARRED_FETCH);
}

void hold_resolved(struct core *core, u32 s)
{
    core->issue.held_branching &= ~bit(s);
    redirect(core, s);
}

void core_mark(struct core *core, u32 s, u32 at)
{
    struct slot *slot = &core->slots[s];
    assert(at < slot->buffered && !(slot->skipped >> at & 1));
    slot->skipped |= 1u << at;
    slot->limit++;
    core->stats.fetch.flushed++;
    if (at || !(core->issue.buffered & bit(s))) /* just arrived: deliver() updates the slot */
        return;
    core->issue.clear &= ~bit(s);
    slot_update(core, s);
}

bool hold_stuck(struct core *core)
{
    if (!core->present || core->inflight.count || core->issue.serial ||
        port_next(core->config.replies) != FS_NEVER)
        return false;
    for (u64 set = core->present; set; set &= set - 1) {
        const struct slot *slot = &core->slots[first_bit(set)];
        if (slot->barred & BARRED_MISSING || slot->stores)
            return false;
    }
    return hooks_stuck(core);
}
