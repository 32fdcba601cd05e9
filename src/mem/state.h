/* The storage of caches and of the memory side, for the state registry. */
#ifndef MEM_STATE_H
#define MEM_STATE_H

#include "base/state.h"
#include "mem/system.h"

struct cache_state {
    struct cache_config config;
    u32 miss_queue;
    u32 address_bits; /* of a byte that it may hold */
    u32 waiter_bits;  /* that name who waits for a line */
    u32 access_bits;  /* that a read brings; 0: a line */
    u32 ports;        /* 2: it is read and filled at once; else either */
    u32 banks;        /* 0 is 1 */
};
/* The rows of a cache under the name of its component. */
void cache_state(struct state_list *list, const char *unit, const struct cache_state *cache);

/* The rows of networks, slices and channels. */
void mem_state(struct state_list *list, const struct memory_system_params *params,
               u64 memory_bytes);

#endif
