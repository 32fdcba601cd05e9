/*
 * Queues of fixed capacity: `RING(type) name`. Positions count freely; the number of places is a
 * power of two, so that a mask gives a position's place. Callers check ring_count() before a push:
 * a push onto a full ring is a bug.
 */
#ifndef BASE_RING_H
#define BASE_RING_H

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
/* The item at a position, which is between head and tail. */
#define ring_item(r, position) (&(r)->items[(position) & ((r)->places - 1)])
#define ring_head(r) ring_item(r, (r)->head)
/* The i-th item from the head. */
#define ring_at(r, i) ring_item(r, (r)->head + (i))
/* Appends an item and gives its place. */
#define ring_push(r) (assert(ring_count(r) < (r)->places), ring_item(r, (r)->tail++))
#define ring_pop(r) ((void)(r)->head++)
#define ring_clear(r) ((void)((r)->head = (r)->tail = 0))

static inline u32 ring_places(u64 count)
{
    u32 places = 1;
    while (places < count)
        places *= 2;
    return places;
}

#endif
