/* Emission of instructions, frame accesses, unsupported entries, rebuilding of code. */
#include "isa/ptx/lower.h"
#include <stdlib.h>

struct inst *emit_plain(struct fn *fn, enum op op)
{
    struct inst *inst = vec_push(&fn->insts);
    inst->op = (u16)op;
    inst->vector = 1;
    inst->location = fn->location;
    return inst;
}

struct inst *emit(struct fn *fn, const struct match *m, enum op op)
{
    struct inst *inst = emit_plain(fn, op);
    inst->guard = m->guard;
    inst->mods = (u16)m->mods;
    inst->rounding = m->rounding;
    inst->type = (u8)m->types[0];
    return inst;
}

bool lower_unsupported_text(struct fn *fn, const struct ptx_instruction *in, const char *why)
{
    struct arena *arena = fn->l->program->arena;
    struct unsupported *entry = vec_push(&fn->l->unsupported);
    entry->place =
        arena_printf(arena, "%s:%u:%u", fn->l->module->file, in->place.line, in->place.column);
    entry->text = arena_printf(arena, "%.300s (%s)", in->text ? in->text : in->opcode, why);
    u32 index = fn->l->unsupported.count - 1;
    *(u32 *)vec_push(&fn->unsupported) = index;
    struct inst *inst = emit_plain(fn, OP_unsupported);
    inst->imm = index;
    return true;
}

bool lower_unsupported(struct fn *fn, struct match *m)
{
    lower_unsupported_text(fn, m->in, m->form->why);
    fn->insts.data[fn->insts.count - 1].guard = m->guard;
    return true;
}

u32 tuple_new(struct fn *fn, const u32 *registers, u32 count)
{
    struct tuple *tuple = vec_push(&fn->tuples);
    tuple->count = count;
    memcpy(tuple->registers, registers, count * sizeof *registers);
    return fn->tuples.count - 1;
}

struct operand frame_base(const struct fn *fn)
{
    return fn->out->is_kernel ? operand_none() : vreg_operand(fn, 0);
}

void frame_access(struct fn *fn, enum op op, struct operand data, enum type type, i64 offset,
                  enum late late)
{
    struct inst *inst = emit_plain(fn, op);
    inst->space = SPACE_LOCAL;
    inst->type = (u8)type;
    inst->src[0] = frame_base(fn);
    inst->imm = offset;
    inst->late = (u8)late;
    if (op == OP_st)
        inst->src[1] = data;
    else
        inst->dst[0] = data;
}

struct code fn_code(const struct fn *fn)
{
    return (struct code){.insts = fn->insts.data,
                         .count = fn->insts.count,
                         .tables = fn->tables.data,
                         .vectors = fn->vregs.count,
                         .masks = fn->masks,
                         .is_virtual = true,
                         .tuples = fn->tuples.data};
}

struct rewrite rewrite_begin(struct fn *fn)
{
    struct rewrite r = {.fn = fn, .count = fn->insts.count};
    r.map = calloc(r.count + 1, sizeof *r.map);
    return r;
}

void rewrite_mark(struct rewrite *r, u32 old)
{
    r->map[old] = r->out.count;
}

struct inst *rewrite_add(struct rewrite *r, const struct inst *inst)
{
    struct inst *to = vec_push(&r->out);
    *to = *inst;
    return to;
}

void rewrite_end(struct rewrite *r)
{
    struct fn *fn = r->fn;
    r->map[r->count] = r->out.count;
    for (u32 i = 0; i < r->out.count; i++)
        if (r->out.data[i].op == OP_bra)
            r->out.data[i].imm = r->map[r->out.data[i].imm];
    for (u32 t = 0; t < fn->tables.count; t++)
        for (u32 k = 0; k < fn->tables.data[t].count; k++)
            fn->tables.data[t].targets[k] = r->map[fn->tables.data[t].targets[k]];
    free(fn->insts.data);
    fn->insts.data = r->out.data;
    fn->insts.count = r->out.count;
    fn->insts.capacity = r->out.capacity;
    free(r->map);
}
