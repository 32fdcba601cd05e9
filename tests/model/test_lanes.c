/*
 * Lanes of launches against counts by hand: accesses to registers and shared memory, and operations
 * by kind.
 */
#include "core/hooks.h"
#include "rig.h"

/* Every lane but those of the guarded store does everything once. */
static const char all_kinds[] =
    HEAD ".visible .entry k(.param .u64 p)\n{\n"
         ".reg .b32 %r<12>;\n.reg .b64 %d<6>;\n.reg .pred %q;\n.shared .align 8 .b8 s[512];\n"
         "mov.u32 %r1, %tid.x;\n"           /* int: writes 1 */
         "mov.u32 %r2, s;\n"                /* int: writes 1 */
         "shl.b32 %r3, %r1, 2;\n"           /* int: reads 1, writes 1 */
         "add.u32 %r2, %r2, %r3;\n"         /* int: reads 2, writes 1 */
         "mul.lo.u32 %r4, %r1, %r3;\n"      /* int, multiplies: reads 2, writes 1 */
         "add.f32 %r5, %r4, %r1;\n"         /* fp32: reads 2, writes 1 */
         "fma.rn.f32 %r6, %r5, %r4, %r1;\n" /* fp32, multiplies: reads 3, writes 1 */
         "ex2.approx.f32 %r7, %r6;\n"       /* sfu: reads 1, writes 1 */
         "div.rn.f32 %r8, %r7, %r6;\n"      /* sfu: reads 2, writes 1 */
         "cvt.f64.f32 %d1, %r8;\n"          /* reads 1, writes 2 */
         "add.f64 %d2, %d1, %d1;\n"         /* fp64: reads 2 pairs, writes 2 */
         "setp.lt.u32 %q, %r1, 8;\n"        /* int: reads 1 */
         "@%q st.shared.u32 [%r2], %r7;\n"  /* mem, of 8 lanes: reads 2 */
         "ld.shared.u32 %r9, [%r2];\n"      /* mem: reads 1, writes 1 */
         "ret;\n}\n";

/* Fewer lanes than a warp, two blocks of two warps each. */
enum {
    BLOCKS = 2,
    THREADS = 45,
    GUARDED = 8, /* of a block */
    LANES = BLOCKS * THREADS
};

static void check_kinds(const char *settings, u32 pair)
{
    struct rig *rig = rig_open("gtx480", settings, all_kinds);
    rig_run(rig, BLOCKS, THREADS, 0);
    const u64 conversions = stat(rig, "units.fp64_ops") - LANES; /* whatever kind it is */
    assert_true(conversions == 0 || conversions == LANES);
    assert_int_equal(stat(rig, "units.int_ops") + stat(rig, "units.fp32_ops") + conversions,
                     LANES * (6 + 2 + 1));
    assert_int_equal(stat(rig, "units.int_multiplies"), LANES);
    assert_int_equal(stat(rig, "units.sfu_ops"), 2 * LANES);
    assert_int_equal(stat(rig, "units.mem_ops"), LANES + BLOCKS * GUARDED);
    assert_int_equal(stat(rig, "units.control_ops"), LANES); /* ret */
    assert_int_equal(stat(rig, "units.scalar_ops"), 0);
    assert_int_equal(stat(rig, "lsu.shared_reads"), LANES);
    assert_int_equal(stat(rig, "lsu.shared_writes"), BLOCKS * GUARDED);
    assert_int_equal(stat(rig, "collect.lane_reads"),
                     LANES * (1 + 2 + 2 + 2 + 3 + 1 + 2 + 1 + 2 * pair + 1 + 1) +
                         BLOCKS * GUARDED * 2);
    assert_int_equal(stat(rig, "collect.lane_writes"), LANES * (9 + 2 + 2 + 1));
    assert_int_equal(stat(rig, "collect.scalar_reads"), 0);
    rig_close(rig);
}

static void test_kinds(void **state)
{
    check_kinds("gpu.cores=1 collect.pair_reads=2", 2);
    check_kinds("gpu.cores=2 collect.pair_reads=1", 1); /* a pair in one access */
}

/* Full warps of a kernel with a loop. */
enum {
    ROUNDS = 7,
    WARPS = 40 * 2
};
static const char loop[] =
    HEAD ".visible .entry k(.param .u64 p)\n{\n.reg .b32 %r<8>;\n.reg .pred %q;\n"
         "mov.u32 %r1, %tid.x;\nmov.u32 %r2, 0;\nmov.u32 %r3, 7;\n"
         "again:\nmad.lo.u32 %r2, %r2, %r1, %r3;\nadd.u32 %r3, %r3, -1;\n"
         "setp.ne.u32 %q, %r3, 0;\n@%q bra again;\nret;\n}\n";

static struct rig *run_loop(const char *settings)
{
    struct rig *rig = rig_open_with(mechanisms_built_in, "gtx285", settings, loop);
    rig_run(rig, WARPS / 2, 64, 0);
    return rig;
}

static u64 all_ops(const struct rig *rig)
{
    return stat(rig, "units.int_ops") + stat(rig, "units.fp32_ops") + stat(rig, "units.fp64_ops") +
           stat(rig, "units.sfu_ops") + stat(rig, "units.mem_ops") + stat(rig, "units.control_ops");
}

/* What a mechanism spares: here all lanes but one of two moves, additions and comparisons, and of
 * their registers; multiplications read the counter, and once their own result, from one lane. */
static void test_spared(void **state)
{
    const u64 spared = 31 * WARPS;
    struct rig *plain = run_loop(""), *rig = run_loop("uniform.on=true uniform.mode=intra");
    assert_int_equal(all_ops(rig), all_ops(plain) - spared * (2 + 2 * ROUNDS));
    assert_int_equal(stat(rig, "collect.lane_writes"),
                     stat(plain, "collect.lane_writes") - spared * (2 + ROUNDS));
    assert_int_equal(stat(rig, "collect.lane_reads"),
                     stat(plain, "collect.lane_reads") - spared * (2 * ROUNDS + ROUNDS + 1));
    rig_close(plain);
    rig_close(rig);
}

/* All that is issued is of some kind, and reads and writes are of the banks' accesses. */
static void test_sums(void **state)
{
    struct rig *rig = run_loop("");
    assert_int_equal(all_ops(rig), stat(rig, "issue.threads"));
    assert_int_equal(stat(rig, "collect.lane_reads"), 32 * stat(rig, "collect.reads"));
    assert_int_equal(stat(rig, "collect.lane_writes"), 32 * stat(rig, "collect.writes"));
    assert_true(stat(rig, "collect.lane_reads") > 0);
    rig_close(rig);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_kinds),
        cmocka_unit_test(test_spared),
        cmocka_unit_test(test_sums),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
