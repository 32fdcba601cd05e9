/* The memory side, one request at a time and at full rate: closed forms for latency and bandwidth,
 * read from the parameters. */
#include "gpu/machine/relations.h"
#include "mem/address.h"
#include "system_rig.h"

static u32 flits(const struct rig *rig, u32 bytes)
{
    return (PACKET_HEADER_BYTES + bytes + rig->network.flit_bytes - 1) / rig->network.flit_bytes;
}

/* From the core's push to its answer, all clocks equal: see the head of system.c. */
static u64 hit_cycles(const struct rig *rig, u32 request_bytes, u32 reply_bytes)
{
    u64 hop = rig->network.hop_cycles;
    u64 there = 1 + hop + flits(rig, request_bytes) - 1;
    u64 back = hop + flits(rig, reply_bytes) - 1;
    return there + rig->l2.latency + 2 + back;
}

/* More than a hit, for one sector of a row that is not open: to the queue, the delay, to DRAM, its
 * own time, back into the slice, filled, answered. */
static u64 miss_cycles(const struct rig *rig)
{
    const struct dram_params *dram = &rig->dram;
    u64 transfer = (dram->burst + dram->data_rate - 1) / dram->data_rate;
    return dram->latency + dram->tRCD + dram->tCL + transfer + 4;
}

static void test_latency(void **state)
{
    static const u32 windows[] = {1, 4, 8, 16};
    static const u32 hops[] = {1, 4, 6};
    for (u32 w = 0; w < ARRAY_LEN(windows); w++) {
        for (u32 h = 0; h < ARRAY_LEN(hops); h++) {
            struct rig rig;
            rig_params(&rig);
            rig.network.window = windows[w];
            rig.network.hop_cycles = hops[h];
            rig.l2.latency = 32 + 40 * h; /* 32: all of it is windows */
            rig_open(&rig);
            u64 at = 3, end;
            struct packet read = rig_read(0, 1), all = rig_read(0, 15), answer;
            end = rig_alone(&rig, 2, &read, at, &answer);
            assert_int_equal(end - at, hit_cycles(&rig, 0, 32) + miss_cycles(&rig));
            assert_int_equal(answer.kind, PACKET_DATA);
            assert_int_equal(answer.bytes, 32);
            /* each place in a window, and each core */
            for (u32 i = 0; i < 32; i++) {
                at = rig.now / rig.period + 5 * rig.network.window + i;
                end = rig_alone(&rig, i % RIG_CORES, &read, at, &answer);
                assert_int_equal(end - at, hit_cycles(&rig, 0, 32));
            }
            at = rig.now / rig.period;
            rig_alone(&rig, 1, &all, at, NULL);
            at = rig.now / rig.period;
            end = rig_alone(&rig, 1, &all, at, &answer);
            assert_int_equal(end - at, hit_cycles(&rig, 0, 128));
            assert_int_equal(answer.bytes, 128);
            struct packet write = {.sectors = 3, .kind = PACKET_WRITE, .bytes = 64, .full = 1};
            at = rig.now / rig.period;
            end = rig_alone(&rig, 1, &write, at, &answer);
            assert_int_equal(end - at, hit_cycles(&rig, 64, 0));
            assert_int_equal(answer.kind, PACKET_ACK);
            rig_close(&rig);
        }
    }
}

/* ---- At full rate ---- */

/* Every core reads lines one after the other, as fast as its port takes them, `lines` in all: core
 * c has those with number c modulo the cores. Gives the cycles until the last answer. */
static u64 stream(struct rig *rig, u64 base, u32 lines, u32 sectors)
{
    u32 sent[RIG_CORES] = {0}, answers = 0;
    u64 begin = rig->now, last = 0;
    while (answers < lines) {
        for (u32 core = 0; core < RIG_CORES; core++) {
            struct port *requests = memory_system_requests(rig->memory_system, core);
            struct port *replies = memory_system_replies(rig->memory_system, core);
            for (u32 i = 0; i < rig->network.window; i++) {
                fs now = rig->now + i * rig->period;
                u32 line = sent[core] * RIG_CORES + core;
                if (line < lines && port_room(requests)) {
                    struct packet packet = rig_read(base + (u64)line * rig->l2.line_bytes, sectors);
                    packet.core = (u16)core;
                    port_push(requests, &packet, now);
                    sent[core]++;
                }
                if (port_head(replies, now)) {
                    port_pop(replies);
                    answers++;
                    last = MAX(last, now - begin);
                }
            }
        }
        assert_true(rig->now - begin < 1000000 * rig->period);
        rig_end_window(rig);
    }
    return last / rig->period;
}

static void take(struct rig *rig, struct memory_system_stats *stats)
{
    memory_system_take_stats(rig->memory_system, rig->now, stats);
}

/* Hits: each slice moves port_bytes a cycle, whole lines or single sectors. */
static void test_hit_bandwidth(void **state)
{
    static const u32 masks[] = {15, 3, 8};
    for (u32 i = 0; i < ARRAY_LEN(masks); i++) {
        struct rig rig;
        rig_params(&rig);
        rig.l2.channels = 2;          /* few slices, so that cores can fill them */
        rig.network.flit_bytes = 160; /* links that are no limit: the port is to be seen */
        rig_open(&rig);
        u32 lines = 4 * rig.l2.sets * rig.l2.ways / 2, slices = rig.l2.channels * rig.l2.slices;
        struct memory_system_stats stats;
        stream(&rig, 0, lines, 15);
        take(&rig, &stats);
        u64 cycles = stream(&rig, 0, lines, masks[i]);
        take(&rig, &stats);
        u32 sectors = (u32)__builtin_popcount(masks[i]);
        u64 ideal = (u64)lines * sectors * SECTOR_BYTES / rig.l2.port_bytes / slices;
        assert_int_equal(stats.l2.read_hits, lines);
        assert_int_equal(stats.l2.port_cycles, (u64)lines * sectors);
        assert_true(cycles >= ideal);
        /* start and end are a round trip, and links are shared by turns */
        if (cycles > ideal * 11 / 10 + 2 * hit_cycles(&rig, 0, 128))
            fail_msg("%u sectors: %llu cycles, %llu would do", sectors, (unsigned long long)cycles,
                     (unsigned long long)ideal);
        rig_close(&rig);
    }
}

/* Streaming from DRAM: near what its buses can move, and never beyond it. */
static void test_dram_bandwidth(void **state)
{
    for (u32 request = 1; request <= 4; request *= 2) {
        struct rig rig;
        rig_params(&rig);
        rig.l2.request_sectors = request;
        rig_open(&rig);
        u32 lines = 12000, burst = rig.dram.bus_bytes * rig.dram.burst;
        u64 bursts = MAX(1u, request * SECTOR_BYTES / burst) * (4 / request);
        u64 cycles = stream(&rig, 0, lines, 15);
        u64 ideal = lines * bursts * rig.dram.tCCD / rig.l2.channels;
        struct memory_system_stats stats;
        take(&rig, &stats);
        assert_int_equal(stats.dram.read_bytes, (u64)lines * 128);
        assert_int_equal(stats.l2.dram_reads, lines * 4 / request);
        assert_true(cycles > ideal);
        if (cycles > ideal * 100 / 85 + 400)
            fail_msg("%u sectors a request: %llu cycles, %llu would do", request,
                     (unsigned long long)cycles, (unsigned long long)ideal);
        rig_close(&rig);
    }
}

/* A write whose victim has changes holds the port for these, too. */
static void test_victim_port(void **state)
{
    struct rig rig;
    rig_params(&rig);
    rig.l2.channels = rig.l2.slices = 1;
    rig.l2.sets = 1;
    rig.l2.ways = 2;
    rig_open(&rig);
    static const struct {
        u32 sectors, cycles, dram_writes;
    } steps[] = {
        {15, 4, 0},         {3, 2, 0}, /* two lines that are free */
        {1, 1 + 4 - 1, 1},             /* four sectors give way */
        {15, 4 + 2 - 1, 1},            /* two */
        {2, 1 + 1 - 1, 1},             /* one */
    };
    for (u32 i = 0; i < ARRAY_LEN(steps); i++) {
        struct packet write = {.address = i * 128, .kind = PACKET_WRITE, .full = 1};
        struct memory_system_stats stats;
        write.sectors = steps[i].sectors;
        rig_alone(&rig, 0, &write, rig.now / rig.period, NULL);
        for (u32 w = 0; w < 100; w++) /* until the write-back is through */
            rig_end_window(&rig);
        take(&rig, &stats);
        assert_int_equal(stats.l2.port_cycles, steps[i].cycles);
        assert_int_equal(stats.l2.dram_writes, steps[i].dram_writes);
        assert_int_equal(stats.dram.writes, steps[i].dram_writes);
    }
    rig_close(&rig);
}

/* ---- Turns ---- */

/* Reads that miss, as fast as they go, by all cores; each core has an address range of its own.
 * Answers of each after `cycles`. */
static void flood(struct rig *rig, const u64 *base, u32 stride, u32 cycles, u32 *answers)
{
    u32 sent[RIG_CORES] = {0};
    for (u32 begin = 0; begin < cycles; begin += rig->network.window) {
        for (u32 core = 0; core < RIG_CORES; core++) {
            struct port *requests = memory_system_requests(rig->memory_system, core);
            struct port *replies = memory_system_replies(rig->memory_system, core);
            for (u32 i = 0; i < rig->network.window; i++) {
                fs now = rig->now + i * rig->period;
                if (base[core] != UINT64_MAX && port_room(requests)) {
                    struct packet packet = rig_read(base[core] + (u64)sent[core]++ * stride, 15);
                    packet.core = (u16)core;
                    port_push(requests, &packet, now);
                }
                if (port_head(replies, now)) {
                    port_pop(replies);
                    answers[core]++;
                }
            }
        }
        rig_end_window(rig);
    }
}

/* Slices share their DRAM, and cores their port: nobody gets more than his turn. */
static void test_turns(void **state)
{
    struct rig rig;
    u64 base[RIG_CORES];
    rig_params(&rig);
    rig.l2.channels = 1;
    rig_open(&rig);
    /* core 0 reads what slice 0 has, core 1 what slice 1 has */
    u32 answers[RIG_CORES] = {0};
    for (u32 i = 0; i < RIG_CORES; i++)
        base[i] = i < 2 ? i * rig.l2.slice_bytes : UINT64_MAX;
    flood(&rig, base, 2 * rig.l2.slice_bytes, 8000, answers);
    assert_true(answers[0] > 300);
    assert_true(answers[0] * 100 < answers[1] * 105 && answers[1] * 100 < answers[0] * 105);
    rig_close(&rig);
    /* five cores on each of three ports, hits on lines of one slice only of each core */
    rig_params(&rig);
    rig.network.cores_per_port = 5;
    rig_open(&rig);
    memset(answers, 0, sizeof answers);
    for (u32 i = 0; i < RIG_CORES; i++)
        base[i] = i * 256;
    flood(&rig, base, 0, 8000, answers);
    for (u32 i = 0; i < RIG_CORES; i += 5)
        for (u32 k = 1; k < 5; k++) {
            assert_true(answers[i] > 300);
            assert_true(answers[i] * 100 < answers[i + k] * 110 &&
                        answers[i + k] * 100 < answers[i] * 110);
        }
    rig_close(&rig);
}

/* What one core sends later does not hold up what another core of the port has sent. */
static void test_shared_port(void **state)
{
    struct rig rig;
    rig_params(&rig);
    rig.network.cores_per_port = 2;
    rig_open(&rig);
    u32 window = rig.network.window;
    struct packet read = rig_read(0, 1);
    rig_alone(&rig, 0, &read, 0, NULL); /* now it is there */
    fs begin = rig.now, sent[2], got[2] = {0};
    while (!got[0] || !got[1]) {
        for (u32 core = 0; core < 2; core++)
            for (u32 i = 0; i < window; i++) {
                fs now = rig.now + i * rig.period;
                read.core = (u16)core;
                if (now == begin + (window * (core + 1) - 1) * rig.period) {
                    port_push(memory_system_requests(rig.memory_system, core), &read, now);
                    sent[core] = now;
                }
                if (!port_head(memory_system_replies(rig.memory_system, core), now))
                    continue;
                port_pop(memory_system_replies(rig.memory_system, core));
                got[core] = now;
            }
        rig_end_window(&rig);
    }
    for (u32 core = 0; core < 2; core++)
        assert_int_equal((got[core] - sent[core]) / rig.period, hit_cycles(&rig, 0, 32));
    rig_close(&rig);
}

/* ---- Order, copies, explanations ---- */

/* Atomics of one slice are noted in the order in which they came; a missing one comes later than a
 * hit behind it. The unit needs its cycles for each. */
static void test_atomics(void **state)
{
    struct rig rig;
    rig_params(&rig);
    rig.l2.atomic_cycles = 5;
    rig_open(&rig);
    struct packet warm = rig_read(0, 15);
    rig_alone(&rig, 0, &warm, 0, NULL);
    struct port *requests = memory_system_requests(rig.memory_system, 3);
    struct packet atomic = {.kind = PACKET_ATOMIC, .sectors = 1, .bytes = 32, .core = 3};
    for (u32 i = 0; i < 6; i++) {
        atomic.tag = i;
        atomic.returns = i % 2;
        atomic.lanes = 1ull << i;
        /* number 2 goes to the line behind in the same slice, which is not there */
        atomic.address = i == 2 ? 128 : 0;
        port_push(requests, &atomic, rig.now + i * rig.period);
    }
    static const u32 order[] = {0, 1, 3, 4, 5, 2};
    u32 seen = 0, answers = 0;
    fs times[6] = {0};
    while (answers < 6) {
        fs begin = rig.now;
        rig_end_window(&rig);
        u32 count;
        const struct packet *noted = memory_system_atomics(rig.memory_system, &count);
        for (u32 i = 0; i < count; i++, seen++) {
            assert_int_equal(noted[i].tag, order[seen]);
            assert_int_equal(noted[i].lanes, 1ull << order[seen]);
        }
        struct port *replies = memory_system_replies(rig.memory_system, 3);
        for (fs now = begin; now < rig.now; now += rig.period) {
            const struct packet *head = port_head(replies, now);
            if (!head)
                continue;
            assert_int_equal(head->tag, order[answers]);
            assert_int_equal(head->kind, head->tag % 2 ? PACKET_DATA : PACKET_ACK);
            times[answers++] = now;
            port_pop(replies);
        }
    }
    assert_int_equal(seen, 6);
    /* the packets came a cycle apart, the unit takes longer */
    assert_int_equal(times[1] - times[0], rig.l2.atomic_cycles * rig.period);
    assert_int_equal(times[3] - times[2], rig.l2.atomic_cycles * rig.period);
    rig_close(&rig);
}

/* Whether the sectors of a line are in the L2: how long a read alone takes. */
static bool resident(struct rig *rig, u64 address, u32 sectors)
{
    struct packet read = rig_read(address, sectors);
    u64 at = rig->now / rig->period;
    u64 cycles = rig_alone(rig, 0, &read, at, NULL) - at;
    u64 hit = hit_cycles(rig, 0, (u32)__builtin_popcount(sectors) * SECTOR_BYTES);
    assert_true(cycles >= hit);
    return cycles == hit;
}

/* A copy leaves its end in the L2, as much as fits; reading one line of a set changes what lies in
 * it, so each probe has a set of its own. */
static void test_copies(void **state)
{
    struct rig rig;
    rig_params(&rig);
    rig.l2.fill_on_copy = true;
    rig_open(&rig);
    u64 fits = (u64)rig.l2.channels * rig.l2.slices * rig.l2.sets * rig.l2.ways * rig.l2.line_bytes;
    u64 base = 3 * fits, end = base + 20 * fits;
    memory_system_copied(rig.memory_system, base, end - base);
    assert_true(resident(&rig, end - fits, 15));
    assert_true(resident(&rig, end - 256, 15));
    assert_false(resident(&rig, end - fits - 4096, 15));
    memory_system_invalidate(rig.memory_system);
    assert_false(resident(&rig, end - 512, 15));
    /* part of a line, from within a sector to within another */
    memory_system_copied(rig.memory_system, 40, 30);
    assert_true(resident(&rig, 0, 6));
    assert_false(resident(&rig, 0, 1));
    assert_false(resident(&rig, 0, 8));
    /* a request of a cache with shorter lines: sectors count from its own address */
    assert_false(resident(&rig, 4096 + 64, 3));
    assert_true(resident(&rig, 4096, 12));
    assert_false(resident(&rig, 4096, 3));
    struct memory_system_stats stats;
    take(&rig, &stats);
    assert_int_equal(stats.l2.evictions, 1); /* of the reads above; copies count nothing */
    rig_close(&rig);
    rig.l2.fill_on_copy = false;
    rig_open(&rig);
    memory_system_copied(rig.memory_system, 0, 4096);
    assert_false(resident(&rig, 0, 15));
    rig_close(&rig);
}

/* Where a request is, all the way. */
static void test_find(void **state)
{
    static const char *const way[] = {"from core 4",    "request network", "waits for the tags",
                                      "waits for DRAM", "reply network",   "to core 4"};
    static const char *const dram[] = {"miss queue", "on the way there", "DRAM: "};
    u32 seen = 0;
    struct rig rig;
    rig_params(&rig);
    rig.network.window = 1;
    rig.network.hop_cycles = 6;
    rig_open(&rig);
    struct packet packet = rig_read(256 * 6 + 256, 1); /* channel 1, slice 1 */
    packet.core = 4;
    packet.tag = 77;
    packet.client = CLIENT_CONSTANT;
    char text[200];
    assert_false(memory_system_find(rig.memory_system, &packet, text, sizeof text));
    port_push(memory_system_requests(rig.memory_system, 4), &packet, 0);
    u32 at = 0;
    while (!port_head(memory_system_replies(rig.memory_system, 4), rig.now)) {
        assert_true(memory_system_find(rig.memory_system, &packet, text, sizeof text));
        if (at + 1 < ARRAY_LEN(way) && strstr(text, way[at + 1]))
            at++;
        if (!strstr(text, way[at]) && !strstr(text, "reply waits"))
            fail_msg("'%s' after '%s'", text, way[at]);
        if (at == 3)
            assert_non_null(strstr(text, "L2 slice 1 of channel 1"));
        for (u32 i = 0; at == 3 && i < ARRAY_LEN(dram); i++)
            seen |= strstr(text, dram[i]) ? 1u << i : 0;
        if (at)
            assert_int_equal(memory_system_pending(rig.memory_system), 1);
        rig_end_window(&rig);
    }
    assert_int_equal(at, ARRAY_LEN(way) - 2);
    assert_int_equal(seen, (1u << ARRAY_LEN(dram)) - 1);
    assert_true(memory_system_find(rig.memory_system, &packet, text, sizeof text));
    assert_non_null(strstr(text, way[at + 1]));
    assert_int_equal(memory_system_pending(rig.memory_system), 0);
    packet.tag = 78;
    assert_false(memory_system_find(rig.memory_system, &packet, text, sizeof text));
    rig_close(&rig);
}

/* Parameters that do not fit each other, at the edge. */
static void test_check(void **state)
{
    struct rig rig;
    struct error error;
    rig_params(&rig);
    rig.l2.latency = 2 * rig.network.window;
    assert_true(relations_check_memory(&rig.params, &error));
    rig.l2.latency--;
    assert_false(relations_check_memory(&rig.params, &error));
    assert_non_null(strstr(error.message, "l2.latency"));
    rig_params(&rig);
    rig.l2.interleave_bytes = rig.l2.line_bytes;
    assert_true(relations_check_memory(&rig.params, &error));
    rig.l2.interleave_bytes = 64;
    assert_false(relations_check_memory(&rig.params, &error));
    rig.l2.interleave_bytes = 384;
    assert_false(relations_check_memory(&rig.params, &error));
    rig_params(&rig);
    rig.l2.slice_bytes = 64;
    assert_false(relations_check_memory(&rig.params, &error));
    assert_non_null(strstr(error.message, "l2.slice_bytes"));
    rig_params(&rig);
    rig.l2.line_bytes = 96;
    assert_false(relations_check_memory(&rig.params, &error));
}

/* ---- Addresses ---- */

/* A1: each place has one address; pieces go round; slices' own addresses are dense. */
static void test_addresses(void **state)
{
    static const struct address_map maps[] = {
        {6, 2, 256, 256, false}, {12, 2, 256, 128, false}, {7, 1, 512, 512, false},
        {7, 3, 128, 256, false}, {12, 2, 128, 128, true},  {1, 1, 256, 256, true},
    };
    for (u32 m = 0; m < ARRAY_LEN(maps); m++) {
        const struct address_map *map = &maps[m];
        u32 units = map->channels * map->slices, counts[64] = {0};
        u32 pieces = units * 64;
        for (u32 i = 0; i < pieces; i++) {
            /* pieces no longer than either */
            u64 address = (u64)i * 128 + i % 128;
            struct place place = address_place(map, address);
            assert_true(place.channel < map->channels && place.slice < map->slices);
            assert_int_equal(address_of(map, &place), address);
            assert_int_equal(address_in_channel(map, place.slice, place.in_slice),
                             place.in_channel);
            counts[place.channel * map->slices + place.slice]++;
            if (!map->hashed)
                assert_int_equal(place.channel, address / map->piece % map->channels);
            /* far up, too */
            place = address_place(map, address + (1ull << 44));
            assert_int_equal(address_of(map, &place), address + (1ull << 44));
        }
        for (u32 u = 0; u < units; u++)
            assert_int_equal(counts[u], 64);
    }
    /* GPGPU-Sim's GTX 480: bit 8 of the address within the channel */
    struct place place = address_place(&maps[0], 6 * 256);
    assert_int_equal(place.channel, 0);
    assert_int_equal(place.slice, 1);
    assert_int_equal(place.in_channel, 256);
    assert_int_equal(place.in_slice, 0);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_latency),        cmocka_unit_test(test_hit_bandwidth),
        cmocka_unit_test(test_dram_bandwidth), cmocka_unit_test(test_victim_port),
        cmocka_unit_test(test_turns),          cmocka_unit_test(test_shared_port),
        cmocka_unit_test(test_atomics),        cmocka_unit_test(test_copies),
        cmocka_unit_test(test_find),           cmocka_unit_test(test_check),
        cmocka_unit_test(test_addresses),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
