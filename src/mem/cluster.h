/*
 * Cores that share an instruction cache and a cache for constants and scalar loads: a cluster.
 *
 * What such a cluster's cores send for instructions and constants comes out of ports of its own,
 * one of each core for each of the two caches. A request is looked up `latency` after it was sent,
 * less the windows that ports take; at most one of a core and `ports` of all in a network cycle,
 * the cores taking turns. Hits are answered at once; what misses goes through the cluster's own
 * place in the network to the L2. Of the requests of one core for one line that are under way, and
 * of those of all its cores, one goes there.
 *
 *     ports of cores -> tags -> replies                                          a hit
 *                        \-> misses -> network, L2 -> fill -> answers -> replies
 *
 * A cycle runs these from back to front; answers come before look-ups and use the same `ports`.
 *
 * Invariants
 *  U1  A request is answered once, by the packet itself (M1).
 *  U2  A request of the cluster itself carries its number behind those of the cores, in `core`.
 *  U3  A cycle in which nothing is due changes nothing, so that skipping shows nowhere.
 *  U4  No memory is taken after cluster_create.
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

/* The same for both; filled from a component's parameters by CLUSTER_CONFIG. */
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
    fs delay;                    /* from leaving the port to the tags */
    u32 turn;                    /* the core that is looked at first */
    u32 answer;                  /* the pool entry to be answered next, or CLUSTER_NOBODY */
    RING(struct packet) misses;  /* that wait for the network */
    RING(u32) filled;            /* MSHRs whose waiters are being answered */
    struct packet *pool;         /* of those that wait for a line; a waiter is an index */
    struct payload *payloads;    /* of MSHRs: what DRAM has given to their line */
    u32 *free, free_count, size; /* a stack of free entries, of so many */
};

struct cluster {
    struct cluster_cache parts[CLUSTER_PARTS];
    u32 number, first, cores; /* of the first of its cores; how many they are */
    u32 place;                /* the number it has as a sender: U2 */
    u32 inside;               /* requests that are taken and not answered */
    u32 sender;               /* the part whose turn it is to enter the network */
    fs period;                /* of a network cycle */
    struct port *replies;     /* of all cores */
    fs next;                  /* the first time at which it may have something to do */
    struct content *content;  /* NULL: not armed */
};

/* `first`, `cores`, `place`, `period`, `replies` and the parts' `requests` and `delay` are set. */
void cluster_create(struct cluster *cluster, struct arena *arena,
                    const struct cluster_config configs[CLUSTER_PARTS],
                    struct cluster_counters *const counters[CLUSTER_PARTS]);
void cluster_destroy(struct cluster *cluster); /* its arena goes apart */
/* A network cycle: answers and look-ups. Sets `next`. */
void cluster_tick(struct cluster *cluster, fs now);
/* The request that waits to enter the network, or NULL; and that it has. */
const struct packet *cluster_miss(struct cluster *cluster);
void cluster_sent(struct cluster *cluster);
/* What it asked for has come. */
void cluster_fill(struct cluster *cluster, const struct packet *packet, fs now);
/* Between windows: the ports of its cores meet. */
void cluster_meet(struct cluster *cluster);
/* Requests that are known and not taken. */
u32 cluster_unread(const struct cluster *cluster);
/* Forgets constants and what scalar loads have brought. */
void cluster_flush(struct cluster *cluster);
/* Where a request is, for explanations; false: not here. *fetch: the request that its line waits
 * for; its `kind` is PACKET_KINDS when it waits for none. */
bool cluster_find(const struct cluster *cluster, const struct packet *request, char *text,
                  size_t size, struct packet *fetch);

#endif
