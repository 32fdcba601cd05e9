#include "reference.h"

#include <limits.h>
#include <math.h>

enum {
    /* Far more than twice the digits of a double, so that rounding them does not count. */
    BITS = 192,
    /* Enough for any product of two doubles plus a double, exactly. */
    EXACT_BITS = 4400
};

void expected_init(struct expected *expected)
{
    mpfr_inits2(EXACT_BITS, expected->value, expected->second, (mpfr_ptr)NULL);
}

void expected_clear(struct expected *expected)
{
    mpfr_clears(expected->value, expected->second, (mpfr_ptr)NULL);
}

#define BEGIN()                                                       \
    mpfr_t x, y;                                                      \
    mpfr_init2(x, 53), mpfr_init2(y, 53);                             \
    mpfr_set_d(x, in->x, MPFR_RNDN), mpfr_set_d(y, in->y, MPFR_RNDN); \
    mpfr_set_prec(out->value, BITS), mpfr_set_prec(out->second, BITS)
#define END() mpfr_clear(x), mpfr_clear(y)

#define ONE(name)                                                     \
    void ref_##name(struct expected *out, const struct arguments *in) \
    {                                                                 \
        BEGIN();                                                      \
        mpfr_##name(out->value, x, MPFR_RNDN);                        \
        END();                                                        \
    }
#define ROUNDING(name)                                                \
    void ref_##name(struct expected *out, const struct arguments *in) \
    {                                                                 \
        BEGIN();                                                      \
        mpfr_##name(out->value, x);                                   \
        END();                                                        \
    }
#define TWO(name)                                                     \
    void ref_##name(struct expected *out, const struct arguments *in) \
    {                                                                 \
        BEGIN();                                                      \
        mpfr_##name(out->value, x, y, MPFR_RNDN);                     \
        END();                                                        \
    }
/* Sums and products have many digits. */
#define TWO_EXACT(name)                                               \
    void ref_##name(struct expected *out, const struct arguments *in) \
    {                                                                 \
        BEGIN();                                                      \
        mpfr_set_prec(out->value, EXACT_BITS);                        \
        mpfr_##name(out->value, x, y, MPFR_RNDN);                     \
        END();                                                        \
    }
ONE(abs)
ONE(acos)
ONE(acosh)
ONE(acospi)
ONE(asin)
ONE(asinh)
ONE(asinpi)
ONE(atan)
ONE(atanh)
ONE(atanpi)
ONE(cbrt)
ONE(cos)
ONE(cosh)
ONE(cospi)
ONE(erf)
ONE(erfc)
ONE(exp)
ONE(exp10)
ONE(exp2)
ONE(expm1)
ONE(log)
ONE(log10)
ONE(log1p)
ONE(log2)
ONE(sin)
ONE(sinh)
ONE(sinpi)
ONE(sqrt)
ONE(tan)
ONE(tanh)
ONE(tanpi)
ROUNDING(ceil)
ROUNDING(floor)
ROUNDING(round)
ROUNDING(trunc)
TWO(atan2)
TWO(atan2pi)
TWO(div)
TWO(fmod)
TWO(hypot)
TWO(max)
TWO(min)
TWO(pow)
TWO(remainder)
TWO_EXACT(add)
TWO_EXACT(mul)
TWO_EXACT(sub)

void ref_copysign(struct expected *out, const struct arguments *in)
{
    mpfr_set_prec(out->value, BITS);
    mpfr_set_d(out->value, copysign(in->x, in->y), MPFR_RNDN); /* a NaN has a sign here */
}

void ref_powr(struct expected *out, const struct arguments *in)
{
    BEGIN();
    mpfr_powr(out->value, x, y, MPFR_RNDN);
    if (isnan(in->y)) /* also of 1, unlike pow */
        mpfr_set_nan(out->value);
    END();
}

void ref_gamma(struct expected *out, const struct arguments *in)
{
    BEGIN();
    /* Beyond these it is 0, nan or infinite, and takes MPFR long. */
    if (in->x < -2000 && isfinite(in->x)) {
        if (floor(in->x) == in->x)
            mpfr_set_nan(out->value);
        else
            mpfr_set_zero(out->value, fmod(floor(in->x), 2) == 0 ? 1 : -1);
    } else {
        mpfr_gamma(out->value, x, MPFR_RNDN);
    }
    END();
}

void ref_lgamma(struct expected *out, const struct arguments *in)
{
    BEGIN();
    int sign = 0;
    mpfr_lgamma(out->value, &sign, x, MPFR_RNDN);
    out->integer = sign;
    /* A pole has no sign. */
    out->any_integer = !isfinite(in->x) || (in->x <= 0 && floor(in->x) == in->x);
    END();
}

void ref_recip(struct expected *out, const struct arguments *in)
{
    BEGIN();
    mpfr_ui_div(out->value, 1, x, MPFR_RNDN);
    END();
}

void ref_rsqrt(struct expected *out, const struct arguments *in)
{
    BEGIN();
    mpfr_rec_sqrt(out->value, x, MPFR_RNDN);
    if (in->x == 0 && signbit(in->x)) /* as C99's 1 / sqrt(x) */
        mpfr_set_inf(out->value, -1);
    END();
}

void ref_rint(struct expected *out, const struct arguments *in)
{
    BEGIN();
    mpfr_rint(out->value, x, MPFR_RNDN);
    END();
}

void ref_dim(struct expected *out, const struct arguments *in)
{
    BEGIN();
    mpfr_set_prec(out->value, EXACT_BITS);
    mpfr_dim(out->value, x, y, MPFR_RNDN);
    END();
}

void ref_fma(struct expected *out, const struct arguments *in)
{
    BEGIN();
    mpfr_t z;
    mpfr_init2(z, 53);
    mpfr_set_d(z, in->z, MPFR_RNDN);
    mpfr_set_prec(out->value, EXACT_BITS);
    mpfr_fma(out->value, x, y, z, MPFR_RNDN);
    mpfr_clear(z);
    END();
}

void ref_fract(struct expected *out, const struct arguments *in)
{
    BEGIN();
    mpfr_floor(out->second, x);
    mpfr_set_prec(out->value, EXACT_BITS);
    mpfr_sub(out->value, x, out->second, MPFR_RNDN);
    if (isinf(in->x) || in->x == 0)
        mpfr_set_zero(out->value, signbit(in->x) ? -1 : 1);
    /* The largest number below 1. */
    double top = in->is_double ? 0x1.fffffffffffffp-1 : 0x1.fffffep-1;
    if (mpfr_cmp_d(out->value, top) > 0)
        mpfr_set_d(out->value, top, MPFR_RNDN);
    END();
}

void ref_frexp(struct expected *out, const struct arguments *in)
{
    BEGIN();
    mpfr_exp_t exponent = 0;
    mpfr_frexp(&exponent, out->value, x, MPFR_RNDN);
    if (!isfinite(in->x))
        mpfr_set(out->value, x, MPFR_RNDN);
    out->integer = (int)exponent;
    out->any_integer = !isfinite(in->x);
    END();
}

void ref_ilogb(struct expected *out, const struct arguments *in)
{
    BEGIN();
    if (mpfr_regular_p(x))
        out->integer = (int)mpfr_get_exp(x) - 1;
    else /* what the compiler's FP_ILOGB0 and FP_ILOGBNAN are */
        out->integer = mpfr_zero_p(x) ? INT_MIN : INT_MAX;
    out->any_integer = false;
    END();
}

void ref_logb(struct expected *out, const struct arguments *in)
{
    BEGIN();
    if (mpfr_regular_p(x))
        mpfr_set_si(out->value, mpfr_get_exp(x) - 1, MPFR_RNDN);
    else if (mpfr_zero_p(x))
        mpfr_set_inf(out->value, -1);
    else
        mpfr_abs(out->value, x, MPFR_RNDN);
    END();
}

void ref_ldexp(struct expected *out, const struct arguments *in)
{
    BEGIN();
    mpfr_mul_2si(out->value, x, in->m, MPFR_RNDN);
    END();
}

static void by_magnitude(struct expected *out, const struct arguments *in, bool larger)
{
    BEGIN();
    double a = fabs(in->x), b = fabs(in->y);
    if (a != b && !isnan(a) && !isnan(b))
        mpfr_set(out->value, (a > b) == larger ? x : y, MPFR_RNDN);
    else if (larger)
        mpfr_max(out->value, x, y, MPFR_RNDN);
    else
        mpfr_min(out->value, x, y, MPFR_RNDN);
    END();
}

void ref_maxmag(struct expected *out, const struct arguments *in)
{
    by_magnitude(out, in, true);
}

void ref_minmag(struct expected *out, const struct arguments *in)
{
    by_magnitude(out, in, false);
}

void ref_modf(struct expected *out, const struct arguments *in)
{
    BEGIN();
    mpfr_modf(out->second, out->value, x, MPFR_RNDN);
    END();
}

void ref_nextafter(struct expected *out, const struct arguments *in)
{
    BEGIN();
    double next =
        in->is_double ? nextafter(in->x, in->y) : (double)nextafterf((float)in->x, (float)in->y);
    mpfr_set_d(out->value, next, MPFR_RNDN);
    END();
}

void ref_pown(struct expected *out, const struct arguments *in)
{
    BEGIN();
    mpfr_pow_si(out->value, x, in->m, MPFR_RNDN);
    END();
}

void ref_rootn(struct expected *out, const struct arguments *in)
{
    BEGIN();
    mpfr_rootn_si(out->value, x, in->m, MPFR_RNDN);
    END();
}

void ref_remquo(struct expected *out, const struct arguments *in)
{
    BEGIN();
    mpfr_remainder(out->value, x, y, MPFR_RNDN);
    out->any_integer = !isfinite(in->x) || isnan(in->y) || in->y == 0;
    out->integer = 0;
    if (!out->any_integer && isfinite(in->y) && in->x != 0) {
        /* (x - remainder) / y is the whole quotient; its last seven bits and its sign. */
        mpfr_t quotient, bits;
        mpfr_init2(quotient, EXACT_BITS), mpfr_init2(bits, 64);
        mpfr_sub(quotient, x, out->value, MPFR_RNDN);
        mpfr_div(quotient, quotient, y, MPFR_RNDN);
        mpfr_fmod_ui(bits, quotient, 128, MPFR_RNDN);
        out->integer = (int)mpfr_get_si(bits, MPFR_RNDN);
        mpfr_clear(quotient), mpfr_clear(bits);
    }
    END();
}

void ref_sincos(struct expected *out, const struct arguments *in)
{
    BEGIN();
    mpfr_sin_cos(out->value, out->second, x, MPFR_RNDN);
    END();
}

double error_in_ulp(mpfr_t expected, double got, bool is_double, bool either_zero)
{
    int digits = is_double ? 53 : 24, top = is_double ? 1024 : 128;
    int bottom = is_double ? -1074 : -149;
    if (mpfr_nan_p(expected) || isnan(got))
        return mpfr_nan_p(expected) && isnan(got) ? 0 : INFINITY;
    if (mpfr_zero_p(expected)) {
        bool same = got == 0 && (either_zero || !signbit(got) == !mpfr_signbit(expected));
        return same ? 0 : got == 0 ? INFINITY : fabs(ldexp(got, -bottom));
    }
    if (mpfr_inf_p(expected))
        return isinf(got) && !signbit(got) == !mpfr_signbit(expected) ? 0 : INFINITY;
    /* An infinity counts as the number that would follow the largest, and so does all beyond. */
    mpfr_t a, b;
    mpfr_init2(a, EXACT_BITS), mpfr_init2(b, 64);
    mpfr_set(a, expected, MPFR_RNDN);
    if (mpfr_get_exp(a) > top)
        mpfr_set_si_2exp(a, mpfr_sgn(a), top, MPFR_RNDN);
    if (isinf(got))
        mpfr_set_si_2exp(b, got < 0 ? -1 : 1, top, MPFR_RNDN);
    else
        mpfr_set_d(b, got, MPFR_RNDN);
    mpfr_exp_t unit = mpfr_get_exp(a) - digits;
    unit = unit < bottom ? bottom : unit > top - digits ? top - digits : unit;
    mpfr_sub(a, a, b, MPFR_RNDN);
    mpfr_mul_2si(a, a, -unit, MPFR_RNDN);
    mpfr_abs(a, a, MPFR_RNDN);
    /* Halfway is told from just below and just above. */
    double error = mpfr_get_d(a, mpfr_cmp_d(a, 0.5) < 0 ? MPFR_RNDD : MPFR_RNDU);
    mpfr_clear(a), mpfr_clear(b);
    return error;
}
