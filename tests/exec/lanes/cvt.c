/*
 * Conversions: every pair of types in every rounding against MPFR and 128-bit integers, in both
 * builds and under both NaN rules; then the packed forms.
 */
#include "formats.h"

enum {
    INTEGRAL = 1,
    TWO = 1,
    FINITE = 2
};

static bool format_of(unsigned type, enum format *format)
{
    static const i8 map[TYPE_COUNT] = {
        [TYPE_F16] = F16 + 1,     [TYPE_F16X2] = F16 + 1,   [TYPE_BF16] = BF16 + 1,
        [TYPE_BF16X2] = BF16 + 1, [TYPE_F32] = F32 + 1,     [TYPE_F64] = F64 + 1,
        [TYPE_E4M3X2] = E4M3 + 1, [TYPE_E5M2X2] = E5M2 + 1, [TYPE_TF32] = TF32 + 1};
    if (!map[type])
        return false;
    *format = (enum format)(map[type] - 1);
    return true;
}
static unsigned bits_of(unsigned type)
{
    enum format f;
    return format_of(type, &f) ? formats[f].bits : type_bytes(type) * 8;
}
static u64 cut(u64 v, unsigned bits)
{
    return bits == 64 ? v : v & ((1ull << bits) - 1);
}
static i128 integer_of(unsigned type, u64 v)
{
    const unsigned n = bits_of(type);
    const i128 low = (i128)cut(v, n);
    return type_is_signed(type) && low >> (n - 1) ? low - ((i128)1 << n) : low;
}
static i128 least(unsigned type)
{
    return type_is_signed(type) ? -((i128)1 << (bits_of(type) - 1)) : 0;
}
static i128 greatest(unsigned type)
{
    return ((i128)1 << (bits_of(type) - type_is_signed(type))) - 1;
}
/* As a register (or pair) holds it. */
static u64 as_register(unsigned type, i128 v)
{
    const u64 low = cut((u64)v, bits_of(type));
    const u64 extended = (u64)integer_of(type, low);
    return bits_of(type) == 64 ? extended : extended & 0xffffffff;
}

static double integral(double x, enum rounding rounding)
{
    switch (rounding) {
    case ROUND_ZERO:
        return trunc(x);
    case ROUND_DOWN:
        return floor(x);
    case ROUND_UP:
        return ceil(x);
    default:
        return nearbyint(x);
    }
}

static u64 nan_converted(enum format to, enum format from, u64 bits, bool canonical)
{
    const struct format_info *t = &formats[to], *f = &formats[from];
    if (to == E4M3 || (canonical && to != F64))
        return t->nan;
    const unsigned shift = from == TF32 ? 13 : 0, out = to == TF32 ? 13 : 0;
    const unsigned from_bits = f->precision - 1, to_bits = t->precision - 1;
    const u64 payload = cut(bits >> shift, from_bits) << (52 - from_bits) >> (52 - to_bits);
    const u64 sign = bits >> (f->bits - 1) & 1 ? 1ull << (t->bits - 1) : 0;
    return sign | t->infinity | t->quiet | payload << out;
}

/* The value in the format, by rounding; ties away are decided by distance. */
static u64 rounded(enum format to, mpfr_t value, const struct inst *inst)
{
    const struct format_info *f = &formats[to];
    const bool finite = inst->key2 & FINITE || to == E4M3 || to == E5M2;
    u64 r;
    if (inst->rounding == ROUND_AWAY) {
        const double x = mpfr_get_d(value, MPFR_RNDN);
        const u64 inner = round_to(to, value, MPFR_RNDZ), outer = round_to(to, value, MPFR_RNDA);
        double far = decode(to, outer);
        far = isinf(far) ? copysign(ldexp(1.0, f->emax), x) : far;
        r = fabs(x - decode(to, inner)) < fabs(far - x) ? inner : outer;
    } else {
        r = round_to(to, value, mpfr_mode(inst->rounding));
    }
    const u64 sign = 1ull << (f->bits - 1), end = to == E4M3 ? 0x7f : f->infinity;
    if (finite && (r & ~sign) >= end)
        r = (r & sign) | (end - (to == TF32 ? 1 << 13 : 1));
    return r;
}

static u64 to_float(const struct inst *inst, enum format to, mpfr_t value)
{
    const u64 sign = 1ull << (formats[to].bits - 1);
    u64 r = rounded(to, value, inst);
    if (inst->mods & MOD_FTZ && to == F32)
        r = flush_bits(F32, r);
    if (inst->mods & MOD_SAT) {
        const double x = decode(to, r);
        r = x <= 0 ? 0 : x > 1 ? encode(to, 1.0) : r;
    }
    if (inst->mods & MOD_RELU && r & sign)
        r = 0;
    return r;
}

static u64 from_float(const struct inst *inst, enum format from, u64 bits, bool canonical)
{
    bits = cut(bits, formats[from].bits);
    if (inst->mods & MOD_FTZ && from == F32)
        bits = flush_bits(F32, bits);
    double x = decode(from, bits);
    enum format to;
    if (!format_of(inst->type, &to)) {
        const bool wide = canonical && (from == F64 || bits_of(inst->type) == 64);
        if (isnan(x))
            return as_register(inst->type, wide ? (i128)1 << (bits_of(inst->type) - 1) : 0);
        x = integral(x, inst->rounding);
        const i128 v = x >= 0x1p100 ? (i128)1 << 100 : x <= -0x1p100 ? -((i128)1 << 100) : (i128)x;
        return as_register(inst->type, v < least(inst->type)      ? least(inst->type)
                                       : v > greatest(inst->type) ? greatest(inst->type)
                                                                  : v);
    }
    if (isnan(x))
        return inst->mods & MOD_SAT
                   ? 0
                   : nan_converted(to, from, bits, canonical || inst->mods & MOD_RELU);
    if (inst->key == INTEGRAL)
        x = integral(x, inst->rounding);
    mpfr_t value;
    mpfr_init2(value, 64);
    mpfr_set_d(value, x, MPFR_RNDN);
    const u64 r = to_float(inst, to, value);
    mpfr_clear(value);
    return r;
}

static u64 from_int(const struct inst *inst, u64 bits)
{
    const i128 v = integer_of(inst->stype, bits);
    enum format to;
    if (!format_of(inst->type, &to)) {
        const bool clamp = inst->mods & MOD_SAT || inst->key2 & TWO;
        return as_register(inst->type, !clamp                     ? v
                                       : v < least(inst->type)    ? least(inst->type)
                                       : v > greatest(inst->type) ? greatest(inst->type)
                                                                  : v);
    }
    mpfr_t value;
    mpfr_init2(value, 64);
    if (type_is_signed(inst->stype))
        mpfr_set_sj(value, (i64)v, MPFR_RNDN);
    else
        mpfr_set_uj(value, (u64)v, MPFR_RNDN);
    const u64 r = to_float(inst, to, value);
    mpfr_clear(value);
    return r;
}

static u64 convert(const struct inst *inst, u64 bits, bool canonical)
{
    enum format from;
    return format_of(inst->stype, &from) ? from_float(inst, from, bits, canonical)
                                         : from_int(inst, bits);
}

static struct inst make_cvt(unsigned to, unsigned from, enum rounding rounding)
{
    struct inst inst = make_inst(OP_cvt, false);
    inst.type = (u8)to;
    inst.stype = (u8)from;
    inst.rounding = (u8)rounding;
    inst.dst[0].count = type_bytes(to) == 8 ? 2 : 1;
    inst.src[0].count = type_bytes(from) == 8 ? 2 : 1;
    return inst;
}

typedef u64 lane_reference(const struct inst *inst, const struct operands *in, unsigned i,
                           bool canonical);
static u64 one_value(const struct inst *inst, const struct operands *in, unsigned i, bool canonical)
{
    return convert(inst, in->value[0][i], canonical);
}

static void check(const struct inst *inst, u64 *state, lane_reference *reference)
{
    struct operands in;
    struct results got;
    for (unsigned build = 0; build < 4; build++) {
        const enum simd simd = build & 1 ? simd_best() : SIMD_PORTABLE;
        const bool canonical = build & 2;
        const u32 mask = build == 3 ? (u32)random_next(state) : LANES_FULL;
        lane_fn *fn = lanes_resolve(inst, simd, canonical);
        assert_non_null(fn);
        random_operands(state, &in);
        run_lanes(inst, fn, &in, mask, build & 1, mask == LANES_FULL ? ALIAS_NONE : ALIAS_FIRST,
                  &got);
        for (unsigned i = 0; i < LANES; i++) {
            const u64 expected = reference(inst, &in, i, canonical);
            if (mask >> i & 1 && expected != got.value[0][i])
                fail_msg("cvt.%s.%s simd %d canonical %d mods %x rounding %u key %u key2 %u: "
                         "f(%llx, %llx) is %llx, not %llx",
                         type_name(inst->type), type_name(inst->stype), simd, canonical, inst->mods,
                         inst->rounding, inst->key, inst->key2, (unsigned long long)in.value[0][i],
                         (unsigned long long)in.value[1][i], (unsigned long long)got.value[0][i],
                         (unsigned long long)expected);
        }
    }
}

static const u8 scalars[] = {TYPE_U8,  TYPE_S8,  TYPE_U16, TYPE_S16,  TYPE_U32, TYPE_S32,
                             TYPE_U64, TYPE_S64, TYPE_F16, TYPE_BF16, TYPE_F32, TYPE_F64};

static void test_pairs(void **unused)
{
    u64 state = 31;
    for (unsigned t = 0; t < ARRAY_LEN(scalars); t++)
        for (unsigned s = 0; s < ARRAY_LEN(scalars); s++)
            for (unsigned round = 0; round < 32; round++) {
                struct inst inst = make_cvt(scalars[t], scalars[s], round & 3);
                const bool is_float = type_is_float(inst.type);
                inst.mods = (u8)((round & 4 ? MOD_FTZ : 0) | (round & 8 ? MOD_SAT : 0));
                if (is_float && inst.type != TYPE_F64 && round >= 24)
                    inst.mods = MOD_RELU;
                if (inst.type == inst.stype && is_float)
                    inst.key = round & 16 ? INTEGRAL : 0;
                check(&inst, &state, one_value);
            }
}

/* Every half as a source, as dense as it gets. */
static void test_all_halves(void **unused)
{
    static const u8 to[] = {TYPE_F32, TYPE_F64, TYPE_S32, TYPE_BF16};
    for (unsigned t = 0; t < ARRAY_LEN(to); t++) {
        const struct inst inst = make_cvt(to[t], TYPE_F16, ROUND_NEAREST);
        lane_fn *fn = lanes_resolve(&inst, simd_best(), true);
        for (u32 first = 0; first < 0x10000; first += LANES) {
            struct operands in = {0};
            struct results got;
            for (unsigned i = 0; i < LANES; i++)
                in.value[0][i] = first + i;
            run_lanes(&inst, fn, &in, LANES_FULL, 0, ALIAS_NONE, &got);
            for (unsigned i = 0; i < LANES; i++)
                assert_int_equal(got.value[0][i], convert(&inst, first + i, true));
        }
    }
}

static void test_tf32(void **unused)
{
    u64 state = 32;
    static const u8 modes[] = {ROUND_NEAREST, ROUND_ZERO, ROUND_AWAY};
    for (unsigned round = 0; round < 96; round++) {
        struct inst inst = make_cvt(TYPE_TF32, TYPE_F32, modes[round % 3]);
        inst.mods = round & 1 ? MOD_RELU : 0;
        inst.key2 = round & 2 ? FINITE : 0;
        check(&inst, &state, one_value);
    }
}

static u64 two_values(const struct inst *inst, const struct operands *in, unsigned i,
                      bool canonical)
{
    const unsigned n = bits_of(inst->type);
    return cut(convert(inst, in->value[0][i], canonical), n) << n |
           cut(convert(inst, in->value[1][i], canonical), n);
}
static u64 half_by_half(const struct inst *inst, const struct operands *in, unsigned i,
                        bool canonical)
{
    const unsigned from = bits_of(inst->stype), to = bits_of(inst->type);
    return cut(convert(inst, in->value[0][i] >> from, canonical), to) << to |
           cut(convert(inst, in->value[0][i], canonical), to);
}

static void test_packed(void **unused)
{
    static const u8 packed[] = {TYPE_F16X2, TYPE_BF16X2, TYPE_E4M3X2, TYPE_E5M2X2};
    u64 state = 33;
    for (unsigned round = 0; round < 64; round++)
        for (unsigned t = 0; t < 4; t++) {
            struct inst inst =
                make_cvt(packed[t], TYPE_F32, round & 1 ? ROUND_ZERO : ROUND_NEAREST);
            inst.mods = round & 2 ? MOD_RELU : 0;
            inst.key2 = TWO | (round & 4 ? FINITE : 0);
            inst.src[1] = operand_make(OPERAND_VECTOR, 0, 1);
            check(&inst, &state, two_values);
            for (unsigned s = 0; s < 4; s++) {
                inst = make_cvt(packed[t], packed[s], ROUND_NEAREST);
                inst.mods = round & 2 ? MOD_RELU : 0;
                check(&inst, &state, half_by_half);
            }
        }
    static const u8 narrow[] = {TYPE_U8, TYPE_S8, TYPE_U16, TYPE_S16};
    for (unsigned t = 0; t < 4; t++) {
        struct inst inst = make_cvt(narrow[t], TYPE_S32, ROUND_NEAREST);
        inst.mods = MOD_SAT;
        inst.key2 = TWO;
        inst.src[1] = operand_make(OPERAND_VECTOR, 0, 1);
        check(&inst, &state, two_values);
    }
}

static void test_missing(void **unused)
{
    static const u8 pairs[][2] = {{TYPE_PRED, TYPE_U32},  {TYPE_F32, TYPE_NONE},
                                  {TYPE_F16X2, TYPE_F32}, {TYPE_U32, TYPE_F16X2},
                                  {TYPE_B128, TYPE_U64},  {TYPE_F32, TYPE_PRED}};
    for (unsigned i = 0; i < ARRAY_LEN(pairs); i++) {
        const struct inst inst = make_cvt(pairs[i][0], pairs[i][1], ROUND_NEAREST);
        assert_null(lanes_resolve(&inst, simd_best(), true));
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_pairs),   cmocka_unit_test(test_all_halves),
        cmocka_unit_test(test_tf32),    cmocka_unit_test(test_packed),
        cmocka_unit_test(test_missing),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
