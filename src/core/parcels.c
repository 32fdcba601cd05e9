/*
 * Parcels: transactions of the load/store unit on their way through the first-level caches to the
 * network and back, and the tasks they make complete.
 *
 * An access of a cache passes a pipe of the cache's latency and is looked up at its end; one that
 * cannot be taken stays there and holds up those behind it. What misses, and what passes the caches
 * by, goes through a queue to the network, one a cycle.
 */
#include "core/lsu_parts.h"
#include <stdlib.h>

/* ---- parcels and rings ---- */

static void ring_create(struct ring *ring, u32 most)
{
    ring->capacity = 1;
    while (ring->capacity < most)
        ring->capacity *= 2;
    ring->parcels = checked(calloc(ring->capacity, sizeof *ring->parcels));
    ring->ready = checked(calloc(ring->capacity, sizeof *ring->ready));
}

static void parcel_give(struct lsu *lsu, struct parcel *parcel)
{
    parcel->bytes = 0; /* free */
    parcel->next = lsu->free_parcel;
    lsu->free_parcel = (u32)(parcel - lsu->parcels);
    lsu->parcels_taken--;
}

static void parcels_reset(struct lsu *lsu)
{
    lsu->free_parcel = NO_PARCEL;
    lsu->parcels_taken = 0;
    lsu->fresh = 0;
}

void lsu_create(struct core *core)
{
    struct lsu *lsu = core->lsu = checked(calloc(1, sizeof *lsu));
    const struct core_config *c = &core->config;
    struct cache_config l1d = CACHE_CONFIG(c->l1d, c->l1d->write ? WRITE_THROUGH : WRITE_EVICT);
    struct cache_config constant = CACHE_CONFIG(c->constant, WRITE_EVICT);
    constant.passing = !c->constant->keeps;
    struct cache_config readonly = CACHE_CONFIG(c->readonly, WRITE_EVICT);
    lsu->l1d = cache_create(&l1d, (struct cache_counters *)&core->stats.l1d);
    lsu->constant = cache_create(&constant, (struct cache_counters *)&core->stats.constant);
    lsu->readonly = cache_create(&readonly, (struct cache_counters *)&core->stats.readonly);
    lsu->parcels = checked(calloc(PARCELS, sizeof *lsu->parcels));
    for (u32 b = 0; b < c->l1d->banks; b++)
        ring_create(&lsu->pipes[b], c->l1d->latency + 1);
    ring_create(&lsu->pipes[READONLY_PIPE], c->readonly->latency + 1);
    ring_create(&lsu->queue, c->l1d->miss_queue + 8);
    parcels_reset(lsu);
    lsu->current = NO_TASK;
    core->lsu_held = 0;
    core->lsu_due = core->lsu_done = UINT64_MAX;
    lsu->even_parts = c->core->warp_size / 32;
    if (c->lsu->shared_banks == 32 && c->lsu->shared_parts == lsu->even_parts)
        lsu->even_bytes = c->lsu->shared_bank_bytes;
}

void lsu_destroy(struct core *core)
{
    struct lsu *lsu = core->lsu;
    if (!lsu)
        return;
    cache_destroy(lsu->l1d);
    cache_destroy(lsu->constant);
    cache_destroy(lsu->readonly);
    for (u32 b = 0; b < PIPE_COUNT; b++) {
        free(lsu->pipes[b].parcels);
        free(lsu->pipes[b].ready);
    }
    free(lsu->queue.parcels);
    free(lsu->queue.ready);
    free(lsu->parcels);
    free(lsu);
}

void lsu_begin(struct core *core)
{
    struct lsu *lsu = core->lsu;
    parcels_reset(lsu);
    lsu->current = NO_TASK;
    lsu->done_head = lsu->done_tail = 0;
    lsu->stores = lsu->atomic_count = 0;
    lsu->pipes_used = lsu->pipes_stalled = 0;
    core->lsu_held = 0;
    core->lsu_due = core->lsu_done = UINT64_MAX;
    lsu->queue.head = lsu->queue.tail = 0;
    for (u32 b = 0; b < PIPE_COUNT; b++)
        lsu->pipes[b].head = lsu->pipes[b].tail = 0;
}

void lsu_flush(struct core *core)
{
    cache_invalidate(core->lsu->l1d);
    cache_invalidate(core->lsu->constant);
    cache_invalidate(core->lsu->readonly);
}

struct cache *lsu_cache(const struct core *core, enum packet_client client)
{
    const struct lsu *lsu = core->lsu;
    return client == CLIENT_L1D        ? lsu->l1d
           : client == CLIENT_CONSTANT ? lsu->constant
                                       : lsu->readonly;
}

/* ---- tasks that are done ---- */

void lsu_finish(struct core *core)
{
    struct lsu *lsu = core->lsu;
    for (u32 n = 0; n < core->config.lsu->write_back_ports; n++) {
        u32 at = lsu->done_head++ % ARRAY_LEN(lsu->done);
        const u16 task = lsu->done[at].task;
        at = lsu->done_head % ARRAY_LEN(lsu->done);
        core->lsu_done = lsu->done_head == lsu->done_tail ? UINT64_MAX : lsu->done[at].ready;
        task_retire(core, core_task(core, task));
        if (core->lsu_done > core_cycle(core))
            return;
    }
}

/* ---- out to memory ---- */

static void send_parcel(struct core *core, struct parcel *parcel)
{
    static const u8 kinds[] = {[PARCEL_LOAD] = PACKET_READ,
                               [PARCEL_STORE] = PACKET_WRITE,
                               [PARCEL_KEPT] = PACKET_WRITE,
                               [PARCEL_ATOMIC] = PACKET_ATOMIC};
    struct packet packet = {
        .address = parcel->line,
        .lanes = parcel->lanes,
        .sectors = parcel->sectors,
        .tag = (u32)(parcel - core->lsu->parcels),
        .inst = parcel->inst,
        .kind = kinds[parcel->kind],
        .client = CLIENT_DIRECT,
        .full = parcel->full,
        .returns = parcel->atomic_returns,
    };
    if (parcel->kind != PARCEL_LOAD)
        packet.bytes = (u16)(SECTOR_BYTES * (u32)__builtin_popcount(parcel->sectors));
    requests_send(core, &packet, parcel->bytes);
}

void parcels_send(struct core *core)
{
    struct lsu *lsu = core->lsu;
    struct ring *queue = &lsu->queue;
    if (queue->head == queue->tail ||
        queue->ready[queue->head & (queue->capacity - 1)] > core_cycle(core))
        return;
    u32 tag = queue->parcels[queue->head & (queue->capacity - 1)];
    if (tag & MISS) {
        const bool readonly = tag & MISS_READONLY;
        const u32 bytes =
            readonly ? core->config.readonly->line_bytes : core->config.l1d->line_bytes;
        const u32 mshr = tag & 0xffff, sectors = tag >> 16 & 0xff;
        if (!requests_room(core, requests_needed(core, bytes)))
            return;
        u64 line = cache_mshr_line(readonly ? lsu->readonly : lsu->l1d, mshr);
        requests_read(core, readonly ? CLIENT_READONLY : CLIENT_L1D, line, bytes, sectors, mshr,
                      NO_INST);
    } else {
        if (!requests_room(core, 1))
            return;
        send_parcel(core, &lsu->parcels[tag]);
    }
    queue->head++;
    core->lsu_held--;
}

/* ---- the first-level data cache ---- */

/* The line of its cache that a parcel is in, and its sectors there. */
static u64 cache_line(const struct core *core, const struct parcel *parcel, u32 *sectors)
{
    const u32 bytes =
        parcel->readonly ? core->config.readonly->line_bytes : core->config.l1d->line_bytes;
    u64 line = parcel->line & ~(u64)(bytes - 1);
    *sectors = parcel->sectors << (parcel->line - line) / SECTOR_BYTES;
    return line;
}

/* False: it must be tried again. */
static bool look_up(struct core *core, u32 pipe, struct parcel *parcel)
{
    struct lsu *lsu = core->lsu;
    if (lsu->pipes_stalled >> pipe & 1 && queue_room(core)) {
        ++*lsu->stalled_by[pipe];
        return false;
    }
    struct cache_out out;
    u32 index = (u32)(parcel - lsu->parcels), sectors;
    u64 line = cache_line(core, parcel, &sectors);
    if (!queue_room(core)) {
        core->stats.l1d.stalls_queue++;
        return false;
    }
    if (parcel->kind >= PARCEL_STORE) {
        lsu->pipes_stalled = 0;
        cache_write(lsu->l1d, line, sectors, parcel->full, &out);
        queue_push(core, index);
        return true;
    }
    struct cache *cache = parcel->readonly ? lsu->readonly : lsu->l1d;
    struct cache_counters *counters = parcel->readonly
                                          ? (struct cache_counters *)&core->stats.readonly
                                          : (struct cache_counters *)&core->stats.l1d;
    const u64 line_stalls = counters->stalls_line;
    switch (cache_read(cache, line, sectors, index, &out)) {
    case CACHE_HIT:
        lsu->pipes_stalled = 0;
        part_done(core, parcel->task, false);
        parcel_give(lsu, parcel);
        return true;
    case CACHE_MISS:
        lsu->pipes_stalled = 0;
        queue_push(core,
                   MISS | (parcel->readonly ? MISS_READONLY : 0) | out.sectors << 16 | out.mshr);
        return true;
    case CACHE_MERGED:
        lsu->pipes_stalled = 0;
        return true;
    default:
        lsu->stalled_by[pipe] =
            counters->stalls_line != line_stalls ? &counters->stalls_line : &counters->stalls_mshr;
        lsu->pipes_stalled |= core->hooks.caches ? 0 : bit(pipe); /* a hook may change its mind */
        return false;
    }
}

void parcels_look_up(struct core *core)
{
    struct lsu *lsu = core->lsu;
    const u64 now = core_cycle(core);
    u64 due = UINT64_MAX;
    for (u64 set = lsu->pipes_used; set; set &= set - 1) {
        u32 b = first_bit(set);
        struct ring *pipe = &lsu->pipes[b];
        const u32 mask = pipe->capacity - 1;
        if (pipe->ready[pipe->head & mask] <= now &&
            look_up(core, b, &lsu->parcels[pipe->parcels[pipe->head & mask]]) &&
            ++pipe->head == pipe->tail)
            lsu->pipes_used &= ~bit(b);
        else
            due = MIN(due, pipe->ready[pipe->head & mask]);
    }
    core->lsu_due = due;
}

void lsu_reply(struct core *core, const struct packet *packet)
{
    struct lsu *lsu = core->lsu;
    struct cache_out out;
    u32 waiter;
    switch (packet->client) {
    case CLIENT_L1D:
    case CLIENT_READONLY: {
        struct cache *cache = packet->client == CLIENT_L1D ? lsu->l1d : lsu->readonly;
        lsu->pipes_stalled = 0;
        cache_fill(cache, packet->tag, &out);
        while (cache_waiter(cache, packet->tag, &waiter)) {
            struct parcel *parcel = &lsu->parcels[waiter];
            part_done(core, parcel->task, true);
            parcel_give(lsu, parcel);
        }
        return;
    }
    case CLIENT_CONSTANT:
        cache_fill(lsu->constant, packet->tag, &out);
        while (cache_waiter(lsu->constant, packet->tag, &waiter))
            part_done(core, waiter, true);
        return;
    default:
        break;
    }
    struct parcel *parcel = &lsu->parcels[packet->tag];
    if (parcel->kind != PARCEL_LOAD) {
        u32 s = parcel->slot;
        lsu->stores--;
        core->slots[s].stores--;
        if (parcel->kind == PARCEL_ATOMIC)
            for (u32 i = 0; i < lsu->atomic_count; i++)
                if (lsu->atomics[i] == packet->tag) {
                    lsu->atomics[i] = lsu->atomics[--lsu->atomic_count];
                    break;
                }
        slot_counted(core, s);
        if (parcel->kind == PARCEL_ATOMIC)
            part_done(core, parcel->task, true);
        else if (UNLIKELY(parcel->kind == PARCEL_KEPT))
            part_done(core, parcel->task, false);
        parcel_give(lsu, parcel);
        if (core->slots[s].ended && core->present & bit(s)) /* it may be gone by now */
            slot_maybe_leave(core, s);
        return;
    }
    part_done(core, parcel->task, true);
    parcel_give(lsu, parcel);
}

void core_atomic(struct core *core, const struct packet *packet)
{
    const struct parcel *parcel = &core->lsu->parcels[packet->tag];
    flight_atomic(&core_task(core, parcel->task)->flight, packet->lanes);
}
