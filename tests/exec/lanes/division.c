/*
 * The steps of division: each against its definition in MPFR, and all together, in the order a
 * compiler puts them, against the exactly rounded quotient. The segments of 2 / pi against pi.
 */
#include "formats.h"

struct rows {
    u64 v[LANES];
};

/* One op on all lanes; `mask` is its mask source, *flags its mask result. */
static struct rows step(enum op op, const struct rows *a, const struct rows *b,
                        const struct rows *c, u32 mask, u32 *flags)
{
    const struct rows *in[] = {a, b, c};
    struct inst inst = make_inst(op, true);
    struct operands operands = {.mask = {mask, mask, mask, mask}};
    struct results got;
    for (unsigned k = 0; k < 3; k++)
        for (unsigned i = 0; in[k] && i < LANES; i++)
            operands.value[k][i] = in[k]->v[i];
    run_lanes(&inst, lanes_resolve(&inst, mask & 1 ? SIMD_PORTABLE : simd_best(), false), &operands,
              LANES_FULL, 0, ALIAS_NONE, &got);
    if (flags)
        *flags = got.mask[1];
    struct rows r;
    memcpy(r.v, got.value[0], sizeof r.v);
    return r;
}

/* A number of any exponent; now and then a special one. */
static u64 any_number(enum format format, u64 *state)
{
    const u64 r = random_next(state);
    const u64 special = random_value(state) & (format == F32 ? 0xffffffff : ~0ull);
    return random_next(state) % 8 == 0 ? special : r & (format == F32 ? 0xffffffff : ~0ull);
}

static u64 quotient(enum format format, u64 n, u64 d)
{
    const double x = decode(format, n), y = decode(format, d);
    const u64 bits[] = {n, d};
    if (isnan(x / y))
        return nan_of(format, bits, 2, false);
    mpfr_t r, q;
    mpfr_inits2(400, r, q, (mpfr_ptr)0);
    mpfr_set_d(q, y, MPFR_RNDN);
    mpfr_d_div(r, x, q, MPFR_RNDN);
    const u64 result = round_to(format, r, MPFR_RNDN);
    mpfr_clears(r, q, (mpfr_ptr)0);
    return result;
}

static struct rows negated(enum format format, struct rows a)
{
    for (unsigned i = 0; i < LANES; i++)
        a.v[i] ^= 1ull << (formats[format].bits - 1);
    return a;
}
static struct rows divide(enum format format, const struct rows *n, const struct rows *d)
{
    const bool wide = format == F64;
    const enum op scale = wide ? OP_div_scale_f64 : OP_div_scale_f32;
    const enum op fma = wide ? OP_fma_f64 : OP_fma_f32, mul = wide ? OP_mul_f64 : OP_mul_f32;
    u32 flags;
    struct rows one;
    for (unsigned i = 0; i < LANES; i++)
        one.v[i] = encode(format, 1.0);
    const struct rows sd = step(scale, d, d, n, 0, NULL), sn = step(scale, n, d, n, 0, &flags);
    const struct rows minus = negated(format, sd);
    struct rows r = step(wide ? OP_rcp_f64 : OP_rcp_f32, &sd, NULL, NULL, 0, NULL);
    for (unsigned k = 0; k < (wide ? 2u : 1u); k++) {
        const struct rows e = step(fma, &minus, &r, &one, 0, NULL);
        r = step(fma, &e, &r, &r, 0, NULL);
    }
    struct rows q = step(mul, &sn, &r, NULL, 0, NULL);
    struct rows e = step(fma, &minus, &q, &sn, 0, NULL);
    if (!wide) {
        q = step(fma, &e, &r, &q, 0, NULL);
        e = step(fma, &minus, &q, &sn, 0, NULL);
    }
    q = step(wide ? OP_div_fmas_f64 : OP_div_fmas_f32, &e, &r, &q, flags, NULL);
    return step(wide ? OP_div_fixup_f64 : OP_div_fixup_f32, &q, d, n, 0, NULL);
}
static void test_whole(void **unused)
{
    u64 state = 71;
    for (unsigned round = 0; round < 600; round++) {
        const enum format format = round & 1 ? F64 : F32;
        struct rows n, d;
        for (unsigned i = 0; i < LANES; i++) {
            n.v[i] = any_number(format, &state);
            d.v[i] = any_number(format, &state);
            if (i % 4 == 0) { /* quotients about the least numbers */
                const unsigned fraction = formats[format].precision - 1;
                const u64 field = n.v[i] >> fraction & (format == F64 ? 2047 : 255);
                const u64 bias = format == F64 ? 1022 : 126;
                d.v[i] = (d.v[i] & ((1ull << fraction) - 1)) | (field + bias - 2 + i) << fraction;
                d.v[i] &= format == F64 ? INT64_MAX : INT32_MAX;
            }
        }
        const struct rows q = divide(format, &n, &d);
        for (unsigned i = 0; i < LANES; i++)
            if (q.v[i] != quotient(format, n.v[i], d.v[i]))
                fail_msg("%s: %llx / %llx is %llx, not %llx", formats[format].name,
                         (unsigned long long)n.v[i], (unsigned long long)d.v[i],
                         (unsigned long long)q.v[i],
                         (unsigned long long)quotient(format, n.v[i], d.v[i]));
    }
}

/* Whether |n / d| is below the least normal number; n and d are finite and not 0. */
static bool is_small(enum format format, double n, double d)
{
    mpfr_t x, y;
    mpfr_inits2(64, x, y, (mpfr_ptr)0);
    mpfr_set_d(x, fabs(n), MPFR_RNDN);
    mpfr_set_d(y, fabs(d), MPFR_RNDN);
    mpfr_mul_2si(y, y, format == F64 ? -1022 : -126, MPFR_RNDN);
    const bool small = mpfr_less_p(x, y);
    mpfr_clears(x, y, (mpfr_ptr)0);
    return small;
}
static u64 scale_expected(enum format format, u64 a, u64 d, u64 n, bool *flag)
{
    const bool wide = format == F64;
    const unsigned fraction = formats[format].precision - 1;
    const i64 all = wide ? 2047 : 255;
    const i64 en = (i64)(n >> fraction) & all, ed = (i64)(d >> fraction) & all;
    const double x = decode(format, n), y = decode(format, d);
    const bool usual = isfinite(x) && isfinite(y);
    const bool reciprocal = isfinite(y) && is_small(format, 1, y);
    const bool small = usual && is_small(format, x, y);
    int up = 0;
    *flag = false;
    if (x == 0 || y == 0)
        return formats[format].default_nan;
    if (en - ed >= (wide ? 768 : 96))
        *flag = true, up = a == d;
    else if (ed == 0)
        up = 1;
    else if (reciprocal && small)
        *flag = true, up = -(a == d);
    else if (reciprocal)
        up = -1;
    else if (small)
        *flag = true, up = a == n;
    else if (en <= (wide ? 53 : 23))
        up = 1;
    if (is_nan(format, a))
        return nan_of(format, &a, 1, false);
    mpfr_t r;
    mpfr_init2(r, 64);
    mpfr_set_d(r, decode(format, a), MPFR_RNDN);
    mpfr_mul_2si(r, r, up * (wide ? 128 : 64), MPFR_RNDN);
    const u64 bits = round_to(format, r, MPFR_RNDN);
    mpfr_clear(r);
    return bits;
}
static void test_scale(void **unused)
{
    u64 state = 72;
    for (unsigned round = 0; round < 600; round++) {
        const enum format format = round & 1 ? F64 : F32;
        struct rows a, d, n;
        u32 flags;
        for (unsigned i = 0; i < LANES; i++) {
            d.v[i] = any_number(format, &state), n.v[i] = any_number(format, &state);
            a.v[i] = i % 3 == 0 ? n.v[i] : i % 3 == 1 ? d.v[i] : any_number(format, &state);
        }
        const struct rows r =
            step(round & 1 ? OP_div_scale_f64 : OP_div_scale_f32, &a, &d, &n, round >> 1, &flags);
        for (unsigned i = 0; i < LANES; i++) {
            bool flag;
            assert_int_equal(r.v[i], scale_expected(format, a.v[i], d.v[i], n.v[i], &flag));
            assert_int_equal(flags >> i & 1, flag);
        }
    }
}

/* (a * b + c) * 2^scale, rounded once. */
static u64 fmas_expected(const struct inst *inst, enum format format, const u64 *bits, bool undo)
{
    const bool wide = format == F64;
    const unsigned exponent =
        (unsigned)(bits[2] >> (formats[format].precision - 1)) & (wide ? 2047 : 255);
    const int scale = !undo                            ? 0
                      : exponent > (wide ? 1023 : 127) ? (wide ? 128 : 64)
                      : wide                           ? -128
                                                       : -64;
    mpfr_t a, b, c;
    mpfr_inits2(2400, a, b, c, (mpfr_ptr)0);
    mpfr_set_d(a, decode(format, bits[0]), MPFR_RNDN);
    mpfr_set_d(b, decode(format, bits[1]), MPFR_RNDN);
    mpfr_set_d(c, decode(format, bits[2]), MPFR_RNDN);
    mpfr_fma(a, a, b, c, mpfr_mode(inst->rounding)); /* exact, but for the sign of zero */
    mpfr_mul_2si(a, a, scale, MPFR_RNDN);
    const u64 r = mpfr_nan_p(a) ? nan_of(format, bits, 3, false)
                                : round_to(format, a, mpfr_mode(inst->rounding));
    mpfr_clears(a, b, c, (mpfr_ptr)0);
    return r;
}
static u64 fixup_expected(const struct inst *inst, enum format format, const u64 *bits)
{
    const bool wide = format == F64;
    const u64 sign = 1ull << (formats[format].bits - 1), negative = (bits[1] ^ bits[2]) & sign;
    const double d = fabs(decode(format, bits[1])), n = fabs(decode(format, bits[2]));
    const unsigned fraction = formats[format].precision - 1;
    const i64 all = wide ? 2047 : 255;
    const i64 apart = ((i64)(bits[2] >> fraction) & all) - ((i64)(bits[1] >> fraction) & all);
    const u64 nans[] = {bits[2], bits[1]};
    if (isnan(n / d))
        return nan_of(format, nans, 2, false);
    if (d == 0 || isinf(n))
        return negative | formats[format].infinity;
    if (n == 0 || isinf(d))
        return negative;
    if (apart < (wide ? -1075 : -150))
        return negative | (inst->rounding == (negative ? ROUND_DOWN : ROUND_UP));
    if (isfinite(decode(format, bits[0])))
        return negative | (bits[0] & ~sign);
    return negative | formats[format].infinity; /* the steps overflew */
}
static void test_last_steps(void **unused)
{
    static const enum op ops[] = {OP_div_fmas_f32, OP_div_fmas_f64, OP_div_fixup_f32,
                                  OP_div_fixup_f64};
    u64 state = 73;
    for (unsigned round = 0; round < 800; round++) {
        const enum format format = round & 1 ? F64 : F32;
        struct inst inst = make_inst(ops[round & 3], true);
        inst.rounding = round >> 3 & 3;
        struct operands in;
        struct results got;
        random_operands(&state, &in);
        for (unsigned i = 0; i < LANES; i += 2)
            for (unsigned k = 0; k < 3; k++)
                in.value[k][i] = any_number(format, &state);
        if (round >> 6 & 1)
            in.mask[3] = 0;
        lane_fn *fn = lanes_resolve(&inst, round & 4 ? SIMD_PORTABLE : simd_best(), false);
        run_lanes(&inst, fn, &in, LANES_FULL, 0, ALIAS_NONE, &got);
        for (unsigned i = 0; i < LANES; i++) {
            const u64 cut = format == F64 ? ~0ull : 0xffffffff;
            const u64 bits[] = {in.value[0][i] & cut, in.value[1][i] & cut, in.value[2][i] & cut};
            const u64 expected = round & 2
                                     ? fixup_expected(&inst, format, bits)
                                     : fmas_expected(&inst, format, bits, in.mask[3] >> i & 1);
            if (got.value[0][i] != expected)
                fail_msg("%s rounding %u: f(%llx, %llx, %llx; %u) is %llx, not %llx",
                         op_info[inst.op].name, inst.rounding, (unsigned long long)bits[0],
                         (unsigned long long)bits[1], (unsigned long long)bits[2],
                         in.mask[3] >> i & 1, (unsigned long long)got.value[0][i],
                         (unsigned long long)expected);
        }
    }
}

static u64 segment_expected(u64 a, u64 b, mpfr_rnd_t mode)
{
    const i64 exponent = (i64)(a >> 52 & 2047), scale = exponent >= 1968 ? 128 : 0;
    const i64 from = (i64)(b & 31) * 53 + (exponent > 1077 ? exponent - 1077 : 0);
    mpfr_t x, whole;
    mpfr_inits2(1400, x, whole, (mpfr_ptr)0);
    mpfr_const_pi(x, MPFR_RNDN);
    mpfr_ui_div(x, 2, x, MPFR_RNDN);
    mpfr_mul_2ui(x, x, 1201, MPFR_RNDN); /* no more bits than these are known to the hardware */
    mpfr_rint(x, x, MPFR_RNDZ);
    mpfr_mul_2si(x, x, (long)from - 1201, MPFR_RNDN);
    mpfr_frac(x, x, MPFR_RNDN);
    mpfr_mul_2ui(x, x, 53, MPFR_RNDN);
    mpfr_rint(whole, x, MPFR_RNDZ);
    mpfr_mul_2si(whole, whole, (long)(-53 - from + scale), MPFR_RNDN);
    const u64 r = round_to(F64, whole, mode);
    mpfr_clears(x, whole, (mpfr_ptr)0);
    return r;
}
static void test_segments(void **unused)
{
    u64 state = 74;
    for (unsigned round = 0; round < 200; round++) {
        struct inst inst = make_inst(OP_trig_preop_f64, true);
        inst.rounding = round >> 1 & 3;
        struct operands in;
        struct results got;
        random_operands(&state, &in);
        for (unsigned i = 0; i < LANES; i++)
            in.value[1][i] = random_next(&state) % 40;
        lane_fn *fn = lanes_resolve(&inst, round & 1 ? SIMD_PORTABLE : simd_best(), false);
        run_lanes(&inst, fn, &in, LANES_FULL, 0, ALIAS_NONE, &got);
        for (unsigned i = 0; i < LANES; i++)
            assert_int_equal(got.value[0][i], segment_expected(in.value[0][i], in.value[1][i],
                                                               mpfr_mode(inst.rounding)));
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_whole),
        cmocka_unit_test(test_scale),
        cmocka_unit_test(test_last_steps),
        cmocka_unit_test(test_segments),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
