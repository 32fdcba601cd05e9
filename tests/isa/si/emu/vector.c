/* Vector instructions: operands, modifiers, masks, lanes; and what works on integers. See emu.h. */
#include "emu.h"

#include <stdlib.h>
#include <string.h>

static i64 sign24(u64 v)
{
    return (int32_t)((u32)v << 8) >> 8;
}

static u32 count_bits(u64 v)
{
    return (u32)__builtin_popcountll(v);
}

static u32 sad(u64 a, u64 b, u32 width, bool masked)
{
    u32 sum = 0, mask = width == 8 ? 0xff : 0xffff;
    for (u32 i = 0; i < 32; i += width) {
        i64 x = a >> i & mask, y = b >> i & mask;
        if (!masked || y)
            sum += (u32)(x < y ? y - x : x - y);
    }
    return sum;
}

/* Four sums of the bytes at 0..3, 1..4, 2..5, 3..6 of `a`, each with its own accumulator. */
static u64 quad_sad(u64 a, u64 b, u64 c, bool masked)
{
    u64 out = 0;
    for (u32 i = 0; i < 4; i++)
        out |= (u64)(u16)(sad((u32)(a >> 8 * i), (u32)b, 8, masked) + (c >> 16 * i)) << 16 * i;
    return out;
}

static u32 lerp(u32 a, u32 b, u32 c)
{
    u32 out = 0;
    for (u32 i = 0; i < 32; i += 8)
        out |= ((a >> i & 255) + (b >> i & 255) + (c >> i & 1)) >> 1 << i;
    return out;
}

static u32 extract(u32 a, u32 b, u32 c, bool with_sign)
{
    u32 shift = b & 31, length = c & 31, field = a >> shift;
    if (length == 0)
        return 0;
    if (shift + length >= 32)
        return with_sign ? (u32)((int32_t)a >> shift) : field;
    field &= (1u << length) - 1;
    if (with_sign && field >> (length - 1))
        field |= ~0u << length;
    return field;
}

static int by_signed(const void *a, const void *b)
{
    i64 x = *(const i64 *)a, y = *(const i64 *)b;
    return x < y ? -1 : x > y;
}

/* The smallest, the middle or the largest of three. */
static u64 ranked(const u64 *src, bool is_signed, u32 rank)
{
    i64 v[3];
    for (u32 i = 0; i < 3; i++)
        v[i] = is_signed ? (int32_t)src[i] : (i64)(u32)src[i];
    qsort(v, 3, sizeof *v, by_signed);
    return (u32)v[rank];
}

static u64 leading(u32 v, bool with_sign)
{
    u32 from = with_sign && v >> 31 ? ~v : v;
    return from ? (u32)__builtin_clz(from) : UINT32_MAX;
}

static u32 saturate16(u64 v, bool is_signed)
{
    int32_t x = (int32_t)v;
    if (!is_signed)
        return (u32)v > 0xffff ? 0xffff : (u32)v;
    return (u16)(x > 32767 ? 32767 : x < -32768 ? -32768 : x);
}

static u32 reverse(u32 v)
{
    u32 out = 0;
    for (u32 i = 0; i < 32; i++)
        out |= (v >> i & 1) << (31 - i);
    return out;
}

/* Of three sources, and the odd ones. */
static u64 integer3(struct step *s, const u64 *src, bool *known)
{
    u32 a = (u32)src[0], b = (u32)src[1], c = (u32)src[2];
    switch (s->insn->op) {
    case OP_v_mad_i32_i24:
        return (u32)(sign24(a) * sign24(b) + (i64)c);
    case OP_v_mad_u32_u24:
        return (a & 0xffffff) * (b & 0xffffff) + c;
    case OP_v_bfe_u32:
        return extract(a, b, c, false);
    case OP_v_bfe_i32:
        return extract(a, b, c, true);
    case OP_v_bfi_b32:
        return (a & b) | (~a & c);
    case OP_v_lerp_u8:
        return lerp(a, b, c);
    case OP_v_alignbit_b32:
        return (u32)(((u64)a << 32 | b) >> (c & 31));
    case OP_v_alignbyte_b32:
        return (u32)(((u64)a << 32 | b) >> 8 * (c & 3));
    case OP_v_min3_i32:
    case OP_v_med3_i32:
    case OP_v_max3_i32:
        return ranked(src, true,
                      s->insn->op == OP_v_min3_i32   ? 0
                      : s->insn->op == OP_v_med3_i32 ? 1
                                                     : 2);
    case OP_v_min3_u32:
    case OP_v_med3_u32:
    case OP_v_max3_u32:
        return ranked(src, false,
                      s->insn->op == OP_v_min3_u32   ? 0
                      : s->insn->op == OP_v_med3_u32 ? 1
                                                     : 2);
    case OP_v_sad_u8:
        return sad(a, b, 8, false) + c;
    case OP_v_sad_hi_u8:
        return (sad(a, b, 8, false) << 16) + c;
    case OP_v_sad_u16:
        return sad(a, b, 16, false) + c;
    case OP_v_sad_u32:
        return (a > b ? a - b : b - a) + c;
    case OP_v_msad_u8:
        return sad(a, b, 8, true) + c;
    case OP_v_qsad_u8:
        return quad_sad(src[0], src[1], src[2], false);
    case OP_v_mqsad_pk_u16_u8:
        return quad_sad(src[0], src[1], src[2], true);
    default:
        *known = false;
        return 0;
    }
}

static u64 integer1(struct step *s, u32 a, bool *known)
{
    switch (s->insn->op) {
    case OP_v_mov_b32:
        return a;
    case OP_v_not_b32:
        return ~a;
    case OP_v_bfrev_b32:
        return reverse(a);
    case OP_v_ffbh_u32:
        return leading(a, false);
    case OP_v_ffbh_i32:
        return leading(a, true);
    case OP_v_ffbl_b32:
        return a ? (u32)__builtin_ctz(a) : UINT32_MAX;
    default:
        *known = false;
        return 0;
    }
}

static u64 multiply(struct step *s, u32 a, u32 b, bool *known)
{
    switch (s->insn->op) {
    case OP_v_mul_i32_i24:
        return (u32)(sign24(a) * sign24(b));
    case OP_v_mul_hi_i32_i24:
        return (u32)(sign24(a) * sign24(b) >> 32);
    case OP_v_mul_u32_u24:
        return (a & 0xffffff) * (b & 0xffffff);
    case OP_v_mul_hi_u32_u24:
        return (u64)(a & 0xffffff) * (b & 0xffffff) >> 32;
    case OP_v_mul_lo_u32:
    case OP_v_mul_lo_i32:
        return a * b;
    case OP_v_mul_hi_u32:
        return (u64)a * b >> 32;
    case OP_v_mul_hi_i32:
        return (u32)((i64)(int32_t)a * (int32_t)b >> 32);
    default:
        *known = false;
        return 0;
    }
}

static u64 add_carry(u64 wide, bool *carry)
{
    *carry = wide >> 32 & 1;
    return (u32)wide;
}

/* `carry` holds the lane's carry in and receives the carry out. */
static u64 integer2(struct step *s, const u64 *src, u32 lane, bool *carry, bool *known)
{
    u32 a = (u32)src[0], b = (u32)src[1];
    u64 below = (1ull << lane) - 1;
    switch (s->insn->op) {
    case OP_v_cndmask_b32:
        return *carry ? b : a;
    case OP_v_min_i32:
        return (int32_t)a < (int32_t)b ? a : b;
    case OP_v_max_i32:
        return (int32_t)a > (int32_t)b ? a : b;
    case OP_v_min_u32:
        return a < b ? a : b;
    case OP_v_max_u32:
        return a > b ? a : b;
    case OP_v_lshr_b32:
        return a >> (b & 31);
    case OP_v_lshrrev_b32:
        return b >> (a & 31);
    case OP_v_ashr_i32:
        return (u32)((int32_t)a >> (b & 31));
    case OP_v_ashrrev_i32:
        return (u32)((int32_t)b >> (a & 31));
    case OP_v_lshl_b32:
        return a << (b & 31);
    case OP_v_lshlrev_b32:
        return b << (a & 31);
    case OP_v_and_b32:
        return a & b;
    case OP_v_or_b32:
        return a | b;
    case OP_v_xor_b32:
        return a ^ b;
    case OP_v_bfm_b32:
        return ((1u << (a & 31)) - 1) << (b & 31);
    case OP_v_bcnt_u32_b32:
        return count_bits(a) + b;
    case OP_v_mbcnt_lo_u32_b32:
        return count_bits(a & (u32)below) + b;
    case OP_v_mbcnt_hi_u32_b32:
        return count_bits(a & (u32)(below >> 32)) + b;
    case OP_v_add_i32:
        return add_carry((u64)a + b, carry);
    case OP_v_sub_i32:
        return add_carry((u64)a - b, carry);
    case OP_v_subrev_i32:
        return add_carry((u64)b - a, carry);
    case OP_v_addc_u32:
        return add_carry((u64)a + b + *carry, carry);
    case OP_v_subb_u32:
        return add_carry((u64)a - b - *carry, carry);
    case OP_v_subbrev_u32:
        return add_carry((u64)b - a - *carry, carry);
    case OP_v_cvt_pk_u16_u32:
        return saturate16(a, false) | saturate16(b, false) << 16;
    case OP_v_cvt_pk_i16_i32:
        return saturate16(a, true) | saturate16(b, true) << 16;
    case OP_v_lshl_b64:
        return src[0] << (b & 63);
    case OP_v_lshr_b64:
        return src[0] >> (b & 63);
    case OP_v_ashr_i64:
        return (u64)((i64)src[0] >> (b & 63));
    default:
        *known = false;
        return 0;
    }
}

u64 emu_integer(struct step *s, const u64 *src, u32 lane, bool *carry, bool *known)
{
    *known = true;
    u64 out = integer1(s, (u32)src[0], known);
    if (*known)
        return out;
    *known = true;
    out = integer2(s, src, lane, carry, known);
    if (*known)
        return out;
    *known = true;
    out = multiply(s, (u32)src[0], (u32)src[1], known);
    if (*known)
        return out;
    *known = true;
    return integer3(s, src, known);
}

/* Sources of a lane by the signature's letters after '=', with abs and neg. Returns their number.
 */
static u32 gather(struct step *s, u32 lane, u64 *src)
{
    const char *types = strchr(s->insn->row->signature, '=') + 1;
    u32 i = 0;
    for (; types[i]; i++) {
        u32 code = s->insn->src[i];
        bool wide = types[i] == 'q' || types[i] == 'd',
             is_float = types[i] == 'd' || types[i] == 'f';
        if (types[i] == 'm') {
            src[i] = emu_scalar64(s, code, false) >> lane & 1;
            continue;
        }
        src[i] =
            wide ? emu_vector_source64(s, code, lane, is_float) : emu_vector_source(s, code, lane);
        u64 sign = wide ? 1ull << 63 : 1ull << 31;
        if (is_float && s->insn->abs >> i & 1)
            src[i] &= ~sign;
        if (is_float && s->insn->neg >> i & 1)
            src[i] ^= sign;
    }
    return i;
}

/* Extremes, integral values and approximations give numbers as they are: where nothing else is
 * rounded, omod rounds to nearest. */
static bool rounds_by_mode(enum op op)
{
    switch (op) {
    case OP_v_min_legacy_f32:
    case OP_v_max_legacy_f32:
    case OP_v_min_f32:
    case OP_v_max_f32:
    case OP_v_min3_f32:
    case OP_v_max3_f32:
    case OP_v_med3_f32:
    case OP_v_min_f64:
    case OP_v_max_f64:
    case OP_v_trunc_f32:
    case OP_v_ceil_f32:
    case OP_v_rndne_f32:
    case OP_v_floor_f32:
    case OP_v_frexp_mant_f32:
    case OP_v_frexp_mant_f64:
        return false;
    default:
        return true;
    }
}

static u64 output_modifiers(struct step *s, enum kind kind, u64 bits)
{
    const struct wave *w = s->wave;
    enum rounding round =
        s->near == EXACT && rounds_by_mode(s->insn->op) ? num_round(w, kind) : R_N;
    static const i64 powers[] = {0, 1, 2, -1};
    bool kept = w->mode >> (kind == K_F64 ? MODE_DENORM64 : MODE_DENORM32) & 2;
    if (s->insn->omod && !kept && !(w->mode & MODE_IEEE) && !fp_is_nan(kind, bits)) {
        bits = num_scale(kind, bits, powers[s->insn->omod], round);
        bits = fp_flush(kind, bits);
    }
    if (!s->insn->clamp)
        return bits;
    if (fp_is_nan(kind, bits))
        return w->mode & MODE_DX10 ? 0 : bits;
    if (fp_is_negative(kind, bits))
        return 0;
    return num_compare(kind, bits, fp_one(kind)) == 1 ? fp_one(kind) : bits;
}

static void cross_lane(struct step *s)
{
    const struct insn *n = s->insn;
    u64 exec = emu_exec(s->wave);
    u32 lane = n->op == OP_v_readfirstlane_b32 ? (exec ? (u32)__builtin_ctzll(exec) : 0)
                                               : emu_scalar(s, n->src[1]) & 63;
    if (n->op == OP_v_writelane_b32)
        emu_write_vector(s, n->dst, lane, emu_scalar(s, n->src[0]));
    else
        emu_write_scalar(s, n->dst, emu_vector_source(s, n->src[0], lane));
}

static void move_relative(struct step *s)
{
    const struct insn *n = s->insn;
    u32 m0 = s->wave->scalars[M0];
    bool from = n->op != OP_v_movreld_b32, to = n->op != OP_v_movrels_b32;
    u32 src = n->src[0] + (from ? m0 : 0), dst = n->dst + (to ? m0 : 0);
    if ((from && (n->src[0] < 256 || src >= 512)) || dst >= VECTORS) {
        emu_fault(s, "relative register out of the file");
        return;
    }
    for (u32 lane = 0; lane < LANES; lane++)
        if (emu_exec(s->wave) >> lane & 1)
            emu_write_vector(s, dst, lane, emu_vector_source(s, src, lane));
}

static void lane_op(struct step *s, u32 lane, u64 *mask)
{
    const struct insn *n = s->insn;
    const char *sig = n->row->signature;
    u64 src[3] = {0};
    u32 count = gather(s, lane, src);
    u64 vcc = (u64)s->wave->scalars[VCC + 1] << 32 | s->wave->scalars[VCC];
    bool flag = count == 3 ? src[2] & 1 : false, known;
    u64 out = emu_integer(s, src, lane, &flag, &known);
    if (!known)
        out = emu_float(s, src, s->wave->vectors[n->dst][lane], vcc >> lane & 1, &flag);
    if (sig[0] == 'f' || sig[0] == 'd')
        out = output_modifiers(s, sig[0] == 'd' ? K_F64 : K_F32, out);
    if (sig[0] == 'q' || sig[0] == 'd')
        emu_write_vector64(s, n->dst, lane, out);
    else
        emu_write_vector(s, n->dst, lane, (u32)out);
    *mask |= (u64)flag << lane;
}

void emu_vector_op(struct step *s)
{
    const struct insn *n = s->insn;
    u64 mask = 0, exec = emu_exec(s->wave);
    if (n->op == OP_v_nop || n->op == OP_v_clrexcp)
        return;
    if (n->row->group == G_CROSS) {
        cross_lane(s);
        return;
    }
    if (n->row->group == G_MOVREL) {
        move_relative(s);
        return;
    }
    for (u32 lane = 0; lane < LANES; lane++)
        if (exec >> lane & 1)
            lane_op(s, lane, &mask);
    s->near = EXACT;
    if (n->row->signature[1] == 'm')
        emu_write_scalar64(s, n->sdst, mask & exec);
}

/* The opcode's low bits are the set of orders for which it holds: 1 less, 2 equal, 4 greater, 8
 * unordered. */
static bool float_condition(u32 what, int order)
{
    return what & (order == 2 ? 8u : 1u << (order + 1));
}

static bool in_class(enum kind kind, u64 bits, u32 mask)
{
    bool negative = fp_is_negative(kind, bits);
    u32 which = fp_is_nan(kind, bits)         ? (num_signaling(kind, bits) ? 0 : 1)
                : fp_is_infinite(kind, bits)  ? (negative ? 2 : 9)
                : fp_is_zero(kind, bits)      ? (negative ? 5 : 6)
                : fp_is_subnormal(kind, bits) ? (negative ? 4 : 7)
                                              : (negative ? 3 : 8);
    return mask >> which & 1;
}

static bool compare_lane(struct step *s, const u64 *src)
{
    u32 opcode = s->insn->row->opcode, what = opcode & 15;
    if (opcode < 0x80) {
        enum kind kind = opcode & 0x20 ? K_F64 : K_F32;
        return float_condition(
            what, num_compare(kind, num_in(s->wave, kind, src[0]), num_in(s->wave, kind, src[1])));
    }
    bool wide = opcode & 0x20, is_unsigned = opcode & 0x40;
    if (what == 8)
        return in_class(wide ? K_F64 : K_F32, src[0], (u32)src[1]);
    i64 a = wide ? (i64)src[0] : is_unsigned ? (i64)(u32)src[0] : (int32_t)src[0];
    i64 b = wide ? (i64)src[1] : is_unsigned ? (i64)(u32)src[1] : (int32_t)src[1];
    int order =
        is_unsigned && wide ? (src[0] < src[1] ? -1 : src[0] > src[1]) : (a < b ? -1 : a > b);
    return what >> (order + 1) & 1;
}

void emu_compare(struct step *s)
{
    u64 exec = emu_exec(s->wave), mask = 0;
    for (u32 lane = 0; lane < LANES; lane++) {
        u64 src[3] = {0};
        if (!(exec >> lane & 1))
            continue;
        gather(s, lane, src);
        mask |= (u64)compare_lane(s, src) << lane;
    }
    emu_write_scalar64(s, s->insn->dst, mask);
    if (s->insn->row->opcode & 0x10)
        emu_write_scalar64(s, EXEC, mask);
}
