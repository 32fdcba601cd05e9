/*
 * Shared by the two halves of the load/store unit: its head (lsu.c) and the requests that its
 * transactions become (lsu_requests.c).
 */
#ifndef CORE_LSU_PARTS_H
#define CORE_LSU_PARTS_H

#include "base/ring.h"
#include "core/common/common.h"
#include "core/requests.h"

enum {
    LSU_REQUESTS = 4096,
    NO_REQUEST = UINT32_MAX,
    FILL_TO_WRITE_BACK = 2, /* cycles from the fill of the line until the result is at the port */
    BANKS = 16,
    READONLY_PIPE = BANKS, /* the pipe of the read-only cache, in addition to those of the L1's
                            * banks */
    SUPPLY_PIPE,           /* loads that a mechanism supplies (lsu_seams.c): never refused */
    PIPE_COUNT,
    DIRECT_BANK = PIPE_COUNT /* among banks used in a cycle: the way past the caches */
};

/* Entries of the queue to the network: a request's number; or a miss, sectors << 16 | MSHR, with
 * flags: */
#define MISS (1u << 31)
#define MISS_READONLY (1u << 30)
#define MISS_PREFETCH (1u << 29)

enum request_kind {
    REQUEST_LOAD,
    REQUEST_ATOMIC,
    REQUEST_STORE,
    REQUEST_KEPT, /* a store that its instruction waits for (gcn/waitcnt.c) */
};

struct lsu_request {
    u64 line; /* address, a multiple of `bytes` */
    u64 lanes;
    u32 bytes; /* size of the line that `sectors` divides; 0: the record is free */
    u32 sectors;
    u32 next;     /* in the free list */
    u16 inflight; /* for a plain store no longer valid: the instruction is done */
    u8 slot;
    u8 kind;
    bool full, readonly, atomic_returns, local, kept;
    u32 inst;
};

/* An entry that may proceed from a cycle on. */
struct timed {
    u64 ready; /* cycle */
    u32 what;  /* a request, an entry of the queue to the network, or an instruction in flight */
};

struct lsu {
    struct cache *l1d, *constant, *readonly;
    /* the head */
    u16 current;
    bool started;
    bool constants;    /* the access at the head reads constants */
    u32 strided_bytes; /* access size per lane for which shared_is_free applies; 0: never */
    u32 strided_parts; /* parts of 32 lanes, each of which then takes a cycle */
    u64 shared_until;  /* cycle in which the access to shared memory leaves the head */
    struct transaction list[MAX_TRANSACTIONS];
    u32 count, next; /* transactions of the access at the head, and how many of them are sent */
    bool list_local;
    u32 list_bytes; /* line size of these transactions */
    u32 turn;       /* group that is served next */
    /* transactions */
    struct lsu_request *requests;
    u32 free_request, requests_taken;
    u32 fresh;                            /* requests from here on have never been used */
    RING(struct timed) pipes[PIPE_COUNT]; /* requests */
    u64 pipes_used;
    /* Pipes whose head was refused by its cache, which has not changed since; and the stall counter
     * that each further try would increment. */
    u64 pipes_stalled;
    u64 *stalled_by[PIPE_COUNT];
    u64 wanted_pipe; /* the full one that the head's next transaction goes to, a bit; 0: none */
    RING(struct timed) queue;         /* to the network */
    struct requester *prefetchers[2]; /* by MSHR of L1 and read-only cache: requesters of
                                       * MISS_PREFETCH */
    u32 stores;                       /* not acknowledged */
    u32 atomics[LSU_REQUESTS], atomic_count;
    RING(struct timed) done; /* finished instructions that wait for a write-back port */
    struct arena *arena;
    struct core_content *content; /* NULL: not armed */
    bool local_back;              /* l1d.local_write=back has an effect */
    bool watched;                 /* content or mechanisms observe accesses to the caches */
};

static inline bool queue_room(const struct core *core)
{
    return ring_count(&core->lsu.unit->queue) < core->config.l1d->miss_queue;
}

static inline void queue_push(struct core *core, u32 tag)
{
    core->lsu.held++;
    *ring_push(&core->lsu.unit->queue) = (struct timed){core_cycle(core) + 1, tag};
}

/* The entry of the queue to the network for a miss that has an MSHR. */
static inline u32 lsu_miss(bool readonly, const struct cache_out *out)
{
    return MISS | (readonly ? MISS_READONLY : 0) | out->sectors << 16 | out->mshr;
}

static inline struct lsu_request *lsu_request_take(struct lsu *lsu)
{
    struct lsu_request *request;
    if (lsu->free_request != NO_REQUEST) {
        request = &lsu->requests[lsu->free_request];
        lsu->free_request = request->next;
    } else if (lsu->fresh < LSU_REQUESTS) {
        request = &lsu->requests[lsu->fresh++];
    } else {
        return NULL;
    }
    lsu->requests_taken++;
    return request;
}

static inline void store_sent(struct core *core, struct lsu_request *request)
{
    core->slots[request->slot].stores++;
    core->lsu.unit->stores++;
}

static inline void finish_later(struct core *core, u32 inflight)
{
    const u64 ready = core_cycle(core) + FILL_TO_WRITE_BACK;
    *ring_push(&core->lsu.unit->done) = (struct timed){ready, inflight};
    core->lsu.done = MIN(core->lsu.done, ready);
}

/* One part of an instruction has been answered. */
static inline void part_done(struct core *core, u32 index, bool from_memory)
{
    struct inflight *inflight = core_inflight(core, index);
    if (--inflight->outstanding || !inflight->sent)
        return;
    if (UNLIKELY(inflight->dyn.code->op == OP_tex)) /* texels are filtered now */
        wheel_add(core, inflight, core->config.texture->latency);
    else if (from_memory)
        finish_later(core, index);
    else
        inflight_retire(core, inflight);
}

/* Puts a request into a pipe; it reaches the end in `latency` cycles. */
static inline void pipe_push(struct core *core, u32 pipe, u32 request, u32 latency)
{
    const u64 ready = core_cycle(core) + latency;
    *ring_push(&core->lsu.unit->pipes[pipe]) = (struct timed){ready, request};
    core->lsu.unit->pipes_used |= bit(pipe);
    core->lsu.due = MIN(core->lsu.due, ready);
}

void lsu_request_give(struct lsu *lsu, struct lsu_request *request);
/* The seam `sent`. */
void lsu_tell_sent(struct core *core, struct inflight *inflight, u32 request);

/*
 * lsu_seams.c: what mechanisms see of the first-level data caches. Called only while a mechanism
 * fills one of SEAMS_L1.
 */
/* At the start of a launch: cancels prefetches that an earlier launch left in flight. */
void lsu_seams_begin(struct core *core);
/* A cache has accepted the access of a request. */
void lsu_seams_access(struct core *core, const struct lsu_request *request, u64 line, u32 sectors,
                      enum cache_result result, const struct cache_out *out);
/* A line may have been evicted; the sectors of an MSHR have arrived. */
void lsu_seams_evicted(struct core *core, enum packet_client client, const struct cache_out *out);
void lsu_seams_filled(struct core *core, enum packet_client client, u64 line,
                      const struct cache_out *out);
/* True: a load is about to miss and a mechanism supplies its sectors. */
bool lsu_seams_supply(struct core *core, struct lsu_request *request, u64 line, u32 sectors);

/* Sends one request per cycle from the queue to the network. */
void lsu_requests_send(struct core *core);
/* Looks up accesses at the end of the first-level caches' pipes. */
void lsu_requests_look_up(struct core *core);

#endif
