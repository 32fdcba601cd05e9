/*
 * Floating-point arithmetic on bit patterns, exact in MPFR and rounded once. See emu.h.
 *
 * NaN: the first NaN source in operand order, quieted; an operation without a number to give gives
 * the positive quiet NaN without payload.
 */
#include "emu.h"

#include <stdlib.h>

static u32 field(const struct wave *w, enum kind kind, u32 at32, u32 at64)
{
    return w->mode >> (kind == K_F64 ? at64 : at32) & 3;
}

u64 num_in(const struct wave *w, enum kind kind, u64 bits)
{
    return field(w, kind, MODE_DENORM32, MODE_DENORM64) & 1 ? bits : fp_flush(kind, bits);
}

u64 num_out(const struct wave *w, enum kind kind, u64 bits)
{
    return field(w, kind, MODE_DENORM32, MODE_DENORM64) & 2 ? bits : fp_flush(kind, bits);
}

enum rounding num_round(const struct wave *w, enum kind kind)
{
    static const enum rounding modes[] = {R_N, R_P, R_M, R_Z};
    return modes[field(w, kind, MODE_ROUND32, MODE_ROUND64)];
}

static u64 quiet_bit(enum kind kind)
{
    return 1ull << (fp_mantissa(kind) - 1);
}

u64 num_default_nan(enum kind kind)
{
    return fp_infinity(kind) | quiet_bit(kind);
}

u64 num_quiet(enum kind kind, u64 bits)
{
    return bits | quiet_bit(kind);
}

bool num_signaling(enum kind kind, u64 bits)
{
    return fp_is_nan(kind, bits) && !(bits & quiet_bit(kind));
}

/* The first NaN of the sources, quieted, into *nan. */
static bool any_nan(enum kind kind, const u64 *src, u32 count, u64 *nan)
{
    for (u32 i = 0; i < count; i++)
        if (fp_is_nan(kind, src[i])) {
            *nan = num_quiet(kind, src[i]);
            return true;
        }
    return false;
}

static u64 store(enum kind kind, mpfr_t value, int ternary, enum rounding round)
{
    if (mpfr_nan_p(value))
        return num_default_nan(kind);
    return fp_store(kind, value, ternary != 0, round);
}

static u64 zero_sum(enum kind kind, bool negative_a, bool negative_b, enum rounding round)
{
    bool negative = negative_a == negative_b ? negative_a : round == R_M;
    return negative ? fp_sign_bit(kind) : 0;
}

u64 num_add(enum kind kind, u64 a, u64 b, enum rounding round)
{
    u64 src[] = {a, b}, out;
    if (any_nan(kind, src, 2, &out))
        return out;
    mpfr_t x, y;
    mpfr_inits2(FP_PRECISION, x, y, (mpfr_ptr)0);
    fp_load(x, kind, a);
    fp_load(y, kind, b);
    int ternary = mpfr_add(x, x, y, MPFR_RNDZ);
    out = mpfr_zero_p(x) ? zero_sum(kind, fp_is_negative(kind, a), fp_is_negative(kind, b), round)
                         : store(kind, x, ternary, round);
    mpfr_clears(x, y, (mpfr_ptr)0);
    return out;
}

u64 num_mul(enum kind kind, u64 a, u64 b, enum rounding round)
{
    u64 src[] = {a, b}, out;
    if (any_nan(kind, src, 2, &out))
        return out;
    mpfr_t x, y;
    mpfr_inits2(FP_PRECISION, x, y, (mpfr_ptr)0);
    fp_load(x, kind, a);
    fp_load(y, kind, b);
    int ternary = mpfr_mul(x, x, y, MPFR_RNDZ);
    out = store(kind, x, ternary, round);
    mpfr_clears(x, y, (mpfr_ptr)0);
    return out;
}

u64 num_fma(enum kind kind, u64 a, u64 b, u64 c, i64 power, enum rounding round)
{
    u64 src[] = {a, b, c}, out;
    if (any_nan(kind, src, 3, &out))
        return out;
    mpfr_t x, y, z;
    mpfr_inits2(FP_PRECISION, x, y, z, (mpfr_ptr)0);
    fp_load(x, kind, a);
    fp_load(y, kind, b);
    fp_load(z, kind, c);
    int ternary = mpfr_fma(x, x, y, z, MPFR_RNDZ);
    mpfr_mul_2si(x, x, (long)power, MPFR_RNDZ);
    bool negative = fp_is_negative(kind, a) != fp_is_negative(kind, b);
    out = mpfr_zero_p(x) ? zero_sum(kind, negative, fp_is_negative(kind, c), round)
                         : store(kind, x, ternary, round);
    mpfr_clears(x, y, z, (mpfr_ptr)0);
    return out;
}

u64 num_scale(enum kind kind, u64 a, i64 power, enum rounding round)
{
    if (fp_is_nan(kind, a))
        return num_quiet(kind, a);
    mpfr_t x;
    mpfr_init2(x, FP_PRECISION);
    fp_load(x, kind, a);
    power = power > 10000 ? 10000 : power < -10000 ? -10000 : power;
    mpfr_mul_2si(x, x, (long)power, MPFR_RNDZ);
    u64 out = store(kind, x, 0, round);
    mpfr_clear(x);
    return out;
}

u64 num_convert(enum kind to, enum kind from, u64 bits, enum rounding round)
{
    if (fp_is_nan(from, bits)) {
        u64 payload = bits & ((1ull << fp_mantissa(from)) - 1);
        int shift = (int)fp_mantissa(to) - (int)fp_mantissa(from);
        payload = shift < 0 ? payload >> -shift : payload << shift;
        u64 sign = fp_is_negative(from, bits) ? fp_sign_bit(to) : 0;
        return sign | num_default_nan(to) | payload;
    }
    mpfr_t x;
    mpfr_init2(x, FP_PRECISION);
    fp_load(x, from, bits);
    u64 out = store(to, x, 0, round);
    mpfr_clear(x);
    return out;
}

u64 num_from_integer(enum kind to, i64 value, enum rounding round)
{
    mpfr_t x;
    mpfr_init2(x, FP_PRECISION);
    mpfr_set_sj(x, value, MPFR_RNDN);
    u64 out = store(to, x, 0, round);
    mpfr_clear(x);
    return out;
}

static mpfr_rnd_t direction(enum rounding round)
{
    return round == R_Z   ? MPFR_RNDZ
           : round == R_M ? MPFR_RNDD
           : round == R_P ? MPFR_RNDU
                          : MPFR_RNDN;
}

i64 num_to_integer(enum kind from, u64 bits, enum rounding round, i64 low, i64 high, i64 nan)
{
    if (fp_is_nan(from, bits))
        return nan;
    mpfr_t x;
    mpfr_init2(x, FP_PRECISION);
    fp_load(x, from, bits);
    mpfr_rint(x, x, direction(round));
    i64 out = mpfr_cmp_si(x, (long)low) <= 0    ? low
              : mpfr_cmp_si(x, (long)high) >= 0 ? high
                                                : (i64)mpfr_get_sj(x, MPFR_RNDZ);
    mpfr_clear(x);
    return out;
}

u64 num_integral(enum kind kind, u64 bits, enum rounding round)
{
    if (fp_is_nan(kind, bits))
        return num_quiet(kind, bits);
    mpfr_t x;
    mpfr_init2(x, FP_PRECISION);
    fp_load(x, kind, bits);
    mpfr_rint(x, x, direction(round));
    u64 out = mpfr_zero_p(x) ? bits & fp_sign_bit(kind) : store(kind, x, 0, R_N);
    mpfr_clear(x);
    return out;
}

int num_compare(enum kind kind, u64 a, u64 b)
{
    if (fp_is_nan(kind, a) || fp_is_nan(kind, b))
        return 2;
    mpfr_t x, y;
    mpfr_inits2(FP_PRECISION, x, y, (mpfr_ptr)0);
    fp_load(x, kind, a);
    fp_load(y, kind, b);
    int order = mpfr_cmp(x, y);
    mpfr_clears(x, y, (mpfr_ptr)0);
    return order < 0 ? -1 : order > 0;
}

u64 num_minmax(enum kind kind, u64 a, u64 b, bool max, bool ieee)
{
    if (ieee && num_signaling(kind, a))
        return num_quiet(kind, a);
    if (ieee && num_signaling(kind, b))
        return num_quiet(kind, b);
    if (fp_is_nan(kind, a))
        return fp_is_nan(kind, b) ? num_quiet(kind, a) : b;
    if (fp_is_nan(kind, b))
        return a;
    int order = num_compare(kind, a, b);
    if (order == 0) /* only zeros differ: the negative one is the smaller */
        return fp_is_negative(kind, a) != max ? a : b;
    return (order < 0) != max ? a : b;
}

u64 num_atomic_minmax(enum kind kind, u64 old, u64 data, bool max)
{
    return num_compare(kind, data, old) == (max ? 1 : -1) ? data : old;
}

/* sin or cos of 2 pi x, to more bits than any format here. */
static int turn(mpfr_t out, mpfr_t x, bool cosine)
{
    mpfr_t angle;
    mpfr_init2(angle, 512);
    mpfr_const_pi(angle, MPFR_RNDN);
    mpfr_mul(angle, angle, x, MPFR_RNDN);
    mpfr_mul_2ui(angle, angle, 1, MPFR_RNDN);
    int ternary = cosine ? mpfr_cos(out, angle, MPFR_RNDZ) : mpfr_sin(out, angle, MPFR_RNDZ);
    mpfr_clear(angle);
    return ternary;
}

static int evaluate(mpfr_t out, enum function function, mpfr_t x)
{
    switch (function) {
    case FN_RCP:
        return mpfr_ui_div(out, 1, x, MPFR_RNDZ);
    case FN_RSQ:
        return mpfr_rec_sqrt(out, x, MPFR_RNDZ);
    case FN_SQRT:
        return mpfr_sqrt(out, x, MPFR_RNDZ);
    case FN_EXP2:
        if (mpfr_cmp_si(x, 2000) > 0)
            mpfr_set_si(x, 2000, MPFR_RNDN);
        if (mpfr_cmp_si(x, -2000) < 0)
            mpfr_set_si(x, -2000, MPFR_RNDN);
        return mpfr_exp2(out, x, MPFR_RNDZ);
    case FN_LOG2:
        return mpfr_log2(out, x, MPFR_RNDZ);
    default:
        return turn(out, x, function == FN_COS);
    }
}

u64 num_function(enum kind kind, enum function function, u64 bits)
{
    u64 sign = bits & fp_sign_bit(kind);
    if (fp_is_nan(kind, bits))
        return num_quiet(kind, bits);
    if (fp_is_zero(kind, bits) && (function == FN_RCP || function == FN_RSQ))
        return sign | fp_infinity(kind);
    if (fp_is_zero(kind, bits) && function == FN_LOG2)
        return fp_sign_bit(kind) | fp_infinity(kind);
    if (fp_is_zero(kind, bits) && function == FN_SIN)
        return bits;
    if (fp_is_infinite(kind, bits) && function == FN_EXP2)
        return sign ? 0 : bits;
    mpfr_t x, out;
    mpfr_inits2(FP_PRECISION, x, out, (mpfr_ptr)0);
    fp_load(x, kind, bits);
    int ternary = evaluate(out, function, x);
    u64 result = store(kind, out, ternary, R_N);
    mpfr_clears(x, out, (mpfr_ptr)0);
    return result;
}
