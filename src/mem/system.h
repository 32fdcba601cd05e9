/*
 * The memory side: both networks, the L2 slices and the DRAM channels, simulated as one actor; and
 * the caches that the cores of a cluster share, if any.
 *
 * Each core communicates with the memory side through a pair of ports with the latency of one
 * window. Within a window the memory side runs its own three clocks (network, L2, DRAM; ties in
 * this order) and nothing else. A core's request lies in one L2 line: the core splits larger ones.
 *
 * Invariants
 *  M1  Every request is answered once, by the packet itself with its kind changed.
 *  M2  Atomics are recorded in the order in which their slices serve them, slices in numerical
 *      order within a cycle; gpu/time/run.c performs them between windows.
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
    u32 cluster; /* cores that share caches; below 2: none, and cluster_* is not used */
};

struct memory_system_stats {
#define COMPONENT_ROW(name) struct name##_stats name;
#include "mem/components.def"
#undef COMPONENT_ROW
};

struct memory_system;
/* `params` must be consistent (gpu/machine/relations.h) and are copied. */
struct memory_system *memory_system_create(const struct memory_system_params *params);
void memory_system_destroy(struct memory_system *memory_system);

/* Arms it with content, which it owns; call before the first launch. */
struct content;
struct content_config;
struct content *memory_system_arm(struct memory_system *memory_system,
                                  const struct content_config *config);
/* After that, for bit flips: keeps what requests in DRAM read and write. */
void memory_system_make_live(struct memory_system *memory_system);
/* A launch has ended in which bits of the memory side were flipped: what is under way is completed, and
 * what would be for ever is forgotten (mem/stray.h). Otherwise does nothing. */
void memory_system_forget_strays(struct memory_system *memory_system);

/* A slice, by its number among those of all channels. */
struct l2_slice *memory_system_slice(struct memory_system *memory_system, u32 slice);
/* A DRAM channel, and its queues. */
void *memory_system_channel(struct memory_system *memory_system, u32 channel);
/* The two ports of a core, which pushes requests and pops replies. */
struct port *memory_system_requests(struct memory_system *memory_system, u32 core);
struct port *memory_system_replies(struct memory_system *memory_system, u32 core);
/* The port of a core to its cluster's caches, for CLIENT_FETCH or CLIENT_CONSTANT; without
 * clusters, the same as memory_system_requests. */
struct port *memory_system_shared(struct memory_system *memory_system, u32 core,
                                  enum packet_client client);

/* Seams of mechanisms; mem/services.h has the functions for them. */
void memory_system_set_packet_hooks(struct memory_system *memory_system,
                                    const struct packet_hooks *hooks);
void memory_system_set_l2_hooks(struct memory_system *memory_system, u32 slice,
                                const struct cache_hooks *hooks);
void memory_system_observe_l2(struct memory_system *memory_system, u32 slice,
                              cache_observe_fn *observe, void *user);
void memory_system_add_dram_hooks(struct memory_system *memory_system, u32 channel,
                                  const struct dram_hooks *hooks);

/* Where mechanisms of each partition record what happens (memory_system_record), one buffer for each
 * channel; NULL: nowhere. */
struct trace_buffer;
void memory_system_watch(struct memory_system *memory_system, struct trace_buffer *traces);

/* Runs all clock edges before `end`. */
void memory_system_run(struct memory_system *memory_system, fs end);
/* Between windows: exchanges messages with cores' ports. Cores without a bit in `cores` (NULL: all
 * are included) must have no unanswered request and must not have run since the last call. */
void memory_system_meet(struct memory_system *memory_system, const u64 *cores);
/* The earliest time at which it may have something to do; FS_NEVER: it is empty. */
fs memory_system_next(const struct memory_system *memory_system);

/* Atomics that the last window served, in order, for the cores to perform (serve_atomic in l2.c);
 * valid until the next memory_system_run. */
const struct packet *memory_system_atomics(const struct memory_system *memory_system, u32 *count);

/* Clusters of cores that share caches, each with its own port of the network. */
static inline u32 memory_system_clusters(const struct memory_system_params *params)
{
    return params->cluster > 1 ? (params->cores + params->cluster - 1) / params->cluster : 0;
}
/* The length of a window. */
fs memory_system_window(const struct memory_system_params *params);
/* The delay from leaving the network, or a cluster's port, until the tags can see a packet, without
 * the windows; negative: the latency is shorter than the windows. */
i64 memory_system_delay(const struct memory_system_params *params);
i64 memory_system_shared_delay(const struct memory_system_params *params, u32 latency);
/* Returns the statistics up to time `now` since the last call, and resets them. */
void memory_system_take_stats(struct memory_system *memory_system, fs now,
                              struct memory_system_stats *stats);
/* A launch begins: sets clocks and empties ports; caches stay as they are. What an earlier launch
 * left in flight is drained first. */
void memory_system_start(struct memory_system *memory_system, fs now);
/* Host copies: data in [address, address + bytes) are inserted into the L2 as far as they fit, in
 * order. */
void memory_system_copied(struct memory_system *memory_system, u64 address, u64 bytes);
/* For tests: idle cycles are no longer skipped. Results are the same. */
void memory_system_tick_all(struct memory_system *memory_system);
/* Invalidates the L2. */
void memory_system_invalidate(struct memory_system *memory_system);
/* Invalidates the clusters' caches for constants and scalar loads. */
void memory_system_flush(struct memory_system *memory_system);
/* Where an unanswered request is, for explanations; false: nowhere. */
bool memory_system_find(const struct memory_system *memory_system, const struct packet *request,
                        char *text, size_t size);
/* A hash of requests and their data on the way, with absolute times: of ports, writes to DRAM and the
 * state of channels. The networks and the queues of slices have rows of their own (mem/packet_live.h). */
u64 memory_system_hash(const struct memory_system *memory_system);
/* Requests that have been received and not answered. */
u32 memory_system_pending(const struct memory_system *memory_system);

#endif
