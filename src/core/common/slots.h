/*
 * Maintains the core's sets of slots: clear, blocked by reason, waiting. Inline, because this
 * happens for every instruction that issues.
 */
#ifndef CORE_SLOTS_H
#define CORE_SLOTS_H

#include "core/common/common.h"

/* slots.c: whether the head of a slot may issue, with all conditions. */
enum stall slot_check_all(struct core *core, u32 slot, const struct inst_time *time);

/* The same for a plain instruction: registers only. */
static inline enum stall slot_check_plain(const struct core *core, const struct slot *slot,
                                          const struct inst_time *time)
{
    const u64 *const pending = slot->pending, *const memory =
                                                  pending + core->issue.scoreboard_words;
    if (!near_hits(core, pending, time->near))
        return STALL_NONE;
    if (near_hits(core, memory, time->near))
        return STALL_MEMORY;
    return near_hits(core, pending, time->near_reads) ? STALL_RAW : STALL_WAW;
}

static inline enum stall slot_check(struct core *core, u32 s, const struct slot *slot,
                                    const struct inst_time *time)
{
    return LIKELY(time->plain) ? slot_check_plain(core, slot, time) : slot_check_all(core, s, time);
}

/* The same for the mark of a skipped instruction: nothing that it would write may be pending. */
static inline enum stall slot_check_mark(const struct core *core, const struct slot *slot,
                                         const struct inst_time *time)
{
    for (u32 i = 0; i < time->write_count; i++)
        if (slot->pending[time->dependences[i].word] & time->dependences[i].bits)
            return STALL_WAW;
    return STALL_NONE;
}

/* Puts a slot that is in none of the sets into `clear` or `blocked`. */
static inline void slot_place(struct core *core, struct slot *slot, u64 mask, enum stall stall)
{
    slot->blocked = (u8)stall;
    if (stall != STALL_NONE) {
        core->issue.blocked[stall] |= mask;
        return;
    }
    core->issue.clear |= mask;
    slot->ready_since = core_cycle(core);
}

/* slots.c. The next instruction of a slot can issue soon: its warp and its registers, of 32 lanes,
 * come into the host's caches meanwhile. */
void slot_prefetch(const struct core *core, const struct slot *slot);

/* slot_recheck, inlined into its caller. */
PART_OF void slot_look_again(struct core *core, u32 s, struct slot *slot)
{
    const u64 mask = bit(s);
    const enum stall before = slot->blocked;
    core->issue.serial &= ~mask;
    const enum stall stall = UNLIKELY(slot->skipped & 1) ? slot_check_mark(core, slot, slot->time)
                                                         : slot_check(core, s, slot, slot->time);
    if (stall == before)
        return;
    core->issue.blocked[before] &= ~mask;
    slot_wake(core, s);
    slot_place(core, slot, mask, stall);
    if (UNLIKELY(core->issue.crowded) && stall == STALL_NONE)
        slot_prefetch(core, slot);
}

/* An instruction with these properties has written its registers. */
PART_OF void slot_written(struct core *core, u32 s, struct slot *slot, const struct inst_time *time)
{
    if (!(core->issue.buffered & ~core->issue.clear & bit(s)))
        return;
    if (!slot->time->plain || near_hits(core, slot->time->near, time->near_writes))
        slot_look_again(core, s, slot);
}

/* slot_update, inlined into its caller. */
PART_OF void slot_sort(struct core *core, u32 s, struct slot *slot)
{
    const u64 mask = bit(s);
    slot_wake(core, s);
    if (slot->blocked != STALL_NONE) {
        core->issue.blocked[slot->blocked] &= ~mask;
        core->issue.serial &= ~mask;
    }
    if (UNLIKELY((core->issue.skipping | core->issue.waiting) & mask)) {
        core->issue.skipping &= ~mask;
        core->issue.waiting &= ~mask;
    }
    if (!slot->buffered || slot->at != slot->buffer[0]) {
        slot->blocked = STALL_NONE;
        core->issue.buffered &= ~mask;
        if (slot->at == NO_INST)
            core->issue.waiting |= mask;
        return;
    }
    const struct inst_time *time = &core->times[slot->at];
    slot->time = time;
    core->issue.buffered |= mask;
    if (slot->head != time->pipe) {
        core->issue.heads[slot->head] &= ~mask;
        core->issue.heads[time->pipe] |= mask;
        slot->head = time->pipe;
    }
    if (UNLIKELY(slot->skipped & 1)) {
        core->issue.skipping |= mask;
        slot_place(core, slot, mask, slot_check_mark(core, slot, time));
        return;
    }
    slot_place(core, slot, mask, slot_check(core, s, slot, time));
}

#endif
