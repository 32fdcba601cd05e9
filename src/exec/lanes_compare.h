/*
 * setp and set: a comparison of two operands by inst->key, combined with a mask by inst->key2.
 *
 * LANE_COMPARE_INT defines LANE(setp_T) and LANE(set_T); FLOAT_COMPARE_SWITCH is for floating-point
 * types. A comparison yields a word of 0 or ~0 per lane in vector compares, then one bit per lane.
 */
#ifndef EXEC_LANES_COMPARE_H
#define EXEC_LANES_COMPARE_H

#include "exec/lanes_loop.h"

ALWAYS_INLINE u32 combine(unsigned op, u32 bits, u32 with)
{
    switch (op) {
    case BOOL_AND:
        return bits & with;
    case BOOL_OR:
        return bits | with;
    case BOOL_XOR:
        return bits ^ with;
    default:
        return bits;
    }
}
ALWAYS_INLINE u32 combine_source(const struct lanes *l, u32 bits)
{
    const unsigned op = l->inst->key2;
    return LIKELY(op == BOOL_NONE) ? bits : combine(op, bits, lane_mask_source(l, 2));
}
ALWAYS_INLINE void finish_setp(const struct lanes *l, u32 bits)
{
    if (LIKELY(l->inst->key2 == BOOL_NONE && l->dst[0] && !l->dst[1])) {
        *l->dst[0] = mix(l->mask, bits, *l->dst[0]);
        return;
    }
    const u32 no = l->dst[1] ? combine_source(l, ~bits) : 0;
    put_mask(l, 0, combine_source(l, bits));
    put_mask(l, 1, no);
}

/* The value that `set` writes where the condition holds. */
static inline u32 set_value(unsigned type)
{
    switch (type) {
    case TYPE_F32:
        return 0x3f800000;
    case TYPE_F16:
        return 0x3c00;
    case TYPE_BF16:
        return 0x3f80;
    case TYPE_F16X2:
        return 0x3c003c00;
    case TYPE_BF16X2:
        return 0x3f803f80;
    case TYPE_U16:
    case TYPE_S16:
    case TYPE_B16:
        return 0xffff;
    default:
        return 0xffffffff;
    }
}
/* `low` and `high` are the conditions of the two halves; for one value they are the same. */
static inline void finish_set(const struct lanes *l, u32 low, u32 high)
{
    const u32 value = set_value(l->inst->type);
    const u32 yes_low = value & 0xffff, yes_high = value & 0xffff0000;
    const u32 *const m = l->lane_mask;
    u32 *const d = l->dst[0];
    low = combine_source(l, low), high = combine_source(l, high);
    EACH_LANE
    {
        const u32 r = (low & lane_bit[i] ? yes_low : 0) | (high & lane_bit[i] ? yes_high : 0);
        d[i] = mix(m[i], r, d[i]);
    }
}

/* Converts words of 0 or ~0 to bits. */
#ifdef __AVX2__
#include <immintrin.h>
ALWAYS_INLINE u32 bits_of(const u32 *yes)
{
    const __m256i *const v = (const __m256i *)yes;
    /* Packing works within 128-bit halves: lanes 0-3, 8-11, 16-19, 24-27 and then the others. */
    const __m256i low = _mm256_packs_epi32(v[0], v[1]), high = _mm256_packs_epi32(v[2], v[3]);
    const __m256i order = _mm256_setr_epi32(0, 4, 1, 5, 2, 6, 3, 7);
    const __m256i bytes = _mm256_packs_epi16(low, high);
    return (u32)_mm256_movemask_epi8(_mm256_permutevar8x32_epi32(bytes, order));
}
#else
ALWAYS_INLINE u32 bits_of(const u32 *yes)
{
    u32 bits = 0;
    EACH_LANE
    {
        bits |= yes[i] & lane_bit[i];
    }
    return bits;
}
#endif

#define COMPARE_LOOP(value_x, value_y, condition) \
    {                                             \
        _Alignas(32) u32 yes[LANES];              \
        EACH_LANE                                 \
        {                                         \
            const __auto_type x = value_x;        \
            const __auto_type y = value_y;        \
            yes[i] = (condition) ? ~0u : 0;       \
        }                                         \
        return bits_of(yes);                      \
    }

#define LANE_COMPARE_INT(name, A, cast)                              \
    ALWAYS_INLINE u32 LANE(compare_##name)(const struct lanes *l)    \
    {                                                                \
        ROW_##A(0) ROW_##A(1);                                       \
        switch (l->inst->key) {                                      \
        case CMP_EQ:                                                 \
        case CMP_EQU:                                                \
            COMPARE_LOOP(cast(GET_##A(0)), cast(GET_##A(1)), x == y) \
        case CMP_NE:                                                 \
        case CMP_NEU:                                                \
            COMPARE_LOOP(cast(GET_##A(0)), cast(GET_##A(1)), x != y) \
        case CMP_LT:                                                 \
        case CMP_LTU:                                                \
            COMPARE_LOOP(cast(GET_##A(0)), cast(GET_##A(1)), x < y)  \
        case CMP_LE:                                                 \
        case CMP_LEU:                                                \
            COMPARE_LOOP(cast(GET_##A(0)), cast(GET_##A(1)), x <= y) \
        case CMP_GT:                                                 \
        case CMP_GTU:                                                \
            COMPARE_LOOP(cast(GET_##A(0)), cast(GET_##A(1)), x > y)  \
        case CMP_GE:                                                 \
        case CMP_GEU:                                                \
            COMPARE_LOOP(cast(GET_##A(0)), cast(GET_##A(1)), x >= y) \
        case CMP_NUM:                                                \
        case CMP_TRUE:                                               \
            return LANES_FULL;                                       \
        default:                                                     \
            return 0;                                                \
        }                                                            \
    }                                                                \
    COMPARE_PAIR(name)

/* 64-bit integers in 32-bit halves: the high words decide, unless equal. */
#define HALVES_LOOP(H, condition)                 \
    {                                             \
        _Alignas(32) u32 yes[LANES];              \
        EACH_LANE                                 \
        {                                         \
            const u32 xl = s0[i], yl = s1[i];     \
            const H xh = (H)t0[i], yh = (H)t1[i]; \
            yes[i] = (condition) ? ~0u : 0;       \
        }                                         \
        return bits_of(yes);                      \
    }
#define LANE_COMPARE_WIDE(name, H)                                \
    ALWAYS_INLINE u32 LANE(compare_##name)(const struct lanes *l) \
    {                                                             \
        ROW_p(0) ROW_p(1);                                        \
        switch (l->inst->key) {                                   \
        case CMP_EQ:                                              \
        case CMP_EQU:                                             \
            HALVES_LOOP(H, (xl == yl) & (xh == yh))               \
        case CMP_NE:                                              \
        case CMP_NEU:                                             \
            HALVES_LOOP(H, (xl != yl) | (xh != yh))               \
        case CMP_LT:                                              \
        case CMP_LTU:                                             \
            HALVES_LOOP(H, (xh < yh) | ((xh == yh) & (xl < yl)))  \
        case CMP_LE:                                              \
        case CMP_LEU:                                             \
            HALVES_LOOP(H, (xh < yh) | ((xh == yh) & (xl <= yl))) \
        case CMP_GT:                                              \
        case CMP_GTU:                                             \
            HALVES_LOOP(H, (xh > yh) | ((xh == yh) & (xl > yl)))  \
        case CMP_GE:                                              \
        case CMP_GEU:                                             \
            HALVES_LOOP(H, (xh > yh) | ((xh == yh) & (xl >= yl))) \
        case CMP_NUM:                                             \
        case CMP_TRUE:                                            \
            return LANES_FULL;                                    \
        default:                                                  \
            return 0;                                             \
        }                                                         \
    }                                                             \
    COMPARE_PAIR(name)

#define COMPARE_PAIR(name)                        \
    void LANE(setp_##name)(struct lanes * l)      \
    {                                             \
        finish_setp(l, LANE(compare_##name)(l));  \
    }                                             \
    void LANE(set_##name)(struct lanes * l)       \
    {                                             \
        const u32 bits = LANE(compare_##name)(l); \
        finish_set(l, bits, bits);                \
    }

/* GETX(k) yields operand k of lane i as a C floating-point number. */
#define FLOAT_COMPARE_SWITCH(GETX)                           \
    switch (l->inst->key) {                                  \
    case CMP_EQ:                                             \
        COMPARE_LOOP(GETX(0), GETX(1), x == y)               \
    case CMP_NE:                                             \
        COMPARE_LOOP(GETX(0), GETX(1), (x < y) | (x > y))    \
    case CMP_LT:                                             \
        COMPARE_LOOP(GETX(0), GETX(1), x < y)                \
    case CMP_LE:                                             \
        COMPARE_LOOP(GETX(0), GETX(1), x <= y)               \
    case CMP_GT:                                             \
        COMPARE_LOOP(GETX(0), GETX(1), x > y)                \
    case CMP_GE:                                             \
        COMPARE_LOOP(GETX(0), GETX(1), x >= y)               \
    case CMP_EQU:                                            \
        COMPARE_LOOP(GETX(0), GETX(1), !((x < y) | (x > y))) \
    case CMP_NEU:                                            \
        COMPARE_LOOP(GETX(0), GETX(1), x != y)               \
    case CMP_LTU:                                            \
        COMPARE_LOOP(GETX(0), GETX(1), !(x >= y))            \
    case CMP_LEU:                                            \
        COMPARE_LOOP(GETX(0), GETX(1), !(x > y))             \
    case CMP_GTU:                                            \
        COMPARE_LOOP(GETX(0), GETX(1), !(x <= y))            \
    case CMP_GEU:                                            \
        COMPARE_LOOP(GETX(0), GETX(1), !(x < y))             \
    case CMP_NUM:                                            \
        COMPARE_LOOP(GETX(0), GETX(1), (x == x) & (y == y))  \
    case CMP_NAN:                                            \
        COMPARE_LOOP(GETX(0), GETX(1), (x != x) | (y != y))  \
    default:                                                 \
        return l->inst->key == CMP_TRUE ? LANES_FULL : 0;    \
    }

#endif
