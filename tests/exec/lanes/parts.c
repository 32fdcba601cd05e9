/*
 * Fractions, exponents, classes, packing and clamped functions against their definition on
 * numbers: MPFR where something is rounded, C's own functions on doubles elsewhere.
 */
#include "formats.h"

struct sample {
    const struct inst *inst;
    enum format format;
    u64 in[3]; /* bits of the operands, cut to their width */
    bool canonical;
};

static double number(const struct sample *s, unsigned k)
{
    return decode(s->format, s->in[k]);
}
static u64 nan_result(const struct sample *s, unsigned count)
{
    return nan_of(s->format, s->in, count, s->canonical);
}
/* x * 2^power in the sample's format. */
static u64 rounded(const struct sample *s, double x, i64 power)
{
    mpfr_t r;
    mpfr_init2(r, 64);
    mpfr_set_d(r, x, MPFR_RNDN);
    mpfr_mul_2si(r, r, (long)power, MPFR_RNDN);
    const u64 bits = round_to(s->format, r, mpfr_mode(s->inst->rounding));
    mpfr_clear(r);
    return bits;
}

static u64 fraction(const struct sample *s)
{
    const double x = number(s, 0);
    if (isnan(x) || isinf(x))
        return nan_result(s, 1);
    mpfr_t r;
    mpfr_init2(r, 2400);
    mpfr_set_d(r, x, MPFR_RNDN);
    mpfr_sub_d(r, r, floor(x), MPFR_RNDN);
    if (mpfr_zero_p(r))
        mpfr_set_zero(r, s->inst->rounding == ROUND_DOWN ? -1 : 1);
    const u64 bits = round_to(s->format, r, mpfr_mode(s->inst->rounding));
    mpfr_clear(r);
    return bits;
}
static u64 load_exponent(const struct sample *s)
{
    const double x = number(s, 0);
    const i32 power = (i32)s->in[1];
    if (isnan(x))
        return nan_result(s, 1);
    return rounded(s, x, power > 5000 ? 5000 : power < -5000 ? -5000 : power);
}
static u64 exponent_of(const struct sample *s)
{
    const double x = number(s, 0);
    int e = 0;
    if (isfinite(x))
        frexp(x, &e);
    return (u32)e;
}
static u64 mantissa(const struct sample *s)
{
    const double x = number(s, 0);
    int e;
    return isnan(x) ? nan_result(s, 1) : isinf(x) ? s->in[0] : encode(s->format, frexp(x, &e));
}
static u64 lit(const struct sample *s)
{
    const double a = number(s, 0), b = number(s, 1), c = number(s, 2);
    if (!(b > -0x1.fffffep127) || !(c > 0))
        return 0xff7fffff;
    if (a == 0 || b == 0)
        return 0;
    return isnan(a * b) ? nan_result(s, 2) : rounded(s, a * b, 0); /* exact in double */
}

static double integral(double x, enum rounding rounding)
{
    return rounding == ROUND_ZERO   ? trunc(x)
           : rounding == ROUND_DOWN ? floor(x)
           : rounding == ROUND_UP   ? ceil(x)
                                    : nearbyint(x);
}
static double clamped(double x, double low, double high)
{
    return isnan(x) ? 0 : x < low ? low : x > high ? high : x;
}
static u64 unsigned_byte(const struct sample *s)
{
    return encode(F32, (double)(s->in[0] >> 8 * (s->inst->key & 3) & 255));
}
static u64 sixteenths(const struct sample *s)
{
    const int v = (int)(s->in[0] & 15);
    return encode(F32, (v < 8 ? v : v - 16) / 16.0);
}
static u64 nearest(const struct sample *s)
{
    const double x = number(s, 0), low = floor(x);
    return (u32)(i32)clamped(x - low >= 0.5 ? low + 1 : low, -0x1p31, 0x1p31 - 1);
}
static u64 floored(const struct sample *s)
{
    return (u32)(i32)clamped(floor(number(s, 0)), -0x1p31, 0x1p31 - 1);
}
static u64 insert_byte(const struct sample *s)
{
    const u64 byte = (u64)clamped(integral(number(s, 0), s->inst->rounding), 0, 255);
    const unsigned at = 8 * (s->in[1] & 3);
    return (s->in[2] & ~(255ull << at)) | byte << at;
}
static u64 normalised(const struct sample *s, double low, double high)
{
    u64 r = 0;
    for (unsigned k = 0; k < 2; k++)
        r |= ((u64)(i64)nearbyint(clamped(number(s, k) * high, low, high)) & 0xffff) << 16 * k;
    return r;
}
static u64 signed_normalised(const struct sample *s)
{
    return normalised(s, -32767, 32767);
}
static u64 unsigned_normalised(const struct sample *s)
{
    return normalised(s, 0, 65535);
}
static u64 halves(const struct sample *s)
{
    u64 r = 0;
    for (unsigned k = 0; k < 2; k++) {
        const u64 sign = s->in[k] >> 16 & 0x8000;
        const u64 nan = s->canonical ? 0x7fff : sign | 0x7e00 | (s->in[k] >> 13 & 0x1ff);
        mpfr_t x;
        mpfr_init2(x, 64);
        mpfr_set_d(x, number(s, k), MPFR_RNDN);
        r |= (is_nan(F32, s->in[k]) ? nan : round_to(F16, x, MPFR_RNDZ)) << 16 * k;
        mpfr_clear(x);
    }
    return r;
}

static const struct {
    enum op op;
    enum format format;
    u64 (*reference)(const struct sample *s);
    bool rounds;
} rows[] = {
    {OP_fract_f32, F32, fraction, true},
    {OP_fract_f64, F64, fraction, true},
    {OP_ldexp_f32, F32, load_exponent, true},
    {OP_ldexp_f64, F64, load_exponent, true},
    {OP_frexp_exp_f32, F32, exponent_of, false},
    {OP_frexp_exp_f64, F64, exponent_of, false},
    {OP_frexp_mant_f32, F32, mantissa, false},
    {OP_frexp_mant_f64, F64, mantissa, false},
    {OP_mullit_f32, F32, lit, true},
    {OP_cvt_ubyte_f32, F32, unsigned_byte, false},
    {OP_cvt_off_f32_s4, F32, sixteenths, false},
    {OP_cvt_nearest_s32_f32, F32, nearest, false},
    {OP_cvt_floor_s32_f32, F32, floored, false},
    {OP_cvt_pk_u8_f32, F32, insert_byte, true},
    {OP_cvt_pknorm_s16_f32, F32, signed_normalised, false},
    {OP_cvt_pknorm_u16_f32, F32, unsigned_normalised, false},
    {OP_cvt_pkrtz_f16_f32, F32, halves, false},
};

static u64 cut(u64 value, char kind)
{
    return kind == 'p' ? value : value & 0xffffffff;
}

static void check_row(unsigned n, unsigned round, u64 *state)
{
    struct inst inst = make_inst(rows[n].op, true);
    struct operands in;
    struct results got;
    inst.rounding = rows[n].rounds ? round >> 2 & 3 : ROUND_NEAREST;
    inst.key = round >> 4 & 3;
    const bool canonical = round >> 1 & 1;
    const enum simd simd = round & 1 ? SIMD_PORTABLE : simd_best();
    random_operands(state, &in);
    for (unsigned i = 0; i < LANES; i++) /* numbers near the limits of bytes and halves */
        if (random_next(state) % 4 == 0)
            in.value[0][i] = encode(F32, (float)(ldexp((double)(random_next(state) % 1024), -1)));
    run_lanes(&inst, lanes_resolve(&inst, simd, canonical), &in, LANES_FULL, 0, ALIAS_NONE, &got);
    for (unsigned i = 0; i < LANES; i++) {
        struct sample s = {&inst, rows[n].format, {0}, canonical};
        for (unsigned k = 0; k < 3; k++)
            s.in[k] = cut(in.value[k][i], source_kind(&inst, k));
        const u64 expected = rows[n].reference(&s);
        if (got.value[0][i] != expected)
            fail_msg("%s rounding %u canonical %d simd %d: f(%llx, %llx, %llx) is %llx, not %llx",
                     op_info[inst.op].name, inst.rounding, canonical, simd,
                     (unsigned long long)s.in[0], (unsigned long long)s.in[1],
                     (unsigned long long)s.in[2], (unsigned long long)got.value[0][i],
                     (unsigned long long)expected);
    }
}
static void test_rows(void **unused)
{
    u64 state = 61;
    for (unsigned n = 0; n < ARRAY_LEN(rows); n++)
        for (unsigned round = 0; round < 256; round++)
            check_row(n, round, &state);
}

/* Powers across the whole range of exponents, which random words rarely hit. */
static void test_powers(void **unused)
{
    u64 state = 62;
    for (unsigned round = 0; round < 256; round++) {
        const enum format format = round & 1 ? F64 : F32;
        struct inst inst = make_inst(round & 1 ? OP_ldexp_f64 : OP_ldexp_f32, true);
        inst.rounding = round >> 2 & 3;
        struct operands in;
        struct results got;
        random_operands(&state, &in);
        for (unsigned i = 0; i < LANES; i++)
            in.value[1][i] = random_next(&state) % 4400 - 2200;
        lane_fn *fn = lanes_resolve(&inst, round & 2 ? SIMD_PORTABLE : simd_best(), false);
        run_lanes(&inst, fn, &in, LANES_FULL, 0, ALIAS_FIRST, &got);
        for (unsigned i = 0; i < LANES; i++) {
            const struct sample s = {
                &inst, format, {cut(in.value[0][i], round & 1 ? 'p' : 'w'), in.value[1][i]}, false};
            assert_int_equal(got.value[0][i], load_exponent(&s));
        }
    }
}

static unsigned class_of(enum format format, u64 bits)
{
    const double x = decode(format, bits);
    const u64 least_normal = 1ull << (formats[format].precision - 1);
    if (isnan(x))
        return bits & formats[format].quiet ? 1 : 0;
    const bool negative = signbit(x);
    const bool subnormal = x != 0 && fabs(x) < decode(format, least_normal);
    const unsigned size = isinf(x) ? 0 : x == 0 ? 3 : subnormal ? 2 : 1;
    return negative ? 2 + size : 9 - size;
}
static void test_classes(void **unused)
{
    u64 state = 63;
    for (unsigned round = 0; round < 256; round++) {
        const enum format format = round & 1 ? F64 : F32;
        struct inst inst = make_inst(round & 1 ? OP_class_f64 : OP_class_f32, true);
        inst.src[0].neg = round >> 2 & 1, inst.src[0].abs = round >> 3 & 1;
        inst.mods = round & 16 ? MOD_SAT : 0; /* nothing of it applies */
        struct operands in;
        struct results got;
        random_operands(&state, &in);
        lane_fn *fn = lanes_resolve(&inst, round & 2 ? SIMD_PORTABLE : simd_best(), false);
        run_lanes(&inst, fn, &in, LANES_FULL, 0, ALIAS_NONE, &got);
        for (unsigned i = 0; i < LANES; i++) {
            u64 bits = cut(in.value[0][i], round & 1 ? 'p' : 'w');
            const u64 sign = 1ull << (formats[format].bits - 1);
            bits = inst.src[0].abs ? bits & ~sign : bits;
            bits = inst.src[0].neg ? bits ^ sign : bits;
            assert_int_equal(got.mask[0] >> i & 1, in.value[1][i] >> class_of(format, bits) & 1);
        }
    }
}

/* The clamped functions are the plain ones but for infinities. */
static void test_clamped(void **unused)
{
    static const struct {
        enum op clamped, plain;
        enum format format;
    } pairs[] = {{OP_rcp_clamp_f32, OP_rcp_f32, F32},
                 {OP_rcp_clamp_f64, OP_rcp_f64, F64},
                 {OP_rsqrt_clamp_f32, OP_rsqrt_f32, F32},
                 {OP_rsqrt_clamp_f64, OP_rsqrt_f64, F64},
                 {OP_lg2_clamp_f32, OP_lg2_f32, F32}};
    u64 state = 64;
    for (unsigned round = 0; round < 40 * ARRAY_LEN(pairs); round++) {
        const unsigned n = round % ARRAY_LEN(pairs);
        struct inst inst = make_inst(pairs[n].clamped, true),
                    plain = make_inst(pairs[n].plain, true);
        inst.key = round / ARRAY_LEN(pairs) & 1;
        const enum simd simd = round / ARRAY_LEN(pairs) & 2 ? SIMD_PORTABLE : simd_best();
        const struct format_info *f = &formats[pairs[n].format];
        struct operands in;
        struct results got, expected;
        random_operands(&state, &in);
        run_lanes(&inst, lanes_resolve(&inst, simd, false), &in, LANES_FULL, 0, ALIAS_NONE, &got);
        run_lanes(&plain, lanes_resolve(&plain, simd, false), &in, LANES_FULL, 0, ALIAS_NONE,
                  &expected);
        for (unsigned i = 0; i < LANES; i++) {
            u64 e = expected.value[0][i];
            const u64 sign = e & 1ull << (f->bits - 1);
            const bool kept = inst.op == OP_lg2_clamp_f32 && !sign; /* of infinity */
            if ((e ^ sign) == f->infinity && !kept)
                e = sign | (inst.key ? 0 : f->infinity - 1);
            assert_int_equal(got.value[0][i], e);
        }
    }
}

/* sin and cos of turns: absolute error in the documented range, and beyond it. */
static void check_turn(bool cosine, u64 bits, u64 got)
{
    const double x = decode(F32, bits), r = decode(F32, got);
    if (isnan(x) || isinf(x)) {
        assert_int_equal(got, nan_of(F32, &bits, 1, false));
        return;
    }
    mpfr_t angle, exact;
    mpfr_inits2(300, angle, exact, (mpfr_ptr)0);
    mpfr_const_pi(angle, MPFR_RNDN);
    mpfr_mul_d(angle, angle, fabs(x) > 256 ? 0 : 2 * x, MPFR_RNDN);
    (cosine ? mpfr_cos : mpfr_sin)(exact, angle, MPFR_RNDN);
    mpfr_sub_d(exact, exact, r, MPFR_RNDN);
    if (fabs(mpfr_get_d(exact, MPFR_RNDN)) > 0x1p-24)
        fail_msg("%s of %g turns is %g", cosine ? "cos" : "sin", x, r);
    mpfr_clears(angle, exact, (mpfr_ptr)0);
}
static void test_turns(void **unused)
{
    u64 state = 65;
    for (unsigned round = 0; round < 400; round++) {
        const struct inst inst = make_inst(round & 1 ? OP_cos_turns_f32 : OP_sin_turns_f32, true);
        struct operands in;
        struct results got;
        random_operands(&state, &in);
        for (unsigned i = 0; i < LANES; i += 2)
            in.value[0][i] = (u32)(random_next(&state) & 0x80ffffff) | 0x3f000000u |
                             (u32)(random_next(&state) % 10) << 23;
        in.value[0][1] = 0x43800000, in.value[0][3] = 0x43800001;
        lane_fn *fn = lanes_resolve(&inst, round & 2 ? SIMD_PORTABLE : simd_best(), false);
        run_lanes(&inst, fn, &in, LANES_FULL, 0, ALIAS_NONE, &got);
        for (unsigned i = 0; i < LANES; i++)
            check_turn(round & 1, in.value[0][i] & 0xffffffff, got.value[0][i]);
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_rows),    cmocka_unit_test(test_powers),
        cmocka_unit_test(test_classes), cmocka_unit_test(test_clamped),
        cmocka_unit_test(test_turns),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
