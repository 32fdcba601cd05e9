/*
 * A step of the operand collectors: see collect.c. In a header, because the tick of the common
 * pipeline has it compiled in.
 */
#ifndef CORE_COLLECT_TICK_H
#define CORE_COLLECT_TICK_H

#include "core/common/common.h"

/* collect.c: for mechanisms. */
void collect_tell_taken(struct core *core, struct inflight *inflight);
void collect_tell_ready(struct core *core, struct inflight *inflight);
/* Asks mechanisms where the operands are, and queues their reads for a collector: its depth. */
u32 collect_ask(struct core *core, struct inflight *inflight, u32 c);
/* Serves some reads of a collector; reads that still wait count as conflicts. Returns the new
 * depth. */
u32 collect_serve(struct core *core, u64 *wanted, u32 depth, u64 served);

/* Passes an instruction to its unit's latch, unless that is full or an older access waits. */
PART_OF void give_on(struct core *core, struct turn *turn, u32 c, bool one_group)
{
    const struct collector *collector = &core->collect.collectors[c];
    const u32 g = one_group ? 0 : collector->group, pipe = collector->pipe;
    struct core_group *group = &core->collect.group[g];
    HELD(group);
    struct latch *latch = &group->collected[pipe];
    if (latch->count == latch->limit ||
        (pipe == PIPE_MEMORY && group->served != collector->ticket)) {
        core->collect.stuck |= bit(c);
        return;
    }
    if (UNLIKELY(core->detours)) { /* additional cycles from mechanisms */
        struct inflight *inflight = core_inflight(core, collector->inflight);
        if (inflight->extra) {
            inflight->extra--;
            return;
        }
        if (core->issue.by_waitcnt)
            waitcnt_read(core, inflight);
        if (core_hooked(core, SEAM_COLLECTED))
            collect_tell_ready(core, inflight);
    }
    latch_push(latch, collector->inflight);
    if (pipe == PIPE_MEMORY) {
        group->served++;
        core->collect.stuck = 0;
        core->collect.access_groups |= 1u << g;
    } else {
        group->collected_pipes |= (u8)(1u << pipe);
        core->collect.collected_groups |= 1u << g;
    }
    core->collect.ready &= ~bit(c);
    core->collect.free |= bit(c);
    core->collect.issued_groups |= core->collect.starved_groups;
    turn->next = (c + 1) % CORE_COLLECTORS;
}

/* collect.c: dispatch for several collectors. */
void collect_dispatch(struct core *core, u64 ready);

/* Passes the instructions of full collectors (a non-empty set) to the units' latches. */
PART_OF void dispatch(struct core *core, u64 ready, bool one_group)
{
    const u32 c = first_bit(ready);
    if (LIKELY(!(ready & (ready - 1))))
        give_on(core, &core->collect.turns[core->collect.turn_of[c]], c, one_group);
    else
        collect_dispatch(core, ready);
}

/*
 * Each bank serves the first collector that reads it, in the order in which collectors were taken.
 * This equals a queue at each bank, because a collector queues all its reads at once.
 */
PART_OF void read_banks(struct core *core, u64 taken)
{
    const u32 count = core->collect.reading_count;
    u64 ready = 0;
    u32 left = 0;
    for (u32 i = 0; i < count; i++) {
        const u32 c = core->collect.reading[i];
        u32 depth = core->collect.collectors[c].depth;
        const u64 wanted = core->collect.wanted[c][0];
        if (UNLIKELY(depth > 1 || wanted & taken) &&
            (depth = collect_serve(core, core->collect.wanted[c], depth, wanted & ~taken))) {
            core->collect.collectors[c].depth = (u16)depth;
            core->collect.reading[left++] = (u8)c;
        } else {
            ready |= bit(c);
        }
        taken |= wanted;
    }
    core->collect.ready |= ready;
    core->collect.reading_count = left;
}

/* Instruction `index` of a group takes a free collector that serves its pipe. */
PART_OF void take_collector(struct core *core, struct core_group *group, u32 c, u32 pipe, u32 index,
                            bool one_group)
{
    struct inflight *inflight = core_inflight(core, index);
    const struct inst_time *time = inflight->time;
    struct collector *collector = &core->collect.collectors[c];
    u64 *wanted = core->collect.wanted[c];
    u32 depth = time->read_depth;
    if (core_hooked(core, SEAM_COLLECTING))
        collect_tell_taken(core, inflight);
    if (core_hooked(core, SEAM_PLACES)) {
        depth = collect_ask(core, inflight, c);
    } else {
        for (u32 n = 0; n < depth; n++)
            wanted[n] = one_group ? collect_rotated(core, inflight->slot, time->read_banks[n])
                                  : collect_banks(core, inflight->slot, time->read_banks[n]);
        core->stats.collect.reads += time->read_count;
    }
    collector->inflight = (u16)index;
    collector->pipe = (u8)pipe;
    collector->group = inflight->group;
    collector->depth = (u16)depth;
    if (pipe == PIPE_MEMORY)
        collector->ticket = group->tickets++;
    core->collect.free &= ~bit(c);
    if (depth)
        core->collect.reading[core->collect.reading_count++] = (u8)c;
    else
        core->collect.ready |= bit(c);
}

/* Instructions of a group take collectors, as long as some are free for their pipe. */
PART_OF void allocate_group(struct core *core, u32 g, bool one_group)
{
    struct core_group *group = &core->collect.group[g];
    HELD(group);
    u32 left = 0; /* pipes with instructions that found no collector */
    for (u32 pipes = group->issued_pipes; pipes;) {
        const u32 pipe = first_bit(pipes);
        const u64 free_ones = core->collect.free & group->collectors[pipe];
        if (!free_ones) {
            core->collect.starved++;
            left |= 1u << pipe;
            pipes &= pipes - 1;
            continue;
        }
        struct latch *latch = &group->issued[pipe];
        HELD(latch);
        take_collector(core, group, first_bit(free_ones), pipe, latch_first(latch), one_group);
        latch_pop(latch);
        if (core->collect.full_pipes[g] >> pipe & 1) { /* there is room again */
            core->collect.full_pipes[g] &= (u8) ~(1u << pipe);
            /* Schedulers sleep on if no warp could use the room. */
            if (core->issue.heads[pipe] & core->issue.clear & ~core->issue.branching)
                core->issue.asleep = 0;
        }
        if (!latch->count)
            pipes &= pipes - 1;
    }
    group->issued_pipes = (u8)left;
    if (left)
        core->collect.starved_groups |= 1u << g;
}

/* Those that have issued, or were left over and may find one now. */
PART_OF void allocate(struct core *core, bool one_group)
{
    u32 groups = core->collect.issued_groups;
    core->collect.issued_groups = core->collect.starved_groups = core->collect.starved = 0;
    if (one_group)
        allocate_group(core, 0, true);
    else
        for (; groups; groups &= groups - 1)
            allocate_group(core, first_bit(groups), false);
}

PART_OF void collect(struct core *core, bool one_group)
{
    const u64 busy =
        UNLIKELY(core->collect.busy) ? collect_busy(core) & ~core->collect.readable : 0;
    u64 written = core->collect.banks_written | busy;
    u32 steps = core->config.collect->steps;
    core->stats.collect.wait_cycles += core->collect.reading_count;
    do {
        const u64 ready = core->collect.ready & ~core->collect.stuck;
        if (ready)
            dispatch(core, ready, one_group);
        if (core->collect.reading_count)
            read_banks(core, written);
        if (core->collect.issued_groups)
            allocate(core, one_group);
        core->stats.collect.full_cycles += core->collect.starved;
        written = busy;
    } while (--steps);
}

/* Compiled twice: without sub-cores, the place of the only group is known. */
PART_OF void collect_tick(struct core *core)
{
    if (core->groups == 1)
        collect(core, true);
    else
        collect(core, false);
}

#endif
