/* mov in all its shapes, cvt, cvta. */
#include "isa/ptx/lower.h"

static struct operand temporary(struct fn *fn, u32 words)
{
    return vreg_operand(fn, vreg_new(fn, words, TYPE_NONE));
}

/* Temporaries are written without the guard: with it, their old value would count as live. */
static struct operand guard_for(const struct fn *fn, const struct match *m, struct operand dst)
{
    bool temporary_result =
        dst.kind == OPERAND_VECTOR && fn->vregs.data[dst.index].type == TYPE_NONE;
    return temporary_result ? operand_none() : m->guard;
}

/* d = op(a, b, c) under the instruction's guard. */
static struct operand compute(struct fn *fn, const struct match *m, enum op op, struct operand dst,
                              struct operand a, struct operand b, struct operand c)
{
    struct inst *inst = emit_plain(fn, op);
    inst->guard = guard_for(fn, m, dst);
    inst->dst[0] = dst;
    inst->src[0] = a;
    inst->src[1] = b;
    inst->src[2] = c;
    return dst;
}

static enum type element_type(enum type whole, u32 count)
{
    u32 bytes = type_bytes(whole) / count;
    return bytes == 1 ? TYPE_B8 : bytes == 2 ? TYPE_B16 : bytes == 4 ? TYPE_B32 : TYPE_B64;
}

static bool move_pack(struct fn *fn, struct match *m, const struct ptx_operand *vector)
{
    u32 count = vector->item_count, bytes = type_bytes(m->types[0]) / count;
    struct operand dst, part[8], none = operand_none();
    if (!lower_dest(fn, &m->in->operands[0], m->types[0], FIT_EXACT, &dst))
        return false;
    if (dst.kind == OPERAND_NONE)
        return lower_error(fn->l, m->in->place, "mov to '_' does nothing");
    for (u32 i = 0; i < count; i++)
        if (!lower_source(fn, &vector->items[i], element_type(m->types[0], count),
                          bytes == 1 ? FIT_WIDER : FIT_EXACT, &part[i]))
            return false;
    if (bytes == 1) {
        /* Bytes pair up into halves: a | b << 8. */
        struct operand eight = const_words(fn->l, 8, 1);
        for (u32 i = 0; i < count / 2; i++) {
            struct operand t = temporary(fn, 1);
            struct inst *inst = emit_plain(fn, OP_bfi_b32);
            inst->dst[0] = t;
            inst->src[0] = part[2 * i + 1];
            inst->src[1] = part[2 * i];
            inst->src[2] = inst->src[3] = eight;
            part[i] = t;
        }
        count /= 2;
        if (count == 1) {
            compute(fn, m, OP_and_b32, dst, part[0], const_words(fn->l, 0xffff, 1), none);
            return true;
        }
        bytes = 2;
    }
    for (; bytes == 2 && count == 4; count = 2, bytes = 4)
        for (u32 i = 0; i < 2; i++)
            part[i] =
                compute(fn, m, OP_pack_b32, temporary(fn, 1), part[2 * i], part[2 * i + 1], none);
    compute(fn, m, bytes == 2 ? OP_pack_b32 : OP_pack_b64, dst, part[0], part[1], none);
    return true;
}

static void unpack(struct fn *fn, const struct match *m, enum op op, struct operand a,
                   struct operand b, struct operand from)
{
    if (a.kind == OPERAND_NONE && b.kind == OPERAND_NONE)
        return;
    struct inst *inst = emit_plain(fn, op);
    inst->guard = guard_for(fn, m, a);
    inst->dst[0] = a;
    inst->dst[1] = b;
    inst->src[0] = from;
}

static bool move_unpack(struct fn *fn, struct match *m, const struct ptx_operand *vector)
{
    u32 count = vector->item_count, bytes = type_bytes(m->types[0]) / count;
    struct operand src, part[8], none = operand_none();
    if (!lower_source(fn, &m->in->operands[1], m->types[0], FIT_EXACT, &src))
        return false;
    for (u32 i = 0; i < count; i++)
        if (!lower_dest(fn, &vector->items[i], element_type(m->types[0], count), FIT_EXACT,
                        &part[i]))
            return false;
    if (bytes == 1) {
        struct operand word[2] = {src, none};
        if (count == 8) {
            word[0] = temporary(fn, 1);
            word[1] = temporary(fn, 1);
            unpack(fn, m, OP_unpack_b64, word[0], word[1], src);
        }
        for (u32 i = count; i-- > 0;) /* from the top: the lowest part may be the source itself */
            if (part[i].kind != OPERAND_NONE)
                compute(fn, m, OP_bfe_u32, part[i], word[i / 4], const_words(fn->l, 8 * (i % 4), 1),
                        const_words(fn->l, 8, 1));
        return true;
    }
    if (bytes == 2 && count == 4) {
        struct operand low = temporary(fn, 1), high = temporary(fn, 1);
        unpack(fn, m, OP_unpack_b64, low, high, src);
        unpack(fn, m, OP_unpack_b32, part[0], part[1], low);
        unpack(fn, m, OP_unpack_b32, part[2], part[3], high);
        return true;
    }
    unpack(fn, m, bytes == 2 ? OP_unpack_b32 : OP_unpack_b64, part[0], part[1], src);
    return true;
}

static bool vector_fits(struct fn *fn, const struct match *m, const struct ptx_operand *vector)
{
    u32 bytes = type_bytes(m->types[0]), n = vector->item_count;
    if ((n == 2 || n == 4 || n == 8) && bytes / n >= 1 && bytes <= 8 && m->types[0] != TYPE_PRED)
        return true;
    return lower_error(fn->l, vector->place, "mov.%s cannot hold a vector of %u elements",
                       type_name(m->types[0]), n);
}

static bool move_special(struct fn *fn, struct match *m, int special)
{
    struct operand dst;
    u32 words = type_bytes(m->types[0]) > 4 ? 2 : 1;
    if (!lower_dest(fn, &m->in->operands[0], m->types[0], FIT_WIDER, &dst))
        return false;
    if (dst.kind == OPERAND_NONE)
        dst = temporary(fn, words);
    if (dst.count == special_words(special)) {
        struct inst *inst = emit(fn, m, OP_sreg);
        inst->dst[0] = dst;
        inst->imm = special;
        return true;
    }
    struct operand src;
    struct ptx_operand plain = m->in->operands[1];
    if (!lower_source(fn, &plain, dst.count == 2 ? TYPE_U64 : TYPE_U32, FIT_EXACT, &src))
        return false;
    compute(fn, m, dst.count == 2 ? OP_mov_b64 : OP_mov_b32, dst, src, operand_none(),
            operand_none());
    return true;
}

bool lower_mov(struct fn *fn, struct match *m)
{
    if (!operand_count_is(fn, m->in, 2, 2))
        return false;
    const struct ptx_operand *to = &m->in->operands[0], *from = &m->in->operands[1];
    enum type type = m->types[0];
    if (type == TYPE_B128)
        return wide_mov(fn, m);
    if (type == TYPE_PRED) {
        struct operand dst, src;
        if (!lower_mask_dest(fn, to, &dst) || !lower_mask_source(fn, from, &src))
            return false;
        if (dst.kind == OPERAND_NONE)
            dst = operand_make(OPERAND_MASK, mask_new(fn), 1);
        struct inst *inst = emit(fn, m, OP_mov_mask);
        inst->dst[0] = dst;
        inst->src[0] = src;
        return true;
    }
    if (from->kind == PTX_VECTOR)
        return vector_fits(fn, m, from) && move_pack(fn, m, from);
    if (to->kind == PTX_VECTOR)
        return vector_fits(fn, m, to) && move_unpack(fn, m, to);
    int special =
        from->kind == PTX_NAME && !operand_is_register(fn, from) ? special_find(from->name) : -1;
    if (special >= 0)
        return move_special(fn, m, special);
    struct operand dst, src;
    u32 before = fn->insts.count;
    if (!lower_dest(fn, to, type, FIT_EXACT, &dst) ||
        !lower_source(fn, from, type, FIT_EXACT, &src))
        return false;
    if (dst.kind == OPERAND_NONE)
        dst = temporary(fn, type_bytes(type) > 4 ? 2 : 1);
    if (fn->insts.count > before) {
        /* the last instruction computed the address of a frame variable: let it write dst */
        struct inst *last = &fn->insts.data[fn->insts.count - 1];
        if (last->dst[0].count == dst.count && m->guard.kind == OPERAND_NONE) {
            last->dst[0] = dst;
            return true;
        }
    }
    struct inst *inst = emit(fn, m, dst.count == 2 ? OP_mov_b64 : OP_mov_b32);
    inst->dst[0] = dst;
    inst->src[0] = src;
    return true;
}

/* mov.v4.u32 {a, b, c, d}, %tid: the components, and 0 for the fourth. */
bool lower_mov_vector(struct fn *fn, struct match *m)
{
    if (!operand_count_is(fn, m->in, 2, 2))
        return false;
    const struct ptx_operand *to = &m->in->operands[0], *from = &m->in->operands[1];
    if (to->kind != PTX_VECTOR || to->item_count != 4 || from->kind != PTX_NAME)
        return lower_error(fn->l, m->in->place, "expected {a, b, c, d} and a special register");
    for (u32 i = 0; i < 4; i++) {
        struct operand dst;
        const char *name = arena_printf(fn->l->arena, "%s.%c", from->name, "xyzw"[i]);
        int special = i < 3 ? special_find(name) : 0;
        if (special < 0)
            return lower_error(fn->l, from->place, "'%s' has no components", from->name);
        if (!lower_dest(fn, &to->items[i], m->types[0], FIT_WIDER, &dst))
            return false;
        if (dst.kind == OPERAND_NONE)
            continue;
        if (dst.count != 1)
            return lower_error(fn->l, to->place, "expected 32-bit registers");
        struct inst *inst = emit(fn, m, i < 3 ? OP_sreg : OP_mov_b32);
        inst->dst[0] = dst;
        inst->imm = special;
        if (i == 3)
            inst->src[0] = const_words(fn->l, 0, 1);
    }
    return true;
}

static bool is_narrow_format(enum type type)
{
    return type == TYPE_F16X2 || type == TYPE_BF16X2 || type == TYPE_E4M3X2 || type == TYPE_E5M2X2;
}

static bool cvt_rounding(struct fn *fn, struct match *m, enum type to, enum type from)
{
    bool to_float = type_is_float(to), from_float = type_is_float(from);
    struct ptx_place place = m->in->place;
    if (from_float && !to_float && !m->integral) {
        if (!m->rounded)
            return lower_error(fn->l, place,
                               "a conversion from .%s to .%s needs .rni, .rzi, .rmi or .rpi",
                               type_name(from), type_name(to));
        /* old code writes .rn for .rni etc. */
        m->integral = true;
    }
    if (!from_float && m->integral)
        return lower_error(fn->l, place, "a conversion from .%s to .%s needs .rn, .rz, .rm or .rp",
                           type_name(from), type_name(to));
    if (!from_float && to_float && !m->rounded)
        return lower_error(fn->l, place, "a conversion from .%s to .%s needs .rn, .rz, .rm or .rp",
                           type_name(from), type_name(to));
    if (from_float && to_float && type_bytes(to) < type_bytes(from) && !m->rounded)
        return lower_error(fn->l, place, "a conversion from .%s to .%s needs .rn, .rz, .rm or .rp",
                           type_name(from), type_name(to));
    if (!from_float && !to_float && m->rounded)
        return lower_error(fn->l, place, "a conversion between integers does not round");
    return true;
}

/* The low word of a register pair, for narrow conversions from wide registers. */
static struct operand low_word(struct fn *fn, const struct match *m, struct operand pair)
{
    struct operand low = temporary(fn, 1);
    unpack(fn, m, OP_unpack_b64, low, operand_none(), pair);
    return low;
}

bool lower_cvt(struct fn *fn, struct match *m)
{
    enum type to = m->types[0], from = m->types[1];
    bool packs = is_narrow_format(to) && from == TYPE_F32;
    if (!operand_count_is(fn, m->in, packs ? 3 : 2, packs ? 3 : 2) ||
        !cvt_rounding(fn, m, to, from))
        return false;
    const struct ptx_operand *o = m->in->operands;
    struct operand dst, a, b = operand_none();
    if (!lower_dest(fn, &o[0], to, FIT_WIDER, &dst) ||
        !lower_source(fn, &o[1], from, FIT_WIDER, &a) ||
        (packs && !lower_source(fn, &o[2], from, FIT_WIDER, &b)))
        return false;
    u32 to_words = type_bytes(to) > 4 ? 2 : 1, from_words = type_bytes(from) > 4 ? 2 : 1;
    if (a.kind == OPERAND_VECTOR && a.count > from_words)
        a = low_word(fn, m, a);
    struct operand result = dst;
    if (dst.kind == OPERAND_NONE || dst.count != to_words)
        result = temporary(fn, to_words);
    struct inst *inst = emit(fn, m, OP_cvt);
    inst->guard = guard_for(fn, m, result);
    inst->stype = (u8)from;
    inst->key = m->integral && type_is_float(to);
    inst->key2 = (u8)(packs | match_has(m, "satfinite") << 1);
    inst->dst[0] = result;
    inst->src[0] = a;
    inst->src[1] = b;
    if (dst.kind != OPERAND_NONE && dst.count != to_words) {
        struct inst *extend = emit_plain(fn, OP_cvt);
        extend->guard = m->guard;
        extend->type = type_is_signed(to) ? TYPE_S64 : TYPE_U64;
        extend->stype = type_is_signed(to) ? TYPE_S32 : TYPE_U32;
        extend->dst[0] = dst;
        extend->src[0] = result;
    }
    return true;
}

/* cvt.pack: two clamped integers, packed; key 1: above them the low bits of a third operand. */
bool lower_cvt_pack(struct fn *fn, struct match *m)
{
    bool three = m->form->key;
    if (!operand_count_is(fn, m->in, three ? 4 : 3, three ? 4 : 3))
        return false;
    const struct ptx_operand *o = m->in->operands;
    struct operand dst, a, b, c = operand_none();
    if (!lower_dest(fn, &o[0], TYPE_B32, FIT_EXACT, &dst) ||
        !lower_source(fn, &o[1], m->types[1], FIT_EXACT, &a) ||
        !lower_source(fn, &o[2], m->types[1], FIT_EXACT, &b) ||
        (three && !lower_source(fn, &o[3], TYPE_B32, FIT_EXACT, &c)))
        return false;
    if (dst.kind == OPERAND_NONE)
        dst = temporary(fn, 1);
    struct inst *inst = emit(fn, m, OP_cvt);
    inst->stype = (u8)m->types[1];
    inst->key2 = 1;
    inst->dst[0] = dst;
    inst->src[0] = a;
    inst->src[1] = b;
    inst->src[2] = c;
    return true;
}

/* A cache policy is a hint that the machine ignores: any value will do. */
bool lower_policy(struct fn *fn, struct match *m)
{
    struct operand dst;
    if (!operand_count_is(fn, m->in, 1, 5) ||
        !lower_dest(fn, &m->in->operands[0], TYPE_B64, FIT_EXACT, &dst))
        return false;
    if (dst.kind == OPERAND_NONE)
        return true;
    struct inst *inst = emit(fn, m, OP_mov_b64);
    inst->dst[0] = dst;
    inst->src[0] = const_words(fn->l, 0, 2);
    return true;
}

/* The generic address window of parameters; a kernel gets a copy of them in its frame. */
static u64 param_window(struct fn *fn)
{
    if (!fn->out->is_kernel)
        return lower_windows(fn->l)->local;
    if (fn->param_copy == UINT32_MAX) {
        fn->param_copy = (u32)align_up(fn->frame, 16);
        fn->frame = fn->param_copy + (u32)align_up(fn->out->param_bytes, 16);
    }
    return lower_windows(fn->l)->local + fn->param_copy;
}

/* cvta.space (key 0): to a generic address; cvta.to.space (key 1): from one. */
bool lower_cvta(struct fn *fn, struct match *m)
{
    if (!operand_count_is(fn, m->in, 2, 2))
        return false;
    enum type type = m->types[0];
    const u32 words = type == TYPE_U32 ? 1 : 2;
    bool windowed = m->space == SPACE_SHARED || m->space == SPACE_LOCAL || m->space == SPACE_PARAM;
    if (windowed && words < lower_address_words(fn->l))
        return lower_unsupported_text(fn, m->in, "32-bit generic address in 64-bit code");
    struct operand dst, src;
    if (!lower_dest(fn, &m->in->operands[0], type, FIT_EXACT, &dst) ||
        !lower_source(fn, &m->in->operands[1], type, FIT_EXACT, &src))
        return false;
    if (dst.kind == OPERAND_NONE)
        dst = temporary(fn, words);
    if (!windowed) {
        compute(fn, m, words == 1 ? OP_mov_b32 : OP_mov_b64, dst, src, operand_none(),
                operand_none());
        return true;
    }
    const struct windows *windows = lower_windows(fn->l);
    u64 window = m->space == SPACE_SHARED  ? windows->shared
                 : m->space == SPACE_LOCAL ? windows->local
                                           : param_window(fn);
    static const enum op ops[2][2] = {{OP_add_b32, OP_sub_b32}, {OP_add_b64, OP_sub_b64}};
    compute(fn, m, ops[words - 1][m->form->key != 0], dst, src, const_words(fn->l, window, words),
            operand_none());
    return true;
}
