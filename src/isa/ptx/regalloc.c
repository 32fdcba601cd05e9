/*
 * Register allocation: virtual registers -> 32-bit registers, predicates -> mask registers.
 *
 * Webs, interference by lane-wise liveness (why divergence needs nothing more: regalloc_graph.c),
 * aligned pairs and tuples as groups, optimistic colouring from the largest number of live words
 * upward, spills to the frame beyond the limit. Order of instructions is never changed.
 *
 *  A1  A value and everything live while it is defined are in different registers.
 *  A2  64-bit values are in even-aligned pairs; a vector of n words starts at a multiple of n (of
 *      the next power of two).
 *  A3  With ptx.life_limit, short-lived and long-lived values have separate registers, if these fit
 *      the limit together; otherwise they share registers as usual. With ptx.sides, this holds for
 *      values that are used only on sides of branches and for others.
 *  A4  A register that is read but never written is zero: it becomes the constant, or is live from
 *      the entry, where a kernel finds zeros and a function writes them.
 *
 * When not even spilling everything meets the limit (a single instruction needs more) the limit is
 * exceeded and a warning says so.
 */
#include "isa/ptx/regalloc.h"
#include <stdlib.h>

#define ROUNDS 24

/* Sources that are never written become the constant zero. */
static void constant_zeros(struct fn *fn)
{
    struct code code = fn_code(fn);
    u8 *written = calloc(code.vectors + code.masks + 1, 1);
    written[0] = 1;
    for (u32 i = 0; i < code.count; i++) {
        struct refs refs;
        inst_refs(&code, &code.insts[i], &refs);
        for (u32 k = 0; k < refs.write_count; k++)
            written[refs.writes[k]] = 1;
    }
    for (u32 i = 0; i < code.count; i++) {
        struct inst *inst = &code.insts[i];
        bool stores = (inst->op == OP_st && !inst->spare) || inst->op == OP_atom;
        if (!(op_info[inst->op].flags & OPF_LANE) && !stores)
            continue;
        for (unsigned k = stores; k < ARRAY_LEN(inst->src); k++) {
            struct operand *o = &inst->src[k];
            if (o->kind == OPERAND_VECTOR && !written[o->index])
                *o = const_words(fn->l, 0, o->count);
            else if (o->kind == OPERAND_MASK && !written[code.vectors + o->index])
                *o = operand_make(OPERAND_CONST, o->neg, 1);
        }
    }
    free(written);
}

static void mark_entry(struct fn *fn, const struct code *code, const struct liveness *live)
{
    struct live_set set = live_set_create(code->vectors + code->masks);
    live_set_at_start(&set, live, 0);
    for (u32 i = 0; i < set.count; i++)
        if (set.items[i] < code->vectors)
            fn->vregs.data[set.items[i]].at_entry = true;
    live_set_free(&set);
}

/* A function's registers are undefined at its entry: those that may be read before a write are
 * cleared. */
static void clear_at_entry(struct fn *fn)
{
    struct arena *arena = arena_create();
    struct code code = fn_code(fn);
    struct cfg *cfg = cfg_build(arena, &code);
    struct liveness *live = liveness_compute(arena, &code, cfg);
    mark_entry(fn, &code, live);
    if (!fn->out->is_kernel) {
        struct live_set set = live_set_create(code.vectors + code.masks);
        struct rewrite r = rewrite_begin(fn);
        live_set_at_start(&set, live, 0);
        for (u32 i = 0; i < set.count; i++) {
            u32 location = set.items[i];
            struct inst inst = {.vector = 1};
            if (!location)
                continue;
            if (location >= code.vectors) {
                inst.op = OP_mov_mask;
                inst.dst[0] = operand_make(OPERAND_MASK, location - code.vectors, 1);
                inst.src[0] = operand_make(OPERAND_CONST, 0, 1);
            } else {
                inst.dst[0] = vreg_operand(fn, location);
                inst.op = inst.dst[0].count == 2 ? OP_mov_b64 : OP_mov_b32;
                inst.src[0] = const_words(fn->l, 0, inst.dst[0].count);
                fn->vregs.data[location].at_entry = false;
            }
            rewrite_add(&r, &inst);
        }
        for (u32 i = 0; i < r.count; i++) {
            rewrite_mark(&r, i);
            rewrite_add(&r, &fn->insts.data[i]);
        }
        rewrite_end(&r);
        live_set_free(&set);
    }
    arena_destroy(arena);
}

static void place_operand(const struct graph *g, struct inst *inst, struct operand *o)
{
    const struct fn *fn = g->fn;
    if (o->kind == OPERAND_MASK) {
        o->index = g->nodes[g->code.vectors + o->index].color;
    } else if (o->kind == OPERAND_VECTOR) {
        u32 id = o->index;
        if (inst->spare && o == inst_tuple_operand(inst))
            id = fn->tuples.data[inst->spare].registers[0];
        o->index = id ? g->nodes[id].color : 0;
    }
}

static void apply(const struct graph *g)
{
    struct fn *fn = g->fn;
    for (u32 i = 0; i < fn->insts.count; i++) {
        struct inst *inst = &fn->insts.data[i];
        for (unsigned k = 0; k < ARRAY_LEN(inst->src); k++)
            place_operand(g, inst, &inst->src[k]);
        for (unsigned k = 0; k < ARRAY_LEN(inst->dst); k++)
            place_operand(g, inst, &inst->dst[k]);
        place_operand(g, inst, &inst->guard);
        inst->spare = 0;
    }
}

/* Removes copies of a register to itself, whose two sides were given the same register. */
static void remove_self_copies(struct fn *fn)
{
    struct rewrite r = rewrite_begin(fn);
    for (u32 i = 0; i < r.count; i++) {
        const struct inst *inst = &fn->insts.data[i];
        rewrite_mark(&r, i);
        bool copy = inst->op == OP_mov_b32 || inst->op == OP_mov_b64 || inst->op == OP_mov_mask;
        if (copy && inst->src[0].kind == inst->dst[0].kind && !inst->src[0].neg &&
            inst->src[0].index == inst->dst[0].index)
            continue;
        rewrite_add(&r, inst);
    }
    rewrite_end(&r);
}

#define FEWEST_REGISTERS 16u /* code with fewer would mostly spill */

/* Threads in a block; 0 if its size is not given. No core holds more than 65,536. */
static u64 threads_of(const u32 block[3])
{
    u64 threads = 1;
    for (unsigned k = 0; k < 3; k++)
        threads = MIN(threads * MAX(block[k], 1u), 65536u);
    return block[0] ? threads : 0;
}

/* Registers of a thread with which a core holds .minnctapersm blocks, or one, of the size that the
 * kernel states, as ptxas has it; UINT32_MAX if it states none. */
static u32 block_limit(const struct ptx_function *ast, const struct ptx_target *target)
{
    const u64 required = threads_of(ast->required_threads);
    const u64 threads = required ? required : threads_of(ast->max_threads);
    if (!threads || !target->registers)
        return UINT32_MAX;
    const u64 warps =
        (threads + target->warp_size - 1) / target->warp_size * MAX(ast->min_blocks, 1u);
    const u64 a_warp = target->registers / warps;
    return (u32)((a_warp - a_warp % target->register_unit) / target->warp_size);
}

static u32 register_limit(const struct fn *fn)
{
    u32 limit = block_limit(fn->ast, fn->l->target);
    if (fn->ast->max_registers)
        limit = MIN(limit, fn->ast->max_registers);
    return MIN(MAX(limit, FEWEST_REGISTERS), fn->l->params->max_registers);
}

/* One attempt; false if code was added (copies, spills) and it must be repeated, or, with `fatal`,
 * if repeating is useless. */
static bool attempt(struct fn *fn, u32 limit, bool may_spill, bool *fatal)
{
    struct arena *arena = arena_create();
    struct graph g;
    u32 registers = 0, masks = 0;
    bool done = false;
    graph_build(&g, arena, fn);
    if (g.too_large) {
        *fatal = true;
    } else if (graph_group(&g)) {
        u8 *spill = arena_array(arena, u8, g.node_count + 1);
        const u32 life_limit = fn->l->params->life_limit;
        const bool kinds = life_limit || fn->l->params->sides;
        bool fits = (kinds && graph_color_kinds(&g, limit, life_limit, &registers)) ||
                    graph_color(&g, false, limit, &registers, may_spill ? spill : NULL);
        done = fits && graph_color(&g, true, UINT32_MAX, &masks, NULL);
        *fatal = !done && (fits || !may_spill);
        if (done) {
            fn->out->registers = registers;
            fn->out->masks = masks;
            fn->out->max_live = g.max_live;
            apply(&g);
        } else if (!fits && may_spill) {
            spill_webs(fn, spill);
        }
    }
    arena_destroy(arena);
    return done;
}

bool allocate_registers(struct fn *fn)
{
    constant_zeros(fn);
    save_across_calls(fn);
    clear_at_entry(fn);
    split_webs(fn);
    u32 limit = register_limit(fn);
    bool done = false, fatal = !spill_ahead(fn, limit);
    for (u32 round = 0; round < ROUNDS && !done && !fatal; round++)
        done = attempt(fn, limit, true, &fatal);
    if (!done && !fatal) {
        *(const char **)vec_push(&fn->l->warnings) = arena_printf(
            fn->l->program->arena, "%s: more than %u registers are needed", fn->ast->name, limit);
        while (!done && !fatal)
            done = attempt(fn, UINT32_MAX, false, &fatal);
    }
    if (!done)
        return lower_error(fn->l, fn->ast->place, "'%s' has too many live values", fn->ast->name);
    if (fn->l->params->optimize)
        remove_self_copies(fn);
    return true;
}
