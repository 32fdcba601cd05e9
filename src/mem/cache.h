/*
 * A set-associative cache with MSHRs: tags and waiting requests. A cache models timing; memory
 * holds the data, unless the cache is armed (cache_arm). Then its lines have storage for data,
 * which the owner of the cache moves in and out (mem/content.h); tags and counters do not depend on
 * it.
 *
 * Invariants
 *  C1  reads = read_hits + read_merges + read_misses; a refused access (cache_refuses) counts only
 *      in its stalls_ counter.
 *  C2  Every waiter given to an access that missed or merged is returned exactly once by
 *      cache_waiter after the fill.
 *  C3  A line in flight is never a victim.
 */
#ifndef MEM_CACHE_H
#define MEM_CACHE_H

#include "mem/packet.h"

/* Parameters of any cache; CACHE_CONFIG fills them from a component's parameters. */
struct cache_config {
    u32 sets, ways, line_bytes, mshrs, merges;
    bool sectored, allocate_on_fill, fifo;
    enum cache_hash {
        HASH_NONE,       /* the lowest bits of the line number */
        HASH_POLYNOMIAL, /* see cache.c */
        HASH_FERMI,      /* for 32 or 64 sets; others get HASH_POLYNOMIAL */
    } hash;
    bool passing; /* it keeps no lines, only MSHRs of lines in flight */
    bool write_allocate;
    enum {
        WRITE_EVICT,   /* a write drops the line and goes on to memory; misses do not allocate */
        WRITE_THROUGH, /* a write updates a present line and goes on; misses allocate only with
                        * write_allocate, and fetch nothing */
        WRITE_BACK,    /* a write stays in the cache; a miss allocates without fetching, and
                        * bytes never written are fetched when they are read */
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

/* The STATs of cache.def in their order, so that the struct of any cache component can be used (a
 * test checks the layout). */
struct __attribute__((may_alias)) cache_counters {
    u64 reads, read_hits, read_merges, read_misses, writes, write_hits, write_misses, evictions,
        writebacks, fills, stalls_line, stalls_mshr, stalls_queue;
};

enum cache_result {
    CACHE_HIT,
    CACHE_MERGED, /* the waiter is served by a line already in flight */
    CACHE_MISS,   /* the caller requests out->sectors of the line for out->mshr */
    /* Refused: nothing has changed; the caller tries again. */
    CACHE_NO_LINE,  /* all lines of the set are reserved for fills in flight */
    CACHE_NO_MSHR,  /* all MSHRs are in use */
    CACHE_NO_MERGE, /* the MSHRs of the line have no room for another waiter */
};
static inline bool cache_refuses(enum cache_result result)
{
    return result >= CACHE_NO_LINE;
}
/* The stall counter of a refusal. */
static inline u64 *cache_stalls(struct cache_counters *counters, enum cache_result refusal)
{
    return refusal == CACHE_NO_LINE ? &counters->stalls_line : &counters->stalls_mshr;
}

struct cache_out {
    u32 mshr;
    u32 sectors;        /* CACHE_MISS: to fetch; cache_fill: those that arrived */
    u64 victim;         /* an evicted dirty line: the caller writes it to memory */
    u32 victim_sectors; /* its dirty sectors; 0: no such line */
    /* Only for a watched cache (cache_watch): */
    u32 missing;        /* requested sectors that were not present */
    u32 victim_valid;   /* valid sectors of an evicted line, dirty or not; 0: none was evicted */
    bool victim_unused; /* the evicted line was prefetched and never read */
    bool prefetched;    /* a read: the first of a prefetched line; cache_fill: only a prefetch
                         * requested the sectors */
};

struct cache *cache_create(const struct cache_config *config, struct cache_counters *counters);
void cache_destroy(struct cache *cache);

/* `line` is an address, a multiple of line_bytes. `waiter` is a value of the caller's. */
enum cache_result cache_read(struct cache *cache, u64 line, u32 sectors, u32 waiter,
                             struct cache_out *out);
/*
 * Depends on the policy: WRITE_EVICT and WRITE_THROUGH always return CACHE_HIT or CACHE_MISS and
 * have no waiter (the caller sends the write on in both cases; out->victim as below). WRITE_BACK returns CACHE_HIT when
 * the write is in the cache, CACHE_NO_LINE when no line is available, and CACHE_MISS only when a
 * hook forbids allocation (the caller sends the write on). `full`: all bytes of the sectors.
 */
enum cache_result cache_write(struct cache *cache, u64 line, u32 sectors, bool full,
                              struct cache_out *out);
/* With another policy than WRITE_BACK: a write that hits stays in its line, and goes to
 * out->victim_sectors of the read that evicts it. False: it misses, and nothing has changed. */
bool cache_keep_write(struct cache *cache, u64 line, u32 sectors);
/* The sectors of an MSHR have arrived. out->victim: as above, for allocate_on_fill. */
void cache_fill(struct cache *cache, u32 mshr, struct cache_out *out);
/*
 * After the fill: the next waiter, in order of arrival; false: no more, and the MSHR is free. A
 * waiter that also needs sectors of the line from another MSHR is returned after the later of the
 * two fills, and occupies its own MSHR until then.
 */
bool cache_waiter(struct cache *cache, u32 mshr, u32 *waiter);
/* A waiter of an MSHR, in order of arrival; false: no more. */
bool cache_waiter_at(const struct cache *cache, u32 mshr, u32 index, u32 *waiter);
/* Whether all sectors are present; changes nothing. */
bool cache_has(const struct cache *cache, u64 line, u32 sectors);
/* The set of a line, and in *way the way that holds it; UINT32_MAX: none does. */
u32 cache_place_of(const struct cache *cache, u64 line, u32 *way);
/* What cache_read would return; changes and counts nothing. *missing: the sectors not present. */
enum cache_result cache_look(const struct cache *cache, u64 line, u32 sectors, u32 *missing);
/* For a read for which cache_look returns CACHE_MISS or CACHE_NO_MSHR: these sectors come from
 * elsewhere than memory. The read counts as a hit, and the line is present from now on. out->victim
 * as above. */
void cache_supply(struct cache *cache, u64 line, u32 sectors, struct cache_out *out);
/* A read without a waiter that is not counted. CACHE_MISS: it has an MSHR, and the caller requests
 * out->sectors; other results: it is not needed, or there is no room, and nothing has changed. */
enum cache_result cache_prefetch(struct cache *cache, u64 line, u32 sectors, struct cache_out *out);
/* Drops all fills in flight: frees their MSHRs, and lines that were only reserved. No access may
 * wait for them. */
void cache_cancel(struct cache *cache);
/* From now on results fill all members of `out`, at some cost in host time. */
void cache_watch(struct cache *cache);
/* Inserts sectors as if they had been read long ago (host copies), and counts nothing; out->victim
 * as above. */
void cache_place(struct cache *cache, u64 line, u32 sectors, struct cache_out *out);
/* Invalidates all lines that are not in flight; dirty data are lost. */
void cache_invalidate(struct cache *cache);
/* Drops a line on behalf of a mechanism. Dirty data go to out->victim, as above, and count as a
 * write-back; without may_write, a dirty line stays. */
enum cache_drop {
    CACHE_DROPPED,
    CACHE_ABSENT,
    CACHE_UNDER_WAY, /* it stays: sectors are in flight */
    CACHE_DIRTY,     /* it stays: it is dirty and may not be written */
};
enum cache_drop cache_drop(struct cache *cache, u64 line, bool may_write, struct cache_out *out);
/* From now on, the last `ways` ways of each set take no lines. Lines that they hold stay until
 * cache_sweep drops them; lines in flight leave with their fill (out->victim of cache_fill). */
void cache_reserve(struct cache *cache, u32 ways);
/* Drops the next line of a reserved way, starting at place *at, which is 0 at first; returns the
 * result of its cache_drop. CACHE_ABSENT: no more lines. */
enum cache_drop cache_sweep(struct cache *cache, u32 *at, bool may_write, struct cache_out *out);
/* MSHRs in use. */
u32 cache_pending(const struct cache *cache);
u64 cache_mshr_line(const struct cache *cache, u32 mshr);
/* Its sectors that have not arrived. */
u32 cache_mshr_sectors(const struct cache *cache, u32 mshr);
/* The same, and the waiter that took the MSHR (undefined if a prefetch did). */
u64 cache_mshr_first(const struct cache *cache, u32 mshr, u32 *first);
/* An MSHR that brings sectors of the line, or UINT32_MAX. */
u32 cache_mshr_for(const struct cache *cache, u64 line);

/* The cache seam of mechanisms; all members may be NULL. */
struct cache_hooks {
    void *user;
    bool (*allocates)(void *user, u64 line);                /* false: a miss allocates no line */
    bool (*misses)(void *user, u64 line, u32 set, u32 way); /* true: treat a hit as a miss */
    void (*touched)(void *user, u64 line, u32 set, u32 way, bool write);
    void (*evicted)(void *user, u64 line, u32 set, u32 way); /* the line leaves, for any reason */
    u32 reserved_ways; /* initially: the last ways of each set that take no lines. Changed by
                        * memory_system_reserve (L2) and core_reserve_ways */
};
void cache_set_hooks(struct cache *cache, const struct cache_hooks *hooks);

/* What happens to the lines of a cache, for an observer (cache_observe). */
enum cache_event_kind {
    CACHE_EVENT_READ,    /* a read was accepted */
    CACHE_EVENT_FILLED,  /* sectors have arrived */
    CACHE_EVENT_WRITTEN, /* sectors of a line were written, at least in part. A line without a place:
                          * a hook forbids it one, and the write goes on to memory */
    CACHE_EVENT_DROPPED, /* a line leaves the cache */
};
struct cache_event {
    enum cache_event_kind kind;
    enum cache_result result; /* of a read */
    u64 line;
    u32 place;   /* of the line: set * ways + way; CACHE_NO_PLACE: it has none */
    u32 sectors; /* read, arrived, written; or valid, of a line that leaves */
    u32 dirty; /* written sectors that stay here; or those that the cache's owner writes to memory */
    u32 mshr;  /* that a read waits for, or that has brought the sectors; CACHE_NO_PLACE: none */
    u32 waiter; /* of a read */
};
#define CACHE_NO_PLACE UINT32_MAX
typedef void cache_observe_fn(void *user, const struct cache_event *event);
/* From now on `observe` is called for each event, after the cache has changed (before, for a line
 * that leaves). Once, before the first access. It must not call functions of the cache. */
void cache_observe(struct cache *cache, cache_observe_fn *observe, void *user);

/* ---- cache_content.c: the data of lines; none of this is called while caches are not armed
 * ---- */

/* A line with its data. */
struct cache_line {
    u64 address;
    u8 *bytes;    /* of the whole line */
    u32 valid;    /* all bytes of these sectors are valid, */
    u32 dirty;    /* and of these dirty sectors */
    u64 *written; /* the bytes with a bit here, written since the line entered the cache */
};
/* Sectors of an MSHR arrive for a waiter; called by cache_fill, before cache_waiter. */
typedef void cache_deliver_fn(void *user, u32 waiter, u32 mshr, u32 sectors);

/* Allocates storage for the data of lines; once, before the first access. */
void cache_arm(struct cache *cache, cache_deliver_fn *deliver, void *user);
/* False: the line is not present, or the cache is not armed. */
bool cache_line_of(const struct cache *cache, u64 address, struct cache_line *line);
/* The line at a set and way; false: no line is there. */
bool cache_line_at(const struct cache *cache, u32 set, u32 way, struct cache_line *line);
/* The line that was evicted last, as it was then. */
const struct cache_line *cache_last_victim(const struct cache *cache);
/* The MSHR that brings this sector of a line, or UINT32_MAX. */
u32 cache_mshr_of(const struct cache *cache, u64 line, u32 sector);
/* Calls `visit` for every line. */
void cache_each_line(const struct cache *cache,
                     void (*visit)(void *user, const struct cache_line *line), void *user);

#endif
