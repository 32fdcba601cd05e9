/*
 * One direction of the interconnect: packets from `inputs` to `outputs`.
 *
 * A packet waits at its input's entrance (input_packets), enters flit by flit, one a cycle, and
 * stands at its output (output_packets) when its tail is there. In between:
 * A crossbar: a queue at each input (buffer_flits), so the first packet holds up those behind it,
 * as in GPGPU-Sim, which has one virtual channel; each output takes packets round robin, whole, its
 * link a flit a cycle; the switch may be faster than the links (speedup). crossbar.c
 * A mesh: routers in rows and columns, dimension-order (X, then Y), wormhole with credits; inputs
 * and outputs are nodes of one grid. mesh.c
 *
 * Unloaded, a packet of n flits stands at its output after hop_cycles for each router it passes
 * (the crossbar is one) and n - 1: pushed before a tick, that many ticks later.
 *
 * Invariants
 *  N1  Packets from one input to one output arrive in order.
 *  N2  Nothing is dropped: a packet enters only when network_room said so.
 *  N3  The same pushes give the same arrivals, whatever the order of calls within a cycle.
 */
#ifndef MEM_NETWORK_H
#define MEM_NETWORK_H

#include "mem/packet.h"
#include "mem/params.h"

struct network;

/* Counts into request_ or reply_ statistics; the network of requests counts `cycles`. Nodes of the
 * mesh: cores' ports first, then partitions, the same places in both directions. */
struct network *network_create(const struct network_params *params, u32 core_ports, u32 partitions,
                               bool replies, struct network_stats *stats);
void network_destroy(struct network *network);

/* What runs it, cycle by cycle, is in mem/network_kind.h. */
/* Where the packets of an outstanding request stand, for explanations: "router (2,3)", "input 4".
 */
bool network_find(const struct network *network, u16 core, u8 client, u32 tag, char *text,
                  size_t size);

#endif
