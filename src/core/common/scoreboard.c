/*
 * The scoreboard: which registers of a warp have a pending write.
 *
 * By register: one bit each, exact. By regions: an instruction takes one region for each operand it
 * writes, and a warp waits while fewer regions are free than its next instruction needs. Both
 * detect the same conflicts, since a region is exactly the registers of an operand.
 *
 * A second set of bits says which of these registers wait for memory; it only serves to explain
 * stalls.
 */
#include "core/common/common.h"

static enum stall why(const struct core *core, const struct slot *slot,
                      const struct inst_time *time)
{
    const u64 *const memory = slot->pending + core->issue.scoreboard_words;
    for (u32 i = 0; i < time->dependence_count; i++)
        if (memory[time->dependences[i].word] & time->dependences[i].bits)
            return STALL_MEMORY;
    for (u32 i = time->write_count; i < time->dependence_count; i++)
        if (slot->pending[time->dependences[i].word] & time->dependences[i].bits)
            return STALL_RAW;
    return STALL_WAW;
}

void scoreboard_reserve_far(const struct core *core, struct slot *slot,
                            const struct inst_time *time)
{
    u64 *const pending = slot->pending, *const memory = pending + core->issue.scoreboard_words;
    for (u32 i = 0; i < time->reserve_count; i++) {
        pending[time->dependences[i].word] |= time->dependences[i].bits;
        if (time->flags & TIME_LOAD)
            memory[time->dependences[i].word] |= time->dependences[i].bits;
    }
}

void scoreboard_release_far(const struct core *core, struct slot *slot,
                            const struct inst_time *time)
{
    u64 *const pending = slot->pending, *const memory = pending + core->issue.scoreboard_words;
    for (u32 i = 0; i < time->reserve_count; i++) {
        pending[time->dependences[i].word] &= ~time->dependences[i].bits;
        memory[time->dependences[i].word] &= ~time->dependences[i].bits;
    }
}

enum stall scoreboard_check(const struct core *core, const struct slot *slot,
                            const struct inst_time *time)
{
    u64 hit = 0;
    for (u32 i = 0; i < time->dependence_count; i++)
        hit |= slot->pending[time->dependences[i].word] & time->dependences[i].bits;
    if (UNLIKELY(hit))
        return why(core, slot, time);
    if (core->config.issue->scoreboard == 1 && time->region_count &&
        slot->region_count + time->region_count > core->config.issue->regions && slot->region_count)
        return STALL_WAW;
    return STALL_NONE;
}

bool core_registers_ready(const struct core *core, u32 s, u32 inst)
{
    return scoreboard_check(core, &core->slots[s], &core->times[inst]) == STALL_NONE;
}
