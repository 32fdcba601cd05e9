/*
 * Visitors of both networks: packets at entrances and outlets, flits in buffers, turns. See
 * packet_live.h for what a flip means.
 *
 * A packet that is crossing the network is in the first buffer that its flits are in: a flip in a flit
 * changes the packet, wherever its other flits are. Rows count the inputs, and the outputs, of the
 * request network first, then those of the reply network.
 *
 * Deviations: a packet keeps the output for which it entered the network, and its number of flits, when
 * its address or sectors are flipped. A mesh has no visitor for turns: they are counted per output, but
 * each of its routers has five.
 */
#include "mem/packet_live.h"

/* A network and one of its inputs or outputs. */
struct end {
    struct network *network;
    u32 number;
};

static struct end end_of(struct memory_system *m, u64 number, bool inputs)
{
    const u32 first = !m ? 0 : inputs ? m->up->inputs : m->up->outputs;
    const u32 second = !m ? 0 : inputs ? m->down->inputs : m->down->outputs;
    if (number < first)
        return (struct end){m->up, (u32)number};
    if (number - first < second)
        return (struct end){m->down, (u32)(number - first)};
    return (struct end){0};
}

static u32 places(const struct memory_system *m, bool inputs)
{
    return inputs ? m->network_params.input_packets : m->network_params.output_packets;
}

/* ---- entrances and outlets ---- */

static void visit_end(struct state_walk *walk, struct memory_system *m, u64 entry, bool inputs)
{
    const u32 each = m ? places(m, inputs) : 1;
    const struct end end = end_of(m, entry / each, inputs);
    const u32 at = (u32)(entry % each);
    struct packet *packet = NULL;
    if (end.network && inputs) {
        const struct entrance *entrance = &end.network->entrances[end.number];
        if (at < ring_count(&entrance->waiting))
            packet = &end.network->slots[*ring_at(&entrance->waiting, at)].packet;
    } else if (end.network) {
        const struct outlet *outlet = &end.network->outlets[end.number];
        if (at < ring_count(&outlet->packets))
            packet = &end.network->slots[ring_at(&outlet->packets, at)->slot].packet;
    }
    if (!walk_entry(walk, packet))
        return;
    live_walk_packet(walk, m, packet);
    if (m && walk->mode == WALK_FLIP)
        m->strays.struck = true;
}

void live_visit_entrances(struct state_walk *walk, const struct state_row *row, void *owner,
                          u64 entry)
{
    visit_end(walk, owner, entry, true);
}

void live_visit_outlets(struct state_walk *walk, const struct state_row *row, void *owner,
                        u64 entry)
{
    visit_end(walk, owner, entry, false);
}

/* ---- flits ---- */

static bool flit_at(const struct memory_system *m, u64 entry, struct network **network, u32 *slot,
                    u32 *flit)
{
    const u32 each = m->network_params.buffer_flits, at = (u32)(entry % each);
    u64 buffer = entry / each;
    if (m->network_params.kind == NETWORK_CROSSBAR) {
        const struct end end = end_of((struct memory_system *)m, buffer, true);
        *network = end.network;
        return end.network && crossbar_flit(end.network, end.number, at, slot, flit);
    }
    const u64 first = 5ull * (m->up->inputs + m->up->outputs);
    *network = buffer < first ? m->up : m->down;
    buffer -= buffer < first ? 0 : first;
    return mesh_flit(*network, (u32)buffer, at, slot, flit);
}

void live_visit_flits(struct state_walk *walk, const struct state_row *row, void *owner, u64 entry)
{
    struct memory_system *m = owner;
    struct network *network = NULL;
    u32 slot = 0, flit = 0;
    const bool used = m && flit_at(m, entry, &network, &slot, &flit);
    if (!walk_entry(walk, used))
        return;
    struct queued_packet *packet = used ? &network->slots[slot] : NULL;
    const u32 flits = used ? packet->part_flits : 1;
    live_walk_flit(walk, m, used ? &packet->packet : NULL, used && network->by_sector,
                   flits * row->bits, (u64)flit * row->bits, row->bits);
    if (m && walk->mode == WALK_FLIP)
        m->strays.struck = true;
}

void live_visit_turns(struct state_walk *walk, const struct state_row *row, void *owner, u64 entry)
{
    struct memory_system *m = owner;
    const struct end end = end_of(m, entry, false);
    u32 *turn = end.network ? crossbar_turn(end.network, end.number) : NULL;
    u64 value = turn ? *turn : 0;
    if (walk_entry(walk, turn && network_busy(end.network)) &&
        walk_field(walk, &value, row->bits) && turn)
        *turn = (u32)value % end.network->inputs;
}

/* ---- hashes: the rows of entrances cover all that is in use ---- */

/* The numbers of slots depend on what was there before: packets inside are added up, and the order in
 * which they are there is hashed with the buffers. */
static u64 sum_inside(const struct memory_system *m, const struct network *network)
{
    u64 sum = 0;
    for (u32 i = 0; network->moving && i < network->fresh; i++) {
        const struct queued_packet *slot = &network->slots[i];
        if (slot->place == SLOT_INSIDE)
            sum += live_hash_packet(m, &slot->packet,
                                    (u64)slot->input << 40 | (u64)slot->output << 24 | slot->flits);
    }
    return sum;
}

static u64 hash_network(const struct memory_system *m, const struct network *network, u64 hash)
{
    for (u32 w = 0; w < network->input_words; w++)
        FOR_BITS(bit, network->waiting[w]) {
            const struct entrance *entrance = &network->entrances[w * 64 + (u32)bit];
            hash = hash_word(hash, (u64)(w * 64 + (u32)bit) << 32 | entrance->left);
            for (u32 i = 0; i < ring_count(&entrance->waiting); i++)
                hash = live_hash_packet(m, &network->slots[*ring_at(&entrance->waiting, i)].packet,
                                        hash);
        }
    for (u32 o = 0; o < network->outputs; o++) {
        const struct outlet *outlet = &network->outlets[o];
        for (u32 i = 0; i < ring_count(&outlet->packets); i++) {
            const struct arrival *arrival = ring_at(&outlet->packets, i);
            const u64 left = MAX(arrival->due, network->now) - network->now;
            hash = live_hash_packet(m, &network->slots[arrival->slot].packet,
                                    hash_word(hash, (u64)o << 40 | left));
        }
    }
    if (!network->moving)
        return hash;
    hash = hash_word(hash, sum_inside(m, network));
    return network->params.kind == NETWORK_MESH ? mesh_hash(network, hash)
                                                : crossbar_hash(network, hash);
}

u64 live_hash_entrances(const struct state_row *row, void *owner, u64 hash)
{
    const struct memory_system *m = owner;
    return hash_network(m, m->down, hash_network(m, m->up, hash));
}

u64 live_hash_turns(const struct state_row *row, void *owner, u64 hash)
{
    struct memory_system *m = owner;
    for (u64 i = 0; i < row->entries; i++) {
        const struct end end = end_of(m, i, false);
        if (end.network)
            hash = hash_word(hash, *crossbar_turn(end.network, end.number));
    }
    return hash;
}
