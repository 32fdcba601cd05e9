/* Vector instructions on f32, f64 and f16: one lane. See emu.h. */
#include "emu.h"

#include <gmp.h>

static u64 subtract(enum kind kind, u64 a, u64 b, enum rounding round)
{
    return num_add(kind, a, fp_is_nan(kind, b) ? b : b ^ fp_sign_bit(kind), round);
}

/* Multiply and add with two roundings; subnormals are zeros whatever MODE says. */
static u64 mad(const struct wave *w, u64 a, u64 b, u64 c, bool legacy)
{
    enum rounding round = num_round(w, K_F32);
    a = fp_flush(K_F32, a);
    b = fp_flush(K_F32, b);
    c = fp_flush(K_F32, c);
    u64 src[] = {a, b, c};
    bool zero = legacy && (fp_is_zero(K_F32, a) || fp_is_zero(K_F32, b));
    for (u32 i = zero ? 2 : 0; i < 3; i++)
        if (fp_is_nan(K_F32, src[i]))
            return num_quiet(K_F32, src[i]);
    u64 product = zero ? 0 : fp_flush(K_F32, num_mul(K_F32, a, b, round));
    return fp_flush(K_F32, num_add(K_F32, product, c, round));
}

static u64 legacy_mul(const struct wave *w, u64 a, u64 b)
{
    if (fp_is_zero(K_F32, a) || fp_is_zero(K_F32, b))
        return 0;
    return num_mul(K_F32, a, b, num_round(w, K_F32));
}

static i64 exponent_field(enum kind kind, u64 bits)
{
    return (i64)((bits & ~fp_sign_bit(kind)) >> fp_mantissa(kind));
}

/* |n / d| lies below the smallest normal number and is not 0. */
static bool quotient_is_subnormal(enum kind kind, u64 n, u64 d)
{
    if (fp_is_nan(kind, n) || fp_is_nan(kind, d) || fp_is_infinite(kind, n) ||
        fp_is_infinite(kind, d) || fp_is_zero(kind, n) || fp_is_zero(kind, d))
        return false;
    mpfr_t x, y;
    mpfr_inits2(FP_PRECISION, x, y, (mpfr_ptr)0);
    fp_load(x, kind, n);
    fp_load(y, kind, d);
    mpfr_div(x, x, y, MPFR_RNDZ);
    bool small = mpfr_get_exp(x) - 1 < (kind == K_F64 ? -1022 : -126);
    mpfr_clears(x, y, (mpfr_ptr)0);
    return small;
}

/* s0 is one of s1 (denominator) and s2 (numerator): it comes back scaled so that the division's
 * steps neither overflow nor lose bits; the flag tells div_fmas to undo it. */
static u64 div_scale(const struct wave *w, enum kind kind, const u64 *s, bool *flag)
{
    bool wide = kind == K_F64;
    i64 apart = wide ? 768 : 96, up = wide ? 128 : 64, tiny = wide ? 53 : 23;
    enum rounding round = num_round(w, kind);
    bool rcp_small = quotient_is_subnormal(kind, fp_one(kind), s[1]);
    bool quotient_small = quotient_is_subnormal(kind, s[2], s[1]);
    *flag = false;
    if (fp_is_zero(kind, s[1]) || fp_is_zero(kind, s[2]))
        return num_default_nan(kind);
    if (exponent_field(kind, s[2]) - exponent_field(kind, s[1]) >= apart) {
        *flag = true;
        return s[0] == s[1] ? num_scale(kind, s[0], up, round) : s[0];
    }
    if (fp_is_subnormal(kind, s[1]))
        return num_scale(kind, s[0], up, round);
    if (rcp_small && quotient_small) {
        *flag = true;
        return s[0] == s[1] ? num_scale(kind, s[0], -up, round) : s[0];
    }
    if (rcp_small)
        return num_scale(kind, s[0], -up, round);
    if (quotient_small) {
        *flag = true;
        return s[0] == s[2] ? num_scale(kind, s[0], up, round) : s[0];
    }
    if (exponent_field(kind, s[2]) <= tiny)
        return num_scale(kind, s[0], up, round);
    return s[0];
}

static u64 div_fixup(enum kind kind, u64 q, u64 d, u64 n, enum rounding round)
{
    u64 sign = (d ^ n) & fp_sign_bit(kind);
    i64 apart = exponent_field(kind, n) - exponent_field(kind, d);
    if (fp_is_nan(kind, n))
        return num_quiet(kind, n);
    if (fp_is_nan(kind, d))
        return num_quiet(kind, d);
    if ((fp_is_zero(kind, d) && fp_is_zero(kind, n)) ||
        (fp_is_infinite(kind, d) && fp_is_infinite(kind, n)))
        return num_default_nan(kind);
    if (fp_is_zero(kind, d) || fp_is_infinite(kind, n))
        return sign | fp_infinity(kind);
    if (fp_is_infinite(kind, d) || fp_is_zero(kind, n))
        return sign;
    if (apart < (kind == K_F64 ? -1075 : -150))
        return sign | (round == (sign ? R_M : R_P));
    if (fp_is_nan(kind, q)) /* the steps met an infinity: it overflows */
        return sign | fp_infinity(kind);
    return sign | (q & ~fp_sign_bit(kind));
}

/* The bits of 2/pi that matter for the exponent of x, 53 at a time. */
static u64 trig_preop(const struct wave *w, u64 x, u64 segment)
{
    enum {
        TABLE_BITS = 1201
    };
    i64 shift = (i64)(segment & 31) * 53, exponent = exponent_field(K_F64, x);
    if (exponent > 1077)
        shift += exponent - 1077;
    mpfr_t value;
    mpz_t table;
    mpfr_init2(value, 2000);
    mpz_init(table);
    mpfr_const_pi(value, MPFR_RNDN);
    mpfr_ui_div(value, 2, value, MPFR_RNDN);
    mpfr_mul_2ui(value, value, TABLE_BITS, MPFR_RNDN);
    mpfr_get_z(table, value, MPFR_RNDZ);
    /* bits shift .. shift + 52 below the binary point; beyond the table there are zeros */
    i64 down = TABLE_BITS - 53 - shift;
    if (down >= 0)
        mpz_fdiv_q_2exp(table, table, (mp_bitcnt_t)down);
    else
        mpz_mul_2exp(table, table, (mp_bitcnt_t)-down);
    mpz_fdiv_r_2exp(table, table, 53);
    u64 bits = mpz_get_ui(table);
    mpz_clear(table);
    mpfr_clear(value);
    i64 scale = -53 - shift + (exponent >= 1968 ? 128 : 0);
    u64 number = num_from_integer(K_F64, (i64)bits, R_N);
    return num_out(w, K_F64, num_scale(K_F64, number, scale, num_round(w, K_F64)));
}

static u64 frexp_mantissa(enum kind kind, u64 bits)
{
    if (fp_is_nan(kind, bits))
        return num_quiet(kind, bits);
    if (fp_is_infinite(kind, bits) || fp_is_zero(kind, bits))
        return bits;
    mpfr_t x;
    mpfr_init2(x, FP_PRECISION);
    fp_load(x, kind, bits);
    mpfr_set_exp(x, 0);
    u64 out = fp_store(kind, x, false, R_N);
    mpfr_clear(x);
    return out;
}

static u64 frexp_exponent(enum kind kind, u64 bits)
{
    if (fp_is_nan(kind, bits) || fp_is_infinite(kind, bits) || fp_is_zero(kind, bits))
        return 0;
    mpfr_t x;
    mpfr_init2(x, FP_PRECISION);
    fp_load(x, kind, bits);
    i64 out = mpfr_get_exp(x);
    mpfr_clear(x);
    return (u32)out;
}

/* Of a tiny negative number it rounds to 1. */
static u64 fraction(const struct wave *w, enum kind kind, u64 x)
{
    if (fp_is_infinite(kind, x))
        return num_default_nan(kind);
    u64 floor = num_integral(kind, x, R_M);
    return subtract(kind, x, floor, num_round(w, kind));
}

/* rcp, rsq, sqrt, exp, log: f32 subnormals are zeros on the way in and out; f64 follows MODE. */
static u64 approximate(struct step *s, enum kind kind, enum function function, u64 x)
{
    bool narrow = kind == K_F32;
    s->near = function == FN_SIN || function == FN_COS ? NEAR_ABSOLUTE : NEAR_ULP;
    x = narrow ? fp_flush(kind, x) : num_in(s->wave, kind, x);
    if (s->near == NEAR_ABSOLUTE && !fp_is_nan(kind, x) && !fp_is_infinite(kind, x) &&
        (u32)(x & 0x7fffffff) > 0x43800000) /* beyond 256 turns */
        return function == FN_COS ? fp_one(kind) : 0;
    u64 out = num_function(kind, function, x);
    return narrow ? fp_flush(kind, out) : num_out(s->wave, kind, out);
}

/* An infinity of rcp and its like becomes the largest number, or (legacy) zero. */
static u64 clamped(enum kind kind, u64 bits, bool legacy)
{
    if (!fp_is_infinite(kind, bits))
        return bits;
    return (bits & fp_sign_bit(kind)) | (legacy ? 0 : fp_largest(kind));
}

static u64 function_op(struct step *s, u64 x, bool *known)
{
    *known = true;
    switch (s->insn->op) {
    case OP_v_exp_f32:
        return approximate(s, K_F32, FN_EXP2, x);
    case OP_v_log_f32:
        return approximate(s, K_F32, FN_LOG2, x);
    case OP_v_log_clamp_f32:
        if (fp_is_zero(K_F32, fp_flush(K_F32, x)))
            return fp_largest(K_F32) | fp_sign_bit(K_F32);
        return approximate(s, K_F32, FN_LOG2, x);
    case OP_v_rcp_f32:
    case OP_v_rcp_iflag_f32:
        return approximate(s, K_F32, FN_RCP, x);
    case OP_v_rcp_clamp_f32:
        return clamped(K_F32, approximate(s, K_F32, FN_RCP, x), false);
    case OP_v_rcp_legacy_f32:
        return clamped(K_F32, approximate(s, K_F32, FN_RCP, x), true);
    case OP_v_rsq_f32:
    case OP_v_rsq_legacy_f32: /* nothing of its own in the document */
        return approximate(s, K_F32, FN_RSQ, x);
    case OP_v_rsq_clamp_f32:
        return clamped(K_F32, approximate(s, K_F32, FN_RSQ, x), false);
    case OP_v_sqrt_f32:
        return approximate(s, K_F32, FN_SQRT, x);
    case OP_v_sin_f32:
        return approximate(s, K_F32, FN_SIN, x);
    case OP_v_cos_f32:
        return approximate(s, K_F32, FN_COS, x);
    case OP_v_rcp_f64:
        return approximate(s, K_F64, FN_RCP, x);
    case OP_v_rcp_clamp_f64:
        return clamped(K_F64, approximate(s, K_F64, FN_RCP, x), false);
    case OP_v_rsq_f64:
        return approximate(s, K_F64, FN_RSQ, x);
    case OP_v_rsq_clamp_f64:
        return clamped(K_F64, approximate(s, K_F64, FN_RSQ, x), false);
    case OP_v_sqrt_f64:
        return approximate(s, K_F64, FN_SQRT, x);
    default:
        *known = false;
        return 0;
    }
}

static u64 pack_byte(const struct wave *w, u64 f, u64 position, u64 into)
{
    u32 shift = (position & 3) * 8;
    i64 byte = num_to_integer(K_F32, f, num_round(w, K_F32), 0, 255, 0);
    return ((u32)into & ~(0xffu << shift)) | (u32)byte << shift;
}

static u64 pack_norm(u64 a, i64 scale, i64 low)
{
    u64 wide = num_convert(K_F64, K_F32, a, R_N), factor = num_from_integer(K_F64, scale, R_N);
    return num_to_integer(K_F64, num_mul(K_F64, wide, factor, R_N), R_N, low, scale, 0) & 0xffff;
}

/* f16 shares MODE's fields with f64, for rounding too. */
static u64 half_in(const struct wave *w, u64 bits)
{
    return w->mode >> MODE_DENORM64 & 1 ? bits : fp_flush(K_F16, bits);
}

static u64 half_out(const struct wave *w, u64 bits)
{
    return w->mode >> MODE_DENORM64 & 2 ? bits : fp_flush(K_F16, bits);
}

static u64 convert_op(struct step *s, u64 a, u64 b, u64 c, u64 old, bool *known)
{
    const struct wave *w = s->wave;
    enum rounding round32 = num_round(w, K_F32);
    u64 half = num_from_integer(K_F64, 1, R_N) - (1ull << 52);
    *known = true;
    switch (s->insn->op) {
    case OP_v_cvt_i32_f64:
        return (u32)num_to_integer(K_F64, a, R_Z, INT32_MIN, INT32_MAX, 0);
    case OP_v_cvt_u32_f64:
        return (u32)num_to_integer(K_F64, a, R_Z, 0, UINT32_MAX, 0);
    case OP_v_cvt_i32_f32:
        return (u32)num_to_integer(K_F32, a, R_Z, INT32_MIN, INT32_MAX, 0);
    case OP_v_cvt_u32_f32:
        return (u32)num_to_integer(K_F32, a, R_Z, 0, UINT32_MAX, 0);
    case OP_v_cvt_flr_i32_f32:
        return (u32)num_to_integer(K_F32, a, R_M, INT32_MIN, INT32_MAX, 0);
    case OP_v_cvt_rpi_i32_f32:
        a = num_add(K_F64, num_convert(K_F64, K_F32, a, R_N), half, R_N);
        return (u32)num_to_integer(K_F64, a, R_M, INT32_MIN, INT32_MAX, 0);
    case OP_v_cvt_f64_i32:
        return num_from_integer(K_F64, (int32_t)a, R_N);
    case OP_v_cvt_f64_u32:
        return num_from_integer(K_F64, (i64)(u32)a, R_N);
    case OP_v_cvt_f32_i32:
        return num_from_integer(K_F32, (int32_t)a, round32);
    case OP_v_cvt_f32_u32:
        return num_from_integer(K_F32, (i64)(u32)a, round32);
    case OP_v_cvt_f32_ubyte0:
    case OP_v_cvt_f32_ubyte1:
    case OP_v_cvt_f32_ubyte2:
    case OP_v_cvt_f32_ubyte3:
        return num_from_integer(K_F32, a >> (s->insn->op - OP_v_cvt_f32_ubyte0) * 8 & 255, R_N);
    case OP_v_cvt_off_f32_i4:
        return num_scale(K_F32, num_from_integer(K_F32, (i64)((a & 15) ^ 8) - 8, R_N), -4, R_N);
    case OP_v_cvt_f16_f32:
        return half_out(w, num_convert(K_F16, K_F32, a, num_round(w, K_F64)));
    case OP_v_cvt_f32_f16:
        return num_convert(K_F32, K_F16, half_in(w, a & 0xffff), R_N);
    case OP_v_cvt_f32_f64:
        return num_out(w, K_F32, num_convert(K_F32, K_F64, a, round32));
    case OP_v_cvt_f64_f32:
        return num_convert(K_F64, K_F32, a, R_N);
    case OP_v_cvt_pkaccum_u8_f32:
        return pack_byte(w, a, b, old);
    case OP_v_cvt_pk_u8_f32:
        return pack_byte(w, a, b, c);
    case OP_v_cvt_pknorm_i16_f32:
        return pack_norm(a, 32767, -32767) | pack_norm(b, 32767, -32767) << 16;
    case OP_v_cvt_pknorm_u16_f32:
        return pack_norm(a, 65535, 0) | pack_norm(b, 65535, 0) << 16;
    case OP_v_cvt_pkrtz_f16_f32:
        return num_convert(K_F16, K_F32, a, R_Z) | num_convert(K_F16, K_F32, b, R_Z) << 16;
    default:
        *known = false;
        return 0;
    }
}

/* Extremes and medians hand subnormals through, whatever MODE says. */
static u64 extreme_op(struct step *s, u64 a, u64 b, u64 c, bool *known)
{
    bool ieee = s->wave->mode & MODE_IEEE;
    *known = true;
    switch (s->insn->op) {
    case OP_v_min_legacy_f32:
        return num_compare(K_F32, a, b) == -1 ? a : b;
    case OP_v_max_legacy_f32:
        return num_compare(K_F32, a, b) == 1 || num_compare(K_F32, a, b) == 0 ? a : b;
    case OP_v_min_f32:
        return num_minmax(K_F32, a, b, false, ieee);
    case OP_v_max_f32:
        return num_minmax(K_F32, a, b, true, ieee);
    case OP_v_min3_f32:
        return num_minmax(K_F32, num_minmax(K_F32, a, b, false, ieee), c, false, ieee);
    case OP_v_max3_f32:
        return num_minmax(K_F32, num_minmax(K_F32, a, b, true, ieee), c, true, ieee);
    case OP_v_med3_f32: {
        if (fp_is_nan(K_F32, a) || fp_is_nan(K_F32, b) || fp_is_nan(K_F32, c))
            return num_minmax(K_F32, num_minmax(K_F32, a, b, false, ieee), c, false, ieee);
        u64 low = num_minmax(K_F32, a, b, false, false),
            high = num_minmax(K_F32, a, b, true, false);
        return num_minmax(K_F32, low, num_minmax(K_F32, high, c, false, false), true, false);
    }
    case OP_v_min_f64:
        return num_minmax(K_F64, a, b, false, ieee);
    case OP_v_max_f64:
        return num_minmax(K_F64, a, b, true, ieee);
    default:
        *known = false;
        return 0;
    }
}

/* f32 of which inputs and outputs follow MODE. */
static u64 single_op(struct step *s, u64 a, u64 b, u64 c, bool *known)
{
    const struct wave *w = s->wave;
    enum rounding round = num_round(w, K_F32);
    *known = true;
    switch (s->insn->op) {
    case OP_v_add_f32:
        return num_add(K_F32, a, b, round);
    case OP_v_sub_f32:
        return subtract(K_F32, a, b, round);
    case OP_v_subrev_f32:
        return subtract(K_F32, b, a, round);
    case OP_v_mul_f32:
        return num_mul(K_F32, a, b, round);
    case OP_v_mul_legacy_f32:
        return legacy_mul(w, a, b);
    case OP_v_mullit_f32:
        /* as the document of an earlier instruction set has it */
        if (num_compare(K_F32, c, 0) != 1 || fp_is_nan(K_F32, b) || b == 0xff7fffff ||
            b == 0xff800000)
            return 0xff7fffff;
        return legacy_mul(w, a, b);
    case OP_v_fma_f32:
        return num_fma(K_F32, a, b, c, 0, round);
    case OP_v_ldexp_f32:
        return num_scale(K_F32, a, (int32_t)b, round);
    case OP_v_fract_f32:
        return fraction(w, K_F32, a);
    case OP_v_trunc_f32:
        return num_integral(K_F32, a, R_Z);
    case OP_v_ceil_f32:
        return num_integral(K_F32, a, R_P);
    case OP_v_rndne_f32:
        return num_integral(K_F32, a, R_N);
    case OP_v_floor_f32:
        return num_integral(K_F32, a, R_M);
    case OP_v_frexp_mant_f32:
        return frexp_mantissa(K_F32, a);
    default:
        *known = false;
        return 0;
    }
}

static u64 double_op(struct step *s, u64 a, u64 b, u64 c, bool *known)
{
    const struct wave *w = s->wave;
    enum rounding round = num_round(w, K_F64);
    *known = true;
    switch (s->insn->op) {
    case OP_v_add_f64:
        return num_add(K_F64, a, b, round);
    case OP_v_mul_f64:
        return num_mul(K_F64, a, b, round);
    case OP_v_fma_f64:
        return num_fma(K_F64, a, b, c, 0, round);
    case OP_v_ldexp_f64:
        return num_scale(K_F64, a, (int32_t)b, round);
    case OP_v_fract_f64:
        return fraction(w, K_F64, a);
    case OP_v_frexp_mant_f64:
        return frexp_mantissa(K_F64, a);
    default:
        *known = false;
        return 0;
    }
}

static u64 division_op(struct step *s, const u64 *src, u64 old, bool vcc, bool *flag)
{
    const struct wave *w = s->wave;
    bool wide = s->insn->row->group == G_VDOUBLE;
    enum kind kind = wide ? K_F64 : K_F32;
    u64 in[3];
    for (u32 i = 0; i < 3; i++)
        in[i] = num_in(w, kind, src[i]);
    switch (s->insn->op) {
    case OP_v_div_scale_f32:
    case OP_v_div_scale_f64:
        in[0] = div_scale(w, kind, in, flag);
        return num_out(w, kind, fp_is_nan(kind, in[0]) ? num_quiet(kind, in[0]) : in[0]);
    case OP_v_div_fixup_f32:
    case OP_v_div_fixup_f64:
        return num_out(w, kind, div_fixup(kind, in[0], in[1], in[2], num_round(w, kind)));
    case OP_v_div_fmas_f32:
    case OP_v_div_fmas_f64: {
        /* div_scale made a large quotient smaller and a small one larger */
        bool large = exponent_field(kind, in[2]) > (wide ? 1023 : 127);
        i64 power = !vcc ? 0 : (large ? 1 : -1) * (wide ? 128 : 64);
        return num_out(w, kind, num_fma(kind, in[0], in[1], in[2], power, num_round(w, kind)));
    }
    case OP_v_trig_preop_f64:
        return trig_preop(w, src[0], src[1]);
    case OP_v_frexp_exp_i32_f32:
    case OP_v_frexp_exp_i32_f64:
        return frexp_exponent(kind, in[0]);
    case OP_v_mad_f32:
        return mad(w, src[0], src[1], src[2], false);
    case OP_v_mad_legacy_f32:
        return mad(w, src[0], src[1], src[2], true);
    case OP_v_mac_f32:
        return mad(w, src[0], src[1], old, false);
    case OP_v_mac_legacy_f32:
        return mad(w, src[0], src[1], old, true);
    case OP_v_madmk_f32:
        return mad(w, src[0], s->insn->literal, src[1], false);
    case OP_v_madak_f32:
        return mad(w, src[0], src[1], s->insn->literal, false);
    default:
        emu_fault(s, "unknown float instruction");
        return 0;
    }
}

u64 emu_float(struct step *s, const u64 *src, u64 old, bool vcc, bool *flag)
{
    const struct wave *w = s->wave;
    bool known;
    const char *types = s->insn->row->signature;
    u64 in[3];
    while (*types++ != '=')
        ;
    for (u32 i = 0; i < 3; i++) {
        char type = i < 3 && types[0] ? *types++ : 'u';
        in[i] = type == 'f'   ? num_in(w, K_F32, src[i])
                : type == 'd' ? num_in(w, K_F64, src[i])
                              : src[i];
    }
    u64 out = function_op(s, src[0], &known);
    if (known)
        return out;
    out = convert_op(s, in[0], in[1], in[2], old, &known);
    if (known)
        return out;
    out = extreme_op(s, src[0], src[1], src[2], &known);
    if (known)
        return out;
    out = single_op(s, in[0], in[1], in[2], &known);
    if (known)
        return num_out(w, K_F32, out);
    out = double_op(s, in[0], in[1], in[2], &known);
    if (known)
        return num_out(w, K_F64, out);
    return division_op(s, src, old, vcc, flag);
}
