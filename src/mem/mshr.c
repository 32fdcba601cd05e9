/* MSHRs: see mem/mshr.h. */
#include "mem/mshr.h"

void mshr_create(struct mshrs *mshrs, struct arena *arena, u32 size, u32 merges)
{
    u32 bits = 2; /* about two buckets per entry */
    while (1u << bits < 2 * size)
        bits++;
    *mshrs = (struct mshrs){
        .entries = arena_array(arena, struct mshr, size),
        .waiters = arena_array(arena, struct mshr_waiter, (size_t)size * merges),
        .buckets = arena_array(arena, u32, 1u << bits),
        .free = arena_array(arena, u64, (size + 63) / 64),
        .size = size,
        .merges = merges,
        .shift = 64 - bits,
    };
    mshr_reset(mshrs);
}

void mshr_reset(struct mshrs *mshrs)
{
    memset(mshrs->buckets, 0xff, sizeof(u32) << (64 - mshrs->shift));
    memset(mshrs->free, 0xff, mshrs->size / 64 * sizeof *mshrs->free);
    if (mshrs->size % 64)
        mshrs->free[mshrs->size / 64] = (1ull << mshrs->size % 64) - 1;
    mshrs->used = mshrs->lingering = 0;
}

u32 mshr_with_room(const struct mshrs *mshrs, u64 line, u32 sectors)
{
    for (u32 at = *mshr_bucket(mshrs, line); at != NO_MSHR; at = mshrs->entries[at].chain) {
        const struct mshr *entry = &mshrs->entries[at];
        if (entry->line == line && entry->sectors & sectors && entry->count < mshrs->merges)
            return at;
    }
    return NO_MSHR;
}

u32 mshr_take(struct mshrs *mshrs, u64 line, u32 sectors, u32 slot)
{
    assert(mshr_any_free(mshrs) && sectors);
    u32 word = 0;
    while (!mshrs->free[word])
        word++;
    u32 at = word * 64 + (u32)__builtin_ctzll(mshrs->free[word]);
    mshrs->free[word] &= mshrs->free[word] - 1;
    mshrs->used++;
    u32 *bucket = mshr_bucket(mshrs, line);
    mshrs->entries[at] = (struct mshr){
        .line = line, .sectors = sectors, .asked = sectors, .slot = slot, .chain = *bucket};
    *bucket = at;
    return at;
}

void mshr_arrive(struct mshrs *mshrs, u32 arrived)
{
    u64 line = mshrs->entries[arrived].line;
    u32 sectors = mshrs->entries[arrived].sectors;
    assert(sectors);
    for (u32 at = *mshr_bucket(mshrs, line); at != NO_MSHR; at = mshrs->entries[at].chain) {
        const struct mshr *entry = &mshrs->entries[at];
        if (entry->line != line)
            continue;
        struct mshr_waiter *waiters = mshrs->waiters + (size_t)at * mshrs->merges;
        for (u32 i = 0; i < entry->count; i++)
            waiters[i].misses &= ~sectors;
    }
    mshrs->entries[arrived].sectors = 0;
}

/* Takes an entry out of its bucket. */
static void unlink_entry(struct mshrs *mshrs, u32 at)
{
    u32 *link = mshr_bucket(mshrs, mshrs->entries[at].line);
    while (*link != at)
        link = &mshrs->entries[*link].chain;
    *link = mshrs->entries[at].chain;
}

void mshr_rename(struct mshrs *mshrs, u32 at, u64 line)
{
    unlink_entry(mshrs, at);
    u32 *bucket = mshr_bucket(mshrs, line);
    mshrs->entries[at].line = line;
    mshrs->entries[at].chain = *bucket;
    *bucket = at;
}

static void release(struct mshrs *mshrs, u32 at)
{
    unlink_entry(mshrs, at);
    mshrs->lingering -= mshrs->entries[at].lingers;
    mshrs->free[at / 64] |= 1ull << at % 64;
    mshrs->used--;
}

/* The next waiter of this entry that misses nothing; waiters that must stay move to the front. */
static bool next_of(struct mshrs *mshrs, u32 at, u32 *waiter)
{
    struct mshr *entry = &mshrs->entries[at];
    struct mshr_waiter *waiters = mshrs->waiters + (size_t)at * mshrs->merges;
    for (bool again = true; again;) {
        while (entry->next < entry->count) {
            struct mshr_waiter next = waiters[entry->next++];
            if (!next.misses) {
                *waiter = next.waiter;
                return true;
            }
            waiters[entry->kept++] = next;
        }
        entry->count = entry->kept;
        entry->next = entry->kept = 0;
        /* What one of them missed may have arrived since it was passed over. */
        again = false;
        for (u32 i = 0; i < entry->count; i++)
            again |= !waiters[i].misses;
    }
    return false;
}

/* The next waiter of an entry in which some still miss sectors, or of others of its line that linger. Not
 * inlined: it would make the plain case save registers. */
static __attribute__((noinline)) bool next_lingering(struct mshrs *mshrs, u32 at, u32 *waiter)
{
    struct mshr *entry = &mshrs->entries[at];
    if (next_of(mshrs, at, waiter))
        return true;
    u64 line = entry->line;
    for (u32 other = mshrs->lingering ? *mshr_bucket(mshrs, line) : NO_MSHR, chain;
         other != NO_MSHR; other = chain) {
        chain = mshrs->entries[other].chain;
        if (other == at || mshrs->entries[other].line != line || !mshrs->entries[other].lingers)
            continue;
        if (next_of(mshrs, other, waiter))
            return true;
        if (!mshrs->entries[other].count)
            release(mshrs, other);
    }
    if (!entry->count) {
        release(mshrs, at);
    } else {
        mshrs->lingering++;
        entry->lingers = true;
    }
    return false;
}

bool mshr_next_further(struct mshrs *mshrs, u32 at, u32 *waiter)
{
    struct mshr *entry = &mshrs->entries[at];
    if (UNLIKELY(entry->next < entry->count || entry->kept || mshrs->lingering))
        return next_lingering(mshrs, at, waiter);
    entry->count = entry->next = 0;
    release(mshrs, at);
    return false;
}
