/*
 * A cluster: cores that share an instruction cache and a cache for constants and scalar loads.
 *
 * The cores of a cluster send instruction and constant requests through separate ports, one per
 * core for each of the two caches. A request is looked up `latency` after it was sent, minus the
 * windows that ports take; at most one request per core and `ports` requests in total per network
 * cycle, with the cores taking turns. Hits are answered at once; misses go to the L2 through the
 * cluster's own port of the network. Of all requests of its cores for a line in flight, one goes to
 * the L2.
 *
 *     ports of cores -> tags -> replies                                          a hit
 *                        \-> misses -> network, L2 -> fill -> answers -> replies
 *
 * A cycle runs these from back to front; replies go before lookups and use the same `ports`.
 *
 * Invariants
 *  U1  A request is answered once, by the packet itself (M1).
 *  U2  The cluster's own requests carry its number, counted after those of the cores, in `core`.
 *  U3  A cycle in which nothing is due changes nothing, so that skipping it has no effect.
 *  U4  Nothing allocates after cluster_create.
 */
#ifndef MEM_CLUSTER_H
#define MEM_CLUSTER_H

#include "base/ring.h"
#include "mem/cache.h"
#include "mem/params.h"
#include "mem/port.h"

#define CLUSTER_NOBODY UINT32_MAX

/* The two caches of a cluster. */
enum cluster_part {
    CLUSTER_ICACHE,
    CLUSTER_CONSTANT,
    CLUSTER_PARTS
};

/* Parameters of either cache; CLUSTER_CONFIG fills them from a component's parameters. */
struct cluster_config {
    struct cache_config cache;
    u32 miss_queue, latency, ports;
};
#define CLUSTER_CONFIG(p)                                                     \
    (struct cluster_config)                                                   \
    {                                                                         \
        .cache = CACHE_CONFIG(p, WRITE_EVICT), .miss_queue = (p)->miss_queue, \
        .latency = (p)->latency, .ports = (p)->ports                          \
    }
/* Counters: those of mem/cluster.def in their order. */
struct __attribute__((may_alias)) cluster_counters {
    struct cache_counters cache;
    u64 queue_cycles;
};

struct cluster_cache {
    struct cache *cache;
    struct cluster_counters *counters;
    struct port *requests; /* of the cluster's cores, in order */
    u32 miss_queue, ports;
    fs delay;                    /* from the port to the tags */
    u32 turn;                    /* the core that is checked first */
    u32 answer;                  /* the pool entry to be answered next, or CLUSTER_NOBODY */
    RING(struct packet) misses;  /* requests that wait for the network */
    RING(u32) filled;            /* MSHRs whose waiters are being answered */
    struct packet *pool;         /* requests that wait for a line; a cache waiter is an index */
    struct payload *payloads;    /* by MSHR: payload that DRAM gave to the line */
    u32 *free, free_count, size; /* a stack of free entries, and the size of the pool */
};

struct cluster {
    struct cluster_cache parts[CLUSTER_PARTS];
    u32 number, first, cores; /* number of the first core; number of cores */
    u32 place;                /* its number as a sender: U2 */
    u32 inside;               /* requests that are accepted and not answered */
    u32 sender;               /* the part whose turn it is to send */
    fs period;                /* of a network cycle */
    struct port *replies;     /* of all cores */
    fs next;                  /* the earliest time at which it may have something to do */
    struct content *content;  /* NULL: not armed */
};

/* `first`, `cores`, `place`, `period`, `replies` and the parts' `requests` and `delay` must be
 * set. */
void cluster_create(struct cluster *cluster, struct arena *arena,
                    const struct cluster_config configs[CLUSTER_PARTS],
                    struct cluster_counters *const counters[CLUSTER_PARTS]);
void cluster_destroy(struct cluster *cluster); /* its arena is destroyed separately */
/* A network cycle: replies and lookups. Sets `next`. */
void cluster_tick(struct cluster *cluster, fs now);
/* The request that waits to enter the network, or NULL; and its removal once it has entered. */
const struct packet *cluster_miss(struct cluster *cluster);
void cluster_sent(struct cluster *cluster);
/* A line that it requested has arrived. */
void cluster_fill(struct cluster *cluster, const struct packet *packet, fs now);
/* Between windows: exchanges messages with its cores' ports. */
void cluster_meet(struct cluster *cluster);
/* Requests that have been received and not accepted. */
u32 cluster_unread(const struct cluster *cluster);
/* Invalidates the cache for constants and scalar loads. */
void cluster_flush(struct cluster *cluster);
/* Where a request is, for explanations; false: not here. *fetch: the request that its line waits
 * for; its `kind` is PACKET_KINDS if there is none. */
bool cluster_find(const struct cluster *cluster, const struct packet *request, char *text,
                  size_t size, struct packet *fetch);

#endif
