/* The bits of a cache: see cache_live.h. */
#include "mem/cache_live.h"
#include "mem/cache_parts.h"

/* ---- lines ---- */

/* The line of an entry; NULL: no line is there. */
static struct cache_way *way_at(const struct cache *cache, u64 entry)
{
    if (!cache || cache->passing || entry >= (u64)cache->sets * cache->ways)
        return NULL;
    struct cache_way *slot = &cache->slots[entry];
    return slot->line == NO_LINE ? NULL : slot;
}

void cache_walk_tags(struct state_walk *walk, struct cache *cache, u64 entry, u32 bits)
{
    struct cache_way *slot = way_at(cache, entry);
    u64 tag = slot ? cache_tag_of(cache, slot->line) : 0;
    if (walk_entry(walk, slot) && walk_field(walk, &tag, bits) && slot)
        cache_retag(cache, slot, tag);
}

/* Sector bits as they are declared: one for each sector, or one for all of them. */
static void walk_sectors(struct state_walk *walk, const struct cache *cache, u32 *sectors, u32 bits)
{
    u64 value = !sectors ? 0 : bits == 1 && cache->all > 1 ? *sectors != 0 : *sectors;
    if (!walk_field(walk, &value, bits) || !sectors)
        return;
    *sectors = bits == 1 && cache->all > 1 ? (value ? cache->all : 0) : (u32)value;
}

void cache_walk_valid(struct state_walk *walk, struct cache *cache, u64 entry, u32 bits)
{
    struct cache_way *slot = way_at(cache, entry);
    if (walk_entry(walk, slot))
        walk_sectors(walk, cache, slot ? &slot->valid : NULL, bits);
    if (cache && walk->mode == WALK_FLIP)
        cache->refused = NO_LINE;
}

void cache_walk_dirty(struct state_walk *walk, struct cache *cache, u64 entry, u32 bits)
{
    struct cache_way *slot = way_at(cache, entry);
    if (walk_entry(walk, slot))
        walk_sectors(walk, cache, slot ? &slot->dirty : NULL, bits);
}

/* The lines of a set that were used before this one. */
static u32 rank_of(const struct cache *cache, const struct cache_way *set,
                   const struct cache_way *slot)
{
    u32 rank = 0;
    for (u32 w = 0; w < cache->ways; w++)
        rank += set[w].stamp < slot->stamp;
    return rank;
}

void cache_walk_order(struct state_walk *walk, struct cache *cache, u64 entry, u32 bits)
{
    struct cache_way *slot = way_at(cache, entry);
    struct cache_way *set = slot ? &cache->slots[entry / cache->ways * cache->ways] : NULL;
    u64 rank = slot ? rank_of(cache, set, slot) : 0;
    if (!walk_entry(walk, slot) || !walk_field(walk, &rank, bits) || !slot)
        return;
    for (u32 w = 0; w < cache->ways; w++)
        if (set[w].line != NO_LINE && rank_of(cache, set, &set[w]) == rank) {
            const u64 stamp = set[w].stamp;
            set[w].stamp = slot->stamp;
            slot->stamp = stamp;
            return;
        }
    walk->dead = true; /* no line has this rank */
}

void cache_walk_data(struct state_walk *walk, struct cache *cache, u64 entry, u32 bits)
{
    struct cache_line line;
    const bool used = way_at(cache, entry) && cache_line_at(cache, (u32)(entry / cache->ways),
                                                            (u32)(entry % cache->ways), &line);
    if (walk_entry(walk, used))
        walk_words(walk, used ? (u32 *)(void *)line.bytes : NULL, bits / 32);
}

/* ---- MSHRs ---- */

static struct mshr *mshr_at(const struct cache *cache, u64 entry)
{
    if (!cache || entry >= cache->mshrs.size || cache->mshrs.free[entry / 64] >> entry % 64 & 1)
        return NULL;
    return &cache->mshrs.entries[entry];
}

/* What waits for an MSHR is never answered; its reply still arrives. */
static void lose_all(struct cache *cache, struct mshr *mshr)
{
    mshr->count = mshr->next = mshr->kept = 0;
    cache->refused = NO_LINE;
}

void cache_walk_mshrs(struct state_walk *walk, struct cache *cache, u64 entry, u32 bits)
{
    struct mshr *mshr = mshr_at(cache, entry);
    const u32 sectors_bits =
        cache ? (cache->sectored ? (u32)__builtin_popcount(cache->all) : 1) : 1;
    u64 valid = mshr != NULL, number = mshr ? mshr->line >> cache->line_shift : 0;
    if (!walk_entry(walk, mshr))
        return;
    if (!cache) { /* the parts differ in width, their sum does not */
        walk_field(walk, &valid, bits);
        return;
    }
    if (walk_field(walk, &valid, 1) && mshr)
        lose_all(cache, mshr);
    if (walk_field(walk, &number, bits - 1 - sectors_bits) && mshr)
        mshr_rename(&cache->mshrs, (u32)entry, number << cache->line_shift);
    u32 sectors = mshr ? mshr->sectors : 0;
    walk_sectors(walk, cache, mshr ? &sectors : NULL, sectors_bits);
    if (!mshr || sectors == mshr->sectors)
        return;
    if (sectors && mshr->sectors)
        mshr->sectors = sectors;
    else
        lose_all(cache, mshr);
}

bool cache_live_waiter(const struct cache *cache, u64 entry, u32 *waiter)
{
    const struct mshrs *mshrs = &cache->mshrs;
    const struct mshr *mshr = mshr_at(cache, entry / mshrs->merges);
    if (!mshr || entry % mshrs->merges >= mshr->count)
        return false;
    *waiter = mshrs->waiters[entry].waiter;
    return true;
}

void cache_lose_waiter(struct cache *cache, u64 entry)
{
    struct mshrs *mshrs = &cache->mshrs;
    struct mshr *mshr = &mshrs->entries[entry / mshrs->merges];
    const u32 at = (u32)(entry % mshrs->merges);
    memmove(&mshrs->waiters[entry], &mshrs->waiters[entry + 1],
            (mshr->count - at - 1) * sizeof *mshrs->waiters);
    mshr->count--;
    cache->refused = NO_LINE;
}

void cache_change_waiter(struct cache *cache, u64 entry, u32 waiter)
{
    cache->mshrs.waiters[entry].waiter = waiter;
}
