/*
 * Floating-point helpers of the lane functions: bits and numbers, NaN rules, flushing, exact
 * rounding.
 *
 * NaN rules (LANE_NAN_CANONICAL chooses at compile time)
 *  canonical (PTX): a NaN result of f32 is 0x7fffffff, of f16 and bf16 0x7fff. f64 keeps payloads:
 *      the first NaN operand, quieted; 0xfff8000000000000 when no operand was NaN.
 *  propagating: in all formats the first NaN operand, quieted; when none was NaN the positive
 *      quiet NaN without payload.
 * Flushing keeps the sign. A result is flushed if it is subnormal after rounding to its format: a
 * value that rounds up to the smallest normal number stays.
 */
#ifndef EXEC_LANES_FLOAT_H
#define EXEC_LANES_FLOAT_H

#include "exec/float_soft.h"
#include "exec/lanes_loop.h"

ALWAYS_INLINE f32 as_f32(u32 x)
{
    f32 r;
    memcpy(&r, &x, sizeof r);
    return r;
}
ALWAYS_INLINE u32 of_f32(f32 x)
{
    u32 r;
    memcpy(&r, &x, sizeof r);
    return r;
}
ALWAYS_INLINE f64 as_f64(u64 x)
{
    f64 r;
    memcpy(&r, &x, sizeof r);
    return r;
}
ALWAYS_INLINE u64 of_f64(f64 x)
{
    u64 r;
    memcpy(&r, &x, sizeof r);
    return r;
}

#define QUIET32 0x00400000u
#define QUIET64 (1ull << 51)
#if LANE_NAN_CANONICAL
#define DEFAULT_NAN16 0x7fffu
#define DEFAULT_NANB16 0x7fffu
#define DEFAULT_NAN32 0x7fffffffu
#define DEFAULT_NAN64 0xfff8000000000000ull
#else
#define DEFAULT_NAN16 0x7e00u
#define DEFAULT_NANB16 0x7fc0u
#define DEFAULT_NAN32 0x7fc00000u
#define DEFAULT_NAN64 0x7ff8000000000000ull
#endif

ALWAYS_INLINE bool is_nan32(u32 x)
{
    return (x & 0x7fffffff) > 0x7f800000;
}
ALWAYS_INLINE bool is_nan64(u64 x)
{
    return (x & INT64_MAX) > 0x7ff0000000000000;
}

/* The bits of result r of an operation on a, b, c (repeat an operand if there are fewer). */
ALWAYS_INLINE u32 nan32(f32 r, u32 a, u32 b, u32 c)
{
#if LANE_NAN_CANONICAL
    (void)a, (void)b, (void)c;
    return r == r ? of_f32(r) : DEFAULT_NAN32;
#else
    u32 nan = is_nan32(c) ? c | QUIET32 : DEFAULT_NAN32;
    nan = is_nan32(b) ? b | QUIET32 : nan;
    nan = is_nan32(a) ? a | QUIET32 : nan;
    return r == r ? of_f32(r) : nan;
#endif
}
ALWAYS_INLINE u64 nan64(f64 r, u64 a, u64 b, u64 c)
{
    u64 nan = is_nan64(c) ? c | QUIET64 : DEFAULT_NAN64;
    nan = is_nan64(b) ? b | QUIET64 : nan;
    nan = is_nan64(a) ? a | QUIET64 : nan;
    return r == r ? of_f64(r) : nan;
}

/* Flushes a subnormal to zero of the same sign. */
ALWAYS_INLINE u32 flush32(u32 x)
{
    return x & 0x7f800000 ? x : x & 0x80000000;
}
ALWAYS_INLINE u64 flush64(u64 x)
{
    return x & 0x7ff0000000000000 ? x : x & 0x8000000000000000;
}

/* LANE(name) of one f32, and LANE(name_ftz) with flushing. */
#define LANE1_FTZ(name, expr)                     \
    LANE1(name, w, w, expr)                       \
    ALWAYS_INLINE u32 LANE(name##_flushed)(u32 a) \
    {                                             \
        a = flush32(a);                           \
        return flush32(expr);                     \
    }                                             \
    LANE1(name##_ftz, w, w, LANE(name##_flushed)(a))

/* Keys in the order of the reals, with -0 below +0. */
ALWAYS_INLINE i32 order32(u32 x)
{
    return (i32)(x ^ ((u32)((i32)x >> 31) & 0x7fffffff));
}
ALWAYS_INLINE i64 order64(u64 x)
{
    return (i64)(x ^ ((u64)((i64)x >> 63) & INT64_MAX));
}

/*
 * p + c rounded to odd: if inexact, the neighbour with an odd last bit. Rounding it again, to a
 * format at least two bits shorter, gives the correctly rounded sum. Round-to-nearest only.
 */
ALWAYS_INLINE f64 add_odd(f64 p, f64 c)
{
    const f64 s = p + c, back = s - p;
    const f64 error = (p - (s - back)) + (c - back);
    const u64 bits = of_f64(s), infinity = 0x7ff0000000000000;
    const u64 inexact = error != 0.0 ? 1 : 0, finite = (bits & infinity) != infinity ? 1 : 0;
    const u64 step = inexact & finite & ~bits;
    const u64 inward = (of_f64(error) ^ bits) >> 63; /* the rounded sum lies beyond the exact one */
    return as_f64(bits + step - ((step & inward) << 1));
}

/*
 * x * 2^power, rounded once: of three factors, only the last can make a number subnormal without
 * making it 0, in any rounding mode (after the first two it is 2^53 away from that).
 */
ALWAYS_INLINE f64 scale64(f64 x, i32 power)
{
    for (unsigned step = 0; step < 2; step++) {
        const i32 part = power > 1023 ? 1023 : power < -1022 ? -969 : 0;
        x *= as_f64((u64)(u32)(part + 1023) << 52);
        power -= part;
    }
    const i32 low = power < -1022 ? -1022 : power, last = low > 1023 ? 1023 : low;
    return x * as_f64((u64)(u32)(last + 1023) << 52);
}

/* a * b + c, rounded once. */
#ifdef __FMA__
ALWAYS_INLINE f32 fused32(f32 a, f32 b, f32 c, u32 mode)
{
    return __builtin_fmaf(a, b, c);
}
ALWAYS_INLINE u64 fused64(u64 a, u64 b, u64 c, u32 mode)
{
    return nan64(__builtin_fma(as_f64(a), as_f64(b), as_f64(c)), a, b, c);
}
#else
/* The product is exact in double. In a directed mode, rounding twice in the same direction equals
 * rounding once; to nearest, the sum is rounded to odd first. */
ALWAYS_INLINE f32 fused32(f32 a, f32 b, f32 c, u32 mode)
{
    const f64 p = (f64)a * b;
    return (f32)(mode == ROUND_NEAREST ? add_odd(p, c) : p + c);
}
ALWAYS_INLINE u64 fused64(u64 a, u64 b, u64 c, u32 mode)
{
    bool invalid = is_nan64(a) || is_nan64(b) || is_nan64(c);
    u64 r = 0;
    if (!invalid)
        r = soft_fma_f64(a, b, c, mode, &invalid);
    return invalid ? nan64(__builtin_nan(""), a, b, c) : r;
}
#endif

#endif
