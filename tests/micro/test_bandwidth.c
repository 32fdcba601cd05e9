/*
 * Streams against what their parts can move at most: DRAM, L2, a core's link to the network. Never
 * more than the parameters allow, and not much less when nothing else is in the way. With two
 * channels or slices, a request for a busy one stands before others in its core's queue.
 */
#include "mem/packet.h"
#include "rig.h"

#define CLOCKS "clock.core_mhz=700 clock.network_mhz=700 clock.l2_mhz=700 clock.dram_mhz=700 "

/* Each thread loads or stores a word from each of LOADS pieces, which all threads pass in step. */
enum {
    LOADS = 8,
    THREADS = 256
};

static struct rig *stream_rig(const char *settings, u32 blocks, bool stores)
{
    struct text text = {0};
    char all[1024];
    u32 piece = blocks * THREADS * 4;
    add(&text,
        HEAD ".visible .entry k(.param .u64 p)\n{\n .reg .b32 %%r<%u>; .reg .b64 %%p<3>;\n"
             " ld.param.u64 %%p0, [p];\n mov.u32 %%r0, %%tid.x; mov.u32 %%r1, %%ctaid.x;\n"
             " mad.lo.u32 %%r2, %%r1, %u, %%r0; mad.wide.u32 %%p1, %%r2, 4, %%p0;\n",
        LOADS + 8, THREADS);
    for (u32 i = 0; i < LOADS; i++)
        if (stores)
            add(&text, " st.global.u32 [%%p1+%u], %%r2;\n", i * piece);
        else
            add(&text, " ld.global.u32 %%r%u, [%%p1+%u];\n", 4 + i, i * piece);
    for (u32 i = 1; i < LOADS && !stores; i++)
        add(&text, " xor.b32 %%r4, %%r4, %%r%u;\n", 4 + i);
    if (!stores) /* never true, but the compiler cannot know */
        add(&text, " .reg .pred %%q; setp.eq.u32 %%q, %%r4, 12345; @%%q st.global.u32 [%%p0], %%r4;"
                   "\n");
    add(&text, " ret;\n}\n");
    snprintf(all, sizeof all, CLOCKS "%s", settings);
    return rig_open_text(NULL, all, &text);
}

/* `used` of `most`, both over the whole launch: at least `share` of 100. */
static void expect_share(const char *what, u64 used, u64 most, u32 share)
{
    if (used > most || used * 100 < most * share)
        fail_msg("%s: %llu used of %llu, less than %u %%", what, (unsigned long long)used,
                 (unsigned long long)most, share);
}

/* A burst fills the bus for its transfers, and bursts are tCCD apart. */
static void test_dram(void **state)
{
    for (u32 channels = 1; channels <= 2; channels++) {
        char settings[256];
        u32 blocks = 128;
        snprintf(settings, sizeof settings,
                 "gpu.cores=8 l2.channels=%u l2.slices=1 l2.request_sectors=4", channels);
        struct rig *rig = stream_rig(settings, blocks, false);
        rig_run(rig, blocks, THREADS, rig_memory(rig, (u64)blocks * THREADS * 4 * LOADS));
        u64 bytes = (u64)blocks * THREADS * 4 * LOADS, cycles = stat(rig, "timing.cycles");
        u64 burst = param(rig, "dram.bus_bytes") * param(rig, "dram.burst");
        u64 transfer = (param(rig, "dram.burst") + param(rig, "dram.data_rate") - 1) /
                       param(rig, "dram.data_rate");
        assert_int_equal(stat(rig, "dram.read_bytes"), bytes);
        assert_int_equal(stat(rig, "dram.bus_cycles"), bytes / burst * transfer);
        expect_share("DRAM", bytes / burst * MAX(transfer, param(rig, "dram.tCCD")),
                     cycles * channels, channels == 1 ? 85 : 50);
        rig_close(rig);
    }
}

/* All is in the L2 when it is read again: slices move port_bytes a cycle. */
static void test_l2(void **state)
{
    for (u32 slices = 1; slices <= 2; slices++) {
        char settings[256];
        u32 blocks = 32;
        snprintf(settings, sizeof settings,
                 "gpu.cores=8 l2.channels=1 l2.slices=%u l2.sets=1024 l2.ways=16 "
                 "l1d.global=false l2.queue_in=256",
                 slices);
        struct rig *rig = stream_rig(settings, blocks, false);
        hd_address memory = rig_memory(rig, (u64)blocks * THREADS * 4 * LOADS);
        rig_run(rig, blocks, THREADS, memory);
        rig_run(rig, blocks, THREADS, memory);
        u64 bytes = (u64)blocks * THREADS * 4 * LOADS, cycles = stat(rig, "timing.cycles");
        assert_int_equal(stat(rig, "dram.reads"), 0);
        assert_int_equal(stat(rig, "l2.read_misses"), 0);
        expect_share("L2", bytes / param(rig, "l2.port_bytes"), cycles * slices,
                     slices == 1 ? 90 : 50);
        rig_close(rig);
    }
}

static u64 flits(const struct rig *rig, u64 bytes)
{
    u64 flit = param(rig, "network.flit_bytes");
    return (PACKET_HEADER_BYTES + bytes + flit - 1) / flit;
}

/* One core: its answers come over one link, a flit a cycle; so do its stores on the other. */
static void test_network(void **state)
{
    static const u32 widths[] = {8, 16, 40};
    for (u32 w = 0; w < ARRAY_LEN(widths); w++)
        for (u32 stores = 0; stores <= 1; stores++) {
            char settings[256];
            u32 blocks = 12;
            snprintf(settings, sizeof settings,
                     "gpu.cores=1 network.flit_bytes=%u l2.channels=4 l2.sets=512 l1d.mshrs=256 "
                     "lsu.store_queue=1024 network.speedup=%u",
                     widths[w], w % 2 + 1);
            struct rig *rig = stream_rig(settings, blocks, stores);
            hd_address memory = rig_memory(rig, (u64)blocks * THREADS * 4 * LOADS);
            rig_run(rig, blocks, THREADS, memory);
            rig_run(rig, blocks, THREADS, memory);
            u64 lines = (u64)blocks * THREADS * 4 * LOADS / 128,
                cycles = stat(rig, "timing.cycles");
            const char *name = stores ? "network.request_flits" : "network.reply_flits";
            assert_int_equal(stat(rig, name), lines * flits(rig, 128));
            expect_share(name, lines * flits(rig, 128), cycles, widths[w] == 40 ? 60 : 80);
            rig_close(rig);
        }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_dram),
        cmocka_unit_test(test_l2),
        cmocka_unit_test(test_network),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
