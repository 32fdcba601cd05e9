/* The crossbar: latency, throughput, shares and back-pressure, with closed-form answers. */
#include "network_rig.h"

static void test_latency(void **state)
{
    for (u32 speedup = 1; speedup <= 3; speedup++) {
        for (u32 hop = 1; hop <= 7; hop += 3) {
            struct network_params params = usual_params(CROSSBAR);
            params.hop_cycles = hop;
            params.speedup = speedup;
            struct rig rig;
            rig_open(&rig, &params, 15, 12);
            for (u32 flits = 1; flits <= 4; flits++)
                for (u32 i = 0; i < 15; i++)
                    for (u32 o = 0; o < 12; o++)
                        assert_int_equal(rig_latency(&rig, i, o, flits), hop + flits - 1);
            assert_int_equal(rig.stats.hops, rig.stats.request_flits);
            rig_close(&rig);
        }
    }
}

/* More inputs or outputs than a word has bits. */
static void test_wide(void **state)
{
    static const u32 sizes[][2] = {{3, 70}, {70, 3}, {65, 130}, {64, 64}};
    for (u32 s = 0; s < ARRAY_LEN(sizes); s++) {
        struct network_params params = usual_params(CROSSBAR);
        struct rig rig;
        rig_open(&rig, &params, sizes[s][0], sizes[s][1]);
        for (u32 i = 0; i < sizes[s][0]; i += MAX(sizes[s][0] / 5, 1))
            for (u32 o = 0; o < sizes[s][1]; o++)
                assert_int_equal(rig_latency(&rig, i, o, 2), params.hop_cycles + 1);
        assert_int_equal(rig.stats.hops, rig.stats.request_flits);
        rig_close(&rig);
    }
}

/* Packets of one input to different outputs: their flits enter one after another. */
static void test_input_link(void **state)
{
    struct network_params params = usual_params(CROSSBAR);
    struct rig rig;
    rig_open(&rig, &params, 4, 4);
    for (u32 o = 0; o < 4; o++)
        rig_push(&rig, 0, o, 2);
    for (u32 n = 1; n <= params.hop_cycles - 1 + 4 * 2; n++) {
        network_tick(rig.network);
        for (u32 o = 0; o < 4; o++)
            assert_int_equal(network_head(rig.network, o) != NULL,
                             n >= params.hop_cycles - 1 + 2 * (o + 1));
    }
    rig_drain(&rig);
    rig_close(&rig);
}

/* All send to one output: it takes a flit each cycle, and inputs take turns. */
static void test_hotspot(void **state)
{
    static const u32 sizes[] = {1, 2, 3, 4, 100};
    for (u32 speedup = 1; speedup <= 2; speedup++) {
        for (u32 s = 0; s < ARRAY_LEN(sizes); s++) {
            u32 flits = sizes[s];
            struct network_params params = usual_params(CROSSBAR);
            params.speedup = speedup;
            struct rig rig;
            rig_open(&rig, &params, 15, 12);
            u32 shares[15] = {0}, warm = params.hop_cycles + flits - 1, cycles = 15 * 40 * flits;
            for (u32 n = 1; n < warm + cycles; n++) {
                for (u32 i = 0; i < 15; i++)
                    rig_push(&rig, i, 7, flits);
                network_tick(rig.network);
                u32 input = rig_pop(&rig, 7);
                /* From the first arrival on, one packet each `flits` cycles. */
                assert_int_equal(input != NO_PACKET, n >= warm && (n - warm) % flits == 0);
                if (input != NO_PACKET)
                    shares[input]++;
            }
            for (u32 i = 0; i < 15; i++)
                assert_int_equal(shares[i], 40);
            rig_close(&rig);
        }
    }
}

/* Each input to an output of its own: all links are full. */
static void test_permutation(void **state)
{
    for (u32 speedup = 1; speedup <= 2; speedup++) {
        for (u32 flits = 1; flits <= 4; flits++) {
            struct network_params params = usual_params(CROSSBAR);
            params.speedup = speedup;
            struct rig rig;
            rig_open(&rig, &params, 12, 12);
            u32 warm = params.hop_cycles - 1, cycles = 100 * flits;
            for (u32 n = 0; n < warm + cycles; n++) {
                for (u32 i = 0; i < 12; i++)
                    rig_push(&rig, i, (i + 5) % 12, flits);
                network_tick(rig.network);
                rig_pop_all(&rig);
            }
            assert_int_equal(rig.delivered_flits, 12 * cycles);
            rig_close(&rig);
        }
    }
}

static f64 uniform_load(u32 flits, u32 speedup, u32 output_packets)
{
    struct network_params params = usual_params(CROSSBAR);
    params.speedup = speedup;
    params.output_packets = output_packets;
    struct rig rig;
    rig_open(&rig, &params, 32, 32);
    u32 cycles = 20000, warm = 2000;
    u64 before = 0;
    for (u32 n = 0; n < warm + cycles; n++) {
        if (n == warm)
            before = rig.delivered_flits;
        for (u32 i = 0; i < 32; i++)
            while (network_room(rig.network, i))
                rig_push(&rig, i, rig_random(&rig, 32), flits);
        network_tick(rig.network);
        rig_pop_all(&rig);
    }
    f64 load = (f64)(rig.delivered_flits - before) / cycles / 32;
    rig_close(&rig);
    return load;
}

/* Uniform random traffic. Packets of one flit: queues at inputs pass 2 - sqrt(2) = 0.586 of what
 * links could for many inputs, about 0.59 for 32 (Karol, Hluchyj and Morgan, 1987). Long packets:
 * the switch is faster than the links, 2 n / (n + 1) times, and buffers behind it fill the gaps. */
static void test_uniform(void **state)
{
    f64 single = uniform_load(1, 2, 32), single_plain = uniform_load(1, 1, 32);
    assert_true(single > 0.57 && single < 0.61);
    assert_true(single_plain > 0.57 && single_plain < 0.61);
    assert_true(uniform_load(4, 2, 32) > 0.586 * 8 / 5 * 0.93);
    f64 plain = uniform_load(4, 1, 32);
    assert_true(plain > 0.5 && plain < 0.61);
}

/* An output that is not emptied: exactly what fits goes in, then it drains. */
static void test_back_pressure(void **state)
{
    for (u32 flits = 1; flits <= 4; flits++) {
        struct network_params params = usual_params(CROSSBAR);
        params.buffer_flits = 12 + flits / 4; /* not a multiple of 4 at the last */
        struct rig rig;
        rig_open(&rig, &params, 5, 3);
        for (u32 n = 0; n < 2000; n++) {
            for (u32 i = 0; i < 5; i++)
                rig_push(&rig, i, 1, flits);
            network_tick(rig.network);
        }
        u32 each = params.buffer_flits / flits + params.input_packets;
        assert_int_equal(rig.accepted, params.output_packets + 5 * each);
        /* A place at the output lets one packet in, once its flits have moved up. */
        rig_pop(&rig, 1);
        for (u32 n = 0; n < 20; n++) {
            network_tick(rig.network);
            for (u32 i = 0; i < 5; i++)
                rig_push(&rig, i, 1, flits);
        }
        assert_int_equal(rig.accepted, params.output_packets + 5 * each + 1);
        rig_drain(&rig);
        rig_close(&rig);
    }
}

/* While an output stands still, packets for others pass as long as they are not behind one for
 * it. */
static void test_head_of_line(void **state)
{
    struct network_params params = usual_params(CROSSBAR);
    params.output_packets = 1;
    struct rig rig;
    rig_open(&rig, &params, 2, 2);
    rig_push(&rig, 0, 0, 1);
    rig_push(&rig, 0, 0, 1); /* finds output 0 taken */
    rig_push(&rig, 0, 1, 1); /* behind it */
    for (u32 n = 0; n < 50; n++)
        network_tick(rig.network);
    assert_null(network_head(rig.network, 1));
    rig_push(&rig, 1, 1, 1);
    for (u32 n = 1; n <= params.hop_cycles; n++) {
        assert_null(network_head(rig.network, 1));
        network_tick(rig.network);
    }
    assert_int_equal(rig_pop(&rig, 1), 1);
    rig_drain(&rig);
    rig_close(&rig);
}

/* A buffer gives one flit a step: a packet whose turn it would be at an output comes too late for
 * it while the one before it in its queue still passes. */
static void test_one_flit_a_step(void **state)
{
    struct network_params params = usual_params(CROSSBAR);
    params.output_packets = 1;
    params.speedup = 1;
    struct rig rig;
    rig_open(&rig, &params, 2, 2);
    rig_push(&rig, 0, 0, 1);
    rig_push(&rig, 1, 1, 1);
    /* Now both outputs are taken. */
    rig_push(&rig, 0, 0, 1);
    rig_push(&rig, 0, 1, 1);
    rig_push(&rig, 1, 1, 1);
    for (u32 n = 0; n < 50; n++)
        network_tick(rig.network);
    assert_int_equal(rig_pop(&rig, 0), 0);
    assert_int_equal(rig_pop(&rig, 1), 1); /* so the next turn there is input 0's */
    for (u32 n = 0; n < params.hop_cycles; n++)
        network_tick(rig.network);
    assert_int_equal(rig_pop(&rig, 0), 0);
    assert_int_equal(rig_pop(&rig, 1), 1);
    rig_drain(&rig);
    rig_close(&rig);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_latency),         cmocka_unit_test(test_wide),
        cmocka_unit_test(test_input_link),      cmocka_unit_test(test_hotspot),
        cmocka_unit_test(test_permutation),     cmocka_unit_test(test_uniform),
        cmocka_unit_test(test_back_pressure),   cmocka_unit_test(test_head_of_line),
        cmocka_unit_test(test_one_flit_a_step),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
