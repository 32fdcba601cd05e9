/* Last reads: see last_reads.h. */
#include "analysis/last_reads.h"

#include "analysis/liveness.h"

struct finder {
    struct arena *arena;
    struct last_reads *result;
    u64 *shared; /* registers that functions read of each other (E3) */
    bool calls;
    /* the function that is looked at */
    struct code code;
    bool is_kernel; /* the one that is to run */
    bool called;
};

static void put(u64 *set, u32 reg)
{
    set[reg / 64] |= 1ull << reg % 64;
}

static bool has(const u64 *set, u32 reg)
{
    return set[reg / 64] >> reg % 64 & 1;
}

/* What is live at a point: one of the two. */
struct live_point {
    const struct live_set *plain;
    const struct lane_live *lanes;
};

static bool is_live(const struct live_point *at, u32 reg)
{
    assert(at->lanes || at->plain);
    return at->lanes ? lane_live_vector(at->lanes, reg) : live_set_has(at->plain, reg);
}

static bool dies(const struct finder *f, const struct live_point *after, struct operand o)
{
    if (o.kind != OPERAND_VECTOR || !o.count)
        return false;
    for (u32 r = o.index; r - o.index < o.count; r++)
        if (is_live(after, r) || has(f->shared, r))
            return false;
    return true;
}

static bool is_call(const struct inst *inst)
{
    return inst->op == OP_call || inst->op == OP_calli;
}

/* `after`: what is live after an instruction. */
static void look_at(struct finder *f, u32 at, const struct live_point *after)
{
    const struct inst *inst = &f->code.insts[at];
    for (u32 r = 0; is_call(inst) && r < f->code.vectors; r++)
        if (is_live(after, r))
            put(f->shared, r);
    u8 dead = 0;
    for (u32 k = 0; k < ARRAY_LEN(inst->src); k++)
        dead |= (u8)(dies(f, after, inst->src[k]) << k);
    f->result->dead[f->code.base + at] = dead;
}

static void look_at_start(struct finder *f, const struct live_point *start)
{
    for (u32 r = 0; r < f->code.vectors; r++) {
        if (!is_live(start, r))
            continue;
        if (f->is_kernel)
            put(f->result->entry, r);
        if (f->called && f->calls)
            put(f->shared, r);
    }
}

static void walk_plain(struct finder *f, const struct cfg *cfg)
{
    const struct liveness *live = liveness_compute(f->arena, &f->code, cfg);
    struct live_set set = live_set_create(f->code.vectors + f->code.masks);
    const struct live_point at = {.plain = &set};
    for (u32 b = 0; b < cfg->count; b++) {
        live_set_at_end(&set, live, b);
        for (u32 i = cfg->blocks[b].end; i-- > cfg->blocks[b].first;) {
            struct refs refs;
            look_at(f, i, &at);
            inst_refs(&f->code, &f->code.insts[i], &refs);
            live_set_step(&set, &refs);
        }
    }
    live_set_at_start(&set, live, 0);
    look_at_start(f, &at);
    live_set_free(&set);
}

static void walk_lanes(struct finder *f, const struct cfg *cfg, bool open)
{
    const struct exec_flow *flow = exec_flow_compute(f->arena, &f->code, cfg, open);
    const struct lane_liveness *live = lane_liveness_compute(f->arena, &f->code, cfg, flow);
    for (u32 b = 0; b < cfg->count; b++) {
        struct lane_live now = live->out[b];
        const struct live_point at = {.lanes = &now};
        for (u32 i = cfg->blocks[b].end; i-- > cfg->blocks[b].first;) {
            look_at(f, i, &at);
            lane_live_step(live, i, &now);
        }
    }
    look_at_start(f, &(struct live_point){.lanes = &live->in[0]});
}

static void walk(struct finder *f, const struct program *program, const struct function *kernel)
{
    for (u32 i = 0; i < program->function_count; i++) {
        const struct function *function = &program->functions[i];
        if (function->first == function->end)
            continue;
        f->code = code_of(program, function);
        f->is_kernel = function == kernel;
        f->called = !function->is_kernel;
        const struct cfg *cfg = cfg_build(f->arena, &f->code);
        if (f->code.explicit_exec)
            walk_lanes(f, cfg, function->open);
        else
            walk_plain(f, cfg);
    }
}

struct last_reads *last_reads_of(struct arena *arena, const struct program *program,
                                 const struct function *kernel)
{
    struct last_reads *l = arena_new(arena, struct last_reads);
    struct finder f = {.arena = arena, .result = l};
    for (u32 i = 0; i < program->inst_count; i++)
        f.calls |= is_call(&program->insts[i]);
    for (u32 i = 0; i < program->function_count; i++) {
        const struct code code = code_of(program, &program->functions[i]);
        l->registers = MAX(l->registers, MAX(code.vectors, program->functions[i].registers));
    }
    l->dead = arena_array(arena, u8, program->inst_count + 1);
    l->entry = arena_array(arena, u64, l->registers / 64 + 1);
    f.shared = arena_array(arena, u64, l->registers / 64 + 1);
    walk(&f, program, kernel);
    if (f.calls) /* again, now that it is known what functions read of each other */
        walk(&f, program, kernel);
    return l;
}
