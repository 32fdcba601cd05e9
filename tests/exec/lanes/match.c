/*
 * Every lane op, with every modifier that may apply: both builds agree bit by bit, in place or not,
 * in either half of a warp, under full and partial masks. The harness checks what must not change.
 */
#include "harness.h"

static void check_inst(const struct inst *inst, u64 *state, bool canonical)
{
    lane_fn *portable = lanes_resolve(inst, SIMD_PORTABLE, canonical);
    lane_fn *best = lanes_resolve(inst, simd_best(), canonical);
    assert_non_null(portable);
    assert_non_null(best);
    struct operands in;
    struct results expected, partial, got;
    random_operands(state, &in);
    run_lanes(inst, portable, &in, LANES_FULL, 0, ALIAS_NONE, &expected);
    run_lanes(inst, best, &in, LANES_FULL, 1, ALIAS_NONE, &got);
    const char *name = op_info[inst->op].name;
    if (memcmp(&expected, &got, sizeof got))
        for (unsigned i = 0; i < LANES; i++)
            if (expected.value[0][i] != got.value[0][i] ||
                (expected.mask[0] ^ got.mask[0]) >> i & 1)
                fail_msg("%s mods %x rounding %u key %u: f(%llx, %llx, %llx) = %llx or %llx", name,
                         inst->mods, inst->rounding, inst->key, (unsigned long long)in.value[0][i],
                         (unsigned long long)in.value[1][i], (unsigned long long)in.value[2][i],
                         (unsigned long long)expected.value[0][i],
                         (unsigned long long)got.value[0][i]);
    assert_memory_equal(&expected, &got, sizeof got);
    const u32 mask = (u32)random_next(state);
    partial = expected;
    for (unsigned k = 0; k < 2; k++) {
        partial.mask[k] &= mask;
        for (unsigned i = 0; i < LANES; i++)
            if (!(mask >> i & 1))
                partial.value[k][i] = 0;
    }
    for (enum alias alias = ALIAS_NONE; alias < ALIAS_COUNT; alias++) {
        if (result_kind(inst, 0) == 'm' && alias != ALIAS_NONE)
            continue;
        run_lanes(inst, best, &in, LANES_FULL, alias & 1, alias, &got);
        if (memcmp(&expected, &got, sizeof got))
            fail_msg("%s: in place (%d) differs", name, alias);
        run_lanes(inst, best, &in, mask, 0, alias, &got);
        if (memcmp(&partial, &got, sizeof got))
            fail_msg("%s: under a mask, in place (%d), differs", name, alias);
        run_lanes(inst, portable, &in, mask, 1, alias, &got);
        if (memcmp(&partial, &got, sizeof got))
            fail_msg("%s: portable, under a mask, in place (%d), differs", name, alias);
    }
}

static void vary(struct inst inst, u64 *state, unsigned rounds)
{
    const bool is_float = op_info[inst.op].flags & OPF_FLOAT;
    static const u8 types[] = {TYPE_U32, TYPE_F32, TYPE_U16, TYPE_F16, TYPE_BF16, TYPE_F16X2};
    for (unsigned i = 0; i < rounds; i++) {
        const u64 r = random_next(state);
        if (i) {
            const unsigned mode = MOD_FTZ_IN | MOD_FTZ_OUT | MOD_IEEE | MOD_KEEP_NAN;
            inst.mods = (u16)(is_float ? (r & 0x3f) | (i & 4 ? r >> 40 & mode : 0) : r & MOD_RELU);
            inst.scale = is_float && i % 7 == 3 ? r >> 56 & 3 : SCALE_NONE;
            inst.rounding = is_float && !(i & 3) ? r >> 8 & 3 : ROUND_NEAREST;
            inst.key = (u8)(i % 16);
            inst.imm = (i64)(r >> 16 & 0xff);
            inst.key2 = source_kind(&inst, 2) == 'm' || inst.op == OP_lop3_mask ? r >> 24 & 3 : 0;
            inst.type = types[(r >> 28) % ARRAY_LEN(types)];
            inst.stype = i & 8 ? TYPE_F32 : TYPE_U32; /* signs of what is only moved */
            for (unsigned k = 0; k < 3; k++) {
                inst.src[k].neg = i % 3 == 2 && r >> (32 + k) & 1;
                inst.src[k].abs = i % 5 == 4 && r >> (36 + k) & 1;
            }
        }
        check_inst(&inst, state, !(i & 1));
    }
}

static void test_all_ops(void **unused)
{
    u64 state = 1;
    unsigned count = 0;
    for (enum op op = 0; op < OP_COUNT; op++) {
        const struct inst inst = make_inst(op, true);
        if (!(op_info[op].flags & OPF_LANE)) {
            assert_null(lanes_resolve(&inst, SIMD_PORTABLE, true));
            assert_null(lanes_resolve(&inst, simd_best(), true));
            continue;
        }
        count++;
        if (op == OP_cvt)
            continue; /* has a test of its own */
        vary(inst, &state, 56);
        if (op_info[op].signature[1] != '=' || strpbrk(op_info[op].signature, "MW"))
            vary(make_inst(op, op_info[op].signature[0] == 'W'), &state, 4);
    }
    assert_true(count > 250);
}

/* After a directed rounding mode the host's own is back. */
static void test_rounding_restored(void **unused)
{
    struct inst inst = make_inst(OP_div_f32, true);
    inst.rounding = ROUND_UP;
    struct operands in;
    u64 state = 3;
    random_operands(&state, &in);
    struct results out;
    volatile f32 one = 1.0f, three = 3.0f;
    const f32 before = one / three;
    run_lanes(&inst, lanes_resolve(&inst, simd_best(), true), &in, LANES_FULL, 0, ALIAS_NONE, &out);
    const f32 after = one / three;
    assert_memory_equal(&before, &after, sizeof after);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_all_ops),
        cmocka_unit_test(test_rounding_restored),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
