/* Scalar arithmetic: SOP1, SOP2, SOPK, SOPC. See emu.h. */
#include "emu.h"

#include <string.h>

/* 32 or 64 bits as the signature's letter says. */
static u64 source(struct step *s, u32 i)
{
    const char *types = strchr(s->insn->row->signature, '=') + 1;
    if (strlen(types) <= i)
        return 0;
    return types[i] == 'q' ? emu_scalar64(s, s->insn->src[i], false)
                           : emu_scalar(s, s->insn->src[i]);
}

static void put(struct step *s, u64 value)
{
    if (s->insn->row->signature[0] == 'q')
        emu_write_scalar64(s, s->insn->dst, value);
    else
        emu_write_scalar(s, s->insn->dst, (u32)value);
}

static void put_flag(struct step *s, u64 value, bool scc)
{
    put(s, value);
    emu_write_scc(s, scc);
}

/* Most logic sets SCC when the result is not 0. */
static void put_nonzero(struct step *s, u64 value)
{
    bool wide = s->insn->row->signature[0] == 'q';
    put_flag(s, value, (wide ? value : (u32)value) != 0);
}

static bool overflows(i64 exact)
{
    return exact != (int32_t)exact;
}

static u64 bit_field(u64 a, u64 b, u32 width, bool with_sign)
{
    u32 shift = b & (width - 1), length = b >> 16 & 0x7f;
    u64 all = width == 64 ? ~0ull : 0xffffffff;
    if (length == 0)
        return 0;
    if (shift + length >= width)
        length = width - shift;
    u64 out = (a & all) >> shift;
    if (length < 64)
        out &= (1ull << length) - 1;
    if (with_sign && out >> (length - 1) & 1 && length < 64)
        out |= ~0ull << length;
    return out & all;
}

static bool arithmetic(struct step *s, u64 a, u64 b)
{
    u32 scc = s->wave->scc;
    i64 x = (int32_t)a, y = (int32_t)b;
    switch (s->insn->op) {
    case OP_s_add_u32:
        put_flag(s, a + b, (a + b) >> 32);
        return true;
    case OP_s_sub_u32:
        put_flag(s, a - b, b > a);
        return true;
    case OP_s_add_i32:
        put_flag(s, a + b, overflows(x + y));
        return true;
    case OP_s_sub_i32:
        put_flag(s, a - b, overflows(x - y));
        return true;
    case OP_s_addc_u32:
        put_flag(s, a + b + scc, (a + b + scc) >> 32);
        return true;
    case OP_s_subb_u32:
        put_flag(s, a - b - scc, b + scc > a);
        return true;
    case OP_s_min_i32:
        put_flag(s, x < y ? a : b, x < y);
        return true;
    case OP_s_min_u32:
        put_flag(s, a < b ? a : b, a < b);
        return true;
    case OP_s_max_i32:
        put_flag(s, x > y ? a : b, x > y);
        return true;
    case OP_s_max_u32:
        put_flag(s, a > b ? a : b, a > b);
        return true;
    case OP_s_mul_i32:
        put(s, (u64)(x * y));
        return true;
    case OP_s_absdiff_i32:
        x = (int32_t)(a - b); /* wraps before its sign is tested */
        put_nonzero(s, (u64)(x < 0 ? -x : x));
        return true;
    case OP_s_abs_i32:
        put_nonzero(s, (u64)(x < 0 ? -x : x));
        return true;
    case OP_s_cselect_b32:
    case OP_s_cselect_b64:
        put(s, scc ? a : b);
        return true;
    default:
        return false;
    }
}

static bool logic(struct step *s, u64 a, u64 b)
{
    switch (s->insn->op) {
    case OP_s_and_b32:
    case OP_s_and_b64:
        put_nonzero(s, a & b);
        return true;
    case OP_s_or_b32:
    case OP_s_or_b64:
        put_nonzero(s, a | b);
        return true;
    case OP_s_xor_b32:
    case OP_s_xor_b64:
        put_nonzero(s, a ^ b);
        return true;
    case OP_s_andn2_b32:
    case OP_s_andn2_b64:
        put_nonzero(s, a & ~b);
        return true;
    case OP_s_orn2_b32:
    case OP_s_orn2_b64:
        put_nonzero(s, a | ~b);
        return true;
    case OP_s_nand_b32:
    case OP_s_nand_b64:
        put_nonzero(s, ~(a & b));
        return true;
    case OP_s_nor_b32:
    case OP_s_nor_b64:
        put_nonzero(s, ~(a | b));
        return true;
    case OP_s_xnor_b32:
    case OP_s_xnor_b64:
        put_nonzero(s, ~(a ^ b));
        return true;
    case OP_s_not_b32:
    case OP_s_not_b64:
        put_nonzero(s, ~a);
        return true;
    default:
        return false;
    }
}

static bool shifts(struct step *s, u64 a, u64 b)
{
    switch (s->insn->op) {
    case OP_s_lshl_b32:
        put_nonzero(s, a << (b & 31));
        return true;
    case OP_s_lshl_b64:
        put_nonzero(s, a << (b & 63));
        return true;
    case OP_s_lshr_b32:
        put_nonzero(s, a >> (b & 31));
        return true;
    case OP_s_lshr_b64:
        put_nonzero(s, a >> (b & 63));
        return true;
    case OP_s_ashr_i32:
        put_nonzero(s, (u64)((int32_t)a >> (b & 31)));
        return true;
    case OP_s_ashr_i64:
        put_nonzero(s, (u64)((i64)a >> (b & 63)));
        return true;
    case OP_s_bfm_b32:
        put(s, ((1ull << (a & 31)) - 1) << (b & 31));
        return true;
    case OP_s_bfm_b64:
        put(s, ((1ull << (a & 63)) - 1) << (b & 63));
        return true;
    case OP_s_bfe_u32:
        put_nonzero(s, bit_field(a, b, 32, false));
        return true;
    case OP_s_bfe_i32:
        put_nonzero(s, bit_field(a, b, 32, true));
        return true;
    case OP_s_bfe_u64:
        put_nonzero(s, bit_field(a, b, 64, false));
        return true;
    case OP_s_bfe_i64:
        put_nonzero(s, bit_field(a, b, 64, true));
        return true;
    default:
        return false;
    }
}

/* Bit `i` of the result is whether any of the four bits of group i is set. */
static u64 quads(u64 v)
{
    u64 out = 0;
    for (u32 i = 0; i < 16; i++)
        out |= (u64)((v >> 4 * i & 15) != 0) << i;
    return out;
}

static u64 whole_quads(u64 v)
{
    u64 out = 0;
    for (u32 i = 0; i < 64; i += 4)
        out |= v >> i & 15 ? 15ull << i : 0;
    return out;
}

static u64 reversed(u64 v, u32 width)
{
    u64 out = 0;
    for (u32 i = 0; i < width; i++)
        out |= (v >> i & 1) << (width - 1 - i);
    return out;
}

/* The first bit that is set counted from bit 0, or from the top; -1 when there is none. */
static u64 first_one(u64 v, u32 width, bool from_top)
{
    for (u32 i = 0; i < width; i++)
        if (v >> (from_top ? width - 1 - i : i) & 1)
            return i;
    return UINT32_MAX;
}

static u64 flip_negative(u64 v, u32 width)
{
    return v >> (width - 1) & 1 ? ~v : v;
}

static bool counting(struct step *s, u64 a)
{
    u64 low = (u32)a;
    switch (s->insn->op) {
    case OP_s_bcnt0_i32_b32:
        put_nonzero(s, 32 - (u64)__builtin_popcountll(low));
        return true;
    case OP_s_bcnt0_i32_b64:
        put_nonzero(s, 64 - (u64)__builtin_popcountll(a));
        return true;
    case OP_s_bcnt1_i32_b32:
        put_nonzero(s, (u64)__builtin_popcountll(low));
        return true;
    case OP_s_bcnt1_i32_b64:
        put_nonzero(s, (u64)__builtin_popcountll(a));
        return true;
    case OP_s_ff0_i32_b32:
        put(s, first_one(~a, 32, false));
        return true;
    case OP_s_ff0_i32_b64:
        put(s, first_one(~a, 64, false));
        return true;
    case OP_s_ff1_i32_b32:
        put(s, first_one(a, 32, false));
        return true;
    case OP_s_ff1_i32_b64:
        put(s, first_one(a, 64, false));
        return true;
    case OP_s_flbit_i32_b32:
        put(s, first_one(a, 32, true));
        return true;
    case OP_s_flbit_i32_b64:
        put(s, first_one(a, 64, true));
        return true;
    case OP_s_flbit_i32:
        put(s, first_one(flip_negative(a, 32), 32, true));
        return true;
    case OP_s_flbit_i32_i64:
        put(s, first_one(flip_negative(a, 64), 64, true));
        return true;
    default:
        return false;
    }
}

static u64 old_value(struct step *s)
{
    return s->insn->row->signature[0] == 'q' ? emu_scalar64(s, s->insn->dst, false)
                                             : emu_scalar(s, s->insn->dst);
}

static bool moves(struct step *s, u64 a)
{
    switch (s->insn->op) {
    case OP_s_mov_b32:
    case OP_s_mov_b64:
        put(s, a);
        return true;
    case OP_s_cmov_b32:
    case OP_s_cmov_b64:
        put(s, s->wave->scc ? a : old_value(s));
        return true;
    case OP_s_wqm_b32:
    case OP_s_wqm_b64:
        put_nonzero(s, whole_quads(a));
        return true;
    case OP_s_quadmask_b32:
    case OP_s_quadmask_b64:
        put_nonzero(s, quads(a));
        return true;
    case OP_s_brev_b32:
        put(s, reversed(a, 32));
        return true;
    case OP_s_brev_b64:
        put(s, reversed(a, 64));
        return true;
    case OP_s_sext_i32_i8:
        put(s, (u64)(int8_t)a);
        return true;
    case OP_s_sext_i32_i16:
        put(s, (u64)(int16_t)a);
        return true;
    case OP_s_bitset0_b32:
        put(s, old_value(s) & ~(1ull << (a & 31)));
        return true;
    case OP_s_bitset0_b64:
        put(s, old_value(s) & ~(1ull << (a & 63)));
        return true;
    case OP_s_bitset1_b32:
        put(s, old_value(s) | 1ull << (a & 31));
        return true;
    case OP_s_bitset1_b64:
        put(s, old_value(s) | 1ull << (a & 63));
        return true;
    default:
        return false;
    }
}

static bool save_exec(struct step *s, u64 a)
{
    u64 exec = emu_exec(s->wave), now;
    switch (s->insn->op) {
    case OP_s_and_saveexec_b64:
        now = a & exec;
        break;
    case OP_s_or_saveexec_b64:
        now = a | exec;
        break;
    case OP_s_xor_saveexec_b64:
        now = a ^ exec;
        break;
    case OP_s_andn2_saveexec_b64:
        now = a & ~exec;
        break;
    case OP_s_orn2_saveexec_b64:
        now = a | ~exec;
        break;
    case OP_s_nand_saveexec_b64:
        now = ~(a & exec);
        break;
    case OP_s_nor_saveexec_b64:
        now = ~(a | exec);
        break;
    case OP_s_xnor_saveexec_b64:
        now = ~(a ^ exec);
        break;
    default:
        return false;
    }
    put(s, exec);
    emu_write_scalar64(s, EXEC, now);
    emu_write_scc(s, now != 0);
    return true;
}

static bool move_relative(struct step *s)
{
    const struct insn *n = s->insn;
    u32 m0 = s->wave->scalars[M0];
    bool wide = n->row->signature[0] == 'q';
    if (n->row->group != G_MOVREL)
        return false;
    bool from = n->op == OP_s_movrels_b32 || n->op == OP_s_movrels_b64;
    u32 at = (from ? n->src[0] : n->dst) + m0;
    if (m0 >= 104 || at + wide >= 104) {
        emu_fault(s, "relative register out of the file");
        return true;
    }
    u32 src = from ? at : n->src[0], dst = from ? n->dst : at;
    if (wide)
        emu_write_scalar64(s, dst, emu_scalar64(s, src, false));
    else
        emu_write_scalar(s, dst, emu_scalar(s, src));
    return true;
}

static bool relation(u32 which, i64 a, i64 b)
{
    switch (which) { /* eq lg gt ge lt le */
    case 0:
        return a == b;
    case 1:
        return a != b;
    case 2:
        return a > b;
    case 3:
        return a >= b;
    case 4:
        return a < b;
    default:
        return a <= b;
    }
}

static void compare(struct step *s, u64 a, u64 b)
{
    u32 opcode = s->insn->row->opcode;
    if (opcode < 6)
        emu_write_scc(s, relation(opcode, (int32_t)a, (int32_t)b));
    else if (opcode < 12)
        emu_write_scc(s, relation(opcode - 6, (i64)a, (i64)b));
    else
        emu_write_scc(s, (a >> (b & (opcode < 14 ? 31 : 63)) & 1) == (opcode & 1));
}

enum {
    HWREG_MODE = 1
};

static void hardware_register(struct step *s)
{
    const struct insn *n = s->insn;
    u32 offset = n->imm >> 6 & 31, size = (n->imm >> 11) + 1u, mode = s->wave->mode;
    u32 mask = (u32)((1ull << size) - 1);
    if ((n->imm & 63) != HWREG_MODE) {
        emu_fault(s, "hardware register");
        return;
    }
    if (n->op == OP_s_getreg_b32) {
        emu_write_scalar(s, n->dst, mode >> offset & mask);
        return;
    }
    u32 value = n->op == OP_s_setreg_b32 ? emu_scalar(s, n->dst) : n->literal;
    mask <<= offset;
    emu_write_mode(s, (mode & ~mask) | (value << offset & mask));
}

static void with_immediate(struct step *s)
{
    const struct insn *n = s->insn;
    u32 opcode = n->row->opcode, d = emu_scalar(s, n->dst);
    i64 k = (int16_t)n->imm;
    if (n->row->group == G_MODE) {
        hardware_register(s);
    } else if (opcode >= 3 && opcode <= 8) {
        emu_write_scc(s, relation(opcode - 3, (int32_t)d, k));
    } else if (opcode >= 9 && opcode <= 14) {
        emu_write_scc(s, relation(opcode - 9, d, n->imm));
    } else if (n->op == OP_s_addk_i32) {
        put_flag(s, (u64)((int32_t)d + k), overflows((int32_t)d + k));
    } else if (n->op == OP_s_mulk_i32) {
        put(s, (u64)((int32_t)d * k));
    } else {
        put(s, n->op == OP_s_movk_i32 || s->wave->scc ? (u64)k : d);
    }
}

void emu_scalar_op(struct step *s)
{
    if (s->insn->format == F_SOPK) {
        with_immediate(s);
        return;
    }
    if (move_relative(s))
        return;
    u64 a = source(s, 0), b = source(s, 1);
    if (s->insn->format == F_SOPC) {
        compare(s, a, b);
        return;
    }
    if (!arithmetic(s, a, b) && !logic(s, a, b) && !shifts(s, a, b) && !counting(s, a) &&
        !moves(s, a) && !save_exec(s, a))
        emu_fault(s, "unknown scalar instruction");
}
