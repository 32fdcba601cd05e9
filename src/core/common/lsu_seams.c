/*
 * The first-level data caches as mechanisms see them: accesses, fills and evictions, lines that a
 * mechanism supplies, and prefetches; and what leaves the head of the load/store unit. Nothing here
 * is called unless a mechanism fills one of SEAMS_L1, or `sent`.
 *
 * Invariants
 *  LS1  A load that a mechanism supplies holds its request in the supply pipe until it is done, and
 *       has neither an MSHR nor an entry of the queue to the network.
 *  LS2  A prefetch holds an MSHR without waiters, and no request: nothing on the core waits for it.
 */
#include "core/common/content.h"

static struct cache *cache_for(const struct core *core, bool readonly)
{
    return readonly ? core->lsu.unit->readonly : core->lsu.unit->l1d;
}

static enum packet_client client_for(bool readonly)
{
    return readonly ? CLIENT_READONLY : CLIENT_L1D;
}

void lsu_seams_begin(struct core *core)
{
    struct lsu *lsu = core->lsu.unit;
    if (core_hooked(core, SEAM_L1_SUPPLY) && !lsu->pipes[SUPPLY_PIPE].items)
        ring_create(&lsu->pipes[SUPPLY_PIPE], lsu->arena, LSU_REQUESTS);
    for (u32 readonly = 0; readonly < 2; readonly++) {
        struct cache *cache = cache_for(core, readonly);
        if (!cache_pending(cache))
            continue;
        cache_cancel(cache);
        memset(core->awaiting[client_for(readonly)], 0,
               readonly ? core->config.readonly->mshrs : core->config.l1d->mshrs);
    }
}

COLD void lsu_tell_sent(struct core *core, struct inflight *inflight, u32 request)
{
    EACH_USE(use, &core->hooks, sent)
        use->mechanism->sent(use->state, core, inflight, request);
}

static struct l1_access access_of(const struct lsu_request *request, u64 line, u32 sectors)
{
    return (struct l1_access){
        .cache = client_for(request->readonly),
        .line = line,
        .sectors = sectors,
        .slot = request->slot,
        .inst = request->inst,
        .store = request->kind >= REQUEST_STORE,
        .kept = request->kept,
    };
}

void lsu_seams_evicted(struct core *core, enum packet_client client, const struct cache_out *out)
{
    if (!core_hooked(core, SEAM_L1_EVICTED) || !out->victim_valid)
        return;
    const struct l1_line line = {client, out->victim, out->victim_valid, out->victim_unused};
    hooks_l1_evicted(core, &line);
}

void lsu_seams_filled(struct core *core, enum packet_client client, u64 line,
                      const struct cache_out *out)
{
    lsu_seams_evicted(core, client, out);
    if (!core_hooked(core, SEAM_L1_FILLED))
        return;
    const struct l1_line filled = {client, line, out->sectors, out->prefetched};
    hooks_l1_filled(core, &filled);
}

void lsu_seams_access(struct core *core, const struct lsu_request *request, u64 line, u32 sectors,
                      enum cache_result result, const struct cache_out *out)
{
    struct l1_access access = access_of(request, line, sectors);
    access.result = result;
    if (!access.store) {
        access.missing = out->missing;
        access.prefetched = out->prefetched;
    }
    if (result == CACHE_MISS)
        lsu_seams_evicted(core, access.cache, out);
    if (core_hooked(core, SEAM_L1_ACCESS))
        hooks_l1_access(core, &access);
}

bool lsu_seams_supply(struct core *core, struct lsu_request *request, u64 line, u32 sectors)
{
    struct cache *cache = cache_for(core, request->readonly);
    struct l1_access access = access_of(request, line, sectors);
    access.result = cache_look(cache, line, sectors, &access.missing);
    if (access.result != CACHE_MISS && access.result != CACHE_NO_MSHR)
        return false;
    access.result = CACHE_MISS;
    u32 given = access.missing;
    const u32 latency = hooks_l1_supply(core, &access, &given);
    if (!latency)
        return false;
    struct cache_out out;
    cache_supply(cache, line, given | access.missing, &out);
    core->lsu.unit->pipes_stalled = 0;
    /* in order: entries leave a pipe one after the other */
    pipe_push(core, SUPPLY_PIPE, (u32)(request - core->lsu.unit->requests), latency);
    lsu_seams_evicted(core, access.cache, &out);
    access.supplied = true;
    access.result = CACHE_HIT;
    if (core_hooked(core, SEAM_L1_ACCESS))
        hooks_l1_access(core, &access);
    return true;
}

/* The sectors of a line that lie in an allocation. */
static u32 allocated(const struct core *core, u64 line, u32 sectors)
{
    u32 kept = 0;
    for (u32 left = sectors; left; left &= left - 1) {
        const u32 sector = (u32)__builtin_ctz(left);
        if (memory_find(core->exec->memory, line + (u64)sector * SECTOR_BYTES, 1))
            kept |= 1u << sector;
    }
    return kept;
}

enum prefetch_answer core_prefetch(struct core *core, enum packet_client client, u64 address,
                                   u32 sectors, u32 slot, u32 inst)
{
    assert(core_hooked(core, SEAM_PREFETCHES) &&
           (client == CLIENT_L1D || client == CLIENT_READONLY));
    const bool readonly = client == CLIENT_READONLY;
    const u32 bytes = readonly ? core->config.readonly->line_bytes : core->config.l1d->line_bytes;
    const u64 line = address & ~(u64)(bytes - 1);
    struct cache_out out;
    sectors = allocated(core, line, sectors & ((1ull << bytes / SECTOR_BYTES) - 1));
    if (!sectors)
        return PREFETCH_OUTSIDE;
    if (!queue_room(core))
        return PREFETCH_BUSY;
    switch (cache_prefetch(cache_for(core, readonly), line, sectors, &out)) {
    case CACHE_MISS:
        break;
    case CACHE_NO_LINE:
    case CACHE_NO_MSHR:
        return PREFETCH_BUSY;
    default:
        return PREFETCH_PRESENT;
    }
    core->lsu.unit->prefetchers[readonly][out.mshr] =
        requester_of(core, slot, inst, REQUESTER_PREFETCH);
    queue_push(core, lsu_miss(readonly, &out) | MISS_PREFETCH);
    if (UNLIKELY(core->lsu.unit->content != NULL))
        core_content_miss(core, client, out.mshr, line);
    lsu_seams_evicted(core, client, &out);
    return PREFETCH_SENT;
}
