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
 *      number within a cycle; the loop over windows performs them between windows.
 */
#ifndef MEM_MEMORY_SYSTEM_H
#define MEM_MEMORY_SYSTEM_H

#include "base/text.h"
#include "mem/cache.h"
#include "mem/cluster.h"
#include "mem/dram.h"
#include "mem/network.h"
#include "mem/params.h"
#include "mem/port.h"
#include "mem/services.h"

struct memory_system_params {
#define COMPONENT_ROW(name) const struct name##_params *name;
#include "mem/components.def"
#undef COMPONENT_ROW
    f64 network_mhz, l2_mhz, dram_mhz;
    u32 cores;
    u32 cluster; /* cores that share caches; below 2: none do, and cluster_* is not used */
};

struct memory_system_stats {
#define COMPONENT_ROW(name) struct name##_stats name;
#include "mem/components.def"
#undef COMPONENT_ROW
};

struct memory_system;
/* `params` fit each other (gpu/machine/relations.h); they are copied. */
struct memory_system *memory_system_create(const struct memory_system_params *params);
void memory_system_destroy(struct memory_system *memory_system);

/* Arms it with content, which it owns; before the first launch. */
struct content;
struct content_config;
struct content *memory_system_arm(struct memory_system *memory_system,
                                  const struct content_config *config);

/* The two ports of a core: it pushes requests and pops replies. */
struct port *memory_system_requests(struct memory_system *memory_system, u32 core);
struct port *memory_system_replies(struct memory_system *memory_system, u32 core);
/* The ports for what its cluster's caches serve, CLIENT_FETCH and CLIENT_CONSTANT; without a
 * cluster the same as for all requests. */
struct port *memory_system_shared(struct memory_system *memory_system, u32 core,
                                  enum packet_client client);

/* Seams of mechanisms; what it does for them is in mem/services.h. */
void memory_system_set_packet_hooks(struct memory_system *memory_system,
                                    const struct packet_hooks *hooks);
void memory_system_set_l2_hooks(struct memory_system *memory_system, u32 slice,
                                const struct cache_hooks *hooks);
void memory_system_set_dram_hooks(struct memory_system *memory_system, u32 channel,
                                  const struct dram_hooks *hooks);

/* Runs all its clock edges before `end`. */
void memory_system_run(struct memory_system *memory_system, fs end);
/* Between windows: its ports meet. Of cores without a bit in `cores` (NULL: none is left out) no
 * request is unanswered, and they have not run since. */
void memory_system_meet(struct memory_system *memory_system, const u64 *cores);
/* The first time at which it may have something to do; FS_NEVER: it is empty. */
fs memory_system_next(const struct memory_system *memory_system);

/* Atomics that the last window served, in order, for the cores to perform (l2.c, serve_atomic);
 * valid until the next memory_system_run. */
const struct packet *memory_system_atomics(const struct memory_system *memory_system, u32 *count);

/* Clusters of cores that share caches, each with a place of its own in the network. */
static inline u32 memory_system_clusters(const struct memory_system_params *params)
{
    return params->cluster > 1 ? (params->cores + params->cluster - 1) / params->cluster : 0;
}
/* The length of a window. */
fs memory_system_window(const struct memory_system_params *params);
/* From leaving the network, or the port of a cluster, until the tags may see a packet, without the
 * windows; negative: the latency is shorter than they are. */
i64 memory_system_delay(const struct memory_system_params *params);
i64 memory_system_shared_delay(const struct memory_system_params *params, u32 latency);
/* Statistics since the last call, and set to zero. `now` is the time they reach to. */
void memory_system_take_stats(struct memory_system *memory_system, fs now,
                              struct memory_system_stats *stats);
/* A launch begins at this time: clocks are set, ports emptied, caches stay as they are. What an
 * earlier launch has left on its way is gone. */
void memory_system_start(struct memory_system *memory_system, fs now);
/* Host copies: data in [address, address + bytes) stand in the L2 as far as they fit, in order. */
void memory_system_copied(struct memory_system *memory_system, u64 address, u64 bytes);
/* For tests: nothing idle is skipped any more. Results are the same. */
void memory_system_tick_all(struct memory_system *memory_system);
/* Forgets the L2's lines. */
void memory_system_invalidate(struct memory_system *memory_system);
/* Clusters forget constants and what scalar loads have brought. */
void memory_system_flush(struct memory_system *memory_system);
/* Where a request that was not answered yet is, for explanations; false: nowhere. */
bool memory_system_find(const struct memory_system *memory_system, const struct packet *request,
                        char *text, size_t size);
/* Requests that are known and not answered. */
u32 memory_system_pending(const struct memory_system *memory_system);

#endif
