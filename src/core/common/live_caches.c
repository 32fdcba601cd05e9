/*
 * Visitors of a core's caches: see common/live.h and mem/cache_live.h.
 *
 * A waiter is a load that waits for a line: its warp, its register and the number of its missing
 * lines; in the instruction cache, a warp. Without its valid bit it is forgotten, and the load, or
 * the warp, waits for ever. With another warp or register, the data go there.
 */
#include "core/common/live.h"
#include "core/common/lsu_parts.h"
#include "mem/cache_live.h"

static struct cache *cache_at(const struct core *core, u32 client)
{
    return !core ? NULL : client == CLIENT_FETCH ? core->fetch.cache : lsu_cache(core, client);
}

#define CORE_VISITOR(part)                                                                      \
    static void visit_##part(struct state_walk *walk, const struct state_row *row, void *owner, \
                             u64 entry)                                                         \
    {                                                                                           \
        cache_walk_##part(walk, cache_at(owner, row->which), entry, row->bits);                 \
    }
CORE_VISITOR(tags)
CORE_VISITOR(valid)
CORE_VISITOR(order)
CORE_VISITOR(data)
CORE_VISITOR(mshrs)

/* Another warp is told that its line has arrived. */
static void walk_warp(struct state_walk *walk, struct cache *cache, u64 entry, u32 waiter, u32 bits)
{
    u64 valid = walk->used, slot = waiter;
    if (walk_field(walk, &valid, 1) && walk->used)
        cache_lose_waiter(cache, entry);
    if (walk_field(walk, &slot, bits - 1) && walk->used)
        cache_change_waiter(cache, entry, (u32)slot % CORE_WARPS);
}

static void walk_load(struct state_walk *walk, struct core *core, struct cache *cache, u64 entry,
                      u32 waiter, u32 client)
{
    const struct core_config *machine = live_machine(walk, core);
    const struct live_widths width = live_widths(machine);
    const u32 lines_bits = state_index_bits(machine->core->warp_size + 1);
    const struct lsu_request *request =
        walk->used && client != CLIENT_CONSTANT ? &core->lsu.unit->requests[waiter] : NULL;
    struct inflight *inflight =
        walk->used ? core_inflight(core, request ? request->inflight : waiter) : NULL;
    u64 valid = walk->used, lines = inflight ? inflight->outstanding : 0;
    if (walk_field(walk, &valid, 1) && inflight)
        cache_lose_waiter(cache, entry);
    live_walk_target(walk, inflight, width.warp, REGISTER_BITS);
    if (!walk_field(walk, &lines, lines_bits) || !inflight)
        return;
    if (lines > inflight->outstanding)
        inflight->outstanding = (u16)lines;
    else /* it does not wait for this line: lanes that need it keep what the register held */
        inflight->dyn.writes &= request ? ~request->lanes : 0;
}

static void visit_waiters(struct state_walk *walk, const struct state_row *row, void *owner,
                          u64 entry)
{
    struct core *core = owner;
    struct cache *cache = cache_at(core, row->which);
    u32 waiter = 0;
    const bool used = core && core->exec && cache_live_waiter(cache, entry, &waiter);
    if (!walk_entry(walk, used))
        return;
    if (row->which == CLIENT_FETCH)
        walk_warp(walk, cache, entry, waiter, row->bits);
    else
        walk_load(walk, core, cache, entry, waiter, row->which);
}

static u64 hash_lines(const struct state_row *row, void *owner, u64 hash)
{
    return cache_hash_lines(cache_at(owner, row->which), hash);
}

static u64 hash_data(const struct state_row *row, void *owner, u64 hash)
{
    return cache_hash_data(cache_at(owner, row->which), hash);
}

static u64 hash_mshrs(const struct state_row *row, void *owner, u64 hash)
{
    return cache_hash_mshrs(cache_at(owner, row->which), row, owner, hash, false);
}

static u64 hash_waiters(const struct state_row *row, void *owner, u64 hash)
{
    return cache_hash_mshrs(cache_at(owner, row->which), row, owner, hash, true);
}

const struct cache_visitors live_cache_visitors = {.hash_lines = hash_lines,
                                                   .hash_data = hash_data,
                                                   .hash_mshrs = hash_mshrs,
                                                   .hash_waiters = hash_waiters,
                                                   .tags = visit_tags,
                                                   .valid = visit_valid,
                                                   .order = visit_order,
                                                   .data = visit_data,
                                                   .mshrs = visit_mshrs,
                                                   .waiters = visit_waiters};
