/*
 * The MSHRs of a cache: which sectors of which lines are in flight, and which requests wait.
 *
 * A line may have several entries, each for different sectors. A waiter is in one entry, with all
 * the sectors that it still misses: it leaves when the last of them arrives, whichever entry brings
 * it. An entry whose own sectors have arrived but that still holds such a waiter lingers.
 *
 * Invariants
 *  H1  No sector of a line is in flight in two entries.
 *  H2  An entry is free again only when all its waiters have been returned, each once.
 *  H3  The lowest free entry is taken first, so that the same accesses get the same numbers.
 *
 * Nothing allocates after mshr_create.
 */
#ifndef MEM_MSHR_H
#define MEM_MSHR_H

#include "base/arena.h"

#define NO_MSHR UINT32_MAX
#define NO_SLOT UINT32_MAX

struct mshr_waiter {
    u32 waiter; /* a value of the caller's */
    u32 misses; /* sectors it still waits for */
};

struct mshr {
    u64 line;
    u32 sectors; /* in flight; 0: they have arrived */
    u32 asked;   /* the sectors that were requested */
    u32 slot;    /* the slot reserved for them in the cache, or NO_SLOT */
    u32 count;   /* waiters */
    u32 next;    /* the waiter to check next, once the sectors have arrived */
    u32 kept;    /* waiters before `next` that still miss sectors */
    u32 chain;   /* the next entry of the bucket, or NO_MSHR */
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
/* Frees all entries. */
void mshr_reset(struct mshrs *mshrs);

/* The first entry of the bucket that holds a line's entries, or NO_MSHR. */
static inline u32 *mshr_bucket(const struct mshrs *mshrs, u64 line)
{
    /* Fibonacci hashing: the upper bits of a product with 2^64 / golden ratio. */
    return &mshrs->buckets[line * 0x9E3779B97F4A7C15ull >> mshrs->shift];
}
/* Sectors of the line that are in flight. */
static inline u32 mshr_under_way(const struct mshrs *mshrs, u64 line)
{
    u32 sectors = 0;
    for (u32 at = *mshr_bucket(mshrs, line); at != NO_MSHR; at = mshrs->entries[at].chain)
        if (mshrs->entries[at].line == line)
            sectors |= mshrs->entries[at].sectors;
    return sectors;
}
/* An entry that brings some of these sectors and has room for a waiter, or NO_MSHR. The newest one,
 * since it is likely to be answered last. */
u32 mshr_with_room(const struct mshrs *mshrs, u64 line, u32 sectors);
static inline bool mshr_any_free(const struct mshrs *mshrs)
{
    return mshrs->used < mshrs->size;
}
/* Takes an entry; one must be free. */
u32 mshr_take(struct mshrs *mshrs, u64 line, u32 sectors, u32 slot);
/* Adds a waiter to an entry that has room. */
static inline void mshr_wait(struct mshrs *mshrs, u32 at, u32 waiter, u32 sectors)
{
    struct mshr *entry = &mshrs->entries[at];
    assert(entry->count < mshrs->merges && entry->sectors & sectors);
    mshrs->waiters[(size_t)at * mshrs->merges + entry->count++] =
        (struct mshr_waiter){waiter, sectors};
}
/* An entry changes to another line. */
void mshr_rename(struct mshrs *mshrs, u32 at, u64 line);
/* The entry's sectors have arrived. */
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
/* A waiter of an entry that has not been returned, by its position among these. */
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
