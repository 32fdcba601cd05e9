/*
 * The body of a function: scopes, labels, statements.
 */
#include "isa/ptx/lower.h"
#include <stdlib.h>

static u32 location_add(struct lower *l, const struct ptx_instruction *in)
{
    struct location *location = vec_push(&l->locations);
    location->file =
        in->source_file ? arena_strdup(l->program->arena, in->source_file) : l->program->file;
    location->line = in->source_file ? in->source_line : 0;
    location->text_line = in->place.line;
    /* share the name of the file with the previous location */
    if (l->locations.count > 1 && in->source_file) {
        const char *before = l->locations.data[l->locations.count - 2].file;
        if (before && !strcmp(before, location->file))
            location->file = before;
    }
    return l->locations.count - 1;
}

static bool guard_operand(struct fn *fn, const struct ptx_instruction *in, struct operand *guard)
{
    *guard = operand_none();
    if (!in->guard)
        return true;
    struct ptx_operand o = {
        .kind = PTX_NAME, .place = in->place, .name = in->guard, .negated = in->guard_negated};
    return lower_mask_source(fn, &o, guard);
}

static bool lower_statement(struct fn *fn, const struct ptx_instruction *in)
{
    struct match m = {0};
    fn->location = location_add(fn->l, in);
    if (!guard_operand(fn, in, &m.guard) || !ptx_match(fn, in, &m))
        return false;
    return m.form->lower(fn, &m);
}

static bool predeclare(struct fn *fn, const struct ptx_statement *s)
{
    struct symbol *symbol;
    switch (s->kind) {
    case PTX_LABEL:
        symbol = scope_define(fn, s->label, SYMBOL_LABEL, s->place);
        if (!symbol)
            return false;
        symbol->index = fn->labels.count;
        struct label *label = vec_push(&fn->labels);
        *label = (struct label){s->label, s->place, NO_INST};
        return true;
    case PTX_BRANCHTARGETS:
    case PTX_CALLTARGETS:
    case PTX_CALLPROTOTYPE:
        symbol = scope_define(fn, s->label,
                              s->kind == PTX_BRANCHTARGETS ? SYMBOL_TARGETS
                              : s->kind == PTX_CALLTARGETS ? SYMBOL_CALLTARGETS
                                                           : SYMBOL_PROTOTYPE,
                              s->place);
        if (symbol)
            symbol->statement = s;
        return symbol;
    case PTX_DECLARATION:
        return declare(fn, &s->declaration);
    default:
        return true;
    }
}

static bool scope_lower(struct fn *fn, const struct ptx_statement *items, u32 count)
{
    bool fine = true;
    for (u32 i = 0; i < count; i++)
        fine &= predeclare(fn, &items[i]);
    arguments_plan(fn, items, count);
    for (u32 i = 0; i < count; i++) {
        const struct ptx_statement *s = &items[i];
        if (s->kind == PTX_LABEL) {
            struct symbol *symbol = names_get(&fn->scope->names, s->label, strlen(s->label));
            if (symbol && symbol->kind == SYMBOL_LABEL)
                fn->labels.data[symbol->index].at = fn->insts.count;
        } else if (s->kind == PTX_STATEMENT) {
            fine &= lower_statement(fn, &s->instruction);
        } else if (s->kind == PTX_SCOPE) {
            struct scope inner = {.parent = fn->scope};
            fn->scope = &inner;
            fine &= scope_lower(fn, s->items, s->item_count);
            fn->scope = inner.parent;
            names_free(&inner.names);
        }
        if (fn->vregs.count >= 1u << 20 || fn->masks >= 1u << 20 ||
            fn->l->constants.count >= (1u << 20) - 64 || fn->insts.count >= 1u << 22)
            return lower_error(fn->l, s->place, "the function is too large");
    }
    return fine;
}

/* Adds a return if control can run off the end, or if a label is there, which needs an
 * instruction. */
static void close_code(struct fn *fn)
{
    bool labelled = false;
    for (u32 i = 0; i < fn->labels.count; i++)
        labelled |= fn->labels.data[i].at == fn->insts.count;
    const struct inst *last = fn->insts.count ? &fn->insts.data[fn->insts.count - 1] : NULL;
    if (labelled || !last || inst_falls_through(last))
        emit_plain(fn, OP_ret);
}

static void resolve_labels(struct fn *fn)
{
    for (u32 i = 0; i < fn->insts.count; i++)
        if (fn->insts.data[i].op == OP_bra)
            fn->insts.data[i].imm = fn->labels.data[fn->insts.data[i].imm].at;
    for (u32 t = 0; t < fn->tables.count; t++)
        for (u32 k = 0; k < fn->tables.data[t].count; k++)
            fn->tables.data[t].targets[k] = fn->labels.data[fn->tables.data[t].targets[k]].at;
}

/* Copies the parameters to the frame if the code takes the generic address of one. */
static void copy_params(struct fn *fn)
{
    if (fn->param_copy == UINT32_MAX)
        return;
    struct rewrite r = rewrite_begin(fn);
    u32 bytes = fn->out->param_bytes;
    for (u32 at = 0, piece; at < bytes; at += piece) {
        piece = bytes - at >= 4 ? 4 : 1;
        enum type type = piece == 4 ? TYPE_B32 : TYPE_B8;
        struct operand t = vreg_operand(fn, vreg_new(fn, 1, TYPE_NONE));
        struct inst ld = {.op = OP_ld, .type = type, .vector = 1, .space = SPACE_PARAM};
        struct inst st = {.op = OP_st, .type = type, .vector = 1, .space = SPACE_LOCAL};
        ld.imm = at;
        ld.dst[0] = t;
        st.imm = fn->param_copy + at;
        st.src[1] = t;
        rewrite_add(&r, &ld);
        rewrite_add(&r, &st);
    }
    u32 entry = r.out.count;
    for (u32 i = 0; i < r.count; i++) {
        rewrite_mark(&r, i);
        rewrite_add(&r, &fn->insts.data[i]);
    }
    r.map[0] = entry; /* a branch to the first instruction does not copy again */
    rewrite_end(&r);
}

/* A cluster is one block here; a kernel that requires larger ones cannot run. */
static void refuse_cluster(struct fn *fn)
{
    const u32 *size = fn->ast->required_cluster;
    if (!fn->out->is_kernel || (u64)MAX(size[0], 1u) * MAX(size[1], 1u) * MAX(size[2], 1u) == 1)
        return;
    struct ptx_instruction in = {.opcode = ".reqnctapercluster", .place = fn->ast->place};
    lower_unsupported_text(fn, &in, "clusters of several blocks");
}

bool lower_body(struct fn *fn)
{
    struct lower *l = fn->l;
    struct scope scope = {.parent = l->parts ? &l->parts[fn->ast->part].own : &l->globals};
    fn->scope = &scope;
    vec_push(&fn->tuples);
    vreg_new(fn, 1, TYPE_U32); /* the stack pointer */
    fn->carry = fn->param_copy = fn->syscall_base = UINT32_MAX;
    refuse_cluster(fn);
    bool fine = function_prologue(fn) && scope_lower(fn, fn->ast->body, fn->ast->body_count);
    fn->location = 0;
    names_free(&scope.names);
    fn->scope = NULL;
    if (!fine)
        return false;
    close_code(fn);
    resolve_labels(fn);
    copy_params(fn);
    return true;
}
