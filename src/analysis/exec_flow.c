/* Forward analysis of EXEC and its saved copies. See exec_flow.h. */
#include "analysis/exec_flow.h"
#include "ir/scalars.h"
#include <stdlib.h>

/* What a pair of scalars holds. A higher value is less precise; the meet of two is the higher
 * one. */
enum pair_holds {
    HOLDS_NEW, /* not reached yet */
    HOLDS_INITIAL,
    HOLDS_SUBSET,
    HOLDS_ANY
};

enum {
    PAIRS = SCALAR_COUNT / 2
};

struct flow_state {
    u8 pair[PAIRS];
};

static enum pair_holds value_of(const struct code *code, const struct flow_state *s,
                                struct operand o)
{
    if (o.kind == OPERAND_CONST) {
        const u32 *words = code->constants + o.index;
        return o.count == 2 && !(words[0] | words[1]) ? HOLDS_SUBSET : HOLDS_ANY;
    }
    u32 pair = o.kind == OPERAND_MASK ? o.index : o.index / 2;
    bool whole = o.kind == OPERAND_MASK || (o.count == 2 && o.index % 2 == 0);
    return whole && pair < PAIRS ? s->pair[pair] : HOLDS_ANY;
}

static bool within(enum pair_holds value)
{
    return value <= HOLDS_SUBSET;
}

static enum pair_holds either(enum pair_holds a, enum pair_holds b)
{
    if (!within(a) || !within(b))
        return HOLDS_ANY;
    return MIN(a, b);
}

static enum pair_holds both(enum pair_holds a, enum pair_holds b)
{
    if (a == HOLDS_INITIAL && b == HOLDS_INITIAL)
        return HOLDS_INITIAL;
    return within(a) || within(b) ? HOLDS_SUBSET : HOLDS_ANY;
}

/* The value of dst[0] of a scalar op on pairs, or of EXEC after a saveexec. */
static enum pair_holds result_of(const struct code *code, const struct inst *inst,
                                 const struct flow_state *s)
{
    enum pair_holds a = value_of(code, s, inst->src[0]), b = value_of(code, s, inst->src[1]);
    switch (inst->op) {
    case OP_smov_b64:
        return a;
    case OP_sselect_b64:
        return MAX(a, b);
    case OP_sand_b64:
    case OP_sand_saveexec:
        return both(a, b);
    case OP_sor_b64:
    case OP_sor_saveexec:
        return either(a, b);
    case OP_sxor_b64:
    case OP_sxor_saveexec:
        return within(a) && within(b) ? HOLDS_SUBSET : HOLDS_ANY;
    case OP_sandn2_b64:
    case OP_sandn2_saveexec:
        return within(a) ? HOLDS_SUBSET : HOLDS_ANY;
    default:
        return HOLDS_ANY;
    }
}

static void forget(struct flow_state *s, struct operand o)
{
    u32 first = o.kind == OPERAND_MASK ? o.index : o.index / 2;
    u32 last = o.kind == OPERAND_MASK ? o.index : o.count ? (o.index + o.count - 1) / 2 : PAIRS - 1;
    for (u32 k = first; k <= last && k < PAIRS; k++)
        s->pair[k] = HOLDS_ANY;
}

static void step(const struct code *code, struct flow_state *s, const struct inst *inst)
{
    struct operand list[INST_REFS];
    enum pair_holds exec = s->pair[MASK_EXEC], result = HOLDS_ANY;
    bool scalar = op_info[inst->op].flags & OPF_SCALAR;
    bool lanes = op_info[inst->op].flags & OPF_LANE;
    bool saves = scalar && inst->mods & MOD_EXEC;
    if (scalar)
        result = result_of(code, inst, s);
    else if (lanes && within(exec))
        result = HOLDS_SUBSET; /* a mask destination: inactive lanes get 0 */
    u32 count = inst_writes(inst, list);
    for (u32 k = 0; k < count; k++)
        if (list[k].kind == OPERAND_SCALAR || list[k].kind == OPERAND_MASK)
            forget(s, list[k]);
    if (scalar && inst->dst[0].kind == OPERAND_SCALAR && inst->dst[0].count == 2 &&
        inst->dst[0].index % 2 == 0)
        s->pair[inst->dst[0].index / 2] = saves ? exec : result;
    for (u32 k = 0; lanes && k < ARRAY_LEN(inst->dst); k++)
        if (inst->dst[k].kind == OPERAND_MASK && inst->dst[k].index < PAIRS)
            s->pair[inst->dst[k].index] = result;
    if (inst->mods & MOD_EXEC)
        s->pair[MASK_EXEC] = result;
}

static bool meet(struct flow_state *to, const struct flow_state *from)
{
    bool changed = false;
    for (u32 k = 0; k < PAIRS; k++) {
        u8 now = MAX(to->pair[k], from->pair[k]);
        changed |= now != to->pair[k];
        to->pair[k] = now;
    }
    return changed;
}

/* States at the start of each block, to the fixed point. */
static struct flow_state *solve(const struct code *code, const struct cfg *cfg)
{
    struct flow_state *in = checked(calloc(cfg->count, sizeof *in));
    for (u32 k = 0; k < PAIRS; k++)
        in[0].pair[k] = k == MASK_EXEC ? HOLDS_INITIAL : HOLDS_ANY;
    for (bool changed = true; changed;) {
        changed = false;
        for (u32 n = 0; n < cfg->order_count; n++) {
            const struct cfg_block *block = &cfg->blocks[cfg->order[n]];
            struct flow_state s = in[cfg->order[n]];
            for (u32 i = block->first; i < block->end; i++)
                step(code, &s, &code->insts[i]);
            for (u32 k = 0; k < block->successor_count; k++)
                changed |= meet(&in[block->successors[k]], &s);
        }
    }
    return in;
}

struct exec_flow *exec_flow_compute(struct arena *arena, const struct code *code,
                                    const struct cfg *cfg, bool open)
{
    if (!code->explicit_exec || open)
        return NULL;
    struct exec_flow *flow = arena_new(arena, struct exec_flow);
    flow->initial = arena_array(arena, u8, code->count + 1);
    struct flow_state *in = solve(code, cfg);
    bool beyond = false;
    for (u32 n = 0; n < cfg->order_count; n++) {
        const struct cfg_block *block = &cfg->blocks[cfg->order[n]];
        struct flow_state s = in[cfg->order[n]];
        for (u32 i = block->first; i < block->end; i++) {
            flow->initial[i] = s.pair[MASK_EXEC] == HOLDS_INITIAL;
            step(code, &s, &code->insts[i]);
            beyond |= !within(s.pair[MASK_EXEC]);
        }
    }
    free(in);
    return beyond ? NULL : flow;
}
