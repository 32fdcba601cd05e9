/* A random instruction of a row, with operands the ISA allows. See gen.h. */
#include "gen.h"

#include <string.h>

static u32 inline_code(struct rng *r)
{
    return rng_chance(r, 70) ? 128 + rng_below(r, 81) : 240 + rng_below(r, 8);
}

/* A scalar to read; wide ones are aligned pairs. */
static u32 scalar_register(struct rng *r, bool wide)
{
    u32 which = rng_below(r, 100);
    if (which < 10)
        return VCC + (wide ? 0 : rng_below(r, 2));
    if (which < 15)
        return EXEC + (wide ? 0 : rng_below(r, 2));
    if (which < 17 && !wide)
        return M0;
    return rng_below(r, PLAY_SCALARS) & (wide ? ~1u : ~0u);
}

static u32 scalar_source(struct rng *r, bool wide, struct insn *n)
{
    u32 which = rng_below(r, 100);
    if (which < 25)
        return inline_code(r);
    if (which < 28 && !wide)
        return 251 + rng_below(r, 3);
    if (which < 38 && !n->has_literal) {
        n->has_literal = true;
        n->literal = edge_word(r);
        return LITERAL;
    }
    return scalar_register(r, wide);
}

static u32 scalar_destination(struct rng *r, bool wide, const struct limits *l)
{
    if (l->special && rng_chance(r, 8))
        return VCC + (wide ? 0 : rng_below(r, 2));
    if (l->special && rng_chance(r, 3))
        return EXEC + (wide ? 0 : rng_below(r, 2));
    if (l->special && !wide && rng_chance(r, 2))
        return M0;
    u32 reg = l->scalar_first + rng_below(r, PLAY_SCALARS - l->scalar_first);
    return wide ? reg & ~1u : reg;
}

static bool scalar_insn(struct rng *r, const struct limits *l, struct insn *n)
{
    const char *sig = n->row->signature;
    const char *types = strchr(sig, '=') + 1;
    if (n->format == F_SOPP)
        return true;
    if (n->format == F_SOPK) {
        n->imm = (u16)(rng_chance(r, 50) ? edge_word(r) : (u32)rng_next(r));
        n->dst = sig[0] == '-' ? rng_below(r, PLAY_SCALARS) : scalar_destination(r, false, l);
        return true;
    }
    if (sig[0] != '-')
        n->dst = scalar_destination(r, sig[0] == 'q', l);
    if (n->row->group == G_EXEC && n->dst >= EXEC) /* it would be written twice */
        n->dst = VCC;
    for (u32 i = 0; types[i]; i++)
        n->src[i] = scalar_source(r, types[i] == 'q', n);
    if (n->row->group == G_SCALAR && types[0] && types[1] == types[0] && rng_chance(r, 20)) {
        u32 same =
            n->src[1] == LITERAL ? LITERAL : n->src[0]; /* equal: where carries are decided */
        n->src[0] = n->src[1] = same;
    }
    if (n->row->group == G_MOVREL) { /* M0 is at most 7 then */
        bool wide = sig[0] == 'q';
        u32 step = wide ? ~1u : ~0u;
        bool from = n->op == OP_s_movrels_b32 || n->op == OP_s_movrels_b64;
        n->dst = (l->scalar_first + rng_below(r, PLAY_SCALARS - 8 - l->scalar_first)) & step;
        n->src[0] = (from ? rng_below(r, PLAY_SCALARS - 8) : scalar_register(r, wide)) & step;
        n->has_literal = false;
    }
    return true;
}

/* MODE's rounding, subnormals, DX10_CLAMP and IEEE; what else it holds is left alone. */
static void mode_insn(struct rng *r, const struct limits *l, struct insn *n)
{
    u32 offset = rng_below(r, 10), size = 1 + rng_below(r, 10 - offset);
    n->imm = (u16)(1 | offset << 6 | (size - 1) << 11);
    if (n->op == OP_s_getreg_b32) {
        n->dst = scalar_destination(r, false, l);
    } else if (n->op == OP_s_setreg_b32) {
        n->dst = rng_below(r, PLAY_SCALARS);
    } else {
        n->has_literal = true;
        n->literal = (u32)rng_next(r);
    }
}

static u32 vector_register(struct rng *r, char type)
{
    if (type == 'd') /* most often where the state put f64 */
        return 256 +
               (rng_chance(r, 75) ? 16 + 2 * rng_below(r, 6) : rng_below(r, PLAY_VECTORS - 1));
    return 256 + rng_below(r, type == 'q' ? PLAY_VECTORS - 1 : PLAY_VECTORS);
}

/* One scalar or literal at most, shared by all operands that are not vectors or constants. */
struct bus {
    bool taken;
};

static u32 vector_source(struct rng *r, char type, struct bus *bus, struct insn *n, bool literal)
{
    bool wide = type == 'q' || type == 'd';
    u32 which = rng_below(r, 100);
    if (which < 70)
        return vector_register(r, type);
    if (which < 80 || bus->taken)
        return inline_code(r);
    bus->taken = true;
    if (literal && which < 90) {
        n->has_literal = true;
        n->literal = edge_word(r);
        return LITERAL;
    }
    if (which == 99 && !wide)
        return 251 + rng_below(r, 3);
    return scalar_register(r, wide);
}

static bool reads_vcc(enum op op)
{
    return op == OP_v_div_fmas_f32 || op == OP_v_div_fmas_f64;
}

static u32 vector_destination(struct rng *r, bool wide, const struct limits *l)
{
    if (rng_chance(r, 4)) /* far away, at the end of the file */
        return VECTORS - 2 - rng_below(r, 50);
    return l->vector_first + rng_below(r, l->vector_end - l->vector_first - wide);
}

static void cross_insn(struct rng *r, const struct limits *l, struct insn *n)
{
    n->src[0] = vector_register(r, 'u');
    if (n->op == OP_v_readfirstlane_b32) {
        n->dst = scalar_destination(r, false, l);
        return;
    }
    u32 lane = rng_chance(r, 50) ? rng_below(r, PLAY_SCALARS) : 128 + rng_below(r, 65);
    n->src[1] = lane;
    if (n->op == OP_v_readlane_b32) {
        n->dst = scalar_destination(r, false, l);
        return;
    }
    n->dst = vector_destination(r, false, l);
    n->src[0] = lane < 128 || rng_chance(r, 50) ? inline_code(r) : rng_below(r, PLAY_SCALARS);
}

static void vop3_modifiers(struct rng *r, struct insn *n)
{
    const char *sig = n->row->signature, *types = strchr(sig, '=') + 1;
    bool carries = sig[1] == 'm';
    for (u32 i = 0; types[i]; i++) {
        bool is_float = types[i] == 'f' || types[i] == 'd';
        if (is_float && rng_chance(r, 25))
            n->neg |= 1u << i;
        if (is_float && !carries && rng_chance(r, 25))
            n->abs |= 1u << i;
    }
    bool division = strstr(n->row->name, "_div_") != NULL || n->op == OP_v_trig_preop_f64;
    if ((sig[0] == 'f' || sig[0] == 'd') && !division) {
        n->omod = rng_chance(r, 25) ? rng_below(r, 4) : 0;
        n->clamp = rng_chance(r, 15);
    }
}

static void vector_operands(struct rng *r, const struct limits *l, struct insn *n)
{
    const char *sig = n->row->signature, *types = strchr(sig, '=') + 1;
    bool vop3 = n->format == F_VOP3;
    struct bus bus = {reads_vcc(n->op)};
    if (sig[0] != 'm')
        n->dst = vector_destination(r, sig[0] == 'q' || sig[0] == 'd', l);
    else
        n->dst = vop3 ? scalar_destination(r, true, l) : VCC;
    if (sig[1] == 'm')
        n->sdst = vop3 ? scalar_destination(r, true, l) : VCC;
    for (u32 i = 0; types[i]; i++) /* the mask is a scalar too */
        if (types[i] == 'm') {
            n->src[i] = vop3 ? scalar_register(r, true) : VCC;
            bus.taken = true;
        }
    for (u32 i = 0; types[i]; i++) {
        if (types[i] == 'm')
            continue;
        if (!vop3 && i > 0)
            n->src[i] = vector_register(r, types[i]);
        else
            n->src[i] = vector_source(r, types[i], &bus, n, !vop3);
    }
    if (vop3)
        vop3_modifiers(r, n);
}

static bool vector_insn(struct rng *r, const struct limits *l, struct insn *n)
{
    const char *sig = n->row->signature;
    if (sig[0] == '-')
        return true;
    if (n->row->group == G_CROSS) {
        cross_insn(r, l, n);
        return true;
    }
    bool literal_form = n->op == OP_v_madmk_f32 || n->op == OP_v_madak_f32;
    bool mac = n->op == OP_v_mac_f32 || n->op == OP_v_mac_legacy_f32;
    if (n->format != F_VOP3 && !literal_form && n->row->group != G_MOVREL &&
        rng_chance(r, mac ? 30 : 45))
        n->format = F_VOP3;
    vector_operands(r, l, n);
    if (literal_form) {
        if (n->src[0] < 128 || n->src[0] == LITERAL || (n->src[0] > 250 && n->src[0] < 256))
            n->src[0] = vector_register(r, 'f'); /* the literal has the bus */
        n->has_literal = true;
        n->literal = edge_word(r);
    }
    if (n->row->group == G_MOVREL) {
        n->dst = l->vector_first + rng_below(r, l->vector_end - l->vector_first - 8);
        n->has_literal = false;
        n->src[0] = n->op == OP_v_movreld_b32 ? vector_register(r, 'u')
                                              : 256 + rng_below(r, PLAY_VECTORS - 8);
    }
    return true;
}

static bool smrd_insn(struct rng *r, const struct limits *l, struct insn *n)
{
    u32 count = n->row->signature[1] == '=' ? (u32)(n->row->signature[0] - '0') : 16;
    u32 align = count > 4 ? 4 : count, end = PLAY_SCALARS - count + 1;
    n->dst = (l->scalar_first + rng_below(r, end - l->scalar_first) + align - 1) & ~(align - 1);
    if (n->dst + count > PLAY_SCALARS)
        n->dst = PLAY_SCALARS - count;
    n->srsrc = n->row->opcode < 8 ? S_BASE : rng_chance(r, 50) ? S_RAW : S_RECORDS;
    n->imm_offset = rng_chance(r, 70);
    n->offset0 = n->imm_offset ? rng_below(r, 256) : S_OFFSET;
    if (!n->imm_offset && n->row->opcode >= 8) /* checked: any offset will do */
        n->offset0 = rng_below(r, PLAY_SCALARS);
    return n->dst >= l->scalar_first;
}

/* Addresses of `align` bytes: a register, a descriptor and an immediate offset that fit together.
 */
static void buffer_address(struct rng *r, struct insn *n, u32 align)
{
    u32 log = (u32)__builtin_ctz(align);
    n->soffset = rng_chance(r, 50) ? S_OFFSET : 128;
    switch (rng_below(r, 5)) {
    case 0:
        n->srsrc = S_FLAT;
        n->addr64 = n->format == F_MUBUF;
        n->vaddr = V_FLAT;
        n->offset0 = rng_below(r, 256);
        if (!n->addr64)
            n->srsrc = S_RAW;
        break;
    case 1:
        n->srsrc = S_RECORDS;
        n->idxen = true;
        n->vaddr = V_INDEX;
        n->offen = rng_chance(r, 50);
        n->offset0 = rng_below(r, 16 / align) * align;
        if (!n->offen && rng_chance(r, 50)) /* any index: most are out of range */
            n->vaddr = rng_below(r, PLAY_VECTORS);
        break;
    case 2:
        n->srsrc = S_SWIZZLED;
        if (align > 4) /* wider than an element: its parts would lie apart */
            n->srsrc = S_RECORDS;
        n->idxen = true;
        n->vaddr = V_INDEX;
        n->offset0 = rng_below(r, 16 / align) * align;
        break;
    case 3:
        n->srsrc = S_RAW;
        n->offset0 = rng_below(r, 4096);
        break;
    default:
        n->srsrc = S_RAW;
        n->offen = true;
        n->vaddr = V_AT1 + log;
        n->offset0 = rng_below(r, rng_chance(r, 50) ? 256 : 4096);
    }
    n->offset0 &= ~(align - 1);
    if (rng_chance(r, 15)) /* misaligned: the low bits do not count */
        n->offset0 += rng_below(r, n->row->group == G_ATOMIC || align < 4 ? align : 4);
}

static u32 access_align(const struct insn *n)
{
    const char *name = n->row->name;
    u32 words = (u32)(n->row->signature[0] - '0');
    if (n->row->group == G_FORMAT)
        return 16;
    if (n->row->group == G_ATOMIC)
        return 4 * words;
    if (strstr(name, "byte"))
        return 1;
    return strstr(name, "short") ? 2 : 4 * words;
}

static bool buffer_insn(struct rng *r, const struct limits *l, struct insn *n)
{
    static const u8 data_formats[] = {1, 2, 3, 4, 5, 10, 11, 12, 13, 14};
    static const u8 number_formats[] = {0, 1, 4, 5};
    bool loads = n->row->signature[1] == '=';
    u32 words = (u32)(n->row->signature[0] - '0');
    if (words == 0)
        return true;
    buffer_address(r, n, access_align(n));
    bool returns = n->row->group == G_ATOMIC && rng_chance(r, 60);
    n->glc = returns;
    u32 end = loads || returns ? l->vector_end : PLAY_VECTORS;
    u32 first = loads || returns ? l->vector_first : 0;
    n->vdata = first + rng_below(r, end - first - 4);
    n->tfe = loads && n->row->group == G_BUFFER && rng_chance(r, 8);
    n->lds = n->op == OP_buffer_load_dword && !n->tfe && rng_chance(r, 15);
    if (n->format == F_MTBUF) {
        n->dfmt = data_formats[rng_below(r, sizeof data_formats)];
        n->nfmt = number_formats[rng_below(r, 4)];
        if (n->dfmt == 4 || n->dfmt == 11 || n->dfmt > 12)
            n->nfmt = rng_chance(r, 50) ? 7 : 4 + rng_below(r, 2);
    }
    return true;
}

static bool lds_insn(struct rng *r, const struct limits *l, struct insn *n)
{
    const char *name = n->row->name;
    u32 words = (u32)(n->row->signature[0] - '0');
    bool two = strstr(name, "2_") || strstr(name, "2st64");
    bool bytes = strstr(name, "8") && !strstr(name, "b128");
    n->dst = l->vector_first + rng_below(r, l->vector_end - l->vector_first - 3);
    n->vdata = rng_below(r, PLAY_VECTORS - 1);
    n->vdata1 = rng_below(r, PLAY_VECTORS - 1);
    n->vaddr = rng_chance(r, bytes ? 60 : 10) ? V_LDS1 : bytes ? rng_below(r, PLAY_VECTORS) : V_LDS;
    if (n->op == OP_ds_swizzle_b32) {
        u32 pattern = rng_chance(r, 50) ? 0x8000 | rng_below(r, 256) : rng_below(r, 0x8000);
        n->vaddr = rng_below(r, PLAY_VECTORS);
        n->offset0 = pattern & 255;
        n->offset1 = pattern >> 8;
        return true;
    }
    if (two || n->row->opcode >= 128) {
        n->offset0 = rng_below(r, 32) * (n->row->opcode >= 128 ? 2 : 1);
        n->offset1 = n->row->opcode >= 128 ? 0 : rng_below(r, rng_chance(r, 50) ? 8 : 256);
        return true;
    }
    u32 offset = rng_below(r, 512);
    if (!bytes && !rng_chance(r, 15))
        offset &= ~(words * 4 - 1);
    n->offset0 = offset & 255;
    n->offset1 = offset >> 8;
    return true;
}

bool random_insn(struct rng *r, enum op op, const struct limits *limits, struct insn *out)
{
    struct insn *n = out;
    *n = insn_of(op);
    if (n->row->group == G_CONTROL)
        return false;
    if (n->row->group == G_MODE) {
        mode_insn(r, limits, n);
        return true;
    }
    switch (n->format) {
    case F_SMRD:
        return smrd_insn(r, limits, n);
    case F_DS:
        return lds_insn(r, limits, n);
    case F_MUBUF:
    case F_MTBUF:
        return buffer_insn(r, limits, n);
    case F_VOP1:
    case F_VOP2:
    case F_VOP3:
    case F_VOPC:
        return vector_insn(r, limits, n);
    default:
        return scalar_insn(r, limits, n);
    }
}
