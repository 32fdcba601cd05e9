/* Values used on one side of branches: see sides.h. */
#include "analysis/sides.h"

#include "ir/special.h"
#include <stdlib.h>

/* Of each location, what its value may depend on; ordered. */
enum taint {
    TAINT_DATA,   /* anything */
    TAINT_THREAD, /* numbers of threads */
    TAINT_NONE,   /* constants, parameters, numbers of blocks */
};

/* A class for each location and block. */
#define SIDES_MAX (1u << 25)

struct sides_flow {
    const struct code *code;
    const struct cfg *cfg;
    u32 locations;
    u8 *in;     /* block b's location l: [b * locations + l], before the block */
    u8 *now;    /* by location */
    u8 *branch; /* by block: what its branch depends on; TAINT_NONE: nothing, or it has none */
    u8 *reached;
    u32 *stack;
    bool changed;
};

/* ---- instructions ---- */

static u8 taint_of_special(enum special special)
{
    switch (special) {
    case SPECIAL_tid_x:
    case SPECIAL_tid_y:
    case SPECIAL_tid_z:
    case SPECIAL_laneid:
    case SPECIAL_warpid:
    case SPECIAL_lanemask_eq:
    case SPECIAL_lanemask_le:
    case SPECIAL_lanemask_lt:
    case SPECIAL_lanemask_ge:
    case SPECIAL_lanemask_gt:
        return TAINT_THREAD;
    case SPECIAL_clock:
    case SPECIAL_clock_hi:
    case SPECIAL_clock64:
    case SPECIAL_globaltimer:
    case SPECIAL_globaltimer_lo:
    case SPECIAL_globaltimer_hi:
        return TAINT_DATA;
    default:
        return TAINT_NONE;
    }
}

static u8 taint_of_sources(const struct sides_flow *f, const struct inst *inst,
                           const struct refs *refs)
{
    u8 taint = TAINT_NONE;
    for (u32 i = 0; i < refs->read_count; i++)
        taint = MIN(taint, f->now[refs->reads[i]]);
    for (u32 k = 0; k < ARRAY_LEN(inst->src); k++)
        if (inst->src[k].kind == OPERAND_LANEID)
            taint = MIN(taint, (u8)TAINT_THREAD);
    return taint;
}

/* The best that an operation's result can be. Parameters and constant memory are known if the
 * address is the same in all threads. */
static u8 taint_of_op(const struct inst *inst, u8 sources)
{
    if (inst->op == OP_sreg)
        return taint_of_special((enum special)inst->imm);
    if (inst->op == OP_ld && (inst->space == SPACE_PARAM || inst->space == SPACE_CONST))
        return sources == TAINT_NONE ? TAINT_NONE : TAINT_DATA;
    return op_info[inst->op].flags & OPF_LANE ? TAINT_NONE : TAINT_DATA;
}

static void step(struct sides_flow *f, const struct inst *inst)
{
    struct refs refs;
    inst_refs(f->code, inst, &refs);
    const u8 sources = taint_of_sources(f, inst, &refs);
    const u8 taint = MIN(sources, taint_of_op(inst, sources));
    for (u32 i = 0; i < refs.write_count; i++) /* a write that keeps lanes also reads (C3) */
        f->now[refs.writes[i]] = taint;
}

/* ---- branches ---- */

void sides_walk(const struct cfg *cfg, u32 branch, u32 side, u8 *reached, u32 *stack)
{
    const u32 meeting = cfg->blocks[branch].ipdom, first = cfg->blocks[branch].successors[side];
    u32 depth = 0;
    if (first == meeting || reached[first])
        return;
    reached[first] = 1;
    stack[depth++] = first;
    while (depth) {
        const struct cfg_block *block = &cfg->blocks[stack[--depth]];
        for (u32 s = 0; s < block->successor_count; s++) {
            const u32 to = block->successors[s];
            if (to == meeting || reached[to])
                continue;
            reached[to] = 1;
            stack[depth++] = to;
        }
    }
}

/* Marks the blocks between a branch and the place where its sides meet. False: there is none, or
 * one of them leads back to the branch (S2). */
static bool walk_sides(struct sides_flow *f, u32 branch)
{
    memset(f->reached, 0, f->cfg->count);
    if (f->cfg->blocks[branch].ipdom == NO_BLOCK)
        return false;
    for (u32 s = 0; s < f->cfg->blocks[branch].successor_count; s++)
        sides_walk(f->cfg, branch, s, f->reached, f->stack);
    return !f->reached[branch];
}

static void lower(struct sides_flow *f, u32 block, u32 location, u8 taint)
{
    u8 *in = &f->in[(size_t)block * f->locations + location];
    f->changed |= taint < *in;
    *in = MIN(*in, taint);
}

/* S3, also for loops: what a loop writes depends on how often threads iterate. */
static void meet(struct sides_flow *f, u32 branch, u8 taint)
{
    const u32 at = f->cfg->blocks[branch].ipdom;
    struct refs refs;
    walk_sides(f, branch);
    if (at == NO_BLOCK)
        return;
    for (u32 b = 0; b < f->cfg->count; b++) {
        const struct cfg_block *block = &f->cfg->blocks[b];
        for (u32 i = block->first; f->reached[b] && i < block->end; i++) {
            inst_refs(f->code, &f->code->insts[i], &refs);
            for (u32 w = 0; w < refs.write_count; w++)
                lower(f, at, refs.writes[w], taint);
        }
    }
}

static void run_block(struct sides_flow *f, u32 b)
{
    const struct cfg_block *block = &f->cfg->blocks[b];
    u8 taint = TAINT_NONE;
    memcpy(f->now, f->in + (size_t)b * f->locations, f->locations);
    for (u32 i = block->first; i < block->end; i++) {
        const struct inst *inst = &f->code->insts[i];
        if (op_info[inst->op].flags & OPF_BRANCH) {
            struct refs refs;
            inst_refs(f->code, inst, &refs);
            taint = taint_of_sources(f, inst, &refs);
        }
        step(f, inst);
    }
    for (u32 s = 0; s < block->successor_count; s++)
        for (u32 l = 0; l < f->locations; l++)
            lower(f, block->successors[s], l, f->now[l]);
    if (block->successor_count > 1 && taint < f->branch[b]) {
        f->branch[b] = taint;
        meet(f, b, taint);
    }
}

/* ---- results ---- */

/* Whether the instruction's guard splits its warp. */
static bool guard_splits(const struct sides_flow *f, const struct inst *inst)
{
    return inst->guard.kind == OPERAND_MASK &&
           f->now[f->code->vectors + inst->guard.index] == TAINT_THREAD;
}

static void mark_insts(struct sides_flow *f, struct sides *sides)
{
    for (u32 b = 0; b < f->cfg->count; b++) {
        const bool splits = f->branch[b] == TAINT_THREAD && walk_sides(f, b);
        if (splits)
            sides->branches[sides->branch_count++] = b;
        for (u32 to = 0; splits && to < f->cfg->count; to++)
            for (u32 i = f->cfg->blocks[to].first; f->reached[to] && i < f->cfg->blocks[to].end;
                 i++)
                sides->inst[i] = 1;
        memcpy(f->now, f->in + (size_t)b * f->locations, f->locations);
        for (u32 i = f->cfg->blocks[b].first; i < f->cfg->blocks[b].end; i++) {
            const struct inst *inst = &f->code->insts[i];
            sides->inst[i] |= guard_splits(f, inst) && !(op_info[inst->op].flags & OPF_BRANCH);
            step(f, inst);
        }
    }
}

static void mark_locations(const struct sides_flow *f, struct sides *sides)
{
    u8 *elsewhere = checked(calloc(f->locations + 1, 1));
    struct refs refs;
    for (u32 i = 0; i < f->code->count; i++) {
        inst_refs(f->code, &f->code->insts[i], &refs);
        u8 *const into = sides->inst[i] ? sides->location : elsewhere;
        for (u32 k = 0; k < refs.read_count; k++)
            if (refs.reads[k] < f->code->vectors)
                into[refs.reads[k]] = 1;
        for (u32 k = 0; k < refs.write_count; k++)
            if (refs.writes[k] < f->code->vectors)
                into[refs.writes[k]] = 1;
    }
    for (u32 l = 0; l < f->code->vectors; l++)
        sides->location[l] &= !elsewhere[l];
    free(elsewhere);
}

static bool can_analyse(const struct code *code, const struct cfg *cfg)
{
    if (code->explicit_exec || (u64)(code->vectors + code->masks) * cfg->count > SIDES_MAX)
        return false;
    for (u32 i = 0; i < code->count; i++)
        if (code->insts[i].op == OP_brx || code->insts[i].op == OP_calli)
            return false;
    return true;
}

struct sides *sides_find(struct arena *arena, const struct code *code, const struct cfg *cfg)
{
    if (!can_analyse(code, cfg))
        return NULL;
    const u32 locations = code->vectors + code->masks;
    struct sides_flow f = {.code = code,
                           .cfg = cfg,
                           .locations = locations,
                           .in = arena_array(arena, u8, (size_t)locations * cfg->count + 1),
                           .now = arena_array(arena, u8, locations + 1),
                           .branch = arena_array(arena, u8, cfg->count + 1),
                           .reached = arena_array(arena, u8, cfg->count + 1),
                           .stack = arena_array(arena, u32, cfg->count + 1)};
    struct sides *sides = arena_new(arena, struct sides);
    sides->inst = arena_array(arena, u8, code->count + 1);
    sides->location = arena_array(arena, u8, code->vectors + 1);
    sides->branches = arena_array(arena, u32, cfg->count + 1);
    memset(f.in, TAINT_NONE, (size_t)locations * cfg->count);
    memset(f.branch, TAINT_NONE, cfg->count);
    do {
        f.changed = false;
        for (u32 n = 0; n < cfg->order_count; n++)
            run_block(&f, cfg->order[n]);
    } while (f.changed);
    mark_insts(&f, sides);
    mark_locations(&f, sides);
    return sides;
}
