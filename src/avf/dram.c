/*
 * Requests in DRAM: from the queue of a channel to their last data, in DRAM cycles.
 *
 * A write is needed: it brings data of a store, or a dirty line of the L2. A read is needed if a byte
 * of the line that it fills is: for a read that waits for it in the L2, or for a later one that hits.
 * So the line's stay (lines.h) has the time of its requests, and a read that waits becomes a read of
 * the stay when this begins. A line that only a later launch needs counts in that launch.
 *
 * Deviation: a line that several requests have filled, sector by sector, needs all of them if a byte
 * of it is needed. Machines without an L2 are not followed.
 */
#include "avf/avf.h"
#include <stdlib.h>

void dram_create_waiters(struct avf_device *d)
{
    const struct l2_params *l2 = memory_system_l2(d->system);
    const u64 lists = (u64)memory_system_slices(d->system) * l2->mshrs;
    d->mshrs = l2->mshrs;
    d->waiter_count = (u32)MIN(lists * l2->merges, (u64)UINT16_MAX);
    d->waiting = checked(malloc(lists * sizeof *d->waiting));
    d->dram_cycles = checked(calloc(lists, sizeof *d->dram_cycles));
    d->waiters = checked(malloc(d->waiter_count * sizeof *d->waiters));
    dram_reset(d);
}

void dram_destroy_waiters(struct avf_device *d)
{
    free(d->waiting);
    free(d->dram_cycles);
    free(d->waiters);
}

void dram_reset(struct avf_device *d)
{
    if (!d->waiters)
        return;
    const size_t lists = (size_t)memory_system_slices(d->system) * d->mshrs;
    memset(d->waiting, 0xff, lists * sizeof *d->waiting);
    memset(d->dram_cycles, 0, lists * sizeof *d->dram_cycles);
    d->waiter_free = NOTHING;
    d->waiter_fresh = 0;
    d->launch++;
}

static struct avf_waiter *take_waiter(struct avf_device *d, u32 *first)
{
    u32 index = d->waiter_free;
    if (index != NOTHING)
        d->waiter_free = d->waiters[index].next;
    else if (d->waiter_fresh < d->waiter_count)
        index = d->waiter_fresh++;
    else
        return NULL;
    d->waiters[index].next = *first;
    *first = index;
    return &d->waiters[index];
}

void dram_wait(struct avf_device *d, u32 slice, const struct cache_event *event)
{
    u32 *const first = &d->waiting[slice * d->mshrs + event->mshr];
    struct avf_waiter *waiter = take_waiter(d, first);
    if (!waiter) { /* whoever comes first is needed instead (M3) */
        if (*first != NOTHING)
            d->waiters[*first].fetch = NOTHING;
        return;
    }
    waiter->core = d->asks.core;
    waiter->fetch = d->asks.fetch;
    waiter->line = d->asks.line;
    waiter->sectors = event->sectors;
}

void dram_filled(struct avf_device *d, u32 slice, u32 place, const struct cache_event *event,
                 u64 now)
{
    if (place != NOTHING)
        lines_filled(&d->l2, place, event->sectors, NOTHING, now);
    if (event->mshr == CACHE_NO_PLACE) /* a copy of the host */
        return;
    const u32 list = slice * d->mshrs + event->mshr, cycles = d->dram_cycles[list];
    u32 index = d->waiting[list], next;
    d->dram_cycles[list] = 0;
    d->waiting[list] = NOTHING;
    if (place != NOTHING) {
        lines_brought(&d->l2, place, cycles);
    } else { /* it passes through */
        d->l2.counts.brought_held += cycles;
        d->l2.counts.brought_ace += cycles;
    }
    for (; index != NOTHING; index = next) {
        struct avf_waiter *waiter = &d->waiters[index];
        struct avf_fetch *fetch = waiter->fetch == NOTHING
                                      ? NULL
                                      : &d->cores[waiter->core]->requests.fetches[waiter->fetch];
        const u32 stay = lines_read(&d->l2, place, waiter->sectors, now);
        if (stay != NOTHING)
            reads_add_part(d, fetch, waiter->line, stay, waiter->sectors, now);
        next = waiter->next;
        waiter->next = d->waiter_free;
        d->waiter_free = index;
    }
}

/* ---- channels ---- */

static void served(void *memory, const struct dram_event *event, struct payload *payload)
{
    struct avf_memory *m = memory;
    struct avf_device *d = mechanism_device(memory);
    const u64 cycles = event->cycle + 1 - event->arrived;
    u32 slice, mshr;
    if (!event->write && memory_system_fetch(d->system, event, &slice, &mshr)) {
        d->dram_cycles[slice * d->mshrs + mshr] += (u32)cycles;
        return;
    }
    m->stats->dram_held += cycles;
    m->stats->dram_ace += cycles;
}

bool dram_hook(void *memory, u32 channel, struct dram_hooks *hooks)
{
    const struct avf_device *d = mechanism_device(memory);
    hooks->user = memory;
    hooks->served = served;
    return d->waiters != NULL;
}

void dram_settle(void *memory, fs now)
{
    struct avf_memory *m = memory;
    const struct avf_device *d = mechanism_device(memory);
    const struct dram_params *p = memory_system_dram(d->system);
    const u64 cycles = memory_system_dram_cycles(d->system, now);
    const u64 entries = (u64)p->queue * (p->write_high ? 2 : 1) + p->banks + p->return_queue;
    if (m->launch != d->launch) /* the clock begins anew */
        m->counted = 0;
    m->launch = d->launch;
    if (d->waiters)
        m->stats->dram_all += (cycles - m->counted) * entries;
    m->counted = cycles;
}
