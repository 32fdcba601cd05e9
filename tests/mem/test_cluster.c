/* The caches that cores share: latency at n and n - 1, one request for a line of many cores, ports,
 * turns, what is told of a request on its way. */
#include "gpu/machine/relations.h"
#include "system_rig.h"

enum {
    CLUSTER = 4
};

static void cluster_params(struct rig *rig)
{
    rig_params(rig);
    rig->params.cluster = CLUSTER;
    rig->icache.ports = rig->constant.ports = 4;
}

static struct packet read_of(u32 client, u64 address)
{
    struct packet packet = rig_read(address, 0xf);
    packet.client = (u8)client;
    return packet;
}

static struct memory_system_stats stats_of(struct rig *rig)
{
    struct memory_system_stats stats;
    memory_system_take_stats(rig->memory_system, rig->now, &stats);
    return stats;
}

/* A hit takes exactly the latency, from whatever cycle of a window; a miss as much more as the
 * network and the L2 take. */
static void test_latency(void **state)
{
    static const u32 clients[] = {CLIENT_FETCH, CLIENT_CONSTANT};
    for (u32 c = 0; c < ARRAY_LEN(clients); c++)
        for (u32 latency = 17; latency <= 60; latency += 7) {
            struct rig rig;
            struct packet packet = read_of(clients[c], 4096), answer;
            cluster_params(&rig);
            rig.icache.latency = rig.constant.latency = latency;
            rig_open(&rig);
            u64 there = rig_alone(&rig, 5, &packet, 3, &answer);
            assert_int_equal(answer.kind, PACKET_DATA);
            assert_int_equal(answer.core, 5);
            assert_int_equal(answer.bytes, 128);
            assert_true(there > 3 + latency + rig.l2.latency);
            for (u32 i = 0; i < 20; i++) { /* another core of the cluster, and the same */
                u64 at = rig.now / rig.period + 100 + i;
                assert_int_equal(rig_alone(&rig, 4 + i % CLUSTER, &packet, at, NULL) - at, latency);
            }
            struct memory_system_stats stats = stats_of(&rig);
            u64 hits = clients[c] == CLIENT_FETCH ? stats.cluster_icache.read_hits
                                                  : stats.cluster_constant.read_hits;
            assert_int_equal(hits, 20);
            assert_int_equal(stats.network.request_packets, 1);
            assert_int_equal(stats.cluster_icache.queue_cycles, 0);
            rig_close(&rig);
        }
}

/* What one cluster has, another has not; and instructions are not constants. */
static void test_apart(void **state)
{
    struct rig rig;
    cluster_params(&rig);
    rig_open(&rig);
    struct packet code = read_of(CLIENT_FETCH, 0), data = read_of(CLIENT_CONSTANT, 0);
    rig_alone(&rig, 0, &code, 0, NULL);
    rig_alone(&rig, CLUSTER, &code, rig.now / rig.period, NULL);
    rig_alone(&rig, RIG_CORES - 1, &code, rig.now / rig.period, NULL); /* the last has three */
    rig_alone(&rig, 0, &data, rig.now / rig.period, NULL);
    struct memory_system_stats stats = stats_of(&rig);
    assert_int_equal(stats.cluster_icache.read_misses, 3);
    assert_int_equal(stats.cluster_constant.read_misses, 1);
    /* a launch forgets constants, and code stays */
    memory_system_flush(rig.memory_system);
    rig_alone(&rig, 1, &code, rig.now / rig.period, NULL);
    rig_alone(&rig, 1, &data, rig.now / rig.period, NULL);
    stats = stats_of(&rig);
    assert_int_equal(stats.cluster_icache.read_hits, 1);
    assert_int_equal(stats.cluster_constant.read_misses, 1);
    rig_close(&rig);
}

/* All cores of a cluster at once: answers[i] is the cycle of core i's. */
static void together(struct rig *rig, const struct packet *packet, u64 *answers)
{
    u64 cycle = rig->now / rig->period;
    u32 left = CLUSTER;
    for (u32 i = 0; i < CLUSTER; i++) {
        struct packet copy = *packet;
        copy.core = (u16)i;
        copy.sent = rig->now;
        port_push(rig_port(rig, i, packet), &copy, rig->now);
    }
    for (u32 window = 0; left && window < 1000; window++) {
        for (u32 c = 0; c < rig->network.window; c++, cycle++)
            for (u32 i = 0; i < CLUSTER; i++) {
                struct port *replies = memory_system_replies(rig->memory_system, i);
                if (!port_head(replies, cycle * rig->period))
                    continue;
                port_pop(replies);
                answers[i] = cycle;
                left--;
            }
        rig_end_window(rig);
    }
    assert_int_equal(left, 0);
}

/* Four that miss together send for the line once; four that hit are served `ports` a cycle, and
 * who was first is last the next time. */
static void test_together(void **state)
{
    for (u32 ports = 1; ports <= 4; ports++) {
        struct rig rig;
        u64 answers[CLUSTER], first[CLUSTER];
        cluster_params(&rig);
        rig.icache.ports = ports;
        rig_open(&rig);
        struct packet packet = read_of(CLIENT_FETCH, 1 << 16);
        together(&rig, &packet, answers);
        struct memory_system_stats stats = stats_of(&rig);
        assert_int_equal(stats.cluster_icache.reads, CLUSTER);
        assert_int_equal(stats.cluster_icache.read_misses, 1);
        assert_int_equal(stats.cluster_icache.read_merges, CLUSTER - 1);
        assert_int_equal(stats.network.request_packets, 1);
        for (u32 i = 0; i < CLUSTER; i++) /* in order of arrival: after the turn of each */
            assert_int_equal(answers[i] - answers[0], i / ports);
        for (u32 round = 0; round < 2; round++) {
            u64 start = rig.now / rig.period;
            together(&rig, &packet, round ? answers : first);
            u64 wait = 0;
            for (u32 i = 0; i < CLUSTER; i++)
                wait += (round ? answers : first)[i] - start - rig.icache.latency;
            stats = stats_of(&rig);
            assert_int_equal(stats.cluster_icache.read_hits, CLUSTER);
            assert_int_equal(stats.cluster_icache.queue_cycles, wait);
            u64 most = 0;
            for (u32 i = 0; i < CLUSTER; i++)
                most = MAX(most, (round ? answers : first)[i] - start - rig.icache.latency);
            assert_int_equal(most, (CLUSTER - 1) / ports);
        }
        rig_close(&rig);
    }
}

/* A core that sends without end does not keep another out: turns go round. */
static void test_turns(void **state)
{
    struct rig rig;
    cluster_params(&rig);
    rig.icache.ports = 1;
    rig.network.window = 4;
    rig_open(&rig);
    struct packet packet = read_of(CLIENT_FETCH, 0);
    rig_alone(&rig, 0, &packet, 0, NULL);
    u64 served[CLUSTER] = {0};
    for (u32 window = 0; window < 200; window++) {
        for (u32 c = 0; c < rig.network.window; c++)
            for (u32 i = 0; i < CLUSTER; i++) {
                fs now = rig.now + c * rig.period;
                struct packet copy = packet;
                copy.core = (u16)i;
                if (port_room(rig_port(&rig, i, &copy)))
                    port_push(rig_port(&rig, i, &copy), &copy, now);
                struct port *replies = memory_system_replies(rig.memory_system, i);
                for (; port_head(replies, now); port_pop(replies))
                    served[i]++;
            }
        rig_end_window(&rig);
    }
    for (u32 i = 0; i < CLUSTER; i++)
        assert_true(served[i] > 180 && served[i] <= 200);
    rig_close(&rig);
}

/* Both caches miss in every cycle and have one place in the network: neither waits for the other to
 * be done. */
static void test_senders(void **state)
{
    enum {
        LINES = 14 /* that a port takes at once */
    };
    struct rig rig;
    u64 last[CLIENTS] = {0};
    u32 left = 2 * LINES;
    cluster_params(&rig);
    rig_open(&rig);
    for (u32 i = 0; i < LINES; i++)
        for (u32 client = CLIENT_FETCH; client <= CLIENT_CONSTANT; client += CLIENT_CONSTANT) {
            struct packet packet = read_of(client, (u64)(client * LINES + i) * 128);
            port_push(rig_port(&rig, 0, &packet), &packet, 0);
        }
    for (u64 cycle = 0; left; cycle++) {
        struct port *replies = memory_system_replies(rig.memory_system, 0);
        for (struct packet *p; (p = port_head(replies, cycle * rig.period)); port_pop(replies)) {
            last[p->client] = cycle;
            left--;
        }
        if ((cycle + 1) % rig.network.window == 0)
            rig_end_window(&rig);
    }
    /* the first would be done long before if it always went first */
    assert_true(last[CLIENT_CONSTANT] <= last[CLIENT_FETCH] + 6);
    rig_close(&rig);
}

static void test_find(void **state)
{
    static const char *const way[] = {
        "on its way to the constant cache of cluster 1, behind 0 of the same core",
        "constant cache of cluster 1: its line waits in the miss queue",
        "constant cache of cluster 1: waits for its line: request network",
        "constant cache of cluster 1: waits for its line: L2 slice",
        "constant cache of cluster 1: waits for its line: reply network",
        "constant cache of cluster 1: its reply waits",
        "its reply is on its way to core 6",
    };
    struct rig rig;
    char text[400];
    u32 at = 0;
    cluster_params(&rig);
    rig.network.window = 1;
    rig_open(&rig);
    struct packet packet = read_of(CLIENT_CONSTANT, 512);
    packet.core = 6;
    packet.tag = 9;
    assert_false(memory_system_find(rig.memory_system, &packet, text, sizeof text));
    port_push(rig_port(&rig, 6, &packet), &packet, 0);
    while (!port_head(memory_system_replies(rig.memory_system, 6), rig.now)) {
        assert_true(memory_system_find(rig.memory_system, &packet, text, sizeof text));
        while (at + 1 < ARRAY_LEN(way) && !strstr(text, way[at]))
            at++;
        if (!strstr(text, way[at]))
            fail_msg("'%s'", text);
        assert_true(!at || memory_system_pending(rig.memory_system) > 0);
        rig_end_window(&rig);
    }
    assert_int_equal(at, ARRAY_LEN(way) - 2);
    assert_true(memory_system_find(rig.memory_system, &packet, text, sizeof text));
    assert_string_equal(text, way[at + 1]);
    assert_int_equal(memory_system_pending(rig.memory_system), 0);
    rig_close(&rig);
}

static void test_check(void **state)
{
    struct rig rig;
    struct error error;
    cluster_params(&rig);
    rig.icache.latency = 2 * rig.network.window + 1;
    assert_true(relations_check_memory(&rig.params, &error));
    rig.icache.latency--;
    assert_false(relations_check_memory(&rig.params, &error));
    assert_non_null(strstr(error.message, "cluster_icache.latency"));
    rig.params.cluster = 1; /* nobody shares: it does not matter */
    assert_true(relations_check_memory(&rig.params, &error));
    cluster_params(&rig);
    rig.constant.line_bytes = 64;
    assert_false(relations_check_memory(&rig.params, &error));
    assert_non_null(strstr(error.message, "cluster_constant.line_bytes"));
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_latency),  cmocka_unit_test(test_apart),
        cmocka_unit_test(test_together), cmocka_unit_test(test_turns),
        cmocka_unit_test(test_senders),  cmocka_unit_test(test_find),
        cmocka_unit_test(test_check),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
