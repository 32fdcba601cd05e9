/*
 * f16 and bf16 as bits in a word: widening is exact, narrowing rounds to nearest even.
 *
 * Sums and products of f16, and sums of bf16, are computed in f32: it has at least twice their
 * precision plus two bits, so that rounding twice equals rounding once, and values in f32's
 * subnormal range are exact. Products of bf16 are exact in double; fused operations are rounded to
 * odd there.
 */
#ifndef EXEC_LANES_HALF_H
#define EXEC_LANES_HALF_H

#include "exec/lanes_float.h"

ALWAYS_INLINE bool is_nan16(u32 x)
{
    return (x & 0x7fff) > 0x7c00;
}
ALWAYS_INLINE bool is_nanb16(u32 x)
{
    return (x & 0x7fff) > 0x7f80;
}

/* An f16 as bits of an f32. A NaN keeps its payload. */
ALWAYS_INLINE u32 half_widen_bits(u32 a)
{
    const u32 sign = (a & 0x8000) << 16, magnitude = a & 0x7fff;
    const u32 normal = (magnitude << 13) + (112u << 23);
    const u32 special = magnitude << 13 | 0x7f800000;
    const u32 subnormal = of_f32((f32)(i32)magnitude * 0x1p-24f);
    const u32 r = magnitude < 0x400 ? subnormal : magnitude < 0x7c00 ? normal : special;
    return sign | r;
}
ALWAYS_INLINE f32 half_widen(u32 a)
{
    return as_f32(half_widen_bits(a));
}
ALWAYS_INLINE f32 brain_widen(u32 a)
{
    return as_f32(a << 16);
}

/* The NaN of a half result: operands are words whose low halves are f16 (bf16). */
ALWAYS_INLINE u32 half_nan(u32 a, u32 b, u32 c)
{
#if LANE_NAN_CANONICAL
    return DEFAULT_NAN16;
#else
    u32 nan = is_nan16(c) ? (c & 0xffff) | 0x200 : DEFAULT_NAN16;
    nan = is_nan16(b) ? (b & 0xffff) | 0x200 : nan;
    return is_nan16(a) ? (a & 0xffff) | 0x200 : nan;
#endif
}
ALWAYS_INLINE u32 brain_nan(u32 a, u32 b, u32 c)
{
#if LANE_NAN_CANONICAL
    return DEFAULT_NANB16;
#else
    u32 nan = is_nanb16(c) ? (c & 0xffff) | 0x40 : DEFAULT_NANB16;
    nan = is_nanb16(b) ? (b & 0xffff) | 0x40 : nan;
    return is_nanb16(a) ? (a & 0xffff) | 0x40 : nan;
#endif
}

/* Rounds a number to nearest even. Below 2^-14, adding 0.5 aligns the last bit: the adder
 * rounds. */
ALWAYS_INLINE u32 half_round(f32 x)
{
    const u32 bits = of_f32(x), magnitude = bits & 0x7fffffff;
    const u32 small = of_f32(as_f32(magnitude) + 0.5f) - of_f32(0.5f);
    const u32 normal = (magnitude - (112u << 23) + 0xfff + (magnitude >> 13 & 1)) >> 13;
    const u32 r = magnitude < 0x38800000 ? small : magnitude >= 0x47800000 ? 0x7c00 : normal;
    return (bits >> 16 & 0x8000) | r;
}
ALWAYS_INLINE u32 brain_round(f32 x)
{
    const u32 bits = of_f32(x);
    return (bits + 0x7fff + (bits >> 16 & 1)) >> 16;
}
/* The same from a double: `fraction` bits, exponents from `least` to its mirror image. */
ALWAYS_INLINE u32 round16(f64 x, int fraction, int least, f64 limit, f64 units)
{
    const u64 bits = of_f64(x), magnitude = bits & INT64_MAX;
    const int shift = 52 - fraction;
    const u64 rebias = (u64)(1023 + least - 1) << 52;
    const u64 odd = magnitude >> shift & 1, infinity = (u64)(2 - 2 * least + 1) << fraction;
    const u64 normal = (magnitude - rebias + (1ull << (shift - 1)) - 1 + odd) >> shift;
    const u64 small = of_f64(as_f64(magnitude) + units) - of_f64(units);
    const u64 large = magnitude >= of_f64(limit) ? infinity : normal;
    const u64 r = magnitude < rebias + (1ull << 52) ? small : large;
    return (u32)(r | (bits >> 48 & 0x8000));
}
ALWAYS_INLINE u32 half_result64(f64 r, u32 a, u32 b, u32 c)
{
    return r == r ? round16(r, 10, -14, 0x1p16, 0x1p28) : half_nan(a, b, c);
}
ALWAYS_INLINE u32 brain_result64(f64 r, u32 a, u32 b, u32 c)
{
    return r == r ? round16(r, 7, -126, 0x1p128, 0x1p-81) : brain_nan(a, b, c);
}
/* The f16 (bf16) of r, the result of an operation on halves a, b, c. */
ALWAYS_INLINE u32 half_result(f32 r, u32 a, u32 b, u32 c)
{
    return r == r ? half_round(r) : half_nan(a, b, c);
}
ALWAYS_INLINE u32 brain_result(f32 r, u32 a, u32 b, u32 c)
{
    return r == r ? brain_round(r) : brain_nan(a, b, c);
}

/* Conversions, with the operand in the other format. */
ALWAYS_INLINE u32 half_widen_result(u32 a)
{
#if LANE_NAN_CANONICAL
    return is_nan16(a) ? DEFAULT_NAN32 : half_widen_bits(a);
#else
    return half_widen_bits(a) | (is_nan16(a) ? QUIET32 : 0);
#endif
}
ALWAYS_INLINE u32 brain_widen_result(u32 a)
{
#if LANE_NAN_CANONICAL
    return is_nanb16(a) ? DEFAULT_NAN32 : a << 16;
#else
    return a << 16 | (is_nanb16(a) ? QUIET32 : 0);
#endif
}
ALWAYS_INLINE u32 half_narrow(u32 a)
{
#if LANE_NAN_CANONICAL
    const u32 nan = DEFAULT_NAN16;
#else
    const u32 nan = (a >> 16 & 0x8000) | 0x7e00 | (a >> 13 & 0x1ff);
#endif
    return is_nan32(a) ? nan : half_round(as_f32(a));
}
ALWAYS_INLINE u32 brain_narrow(u32 a)
{
#if LANE_NAN_CANONICAL
    const u32 nan = DEFAULT_NANB16;
#else
    const u32 nan = a >> 16 | 0x40;
#endif
    return is_nan32(a) ? nan : brain_round(as_f32(a));
}

#endif
