/*
 * RISE: bits that are flipped in a unit are corrected where the instruction has a copy, and nowhere else;
 * two wrong copies stop the launch; the number of redundant cycles is that of equation 3.1; which
 * instructions are executed twice; results are those without, on every machine.
 *
 *   test-mech-rise TESTS     the folder tests/ of the sources
 */
#include "gpu/device.h"
#include "gpu/time/live.h"
#include "mech/rise.h"
#include "rig.h"

#include <stdlib.h>

/* clang-format off */
#include <setjmp.h>
#include <stdarg.h>
#include <cmocka.h>
/* clang-format on */

/* ---- equation 3.1 ---- */

static void redundant_cycles(void **state)
{
    const struct rise_params p = {.threshold = 32, .reference = 128};
    assert_int_equal(rise_cycles(&p, 32, 500), 0); /* T_P <= T_thr */
    assert_int_equal(rise_cycles(&p, 33, 500), 33);
    assert_int_equal(rise_cycles(&p, 33, 128), 33);  /* T_acc >= T_ref */
    assert_int_equal(rise_cycles(&p, 100, 127), 99); /* 99.2 */
    assert_int_equal(rise_cycles(&p, 100, 64), 50);
    assert_int_equal(rise_cycles(&p, 101, 64), 51); /* 50.5 */
    assert_int_equal(rise_cycles(&p, 99, 37), 29);  /* 28.6 */
    assert_int_equal(rise_cycles(&p, 1023, 400), 1023);
    assert_int_equal(rise_cycles(&p, 5000, 400), 1023); /* ten bits */
    assert_int_equal(rise_cycles(&p, 33, 0), 0);
}

/* A controller, by hand: periods of 100 cycles, T_thr 32 and T_ref 128. */
static void controllers_take_averages(void **state)
{
    struct rise_params p = {.threshold = 32, .reference = 128, .period = 100};
    struct rise_stats stats = {0};
    struct rise_memory memory = {.params = &p, .stats = &stats};
    struct dram_hooks hooks;
    p.request_pending = true;
    assert_true(rise_dram(&memory, 0, &hooks));
    static const struct {
        u64 arrived, cycle; /* of the last data */
        u32 samples, latency;
    } served[] = {
        {1, 10, 0, 0},  /* nothing was sampled before; it takes 10 cycles; the period ends at 100 */
        {31, 50, 0, 0}, /* 20 */
        {70, 99, 0, 0}, /* 30 */
        {61, 100, 1, 20}, /* 40; the mean of the first three. The period ends at 200 */
        {51, 199, 1, 20}, /* 149 */
        {150, 350, 2, 94}, /* (40 + 149) / 2. One period was without a request; this one ends at 400 */
        {200, 399, 2, 94}, {240, 400, 3, 200}, /* (201 + 200) / 2 */
    };
    u64 sum = 0, samples = 0;
    for (u32 i = 0; i < ARRAY_LEN(served); i++) {
        const struct dram_event event = {.arrived = served[i].arrived, .cycle = served[i].cycle};
        struct payload payload = {0};
        hooks.served(hooks.user, &event, &payload);
        sum += stats.samples != samples ? served[i].latency : 0;
        samples = stats.samples;
        assert_int_equal(stats.samples, served[i].samples);
        assert_int_equal(memory.latency, served[i].latency);
        assert_int_equal(stats.sampled_latency, sum);
    }
    static const struct {
        u32 latency, waited, cycles, scaled;
    } started[] = {
        {64, 32, 0, 0}, {64, 33, 17, 1}, {127, 100, 99, 2}, {128, 100, 100, 2}, {200, 40, 40, 2},
    };
    for (u32 i = 0; i < ARRAY_LEN(started); i++) {
        const struct dram_event event = {.arrived = 1000, .cycle = 1000 + started[i].waited};
        struct payload payload = {0};
        memory.latency = started[i].latency;
        hooks.started(hooks.user, &event, &payload);
        assert_int_equal(payload.value, started[i].cycles);
        assert_int_equal(payload.bits, 10);
        assert_int_equal(stats.scaled, started[i].scaled);
        assert_int_equal(stats.timed, i + 1);
    }
    p.full = true;
    assert_false(rise_dram(&memory, 0, &hooks));
}

/* ---- flips in units ---- */

enum {
    THREADS = 32,
    BEFORE = 6,     /* instructions of the unit before them, whose results they need */
    CHAIN = 6,      /* additions that the results depend on */
    STAGES = 4,     /* of the unit; bits are flipped in the third, */
    LANE_BITS = 33, /* of a stage, for each lane: a result and whether it is written */
    MOST_BLOCKS = 4
};
/* Thread t of block b stores t + 3 * CHAIN at its place. */
static const char chain[] =
    ".version 6.0\n.target sm_30\n.address_size 64\n.visible .entry k(.param .u64 p)\n{\n"
    ".reg .u64 %a, %o;\n.reg .u32 %x, %t, %b;\nld.param.u64 %a, [p];\nmov.u32 %t, %tid.x;\n"
    "mov.u32 %b, %ctaid.x;\nshl.b32 %b, %b, 5;\nadd.u32 %b, %b, %t;\nmul.wide.u32 %o, %b, 4;\n"
    "add.u64 %a, %a, %o;\nmov.u32 %x, %t;\n"
    "add.u32 %x, %x, 3;\nadd.u32 %x, %x, 3;\nadd.u32 %x, %x, 3;\nadd.u32 %x, %x, 3;\n"
    "add.u32 %x, %x, 3;\nadd.u32 %x, %x, 3;\nst.global.u32 [%a], %x;\nret;\n}\n";

struct bed {
    struct hd_device *device;
    struct hd_kernel *kernel;
    hd_address memory;
    u64 cycles;
    u32 threads; /* of a block */
};

static struct bed open_bed_of(const char *code, const char *const *words)
{
    static const char *const usual[] = {
        "timing.functional=false", "ptx.optimize=false",    "timing.live_state=true",
        "icache.perfect=true",     "constant.perfect=true", "timing.max_cycles=20000",
        "units.fp32_add=4",        "units.int_add=4",       "units.int_simple=4"};
    struct hd_error error = {0};
    struct bed bed = {.threads = THREADS};
    struct hd_config *config = hd_config_create();
    assert_true(hd_config_load(config, "rise28", &error));
    for (u32 i = 0; i < ARRAY_LEN(usual); i++)
        assert_true(hd_config_set(config, usual[i], &error));
    for (; words && *words; words++)
        if (!rig_apply(config, *words, &error))
            fail_msg("%s: %s", *words, error.message);
    bed.device = hd_device_open(config, &error);
    hd_config_destroy(config);
    if (!bed.device)
        fail_msg("%s", error.message);
    struct hd_module *module = hd_module_load(bed.device, code, strlen(code), "k.ptx", &error);
    if (!module)
        fail_msg("%s", error.message);
    bed.kernel = hd_kernel_at(module, 0);
    bed.memory = hd_alloc(bed.device, 1 << 20, &error);
    return bed;
}

static struct bed open_bed(const char *const *words)
{
    return open_bed_of(chain, words);
}

static u64 total(const struct bed *bed, const char *name)
{
    char *text = hd_stats_json(bed->device);
    json_t *all = json_loads(text, 0, NULL);
    const u64 value =
        (u64)json_integer_value(json_object_get(json_object_get(all, "totals"), name));
    json_decref(all);
    hd_free(text);
    return value;
}

struct ending {
    bool right, check; /* all results are right; the launch was stopped by a check */
};
static struct ending run(struct bed *bed, u32 blocks, struct strike *strikes, u32 count)
{
    struct hd_error error = {0};
    struct hd_result result;
    u32 words[THREADS * MOST_BLOCKS] = {0};
    const u32 bytes = 4 * THREADS * blocks;
    struct hd_arg arg = {&bed->memory, sizeof bed->memory};
    assert_true(hd_write(bed->device, bed->memory, words, bytes, &error));
    if (count)
        timing_strike(bed->device->timing, strikes, count);
    if (!hd_launch(bed->kernel, (struct hd_dim){blocks, 1, 1}, (struct hd_dim){bed->threads, 1, 1},
                   0, &arg, 1, &result, &error))
        fail_msg("%s", error.message);
    assert_true(hd_read(bed->device, words, bed->memory, bytes, &error));
    bed->cycles = result.cycles;
    struct ending ending = {result.outcome == HD_DONE, result.outcome == HD_CHECK};
    for (u32 i = 0; i < THREADS * blocks; i++)
        ending.right &= words[i] == (i % THREADS < bed->threads ? i % THREADS + 3 * CHAIN : 0);
    return ending;
}

/* The number of a bit of lane 9. */
static u64 flipped(u32 bit_of_result)
{
    const u64 stage = THREADS * LANE_BITS + 5 + 8; /* warp and register that the result goes to */
    return 2 * stage + 9 * LANE_BITS + bit_of_result;
}

/* Bits of a lane's result in a stage of the unit, in each cycle of a launch: how the runs end in which
 * the flip hit an instruction that writes the lane. */
struct tally {
    u32 hits, right, wrong, checks;
};
static struct tally flip_each(struct bed *bed, u32 core, u32 blocks, const u32 *bits, u32 count)
{
    struct tally tally = {0};
    assert_true(run(bed, blocks, NULL, 0).right);
    const u64 cycles = bed->cycles;
    for (u64 cycle = 0; cycle < cycles; cycle++) {
        struct strike strikes[2] = {0};
        for (u32 i = 0; i < count; i++)
            strikes[i] = (struct strike){
                .element = "units.sp", .owner = core, .bit = flipped(bits[i]), .cycle = cycle};
        const struct ending ending = run(bed, blocks, strikes, count);
        if (strikes[0].result != FLIP_DONE)
            continue;
        tally.hits++;
        tally.right += ending.right;
        tally.checks += ending.check;
        tally.wrong += !ending.right && !ending.check;
    }
    return tally;
}

/* Full redundancy: each of two executions is hit once, and each time the two others outvote it. */
static void flips_are_corrected(void **state)
{
    static const u32 one[] = {5}, two[] = {5, 17};
    struct bed plain = open_bed(WITH("gpu.cores=1", "gpu.cluster=1"));
    struct bed full = open_bed(WITH("gpu.cores=1", "gpu.cluster=1", "rise:full=true"));
    const struct tally without = flip_each(&plain, 0, 1, one, 1);
    assert_int_equal(without.wrong, BEFORE + CHAIN);
    assert_int_equal(without.checks, 0);
    const u32 twice = 2 * without.wrong;
    const struct tally with = flip_each(&full, 0, 1, one, 1);
    assert_int_equal(with.right, with.hits);
    assert_int_equal(total(&full, "rise.mismatches"), twice);
    assert_int_equal(total(&full, "rise.repeated"), twice);
    assert_int_equal(total(&full, "rise.corrected"), twice);
    const struct tally bits = flip_each(&full, 0, 1, two, 2);
    assert_int_equal(bits.right, bits.hits);
    assert_int_equal(total(&full, "rise.corrected"), 2 * twice);
    hd_device_close(plain.device);
    hd_device_close(full.device);
}

/* The two executions, in consecutive cycles, go wrong in different bits, or in the same. */
static void two_wrong_executions(void **state)
{
    struct bed bed = open_bed(WITH("gpu.cores=1", "gpu.cluster=1", "rise:full=true"));
    u32 checks = 0, wrong = 0;
    assert_true(run(&bed, 1, NULL, 0).right);
    const u64 cycles = bed.cycles;
    for (u32 other = 0; other < 2; other++)
        for (u64 cycle = 0; cycle + 1 < cycles; cycle++) {
            struct strike strikes[] = {
                {.element = "units.sp", .bit = flipped(5), .cycle = cycle},
                {.element = "units.sp", .bit = flipped(5 + other), .cycle = cycle + 1}};
            const struct ending ending = run(&bed, 1, strikes, 2);
            if (strikes[0].result != FLIP_DONE || strikes[1].result != FLIP_DONE)
                continue;
            checks += other && ending.check;
            wrong += !other && !ending.right && !ending.check;
        }
    assert_true(checks >= CHAIN);
    assert_int_equal(wrong, checks); /* the same error twice is not seen */
    assert_int_equal(total(&bed, "rise.detected"), checks);
    hd_device_close(bed.device);
}

/* Three blocks on two cores: one core is expected to run two, and executes them once; the other one executes
 * its first block twice. */
static void caught_where_there_is_a_copy(void **state)
{
    const char *const *const words =
        WITH("gpu.cores=2", "gpu.cluster=1", "rise:request_pending=false");
    struct bed first = open_bed(words);
    assert_true(run(&first, 3, NULL, 0).right);
    const u64 cycles = first.cycles;
    hd_device_close(first.device);
    u32 corrected[2] = {0}, wrong[2] = {0};
    for (u64 n = 0; n < 2 * cycles; n++) { /* the cores are drawn anew in each launch of a device */
        struct bed bed = open_bed(words);
        struct strike strike = {.element = "units.sp",
                                .owner = (u32)(n / cycles),
                                .bit = flipped(5),
                                .cycle = n % cycles};
        const struct ending ending = run(&bed, 3, &strike, 1);
        const u64 found = total(&bed, "rise.corrected");
        assert_true(ending.right || !found);
        assert_false(ending.check);
        corrected[n / cycles] += (u32)found;
        wrong[n / cycles] += !ending.right;
        hd_device_close(bed.device);
    }
    const u32 redundant = corrected[1] != 0;
    assert_true(corrected[redundant] >= 2 * (BEFORE + CHAIN));
    assert_int_equal(wrong[redundant], 0);
    assert_int_equal(corrected[!redundant], 0);
    assert_int_equal(wrong[!redundant], 2 * (BEFORE + CHAIN));
}

/* ---- which instructions ---- */

/* Each warp loads 32 lines at a time, and computes for long when it has them all. */
static const char loads[] =
    ".version 6.0\n.target sm_30\n.address_size 64\n.visible .entry k(.param .u64 p)\n{\n"
    ".reg .u64 %a, %o;\n.reg .u32 %x, %t, %s, %n;\n.reg .pred %p;\nld.param.u64 %a, [p];\n"
    "mov.u32 %t, %tid.x;\nmul.wide.u32 %o, %t, 128;\nadd.u64 %a, %a, %o;\nmov.u32 %s, 0;\n"
    "mov.u32 %n, 40;\nL: ld.global.u32 %x, [%a];\nadd.u64 %a, %a, 8192;\nadd.u32 %s, %s, %x;\n"
    "sub.u32 %n, %n, 1;\nsetp.ne.u32 %p, %n, 0;\n@%p bra L;\nmov.u32 %n, 3000;\n"
    "M: add.u32 %s, %s, 1;\nsub.u32 %n, %n, 1;\nsetp.ne.u32 %p, %n, 0;\n@%p bra M;\nret;\n}\n";

/* Counters that have come down to 0 again have made as many instructions redundant as replies said: of the block, for
 * each of its warps; or of one warp. */
static void counters_count_down(void **state)
{
    enum {
        WARPS = 2
    };
    for (u32 warp = 0; warp < 2; warp++) {
        struct bed bed =
            open_bed_of(loads, WITH("gpu.cores=1", "gpu.cluster=1", "timing.max_cycles=200000",
                                    warp ? "rise:threshold=4,level=warp" : "rise:threshold=4"));
        struct hd_error error = {0};
        struct hd_result result;
        struct hd_arg arg = {&bed.memory, sizeof bed.memory};
        assert_true(hd_launch(bed.kernel, (struct hd_dim){1, 1, 1},
                              (struct hd_dim){WARPS * 32, 1, 1}, 0, &arg, 1, &result, &error));
        assert_int_equal(result.outcome, HD_DONE);
        const u64 set = total(&bed, "rise.counters_set"),
                  pending = total(&bed, "rise.redundant_pending");
        assert_true(set >= 2);
        assert_int_equal(total(&bed, "rise.answers"),
                         set + total(&bed, "rise.zero_answers") + total(&bed, "rise.ignored"));
        assert_int_equal(pending, total(&bed, "rise.set_cycles") * (warp ? 1 : WARPS));
        assert_true(pending < total(&bed, "rise.instructions"));
        assert_int_equal(total(&bed, "rise.redundant"), pending);
        assert_int_equal(total(&bed, "rise.compared"), pending);
        hd_device_close(bed.device);
    }
}

/* ---- idle lanes ---- */

#define PARTIAL "rise:idle_cores=false,request_pending=false"

/* 16 threads have the other 16 lanes: every flip of a result is corrected, at no cost in time. */
static void lanes_without_threads(void **state)
{
    static const u32 one[] = {5};
    struct bed plain = open_bed(WITH("gpu.cores=1", "gpu.cluster=1"));
    struct bed bed = open_bed(WITH("gpu.cores=1", "gpu.cluster=1", PARTIAL));
    plain.threads = bed.threads = 16;
    const struct tally without = flip_each(&plain, 0, 1, one, 1);
    assert_int_equal(without.wrong, BEFORE + CHAIN);
    assert_true(run(&bed, 1, NULL, 0).right);
    assert_int_equal(total(&bed, "rise.guest_lanes"), total(&bed, "rise.lanes"));
    assert_int_equal(total(&bed, "rise.checked_lanes"), total(&bed, "rise.lanes"));
    assert_in_range(bed.cycles, plain.cycles - 2, plain.cycles + 2); /* rows that are open differ */
    const struct tally with = flip_each(&bed, 0, 1, one, 1);
    assert_int_equal(with.right, with.hits);
    assert_int_equal(total(&bed, "rise.corrected"), without.wrong);
    /* 24 threads: 8 lanes have none, for the first 8 threads; lane 9's is not among them */
    bed.threads = 24;
    const u64 lanes = total(&bed, "rise.guest_lanes"), all = total(&bed, "rise.lanes");
    assert_true(run(&bed, 1, NULL, 0).right);
    assert_int_equal(3 * (total(&bed, "rise.guest_lanes") - lanes),
                     total(&bed, "rise.lanes") - all);
    assert_int_equal(flip_each(&bed, 0, 1, one, 1).wrong, without.wrong);
    hd_device_close(plain.device);
    hd_device_close(bed.device);
}

/* Of every two warps, one executes the path with its lower half and the other one with the upper half, or
 * both with the same. */
#define DIVERGES(which)                                                                        \
    ".version 6.0\n.target sm_30\n.address_size 64\n.visible .entry k(.param .u64 p)\n{\n"     \
    ".reg .u32 %x, %t, %l;\n.reg .pred %q;\nmov.u32 %t, %tid.x;\nshr.u32 %x, %t, " which ";\n" \
    "xor.b32 %x, %x, %t;\nand.b32 %x, %x, 16;\nsetp.eq.u32 %q, %x, 0;\n@%q bra L;\n"           \
    "add.u32 %x, %x, 3;\nadd.u32 %x, %x, 3;\nadd.u32 %x, %x, 3;\nadd.u32 %x, %x, 3;\nL: ret;\n}\n"

static u64 paired(const char *code, const char *mechanism, u64 *lanes)
{
    enum {
        WARPS = 16
    };
    struct bed bed = open_bed_of(code, WITH("gpu.cores=1", "gpu.cluster=1", mechanism));
    bed.threads = WARPS * 32;
    struct hd_error error = {0};
    struct hd_result result;
    struct hd_arg arg = {&bed.memory, sizeof bed.memory};
    assert_true(hd_launch(bed.kernel, (struct hd_dim){1, 1, 1}, (struct hd_dim){bed.threads, 1, 1},
                          0, &arg, 1, &result, &error));
    assert_int_equal(result.outcome, HD_DONE);
    const u64 pairs = total(&bed, "rise.paired");
    *lanes = total(&bed, "rise.checked_lanes");
    assert_int_equal(total(&bed, "rise.guest_lanes"), *lanes);
    assert_int_equal(total(&bed, "rise.found"), pairs + total(&bed, "rise.missed"));
    assert_int_equal(total(&bed, "rise.lost"), 0);
    assert_int_equal(total(&bed, "rise.buffer_words"), *lanes); /* of 32 bits each */
    hd_device_close(bed.device);
    return pairs;
}

static void partners_fill_idle_lanes(void **state)
{
    u64 lanes;
    const u64 pairs = paired(DIVERGES("1"), PARTIAL ",shuffle=false", &lanes);
    assert_true(pairs >= 16); /* of at most 8 pairs of warps times 4 instructions */
    assert_true(pairs <= 32);
    assert_int_equal(lanes, 16 * pairs);
    assert_int_equal(paired(DIVERGES("6"), PARTIAL ",shuffle=false", &lanes), 0);
    assert_int_equal(paired(DIVERGES("1"), PARTIAL ",partial=false", &lanes), 0);
    const u64 shuffled = paired(DIVERGES("6"), PARTIAL, &lanes);
    assert_true(shuffled >= 16);
    assert_true(lanes > 4 * shuffled);
    assert_true(lanes < 12 * shuffled); /* of 16 idle lanes, a partner has about half */
}

/* ---- AVF ---- */

/* Results that are compared leave no vulnerable lane: none of `chain` but `ret`, which decides for all lanes. */
static void compared_lanes_are_safe(void **state)
{
    static const char *const sets[][2] = {{"rise:full=true"}, {PARTIAL ",inside=false"}, {PARTIAL}};
    for (u32 i = 0; i < ARRAY_LEN(sets); i++) {
        struct bed bed = open_bed(
            WITH("gpu.cores=1", "gpu.cluster=1", "timing.live_state=false", "avf", sets[i][0]));
        bed.threads = 16;
        assert_true(run(&bed, 1, NULL, 0).right);
        const u64 ace = total(&bed, "avf.sp_ace"), left = total(&bed, "avf.sp_unchecked");
        assert_int_equal(ace, 16 * (BEFORE + CHAIN + 1));
        assert_int_equal(left, i == 1 ? ace : 16);
        hd_device_close(bed.device);
    }
}

/* ---- kernels ---- */

static const struct kernel_row {
    const char *file, *name, *machine;
} kernels[] = {
    {"cuda/matmul", "matmul16", "rise28"},         {"cuda/scan", "scan_inclusive", "rtx2060"},
    {"cuda/control", "switches", "rise28"},        {"cuda/calls", "recursion", "gtx480"},
    {"cuda/warps", "shuffles", "fermi16"},         {"cuda/warps", "exchange", "rise28"},
    {"cuda/warps", "aggregate", "gtx1080ti"},      {"cuda/barriers", "barrier_votes", "rise28"},
    {"cuda/atomics", "atomics_shared", "fermi16"}, {"opencl/reduce", "reduce", "generic64"},
    {"opencl/integer", "longs", "generic64"},      {"cuda/services", "lists", "rise28"},
    {"opencl/sort", "bitonic", "tahiti"},          {"opencl/life", "life", "rise28"},
};

static void results_are_the_same(void **state)
{
    static const char *const sets[][2] = {{"rise:full=true"}, {"rise:full=true,buffers=1"},
                                          {"rise"},           {"rise:level=warp,threshold=0"},
                                          {PARTIAL},          {PARTIAL ",buffers=1"}};
    u64 refused[2] = {0};
    for (size_t k = 0; k < ARRAY_LEN(kernels); k++) {
        const struct kernel_row *row = &kernels[k];
        struct seen without = rig_run(row->file, row->name, row->machine, NULL, NULL, false);
        for (size_t i = 0; i < ARRAY_LEN(sets); i++) {
            struct seen with = rig_run(row->file, row->name, row->machine, sets[i], NULL, false);
            assert_int_equal(with.hash, without.hash);
            assert_int_equal(rig_total(&with, "rise.mismatches"), 0);
            assert_int_equal(rig_total(&with, "rise.compared"),
                             rig_total(&with, "rise.redundant") + rig_total(&with, "rise.paired") +
                                 rig_total(&with, "rise.paired_inside") -
                                 rig_total(&with, "rise.lost"));
            if (i < ARRAY_LEN(refused)) {
                assert_int_equal(rig_total(&with, "rise.redundant") +
                                     rig_total(&with, "rise.refused"),
                                 rig_total(&with, "rise.instructions"));
                refused[i] += rig_total(&with, "rise.refused");
            }
            rig_drop(&with);
        }
        rig_drop(&without);
    }
    assert_true(refused[1] > refused[0]); /* results of 64 bits do not fit into one register */
}

int main(int argc, char **argv)
{
    if (argc != 2)
        return 2;
    rig_folder(argv[1]);
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(redundant_cycles),
        cmocka_unit_test(controllers_take_averages),
        cmocka_unit_test(flips_are_corrected),
        cmocka_unit_test(two_wrong_executions),
        cmocka_unit_test(caught_where_there_is_a_copy),
        cmocka_unit_test(counters_count_down),
        cmocka_unit_test(lanes_without_threads),
        cmocka_unit_test(compared_lanes_are_safe),
        cmocka_unit_test(partners_fill_idle_lanes),
        cmocka_unit_test(results_are_the_same),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
