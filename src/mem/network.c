/* Networks: entrances, outlets and what is common to all kinds. */
#include "mem/network_kind.h"

#include <stdio.h>

struct fifo fifo_create(struct arena *arena, u32 entries)
{
    u32 size = 1;
    while (size < entries)
        size *= 2;
    return (struct fifo){.slots = arena_array(arena, u32, size), .mask = size - 1};
}

static void create_ends(struct network *network)
{
    const struct network_params *params = &network->params;
    struct arena *arena = network->arena;
    network->entrances = arena_array(arena, struct entrance, network->inputs);
    for (u32 i = 0; i < network->inputs; i++)
        network->entrances[i].waiting = fifo_create(arena, params->input_packets);
    network->outlets = arena_array(arena, struct outlet, network->outputs);
    for (u32 o = 0; o < network->outputs; o++) {
        struct outlet *outlet = &network->outlets[o];
        outlet->packets = fifo_create(arena, params->output_packets);
        outlet->due = arena_array(arena, u64, outlet->packets.mask + 1);
    }
    network->waiting = arena_array(arena, u64, network->input_words);
    network->ready = arena_array(arena, u64, network->output_words);
    u32 cycles = 16;
    while (cycles < params->hop_cycles)
        cycles *= 2;
    network->calendar_mask = cycles - 1;
    network->calendar = arena_array(arena, u64, (size_t)cycles * network->output_words);
}

static void create_slots(struct network *network)
{
    const struct network_params *params = &network->params;
    u64 inside = params->kind == NETWORK_MESH ? mesh_capacity(network)
                                              : (u64)network->inputs * params->buffer_flits;
    u64 count = inside + (u64)network->inputs * params->input_packets +
                (u64)network->outputs * params->output_packets;
    network->slots = arena_array(network->arena, struct slot, count);
    network->free_slots = arena_array(network->arena, u32, count);
}

struct network *network_create(const struct network_params *params, u32 core_ports, u32 partitions,
                               bool replies, struct network_stats *stats)
{
    struct arena *arena = arena_create();
    struct network *network = arena_new(arena, struct network);
    network->arena = arena;
    network->params = *params;
    network->stats = stats;
    network->packets = replies ? &stats->reply_packets : &stats->request_packets;
    network->flits = replies ? &stats->reply_flits : &stats->request_flits;
    network->wait_cycles = replies ? &stats->reply_wait_cycles : &stats->request_wait_cycles;
    network->replies = replies;
    network->inputs = replies ? partitions : core_ports;
    network->outputs = replies ? core_ports : partitions;
    network->input_words = (network->inputs + 63) / 64;
    network->output_words = (network->outputs + 63) / 64;
    create_ends(network);
    if (params->kind == NETWORK_MESH)
        mesh_create(network);
    else
        crossbar_create(network);
    create_slots(network);
    return network;
}

void network_destroy(struct network *network)
{
    if (network)
        arena_destroy(network->arena);
}

u32 network_flits(const struct network_params *params, const struct packet *packet)
{
    u32 bytes = PACKET_HEADER_BYTES + packet->bytes + (packet->payload_bits + 7u) / 8;
    return (bytes + params->flit_bytes - 1) / params->flit_bytes;
}

bool network_room(const struct network *network, u32 input)
{
    const struct fifo *waiting = &network->entrances[input].waiting;
    return waiting->end - waiting->first < network->params.input_packets;
}

void network_full(struct network *network)
{
    network->stats->full_cycles++;
}

void network_push(struct network *network, u32 input, u32 output, const struct packet *packet)
{
    assert(network_room(network, input) && output < network->outputs);
    u32 at = network->free_count ? network->free_slots[--network->free_count] : network->fresh++;
    struct slot *slot = &network->slots[at];
    slot->packet = *packet;
    slot->pushed = network->now;
    slot->flits = network_flits(&network->params, packet);
    slot->input = (u16)input;
    slot->output = (u16)output;
    slot->place = SLOT_ENTRANCE;
    fifo_push(&network->entrances[input].waiting, at);
    bit_set(network->waiting, input);
    network->moving++;
    ++*network->packets;
    *network->flits += slot->flits;
}

/* The first packet on the way to an output stands there, if it is due. */
static void look(struct network *network, u32 output)
{
    struct outlet *outlet = &network->outlets[output];
    u32 mask = outlet->packets.mask;
    if (outlet->due[outlet->standing & mask] <= network->now) {
        outlet->standing++;
        network->arriving--;
        bit_set(network->ready, output);
        if (outlet->standing == outlet->packets.end)
            return;
    }
    calendar_note(network, output, outlet->due[outlet->standing & mask]);
}

static void arrive(struct network *network)
{
    u64 *today =
        &network->calendar[(network->now & network->calendar_mask) * network->output_words];
    for (u32 w = 0; w < network->output_words; w++) {
        u64 outputs = today[w];
        today[w] = 0;
        FOR_BITS(bit, outputs)
        look(network, w * 64 + (u32)bit);
    }
}

/* The two networks of a machine count into the same statistics; one of them counts time. */
static void pass(struct network *network, u64 cycles)
{
    network->now += cycles;
    if (!network->replies)
        network->stats->cycles += cycles;
}

void network_tick(struct network *network)
{
    pass(network, 1);
    if (network->moving) {
        if (network->params.kind == NETWORK_MESH)
            mesh_tick(network);
        else
            crossbar_tick(network);
    }
    if (network->arriving)
        arrive(network);
}

const struct packet *network_head(const struct network *network, u32 output)
{
    const struct outlet *outlet = &network->outlets[output];
    if (outlet->packets.first == outlet->standing)
        return NULL;
    return &network->slots[fifo_head(&outlet->packets)].packet;
}

void network_pop(struct network *network, u32 output)
{
    struct outlet *outlet = &network->outlets[output];
    assert(outlet->packets.first != outlet->standing);
    u32 at = fifo_head(&outlet->packets);
    struct slot *slot = &network->slots[at];
    *network->wait_cycles += network->now - slot->pushed;
    slot->place = SLOT_FREE;
    network->free_slots[network->free_count++] = at;
    outlet->claimed--;
    outlet->packets.first++;
    if (outlet->packets.first == outlet->standing)
        bit_clear(network->ready, output);
}

const u64 *network_ready(const struct network *network)
{
    return network->ready;
}

bool network_busy(const struct network *network)
{
    return network->moving || network->arriving;
}

void network_skip(struct network *network, u64 n)
{
    assert(!network_busy(network));
    pass(network, n);
}

static void place_text(const struct network *network, const struct slot *slot, char *text,
                       size_t size)
{
    if (slot->place == SLOT_OUTLET)
        snprintf(text, size, "output %u", slot->output);
    else if (slot->place == SLOT_INSIDE && network->params.kind == NETWORK_MESH)
        mesh_place(network, slot, text, size);
    else
        snprintf(text, size, "input %u", slot->input);
}

bool network_find(const struct network *network, u16 core, u8 client, u32 tag, char *text,
                  size_t size)
{
    size_t used = 0;
    bool found = false;
    for (u32 at = 0; at < network->fresh; at++) {
        const struct slot *slot = &network->slots[at];
        const struct packet *packet = &slot->packet;
        if (slot->place == SLOT_FREE || packet->core != core || packet->client != client ||
            packet->tag != tag)
            continue;
        char place[64];
        place_text(network, slot, place, sizeof place);
        if (used < size)
            used += (size_t)snprintf(text + used, size - used, found ? ", %s" : "%s", place);
        found = true;
    }
    return found;
}
