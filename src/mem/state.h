/* Storage elements of caches and of the memory side. */
#ifndef MEM_STATE_H
#define MEM_STATE_H

#include "base/state.h"
#include "mem/system.h"

/* Visitors of a cache's rows, by the owner that has the cache; NULL members: not backed. */
struct cache_visitors {
    state_visit_fn *tags, *valid, *dirty, *order, *data, *mshrs, *waiters, *misses;
    /* for canonical hashes: of all that belongs to a line but its data, of these, of MSHRs and of
     * their waiters; of the miss queue; NULL: by visitors */
    state_hash_fn *hash_lines, *hash_data, *hash_mshrs, *hash_waiters, *hash_misses;
};

struct cache_state {
    struct cache_config config;
    u32 miss_queue;
    u32 address_bits; /* of an address that it may hold */
    u32 waiter_bits;  /* to identify a waiter */
    u32 access_bits;  /* moved by a read; 0: a line */
    u32 ports;        /* 2: reads and fills in the same cycle; otherwise one of them */
    u32 banks;        /* 0 means 1 */
    const struct cache_visitors *visitors; /* NULL: none */
    u32 which;                             /* for them: which cache of its owner it is */
    bool no_data;                          /* its lines carry no data, even with content */
    const void *machine;                   /* the owner's parameters */
};
/* The elements of a cache, named after its component. */
void cache_state(struct state_list *list, const char *unit, const struct cache_state *cache);

/* The elements of networks, slices and channels. */
void mem_state(struct state_list *list, const struct memory_system_params *params,
               u64 memory_bytes);

#endif
