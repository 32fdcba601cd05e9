/*
 * Loads and stores end to end, against closed forms.
 *
 * A load issued in cycle t acts in t + 5 (collector, read, latch, load/store unit, its head) and,
 * when it hits the first-level cache, is written l1d.latency later. What misses is sent a cycle
 * after it was looked up, takes the unloaded time of the memory side (mem/memory_system.c says
 * which) and is written two cycles after its answer has come.
 */
#include "mem/packet.h"
#include "rig.h"

enum {
    TO_HEAD = 5,
    TO_QUEUE = 1,
    FILL = 2
};

#define CLOCKS "clock.core_mhz=700 clock.network_mhz=700 clock.l2_mhz=700 clock.dram_mhz=700 "
#define ONE CLOCKS "gpu.cores=1 l2.channels=1 l2.slices=1 "

/* ---- pointer chases ---- */

static struct rig *chase_rig(const char *settings, u32 loads)
{
    struct text text = {0};
    add(&text, HEAD ".visible .entry k(.param .u64 p)\n{\n .reg .b64 %%p<2>;\n"
                    " ld.param.u64 %%p0, [p];\n mov.u64 %%p1, %%p0;\n");
    for (u32 i = 0; i < loads; i++)
        add(&text, " ld.global.u64 %%p0, [%%p0];\n");
    add(&text, " st.global.u64 [%%p1+8], %%p0;\n ret;\n}\n");
    return rig_open_text(NULL, settings, &text);
}

/* Follows pointers at these offsets, once; cycles[i] is the time of the load from offset i. */
static void chase(struct rig *rig, hd_address base, const u64 *offsets, u32 count, u64 *cycles)
{
    for (u32 i = 0; i < count; i++) {
        u64 next = base + offsets[i + 1 < count ? i + 1 : 0];
        assert_true(hd_write(rig->device, base + offsets[i], &next, sizeof next, NULL));
    }
    rig_run(rig, 1, 1, base + offsets[0]);
    for (u32 i = 0; i < count; i++)
        cycles[i] = issued_at(rig, 0, 0, 3 + i) - issued_at(rig, 0, 0, 2 + i);
}

static hd_address aligned_memory(struct rig *rig, u64 bytes, u64 align)
{
    return (rig_memory(rig, bytes + align) + align - 1) / align * align;
}

static u64 flits(const struct rig *rig, u64 bytes)
{
    u64 flit = param(rig, "network.flit_bytes");
    return (PACKET_HEADER_BYTES + bytes + flit - 1) / flit;
}

/* From sending a read to its answer, found in the L2. */
static u64 far_cycles(const struct rig *rig, u64 bytes)
{
    u64 hop = param(rig, "network.hop_cycles");
    return 1 + hop + flits(rig, 0) - 1 + param(rig, "l2.latency") + 2 + hop + flits(rig, bytes) - 1;
}

static u64 transfer_cycles(const struct rig *rig)
{
    u64 rate = param(rig, "dram.data_rate");
    return (param(rig, "dram.burst") + rate - 1) / rate;
}

/* More than that, when the sector comes from an open row. */
static u64 dram_cycles(const struct rig *rig)
{
    return param(rig, "dram.latency") + param(rig, "dram.tCL") + transfer_cycles(rig) + 4;
}

static void expect(const char *what, u32 i, u64 got, u64 want)
{
    if (got != want)
        fail_msg("%s, load %u: %llu cycles, not %llu", what, i, (unsigned long long)got,
                 (unsigned long long)want);
}

/* One line after the other, as many as there are: the cache holds n lines and not n + 1. */
static void test_l1(void **state)
{
    static const u32 shapes[][3] = {{4, 2, 128}, {1, 5, 64}, {8, 1, 128}, {3, 3, 128}};
    static const u32 latencies[] = {1, 17, 35};
    for (u32 s = 0; s < ARRAY_LEN(shapes); s++)
        for (u32 more = 0; more <= 1; more++) {
            char settings[512];
            snprintf(settings, sizeof settings,
                     ONE "l1d.sets=%u l1d.ways=%u l1d.line_bytes=%u l1d.hashed=false "
                         "l1d.latency=%u l2.line_bytes=128",
                     shapes[s][0], shapes[s][1], shapes[s][2], latencies[s % 3]);
            u32 lines = shapes[s][0] * shapes[s][1] + more, ways = shapes[s][1], misses = 0;
            u64 offsets[64], cycles[64];
            for (u32 i = 0; i < 2 * lines; i++)
                offsets[i] = (u64)(i % lines) * shapes[s][2];
            struct rig *rig = chase_rig(settings, 2 * lines);
            hd_address base = aligned_memory(rig, 64 * 128, 65536);
            chase(rig, base, offsets, 2 * lines, cycles);
            u64 hit = TO_HEAD + param(rig, "l1d.latency");
            for (u32 i = lines; i < 2 * lines; i++)
                if (cycles[i] != hit) {
                    misses++;
                    u64 bytes = shapes[s][2];
                    expect("L2", i, cycles[i], hit + TO_QUEUE + far_cycles(rig, bytes) + FILL);
                }
            assert_int_equal(misses, more ? ways + 1 : 0);
            assert_int_equal(stat(rig, "l1d.read_misses"), lines + misses);
            assert_int_equal(stat(rig, "l1d.read_hits"), lines - misses);
            rig_close(rig);
        }
}

/* The last word of a line is there with its first; the first of the next line is not. */
static void test_line_edge(void **state)
{
    static const u32 sizes[] = {32, 64, 128};
    for (u32 i = 0; i < ARRAY_LEN(sizes); i++) {
        char settings[256];
        snprintf(settings, sizeof settings, ONE "l1d.line_bytes=%u", sizes[i]);
        struct rig *rig = chase_rig(settings, 3);
        hd_address base = aligned_memory(rig, 1024, 1024);
        u64 cycles[3], line = param(rig, "l1d.line_bytes");
        chase(rig, base, (const u64[]){0, line - 8, line}, 3, cycles);
        assert_int_equal(cycles[1], TO_HEAD + param(rig, "l1d.latency"));
        assert_true(cycles[2] > cycles[1] + param(rig, "l2.latency"));
        assert_int_equal(stat(rig, "l1d.read_misses"), 2);
        rig_close(rig);
    }
}

/* A line of local memory: a store that misses goes to the L2. Once a load has brought the line, ten more go
 * there each, or stay until another line takes the place: one write then. */
static void test_local_write(void **state)
{
    for (u32 back = 0; back < 2; back++) {
        struct text text = {0};
        add(&text, HEAD ".visible .entry k(.param .u64 p)\n{\n .local .b32 words[2];\n"
                        " .reg .b64 %%p, %%l;\n .reg .b32 %%x, %%y;\n"
                        " ld.param.u64 %%p, [p];\n mov.u64 %%l, words;\n mov.u32 %%x, 7;\n"
                        " st.local.u32 [%%l], %%x;\n ld.local.u32 %%x, [%%l];\n");
        for (u32 i = 0; i < 10; i++)
            add(&text, " st.local.u32 [%%l], %%x;\n");
        add(&text, " ld.local.u32 %%y, [%%l+4];\n st.global.u32 [%%p], %%x;\n ret;\n}\n");
        char settings[256];
        snprintf(settings, sizeof settings, ONE "l1d.sets=1 l1d.ways=1 l1d.local_write=%s",
                 back ? "back" : "through");
        struct rig *rig = rig_open_text(NULL, settings, &text);
        rig_run(rig, 1, 32, rig_memory(rig, 64));
        assert_int_equal(stat(rig, "l2.writes"), 1 + (back ? 1 : 10) + 1);
        assert_int_equal(stat(rig, "l1d.writebacks"), back);
        assert_int_equal(stat(rig, "l1d.write_hits"),
                         back ? 10 : 1); /* through: the first evicts */
        rig_close(rig);
    }
}

/* With write_allocate, a whole line that is stored is there: the load behind the store hits. */
static void test_write_allocate(void **state)
{
    for (u32 allocate = 0; allocate < 2; allocate++) {
        struct text text = {0};
        add(&text,
            HEAD ".visible .entry k(.param .u64 p)\n{\n .reg .b64 %%p, %%o;\n .reg .b32 %%x;\n"
                 " ld.param.u64 %%p, [p];\n mov.u32 %%x, %%tid.x;\n mul.wide.u32 %%o, %%x, 4;\n"
                 " add.u64 %%p, %%p, %%o;\n st.global.u32 [%%p], %%x;\n"
                 " ld.global.u32 %%x, [%%p];\n st.global.u32 [%%p], %%x;\n ret;\n}\n");
        char settings[256];
        snprintf(settings, sizeof settings, ONE "l1d.write=through l1d.write_allocate=%s",
                 allocate ? "true" : "false");
        struct rig *rig = rig_open_text(NULL, settings, &text);
        rig_run(rig, 1, 32, aligned_memory(rig, 128, 128));
        assert_int_equal(stat(rig, "l1d.read_hits"), allocate);
        assert_int_equal(stat(rig, "l2.writes"), 2);
        rig_close(rig);
    }
}

/* A load of 32 words; `address` turns %x, the lane, into the number of its sector. */
static struct rig *spread_rig(const char *load, const char *settings, const char *address)
{
    struct text text = {0};
    add(&text,
        HEAD ".visible .entry k(.param .u64 p)\n{\n .reg .b64 %%p, %%o;\n .reg .b32 %%x, %%y;\n"
             " ld.param.u64 %%p, [p];\n mov.u32 %%x, %%tid.x;\n%s mul.wide.u32 %%o, %%x, 32;\n"
             " add.u64 %%o, %%p, %%o;\n %s.u32 %%x, [%%o];\n st.global.u32 [%%p], %%x;\n ret;\n}\n",
        address, load);
    struct rig *rig = rig_open_text(NULL, settings, &text);
    rig_run(rig, 1, 32, aligned_memory(rig, 8192, 4096));
    return rig;
}

/* Lanes a line apart. Through the L1 each brings a line; from the L2 only, a sector. */
static void test_far_loads(void **state)
{
    static const char *const loads[] = {"ld.global", "ld.global.cg", "ld.volatile.global"};
    for (u32 i = 0; i < ARRAY_LEN(loads); i++) {
        struct rig *rig = spread_rig(loads[i], ONE "lsu.coalesce=line constant.perfect=true",
                                     " shl.b32 %x, %x, 2;\n");
        assert_int_equal(stat(rig, "lsu.transactions"), 32 + 1);
        assert_int_equal(stat(rig, "l1d.reads"), i ? 0 : 32);
        assert_int_equal(stat(rig, "dram.reads"), i ? 32 : 4 * 32);
        rig_close(rig);
    }
}

/* Eight lanes in a row access the same sector of eight lines: the same bank. In the order of addresses,
 * two banks serve two of the 32 sectors in a cycle; past the L1, one leaves in a cycle. */
static void test_banks(void **state)
{
    for (u32 far = 0; far < 2; far++) {
        struct rig *rig =
            spread_rig(far ? "ld.global.cg" : "ld.global",
                       ONE "lsu.coalesce=sector lsu.transactions_per_cycle=2 l1d.banks=2 "
                           "l1d.sectored=true l1d.miss_queue=64 constant.perfect=true",
                       " and.b32 %y, %x, 7;\n shr.u32 %x, %x, 3;\n"
                       " shl.b32 %y, %y, 2;\n or.b32 %x, %x, %y;\n");
        assert_int_equal(stat(rig, "lsu.transactions"), 32 + 1);
        assert_int_equal(stat(rig, "lsu.stall_cycles"), far ? 31 : 15);
        rig_close(rig);
    }
}

static void test_l2(void **state)
{
    static const u32 shapes[][2] = {{4, 2}, {1, 6}, {5, 3}};
    for (u32 s = 0; s < ARRAY_LEN(shapes); s++)
        for (u32 more = 0; more <= 1; more++) {
            char settings[512];
            snprintf(settings, sizeof settings,
                     ONE "l1d.global=false l2.sets=%u l2.ways=%u l2.latency=%u", shapes[s][0],
                     shapes[s][1], 100 + 7 * s);
            u32 lines = shapes[s][0] * shapes[s][1] + more, misses = 0;
            u64 offsets[64], cycles[64];
            for (u32 i = 0; i < 2 * lines; i++)
                offsets[i] = (u64)(i % lines) * 128;
            struct rig *rig = chase_rig(settings, 2 * lines);
            hd_address base = aligned_memory(rig, 64 * 128, 65536);
            chase(rig, base, offsets, 2 * lines, cycles);
            u64 hit = TO_HEAD + TO_QUEUE + far_cycles(rig, 32) + FILL;
            for (u32 i = lines; i < 2 * lines; i++)
                if (cycles[i] != hit) {
                    misses++;
                    assert_true(cycles[i] >= hit + dram_cycles(rig));
                }
            assert_int_equal(misses, more ? shapes[s][1] + 1 : 0);
            assert_int_equal(stat(rig, "l2.read_misses"), lines + misses);
            rig_close(rig);
        }
}

/* A closed row, an open one, another row of the bank, and a bank of its own. */
static void test_rows(void **state)
{
    static const char *const machines[] = {"", "dram.tRCD=20 dram.tRP=9 dram.tCL=15",
                                           "dram.latency=0 dram.burst=4",
                                           "network.hop_cycles=1 l2.latency=40 network.window=4"};
    for (u32 m = 0; m < ARRAY_LEN(machines); m++) {
        char settings[512];
        snprintf(settings, sizeof settings,
                 ONE "lsu.coalesce=sector l1d.sectored=true l2.placement=consecutive %s",
                 machines[m]);
        struct rig *rig = chase_rig(settings, 7);
        const u64 row = param(rig, "dram.row_bytes") * param(rig, "dram.banks");
        const u64 bank = param(rig, "dram.stripe_bytes");
        const u64 offsets[] = {0, 32, row, row + 32, 0 + 64, bank, bank + 64};
        const u64 activate = param(rig, "dram.tRCD"), precharge = param(rig, "dram.tRP");
        const u64 more[] = {activate, 0, precharge + activate, 0, precharge + activate,
                            activate, 0};
        u64 cycles[ARRAY_LEN(offsets)];
        hd_address base = aligned_memory(rig, 2 * row, 2 * row);
        chase(rig, base, offsets, ARRAY_LEN(offsets), cycles);
        u64 open = TO_HEAD + param(rig, "l1d.latency") + TO_QUEUE + far_cycles(rig, 32) + FILL +
                   dram_cycles(rig);
        for (u32 i = 0; i < ARRAY_LEN(offsets); i++)
            expect(machines[m], i, cycles[i], open + more[i]);
        assert_int_equal(stat(rig, "dram.row_misses"), 2);
        assert_int_equal(stat(rig, "dram.row_conflicts"), 2);
        assert_int_equal(stat(rig, "dram.row_hits"), 3);
        assert_int_equal(stat(rig, "dram.read_bytes"), 32 * ARRAY_LEN(offsets));
        rig_close(rig);
    }
}

/* ---- shared memory ---- */

/* Words of a warp at a stride: cycles of the fullest bank, each part of the warp for itself. */
static u32 shared_want(const struct rig *rig, u32 stride)
{
    u32 banks = (u32)param(rig, "lsu.shared_banks"),
        wide = (u32)param(rig, "lsu.shared_bank_bytes");
    u32 parts = (u32)param(rig, "lsu.shared_parts"), lanes = 32 / parts, sum = 0;
    for (u32 p = 0; p < parts; p++) {
        u32 most = 1;
        for (u32 b = 0; b < banks; b++) {
            u32 count = 0;
            for (u32 row = 0; row < 32u * 32 * 4 / (banks * wide) + 1; row++) {
                bool wanted = false; /* a row of a bank serves all requests for it */
                for (u32 lane = p * lanes; lane < (p + 1) * lanes; lane++)
                    wanted |= lane * stride * 4 / wide == row * banks + b;
                count += wanted;
            }
            most = MAX(most, count);
        }
        sum += most;
    }
    return sum;
}

static void test_shared(void **state)
{
    static const char *const machines[] = {"", "lsu.shared_banks=16 lsu.shared_parts=2",
                                           "lsu.shared_banks=32 lsu.shared_bank_bytes=8",
                                           "lsu.shared_latency=1"};
    for (u32 m = 0; m < ARRAY_LEN(machines); m++)
        for (u32 stride = 0; stride <= 32; stride++) {
            struct text text = {0};
            char settings[256];
            add(&text,
                HEAD ".visible .entry k(.param .u64 p)\n{\n .reg .b32 %%r<8>; .reg .b64 %%p;\n"
                     " .shared .align 16 .b8 s[4096];\n ld.param.u64 %%p, [p];\n"
                     " mov.u32 %%r0, %%tid.x; mul.lo.u32 %%r0, %%r0, %u; mov.u32 %%r1, s;\n"
                     " add.u32 %%r1, %%r1, %%r0;\n ld.shared.u32 %%r2, [%%r1];\n"
                     " st.global.u32 [%%p], %%r2;\n ret;\n}\n",
                stride * 4);
            snprintf(settings, sizeof settings, ONE "%s", machines[m]);
            struct rig *rig = rig_open_text(NULL, settings, &text);
            rig_run(rig, 1, 32, rig_memory(rig, 4));
            u32 want = shared_want(rig, stride);
            u64 cycles = retired_at(rig, 0, 0, 5) - issued_at(rig, 0, 0, 5);
            if (stat(rig, "lsu.shared_conflict_cycles") != want - 1 ||
                cycles != TO_HEAD + 1 + param(rig, "lsu.shared_latency") + want - 1)
                fail_msg("machine %u, stride %u: %llu conflicts, %llu cycles; %u at once", m,
                         stride, (unsigned long long)stat(rig, "lsu.shared_conflict_cycles"),
                         (unsigned long long)cycles, want);
            rig_close(rig);
        }
}

/* ---- constants ---- */

/* A parameter that is in the constant cache; it has no register to wait for on its way. */
static void test_constant(void **state)
{
    for (u32 latency = 1; latency <= 17; latency += latency < 3 ? 1 : 14) {
        struct text text = {0};
        char settings[256];
        add(&text, HEAD ".visible .entry k(.param .u64 p)\n{\n .reg .b64 %%p;\n"
                        " ld.param.u64 %%p, [p];\n st.global.u64 [%%p], %%p;\n ret;\n}\n");
        snprintf(settings, sizeof settings, ONE "constant.perfect=true constant.latency=%u",
                 latency);
        struct rig *rig = rig_open_text(NULL, settings, &text);
        rig_run(rig, 1, 32, rig_memory(rig, 8));
        assert_int_equal(stat(rig, "lsu.constant_accesses"), 1);
        expect("constant", latency, retired_at(rig, 0, 0, 0) - issued_at(rig, 0, 0, 0),
               TO_HEAD - 1 + param(rig, "constant.latency") - 1);
        rig_close(rig);
    }
}

/* ---- atomics ---- */

/* `meet` neighbouring lanes change one word: so many requests for each sector that they touch. */
static void test_atomics(void **state)
{
    static const u32 meets[] = {1, 2, 4, 8, 16, 32};
    for (u32 i = 0; i < ARRAY_LEN(meets); i++) {
        struct text text = {0};
        add(&text,
            HEAD ".visible .entry k(.param .u64 p)\n{\n .reg .b32 %%r; .reg .b64 %%p, %%q;\n"
                 " ld.param.u64 %%p, [p];\n mov.u32 %%r, %%tid.x;\n div.u32 %%r, %%r, %u;\n"
                 " mul.wide.u32 %%q, %%r, 4;\n add.u64 %%p, %%p, %%q;\n"
                 " red.global.add.u32 [%%p], 1;\n red.global.add.u32 [%%p], 1;\n ret;\n}\n",
            meets[i]);
        struct rig *rig = rig_open_text(NULL, "", &text);
        hd_address words = rig_memory(rig, 128);
        rig_run(rig, 1, 32, words);
        u32 sectors = MAX(32 / meets[i] * 4 / 32, 1), got[32];
        assert_int_equal(stat(rig, "l2.atomics"), 2 * meets[i] * sectors);
        assert_true(hd_read(rig->device, got, words, sizeof got, NULL));
        for (u32 k = 0; k < 32; k++)
            assert_int_equal(got[k], k < 32 / meets[i] ? 2 * meets[i] : 0);
        rig_close(rig);
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_l1),
        cmocka_unit_test(test_line_edge),
        cmocka_unit_test(test_l2),
        cmocka_unit_test(test_rows),
        cmocka_unit_test(test_shared),
        cmocka_unit_test(test_constant),
        cmocka_unit_test(test_atomics),
        cmocka_unit_test(test_local_write),
        cmocka_unit_test(test_write_allocate),
        cmocka_unit_test(test_far_loads),
        cmocka_unit_test(test_banks),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
