/*
 * Lane functions of bit manipulation, integer comparison and selection.
 *
 * PTX interprets counts, positions and lengths differently by instruction: shifts clamp, fields
 * (bfe, bfi) use the low 8 bits, szext and bmsk clamp or wrap by mode.
 */
#include "exec/lanes_compare.h"
#include "exec/lanes_loop.h"
#include "exec/lanes_signs.h"

#define S32(x) ((i32)(x))
#define S64(x) ((i64)(x))

LANE2(and_b16, w, w, w, a &b & 0xffff)
LANE2(and_b32, w, w, w, a &b)
LANE_HALVES2(and_b64, al &bl, ah &bh)
LANE2(or_b16, w, w, w, (a | b) & 0xffff)
LANE2(or_b32, w, w, w, a | b)
LANE_HALVES2(or_b64, al | bl, ah | bh)
LANE2(xor_b16, w, w, w, (a ^ b) & 0xffff)
LANE2(xor_b32, w, w, w, a ^ b)
LANE_HALVES2(xor_b64, al ^ bl, ah ^ bh)
LANE1(not_b16, w, w, ~a & 0xffff)
LANE1(not_b32, w, w, ~a)
LANE_HALVES1(not_b64, ~al, ~ah)
LANE1(cnot_b16, w, w, (a & 0xffff) == 0)
LANE1(cnot_b32, w, w, a == 0)
LANE_HALVES1(cnot_b64, (al | ah) == 0, al & 0)

/* Shifts by any count, and across the halves of a pair by less than 32. */
ALWAYS_INLINE u32 left(u32 x, u32 n)
{
    return n > 31 ? 0 : x << (n & 31);
}
ALWAYS_INLINE u32 right(u32 x, u32 n)
{
    return n > 31 ? 0 : x >> (n & 31);
}
ALWAYS_INLINE u32 sign_right(u32 x, u32 n)
{
    return (u32)(S32(x) >> (n > 31 ? 31 : n));
}
ALWAYS_INLINE u32 across_left(u32 high, u32 low, u32 n)
{
    return high << (n & 31) | low >> 1 >> (~n & 31);
}
ALWAYS_INLINE u32 across_right(u32 high, u32 low, u32 n)
{
    return low >> (n & 31) | high << 1 << (~n & 31);
}
LANE2(shl_b16, w, w, w, b > 15 ? 0 : a << (b & 15) & 0xffff)
LANE2(shl_b32, w, w, w, b > 31 ? 0 : a << (b & 31))
LANE_HALVES_SHIFT(shl_b64, left(al, n), n > 31 ? left(al, n - 32) : across_left(ah, al, n))
LANE2(shr_s16, w, w, w, (u32)((i32)(i16)a >> (b > 15 ? 15 : b)) & 0xffff)
LANE2(shr_s32, w, w, w, S32(a) >> (b > 31 ? 31 : b))
LANE_HALVES_SHIFT(shr_s64, n > 31 ? sign_right(ah, n - 32) : across_right(ah, al, n),
                  sign_right(ah, n))
LANE2(shr_u16, w, w, w, b > 15 ? 0 : (a & 0xffff) >> (b & 15))
LANE2(shr_u32, w, w, w, b > 31 ? 0 : a >> (b & 31))
LANE_HALVES_SHIFT(shr_u64, n > 31 ? right(ah, n - 32) : across_right(ah, al, n), right(ah, n))

/* Counts modulo the width. */
LANE2(shl_wrap_b32, w, w, w, a << (b & 31))
LANE2(shr_wrap_s32, w, w, w, S32(a) >> (b & 31))
LANE2(shr_wrap_u32, w, w, w, a >> (b & 31))
LANE_HALVES_SHIFT(shl_wrap_b64, n & 32 ? al & 0 : al << (n & 31),
                  n & 32 ? al << (n & 31) : across_left(ah, al, n))
LANE_HALVES_SHIFT(shr_wrap_s64, n & 32 ? (u32)(S32(ah) >> (n & 31)) : across_right(ah, al, n),
                  S32(ah) >> (n & 32 ? 31 : n & 31))
LANE_HALVES_SHIFT(shr_wrap_u64, n & 32 ? ah >> (n & 31) : across_right(ah, al, n),
                  n & 32 ? ah & 0 : ah >> (n & 31))
LANE3(align_byte_b32, w, w, w, w, across_right(a, b, 8 * (c & 3)))

/* Funnel shift of b:a; key 1 wraps the count, 0 clamps it at 32. */
ALWAYS_INLINE u32 funnel_count(u32 key, u32 c)
{
    return key ? c & 31 : c > 32 ? 32 : c;
}
LANE3(shf_l_b32, w, w, w, w, (u32)(((u64)b << 32 | a) >> (32 - funnel_count(key, c))))
LANE3(shf_r_b32, w, w, w, w, (u32)(((u64)b << 32 | a) >> funnel_count(key, c)))

/* Counting with arithmetic only, since not every host has the instructions. */
ALWAYS_INLINE u32 popcount(u32 x)
{
    x -= x >> 1 & 0x55555555;
    x = (x & 0x33333333) + (x >> 2 & 0x33333333);
    x = (x + (x >> 4)) & 0x0f0f0f0f;
    return x * 0x01010101 >> 24;
}
ALWAYS_INLINE u32 leading_zeros(u32 x)
{
    x |= x >> 1;
    x |= x >> 2;
    x |= x >> 4;
    x |= x >> 8;
    x |= x >> 16;
    return 32 - popcount(x);
}
ALWAYS_INLINE u32 leading_zeros64(u64 x)
{
    const u32 high = (u32)(x >> 32);
    return high ? leading_zeros(high) : 32 + leading_zeros((u32)x);
}
ALWAYS_INLINE u32 reverse_bits(u32 x)
{
    x = (x >> 1 & 0x55555555) | (x & 0x55555555) << 1;
    x = (x >> 2 & 0x33333333) | (x & 0x33333333) << 2;
    x = (x >> 4 & 0x0f0f0f0f) | (x & 0x0f0f0f0f) << 4;
    x = (x >> 8 & 0x00ff00ff) | (x & 0x00ff00ff) << 8;
    return x >> 16 | x << 16;
}
LANE1(popc_b32, w, w, popcount(a))
LANE1(popc_b64, w, p, popcount((u32)a) + popcount((u32)(a >> 32)))
LANE1(clz_b32, w, w, leading_zeros(a))
LANE1(clz_b64, w, p, leading_zeros64(a))
LANE1(brev_b32, w, w, reverse_bits(a))
LANE_HALVES1(brev_b64, reverse_bits(ah), reverse_bits(al))

LANE2(bcnt_b32, w, w, w, popcount(a) + b)
/* c is the lane's number: bits of a for lower lanes are counted. */
LANE3(mbcnt_lo, w, w, w, w, b + popcount(a & (left(1, c) - 1)))
LANE3(mbcnt_hi, w, w, w, w, b + popcount(c > 31 ? a & (left(1, c - 32) - 1) : 0))
LANE1(ffbh_u32, w, w, a ? leading_zeros(a) : ~0u)
LANE1(ffbh_s32, w, w, a + 1 > 1 ? leading_zeros(a ^ (u32)(S32(a) >> 31)) : ~0u)
LANE1(ffbl_b32, w, w, a ? popcount(~a &(a - 1)) : ~0u)

/* The highest bit that differs from the sign; key 1: how far to shift it to the top. */
ALWAYS_INLINE u32 find_top(u32 key, u32 zeros, u32 width)
{
    return zeros == width ? ~0u : key ? zeros : width - 1 - zeros;
}
LANE1(bfind_u32, w, w, find_top(key, leading_zeros(a), 32))
LANE1(bfind_s32, w, w, find_top(key, leading_zeros(S32(a) < 0 ? ~a : a), 32))
LANE1(bfind_u64, w, p, find_top(key, leading_zeros64(a), 64))
LANE1(bfind_s64, w, p, find_top(key, leading_zeros64(S64(a) < 0 ? ~a : a), 64))

/* Bit fields: position and length are the low 8 bits of their operands. */
ALWAYS_INLINE u64 field_mask(u32 length)
{
    return length > 63 ? ~0ull : (1ull << (length & 63)) - 1;
}
ALWAYS_INLINE u64 extract_u(u64 a, u32 position, u32 length)
{
    return position > 63 ? 0 : a >> (position & 63) & field_mask(length);
}
/* Beyond the top of `a` (already sign-extended) its sign continues; so does the field's own. */
ALWAYS_INLINE u64 extract_s(i64 a, u32 position, u32 length)
{
    const u64 t = (u64)(a >> (position > 63 ? 63 : position));
    const u32 drop = length > 63 ? 0 : 64 - length;
    return length == 0 ? 0 : (u64)((i64)(t << (drop & 63)) >> (drop & 63));
}
ALWAYS_INLINE u64 insert(u64 a, u64 b, u32 position, u32 length)
{
    const u64 mask = position > 63 ? 0 : field_mask(length) << (position & 63);
    return (b & ~mask) | (a << (position & 63) & mask);
}
LANE3(bfe_u32, w, w, w, w, (u32)extract_u(a, b & 255, c & 255))
LANE3(bfe_s32, w, w, w, w, (u32)extract_s(S32(a), b & 255, c & 255))
LANE3(bfe_u64, p, p, w, w, extract_u(a, b & 255, c & 255))
LANE3(bfe_s64, p, p, w, w, extract_s(S64(a), b & 255, c & 255))
LANE4(bfi_b32, w, w, w, w, w, (u32)insert(a, b, c & 255, d & 255))
LANE4(bfi_b64, p, p, p, w, w, insert(a, b, c & 255, d & 255))

/* Position and length are the low 5 bits; bits beyond the top are copies of the sign. */
ALWAYS_INLINE u32 field(u32 a, u32 position, u32 length)
{
    return a >> (position & 31) & ~(~0u << (length & 31));
}
ALWAYS_INLINE u32 sign_field(u32 a, u32 position, u32 length)
{
    const u32 drop = (0 - length) & 31, up = (u32)(S32(a) >> (position & 31)) << drop;
    return length & 31 ? (u32)(S32(up) >> drop) : 0;
}
LANE3(field_u32, w, w, w, w, field(a, b, c))
LANE3(field_s32, w, w, w, w, sign_field(a, b, c))
LANE2(bits_b32, w, w, w, ~(~0u << (a & 31)) << (b & 31))
LANE3(bitselect_b32, w, w, w, w, mix(a, b, c))

/* The n-th set bit from `base`, upward or downward; none (or base above 31): all ones. */
ALWAYS_INLINE u32 nth_set(u32 bits, u32 base, i32 offset)
{
    if (base > 31)
        return ~0u;
    if (offset == 0)
        return bits >> base & 1 ? base : ~0u;
    const i32 step = offset > 0 ? 1 : -1;
    u32 count = offset > 0 ? (u32)offset : 0 - (u32)offset;
    for (i32 at = (i32)base; at >= 0 && at < 32; at += step)
        if (bits >> at & 1 && --count == 0)
            return (u32)at;
    return ~0u;
}
LANE3(fns_b32, w, w, w, w, nth_set(a, b, S32(c)))

/* Any function of three bits: imm has its truth table, a is the most significant index bit. */
ALWAYS_INLINE u32 lookup3(u32 table, u32 a, u32 b, u32 c)
{
    const u32 c0 = mix(c, 0 - (table >> 1 & 1), 0 - (table & 1));
    const u32 c1 = mix(c, 0 - (table >> 3 & 1), 0 - (table >> 2 & 1));
    const u32 c2 = mix(c, 0 - (table >> 5 & 1), 0 - (table >> 4 & 1));
    const u32 c3 = mix(c, 0 - (table >> 7 & 1), 0 - (table >> 6 & 1));
    return mix(a, mix(b, c3, c2), mix(b, c1, c0));
}
LANE3(lop3_b32, w, w, w, w, lookup3(imm, a, b, c))

void LANE(lop3_mask)(struct lanes *l)
{
    LANE_KEYS ROW_w(0) ROW_w(1) ROW_w(2);
    u32 sink[LANES] = {0};
    u32 *const d = l->dst[0] ? l->dst[0] : sink;
    const u32 *const m = l->lane_mask, with = lane_mask_source(l, 3);
    u32 bits = 0;
    EACH_LANE
    {
        const u32 r = lookup3(imm, s0[i], s1[i], s2[i]);
        bits |= r ? lane_bit[i] : 0;
        d[i] = mix(m[i], r, d[i]);
    }
    put_mask(l, 1, combine(l->inst->key2, bits, with));
}

/* Byte permutation. Bytes 0 to 3 are a's, 4 to 7 b's; a selector's bit 3 asks for the sign. */
ALWAYS_INLINE u32 permute(u32 a, u32 b, u32 selectors)
{
    u32 r = 0;
    for (u32 j = 0; j < 4; j++) {
        const u32 select = selectors >> 4 * j & 15, shift = (select & 3) * 8;
        const u32 byte = (select & 4 ? b : a) >> shift & 255;
        const u32 sign = byte & 128 ? 255 : 0;
        r |= (select & 8 ? sign : byte) << 8 * j;
    }
    return r;
}
LANE3(prmt_index, w, w, w, w, permute(a, b, c))
/* Modes f4e, b4e, rc8, ecl, ecr, rc16: selectors by the two low bits of c. */
ALWAYS_INLINE u32 permute_mode(u32 key, u32 c)
{
    static const u16 selectors[6][4] = {
        {0x3210, 0x4321, 0x5432, 0x6543}, {0x5670, 0x6701, 0x7012, 0x0123},
        {0x0000, 0x1111, 0x2222, 0x3333}, {0x3210, 0x3211, 0x3222, 0x3333},
        {0x0000, 0x1110, 0x2210, 0x3210}, {0x1010, 0x3232, 0x1010, 0x3232},
    };
    return selectors[key - 1][c & 3];
}
LANE3(prmt_mode, w, w, w, w, permute(a, b, permute_mode(key, c)))
void LANE(prmt_b32)(struct lanes *l)
{
    if (l->inst->key >= 1 && l->inst->key <= 6)
        LANE(prmt_mode)(l);
    else
        LANE(prmt_index)(l);
}

/* Extension from n bits and masks; key 0 clamps at 32, 1 wraps. */
ALWAYS_INLINE u32 extend(u32 key, u32 a, u32 b, bool is_signed)
{
    if (!key && b > 31)
        return a;
    const u32 n = b & 31, up = a << ((32 - n) & 31);
    if (n == 0)
        return 0;
    return is_signed ? (u32)(S32(up) >> (32 - n)) : up >> (32 - n);
}
ALWAYS_INLINE u32 bit_mask(u32 key, u32 a, u32 b)
{
    if (!key && a > 31)
        return 0;
    const u32 from = ~0u << (a & 31), width = b & 31;
    if (!key && b > 31)
        return from;
    const u32 end = (a & 31) + width;
    return end > 31 ? from : from & ~(~0u << end);
}
LANE2(szext_s32, w, w, w, extend(key, a, b, true))
LANE2(szext_u32, w, w, w, extend(key, a, b, false))
LANE2(bmsk_b32, w, w, w, bit_mask(key, a, b))

/* Floating-point predicates on bits: no arithmetic, no NaN rule. */
ALWAYS_INLINE bool test_class(u32 key, u64 magnitude, u64 infinity, u64 least_normal)
{
    switch (key) {
    case 0:
        return magnitude < infinity;
    case 1:
        return magnitude == infinity;
    case 2:
        return magnitude <= infinity;
    case 3:
        return magnitude > infinity;
    case 4:
        /* the manual counts both zeros among the normal numbers */
        return magnitude < infinity && (magnitude == 0 || magnitude >= least_normal);
    default:
        return magnitude != 0 && magnitude < least_normal;
    }
}
void LANE(testp_f32)(struct lanes *l)
{
    LANE_KEYS ROW_w(0);
    u32 bits = 0;
    for (unsigned i = 0; i < LANES; i++)
        if (test_class(key, s0[i] & 0x7fffffff, 0x7f800000, 0x00800000))
            bits |= 1u << i;
    put_mask(l, 0, bits);
}
void LANE(testp_f64)(struct lanes *l)
{
    LANE_KEYS ROW_p(0);
    u32 bits = 0;
    for (unsigned i = 0; i < LANES; i++)
        if (test_class(key, GET_p(0) & INT64_MAX, 0x7ffull << 52, 1ull << 52))
            bits |= 1u << i;
    put_mask(l, 0, bits);
}
LANE2(copysign_f32, w, w, w, (a & 0x80000000) | (b & 0x7fffffff))
LANE_HALVES2(copysign_f64, bl + (al & 0), (ah & 0x80000000) | (bh & 0x7fffffff))

/* Comparison. */
#define U16(x) ((u32)(u16)(x))
#define S16(x) ((i32)(i16)(x))
LANE_COMPARE_INT(u16, w, U16)
LANE_COMPARE_INT(s16, w, S16)
LANE_COMPARE_INT(u32, w, (u32))
LANE_COMPARE_INT(s32, w, (i32))
LANE_COMPARE_WIDE(u64, u32)
LANE_COMPARE_WIDE(s64, i32)

/* Selection. */
void LANE(selp_b32)(struct lanes *l)
{
    ROW_w(0) ROW_w(1) OUT_w;
    const u32 c = lane_mask_source(l, 2);
    LANE_LOOPS(w, mix(c & lane_bit[i] ? ~0u : 0, s0[i], s1[i]))
}
/* For floats. */
void LANE(selp_b32_signed)(struct lanes *l)
{
    ROW_w(0) ROW_w(1) SIGNS(0) SIGNS(1) OUT_w;
    const u32 c = lane_mask_source(l, 2);
    LANE_LOOPS(w, mix(c & lane_bit[i] ? ~0u : 0, SIGNED_w(0), SIGNED_w(1)))
}
void LANE(selp_b64)(struct lanes *l)
{
    ROW_p(0) ROW_p(1) OUT_p;
    const u32 c = lane_mask_source(l, 2);
    const u32 *const m = l->lane_mask;
    EACH_LANE
    {
        const u32 pick = c & lane_bit[i] ? ~0u : 0;
        const u32 low = mix(pick, s0[i], s1[i]), high = mix(pick, t0[i], t1[i]);
        const u32 old_low = d0[i], old_high = e0[i];
        d0[i] = mix(m[i], low, old_low);
        e0[i] = mix(m[i], high, old_high);
    }
}
LANE3(slct_s32_b32, w, w, w, w, S32(c) >= 0 ? a : b)
LANE3(slct_s32_b64, p, p, p, w, S32(c) >= 0 ? a : b)
