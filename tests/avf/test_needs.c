/*
 * The rules of needed bits against what operations compute: with any values in the bits that are not
 * needed, in all sources at once, the needed bits of the results are the same. And rules that are to
 * free bits do.
 */
#include "avf/needs.h"
#include "base/rng.h"
#include "exec/lanes.h"
#include "ir/program.h"

/* clang-format off */
#include <setjmp.h>
#include <stdarg.h>
#include <stdio.h>
#include <string.h>
#include <cmocka.h>
/* clang-format on */

enum {
    ROUNDS = 300
};

struct operands {
    _Alignas(64) u32 rows[4][2][LANES];
    u32 masks[4];
};

struct results {
    _Alignas(64) u32 rows[2][2][LANES];
    u32 masks[2];
};

static struct rng rng;

/* Values that meet often, and whose bits differ in all places. */
static u64 any_value(void)
{
    const u64 bits = rng_next(&rng);
    switch (bits >> 60) {
    case 0:
    case 1:
        return bits & 31;
    case 2:
        return ~0ull;
    case 3:
        return 1ull << (bits & 63);
    case 4:
        return bits & 0xff00;
    default:
        return bits >> (bits & 31);
    }
}

static u32 count_of(char letter)
{
    return letter == 'p' ? 2 : 1;
}

/* An instruction on vector registers and masks, as its signature says; -1: it has other operands. */
static int make(struct inst *inst, enum op op)
{
    const char *s = op_info[op].signature, *sources = strchr(s, '=') + 1;
    *inst = (struct inst){.op = op, .type = TYPE_U32};
    for (u32 k = 0; s[k] != '='; k++)
        inst->dst[k] = operand_make(s[k] == 'm' || s[k] == 'M' ? OPERAND_MASK : OPERAND_VECTOR, 0,
                                    count_of(s[k]));
    for (u32 k = 0; sources[k]; k++) {
        if (sources[k] == 'M' || sources[k] == 'W')
            continue;
        if (!strchr("wpmv", sources[k]))
            return -1;
        inst->src[k] = operand_make(sources[k] == 'm' ? OPERAND_MASK : OPERAND_VECTOR, 0,
                                    count_of(sources[k]));
    }
    return 0;
}

static void compute(const struct inst *inst, const struct operands *from, struct results *to)
{
    static const _Alignas(64) u32 all[LANES] = {[0 ... LANES - 1] = ~0u};
    struct lanes l = {.inst = inst, .mask = LANES_FULL, .stride = LANES, .lane_mask = all};
    memset(to, 0, sizeof *to);
    for (u32 k = 0; k < 4; k++)
        l.src[k] = inst->src[k].kind == OPERAND_MASK ? &from->masks[k] : from->rows[k][0];
    for (u32 k = 0; k < 2; k++)
        l.dst[k] = inst->dst[k].kind == OPERAND_MASK ? &to->masks[k] : to->rows[k][0];
    lanes_resolve(inst, SIMD_PORTABLE, true)(&l);
}

static u64 source(const struct inst *inst, const struct operands *from, u32 k, u32 lane)
{
    if (inst->src[k].kind == OPERAND_MASK)
        return from->masks[k] >> lane & 1;
    return from->rows[k][0][lane] |
           (inst->src[k].count == 2 ? (u64)from->rows[k][1][lane] << 32 : 0);
}

static u64 result(const struct inst *inst, const struct results *to, u32 k, u32 lane)
{
    if (inst->dst[k].kind == OPERAND_MASK)
        return to->masks[k] >> lane & 1;
    return to->rows[k][0][lane] | (inst->dst[k].count == 2 ? (u64)to->rows[k][1][lane] << 32 : 0);
}

static void set_source(const struct inst *inst, struct operands *to, u32 k, u32 lane, u64 value)
{
    if (inst->src[k].kind == OPERAND_MASK) {
        to->masks[k] = (to->masks[k] & ~(1u << lane)) | (u32)(value & 1) << lane;
        return;
    }
    to->rows[k][0][lane] = (u32)value;
    to->rows[k][1][lane] = (u32)(value >> 32);
}

/* One lane: its other bits change. */
static void disturb(const struct inst *inst, const struct operands *from, struct operands *to,
                    struct lane_need *need, u32 lane)
{
    for (u32 k = 0; k < 2; k++)
        need->result[k] = inst->dst[k].kind == OPERAND_NONE   ? 0
                          : inst->dst[k].kind == OPERAND_MASK ? any_value() & 1
                                                              : any_value() | any_value() << 32;
    for (u32 k = 0; k < 2; k++)
        if (inst->dst[k].count == 1)
            need->result[k] &= 0xffffffff;
    for (u32 k = 0; k < 3; k++)
        need->value[k] = source(inst, from, k, lane);
    need_sources(inst, need_row_of(inst), need);
    for (u32 k = 0; k < 3; k++) {
        const u64 keep = inst->src[k].kind == OPERAND_CONST ? ~0ull : need->source[k];
        set_source(inst, to, k, lane, (need->value[k] & keep) | (rng_next(&rng) & ~keep));
    }
}

static void check(const struct inst *inst)
{
    struct operands from = {0}, to;
    struct results before, after;
    struct lane_need need[LANES];
    for (u32 round = 0; round < ROUNDS; round++) {
        for (u32 k = 0; k < 3; k++)
            for (u32 lane = 0; lane < LANES; lane++)
                set_source(inst, &from, k, lane,
                           k && rng_next(&rng) % 4 == 0 ? source(inst, &from, 0, lane)
                                                        : any_value());
        to = from;
        for (u32 lane = 0; lane < LANES; lane++)
            disturb(inst, &from, &to, &need[lane], lane);
        compute(inst, &from, &before);
        compute(inst, &to, &after);
        for (u32 lane = 0; lane < LANES; lane++)
            for (u32 k = 0; k < 2; k++) {
                const u64 wrong = (result(inst, &before, k, lane) ^ result(inst, &after, k, lane)) &
                                  need[lane].result[k];
                if (inst->dst[k].kind != OPERAND_NONE && wrong)
                    fail_msg("%s, key %u, type %u from %u: needed bits %llx of result %u change",
                             op_info[inst->op].name, inst->key, inst->type, inst->stype,
                             (unsigned long long)wrong, k);
            }
    }
}

/* With registers, and with a constant as either source. */
static void check_all(struct inst inst)
{
    check(&inst);
    for (u32 k = 0; k < 2; k++) {
        if (inst.src[1].kind != OPERAND_VECTOR || inst.src[k].kind != OPERAND_VECTOR)
            continue;
        inst.src[k].kind = OPERAND_CONST;
        check(&inst);
        inst.src[k].kind = OPERAND_VECTOR;
    }
}

static void rules_are_sound(void **state)
{
    u32 ops = 0;
    for (u32 op = 0; op < OP_COUNT; op++) {
        struct inst inst;
        if (!need_rows[op].rule || op == OP_cvt || !(op_info[op].flags & OPF_LANE) ||
            make(&inst, op) < 0)
            continue;
        ops++;
        const bool compares = need_rows[op].rule == NEED_COMPARE;
        for (u32 key = CMP_EQ; key <= (compares ? CMP_GE : CMP_EQ); key++) {
            inst.key = (u8)key;
            check_all(inst);
        }
    }
    assert_true(ops > 60);
}

static void conversions_are_sound(void **state)
{
    static const u8 types[] = {TYPE_U8,  TYPE_S8,  TYPE_U16, TYPE_S16,
                               TYPE_U32, TYPE_S32, TYPE_U64, TYPE_S64};
    for (u32 i = 0; i < ARRAY_LEN(types); i++)
        for (u32 k = 0; k < ARRAY_LEN(types); k++) {
            struct inst inst = {.op = OP_cvt, .type = types[i], .stype = types[k]};
            inst.dst[0] = operand_make(OPERAND_VECTOR, 0, type_bytes(types[i]) > 4 ? 2 : 1);
            inst.src[0] = operand_make(OPERAND_VECTOR, 0, type_bytes(types[k]) > 4 ? 2 : 1);
            assert_int_equal(need_row_of(&inst).rule, NEED_CONVERT);
            check(&inst);
        }
}

/* Needed bits of the first two sources. */
static void expect(enum op op, enum compare key, bool constant, u64 d, u64 a, u64 b, u64 first,
                   u64 second)
{
    struct inst inst;
    struct lane_need need = {.result = {d}, .value = {a, b, b}};
    assert_int_equal(make(&inst, op), 0);
    inst.key = (u8)key;
    if (constant)
        inst.src[1].kind = OPERAND_CONST;
    need_sources(&inst, need_row_of(&inst), &need);
    if (need.source[0] != first || (!constant && need.source[1] != second))
        fail_msg("%s needs %llx and %llx, not %llx and %llx", op_info[op].name,
                 (unsigned long long)need.source[0], (unsigned long long)need.source[1],
                 (unsigned long long)first, (unsigned long long)second);
}

static void rules_free_bits(void **state)
{
    const u64 all = 0xffffffff;
    expect(OP_and_b32, 0, true, all, 5, 0xff, 0xff, 0);
    expect(OP_and_b32, 0, false, all, 0xf0, 0x3c, 0xffffff3f & ~0xc0ull, 0xf0);
    expect(OP_or_b32, 0, true, all, 5, 0xff, 0xffffff00, 0);
    expect(OP_xor_b32, 0, false, 0xf, 5, 9, 0xf, 0xf);
    expect(OP_shl_b32, 0, true, all, 5, 4, 0x0fffffff, 0);
    expect(OP_shl_b32, 0, true, all, 5, 32, 0, 0);
    expect(OP_shr_u32, 0, true, all, 5, 4, 0xfffffff0, 0);
    expect(OP_shr_s32, 0, true, 0x0fffffff, 5, 4, 0xfffffff0, 0);
    expect(OP_shr_s32, 0, true, 0x80000000, 5, 4, 0x80000000, 0);
    expect(OP_shr_s32, 0, true, 0xff, 5, 40, 0x80000000, 0);
    expect(OP_add_b32, 0, false, 0x10, 5, 4, 0x1f, 0x1f);
    expect(OP_add_b16, 0, false, all, 5, 4, 0xffff, 0xffff);
    expect(OP_mul_lo_b32, 0, true, 0xff, 5, 16, 0xf, 0);
    expect(OP_mul_lo_b32, 0, true, 0xff, 5, 0, 0, 0);
    expect(OP_mul_wide_s32, 0, true, 1ull << 33, 5, 16, 0x3fffffff, 0);
    expect(OP_mul_wide_s32, 0, true, 1ull << 36, 5, 16, 0xffffffff, 0);
    expect(OP_setp_u32, CMP_LT, false, 1, 3, 64, 0xffffffc0, 0xffffffc0);
    expect(OP_setp_s32, CMP_LT, false, 1, 3, 0xffffffff, 0x80000000, 0x80000000);
    expect(OP_setp_u32, CMP_EQ, false, 1, 3, 64, 0x40, 0x40);
    expect(OP_setp_u32, CMP_EQ, false, 1, 64, 64, all, all);
    expect(OP_setp_u32, CMP_LT, false, 0, 3, 64, 0, 0);
    expect(OP_selp_b32, 0, false, 0xff, 1, 0, 0, 0xff);
    expect(OP_selp_b32, 0, false, 0xff, 1, 1, 0xff, 0);
    expect(OP_mul_wide_u16, 0, false, 1, 9, 3, 0xffff, 0xffff);
    expect(OP_div_u16, 0, false, 1, 9, 3, 0xffff, 0xffff);
    expect(OP_add_f16, 0, false, 1, 9, 3, 0xffff, 0xffff);
}

/* Modifiers change what a bit of the result depends on: all bits are needed. */
static void modifiers(void **state)
{
    for (u32 i = 0; i < 4; i++) {
        struct inst inst;
        struct lane_need need = {.result = {1}};
        assert_int_equal(make(&inst, i < 2 ? OP_add_b32 : OP_add_b16), 0);
        inst.mods = i == 0 ? MOD_SAT : i == 1 ? MOD_RELU : 0;
        inst.src[0].neg = i == 2;
        inst.src[1].abs = i == 3;
        need_sources(&inst, need_row_of(&inst), &need);
        const u64 all = i < 2 ? ~0ull : 0xffff;
        assert_true(need.source[0] == all && need.source[1] == all);
    }
}

/* Scalar logic needs the same bits of its sources. */
static void scalar_logic(void **state)
{
    static const u16 ops[] = {OP_smov_b32,   OP_smov_b64,   OP_snot_b32,  OP_snot_b64, OP_sand_b32,
                              OP_sand_b64,   OP_sor_b32,    OP_sor_b64,   OP_sxor_b32, OP_sxor_b64,
                              OP_sandn2_b32, OP_sandn2_b64, OP_sorn2_b32, OP_sorn2_b64};
    for (u32 i = 0; i < ARRAY_LEN(ops); i++) {
        const struct inst inst = {.op = ops[i]};
        struct lane_need need = {.result = {0xf000000f0}};
        need_sources(&inst, need_row_of(&inst), &need);
        const u64 bits = i % 2 ? 0xf000000f0 : 0xf0;
        assert_true(need.source[0] == bits && need.source[1] == bits);
    }
}

int main(void)
{
    rng = (struct rng){0};
    rng_stream(&rng, 1, 0, "needs", 0, "test");
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(rules_are_sound), cmocka_unit_test(conversions_are_sound),
        cmocka_unit_test(rules_free_bits), cmocka_unit_test(modifiers),
        cmocka_unit_test(scalar_logic),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
