/* Where instructions go and what they cost: pipes, kinds, latencies and intervals. */
#include "rig.h"

#include <stdio.h>

/* Times of a plain instruction with this op on a machine, as its pipeline has them. */
static struct inst_time time_of(struct rig *rig, enum op op)
{
    rig->insts[0] = (struct inst){.op = (u16)op, .space = SPACE_GLOBAL};
    return *rig_time(rig, 0);
}

static void assert_time(struct rig *rig, enum op op, enum pipe pipe, u32 latency, u32 interval)
{
    const struct inst_time time = time_of(rig, op);
    if (time.pipe != pipe || time.latency != latency || time.interval != interval)
        fail_msg("%s: pipe %u, latency %u, interval %u; expected %u, %u, %u", op_info[op].name,
                 time.pipe, time.latency, time.interval, pipe, latency, interval);
}

/* ---- units as wide as a warp ---- */

#define WIDE "core.warp_size=32 units.sp_lanes=32 units.fp64_lanes=32 units.sfu_lanes=32 "

/* Each class of each unit has its own latency and interval; all are different here. */
#define CLASSES                                                                         \
    "units.int_simple=51 units.int_add=52 units.int_max=53 units.int_mul=54 "           \
    "units.int_mad=55 units.int_div=56 units.fp32_add=62 units.fp32_max=63 "            \
    "units.fp32_mul=64 units.fp32_mad=65 units.fp32_div=66 units.fp64_add=72 "          \
    "units.fp64_max=73 units.fp64_mul=74 units.fp64_mad=75 units.fp64_div=76 "          \
    "units.shuffle=81 units.sfu_latency=82 units.scalar_latency=83 "                    \
    "units.int_simple_interval=1 units.int_add_interval=2 units.int_max_interval=3 "    \
    "units.int_mul_interval=4 units.int_mad_interval=5 units.int_div_interval=6 "       \
    "units.fp32_add_interval=12 units.fp32_max_interval=13 units.fp32_mul_interval=14 " \
    "units.fp32_mad_interval=15 units.fp32_div_interval=16 units.fp64_add_interval=22 " \
    "units.fp64_max_interval=23 units.fp64_mul_interval=24 units.fp64_mad_interval=25 " \
    "units.fp64_div_interval=26 units.shuffle_interval=31 units.sfu_interval=32 "       \
    "units.scalar_interval=33 "

static void classes(void **state)
{
    struct rig rig;
    rig_open(&rig, "generic", WIDE CLASSES "units.integer=1 units.fp64=1");
    assert_time(&rig, OP_mov_b32, PIPE_INT, 51, 1);
    assert_time(&rig, OP_and_b32, PIPE_INT, 51, 1);
    assert_time(&rig, OP_cvt, PIPE_INT, 51, 1);
    assert_time(&rig, OP_abs_f32, PIPE_INT, 51, 1); /* no arithmetic class: a deviation, stated */
    assert_time(&rig, OP_add_b32, PIPE_INT, 52, 2);
    assert_time(&rig, OP_max_s32, PIPE_INT, 53, 3);
    assert_time(&rig, OP_mul_lo_b32, PIPE_INT, 54, 4);
    assert_time(&rig, OP_mad_lo_b32, PIPE_INT, 55, 5);
    assert_time(&rig, OP_div_s32, PIPE_SFU, 56, 6);
    assert_time(&rig, OP_add_f32, PIPE_SP, 62, 12);
    assert_time(&rig, OP_max_f32, PIPE_SP, 63, 13);
    assert_time(&rig, OP_mul_f32, PIPE_SP, 64, 14);
    assert_time(&rig, OP_fma_f32, PIPE_SP, 65, 15);
    assert_time(&rig, OP_div_f32, PIPE_SFU, 66, 16);
    assert_time(&rig, OP_add_f64, PIPE_FP64, 72, 22);
    assert_time(&rig, OP_max_f64, PIPE_FP64, 73, 23);
    assert_time(&rig, OP_mul_f64, PIPE_FP64, 74, 24);
    assert_time(&rig, OP_fma_f64, PIPE_FP64, 75, 25);
    assert_time(&rig, OP_div_f64, PIPE_SFU, 76, 26);
    assert_time(&rig, OP_shfl, PIPE_INT, 81, 31);
    assert_time(&rig, OP_sin_f32, PIPE_SFU, 82, 32);
    assert_time(&rig, OP_smov_b32, PIPE_SCALAR, 83, 33);
    assert_time(&rig, OP_bra, PIPE_INT, 51, 1);
    assert_time(&rig, OP_bra_if, PIPE_SCALAR, 83, 33);
    assert_time(&rig, OP_ld, PIPE_MEMORY, 0, 0); /* the load/store unit has its own time */
    assert_time(&rig, OP_ld_scalar, PIPE_MEMORY, 0, 0);
    rig_close(&rig);
}

/* Units that a machine lacks: others do their work, at the cost of the class. */
static void missing_units(void **state)
{
    struct rig rig;
    rig_open(&rig, "generic", WIDE CLASSES "units.integer=0 units.fp64=0");
    assert_time(&rig, OP_add_b32, PIPE_SP, 52, 2);
    assert_time(&rig, OP_mov_b32, PIPE_SP, 51, 1);
    assert_time(&rig, OP_add_f64, PIPE_SFU, 72, 22);
    rig_close(&rig);
}

/* Special-function units may multiply integers; other integer operations stay. */
static void multiplications_elsewhere(void **state)
{
    struct rig rig;
    rig_open(&rig, "generic", WIDE CLASSES "units.int_mul_unit=sfu");
    assert_time(&rig, OP_mul_lo_b32, PIPE_SFU, 54, 4);
    assert_time(&rig, OP_mad_lo_b32, PIPE_SFU, 55, 5);
    assert_time(&rig, OP_mul_wide_u32, PIPE_SFU, 54, 4);
    assert_time(&rig, OP_add_b32, PIPE_SP, 52, 2);
    assert_time(&rig, OP_mul_f32, PIPE_SP, 64, 14);
    assert_time(&rig, OP_fma_f32, PIPE_SP, 65, 15);
    rig_close(&rig);
}

/* ---- narrow units ---- */

/* A warp of w lanes passes a unit of n in w / n passes, rounded up: the unit is taken for all of
 * them, and the result is late by all but the first. */
static void passes(void **state)
{
    for (u32 warp = 32; warp <= 64; warp *= 2)
        for (u32 lanes = 1; lanes <= 64; lanes++) {
            struct rig rig;
            char settings[1024];
            snprintf(settings, sizeof settings,
                     "core.warp_size=%u units.sp_lanes=%u units.fp64_lanes=8 units.sfu_lanes=4 "
                     "units.integer=0 units.fp64=1 units.fp32_add=6 units.fp32_add_interval=2 "
                     "units.fp64_add=8 units.fp64_add_interval=3 units.sfu_latency=20 "
                     "units.sfu_interval=1",
                     warp, lanes);
            rig_open(&rig, "generic", settings);
            const struct units_params *u = rig.machine.units;
            u32 n = 0; /* passes */
            for (u32 done = 0; done < warp; done += u->sp_lanes)
                n++;
            assert_time(&rig, OP_add_f32, PIPE_SP, 6 + 2 * (n - 1), 2 * n);
            assert_time(&rig, OP_add_f64, PIPE_FP64, 8 + 3 * (warp / 8 - 1), 3 * warp / 8);
            assert_time(&rig, OP_sin_f32, PIPE_SFU, 20 + warp / 4 - 1, warp / 4);
            rig_close(&rig);
        }
}

/* A unit that is taken for longer than its latency gives the result at the end of the last pass. */
static void interval_above_latency(void **state)
{
    struct rig rig;
    rig_open(&rig, "generic",
             "core.warp_size=32 units.sp_lanes=16 units.fp32_add=3 units.fp32_add_interval=8");
    assert_time(&rig, OP_add_f32, PIPE_SP, 16, 16);
    rig_close(&rig);
}

/* ---- the longest ---- */

/* What the wheel has to hold: of all ops, the longest latency, passes included. */
static void longest(void **state)
{
    struct rig rig;
    rig_open(&rig, "generic", WIDE CLASSES "units.integer=1 units.fp64=1");
    assert_int_equal(time_longest(&rig.machine), 83);
    rig_close(&rig);
    rig_open(&rig, "generic", WIDE CLASSES "units.fp64=1 units.int_div=500");
    assert_int_equal(time_longest(&rig.machine), 500);
    rig_close(&rig);
    rig_open(&rig, "generic",
             CLASSES "core.warp_size=64 units.sfu_lanes=1 units.fp64_div=100 "
                     "units.fp64_div_interval=60");
    assert_int_equal(time_longest(&rig.machine), 100 + 63 * 60);
    rig_close(&rig);
}

/* ---- the gcn pipeline ---- */

static void assert_kind(struct rig *rig, enum op op, enum turn_kind kind)
{
    const struct inst_time time = time_of(rig, op);
    if (time.kind != kind)
        fail_msg("%s: kind %u; expected %u", op_info[op].name, time.kind, kind);
}

static void kinds(void **state)
{
    struct rig rig;
    rig_open(&rig, "tahiti", "");
    rig.program.traits.explicit_exec = true;
    assert_kind(&rig, OP_add_f32, TURN_VECTOR);
    assert_kind(&rig, OP_sin_f32, TURN_VECTOR);
    assert_kind(&rig, OP_smov_b32, TURN_SCALAR);
    assert_kind(&rig, OP_ld_scalar, TURN_SCALAR);
    assert_kind(&rig, OP_bra_if, TURN_BRANCH);
    assert_kind(&rig, OP_bra, TURN_BRANCH);
    assert_kind(&rig, OP_buf_ld, TURN_ACCESS);
    assert_kind(&rig, OP_end, TURN_INTERNAL); /* though it is a branch */
    assert_kind(&rig, OP_wait, TURN_INTERNAL);
    assert_kind(&rig, OP_bar_whole, TURN_INTERNAL);
    assert_kind(&rig, OP_nop, TURN_INTERNAL);
    rig.insts[0] = (struct inst){.op = OP_ld, .space = SPACE_SHARED};
    assert_int_equal(rig_time(&rig, 0)->kind, TURN_SHARED);
    rig_close(&rig);
}

/* Branches and internal instructions go to the scalar unit, at its cost, whatever they are taken
 * for elsewhere. */
static void branches_are_scalar(void **state)
{
    struct rig gcn, common;
    rig_open(&gcn, "tahiti", CLASSES);
    rig_open(&common, "tahiti", CLASSES "core.pipeline=common");
    assert_time(&gcn, OP_bra, PIPE_SCALAR, 83, 33);
    assert_time(&gcn, OP_nop, PIPE_SCALAR, 83, 33);
    assert_time(&gcn, OP_end, PIPE_SCALAR, 83, 33);
    assert_int_not_equal(time_of(&common, OP_bra).pipe, PIPE_SCALAR);
    assert_int_not_equal(time_of(&common, OP_nop).pipe, PIPE_SCALAR);
    /* the rest is the same */
    const enum op same[] = {OP_add_f32, OP_add_f64, OP_sin_f32, OP_smov_b32, OP_buf_ld, OP_mov_b32};
    for (u32 i = 0; i < ARRAY_LEN(same); i++) {
        const struct inst_time time = time_of(&common, same[i]);
        assert_time(&gcn, same[i], time.pipe, time.latency, time.interval);
    }
    rig_close(&gcn);
    rig_close(&common);
}

/* ---- flags ---- */

static void flags(void **state)
{
    struct rig rig;
    rig_open(&rig, "generic", "");
    const struct {
        enum op op;
        u32 flags;
    } expected[] = {
        {OP_mov_b32, 0},
        {OP_bra, TIME_BRANCH},
        {OP_ld, TIME_LOAD},
        {OP_st, 0},
        {OP_ld_scalar, TIME_LOAD | TIME_SCALAR_MEMORY},
        {OP_fence, TIME_FENCE},
        {OP_wait, TIME_COUNTERS},
        {OP_syscall, TIME_DRAIN | TIME_SERIAL},
        {OP_bar, TIME_BARRIER | TIME_BLOCK_BARRIER},
        {OP_bar_warp, TIME_BARRIER}, /* of lanes: what was stored need not have acted */
        {OP_shfl, TIME_BARRIER},
    };
    const u32 asked = TIME_BRANCH | TIME_LOAD | TIME_SCALAR_MEMORY | TIME_FENCE | TIME_COUNTERS |
                      TIME_DRAIN | TIME_SERIAL | TIME_BARRIER | TIME_BLOCK_BARRIER;
    const u32 special = TIME_FENCE | TIME_COUNTERS | TIME_DRAIN | TIME_BLOCK_BARRIER | TIME_SERIAL;
    for (u32 i = 0; i < ARRAY_LEN(expected); i++) {
        const struct inst_time time = time_of(&rig, expected[i].op);
        if ((time.flags & asked) != expected[i].flags)
            fail_msg("%s: flags 0x%x; expected 0x%x", op_info[expected[i].op].name,
                     time.flags & asked, expected[i].flags);
        assert_int_equal(time.plain, !(time.flags & special)); /* it waits for registers only */
    }
    rig_close(&rig);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(classes),
        cmocka_unit_test(missing_units),
        cmocka_unit_test(multiplications_elsewhere),
        cmocka_unit_test(passes),
        cmocka_unit_test(interval_above_latency),
        cmocka_unit_test(longest),
        cmocka_unit_test(kinds),
        cmocka_unit_test(branches_are_scalar),
        cmocka_unit_test(flags),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
