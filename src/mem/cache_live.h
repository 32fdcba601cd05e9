/*
 * The bits of a cache, for the visitors of the state registry (base/state_walk.h). Each function
 * walks one entry; `cache` is NULL when only widths are asked for.
 *
 * What a flip means
 *  - A tag: the line answers to another address of its set. With content (mem/content.h) it keeps
 *    its data: a wrong hit reads them, a dirty line is written to the wrong place.
 *  - A valid or dirty bit: data that were never there are read, or changes are lost.
 *  - The order of replacement: two lines of the set exchange their ranks.
 *  - An MSHR: a flipped line number brings the sectors to another line; without its valid bit, or
 *    without sectors, nothing that waits for it is answered.
 */
#ifndef MEM_CACHE_LIVE_H
#define MEM_CACHE_LIVE_H

#include "base/state_walk.h"
#include "mem/cache.h"

/* Entries are lines, by set and way. `bits`: the width of an entry. */
void cache_walk_tags(struct state_walk *walk, struct cache *cache, u64 entry, u32 bits);
void cache_walk_valid(struct state_walk *walk, struct cache *cache, u64 entry, u32 bits);
void cache_walk_dirty(struct state_walk *walk, struct cache *cache, u64 entry, u32 bits);
void cache_walk_order(struct state_walk *walk, struct cache *cache, u64 entry, u32 bits);
/* With content only; otherwise no line is in use. */
void cache_walk_data(struct state_walk *walk, struct cache *cache, u64 entry, u32 bits);
/* Entries are MSHRs: valid, line number, sectors. */
void cache_walk_mshrs(struct state_walk *walk, struct cache *cache, u64 entry, u32 bits);

/* For canonical hashes: tags, valid and dirty bits and order of all lines; their data; and MSHRs or
 * waiters in use, by the row's visitor. */
u64 cache_hash_lines(const struct cache *cache, u64 hash);
u64 cache_hash_data(struct cache *cache, u64 hash);
u64 cache_hash_mshrs(const struct cache *cache, const struct state_row *row, void *owner, u64 hash,
                     bool waiters);

/* A request that waits in an MSHR: entry / merges is the MSHR. False: none is there. */
bool cache_live_waiter(const struct cache *cache, u64 entry, u32 *waiter);
/* It is forgotten, or replaced by another. */
void cache_lose_waiter(struct cache *cache, u64 entry);
void cache_change_waiter(struct cache *cache, u64 entry, u32 waiter);

#endif
