/* Networks: entrances, outlets and what is common to all kinds. */
#include "base/hot.h"
#include "mem/network_kind.h"

#include <stdio.h>

static void create_ends(struct network *network)
{
    const struct network_params *params = &network->params;
    struct arena *arena = network->arena;
    network->entrances = arena_array(arena, struct entrance, network->inputs);
    for (u32 i = 0; i < network->inputs; i++)
        ring_create(&network->entrances[i].waiting, arena, params->input_packets);
    network->outlets = arena_array(arena, struct outlet, network->outputs);
    for (u32 o = 0; o < network->outputs; o++)
        ring_create(&network->outlets[o].packets, arena, params->output_packets);
    network->waiting = arena_array(arena, u64, network->input_words);
    network->full = arena_array(arena, u64, network->input_words);
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
    network->slots = arena_array(network->arena, struct queued_packet, count);
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
    network->by_sector = replies && params->reply_by_sector && params->kind == NETWORK_CROSSBAR;
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

/* If the first packet on its way to an output is due, it is at the output. */
PART_OF void look(struct network *network, u32 output)
{
    struct outlet *outlet = &network->outlets[output];
    if (ring_item(&outlet->packets, outlet->standing)->due <= network->now) {
        outlet->standing++;
        network->arriving--;
        bit_set(network->ready, output);
        if (outlet->standing == outlet->packets.tail)
            return;
    }
    calendar_note(network, output, ring_item(&outlet->packets, outlet->standing)->due);
}

PART_OF void arrive(struct network *network)
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

HOT void network_tick(struct network *network)
{
    network_pass(network, 1);
    if (network->moving) {
        if (network->params.kind == NETWORK_MESH)
            mesh_tick(network);
        else
            crossbar_tick(network);
    }
    if (network->arriving)
        arrive(network);
}

static void place_text(const struct network *network, const struct queued_packet *slot, char *text,
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
        const struct queued_packet *slot = &network->slots[at];
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
