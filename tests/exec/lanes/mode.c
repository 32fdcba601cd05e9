/*
 * MODE as modifiers: the fields an instruction gets for each value, and what the lanes compute
 * with them.
 */
#include "harness.h"

#include "exec/mode.h"
#include "ir/scalars.h"

enum {
    NEAREST32 = 0 << MODE_ROUND32,
    UP32 = 1 << MODE_ROUND32,
    DOWN32 = 2 << MODE_ROUND32,
    ZERO64 = 3 << MODE_ROUND64,
    KEEP_IN32 = 1 << MODE_DENORM32,
    KEEP32 = 3 << MODE_DENORM32,
    KEEP_OUT64 = 2 << MODE_DENORM64,
    KEEP64 = 3 << MODE_DENORM64,
    USUAL = KEEP64 | MODE_DX10_CLAMP /* raw programs start so */
};

static const struct {
    enum op op;
    u8 type, stype, key, rounding; /* of the instruction */
    u16 mods;                      /* beside MOD_MODE */
    u32 mode;
    u16 mods_after;
    u8 rounding_after;
    bool scaled_after;
} rows[] = {
    {OP_add_f32, 0, 0, 0, 0, 0, USUAL, MOD_FTZ, ROUND_NEAREST, true},
    {OP_add_f32, 0, 0, 0, 0, 0, USUAL | UP32, MOD_FTZ, ROUND_UP, true},
    {OP_add_f32, 0, 0, 0, 0, 0, USUAL | DOWN32 | ZERO64, MOD_FTZ, ROUND_DOWN, true},
    {OP_add_f32, 0, 0, 0, 0, 0, USUAL | KEEP32, 0, ROUND_NEAREST, false},
    {OP_add_f32, 0, 0, 0, 0, 0, USUAL | KEEP_IN32, MOD_FTZ_OUT, ROUND_NEAREST, true},
    {OP_add_f32, 0, 0, 0, 0, 0, USUAL | MODE_IEEE, MOD_FTZ, ROUND_NEAREST, false},
    {OP_add_f32, 0, 0, 0, 0, MOD_SAT, USUAL, MOD_FTZ | MOD_SAT, ROUND_NEAREST, true},
    {OP_add_f32, 0, 0, 0, 0, MOD_SAT, KEEP64, MOD_FTZ | MOD_SAT | MOD_KEEP_NAN, ROUND_NEAREST,
     true},
    {OP_add_f64, 0, 0, 0, 0, 0, USUAL | UP32 | ZERO64, 0, ROUND_ZERO, false},
    {OP_fma_f64, 0, 0, 0, 0, 0, KEEP_OUT64, MOD_FTZ_IN, ROUND_NEAREST, false},
    {OP_rsqrt_f64, 0, 0, 0, 0, 0, ZERO64, MOD_FTZ_IN | MOD_FTZ_OUT, ROUND_NEAREST, true},
    /* mad flushes by itself, functions always, extremes never */
    {OP_mad_f32, 0, 0, 0, 0, 0, USUAL | KEEP32 | UP32, 0, ROUND_UP, false},
    {OP_rcp_f32, 0, 0, 0, 0, 0, USUAL | KEEP32 | UP32, MOD_FTZ, ROUND_NEAREST, false},
    {OP_min_f32, 0, 0, 0, 0, 0, USUAL | MODE_IEEE | UP32, MOD_IEEE, ROUND_NEAREST, false},
    {OP_min_f32, 0, 0, 0, 0, 0, USUAL, 0, ROUND_NEAREST, true},
    {OP_setp_f32, 0, 0, 0, 0, 0, USUAL | UP32, MOD_FTZ, ROUND_NEAREST, true},
    {OP_setp_f64, 0, 0, 0, 0, 0, USUAL, 0, ROUND_NEAREST, false},
    {OP_class_f32, 0, 0, 0, 0, 0, USUAL, 0, ROUND_NEAREST, true},
    /* conversions */
    {OP_cvt, TYPE_F32, TYPE_F64, 0, 0, 0, USUAL | UP32 | ZERO64, MOD_FTZ, ROUND_UP, true},
    {OP_cvt, TYPE_F64, TYPE_F32, 0, 0, 0, USUAL | UP32 | ZERO64, MOD_FTZ, ROUND_ZERO, false},
    {OP_cvt, TYPE_F16, TYPE_F32, 0, 0, 0, USUAL | UP32 | ZERO64, MOD_FTZ, ROUND_ZERO, false},
    {OP_cvt, TYPE_F32, TYPE_F16, 0, 0, 0, KEEP32 | UP32, MOD_FTZ_IN, ROUND_UP, false},
    {OP_cvt, TYPE_F32, TYPE_S32, 0, 0, 0, KEEP32 | UP32, 0, ROUND_UP, false},
    {OP_cvt, TYPE_S32, TYPE_F32, 0, ROUND_ZERO, 0, USUAL | KEEP32 | UP32, 0, ROUND_ZERO, true},
    {OP_cvt, TYPE_F32, TYPE_F32, 1, ROUND_DOWN, 0, USUAL | UP32, MOD_FTZ, ROUND_DOWN, true},
};

static void test_fields(void **unused)
{
    for (unsigned n = 0; n < ARRAY_LEN(rows); n++) {
        struct inst inst = {.op = (u16)rows[n].op,
                            .mods = (u16)(rows[n].mods | MOD_MODE),
                            .type = rows[n].type,
                            .stype = rows[n].stype,
                            .key = rows[n].key,
                            .rounding = rows[n].rounding,
                            .scale = SCALE_TWICE};
        inst_apply_mode(&inst, rows[n].mode);
        const bool scaled = inst.scale == SCALE_TWICE;
        if (inst.mods != rows[n].mods_after || inst.rounding != rows[n].rounding_after ||
            (scaled != rows[n].scaled_after &&
             type_is_float(rows[n].type ? rows[n].type : TYPE_F32)))
            fail_msg("row %u (%s, mode %x): mods %x rounding %u scale %u", n,
                     op_info[rows[n].op].name, rows[n].mode, inst.mods, inst.rounding, inst.scale);
    }
}

/* An instruction that speaks for itself stays as it is. */
static void test_untouched(void **unused)
{
    struct inst inst = {.op = OP_add_f32, .mods = MOD_FTZ, .rounding = ROUND_ZERO};
    const struct inst before = inst;
    inst_apply_mode(&inst, KEEP32 | UP32);
    assert_memory_equal(&inst, &before, sizeof inst);
}

static u32 compute(struct inst inst, u32 mode, u64 a, u64 b)
{
    struct operands in = {0};
    struct results got;
    in.value[0][3] = a, in.value[1][3] = b;
    inst.mods |= MOD_MODE;
    inst_apply_mode(&inst, mode);
    run_lanes(&inst, lanes_resolve(&inst, simd_best(), false), &in, 1 << 3, 0, ALIAS_NONE, &got);
    return (u32)got.value[0][3];
}
static void test_values(void **unused)
{
    struct inst add = make_inst(OP_add_f32, true), cvt = make_inst(OP_cvt, false);
    const u32 one = 0x3f800000, tiny = 0x00000001, least = 0x00800000;
    assert_int_equal(compute(add, USUAL, one, 0x33000000), one);
    assert_int_equal(compute(add, USUAL | UP32, one, 0x33000000), one + 1);
    assert_int_equal(compute(add, USUAL, tiny, 0), 0);
    assert_int_equal(compute(add, USUAL | KEEP32, tiny, 0), tiny);
    assert_int_equal(compute(add, USUAL | KEEP_IN32, tiny, least), least + 1);
    assert_int_equal(compute(add, USUAL | KEEP_IN32, tiny, tiny), 0);
    add.scale = SCALE_HALF;
    assert_int_equal(compute(add, USUAL, one, 0), 0x3f000000);
    assert_int_equal(compute(add, USUAL, least, 0), 0);
    assert_int_equal(compute(add, USUAL | MODE_IEEE, one, 0), one);
    add.scale = SCALE_FOURFOLD, add.mods = MOD_SAT;
    assert_int_equal(compute(add, USUAL, 0x3e000000, 0x3d800000), 0x3f400000);
    assert_int_equal(compute(add, USUAL, one, one), one);
    assert_int_equal(compute(add, USUAL, 0x7fc00001, one), 0);
    assert_int_equal(compute(add, KEEP64, 0x7fc00001, one), 0x7fc00001);
    /* floor of an integer's float, twice that; 2^24 + 1 does not fit */
    cvt.dst[0] = cvt.src[0] = operand_make(OPERAND_VECTOR, 0, 1);
    cvt.type = TYPE_F32, cvt.stype = TYPE_S32;
    assert_int_equal(compute(cvt, USUAL, 0x1000001, 0), 0x4b800000);
    assert_int_equal(compute(cvt, USUAL | UP32, 0x1000001, 0), 0x4b800001);
    cvt.scale = SCALE_TWICE;
    assert_int_equal(compute(cvt, USUAL | UP32, 0x1000001, 0), 0x4c000001);
    cvt.stype = TYPE_F32, cvt.key = 1, cvt.rounding = ROUND_DOWN;
    assert_int_equal(compute(cvt, USUAL, 0x40200000, 0), 0x40800000); /* floor(2.5) * 2 */
    assert_int_equal(compute(cvt, USUAL, 0x7f000000, 0), 0x7f800000);
    cvt.mods = MOD_SAT;
    assert_int_equal(compute(cvt, USUAL, 0x40200000, 0), one);
    assert_int_equal(compute(cvt, USUAL, 0x7fc00001, 0), 0);
    assert_int_equal(compute(cvt, KEEP64, 0x7fc00001, 0), 0x7fc00001);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_fields),
        cmocka_unit_test(test_untouched),
        cmocka_unit_test(test_values),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
