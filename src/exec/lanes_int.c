/*
 * Lane functions of moves and integer arithmetic.
 *
 * Decisions where PTX leaves the result open ("machine-specific"):
 *  - division by zero gives all ones, its remainder the dividend, for both signednesses;
 *  - the most negative number divided by -1 wraps to itself, remainder 0.
 * 16-bit ops use the low half of their sources only and zero-extend their result.
 */
#include "exec/lanes_compare.h"
#include "exec/lanes_loop.h"

#define S16(x) ((i32)(i16)(x))
#define U16(x) ((u32)(u16)(x))
#define S32(x) ((i32)(x))
#define S64(x) ((i64)(x))
#define HIGH_S(a, b) ((u32)(S64(S32(a)) * S32(b) >> 32))
#define HIGH_U(a, b) ((u32)((u64)(a) * (b) >> 32))

/* Moves. */
LANE1(mov_b32, w, w, a)
LANE_HALVES1(mov_b64, al, ah)
LANE2(pack_b32, w, w, w, (a & 0xffff) | b << 16)
LANE2(pack_b64, p, w, w, (u64)b << 32 | a)

/* Either destination of an unpacking may be absent, and either may be the source's register. */
void LANE(unpack_b32)(struct lanes *l)
{
    u32 low[LANES], high[LANES];
    const u32 *const s = l->src[0];
    EACH_LANE
    {
        low[i] = s[i] & 0xffff;
        high[i] = s[i] >> 16;
    }
    for (unsigned k = 0; k < 2; k++) {
        const u32 *const r = k ? high : low, *const m = l->lane_mask;
        u32 *const d = l->dst[k];
        if (d) {
            EACH_LANE
            {
                d[i] = mix(m[i], r[i], d[i]);
            }
        }
    }
}

void LANE(unpack_b64)(struct lanes *l)
{
    u32 sink[LANES] = {0};
    const u32 *const s = l->src[0], *const t = s + l->stride, *const m = l->lane_mask;
    u32 *const d = l->dst[0] ? l->dst[0] : sink, *const e = l->dst[1] ? l->dst[1] : sink;
    EACH_LANE
    {
        const u32 low = s[i], high = t[i], old_low = d[i], old_high = e[i];
        d[i] = mix(m[i], low, old_low);
        e[i] = mix(m[i], high, old_high);
    }
}

void LANE(mov_mask)(struct lanes *l)
{
    put_mask(l, 0, lane_mask_source(l, 0));
}
void LANE(and_mask)(struct lanes *l)
{
    put_mask(l, 0, lane_mask_source(l, 0) & lane_mask_source(l, 1));
}
void LANE(or_mask)(struct lanes *l)
{
    put_mask(l, 0, lane_mask_source(l, 0) | lane_mask_source(l, 1));
}
void LANE(xor_mask)(struct lanes *l)
{
    put_mask(l, 0, lane_mask_source(l, 0) ^ lane_mask_source(l, 1));
}
void LANE(not_mask)(struct lanes *l)
{
    put_mask(l, 0, ~lane_mask_source(l, 0));
}

/* Addition, subtraction, multiplication. */
LANE2(add_b16, w, w, w, U16(a + b))
LANE2(add_b32, w, w, w, a + b)
LANE_HALVES2(add_b64, al + bl, ah + bh + (al + bl < al))
LANE2(sub_b16, w, w, w, U16(a - b))
LANE2(sub_b32, w, w, w, a - b)
LANE_HALVES2(sub_b64, al - bl, ah - bh - (al < bl))
LANE2(mul_lo_b16, w, w, w, U16(U16(a) * U16(b)))
LANE2(mul_lo_b32, w, w, w, a *b)
LANE2(mul_lo_b64, p, p, p, a *b)
LANE2(mul_hi_s16, w, w, w, U16(S16(a) * S16(b) >> 16))
LANE2(mul_hi_s32, w, w, w, (u32)(S64(S32(a)) * S32(b) >> 32))
LANE2(mul_hi_s64, p, p, p, (u64)((i128)S64(a) * S64(b) >> 64))
LANE2(mul_hi_u16, w, w, w, U16(a) * U16(b) >> 16)
LANE2(mul_hi_u32, w, w, w, (u32)((u64)a *b >> 32))
LANE2(mul_hi_u64, p, p, p, (u64)((u128)a *b >> 64))
LANE3(mad_lo_b16, w, w, w, w, U16(U16(a) * U16(b) + c))
LANE3(mad_lo_b32, w, w, w, w, a *b + c)
LANE3(mad_lo_b64, p, p, p, p, a *b + c)
LANE3(mad_hi_s16, w, w, w, w, U16((u32)(S16(a) * S16(b) >> 16) + c))
LANE3(mad_hi_s32, w, w, w, w, (u32)(S64(S32(a)) * S32(b) >> 32) + c)
LANE3(mad_hi_s64, p, p, p, p, (u64)((i128)S64(a) * S64(b) >> 64) + c)
LANE3(mad_hi_u16, w, w, w, w, U16((U16(a) * U16(b) >> 16) + c))
LANE3(mad_hi_u32, w, w, w, w, (u32)((u64)a *b >> 32) + c)
LANE3(mad_hi_u64, p, p, p, p, (u64)((u128)a *b >> 64) + c)
LANE2(mul_wide_s16, w, w, w, S16(a) * S16(b))
LANE2(mul_wide_u16, w, w, w, U16(a) * U16(b))
LANE_HALVES_WORDS(mul_wide_s32, a *b, HIGH_S(a, b))
LANE_HALVES_WORDS(mul_wide_u32, a *b, HIGH_U(a, b))
LANE3(mad_wide_s16, w, w, w, w, (u32)(S16(a) * S16(b)) + c)
LANE3(mad_wide_u16, w, w, w, w, U16(a) * U16(b) + c)
LANE_HALVES_MAD(mad_wide_s32, a *b + cl, HIGH_S(a, b) + ch + (a * b + cl < cl))
LANE_HALVES_MAD(mad_wide_u32, a *b + cl, HIGH_U(a, b) + ch + (a * b + cl < cl))

/* 24-bit products: 48 bits, of which the low or the high 32 are taken. */
ALWAYS_INLINE i64 product24_s(u32 a, u32 b)
{
    return S64(S32(a << 8) >> 8) * (S32(b << 8) >> 8);
}
ALWAYS_INLINE u64 product24_u(u32 a, u32 b)
{
    return (u64)(a & 0xffffff) * (b & 0xffffff);
}
ALWAYS_INLINE u32 clamp_s32(i64 x)
{
    return (u32)(x > INT32_MAX ? INT32_MAX : x < INT32_MIN ? INT32_MIN : x);
}
LANE2(mul24_lo_s32, w, w, w, (u32)product24_s(a, b))
LANE2(mul24_lo_u32, w, w, w, (u32)product24_u(a, b))
LANE2(mul24_hi_s32, w, w, w, (u32)(product24_s(a, b) >> 16))
LANE2(mul24_hi_u32, w, w, w, (u32)(product24_u(a, b) >> 16))
LANE3(mad24_lo_s32, w, w, w, w, (u32)product24_s(a, b) + c)
LANE3(mad24_lo_u32, w, w, w, w, (u32)product24_u(a, b) + c)
LANE3(mad24_hi_s32, w, w, w, w, (u32)(product24_s(a, b) >> 16) + c)
LANE3(mad24_hi_u32, w, w, w, w, (u32)(product24_u(a, b) >> 16) + c)
LANE2(mul24_top_s32, w, w, w, (u32)(product24_s(a, b) >> 32))
LANE2(mul24_top_u32, w, w, w, (u32)(product24_u(a, b) >> 32))
LANE3(mad24_hi_sat_s32, w, w, w, w, clamp_s32(S64(S32(product24_s(a, b) >> 16)) + S32(c)))
LANE3(mad_hi_sat_s32, w, w, w, w, clamp_s32((S64(S32(a)) * S32(b) >> 32) + S32(c)))
LANE2(add_sat_s32, w, w, w, clamp_s32(S64(S32(a)) + S32(b)))
LANE2(sub_sat_s32, w, w, w, clamp_s32(S64(S32(a)) - S32(b)))
LANE2(add_b16x2, w, w, w, ((a + b) & 0xffff) | ((a & 0xffff0000) + (b & 0xffff0000)))

/*
 * Carry chains. The expression gives the sum as a wider number `r` with the carry (or borrow) in
 * its bit 32 or 64; the carry in is 0 if its operand is absent. `flip` has all bits set if the
 * masks hold the complement, as for subtractions with key 1.
 */
#define CARRY_IN(k, flip) (l->src[k] ? lane_mask_source(l, k) ^ (flip) : 0)
#define FLIP (0u - (l->inst->key == 1))
#define LANE_CARRY(name, D, T, rows, in, width, flip, expr)              \
    void LANE(name)(struct lanes * l)                                    \
    {                                                                    \
        rows OUT_##D;                                                    \
        const u32 *const m = l->lane_mask, in_bits = CARRY_IN(in, flip); \
        u32 out_bits = 0;                                                \
        for (unsigned i = 0; i < LANES; i++) {                           \
            const u32 carry = in_bits >> i & 1;                          \
            const T r = (expr);                                          \
            out_bits |= (u32)(r >> width & 1) << i;                      \
            MIX_##D((TYPE_##D)r)                                         \
        }                                                                \
        put_mask(l, 1, out_bits ^ (flip));                               \
    }
#define ROWS_ww ROW_w(0) ROW_w(1)
#define ROWS_pp ROW_p(0) ROW_p(1)

/*
 * Words, which address computations use most: a comparison instead of a wider number. `out` is the
 * condition of a carry in terms of a, b, the carry in (0 or ~0) and the result r.
 */
#define ALL(condition) ((condition) ? ~0u : 0)
#define CARRY_LOOP(put, in, sum, out)               \
    EACH_LANE                                       \
    {                                               \
        const u32 a = s0[i], b = s1[i], carry = in; \
        const u32 r = (sum);                        \
        yes[i] = (out);                             \
        put                                         \
    }
#define LANE_CARRY_WORD(name, flip, sum, out)                           \
    void LANE(name)(struct lanes * l)                                   \
    {                                                                   \
        ROWS_ww OUT_w;                                                  \
        _Alignas(32) u32 yes[LANES];                                    \
        const u32 *const m = l->lane_mask, in_bits = CARRY_IN(2, flip); \
        if (UNLIKELY(l->mask != LANES_FULL))                            \
            CARRY_LOOP(MIX_w(r), ALL(in_bits &lane_bit[i]), sum, out)   \
        else if (in_bits)                                               \
            CARRY_LOOP(PUT_w(r), ALL(in_bits &lane_bit[i]), sum, out)   \
        else                                                            \
            CARRY_LOOP(PUT_w(r), 0, sum, out)                           \
        put_mask(l, 1, bits_of(yes) ^ (flip));                          \
    }
LANE_CARRY_WORD(addc_b32, 0u, a + b - carry, ALL(r < a) | (ALL(r == a) & carry))
LANE_CARRY_WORD(subc_b32, FLIP, a - b + carry, ALL(a < b) | (ALL(a == b) & carry))
LANE_CARRY(addc_b64, p, u128, ROWS_pp, 2, 64, 0u, (u128)GET_p(0) + GET_p(1) + carry)
LANE_CARRY(subc_b64, p, u128, ROWS_pp, 2, 64, FLIP, (u128)GET_p(0) - GET_p(1) - carry)
LANE_CARRY(madc_lo_b32, w, u64, ROWS_ww ROW_w(2), 3, 32, 0u,
           (u64)(GET_w(0) * GET_w(1)) + GET_w(2) + carry)
LANE_CARRY(madc_lo_b64, p, u128, ROWS_pp ROW_p(2), 3, 64, 0u,
           (u128)(GET_p(0) * GET_p(1)) + GET_p(2) + carry)
LANE_CARRY(madc_hi_s32, w, u64, ROWS_ww ROW_w(2), 3, 32, 0u,
           (u64)(u32)(S64(S32(GET_w(0))) * S32(GET_w(1)) >> 32) + GET_w(2) + carry)
LANE_CARRY(madc_hi_u32, w, u64, ROWS_ww ROW_w(2), 3, 32, 0u,
           ((u64)GET_w(0) * GET_w(1) >> 32) + GET_w(2) + carry)
LANE_CARRY(madc_hi_s64, p, u128, ROWS_pp ROW_p(2), 3, 64, 0u,
           (u128)(u64)((i128)S64(GET_p(0)) * S64(GET_p(1)) >> 64) + GET_p(2) + carry)
LANE_CARRY(madc_hi_u64, p, u128, ROWS_pp ROW_p(2), 3, 64, 0u,
           ((u128)GET_p(0) * GET_p(1) >> 64) + GET_p(2) + carry)

/* Division. */
ALWAYS_INLINE u64 div_s(i64 a, i64 b)
{
    return b == 0 ? ~0ull : b == -1 ? 0 - (u64)a : (u64)(a / b);
}
ALWAYS_INLINE u64 rem_s(i64 a, i64 b)
{
    return b == 0 ? (u64)a : b == -1 ? 0 : (u64)(a % b);
}
ALWAYS_INLINE u32 div_s32(i32 a, i32 b)
{
    return b == 0 ? ~0u : b == -1 ? 0 - (u32)a : (u32)(a / b);
}
ALWAYS_INLINE u32 rem_s32(i32 a, i32 b)
{
    return b == 0 ? (u32)a : b == -1 ? 0 : (u32)(a % b);
}
LANE2(div_s16, w, w, w, U16(div_s32(S16(a), S16(b))))
LANE2(div_s32, w, w, w, div_s32(S32(a), S32(b)))
LANE2(div_s64, p, p, p, div_s(S64(a), S64(b)))
LANE2(div_u16, w, w, w, U16(b) ? U16(a) / U16(b) : 0xffff)
LANE2(div_u32, w, w, w, b ? a / b : ~0u)
LANE2(div_u64, p, p, p, b ? a / b : ~0ull)
LANE2(rem_s16, w, w, w, U16(rem_s32(S16(a), S16(b))))
LANE2(rem_s32, w, w, w, rem_s32(S32(a), S32(b)))
LANE2(rem_s64, p, p, p, rem_s(S64(a), S64(b)))
LANE2(rem_u16, w, w, w, U16(b) ? U16(a) % U16(b) : U16(a))
LANE2(rem_u32, w, w, w, b ? a % b : a)
LANE2(rem_u64, p, p, p, b ? a % b : a)

/* Magnitudes and extremes. */
LANE1(abs_s16, w, w, U16(S16(a) < 0 ? 0 - a : a))
LANE1(abs_s32, w, w, S32(a) < 0 ? 0 - a : a)
LANE1(abs_s64, p, p, S64(a) < 0 ? 0 - a : a)
LANE1(neg_s16, w, w, U16(0 - a))
LANE1(neg_s32, w, w, 0 - a)
LANE1(neg_s64, p, p, 0 - a)
LANE2(min_s16, w, w, w, U16(S16(a) < S16(b) ? a : b))
LANE2(min_s32, w, w, w, S32(a) < S32(b) ? a : b)
LANE2(min_s64, p, p, p, S64(a) < S64(b) ? a : b)
LANE2(min_u16, w, w, w, U16(a) < U16(b) ? U16(a) : U16(b))
LANE2(min_u32, w, w, w, a < b ? a : b)
LANE2(min_u64, p, p, p, a < b ? a : b)
LANE2(max_s16, w, w, w, U16(S16(a) > S16(b) ? a : b))
LANE2(max_s32, w, w, w, S32(a) > S32(b) ? a : b)
LANE2(max_s64, p, p, p, S64(a) > S64(b) ? a : b)
LANE2(max_u16, w, w, w, U16(a) > U16(b) ? U16(a) : U16(b))
LANE2(max_u32, w, w, w, a > b ? a : b)
LANE2(max_u64, p, p, p, a > b ? a : b)

#define MIN_S32(x, y) (S32(x) < S32(y) ? (x) : (y))
#define MAX_S32(x, y) (S32(x) > S32(y) ? (x) : (y))
LANE3(min3_s32, w, w, w, w, MIN_S32(MIN_S32(a, b), c))
LANE3(min3_u32, w, w, w, w, MIN(MIN(a, b), c))
LANE3(max3_s32, w, w, w, w, MAX_S32(MAX_S32(a, b), c))
LANE3(max3_u32, w, w, w, w, MAX(MAX(a, b), c))
LANE3(med3_s32, w, w, w, w, MAX_S32(MIN_S32(a, b), MIN_S32(MAX_S32(a, b), c)))
LANE3(med3_u32, w, w, w, w, MAX(MIN(a, b), MIN(MAX(a, b), c)))

#define BOTH(op16) (U16(op16(U16(a), U16(b))) | (u32)op16(a >> 16, b >> 16) << 16)
#define MIN_S16(x, y) (S16(x) < S16(y) ? (x) : (y))
#define MAX_S16(x, y) (S16(x) > S16(y) ? (x) : (y))
LANE2(min_s16x2, w, w, w, BOTH(MIN_S16))
LANE2(min_u16x2, w, w, w, BOTH(MIN))
LANE2(max_s16x2, w, w, w, BOTH(MAX_S16))
LANE2(max_u16x2, w, w, w, BOTH(MAX))

LANE3(sad_s16, w, w, w, w, U16(c + (u32)(S16(a) > S16(b) ? S16(a) - S16(b) : S16(b) - S16(a))))
LANE3(sad_s32, w, w, w, w, c + (S32(a) > S32(b) ? a - b : b - a))
LANE3(sad_s64, p, p, p, p, c + (S64(a) > S64(b) ? a - b : b - a))
LANE3(sad_u16, w, w, w, w, U16(c + (U16(a) > U16(b) ? U16(a) - U16(b) : U16(b) - U16(a))))
LANE3(sad_u32, w, w, w, w, c + (a > b ? a - b : b - a))
LANE3(sad_u64, p, p, p, p, c + (a > b ? a - b : b - a))

/* Dot products of bytes. key: bit 0 a signed, bit 1 b signed; dp2a: bit 2 the high half of b. */
ALWAYS_INLINE i32 element(u32 x, unsigned at, unsigned bits, bool is_signed)
{
    const u32 up = x << (32 - bits - at);
    return is_signed ? S32(up) >> (32 - bits) : S32(up >> (32 - bits));
}
ALWAYS_INLINE u32 dot4(u32 key, u32 a, u32 b)
{
    u32 sum = 0;
    for (unsigned j = 0; j < 32; j += 8)
        sum += (u32)(element(a, j, 8, key & 1) * element(b, j, 8, key & 2));
    return sum;
}
ALWAYS_INLINE u32 dot2(u32 key, u32 a, u32 b)
{
    const u32 bytes = key & 4 ? b >> 16 : b & 0xffff;
    return (u32)(element(a, 0, 16, key & 1) * element(bytes, 0, 8, key & 2)) +
           (u32)(element(a, 16, 16, key & 1) * element(bytes, 8, 8, key & 2));
}
/* Differences of the parts of a word. key: bit 0 signed, bit 1 adds them to c. */
ALWAYS_INLINE u32 part_difference(u32 is_signed, u32 a, u32 b, u32 shift, u32 up)
{
    const i32 x = is_signed ? S32(a << (up - shift)) >> up : S32(a << (up - shift) >> up);
    const i32 y = is_signed ? S32(b << (up - shift)) >> up : S32(b << (up - shift) >> up);
    return (u32)(x > y ? x - y : y - x);
}
ALWAYS_INLINE u32 differences2(u32 key, u32 a, u32 b, u32 c)
{
    const u32 low = part_difference(key & 1, a, b, 0, 16);
    const u32 high = part_difference(key & 1, a, b, 16, 16);
    return key & 2 ? c + low + high : low | high << 16;
}
ALWAYS_INLINE u32 differences4(u32 key, u32 a, u32 b, u32 c)
{
    const u32 d0 = part_difference(key & 1, a, b, 0, 24),
              d1 = part_difference(key & 1, a, b, 8, 24);
    const u32 d2 = part_difference(key & 1, a, b, 16, 24);
    const u32 d3 = part_difference(key & 1, a, b, 24, 24);
    return key & 2 ? c + d0 + d1 + d2 + d3 : d0 | d1 << 8 | d2 << 16 | d3 << 24;
}
LANE3(vabsdiff2, w, w, w, w, differences2(key, a, b, c))
LANE3(vabsdiff4, w, w, w, w, differences4(key, a, b, c))
LANE3(dp4a, w, w, w, w, c + dot4(key, a, b))
LANE3(dp2a, w, w, w, w, c + dot2(key, a, b))
