/*
 * A slice of the L2: from the packets of the network to their answers, and to its channel's DRAM.
 *
 *     in (delay, then queue) -> tags -> out                                    a hit, a write
 *                                \-> misses -> to_dram ... from_dram -> fill -> answers -> out
 *
 * A cycle runs these from back to front: one answer of a line that has arrived, one fill, one
 * request to DRAM, one access. Nothing passes two of them in one cycle. Each may be held up by what
 * is behind it; fills never are, so that DRAM can always deliver (no circle of waits).
 *
 * Invariants
 *  S1  A packet leaves by `out` once, as its own answer.
 *  S2  Packets reach the tags in the order they came.
 *  S3  A pool entry is free, or holds one packet that waits for DRAM.
 *  S4  A slice that only something from outside can help is not called; the cycles in which its
 * first packet stalled meanwhile are counted when it is, so that skipping shows nowhere.
 */
#ifndef MEM_L2_H
#define MEM_L2_H

#include "base/ring.h"
#include "mem/address.h"
#include "mem/content.h"
#include "mem/system.h"

/* A tag of a DRAM request: slice of the channel, sectors, and which fetch it is part of: an MSHR,
 * or a pool entry when there is no cache. */
enum {
    TAG_SECTORS_SHIFT = 18,
    TAG_SLICE_SHIFT = 24,
    TAG_NO_FETCH = (1u << TAG_SECTORS_SHIFT) - 1, /* a write that nothing waits for: an eviction; */
    TAG_STORE = TAG_NO_FETCH - 1                  /* or of a packet that has its answer already */
};
static inline bool l2_tag_waits(u32 tag)
{
    return (tag & TAG_NO_FETCH) < TAG_STORE;
}
#define L2_NOBODY UINT32_MAX

struct l2_request {
    u64 address; /* in the channel */
    fs due;      /* when its way to DRAM is over, once it has set out */
    u32 bytes;
    u32 tag;
    u32 data; /* with content: mem/content.h */
    bool write;
};

struct l2_arrival {
    struct packet packet;
    u64 line;    /* the slice's own address of its L2 line */
    u32 sectors; /* of that line */
    u32 count;   /* of these */
    fs ready;    /* when its delay is over */
    u64 unused;  /* entries of a multiple of 32 bytes are cheaper to index */
};

/* What all slices of a memory side share. */
struct l2_shared {
    const struct l2_params *params;
    struct address_map map;
    struct l2_stats *stats;
    fs period;
    VEC(struct packet) atomics; /* served in this window, in order: l2.c, serve_atomic */
    struct packet_hooks hooks;
    struct content *content; /* NULL: not armed */
    bool dram_hooked;        /* requesters of all DRAM requests, and payloads, are wanted */
    const struct clock *clock;
};

struct l2_slice {
    struct l2_shared *shared;
    u32 number; /* within the channel */
    u32 unit;   /* among all slices */
    u32 channel;
    struct cache *cache;
    RING(struct l2_arrival) in; /* those with ready < now have reached queue_in */
    RING(struct packet) out;
    RING(struct l2_request) misses, to_dram;
    RING(struct requester)
    stores;              /* of requests with TAG_STORE that are on their way to DRAM, in
                                    * order; only if shared->dram_hooked */
    RING(u32) from_dram; /* tags */
    RING(u32) filled;    /* MSHRs whose waiters are being answered */
    u32 answer;          /* the pool entry to be answered next, or L2_NOBODY */
    struct packet *pool; /* of those that wait for DRAM; a cache waiter is an index */
    u32 *free;           /* a stack of free entries */
    u32 free_count, pool_count;
    u32 free_least;           /* of free_count since the reset; `free` below it is not used */
    u8 *parts;                /* of each fetch: requests that DRAM has not answered, */
    struct payload *payloads; /* and what DRAM's answers bring for its waiters */
    u64 port_free;            /* L2 cycles: from then on the data port */
    u64 fill_free;            /* the fill port */
    u64 atomic_free;          /* and the atomic unit can be used */
    bool sweeps;              /* reserved ways are being emptied, */
    u32 swept;                /* up to here (cache_sweep) */
    u64 *stall;               /* the counter of what its first packet waits for, or NULL */
    u64 stalled;              /* the cycle up to which that is counted */
};

/* `beyond`: the most requests on their way from its queue to DRAM. */
struct l2_slice *l2_create(struct l2_shared *shared, struct arena *arena, u32 number, u64 delay,
                           u32 beyond);
void l2_destroy(struct l2_slice *slice); /* its arena goes apart */
/* The cycles before `cycle` in which its first packet stalled are counted now, if it was not called
 * in them (S4). It may stall on. */
static inline void l2_settle(struct l2_slice *slice, u64 cycle)
{
    if (!slice->stall)
        return;
    *slice->stall += cycle - slice->stalled;
    slice->stalled = cycle;
}
/* Nothing is inside: a new launch counts cycles from 0. */
void l2_reset(struct l2_slice *slice);

/* Room for another packet from the network at this time. */
bool l2_room(const struct l2_slice *slice, fs now);
void l2_take(struct l2_slice *slice, const struct packet *packet, u64 in_slice, fs ready);
/* A cycle. Gives the next one that would do anything; UINT64_MAX: none, unless something comes from
 * DRAM, or a full queue to DRAM or to the network has room again. */
u64 l2_tick(struct l2_slice *slice, u64 cycle, fs now);
/* Room for an answer from DRAM. */
static inline bool l2_dram_room(const struct l2_slice *slice)
{
    return ring_count(&slice->from_dram) < slice->shared->params->queue_dram;
}
static inline void l2_dram_done(struct l2_slice *slice, u32 tag)
{
    *ring_push(&slice->from_dram) = tag;
}
/* What the request has brought for those that wait for it; if dram_hooked. */
COLD void l2_dram_payload(struct l2_slice *slice, u32 tag, const struct payload *payload);
/* The requester of a request that enters DRAM: called once for each, in order, if dram_hooked. */
struct requester l2_requester(struct l2_slice *slice, u32 tag);
/* One that waits for the request with this tag, in the order they came; false: there are no more. */
bool l2_waiter_at(const struct l2_slice *slice, u32 tag, u32 index, struct requester *waiter);
/* A mechanism has a line written back and dropped, or ways reserved (mem/services.h). */
enum cache_drop l2_drop(struct l2_slice *slice, u64 line);
void l2_reserve(struct l2_slice *slice, u32 ways);
/* A cycle in which at most one line of a reserved way leaves; false: there are no more. */
bool l2_sweep(struct l2_slice *slice);
bool l2_find(const struct l2_slice *slice, const struct packet *request, char *text, size_t size);
/* Whether a request that waits here for DRAM waits for the one with this tag. */
bool l2_fetches(const struct l2_slice *slice, const struct packet *request, u32 tag);
/* The same request: who sent it and how it is called there. */
static inline bool packet_same(const struct packet *a, const struct packet *b)
{
    return a->tag == b->tag && a->core == b->core && a->client == b->client;
}

#endif
