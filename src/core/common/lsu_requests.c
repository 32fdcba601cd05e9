/*
 * LSU requests: transactions of the load/store unit on their way through the first-level caches to
 * the network and back, and the instructions they complete.
 *
 * An access to a cache passes a pipe with the cache's latency and is looked up at its end; an
 * access that the cache refuses stays there and blocks those behind it. Misses, and accesses that
 * bypass the caches, go through a queue to the network, one per cycle.
 */
#include "base/hot.h"
#include "core/common/content.h"
#include "core/live.h"
#include <stdlib.h>

/* ---- requests ---- */

void lsu_request_give(struct lsu *lsu, struct lsu_request *request)
{
    request->bytes = 0; /* free */
    request->next = lsu->free_request;
    lsu->free_request = (u32)(request - lsu->requests);
    lsu->requests_taken--;
}

static void lsu_requests_reset(struct lsu *lsu)
{
    lsu->free_request = NO_REQUEST;
    lsu->requests_taken = 0;
    lsu->fresh = 0;
}

void lsu_create(struct core *core)
{
    struct arena *arena = arena_create_large(0);
    struct lsu *lsu = core->lsu.unit = arena_new(arena, struct lsu);
    const struct core_config *c = &core->config;
    struct cache_config l1d = CACHE_CONFIG(c->l1d, c->l1d->write ? WRITE_THROUGH : WRITE_EVICT);
    struct cache_config constant = CACHE_CONFIG(c->constant, WRITE_EVICT);
    l1d.write_allocate = c->l1d->write_allocate;
    constant.passing = !c->constant->keeps;
    struct cache_config readonly = CACHE_CONFIG(c->readonly, WRITE_EVICT);
    lsu->l1d = cache_create(&l1d, (struct cache_counters *)&core->stats.l1d);
    lsu->constant = cache_create(&constant, (struct cache_counters *)&core->stats.constant);
    lsu->readonly = cache_create(&readonly, (struct cache_counters *)&core->stats.readonly);
    lsu->local_back =
        c->l1d->local_write && c->l1d->local && c->l1d->line_bytes <= c->l2_line_bytes;
    lsu->arena = arena;
    lsu->requests = arena_array(lsu->arena, struct lsu_request, LSU_REQUESTS);
    for (u32 b = 0; b < c->l1d->banks; b++)
        ring_create(&lsu->pipes[b], lsu->arena, c->l1d->latency + 1);
    ring_create(&lsu->pipes[READONLY_PIPE], lsu->arena, c->readonly->latency + 1);
    /* with allocate=fill, each miss under way may push out a line beyond the queue's room */
    ring_create(&lsu->queue, lsu->arena, c->l1d->miss_queue + 8 + c->l1d->mshrs);
    ring_create(&lsu->done, lsu->arena, CORE_INFLIGHT);
    core_content_create(core);
    lsu->prefetchers[0] = arena_array(lsu->arena, struct requester, c->l1d->mshrs);
    lsu->prefetchers[1] = arena_array(lsu->arena, struct requester, c->readonly->mshrs);
    lsu_requests_reset(lsu);
    lsu->current = NO_INFLIGHT;
    core->lsu.held = 0;
    core->lsu.due = core->lsu.done = UINT64_MAX;
    lsu->strided_parts = c->core->warp_size / 32;
    if (c->lsu->shared_banks == 32 && c->lsu->shared_parts == lsu->strided_parts)
        lsu->strided_bytes = c->lsu->shared_bank_bytes;
}

void lsu_destroy(struct core *core)
{
    struct lsu *lsu = core->lsu.unit;
    if (!lsu)
        return;
    cache_destroy(lsu->l1d);
    cache_destroy(lsu->constant);
    cache_destroy(lsu->readonly);
    core_content_destroy(lsu->content);
    arena_destroy(lsu->arena); /* lsu is in it */
}

void lsu_begin(struct core *core)
{
    struct lsu *lsu = core->lsu.unit;
    lsu_requests_reset(lsu);
    lsu->current = NO_INFLIGHT;
    lsu->stores = lsu->atomic_count = 0;
    lsu->pipes_used = lsu->pipes_stalled = lsu->wanted_pipe = 0;
    core->lsu.held = 0;
    core->lsu.due = core->lsu.done = UINT64_MAX;
    ring_clear(&lsu->done);
    ring_clear(&lsu->queue);
    for (u32 b = 0; b < PIPE_COUNT; b++)
        ring_clear(&lsu->pipes[b]);
    if (core->hooks.seams & SEAMS_L1)
        lsu_seams_begin(core);
    core->detours |= lsu->content ? DETOUR_CONTENT : 0;
    lsu->watched = lsu->content || core->hooks.seams & SEAMS_L1;
}

void lsu_flush(struct core *core)
{
    cache_invalidate(core->lsu.unit->l1d);
    cache_invalidate(core->lsu.unit->constant);
    cache_invalidate(core->lsu.unit->readonly);
}

struct cache *lsu_cache(const struct core *core, enum packet_client client)
{
    const struct lsu *lsu = core->lsu.unit;
    return client == CLIENT_L1D        ? lsu->l1d
           : client == CLIENT_CONSTANT ? lsu->constant
                                       : lsu->readonly;
}

struct requester lsu_requester(const struct core *core, u32 request)
{
    const struct lsu_request *waits = &core->lsu.unit->requests[request];
    return requester_of(core, waits->slot, waits->inst, REQUESTER_ACCESS);
}

struct inflight *core_reader(struct core *core, enum packet_client which, u32 waiter)
{
    if (which == CLIENT_FETCH)
        return NULL;
    return core_inflight(
        core, which == CLIENT_CONSTANT ? waiter : core->lsu.unit->requests[waiter].inflight);
}

/* ---- finished instructions ---- */

void lsu_finish(struct core *core)
{
    struct lsu *lsu = core->lsu.unit;
    for (u32 n = 0; n < core->config.lsu->write_back_ports; n++) {
        const u32 inflight = ring_head(&lsu->done)->what;
        ring_pop(&lsu->done);
        core->lsu.done = ring_count(&lsu->done) ? ring_head(&lsu->done)->ready : UINT64_MAX;
        inflight_retire(core, core_inflight(core, inflight));
        if (core->lsu.done > core_cycle(core))
            return;
    }
}

/* ---- to memory ---- */

static void send_request(struct core *core, struct lsu_request *request)
{
    if (UNLIKELY(core->lsu.unit->content != NULL))
        core_content_send(core, request);
    static const u8 kinds[] = {[REQUEST_LOAD] = PACKET_READ,
                               [REQUEST_STORE] = PACKET_WRITE,
                               [REQUEST_KEPT] = PACKET_WRITE,
                               [REQUEST_ATOMIC] = PACKET_ATOMIC};
    struct packet packet = {
        .address = request->line,
        .lanes = request->lanes,
        .sectors = request->sectors,
        .tag = (u32)(request - core->lsu.unit->requests),
        .from = requester_of(core, request->slot, request->inst, REQUESTER_ACCESS),
        .kind = kinds[request->kind],
        .client = CLIENT_DIRECT,
        .full = request->full,
        .returns = request->atomic_returns,
    };
    if (request->kind != REQUEST_LOAD)
        packet.bytes = (u16)(SECTOR_BYTES * count_sectors(request->sectors));
    requests_send(core, &packet, request->bytes);
}

HOT void lsu_requests_send(struct core *core)
{
    struct lsu *lsu = core->lsu.unit;
    if (!ring_count(&lsu->queue) || ring_head(&lsu->queue)->ready > core_cycle(core))
        return;
    const u32 tag = ring_head(&lsu->queue)->what;
    if (tag & MISS) {
        const bool readonly = tag & MISS_READONLY;
        const u32 bytes =
            readonly ? core->config.readonly->line_bytes : core->config.l1d->line_bytes;
        const u32 mshr = tag & 0xffff, sectors = tag >> 16 & 0xff;
        if (!requests_room(core, requests_needed(core, bytes)))
            return;
        u32 first;
        u64 line = cache_mshr_first(readonly ? lsu->readonly : lsu->l1d, mshr, &first);
        const struct requester from = UNLIKELY(tag & MISS_PREFETCH)
                                          ? lsu->prefetchers[readonly][mshr]
                                          : lsu_requester(core, first);
        requests_read(core, readonly ? CLIENT_READONLY : CLIENT_L1D, line, bytes, sectors, mshr,
                      &from);
    } else {
        if (!requests_room(core, 1))
            return;
        send_request(core, &lsu->requests[tag]);
    }
    ring_pop(&lsu->queue);
    core->lsu.held--;
}

/* ---- the first-level data cache ---- */

/* The line of its cache that a request is in, and the request's sectors of that line. */
PART_OF u64 cache_line(const struct core *core, const struct lsu_request *request, u32 *sectors)
{
    const u32 bytes =
        request->readonly ? core->config.readonly->line_bytes : core->config.l1d->line_bytes;
    u64 line = request->line & ~(u64)(bytes - 1);
    *sectors = request->sectors << (request->line - line) / SECTOR_BYTES;
    return line;
}

/* A cache has accepted the access of a request: informs content and mechanisms. */
static COLD void looked_up(struct core *core, const struct lsu_request *request, u64 line,
                           u32 sectors, enum cache_result result, const struct cache_out *out)
{
    if (core->lsu.unit->content)
        core_content_looked_up(core, request, line, sectors, result, out);
    if (core->hooks.seams & SEAMS_L1)
        lsu_seams_access(core, request, line, sectors, result, out);
}

/* A store or an atomic is acknowledged, or a store stays in the L1: its warp waits for it no more. */
static void store_answered(struct core *core, struct lsu_request *request)
{
    struct lsu *lsu = core->lsu.unit;
    const u32 s = request->slot, index = (u32)(request - lsu->requests);
    lsu->stores--;
    core->slots[s].stores--;
    if (request->kind == REQUEST_ATOMIC)
        for (u32 i = 0; i < lsu->atomic_count; i++)
            if (lsu->atomics[i] == index) {
                lsu->atomics[i] = lsu->atomics[--lsu->atomic_count];
                break;
            }
    slot_counted(core, s);
    if (request->kind == REQUEST_ATOMIC)
        part_done(core, request->inflight, true);
    else if (UNLIKELY(request->kind == REQUEST_KEPT))
        part_done(core, request->inflight, false);
    lsu_request_give(lsu, request);
    if (core->slots[s].ended && core->present & bit(s)) /* it may be gone by now */
        slot_maybe_leave(core, s);
}

/* Whether a store to local memory stays in the L1. */
static COLD bool stays(struct core *core, struct lsu_request *request, u64 line, u32 sectors)
{
    const struct lsu *lsu = core->lsu.unit;
    const struct cache_out none = {0};
    if (!cache_keep_write(lsu->l1d, line, sectors))
        return false;
    request->kept = true;
    if (lsu->watched)
        looked_up(core, request, line, sectors, CACHE_HIT, &none);
    if (lsu->content)
        core_content_answered(core, request);
    store_answered(core, request);
    return true;
}

/* An access has evicted a dirty line of local memory: its stores go to memory. They count as stores of
 * the access's warp, which leaves only when they are acknowledged; in GPGPU-Sim no warp waits for
 * them. A dirty line that is evicted by a prefetch without a waiting load is not written. */
static COLD void send_victim(struct core *core, const struct lsu_request *access,
                             const struct cache_out *out)
{
    struct lsu *lsu = core->lsu.unit;
    struct lsu_request *request = lsu_request_take(lsu);
    *request = (struct lsu_request){
        .line = out->victim,
        .bytes = core->config.l1d->line_bytes,
        .sectors = out->victim_sectors,
        .slot = access->slot,
        .kind = REQUEST_STORE,
        .full = true,
        .local = true,
        .inst = access->inst,
    };
    store_sent(core, request);
    if (lsu->content)
        core_content_victim(core, request);
    if (core_hooked(core, SEAM_SENT))
        lsu_tell_sent(core, NULL, (u32)(request - lsu->requests));
    queue_push(core, (u32)(request - lsu->requests));
}

/* False: it must be tried again. */
PART_OF bool look_up(struct core *core, u32 pipe, struct lsu_request *request)
{
    struct lsu *lsu = core->lsu.unit;
    if (lsu->pipes_stalled >> pipe & 1 && queue_room(core)) {
        ++*lsu->stalled_by[pipe];
        return false;
    }
    struct cache_out out;
    u32 index = (u32)(request - lsu->requests), sectors;
    u64 line = cache_line(core, request, &sectors);
    const bool seen = UNLIKELY(lsu->watched);
    if (UNLIKELY(pipe == SUPPLY_PIPE)) {
        part_done(core, request->inflight, false);
        lsu_request_give(lsu, request);
        return true;
    }
    if (!queue_room(core) || (lsu->local_back && lsu->requests_taken == LSU_REQUESTS)) {
        core->stats.l1d.stalls_queue++;
        return false;
    }
    if (request->kind >= REQUEST_STORE) {
        lsu->pipes_stalled = 0;
        if (request->local && lsu->local_back && stays(core, request, line, sectors))
            return true;
        const enum cache_result result = cache_write(lsu->l1d, line, sectors, request->full, &out);
        queue_push(core, index);
        if (UNLIKELY(out.victim_sectors))
            send_victim(core, request, &out);
        if (seen)
            looked_up(core, request, line, sectors, result, &out);
        return true;
    }
    if (core_hooked(core, SEAM_L1_SUPPLY) && lsu_seams_supply(core, request, line, sectors))
        return true;
    struct cache *cache = request->readonly ? lsu->readonly : lsu->l1d;
    struct cache_counters *counters = request->readonly
                                          ? (struct cache_counters *)&core->stats.readonly
                                          : (struct cache_counters *)&core->stats.l1d;
    const enum cache_result result = cache_read(cache, line, sectors, index, &out);
    if (cache_refuses(result)) {
        lsu->stalled_by[pipe] = cache_stalls(counters, result);
        lsu->pipes_stalled |= core->hooks.caches ? 0 : bit(pipe);
        core_trace(core, TRACE_REFUSED, result, request->inst, request->inflight, index);
        return false;
    }
    lsu->pipes_stalled = 0;
    if (result == CACHE_MISS)
        queue_push(core, lsu_miss(request->readonly, &out));
    if (UNLIKELY(out.victim_sectors))
        send_victim(core, request, &out);
    if (seen)
        looked_up(core, request, line, sectors, result, &out);
    if (result == CACHE_HIT) {
        part_done(core, request->inflight, false);
        lsu_request_give(lsu, request);
    }
    return true;
}

HOT void lsu_requests_look_up(struct core *core)
{
    struct lsu *lsu = core->lsu.unit;
    const u64 now = core_cycle(core);
    u64 due = UINT64_MAX;
    for (u64 set = lsu->pipes_used; set; set &= set - 1) {
        u32 b = first_bit(set);
        const struct timed *head = ring_head(&lsu->pipes[b]);
        if (head->ready <= now && look_up(core, b, &lsu->requests[head->what])) {
            ring_pop(&lsu->pipes[b]);
            if (!ring_count(&lsu->pipes[b])) {
                lsu->pipes_used &= ~bit(b);
                continue;
            }
            head = ring_head(&lsu->pipes[b]);
        }
        due = MIN(due, head->ready);
    }
    if (UNLIKELY(lsu->pipes_used >> SUPPLY_PIPE)) /* one may have been added just now */
        due = MIN(due, ring_head(&lsu->pipes[SUPPLY_PIPE])->ready);
    core->lsu.due = due;
}

HOT void lsu_reply(struct core *core, const struct packet *packet)
{
    struct lsu *lsu = core->lsu.unit;
    struct cache_out out;
    u32 waiter;
    u64 line;
    switch (packet->client) {
    case CLIENT_L1D:
    case CLIENT_READONLY: {
        struct cache *cache = packet->client == CLIENT_L1D ? lsu->l1d : lsu->readonly;
        line = cache_mshr_line(cache, packet->tag);
        lsu->pipes_stalled = 0;
        cache_fill(cache, packet->tag, &out);
        if (UNLIKELY(lsu->content != NULL))
            core_content_filled(core, packet->client, packet->tag, line, out.sectors);
        struct lsu_request last = {.kind = REQUEST_STORE};
        while (cache_waiter(cache, packet->tag, &waiter)) {
            struct lsu_request *request = &lsu->requests[waiter];
            last = *request;
            part_done(core, request->inflight, true);
            lsu_request_give(lsu, request);
        }
        if (UNLIKELY(core->hooks.seams & SEAMS_L1))
            lsu_seams_filled(core, packet->client, line, &out);
        if (UNLIKELY(out.victim_sectors) && last.kind == REQUEST_LOAD)
            send_victim(core, &last, &out);
        return;
    }
    case CLIENT_CONSTANT:
        line = cache_mshr_line(lsu->constant, packet->tag);
        cache_fill(lsu->constant, packet->tag, &out);
        if (UNLIKELY(lsu->content != NULL))
            core_content_filled(core, CLIENT_CONSTANT, packet->tag, line, out.sectors);
        while (cache_waiter(lsu->constant, packet->tag, &waiter))
            part_done(core, waiter, true);
        return;
    default:
        break;
    }
    struct lsu_request *request = &lsu->requests[packet->tag];
    if (UNLIKELY(lsu->content != NULL))
        core_content_answered(core, request);
    if (request->kind != REQUEST_LOAD) {
        store_answered(core, request);
        return;
    }
    part_done(core, request->inflight, true);
    lsu_request_give(lsu, request);
}

/* Called between windows, in the order in which the L2 served the atomics of all cores. */
void core_atomic(struct core *core, const struct packet *packet)
{
    const struct lsu_request *request = &core->lsu.unit->requests[packet->tag];
    struct dyninst *f = &core_inflight(core, request->inflight)->dyn;
    if (UNLIKELY(core->live != NULL)) {
        if (!live_is_sent(core, packet->tag) || request->kind != REQUEST_ATOMIC || !f->atomic)
            return; /* a reply of another request has answered it before */
        live_redirect_atomic(core, f, packet);
    }
    dyninst_atomic(f, packet->lanes);
}
