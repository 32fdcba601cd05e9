/*
 * Miss-status registers of a cache: which sectors of which lines are under way, and who waits.
 *
 * A line may have several entries, each for other sectors of it. A waiter stands in one entry and
 * knows all the sectors it still misses, so it leaves when the last of them arrives, whichever
 * entry brings it. An entry whose own sectors have come but that holds such a waiter lingers.
 *
 * Invariants
 *  H1  No sector of a line is under way in two entries.
 *  H2  An entry is free again only when all its waiters have been given back, each once.
 *  H3  Free entries are taken lowest first, so that the same accesses give the same numbers.
 *
 * Nothing allocates after mshr_create.
 */
#ifndef MEM_MSHR_H
#define MEM_MSHR_H

#include "base/arena.h"

#define NO_MSHR UINT32_MAX
#define NO_SLOT UINT32_MAX

struct mshr_waiter {
    u32 waiter; /* the caller's own */
    u32 misses; /* sectors it still waits for */
};

struct mshr {
    u64 line;
    u32 sectors; /* under way; 0: they have come */
    u32 asked;   /* as they were when it was taken */
    u32 slot;    /* of the line kept for them in the cache, or NO_SLOT */
    u32 count;   /* waiters */
    u32 next;    /* the waiter to look at next, once the sectors have come */
    u32 kept;    /* waiters before `next` that must stay */
    u32 chain;   /* the next entry in the bucket, or NO_MSHR */
    bool lingers;
};

struct mshrs {
    struct mshr *entries;
    struct mshr_waiter *waiters; /* entry e: from e * merges */
    u32 *buckets;
    u64 *free; /* a bit for each free entry */
    u32 size, merges, shift, used, lingering;
};

void mshr_create(struct mshrs *mshrs, struct arena *arena, u32 size, u32 merges);
/* All entries are free. */
void mshr_reset(struct mshrs *mshrs);

/* The first entry of the chain that a line's entries are in, or NO_MSHR. */
static inline u32 *mshr_bucket(const struct mshrs *mshrs, u64 line)
{
    /* Fibonacci hashing: the upper bits of a product with 2^64 / golden ratio. */
    return &mshrs->buckets[line * 0x9E3779B97F4A7C15ull >> mshrs->shift];
}
/* Sectors of the line that are under way. */
static inline u32 mshr_under_way(const struct mshrs *mshrs, u64 line)
{
    u32 sectors = 0;
    for (u32 at = *mshr_bucket(mshrs, line); at != NO_MSHR; at = mshrs->entries[at].chain)
        if (mshrs->entries[at].line == line)
            sectors |= mshrs->entries[at].sectors;
    return sectors;
}
/* An entry that brings some of these sectors and has room for a waiter; the newest of them, as it
 * is likely to be answered last. Or NO_MSHR. */
u32 mshr_with_room(const struct mshrs *mshrs, u64 line, u32 sectors);
static inline bool mshr_any_free(const struct mshrs *mshrs)
{
    return mshrs->used < mshrs->size;
}
/* Takes an entry; there must be a free one. */
u32 mshr_take(struct mshrs *mshrs, u64 line, u32 sectors, u32 slot);
/* Adds a waiter to an entry that has room. */
static inline void mshr_wait(struct mshrs *mshrs, u32 at, u32 waiter, u32 sectors)
{
    struct mshr *entry = &mshrs->entries[at];
    assert(entry->count < mshrs->merges && entry->sectors & sectors);
    mshrs->waiters[(size_t)at * mshrs->merges + entry->count++] =
        (struct mshr_waiter){waiter, sectors};
}
/* Its sectors have come. */
void mshr_arrive(struct mshrs *mshrs, u32 entry);
/* The next waiter that misses nothing any more; false: no more, and the entry may be reused. */
bool mshr_next_further(struct mshrs *mshrs, u32 at, u32 *waiter);
static inline bool mshr_next(struct mshrs *mshrs, u32 at, u32 *waiter)
{
    struct mshr *entry = &mshrs->entries[at];
    const struct mshr_waiter *next = mshrs->waiters + (size_t)at * mshrs->merges + entry->next;
    assert(!entry->sectors);
    if (entry->next == entry->count || next->misses)
        return mshr_next_further(mshrs, at, waiter);
    entry->next++;
    *waiter = next->waiter;
    return true;
}
/* One that waits in an entry and has not been given back, by its place among these. */
static inline bool mshr_waiter_at(const struct mshrs *mshrs, u32 at, u32 index, u32 *waiter)
{
    const struct mshr *entry = &mshrs->entries[at];
    const u32 place = index < entry->kept ? index : index - entry->kept + entry->next;
    if (place >= entry->count)
        return false;
    *waiter = mshrs->waiters[(size_t)at * mshrs->merges + place].waiter;
    return true;
}

#endif
