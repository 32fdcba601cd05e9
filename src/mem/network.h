/*
 * One direction of the interconnect: packets from `inputs` to `outputs`.
 *
 * A packet waits at its input's entrance (input_packets), enters one flit per cycle, and is at its
 * output (output_packets) when its tail has arrived. In between:
 * A crossbar: a queue at each input (buffer_flits), so that the first packet blocks those behind
 * it, as in GPGPU-Sim, which has one virtual channel; each output accepts whole packets round
 * robin, at one flit per cycle; the switch may be faster than the links (speedup). crossbar.c
 * A mesh: routers in rows and columns, dimension-order routing (X, then Y), wormhole with credits;
 * inputs and outputs are nodes of one grid. mesh.c
 *
 * Unloaded, a packet of n flits is at its output hop_cycles for each router it passes (the crossbar
 * is one) plus n - 1 cycles later: pushed before a tick, after that many ticks.
 *
 * Invariants
 *  N1  Packets from one input to one output arrive in order.
 *  N2  Nothing is dropped: a packet may enter only if network_room is true.
 *  N3  The same pushes result in the same arrivals, whatever the order of calls within a cycle.
 */
#ifndef MEM_NETWORK_H
#define MEM_NETWORK_H

#include "mem/packet.h"
#include "mem/params.h"

struct network;

/* Counts in the request_ or reply_ statistics; the request network counts `cycles`. Nodes of the
 * mesh: first the cores' ports, then partitions, at the same places in both directions. */
struct network *network_create(const struct network_params *params, u32 core_ports, u32 partitions,
                               bool replies, struct network_stats *stats);
void network_destroy(struct network *network);

/* mem/network_kind.h has the functions that are called in each cycle. */
/* Where the packets of an outstanding request are, for explanations: "router (2,3)", "input 4". */
bool network_find(const struct network *network, u16 core, u8 client, u32 tag, char *text,
                  size_t size);

#endif
