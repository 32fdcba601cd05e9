/*
 * Bits of packets and of requests to DRAM, for the visitors of the queues of slices and channels
 * (queue_live.c) and of the networks (network_live.c).
 *
 * A packet is a header of 64 bits and the data of an L2 line. The header, from the lowest bit on:
 * sectors, core, client, kind, whether all bytes are written, whether an atomic returns something, the
 * number of the line, and 16 bits of the request's own number.
 *
 * What a flip means
 *  - Sectors: more or fewer are read or written; a packet without any is lost.
 *  - Core, client and number: another requester gets the reply, with its data, or none. What waits for it
 *    waits for ever (mem/stray.h).
 *  - Kind: the packet is lost.
 *  - The line: another one is read, written, or changed by an atomic. Outside allocations, zeros are
 *    read and nothing is written. A reply is known by its number: its line does not matter.
 *  - Data, with content (mem/content.h): bytes that are stored, or loaded.
 */
#ifndef MEM_PACKET_LIVE_H
#define MEM_PACKET_LIVE_H

#include "base/state_walk.h"
#include "mem/system_parts.h"

enum {
    LIVE_HEADER_BITS = 64,
    LIVE_TAG_BITS = 16
};

/* Widths that depend on the machine. */
struct live_shape {
    u32 sectors, core, line_bytes;
};
static inline struct live_shape live_shape_of(const struct memory_system *m,
                                              const struct memory_system_params *params)
{
    const u32 line = m ? m->l2_params.line_bytes : params->l2->line_bytes;
    const u32 cores =
        m ? m->cores + m->cluster_count : params->cores + memory_system_clusters(params);
    return (struct live_shape){line / SECTOR_BYTES, state_index_bits(cores), line};
}

/* A packet, NULL: none; all of its header and data. */
void live_walk_packet(struct state_walk *walk, struct memory_system *m, struct packet *packet);
/* The core and number of the request in a packet that waits: as long as a row of waiters. */
void live_walk_requester(struct state_walk *walk, struct memory_system *m, struct packet *packet);
/* Bits from `from` on of a packet as it crosses a link: header and the data that it carries. `bits` of
 * them; those beyond its end are padding. by_sector: each sector has a header. */
void live_walk_flit(struct state_walk *walk, struct memory_system *m, struct packet *packet,
                    bool by_sector, u32 part_bits, u64 from, u32 bits);
/* Its part of a canonical hash. */
u64 live_hash_packet(const struct memory_system *m, const struct packet *packet, u64 hash);
/* Something of a slice, or of a channel, has changed: it acts at its next edge. */
void live_wake_slice(struct memory_system *m, u32 unit);
void live_wake_channel(struct memory_system *m, u32 channel);

/* network_live.c */
state_visit_fn live_visit_entrances, live_visit_flits, live_visit_outlets, live_visit_turns;
state_hash_fn live_hash_entrances, live_hash_turns; /* the first one covers packets and flits */
/* queue_live.c */
state_visit_fn live_visit_in, live_visit_out, live_visit_to_dram, live_visit_misses;
state_visit_fn live_visit_l2_mshrs, live_visit_l2_waiters;
state_hash_fn live_hash_in, live_hash_out, live_hash_to_dram, live_hash_misses;
state_hash_fn live_hash_l2_mshrs, live_hash_l2_waiters;

/* dram_live.c */
state_visit_fn live_visit_dram_queue, live_visit_dram_data, live_visit_dram_return;
state_visit_fn live_visit_open_rows;
state_hash_fn live_hash_dram_queue, live_hash_open_rows; /* the first one covers data */
/* With content: creates records of what requests read and write. */
void live_create_dram(struct memory_system *m);
/* A request enters a channel, before its data are written or read (content_enter_dram). */
void live_enter_dram(struct channel *channel, u32 index, const struct l2_slice *slice,
                     const struct l2_request *request);
/* A request accesses the row that is really open in its bank, or none. */
void live_row_astray(void *channel, u32 index, const struct dram_actual *actual);

#endif
