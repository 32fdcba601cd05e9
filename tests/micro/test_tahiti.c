/*
 * tahiti: latencies of its memory at each level, what it can move, and caches that four cores
 * share.
 *
 * Its schedulers take turns, so that a warp issues at its own turn only: what a load takes comes
 * out rounded up to the next one. The closed forms are those of test_memory.c.
 */
#include "mem/packet.h"
#include "rig.h"

enum {
    TO_HEAD = 5,
    TO_QUEUE = 1,
    FILL = 2,
    LOADS = 24
};

static u64 turn_after(const struct rig *rig, u64 cycles)
{
    u64 turns = param(rig, "issue.schedulers");
    return (cycles + turns - 1) / turns * turns;
}

/* Follows pointers at these offsets from `base`; gives the cycles of each load. */
static struct rig *chase(const char *settings, const u64 *offsets, u64 bytes, u64 *cycles)
{
    struct text text = {0};
    add(&text, HEAD ".visible .entry k(.param .u64 p)\n{\n .reg .b64 %%p<2>;\n"
                    " ld.param.u64 %%p0, [p];\n mov.u64 %%p1, %%p0;\n");
    for (u32 i = 0; i < LOADS; i++)
        add(&text, " ld.global.u64 %%p0, [%%p0];\n");
    add(&text, " st.global.u64 [%%p1+8], %%p0;\n ret;\n}\n");
    struct rig *rig = rig_open_text("tahiti", settings, &text);
    hd_address base = (rig_memory(rig, bytes + 65536) + 65535) / 65536 * 65536;
    for (u32 i = 0; i < LOADS; i++) {
        u64 next = base + offsets[(i + 1) % LOADS];
        assert_true(hd_write(rig->device, base + offsets[i], &next, sizeof next, NULL));
    }
    rig_run(rig, 1, 1, base + offsets[0]);
    for (u32 i = 0; i < LOADS; i++)
        cycles[i] = issued_at(rig, 0, 0, 3 + i) - issued_at(rig, 0, 0, 2 + i);
    return rig;
}

static u64 hit_cycles(const struct rig *rig)
{
    return TO_HEAD + param(rig, "l1d.latency");
}

static u64 flits(const struct rig *rig, u64 bytes)
{
    u64 flit = param(rig, "network.flit_bytes");
    return (PACKET_HEADER_BYTES + bytes + flit - 1) / flit;
}

/* A load that finds its line in the L2. */
static u64 far_cycles(const struct rig *rig)
{
    u64 hop = param(rig, "network.hop_cycles");
    return hit_cycles(rig) + TO_QUEUE + 1 + hop + flits(rig, 0) - 1 + param(rig, "l2.latency") + 2 +
           hop + flits(rig, 64) - 1 + FILL;
}

/* 16 KB of 64-byte lines in 64 sets: five lines 4 KB apart do not fit, four do. */
static void test_levels(void **state)
{
    u64 near[LOADS], far[LOADS], cycles[LOADS];
    for (u32 i = 0; i < LOADS; i++) {
        near[i] = (u64)(i % 4) * 4096 + i / 4 % 2 * 8; /* two words of each line */
        far[i] = (u64)(i % 6) * 4096 + i / 6 * 8;
    }
    struct rig *rig = chase("gpu.cores=4", near, 1 << 16, cycles);
    for (u32 i = 4; i < LOADS; i++)
        assert_int_equal(cycles[i], turn_after(rig, hit_cycles(rig)));
    assert_int_equal(stat(rig, "l1d.read_misses"), 4);
    rig_close(rig);

    rig = chase("gpu.cores=4", far, 1 << 16, cycles);
    for (u32 i = 6; i < LOADS; i++)
        assert_int_equal(cycles[i], turn_after(rig, far_cycles(rig)));
    assert_int_equal(stat(rig, "l1d.read_misses"), LOADS);
    assert_int_equal(stat(rig, "l2.read_misses"), 6);
    rig_close(rig);
}

/* Lines of channel 0: some open a row, the others wait for the column only. DRAM's clock is another
 * one: edges fall where they fall, within a few cycles. */
static void test_dram(void **state)
{
    u64 offsets[LOADS], cycles[LOADS], opened = 0;
    for (u32 i = 0; i < LOADS; i++)
        offsets[i] = i / 4 * 12 * 256 + i % 4 * 64;
    struct rig *rig = chase("gpu.cores=4", offsets, 1 << 20, cycles);
    u64 bursts = 64 / (param(rig, "dram.bus_bytes") * param(rig, "dram.burst"));
    u64 transfer = param(rig, "dram.burst") / param(rig, "dram.data_rate");
    u64 column = param(rig, "dram.tCL") + transfer + (bursts - 1) * param(rig, "dram.tCCDL") + 4;
    u64 core = param(rig, "clock.core_mhz"), dram = param(rig, "clock.dram_mhz");
    u64 least = far_cycles(rig) + param(rig, "dram.latency") + column * core / dram;
    u64 more = param(rig, "dram.tRCD") * core / dram;
    for (u32 i = 0; i < LOADS; i++) {
        bool opens = cycles[i] >= turn_after(rig, least) + more;
        opened += opens;
        if (cycles[i] + 4 < least || cycles[i] > least + (opens ? more : 0) + 4)
            fail_msg("load %u: %llu cycles, not about %llu", i, (unsigned long long)cycles[i],
                     (unsigned long long)least);
    }
    assert_int_equal(stat(rig, "dram.row_misses"), opened);
    assert_true(opened > 0 && opened <= LOADS / 4);
    assert_int_equal(stat(rig, "l2.read_misses"), LOADS);
    rig_close(rig);
}

/* ---- what can be moved ---- */

/* Each thread loads from each of eight pieces, which all threads pass in step. */
static struct rig *stream(const char *settings, u32 blocks, u32 times)
{
    struct text text = {0};
    u32 piece = blocks * 256 * 4;
    add(&text, HEAD ".visible .entry k(.param .u64 p)\n{\n .reg .b32 %%r<16>; .reg .b64 %%p<3>;\n"
                    " .reg .pred %%q;\n ld.param.u64 %%p0, [p];\n mov.u32 %%r0, %%tid.x;\n"
                    " mov.u32 %%r1, %%ctaid.x;\n mad.lo.u32 %%r2, %%r1, 256, %%r0;\n"
                    " mad.wide.u32 %%p1, %%r2, 4, %%p0;\n");
    for (u32 i = 0; i < 8; i++)
        add(&text, " ld.global.u32 %%r%u, [%%p1+%u];\n", 4 + i, i * piece);
    for (u32 i = 1; i < 8; i++)
        add(&text, " xor.b32 %%r4, %%r4, %%r%u;\n", 4 + i);
    add(&text, " setp.eq.u32 %%q, %%r4, 12345; @%%q st.global.u32 [%%p0], %%r4;\n ret;\n}\n");
    struct rig *rig = rig_open_text("tahiti", settings, &text);
    hd_address memory = rig_memory(rig, (u64)8 * piece);
    for (u32 i = 0; i < times; i++)
        rig_run(rig, blocks, 256, memory);
    return rig;
}

/* GB/s of the last launch. */
static f64 rate(const struct rig *rig, u64 bytes)
{
    return (f64)bytes * 1e3 / (f64)stat(rig, "timing.picoseconds");
}

static void expect_rate(const char *what, f64 got, f64 most, f64 share)
{
    if (got > most || got < share * most)
        fail_msg("%s: %.1f GB/s of %.1f", what, got, most);
}

static void test_bandwidth(void **state)
{
    enum {
        BLOCKS = 512
    };
    struct rig *rig = stream("", BLOCKS, 1);
    u64 bytes = (u64)BLOCKS * 256 * 4 * 8;
    f64 most = (f64)(param(rig, "l2.channels") * param(rig, "dram.bus_bytes") *
                     param(rig, "dram.data_rate") * param(rig, "clock.dram_mhz")) /
               1e3;
    assert_true(most == 264); /* AMD: 264 GB/s */
    assert_int_equal(stat(rig, "dram.read_bytes"), bytes);
    expect_rate("DRAM", rate(rig, bytes), most, 0.9);
    rig_close(rig);

    /* most of the L2, read again: a launch has forgotten what was in the L1 */
    rig = stream("", 80, 2);
    most = (f64)(param(rig, "l2.channels") * param(rig, "l2.port_bytes") *
                 param(rig, "clock.l2_mhz")) /
           1e3;
    assert_true(most == 710.4); /* AMD: 710 GB/s */
    assert_int_equal(stat(rig, "dram.reads"), 0);
    expect_rate("L2", rate(rig, (u64)80 * 256 * 4 * 8), most, 0.55);
    rig_close(rig);
}

/* ---- shared caches ---- */

static struct rig *same_code(const char *settings, u32 cores)
{
    struct text text = {0};
    char all[256];
    add(&text, HEAD ".visible .entry k(.param .u64 p)\n{\n .reg .b32 %%r<4>; .reg .b64 %%p<2>;\n"
                    " ld.param.u64 %%p0, [p];\n");
    for (u32 i = 0; i < 254; i++) /* 8 bytes each: 33 lines with what is around them */
        add(&text, " add.u32 %%r1, %%r1, %u;\n", i);
    add(&text, " st.global.u32 [%%p0], %%r1;\n ret;\n}\n");
    snprintf(all, sizeof all, "icache.perfect=false constant.perfect=false gpu.cores=%u %s", cores,
             settings);
    struct rig *rig = rig_open_text("tahiti", all, &text);
    rig_run(rig, cores, 64, rig_memory(rig, 64));
    return rig;
}

/* Four cores with the same code send for each line once; eight in two clusters twice. */
static void test_code_is_shared(void **state)
{
    struct rig *one = same_code("", 1), *four = same_code("", 4), *eight = same_code("", 8);
    struct rig *apart = same_code("gpu.cluster=0", 4);
    u64 lines = stat(one, "cluster_icache.read_misses");
    assert_in_range(lines, 32, 34);
    assert_int_equal(stat(one, "l2.reads"), lines + 1); /* and the parameter */
    assert_int_equal(stat(four, "cluster_icache.read_misses"), lines);
    assert_int_equal(stat(eight, "cluster_icache.read_misses"), 2 * lines);
    assert_int_equal(stat(four, "cluster_icache.reads"), stat(four, "icache.read_misses"));
    assert_int_equal(stat(four, "cluster_icache.reads"), 4 * stat(one, "cluster_icache.reads"));
    assert_int_equal(stat(four, "cluster_constant.read_misses"), 1);
    assert_int_equal(stat(four, "l2.reads"), lines + 1);
    /* without a cluster, what each sends for goes to the L2 */
    assert_int_equal(stat(apart, "cluster_icache.reads"), 0);
    assert_int_equal(stat(apart, "l2.reads"),
                     stat(apart, "icache.read_misses") + stat(apart, "constant.read_misses"));
    /* the second of four waits no longer than the first */
    assert_in_range(stat(four, "timing.cycles"), stat(one, "timing.cycles") - 8,
                    stat(one, "timing.cycles") + 64);
    rig_close(one);
    rig_close(four);
    rig_close(eight);
    rig_close(apart);
}

/* A second read of a parameter finds its line in the shared cache: from issue to issue its latency
 * and the way to the load/store unit and back. */
static void test_constant_latency(void **state)
{
    for (u32 latency = 20; latency <= 40; latency += 4) {
        char settings[128];
        snprintf(settings, sizeof settings, "constant.perfect=false cluster_constant.latency=%u",
                 latency);
        struct rig *rig = rig_open("tahiti", settings,
                                   HEAD ".visible .entry k(.param .u64 p)\n{\n .reg .b64 %d<4>;\n"
                                        " ld.param.u64 %d0, [p];\n st.global.u64 [%d0], %d0;\n"
                                        " ld.param.u64 %d1, [p];\n st.global.u64 [%d1], %d1;\n"
                                        " ret;\n}\n");
        rig_run(rig, 1, 1, rig_memory(rig, 64));
        u64 cycles = issued_at(rig, 0, 0, 3) - issued_at(rig, 0, 0, 2);
        assert_int_equal(cycles, turn_after(rig, TO_HEAD + latency + FILL));
        assert_int_equal(stat(rig, "cluster_constant.read_hits"), 1);
        rig_close(rig);
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_levels),           cmocka_unit_test(test_dram),
        cmocka_unit_test(test_bandwidth),        cmocka_unit_test(test_code_is_shared),
        cmocka_unit_test(test_constant_latency),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
