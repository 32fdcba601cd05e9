/*
 * Lane functions of f32 and f64 arithmetic and comparison.
 *
 * The plain functions use the host's rounding mode (nearest unless lanes_modify.c has set another)
 * and keep subnormals. *_ftz are the common f32 functions with flushing. Exact operations are the
 * host's IEEE ones; only fma needs a substitute if the host lacks it.
 */
#include "exec/lanes_compare.h"
#include "exec/lanes_float.h"
#include "exec/lanes_signs.h"

#define F(x) as_f32(x)
#define D(x) as_f64(x)

/*
 * Ordinary numbers need neither the NaN rule nor flushing. Where the rule is expensive
 * (propagating), a first loop computes without both and detects lanes that would have needed them;
 * only then the careful loop runs. The last argument declares a, b, c and values derived from them;
 * `r` is the result; `watched` is the minimum of the values that must not be subnormal, each as
 * AWAY.
 */
#define AWAY(x) ((x) + (x)-1) /* below LEAST_AWAY: subnormal, whatever its sign */
#define LEAST_AWAY 0x00ffffffu
#define LEAST2(x, y) ((x) < (y) ? (x) : (y))
#define LEAST3(x, y, z) LEAST2(LEAST2(x, y), z)
#if LANE_NAN_CANONICAL
#define QUICK_LOOPS(r, watched, careful, ...) LANE_LOOPS(w, careful)
#else
#define QUICK_LOOP(r, watched, lane_mask, ...)       \
    EACH_LANE                                        \
    {                                                \
        __VA_ARGS__;                                 \
        const f32 r_ = (r);                          \
        const u32 bits = of_f32(r_), w_ = (watched); \
        const u32 away = w_ | ~(lane_mask);          \
        quick[i] = bits;                             \
        least = LEAST2(least, away);                 \
        odd |= (r_ != r_ ? ~0u : 0) & (lane_mask);   \
    }
#define QUICK_LOOPS(r, watched, careful, ...)     \
    _Alignas(32) u32 quick[LANES];                \
    u32 least = ~0u, odd = 0;                     \
    if (LIKELY(l->mask == LANES_FULL)) {          \
        QUICK_LOOP(r, watched, ~0u, __VA_ARGS__)  \
    } else {                                      \
        const u32 *const m = l->lane_mask;        \
        QUICK_LOOP(r, watched, m[i], __VA_ARGS__) \
    }                                             \
    if (LIKELY(!odd && least >= LEAST_AWAY)) {    \
        LANE_LOOPS(w, quick[i])                   \
    } else {                                      \
        LANE_LOOPS(w, careful)                    \
    }
#endif

/* The four variants of an operation on two numbers: plain, flushing, and both with signs. */
#define QUICK2(name, full_name, get, signs, sign, watched)                          \
    void LANE(full_name)(struct lanes * l)                                          \
    {                                                                               \
        ROW_w(0) ROW_w(1) signs OUT_w QUICK_LOOPS(F(a) sign F(b), watched,          \
                                                  LANE(name##_one)(get(0), get(1)), \
                                                  const u32 a = get(0), b = get(1)) \
    }
#define LANE2_F32(name, sign)                                                           \
    ALWAYS_INLINE u32 LANE(name##_one)(u32 a, u32 b)                                    \
    {                                                                                   \
        return nan32(F(a) sign F(b), a, b, b);                                          \
    }                                                                                   \
    ALWAYS_INLINE u32 LANE(name##_ftz_one)(u32 a, u32 b)                                \
    {                                                                                   \
        a = flush32(a), b = flush32(b);                                                 \
        return flush32(nan32(F(a) sign F(b), a, b, b));                                 \
    }                                                                                   \
    QUICK2(name, name, GET_w, , sign, ~0u)                                              \
    QUICK2(name##_ftz, name##_ftz, GET_w, , sign, LEAST3(AWAY(a), AWAY(b), AWAY(bits))) \
    QUICK2(name, name##_signed, SIGNED_w, SIGNS(0) SIGNS(1), sign, ~0u)                 \
    QUICK2(name##_ftz, name##_ftz_signed, SIGNED_w, SIGNS(0) SIGNS(1), sign,            \
           LEAST3(AWAY(a), AWAY(b), AWAY(bits)))

LANE2_F32(add_f32, +)
LANE2_F32(sub_f32, -)
LANE2_F32(mul_f32, *)

/* The same for three numbers; `made` declares values that are computed before the result. */
#define QUICK3(name, full_name, get, signs, made, r, watched)                                 \
    void LANE(full_name)(struct lanes * l)                                                    \
    {                                                                                         \
        const u32 mode = l->inst->rounding;                                                   \
        (void)mode;                                                                           \
        ROW_w(0) ROW_w(1) ROW_w(2) signs OUT_w QUICK_LOOPS(                                   \
            r, watched, LANE(name##_one)(get(0), get(1), get(2), mode), const u32 a = get(0), \
            b = get(1), c = get(2);                                                           \
            made)                                                                             \
    }
#define LANE3_F32(name, made, r, watched)         \
    QUICK3(name, name, GET_w, , made, r, watched) \
    QUICK3(name, name##_signed, SIGNED_w, SIGNS(0) SIGNS(1) SIGNS(2), made, r, watched)

ALWAYS_INLINE u32 LANE(fma_f32_one)(u32 a, u32 b, u32 c, u32 mode)
{
    return nan32(fused32(F(a), F(b), F(c), mode), a, b, c);
}
ALWAYS_INLINE u32 LANE(fma_f32_ftz_one)(u32 a, u32 b, u32 c, u32 mode)
{
    return flush32(LANE(fma_f32_one)(flush32(a), flush32(b), flush32(c), mode));
}
LANE3_F32(fma_f32, , fused32(F(a), F(b), F(c), mode), ~0u)
LANE3_F32(fma_f32_ftz, , fused32(F(a), F(b), F(c), mode),
          LEAST2(LEAST3(AWAY(a), AWAY(b), AWAY(c)), AWAY(bits)))

/* Product and sum are rounded; subnormal inputs and results are flushed. */
ALWAYS_INLINE u32 LANE(mad_f32_one)(u32 a, u32 b, u32 c, u32 mode)
{
    (void)mode;
    a = flush32(a), b = flush32(b), c = flush32(c);
    const f32 product = F(flush32(of_f32(F(a) * F(b))));
    return flush32(nan32(product + F(c), a, b, c));
}
LANE3_F32(mad_f32, const f32 p = F(a) * F(b), p + F(c),
          LEAST3(LEAST3(AWAY(a), AWAY(b), AWAY(c)), AWAY(of_f32(p)), AWAY(bits)))

/* Legacy products: zero times anything is +0. */
ALWAYS_INLINE bool has_zero(u32 a, u32 b)
{
    return ((a & 0x7fffffff) == 0) | ((b & 0x7fffffff) == 0);
}
ALWAYS_INLINE u32 legacy_product(u32 a, u32 b)
{
    return has_zero(a, b) ? 0 : nan32(F(a) * F(b), a, b, b);
}
ALWAYS_INLINE u32 legacy_mad(u32 a, u32 b, u32 c)
{
    a = flush32(a), b = flush32(b), c = flush32(c);
    const u32 x = has_zero(a, b) ? 0 : a, y = has_zero(a, b) ? 0 : b;
    return LANE(mad_f32_one)(x, y, c, ROUND_NEAREST);
}
LANE2(mul_legacy_f32, w, w, w, legacy_product(a, b))
LANE3(mad_legacy_f32, w, w, w, w, legacy_mad(a, b, c))
LANE2(min_legacy_f32, w, w, w, F(a) < F(b) ? a : b)
LANE2(max_legacy_f32, w, w, w, F(a) >= F(b) ? a : b)
/* For b ^ a as exp2(a * log2 b), with c the cosine of the light: no contribution from the dark side
 * or from the logarithm of zero. */
#define LOWEST 0xff7fffffu
LANE3(mullit_f32, w, w, w, w, F(b) > F(LOWEST) && F(c) > 0.0f ? legacy_product(a, b) : LOWEST)

LANE2(div_f32, w, w, w, nan32(F(a) / F(b), a, b, b))
LANE1_FTZ(rcp_f32, nan32(1.0f / F(a), a, a, a))
LANE1_FTZ(sqrt_f32, nan32(__builtin_sqrtf(F(a)), a, a, a))
LANE1(abs_f32, w, w, a & 0x7fffffff)
LANE1(neg_f32, w, w, a ^ 0x80000000)

LANE2(add_f64, p, p, p, nan64(D(a) + D(b), a, b, b))
LANE2(sub_f64, p, p, p, nan64(D(a) - D(b), a, b, b))
LANE2(mul_f64, p, p, p, nan64(D(a) * D(b), a, b, b))
LANE3(fma_f64, p, p, p, p, fused64(a, b, c, mode))
SIGNED2(add_f64, p)
SIGNED2(sub_f64, p)
SIGNED2(mul_f64, p)
SIGNED3(fma_f64, p)
LANE2(div_f64, p, p, p, nan64(D(a) / D(b), a, b, b))
LANE1(rcp_f64, p, p, nan64(1.0 / D(a), a, a, a))
LANE1(sqrt_f64, p, p, nan64(__builtin_sqrt(D(a)), a, a, a))
LANE_HALVES1(abs_f64, al, ah & 0x7fffffff)
LANE_HALVES1(neg_f64, al, ah ^ 0x80000000)

/*
 * Minimum and maximum: a number takes precedence over NaN, -0 is below +0; two NaNs give NaN.
 * MOD_NAN and MOD_XORSIGN select the other functions.
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
/* Magnitudes are compared, the result has the product's sign; a NaN result does not change. */
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
SIGNED2(min_f32, w)
SIGNED2(max_f32, w)
SIGNED2(min_f64, p)
SIGNED2(max_f64, p)
LANE3(min3_f32, w, w, w, w, least32(least32(a, b), c))
LANE3(max3_f32, w, w, w, w, most32(most32(a, b), c))
LANE3(min3_nan_f32, w, w, w, w,
      strict32(least32(strict32(least32(a, b), a, b), c), strict32(least32(a, b), a, b), c))
LANE3(max3_nan_f32, w, w, w, w,
      strict32(most32(strict32(most32(a, b), a, b), c), strict32(most32(a, b), a, b), c))

/* MOD_IEEE: a signaling NaN takes precedence, quieted; a quiet one does not. */
ALWAYS_INLINE bool is_signaling32(u32 x)
{
    return is_nan32(x) & !(x & QUIET32);
}
ALWAYS_INLINE bool is_signaling64(u64 x)
{
    return is_nan64(x) & !(x & QUIET64);
}
ALWAYS_INLINE u32 ieee32(u32 r, u32 a, u32 b)
{
#if LANE_NAN_CANONICAL
    return is_signaling32(a) || is_signaling32(b) ? DEFAULT_NAN32 : r;
#else
    return is_signaling32(a) ? a | QUIET32 : is_signaling32(b) ? b | QUIET32 : r;
#endif
}
ALWAYS_INLINE u64 ieee64(u64 r, u64 a, u64 b)
{
    return is_signaling64(a) ? a | QUIET64 : is_signaling64(b) ? b | QUIET64 : r;
}
ALWAYS_INLINE u32 ieee_least32(u32 a, u32 b)
{
    return ieee32(least32(a, b), a, b);
}
ALWAYS_INLINE u32 ieee_most32(u32 a, u32 b)
{
    return ieee32(most32(a, b), a, b);
}
LANE2(min_ieee_f32, w, w, w, ieee_least32(a, b))
LANE2(max_ieee_f32, w, w, w, ieee_most32(a, b))
LANE2(min_ieee_f64, p, p, p, ieee64(least64(a, b), a, b))
LANE2(max_ieee_f64, p, p, p, ieee64(most64(a, b), a, b))
SIGNED2(min_ieee_f32, w)
SIGNED2(max_ieee_f32, w)
SIGNED2(min_ieee_f64, p)
SIGNED2(max_ieee_f64, p)
LANE3(min3_ieee_f32, w, w, w, w, ieee_least32(ieee_least32(a, b), c))
LANE3(max3_ieee_f32, w, w, w, w, ieee_most32(ieee_most32(a, b), c))

/* The median; with a NaN among the operands, their minimum. */
ALWAYS_INLINE u32 median32(u32 a, u32 b, u32 c, u32 least)
{
    const u32 low = order32(a) < order32(b) ? a : b, high = order32(a) < order32(b) ? b : a;
    const u32 other = order32(high) < order32(c) ? high : c;
    const u32 r = order32(low) > order32(other) ? low : other;
    return is_nan32(a) || is_nan32(b) || is_nan32(c) ? least : r;
}
LANE3(med3_f32, w, w, w, w, median32(a, b, c, least32(least32(a, b), c)))
LANE3(med3_ieee_f32, w, w, w, w, median32(a, b, c, ieee_least32(ieee_least32(a, b), c)))

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

/* The same with signs, for setp only. */
#define SIGNED_F32(k) F(SIGNED_w(k))
#define SIGNED_F32_FTZ(k) F(flush32(SIGNED_w(k)))
#define SIGNED_F64(k) D(SIGNED_p(k))
#define SIGNED_SETP(name, A, GETX)                                         \
    ALWAYS_INLINE u32 LANE(compare_signed_##name)(const struct lanes *l)   \
    {                                                                      \
        ROW_##A(0) ROW_##A(1) SIGNS(0) SIGNS(1) FLOAT_COMPARE_SWITCH(GETX) \
    }                                                                      \
    void LANE(setp_##name##_signed)(struct lanes * l)                      \
    {                                                                      \
        finish_setp(l, LANE(compare_signed_##name)(l));                    \
    }
SIGNED_SETP(f32, w, SIGNED_F32)
SIGNED_SETP(f32_ftz, w, SIGNED_F32_FTZ)
SIGNED_SETP(f64, p, SIGNED_F64)

/* c >= 0, so that -0 selects a and NaN selects b. */
LANE3(slct_f32_b32, w, w, w, w, F(c) >= 0.0f ? a : b)
LANE3(slct_f32_b64, p, p, p, w, F(c) >= 0.0f ? a : b)
