/*
 * Lane functions of f16, bf16 and their x2 forms: arithmetic and comparison, rounded to nearest
 * even (PTX has no other rounding for them), subnormals kept.
 */
#include "exec/lanes_half.h"
#include "exec/lanes_compare.h"

#define H(x) half_widen(x)
#define B(x) brain_widen(x)

/* Defines an operation of one half, of the low half of a word, and of both. */
#define HALF1(op, name, expr)                                      \
    ALWAYS_INLINE u32 LANE(op##_##name##_half)(u32 a)              \
    {                                                              \
        return (expr);                                             \
    }                                                              \
    LANE1(op##_##name, w, w, LANE(op##_##name##_half)(a & 0xffff)) \
    LANE1(op##_##name##x2, w, w,                                   \
          LANE(op##_##name##_half)(a & 0xffff) | LANE(op##_##name##_half)(a >> 16) << 16)
#define HALF2(op, name, expr)                                                     \
    ALWAYS_INLINE u32 LANE(op##_##name##_half)(u32 a, u32 b)                      \
    {                                                                             \
        return (expr);                                                            \
    }                                                                             \
    LANE2(op##_##name, w, w, w, LANE(op##_##name##_half)(a & 0xffff, b & 0xffff)) \
    LANE2(op##_##name##x2, w, w, w,                                               \
          LANE(op##_##name##_half)(a & 0xffff, b & 0xffff) |                      \
              LANE(op##_##name##_half)(a >> 16, b >> 16) << 16)
#define HALF3(op, name, expr)                                                                    \
    ALWAYS_INLINE u32 LANE(op##_##name##_half)(u32 a, u32 b, u32 c)                              \
    {                                                                                            \
        return (expr);                                                                           \
    }                                                                                            \
    LANE3(op##_##name, w, w, w, w, LANE(op##_##name##_half)(a & 0xffff, b & 0xffff, c & 0xffff)) \
    LANE3(op##_##name##x2, w, w, w, w,                                                           \
          LANE(op##_##name##_half)(a & 0xffff, b & 0xffff, c & 0xffff) |                         \
              LANE(op##_##name##_half)(a >> 16, b >> 16, c >> 16) << 16)

/* a * b + c: the product is exact in double, the sum rounded to odd. */
ALWAYS_INLINE f64 fused(f32 a, f32 b, f32 c)
{
    return add_odd((f64)a * b, c);
}

HALF2(add, f16, half_result(H(a) + H(b), a, b, b))
HALF2(sub, f16, half_result(H(a) - H(b), a, b, b))
HALF2(mul, f16, half_result(H(a) * H(b), a, b, b))
HALF3(fma, f16, half_result64(fused(H(a), H(b), H(c)), a, b, c))
HALF2(add, bf16, brain_result(B(a) + B(b), a, b, b))
HALF2(sub, bf16, brain_result(B(a) - B(b), a, b, b))
HALF2(mul, bf16, brain_result64((f64)B(a) * B(b), a, b, b))
HALF3(fma, bf16, brain_result64(fused(B(a), B(b), B(c)), a, b, c))
HALF1(abs, f16, a & 0x7fff)
HALF1(neg, f16, a ^ 0x8000)
HALF1(abs, bf16, a & 0x7fff)
HALF1(neg, bf16, a ^ 0x8000)

/* Minimum and maximum, as in lanes_f32.c. Both formats are ordered as their bits. */
ALWAYS_INLINE i32 order16(u32 x)
{
    return x & 0x8000 ? -(i32)(x & 0x7fff) - 1 : (i32)x;
}
ALWAYS_INLINE u32 extreme(u32 a, u32 b, bool most, bool strict, u32 infinity, u32 nan)
{
    const bool first = most ? order16(a) > order16(b) : order16(a) < order16(b);
    const bool a_nan = (a & 0x7fff) > infinity, b_nan = (b & 0x7fff) > infinity;
    const u32 number = a_nan ? b : b_nan ? a : first ? a : b;
    return (strict ? a_nan | b_nan : a_nan & b_nan) ? nan : number;
}
ALWAYS_INLINE u32 xorsign16(u32 r, u32 a, u32 b, u32 infinity)
{
    return (r & 0x7fff) > infinity ? r : r | ((a ^ b) & 0x8000);
}
#define MAG(x) ((x)&0x7fff)
#define EXTREMES(name, infinity, nan)                                                              \
    HALF2(min, name, extreme(a, b, false, false, infinity, nan(a, b, b)))                          \
    HALF2(max, name, extreme(a, b, true, false, infinity, nan(a, b, b)))                           \
    HALF2(min_nan, name, extreme(a, b, false, true, infinity, nan(a, b, b)))                       \
    HALF2(max_nan, name, extreme(a, b, true, true, infinity, nan(a, b, b)))                        \
    HALF2(min_xorsign, name,                                                                       \
          xorsign16(extreme(MAG(a), MAG(b), false, false, infinity, nan(MAG(a), MAG(b), MAG(b))),  \
                    a, b, infinity))                                                               \
    HALF2(max_xorsign, name,                                                                       \
          xorsign16(extreme(MAG(a), MAG(b), true, false, infinity, nan(MAG(a), MAG(b), MAG(b))),   \
                    a, b, infinity))                                                               \
    HALF2(min_nan_xorsign, name,                                                                   \
          xorsign16(extreme(MAG(a), MAG(b), false, true, infinity, nan(MAG(a), MAG(b), MAG(b))),   \
                    a, b, infinity))                                                               \
    HALF2(max_nan_xorsign, name,                                                                   \
          xorsign16(extreme(MAG(a), MAG(b), true, true, infinity, nan(MAG(a), MAG(b), MAG(b))), a, \
                    b, infinity))
EXTREMES(f16, 0x7c00, half_nan)
EXTREMES(bf16, 0x7f80, brain_nan)

/* Comparison: one function for the low halves, one for the high. */
#define GET_F16_LOW(k) H(s##k[i] & 0xffff)
#define GET_F16_HIGH(k) H(s##k[i] >> 16)
#define GET_BF16_LOW(k) B(s##k[i])
#define GET_BF16_HIGH(k) as_f32(s##k[i] & 0xffff0000)
#define HALF_COMPARE(name, LOW, HIGH)                                         \
    ALWAYS_INLINE u32 LANE(compare_##name)(const struct lanes *l){            \
        ROW_w(0) ROW_w(1) FLOAT_COMPARE_SWITCH(LOW)} ALWAYS_INLINE u32        \
    LANE(compare_high_##name)(const struct lanes *l){                         \
        ROW_w(0) ROW_w(1) FLOAT_COMPARE_SWITCH(HIGH)} COMPARE_PAIR(name) void \
    LANE(setp_##name##x2)(struct lanes * l)                                   \
    {                                                                         \
        const u32 low = combine_source(l, LANE(compare_##name)(l));           \
        const u32 high = combine_source(l, LANE(compare_high_##name)(l));     \
        put_mask(l, 0, low);                                                  \
        put_mask(l, 1, high);                                                 \
    }                                                                         \
    void LANE(set_##name##x2)(struct lanes * l)                               \
    {                                                                         \
        finish_set(l, LANE(compare_##name)(l), LANE(compare_high_##name)(l)); \
    }
HALF_COMPARE(f16, GET_F16_LOW, GET_F16_HIGH)
HALF_COMPARE(bf16, GET_BF16_LOW, GET_BF16_HIGH)
