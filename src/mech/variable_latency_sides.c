/*
 * Which registers belong into hybrid banks, and where threads go: see variable_latency.c.
 *
 * analysis/sides.h says which values are used only on sides of branches that depend on the thread.
 * Here, as a runtime would when it launches a kernel, the conditions of these branches are computed for
 * every thread of a block. Conditions that depend on the block, or on anything that earlier sides or
 * iterations write, are not known at launch. A side counts if no warp has more than half of its lanes
 * there; registers that only such sides use belong into hybrid banks, and the threads of a warp that are
 * on them most move to the first half of its lanes.
 */
#include "mech/variable_latency.h"

#include "exec/lanes.h"
#include "ir/special.h"
#include <stdlib.h>

enum {
    WIDTH = 32 /* lanes of a warp; other machines have no such registers */
};

/* The values of a warp's registers, as far as they are known at launch. */
struct trial {
    const struct exec *exec;
    const struct code *code;
    const struct cfg *cfg;
    u32 warp;
    u32 *values; /* by vector register, WIDTH each */
    u32 *masks;
    u8 *known; /* by location */
    u8 *reached;
    u32 *stack;
};

/* ---- what is known ---- */

static u32 first_location(const struct trial *t, struct operand o)
{
    return o.kind == OPERAND_MASK ? t->code->vectors + o.index : o.index;
}

static bool is_known(const struct trial *t, struct operand o)
{
    if (o.kind != OPERAND_VECTOR && o.kind != OPERAND_MASK)
        return o.kind != OPERAND_SCALAR;
    for (u32 i = 0; i < (o.kind == OPERAND_MASK ? 1 : o.count); i++)
        if (!t->known[first_location(t, o) + i])
            return false;
    return true;
}

static void forget(struct trial *t, const struct inst *inst)
{
    struct refs refs;
    inst_refs(t->code, inst, &refs);
    for (u32 i = 0; i < refs.write_count; i++)
        t->known[refs.writes[i]] = 0;
}

/* Forgets what is written between a block's dominator and the block, or in a loop that begins
 * there. */
static void forget_before(struct trial *t, u32 block)
{
    const struct cfg *cfg = t->cfg;
    const u32 dominator = cfg->blocks[block].idom;
    u32 depth = 0;
    memset(t->reached, 0, cfg->count);
    t->stack[depth++] = block;
    while (depth) {
        const struct cfg_block *at = &cfg->blocks[t->stack[--depth]];
        for (u32 k = 0; k < at->predecessor_count; k++) {
            const u32 from = at->predecessors[k];
            if (from == dominator || t->reached[from])
                continue;
            t->reached[from] = 1;
            t->stack[depth++] = from;
        }
    }
    for (u32 b = 0; b < cfg->count; b++)
        for (u32 i = cfg->blocks[b].first; t->reached[b] && i < cfg->blocks[b].end; i++)
            forget(t, &t->code->insts[i]);
}

/* ---- instructions ---- */

/* A special register that does not depend on the block. */
static bool read_special(const struct trial *t, enum special special, u32 *row)
{
    for (u32 lane = 0; lane < WIDTH; lane++)
        switch (special) {
        case SPECIAL_tid_x:
        case SPECIAL_tid_y:
        case SPECIAL_tid_z:
            row[lane] = t->exec->tids[special - SPECIAL_tid_x][t->warp * WIDTH + lane];
            break;
        case SPECIAL_ntid_x:
        case SPECIAL_ntid_y:
        case SPECIAL_ntid_z:
            row[lane] = t->exec->dims[special - SPECIAL_ntid_x];
            break;
        case SPECIAL_laneid:
            row[lane] = lane;
            break;
        default:
            return false;
        }
    return true;
}

/* A kernel parameter at a fixed offset. */
static bool read_param(const struct trial *t, const struct inst *inst, u32 *row)
{
    const u64 at = (u64)inst->imm;
    u32 value;
    if (inst->space != SPACE_PARAM || inst->src[0].kind == OPERAND_VECTOR ||
        inst->dst[0].count != 1 || type_bytes((enum type)inst->type) != 4 || inst->vector > 1 ||
        at + 4 > t->exec->param_bytes)
        return false;
    memcpy(&value, t->exec->params + at, 4);
    for (u32 lane = 0; lane < WIDTH; lane++)
        row[lane] = value;
    return true;
}

/* Computes an instruction whose sources are known; false: it is not one that can be. */
static bool compute(struct trial *t, const struct inst *inst)
{
    lane_fn *const fn = lanes_resolve(inst, SIMD_PORTABLE, false);
    u32 constants[4][16 * WIDTH], lane_numbers[WIDTH],
        lane_mask[WIDTH] __attribute__((aligned(32)));
    struct lanes lanes = {
        .inst = inst, .mask = LANES_FULL, .stride = WIDTH, .lane_mask = lane_mask};
    const struct program *program = t->exec->image->program;
    if (!fn || inst->mods & MOD_MODE)
        return false;
    lanes_expand(LANES_FULL, lane_mask);
    for (u32 k = 0; k < ARRAY_LEN(inst->src); k++) {
        const struct operand o = inst->src[k];
        if (o.kind == OPERAND_VECTOR) {
            lanes.src[k] = t->values + (size_t)o.index * WIDTH;
        } else if (o.kind == OPERAND_MASK) {
            lanes.src[k] = &t->masks[o.index];
        } else if (o.kind == OPERAND_CONST) {
            for (u32 i = 0; i < MAX(o.count, 1u) * WIDTH; i++)
                constants[k][i] = program->constants[o.index + i / WIDTH];
            lanes.src[k] = constants[k];
        } else if (o.kind == OPERAND_LANEID) {
            for (u32 lane = 0; lane < WIDTH; lane++)
                lane_numbers[lane] = lane;
            lanes.src[k] = lane_numbers;
        }
    }
    for (u32 k = 0; k < ARRAY_LEN(inst->dst); k++)
        if (inst->dst[k].kind == OPERAND_VECTOR)
            lanes.dst[k] = t->values + (size_t)inst->dst[k].index * WIDTH;
        else if (inst->dst[k].kind == OPERAND_MASK)
            lanes.dst[k] = &t->masks[inst->dst[k].index];
    fn(&lanes);
    return true;
}

static void run(struct trial *t, const struct inst *inst)
{
    bool good = inst->guard.kind == OPERAND_NONE;
    for (u32 k = 0; good && k < ARRAY_LEN(inst->src); k++)
        good = is_known(t, inst->src[k]);
    u32 *row =
        inst->dst[0].kind == OPERAND_VECTOR ? t->values + (size_t)inst->dst[0].index * WIDTH : NULL;
    if (good && inst->op == OP_sreg)
        good = row && inst->dst[0].count == 1 && read_special(t, (enum special)inst->imm, row);
    else if (good && inst->op == OP_ld)
        good = row && read_param(t, inst, row);
    else if (good)
        good = op_info[inst->op].flags & OPF_LANE && compute(t, inst);
    forget(t, inst);
    struct refs refs;
    inst_refs(t->code, inst, &refs);
    for (u32 i = 0; good && i < refs.write_count; i++)
        t->known[refs.writes[i]] = 1;
}

/* The lanes of the trial's warp that take the branch at the end of a block. False: not known. */
static bool taken_lanes(struct trial *t, u32 block, u32 *taken)
{
    u32 chain = 0, *path = checked(malloc((t->cfg->count + 1) * sizeof *path));
    for (u32 b = block; b != NO_BLOCK; b = t->cfg->blocks[b].idom)
        path[chain++] = b;
    memset(t->known, 0, t->code->vectors + t->code->masks);
    while (chain-- > 0) {
        forget_before(t, path[chain]);
        const struct cfg_block *at = &t->cfg->blocks[path[chain]];
        for (u32 i = at->first; i < at->end; i++)
            if (!(op_info[t->code->insts[i].op].flags & OPF_BRANCH))
                run(t, &t->code->insts[i]);
    }
    free(path);
    const struct inst *branch = &t->code->insts[t->cfg->blocks[block].end - 1];
    if (branch->op != OP_bra || branch->guard.kind != OPERAND_MASK || !is_known(t, branch->guard))
        return false;
    *taken = t->masks[branch->guard.index] ^ (branch->guard.neg ? LANES_FULL : 0);
    return true;
}

/* ---- sides ---- */

/* What is found for a launch. */
struct findings {
    struct variable_latency *v;
    const struct sides *sides;
    u8 *narrow;            /* by instruction: only threads of a side that counts get there */
    u32 (*weights)[WIDTH]; /* by warp and lane: instructions of such sides that it executes */
};

/* Lanes of a warp that have a thread. */
static u32 present(const struct exec *exec, u32 warp)
{
    const u32 threads = exec->threads - warp * WIDTH;
    return threads >= WIDTH ? LANES_FULL : (1u << threads) - 1;
}

/* Notes a side whose lanes are known in every warp, if it counts. */
static void take_side(struct findings *found, struct trial *t, u32 branch, u32 side,
                      const u32 *lanes)
{
    const u32 warps = t->exec->warps;
    for (u32 w = 0; w < warps; w++)
        if (__builtin_popcount(lanes[w]) > WIDTH / 2)
            return;
    memset(t->reached, 0, t->cfg->count);
    sides_walk(t->cfg, branch, side, t->reached, t->stack);
    for (u32 b = 0; b < t->cfg->count; b++) {
        const struct cfg_block *block = &t->cfg->blocks[b];
        if (!t->reached[b])
            continue;
        memset(found->narrow + block->first, 1, block->end - block->first);
        for (u32 w = 0; w < warps; w++)
            for (u32 lane = 0; lane < WIDTH; lane++)
                found->weights[w][lane] += (lanes[w] >> lane & 1) * (block->end - block->first);
    }
}

static void take_branch(struct findings *found, struct trial *t, u32 branch)
{
    u32 lanes[2][MAX_WARPS_OF_BLOCK];
    for (t->warp = 0; t->warp < t->exec->warps; t->warp++) {
        u32 taken;
        if (!taken_lanes(t, branch, &taken))
            return;
        lanes[0][t->warp] = taken & present(t->exec, t->warp);
        lanes[1][t->warp] = ~taken & present(t->exec, t->warp);
    }
    for (u32 side = 0; side < 2; side++)
        take_side(found, t, branch, side, lanes[side]);
}

/* A register is special if all instructions that use it are on sides that count. */
static void take_registers(struct findings *found, const struct code *code)
{
    struct refs refs;
    u64 used[MOST_SPECIAL / 64] = {0}, elsewhere[MOST_SPECIAL / 64] = {0};
    for (u32 i = 0; i < code->count; i++) {
        inst_refs(code, &code->insts[i], &refs);
        u64 *const into = found->narrow[i] ? used : elsewhere;
        for (u32 k = 0; k < refs.read_count; k++)
            if (refs.reads[k] < MIN(code->vectors, MOST_SPECIAL))
                into[refs.reads[k] / 64] |= bit(refs.reads[k] % 64);
        for (u32 k = 0; k < refs.write_count; k++)
            if (refs.writes[k] < MIN(code->vectors, MOST_SPECIAL))
                into[refs.writes[k] / 64] |= bit(refs.writes[k] % 64);
    }
    for (u32 w = 0; w < MOST_SPECIAL / 64; w++)
        found->v->special[w] = used[w] & ~elsewhere[w];
}

/* Gives the lanes with the highest weights the first places; others keep their order. */
static void order_lanes(const u32 *weights, u8 *physical)
{
    u32 next = 0;
    bool placed[WIDTH] = {0};
    while (next < WIDTH) {
        u32 best = WIDTH;
        for (u32 lane = 0; lane < WIDTH; lane++)
            if (!placed[lane] && (best == WIDTH || weights[lane] > weights[best]))
                best = lane;
        placed[best] = true;
        physical[best] = (u8)next++;
    }
}

void sides_launch(struct variable_latency *v, const struct core *core)
{
    const struct exec *exec = core_exec(core);
    struct arena *arena = arena_create();
    const struct code code = code_of(exec->image->program, exec->kernel);
    const struct cfg *cfg = cfg_build(arena, &code);
    const u32 locations = code.vectors + code.masks;
    struct findings found = {v,
                             core_warp_size(core) == WIDTH ? sides_find(arena, &code, cfg) : NULL,
                             arena_array(arena, u8, code.count + 1),
                             arena_alloc(arena, sizeof *found.weights * (exec->warps + 1))};
    struct trial trial = {.exec = exec,
                          .code = &code,
                          .cfg = cfg,
                          .values = arena_array(arena, u32, (size_t)(code.vectors + 1) * WIDTH),
                          .masks = arena_array(arena, u32, code.masks + 1),
                          .known = arena_array(arena, u8, locations + 1),
                          .reached = arena_array(arena, u8, cfg->count + 1),
                          .stack = arena_array(arena, u32, cfg->count + 1)};
    const bool some = found.sides && exec->warps <= MAX_WARPS_OF_BLOCK;
    for (u32 i = 0; some && i < found.sides->branch_count; i++)
        take_branch(&found, &trial, found.sides->branches[i]);
    for (u32 w = 0; some && w < exec->warps; w++)
        order_lanes(found.weights[w], v->lanes[w]);
    if (some)
        take_registers(&found, &code);
    arena_destroy(arena);
}
