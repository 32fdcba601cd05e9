/*
 * The memory side: both networks, the L2 slices and the DRAM channels, as one actor in time; and
 * the caches that the cores of a cluster share, where they do.
 *
 * Cores and the memory side meet through a pair of ports each, of one window's latency. Within a
 * window it runs its own three clocks (network, L2, DRAM; ties in this order) and nothing else.
 * What a core sends lies in one L2 line: the core splits what does not.
 *
 * Invariants
 *  M1  Every request that was sent is answered once, by the packet itself with its kind changed.
 *  M2  Atomics are noted in the order in which their slices serve them, slices in order of their
 *      number within a cycle; whoever runs the windows performs them between windows.
 */
#ifndef MEM_MEMSIDE_H
#define MEM_MEMSIDE_H

#include "base/text.h"
#include "mem/cache.h"
#include "mem/cluster.h"
#include "mem/dram.h"
#include "mem/network.h"
#include "mem/port.h"

#define COMPONENT l2
#define COMPONENT_DEF "mem/l2.def"
#include "base/component_struct.h"

struct memside_params {
    const struct network_params *network;
    const struct l2_params *l2;
    const struct dram_params *dram;
    f64 network_mhz, l2_mhz, dram_mhz;
    u32 cores;
    u32 cluster; /* cores that share caches; below 2: none do, and what follows is not looked at */
    const struct cluster_icache_params *cluster_icache;
    const struct cluster_constant_params *cluster_constant;
};

struct memside_stats {
    struct network_stats network;
    struct l2_stats l2;
    struct dram_stats dram;
    struct cluster_icache_stats cluster_icache;
    struct cluster_constant_stats cluster_constant;
};

struct memside;
/* `params` fit each other (gpu/relations.h); they are copied. */
struct memside *memside_create(const struct memside_params *params);
void memside_destroy(struct memside *memside);

/* The two ports of a core: it pushes requests and pops replies. */
struct port *memside_requests(struct memside *memside, u32 core);
struct port *memside_replies(struct memside *memside, u32 core);
/* The ports for what its cluster's caches serve, CLIENT_FETCH and CLIENT_CONSTANT; without a
 * cluster the same as for all requests. */
struct port *memside_shared(struct memside *memside, u32 core, enum packet_client client);

/* Seams of mechanisms; slices are numbered through all channels. */
u32 memside_slices(const struct memside *memside);
u32 memside_channels(const struct memside *memside);
void memside_set_packet_hooks(struct memside *memside, const struct packet_hooks *hooks);
void memside_set_l2_hooks(struct memside *memside, u32 slice, const struct cache_hooks *hooks);
void memside_set_dram_hooks(struct memside *memside, u32 channel, const struct dram_hooks *hooks);

/* Runs all its clock edges before `end`. */
void memside_run(struct memside *memside, fs end);
/* Between windows: its ports meet. */
void memside_meet(struct memside *memside);
/* The first time at which it may have something to do; FS_NEVER: it is empty. */
fs memside_next(const struct memside *memside);

/* Atomics that the last window served, in order; valid until the next memside_run. */
const struct packet *memside_atomics(const struct memside *memside, u32 *count);

/* Clusters of cores that share caches, each with a place of its own in the network. */
static inline u32 memside_clusters(const struct memside_params *params)
{
    return params->cluster > 1 ? (params->cores + params->cluster - 1) / params->cluster : 0;
}
/* The length of a window. */
fs memside_window(const struct memside_params *params);
/* From leaving the network, or the port of a cluster, until the tags may see a packet, without the
 * windows; negative: the latency is shorter than they are. */
i64 memside_delay(const struct memside_params *params);
i64 memside_shared_delay(const struct memside_params *params, u32 latency);
/* Statistics since the last call, and set to zero. `now` is the time they reach to. */
void memside_take_stats(struct memside *memside, fs now, struct memside_stats *stats);
/* A launch begins at this time: clocks are set, ports emptied, caches stay as they are. What an
 * earlier launch has left on its way is gone. */
void memside_start(struct memside *memside, fs now);
/* Host copies: data in [address, address + bytes) stand in the L2 as far as they fit, in order. */
void memside_copied(struct memside *memside, u64 address, u64 bytes);
/* For tests: nothing idle is skipped any more. Results are the same. */
void memside_tick_all(struct memside *memside);
/* Forgets the L2's lines. */
void memside_invalidate(struct memside *memside);
/* Clusters forget constants and what scalar loads have brought. */
void memside_flush(struct memside *memside);
/* Where a request that was not answered yet is, for explanations; false: nowhere. */
bool memside_find(const struct memside *memside, const struct packet *request, char *text,
                  size_t size);
/* Requests that are known and not answered. */
u32 memside_pending(const struct memside *memside);

#endif
