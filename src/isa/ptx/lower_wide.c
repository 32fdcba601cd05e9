/*
 * 128-bit registers: two pairs, which only mov, ld, st, atom.exch and atom.cas treat as one.
 *
 *  B1  The virtual register of a .b128 name holds the low half, the next one the high half.
 */
#include "isa/ptx/lower.h"

bool wide_operand(struct fn *fn, const struct ptx_operand *o, bool is_dest, struct operand *half)
{
    if (is_dest && o->kind == PTX_SINK) {
        for (u32 i = 0; i < 2; i++)
            half[i] = vreg_operand(fn, vreg_new(fn, 2, TYPE_NONE));
        return true;
    }
    u32 index;
    struct symbol *symbol =
        o->kind == PTX_NAME ? register_find(fn, o->name, o->component, &index) : NULL;
    if (!symbol || type_parse(symbol->declaration->type) != TYPE_B128)
        return lower_error(fn->l, o->place, "expected a register of type .b128");
    u32 low = register_id(fn, symbol, index);
    half[0] = vreg_operand(fn, low);
    half[1] = vreg_operand(fn, low + 1);
    return true;
}

/* A .b128 register, or {low, high}. */
static bool halves(struct fn *fn, const struct ptx_operand *o, bool is_dest, struct operand *half)
{
    if (o->kind != PTX_VECTOR)
        return wide_operand(fn, o, is_dest, half);
    if (o->item_count != 2)
        return lower_error(fn->l, o->place, "expected two registers of 64 bits");
    for (u32 i = 0; i < 2; i++)
        if (is_dest ? !lower_dest(fn, &o->items[i], TYPE_B64, FIT_EXACT, &half[i])
                    : !lower_source(fn, &o->items[i], TYPE_B64, FIT_EXACT, &half[i]))
            return false;
    return true;
}

bool wide_mov(struct fn *fn, struct match *m)
{
    struct operand dst[2], src[2];
    if (!halves(fn, &m->in->operands[0], true, dst) || !halves(fn, &m->in->operands[1], false, src))
        return false;
    for (u32 i = 0; i < 2; i++) {
        if (dst[i].kind == OPERAND_NONE)
            continue;
        struct inst *inst = emit(fn, m, OP_mov_b64);
        inst->dst[0] = dst[i];
        inst->src[0] = src[i];
    }
    return true;
}

static bool wide_access(struct fn *fn, struct match *m, u32 address_at, struct address *address)
{
    if (m->vector > 1)
        return lower_error(fn->l, m->in->place, "there are no vectors of .b128");
    return operand_count_is(fn, m->in, 2, match_has(m, "L2::cache_hint") ? 3 : 2) &&
           lower_address(fn, m, &m->in->operands[address_at], address);
}

bool wide_ld(struct fn *fn, struct match *m)
{
    struct address address;
    struct operand dst[2];
    if (!wide_access(fn, m, 1, &address) || !wide_operand(fn, &m->in->operands[0], true, dst))
        return false;
    u32 parts[2] = {dst[0].index, dst[1].index}, tuple = tuple_new(fn, parts, 2);
    struct inst *inst = emit_access(fn, m, OP_ld, &address);
    inst->type = TYPE_B64;
    inst->vector = 2;
    inst->dst[0] = operand_make(OPERAND_VECTOR, 0, 4);
    inst->spare = tuple;
    return true;
}

bool wide_st(struct fn *fn, struct match *m)
{
    struct address address;
    struct operand src[2];
    if (!wide_access(fn, m, 0, &address) || !wide_operand(fn, &m->in->operands[1], false, src) ||
        !store_space(fn, m, &address))
        return false;
    u32 tuple = stored_tuple(fn, src, 2);
    struct inst *inst = emit_access(fn, m, OP_st, &address);
    inst->type = TYPE_B64;
    inst->vector = 2;
    inst->src[1] = operand_make(OPERAND_VECTOR, 0, 4);
    inst->spare = tuple;
    return true;
}
