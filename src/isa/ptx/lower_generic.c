/*
 * Instructions that map operand by operand onto one op, and near relatives.
 *
 * The operand letters of a form: destinations '=' sources,
 *   t  the first type written     s  the second      w  twice the first's width
 *   u  32-bit integer             p  a predicate (a source may be negated)
 */
#include "isa/ptx/lower.h"

static enum type widened(enum type type)
{
    switch (type) {
    case TYPE_S16:
        return TYPE_S32;
    case TYPE_U16:
        return TYPE_U32;
    case TYPE_S32:
        return TYPE_S64;
    default:
        return TYPE_U64;
    }
}

static enum type letter_type(const struct match *m, char letter)
{
    switch (letter) {
    case 's':
        return m->types[1];
    case 'w':
        return widened(m->types[0]);
    case 'u':
        return TYPE_U32;
    default:
        return m->types[0];
    }
}

static bool place_operands(struct fn *fn, struct match *m, struct operand *dst, struct operand *src)
{
    const char *letters = m->form->operands;
    u32 total = (u32)strlen(letters) - 1, at = 0, d = 0, s = 0;
    if (!operand_count_is(fn, m->in, total, total))
        return false;
    bool is_dst = true;
    for (; *letters; letters++) {
        if (*letters == '=') {
            is_dst = false;
            continue;
        }
        const struct ptx_operand *o = &m->in->operands[at++];
        enum type type = letter_type(m, *letters);
        bool fine;
        if (*letters == 'p')
            fine = is_dst ? lower_mask_dest(fn, o, &dst[d++]) : lower_mask_source(fn, o, &src[s++]);
        else
            fine = is_dst ? lower_dest(fn, o, type, FIT_EXACT, &dst[d++])
                          : lower_source(fn, o, type, FIT_EXACT, &src[s++]);
        if (!fine)
            return false;
    }
    return true;
}

bool lower_keyed(struct fn *fn, struct match *m)
{
    struct operand dst[2] = {0}, src[4] = {0};
    if (!place_operands(fn, m, dst, src))
        return false;
    /* an op needs a destination: an unused result goes to a new register */
    if (dst[0].kind == OPERAND_NONE)
        dst[0] =
            m->form->operands[0] == 'p'
                ? operand_make(OPERAND_MASK, mask_new(fn), 1)
                : vreg_operand(
                      fn, vreg_new(fn, type_bytes(letter_type(m, m->form->operands[0])) > 4 ? 2 : 1,
                                   TYPE_NONE));
    struct inst *inst = emit(fn, m, select_op(m->form, m->types[0]));
    memcpy(inst->dst, dst, sizeof dst);
    memcpy(inst->src, src, sizeof src);
    inst->key = m->form->key;
    if (m->type_count > 1)
        inst->stype = (u8)m->types[1];
    return true;
}

bool lower_generic(struct fn *fn, struct match *m)
{
    return lower_keyed(fn, m);
}

static u32 carry_mask(struct fn *fn)
{
    if (fn->carry == UINT32_MAX)
        fn->carry = mask_new(fn);
    return fn->carry;
}

/* Carry chains; key: 1 sets the carry, 2 reads it (and sets it with .cc). NVIDIA's machines
 * subtract by adding the complement, and the flag is that addition's carry whatever the manual
 * calls it: the compiler's own 128-bit division reads the carry of subc.cc with addc. */
bool lower_carry(struct fn *fn, struct match *m)
{
    bool reads = m->form->key == 2, sets = match_has(m, "cc");
    u32 sources = m->form->op >= OP_madc_lo_b32 ? 3 : 2;
    if (!operand_count_is(fn, m->in, sources + 1, sources + 1))
        return false;
    struct operand dst, src[4] = {0};
    if (!lower_dest(fn, &m->in->operands[0], m->types[0], FIT_EXACT, &dst))
        return false;
    for (u32 i = 0; i < sources; i++)
        if (!lower_source(fn, &m->in->operands[i + 1], m->types[0], FIT_EXACT, &src[i]))
            return false;
    if (dst.kind == OPERAND_NONE)
        dst = vreg_operand(fn, vreg_new(fn, type_bytes(m->types[0]) / 4, TYPE_NONE));
    u32 carry = carry_mask(fn);
    struct inst *inst = emit(fn, m, select_op(m->form, m->types[0]));
    inst->dst[0] = dst;
    inst->key = m->form->op == OP_subc_b32; /* also for subc_b64, which has the same row */
    if (sets)
        inst->dst[1] = operand_make(OPERAND_MASK, carry, 1);
    if (reads)
        src[sources] = operand_make(OPERAND_MASK, carry, 1);
    memcpy(inst->src, src, sizeof src);
    return true;
}

/* Two packed f32, computed half by half; key: number of sources. */
bool lower_f32x2(struct fn *fn, struct match *m)
{
    u32 sources = m->form->key;
    struct operand dst, half[2][3], result[2];
    if (!operand_count_is(fn, m->in, sources + 1, sources + 1) ||
        !lower_dest(fn, &m->in->operands[0], TYPE_B64, FIT_EXACT, &dst))
        return false;
    for (u32 i = 0; i < sources; i++) {
        struct operand whole;
        if (!lower_source(fn, &m->in->operands[i + 1], TYPE_B64, FIT_EXACT, &whole))
            return false;
        struct inst *unpack = emit_plain(fn, OP_unpack_b64);
        unpack->src[0] = whole;
        for (u32 h = 0; h < 2; h++) {
            half[h][i] = vreg_operand(fn, vreg_new(fn, 1, TYPE_NONE));
            unpack->dst[h] = half[h][i];
        }
    }
    for (u32 h = 0; h < 2; h++) {
        result[h] = vreg_operand(fn, vreg_new(fn, 1, TYPE_NONE));
        struct inst *inst = emit(fn, m, m->form->op);
        inst->guard = operand_none();
        inst->type = TYPE_F32;
        inst->dst[0] = result[h];
        memcpy(inst->src, half[h], sources * sizeof half[h][0]);
    }
    if (dst.kind == OPERAND_NONE)
        return true;
    struct inst *pack = emit_plain(fn, OP_pack_b64);
    pack->guard = m->guard;
    pack->dst[0] = dst;
    pack->src[0] = result[0];
    pack->src[1] = result[1];
    return true;
}

bool lower_minmax3(struct fn *fn, struct match *m)
{
    if (!operand_count_is(fn, m->in, 3, 4))
        return false;
    bool three = m->in->operand_count == 4;
    struct operand dst, src[4] = {0};
    if (!lower_dest(fn, &m->in->operands[0], TYPE_F32, FIT_EXACT, &dst))
        return false;
    for (u32 i = 1; i < m->in->operand_count; i++)
        if (!lower_source(fn, &m->in->operands[i], TYPE_F32, FIT_EXACT, &src[i - 1]))
            return false;
    if (dst.kind == OPERAND_NONE)
        dst = vreg_operand(fn, vreg_new(fn, 1, TYPE_NONE));
    enum op op = three ? (m->form->key ? OP_max3_f32 : OP_min3_f32) : m->form->op;
    struct inst *inst = emit(fn, m, op);
    inst->dst[0] = dst;
    memcpy(inst->src, src, sizeof src);
    for (u32 i = 0; three && i < 3; i++)
        inst->src[i].abs = match_has(m, "abs");
    return true;
}

bool lower_lop3(struct fn *fn, struct match *m)
{
    bool masked = m->form->key != BOOL_NONE;
    if (!operand_count_is(fn, m->in, masked ? 6 : 5, masked ? 6 : 5))
        return false;
    const struct ptx_operand *o = m->in->operands;
    struct operand dst[2] = {0}, src[4] = {0};
    i64 table;
    if (masked) {
        if (o[0].kind != PTX_PAIR || o[0].item_count != 2)
            return lower_error(fn->l, o[0].place, "expected d|p: a result and a predicate");
        if (!lower_dest(fn, &o[0].items[0], TYPE_B32, FIT_EXACT, &dst[0]) ||
            !lower_mask_dest(fn, &o[0].items[1], &dst[1]) || !lower_mask_source(fn, &o[5], &src[3]))
            return false;
        if (dst[1].kind == OPERAND_NONE)
            dst[1] = operand_make(OPERAND_MASK, mask_new(fn), 1);
    } else if (!lower_dest(fn, &o[0], TYPE_B32, FIT_EXACT, &dst[0])) {
        return false;
    }
    for (u32 i = 0; i < 3; i++)
        if (!lower_source(fn, &o[i + 1], TYPE_B32, FIT_EXACT, &src[i]))
            return false;
    if (!lower_integer(fn, &o[4], 0, 255, &table))
        return false;
    if (!masked && dst[0].kind == OPERAND_NONE)
        dst[0] = vreg_operand(fn, vreg_new(fn, 1, TYPE_NONE));
    struct inst *inst = emit(fn, m, m->form->op);
    memcpy(inst->dst, dst, sizeof dst);
    memcpy(inst->src, src, sizeof src);
    inst->imm = table;
    inst->key2 = m->form->key;
    return true;
}

bool lower_dp(struct fn *fn, struct match *m)
{
    if (!operand_count_is(fn, m->in, 4, 4))
        return false;
    const struct ptx_operand *o = m->in->operands;
    enum type result =
        type_is_signed(m->types[0]) || type_is_signed(m->types[1]) ? TYPE_S32 : TYPE_U32;
    struct operand dst, a, b, c;
    if (!lower_dest(fn, &o[0], result, FIT_EXACT, &dst) ||
        !lower_source(fn, &o[1], TYPE_U32, FIT_EXACT, &a) ||
        !lower_source(fn, &o[2], TYPE_U32, FIT_EXACT, &b) ||
        !lower_source(fn, &o[3], result, FIT_EXACT, &c))
        return false;
    if (dst.kind == OPERAND_NONE)
        dst = vreg_operand(fn, vreg_new(fn, 1, TYPE_NONE));
    struct inst *inst = emit(fn, m, m->form->op);
    inst->type = (u8)result;
    inst->key = m->form->key | (type_is_signed(m->types[0]) ? 1 : 0) |
                (type_is_signed(m->types[1]) ? 2 : 0);
    inst->dst[0] = dst;
    inst->src[0] = a;
    inst->src[1] = b;
    inst->src[2] = c;
    return true;
}

/* vabsdiff2 and vabsdiff4 of whole registers, the shapes nvcc emits; key: 1 = signed. */
bool lower_absdiff(struct fn *fn, struct match *m)
{
    if (!operand_count_is(fn, m->in, 4, 4))
        return false;
    const struct ptx_operand *o = m->in->operands;
    for (u32 i = 0; i < 4; i++)
        if (o[i].component)
            return lower_unsupported_text(fn, m->in, "video instruction with selectors");
    bool adds = match_has(m, "add");
    struct operand dst, a, b, c;
    if (!lower_dest(fn, &o[0], TYPE_B32, FIT_EXACT, &dst) ||
        !lower_source(fn, &o[1], TYPE_B32, FIT_EXACT, &a) ||
        !lower_source(fn, &o[2], TYPE_B32, FIT_EXACT, &b) ||
        !lower_source(fn, &o[3], TYPE_B32, FIT_EXACT, &c))
        return false;
    if (dst.kind == OPERAND_NONE)
        dst = vreg_operand(fn, vreg_new(fn, 1, TYPE_NONE));
    struct inst *inst = emit(fn, m, m->form->op);
    inst->key = (u8)(m->form->key | adds << 1);
    inst->dst[0] = dst;
    inst->src[0] = a;
    inst->src[1] = b;
    inst->src[2] = adds ? c : const_words(fn->l, 0, 1); /* all parts are written: c has no effect */
    return true;
}

static bool compare_allowed(struct fn *fn, const struct match *m, enum type type)
{
    bool is_float = type_is_float(type);
    bool bits = type == TYPE_B16 || type == TYPE_B32 || type == TYPE_B64;
    if (bits && m->compare > CMP_NE)
        return lower_error(fn->l, m->in->place, "untyped .%s can only be compared with .eq and .ne",
                           type_name(type));
    if (!is_float && m->compare >= CMP_EQU)
        return lower_error(fn->l, m->in->place, "comparison does not exist for .%s",
                           type_name(type));
    if (match_has(m, "lo") || match_has(m, "ls") || match_has(m, "hi") || match_has(m, "hs"))
        if (is_float || type_is_signed(type))
            return lower_error(fn->l, m->in->place,
                               ".lo, .ls, .hi and .hs compare unsigned integers, not .%s",
                               type_name(type));
    return true;
}

/* setp (key 0) and set (key 1). */
bool lower_set(struct fn *fn, struct match *m)
{
    bool is_set = m->form->key == 1, combines = m->boolean >= 0;
    enum type type = is_set ? m->types[1] : m->types[0];
    if (!operand_count_is(fn, m->in, combines ? 4 : 3, combines ? 4 : 3) ||
        !compare_allowed(fn, m, type))
        return false;
    const struct ptx_operand *o = m->in->operands;
    struct operand dst[2] = {0}, src[4] = {0};
    if (is_set) {
        if (!lower_dest(fn, &o[0], m->types[0], FIT_EXACT, &dst[0]))
            return false;
        if (dst[0].kind == OPERAND_NONE)
            dst[0] = vreg_operand(fn, vreg_new(fn, 1, TYPE_NONE));
    } else {
        bool pair = o[0].kind == PTX_PAIR && o[0].item_count == 2;
        if (!lower_mask_dest(fn, pair ? &o[0].items[0] : &o[0], &dst[0]) ||
            (pair && !lower_mask_dest(fn, &o[0].items[1], &dst[1])))
            return false;
        if (dst[0].kind == OPERAND_NONE)
            dst[0] = operand_make(OPERAND_MASK, mask_new(fn), 1);
    }
    if (!lower_source(fn, &o[1], type, FIT_EXACT, &src[0]) ||
        !lower_source(fn, &o[2], type, FIT_EXACT, &src[1]) ||
        (combines && !lower_mask_source(fn, &o[3], &src[2])))
        return false;
    struct inst *inst = emit(fn, m, select_op(m->form, type));
    memcpy(inst->dst, dst, sizeof dst);
    memcpy(inst->src, src, sizeof src);
    inst->stype = (u8)type;
    inst->key = (u8)m->compare;
    inst->key2 = combines ? (u8)m->boolean : BOOL_NONE;
    return true;
}
