/* What the memory side does for mechanisms, by hand: payloads of DRAM, lines that are dropped, ways
 * that are reserved, and addresses. */
#include "mem/address.h"
#include "system_rig.h"

/* One slice, four ways, one set: lines of 128 bytes. */
static void open(struct rig *rig, u32 miss_queue)
{
    rig_params(rig);
    rig->l2.channels = rig->l2.slices = 1;
    rig->l2.sets = 1;
    rig->l2.ways = 4;
    rig->l2.miss_queue = miss_queue;
    rig_open(rig);
}

/* From now on; what is served before is not of interest. */
static struct memory_system_stats take(struct rig *rig)
{
    struct memory_system_stats stats;
    memory_system_take_stats(rig->memory_system, rig->now, &stats);
    return stats;
}

static void settle(struct rig *rig)
{
    for (u32 i = 0; i < 200; i++)
        rig_end_window(rig);
    assert_int_equal(memory_system_next(rig->memory_system), FS_NEVER);
}

static void send(struct rig *rig, enum packet_kind kind, u64 address, u32 sectors)
{
    struct packet packet = {.address = address, .sectors = sectors, .kind = (u8)kind, .full = 1};
    packet.from = (struct requester){.inst = 3, .kind = REQUESTER_ACCESS};
    rig_alone(rig, 0, &packet, rig->now / rig->period, NULL);
}

static void dropping_writes_dirty_sectors(void **state)
{
    struct rig rig;
    open(&rig, 4);
    assert_int_equal(memory_system_drop(rig.memory_system, 0), L2_DROP_ABSENT);
    send(&rig, PACKET_WRITE, 0, 1 | 2 | 8); /* three of four sectors */
    settle(&rig);
    assert_int_equal(take(&rig).dram.writes, 0);
    assert_int_equal(memory_system_drop(rig.memory_system, 77), L2_DROP_DONE);
    assert_int_equal(memory_system_drop(rig.memory_system, 0), L2_DROP_ABSENT);
    settle(&rig);
    struct memory_system_stats stats = take(&rig);
    assert_int_equal(stats.dram.writes, 1);
    assert_int_equal(stats.dram.write_bytes, 3 * SECTOR_BYTES);
    assert_int_equal(stats.l2.writebacks, 1);
    assert_int_equal(stats.l2.evictions, 0);
    /* the next read misses, and a clean line is only dropped */
    send(&rig, PACKET_READ, 0, 1);
    assert_int_equal(memory_system_drop(rig.memory_system, 0), L2_DROP_DONE);
    send(&rig, PACKET_READ, 0, 1);
    settle(&rig);
    stats = take(&rig);
    assert_int_equal(stats.l2.read_misses, 2);
    assert_int_equal(stats.l2.read_hits, 0);
    assert_int_equal(stats.dram.writes, 0);
    rig_close(&rig);
}

static void dropping_needs_room(void **state)
{
    struct rig rig;
    open(&rig, 1);
    send(&rig, PACKET_WRITE, 0, 1);
    send(&rig, PACKET_WRITE, 128, 1);
    send(&rig, PACKET_READ, 256, 1);
    settle(&rig);
    /* the miss queue has one place; a clean line needs none */
    assert_int_equal(memory_system_drop(rig.memory_system, 0), L2_DROP_DONE);
    assert_int_equal(memory_system_drop(rig.memory_system, 128), L2_DROP_NO_ROOM);
    assert_int_equal(memory_system_drop(rig.memory_system, 256), L2_DROP_DONE);
    settle(&rig);
    assert_int_equal(memory_system_drop(rig.memory_system, 128), L2_DROP_DONE);
    settle(&rig);
    assert_int_equal(take(&rig).dram.writes, 2);
    rig_close(&rig);
}

static void dropping_waits_for_fills(void **state)
{
    struct rig rig;
    open(&rig, 4);
    struct packet packet = rig_read(0, 1);
    port_push(memory_system_requests(rig.memory_system, 0), &packet, 0);
    u32 under_way = 0;
    for (u32 i = 0; i < 100; i++) {
        rig_end_window(&rig);
        under_way += memory_system_drop(rig.memory_system, 0) == L2_DROP_UNDER_WAY;
        if (port_head(memory_system_replies(rig.memory_system, 0), rig.now))
            break;
    }
    assert_true(under_way > 2);
    assert_non_null(port_head(memory_system_replies(rig.memory_system, 0), rig.now));
    rig_close(&rig);
}

/* Lines 0 to 3 are in ways 0 to 3; the last two ways are reserved, and given back. */
static void reserved_ways_are_emptied(void **state)
{
    struct rig rig;
    struct cache_hooks hooks = {0};
    open(&rig, 2);
    memory_system_set_l2_hooks(rig.memory_system, 0, &hooks);
    for (u32 i = 0; i < 4; i++)
        send(&rig, PACKET_WRITE, 128 * i, i == 3 ? 3 : 1);
    settle(&rig);
    take(&rig);
    memory_system_reserve(rig.memory_system, 0, 2);
    assert_true(memory_system_reserving(rig.memory_system, 0));
    settle(&rig);
    assert_false(memory_system_reserving(rig.memory_system, 0));
    struct memory_system_stats stats = take(&rig);
    assert_int_equal(stats.dram.writes, 2);
    assert_int_equal(stats.dram.write_bytes, 3 * SECTOR_BYTES);
    for (u32 i = 0; i < 2; i++)
        send(&rig, PACKET_READ, 128 * i, 1);
    stats = take(&rig);
    assert_int_equal(stats.l2.read_hits, 2);
    /* there is room for two lines, then for four */
    for (u32 i = 0; i < 3; i++)
        send(&rig, PACKET_READ, 1024 + 128 * i, 1);
    send(&rig, PACKET_READ, 1024, 1);
    assert_int_equal(take(&rig).l2.read_misses, 4);
    memory_system_reserve(rig.memory_system, 0, 0);
    for (u32 i = 0; i < 8; i++)
        send(&rig, PACKET_READ, 4096 + 128 * (i % 4), 1);
    stats = take(&rig);
    assert_int_equal(stats.l2.read_misses, 4);
    assert_int_equal(stats.l2.read_hits, 4);
    rig_close(&rig);
}

/* A line that is under way when its way is reserved leaves with its fill, its changes written. */
static void lines_under_way_leave_with_their_fill(void **state)
{
    struct rig rig;
    struct cache_hooks hooks = {0};
    struct packet read = rig_read(0, 2), answer;
    open(&rig, 4);
    memory_system_set_l2_hooks(rig.memory_system, 0, &hooks);
    port_push(memory_system_requests(rig.memory_system, 0), &read, 0);
    u64 from = rig.now / rig.period;
    struct packet write = {.sectors = 1, .kind = PACKET_WRITE, .full = 1};
    rig_alone(&rig, 1, &write, from + 8, &answer); /* into the line under way */
    memory_system_reserve(rig.memory_system, 0, 4);
    settle(&rig);
    assert_false(memory_system_reserving(rig.memory_system, 0));
    struct memory_system_stats stats = take(&rig);
    assert_int_equal(stats.l2.fills, 1);
    assert_int_equal(stats.dram.writes, 1);
    assert_int_equal(stats.dram.write_bytes, SECTOR_BYTES);
    assert_non_null(port_head(memory_system_replies(rig.memory_system, 0), rig.now));
    rig_close(&rig);
}

static void started(void *user, const struct dram_event *event, struct payload *payload)
{
    *payload = (struct payload){event->address + 1, *(u16 *)user};
}

/* An answer with a payload is as much longer as the payload is; the requester is the first. */
static void payloads_count_in_flits(void **state)
{
    static u16 sizes[] = {0, 1, 64, 200};
    for (u32 i = 0; i < ARRAY_LEN(sizes); i++) {
        struct rig rig;
        struct packet read = rig_read(512, 1), answer;
        struct dram_hooks hooks = {.user = &sizes[i], .started = started};
        open(&rig, 4);
        memory_system_add_dram_hooks(rig.memory_system, 0, &hooks);
        read.from = (struct requester){.inst = 3, .kind = REQUESTER_ACCESS};
        rig_alone(&rig, 0, &read, 0, &answer);
        const u32 bytes = PACKET_HEADER_BYTES + SECTOR_BYTES + (sizes[i] + 7) / 8;
        const u32 flit = rig.network.flit_bytes;
        assert_int_equal(take(&rig).network.reply_flits, (bytes + flit - 1) / flit);
        assert_int_equal(answer.from_dram, sizes[i] > 0);
        assert_int_equal(answer.payload, sizes[i] ? 513 : 0);
        assert_int_equal(answer.payload_bits, sizes[i]);
        /* a hit has none, nor has a miss to which DRAM gives none */
        rig_alone(&rig, 0, &read, rig.now / rig.period, &answer);
        assert_false(answer.from_dram);
        u16 none = 0;
        hooks.user = &none;
        memory_system_add_dram_hooks(rig.memory_system, 0, &hooks);
        read.address = 2048;
        rig_alone(&rig, 0, &read, rig.now / rig.period, &answer);
        assert_false(answer.from_dram);
        rig_close(&rig);
    }
}

static void addresses_are_inverse(void **state)
{
    u64 seed = 5;
    for (u32 i = 0; i < 5000; i++) {
        struct address_map map = {.channels = 1 + rig_random(&seed, 12),
                                  .slices = 1 + rig_random(&seed, 4),
                                  .piece = 256u << rig_random(&seed, 3),
                                  .slice_piece = 128u << rig_random(&seed, 2),
                                  .hashed = rig_random(&seed, 2)};
        const u64 address = (u64)rig_random(&seed, 1u << 30) * 32;
        const struct place place = address_place(&map, address);
        assert_int_equal(address_from_channel(&map, place.channel, place.in_channel), address);
        assert_int_equal(address_of(&map, &place), address);
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(dropping_writes_dirty_sectors),
        cmocka_unit_test(dropping_needs_room),
        cmocka_unit_test(dropping_waits_for_fills),
        cmocka_unit_test(reserved_ways_are_emptied),
        cmocka_unit_test(lines_under_way_leave_with_their_fill),
        cmocka_unit_test(payloads_count_in_flits),
        cmocka_unit_test(addresses_are_inverse),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
