/*
 * A cache as slow and plain as the rules read: sets are lists in order of replacement, sectors are
 * bytes, entries and waiters are lists. Shares no code with src/mem.
 */
#ifndef TESTS_MEM_CACHE_MODEL_H
#define TESTS_MEM_CACHE_MODEL_H

#include "mem/cache.h"

enum {
    MODEL_SECTORS = 32,
    MODEL_WAYS = 128,
    MODEL_SETS = 128,
    MODEL_ENTRIES = 64,
    MODEL_WAITERS = 64
};

struct model_line {
    u64 line;
    bool whole[MODEL_SECTORS], changed[MODEL_SECTORS];
    u32 fetches; /* entries that keep it */
};

struct model_waiter {
    u32 waiter;
    bool misses[MODEL_SECTORS];
};

struct model_entry {
    u64 line;
    bool asked[MODEL_SECTORS];
    bool keeps_line, arrived;
    u32 mshr; /* the cache's name of it */
    u32 count;
    struct model_waiter waiters[MODEL_WAITERS];
};

struct model {
    struct cache_config config;
    struct cache_counters counters;
    struct {
        u32 count;
        struct model_line lines[MODEL_WAYS]; /* the next to give way first */
    } sets[MODEL_SETS];
    u32 entries;
    struct model_entry entry[MODEL_ENTRIES]; /* oldest first */
    /* What mechanisms say. */
    bool (*allocates)(u64 line);
    bool (*misses)(u64 line);
    u32 reserved_ways;
};

u32 model_sectors(const struct model *model);
u32 model_set(const struct model *model, u64 line);
bool model_has(const struct model *model, u64 line, u32 sectors);

/* The same as the cache's; out->mshr of a miss is to be told to the model. */
enum cache_result model_read(struct model *model, u64 line, u32 sectors, u32 waiter,
                             struct cache_out *out);
void model_named(struct model *model, u32 mshr);
enum cache_result model_write(struct model *model, u64 line, u32 sectors, bool full,
                              struct cache_out *out);
/* The waiters that come back: those of the entry first, in order. Returns how many. */
u32 model_fill(struct model *model, u32 mshr, struct cache_out *out, u32 *waiters, u32 *own);
void model_place(struct model *model, u64 line, u32 sectors, struct cache_out *out);
void model_invalidate(struct model *model);

#endif
