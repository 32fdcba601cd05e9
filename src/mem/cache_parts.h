/* Internals of a cache, shared by cache.c (tags) and cache_content.c (data). */
#ifndef MEM_CACHE_PARTS_H
#define MEM_CACHE_PARTS_H

#include "mem/cache.h"
#include "mem/mshr.h"

/* Not a multiple of a line size: no line has this address. */
#define NO_LINE UINT64_MAX
#define NO_TAG UINT32_MAX

struct cache_way {
    u64 line;       /* address, or NO_LINE */
    u64 stamp;      /* last use (LRU) or allocation (FIFO); 0: free */
    u32 valid;      /* sectors with all bytes present */
    u32 dirty;      /* sectors with bytes that memory does not have */
    u32 pending;    /* sectors in flight to this line */
    u32 prefetched; /* prefetched sectors; 0 once the line has been read */
};

struct cache {
    struct cache_counters *counters;
    u32 *tags; /* lower bits of line numbers */
    struct cache_way *slots;
    u32 *guess; /* the slot of each set that was found last */
    u32 line_shift, sets, ways;
    u32 row;                    /* tags per set, with padding */
    u32 index_bits, index_mask; /* of the set index; 0: not a power of two, or one set */
    const u16 *residues;        /* of hashed set indices, or NULL */
    u64 hashed_bits;            /* of line numbers: others contribute nothing to the set */
    u32 all;                    /* sectors of a whole line */
    u32 takable;                /* ways of a set that take lines */
    bool sectored, allocate_on_fill, fifo, hooked, passing, write_allocate;
    bool watched;
    bool used;   /* a line has been inserted since cache_invalidate() */
    bool slow;   /* hooked, watched or observed: hits take the slow path */
    u32 write;   /* as in the configuration */
    u64 time;    /* of stamps */
    u64 refused; /* the line of the last refused read, which would be refused again, or NO_LINE */
    u32 refused_sectors;
    enum cache_result refused_why;
    struct mshrs mshrs;
    struct cache_hooks hooks;
    cache_observe_fn *observe; /* NULL: not observed */
    void *observer;
    struct cache_content *content; /* NULL: not armed */
    struct arena *arena;
};

/* The part of a line's number that its set does not determine; and a line that changes to another
 * one of its set. */
u64 cache_tag_of(const struct cache *cache, u64 line);
void cache_retag(struct cache *cache, struct cache_way *slot, u64 tag);
/* The way that a line is in, or NULL. */
struct cache_way *cache_way_of(const struct cache *cache, u64 line);

/* cache_content.c, for armed caches: a way is about to be given to another line; the sectors of an
 * MSHR are about to arrive. */
void cache_content_replaced(struct cache *cache, const struct cache_way *slot);
void cache_content_arrived(struct cache *cache, u32 mshr);
/* The sectors that have arrived are not in the line evicted last: it was evicted at its own
 * fill. */
void cache_content_passed(struct cache *cache, u32 sectors);

#endif
