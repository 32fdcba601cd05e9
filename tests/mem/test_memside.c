/* The memory side, one request at a time and at full rate: closed forms for latency and bandwidth,
 * read from the parameters. */
#include "mem/address.h"
#include "memside_rig.h"

static u32 flits(const struct rig *rig, u32 bytes)
{
    return (PACKET_HEADER_BYTES + bytes + rig->network.flit_bytes - 1) / rig->network.flit_bytes;
}

/* From the core's push to its answer, all clocks equal: see the head of memside.c. */
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

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_latency),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
