/*
 * Branches at which diverged warps may be compacted. The region of a branch is the code between it
 * and its immediate post-dominator. Its threads are executed by other warps, and one side before the
 * other. That must make no difference to them, so warps do not wait at a branch whose region
 *  - synchronises (barriers, fences, sleeps) or reads other lanes of its warp (votes, shuffles),
 *  - makes system calls, whose output has an order, or calls functions that are not known,
 *  - has a loop with volatile loads, or atomics whose result is used: its threads may wait for data
 *    of others, which are on the other side.
 * Calls of known functions count as what these contain.
 */
#include "mech/compaction.h"

/* What a run of instructions contains. */
struct contents {
    bool order; /* something that forbids compaction */
    bool polls; /* something that does so in loops */
    bool loops;
};

struct region_search {
    const struct compaction_params *params;
    const struct program *program;
    const struct function *function;
    const struct cfg *cfg;
    struct contents *functions; /* by function */
    u32 *position;              /* by block: in reverse post-order; unreachable ones: 0 */
    u8 *found;                  /* by block: in the region */
    u32 *stack;
};

static bool is_polled(const struct inst *inst)
{
    const u16 flags = op_info[inst->op].flags;
    if (flags & OPF_ATOMIC)
        return inst->dst[0].kind != OPERAND_NONE;
    return flags & OPF_LOAD && inst->mods & MOD_VOLATILE;
}

static void add_inst(const struct region_search *s, const struct inst *inst,
                     struct contents *contents)
{
    const u16 flags = op_info[inst->op].flags;
    const struct program *program = s->program;
    contents->polls |= is_polled(inst);
    contents->order |= (flags & (OPF_CROSS | OPF_BARRIER | OPF_SCALAR)) || inst->op == OP_fence ||
                       inst->op == OP_syscall || inst->op == OP_nanosleep || inst->op == OP_calli ||
                       inst->op == OP_brx || inst->op == OP_unsupported ||
                       (!s->params->shared && inst->space == SPACE_SHARED);
    if (inst->op != OP_call)
        return;
    const struct function *callee = program_function_at(program, (u32)inst->imm);
    if (!callee) {
        contents->order = true;
        return;
    }
    const struct contents *inside = &s->functions[callee - program->functions];
    contents->order |= inside->order;
    contents->polls |= inside->polls;
    contents->loops |= inside->loops;
}

static void add_block(const struct region_search *s, u32 block, struct contents *contents)
{
    const struct cfg_block *b = &s->cfg->blocks[block];
    for (u32 i = b->first; i < b->end; i++)
        add_inst(s, &s->program->insts[s->function->first + i], contents);
}

/* Puts the successors of a block on the stack; returns its new height. */
static u32 follow(struct region_search *s, u32 block, u32 end, u32 height,
                  struct contents *contents)
{
    const struct cfg_block *b = &s->cfg->blocks[block];
    for (u32 i = 0; i < b->successor_count; i++) {
        const u32 next = b->successors[i];
        if (next == end)
            continue;
        contents->loops |= s->position[next] <= s->position[block];
        if (!s->found[next])
            s->stack[height++] = next;
        s->found[next] = true;
    }
    return height;
}

/* Whether warps may wait at the branch that ends a block. */
static bool is_free(struct region_search *s, u32 block)
{
    struct contents contents = {0};
    const u32 end = s->cfg->blocks[block].ipdom;
    memset(s->found, 0, s->cfg->count);
    u32 height = follow(s, block, end, 0, &contents);
    while (height && !contents.order) {
        const u32 next = s->stack[--height];
        add_block(s, next, &contents);
        height = follow(s, next, end, height, &contents);
    }
    return !contents.order && !(contents.polls && contents.loops);
}

static bool is_conditional(const struct inst *inst)
{
    return inst->op == OP_bra && inst->guard.kind == OPERAND_MASK;
}

static void find_in_function(struct region_search *s, struct compaction_branch *branches,
                             u64 *count, u64 *refused)
{
    const u32 base = s->function->first;
    for (u32 i = 0; i < s->cfg->count; i++) {
        const struct cfg_block *b = &s->cfg->blocks[i];
        const struct inst *inst = &s->program->insts[base + b->end - 1];
        if (!is_conditional(inst))
            continue;
        struct compaction_branch *branch = &branches[base + b->end - 1];
        branch->waits = is_free(s, i);
        branch->target = (u32)inst->imm;
        branch->reconverge = b->ipdom == NO_BLOCK ? NO_INST : base + s->cfg->blocks[b->ipdom].first;
        *count += 1;
        *refused += !branch->waits;
    }
}

/* What functions contain, including those that they call; calls may be recursive. */
static void find_contents(struct region_search *s)
{
    const struct program *program = s->program;
    bool changed = true;
    while (changed) {
        changed = false;
        for (u32 f = 0; f < program->function_count; f++) {
            const struct function *function = &program->functions[f];
            struct contents now = s->functions[f];
            now.loops = true; /* not worth a closer look */
            for (u32 i = function->first; i < function->end; i++)
                add_inst(s, &program->insts[i], &now);
            changed |= memcmp(&now, &s->functions[f], sizeof now) != 0;
            s->functions[f] = now;
        }
    }
}

struct compaction_branch *compaction_regions(struct arena *arena,
                                             const struct compaction_params *params,
                                             const struct exec *exec, u64 *branches, u64 *refused)
{
    const struct program *program = exec->image->program;
    struct region_search s = {.params = params, .program = program};
    struct compaction_branch *found =
        arena_array(arena, struct compaction_branch, MAX(program->inst_count, 1u));
    if (program->traits.explicit_exec) {
        compaction_lane_regions(arena, params, program, found, branches, refused);
        return found;
    }
    for (u32 i = 0; i < program->inst_count; i++)
        if (program->insts[i].op == OP_fence) /* it waits for stores of its own slot */
            return NULL;
    s.functions = arena_array(arena, struct contents, program->function_count);
    find_contents(&s);
    for (u32 f = 0; f < program->function_count; f++) {
        s.function = &program->functions[f];
        const struct code code = code_of(program, s.function);
        if (!code.count)
            continue;
        s.cfg = cfg_build(arena, &code);
        s.found = arena_array(arena, u8, s.cfg->count);
        s.stack = arena_array(arena, u32, s.cfg->count);
        s.position = arena_array(arena, u32, s.cfg->count);
        for (u32 i = 0; i < s.cfg->order_count; i++)
            s.position[s.cfg->order[i]] = i;
        find_in_function(&s, found, branches, refused);
    }
    return found;
}
