/*
 * Lane functions of conversions between floats and small integers, and of packing.
 */
#include "exec/lanes_half.h"

#define F(x) as_f32(x)

LANE1(cvt_ubyte_f32, w, w, of_f32((f32)(i32)(a >> (8 * key & 31) & 255)))
/* The low 4 bits as sixteenths, from -1/2 on. */
LANE1(cvt_off_f32_s4, w, w, of_f32((f32)((i32)(a << 28) >> 28) * 0.0625f))

/* x, an integral number, clamped; NaN gives 0. */
ALWAYS_INLINE u32 clamp_to_s32(f64 x)
{
    const f64 low = x > -0x1p31 ? x : -0x1p31, y = low < 0x1p31 - 1.0 ? low : 0x1p31 - 1.0;
    return (u32)(i32)(x == x ? y : 0.0);
}
/* Rounds down, for f32 and their sums with 1/2; beyond 2^40 it does not matter. */
ALWAYS_INLINE f64 down(f64 x)
{
    const bool near = (x > -0x1p40) & (x < 0x1p40);
    const f64 inside = near ? x : 0.0;
    const f64 pushed = (inside + 0x1.8p52) - 0x1.8p52;
    const f64 r = pushed > inside ? pushed - 1.0 : pushed;
    return near ? r : x;
}
LANE1(cvt_floor_s32_f32, w, w, clamp_to_s32(down(F(a))))
LANE1(cvt_nearest_s32_f32, w, w, clamp_to_s32(down((f64)F(a) + 0.5)))

/* Rounds in the host's mode, by shifting out the fraction. */
ALWAYS_INLINE u32 byte_of(u32 a)
{
    const f32 low = F(a) > 0.0f ? F(a) : 0.0f; /* NaN too */
    return (u32)(i32)(((low < 255.0f ? low : 255.0f) + 0x1p23f) - 0x1p23f);
}
ALWAYS_INLINE u32 insert_byte(u32 a, u32 at, u32 into)
{
    const u32 shift = 8 * (at & 3);
    return (into & ~(255u << shift)) | byte_of(a) << shift;
}
LANE3(cvt_pk_u8_f32, w, w, w, w, insert_byte(a, b, c))

/* Numbers in [-1, 1] or [0, 1] as fractions of the largest integer, to nearest even. */
ALWAYS_INLINE u32 normalised(u32 a, f64 least, f64 most)
{
    const f64 x = F(a) * most; /* exact */
    const f64 low = x > least ? x : least, y = low < most ? low : most;
    const f64 r = ((x == x ? y : 0.0) + 0x1.8p52) - 0x1.8p52;
    return (u32)(i32)r & 0xffff;
}
#define NORM(least, most) (normalised(a, least, most) | normalised(b, least, most) << 16)
LANE2(cvt_pknorm_s16_f32, w, w, w, NORM(-32767.0, 32767.0))
LANE2(cvt_pknorm_u16_f32, w, w, w, NORM(0.0, 65535.0))

/* Rounds toward zero: bits are cut off, below 2^-14 as many more as there are leading zeros. */
ALWAYS_INLINE u32 half_cut(u32 a)
{
    const u32 magnitude = a & 0x7fffffff;
    const u32 subnormal = (u32)(i32)(F(magnitude < 0x38800000 ? magnitude : 0) * 0x1p24f);
    const u32 normal = (magnitude - (112u << 23)) >> 13;
    const u32 finite = magnitude < 0x38800000 ? subnormal : normal;
    const u32 large = magnitude == 0x7f800000 ? 0x7c00 : 0x7bff;
    const u32 number = (a >> 16 & 0x8000) | (magnitude < 0x47800000 ? finite : large);
    return is_nan32(a) ? half_narrow(a) : number;
}
LANE2(cvt_pkrtz_f16_f32, w, w, w, half_cut(a) | half_cut(b) << 16)
