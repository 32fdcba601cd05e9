/*
 * Vector functions of the common conversions from and to floating point. Where rounding is needed
 * it is in the host's rounding mode; functions to integers and integral values round as their names
 * say.
 */
#include "exec/lanes_cvt.h"
#include "exec/lanes_float.h"
#include "exec/lanes_half.h"

#define F(x) as_f32(x)
#define D(x) as_f64(x)

/*
 * To integral values, without the host's rounding instructions (not in every instruction set).
 * Adding 2^23 (2^52) shifts out the fraction, rounding to nearest; the sign is restored for zeros.
 */
ALWAYS_INLINE f32 nearest32(f32 x)
{
    const u32 sign = of_f32(x) & 0x80000000;
    const f32 magnitude = F(of_f32(x) & 0x7fffffff);
    const f32 r = (magnitude + 0x1p23f) - 0x1p23f;
    return F(of_f32(magnitude < 0x1p23f ? r : magnitude) | sign);
}
ALWAYS_INLINE f64 nearest64(f64 x)
{
    const u64 sign = of_f64(x) & 0x8000000000000000;
    const f64 magnitude = D(of_f64(x) & INT64_MAX);
    const f64 r = (magnitude + 0x1p52) - 0x1p52;
    return D(of_f64(magnitude < 0x1p52 ? r : magnitude) | sign);
}
ALWAYS_INLINE f32 zero32(f32 x)
{
    const u32 sign = of_f32(x) & 0x80000000;
    const f32 magnitude = F(of_f32(x) & 0x7fffffff), r = nearest32(magnitude);
    return F(of_f32(r > magnitude ? r - 1.0f : r) | sign);
}
ALWAYS_INLINE f64 zero64(f64 x)
{
    const u64 sign = of_f64(x) & 0x8000000000000000;
    const f64 magnitude = D(of_f64(x) & INT64_MAX), r = nearest64(magnitude);
    return D(of_f64(r > magnitude ? r - 1.0 : r) | sign);
}
ALWAYS_INLINE f32 down32(f32 x)
{
    const f32 r = nearest32(x);
    return r > x ? r - 1.0f : r;
}
ALWAYS_INLINE f64 down64(f64 x)
{
    const f64 r = nearest64(x);
    return r > x ? r - 1.0 : r;
}
/* Upwards as the mirror image of downwards: keeps -0 for (-1, 0). */
ALWAYS_INLINE f32 up32(f32 x)
{
    return F(of_f32(down32(F(of_f32(x) ^ 0x80000000))) ^ 0x80000000);
}
ALWAYS_INLINE f64 up64(f64 x)
{
    return D(of_f64(down64(D(of_f64(x) ^ 0x8000000000000000))) ^ 0x8000000000000000);
}
#define INTEGRAL(rounding, name)                                    \
    LANE1(cvt_f32_##rounding, w, w, nan32(name##32(F(a)), a, a, a)) \
    LANE1(cvt_f64_##rounding, p, p, nan64(name##64(D(a)), a, a, a))
LANE1(cvt_f32_rmi_ftz, w, w, nan32(down32(F(flush32(a))), a, a, a))
LANE1(cvt_f32_rpi_ftz, w, w, nan32(up32(F(flush32(a))), a, a, a))
INTEGRAL(rni, nearest)
INTEGRAL(rzi, zero)
INTEGRAL(rmi, down)
INTEGRAL(rpi, up)

/* To integers: x is integral or is truncated. See V1 in cvt_any.c. */
#if LANE_NAN_CANONICAL
#define NAN_S32 INT32_MIN
#define NAN_S64 INT64_MIN
#else
#define NAN_S32 0
#define NAN_S64 0
#endif
ALWAYS_INLINE u32 s32_f32(f32 x)
{
    const bool inside = (x >= -0x1p31f) & (x < 0x1p31f);
    const i32 r = (i32)(inside ? x : 0.0f);
    return x >= 0x1p31f ? INT32_MAX : x < -0x1p31f ? 0x80000000u : (u32)r;
}
ALWAYS_INLINE u32 u32_f32(f32 x)
{
    const bool inside = (x > -1.0f) & (x < 0x1p32f);
    const f32 y = inside ? x : 0.0f;
    const bool upper = y >= 0x1p31f; /* the host converts to signed only */
    const u32 r = (u32)(i32)(upper ? y - 0x1p31f : y) + (upper ? 0x80000000 : 0);
    return x >= 0x1p32f ? UINT32_MAX : r;
}
ALWAYS_INLINE u32 s16_f32(f32 x)
{
    const f32 low = x < -32768.0f ? -32768.0f : x;
    const f32 y = low > 32767.0f ? 32767.0f : low;
    return (u32)(i32)(y == y ? y : 0.0f);
}
ALWAYS_INLINE u32 u16_f32(f32 x)
{
    const f32 low = x > 0.0f ? x : 0.0f; /* NaN too */
    return (u32)(i32)(low > 65535.0f ? 65535.0f : low);
}
ALWAYS_INLINE u64 s64_f32(f32 x)
{
    const bool inside = (x >= -0x1p63f) & (x < 0x1p63f);
    const i64 r = inside ? (i64)x : x != x ? NAN_S64 : INT64_MIN;
    return x >= 0x1p63f ? INT64_MAX : (u64)r;
}
ALWAYS_INLINE u32 s32_f64(f64 x)
{
    const bool inside = (x > -0x1p31 - 1.0) & (x < 0x1p31);
    const i32 r = inside ? (i32)x : x != x ? NAN_S32 : INT32_MIN;
    return x >= 0x1p31 ? INT32_MAX : (u32)r;
}
ALWAYS_INLINE u32 u32_f64(f64 x)
{
    const bool inside = (x > -1.0) & (x < 0x1p32);
    const u32 r = inside ? (u32)(i64)x : x != x ? (u32)NAN_S32 : 0;
    return x >= 0x1p32 ? UINT32_MAX : r;
}
ALWAYS_INLINE u64 s64_f64(f64 x)
{
    const bool inside = (x >= -0x1p63) & (x < 0x1p63);
    const i64 r = inside ? (i64)x : x != x ? NAN_S64 : INT64_MIN;
    return x >= 0x1p63 ? INT64_MAX : (u64)r;
}
LANE1(cvt_s32_f32_rzi, w, w, s32_f32(F(a)))
LANE1(cvt_u32_f32_rzi, w, w, u32_f32(F(a)))
LANE1(cvt_s16_f32_rzi, w, w, s16_f32(F(a)))
LANE1(cvt_u16_f32_rzi, w, w, u16_f32(F(a)))
LANE1(cvt_s64_f32_rzi, p, w, s64_f32(F(a)))
LANE1(cvt_s32_f64_rzi, w, p, s32_f64(D(a)))
LANE1(cvt_u32_f64_rzi, w, p, u32_f64(D(a)))
LANE1(cvt_s64_f64_rzi, p, p, s64_f64(D(a)))
LANE1(cvt_s32_f32_rni, w, w, s32_f32(nearest32(F(a))))
LANE1(cvt_u32_f32_rni, w, w, u32_f32(nearest32(F(a))))
LANE1(cvt_s32_f32_rmi, w, w, s32_f32(down32(F(a))))
LANE1(cvt_s32_f32_rpi, w, w, s32_f32(up32(F(a))))
LANE1(cvt_s32_f32_rmi_ftz, w, w, s32_f32(down32(F(flush32(a)))))
LANE1(cvt_s32_f32_rpi_ftz, w, w, s32_f32(up32(F(flush32(a)))))
LANE1(cvt_s32_f64_rni, w, p, s32_f64(nearest64(D(a))))
LANE1(cvt_s32_f64_rmi, w, p, s32_f64(down64(D(a))))
LANE1(cvt_s32_f64_rpi, w, p, s32_f64(up64(D(a))))

/* From integers. */
LANE1(cvt_f32_s8, w, w, of_f32((f32)(i8)a))
LANE1(cvt_f32_u8, w, w, of_f32((f32)(i32)(a & 0xff)))
LANE1(cvt_f32_s16, w, w, of_f32((f32)(i16)a))
LANE1(cvt_f32_u16, w, w, of_f32((f32)(i32)(a & 0xffff)))
LANE1(cvt_f32_s32, w, w, of_f32((f32)(i32)a))
/* Both halves are exact; their sum is rounded. */
LANE1(cvt_f32_u32, w, w, of_f32((f32)(i32)(a >> 16) * 65536.0f + (f32)(i32)(a & 0xffff)))
LANE1(cvt_f32_s64, w, p, of_f32((f32)(i64)a))
LANE1(cvt_f32_u64, w, p, of_f32((f32)a))
LANE1(cvt_f64_s32, p, w, of_f64((f64)(i32)a))
LANE1(cvt_f64_u32, p, w, of_f64((f64)(i32)(a ^ 0x80000000) + 0x1p31))
LANE1(cvt_f64_s64, p, p, of_f64((f64)(i64)a))
LANE1(cvt_f64_u64, p, p, of_f64((f64)a))

/* Between floating-point formats. A NaN keeps as much of its payload as fits the new format. */
ALWAYS_INLINE u64 widen_nan(u32 a)
{
    return (u64)(a & 0x80000000) << 32 | 0x7ff8000000000000 | (u64)(a & 0x3fffff) << 29;
}
ALWAYS_INLINE u32 narrow_nan(u64 a)
{
#if LANE_NAN_CANONICAL
    return DEFAULT_NAN32;
#else
    return (u32)(a >> 32 & 0x80000000) | 0x7fc00000 | (u32)(a >> 29 & 0x3fffff);
#endif
}
LANE1(cvt_f64_f32, p, w, is_nan32(a) ? widen_nan(a) : of_f64((f64)F(a)))
LANE1(cvt_f32_f64, w, p, is_nan64(a) ? narrow_nan(a) : of_f32((f32)D(a)))
LANE1(cvt_f64_f32_ftz, p, w, is_nan32(a) ? widen_nan(a) : of_f64((f64)F(flush32(a))))
LANE1(cvt_f32_f64_ftz, w, p, is_nan64(a) ? narrow_nan(a) : flush32(of_f32((f32)D(a))))
LANE1(cvt_f32_f32_ftz, w, w, nan32(F(flush32(a)), a, a, a))
LANE1(cvt_f32_f32, w, w, nan32(F(a), a, a, a))
ALWAYS_INLINE u32 saturate32(u32 a)
{
    const f32 low = F(a) > 0.0f ? F(a) : 0.0f; /* NaN too */
    return of_f32(low < 1.0f ? low : 1.0f);
}
LANE1(cvt_f32_f32_sat, w, w, saturate32(a))
LANE1(cvt_f32_f16, w, w, half_widen_result(a))
LANE1(cvt_f16_f32, w, w, half_narrow(a))
LANE1(cvt_f32_bf16, w, w, brain_widen_result(a))
LANE1(cvt_bf16_f32, w, w, brain_narrow(a))

/* From, to, the roundings served (bit by enum rounding), integral rounding (key), function. */
enum {
    RN = 1 << ROUND_NEAREST,
    RZ = 1 << ROUND_ZERO,
    RM = 1 << ROUND_DOWN,
    RP = 1 << ROUND_UP,
    ANY = RN | RZ | RM | RP
};
static const struct {
    u8 to, from, roundings, key, mods;
    lane_fn *fn;
} functions[] = {
    /* clang-format off */
    {TYPE_F32, TYPE_F32, RN, 1, 0, LANE(cvt_f32_rni)},
    {TYPE_F32, TYPE_F32, RZ, 1, 0, LANE(cvt_f32_rzi)},
    {TYPE_F32, TYPE_F32, RM, 1, 0, LANE(cvt_f32_rmi)},
    {TYPE_F32, TYPE_F32, RP, 1, 0, LANE(cvt_f32_rpi)},
    {TYPE_F64, TYPE_F64, RN, 1, 0, LANE(cvt_f64_rni)},
    {TYPE_F64, TYPE_F64, RZ, 1, 0, LANE(cvt_f64_rzi)},
    {TYPE_F64, TYPE_F64, RM, 1, 0, LANE(cvt_f64_rmi)},
    {TYPE_F64, TYPE_F64, RP, 1, 0, LANE(cvt_f64_rpi)},
    {TYPE_S32, TYPE_F32, RZ, 0, 0, LANE(cvt_s32_f32_rzi)},
    {TYPE_U32, TYPE_F32, RZ, 0, 0, LANE(cvt_u32_f32_rzi)},
    {TYPE_S16, TYPE_F32, RZ, 0, 0, LANE(cvt_s16_f32_rzi)},
    {TYPE_U16, TYPE_F32, RZ, 0, 0, LANE(cvt_u16_f32_rzi)},
    {TYPE_S64, TYPE_F32, RZ, 0, 0, LANE(cvt_s64_f32_rzi)},
    {TYPE_S32, TYPE_F64, RZ, 0, 0, LANE(cvt_s32_f64_rzi)},
    {TYPE_U32, TYPE_F64, RZ, 0, 0, LANE(cvt_u32_f64_rzi)},
    {TYPE_S64, TYPE_F64, RZ, 0, 0, LANE(cvt_s64_f64_rzi)},
    {TYPE_S32, TYPE_F32, RN, 0, 0, LANE(cvt_s32_f32_rni)},
    {TYPE_U32, TYPE_F32, RN, 0, 0, LANE(cvt_u32_f32_rni)},
    {TYPE_S32, TYPE_F32, RM, 0, 0, LANE(cvt_s32_f32_rmi)},
    {TYPE_S32, TYPE_F32, RP, 0, 0, LANE(cvt_s32_f32_rpi)},
    {TYPE_S32, TYPE_F64, RN, 0, 0, LANE(cvt_s32_f64_rni)},
    {TYPE_S32, TYPE_F64, RM, 0, 0, LANE(cvt_s32_f64_rmi)},
    {TYPE_S32, TYPE_F64, RP, 0, 0, LANE(cvt_s32_f64_rpi)},
    {TYPE_F32, TYPE_S8, ANY, 0, 0, LANE(cvt_f32_s8)},
    {TYPE_F32, TYPE_U8, ANY, 0, 0, LANE(cvt_f32_u8)},
    {TYPE_F32, TYPE_S16, ANY, 0, 0, LANE(cvt_f32_s16)},
    {TYPE_F32, TYPE_U16, ANY, 0, 0, LANE(cvt_f32_u16)},
    {TYPE_F32, TYPE_S32, RN, 0, 0, LANE(cvt_f32_s32)},
    {TYPE_F32, TYPE_U32, RN, 0, 0, LANE(cvt_f32_u32)},
    {TYPE_F32, TYPE_S64, RN, 0, 0, LANE(cvt_f32_s64)},
    {TYPE_F32, TYPE_U64, RN, 0, 0, LANE(cvt_f32_u64)},
    {TYPE_F64, TYPE_S32, ANY, 0, 0, LANE(cvt_f64_s32)},
    {TYPE_F64, TYPE_U32, ANY, 0, 0, LANE(cvt_f64_u32)},
    {TYPE_F64, TYPE_S64, RN, 0, 0, LANE(cvt_f64_s64)},
    {TYPE_F64, TYPE_U64, RN, 0, 0, LANE(cvt_f64_u64)},
    {TYPE_F64, TYPE_F32, ANY, 0, 0, LANE(cvt_f64_f32)},
    {TYPE_F32, TYPE_F64, RN, 0, 0, LANE(cvt_f32_f64)},
    {TYPE_F32, TYPE_F32, ANY, 0, 0, LANE(cvt_f32_f32)},
    {TYPE_F32, TYPE_F32, ANY, 0, MOD_SAT, LANE(cvt_f32_f32_sat)},
    {TYPE_F32, TYPE_F32, RM, 1, MOD_FTZ, LANE(cvt_f32_rmi_ftz)},
    {TYPE_F32, TYPE_F32, RP, 1, MOD_FTZ, LANE(cvt_f32_rpi_ftz)},
    {TYPE_S32, TYPE_F32, RM, 0, MOD_FTZ, LANE(cvt_s32_f32_rmi_ftz)},
    {TYPE_S32, TYPE_F32, RP, 0, MOD_FTZ, LANE(cvt_s32_f32_rpi_ftz)},
    {TYPE_F64, TYPE_F32, ANY, 0, MOD_FTZ, LANE(cvt_f64_f32_ftz)},
    {TYPE_F32, TYPE_F64, RN, 0, MOD_FTZ, LANE(cvt_f32_f64_ftz)},
    {TYPE_F32, TYPE_F32, ANY, 0, MOD_FTZ, LANE(cvt_f32_f32_ftz)},
    {TYPE_F32, TYPE_F16, ANY, 0, 0, LANE(cvt_f32_f16)},
    {TYPE_F16, TYPE_F32, RN, 0, 0, LANE(cvt_f16_f32)},
    {TYPE_F32, TYPE_BF16, ANY, 0, 0, LANE(cvt_f32_bf16)},
    {TYPE_BF16, TYPE_F32, RN, 0, 0, LANE(cvt_bf16_f32)},
    /* clang-format on */
};

lane_fn *LANE(cvt_float)(const struct inst *inst)
{
    /* .sat is redundant from a float to an integer. */
    const bool to_int = !type_is_float(inst->type);
    unsigned mods = inst->mods & (MOD_FTZ | MOD_FTZ_IN | MOD_FTZ_OUT | MOD_SAT | MOD_RELU);
    if (to_int)
        mods &= ~(unsigned)MOD_SAT;
    const bool to_integral = inst->key == 1 && !to_int;
    /* Flushing has no effect if a subnormal becomes zero anyway, or none can occur. */
    const bool inward = inst->rounding == ROUND_NEAREST || inst->rounding == ROUND_ZERO;
    const bool narrows = inst->type == TYPE_F16 && inst->stype == TYPE_F32;
    const bool widens = inst->type == TYPE_F32 && inst->stype == TYPE_F16;
    if (((to_int || to_integral || narrows) && inward) || widens || !type_is_float(inst->stype))
        mods &= ~(unsigned)MOD_FTZ;
    if ((to_int || to_integral) && inward)
        mods &= ~(unsigned)(MOD_FTZ_IN | MOD_FTZ_OUT);
    if (inst->key2 || inst->src[0].neg || inst->src[0].abs || (!to_int && inst->scale) ||
        (mods & MOD_SAT && inst->mods & MOD_KEEP_NAN))
        return NULL;
    for (size_t i = 0; i < ARRAY_LEN(functions); i++)
        if (functions[i].to == inst->type && functions[i].from == inst->stype &&
            functions[i].roundings >> inst->rounding & 1 && functions[i].key == to_integral &&
            functions[i].mods == mods)
            return functions[i].fn;
    return NULL;
}
