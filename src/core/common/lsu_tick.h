/*
 * A cycle of the load/store unit: see lsu.c. In a header, because the tick of the common pipeline has
 * it compiled in.
 */
#ifndef CORE_LSU_TICK_H
#define CORE_LSU_TICK_H

#include "core/common/lsu_parts.h"

/* Continues the access at the head. */
void lsu_work_head(struct core *core);
/* Takes the next access; groups take turns. */
void lsu_take_next(struct core *core);

/* The head's next transaction goes to a pipe that is full and does not move. */
static inline bool head_is_blocked(const struct lsu *lsu)
{
    return lsu->wanted_pipe & lsu->pipes_stalled;
}

/* Charges `cycles` in which caches refused the accesses at the ends of these pipes again. */
static inline void charge_refused(const struct lsu *lsu, u64 pipes, u64 cycles)
{
    for (u64 set = pipes; set; set &= set - 1)
        *lsu->stalled_by[first_bit(set)] += cycles;
}

PART_OF void lsu_work(struct core *core)
{
    const struct lsu *lsu = core->lsu.unit;
    if (ring_count(&lsu->queue))
        lsu_requests_send(core);
    if (core->lsu.due <= core_cycle(core)) {
        if (lsu->pipes_used & ~lsu->pipes_stalled || !queue_room(core))
            lsu_requests_look_up(core);
        else
            charge_refused(lsu, lsu->pipes_used, 1);
    }
    if (head_is_blocked(lsu))
        core->stats.lsu.stall_cycles++;
    else if (lsu->current != NO_INFLIGHT)
        lsu_work_head(core);
    if (lsu->current == NO_INFLIGHT && core->collect.access_groups)
        lsu_take_next(core);
}

PART_OF void lsu_tick(struct core *core)
{
    if (core->lsu.held | core->collect.access_groups || core->lsu.due <= core_cycle(core))
        lsu_work(core);
}

#endif
