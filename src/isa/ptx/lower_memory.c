/*
 * Loads, stores, prefetches, fences; lower_atomic.c has the atomics.
 *
 *  M1  Parameters: ld.param of a kernel parameter reads SPACE_PARAM; parameters of functions and
 *      arguments of calls live in frames and are local memory.
 *  M2  No element is wider than its register pair; a load of a narrower element into a pair goes
 *      through a word and is extended, a store of one from a pair takes the low word.
 */
#include "isa/ptx/lower.h"
#include <stdio.h>

static bool space_of_symbol(const struct fn *fn, const struct symbol *symbol, int *space)
{
    switch (symbol->kind) {
    case SYMBOL_VARIABLE:
        *space = (int)fn->l->program->variables[symbol->index].space;
        return true;
    case SYMBOL_SHARED:
        *space = SPACE_SHARED;
        return true;
    case SYMBOL_LOCAL:
        *space = SPACE_LOCAL;
        return true;
    case SYMBOL_PARAM:
    case SYMBOL_ARGUMENT:
        *space = SPACE_PARAM;
        return true;
    default:
        return false;
    }
}

static const char *const space_names[SPACE_COUNT] = {"generic", "global", "shared",
                                                     "local",   "const",  "param"};

/* [symbol + offset] */
static bool symbol_address(struct fn *fn, const struct ptx_operand *o, int said,
                           struct address *out)
{
    struct symbol *symbol = scope_find(fn, o->name);
    int space;
    if (!symbol)
        return lower_error(fn->l, o->place, "'%s' is not declared", o->name);
    if (!space_of_symbol(fn, symbol, &space))
        return lower_error(fn->l, o->place, "'%s' is not a variable", o->name);
    if (said >= 0 && said != space)
        return lower_error(fn->l, o->place,
                           "'%s' is in .%s memory, but the instruction accesses .%s", o->name,
                           space_names[space], space_names[said]);
    out->space = (u8)space;
    out->imm = (i64)o->value;
    switch (symbol->kind) {
    case SYMBOL_VARIABLE:
        out->base = const_address(fn->l, RELOC_VARIABLE, symbol->index, 0);
        out->base.count = lower_address_words(fn->l) & 3;
        break;
    case SYMBOL_SHARED:
        out->imm += (i64)(symbol->is_dynamic ? fn->unit->dynamic_base : symbol->offset);
        break;
    case SYMBOL_PARAM:
        out->imm += (i64)symbol->offset;
        if (fn->out->is_kernel)
            break;
        out->space = SPACE_LOCAL;
        out->base = frame_base(fn);
        break;
    case SYMBOL_LOCAL:
        out->imm += (i64)symbol->offset;
        out->base = frame_base(fn);
        break;
    default: {
        i64 offset;
        enum late late;
        if (!argument_address(fn, symbol, o->place, &offset, &late))
            return false;
        out->imm += offset;
        out->late = (u8)late;
        out->space = SPACE_LOCAL;
        out->base = frame_base(fn);
    }
    }
    return true;
}

bool lower_address(struct fn *fn, const struct match *m, const struct ptx_operand *o,
                   struct address *out)
{
    *out = (struct address){.base = operand_none()};
    struct ptx_operand element;
    if (o->kind == PTX_ELEMENT) { /* name[index], the old syntax */
        element = *o;
        element.kind = PTX_ADDRESS;
        element.value = element_offset(fn, o);
        o = &element;
    }
    if (o->kind != PTX_ADDRESS)
        return lower_error(fn->l, o->place, "expected an address in brackets");
    out->space = m->space < 0 ? SPACE_GENERIC : (u8)m->space;
    out->imm = (i64)o->value;
    if (!o->name)
        return true;
    u32 index;
    struct symbol *symbol = register_find(fn, o->name, o->component, &index);
    if (!symbol)
        return symbol_address(fn, o, m->space, out);
    enum type type = type_parse(symbol->declaration->type);
    if (type_is_float(type) || type == TYPE_PRED || type_bytes(type) < 4 || type_bytes(type) > 8)
        return lower_error(fn->l, o->place, "'%s' is .%s: an address has 32 or 64 bits", o->name,
                           symbol->declaration->type);
    out->base = vreg_operand(fn, register_id(fn, symbol, index));
    if (out->space == SPACE_PARAM && !fn->out->is_kernel)
        out->space = SPACE_LOCAL;
    return true;
}

struct inst *emit_access(struct fn *fn, const struct match *m, enum op op,
                         const struct address *address)
{
    struct inst *inst = emit(fn, m, op);
    inst->mods = m->mods & (MOD_VOLATILE | MOD_READ_ONLY | MOD_FAR);
    inst->space = address->space;
    inst->src[0] = address->base;
    inst->imm = address->imm;
    inst->late = address->late;
    return inst;
}

static u32 type_words(enum type type)
{
    return type_bytes(type) > 4 ? 2 : 1;
}

/* The elements of a vector operand: {a, b}, or a vector register by name. */
bool vector_items(struct fn *fn, const struct match *m, const struct ptx_operand *o,
                  struct ptx_operand *items)
{
    static const char *const letters[] = {"x", "y", "z", "w"};
    if (o->kind == PTX_VECTOR) {
        if (o->item_count != m->vector)
            return lower_error(fn->l, o->place, "expected %u elements, not %u", m->vector,
                               o->item_count);
        memcpy(items, o->items, m->vector * sizeof *items);
        return true;
    }
    u32 index;
    if (o->kind != PTX_NAME || m->vector > 4 || !register_find(fn, o->name, "x", &index))
        return lower_error(fn->l, o->place, "expected a vector of %u elements, as in {a, b}",
                           m->vector);
    for (u32 i = 0; i < m->vector; i++) {
        items[i] = *o;
        items[i].component = letters[i];
    }
    return true;
}

static void extend_to_pair(struct fn *fn, const struct match *m, struct operand pair,
                           struct operand word)
{
    struct inst *inst = emit_plain(fn, OP_cvt);
    inst->guard = m->guard;
    inst->type = type_is_signed(m->types[0]) ? TYPE_S64 : TYPE_U64;
    inst->stype = type_is_signed(m->types[0]) ? TYPE_S32 : TYPE_U32;
    inst->dst[0] = pair;
    inst->src[0] = word;
}

static bool check_vector(struct fn *fn, const struct match *m)
{
    u32 bytes = type_bytes(m->types[0]) * m->vector;
    if (bytes <= 32 && (m->vector < 8 || type_bytes(m->types[0]) == 4))
        return true;
    return lower_error(fn->l, m->in->place, "a vector of %u elements of .%s is too long", m->vector,
                       type_name(m->types[0]));
}

bool load_results(struct fn *fn, const struct match *m, const struct ptx_operand *items,
                  struct load_results *r)
{
    const u32 words = type_words(m->types[0]);
    for (u32 i = 0; i < m->vector; i++) {
        if (!lower_dest(fn, &items[i], m->types[0], FIT_WIDER, &r->wanted[i]))
            return false;
        bool direct = r->wanted[i].kind == OPERAND_VECTOR && r->wanted[i].count == words;
        for (u32 k = 0; k < i; k++) /* the same register twice: the later one wins */
            direct &= !(direct && r->parts[k] == r->wanted[i].index);
        r->parts[i] = direct ? r->wanted[i].index : vreg_new(fn, words, TYPE_NONE);
    }
    return true;
}

void load_finish(struct fn *fn, const struct match *m, const struct load_results *r)
{
    const u32 words = type_words(m->types[0]);
    struct inst *inst = &fn->insts.data[fn->insts.count - 1];
    inst->vector = (u8)m->vector;
    inst->dst[0] =
        operand_make(OPERAND_VECTOR, m->vector == 1 ? r->parts[0] : 0, words * m->vector);
    if (m->vector > 1)
        inst->spare = tuple_new(fn, r->parts, m->vector);
    for (u32 i = 0; i < m->vector; i++) {
        const struct operand wanted = r->wanted[i], part = vreg_operand(fn, r->parts[i]);
        if (wanted.kind == OPERAND_NONE || wanted.index == part.index)
            continue;
        if (wanted.count != words) {
            extend_to_pair(fn, m, wanted, part);
            continue;
        }
        struct inst *move = emit_plain(fn, words == 2 ? OP_mov_b64 : OP_mov_b32);
        move->guard = m->guard;
        move->dst[0] = wanted;
        move->src[0] = part;
    }
}

bool lower_ld(struct fn *fn, struct match *m)
{
    const enum type type = m->types[0];
    if (type == TYPE_B128)
        return wide_ld(fn, m);
    struct address address;
    if (!operand_count_is(fn, m->in, 2, match_has(m, "L2::cache_hint") ? 3 : 2) ||
        !check_vector(fn, m) || !lower_address(fn, m, &m->in->operands[1], &address))
        return false;
    struct ptx_operand items[TUPLE_MAX] = {m->in->operands[0]};
    if (m->vector > 1 && !vector_items(fn, m, &m->in->operands[0], items))
        return false;
    struct load_results results;
    if (!load_results(fn, m, items, &results))
        return false;
    struct inst *inst = emit_access(fn, m, OP_ld, &address);
    if (type_is_signed(type))
        inst->mods |= MOD_SIGNED;
    load_finish(fn, m, &results);
    return true;
}

struct operand pair_low(struct fn *fn, struct operand wide)
{
    struct operand low = vreg_operand(fn, vreg_new(fn, 1, TYPE_NONE));
    struct inst *inst = emit_plain(fn, OP_unpack_b64);
    inst->dst[0] = low;
    inst->src[0] = wide;
    return low;
}

bool stored_element(struct fn *fn, const struct match *m, const struct ptx_operand *o,
                    struct operand *out)
{
    u32 words = type_words(m->types[0]);
    if (!lower_source(fn, o, m->types[0], FIT_WIDER, out))
        return false;
    if (out->kind == OPERAND_VECTOR && out->count > words)
        *out = pair_low(fn, *out);
    return true;
}

static bool all_constant(const struct lower *l, const struct operand *items, u32 count)
{
    for (u32 i = 0; i < count; i++) {
        if (items[i].kind != OPERAND_CONST || const_is_address(l, items[i]))
            return false;
    }
    return true;
}

/* Adjacent constants in the pool. */
static struct operand constant_vector(struct lower *l, const struct operand *items, u32 count)
{
    u32 first = l->constants.count, words = items[0].count;
    for (u32 i = 0; i < count; i++) {
        for (u32 w = 0; w < words; w++) {
            u32 value = l->constants.data[items[i].index + w];
            *(u32 *)vec_push(&l->constants) = value;
        }
    }
    return operand_make(OPERAND_CONST, first, count * words);
}

/* The tuple of a vector store: elements that occur twice or are constants get copies. */
u32 stored_tuple(struct fn *fn, const struct operand *items, u32 count)
{
    u32 parts[TUPLE_MAX], words = items[0].count;
    for (u32 i = 0; i < count; i++) {
        bool direct = items[i].kind == OPERAND_VECTOR;
        for (u32 k = 0; k < i; k++)
            direct &= !(direct && parts[k] == items[i].index);
        if (direct) {
            parts[i] = items[i].index;
            continue;
        }
        parts[i] = vreg_new(fn, words, TYPE_NONE);
        struct inst *move = emit_plain(fn, words == 2 ? OP_mov_b64 : OP_mov_b32);
        move->dst[0] = vreg_operand(fn, parts[i]);
        move->src[0] = items[i];
    }
    return tuple_new(fn, parts, count);
}

bool store_space(struct fn *fn, const struct match *m, const struct address *address)
{
    if (address->space != SPACE_CONST && address->space != SPACE_PARAM)
        return true;
    return lower_error(fn->l, m->in->place, "%s memory cannot be written",
                       address->space == SPACE_CONST ? "constant" : "kernel parameter");
}

bool lower_st(struct fn *fn, struct match *m)
{
    if (m->types[0] == TYPE_B128)
        return wide_st(fn, m);
    struct address address;
    if (!operand_count_is(fn, m->in, 2, match_has(m, "L2::cache_hint") ? 3 : 2) ||
        !check_vector(fn, m) || !lower_address(fn, m, &m->in->operands[0], &address))
        return false;
    if (!store_space(fn, m, &address))
        return false;
    struct ptx_operand items[TUPLE_MAX] = {m->in->operands[1]};
    if (m->vector > 1 && !vector_items(fn, m, &m->in->operands[1], items))
        return false;
    struct operand parts[TUPLE_MAX];
    for (u32 i = 0; i < m->vector; i++)
        if (!stored_element(fn, m, &items[i], &parts[i]))
            return false;
    u32 tuple = 0;
    struct operand data = parts[0];
    if (m->vector > 1 && all_constant(fn->l, parts, m->vector)) {
        data = constant_vector(fn->l, parts, m->vector);
    } else if (m->vector > 1) {
        tuple = stored_tuple(fn, parts, m->vector);
        data = operand_make(OPERAND_VECTOR, 0, m->vector * parts[0].count);
    }
    struct inst *inst = emit_access(fn, m, OP_st, &address);
    inst->vector = (u8)m->vector;
    inst->src[1] = data;
    inst->spare = tuple;
    return true;
}

bool lower_prefetch(struct fn *fn, struct match *m)
{
    struct address address;
    if (!operand_count_is(fn, m->in, 1, 1) || !lower_address(fn, m, &m->in->operands[0], &address))
        return false;
    emit_access(fn, m, OP_prefetch, &address);
    return true;
}

bool lower_fence(struct fn *fn, struct match *m)
{
    if (!operand_count_is(fn, m->in, 0, 0))
        return false;
    emit(fn, m, OP_fence)->key = m->form->key;
    return true;
}

bool lower_isspacep(struct fn *fn, struct match *m)
{
    struct operand dst, src;
    if (!operand_count_is(fn, m->in, 2, 2) || !lower_mask_dest(fn, &m->in->operands[0], &dst))
        return false;
    const u32 words = lower_address_words(fn->l);
    if (!lower_source(fn, &m->in->operands[1], words == 1 ? TYPE_B32 : TYPE_B64, FIT_WIDER, &src))
        return false;
    if (src.kind == OPERAND_VECTOR && src.count > words) /* truncated, as addresses of ld and st */
        src = pair_low(fn, src);
    if (dst.kind == OPERAND_NONE)
        dst = operand_make(OPERAND_MASK, mask_new(fn), 1);
    struct inst *inst = emit(fn, m, OP_isspacep);
    inst->space = (u8)m->space;
    inst->dst[0] = dst;
    inst->src[0] = src;
    return true;
}
