/*
 * Which warps may issue: checks the head of a warp's buffer against its scoreboard, fences, wait
 * counters and limits. See slots.h.
 */
#include "core/common/slots.h"
#include "ir/waits.h"

/* Waits for instructions in flight: barriers, fences and wait counters. */
static enum stall check_waits(const struct core *core, u32 s, const struct inst_time *time)
{
    const struct slot *slot = &core->slots[s];
    const u32 accesses = slot->vector_accesses + slot->scalar_accesses;
    if (time->flags & TIME_BLOCK_BARRIER && slot->unacted && !core->issue.by_waitcnt)
        return STALL_WAIT;
    if (time->flags & TIME_DRAIN && slot->in_flight > (core->issue.by_waitcnt ? accesses : 0))
        return STALL_WAIT;
    if (time->flags & TIME_FENCE && (slot->stores || accesses))
        return STALL_WAIT;
    if (core->issue.by_waitcnt)
        return waitcnt_check(core, s, time);
    if (time->flags & TIME_COUNTERS) {
        const struct inst *inst = &core->exec->image->program->insts[slot->buffer[0]];
        const u32 vector = wait_left(inst, WAIT_VECTOR), others = wait_left(inst, WAIT_OTHERS);
        if ((slot->vector_accesses + slot->stores > vector && vector != WAIT_VECTOR_MOST) ||
            (slot->scalar_accesses > others && others != WAIT_OTHERS_MOST))
            return STALL_WAIT;
    }
    return STALL_NONE;
}

/* Whether the head of a slot, which is the warp's next instruction, may issue. */
static enum stall check_head(const struct core *core, u32 s, const struct inst_time *time)
{
    const struct slot *slot = &core->slots[s];
    enum stall stall = time->flags & TIME_NEAR ? slot_check_plain(core, slot, time)
                                               : scoreboard_check(core, slot, time);
    if (stall != STALL_NONE)
        return stall;
    const u32 limit = core->config.issue->in_flight_per_warp;
    if (limit && slot->in_flight >= limit)
        return STALL_WAIT;
    if (LIKELY(!(time->flags &
                 (TIME_FENCE | TIME_COUNTERS | TIME_DRAIN | TIME_BLOCK_BARRIER | TIME_CUT)) &&
               !time->counter))
        return STALL_NONE;
    if (time->flags & TIME_CUT && slot->in_flight)
        return STALL_WAIT;
    return check_waits(core, s, time);
}

enum stall slot_check_all(struct core *core, u32 s, const struct inst_time *time)
{
    enum stall stall = check_head(core, s, time);
    if (stall != STALL_NONE || !(time->flags & TIME_SERIAL))
        return stall;
    core->issue.serial |= bit(s);
    return STALL_WAIT;
}

/* Out of line, because launches that need it pay less for the call than others for its registers. */
COLD void slot_prefetch(const struct core *core, const struct slot *slot)
{
    const struct step *step = &core->exec->image->steps[slot->at];
    const u8 *const base = slot->warp->chunks[0].base;
    __builtin_prefetch(slot->warp);
    __builtin_prefetch(&slot->warp->chunks[0]);
    for (unsigned k = 0; k <= SLOT_DST; k++)
        if (step->select[k]) {
            __builtin_prefetch(base + step->row[k]);
            __builtin_prefetch(base + step->row[k] + 64);
        }
}

void slot_update(struct core *core, u32 s)
{
    assert(!(core->issue.clear & bit(s)));
    slot_sort(core, s, &core->slots[s]);
}

void slot_recheck(struct core *core, u32 s)
{
    slot_look_again(core, s, &core->slots[s]);
}
