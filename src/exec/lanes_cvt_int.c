/* Lane functions of conversions among integers, without saturation: truncate, then extend. */
#include "exec/lanes_cvt.h"

/* clang-format off */
#define FROM_u8(x) (u8)(x)
#define FROM_s8(x) (i8)(x)
#define FROM_u16(x) (u16)(x)
#define FROM_s16(x) (i16)(x)
#define FROM_u32(x) (u32)(x)
#define FROM_s32(x) (i32)(x)
#define FROM_u64(x) (u64)(x)
#define FROM_s64(x) (i64)(x)
#define SOURCES(to, D, cast)                                                                       \
    LANE1(cvt_##to##_u8, D, w, cast FROM_u8(a))                                                    \
    LANE1(cvt_##to##_s8, D, w, cast FROM_s8(a))                                                    \
    LANE1(cvt_##to##_u16, D, w, cast FROM_u16(a))                                                  \
    LANE1(cvt_##to##_s16, D, w, cast FROM_s16(a))                                                  \
    LANE1(cvt_##to##_u32, D, w, cast FROM_u32(a))                                                  \
    LANE1(cvt_##to##_s32, D, w, cast FROM_s32(a))
SOURCES(u8, w, (u8))
SOURCES(s8, w, (i32)(i8))
SOURCES(u16, w, (u16))
SOURCES(s16, w, (i32)(i16))
SOURCES(b32, w, (u32))
SOURCES(b64, p, (u64)(i64))
/* From a pair only its low word matters, unless the result is a pair too. */
LANE1(cvt_b64_b64, p, p, a)

#define ROW(to) {LANE(cvt_##to##_u8), LANE(cvt_##to##_s8), LANE(cvt_##to##_u16),                   \
                 LANE(cvt_##to##_s16), LANE(cvt_##to##_u32), LANE(cvt_##to##_s32)}
static lane_fn *const narrow[6][6] = {
    ROW(u8), ROW(s8), ROW(u16), ROW(s16), ROW(b32), ROW(b32),
};
static lane_fn *const wide[6] = ROW(b64);
/* clang-format on */

/* u8 s8 u16 s16 u32 s32 u64 s64 as 0 to 7; bit types are unsigned; others -1. */
static int index_of(unsigned type)
{
    switch (type) {
    case TYPE_B8:
        return 0;
    case TYPE_B16:
        return 2;
    case TYPE_B32:
        return 4;
    case TYPE_B64:
        return 6;
    default:
        return type >= TYPE_U8 && type <= TYPE_S64 ? (int)(type - TYPE_U8) : -1;
    }
}

lane_fn *LANE(cvt_int)(const struct inst *inst)
{
    const int to = index_of(inst->type), from = index_of(inst->stype);
    if (to < 0 || from < 0 || inst->mods & MOD_SAT || inst->key2)
        return NULL;
    if (to >= 6)
        return from >= 6 ? LANE(cvt_b64_b64) : wide[from];
    return narrow[to][from >= 6 ? 4 : from];
}
