/* Longest paths from definitions to last reads, backward over the flow graph. See lifetimes.h. */
#include "analysis/lifetimes.h"
#include <stdlib.h>

/*
 * What is known at a point: for each vector register the longest way to the last read of the value
 * that it holds, counted from the instruction before that point. 0: dead; 1: only the next
 * instruction reads it.
 */
struct ways {
    u16 *active; /* in active lanes; without explicit EXEC, in any lane */
    u16 *others; /* in inactive lanes (L3) */
};

struct walk {
    const struct code *code;
    const struct cfg *cfg;
    const struct lane_liveness *lanes; /* NULL: no explicit EXEC */
    struct life_bounds *bounds;
    struct lifetimes *result;
    u32 registers;
    u32 *position; /* by block: its place in the order; unreachable blocks have none */
    u16 *in;       /* by block: `active` and `others` at its start */
    struct ways now;
};

static struct ways ways_at(const struct walk *w, u32 block)
{
    u16 *first = w->in + (size_t)block * 2 * w->registers;
    return (struct ways){first, first + w->registers};
}

static void read_from(u16 *ways, u32 first, u32 count, u32 end, u16 way)
{
    for (u32 r = first; r < end && r - first < count; r++)
        ways[r] = MAX(ways[r], way);
}

/* The value passes one more instruction. */
static void age(u16 *ways, u32 count)
{
    for (u32 r = 0; r < count; r++)
        ways[r] = (u16)(ways[r] + (ways[r] && ways[r] != LIFE_UNBOUNDED));
}

/* Applies N3 of lane_liveness.h. */
static void turn(struct walk *w, enum exec_change change)
{
    for (u32 r = 0; change != CHANGE_NONE && r < w->registers; r++) {
        const u16 both = MAX(w->now.active[r], w->now.others[r]);
        if (change != CHANGE_WINS)
            w->now.active[r] = both;
        if (change != CHANGE_LOSES)
            w->now.others[r] = both;
    }
}

/* ---- one instruction ---- */

/* Registers that a destination may write: with explicit EXEC perhaps all from its own on. */
static u32 written_end(const struct walk *w, struct operand o)
{
    const u32 end = o.index + o.count;
    return o.count ? MIN(end, w->registers) : w->registers;
}

/* Sets the lifetime of a value that a destination receives. */
static void define(struct walk *w, u32 at, u32 destination, u32 reg, bool any_lane)
{
    struct lifetimes *l = w->result;
    const u16 life = any_lane ? MAX(w->now.active[reg], w->now.others[reg]) : w->now.active[reg];
    l->life[at][destination] = MAX(l->life[at][destination], life);
    l->longest[reg] = MAX(l->longest[reg], life);
}

static void define_all(struct walk *w, u32 at)
{
    const struct inst *inst = &w->code->insts[at];
    const struct tuple *tuple = w->code->is_virtual && inst->spare && inst_loads_tuple(inst)
                                    ? &w->code->tuples[inst->spare]
                                    : NULL;
    struct operand list[INST_REFS];
    inst_writes(inst, list); /* opens ranges that are indexed at run time */
    for (u32 k = 0, n = 0; k < ARRAY_LEN(inst->dst); k++) {
        struct operand o = inst->dst[k];
        if (o.kind != OPERAND_NONE)
            o = list[n++];
        if (o.kind != OPERAND_VECTOR)
            continue;
        if (w->code->is_virtual) {
            for (u32 i = 0; tuple && i < tuple->count; i++)
                define(w, at, k, tuple->registers[i], false);
            if (!tuple)
                define(w, at, k, o.index, false);
            continue;
        }
        for (u32 r = o.index; r < written_end(w, o); r++)
            define(w, at, k, r, inst->op == OP_writelane);
    }
}

/* Backward over an instruction without explicit EXEC. */
static void pass_plain(struct walk *w, const struct inst *inst)
{
    struct refs refs;
    inst_refs(w->code, inst, &refs);
    for (u32 k = 0; refs.kills && k < refs.write_count; k++)
        if (refs.writes[k] < w->registers)
            w->now.active[refs.writes[k]] = 0;
    for (u32 k = 0; k < refs.read_count; k++)
        if (refs.reads[k] < w->registers)
            read_from(w->now.active, refs.reads[k], 1, w->registers, 1);
}

/* The same with explicit EXEC: N1, N2 and N4 of lane_liveness.h. */
static void pass_lanes(struct walk *w, u32 at)
{
    const struct inst *inst = &w->code->insts[at];
    const bool crosses = op_info[inst->op].flags & OPF_CROSS;
    const bool whole = inst->op != OP_writelane && inst->guard.kind == OPERAND_NONE;
    struct operand list[INST_REFS];
    u32 count = inst_writes(inst, list);
    for (u32 k = 0; whole && k < count; k++)
        for (u32 i = 0; list[k].kind == OPERAND_VECTOR && i < list[k].count; i++)
            if (list[k].index + i < w->registers)
                w->now.active[list[k].index + i] = 0;
    count = inst_reads(inst, list);
    for (u32 k = 0; k < count; k++) {
        if (list[k].kind != OPERAND_VECTOR)
            continue;
        const u32 words = list[k].count ? list[k].count : w->registers;
        read_from(w->now.active, list[k].index, words, w->registers, 1);
        if (crosses)
            read_from(w->now.others, list[k].index, words, w->registers, 1);
    }
    const struct exec_flow *flow = w->lanes->flow;
    for (u32 r = 0; flow && flow->initial[at] && r < w->registers; r++)
        if (!(w->lanes->crossed[r / 64] >> (r % 64) & 1))
            w->now.others[r] = 0;
}

/* Where the code continues is not known: everything may be read (L2). */
static bool leads_anywhere(const struct inst *inst)
{
    return inst->op == OP_jump || inst->op == OP_join ||
           (inst->op == OP_fork && inst->src[1].kind != OPERAND_NONE);
}

static void add_to(struct life_bounds *bounds, u8 *set, u32 reg)
{
    bounds->more |= !set[reg];
    set[reg] = 1;
}

/* What a call or a return lets other functions read (L4). */
static void pass_functions(struct walk *w, const struct inst *inst)
{
    struct life_bounds *b = w->bounds;
    const bool call = inst->op == OP_call || inst->op == OP_calli;
    const u32 known = MIN(w->registers, b ? b->registers : 0);
    for (u32 r = 0; call && r < w->registers; r++) {
        if (w->now.active[r] && r < known)
            add_to(b, b->after, r);
        if (w->now.active[r] || (r < known && b->before[r]))
            w->now.active[r] = LIFE_UNBOUNDED;
    }
    for (u32 r = 0; inst->op == OP_ret && b && b->called && r < known; r++)
        if (b->after[r])
            w->now.active[r] = LIFE_UNBOUNDED;
}

static void pass(struct walk *w, u32 at)
{
    const struct inst *inst = &w->code->insts[at];
    pass_functions(w, inst);
    if (w->lanes)
        turn(w, exec_change_of(inst));
    define_all(w, at);
    age(w->now.active, w->registers);
    if (w->lanes)
        age(w->now.others, w->registers);
    if (w->lanes)
        pass_lanes(w, at);
    else
        pass_plain(w, inst);
    if (!leads_anywhere(inst))
        return;
    read_from(w->now.active, 0, w->registers, w->registers, LIFE_UNBOUNDED);
    if (w->lanes)
        read_from(w->now.others, 0, w->registers, w->registers, LIFE_UNBOUNDED);
}

/* ---- the flow graph ---- */

static void join_ways(u16 *to, const u16 *from, u32 count, bool back)
{
    for (u32 r = 0; r < count; r++)
        to[r] = MAX(to[r], back && from[r] ? (u16)LIFE_UNBOUNDED : from[r]);
}

/* True: the ways at the start of a block have become longer. */
static bool update(struct walk *w, u32 b)
{
    const struct cfg_block *block = &w->cfg->blocks[b];
    const u32 n = w->registers;
    memset(w->now.active, 0, n * sizeof *w->now.active);
    memset(w->now.others, 0, n * sizeof *w->now.others);
    for (u32 k = 0; k < block->successor_count; k++) {
        const u32 next = block->successors[k];
        const bool back = w->position[next] <= w->position[b];
        join_ways(w->now.active, ways_at(w, next).active, n, back);
        join_ways(w->now.others, ways_at(w, next).others, n, back);
    }
    for (u32 i = block->end; i-- > block->first;)
        pass(w, i);
    struct ways in = ways_at(w, b);
    bool changed = false;
    for (u32 r = 0; r < n; r++) {
        changed |= w->now.active[r] > in.active[r] || w->now.others[r] > in.others[r];
        in.active[r] = MAX(in.active[r], w->now.active[r]);
        in.others[r] = MAX(in.others[r], w->now.others[r]);
    }
    return changed;
}

static void find_entry(struct walk *w)
{
    const struct ways start = ways_at(w, 0);
    struct lifetimes *l = w->result;
    for (u32 r = 0; r < w->registers; r++) {
        l->entry[r] = MAX(start.active[r], start.others[r]);
        l->longest[r] = MAX(l->longest[r], l->entry[r]);
        if (l->entry[r] && w->bounds && w->bounds->called && r < w->bounds->registers)
            add_to(w->bounds, w->bounds->before, r);
    }
}

struct lifetimes *lifetimes_compute(struct arena *arena, const struct code *code,
                                    const struct cfg *cfg, const struct lane_liveness *lanes,
                                    struct life_bounds *bounds)
{
    const u32 registers = code->vectors, room = MAX(registers, 1u);
    struct lifetimes *l = arena_new(arena, struct lifetimes);
    *l = (struct lifetimes){
        .life = (u16(*)[2])arena_array(arena, u16, 2 * (size_t)code->count),
        .entry = arena_array(arena, u16, room),
        .longest = arena_array(arena, u16, room),
        .registers = registers,
    };
    struct walk w = {
        .code = code,
        .cfg = cfg,
        .lanes = lanes,
        .bounds = bounds,
        .result = l,
        .registers = registers,
        .position = checked(malloc(cfg->count * sizeof(u32))),
        .in = checked(calloc((size_t)cfg->count * 2 * room, sizeof(u16))),
        .now = {checked(calloc(room, sizeof(u16))), checked(calloc(room, sizeof(u16)))},
    };
    memset(w.position, 0xff, cfg->count * sizeof(u32));
    for (u32 n = 0; n < cfg->order_count; n++)
        w.position[cfg->order[n]] = n;
    for (bool changed = true; changed;) {
        changed = false;
        for (u32 n = cfg->order_count; n-- > 0;)
            changed |= update(&w, cfg->order[n]);
        for (u32 b = cfg->count; b-- > 0;)
            if (w.position[b] == UINT32_MAX)
                changed |= update(&w, b);
    }
    find_entry(&w);
    free(w.position);
    free(w.in);
    free(w.now.active);
    free(w.now.others);
    return l;
}

/* ---- programs ---- */

static struct lifetimes *compute_function(struct arena *arena, const struct program *program,
                                          const struct function *f, struct life_bounds *bounds)
{
    const struct code code = code_of(program, f);
    const struct cfg *cfg = cfg_build(arena, &code);
    const struct lane_liveness *lanes = NULL;
    if (code.explicit_exec)
        lanes =
            lane_liveness_compute(arena, &code, cfg, exec_flow_compute(arena, &code, cfg, f->open));
    if (bounds)
        bounds->called = !f->is_kernel;
    return lifetimes_compute(arena, &code, cfg, lanes, bounds);
}

/* Adds what functions read of each other, until nothing is added. */
static void find_bounds(struct arena *arena, const struct program *program,
                        struct life_bounds *bounds)
{
    bool calls = false;
    for (u32 i = 0; i < program->inst_count; i++)
        calls |= program->insts[i].op == OP_call || program->insts[i].op == OP_calli;
    for (u32 f = 0; f < program->function_count; f++)
        bounds->registers = MAX(bounds->registers, program->functions[f].registers);
    bounds->before = arena_array(arena, u8, bounds->registers + 1);
    bounds->after = arena_array(arena, u8, bounds->registers + 1);
    for (bounds->more = calls; bounds->more;) {
        bounds->more = false;
        for (u32 f = 0; f < program->function_count; f++) {
            const struct function *function = &program->functions[f];
            struct arena *scratch = arena_create();
            if (function->first != function->end)
                compute_function(scratch, program, function, bounds);
            arena_destroy(scratch);
        }
    }
}

struct lifetimes *lifetimes_of(struct arena *arena, const struct program *program,
                               const struct function *function)
{
    struct life_bounds bounds = {0};
    assert(function->first != function->end);
    find_bounds(arena, program, &bounds);
    return compute_function(arena, program, function, &bounds);
}

/* ---- counts ---- */

bool lifetimes_is_mixed(const struct lifetimes *l, const struct code *code, u32 inst,
                        u32 destination, u32 limit)
{
    const struct operand o = code->insts[inst].dst[destination];
    const u32 end = o.index + (o.count ? o.count : 1);
    if (o.kind != OPERAND_VECTOR || l->life[inst][destination] > limit)
        return false;
    for (u32 r = o.index; r < MIN(end, l->registers); r++)
        if (l->longest[r] > limit)
            return true;
    return false;
}

void lifetimes_longest(const struct lifetimes *l, const struct code *code, u32 *longest, u32 count)
{
    for (u32 i = 0; i < code->count; i++)
        for (u32 k = 0; k < ARRAY_LEN(code->insts[i].dst); k++) {
            const struct operand o = code->insts[i].dst[k];
            const u32 end = o.kind == OPERAND_VECTOR ? o.index + (o.count ? o.count : 1) : 0;
            for (u32 r = o.index; r < MIN(end, count); r++)
                longest[r] = MAX(longest[r], 1u);
        }
    for (u32 r = 0; r < MIN(l->registers, count); r++)
        if (l->entry[r] || longest[r])
            longest[r] = MAX(longest[r], l->longest[r] + 1u);
}

struct life_counts lifetimes_count(const struct lifetimes *l, const struct code *code, u32 limit)
{
    struct life_counts counts = {0};
    u8 *used = checked(calloc(l->registers + 1, 1));
    for (u32 i = 0; i < code->count; i++)
        for (u32 k = 0; k < ARRAY_LEN(code->insts[i].dst); k++) {
            const struct operand o = code->insts[i].dst[k];
            if (o.kind != OPERAND_VECTOR)
                continue;
            counts.definitions++;
            counts.unread += !l->life[i][k];
            counts.short_lived += l->life[i][k] <= limit;
            counts.unbounded += l->life[i][k] == LIFE_UNBOUNDED;
            counts.mixed += lifetimes_is_mixed(l, code, i, k, limit);
            const u32 end = o.index + o.count;
            for (u32 r = o.index; r < MIN(end, l->registers); r++)
                used[r] = 1;
        }
    for (u32 r = 0; r < l->registers; r++) {
        used[r] |= l->entry[r] != 0;
        counts.registers += used[r];
        counts.short_registers += used[r] && l->longest[r] <= limit;
    }
    free(used);
    return counts;
}
