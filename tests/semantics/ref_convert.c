/*
 * cvt. T is the source, S the result (cvt.S.T). The manual's rules for NaN: to an integer it is 0,
 * but 1 << (width - 1) when the source is f64 or the result has 64 bits; out of range clamps.
 */
#include <string.h>

#include "fp.h"
#include "references.h"

static i128 top(enum kind kind)
{
    return ((i128)1 << (kind_bits(kind) - kind_signed(kind))) - 1;
}

static i128 bottom(enum kind kind)
{
    return kind_signed(kind) ? -top(kind) - 1 : 0;
}

/* An integer result narrower than its register is extended by its own sign. */
static u64 integer_result(enum kind kind, i128 v)
{
    unsigned n = kind_bits(kind);
    u64 bits = kind_signed(kind) ? (u64)sext((u64)v, n) : low((u64)v, n);
    return low(bits, kind_register(kind));
}

static i128 integer_source(enum kind kind, u64 bits)
{
    unsigned n = kind_bits(kind);
    return kind_signed(kind) ? (i128)sext(bits, n) : (i128)low(bits, n);
}

static u64 from_integer(const struct form *f, i128 v)
{
    if (!kind_float(f->stype)) {
        if (f->sat)
            v = v < bottom(f->stype) ? bottom(f->stype) : v > top(f->stype) ? top(f->stype) : v;
        return integer_result(f->stype, v);
    }
    mpfr_t x;
    mpfr_init2(x, FP_PRECISION);
    mpfr_set_uj(x, (uintmax_t)(v < 0 ? -v : v), MPFR_RNDN);
    if (v < 0)
        mpfr_neg(x, x, MPFR_RNDN);
    u64 bits = fp_store(f->stype, x, false, f->round);
    mpfr_clear(x);
    return f->sat ? fp_saturate(f->stype, bits) : bits;
}

static void to_integral(mpfr_t x, enum rounding round)
{
    switch (round) {
    case R_ZI:
        mpfr_trunc(x, x);
        break;
    case R_MI:
        mpfr_floor(x, x);
        break;
    case R_PI:
        mpfr_ceil(x, x);
        break;
    default:
        mpfr_roundeven(x, x);
        break;
    }
}

static u64 float_to_integer(const struct form *f, u64 bits)
{
    enum kind from = f->type, to = f->stype;
    if (fp_is_nan(from, bits)) {
        bool odd = from == K_F64 || kind_bits(to) == 64;
        return integer_result(to, odd ? (i128)1 << (kind_bits(to) - 1) : 0);
    }
    mpfr_t x;
    mpfr_init2(x, FP_PRECISION);
    fp_load(x, from, f->ftz ? fp_flush(from, bits) : bits);
    to_integral(x, f->round);
    i128 v;
    if (mpfr_cmp_si_2exp(x, 1, 70) >= 0)
        v = top(to);
    else if (mpfr_cmp_si_2exp(x, -1, 70) <= 0)
        v = bottom(to);
    else { /* two halves: no 128-bit getter */
        mpfr_t high;
        mpfr_init2(high, FP_PRECISION);
        mpfr_div_2ui(high, x, 32, MPFR_RNDD);
        mpfr_floor(high, high);
        v = (i128)mpfr_get_sj(high, MPFR_RNDN) * ((i128)1 << 32);
        mpfr_mul_2ui(high, high, 32, MPFR_RNDN);
        mpfr_sub(high, x, high, MPFR_RNDN);
        v += mpfr_get_sj(high, MPFR_RNDN);
        mpfr_clear(high);
    }
    mpfr_clear(x);
    return integer_result(to, v < bottom(to) ? bottom(to) : v > top(to) ? top(to) : v);
}

/* Limits the manual puts on a narrow result: .satfinite and .relu. */
static u64 finish(const struct form *f, enum kind to, u64 bits)
{
    if (f->relu && fp_is_negative(to, bits) && !fp_is_nan(to, bits))
        bits = 0;
    if (f->satfinite && fp_is_infinite(to, bits))
        bits = fp_largest(to) | (bits & fp_sign_bit(to));
    return bits;
}

/* e4m3 has no infinity: overflow with .satfinite is the largest number, also from infinity. */
static u64 narrow(const struct form *f, enum kind to, mpfr_t x, bool inexact)
{
    if (to == K_E4M3X2 && !mpfr_nan_p(x)) {
        u64 sign = mpfr_signbit(x) ? fp_sign_bit(to) : 0;
        u64 bits = mpfr_inf_p(x) ? fp_nan(to) : fp_store(to, x, inexact, f->round) & ~sign;
        return finish(f, to, (bits > fp_largest(to) ? fp_largest(to) : bits) | sign);
    }
    return finish(f, to, fp_store(to, x, inexact, f->round));
}

static u64 float_to_float(const struct form *f, enum kind to, enum kind from, u64 bits)
{
    mpfr_t x;
    mpfr_init2(x, FP_PRECISION);
    fp_load(x, from, f->ftz && from == K_F32 ? fp_flush(from, bits) : bits);
    u64 result;
    if (f->round >= R_NI) { /* to an integral value; a zero keeps the sign of what it came from */
        bool negative = mpfr_signbit(x);
        if (!mpfr_nan_p(x) && !mpfr_inf_p(x))
            to_integral(x, f->round);
        result = fp_store(to, x, false, R_N);
        if (fp_is_zero(to, result) && negative)
            result = fp_sign_bit(to);
    } else {
        result = narrow(f, to, x, false);
    }
    mpfr_clear(x);
    if (f->ftz && to == K_F32)
        result = fp_flush(to, result);
    if (f->sat)
        result = fp_saturate(to, result);
    return to == K_TF32 ? result << 13 : result;
}

void ref_cvt(const struct form *f, const u64 *s, u64 *d)
{
    if (!kind_float(f->type))
        d[0] = from_integer(f, integer_source(f->type, s[0]));
    else if (!kind_float(f->stype))
        d[0] = float_to_integer(f, s[0]);
    else
        d[0] = float_to_float(f, f->stype, f->type, s[0]);
}

/* cvt.rn.f16x2.f32 d, a, b and the 8-bit pairs: a is the upper half. */
void ref_cvt_pair(const struct form *f, const u64 *s, u64 *d)
{
    enum kind to = fp_element(f->stype);
    d[0] = float_to_float(f, to, f->type, s[0]) << fp_width(to);
    d[0] |= float_to_float(f, to, f->type, s[1]);
}

/* Between packed pairs: f16x2 and the 8-bit pairs. */
void ref_cvt_half_pair(const struct form *f, const u64 *s, u64 *d)
{
    enum kind to = fp_element(f->stype), from = fp_element(f->type);
    d[0] = 0;
    for (unsigned h = 0; h < 2; h++) {
        u64 part = low(s[0] >> (h * fp_width(from)), fp_width(from));
        d[0] |= float_to_float(f, to, from, part) << (h * fp_width(to));
    }
}

/* cvt.pack: a above b, both clamped, and c above them where there is room. */
void ref_cvt_pack(const struct form *f, const u64 *s, u64 *d)
{
    bool is_signed = strstr(f->text, ".s16.") || strstr(f->text, ".s8.");
    unsigned bits = strstr(f->text, ".b32") ? 8 : 16;
    i64 least = is_signed ? -(1ll << (bits - 1)) : 0;
    i64 most = is_signed ? (1ll << (bits - 1)) - 1 : (1ll << bits) - 1;
    d[0] = bits == 8 ? low(s[2], 16) : 0;
    for (unsigned k = 0; k < 2; k++) {
        i64 v = (int32_t)s[k];
        d[0] = d[0] << bits | low((u64)(v < least ? least : v > most ? most : v), bits);
    }
}
