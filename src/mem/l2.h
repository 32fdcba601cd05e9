/*
 * A slice of the L2: from packets of the network to their replies, and to its channel's DRAM.
 *
 *     in (delay, then queue) -> tags -> out                                    a hit, a write
 *                                \-> misses -> to_dram ... from_dram -> fill -> answers -> out
 *
 * A cycle runs these from back to front: one reply for a line that has arrived, one fill, one
 * request to DRAM, one access. Nothing passes two of them in one cycle. Each may be stalled by the
 * stage after it; fills never are, so that DRAM can always deliver (no circular waits).
 *
 * Invariants
 *  S1  A packet leaves through `out` once, as its own reply.
 *  S2  Packets reach the tags in order of arrival.
 *  S3  A pool entry is free, or holds one packet that waits for DRAM.
 *  S4  A slice that only an external event can unblock is not called; the cycles in which its first
 *      packet stalled meanwhile are counted at the next call, so that skipping has no effect.
 */
#ifndef MEM_L2_H
#define MEM_L2_H

#include "base/ring.h"
#include "mem/address.h"
#include "mem/content.h"
#include "mem/system.h"

/* The tag of a DRAM request: slice of the channel, sectors, and the fetch that it belongs to: an
 * MSHR, or a pool entry when there is no cache. */
enum {
    TAG_SECTORS_SHIFT = 18,
    TAG_SLICE_SHIFT = 24,
    TAG_NO_FETCH = (1u << TAG_SECTORS_SHIFT) - 1, /* a write that nothing waits for: an eviction, */
    TAG_STORE = TAG_NO_FETCH - 1                  /* or data of an answered packet */
};
static inline bool l2_tag_waits(u32 tag)
{
    return (tag & TAG_NO_FETCH) < TAG_STORE;
}
#define L2_NOBODY UINT32_MAX

struct l2_request {
    u64 address; /* in the channel */
    fs due;      /* when it reaches DRAM, once it is on its way */
    u32 bytes;
    u32 tag;
    u32 data; /* with content: number of its data (mem/content.h) */
    bool write;
};

struct l2_arrival {
    struct packet packet;
    u64 line;    /* the slice's own address of its L2 line */
    u32 sectors; /* of that line */
    u32 count;   /* number of these sectors */
    fs ready;    /* when its delay is over */
    u64 unused;  /* pads entries to a multiple of 32 bytes, which are cheaper to index */
};

/* State that all slices of a memory side share. */
struct l2_shared {
    const struct l2_params *params;
    struct address_map map;
    struct l2_stats *stats;
    fs period;
    VEC(struct packet) atomics; /* served in this window, in order: serve_atomic in l2.c */
    struct packet_hooks hooks;
    struct content *content; /* NULL: not armed */
    bool dram_hooked;        /* DRAM hooks need the requesters of all DRAM requests, and payloads */
    const struct clock *clock;
    struct memory_system *system;
};

struct l2_slice {
    struct l2_shared *shared;
    u32 number; /* within the channel */
    u32 unit;   /* among all slices */
    u32 channel;
    struct cache *cache;
    RING(struct l2_arrival) in; /* entries with ready < now have reached queue_in */
    RING(struct packet) out;
    RING(struct l2_request) misses, to_dram;
    RING(struct requester)
    stores;              /* requesters of requests with TAG_STORE on their way to DRAM, in order;
                          * only if shared->dram_hooked */
    RING(u32) from_dram; /* tags */
    RING(u32) filled;    /* MSHRs whose waiters are being answered */
    u32 answer;          /* the pool entry to answer next, or L2_NOBODY */
    struct packet *pool; /* packets that wait for DRAM; a cache waiter is an index */
    u32 *free;           /* a stack of free entries */
    u32 free_count, pool_count;
    u32 free_least;           /* least free_count since the reset; `free` below it is not used */
    u8 *parts;                /* by fetch: requests that DRAM has not answered, */
    struct payload *payloads; /* and the payload for its waiters */
    u64 port_free;            /* L2 cycle from which the data port, */
    u64 fill_free;            /* the fill port */
    u64 atomic_free;          /* and the atomic unit are free */
    bool asked;               /* memory_system_ask */
    bool sweeps;              /* reserved ways are being emptied, */
    u32 swept;                /* up to this place (cache_sweep) */
    u64 *stall;               /* the counter of what its first packet waits for, or NULL */
    u64 stalled;              /* the cycle up to which the stall is counted */
};

/* `beyond`: most requests on their way from its queue to DRAM. */
struct l2_slice *l2_create(struct l2_shared *shared, struct arena *arena, u32 number, u64 delay,
                           u32 beyond);
void l2_destroy(struct l2_slice *slice); /* its arena is destroyed separately */
/* Counts the cycles before `cycle` in which its first packet stalled and the slice was not called
 * (S4). The packet may stall further. */
static inline void l2_settle(struct l2_slice *slice, u64 cycle)
{
    if (!slice->stall)
        return;
    *slice->stall += cycle - slice->stalled;
    slice->stalled = cycle;
}
/* At the start of a launch, which counts cycles from 0; nothing may be inside. */
void l2_reset(struct l2_slice *slice);

/* Whether another packet from the network fits at this time. */
bool l2_room(const struct l2_slice *slice, fs now);
void l2_take(struct l2_slice *slice, const struct packet *packet, u64 in_slice, fs ready);
/* Runs a cycle. Returns the next cycle that would do anything; UINT64_MAX: none, unless DRAM
 * delivers, or a full queue to DRAM or to the network has room again. */
u64 l2_tick(struct l2_slice *slice, u64 cycle, fs now);
/* Whether a reply from DRAM fits. */
static inline bool l2_dram_room(const struct l2_slice *slice)
{
    return ring_count(&slice->from_dram) < slice->shared->params->queue_dram;
}
static inline void l2_dram_done(struct l2_slice *slice, u32 tag)
{
    *ring_push(&slice->from_dram) = tag;
}
/* The payload that a request has brought for its waiters; if dram_hooked. */
COLD void l2_dram_payload(struct l2_slice *slice, u32 tag, const struct payload *payload);
/* The requester of a request that enters DRAM: called once for each, in order, if dram_hooked. */
struct requester l2_requester(struct l2_slice *slice, u32 tag);
/* A waiter for the request with this tag, in order of arrival; false: no more. */
bool l2_waiter_at(const struct l2_slice *slice, u32 tag, u32 index, struct requester *waiter);
/* For mechanisms: writes back and drops a line; reserves ways (mem/services.h). */
enum cache_drop l2_drop(struct l2_slice *slice, u64 line);
void l2_reserve(struct l2_slice *slice, u32 ways);
/* A cycle in which at most one line leaves a reserved way; false: no more. */
bool l2_sweep(struct l2_slice *slice);
bool l2_find(const struct l2_slice *slice, const struct packet *request, char *text, size_t size);
/* Whether a request that waits here for DRAM waits for the one with this tag. */
bool l2_fetches(const struct l2_slice *slice, const struct packet *request, u32 tag);

#endif
