/*
 * Approximate functions: the manual gives an error bound and a table of special inputs.
 *
 * A judge computes the true value by MPFR and holds the result to the bound. Where the manual gives
 * a relative error, a subnormal result may be off by as many units of the last place as the bound
 * would allow the smallest normal.
 */
#include <math.h>

#include "fp.h"
#include "references.h"

struct bound {
    double relative; /* of the true value */
    double absolute;
    double ulps;
};

static bool within(enum kind kind, bool ftz, u64 got, mpfr_t truth, struct bound b, u64 *want)
{
    u64 near = fp_store(kind, truth, true, R_N);
    *want = ftz ? fp_flush(kind, near) : near;
    if (got == *want)
        return true;
    if (fp_is_nan(kind, *want) || fp_is_nan(kind, got))
        return false;
    if (fp_is_infinite(kind, got)) /* rounding up at the top of the range */
        return near == (got & fp_sign_bit(kind)) + fp_largest(kind) && b.absolute == 0;
    mpfr_t error, limit;
    mpfr_inits2(FP_PRECISION, error, limit, (mpfr_ptr)0);
    fp_load(error, kind, got);
    mpfr_sub(error, error, truth, MPFR_RNDA);
    mpfr_abs(error, error, MPFR_RNDN);
    mpfr_mul_d(limit, truth, b.relative, MPFR_RNDN);
    mpfr_abs(limit, limit, MPFR_RNDN);
    bool good = mpfr_cmp(error, limit) <= 0 || mpfr_cmp_d(error, b.absolute) <= 0;
    double ulps = fp_ulps(kind, got, truth);
    double allowed = b.ulps;
    if (fp_is_subnormal(kind, near)) /* one rounding more than the normal range needs */
        allowed = fmax(allowed, ceil(b.relative * exp2(fp_mantissa(kind))));
    good = good || ulps <= allowed;
    if (ftz && fp_is_zero(kind, got)) /* either side of the smallest normal may be flushed */
        good = good || (near & ~fp_sign_bit(kind)) <= 1ull << fp_mantissa(kind);
    mpfr_clears(error, limit, (mpfr_ptr)0);
    return good;
}

static bool is_nan(enum kind kind, u64 got, u64 *want)
{
    *want = fp_nan(kind);
    return got == *want || (kind == K_F64 && fp_is_nan(kind, got));
}

static bool exactly(u64 got, u64 expected, u64 *want)
{
    *want = expected;
    return got == expected;
}

typedef int function(mpfr_t r, const mpfr_t x, mpfr_rnd_t round);

static bool judge_value(const struct form *f, function *fn, u64 s, u64 got, struct bound b,
                        u64 *want)
{
    enum kind kind = fp_element(f->type);
    mpfr_t x;
    mpfr_init2(x, FP_PRECISION);
    fp_load(x, kind, f->ftz ? fp_flush(kind, s) : s);
    fn(x, x, MPFR_RNDZ);
    bool special = mpfr_nan_p(x) || mpfr_inf_p(x) || mpfr_zero_p(x);
    bool good = special ? (mpfr_nan_p(x) ? is_nan(kind, got, want)
                                         : exactly(got, fp_store(kind, x, false, R_N), want))
                        : within(kind, f->ftz, got, x, b, want);
    mpfr_clear(x);
    return good;
}

/* a / b = a * (1 / b): 2 ulp for |b| in [2^-126, 2^126]; for |b| above, 0, or NaN for infinite a.
 */
static bool judge_div(const struct form *f, const u64 *s, u64 got, u64 *want, bool full)
{
    u64 a = f->ftz ? fp_flush(K_F32, s[0]) : s[0], b = f->ftz ? fp_flush(K_F32, s[1]) : s[1];
    u64 sign = (a ^ b) & 0x80000000, size = b & 0x7fffffff;
    if (!full && size > 0x7e800000 && size < 0x7f800000 && !fp_is_nan(K_F32, a))
        return fp_is_infinite(K_F32, a) ? is_nan(K_F32, got, want) : exactly(got, sign, want);
    mpfr_t x, y;
    mpfr_inits2(FP_PRECISION, x, y, (mpfr_ptr)0);
    fp_load(x, K_F32, a);
    fp_load(y, K_F32, b);
    mpfr_div(x, x, y, MPFR_RNDZ);
    bool special = mpfr_nan_p(x) || mpfr_inf_p(x) || mpfr_zero_p(x);
    bool good = special ? (mpfr_nan_p(x) ? is_nan(K_F32, got, want)
                                         : exactly(got, fp_store(K_F32, x, false, R_N), want))
                        : within(K_F32, f->ftz, got, x, (struct bound){.ulps = 2}, want);
    if (!full && fp_is_subnormal(K_F32, b)) /* the bound is not given: only no nonsense */
        good = good || !fp_is_nan(K_F32, got);
    mpfr_clears(x, y, (mpfr_ptr)0);
    return good;
}

bool judge_div_approx(const struct form *f, const u64 *s, u64 got, u64 *want)
{
    return judge_div(f, s, got, want, false);
}

bool judge_div_full(const struct form *f, const u64 *s, u64 got, u64 *want)
{
    return judge_div(f, s, got, want, true);
}

static int reciprocal(mpfr_t r, const mpfr_t x, mpfr_rnd_t round)
{
    return mpfr_ui_div(r, 1, x, round);
}

static int reciprocal_root(mpfr_t r, const mpfr_t x, mpfr_rnd_t round)
{
    if (mpfr_zero_p(x)) { /* MPFR gives +infinity for both zeros, the manual keeps the sign */
        mpfr_set_inf(r, mpfr_signbit(x) ? -1 : 1);
        return 0;
    }
    return mpfr_rec_sqrt(r, x, round);
}

bool judge_rcp(const struct form *f, const u64 *s, u64 got, u64 *want)
{
    return judge_value(f, reciprocal, s[0], got, (struct bound){.ulps = 1}, want);
}

bool judge_sqrt(const struct form *f, const u64 *s, u64 got, u64 *want)
{
    return judge_value(f, mpfr_sqrt, s[0], got, (struct bound){.relative = exp2(-23)}, want);
}

bool judge_rsqrt(const struct form *f, const u64 *s, u64 got, u64 *want)
{
    return judge_value(f, reciprocal_root, s[0], got, (struct bound){.relative = exp2(-22.9)},
                       want);
}

/* rsqrt.approx.f64: the manual gives no number; 2 ulp is what its emulation reaches. */
bool judge_rsqrt_f64(const struct form *f, const u64 *s, u64 got, u64 *want)
{
    return judge_value(f, reciprocal_root, s[0], got, (struct bound){.ulps = 2}, want);
}

/* .approx.ftz.f64: only the upper 32 bits of operand and result exist. */
static bool judge_gross(const struct form *f, function *fn, u64 s, u64 got, u64 *want)
{
    u64 upper = s & 0xffffffff00000000ull;
    if (fp_is_nan(K_F64, s)) /* also when the payload is all in the lower half */
        upper = 0x7ff8000000000000ull;
    bool good = judge_value(f, fn, upper, got, (struct bound){.relative = exp2(-19)}, want);
    return good && (fp_is_nan(K_F64, got) || (got & 0xffffffff) == 0);
}

bool judge_rcp_gross(const struct form *f, const u64 *s, u64 got, u64 *want)
{
    return judge_gross(f, reciprocal, s[0], got, want);
}

bool judge_rsqrt_gross(const struct form *f, const u64 *s, u64 got, u64 *want)
{
    return judge_gross(f, reciprocal_root, s[0], got, want);
}

/* 2^-20.5 in [-2pi, 2pi], 2^-14.7 in [-100pi, 100pi]; further out only a value in [-1, 1]. */
static bool judge_wave(const struct form *f, function *fn, const u64 *s, u64 got, u64 *want)
{
    mpfr_t x;
    mpfr_init2(x, FP_PRECISION);
    fp_load(x, K_F32, s[0]);
    double size = fabs(mpfr_get_d(x, MPFR_RNDN));
    mpfr_clear(x);
    struct bound b = {.absolute = size <= 2 * M_PI     ? exp2(-20.5)
                                  : size <= 100 * M_PI ? exp2(-14.7)
                                                       : 2.0};
    if (!judge_value(f, fn, s[0], got, b, want))
        return false;
    return !isfinite(size) || (got & 0x7fffffff) <= 0x3f800000;
}

bool judge_sin(const struct form *f, const u64 *s, u64 got, u64 *want)
{
    return judge_wave(f, mpfr_sin, s, got, want);
}

bool judge_cos(const struct form *f, const u64 *s, u64 got, u64 *want)
{
    return judge_wave(f, mpfr_cos, s, got, want);
}

/* 2^-22 absolute in (0.5, 2), relative outside. */
bool judge_lg2(const struct form *f, const u64 *s, u64 got, u64 *want)
{
    bool middle = s[0] > 0x3f000000 && s[0] < 0x40000000;
    struct bound b =
        middle ? (struct bound){.absolute = exp2(-22)} : (struct bound){.relative = exp2(-22)};
    return judge_value(f, mpfr_log2, s[0], got, b, want);
}

static bool judge_halves(const struct form *f, function *fn, const u64 *s, u64 got, struct bound b,
                         u64 *want)
{
    if (fp_element(f->type) == f->type)
        return judge_value(f, fn, s[0], got, b, want);
    u64 first, second;
    bool good = judge_value(f, fn, s[0] & 0xffff, got & 0xffff, b, &first);
    good &= judge_value(f, fn, s[0] >> 16, got >> 16, b, &second);
    *want = first | second << 16;
    return good;
}

bool judge_ex2(const struct form *f, const u64 *s, u64 got, u64 *want)
{
    enum kind kind = fp_element(f->type);
    struct bound b = kind == K_F32   ? (struct bound){.ulps = 2}
                     : kind == K_F16 ? (struct bound){.relative = exp2(-9.9)}
                                     : (struct bound){.relative = exp2(-7)};
    return judge_halves(f, mpfr_exp2, s, got, b, want);
}

bool judge_tanh(const struct form *f, const u64 *s, u64 got, u64 *want)
{
    enum kind kind = fp_element(f->type);
    struct bound b = kind == K_F32   ? (struct bound){.relative = exp2(-11)}
                     : kind == K_F16 ? (struct bound){.absolute = exp2(-10.987)}
                                     : (struct bound){.absolute = exp2(-8)};
    return judge_halves(f, mpfr_tanh, s, got, b, want);
}
