/* The mesh: places, ways and their latency, shares, back-pressure, and no deadlock. */
#include "network_rig.h"

/*
 * 9 cores and 3 partitions in 4 columns. Along the rows, each turned by one more:
 *     0  1  M0 2
 *     5  3  4  M1
 *     M2 8  6  7
 */
static const u8 core_x[9] = {0, 1, 3, 1, 2, 0, 2, 3, 1}, core_y[9] = {0, 0, 0, 1, 1, 1, 2, 2, 2};
static const u8 partition_x[3] = {2, 3, 0}, partition_y[3] = {0, 1, 2};

static u32 distance(u32 core, u32 partition)
{
    return (u32)(abs(core_x[core] - partition_x[partition]) +
                 abs(core_y[core] - partition_y[partition]));
}

/* Latency and hops between all pairs tell the picture above. */
static void test_latency(void **state)
{
    for (u32 hop = 1; hop <= 5; hop += 2) {
        struct network_params params = usual_params(MESH);
        params.hop_cycles = hop;
        struct rig rig;
        rig_open(&rig, &params, 9, 3);
        for (u32 flits = 1; flits <= 4; flits++) {
            for (u32 c = 0; c < 9; c++) {
                for (u32 p = 0; p < 3; p++) {
                    u64 hops = rig.stats.hops, routers = distance(c, p) + 1;
                    assert_int_equal(rig_latency(&rig, c, p, flits), routers * hop + flits - 1);
                    assert_int_equal(rig.stats.hops - hops, routers * flits);
                }
            }
        }
        rig_close(&rig);
    }
}

/* Replies go the same distances back. */
static void test_replies(void **state)
{
    struct network_params params = usual_params(MESH);
    struct network_stats stats = {0};
    struct network *network = network_create(&params, 9, 3, true, &stats);
    for (u32 c = 0; c < 9; c++) {
        for (u32 p = 0; p < 3; p++) {
            struct packet packet = {.bytes = 128, .core = (u16)c};
            u32 n = 0;
            network_push(network, p, c, &packet);
            do {
                network_tick(network);
                n++;
            } while (network_busy(network));
            assert_int_equal(n, (distance(c, p) + 1) * params.hop_cycles + 4 - 1);
            assert_non_null(network_head(network, c));
            network_pop(network, c);
        }
    }
    network_destroy(network);
}

/* The head's way, router by router: along the row first, then along the column. */
static void test_dimension_order(void **state)
{
    for (u32 c = 0; c < 9; c++) {
        for (u32 p = 0; p < 3; p++) {
            struct network_params params = usual_params(MESH);
            params.hop_cycles = 1;
            struct rig rig;
            rig_open(&rig, &params, 9, 3);
            rig_push(&rig, c, p, 1);
            int x = core_x[c], y = core_y[c];
            for (u32 n = 0; n < distance(c, p); n++) {
                if (x != partition_x[p])
                    x += x < partition_x[p] ? 1 : -1;
                else
                    y += y < partition_y[p] ? 1 : -1;
                network_tick(rig.network);
                char text[32], expected[32];
                snprintf(expected, sizeof expected, "router (%d,%d)", x, y);
                assert_true(network_find(rig.network, (u16)c, CLIENT_L1D, 0, text, sizeof text));
                assert_string_equal(text, expected);
            }
            rig_drain(&rig);
            rig_close(&rig);
        }
    }
}

/* Hops of a packet between two nodes. */
static u64 hops_between(struct rig *rig, u32 input, u32 output)
{
    u64 before = rig->stats.hops;
    rig_latency(rig, input, output, 1);
    return rig->stats.hops - before;
}

/* 56 cores and 8 partitions on 8 x 8: a partition in each row and in each column. */
static void test_spread(void **state)
{
    struct network_params params = usual_params(MESH);
    struct rig rig;
    rig_open(&rig, &params, 56, 8);
    /* Partition p: row p, column (4 + 3 p) mod 8. Core 0 stands in the corner. */
    for (u32 p = 0; p < 8; p++)
        assert_int_equal(hops_between(&rig, 0, p), p + (4 + 3 * p) % 8 + 1);
    rig_close(&rig);
}

/* Columns as given: 1 x n, n x 1, and rows that are not full. */
static void test_columns(void **state)
{
    for (u32 columns = 1; columns <= 9; columns++) {
        struct network_params params = usual_params(MESH);
        params.mesh_columns = columns;
        struct rig rig;
        rig_open(&rig, &params, 5, 2);
        u32 rows = (7 + columns - 1) / columns, farthest = 0;
        for (u32 c = 0; c < 5; c++)
            for (u32 p = 0; p < 2; p++)
                farthest = MAX(farthest, (u32)hops_between(&rig, c, p));
        assert_true(farthest >= 3 && farthest <= columns + rows - 1);
        rig_close(&rig);
    }
}

/* A line, core - partition - core: both get the same share, and the link is full. */
static void test_shares(void **state)
{
    for (u32 flits = 1; flits <= 4; flits++) {
        struct network_params params = usual_params(MESH);
        params.mesh_columns = 3;
        struct rig rig;
        rig_open(&rig, &params, 2, 1);
        u32 shares[2] = {0}, warm = 2 * params.hop_cycles + flits - 1, packets = 1000;
        for (u32 n = 1; n < warm + packets * flits; n++) {
            for (u32 i = 0; i < 2; i++)
                rig_push(&rig, i, 0, flits);
            network_tick(rig.network);
            u32 input = rig_pop(&rig, 0);
            assert_int_equal(input != NO_PACKET, n >= warm && (n - warm) % flits == 0);
            if (input != NO_PACKET)
                shares[input]++;
        }
        assert_int_equal(shares[0], packets / 2);
        assert_int_equal(shares[1], packets / 2);
        rig_close(&rig);
    }
}

/* Packets that come out at an output when its input sends whenever it can, 1000 cycles. */
static u64 stream(u32 hop, u32 buffer_flits, u32 core, u32 partition)
{
    struct network_params params = usual_params(MESH);
    params.hop_cycles = hop;
    params.buffer_flits = buffer_flits;
    struct rig rig;
    rig_open(&rig, &params, 9, 3);
    for (u32 n = 0; n < 1000; n++) {
        rig_push(&rig, core, partition, 1);
        network_tick(rig.network);
        rig_pop(&rig, partition);
    }
    u64 delivered = rig.delivered;
    rig_close(&rig);
    return delivered;
}

/* A stream over several routers, down or up the columns, runs at a flit a cycle from buffers of
 * hop_cycles + 1 flits on, and slower with one less. */
static void test_credits(void **state)
{
    static const u8 ways[2][2] = {{0, 2}, {6, 0}};
    for (u32 hop = 1; hop <= 4; hop++) {
        for (u32 w = 0; w < 2; w++) {
            u32 core = ways[w][0], partition = ways[w][1], routers = distance(core, partition) + 1;
            u64 sent = 1000 - routers * hop + 1;
            assert_int_equal(stream(hop, hop + 1, core, partition), sent);
            assert_in_range(stream(hop, hop, core, partition), sent * hop / (hop + 1) - routers,
                            1000 * hop / (hop + 1));
        }
    }
}

/* An output that is not emptied: buffers on the way fill to the last flit, then it drains. */
static void test_back_pressure(void **state)
{
    for (u32 flits = 1; flits <= 4; flits++) {
        struct network_params params = usual_params(MESH);
        params.buffer_flits = 6;
        struct rig rig;
        rig_open(&rig, &params, 9, 3);
        for (u32 n = 0; n < 1000; n++) {
            rig_push(&rig, 0, 2, flits);
            network_tick(rig.network);
        }
        u32 held = (distance(0, 2) + 1) * params.buffer_flits;
        assert_int_equal(rig.accepted, params.output_packets + held / flits + params.input_packets);
        /* Ways that do not cross it are free. */
        rig_push(&rig, 4, 1, flits);
        for (u32 n = 1; n <= (distance(4, 1) + 1) * params.hop_cycles + flits - 1; n++) {
            assert_null(network_head(rig.network, 1));
            network_tick(rig.network);
        }
        assert_int_equal(rig_pop(&rig, 1), 4);
        rig_drain(&rig);
        rig_close(&rig);
    }
}

/* Heavy random traffic through the smallest buffers never stops. */
static void test_no_deadlock(void **state)
{
    for (u32 buffer = 1; buffer <= 3; buffer += 2) {
        struct network_params params = usual_params(MESH);
        params.buffer_flits = buffer;
        params.hop_cycles = 2;
        params.output_packets = 1;
        struct rig rig;
        rig_open(&rig, &params, 15, 12);
        u64 last = 0;
        for (u32 cycle = 0; cycle < 100000; cycle++) {
            for (u32 i = 0; i < 15; i++)
                rig_push(&rig, i, rig_random(&rig, 12), 1 + rig_random(&rig, 5));
            network_tick(rig.network);
            for (u32 o = 0; o < 12; o++)
                if (rig_random(&rig, 4))
                    rig_pop(&rig, o);
            if (cycle % 100 == 99) {
                assert_true(rig.delivered > last);
                last = rig.delivered;
            }
        }
        rig_drain(&rig);
        rig_close(&rig);
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_latency),         cmocka_unit_test(test_replies),
        cmocka_unit_test(test_dimension_order), cmocka_unit_test(test_spread),
        cmocka_unit_test(test_columns),         cmocka_unit_test(test_shares),
        cmocka_unit_test(test_credits),         cmocka_unit_test(test_back_pressure),
        cmocka_unit_test(test_no_deadlock),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
