/* Branches, barriers and cross-lane operations. Calls are in lower_call.c. */
#include "isa/ptx/lower.h"

bool lower_nothing(struct fn *fn, struct match *m)
{
    emit(fn, m, OP_nop);
    return true;
}

static bool label_number(struct fn *fn, const char *name, struct ptx_place place, u32 *number)
{
    struct symbol *symbol = scope_find(fn, name);
    if (!symbol || symbol->kind != SYMBOL_LABEL)
        return lower_error(fn->l, place, "'%s' is not a label", name);
    *number = symbol->index;
    return true;
}

/* Targets are label numbers until the body is complete (lower_body.c). */
bool lower_bra(struct fn *fn, struct match *m)
{
    u32 label = 0;
    if (!operand_count_is(fn, m->in, 1, 1))
        return false;
    const struct ptx_operand *o = &m->in->operands[0];
    if (o->kind != PTX_NAME)
        return lower_error(fn->l, o->place, "expected a label");
    if (!label_number(fn, o->name, o->place, &label))
        return false;
    struct inst *inst = emit(fn, m, OP_bra);
    inst->imm = label;
    inst->key = match_has(m, "uni");
    return true;
}

bool lower_brx(struct fn *fn, struct match *m)
{
    if (!operand_count_is(fn, m->in, 2, 2))
        return false;
    const struct ptx_operand *list = &m->in->operands[1];
    struct operand index;
    if (!lower_source(fn, &m->in->operands[0], TYPE_U32, FIT_EXACT, &index))
        return false;
    struct symbol *symbol = list->kind == PTX_NAME ? scope_find(fn, list->name) : NULL;
    if (!symbol || symbol->kind != SYMBOL_TARGETS)
        return lower_error(fn->l, list->place, "expected the name of a .branchtargets list");
    const struct ptx_statement *targets = symbol->statement;
    if (!targets->target_count)
        return lower_error(fn->l, list->place, "the list '%s' is empty", list->name);
    struct jump_table *table = vec_push(&fn->tables);
    table->count = targets->target_count;
    table->targets = arena_array(fn->l->program->arena, u32, table->count);
    for (u32 i = 0; i < table->count; i++)
        if (!label_number(fn, targets->targets[i], targets->place, &table->targets[i]))
            return false;
    struct inst *inst = emit(fn, m, OP_brx);
    inst->imm = fn->tables.count - 1;
    inst->src[0] = index;
    return true;
}

bool lower_exit(struct fn *fn, struct match *m)
{
    if (!operand_count_is(fn, m->in, 0, 0))
        return false;
    emit(fn, m, m->form->op);
    return true;
}

bool lower_nanosleep(struct fn *fn, struct match *m)
{
    struct operand time;
    if (!operand_count_is(fn, m->in, 1, 1) ||
        !lower_source(fn, &m->in->operands[0], TYPE_U32, FIT_EXACT, &time))
        return false;
    emit(fn, m, OP_nanosleep)->src[0] = time;
    return true;
}

/* The barrier number and thread count of a barrier; constants are checked here. */
static bool barrier_operands(struct fn *fn, const struct ptx_operand *o, u32 count,
                             struct operand *src)
{
    for (u32 i = 0; i < count; i++)
        if (!lower_source(fn, &o[i], TYPE_U32, FIT_EXACT, &src[i]))
            return false;
    if (o[0].kind == PTX_INT && o[0].value > 15)
        return lower_error(fn->l, o[0].place, "barrier %llu; expected 0 to 15",
                           (unsigned long long)o[0].value);
    if (count > 1 && o[1].kind == PTX_INT && (o[1].value == 0 || o[1].value % 32))
        return lower_error(fn->l, o[1].place, "%llu threads; expected a multiple of 32",
                           (unsigned long long)o[1].value);
    return true;
}

/* bar.sync and bar.arrive: [barrier] [, threads] */
bool lower_bar(struct fn *fn, struct match *m)
{
    bool arrives = m->form->key == 1;
    struct operand src[2] = {0};
    if (!operand_count_is(fn, m->in, arrives ? 2 : 1, 2))
        return false;
    if (!barrier_operands(fn, m->in->operands, m->in->operand_count, src))
        return false;
    struct inst *inst = emit(fn, m, OP_bar);
    inst->key = m->form->key;
    inst->key2 = !strcmp(m->in->opcode, "bar") || match_has(m, "aligned");
    inst->src[0] = src[0];
    inst->src[1] = src[1];
    return true;
}

/* bar.red: d, barrier [, threads], predicate */
bool lower_bar_red(struct fn *fn, struct match *m)
{
    bool counts = m->form->op == OP_bar_popc;
    u32 n = m->in->operand_count;
    const struct ptx_operand *o = m->in->operands;
    struct operand dst, src[3] = {0};
    if (!operand_count_is(fn, m->in, 3, 4))
        return false;
    if (!(counts ? lower_dest(fn, &o[0], TYPE_U32, FIT_EXACT, &dst)
                 : lower_mask_dest(fn, &o[0], &dst)) ||
        !barrier_operands(fn, &o[1], n - 2, src) || !lower_mask_source(fn, &o[n - 1], &src[2]))
        return false;
    if (counts && dst.kind == OPERAND_NONE)
        dst = vreg_operand(fn, vreg_new(fn, 1, TYPE_NONE));
    struct inst *inst = emit(fn, m, m->form->op);
    inst->key = counts ? 0 : m->form->key;
    inst->key2 = !strcmp(m->in->opcode, "bar") || match_has(m, "aligned");
    inst->dst[0] = dst;
    memcpy(inst->src, src, sizeof src);
    return true;
}

bool lower_barrier_warp(struct fn *fn, struct match *m)
{
    struct operand members;
    if (!operand_count_is(fn, m->in, 1, 1) ||
        !lower_source(fn, &m->in->operands[0], TYPE_B32, FIT_EXACT, &members))
        return false;
    emit(fn, m, OP_bar_warp)->src[0] = members;
    return true;
}

/* The member mask, the last operand of a .sync form. */
static bool members_source(struct fn *fn, const struct match *m, u32 at, struct operand *out)
{
    *out = operand_none();
    if (!match_has(m, "sync"))
        return true;
    return lower_source(fn, &m->in->operands[at], TYPE_B32, FIT_EXACT, out);
}

bool lower_vote(struct fn *fn, struct match *m)
{
    bool ballot = m->form->op == OP_ballot;
    u32 count = 2 + match_has(m, "sync");
    const struct ptx_operand *o = m->in->operands;
    struct operand dst, mask, members;
    if (!operand_count_is(fn, m->in, count, count) ||
        !(ballot ? lower_dest(fn, &o[0], TYPE_B32, FIT_EXACT, &dst)
                 : lower_mask_dest(fn, &o[0], &dst)) ||
        !lower_mask_source(fn, &o[1], &mask) || !members_source(fn, m, 2, &members))
        return false;
    if (dst.kind == OPERAND_NONE)
        dst = ballot ? vreg_operand(fn, vreg_new(fn, 1, TYPE_NONE))
                     : operand_make(OPERAND_MASK, mask_new(fn), 1);
    struct inst *inst = emit(fn, m, m->form->op);
    inst->key = ballot ? 0 : m->form->key;
    inst->dst[0] = dst;
    inst->src[0] = mask;
    inst->src[1] = members;
    return true;
}

/* A result with an optional predicate: d or d|p. */
static bool result_and_mask(struct fn *fn, const struct ptx_operand *o, enum type_fit fit,
                            struct operand *dst)
{
    bool pair = o->kind == PTX_PAIR && o->item_count == 2;
    dst[1] = operand_none();
    return lower_dest(fn, pair ? &o->items[0] : o, TYPE_B32, fit, &dst[0]) &&
           (!pair || lower_mask_dest(fn, &o->items[1], &dst[1]));
}

bool lower_shfl(struct fn *fn, struct match *m)
{
    u32 count = 4 + match_has(m, "sync");
    const struct ptx_operand *o = m->in->operands;
    struct operand dst[2], src[4];
    if (!operand_count_is(fn, m->in, count, count) || !result_and_mask(fn, &o[0], FIT_EXACT, dst) ||
        !lower_source(fn, &o[1], TYPE_B32, FIT_EXACT, &src[0]) ||
        !lower_source(fn, &o[2], TYPE_U32, FIT_EXACT, &src[1]) ||
        !lower_source(fn, &o[3], TYPE_U32, FIT_EXACT, &src[2]) ||
        !members_source(fn, m, 4, &src[3]))
        return false;
    if (dst[0].kind == OPERAND_NONE)
        dst[0] = vreg_operand(fn, vreg_new(fn, 1, TYPE_NONE));
    struct inst *inst = emit(fn, m, OP_shfl);
    inst->key = m->form->key;
    memcpy(inst->dst, dst, sizeof dst);
    memcpy(inst->src, src, sizeof src);
    return true;
}

bool lower_match(struct fn *fn, struct match *m)
{
    const struct ptx_operand *o = m->in->operands;
    struct operand dst[2], value, members;
    /* clang writes a 64-bit result for .b64; the mask of lanes has 32 bits. */
    if (!operand_count_is(fn, m->in, 3, 3) || !result_and_mask(fn, &o[0], FIT_WIDER, dst) ||
        !lower_source(fn, &o[1], m->types[0], FIT_EXACT, &value) ||
        !members_source(fn, m, 2, &members))
        return false;
    if (dst[1].kind != OPERAND_NONE && m->form->op == OP_match_any)
        return lower_error(fn->l, o[0].place, "match.any has no predicate result");
    if (dst[0].kind == OPERAND_NONE)
        dst[0] = vreg_operand(fn, vreg_new(fn, 1, TYPE_NONE));
    struct operand wide = dst[0];
    if (wide.count == 2)
        dst[0] = vreg_operand(fn, vreg_new(fn, 1, TYPE_NONE));
    struct inst *inst = emit(fn, m, m->form->op);
    memcpy(inst->dst, dst, sizeof dst);
    inst->src[0] = value;
    inst->src[1] = members;
    if (wide.count == 2) {
        inst = emit(fn, m, OP_cvt);
        inst->type = TYPE_U64;
        inst->stype = TYPE_U32;
        inst->dst[0] = wide;
        inst->src[0] = dst[0];
    }
    return true;
}

bool lower_redux(struct fn *fn, struct match *m)
{
    const struct ptx_operand *o = m->in->operands;
    struct operand dst, value, members;
    if (!operand_count_is(fn, m->in, 3, 3) ||
        !lower_dest(fn, &o[0], m->types[0], FIT_EXACT, &dst) ||
        !lower_source(fn, &o[1], m->types[0], FIT_EXACT, &value) ||
        !members_source(fn, m, 2, &members))
        return false;
    if (dst.kind == OPERAND_NONE)
        dst = vreg_operand(fn, vreg_new(fn, 1, TYPE_NONE));
    struct inst *inst = emit(fn, m, OP_redux);
    inst->key = m->form->key;
    inst->dst[0] = dst;
    inst->src[0] = value;
    inst->src[1] = members;
    return true;
}

bool lower_elect(struct fn *fn, struct match *m)
{
    struct operand dst[2], members;
    if (!operand_count_is(fn, m->in, 2, 2) ||
        !result_and_mask(fn, &m->in->operands[0], FIT_EXACT, dst) ||
        !members_source(fn, m, 1, &members))
        return false;
    if (dst[1].kind == OPERAND_NONE)
        dst[1] = operand_make(OPERAND_MASK, mask_new(fn), 1);
    struct inst *inst = emit(fn, m, OP_elect);
    memcpy(inst->dst, dst, sizeof dst);
    inst->src[0] = members;
    return true;
}
