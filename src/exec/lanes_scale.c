/*
 * Lane functions on floats as significand and exponent: fractions, powers of two, classes. They
 * round once, in the host's mode.
 */
#include "exec/lanes_compare.h"
#include "exec/lanes_float.h"

#define F(x) as_f32(x)
#define D(x) as_f64(x)

/*
 * Rounds down to an integral value, in any rounding mode of the host: shifting out the fraction
 * gives one of the neighbours; if it is too high, 1 is subtracted.
 */
ALWAYS_INLINE f32 floor32(f32 x)
{
    const u32 sign = of_f32(x) & 0x80000000;
    const f32 magnitude = F(of_f32(x) & 0x7fffffff), pushed = (magnitude + 0x1p23f) - 0x1p23f;
    const f32 whole = magnitude < 0x1p23f ? pushed : magnitude;
    const f32 r = F((of_f32(whole) & 0x7fffffff) | sign); /* when rounding down, 1 - 1 is -0 */
    return r > x ? r - 1.0f : r;
}
ALWAYS_INLINE f64 floor64(f64 x)
{
    const u64 sign = of_f64(x) & 0x8000000000000000;
    const f64 magnitude = D(of_f64(x) & INT64_MAX), pushed = (magnitude + 0x1p52) - 0x1p52;
    const f64 whole = magnitude < 0x1p52 ? pushed : magnitude;
    const f64 r = D((of_f64(whole) & INT64_MAX) | sign);
    return r > x ? r - 1.0 : r;
}
/* x - floor(x), which may round to 1 and is then 1. NaN for infinities. */
LANE1(fract_f32, w, w, nan32(F(a) - floor32(F(a)), a, a, a))
LANE1(fract_f64, p, p, nan64(D(a) - floor64(D(a)), a, a, a))

/* In double, where neither the power nor the product overflows, only the last step rounds. */
ALWAYS_INLINE f32 scale32(f32 x, i32 power)
{
    const i32 low = power < -400 ? -400 : power, n = low > 400 ? 400 : low;
    return (f32)(x * D((u64)(u32)(n + 1023) << 52));
}
LANE2(ldexp_f32, w, w, w, nan32(scale32(F(a), (i32)b), a, a, a))
LANE2(ldexp_f64, p, p, w, nan64(scale64(D(a), (i32)b), a, a, a))

/* value = significand in [1/2, 1) times 2^exponent. A subnormal is made normal first. */
ALWAYS_INLINE u32 normal32(u32 a)
{
    const f32 magnitude = F(a & 0x7fffffff);
    return of_f32(magnitude < 0x1p-126f ? magnitude * 0x1p64f : magnitude);
}
ALWAYS_INLINE u64 normal64(u64 a)
{
    const f64 magnitude = D(a & INT64_MAX);
    return of_f64(magnitude < 0x1p-1022 ? magnitude * 0x1p64 : magnitude);
}
ALWAYS_INLINE u32 exponent32(u32 a)
{
    const u32 magnitude = a & 0x7fffffff, exponent = normal32(a) >> 23;
    const u32 r = exponent - (magnitude < 0x00800000 ? 126 + 64 : 126);
    return magnitude == 0 || magnitude >= 0x7f800000 ? 0 : r;
}
ALWAYS_INLINE u32 exponent64(u64 a)
{
    const u64 magnitude = a & INT64_MAX;
    const u32 exponent = (u32)(normal64(a) >> 52);
    const u32 r = exponent - (magnitude < 1ull << 52 ? 1022 + 64 : 1022);
    return magnitude == 0 || magnitude >= 0x7ff0000000000000 ? 0 : r;
}
ALWAYS_INLINE u32 significand32(u32 a)
{
    const u32 magnitude = a & 0x7fffffff;
    const u32 r = (a & 0x80000000) | (normal32(a) & 0x007fffff) | 0x3f000000;
    return magnitude == 0 || magnitude >= 0x7f800000 ? nan32(F(a), a, a, a) : r;
}
ALWAYS_INLINE u64 significand64(u64 a)
{
    const u64 magnitude = a & INT64_MAX;
    const u64 r = (a & 1ull << 63) | (normal64(a) & ((1ull << 52) - 1)) | 0x3feull << 52;
    return magnitude == 0 || magnitude >= 0x7ff0000000000000 ? nan64(D(a), a, a, a) : r;
}
LANE1(frexp_exp_f32, w, w, exponent32(a))
LANE1(frexp_exp_f64, w, p, exponent64(a))
LANE1(frexp_mant_f32, w, w, significand32(a))
LANE1(frexp_mant_f64, p, p, significand64(a))

/*
 * Classes: bit 0 signaling NaN, 1 quiet NaN; then for negative numbers infinite, normal, subnormal,
 * zero, and for positive ones the same in reverse.
 */
#define ALL(condition) ((condition) ? ~0u : 0)
/* For masks of 0 or ~0. */
ALWAYS_INLINE u32 class_bit(u32 negative, u32 zero, u32 subnormal, u32 infinite)
{
    const u32 below = mix(zero, 1 << 5, mix(subnormal, 1 << 4, mix(infinite, 1 << 2, 1 << 3)));
    const u32 above = mix(zero, 1 << 6, mix(subnormal, 1 << 7, mix(infinite, 1 << 9, 1 << 8)));
    return mix(negative, below, above);
}
ALWAYS_INLINE u32 class32(u32 a)
{
    const i32 magnitude = (i32)(a & 0x7fffffff);
    const u32 number = class_bit((u32)((i32)a >> 31), ALL(magnitude == 0),
                                 ALL(magnitude < 0x00800000), ALL(magnitude == 0x7f800000));
    return mix(ALL(magnitude > 0x7f800000), 1 + (a >> 22 & 1), number);
}
ALWAYS_INLINE u32 class64(u32 high, u32 low)
{
    const i32 upper = (i32)(high & 0x7fffffff);
    const u32 rest = ALL(low != 0), all_ones = ALL(upper == 0x7ff00000);
    const u32 number = class_bit((u32)((i32)high >> 31), ALL(upper == 0) & ~rest,
                                 ALL(upper < 0x00100000), all_ones);
    const u32 nan = ALL(upper > 0x7ff00000) | (all_ones & rest);
    return mix(nan, 1 + (high >> 19 & 1), number);
}
void LANE(class_f32)(struct lanes *l)
{
    ROW_w(0) ROW_w(1);
    _Alignas(32) u32 yes[LANES];
    EACH_LANE
    {
        yes[i] = class32(s0[i]) & s1[i] ? ~0u : 0;
    }
    put_mask(l, 0, bits_of(yes));
}
void LANE(class_f64)(struct lanes *l)
{
    ROW_p(0) ROW_w(1);
    _Alignas(32) u32 yes[LANES];
    EACH_LANE
    {
        yes[i] = class64(t0[i], s0[i]) & s1[i] ? ~0u : 0;
    }
    put_mask(l, 0, bits_of(yes));
}
