/*
 * Integer, bit, comparison and selection ops against plain scalar C: wide arithmetic and, for bit
 * fields, the loops of the PTX manual's descriptions.
 */
#include "harness.h"

struct io {
    u64 a, b, c, d;
    bool p, q, s; /* masks among the sources, in order of operand */
    u32 key, key2, type;
    u64 imm;
    u64 r, r1;   /* results */
    bool m0, m1; /* mask results */
};
typedef void reference(struct io *x);

/* An op without a reference here has a null pointer in the table below. */
#define OP(name, text, signature, unit, latency, event, flags) \
    __attribute__((weak)) reference ref_##name;
#include "ir/ops.def"
#undef OP

#define REF(name, ...)                                    \
    void ref_##name(struct io *x)                         \
    {                                                     \
        const u64 a = x->a, b = x->b, c = x->c, d = x->d; \
        (void)a, (void)b, (void)c, (void)d;               \
        __VA_ARGS__;                                      \
    }
#define R(name, expr) REF(name, x->r = (u64)(expr))

static i128 sx(u64 v, unsigned bits)
{
    const i128 top = (i128)1 << (bits - 1),
               low = (i128)(v & (bits == 64 ? ~0ull : (1ull << bits) - 1));
    return low >= top ? low - 2 * top : low;
}
static u128 zx(u64 v, unsigned bits)
{
    return bits == 64 ? v : v & ((1ull << bits) - 1);
}
static i128 magnitude(i128 v)
{
    return v < 0 ? -v : v;
}
static i128 clamp32(i128 v)
{
    return v > 0x7fffffff ? 0x7fffffff : v < -(i128)0x80000000 ? -(i128)0x80000000 : v;
}
static i128 quotient(i128 a, i128 b)
{
    return b == 0 ? -1 : a / b;
}
static i128 remainder_of(i128 a, i128 b)
{
    return b == 0 ? a : a % b;
}

R(mov_b32, a)
R(mov_b64, a)
R(pack_b32, (a & 0xffff) | (b & 0xffff) << 16)
REF(unpack_b32, x->r = a & 0xffff, x->r1 = a >> 16 & 0xffff)
R(pack_b64, zx(a, 32) | zx(b, 32) << 32)
REF(unpack_b64, x->r = zx(a, 32), x->r1 = a >> 32)
REF(mov_mask, x->m0 = x->p)
REF(and_mask, x->m0 = x->p && x->q)
REF(or_mask, x->m0 = x->p || x->q)
REF(xor_mask, x->m0 = x->p != x->q)
REF(not_mask, x->m0 = !x->p)

/* Ops of three widths; the runner cuts the result to its register. */
#define WIDTHS(op, expr)       \
    R(op##16, 0xffff & ({      \
                  enum {       \
                      N = 16   \
                  };           \
                  (u64)(expr); \
              }))              \
    R(op##32, ({               \
          enum {               \
              N = 32           \
          };                   \
          expr;                \
      }))                      \
    R(op##64, ({               \
          enum {               \
              N = 64           \
          };                   \
          expr;                \
      }))
WIDTHS(add_b, a + b)
WIDTHS(sub_b, a - b)
WIDTHS(mul_lo_b, a *b)
WIDTHS(mul_hi_s, sx(a, N) * sx(b, N) >> N)
WIDTHS(mul_hi_u, zx(a, N) * zx(b, N) >> N)
WIDTHS(mad_lo_b, a *b + c)
WIDTHS(mad_hi_s, (sx(a, N) * sx(b, N) >> N) + c)
WIDTHS(mad_hi_u, (zx(a, N) * zx(b, N) >> N) + c)
WIDTHS(div_s, quotient(sx(a, N), sx(b, N)))
WIDTHS(div_u, quotient(zx(a, N), zx(b, N)))
WIDTHS(rem_s, remainder_of(sx(a, N), sx(b, N)))
WIDTHS(rem_u, remainder_of(zx(a, N), zx(b, N)))
WIDTHS(abs_s, magnitude(sx(a, N)))
WIDTHS(neg_s, -sx(a, N))
WIDTHS(min_s, MIN(sx(a, N), sx(b, N)))
WIDTHS(min_u, MIN(zx(a, N), zx(b, N)))
WIDTHS(max_s, MAX(sx(a, N), sx(b, N)))
WIDTHS(max_u, MAX(zx(a, N), zx(b, N)))
WIDTHS(sad_s, c + (u64)magnitude(sx(a, N) - sx(b, N)))
WIDTHS(sad_u, c + (u64)magnitude((i128)zx(a, N) - (i128)zx(b, N)))
WIDTHS(and_b, a &b)
WIDTHS(or_b, a | b)
WIDTHS(xor_b, a ^ b)
WIDTHS(not_b, ~a)
WIDTHS(cnot_b, zx(a, N) == 0)
WIDTHS(shl_b, zx(b, 32) >= N ? 0 : a << zx(b, 32))
WIDTHS(shr_s, sx(a, N) >> MIN(zx(b, 32), N))
WIDTHS(shr_u, zx(b, 32) >= N ? 0 : zx(a, N) >> zx(b, 32))
R(mul_wide_s16, sx(a, 16) * sx(b, 16))
R(mul_wide_u16, zx(a, 16) * zx(b, 16))
R(mul_wide_s32, sx(a, 32) * sx(b, 32))
R(mul_wide_u32, zx(a, 32) * zx(b, 32))
R(mad_wide_s16, sx(a, 16) * sx(b, 16) + c)
R(mad_wide_u16, zx(a, 16) * zx(b, 16) + c)
R(mad_wide_s32, sx(a, 32) * sx(b, 32) + c)
R(mad_wide_u32, zx(a, 32) * zx(b, 32) + c)
R(mul24_lo_s32, sx(a, 24) * sx(b, 24))
R(mul24_lo_u32, zx(a, 24) * zx(b, 24))
R(mul24_hi_s32, sx(a, 24) * sx(b, 24) >> 16)
R(mul24_hi_u32, zx(a, 24) * zx(b, 24) >> 16)
R(mad24_lo_s32, sx(a, 24) * sx(b, 24) + c)
R(mad24_lo_u32, zx(a, 24) * zx(b, 24) + c)
R(mad24_hi_s32, (sx(a, 24) * sx(b, 24) >> 16) + c)
R(mad24_hi_u32, (zx(a, 24) * zx(b, 24) >> 16) + c)
R(mad24_hi_sat_s32, clamp32((sx(a, 24) * sx(b, 24) >> 16) + sx(c, 32)))
R(mad_hi_sat_s32, clamp32((sx(a, 32) * sx(b, 32) >> 32) + sx(c, 32)))
R(add_sat_s32, clamp32(sx(a, 32) + sx(b, 32)))
R(sub_sat_s32, clamp32(sx(a, 32) - sx(b, 32)))
R(add_b16x2, ((a + b) & 0xffff) | ((a >> 16) + (b >> 16)) << 16)
#define HALVES(expr_low, expr_high) (((expr_low)&0xffff) | ((u64)(expr_high)&0xffff) << 16)
R(min_s16x2, HALVES(MIN(sx(a, 16), sx(b, 16)), MIN(sx(a >> 16, 16), sx(b >> 16, 16))))
R(min_u16x2, HALVES(MIN(zx(a, 16), zx(b, 16)), MIN(zx(a >> 16, 16), zx(b >> 16, 16))))
R(max_s16x2, HALVES(MAX(sx(a, 16), sx(b, 16)), MAX(sx(a >> 16, 16), sx(b >> 16, 16))))
R(max_u16x2, HALVES(MAX(zx(a, 16), zx(b, 16)), MAX(zx(a >> 16, 16), zx(b >> 16, 16))))

/* Carries: bit N of the exact sum; borrows: whether the exact difference is negative,
 * with key 1 the opposite in and out. */
#define CARRY(name, N, sum) REF(name, const u128 s = (sum); x->r = (u64)s, x->m1 = s >> N & 1)
#define BORROW(name, N, difference) \
    REF(name, const i128 s = (difference); x->r = (u64)s, x->m1 = (s < 0) != (x->key == 1))
CARRY(addc_b32, 32, zx(a, 32) + zx(b, 32) + x->p)
CARRY(addc_b64, 64, zx(a, 64) + zx(b, 64) + x->p)
BORROW(subc_b32, 32, (i128)zx(a, 32) - (i128)zx(b, 32) - (x->p != (x->key == 1)))
BORROW(subc_b64, 64, (i128)zx(a, 64) - (i128)zx(b, 64) - (x->p != (x->key == 1)))
CARRY(madc_lo_b32, 32, zx(a *b, 32) + zx(c, 32) + x->p)
CARRY(madc_lo_b64, 64, zx(a *b, 64) + zx(c, 64) + x->p)
CARRY(madc_hi_s32, 32, zx((u64)(sx(a, 32) * sx(b, 32) >> 32), 32) + zx(c, 32) + x->p)
CARRY(madc_hi_u32, 32, zx((u64)(zx(a, 32) * zx(b, 32) >> 32), 32) + zx(c, 32) + x->p)
CARRY(madc_hi_s64, 64, zx((u64)(sx(a, 64) * sx(b, 64) >> 64), 64) + zx(c, 64) + x->p)
CARRY(madc_hi_u64, 64, (zx(a, 64) * zx(b, 64) >> 64) + zx(c, 64) + x->p)

/* Bits, one at a time. */
static unsigned bit(u64 v, unsigned i)
{
    return v >> i & 1;
}
static u64 shift_funnel(u64 a, u64 b, u64 c, u32 key, bool left)
{
    const unsigned n = key ? c & 31 : (unsigned)MIN(zx(c, 32), 32);
    u64 r = 0;
    for (unsigned i = 0; i < 32; i++) {
        const unsigned from = left ? 32 + i - n : i + n;
        r |= (u64)(from > 31 ? (from > 63 ? 0 : bit(b, from - 32)) : bit(a, from)) << i;
    }
    return r;
}
static unsigned count_ones(u64 v)
{
    unsigned n = 0;
    for (unsigned i = 0; i < 64; i++)
        n += bit(v, i);
    return n;
}
static unsigned count_leading(u64 v, unsigned width)
{
    unsigned n = 0;
    while (n < width && !bit(v, width - 1 - n))
        n++;
    return n;
}
static u64 find(u64 v, unsigned width, bool is_signed, bool shift_amount)
{
    if (is_signed && bit(v, width - 1))
        v = ~v;
    for (int i = (int)width - 1; i >= 0; i--)
        if (bit(v, (unsigned)i))
            return shift_amount ? width - 1 - (unsigned)i : (unsigned)i;
    return 0xffffffff;
}
static u64 reverse(u64 v, unsigned width)
{
    u64 r = 0;
    for (unsigned i = 0; i < width; i++)
        r |= (u64)bit(v, i) << (width - 1 - i);
    return r;
}
static u64 field_extract(u64 a, u64 b, u64 c, unsigned width, bool is_signed)
{
    const unsigned pos = b & 255, len = c & 255, msb = width - 1;
    const unsigned sign = !is_signed || len == 0 ? 0 : bit(a, MIN(pos + len - 1, msb));
    u64 r = 0;
    for (unsigned i = 0; i <= msb; i++)
        r |= (u64)(i < len && pos + i <= msb ? bit(a, pos + i) : sign) << i;
    return r;
}
static u64 field_insert(u64 a, u64 b, u64 c, u64 d, unsigned width)
{
    const unsigned pos = c & 255, len = d & 255;
    u64 r = b;
    for (unsigned i = 0; i < len && pos + i < width; i++)
        r = (r & ~(1ull << (pos + i))) | (u64)bit(a, i) << (pos + i);
    return r;
}
static u64 nth(u64 mask, u64 base, i64 offset)
{
    base = zx(base, 32);
    if (base > 31)
        return 0xffffffff;
    if (offset == 0)
        return bit(mask, (unsigned)base) ? base : 0xffffffff;
    u64 count = (u64)(offset < 0 ? -offset : offset);
    for (i64 pos = (i64)base; pos >= 0 && pos<32; pos += offset> 0 ? 1 : -1)
        if (bit(mask, (unsigned)pos) && --count == 0)
            return (u64)pos;
    return 0xffffffff;
}
static u64 table3(u64 imm, u64 a, u64 b, u64 c)
{
    u64 r = 0;
    for (unsigned i = 0; i < 32; i++)
        r |= (u64)bit(imm, bit(a, i) * 4 + bit(b, i) * 2 + bit(c, i)) << i;
    return r;
}
/* Which byte goes to byte j: forward and backward extracts, replication, edge clamps. */
static unsigned byte_index(u32 key, unsigned n, unsigned j)
{
    switch (key) {
    case 1:
        return n + j;
    case 2:
        return (n - j) & 7;
    case 3:
        return n;
    case 4:
        return MAX(j, n);
    case 5:
        return MIN(j, n);
    default:
        return n % 2 * 2 + j % 2;
    }
}
static u64 bytes(u64 a, u64 b, u64 c, u32 key)
{
    u64 r = 0;
    for (unsigned j = 0; j < 4; j++) {
        const unsigned select =
            key >= 1 && key <= 6 ? byte_index(key, c & 3, j) : (unsigned)(c >> 4 * j & 15);
        const unsigned index = select & 7;
        u64 byte = (index < 4 ? a >> 8 * index : b >> 8 * (index - 4)) & 255;
        if (select & 8)
            byte = byte >> 7 ? 255 : 0;
        r |= byte << 8 * j;
    }
    return r;
}
static u64 sign_zero_extend(u64 a, u64 b, u32 key, bool is_signed)
{
    b = zx(b, 32);
    const unsigned n = b & 31;
    if (b >= 32 && !key)
        return a;
    return n == 0 ? 0 : (u64)(is_signed ? sx(a, n) : (i128)zx(a, n));
}
static u64 mask_bits(u64 a, u64 b, u32 key)
{
    a = zx(a, 32), b = zx(b, 32);
    u64 r = 0;
    if (!key && a > 31)
        return 0;
    const u64 width = !key && b > 31 ? 32 : b & 31;
    for (u64 i = a & 31; i < (a & 31) + width && i < 32; i++)
        r |= 1ull << i;
    return r;
}
static u64 dot(u64 a, u64 b, u64 c, u32 key, unsigned n, unsigned a_bits, unsigned b_from)
{
    i128 sum = (i128)c;
    for (unsigned j = 0; j < n; j++) {
        const u64 x = a >> j * a_bits, y = b >> (b_from + 8 * j);
        sum +=
            (key & 1 ? sx(x, a_bits) : (i128)zx(x, a_bits)) * (key & 2 ? sx(y, 8) : (i128)zx(y, 8));
    }
    return (u64)sum;
}
static u64 differences(u64 a, u64 b, u64 c, u32 key, unsigned n)
{
    u64 r = key & 2 ? c : 0;
    for (unsigned at = 0; at < 32; at += n) {
        const i128 x = key & 1 ? sx(a >> at, n) : (i128)zx(a >> at, n);
        const i128 y = key & 1 ? sx(b >> at, n) : (i128)zx(b >> at, n);
        r += (u64)magnitude(x - y) << (key & 2 ? 0 : at);
    }
    return r;
}
R(shf_l_b32, shift_funnel(a, b, c, x->key, true))
R(shf_r_b32, shift_funnel(a, b, c, x->key, false))
R(popc_b32, count_ones(zx(a, 32)))
R(popc_b64, count_ones(a))
R(clz_b32, count_leading(a, 32))
R(clz_b64, count_leading(a, 64))
R(bfind_u32, find(a, 32, false, x->key))
R(bfind_s32, find(a, 32, true, x->key))
R(bfind_u64, find(a, 64, false, x->key))
R(bfind_s64, find(a, 64, true, x->key))
R(brev_b32, reverse(a, 32))
R(brev_b64, reverse(a, 64))
R(bfe_u32, field_extract(a, b, c, 32, false))
R(bfe_s32, field_extract(a, b, c, 32, true))
R(bfe_u64, field_extract(a, b, c, 64, false))
R(bfe_s64, field_extract(a, b, c, 64, true))
R(bfi_b32, field_insert(a, b, c, d, 32))
R(bfi_b64, field_insert(a, b, c, d, 64))
R(fns_b32, nth(a, b, (i64)sx(c, 32)))
R(lop3_b32, table3(x->imm, a, b, c))
REF(lop3_mask, x->r = table3(x->imm, a, b, c); x->m1 = x->key2 == BOOL_OR    ? x->r || x->p
                                                       : x->key2 == BOOL_AND ? x->r && x->p
                                                       : x->key2 == BOOL_XOR ? (x->r != 0) != x->p
                                                                             : x->r != 0)
R(prmt_b32, bytes(a, b, c, x->key))
R(szext_s32, sign_zero_extend(a, b, x->key, true))
R(szext_u32, sign_zero_extend(a, b, x->key, false))
R(bmsk_b32, mask_bits(a, b, x->key))
R(vabsdiff2, differences(a, b, c, x->key, 16))
R(vabsdiff4, differences(a, b, c, x->key, 8))
R(dp4a, dot(a, b, c, x->key, 4, 8, 0))
R(dp2a, dot(a, b, c, x->key, 2, 16, x->key & 4 ? 16 : 0))

/* Shifts by counts modulo the width, fields of 5-bit positions and lengths, counts with a sum. */
R(shl_wrap_b32, a << (b & 31))
R(shr_wrap_s32, sx(a, 32) >> (b & 31))
R(shr_wrap_u32, zx(a, 32) >> (b & 31))
R(shl_wrap_b64, a << (b & 63))
R(shr_wrap_s64, sx(a, 64) >> (b & 63))
R(shr_wrap_u64, a >> (b & 63))
R(align_byte_b32, (zx(a, 32) << 32 | zx(b, 32)) >> 8 * (c & 3))
R(field_u32, field_extract(a, b & 31, c & 31, 32, false))
R(field_s32, field_extract(a, b & 31, c & 31, 32, true))
R(bits_b32, ((1ull << (a & 31)) - 1) << (b & 31))
R(bitselect_b32, table3(0xca, a, b, c))
R(bcnt_b32, count_ones(zx(a, 32)) + b)
static u64 below(u64 mask, u64 lane, unsigned from)
{
    u64 n = 0;
    for (unsigned i = 0; i < 32; i++)
        n += from + i < zx(lane, 32) && bit(mask, i);
    return n;
}
R(mbcnt_lo, below(a, c, 0) + b)
R(mbcnt_hi, below(a, c, 32) + b)
static u64 copies_of_top(u64 v, bool sign)
{
    const unsigned top = sign ? bit(v, 31) : 0;
    for (unsigned n = 0; n < 32; n++)
        if (bit(v, 31 - n) != top)
            return n;
    return 0xffffffff;
}
R(ffbh_u32, copies_of_top(a, false))
R(ffbh_s32, copies_of_top(a, true))
R(ffbl_b32, copies_of_top(reverse(a, 32), false))
R(mul24_top_s32, sx(a, 24) * sx(b, 24) >> 32)
R(mul24_top_u32, zx(a, 24) * zx(b, 24) >> 32)
#define MEDIAN(a, b, c) ((a) + (b) + (c)-MIN(MIN(a, b), c) - MAX(MAX(a, b), c))
#define OF_THREE(name, f)                                            \
    R(name##_s32, f((i64)sx(a, 32), (i64)sx(b, 32), (i64)sx(c, 32))) \
    R(name##_u32, f((i64)zx(a, 32), (i64)zx(b, 32), (i64)zx(c, 32)))
#define LEAST(a, b, c) MIN(MIN(a, b), c)
#define MOST(a, b, c) MAX(MAX(a, b), c)
OF_THREE(min3, LEAST)
OF_THREE(max3, MOST)
OF_THREE(med3, MEDIAN)

/* Bytes and halves. */
static u64 byte_at(u64 v, unsigned i)
{
    return v >> 8 * i & 255;
}
static u64 average(u64 a, u64 b, u64 c)
{
    u64 r = 0;
    for (unsigned i = 0; i < 4; i++)
        r |= (byte_at(a, i) + byte_at(b, i) + (byte_at(c, i) & 1)) / 2 << 8 * i;
    return r;
}
static u64 byte_distances(u64 a, unsigned from, u64 b, bool masked)
{
    i128 sum = 0;
    for (unsigned i = 0; i < 4; i++)
        if (!masked || byte_at(b, i))
            sum += magnitude((i128)byte_at(a, from + i) - (i128)byte_at(b, i));
    return (u64)sum;
}
static u64 four_distances(u64 a, u64 b, u64 c, bool masked)
{
    u64 r = 0;
    for (unsigned i = 0; i < 4; i++)
        r |= zx((c >> 16 * i) + byte_distances(a, i, b, masked), 16) << 16 * i;
    return r;
}
R(lerp_u8, average(a, b, c))
R(sad_u8, byte_distances(a, 0, b, false) + c)
R(sad_hi_u8, (byte_distances(a, 0, b, false) << 16) + c)
R(sad_halves_u16, differences(a, b, c, 2, 16))
R(msad_u8, byte_distances(a, 0, b, true) + c)
R(qsad_u8, four_distances(a, b, c, false))
R(mqsad_u8, four_distances(a, b, c, true))
static i128 clamp_to(i128 v, i128 low, i128 high)
{
    return v < low ? low : v > high ? high : v;
}
R(cvt_pk_u16_u32, HALVES(clamp_to((i128)zx(a, 32), 0, 65535), clamp_to((i128)zx(b, 32), 0, 65535)))
R(cvt_pk_s16_s32, HALVES(clamp_to(sx(a, 32), -32768, 32767), clamp_to(sx(b, 32), -32768, 32767)))

static bool compared(u32 key, i128 a, i128 b)
{
    if (key == CMP_FALSE || key == CMP_TRUE)
        return key == CMP_TRUE;
    switch (key % 6) {
    case CMP_EQ:
        return a == b;
    case CMP_NE:
        return a != b;
    case CMP_LT:
        return a < b;
    case CMP_LE:
        return a <= b;
    case CMP_GT:
        return a > b;
    default:
        return a >= b;
    }
}
static bool joined(u32 op, bool v, bool with)
{
    return op == BOOL_AND ? v && with : op == BOOL_OR ? v || with : op == BOOL_XOR ? v != with : v;
}
#define COMPARE(name, N, ext)                                                \
    REF(setp_##name, const bool v = compared(x->key, ext(a, N), ext(b, N));  \
        x->m0 = joined(x->key2, v, x->p), x->m1 = joined(x->key2, !v, x->p)) \
    REF(set_##name, const bool v = compared(x->key, ext(a, N), ext(b, N));   \
        const u64 yes = x->type == TYPE_F32   ? 0x3f800000                   \
                        : x->type == TYPE_U16 ? 0xffff                       \
                                              : 0xffffffff;                  \
        x->r = joined(x->key2, v, x->p) ? yes : 0)
COMPARE(u16, 16, (i128)zx)
COMPARE(s16, 16, sx)
COMPARE(u32, 32, (i128)zx)
COMPARE(s32, 32, sx)
COMPARE(u64, 64, (i128)zx)
COMPARE(s64, 64, sx)
R(selp_b32, x->p ? a : b)
R(selp_b64, x->p ? a : b)
R(slct_s32_b32, sx(c, 32) >= 0 ? a : b)
R(slct_s32_b64, sx(c, 32) >= 0 ? a : b)

static bool class_test(u32 key, u64 v, unsigned exponent_bits, unsigned fraction_bits)
{
    const u64 e = v >> fraction_bits & ((1u << exponent_bits) - 1), all = (1u << exponent_bits) - 1;
    const u64 f = v & ((1ull << fraction_bits) - 1);
    const bool finite = e != all, nan = e == all && f, subnormal = e == 0 && f;
    const bool results[] = {finite, e == all && !f, !nan, nan, finite && !subnormal, subnormal};
    return results[key];
}
REF(testp_f32, x->m0 = class_test(x->key, a, 8, 23))
REF(testp_f64, x->m0 = class_test(x->key, a, 11, 52))
R(copysign_f32, (a & 0x80000000) | (b & 0x7fffffff))
R(copysign_f64, (a & 1ull << 63) | (b & ~(1ull << 63)))

static reference *const references[OP_COUNT] = {
#define OP(name, text, signature, unit, latency, event, flags) [OP_##name] = ref_##name,
#include "ir/ops.def"
#undef OP
};

static void check_lane(const struct inst *inst, const struct operands *in,
                       const struct results *got, unsigned i)
{
    struct io x = {.a = in->value[0][i],
                   .b = in->value[1][i],
                   .c = in->value[2][i],
                   .d = in->value[3][i],
                   .key = inst->key,
                   .key2 = inst->key2,
                   .type = inst->type,
                   .imm = (u64)inst->imm};
    u64 *const values[] = {&x.a, &x.b, &x.c, &x.d};
    bool *const masks[] = {&x.p, &x.q, &x.s};
    unsigned next_mask = 0;
    for (unsigned k = 0; k < 4; k++) {
        const char kind = source_kind(inst, k);
        if (kind == 'w')
            *values[k] &= 0xffffffff;
        if (kind == 'm')
            *masks[next_mask++] = (in->mask[k] >> i & 1) != inst->src[k].neg;
    }
    references[inst->op](&x);
    const u64 expected[2] = {x.r, x.r1};
    const bool bits[2] = {x.m0, x.m1};
    for (unsigned k = 0; k < 2; k++) {
        const char kind = result_kind(inst, k);
        const u64 cut = kind == 'w' ? 0xffffffff : ~0ull;
        const bool same = !kind         ? true
                          : kind == 'm' ? (got->mask[k] >> i & 1) == bits[k]
                                        : got->value[k][i] == (expected[k] & cut);
        if (!same)
            fail_msg("%s key %u imm %llx: f(%llx, %llx, %llx, %llx) result %u is %llx, not %llx",
                     op_info[inst->op].name, inst->key, (unsigned long long)x.imm,
                     (unsigned long long)x.a, (unsigned long long)x.b, (unsigned long long)x.c,
                     (unsigned long long)x.d, k, (unsigned long long)got->value[k][i],
                     (unsigned long long)(kind == 'm' ? bits[k] : expected[k] & cut));
    }
}

static unsigned keys_of(enum op op)
{
    const char *name = op_info[op].name;
    if (!strncmp(name, "set", 3))
        return 8;
    if (!strncmp(name, "testp", 5))
        return 6;
    return op == OP_prmt_b32                                           ? 7
           : op == OP_dp4a || op == OP_vabsdiff2 || op == OP_vabsdiff4 ? 4
           : op == OP_dp2a                                             ? 8
                                                                       : 2;
}

static void test_references(void **unused)
{
    static const u8 types[] = {TYPE_U32, TYPE_F32, TYPE_U16};
    u64 state = 7;
    for (enum op op = 0; op < OP_COUNT; op++) {
        if (!(op_info[op].flags & OPF_LANE) || op_info[op].flags & OPF_FLOAT)
            continue;
        if (!references[op])
            fail_msg("no reference for %s", op_info[op].name);
        for (unsigned round = 0; round < 160; round++) {
            struct inst inst = make_inst(op, round & 1 || op_info[op].signature[0] == 'W');
            inst.key = (u8)(round % keys_of(op));
            if (!strncmp(op_info[op].name, "set", 3) && inst.key >= 6)
                inst.key = inst.key & 1 ? CMP_TRUE : CMP_FALSE;
            inst.imm = (i64)(random_next(&state) & 0xff);
            inst.type = types[round % 3];
            for (unsigned k = 0; k < 4; k++) {
                const bool is_mask = source_kind(&inst, k) == 'm';
                inst.src[k].neg = is_mask && round & 2;
                if (is_mask && (!strncmp(op_info[op].name, "set", 3) || op == OP_lop3_mask))
                    inst.key2 = round / 2 % 4;
            }
            struct operands in;
            struct results got;
            random_operands(&state, &in);
            const enum simd simd = round & 4 ? SIMD_PORTABLE : simd_best();
            run_lanes(&inst, lanes_resolve(&inst, simd, true), &in, LANES_FULL, 0, ALIAS_NONE,
                      &got);
            for (unsigned i = 0; i < LANES; i++)
                check_lane(&inst, &in, &got, i);
        }
    }
}

/* The only modifiers of integer ops: negated sources and MOD_RELU. */
static void test_modifiers(void **unused)
{
    u64 state = 11;
    struct inst inst = make_inst(OP_min_s32, true);
    inst.mods = MOD_RELU;
    inst.src[1].neg = 1;
    struct operands in;
    struct results got;
    random_operands(&state, &in);
    run_lanes(&inst, lanes_resolve(&inst, simd_best(), true), &in, LANES_FULL, 0, ALIAS_FIRST,
              &got);
    for (unsigned i = 0; i < LANES; i++) {
        const i32 a = (i32)in.value[0][i], b = (i32)(0 - (u32)in.value[1][i]);
        assert_int_equal((u32)got.value[0][i], MAX(MIN(a, b), 0));
    }
    inst.op = OP_max_s16x2;
    inst.src[1].neg = 0;
    run_lanes(&inst, lanes_resolve(&inst, simd_best(), true), &in, LANES_FULL, 0, ALIAS_FIRST,
              &got);
    for (unsigned i = 0; i < LANES; i++)
        for (unsigned at = 0; at < 32; at += 16) {
            const i16 a = (i16)(in.value[0][i] >> at), b = (i16)(in.value[1][i] >> at);
            assert_int_equal((i16)(got.value[0][i] >> at), MAX(MAX(a, b), 0));
        }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_references),
        cmocka_unit_test(test_modifiers),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
