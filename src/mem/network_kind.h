/*
 * What all kinds of network share: the entrances, where packets wait to enter at one flit per
 * cycle; the outlets, where whole packets wait until they are taken; and the packets themselves.
 *
 * A kind of network moves flits from entrances to outlets. It calls entrance_flit for the next flit
 * of an input, outlet_claim for a place before a packet's head leaves for its output, and
 * outlet_deliver once its tail is on the last link. Packets are named by the number of their slot.
 *
 * The functions that are called for each packet and cycle are inline here.
 *
 * Invariants
 *  K1  A push changes only state of its own input (slot numbers depend on the order of calls, but
 *      nothing depends on them), hence N3.
 *  K2  Places of an outlet are claimed before flits leave for it, so that a link never stops
 *      halfway.
 *  K3  Nothing allocates after network_create.
 */
#ifndef MEM_NETWORK_KIND_H
#define MEM_NETWORK_KIND_H

#include "base/bits.h"
#include "base/ring.h"
#include "mem/network.h"

enum {
    NETWORK_CROSSBAR,
    NETWORK_MESH
};

enum slot_place {
    SLOT_FREE,
    SLOT_ENTRANCE, /* no flit has entered */
    SLOT_INSIDE,   /* between entrance and last link */
    SLOT_OUTLET    /* its tail is on the last link, or it is at the output */
};

struct queued_packet {
    struct packet packet;
    u64 pushed; /* cycle */
    u32 flits;
    u32 part_flits; /* crossbar: of each part that is switched by itself, a packet of its own */
    u32 router;     /* mesh: where its head is */
    u16 input, output;
    u8 place; /* enum slot_place */
};

struct entrance {
    RING(u32) waiting; /* slots of packets that have not entered completely */
    u32 left;          /* flits of the first packet that have not entered; 0: none has */
};

struct arrival {
    u64 due; /* the cycle from which it is at its output; later than that of the packet before it */
    u32 slot;
};

struct outlet {
    RING(struct arrival) packets; /* packets whose tail is on the last link or here */
    u32 standing;                 /* position: packets before it are here */
    u32 claimed;                  /* places taken by packets here or on their way */
};

struct network {
    struct network_params params;
    struct network_stats *stats;
    u64 *packets, *flits, *wait_cycles; /* the statistics of this direction */
    bool replies;
    bool by_sector; /* a packet of several sectors has that many parts */
    u32 inputs, outputs;
    u32 input_words, output_words; /* of masks, a bit each */
    u64 now;                       /* cycles run */
    u32 moving;                    /* packets before the last link */
    u32 arriving;                  /* packets on the last link */
    struct queued_packet *slots;
    u32 *free_slots; /* a stack: the slots used last are still in the host's cache */
    u32 free_count;
    u32 fresh; /* slots from here on were never used */
    struct entrance *entrances;
    struct outlet *outlets;
    u64 *waiting;      /* inputs whose entrance is not empty */
    u64 *full;         /* inputs whose entrance has no room */
    u64 *ready;        /* outputs with a packet */
    u64 *calendar;     /* for each of the next cycles: outputs whose first packet must be checked */
    u32 calendar_mask; /* cycles that the calendar covers, minus one; a ring */
    struct arena *arena;
    union {
        struct crossbar *crossbar;
        struct mesh *mesh;
    };
};

void crossbar_create(struct network *network);
void crossbar_tick(struct network *network);
/* For visitors: the flit at a position of an input's buffer, as the slot of its packet and its number in
 * the packet; false: none is there. And the input that has its turn at an output. */
bool crossbar_flit(const struct network *network, u32 input, u32 position, u32 *slot, u32 *flit);
u32 *crossbar_turn(const struct network *network, u32 output);
/* What decides the future of a crossbar, apart from its packets: to continue a hash. */
u64 crossbar_hash(const struct network *network, u64 hash);

void mesh_create(struct network *network);
void mesh_tick(struct network *network);
/* The same of a router's buffer: five for each router. */
bool mesh_flit(const struct network *network, u32 buffer, u32 position, u32 *slot, u32 *flit);
u64 mesh_hash(const struct network *network, u64 hash);
/* Packets that a mesh of this size can hold between entrances and outlets. */
u64 mesh_capacity(const struct network *network);
void mesh_place(const struct network *network, const struct queued_packet *slot, char *text,
                size_t size);

/* Takes the next flit of a waiting input; *head: it is the first of its packet. */
static inline u32 entrance_flit(struct network *network, u32 input, bool *head)
{
    struct entrance *entrance = &network->entrances[input];
    u32 at = *ring_head(&entrance->waiting);
    *head = entrance->left == 0;
    if (*head) {
        network->slots[at].place = SLOT_INSIDE;
        entrance->left = network->slots[at].flits;
    }
    if (--entrance->left == 0) {
        ring_pop(&entrance->waiting);
        bit_clear(network->full, input);
        if (!ring_count(&entrance->waiting))
            bit_clear(network->waiting, input);
    }
    return at;
}

/* Takes a place at an output for a packet; false: none is free. */
static inline bool outlet_claim(struct network *network, u32 output)
{
    struct outlet *outlet = &network->outlets[output];
    if (outlet->claimed == network->params.output_packets)
        return false;
    outlet->claimed++;
    return true;
}

/* Checks the output in a given cycle. If the calendar does not reach that far, the output is
 * checked in each round until then. */
static inline void calendar_note(struct network *network, u32 output, u64 cycle)
{
    bit_set(&network->calendar[(cycle & network->calendar_mask) * network->output_words], output);
}

/* The packet is at its output from cycle `due` on: this one or later, and later than the packet
 * before it. */
static inline void outlet_deliver(struct network *network, u32 output, u32 at, u64 due)
{
    struct outlet *outlet = &network->outlets[output];
    network->slots[at].place = SLOT_OUTLET;
    network->moving--;
    network->arriving++;
    if (outlet->standing == outlet->packets.tail)
        calendar_note(network, output, due);
    *ring_push(&outlet->packets) = (struct arrival){due, at};
}

/* ---- Called in each cycle ---- */

/* Flits of a packet that carries this much data. */
static inline u32 network_flits_of(const struct network_params *params, const struct packet *packet,
                                   u32 data)
{
    const u32 bytes = PACKET_HEADER_BYTES + data + (packet->payload_bits + 7u) / 8;
    return (bytes + params->flit_bytes - 1) / params->flit_bytes;
}
static inline u32 network_flits(const struct network_params *params, const struct packet *packet)
{
    return network_flits_of(params, packet, packet->bytes);
}

/* Its size. Parts of a reply, one for each sector, have a header each and are as long as each other. */
static inline void network_size(const struct network *network, struct queued_packet *slot)
{
    const struct packet *packet = &slot->packet;
    const bool whole = !network->by_sector || !(packet->sectors & (packet->sectors - 1));
    const u32 parts = whole ? 1 : count_sectors(packet->sectors);
    slot->part_flits = network_flits_of(&network->params, packet, packet->bytes / parts);
    slot->flits = parts * slot->part_flits;
}

static inline bool network_room(const struct network *network, u32 input)
{
    return !(network->full[input / 64] >> input % 64 & 1);
}
/* Inputs without room, 64 per word. */
static inline const u64 *network_full_inputs(const struct network *network)
{
    return network->full;
}

/* For statistics: in this cycle packets found no room at this many inputs. */
static inline void network_full(struct network *network, u32 inputs)
{
    network->stats->full_cycles += inputs;
}

PART_OF void network_push(struct network *network, u32 input, u32 output,
                          const struct packet *packet)
{
    assert(network_room(network, input) && output < network->outputs);
    u32 at = network->free_count ? network->free_slots[--network->free_count] : network->fresh++;
    struct queued_packet *slot = &network->slots[at];
    slot->packet = *packet;
    slot->pushed = network->now;
    network_size(network, slot);
    slot->input = (u16)input;
    slot->output = (u16)output;
    slot->place = SLOT_ENTRANCE;
    *ring_push(&network->entrances[input].waiting) = at;
    bit_set(network->waiting, input);
    if (ring_count(&network->entrances[input].waiting) == network->params.input_packets)
        bit_set(network->full, input);
    network->moving++;
    ++*network->packets;
    *network->flits += slot->flits;
}

/* One network cycle. */
void network_tick(struct network *network);

/* The packet at an output, or NULL. */
static inline const struct packet *network_head(const struct network *network, u32 output)
{
    const struct outlet *outlet = &network->outlets[output];
    if (outlet->packets.head == outlet->standing)
        return NULL;
    return &network->slots[ring_head(&outlet->packets)->slot].packet;
}

static inline void network_pop(struct network *network, u32 output)
{
    struct outlet *outlet = &network->outlets[output];
    assert(outlet->packets.head != outlet->standing);
    u32 at = ring_head(&outlet->packets)->slot;
    struct queued_packet *slot = &network->slots[at];
    *network->wait_cycles += network->now - slot->pushed;
    slot->place = SLOT_FREE;
    network->free_slots[network->free_count++] = at;
    outlet->claimed--;
    ring_pop(&outlet->packets);
    if (outlet->packets.head == outlet->standing)
        bit_clear(network->ready, output);
}

/* Outputs with a packet: one bit each, 64 per word. */
static inline const u64 *network_ready(const struct network *network)
{
    return network->ready;
}

/* False: a tick would change nothing. */
static inline bool network_busy(const struct network *network)
{
    return network->moving || network->arriving;
}

/* The two networks of a machine count in the same statistics; one of them counts time. */
static inline void network_pass(struct network *network, u64 cycles)
{
    network->now += cycles;
    if (!network->replies)
        network->stats->cycles += cycles;
}

/* Lets n cycles pass while the network is not busy. */
static inline void network_skip(struct network *network, u64 n)
{
    assert(!network_busy(network));
    network_pass(network, n);
}

#endif
