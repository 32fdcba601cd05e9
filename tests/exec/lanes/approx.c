/*
 * Approximate ops against MPFR: inside the error bounds that the PTX manual states, and with its
 * special values exactly, with and without flushing.
 */
#include "formats.h"

struct approximation {
    enum op op;
    enum format format;
    int (*function)(mpfr_t, const mpfr_t, mpfr_rnd_t);
    double relative;  /* bound, 0 = none */
    double absolute;  /* bound, 0 = none; either suffices where both are given */
    double low, high; /* of the arguments' magnitude, as powers of two */
};

static int rsqrt(mpfr_t r, const mpfr_t x, mpfr_rnd_t mode)
{
    return mpfr_rec_sqrt(r, x, mode);
}
static int reciprocal(mpfr_t r, const mpfr_t x, mpfr_rnd_t mode)
{
    return mpfr_ui_div(r, 1, x, mode);
}

/* log2 of 2^-22.5 and so on as hexadecimal would hide the manual's numbers: exp2 at run time. */
static const struct approximation approximations[] = {
    {OP_rcp_f32, F32, reciprocal, -23, 0, -125, 125},
    {OP_sqrt_f32, F32, mpfr_sqrt, -23, 0, -148, 127},
    {OP_rsqrt_f32, F32, rsqrt, -22.9, 0, -148, 127},
    {OP_rsqrt_f64, F64, rsqrt, -51, 0, -1070, 1022},
    {OP_ex2_f32, F32, mpfr_exp2, -22.5, 0, -30, 6.9},
    {OP_lg2_f32, F32, mpfr_log2, -22, -22, -148, 127},
    {OP_sin_f32, F32, mpfr_sin, 0, -20.5, -40, 2.65},
    {OP_cos_f32, F32, mpfr_cos, 0, -20.5, -40, 2.65},
    {OP_sin_f32, F32, mpfr_sin, 0, -14.7, 2.65, 8.29},
    {OP_cos_f32, F32, mpfr_cos, 0, -14.7, 2.65, 8.29},
    {OP_tanh_f32, F32, mpfr_tanh, -11, 0, -148, 127},
    {OP_ex2_f16, F16, mpfr_exp2, -9.9, 0, -14, 3.8},
    {OP_ex2_bf16, BF16, mpfr_exp2, -7, 0, -30, 6.9},
    {OP_tanh_f16, F16, mpfr_tanh, 0, -10.987, -24, 15.9},
    {OP_tanh_bf16, BF16, mpfr_tanh, -8, 0, -120, 127},
    {OP_ex2_f16x2, F16, mpfr_exp2, -9.9, 0, -14, 3.8},
    {OP_ex2_bf16x2, BF16, mpfr_exp2, -7, 0, -30, 6.9},
    {OP_tanh_f16x2, F16, mpfr_tanh, 0, -10.987, -24, 15.9},
    {OP_tanh_bf16x2, BF16, mpfr_tanh, -8, 0, -120, 127},
};

static struct inst approx_inst(enum op op, u8 mods)
{
    struct inst inst = make_inst(op, true);
    inst.mods = MOD_APPROX | mods;
    return inst;
}

/* A number of the format whose magnitude is log-uniform in the range. */
static u64 argument(const struct approximation *a, u64 *state)
{
    const double at = a->low + (a->high - a->low) * ldexp((double)(random_next(state) >> 11), -53);
    const bool positive = strstr(op_info[a->op].name, "sqrt") || strstr(op_info[a->op].name, "lg2");
    mpfr_t x;
    mpfr_init2(x, 53);
    mpfr_set_d(x, exp2(at), MPFR_RNDN);
    if (!positive && random_next(state) & 1)
        mpfr_neg(x, x, MPFR_RNDN);
    const u64 bits = round_to(a->format, x, MPFR_RNDZ);
    mpfr_clear(x);
    return bits;
}

static void check_error(const struct approximation *a, u64 bits, u64 got)
{
    mpfr_t x, exact, error, bound;
    mpfr_inits2(200, x, exact, error, bound, (mpfr_ptr)0);
    mpfr_set_d(x, decode(a->format, bits), MPFR_RNDN);
    a->function(exact, x, MPFR_RNDN);
    mpfr_set_d(error, decode(a->format, got), MPFR_RNDN);
    mpfr_sub(error, error, exact, MPFR_RNDN);
    mpfr_abs(error, error, MPFR_RNDN);
    bool ok = false;
    if (a->absolute != 0)
        ok |= mpfr_cmp_d(error, exp2(a->absolute)) <= 0;
    if (a->relative != 0) {
        mpfr_mul_d(bound, exact, exp2(a->relative), MPFR_RNDN);
        ok |= mpfr_cmpabs(error, bound) <= 0;
        /* A subnormal result has its unit for an error bound. */
        ok |= mpfr_cmp_d(error, ldexp(0.5, formats[a->format].emin)) <= 0;
    }
    if (!ok)
        fail_msg("%s(%llx) is %llx: error %g", op_info[a->op].name, (unsigned long long)bits,
                 (unsigned long long)got, mpfr_get_d(error, MPFR_RNDN));
    mpfr_clears(x, exact, error, bound, (mpfr_ptr)0);
}

static void test_errors(void **unused)
{
    u64 state = 41;
    for (unsigned n = 0; n < ARRAY_LEN(approximations); n++) {
        const struct approximation *a = &approximations[n];
        const struct inst inst = approx_inst(a->op, 0);
        const bool x2 = strstr(op_info[a->op].name, "16x2");
        for (unsigned round = 0; round < 120; round++) {
            struct operands in = {0};
            struct results got;
            for (unsigned i = 0; i < LANES; i++) {
                in.value[0][i] = argument(a, &state);
                if (x2)
                    in.value[0][i] |= argument(a, &state) << 16;
            }
            const enum simd simd = round & 1 ? SIMD_PORTABLE : simd_best();
            run_lanes(&inst, lanes_resolve(&inst, simd, true), &in, LANES_FULL, 0, ALIAS_NONE,
                      &got);
            const u64 cut = x2 ? 0xffff : ~0ull;
            for (unsigned i = 0; i < LANES; i++) {
                check_error(a, in.value[0][i] & cut, got.value[0][i] & cut);
                if (x2)
                    check_error(a, in.value[0][i] >> 16, got.value[0][i] >> 16);
            }
        }
    }
}

/* Every half: the error bounds hold for all arguments, not only the sampled ones. */
static void test_all_halves(void **unused)
{
    static const enum op ops[] = {OP_ex2_f16, OP_tanh_f16, OP_ex2_bf16, OP_tanh_bf16};
    for (unsigned n = 0; n < ARRAY_LEN(approximations); n++)
        for (unsigned o = 0; o < ARRAY_LEN(ops); o++) {
            const struct approximation *a = &approximations[n];
            if (a->op != ops[o])
                continue;
            const struct inst inst = approx_inst(a->op, 0);
            lane_fn *fn = lanes_resolve(&inst, simd_best(), true);
            for (u32 first = 0; first < 0x10000; first += LANES) {
                struct operands in = {0};
                struct results got;
                for (unsigned i = 0; i < LANES; i++)
                    in.value[0][i] = first + i;
                run_lanes(&inst, fn, &in, LANES_FULL, 0, ALIAS_NONE, &got);
                for (unsigned i = 0; i < LANES; i++) {
                    const double x = decode(a->format, first + i),
                                 r = decode(a->format, got.value[0][i]);
                    if (isnan(x))
                        assert_int_equal(got.value[0][i], 0x7fff);
                    else if (!isinf(x) && !isinf(r))
                        check_error(a, first + i, got.value[0][i]);
                }
            }
        }
}

enum {
    ZERO = 0,
    NEG = 0x80000000,
    INF = 0x7f800000,
    NINF = (int)0xff800000,
    ONE = 0x3f800000,
    NONE = (int)0xbf800000,
    CANON = 0x7fffffff,
    TINY = 0x00012345,
    NTINY = (int)0x80012345
};

static void test_special_values(void **unused)
{
    /* Arguments and, per op, results; subnormals are checked with flushing, as the manual's tables.
     */
    static const u32 arguments[] = {NINF, NONE, NTINY,      NEG,       ZERO,
                                    TINY, INF,  0xffc00001, 0x7f800001};
    static const struct {
        enum op op;
        u32 results[9];
    } rows[] = {
        {OP_rcp_f32, {NEG, NONE, NINF, NINF, INF, INF, ZERO, CANON, CANON}},
        {OP_sqrt_f32, {CANON, CANON, NEG, NEG, ZERO, ZERO, INF, CANON, CANON}},
        {OP_rsqrt_f32, {CANON, CANON, NINF, NINF, INF, INF, ZERO, CANON, CANON}},
        {OP_lg2_f32, {CANON, CANON, NINF, NINF, NINF, NINF, INF, CANON, CANON}},
        {OP_ex2_f32, {ZERO, 0x3f000000, ONE, ONE, ONE, ONE, INF, CANON, CANON}},
        {OP_sin_f32, {CANON, 0xbf576aa4, NEG, NEG, ZERO, ZERO, CANON, CANON, CANON}},
        {OP_cos_f32, {CANON, 0x3f0a5140, ONE, ONE, ONE, ONE, CANON, CANON, CANON}},
        {OP_tanh_f32, {NONE, 0xbf42f7d6, NEG, NEG, ZERO, ZERO, ONE, CANON, CANON}},
    };
    for (unsigned n = 0; n < ARRAY_LEN(rows); n++)
        for (unsigned build = 0; build < 2; build++) {
            const struct inst inst = approx_inst(rows[n].op, MOD_FTZ);
            struct operands in = {0};
            struct results got;
            for (unsigned i = 0; i < ARRAY_LEN(arguments); i++)
                in.value[0][i] = arguments[i];
            run_lanes(&inst, lanes_resolve(&inst, build ? simd_best() : SIMD_PORTABLE, true), &in,
                      LANES_FULL, 0, ALIAS_NONE, &got);
            for (unsigned i = 0; i < ARRAY_LEN(arguments); i++)
                if (got.value[0][i] != rows[n].results[i])
                    fail_msg("%s(%x) is %x, not %x", op_info[rows[n].op].name, arguments[i],
                             (u32)got.value[0][i], rows[n].results[i]);
        }
}

static u32 divide(u32 a, u32 b, u8 key, u8 mods)
{
    struct inst inst = approx_inst(OP_div_f32, mods);
    inst.key = key;
    struct operands in = {0};
    struct results got;
    in.value[0][5] = a;
    in.value[1][5] = b;
    run_lanes(&inst, lanes_resolve(&inst, simd_best(), true), &in, 1 << 5, 0, ALIAS_NONE, &got);
    return (u32)got.value[0][5];
}

static void test_division(void **unused)
{
    u64 state = 42;
    assert_int_equal(divide(ONE, 0x7e800001, 0, 0), ZERO); /* beyond 2^126 */
    assert_int_equal(divide(ONE, 0xfe800001, 0, 0), NEG);
    assert_int_equal(divide(INF, 0x7e800001, 0, 0), CANON);
    assert_int_equal(divide(ONE, 0x7e800000, 0, 0), 0x00800000);
    assert_int_equal(divide(ONE, 0x7f000000, 1, 0), 0x00400000); /* .full */
    assert_int_equal(divide(ONE, 0x7f000000, 1, MOD_FTZ), ZERO);
    assert_int_equal(divide(ONE, INF, 0, 0), ZERO);
    assert_int_equal(divide(ONE, ZERO, 0, 0), INF);
    assert_int_equal(divide(ZERO, ZERO, 0, 0), CANON);
    for (unsigned round = 0; round < 2000; round++) {
        const u32 a = (u32)(random_next(&state) & 0x3fffffff) + 0x20000000;
        const u32 b = (u32)(random_next(&state) & 0x3fffffff) + 0x20000000;
        const double exact = decode(F32, a) / decode(F32, b);
        const double got = decode(F32, divide(a, b, 0, 0));
        assert_true(fabs(got - exact) <= 2 * ldexp(exact, -23));
    }
}

/* rcp.approx.ftz.f64 and rsqrt.approx.ftz.f64: upper words only, about 20 bits. */
static void test_gross(void **unused)
{
    u64 state = 43;
    for (unsigned round = 0; round < 400; round++) {
        const struct inst inst = approx_inst(round & 1 ? OP_rcp_f64 : OP_rsqrt_f64, MOD_FTZ);
        struct operands in;
        struct results got;
        random_operands(&state, &in);
        const enum simd simd = round & 2 ? SIMD_PORTABLE : simd_best();
        run_lanes(&inst, lanes_resolve(&inst, simd, true), &in, LANES_FULL, 0, ALIAS_NONE, &got);
        for (unsigned i = 0; i < LANES; i++) {
            const u64 upper = flush_bits(F64, in.value[0][i] & 0xffffffff00000000);
            const double x = decode(F64, in.value[0][i]), y = decode(F64, upper);
            const double exact = isnan(x) ? x : round & 1 ? 1 / y : 1 / sqrt(y);
            const double r = decode(F64, got.value[0][i]);
            assert_int_equal(got.value[0][i] & 0xffffffff, 0);
            if (isnan(exact))
                assert_int_equal(got.value[0][i], 0x7fffffff00000000);
            else if (isinf(exact) || fabs(exact) < 0x1p-1022)
                assert_true(isinf(exact) ? r == exact : r == 0);
            else
                assert_true(fabs(r - exact) <= ldexp(fabs(exact), -19));
        }
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_errors),         cmocka_unit_test(test_all_halves),
        cmocka_unit_test(test_special_values), cmocka_unit_test(test_division),
        cmocka_unit_test(test_gross),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
