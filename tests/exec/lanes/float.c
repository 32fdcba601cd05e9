/*
 * Float ops against MPFR: exactly rounded in every mode and format, with subnormals, flushing,
 * saturation and both NaN rules; comparisons and extremes against their definition on numbers.
 */
#include "formats.h"

struct shape {
    char op[24]; /* "add" */
    enum format format;
    bool x2;
};

/* "add_bf16x2" is {add, bf16, x2}. */
static bool shape_of(enum op op, struct shape *shape)
{
    static const struct {
        const char *suffix;
        enum format format;
        bool x2;
    } suffixes[] = {{"_bf16x2", BF16, true}, {"_f16x2", F16, true}, {"_bf16", BF16, false},
                    {"_f16", F16, false},    {"_f32", F32, false},  {"_f64", F64, false}};
    const char *name = op_info[op].name;
    for (size_t i = 0; i < ARRAY_LEN(suffixes); i++) {
        const size_t n = strlen(name), m = strlen(suffixes[i].suffix);
        if (n <= m || strcmp(name + n - m, suffixes[i].suffix))
            continue;
        snprintf(shape->op, sizeof shape->op, "%.*s", (int)(n - m), name);
        shape->format = suffixes[i].format;
        shape->x2 = suffixes[i].x2;
        return true;
    }
    return false;
}

static bool is_one_of(const char *name, const char *const *names)
{
    for (; *names; names++)
        if (!strcmp(name, *names))
            return true;
    return false;
}

/* The exact result, wide enough not to round; true when it is a number. */
static bool exact(const char *op, const double *v, mpfr_t r, mpfr_rnd_t mode)
{
    mpfr_t a, b, c;
    mpfr_inits2(53, a, b, c, (mpfr_ptr)0);
    mpfr_set_d(a, v[0], MPFR_RNDN);
    mpfr_set_d(b, v[1], MPFR_RNDN);
    mpfr_set_d(c, v[2], MPFR_RNDN);
    if (!strcmp(op, "add"))
        mpfr_add(r, a, b, mode);
    else if (!strcmp(op, "sub"))
        mpfr_sub(r, a, b, mode);
    else if (!strcmp(op, "mul"))
        mpfr_mul(r, a, b, mode);
    else if (!strcmp(op, "fma"))
        mpfr_fma(r, a, b, c, mode);
    else if (!strcmp(op, "div"))
        mpfr_div(r, a, b, mode);
    else if (!strcmp(op, "rcp"))
        mpfr_ui_div(r, 1, a, mode);
    else
        mpfr_sqrt(r, a, mode);
    mpfr_clears(a, b, c, (mpfr_ptr)0);
    return !mpfr_nan_p(r);
}

/* Enough precision that rounding toward zero here, with a sticky last bit, cannot mislead: sums of
 * doubles need at most 2200 bits, quotients and roots are cut and made odd. */
enum {
    WIDE = 2400
};
static void make_sticky(mpfr_t r, const char *op, const double *v)
{
    mpfr_t up;
    mpfr_init2(up, WIDE);
    exact(op, v, up, MPFR_RNDA);
    if (!mpfr_equal_p(r, up)) { /* inexact: the middle, strictly between both */
        mpfr_prec_round(r, WIDE + 1, MPFR_RNDZ);
        mpfr_add(r, r, up, MPFR_RNDZ);
        mpfr_div_2ui(r, r, 1, MPFR_RNDZ);
    }
    mpfr_clear(up);
}

static u64 arithmetic(const struct inst *inst, const struct shape *s, const u64 *bits,
                      unsigned count, bool canonical)
{
    double v[3] = {0};
    for (unsigned k = 0; k < count; k++)
        v[k] = decode(s->format, bits[k]);
    mpfr_t r;
    mpfr_init2(r, WIDE);
    const mpfr_rnd_t mode = mpfr_mode(inst->rounding);
    u64 result;
    if (!exact(s->op, v, r, MPFR_RNDZ)) {
        result = nan_of(s->format, bits, count, canonical);
    } else {
        make_sticky(r, s->op, v);
        if (mpfr_zero_p(r)) /* the sign of an exact zero depends on the mode */
            exact(s->op, v, r, mode);
        result = round_to(s->format, r, mode);
    }
    mpfr_clear(r);
    return result;
}

/* Product and sum rounded each, without subnormals anywhere; legacy: zero times anything is +0. */
static u64 two_steps(const struct inst *inst, const u64 *in, bool legacy, bool canonical)
{
    const struct shape mul = {"mul", F32, false}, add = {"add", F32, false};
    u64 bits[3];
    for (unsigned k = 0; k < 3; k++)
        bits[k] = flush_bits(F32, in[k]);
    const bool zero = legacy && (decode(F32, bits[0]) == 0 || decode(F32, bits[1]) == 0);
    const u64 p = zero ? 0 : flush_bits(F32, arithmetic(inst, &mul, bits, 2, canonical));
    const u64 sum[2] = {p, bits[2]};
    const u64 r = arithmetic(inst, &add, sum, 2, canonical);
    return !is_nan(F32, r) ? flush_bits(F32, r)
           : zero          ? nan_of(F32, bits + 2, 1, canonical)
                           : nan_of(F32, bits, 3, canonical);
}
static u64 legacy_product(const struct inst *inst, const u64 *bits, bool canonical)
{
    const struct shape mul = {"mul", F32, false};
    const bool zero = decode(F32, bits[0]) == 0 || decode(F32, bits[1]) == 0;
    return zero ? 0 : arithmetic(inst, &mul, bits, 2, canonical);
}

static double pick(const char *op, double a, double b)
{
    if (a == b)
        return (op[1] == 'i') == !!signbit(a) ? a : b;
    return (op[1] == 'i') == (a < b) ? a : b;
}
static u64 extreme(const struct inst *inst, const struct shape *s, const u64 *in, unsigned count,
                   bool canonical)
{
    const u64 sign = 1ull << (formats[s->format].bits - 1);
    const bool xorsign = inst->mods & MOD_XORSIGN;
    u64 bits[3] = {in[0], in[1], in[2]};
    for (unsigned k = 0; xorsign && k < count; k++)
        bits[k] &= ~sign;
    u64 best = bits[0];
    for (unsigned k = 1; k < count; k++) {
        const u64 pair[2] = {best, bits[k]};
        const bool a_nan = is_nan(s->format, best), b_nan = is_nan(s->format, bits[k]);
        const u64 quiet = formats[s->format].quiet;
        const bool a_wins = a_nan && !(best & quiet), b_wins = b_nan && !(bits[k] & quiet);
        if (inst->mods & MOD_IEEE && (a_wins || b_wins)) {
            best = nan_of(s->format, a_wins ? &pair[0] : &pair[1], 1, canonical);
        } else if (a_nan || b_nan) {
            const bool strict = inst->mods & MOD_NAN;
            best = strict || (a_nan && b_nan) ? nan_of(s->format, pair, 2, canonical)
                   : a_nan                    ? bits[k]
                                              : best;
        } else {
            best =
                encode(s->format, pick(s->op, decode(s->format, best), decode(s->format, bits[k])));
        }
    }
    if (xorsign && !is_nan(s->format, best))
        best |= (in[0] ^ in[1]) & sign;
    return best;
}

static u64 legacy_extreme(const struct shape *s, const u64 *bits)
{
    const double a = decode(s->format, bits[0]), b = decode(s->format, bits[1]);
    return (s->op[1] == 'i' ? a < b : a >= b) ? bits[0] : bits[1];
}
/* The one that is neither least nor most; a NaN among them leaves the minimum. */
static u64 median(const struct inst *inst, const struct shape *s, const u64 *bits, bool canonical)
{
    const struct shape least = {"min", F32, false}, most = {"max", F32, false};
    for (unsigned k = 0; k < 3; k++)
        if (is_nan(s->format, bits[k]))
            return extreme(inst, &least, bits, 3, canonical);
    const u64 low = extreme(inst, &least, bits, 3, canonical);
    const u64 high = extreme(inst, &most, bits, 3, canonical);
    return bits[0] ^ bits[1] ^ bits[2] ^ low ^ high;
}

static u64 scaled(const struct inst *inst, enum format format, u64 r)
{
    static const int powers[] = {0, 1, 2, -1};
    if (inst->scale == SCALE_NONE || is_nan(format, r))
        return r;
    mpfr_t x;
    mpfr_init2(x, 64);
    mpfr_set_d(x, decode(format, r), MPFR_RNDN);
    mpfr_mul_2si(x, x, powers[inst->scale], MPFR_RNDN);
    r = flush_bits(format, round_to(format, x, mpfr_mode(inst->rounding)));
    mpfr_clear(x);
    return r;
}

static u64 result_modifiers(const struct inst *inst, enum format format, u64 r)
{
    const u64 sign = 1ull << (formats[format].bits - 1);
    if (inst->mods & (MOD_FTZ | MOD_FTZ_OUT))
        r = flush_bits(format, r);
    r = scaled(inst, format, r);
    if (inst->mods & MOD_SAT && !(inst->mods & MOD_KEEP_NAN && is_nan(format, r))) {
        const double x = decode(format, r);
        r = isnan(x) || x <= 0 ? 0 : x > 1 ? encode(format, 1.0) : r;
    }
    if (inst->mods & MOD_RELU && r & sign && !is_nan(format, r))
        r = 0;
    return r;
}

static const char *const arithmetic_ops[] = {
    "add", "sub", "mul", "fma", "div", "rcp", "sqrt", "mad", "mad_legacy", "mul_legacy", NULL};
static const char *const extreme_ops[] = {"min", "max", "min3", "max3", NULL};
static const char *const choosing_ops[] = {"min_legacy", "max_legacy", "med3", NULL};
static const char *const sign_ops[] = {"abs", "neg", NULL};

static u64 expected_one(const struct inst *inst, const struct shape *s, const u64 *in,
                        unsigned count, bool canonical)
{
    const u64 sign = 1ull << (formats[s->format].bits - 1);
    u64 bits[3];
    for (unsigned k = 0; k < 3; k++) {
        bits[k] = in[k];
        if (inst->src[k].abs)
            bits[k] &= ~sign;
        if (inst->src[k].neg)
            bits[k] ^= sign;
        if (inst->mods & (MOD_FTZ | MOD_FTZ_IN))
            bits[k] = flush_bits(s->format, bits[k]);
    }
    u64 r;
    if (!strcmp(s->op, "abs"))
        r = bits[0] & ~sign;
    else if (!strcmp(s->op, "neg"))
        r = bits[0] ^ sign;
    else if (is_one_of(s->op, extreme_ops))
        r = extreme(inst, s, bits, count, canonical);
    else if (is_one_of(s->op, choosing_ops))
        r = s->op[3] == '3' ? median(inst, s, bits, canonical) : legacy_extreme(s, bits);
    else if (!strncmp(s->op, "mad", 3))
        r = two_steps(inst, bits, s->op[3], canonical);
    else if (!strcmp(s->op, "mul_legacy"))
        r = legacy_product(inst, bits, canonical);
    else
        r = arithmetic(inst, s, bits, count, canonical);
    return result_modifiers(inst, s->format, r);
}

static u64 half_at(const struct shape *s, u64 value, unsigned at)
{
    const unsigned n = formats[s->format].bits;
    return n == 64 ? value : value >> at * n & ((1ull << n) - 1);
}

static void check(const struct inst *inst, const struct shape *s, u64 *state, bool canonical,
                  enum simd simd)
{
    struct operands in;
    struct results got;
    unsigned count = 0;
    random_operands(state, &in);
    while (source_kind(inst, count))
        count++;
    run_lanes(inst, lanes_resolve(inst, simd, canonical), &in, LANES_FULL, 0, ALIAS_NONE, &got);
    for (unsigned i = 0; i < LANES; i++)
        for (unsigned h = 0; h < (s->x2 ? 2u : 1u); h++) {
            const u64 bits[3] = {half_at(s, in.value[0][i], h), half_at(s, in.value[1][i], h),
                                 half_at(s, in.value[2][i], h)};
            const u64 e = expected_one(inst, s, bits, count, canonical);
            const u64 g = s->x2 ? half_at(s, got.value[0][i], h) : got.value[0][i];
            if (e != g)
                fail_msg("%s simd %d canonical %d mods %x rounding %u signs %u%u%u: f(%llx, %llx, "
                         "%llx) is %llx, not %llx",
                         op_info[inst->op].name, simd, canonical, inst->mods, inst->rounding,
                         inst->src[0].neg, inst->src[1].neg, inst->src[2].neg,
                         (unsigned long long)bits[0], (unsigned long long)bits[1],
                         (unsigned long long)bits[2], (unsigned long long)g, (unsigned long long)e);
        }
}

/* What MODE may ask for. */
static void add_mode(struct inst *inst, u64 r, bool has_nan_rule)
{
    if (r % 3 == 0)
        return;
    inst->mods &= ~(unsigned)(MOD_FTZ | MOD_RELU);
    inst->mods |= r >> 4 & (MOD_FTZ | MOD_FTZ_IN | MOD_FTZ_OUT | MOD_KEEP_NAN);
    if (has_nan_rule && r >> 20 & 1) {
        inst->mods &= ~(unsigned)(MOD_NAN | MOD_XORSIGN);
        inst->mods |= MOD_IEEE;
    }
    inst->scale = r >> 21 & 1 ? r >> 22 & 3 : SCALE_NONE;
}

static void test_arithmetic(void **unused)
{
    u64 state = 21;
    for (enum op op = 0; op < OP_COUNT; op++) {
        struct shape s;
        if (!(op_info[op].flags & OPF_FLOAT) || !shape_of(op, &s))
            continue;
        const bool extremes = is_one_of(s.op, extreme_ops);
        const bool rounds = is_one_of(s.op, arithmetic_ops) && (s.format == F32 || s.format == F64);
        const bool chooses = is_one_of(s.op, choosing_ops);
        if (!rounds && !extremes && !chooses && !is_one_of(s.op, sign_ops) &&
            !is_one_of(s.op, arithmetic_ops))
            continue;
        for (unsigned round = 0; round < 288; round++) {
            const u64 r = random_next(&state);
            struct inst inst = make_inst(op, true);
            inst.rounding = rounds && round & 3 ? round >> 2 & 3 : ROUND_NEAREST;
            inst.mods = round % 3 ? r & (MOD_FTZ | MOD_SAT | MOD_RELU) : round & 1 ? MOD_FTZ : 0;
            if (extremes && s.format != F64) /* PTX has neither for f64 */
                inst.mods |= r >> 8 & (MOD_NAN | (s.op[3] == 0 ? MOD_XORSIGN : 0));
            if (s.format == F32 || s.format == F64)
                add_mode(&inst, r >> 32, extremes || s.op[3] == '3');
            for (unsigned k = 0; k < 3 && round % 4 == 3; k++) {
                inst.src[k].neg = r >> (16 + k) & 1;
                inst.src[k].abs = r >> (20 + k) & 1;
            }
            check(&inst, &s, &state, r >> 24 & 1, round & 1 ? SIMD_PORTABLE : simd_best());
        }
    }
}

static bool holds(u32 key, double a, double b)
{
    const bool nan = isnan(a) || isnan(b);
    switch (key) {
    case CMP_EQ:
    case CMP_EQU:
        return nan ? key == CMP_EQU : a == b;
    case CMP_NE:
    case CMP_NEU:
        return nan ? key == CMP_NEU : a != b;
    case CMP_LT:
    case CMP_LTU:
        return nan ? key == CMP_LTU : a < b;
    case CMP_LE:
    case CMP_LEU:
        return nan ? key == CMP_LEU : a <= b;
    case CMP_GT:
    case CMP_GTU:
        return nan ? key == CMP_GTU : a > b;
    case CMP_GE:
    case CMP_GEU:
        return nan ? key == CMP_GEU : a >= b;
    case CMP_NUM:
    case CMP_NAN:
        return nan == (key == CMP_NAN);
    default:
        return key == CMP_TRUE;
    }
}
static bool joined(u32 op, bool v, bool with)
{
    return op == BOOL_AND ? v && with : op == BOOL_OR ? v || with : op == BOOL_XOR ? v != with : v;
}

static u64 signed_operand(const struct inst *inst, const struct shape *s, u64 bits, unsigned k)
{
    const u64 sign = 1ull << (formats[s->format].bits - 1);
    bits = inst->src[k].abs ? bits & ~sign : bits;
    return inst->src[k].neg ? bits ^ sign : bits;
}
static void check_compare(const struct inst *inst, const struct shape *s, const struct operands *in,
                          const struct results *got, unsigned i)
{
    static const u32 yes[TYPE_COUNT] = {
        [TYPE_U32] = 0xffffffff,   [TYPE_F32] = 0x3f800000, [TYPE_U16] = 0xffff,
        [TYPE_F16] = 0x3c00,       [TYPE_BF16] = 0x3f80,    [TYPE_F16X2] = 0x3c003c00,
        [TYPE_BF16X2] = 0x3f803f80};
    const bool with = (in->mask[2] >> i & 1) != inst->src[2].neg;
    bool v[2];
    for (unsigned h = 0; h < 2; h++) {
        u64 a = half_at(s, in->value[0][i], s->x2 ? h : 0);
        u64 b = half_at(s, in->value[1][i], s->x2 ? h : 0);
        a = signed_operand(inst, s, a, 0), b = signed_operand(inst, s, b, 1);
        if (inst->mods & MOD_FTZ)
            a = flush_bits(s->format, a), b = flush_bits(s->format, b);
        v[h] = holds(inst->key, decode(s->format, a), decode(s->format, b));
    }
    const bool first = joined(inst->key2, v[0], with);
    const bool second = joined(inst->key2, s->x2 ? v[1] : !v[0], with);
    const u32 one = yes[inst->type], high = s->x2   ? (second ? 0xffff0000 : 0)
                                            : first ? 0xffff0000
                                                    : 0;
    const u32 set = one & (high | (first ? 0xffff : 0));
    const bool same = s->op[3] == 'p'
                          ? (got->mask[0] >> i & 1) == first && (got->mask[1] >> i & 1) == second
                          : got->value[0][i] == set;
    if (!same)
        fail_msg("%s key %u key2 %u type %u: f(%llx, %llx) is wrong", op_info[inst->op].name,
                 inst->key, inst->key2, inst->type, (unsigned long long)in->value[0][i],
                 (unsigned long long)in->value[1][i]);
}

static void test_comparison(void **unused)
{
    static const u8 types[] = {TYPE_U32, TYPE_F32, TYPE_U16, TYPE_F16, TYPE_BF16};
    static const char *const names[] = {"setp", "set", NULL};
    u64 state = 22;
    for (enum op op = 0; op < OP_COUNT; op++) {
        struct shape s;
        if (!(op_info[op].flags & OPF_FLOAT) || !shape_of(op, &s) || !is_one_of(s.op, names))
            continue;
        for (unsigned round = 0; round < 16 * 16; round++) {
            struct inst inst = make_inst(op, true);
            inst.key = (u8)(round % 16);
            inst.key2 = round / 16 & 3;
            inst.mods = round / 64 & 1 ? MOD_FTZ : 0;
            inst.src[2].neg = round / 16 & 1;
            for (unsigned k = 0; k < 2 && round >= 128; k++) {
                inst.src[k].neg = round >> (4 + k) & 1;
                inst.src[k].abs = round >> k & 1;
            }
            inst.type = s.x2 ? (s.format == F16 ? TYPE_F16X2 : TYPE_BF16X2) : types[round % 5];
            struct operands in;
            struct results got;
            random_operands(&state, &in);
            const enum simd simd = round & 1 ? SIMD_PORTABLE : simd_best();
            run_lanes(&inst, lanes_resolve(&inst, simd, true), &in, LANES_FULL, 0, ALIAS_NONE,
                      &got);
            for (unsigned i = 0; i < LANES; i++)
                check_compare(&inst, &s, &in, &got, i);
        }
    }
}

static void test_slct(void **unused)
{
    u64 state = 23;
    for (unsigned round = 0; round < 64; round++) {
        struct inst inst = make_inst(round & 1 ? OP_slct_f32_b64 : OP_slct_f32_b32, true);
        inst.mods = round & 2 ? MOD_FTZ : 0;
        struct operands in;
        struct results got;
        random_operands(&state, &in);
        const enum simd simd = round & 4 ? SIMD_PORTABLE : simd_best();
        run_lanes(&inst, lanes_resolve(&inst, simd, true), &in, LANES_FULL, 0, ALIAS_NONE, &got);
        for (unsigned i = 0; i < LANES; i++) {
            const u64 bits = in.value[2][i] & 0xffffffff, cut = round & 1 ? ~0ull : 0xffffffff;
            const double c = decode(F32, inst.mods ? flush_bits(F32, bits) : bits);
            assert_int_equal(got.value[0][i], in.value[c >= 0 ? 0 : 1][i] & cut);
        }
    }
}

/* Atomics add by the same rules. */
static void test_atomics(void **unused)
{
    u64 state = 24;
    for (unsigned round = 0; round < 4000; round++) {
        const u64 a = random_value(&state), b = random_value(&state);
        const bool ftz = round & 1;
        struct inst inst = {.op = OP_add_f32, .mods = ftz ? MOD_FTZ : 0};
        const struct shape shapes[] = {{"add", F32}, {"add", F64}, {"add", F16}, {"add", BF16}};
        const u64 got[] = {atomic_add_f32((u32)a, (u32)b, ftz), atomic_add_f64(a, b),
                           atomic_add_f16((u16)a, (u16)b), atomic_add_bf16((u16)a, (u16)b)};
        for (unsigned k = 0; k < 4; k++) {
            const u64 bits[3] = {half_at(&shapes[k], a, 0), half_at(&shapes[k], b, 0), 0};
            if (k)
                inst.mods = 0;
            assert_int_equal(got[k], expected_one(&inst, &shapes[k], bits, 2, true));
        }
    }
}

/* Every float op has its reference: here, or in the tests of conversions and approximations. */
static void test_coverage(void **unused)
{
    static const char *const elsewhere[] = {
        /* approx.c */
        "rsqrt", "sin", "cos", "ex2", "lg2", "tanh",
        /* parts.c */
        "mullit", "fract", "ldexp", "frexp_exp", "frexp_mant", "class", "cvt_ubyte",
        "cvt_nearest_s32", "cvt_floor_s32", "cvt_pk_u8", "cvt_pknorm_s16", "cvt_pknorm_u16",
        "cvt_pkrtz_f16", "sin_turns", "cos_turns", "rcp_clamp", "rsqrt_clamp", "lg2_clamp",
        /* division.c */
        "div_scale", "div_fmas", "div_fixup", "trig_preop", NULL};
    static const char *const compared[] = {"setp", "set", NULL};
    for (enum op op = 0; op < OP_COUNT; op++) {
        struct shape s;
        if (!(op_info[op].flags & OPF_LANE) || !(op_info[op].flags & OPF_FLOAT) || op == OP_cvt ||
            op == OP_slct_f32_b32 || op == OP_slct_f32_b64 || op == OP_cvt_off_f32_s4)
            continue;
        if (!shape_of(op, &s) ||
            !(is_one_of(s.op, arithmetic_ops) || is_one_of(s.op, extreme_ops) ||
              is_one_of(s.op, sign_ops) || is_one_of(s.op, choosing_ops) ||
              is_one_of(s.op, compared) || is_one_of(s.op, elsewhere)))
            fail_msg("no reference for %s", op_info[op].name);
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_arithmetic), cmocka_unit_test(test_comparison),
        cmocka_unit_test(test_slct),       cmocka_unit_test(test_atomics),
        cmocka_unit_test(test_coverage),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
