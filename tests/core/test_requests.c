/*
 * Requests of a core: lines longer and shorter than those of the L2, what a request names, and the
 * client that hears once, when all of its request is answered.
 */
#include "rig.h"

#include "core/requests.h"
#include <stdio.h>

enum {
    SLOT = 3,
    LINE = 0x4000, /* an address */
};

static void open(struct rig *rig, u32 line_bytes, u32 l2_line_bytes)
{
    char settings[256];
    snprintf(settings, sizeof settings,
             "icache.line_bytes=%u icache.perfect=false icache.miss_cycles=0 icache.keeps=true "
             "icache.sectored=false l2.line_bytes=%u",
             line_bytes, l2_line_bytes);
    rig_open(rig, "generic", settings);
    rig_begin(rig, false);
}

/* The next request that the memory side finds. */
static struct packet next_request(struct rig *rig)
{
    port_meet(&rig->requests);
    const struct packet *head = port_head(&rig->requests, FS_NEVER - 1);
    assert_non_null(head);
    const struct packet packet = *head;
    port_pop(&rig->requests);
    return packet;
}
static void assert_no_request(struct rig *rig)
{
    port_meet(&rig->requests);
    assert_null(port_head(&rig->requests, FS_NEVER - 1));
}

static const struct requester requester = {
    .inst = 9, .block = 7, .slot = SLOT, .kind = REQUESTER_FETCH};

/* A slot misses in the instruction cache and waits for the line; what it asks for is sent. */
static u32 miss(struct rig *rig)
{
    struct cache_out out;
    const u32 all = rig->core->fetch.line_sectors;
    assert_int_equal(cache_read(rig->core->fetch.cache, LINE, all, SLOT, &out), CACHE_MISS);
    rig->core->present |= bit(SLOT);
    rig->core->slots[SLOT].barred |= BARRED_MISSING;
    requests_read(rig->core, CLIENT_FETCH, LINE, rig->machine.icache->line_bytes, out.sectors,
                  out.mshr, &requester);
    return out.mshr;
}
static bool has_heard(struct rig *rig)
{
    return !(rig->core->slots[SLOT].barred & BARRED_MISSING);
}
static void answer(struct rig *rig, struct packet packet)
{
    packet.kind = PACKET_DATA;
    requests_answered(rig->core, &packet);
}

/* A line of n lines of the L2 takes n packets, one for each of these, and the client hears of the
 * last answer and not of those before, in whatever order they come. */
static void longer_line(void **state)
{
    for (u32 n = 1; n <= 8; n *= 2)
        for (u32 first = 0; first < n; first++) {
            const u32 far = 64;
            struct rig rig;
            struct packet packets[8];
            open(&rig, n * far, far);
            assert_int_equal(requests_needed(rig.core, n * far), n);
            const u32 mshr = miss(&rig);
            for (u32 i = 0; i < n; i++) {
                packets[i] = next_request(&rig);
                assert_int_equal(packets[i].address, LINE + i * far);
                assert_int_equal(packets[i].sectors, 3);
                assert_int_equal(packets[i].tag, mshr);
                assert_int_equal(packets[i].kind, PACKET_READ);
                assert_int_equal(packets[i].client, CLIENT_FETCH);
                assert_memory_equal(&packets[i].from, &requester, sizeof requester);
            }
            assert_no_request(&rig);
            for (u32 i = 0; i < n; i++) {
                assert_false(has_heard(&rig));
                assert_false(cache_has(rig.core->fetch.cache, LINE, 1));
                answer(&rig, packets[(first + i) % n]);
            }
            assert_true(has_heard(&rig));
            assert_true(cache_has(rig.core->fetch.cache, LINE, rig.core->fetch.line_sectors));
            assert_int_equal(rig.core->stats.icache.fills, 1);
            assert_int_equal(rig.core->stats.lsu.requests, n);
            assert_int_equal(rig.core->stats.lsu.replies, n);
            rig_close(&rig);
        }
}

/* Only parts of the line that are asked for take packets. */
static void some_sectors(void **state)
{
    struct rig rig;
    open(&rig, 128, 64);
    const struct {
        u32 sectors, packets;
        u32 parts[4]; /* sectors of each line of the L2 */
    } cases[] = {
        {0x1, 1, {1}},        {0x2, 1, {2}},           {0x81, 2, {1, 0, 0, 2}},
        {0x30, 1, {0, 0, 3}}, {0xff, 4, {3, 3, 3, 3}}, {0x14, 2, {0, 1, 1}},
    };
    for (u32 i = 0; i < ARRAY_LEN(cases); i++) {
        requests_read(rig.core, CLIENT_L1D, LINE, 256, cases[i].sectors, 1, &requester);
        assert_int_equal(rig.core->awaiting[CLIENT_L1D][1], cases[i].packets);
        for (u32 part = 0; part < 4; part++)
            if (cases[i].parts[part]) {
                const struct packet packet = next_request(&rig);
                assert_int_equal(packet.address, LINE + part * 64);
                assert_int_equal(packet.sectors, cases[i].parts[part]);
            }
        assert_no_request(&rig);
        rig.core->awaiting[CLIENT_L1D][1] = 0;
    }
    rig_close(&rig);
}

/* A line shorter than that of the L2 is named by the latter and its sectors. */
static void shorter_line(void **state)
{
    struct rig rig;
    open(&rig, 32, 128);
    assert_int_equal(requests_needed(rig.core, 32), 1);
    assert_int_equal(requests_needed(rig.core, 128), 1);
    for (u32 i = 0; i < 8; i++) {
        requests_read(rig.core, CLIENT_FETCH, LINE + 32 * i, 32, 1, 0, &requester);
        const struct packet packet = next_request(&rig);
        assert_int_equal(packet.address, LINE + i / 4 * 128);
        assert_int_equal(packet.sectors, 1u << i % 4);
    }
    rig_close(&rig);
}

/* Answers that are on their way arrive when the port says so. */
static void replies_through_the_port(void **state)
{
    struct rig rig;
    open(&rig, 64, 64);
    miss(&rig);
    struct packet packet = next_request(&rig);
    packet.kind = PACKET_DATA;
    port_push(&rig.replies, &packet, 5000);
    port_meet(&rig.replies);
    rig.core->clock.next = 5000 + rig.replies.latency - 1;
    core_take_replies(rig.core);
    assert_false(has_heard(&rig));
    rig.core->clock.next++;
    core_take_replies(rig.core);
    assert_true(has_heard(&rig));
    assert_int_equal(port_next(&rig.replies), FS_NEVER);
    rig_close(&rig);
}

/* Each port takes its clients' packets. */
static void ports(void **state)
{
    struct rig rig;
    open(&rig, 64, 64);
    struct port fetches, constants;
    port_create(&fetches, 4, 1000);
    port_create(&constants, 4, 1000);
    rig.core->config.fetch_requests = &fetches;
    rig.core->config.constant_requests = &constants;
    for (enum packet_client client = CLIENT_FETCH; client <= CLIENT_READONLY; client++)
        requests_read(rig.core, client, LINE, 64, 3, 0, &requester);
    assert_int_equal(fetches.pushed, 1);
    assert_int_equal(fetches.packets[0].client, CLIENT_FETCH);
    assert_int_equal(constants.pushed, 1);
    assert_int_equal(constants.packets[0].client, CLIENT_CONSTANT);
    assert_int_equal(next_request(&rig).client, CLIENT_L1D);
    assert_int_equal(next_request(&rig).client, CLIENT_READONLY);
    assert_no_request(&rig);
    port_destroy(&fetches);
    port_destroy(&constants);
    rig_close(&rig);
}

/* There is room for n packets while n fit, and a note of a mechanism is refused when none does. */
static void room(void **state)
{
    struct rig rig;
    open(&rig, 64, 64);
    const u32 limit = rig.requests.limit;
    for (u32 left = limit; left; left--) {
        assert_true(requests_room(rig.core, left));
        assert_false(requests_room(rig.core, left + 1));
        assert_true(core_send_note(rig.core, LINE + 70, 0xabc, 12));
    }
    assert_false(requests_room(rig.core, 1));
    assert_false(core_send_note(rig.core, LINE, 0, 1));
    assert_int_equal(rig.core->stats.lsu.requests, limit);
    const struct packet note = next_request(&rig);
    assert_int_equal(note.kind, PACKET_NOTE);
    assert_int_equal(note.client, CLIENT_MECHANISM);
    assert_int_equal(note.address, LINE + 64);
    assert_int_equal(note.payload, 0xabc);
    assert_int_equal(note.payload_bits, 12);
    rig_close(&rig);
}

/* Cycles from sending to the answer, in classes: each answer counts in one. */
static void latencies(void **state)
{
    struct rig rig;
    open(&rig, 64, 64);
    const struct lsu_stats *s = &rig.core->stats.lsu;
    const u32 cycles[] = {0, 127, 128, 255, 256, 511, 512, 1023, 1024, 2047, 2048, 100000};
    u64 sum = 0;
    for (u32 i = 0; i < ARRAY_LEN(cycles); i++) {
        const struct packet note = {.kind = PACKET_ACK, .client = CLIENT_MECHANISM, .sent = 77};
        rig.core->clock.next = 77 + cycles[i] * rig.core->clock.period;
        requests_answered(rig.core, &note);
        sum += cycles[i];
    }
    assert_int_equal(s->replies, ARRAY_LEN(cycles));
    assert_int_equal(s->latency_cycles, sum);
    assert_int_equal(s->latency_below_128, 2);
    assert_int_equal(s->latency_below_256, 2);
    assert_int_equal(s->latency_below_512, 2);
    assert_int_equal(s->latency_below_1024, 2);
    assert_int_equal(s->latency_below_2048, 2);
    assert_int_equal(s->latency_above, 2);
    rig_close(&rig);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(longer_line),  cmocka_unit_test(some_sectors),
        cmocka_unit_test(shorter_line), cmocka_unit_test(replies_through_the_port),
        cmocka_unit_test(ports),        cmocka_unit_test(room),
        cmocka_unit_test(latencies),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
