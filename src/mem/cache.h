/*
 * A set-associative cache with MSHRs: tags and who waits. A cache says when, not what: memory holds
 * the data, unless the cache is armed (cache_arm). Then its lines have room for data, which the
 * owner of the cache moves in and out (mem/content.h); tags and counters do not depend on it.
 *
 * Invariants
 *  C1  reads = read_hits + read_merges + read_misses; a refused access (cache_refuses) counts only
 *      in its stalls_ counter.
 *  C2  Every waiter given to an access that missed or merged comes back exactly once from
 *      cache_waiter after the fill.
 *  C3  A line under way is never a victim.
 */
#ifndef MEM_CACHE_H
#define MEM_CACHE_H

#include "mem/packet.h"

/* The same for all caches; filled from a component's parameters by CACHE_CONFIG. */
struct cache_config {
    u32 sets, ways, line_bytes, mshrs, merges;
    bool sectored, allocate_on_fill, fifo;
    enum cache_hash {
        HASH_NONE,       /* the lowest bits of the line number */
        HASH_POLYNOMIAL, /* see cache.c */
        HASH_FERMI,      /* for 32 or 64 sets; others get HASH_POLYNOMIAL */
    } hash;
    bool passing; /* it keeps no lines: only what is under way is known */
    enum {
        WRITE_EVICT,   /* a write drops the line and goes on to memory; misses allocate nothing */
        WRITE_THROUGH, /* a write updates a line that is there and goes on; allocates nothing */
        WRITE_BACK,    /* a write stays; a missing line is taken without fetching it, and bytes
                        * never written are fetched when they are read */
    } write;
};
#define CACHE_CONFIG(p, policy)                                                                   \
    (struct cache_config)                                                                         \
    {                                                                                             \
        .sets = (p)->sets, .ways = (p)->ways, .line_bytes = (p)->line_bytes, .mshrs = (p)->mshrs, \
        .merges = (p)->merges, .sectored = (p)->sectored, .allocate_on_fill = (p)->allocate == 1, \
        .fifo = (p)->replacement == 1, .write = (policy),                                         \
        .hash = !(p)->hashed ? HASH_NONE                                                          \
                : (p)->hash  ? HASH_FERMI                                                         \
                             : HASH_POLYNOMIAL                                                    \
    }

/* Counters: the STATs of cache.def in their order, so that any cache component's own struct can be
 * given (a test checks the layout). */
struct __attribute__((may_alias)) cache_counters {
    u64 reads, read_hits, read_merges, read_misses, writes, write_hits, write_misses, evictions,
        writebacks, fills, stalls_line, stalls_mshr, stalls_queue;
};

enum cache_result {
    CACHE_HIT,
    CACHE_MERGED, /* the waiter will be answered with a line already under way */
    CACHE_MISS,   /* the caller sends for out->sectors of the line under out->mshr */
    /* Refused: nothing has changed, the caller tries again. */
    CACHE_NO_LINE,  /* all lines of the set are reserved for fills under way */
    CACHE_NO_MSHR,  /* all MSHRs are in use */
    CACHE_NO_MERGE, /* the MSHRs of the line have no room for another waiter */
};
static inline bool cache_refuses(enum cache_result result)
{
    return result >= CACHE_NO_LINE;
}
/* The counter of a refusal. */
static inline u64 *cache_stalls(struct cache_counters *counters, enum cache_result refusal)
{
    return refusal == CACHE_NO_LINE ? &counters->stalls_line : &counters->stalls_mshr;
}

struct cache_out {
    u32 mshr;
    u32 sectors;        /* CACHE_MISS: to fetch; cache_fill: that have arrived */
    u64 victim;         /* a line with changes that gave way: the caller writes it to memory */
    u32 victim_sectors; /* 0: none */
    /* Of a watched cache (cache_watch), also: */
    u32 missing;      /* sectors asked for that it lacked */
    u32 victim_valid; /* the complete sectors of a line that gave way, with changes or not; 0: none
                       * did */
    bool victim_unused; /* it was prefetched and never read */
    bool prefetched;    /* a read: the first of a line that was prefetched; cache_fill: nobody has
                         * asked for it but a prefetch */
};

struct cache *cache_create(const struct cache_config *config, struct cache_counters *counters);
void cache_destroy(struct cache *cache);

/* `line` is an address, a multiple of line_bytes. `waiter` is the caller's own. */
enum cache_result cache_read(struct cache *cache, u64 line, u32 sectors, u32 waiter,
                             struct cache_out *out);
/*
 * By the policy: WRITE_EVICT and WRITE_THROUGH always return CACHE_HIT or CACHE_MISS and have no
 * waiter (the caller sends the write on in both cases). WRITE_BACK returns CACHE_HIT when the write
 * is in the cache, CACHE_NO_LINE when no line could be taken, and CACHE_MISS only when a hook lets
 * it take none (the caller sends it on). `full`: all bytes of the sectors.
 */
enum cache_result cache_write(struct cache *cache, u64 line, u32 sectors, bool full,
                              struct cache_out *out);
/* With another policy than WRITE_BACK: a write that hits stays in its line, and goes to
 * out->victim_sectors of the read that evicts it. False: it misses, and nothing has changed. */
bool cache_keep_write(struct cache *cache, u64 line, u32 sectors);
/* The sectors asked for have arrived. out->victim: as above, for allocate_on_fill. */
void cache_fill(struct cache *cache, u32 mshr, struct cache_out *out);
/*
 * After the fill: the next one that waited, in order of arrival; false: no more, the MSHR is free.
 * One that also waits for sectors of the line that another MSHR brings comes after the later of the
 * two fills, and keeps its own MSHR until then.
 */
bool cache_waiter(struct cache *cache, u32 mshr, u32 *waiter);
/* One that waits in an MSHR, in order of arrival; false: there are no more. */
bool cache_waiter_at(const struct cache *cache, u32 mshr, u32 index, u32 *waiter);
/* Whether all sectors are there; changes nothing. */
bool cache_has(const struct cache *cache, u64 line, u32 sectors);
/* What cache_read would return; changes and counts nothing. *missing: the sectors it lacks. */
enum cache_result cache_look(const struct cache *cache, u64 line, u32 sectors, u32 *missing);
/* A read for which cache_look says CACHE_MISS or CACHE_NO_MSHR gets these sectors from elsewhere
 * than memory: it counts as a hit, and the line is there from now on. out->victim as above. */
void cache_supply(struct cache *cache, u64 line, u32 sectors, struct cache_out *out);
/* A read that no instruction waits for and that is not counted. CACHE_MISS: it has an MSHR, the caller
 * sends for out->sectors; other results: it is not needed, or there is no room, and nothing has
 * changed. */
enum cache_result cache_prefetch(struct cache *cache, u64 line, u32 sectors, struct cache_out *out);
/* Fills under way will not come: their MSHRs are free, and lines that were only reserved. No access
 * may wait for them. */
void cache_cancel(struct cache *cache);
/* Results tell all that `out` has room for, at some cost of host time. */
void cache_watch(struct cache *cache);
/* Puts sectors there as if they had been read long ago (host copies), and counts nothing;
 * out->victim as above. */
void cache_place(struct cache *cache, u64 line, u32 sectors, struct cache_out *out);
/* Forgets all lines that are not under way; changes are lost. */
void cache_invalidate(struct cache *cache);
/* A line leaves for a mechanism's sake. Its changes go to out->victim, as above, and count as a
 * write-back; without may_write a line with changes stays. */
enum cache_drop {
    CACHE_DROPPED,
    CACHE_ABSENT,
    CACHE_UNDER_WAY, /* it stays: sectors are under way */
    CACHE_DIRTY,     /* it stays: it has changes that may not be written */
};
enum cache_drop cache_drop(struct cache *cache, u64 line, bool may_write, struct cache_out *out);
/* The last ways of each set, so many, take no lines from now on. Those there stay until cache_sweep
 * has dropped them; those under way leave with their fill (out->victim of cache_fill). */
void cache_reserve(struct cache *cache, u32 ways);
/* Drops the next line of a way that takes none, from place *at on, which begins at 0; the result is
 * that of its cache_drop. CACHE_ABSENT: there are no more. */
enum cache_drop cache_sweep(struct cache *cache, u32 *at, bool may_write, struct cache_out *out);
/* Lines (or entries) under way. */
u32 cache_pending(const struct cache *cache);
u64 cache_mshr_line(const struct cache *cache, u32 mshr);
/* The same, and the waiter that took the MSHR, if one did and not a prefetch. */
u64 cache_mshr_first(const struct cache *cache, u32 mshr, u32 *first);
/* One that brings sectors of the line, or UINT32_MAX. */
u32 cache_mshr_for(const struct cache *cache, u64 line);

/* The cache seam of mechanisms; all NULL by default. */
struct cache_hooks {
    void *user;
    bool (*allocates)(void *user, u64 line);                /* false: a miss takes no line */
    bool (*misses)(void *user, u64 line, u32 set, u32 way); /* true: treat a hit as a miss */
    void (*touched)(void *user, u64 line, u32 set, u32 way, bool write);
    void (*evicted)(void *user, u64 line, u32 set, u32 way); /* it leaves, for whatever reason */
    u32 reserved_ways; /* at first: the last ways of each set that take no lines. It is changed by
                        * memory_system_reserve (L2) and core_reserve_ways */
};
void cache_set_hooks(struct cache *cache, const struct cache_hooks *hooks);

/* ---- cache_content.c: the data of lines; nothing of this is called while caches are not armed ---- */

/* A line with its data. */
struct cache_line {
    u64 address;
    u8 *bytes;    /* of the whole line: */
    u32 valid;    /* all bytes of these sectors count, */
    u32 dirty;    /* and of these sectors, which have changes, */
    u64 *written; /* the bytes with a bit here, written since the line is in the cache */
};
/* Sectors arrive under an MSHR for one that waits; called by cache_fill, before cache_waiter. */
typedef void cache_deliver_fn(void *user, u32 waiter, u32 mshr, u32 sectors);

/* Makes room for the data of lines; once, before the first access. */
void cache_arm(struct cache *cache, cache_deliver_fn *deliver, void *user);
/* False: the line is not there, or not armed. */
bool cache_line_of(const struct cache *cache, u64 address, struct cache_line *line);
/* By its place; false: no line is there. */
bool cache_line_at(const struct cache *cache, u32 set, u32 way, struct cache_line *line);
/* The line that gave way last, as it was then. */
const struct cache_line *cache_last_victim(const struct cache *cache);
/* The MSHR that brings this sector of a line, or UINT32_MAX. */
u32 cache_mshr_of(const struct cache *cache, u64 line, u32 sector);
/* Calls `visit` for every line. */
void cache_each_line(const struct cache *cache,
                     void (*visit)(void *user, const struct cache_line *line), void *user);

#endif
