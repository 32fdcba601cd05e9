/* Backward liveness with explicit EXEC. See lane_liveness.h. */
#include "analysis/lane_liveness.h"

static bool is_exec(struct operand o)
{
    return o.kind == OPERAND_SCALAR && o.index == SCALAR_EXEC && o.count == 2;
}

enum exec_change exec_change_of(const struct inst *inst)
{
    bool first = is_exec(inst->src[0]), either = first || is_exec(inst->src[1]);
    if (!inst_writes_exec(inst))
        return CHANGE_NONE;
    if (!(op_info[inst->op].flags & OPF_SCALAR)) /* a mask of active lanes */
        return CHANGE_LOSES;
    switch (inst->op) {
    case OP_sand_saveexec:
        return CHANGE_LOSES;
    case OP_sor_saveexec:
        return CHANGE_WINS;
    case OP_sand_b64:
        return either ? CHANGE_LOSES : CHANGE_ANY;
    case OP_sandn2_b64:
        return first ? CHANGE_LOSES : CHANGE_ANY;
    case OP_sor_b64:
        return either ? CHANGE_WINS : CHANGE_ANY;
    default:
        return CHANGE_ANY;
    }
}

/* Applies N3, backward over a change of EXEC. */
static void turn(struct lane_live *live, enum exec_change change)
{
    for (u32 w = 0; change != CHANGE_NONE && w < LANE_VECTOR_WORDS; w++) {
        u64 both = live->active[w] | live->others[w];
        if (change != CHANGE_WINS) /* a lane active before may be inactive after */
            live->active[w] = both;
        if (change != CHANGE_LOSES) /* a lane inactive before may be active after */
            live->others[w] = both;
    }
}

static void set_bits(u64 *set, u32 first, u32 count, u32 end)
{
    for (u32 i = first; i < first + count && i < end; i++)
        set[i / 64] |= 1ull << (i % 64);
}

static void clear_bits(u64 *set, u32 first, u32 count, u32 end)
{
    for (u32 i = first; i < first + count && i < end; i++)
        set[i / 64] &= ~(1ull << (i % 64));
}

static bool is_tracked(u32 scalar)
{
    return scalar < SCALAR_EXEC || scalar == SCALAR_SCC;
}

/* The scalars of an operand; false when it has none. */
static bool scalars_of(struct operand o, u32 *first, u32 *count)
{
    if (o.kind == OPERAND_MASK) {
        *first = 2 * o.index;
        *count = 2;
    } else if (o.kind == OPERAND_SCALAR) {
        *first = o.index == SCALAR_VCCZ ? SCALAR_VCC : o.index;
        *count = o.index == SCALAR_VCCZ ? 2 : o.count ? o.count : SCALAR_COUNT;
    } else {
        return false;
    }
    return is_tracked(*first);
}

static void write(struct lane_live *live, const struct inst *inst)
{
    struct operand list[INST_REFS];
    bool whole = inst->op != OP_writelane && inst->guard.kind == OPERAND_NONE;
    u32 count = inst_writes(inst, list), first, words;
    for (u32 k = 0; k < count; k++) {
        bool by_number = list[k].kind != OPERAND_MASK && !list[k].count;
        if (list[k].kind == OPERAND_VECTOR && whole && !by_number)
            clear_bits(live->active, list[k].index, list[k].count, LANE_VECTORS);
        else if (!by_number && scalars_of(list[k], &first, &words))
            clear_bits(live->scalars, first, words, SCALAR_COUNT);
    }
}

static void read_all(const struct code *code, struct lane_live *live)
{
    set_bits(live->active, 0, code->vectors, LANE_VECTORS);
    set_bits(live->others, 0, code->vectors, LANE_VECTORS);
    set_bits(live->scalars, 0, SCALAR_GENERAL_END, SCALAR_COUNT);
    set_bits(live->scalars, SCALAR_VCC, 2, SCALAR_COUNT);
    set_bits(live->scalars, SCALAR_M0, 1, SCALAR_COUNT);
    set_bits(live->scalars, SCALAR_SCC, 1, SCALAR_COUNT);
}

static void read(const struct code *code, struct lane_live *live, const struct inst *inst)
{
    struct operand list[INST_REFS];
    bool crosses = op_info[inst->op].flags & OPF_CROSS;
    u32 count = inst_reads(inst, list), first, words;
    for (u32 k = 0; k < count; k++) {
        if (list[k].kind == OPERAND_VECTOR) {
            words = list[k].count ? list[k].count : LANE_VECTORS; /* by number: all from it */
            set_bits(live->active, list[k].index, words, code->vectors);
            if (crosses)
                set_bits(live->others, list[k].index, words, code->vectors);
        } else if (scalars_of(list[k], &first, &words)) {
            set_bits(live->scalars, first, words, first < SCALAR_EXEC ? SCALAR_EXEC : SCALAR_COUNT);
        }
    }
    if (inst->op == OP_jump || inst->op == OP_join) /* N5 */
        read_all(code, live);
}

void lane_live_step(const struct lane_liveness *liveness, u32 at, struct lane_live *live)
{
    const struct inst *inst = &liveness->code->insts[at];
    turn(live, exec_change_of(inst));
    write(live, inst);
    read(liveness->code, live, inst);
    for (u32 w = 0; liveness->flow && liveness->flow->initial[at] && w < LANE_VECTOR_WORDS; w++)
        live->others[w] &= liveness->crossed[w];
}

static void find_crossed(struct lane_liveness *liveness)
{
    const struct code *code = liveness->code;
    for (u32 i = 0; i < code->count; i++) {
        const struct inst *inst = &code->insts[i];
        for (u32 k = 0; op_info[inst->op].flags & OPF_CROSS && k < ARRAY_LEN(inst->src); k++)
            if (inst->src[k].kind == OPERAND_VECTOR)
                set_bits(liveness->crossed, inst->src[k].index, inst->src[k].count, LANE_VECTORS);
    }
}

static bool merge(struct lane_live *to, const struct lane_live *from)
{
    u64 *into = (u64 *)to;
    const u64 *more = (const u64 *)from;
    bool changed = false;
    for (u32 w = 0; w < sizeof *to / sizeof *into; w++) {
        changed |= more[w] & ~into[w];
        into[w] |= more[w];
    }
    return changed;
}

static bool update(struct lane_liveness *liveness, const struct cfg *cfg, u32 b)
{
    const struct cfg_block *block = &cfg->blocks[b];
    for (u32 k = 0; k < block->successor_count; k++)
        merge(&liveness->out[b], &liveness->in[block->successors[k]]);
    struct lane_live live = liveness->out[b];
    for (u32 i = block->end; i-- > block->first;)
        lane_live_step(liveness, i, &live);
    return merge(&liveness->in[b], &live);
}

struct lane_liveness *lane_liveness_compute(struct arena *arena, const struct code *code,
                                            const struct cfg *cfg, const struct exec_flow *flow)
{
    struct lane_liveness *liveness = arena_new(arena, struct lane_liveness);
    assert(code->explicit_exec && code->vectors <= LANE_VECTORS);
    liveness->in = arena_array(arena, struct lane_live, cfg->count);
    liveness->out = arena_array(arena, struct lane_live, cfg->count);
    liveness->code = code;
    liveness->flow = flow;
    find_crossed(liveness);
    for (bool changed = true; changed;) {
        changed = false;
        for (u32 i = cfg->order_count; i-- > 0;)
            changed |= update(liveness, cfg, cfg->order[i]);
        for (u32 b = cfg->count; b-- > 0;) /* blocks not reachable from the entry */
            if (b && !cfg->blocks[b].enter)
                changed |= update(liveness, cfg, b);
    }
    return liveness;
}
