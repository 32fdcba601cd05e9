/*
 * Lane functions of f32 and f64 arithmetic and comparison.
 *
 * The plain functions round as the host's rounding mode says (nearest unless lanes_modify.c has
 * set another) and keep subnormals. *_ftz are the common f32 functions with flushing built in.
 * Exact operations are the host's IEEE ones; only fma needs a twin where the host lacks it.
 */
#include "exec/float_soft.h"
#include "exec/lanes_compare.h"
#include "exec/lanes_float.h"

#define F(x) as_f32(x)
#define D(x) as_f64(x)

#ifdef __FMA__
ALWAYS_INLINE f32 fused32(f32 a, f32 b, f32 c, u32 mode)
{
    return __builtin_fmaf(a, b, c);
}
ALWAYS_INLINE u64 fused64(u64 a, u64 b, u64 c, u32 mode)
{
    return nan64(__builtin_fma(D(a), D(b), D(c)), a, b, c);
}
#else
/* The product is exact in double. In a directed mode, rounding twice in the same direction is
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

#define LANE2_F32(name, expr)                            \
    LANE2(name, w, w, w, expr)                           \
    ALWAYS_INLINE u32 LANE(name##_flushed)(u32 a, u32 b) \
    {                                                    \
        a = flush32(a), b = flush32(b);                  \
        return flush32(expr);                            \
    }                                                    \
    LANE2(name##_ftz, w, w, w, LANE(name##_flushed)(a, b))

LANE2_F32(add_f32, nan32(F(a) + F(b), a, b, b))
LANE2_F32(sub_f32, nan32(F(a) - F(b), a, b, b))
LANE2_F32(mul_f32, nan32(F(a) * F(b), a, b, b))
LANE3(fma_f32, w, w, w, w, nan32(fused32(F(a), F(b), F(c), mode), a, b, c))
ALWAYS_INLINE u32 LANE(fma_flushed)(u32 a, u32 b, u32 c, u32 mode)
{
    a = flush32(a), b = flush32(b), c = flush32(c);
    return flush32(nan32(fused32(F(a), F(b), F(c), mode), a, b, c));
}
LANE3(fma_f32_ftz, w, w, w, w, LANE(fma_flushed)(a, b, c, mode))

/* Product and sum are rounded; neither sees nor gives a subnormal. */
ALWAYS_INLINE u32 LANE(mad_flushed)(u32 a, u32 b, u32 c)
{
    a = flush32(a), b = flush32(b), c = flush32(c);
    const f32 product = F(flush32(of_f32(F(a) * F(b))));
    return flush32(nan32(product + F(c), a, b, c));
}
LANE3(mad_f32, w, w, w, w, LANE(mad_flushed)(a, b, c))
LANE2(div_f32, w, w, w, nan32(F(a) / F(b), a, b, b))
LANE1(rcp_f32, w, w, nan32(1.0f / F(a), a, a, a))
LANE1(sqrt_f32, w, w, nan32(__builtin_sqrtf(F(a)), a, a, a))
LANE1(abs_f32, w, w, a & 0x7fffffff)
LANE1(neg_f32, w, w, a ^ 0x80000000)

LANE2(add_f64, p, p, p, nan64(D(a) + D(b), a, b, b))
LANE2(sub_f64, p, p, p, nan64(D(a) - D(b), a, b, b))
LANE2(mul_f64, p, p, p, nan64(D(a) * D(b), a, b, b))
LANE3(fma_f64, p, p, p, p, fused64(a, b, c, mode))
LANE2(div_f64, p, p, p, nan64(D(a) / D(b), a, b, b))
LANE1(rcp_f64, p, p, nan64(1.0 / D(a), a, a, a))
LANE1(sqrt_f64, p, p, nan64(__builtin_sqrt(D(a)), a, a, a))
LANE_HALVES1(abs_f64, al, ah & 0x7fffffff)
LANE_HALVES1(neg_f64, al, ah ^ 0x80000000)

/*
 * Minimum and maximum: a number beats NaN, -0 is below +0; two NaNs give NaN. MOD_NAN and
 * MOD_XORSIGN pick the other functions.
 */
ALWAYS_INLINE u32 least32(u32 a, u32 b)
{
    const u32 r = order32(a) < order32(b) ? a : b;
    const u32 number = is_nan32(a) ? b : is_nan32(b) ? a : r;
    return nan32(F(number), a, b, b);
}
ALWAYS_INLINE u32 most32(u32 a, u32 b)
{
    const u32 r = order32(a) > order32(b) ? a : b;
    const u32 number = is_nan32(a) ? b : is_nan32(b) ? a : r;
    return nan32(F(number), a, b, b);
}
/* r unless an operand is NaN. */
ALWAYS_INLINE u32 strict32(u32 r, u32 a, u32 b)
{
    return nan32(is_nan32(a) || is_nan32(b) ? F(DEFAULT_NAN32) : F(r), a, b, b);
}
ALWAYS_INLINE u64 least64(u64 a, u64 b)
{
    const u64 r = order64(a) < order64(b) ? a : b;
    const u64 number = is_nan64(a) ? b : is_nan64(b) ? a : r;
    return nan64(D(number), a, b, b);
}
ALWAYS_INLINE u64 most64(u64 a, u64 b)
{
    const u64 r = order64(a) > order64(b) ? a : b;
    const u64 number = is_nan64(a) ? b : is_nan64(b) ? a : r;
    return nan64(D(number), a, b, b);
}
/* Magnitudes are compared, the result has the product's sign; a NaN result stays as it is. */
ALWAYS_INLINE u32 xorsign32(u32 r, u32 a, u32 b)
{
    return is_nan32(r) ? r : r | ((a ^ b) & 0x80000000);
}
#define MAG(x) ((x)&0x7fffffff)
LANE2(min_f32, w, w, w, least32(a, b))
LANE2(max_f32, w, w, w, most32(a, b))
LANE2(min_nan_f32, w, w, w, strict32(least32(a, b), a, b))
LANE2(max_nan_f32, w, w, w, strict32(most32(a, b), a, b))
LANE2(min_xorsign_f32, w, w, w, xorsign32(least32(MAG(a), MAG(b)), a, b))
LANE2(max_xorsign_f32, w, w, w, xorsign32(most32(MAG(a), MAG(b)), a, b))
LANE2(min_nan_xorsign_f32, w, w, w,
      xorsign32(strict32(least32(MAG(a), MAG(b)), MAG(a), MAG(b)), a, b))
LANE2(max_nan_xorsign_f32, w, w, w,
      xorsign32(strict32(most32(MAG(a), MAG(b)), MAG(a), MAG(b)), a, b))
LANE2(min_f64, p, p, p, least64(a, b))
LANE2(max_f64, p, p, p, most64(a, b))
LANE3(min3_f32, w, w, w, w, least32(least32(a, b), c))
LANE3(max3_f32, w, w, w, w, most32(most32(a, b), c))
LANE3(min3_nan_f32, w, w, w, w,
      strict32(least32(strict32(least32(a, b), a, b), c), strict32(least32(a, b), a, b), c))
LANE3(max3_nan_f32, w, w, w, w,
      strict32(most32(strict32(most32(a, b), a, b), c), strict32(most32(a, b), a, b), c))

/* Comparison. */
#define GET_F32(k) F(s##k[i])
#define GET_F32_FTZ(k) F(flush32(s##k[i]))
#define GET_F64(k) D(GET_p(k))
ALWAYS_INLINE u32 LANE(compare_f32)(const struct lanes *l)
{
    ROW_w(0) ROW_w(1);
    FLOAT_COMPARE_SWITCH(GET_F32)
}
ALWAYS_INLINE u32 LANE(compare_f32_ftz)(const struct lanes *l)
{
    ROW_w(0) ROW_w(1);
    FLOAT_COMPARE_SWITCH(GET_F32_FTZ)
}
ALWAYS_INLINE u32 LANE(compare_f64)(const struct lanes *l)
{
    ROW_p(0) ROW_p(1);
    FLOAT_COMPARE_SWITCH(GET_F64)
}
COMPARE_PAIR(f32)
COMPARE_PAIR(f32_ftz)
COMPARE_PAIR(f64)

/* c >= 0, so that -0 picks a and NaN picks b. */
LANE3(slct_f32_b32, w, w, w, w, F(c) >= 0.0f ? a : b)
LANE3(slct_f32_b64, p, p, p, w, F(c) >= 0.0f ? a : b)
