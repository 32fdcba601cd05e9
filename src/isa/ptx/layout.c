/* Allocated functions -> one program: instruction array, blocks, tables. */
#include "analysis/cfg.h"
#include "isa/ptx/lower.h"

static void settle_frame(struct fn *fn)
{
    u32 size = (u32)align_up(fn->frame, MAX(fn->l->frame_align, 16u));
    fn->out->frame_bytes = size;
    fn->out->spill_bytes = fn->spill_bytes;
    for (u32 i = 0; i < fn->insts.count; i++) {
        struct inst *inst = &fn->insts.data[i];
        if (inst->late == LATE_OFFSET)
            inst->imm += size;
        if (inst->late == LATE_SIZE)
            inst->src[1] = const_words(fn->l, size, 1);
        inst->late = 0;
    }
}

static void add_block(struct lower *l, const struct fn *fn, const struct cfg *cfg, u32 b, u32 base,
                      u32 block_base)
{
    const struct cfg_block *from = &cfg->blocks[b];
    const struct inst *last = &fn->insts.data[from->end - 1];
    struct block *to = vec_push(&l->blocks);
    to->first = from->first + base;
    to->end = from->end + base;
    to->ipdom = from->ipdom == NO_BLOCK ? NO_BLOCK : from->ipdom + block_base;
    to->idom = from->idom == NO_BLOCK ? NO_BLOCK : from->idom + block_base;
    to->reconverge = from->ipdom == NO_BLOCK ? NO_INST : cfg->blocks[from->ipdom].first + base;
    to->successors[0] = to->successors[1] = NO_BLOCK;
    if (last->op == OP_bra)
        to->successors[0] = cfg->block_of[last->imm] + block_base;
    if (inst_falls_through(last) && b + 1 < cfg->count)
        to->successors[1] = b + 1 + block_base;
    for (u32 i = from->first; i < from->end; i++)
        to->unguarded += fn->insts.data[i].guard.kind == OPERAND_NONE;
}

bool layout_function(struct fn *fn)
{
    struct lower *l = fn->l;
    settle_frame(fn);
    u32 base = l->insts.count, block_base = l->blocks.count, table_base = l->tables.count;
    struct code code = fn_code(fn);
    code.is_virtual = false;
    struct arena *arena = arena_create();
    struct cfg *cfg = cfg_build(arena, &code);
    for (u32 b = 0; b < cfg->count; b++)
        add_block(l, fn, cfg, b, base, block_base);
    arena_destroy(arena);
    for (u32 t = 0; t < fn->tables.count; t++) {
        for (u32 k = 0; k < fn->tables.data[t].count; k++)
            fn->tables.data[t].targets[k] += base;
        struct jump_table *table = vec_push(&l->tables);
        *table = fn->tables.data[t];
    }
    for (u32 i = 0; i < fn->insts.count; i++) {
        struct inst *inst = vec_push(&l->insts);
        *inst = fn->insts.data[i];
        if (inst->op == OP_bra)
            inst->imm += base;
        if (inst->op == OP_brx)
            inst->imm += table_base;
    }
    struct function *out = fn->out;
    out->first = base;
    out->end = l->insts.count;
    out->first_block = block_base;
    out->block_end = l->blocks.count;
    out->shared_bytes = (u32)fn->unit->shared_end;
    out->calls_indirectly = fn->unit->calls_indirectly;
    out->callee_count = fn->unit->callee_count;
    out->callees = arena_array(l->program->arena, u32, out->callee_count + 1);
    memcpy(out->callees, fn->unit->callees, out->callee_count * sizeof(u32));
    out->unsupported_count = fn->unsupported.count;
    out->unsupported = arena_array(l->program->arena, u32, out->unsupported_count + 1);
    if (out->unsupported_count)
        memcpy(out->unsupported, fn->unsupported.data, out->unsupported_count * sizeof(u32));
    if (l->insts.count > 1u << 26)
        return lower_error(l, fn->ast->place, "the program is too large");
    return true;
}

#define TAKE(to, number, vec, type)                              \
    do {                                                         \
        to = arena_array(program->arena, type, (vec).count + 1); \
        if ((vec).count)                                         \
            memcpy(to, (vec).data, (vec).count * sizeof(type));  \
        number = (vec).count;                                    \
    } while (0)

bool layout_finish(struct lower *l)
{
    struct program *program = l->program;
    for (u32 i = 0; i < l->insts.count; i++)
        if (l->insts.data[i].op == OP_call)
            l->insts.data[i].imm = program->functions[l->insts.data[i].imm].first;
    TAKE(program->insts, program->inst_count, l->insts, struct inst);
    TAKE(program->blocks, program->block_count, l->blocks, struct block);
    TAKE(program->constants, program->constant_count, l->constants, u32);
    TAKE(program->fixups, program->fixup_count, l->fixups, struct constant_fixup);
    TAKE(program->tables, program->table_count, l->tables, struct jump_table);
    TAKE(program->locations, program->location_count, l->locations, struct location);
    TAKE(program->unsupported, program->unsupported_count, l->unsupported, struct unsupported);
    TAKE(program->warnings, program->warning_count, l->warnings, const char *);
    program->block_of = arena_array(program->arena, u32, program->inst_count + 1);
    for (u32 b = 0; b < program->block_count; b++)
        for (u32 i = program->blocks[b].first; i < program->blocks[b].end; i++)
            program->block_of[i] = b;
    program_close(program);
    return true;
}
