/* What holds for every kind of network: nothing is lost, changed or overtaken; order of calls and
 * idle cycles do not matter; statistics add up. */
#include "network_rig.h"

static void test_flits(void **state)
{
    struct network_params params = usual_params(CROSSBAR);
    struct packet packet = {.bytes = 0};
    assert_int_equal(network_flits(&params, &packet), 1);
    packet.bytes = 32; /* a sector and the header fill a flit */
    assert_int_equal(network_flits(&params, &packet), 1);
    packet.payload_bits = 1;
    assert_int_equal(network_flits(&params, &packet), 2);
    packet.payload_bits = 0;
    packet.bytes = 33;
    assert_int_equal(network_flits(&params, &packet), 2);
    packet.bytes = 128;
    assert_int_equal(network_flits(&params, &packet), 4);
}

/* Random traffic and random pops through small buffers, then through large ones. */
static void test_conservation(void **state)
{
    static const u32 sizes[][3] = {{1, 1, 1}, {2, 3, 2}, {8, 64, 32}, {1, 5, 1}};
    for (u32 kind = 0; kind < KINDS; kind++) {
        for (u32 s = 0; s < ARRAY_LEN(sizes); s++) {
            struct network_params params = usual_params(kind);
            params.input_packets = sizes[s][0];
            params.buffer_flits = sizes[s][1];
            params.output_packets = sizes[s][2];
            params.hop_cycles = 1 + s;
            params.speedup = 1 + s % 3;
            struct rig rig;
            rig_open(&rig, &params, 15, 12);
            for (u32 cycle = 0; cycle < 5000; cycle++) {
                for (u32 i = 0; i < rig.cores; i++)
                    if (rig_random(&rig, 3))
                        rig_push(&rig, i, rig_random(&rig, 12), 1 + rig_random(&rig, 5));
                network_tick(rig.network);
                for (u32 o = 0; o < rig.partitions; o++)
                    if (rig_random(&rig, 2))
                        rig_pop(&rig, o);
            }
            assert_true(rig.delivered > 1000);
            rig_drain(&rig);
            assert_int_equal(rig.stats.request_packets, rig.delivered);
            assert_int_equal(rig.stats.request_flits, rig.delivered_flits);
            assert_int_equal(rig.stats.reply_packets, 0);
            rig_close(&rig);
        }
    }
}

/* The same pushes, made in a different order within each cycle. */
static void test_push_order(void **state)
{
    for (u32 kind = 0; kind < KINDS; kind++) {
        struct network_params params = usual_params(kind);
        params.buffer_flits = 4;
        params.output_packets = 3;
        struct rig a, b;
        rig_open(&a, &params, 15, 12);
        rig_open(&b, &params, 15, 12);
        for (u32 cycle = 0; cycle < 3000; cycle++) {
            u32 outputs[15], flits[15], skew = rig_random(&a, 15);
            for (u32 i = 0; i < 15; i++) {
                outputs[i] = rig_random(&a, 12);
                flits[i] = rig_random(&a, 5); /* 0: none */
            }
            for (u32 i = 0; i < 15; i++)
                if (flits[i])
                    rig_push(&a, i, outputs[i], flits[i]);
            for (u32 k = 0; k < 15; k++) {
                u32 i = (skew + 15 - k) % 15;
                if (flits[i])
                    rig_push(&b, i, outputs[i], flits[i]);
            }
            assert_int_equal(a.accepted, b.accepted);
            network_tick(a.network);
            network_tick(b.network);
            for (u32 o = 0; o < 12; o++)
                if ((cycle + o) % 3)
                    assert_int_equal(rig_pop(&a, o), rig_pop(&b, o));
        }
        assert_true(a.delivered > 1000);
        assert_memory_equal(&a.stats, &b.stats, sizeof a.stats);
        rig_close(&a);
        rig_close(&b);
    }
}

/* A reply of four sectors, on its way from a slice to core 0. */
static void push_reply(struct network *network, u32 slice, u16 bytes)
{
    network_push(network, slice, 0, &(struct packet){.sectors = 15, .bytes = bytes, .tag = slice});
}

/* The cycle in which the next packet stands at core 0; takes it. */
static u64 next_reply(struct network *network)
{
    while (!network_head(network, 0)) {
        assert_true(network_busy(network));
        network_tick(network);
    }
    network_pop(network, 0);
    return network->now;
}

/* Two lines for one core: whole, the second begins when the first is through; by sector, their
 * sectors take turns. An acknowledgement of four sectors is one flit, or four. */
static void test_reply_by_sector(void **state)
{
    for (u32 by_sector = 0; by_sector < 2; by_sector++) {
        struct network_params params = usual_params(CROSSBAR);
        struct network_stats stats = {0};
        params.reply_by_sector = by_sector;
        params.output_packets = 2; /* as many as there are lines under way */
        struct network *network = network_create(&params, 2, 2, true, &stats);
        push_reply(network, 0, 128);
        push_reply(network, 1, 128);
        const u64 first = next_reply(network), second = next_reply(network);
        assert_int_equal(second - first, by_sector ? 1 : 4);
        assert_int_equal(stats.reply_flits, 8);
        push_reply(network, 0, 0);
        assert_int_equal(stats.reply_flits, by_sector ? 12 : 9);
        next_reply(network);
        assert_false(network_busy(network));
        assert_int_equal(stats.reply_packets, 3);
        network_destroy(network);
    }
}

/* One place at each core: lines that have begun must not wait for those that have not. */
static void test_reply_places(void **state)
{
    struct network_params params = usual_params(CROSSBAR);
    struct network_stats stats = {0};
    params.reply_by_sector = true;
    params.output_packets = 1;
    struct network *network = network_create(&params, 2, 12, true, &stats);
    for (u32 round = 0; round < 3; round++) {
        for (u32 slice = 0; slice < 12; slice++)
            push_reply(network, slice, 128);
        for (u32 slice = 0; slice < 12; slice++)
            next_reply(network);
    }
    assert_false(network_busy(network));
    assert_int_equal(stats.reply_flits, 3 * 12 * 4);
    network_destroy(network);
}

/* Idle cycles: skipped or run, the same follows. */
static void test_skip(void **state)
{
    for (u32 kind = 0; kind < KINDS; kind++) {
        struct network_params params = usual_params(kind);
        struct rig a, b;
        rig_open(&a, &params, 6, 3);
        rig_open(&b, &params, 6, 3);
        for (u32 round = 0; round < 20; round++) {
            for (u32 i = 0; i < 6; i++) {
                rig_push(&a, i, (i + round) % 3, 1 + i % 4);
                rig_push(&b, i, (i + round) % 3, 1 + i % 4);
            }
            while (network_busy(a.network)) {
                assert_true(network_busy(b.network));
                network_tick(a.network);
                network_tick(b.network);
                u32 o = round % 3; /* some packets are left standing */
                assert_int_equal(rig_pop(&a, o), rig_pop(&b, o));
            }
            assert_false(network_busy(b.network));
            network_skip(a.network, 3 + round);
            for (u32 n = 0; n < 3 + round; n++)
                network_tick(b.network);
            for (u32 o = 0; o < 3; o++)
                while (network_head(a.network, o))
                    assert_int_equal(rig_pop(&a, o), rig_pop(&b, o));
        }
        assert_int_equal(a.accepted, 120);
        assert_int_equal(a.delivered, 120);
        assert_memory_equal(&a.stats, &b.stats, sizeof a.stats);
        rig_close(&a);
        rig_close(&b);
    }
}

/* Waiting counts from push to pop, also at the output; replies count apart, and time once. */
static void test_statistics(void **state)
{
    for (u32 kind = 0; kind < KINDS; kind++) {
        struct network_params params = usual_params(kind);
        struct rig rig;
        rig_open(&rig, &params, 6, 3);
        u32 latency = rig_latency(&rig, 4, 1, 3);
        assert_int_equal(rig.stats.request_packets, 1);
        assert_int_equal(rig.stats.request_flits, 3);
        assert_int_equal(rig.stats.request_wait_cycles, latency);
        assert_int_equal(rig.stats.cycles, latency);
        rig_push(&rig, 4, 1, 3);
        for (u32 n = 0; n < latency + 10; n++)
            network_tick(rig.network);
        rig_pop(&rig, 1);
        assert_int_equal(rig.stats.request_wait_cycles, 2 * latency + 10);
        assert_int_equal(rig.stats.full_cycles, 0);
        network_full(rig.network, 1);
        assert_int_equal(rig.stats.full_cycles, 1);

        struct network_stats before = rig.stats;
        struct network *replies = network_create(&params, 6, 3, true, &rig.stats);
        struct packet packet = {.bytes = 32};
        network_push(replies, 2, 5, &packet); /* inputs are partitions now */
        for (u32 n = 0; !network_head(replies, 5); n++) {
            assert_true(n < 1000);
            network_tick(replies);
        }
        network_pop(replies, 5);
        assert_int_equal(rig.stats.reply_packets, 1);
        assert_int_equal(rig.stats.reply_flits, 1);
        assert_true(rig.stats.reply_wait_cycles >= params.hop_cycles);
        assert_int_equal(rig.stats.request_packets, before.request_packets);
        assert_int_equal(rig.stats.request_wait_cycles, before.request_wait_cycles);
        assert_int_equal(rig.stats.cycles, before.cycles);
        network_destroy(replies);
        rig_close(&rig);
    }
}

/* More than 64 inputs and outputs. */
static void test_wide(void **state)
{
    for (u32 kind = 0; kind < KINDS; kind++) {
        struct network_params params = usual_params(kind);
        struct rig rig;
        rig_open(&rig, &params, 150, 130);
        for (u32 round = 0; round < 4; round++)
            for (u32 i = 0; i < 150; i++)
                assert_true(rig_push(&rig, i, (i * 37 + round) % 130, 1 + i % 4));
        rig_drain(&rig);
        for (u32 i = 60; i < 70; i++)
            assert_true(rig_push(&rig, i, 129, 1));
        rig_drain(&rig);
        rig_close(&rig);
    }
}

static void test_find(void **state)
{
    for (u32 kind = 0; kind < KINDS; kind++) {
        struct network_params params = usual_params(kind);
        struct rig rig;
        char text[64] = "";
        rig_open(&rig, &params, 2, 1);
        assert_false(network_find(rig.network, 1, CLIENT_L1D, 0, text, sizeof text));
        rig_push(&rig, 1, 0, 2);
        assert_true(network_find(rig.network, 1, CLIENT_L1D, 0, text, sizeof text));
        assert_string_equal(text, "input 1");
        assert_false(network_find(rig.network, 0, CLIENT_L1D, 0, text, sizeof text));
        assert_false(network_find(rig.network, 1, CLIENT_FETCH, 0, text, sizeof text));
        assert_false(network_find(rig.network, 1, CLIENT_L1D, 1, text, sizeof text));
        network_tick(rig.network);
        assert_true(network_find(rig.network, 1, CLIENT_L1D, 0, text, sizeof text));
        assert_string_equal(text, kind == MESH ? "router (1,0)" : "input 1");
        while (!network_head(rig.network, 0))
            network_tick(rig.network);
        assert_true(network_find(rig.network, 1, CLIENT_L1D, 0, text, sizeof text));
        assert_string_equal(text, "output 0");
        struct packet twin = *network_head(rig.network, 0);
        network_push(rig.network, 1, 0, &twin);
        assert_true(network_find(rig.network, 1, CLIENT_L1D, 0, text, sizeof text));
        assert_string_equal(text, "output 0, input 1");
        char small[4];
        assert_true(network_find(rig.network, 1, CLIENT_L1D, 0, small, sizeof small));
        assert_string_equal(small, "out");
        network_pop(rig.network, 0);
        assert_true(network_find(rig.network, 1, CLIENT_L1D, 0, text, sizeof text));
        assert_string_equal(text, "input 1");
        rig_close(&rig);
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_flits),        cmocka_unit_test(test_conservation),
        cmocka_unit_test(test_push_order),   cmocka_unit_test(test_skip),
        cmocka_unit_test(test_statistics),   cmocka_unit_test(test_wide),
        cmocka_unit_test(test_find),         cmocka_unit_test(test_reply_by_sector),
        cmocka_unit_test(test_reply_places),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
