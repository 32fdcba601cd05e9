/*
 * Lane functions for the steps of division and argument reduction.
 *
 * A quotient n / d is the product of n and a reciprocal of d, refined by fused operations. Scaling
 * n or d (div_scale) avoids overflow and subnormals in these steps, div_fmas undoes the scaling in
 * the last step, and div_fixup handles results that need no steps. The conditions are those that
 * AMD gives for its later instruction sets; the documents of Southern Islands only name the
 * instructions.
 *
 * Decisions
 *  - div_fmas rounds once, after undoing the scale: otherwise subnormal quotients would be wrong in
 *    the last bit. It scales up if the quotient so far, c, is at least 2, else down.
 *  - If both the quotient and the reciprocal of d are subnormal, d is scaled down: scaled up, as in
 *    the documents, it would be infinite.
 *  - 0 / 0 and infinity / infinity give the NaN of an invalid operation. A computed quotient that
 *  is
 *    NaN has met an infinity: it overflows.
 */
#include "exec/lanes_compare.h"
#include "exec/lanes_float.h"

#define F(x) as_f32(x)
#define D(x) as_f64(x)
#define MAG32(x) ((x)&0x7fffffff)
#define MAG64(x) ((x)&INT64_MAX)

/*
 * The conditions for scaling, each 0 or ~0: masks instead of conditions, so that all lanes are
 * decided at once.
 */
struct division {
    u32 none;             /* n or d is zero */
    u32 apart;            /* the quotient is near the largest number */
    u32 small_d, small_n; /* d is subnormal, n is not far from it */
    u32 small_r, small_q; /* the reciprocal of d, the quotient are subnormal */
};
#define ALL(condition) ((condition) ? ~0u : 0)

/* Whether div_fmas must undo the scaling of div_scale. div_fixup handles zeros. */
ALWAYS_INLINE u32 is_undone(struct division x)
{
    return ~x.none & (x.apart | (~x.small_d & x.small_q));
}
/* Whether a value that is d, n, or neither, is scaled up or down. */
ALWAYS_INLINE u32 scales_up(struct division x, u32 is_d, u32 is_n)
{
    return mix(x.apart, is_d, x.small_d | (~x.small_r & mix(x.small_q, is_n, x.small_n)));
}
ALWAYS_INLINE u32 scales_down(struct division x, u32 is_d)
{
    return ~x.apart & ~x.small_d & x.small_r & (~x.small_q | is_d);
}

/* Products with the reciprocal of the smallest normal number are exact, or so large that they are
 * not below d. */
ALWAYS_INLINE struct division divide32(u32 n, u32 d)
{
    const i32 n_exponent = (i32)(n >> 23 & 255), d_exponent = (i32)(d >> 23 & 255);
    const f32 size_n = F(MAG32(n)), size_d = F(MAG32(d));
    const u32 finite = ALL(d_exponent != 255);
    return (struct division){ALL(MAG32(n) == 0) | ALL(MAG32(d) == 0),
                             ALL(n_exponent - d_exponent >= 96),
                             ALL(d_exponent == 0),
                             ALL(n_exponent <= 23),
                             ALL(0x1p126f < size_d) & finite,
                             ALL(size_n * 0x1p126f < size_d) & finite};
}
ALWAYS_INLINE struct division divide64(u64 n, u64 d)
{
    const i32 n_exponent = (i32)(n >> 52 & 2047), d_exponent = (i32)(d >> 52 & 2047);
    const f64 size_n = D(MAG64(n)), size_d = D(MAG64(d));
    const u32 finite = ALL(d_exponent != 2047);
    return (struct division){ALL(MAG64(n) == 0) | ALL(MAG64(d) == 0),
                             ALL(n_exponent - d_exponent >= 768),
                             ALL(d_exponent == 0),
                             ALL(n_exponent <= 53),
                             ALL(0x1p1022 < size_d) & finite,
                             ALL(size_n * 0x1p1022 < size_d) & finite};
}
ALWAYS_INLINE u32 div_scale32(u32 a, u32 d, u32 n)
{
    const struct division x = divide32(n, d);
    const u32 up = scales_up(x, ALL(a == d), ALL(a == n)) & 64 << 23;
    const u32 down = scales_down(x, ALL(a == d)) & 64 << 23;
    return mix(x.none, DEFAULT_NAN32, nan32(F(a) * F(0x3f800000 + up - down), a, a, a));
}
ALWAYS_INLINE u64 div_scale64(u64 a, u64 d, u64 n)
{
    const struct division x = divide64(n, d);
    const u32 up = scales_up(x, ALL(a == d), ALL(a == n)) & 128 << 20;
    const u32 down = scales_down(x, ALL(a == d)) & 128 << 20;
    const f64 factor = D((u64)(0x3ff00000 + up - down) << 32);
    return x.none ? DEFAULT_NAN64 : nan64(D(a) * factor, a, a, a);
}
LANE3(div_scale_value_f32, w, w, w, w, div_scale32(a, b, c))
LANE3(div_scale_value_f64, p, p, p, p, div_scale64(a, b, c))

/* Flags first: the value may overwrite the sources. */
#define DIV_SCALE(name, K, divide)                              \
    void LANE(div_scale_##name)(struct lanes * l)               \
    {                                                           \
        ROW_##K(1) ROW_##K(2);                                  \
        _Alignas(32) u32 yes[LANES];                            \
        EACH_LANE                                               \
        {                                                       \
            yes[i] = is_undone(divide(GET_##K(2), GET_##K(1))); \
        }                                                       \
        put_mask(l, 1, bits_of(yes));                           \
        LANE(div_scale_value_##name)(l);                        \
    }
DIV_SCALE(f32, w, divide32)
DIV_SCALE(f64, p, divide64)

/* In double, the product is exact, and so is the scaling of the sum. */
ALWAYS_INLINE u32 div_fmas32(u32 a, u32 b, u32 c, bool undo, u32 mode)
{
    const f64 product = (f64)F(a) * F(b);
    const f64 sum = mode == ROUND_NEAREST ? add_odd(product, F(c)) : product + F(c);
    const f64 factor = (c >> 23 & 255) > 127 ? 0x1p64 : 0x1p-64;
    return nan32((f32)(undo ? sum * factor : sum), a, b, c);
}
void LANE(div_fmas_f32)(struct lanes *l)
{
    LANE_KEYS ROW_w(0) ROW_w(1) ROW_w(2) OUT_w;
    const u32 undo = lane_mask_source(l, 3);
    LANE_LOOPS(w, div_fmas32(s0[i], s1[i], s2[i], undo & lane_bit[i], mode))
}
static u64 div_fmas_undone64(u64 a, u64 b, u64 c, u32 mode)
{
    const i32 scale = (c >> 52 & 2047) > 1023 ? 128 : -128;
    bool invalid = is_nan64(a) || is_nan64(b) || is_nan64(c);
    u64 r = 0;
    if (!invalid)
        r = soft_scaled_fma_f64(a, b, c, scale, mode, &invalid);
    return invalid ? nan64(D(DEFAULT_NAN64), a, b, c) : r;
}
void LANE(div_fmas_f64)(struct lanes *l)
{
    LANE_KEYS ROW_p(0) ROW_p(1) ROW_p(2) OUT_p;
    const u32 undo = lane_mask_source(l, 3);
    if (LIKELY(!(undo & l->mask))) {
        LANE_LOOPS(p, fused64(GET_p(0), GET_p(1), GET_p(2), mode))
        return;
    }
    const u32 *const m = l->lane_mask;
    for (unsigned i = 0; i < LANES; i++) {
        const u64 a = GET_p(0), b = GET_p(1), c = GET_p(2);
        MIX_p(undo & lane_bit[i] ? div_fmas_undone64(a, b, c, mode) : fused64(a, b, c, mode))
    }
}

/* Magnitude of a result that is too small for its format, by rounding mode. */
ALWAYS_INLINE u64 underflow(bool negative, u32 mode)
{
    return mode == (negative ? ROUND_DOWN : ROUND_UP) ? 1 : 0;
}

/* a: the computed quotient, b: denominator, c: numerator, whose NaN takes precedence. */
ALWAYS_INLINE u32 div_fixup32(u32 a, u32 b, u32 c, u32 mode)
{
    const u32 sign = (b ^ c) & 0x80000000, d = MAG32(b), n = MAG32(c), infinity = 0x7f800000;
    const bool far = (i32)(n >> 23) - (i32)(d >> 23) < -150;
    const bool large = (d == 0) | (n == infinity), small = (d == infinity) | (n == 0);
    const u32 quotient = MAG32(a) < infinity ? MAG32(a) : infinity;
    const u32 steps = far ? (u32)underflow(sign, mode) : quotient;
    const u32 magnitude = large ? infinity : small ? 0 : steps;
    /* large & small: 0 / 0 or infinity / infinity */
    const bool is_nan = (n > infinity) | (d > infinity) | (large & small);
    return is_nan ? nan32(F(DEFAULT_NAN32), c, b, b) : sign | magnitude;
}
ALWAYS_INLINE u64 div_fixup64(u64 a, u64 b, u64 c, u32 mode)
{
    const u64 sign = (b ^ c) & 1ull << 63, d = MAG64(b), n = MAG64(c), infinity = 0x7ffull << 52;
    const bool far = (i32)(n >> 52) - (i32)(d >> 52) < -1075;
    const bool large = (d == 0) | (n == infinity), small = (d == infinity) | (n == 0);
    const u64 quotient = MAG64(a) < infinity ? MAG64(a) : infinity;
    const u64 steps = far ? underflow(sign, mode) : quotient;
    const u64 magnitude = large ? infinity : small ? 0 : steps;
    const bool is_nan = (n > infinity) | (d > infinity) | (large & small);
    return is_nan ? nan64(D(DEFAULT_NAN64), c, b, b) : sign | magnitude;
}
LANE3(div_fixup_f32, w, w, w, w, div_fixup32(a, b, c, mode))
LANE3(div_fixup_f64, p, p, p, p, div_fixup64(a, b, c, mode))

/* The first 1201 bits of 2 / pi, from the binary point on. */
static const u64 two_over_pi[] = {
    0xa2f9836e4e441529, 0xfc2757d1f534ddc0, 0xdb6295993c439041, 0xfe5163abdebbc561,
    0xb7246e3a424dd2e0, 0x06492eea09d1921c, 0xfe1deb1cb129a73e, 0xe88235f52ebb4484,
    0xe99c7026b45f7e41, 0x3991d639835339f4, 0x9c845f8bbdf9283b, 0x1ff897ffde05980f,
    0xef2f118b5a0a6d1f, 0x6d367ecf27cb09b7, 0x4f463f669e5fea2d, 0x7527bac7ebe5f17b,
    0x3d0739f78a5292ea, 0x6bfb5fb11f8d5d08, 0x56033046fc7b0000,
};

/* Segment b of 53 of these bits, starting where the exponent of a makes them significant. */
ALWAYS_INLINE u64 angle_segment(u64 a, u32 b)
{
    const u32 exponent = a >> 52 & 2047,
              from = (b & 31) * 53 + (exponent > 1077 ? exponent - 1077 : 0);
    const u32 word = from / 64, up = from % 64, count = ARRAY_LEN(two_over_pi);
    const u64 high = word < count ? two_over_pi[word] : 0;
    const u64 low = word + 1 < count ? two_over_pi[word + 1] : 0;
    const u64 bits = (high << up | low >> 1 >> (63 - up)) >> 11;
    const i32 scale = -53 - (i32)from + (exponent >= 1968 ? 128 : 0);
    return of_f64(scale64((f64)(i64)bits, scale));
}
LANE2(trig_preop_f64, p, p, w, angle_segment(a, b))
