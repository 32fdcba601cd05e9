/* See fp.h. */
#include "fp.h"

#include <assert.h>

struct format {
    unsigned width, mantissa;
    int bias;
    bool has_infinity; /* e4m3 has none: its largest exponent holds numbers and one NaN */
};

static struct format format_of(enum kind kind)
{
    switch (kind) {
    case K_F16:
    case K_F16X2:
        return (struct format){16, 10, 15, true};
    case K_BF16:
    case K_BF16X2:
        return (struct format){16, 7, 127, true};
    case K_F32:
        return (struct format){32, 23, 127, true};
    case K_TF32:
        return (struct format){19, 10, 127, true};
    case K_E4M3X2:
        return (struct format){8, 3, 7, false};
    case K_E5M2X2:
        return (struct format){8, 2, 15, true};
    default:
        assert(kind == K_F64);
        return (struct format){64, 52, 1023, true};
    }
}

enum kind fp_element(enum kind kind)
{
    return kind == K_F16X2 ? K_F16 : kind == K_BF16X2 ? K_BF16 : kind;
}

unsigned fp_width(enum kind kind)
{
    return format_of(kind).width;
}

unsigned fp_mantissa(enum kind kind)
{
    return format_of(kind).mantissa;
}

u64 fp_sign_bit(enum kind kind)
{
    return 1ull << (format_of(kind).width - 1);
}

u64 fp_nan(enum kind kind)
{
    return kind == K_F64 ? 0x7fffffffffffffffull : fp_sign_bit(kind) - 1;
}

u64 fp_infinity(enum kind kind)
{
    struct format f = format_of(kind);
    assert(f.has_infinity);
    return low(~0ull, f.width - 1) & ~low(~0ull, f.mantissa);
}

u64 fp_one(enum kind kind)
{
    struct format f = format_of(kind);
    return (u64)f.bias << f.mantissa;
}

u64 fp_largest(enum kind kind)
{
    return format_of(kind).has_infinity ? fp_infinity(kind) - 1 : fp_nan(kind) - 1;
}

static u64 magnitude(enum kind kind, u64 bits)
{
    return bits & (fp_sign_bit(kind) - 1);
}

bool fp_is_nan(enum kind kind, u64 bits)
{
    if (!format_of(kind).has_infinity)
        return magnitude(kind, bits) == fp_nan(kind);
    return magnitude(kind, bits) > fp_infinity(kind);
}

bool fp_is_infinite(enum kind kind, u64 bits)
{
    return format_of(kind).has_infinity && magnitude(kind, bits) == fp_infinity(kind);
}

bool fp_is_zero(enum kind kind, u64 bits)
{
    return magnitude(kind, bits) == 0;
}

bool fp_is_subnormal(enum kind kind, u64 bits)
{
    return !fp_is_zero(kind, bits) && magnitude(kind, bits) >> format_of(kind).mantissa == 0;
}

bool fp_is_negative(enum kind kind, u64 bits)
{
    return bits & fp_sign_bit(kind);
}

u64 fp_flush(enum kind kind, u64 bits)
{
    return fp_is_subnormal(kind, bits) ? bits & fp_sign_bit(kind) : bits;
}

u64 fp_saturate(enum kind kind, u64 bits)
{
    if (fp_is_nan(kind, bits) || fp_is_negative(kind, bits))
        return 0;
    return bits > fp_one(kind) ? fp_one(kind) : bits;
}

void fp_load(mpfr_t to, enum kind kind, u64 bits)
{
    struct format f = format_of(kind);
    bool negative = fp_is_negative(kind, bits);
    u64 m = magnitude(kind, bits), fraction = low(m, f.mantissa);
    int exponent = (int)(m >> f.mantissa);
    if (fp_is_nan(kind, bits)) {
        mpfr_set_nan(to);
    } else if (fp_is_infinite(kind, bits)) {
        mpfr_set_inf(to, negative ? -1 : 1);
    } else if (m == 0) {
        mpfr_set_zero(to, negative ? -1 : 1);
    } else {
        u64 whole = exponent ? fraction | 1ull << f.mantissa : fraction;
        int scale = (exponent ? exponent : 1) - f.bias - (int)f.mantissa;
        mpfr_set_uj_2exp(to, whole, scale, MPFR_RNDN);
        if (negative)
            mpfr_neg(to, to, MPFR_RNDN);
    }
}

static bool round_up(enum rounding round, bool negative, bool odd, bool half, bool below)
{
    switch (round) {
    case R_Z:
        return false;
    case R_M:
        return negative && (half || below);
    case R_P:
        return !negative && (half || below);
    case R_NA:
        return half;
    default:
        return half && (below || odd);
    }
}

static u64 overflow(enum kind kind, enum rounding round, bool negative)
{
    bool to_largest = round == R_Z || (round == R_M && !negative) || (round == R_P && negative);
    if (!format_of(kind).has_infinity)
        return to_largest ? fp_largest(kind) : fp_nan(kind);
    return to_largest ? fp_largest(kind) : fp_infinity(kind);
}

static u128 top_bits(mpfr_t value)
{
    assert(mpfr_get_prec(value) == FP_PRECISION && GMP_NUMB_BITS == 64);
    const mp_limb_t *limbs = mpfr_custom_get_significand(value);
    return (u128)limbs[1] << 64 | limbs[0];
}

u64 fp_store(enum kind kind, mpfr_t value, bool inexact, enum rounding round)
{
    struct format f = format_of(kind);
    bool negative = mpfr_signbit(value);
    u64 sign = negative ? fp_sign_bit(kind) : 0;
    if (mpfr_nan_p(value))
        return fp_nan(kind);
    if (mpfr_inf_p(value))
        return f.has_infinity ? fp_infinity(kind) | sign : fp_nan(kind) | sign;
    if (mpfr_zero_p(value))
        return sign;
    u128 m = top_bits(value), rest, whole;
    int exponent = (int)mpfr_get_exp(value) - 1, lowest = 1 - f.bias;
    int keep = (int)f.mantissa + 1 - (exponent < lowest ? lowest - exponent : 0);
    if (keep > 0) {
        whole = m >> (128 - keep);
        rest = m << keep;
    } else {
        whole = 0;
        rest = keep == 0 ? m : 1; /* below half of the smallest: only that it is not zero counts */
    }
    bool half = rest >> 127, below = (rest << 1) != 0 || inexact;
    if (keep < 0)
        half = false, below = true;
    whole += round_up(round, negative, whole & 1, half, below);
    u64 bits =
        exponent < lowest ? (u64)whole : ((u64)(exponent + f.bias - 1) << f.mantissa) + (u64)whole;
    if (exponent > f.bias + 1 || bits > fp_largest(kind))
        return overflow(kind, round, negative) | sign;
    return bits | sign;
}

double fp_ulps(enum kind kind, u64 bits, mpfr_t value)
{
    struct format f = format_of(kind);
    mpfr_t got, difference;
    mpfr_inits2(FP_PRECISION, got, difference, (mpfr_ptr)0);
    fp_load(got, kind, bits);
    mpfr_sub(difference, got, value, MPFR_RNDN);
    int exponent = mpfr_zero_p(value) ? 1 - f.bias : (int)mpfr_get_exp(value) - 1;
    if (exponent < 1 - f.bias)
        exponent = 1 - f.bias;
    mpfr_mul_2si(difference, difference, (int)f.mantissa - exponent, MPFR_RNDN);
    double ulps = mpfr_get_d(difference, MPFR_RNDA);
    mpfr_clears(got, difference, (mpfr_ptr)0);
    return ulps < 0 ? -ulps : ulps;
}
