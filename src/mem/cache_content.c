/* The data of a cache's lines (mem/cache.h). The owner of an armed cache writes them. */
#include "mem/cache_parts.h"

struct cache_content {
    u8 *bytes;    /* by slot */
    u64 *written; /* a bit for each byte of a slot */
    u32 line_bytes, words;
    struct cache_line victim; /* with its own storage */
    cache_deliver_fn *deliver;
    void *user;
};

void cache_arm(struct cache *cache, cache_deliver_fn *deliver, void *user)
{
    const u32 line_bytes = 1u << cache->line_shift, words = (line_bytes + 63) / 64;
    const size_t slots = (size_t)cache->sets * cache->ways;
    struct cache_content *content = arena_new(cache->arena, struct cache_content);
    *content = (struct cache_content){
        .bytes = arena_array(cache->arena, u8, slots * line_bytes),
        .written = arena_array(cache->arena, u64, slots * words),
        .line_bytes = line_bytes,
        .words = words,
        .victim = {.bytes = arena_array(cache->arena, u8, line_bytes),
                   .written = arena_array(cache->arena, u64, words)},
        .deliver = deliver,
        .user = user,
    };
    cache->content = content;
}

static struct cache_line line_in(const struct cache *cache, const struct cache_way *slot)
{
    const struct cache_content *content = cache->content;
    const size_t at = (size_t)(slot - cache->slots);
    return (struct cache_line){
        .address = slot->line,
        .bytes = content->bytes + at * content->line_bytes,
        .valid = slot->valid,
        .dirty = slot->dirty,
        .written = content->written + at * content->words,
    };
}

bool cache_line_of(const struct cache *cache, u64 address, struct cache_line *line)
{
    const struct cache_way *slot = cache->content ? cache_way_of(cache, address) : NULL;
    if (slot)
        *line = line_in(cache, slot);
    return slot;
}

bool cache_line_at(const struct cache *cache, u32 set, u32 way, struct cache_line *line)
{
    if (!cache->content || set >= cache->sets || way >= cache->ways)
        return false;
    *line = line_in(cache, &cache->slots[(size_t)set * cache->ways + way]);
    return line->address != NO_LINE;
}

const struct cache_line *cache_last_victim(const struct cache *cache)
{
    return &cache->content->victim;
}

u32 cache_mshr_of(const struct cache *cache, u64 line, u32 sector)
{
    const struct mshr *entries = cache->mshrs.entries;
    u32 at = *mshr_bucket(&cache->mshrs, line);
    while (at != NO_MSHR && (entries[at].line != line || !(entries[at].sectors >> sector & 1)))
        at = entries[at].chain;
    return at;
}

void cache_each_line(const struct cache *cache,
                     void (*visit)(void *user, const struct cache_line *line), void *user)
{
    struct cache_line line;
    for (u32 set = 0; set < cache->sets; set++)
        for (u32 way = 0; way < cache->ways; way++)
            if (cache_line_at(cache, set, way, &line))
                visit(user, &line);
}

void cache_content_replaced(struct cache *cache, const struct cache_way *slot)
{
    struct cache_content *content = cache->content;
    struct cache_line line = line_in(cache, slot), *victim = &content->victim;
    if (slot->line != NO_LINE) {
        victim->address = line.address;
        victim->valid = line.valid;
        victim->dirty = line.dirty;
        memcpy(victim->bytes, line.bytes, content->line_bytes);
        memcpy(victim->written, line.written, content->words * sizeof(u64));
    }
    memset(line.written, 0, content->words * sizeof(u64));
}

void cache_content_passed(struct cache *cache, u32 sectors)
{
    cache->content->victim.valid &= ~sectors;
}

void cache_content_arrived(struct cache *cache, u32 mshr)
{
    const struct mshrs *mshrs = &cache->mshrs;
    const struct mshr *arrived = &mshrs->entries[mshr];
    for (u32 at = *mshr_bucket(mshrs, arrived->line); at != NO_MSHR;
         at = mshrs->entries[at].chain) {
        const struct mshr_waiter *waiters = mshrs->waiters + (size_t)at * mshrs->merges;
        if (mshrs->entries[at].line != arrived->line)
            continue;
        for (u32 i = 0; i < mshrs->entries[at].count; i++)
            if (waiters[i].misses & arrived->sectors)
                cache->content->deliver(cache->content->user, waiters[i].waiter, mshr,
                                        waiters[i].misses & arrived->sectors);
    }
}
