/* ptx_lower: from the syntax tree to a program. See lower.h. */
#include "isa/ptx/lower.h"
#include <stdlib.h>

static void index_forms(struct lower *l)
{
    for (u32 i = ptx_form_count; i-- > 0;)
        names_put(&l->forms, ptx_forms[i].opcode, (void *)&ptx_forms[i]);
}

static void fn_free(struct fn *fn)
{
    vec_free(&fn->insts);
    vec_free(&fn->tuples);
    vec_free(&fn->vregs);
    vec_free(&fn->labels);
    vec_free(&fn->tables);
    vec_free(&fn->unsupported);
    free(fn->registers);
}

static bool lower_function(struct lower *l, u32 index)
{
    struct fn fn = {.l = l,
                    .index = index,
                    .ast = l->units[index].ast,
                    .out = &l->program->functions[index],
                    .unit = &l->units[index]};
    bool fine = lower_body(&fn);
    if (fine) {
        if (l->params->optimize)
            optimize(&fn);
        fine = allocate_registers(&fn) && layout_function(&fn);
    }
    fn_free(&fn);
    return fine;
}

static bool lower_module(struct lower *l)
{
    if (!module_declare(l) || !module_shared(l))
        return false;
    bool fine = true;
    for (u32 i = 0; i < l->program->function_count; i++)
        if (l->units[i].ast->has_body)
            fine &= lower_function(l, i);
    return fine && !l->error_count && layout_finish(l);
}

static void lower_free(struct lower *l)
{
    names_free(&l->globals.names);
    for (u32 i = 0; l->parts && i < l->module->part_count; i++) {
        names_free(&l->parts[i].own.names);
        names_free(&l->parts[i].linked);
    }
    names_free(&l->forms);
    vec_free(&l->constants);
    vec_free(&l->fixups);
    free(l->constant_table);
    vec_free(&l->locations);
    vec_free(&l->unsupported);
    vec_free(&l->warnings);
    vec_free(&l->insts);
    vec_free(&l->tables);
    vec_free(&l->blocks);
    arena_destroy(l->arena);
}

struct program *ptx_lower(const struct ptx_module *module, const struct ptx_params *params,
                          const struct ptx_target *target, struct error *error)
{
    struct arena *arena = arena_create();
    struct program *program = arena_new(arena, struct program);
    program->arena = arena;
    program->traits = (struct traits){
        .inst_bytes = 8,
        .even_pairs = true,
        .window_faults = true,
        .address_bits = module->address_size ? module->address_size : target->address_bits,
        .canonical_nan = true,
    };
    program->file = arena_strdup(arena, module->file);
    struct lower l = {.arena = arena_create(),
                      .module = module,
                      .params = params,
                      .target = target,
                      .error = error,
                      .program = program};
    index_forms(&l);
    *(u32 *)vec_push(&l.constants) = 0;
    *(u32 *)vec_push(&l.constants) = UINT32_MAX; /* P3 */
    vec_push(&l.locations);
    bool fine = lower_module(&l);
    lower_free(&l);
    if (fine)
        return program;
    program_destroy(program);
    return NULL;
}
