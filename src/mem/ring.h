/*
 * Queues of fixed capacity: `RING(type) name`. Counters run free; a power of two of places makes
 * the mask. Whoever pushes has looked at ring_count first: a full ring is our bug.
 */
#ifndef MEM_RING_H
#define MEM_RING_H

#include "base/arena.h"

#define RING(type)              \
    struct {                    \
        type *items;            \
        u32 places, head, tail; \
    }
#define ring_create(r, arena, count)                              \
    ((r)->places = ring_places(count), (r)->head = (r)->tail = 0, \
     (r)->items = arena_alloc_aligned((arena), sizeof *(r)->items * (size_t)(r)->places, 64))
#define ring_count(r) ((r)->tail - (r)->head)
#define ring_head(r) (&(r)->items[(r)->head & ((r)->places - 1)])
/* The i-th from the head. */
#define ring_at(r, i) (&(r)->items[((r)->head + (i)) & ((r)->places - 1)])
/* The place behind the last one, which it now is. */
#define ring_push(r) \
    (assert(ring_count(r) < (r)->places), &(r)->items[(r)->tail++ & ((r)->places - 1)])
#define ring_pop(r) ((void)(r)->head++)

static inline u32 ring_places(u64 count)
{
    u32 places = 1;
    while (places < count)
        places *= 2;
    return places;
}

#endif
