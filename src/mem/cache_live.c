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

/* ---- hashes ---- */

/* Lines of a set from the one used first to the one used last. */
static u64 hash_set(const struct cache *cache, u32 set, u64 hash)
{
    const struct cache_way *ways = &cache->slots[(size_t)set * cache->ways];
    u8 order[256];
    u32 count = 0;
    for (u32 w = 0; w < cache->ways && w < ARRAY_LEN(order); w++) {
        if (ways[w].line == NO_LINE)
            continue;
        u32 at = count++;
        for (; at && ways[order[at - 1]].stamp > ways[w].stamp; at--)
            order[at] = order[at - 1];
        order[at] = (u8)w;
    }
    for (u32 i = 0; i < count; i++) {
        const struct cache_way *way = &ways[order[i]];
        const u64 sectors = (u64)way->dirty << 32 | way->valid;
        hash = hash_word(hash, (way->line ^ order[i]) + sectors * 0xC2B2AE3D27D4EB4Full);
    }
    return hash;
}

u64 cache_hash_lines(const struct cache *cache, u64 hash)
{
    if (!cache || cache->passing || !cache->used)
        return hash;
    for (u32 set = 0; set < cache->sets; set++)
        hash = hash_set(cache, set, hash);
    return hash;
}

u64 cache_hash_data(struct cache *cache, u64 hash)
{
    if (!cache || cache->passing || !cache->used || !cache->content)
        return hash;
    const u32 words = (1u << cache->line_shift) / 4;
    for (u32 i = 0; i < cache->sets * cache->ways; i++) {
        struct cache_line line;
        if (cache->slots[i].line != NO_LINE &&
            cache_line_at(cache, i / cache->ways, i % cache->ways, &line))
            hash = hash_words(hash_word(hash, i), (const u32 *)(const void *)line.bytes, words);
    }
    return hash;
}

u64 cache_hash_mshrs(const struct cache *cache, const struct state_row *row, void *owner, u64 hash,
                     bool waiters)
{
    struct state_walk walk = {.mode = WALK_HASH, .hash = hash, .canonical = true};
    for (u32 e = 0; cache && cache->mshrs.used && e < cache->mshrs.size; e++) {
        const u64 taken = ~cache->mshrs.free[e / 64] >> e % 64;
        if (!taken) { /* none up to the next word */
            e |= 63;
            continue;
        }
        e += (u32)__builtin_ctzll(taken);
        if (e >= cache->mshrs.size)
            break;
        const u32 first = waiters ? e * cache->mshrs.merges : e;
        const u32 count = waiters ? cache->mshrs.entries[e].count : 1;
        for (u32 i = first; i < first + count; i++) {
            walk.hash = hash_word(walk.hash, i);
            walk.bits = 0;
            row->visit(&walk, row, owner, i);
        }
    }
    return walk.hash;
}
