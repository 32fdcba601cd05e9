/*
 * atom and red.
 *
 *  A1  A vector atomic is one atomic per element, in order: PTX promises no more.
 *  A2  A 128-bit atomic is op atom_b128, whose operands are the halves of the registers.
 */
#include "isa/ptx/lower.h"
#include <stdio.h>

static const struct {
    u8 op;
    const char *types;
} atomic_types[] = {
    {ATOMIC_ADD, "u32 s32 u64 s64 f16 f16x2 bf16 bf16x2 f32 f64"},
    {ATOMIC_MIN, "u32 s32 u64 s64"},
    {ATOMIC_MAX, "u32 s32 u64 s64"},
    {ATOMIC_AND, "b32 b64"},
    {ATOMIC_OR, "b32 b64"},
    {ATOMIC_XOR, "b32 b64"},
    {ATOMIC_EXCH, "b32 b64 b128 u32 s32 u64 s64 f32"},
    {ATOMIC_CAS, "b16 b32 b64 b128 u32 s32 u64 s64"},
    {ATOMIC_INC, "u32"},
    {ATOMIC_DEC, "u32"},
};

static bool atomic_allowed(struct fn *fn, const struct match *m)
{
    for (size_t i = 0; i < ARRAY_LEN(atomic_types); i++) {
        if (atomic_types[i].op != m->atomic)
            continue;
        char padded[160], wanted[16];
        snprintf(padded, sizeof padded, " %s ", atomic_types[i].types);
        snprintf(wanted, sizeof wanted, " %s ", type_name(m->types[0]));
        if (strstr(padded, wanted))
            return true;
        return lower_error(fn->l, m->in->place, "%s does not exist for .%s; it does for %s",
                           m->in->opcode, type_name(m->types[0]), atomic_types[i].types);
    }
    return false;
}

static bool atomic_space(struct fn *fn, const struct match *m, const struct address *address)
{
    if (address->space == SPACE_GENERIC || address->space == SPACE_GLOBAL ||
        address->space == SPACE_SHARED)
        return true;
    return lower_error(fn->l, m->in->place, "atomics work on global and shared memory");
}

static struct operand copy_of(struct fn *fn, struct operand o)
{
    struct operand copy = vreg_operand(fn, vreg_new(fn, o.count, TYPE_NONE));
    struct inst *move = emit_plain(fn, o.count == 2 ? OP_mov_b64 : OP_mov_b32);
    move->dst[0] = copy;
    move->src[0] = o;
    return copy;
}

/* Copies sources that an earlier element's result would overwrite. */
static void keep_sources(struct fn *fn, const struct operand *dst, struct operand *value,
                         struct operand *base, u32 count)
{
    for (u32 d = 0; d < count; d++) {
        if (dst[d].kind != OPERAND_VECTOR)
            continue;
        if (base->kind == OPERAND_VECTOR && base->index == dst[d].index)
            *base = copy_of(fn, *base);
        for (u32 i = d + 1; i < count; i++)
            if (value[i].kind == OPERAND_VECTOR && value[i].index == dst[d].index)
                value[i] = copy_of(fn, value[i]);
    }
}

static bool atomic_vector(struct fn *fn, struct match *m, struct address *address,
                          const struct ptx_operand *to, const struct ptx_operand *from)
{
    struct ptx_operand results[TUPLE_MAX], items[TUPLE_MAX];
    struct operand dst[TUPLE_MAX] = {0}, value[TUPLE_MAX];
    u32 bytes = type_bytes(m->types[0]);
    if ((to && !vector_items(fn, m, to, results)) || !vector_items(fn, m, from, items))
        return false;
    for (u32 i = 0; i < m->vector; i++)
        if ((to && !lower_dest(fn, &results[i], m->types[0], FIT_EXACT, &dst[i])) ||
            !lower_source(fn, &items[i], m->types[0], FIT_EXACT, &value[i]))
            return false;
    keep_sources(fn, dst, value, &address->base, m->vector);
    for (u32 i = 0; i < m->vector; i++) {
        struct inst *inst = emit_access(fn, m, OP_atom, address);
        inst->key = (u8)m->atomic;
        inst->imm += i * bytes;
        inst->dst[0] = dst[i];
        inst->src[1] = value[i];
    }
    return true;
}

/* 128-bit exch and cas; `o` points to the operands after the address. */
static bool atomic_wide(struct fn *fn, struct match *m, const struct address *address,
                        const struct ptx_operand *o)
{
    bool swaps = m->atomic == ATOMIC_CAS;
    struct operand dst[2], value[4];
    if (!wide_operand(fn, &m->in->operands[0], true, dst) ||
        !wide_operand(fn, &o[0], false, value) ||
        (swaps && !wide_operand(fn, &o[1], false, value + 2)))
        return false;
    u32 tuple = stored_tuple(fn, value, swaps ? 4 : 2);
    struct inst *inst = emit_access(fn, m, OP_atom_b128, address);
    inst->key = (u8)m->atomic;
    inst->dst[0] = dst[0];
    inst->dst[1] = dst[1];
    inst->src[1] = operand_make(OPERAND_VECTOR, 0, swaps ? 8 : 4);
    inst->spare = tuple;
    return true;
}

/* atom (key 1) and red (key 0). */
bool lower_atom(struct fn *fn, struct match *m)
{
    bool returns = m->form->key, swaps = m->atomic == ATOMIC_CAS;
    u32 count = 2 + returns + swaps;
    struct address address;
    const struct ptx_operand *o = m->in->operands + returns;
    enum type type = m->types[0];
    if (!operand_count_is(fn, m->in, count, count + match_has(m, "L2::cache_hint")) ||
        !atomic_allowed(fn, m) || !lower_address(fn, m, &o[0], &address) ||
        !atomic_space(fn, m, &address))
        return false;
    if (m->vector > 1)
        return atomic_vector(fn, m, &address, returns ? m->in->operands : NULL, &o[1]);
    if (type == TYPE_B128)
        return atomic_wide(fn, m, &address, &o[1]);
    struct operand dst = operand_none(), a, b = operand_none();
    if ((returns && !lower_dest(fn, &m->in->operands[0], type, FIT_EXACT, &dst)) ||
        !lower_source(fn, &o[1], type, FIT_EXACT, &a) ||
        (swaps && !lower_source(fn, &o[2], type, FIT_EXACT, &b)))
        return false;
    struct inst *inst = emit_access(fn, m, OP_atom, &address);
    inst->key = (u8)m->atomic;
    inst->dst[0] = dst;
    inst->src[1] = a;
    inst->src[2] = b;
    return true;
}
