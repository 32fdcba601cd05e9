/*
 * Lane functions of the approximate operations.
 *
 * f32 and half results come from double arithmetic with a fixed order of operations and are rounded
 * once at the end, so they are the same everywhere and far inside the error bounds that PTX gives:
 *   rcp 2^-23, sqrt 2^-23, rsqrt 2^-22.9, ex2 2^-22.5, tanh 2^-11 relative; div 2 ulp;
 *   sin, cos 2^-20.5 absolute in [-2 pi, 2 pi]; lg2 2^-22 absolute in (0.5, 2), relative outside;
 *   ex2.f16 2^-9.9, ex2.bf16 2^-7, tanh.bf16 2^-8 relative; tanh.f16 2^-10.987 absolute.
 * rcp.approx and sqrt.approx are the exact operations. Special values are those of the PTX tables;
 * rcp.approx and sqrt.approx are the exact operations. Special values are those of the PTX tables;
 * the tables' rows for subnormal inputs result from flushing (MOD_FTZ); without it, subnormals are
 * used as the numbers they are.
 *
 * Deviation: sin and cos of arguments beyond 2^51 quarter turns are those of 0.
 */
#include "exec/lanes_half.h"

#define F(x) as_f32(x)
#define D(x) as_f64(x)

/* Adding this leaves the nearest integer in the low bits of the sum. */
#define ROUNDER 0x1.8p52

/* 2^x, x in [-1000, 1000]; relative error below 2^-36. Series of exp(f ln 2), |f| <= 1/2. */
ALWAYS_INLINE f64 exp2_core(f64 x)
{
    const f64 shifted = x + ROUNDER, f = (x - (shifted - ROUNDER)) * 0x1.62e42fefa39efp-1;
    const u64 scale = (of_f64(shifted) - of_f64(ROUNDER) + 1023) << 52;
    f64 r = 1.0 / 362880;
    r = r * f + 1.0 / 40320;
    r = r * f + 1.0 / 5040;
    r = r * f + 1.0 / 720;
    r = r * f + 1.0 / 120;
    r = r * f + 1.0 / 24;
    r = r * f + 1.0 / 6;
    r = r * f + 0.5;
    r = r * f + 1.0;
    r = r * f + 1.0;
    return r * D(scale);
}
/* Clamped where every narrower format has long overflowed or underflowed; NaN gives any number. */
ALWAYS_INLINE f64 exp2_any(f64 x)
{
    const f64 low = x > -400.0 ? x : -400.0;
    return exp2_core(low < 400.0 ? low : 400.0);
}

/* log2 of a positive double: the series in z = (m - 1) / (m + 1), m in [sqrt 1/2, sqrt 2). */
ALWAYS_INLINE f64 log2_core(f64 x)
{
    const u64 bits = of_f64(x), half = 0x3fe6a09e667f3bcd; /* sqrt 1/2 */
    const u64 up = bits - half;
    const f64 exponent = D((up >> 52) + of_f64(0x1p52)) - 0x1p52;
    /* The exponent of numbers below `half` wrapped to 12 bits: 2048 too large, and more. */
    const f64 e = exponent > 2048.0 ? exponent - 4096.0 : exponent;
    const f64 m = D((up & 0xfffffffffffff) + half);
    const f64 z = (m - 1.0) / (m + 1.0), s = z * z;
    f64 r = 1.0 / 13;
    r = r * s + 1.0 / 11;
    r = r * s + 1.0 / 9;
    r = r * s + 1.0 / 7;
    r = r * s + 1.0 / 5;
    r = r * s + 1.0 / 3;
    r = r * s + 1.0;
    return e + r * z * 0x1.71547652b82fep+1;
}
ALWAYS_INLINE u32 log2_f32(u32 a)
{
    const f32 x = F(a);
    const f32 finite = (f32)log2_core(x > 0.0f ? x : 1.0f);
    const f32 r = x == 0.0f ? -__builtin_inff() : x < 0.0f ? F(DEFAULT_NAN32) : finite;
    return nan32(a == 0x7f800000 || x != x ? x : r, a, a, a);
}

/* sin((turns + quarter) * pi / 2). The nearest integer of quarter turns is subtracted exactly. */
ALWAYS_INLINE f64 sine_core(f64 turns, u64 quarter)
{
    const f64 shifted = turns + ROUNDER;
    const bool reducible = (turns > -0x1p51) & (turns < 0x1p51);
    const u64 q = (reducible ? of_f64(shifted) : 0) + quarter;
    const f64 r = (reducible ? turns - (shifted - ROUNDER) : 0.0) * 0x1.921fb54442d18p+0;
    const f64 s = r * r;
    f64 odd = -1.0 / 39916800;
    odd = odd * s + 1.0 / 362880;
    odd = odd * s - 1.0 / 5040;
    odd = odd * s + 1.0 / 120;
    odd = odd * s - 1.0 / 6;
    odd = (odd * s + 1.0) * r; /* keeps -0 */
    f64 even = 1.0 / 479001600;
    even = even * s - 1.0 / 3628800;
    even = even * s + 1.0 / 40320;
    even = even * s - 1.0 / 720;
    even = even * s + 1.0 / 24;
    even = even * s - 0.5;
    even = even * s + 1.0;
    return D(of_f64(q & 1 ? even : odd) ^ (q & 2) << 62);
}
ALWAYS_INLINE u32 sine_f32(u32 a, u64 quarter)
{
    const bool finite = (a & 0x7fffffff) < 0x7f800000;
    const f64 x = finite ? F(a) : 0.0f;
    const f32 r = (f32)sine_core(x * 0x1.45f306dc9c883p-1, quarter);
    return nan32(finite ? r : F(DEFAULT_NAN32), a, a, a);
}
/* For an argument in whole turns. Beyond 256 turns the hardware's result is that of 0. */
ALWAYS_INLINE u32 sine_turns(u32 a, u64 quarter)
{
    const bool finite = (a & 0x7fffffff) < 0x7f800000, near = (a & 0x7fffffff) <= 0x43800000;
    const f64 x = near ? F(a) : 0.0f;
    return nan32(finite ? (f32)sine_core(x * 4.0, quarter) : F(DEFAULT_NAN32), a, a, a);
}

/* tanh of a number, from exp(2 |x|); near 0, where that cancels, from the series. */
ALWAYS_INLINE f64 tanh_core(f64 x)
{
    const f64 magnitude = D(of_f64(x) & INT64_MAX);
    const f64 e = exp2_any((magnitude < 40.0 ? magnitude : 40.0) * 0x1.71547652b82fep+1);
    const f64 large = (e - 1.0) / (e + 1.0);
    const f64 small = magnitude - magnitude * magnitude * magnitude * (1.0 / 3);
    const f64 r = magnitude < 0x1p-12 ? small : large;
    return D(of_f64(r) | (of_f64(x) & 0x8000000000000000));
}

/* Beyond 2^126 the hardware's reciprocal is zero; key 1 (.full) scales, to avoid this. */
ALWAYS_INLINE u32 divide(u32 key, u32 a, u32 b)
{
    const u32 magnitude = b & 0x7fffffff;
    const bool huge = !key & (magnitude > 0x7e800000) & (magnitude < 0x7f800000);
    return nan32(huge ? F(a) * F(b & 0x80000000) : F(a) / F(b), a, b, b);
}
LANE2(div_approx_f32, w, w, w, divide(key, a, b))

LANE1_FTZ(rsqrt_f32, nan32((f32)(1.0 / __builtin_sqrt((f64)F(a))), a, a, a))
LANE1(rsqrt_f64, p, p, nan64(1.0 / __builtin_sqrt(D(a)), a, a, a))

/* An infinite result becomes the largest finite number of its sign or, with key 1, a zero. */
ALWAYS_INLINE u32 finite32(u32 key, u32 r)
{
    return (r & 0x7fffffff) == 0x7f800000 ? (r & 0x80000000) | (key ? 0 : 0x7f7fffff) : r;
}
ALWAYS_INLINE u64 finite64(u32 key, u64 r)
{
    const u64 most = key ? 0 : 0x7fefffffffffffff;
    return (r & INT64_MAX) == 0x7ff0000000000000 ? (r & 0x8000000000000000) | most : r;
}
LANE1(rcp_clamp_f32, w, w, finite32(key, nan32(1.0f / F(a), a, a, a)))
LANE1(rcp_clamp_f64, p, p, finite64(key, nan64(1.0 / D(a), a, a, a)))
LANE1(rsqrt_clamp_f32, w, w, finite32(key, LANE(rsqrt_f32_one)(0, 0, 0, a)))
LANE1(rsqrt_clamp_f64, p, p, finite64(key, LANE(rsqrt_f64_one)(0, 0, 0, a)))
/* Clamps the logarithm of 0, but not that of infinity. */
ALWAYS_INLINE u32 log2_clamped(u32 key, u32 a)
{
    const u32 r = log2_f32(a);
    return r >> 31 ? finite32(key, r) : r;
}
LANE1(lg2_clamp_f32, w, w, log2_clamped(key, a))

/* The .approx.ftz.f64 forms read and write only the upper word; NaN is canonical. */
ALWAYS_INLINE u64 upper_word(f64 r)
{
    const u64 bits = flush64(of_f64(r)) & 0xffffffff00000000;
    return r == r ? bits : 0x7fffffff00000000;
}
ALWAYS_INLINE f64 upper_input(u64 a)
{
    return D(flush64(a & 0xffffffff00000000));
}
LANE1(rcp_approx_f64, p, p, upper_word(is_nan64(a) ? D(a) : 1.0 / upper_input(a)))
LANE1(rsqrt_ftz_f64, p, p, upper_word(is_nan64(a) ? D(a) : 1.0 / __builtin_sqrt(upper_input(a))))

LANE1(sin_f32, w, w, sine_f32(a, 0))
LANE1(cos_f32, w, w, sine_f32(a, 1))
LANE1(sin_turns_f32, w, w, sine_turns(a, 0))
LANE1(cos_turns_f32, w, w, sine_turns(a, 1))
LANE1_FTZ(lg2_f32, log2_f32(a))
LANE1_FTZ(ex2_f32, nan32(F(a) == F(a) ? (f32)exp2_any(F(a)) : F(a), a, a, a))
LANE1(tanh_f32, w, w, nan32(F(a) == F(a) ? (f32)tanh_core(F(a)) : F(a), a, a, a))

#define HALF(name, core)                                                                        \
    ALWAYS_INLINE u32 LANE(name##_half)(u32 a)                                                  \
    {                                                                                           \
        const f64 x = half_widen(a);                                                            \
        return half_result64(x == x ? core(x) : x, a, a, a);                                    \
    }                                                                                           \
    ALWAYS_INLINE u32 LANE(name##_brain)(u32 a)                                                 \
    {                                                                                           \
        const f64 x = brain_widen(a);                                                           \
        return brain_result64(x == x ? core(x) : x, a, a, a);                                   \
    }                                                                                           \
    LANE1(name##_f16, w, w, LANE(name##_half)(a & 0xffff))                                      \
    LANE1(name##_f16x2, w, w, LANE(name##_half)(a & 0xffff) | LANE(name##_half)(a >> 16) << 16) \
    LANE1(name##_bf16, w, w, LANE(name##_brain)(a & 0xffff))                                    \
    LANE1(name##_bf16x2, w, w, LANE(name##_brain)(a & 0xffff) | LANE(name##_brain)(a >> 16) << 16)
HALF(ex2, exp2_any)
HALF(tanh, tanh_core)
