/* A network on the bench, and traffic that is checked: each packet must come out once, unchanged,
 * at its output, in the order of its input. */
#ifndef TEST_NETWORK_RIG_H
#define TEST_NETWORK_RIG_H

#include <setjmp.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>

#include <cmocka.h>

#include "mem/network_kind.h"

enum {
    CROSSBAR,
    MESH,
    KINDS
};

struct rig {
    struct network_params params;
    struct network_stats stats;
    struct network *network;
    u32 cores, partitions; /* inputs and outputs of the request network */
    u32 *pushed, *popped;  /* of each input and output: packets */
    u64 accepted, delivered;
    u64 delivered_flits;
    u64 seed;
};

static inline struct network_params usual_params(u32 kind)
{
    return (struct network_params){.kind = kind,
                                   .flit_bytes = 40,
                                   .input_packets = 8,
                                   .buffer_flits = 64,
                                   .output_packets = 32,
                                   .hop_cycles = 4,
                                   .speedup = 2,
                                   .cores_per_port = 1,
                                   .window = 8};
}

static inline void rig_open(struct rig *rig, const struct network_params *params, u32 cores,
                            u32 partitions)
{
    *rig = (struct rig){.params = *params, .cores = cores, .partitions = partitions, .seed = 1};
    rig->network = network_create(&rig->params, cores, partitions, false, &rig->stats);
    rig->pushed = calloc(cores * partitions, sizeof(u32));
    rig->popped = calloc(cores * partitions, sizeof(u32));
}

static inline void rig_close(struct rig *rig)
{
    network_destroy(rig->network);
    free(rig->pushed);
    free(rig->popped);
}

static inline u32 rig_random(struct rig *rig, u32 below)
{
    rig->seed = rig->seed * 6364136223846793005ull + 1442695040888963407ull;
    return (u32)((rig->seed >> 33) % below);
}

/* A packet of so many flits whose every field is told by where it goes and which one it is. */
static inline struct packet rig_packet(const struct rig *rig, u32 input, u32 output, u32 number,
                                       u32 flits)
{
    struct packet packet;
    memset(&packet, 0, sizeof packet);
    packet.address = (u64)input << 40 | (u64)output << 32 | number;
    packet.sent = packet.address * 3;
    packet.lanes = ~packet.address;
    packet.payload = packet.address ^ 0x5555;
    packet.sectors = number * 7;
    packet.tag = number;
    packet.from.inst = number + input;
    packet.core = (u16)input;
    packet.bytes = (u16)(flits * rig->params.flit_bytes - PACKET_HEADER_BYTES);
    packet.kind = PACKET_WRITE;
    packet.client = CLIENT_L1D;
    return packet;
}

static inline bool rig_push(struct rig *rig, u32 input, u32 output, u32 flits)
{
    if (!network_room(rig->network, input))
        return false;
    u32 number = rig->pushed[input * rig->partitions + output]++;
    struct packet packet = rig_packet(rig, input, output, number, flits);
    network_push(rig->network, input, output, &packet);
    rig->accepted++;
    return true;
}

/* Pops what stands at an output, if anything, and checks it; NO_PACKET or its input. */
#define NO_PACKET UINT32_MAX
static inline u32 rig_pop(struct rig *rig, u32 output)
{
    const struct packet *head = network_head(rig->network, output);
    bool bit = network_ready(rig->network)[output / 64] >> output % 64 & 1;
    assert_int_equal(head != NULL, bit);
    if (!head)
        return NO_PACKET;
    u32 input = head->core;
    u32 flits = network_flits(&rig->params, head);
    u32 number = rig->popped[input * rig->partitions + output]++;
    struct packet expected = rig_packet(rig, input, output, number, flits);
    assert_memory_equal(head, &expected, sizeof expected);
    network_pop(rig->network, output);
    rig->delivered++;
    rig->delivered_flits += flits;
    return input;
}

static inline void rig_pop_all(struct rig *rig)
{
    for (u32 o = 0; o < rig->partitions; o++)
        rig_pop(rig, o);
}

/* Runs until nothing is inside; each packet must be out then. */
static inline void rig_drain(struct rig *rig)
{
    u64 limit = 10000 + rig->accepted * 100;
    do {
        network_tick(rig->network);
        rig_pop_all(rig);
        assert_true(limit-- > 0);
    } while (rig->delivered < rig->accepted);
    assert_false(network_busy(rig->network));
    for (u32 i = 0; i < rig->cores * rig->partitions; i++)
        assert_int_equal(rig->pushed[i], rig->popped[i]);
}

/* Cycles from pushing a packet to its standing at the output, network empty. */
static inline u32 rig_latency(struct rig *rig, u32 input, u32 output, u32 flits)
{
    assert_true(rig_push(rig, input, output, flits));
    for (u32 n = 1; n < 100000; n++) {
        network_tick(rig->network);
        for (u32 o = 0; o < rig->partitions; o++)
            if (o != output)
                assert_null(network_head(rig->network, o));
        if (network_head(rig->network, output)) {
            assert_int_equal(rig_pop(rig, output), input);
            return n;
        }
        assert_true(network_busy(rig->network));
    }
    fail();
    return 0;
}

#endif
