/* Regions of code with explicit EXEC that any warp may execute. See lane_regions.h. */
#include "analysis/lane_regions.h"

enum {
    PAIRS = 64, /* of the scalars that masks can be in */
    PAIR_EXEC = MASK_EXEC,
};

/* A mask's bit of an inactive thread: below PAIRS, that of this pair where the thread became
 * inactive. */
enum {
    BIT_ZERO = PAIRS,
    BIT_ONE,
    BIT_ANY,
    BIT_NEW /* not reached yet */
};

static u64 one_bit(u32 index)
{
    return 1ull << index;
}

struct bits {
    u8 pair[PAIRS];
};

struct lane_regions {
    const struct code *code;
    const struct cfg *cfg;
    const struct lane_liveness *liveness;
    u8 *inside, *under; /* by block: in the region; in what a branch within decides on */
    u32 *stack;
    struct bits *in;                /* by block */
    u8 parent[PAIRS];               /* of pairs that must be of one kind (E1) */
    u64 mask_used, value_used;      /* pairs that are used so */
    u64 reads[LANE_SCALAR_WORDS];   /* values, */
    u64 written[LANE_SCALAR_WORDS]; /* and those of one stretch of code */
};

struct lane_regions *lane_regions_create(struct arena *arena, const struct code *code,
                                         const struct cfg *cfg, bool open)
{
    if (open)
        return NULL;
    struct lane_regions *s = arena_new(arena, struct lane_regions);
    s->code = code;
    s->cfg = cfg;
    s->liveness = lane_liveness_compute(arena, code, cfg, NULL);
    s->inside = arena_array(arena, u8, cfg->count);
    s->under = arena_array(arena, u8, cfg->count);
    s->stack = arena_array(arena, u32, cfg->count);
    s->in = arena_array(arena, struct bits, cfg->count);
    return s;
}

static const struct inst *last_inst(const struct lane_regions *s, u32 block)
{
    return &s->code->insts[s->cfg->blocks[block].end - 1];
}

static bool is_exec_branch(const struct inst *inst)
{
    return inst->op == OP_bra_if && inst->src[0].kind == OPERAND_SCALAR &&
           inst->src[0].index == SCALAR_EXEC;
}

bool lane_regions_is_branch(const struct lane_regions *s, u32 block)
{
    return is_exec_branch(last_inst(s, block));
}

/* Marks the blocks that are reached from `from` without `stop`. False: the code may end there. */
static bool mark_blocks(struct lane_regions *s, u8 *set, u32 from, u32 stop)
{
    u32 height = 0;
    if (from != stop && !set[from]) {
        set[from] = true;
        s->stack[height++] = from;
    }
    while (height) {
        const struct cfg_block *b = &s->cfg->blocks[s->stack[--height]];
        if (b->exits)
            return false;
        for (u32 i = 0; i < b->successor_count; i++) {
            const u32 next = b->successors[i];
            if (next == stop || set[next])
                continue;
            set[next] = true;
            s->stack[height++] = next;
        }
    }
    return true;
}

/* ---- E4 ---- */

static bool is_bitwise(const struct inst *inst)
{
    switch (inst->op) {
    case OP_smov_b64:
    case OP_sselect_b64:
    case OP_snot_b64:
    case OP_sand_b64:
    case OP_sor_b64:
    case OP_sxor_b64:
    case OP_sandn2_b64:
    case OP_sorn2_b64:
    case OP_snand_b64:
    case OP_snor_b64:
    case OP_sxnor_b64:
        return true;
    default:
        return op_info[inst->op].flags & OPF_SCALAR && inst->mods & MOD_EXEC;
    }
}

static bool is_forbidden(const struct inst *inst)
{
    const u16 flags = op_info[inst->op].flags;
    if (flags & OPF_BRANCH)
        return inst->op != OP_bra &&
               !(inst->op == OP_bra_if &&
                 (is_exec_branch(inst) ||
                  (inst->src[0].kind == OPERAND_SCALAR && inst->src[0].index == SCALAR_SCC)));
    if (flags & (OPF_CROSS | OPF_BARRIER))
        return true;
    switch (inst->op) {
    case OP_append:
    case OP_movrel_src:
    case OP_movrel_dst:
    case OP_movrel_both:
    case OP_smovrel_src_b32:
    case OP_smovrel_src_b64:
    case OP_smovrel_dst_b32:
    case OP_smovrel_dst_b64:
    case OP_sgetreg:
    case OP_ssetreg:
    case OP_sgetpc:
    case OP_time:
    case OP_sleep:
    case OP_fence:
    case OP_syscall:
    case OP_nanosleep:
    case OP_unsupported:
        return true;
    default:
        return false;
    }
}

static bool is_polled(const struct inst *inst)
{
    const u16 flags = op_info[inst->op].flags;
    return flags & OPF_ATOMIC ? inst->dst[0].kind != OPERAND_NONE
                              : flags & OPF_LOAD && inst->mods & MOD_VOLATILE;
}

static bool is_ordered(struct lane_regions *s, struct lane_region *region)
{
    bool polls = false, loops = false;
    for (u32 b = 0; b < s->cfg->count; b++) {
        const struct cfg_block *block = &s->cfg->blocks[b];
        for (u32 i = block->first; s->inside[b] && i < block->end; i++) {
            const struct inst *inst = &s->code->insts[i];
            if (is_forbidden(inst))
                return true;
            polls |= is_polled(inst);
            region->shared |= inst->space == SPACE_SHARED;
        }
        for (u32 i = 0; s->inside[b] && i < block->successor_count; i++)
            loops |= s->inside[block->successors[i]] &&
                     s->cfg->blocks[block->successors[i]].first <= block->first;
    }
    return polls && loops;
}

/* ---- E1 ---- */

static u32 root_of(const struct lane_regions *s, u32 pair)
{
    while (s->parent[pair] != pair)
        pair = s->parent[pair];
    return pair;
}

static u32 scalars_end(struct operand o)
{
    const u32 end = (u32)o.index + o.count;
    return end < SCALAR_COUNT ? end : SCALAR_COUNT;
}

static bool is_pair(struct operand o)
{
    return o.kind == OPERAND_MASK ||
           (o.kind == OPERAND_SCALAR && o.count == 2 && o.index % 2 == 0 && o.index / 2 < PAIRS);
}

static u32 pair_of(struct operand o)
{
    return o.kind == OPERAND_MASK ? o.index : o.index / 2;
}

static void use_values(struct lane_regions *s, struct operand o, u64 *set)
{
    for (u32 i = o.index; i < scalars_end(o); i++) {
        set[i / 64] |= one_bit(i % 64);
        if (i / 2 < PAIRS)
            s->value_used |= one_bit(i / 2);
    }
}

static void classify(struct lane_regions *s, const struct inst *inst)
{
    struct operand list[2 * INST_REFS];
    const u32 writes = inst_writes(inst, list), count = writes + inst_reads(inst, list + writes);
    const bool bitwise = is_bitwise(inst);
    u32 first = PAIRS;
    for (u32 i = 0; i < count && !is_exec_branch(inst); i++) {
        const struct operand o = list[i];
        if (o.kind == OPERAND_MASK) {
            s->mask_used |= one_bit(o.index);
        } else if (bitwise && is_pair(o)) {
            if (first == PAIRS)
                first = root_of(s, pair_of(o));
            s->parent[root_of(s, pair_of(o))] = (u8)first;
        } else if (o.kind == OPERAND_SCALAR && o.index != SCALAR_SCC) {
            use_values(s, o, i < writes ? s->written : s->reads);
        }
    }
    if (inst->mods & MOD_EXEC)
        s->mask_used |= one_bit(PAIR_EXEC);
}

/* Finds the masks. False: a pair is used in both ways. */
static bool find_masks(struct lane_regions *s, struct lane_region *region)
{
    for (u32 p = 0; p < PAIRS; p++)
        s->parent[p] = (u8)p;
    s->mask_used = one_bit(PAIR_EXEC);
    s->value_used = 0;
    memset(s->reads, 0, sizeof s->reads);
    memset(s->written, 0, sizeof s->written);
    for (u32 b = 0; b < s->cfg->count; b++)
        for (u32 i = s->cfg->blocks[b].first; s->inside[b] && i < s->cfg->blocks[b].end; i++)
            classify(s, &s->code->insts[i]);
    u64 values = 0;
    for (u32 p = 0; p < PAIRS; p++)
        if (s->value_used >> p & 1)
            values |= one_bit(root_of(s, p));
    region->masks = 0;
    region->scalars = s->value_used != 0;
    for (u32 p = 0; p < PAIRS; p++) {
        const bool value = values >> root_of(s, p) & 1;
        if (value && s->mask_used >> p & 1)
            return false;
        if (!value && (s->mask_used >> p & 1 || s->parent[p] != p || root_of(s, p) != p))
            region->masks |= one_bit(p);
    }
    for (u32 p = 0; p < PAIRS; p++) /* roots of pairs that only logic uses */
        if (s->parent[p] != p && !(values >> root_of(s, p) & 1))
            region->masks |= one_bit(root_of(s, p));
    for (u32 p = 0; p < PAIRS; p++) /* values that logic copies */
        if (values >> root_of(s, p) & 1) {
            s->reads[p / 32] |= 3ull << 2 * (p % 32);
            s->written[p / 32] |= 3ull << 2 * (p % 32);
        }
    memcpy(region->values, s->written, sizeof region->values);
    return true;
}

/* ---- E2 ---- */

static bool is_scc(struct operand o)
{
    return o.kind == OPERAND_SCALAR && o.index == SCALAR_SCC;
}

/* Whether SCC is read only where a number, in the same block, has set it. */
static bool scc_is_value(const struct lane_regions *s, const struct lane_region *region, u32 block)
{
    bool known = false;
    for (u32 i = s->cfg->blocks[block].first; i < s->cfg->blocks[block].end; i++) {
        const struct inst *inst = &s->code->insts[i];
        struct operand list[INST_REFS];
        for (u32 k = 0, n = inst_reads(inst, list); k < n; k++)
            if (is_scc(list[k]) && !known)
                return false;
        for (u32 k = 0, n = inst_writes(inst, list); k < n; k++)
            if (is_scc(list[k]))
                known = !(is_bitwise(inst) && is_pair(inst->dst[0]) &&
                          region->masks >> pair_of(inst->dst[0]) & 1);
    }
    return true;
}

static bool find_needs(struct lane_regions *s, struct lane_region *region, u32 body)
{
    for (u32 b = 0; b < s->cfg->count; b++)
        if (s->inside[b] && !scc_is_value(s, region, b))
            return false;
    for (u32 w = 0; w < LANE_SCALAR_WORDS; w++)
        region->needs[w] = s->reads[w] & s->liveness->in[body].scalars[w];
    region->needs[SCALAR_MODE / 64] |= one_bit(SCALAR_MODE % 64);
    return true;
}

/* ---- E3 ---- */

static u8 negate(u8 a)
{
    return a == BIT_ZERO ? BIT_ONE : a == BIT_ONE ? BIT_ZERO : BIT_ANY;
}

static u8 both(u8 a, u8 b)
{
    if (a == BIT_ZERO || b == BIT_ZERO)
        return BIT_ZERO;
    return a == BIT_ONE ? b : b == BIT_ONE || a == b ? a : BIT_ANY;
}

static u8 either(u8 a, u8 b)
{
    if (a == BIT_ONE || b == BIT_ONE)
        return BIT_ONE;
    return a == BIT_ZERO ? b : b == BIT_ZERO || a == b ? a : BIT_ANY;
}

static u8 differ(u8 a, u8 b)
{
    if (a == BIT_ZERO || b == BIT_ZERO)
        return a == BIT_ZERO ? b : a;
    if (a == b && a != BIT_ANY)
        return BIT_ZERO;
    return a == BIT_ONE ? negate(b) : b == BIT_ONE ? negate(a) : BIT_ANY;
}

/* a and not b */
static u8 without(u8 a, u8 b)
{
    return a == b && a != BIT_ANY ? BIT_ZERO : b == BIT_ZERO ? a : both(a, negate(b));
}

static u8 bit_of(const struct lane_regions *s, const struct bits *bits, struct operand o)
{
    if (o.kind == OPERAND_CONST) {
        const u32 *words = s->code->constants + o.index;
        const u32 high = o.count == 2 ? words[1] : words[0];
        return words[0] != high ? BIT_ANY : !high ? BIT_ZERO : high == ~0u ? BIT_ONE : BIT_ANY;
    }
    return is_pair(o) && pair_of(o) < PAIRS ? bits->pair[pair_of(o)] : BIT_ANY;
}

static u8 result_of(const struct inst *inst, u8 a, u8 b)
{
    switch (inst->op) {
    case OP_smov_b64:
        return a;
    case OP_sselect_b64:
        return a == b ? a : BIT_ANY;
    case OP_snot_b64:
        return negate(a);
    case OP_sand_b64:
    case OP_sand_saveexec:
        return both(a, b);
    case OP_sor_b64:
    case OP_sor_saveexec:
        return either(a, b);
    case OP_sxor_b64:
    case OP_sxor_saveexec:
        return differ(a, b);
    case OP_sandn2_b64:
    case OP_sandn2_saveexec:
        return without(a, b);
    case OP_sorn2_b64:
    case OP_sorn2_saveexec:
        return either(a, negate(b));
    case OP_snand_b64:
    case OP_snand_saveexec:
        return negate(both(a, b));
    case OP_snor_b64:
    case OP_snor_saveexec:
        return negate(either(a, b));
    case OP_sxnor_b64:
    case OP_sxnor_saveexec:
        return negate(differ(a, b));
    default:
        return BIT_ANY;
    }
}

/* What an instruction makes of the bits of an inactive thread. */
static void step(const struct lane_regions *s, struct bits *bits, const struct inst *inst)
{
    struct operand list[INST_REFS];
    const bool vector = !(op_info[inst->op].flags & OPF_SCALAR);
    const bool saves = !vector && inst->mods & MOD_EXEC;
    const u8 exec = bits->pair[PAIR_EXEC];
    const u8 result =
        vector ? BIT_ZERO
               : result_of(inst, bit_of(s, bits, inst->src[0]), bit_of(s, bits, inst->src[1]));
    for (u32 k = 0, n = inst_writes(inst, list); k < n; k++) {
        if (list[k].kind == OPERAND_MASK)
            bits->pair[list[k].index] = BIT_ZERO; /* a comparison: inactive lanes get 0 */
        else if (list[k].kind == OPERAND_SCALAR)
            for (u32 i = list[k].index; i < scalars_end(list[k]) && i / 2 < PAIRS; i++)
                bits->pair[i / 2] = BIT_ANY;
    }
    if (is_bitwise(inst) && is_pair(inst->dst[0]))
        bits->pair[pair_of(inst->dst[0])] = saves ? exec : result;
    if (inst->mods & MOD_EXEC)
        bits->pair[PAIR_EXEC] = result;
}

static bool meet(struct bits *to, const struct bits *from)
{
    bool changed = false;
    for (u32 p = 0; p < PAIRS; p++) {
        const u8 now = to->pair[p] == BIT_NEW         ? from->pair[p]
                       : to->pair[p] == from->pair[p] ? to->pair[p]
                                                      : BIT_ANY;
        changed |= now != to->pair[p];
        to->pair[p] = now;
    }
    return changed;
}

/* Whether masks that are live at a block are what they were. */
static bool is_kept(const struct lane_regions *s, const struct bits *bits, u64 masks, u32 block)
{
    const u64 *live = s->liveness->in[block].scalars;
    for (u32 p = 0; p < (u32)PAIR_EXEC; p++)
        if (masks >> p & 1 && live[p / 32] >> 2 * (p % 32) & 3 && bits->pair[p] != p)
            return false;
    return true;
}

/* Goes through a block with an inactive thread. False: EXEC may get its lane back. */
static bool pass(const struct lane_regions *s, u32 block, struct bits *bits)
{
    *bits = s->in[block];
    for (u32 i = s->cfg->blocks[block].first; i < s->cfg->blocks[block].end; i++) {
        step(s, bits, &s->code->insts[i]);
        if (bits->pair[PAIR_EXEC] != BIT_ZERO)
            return false;
    }
    return true;
}

/* Whether the code under a branch changes nothing for a thread that is inactive there. */
static bool keeps_inactive(struct lane_regions *s, u64 masks, u32 branch, u32 stop)
{
    const struct cfg *cfg = s->cfg;
    struct bits own, bits;
    for (u32 p = 0; p < PAIRS; p++)
        own.pair[p] = p == PAIR_EXEC ? BIT_ZERO : (u8)p;
    memset(s->in, BIT_NEW, cfg->count * sizeof *s->in);
    for (u32 i = 0; i < cfg->blocks[branch].successor_count; i++)
        if (cfg->blocks[branch].successors[i] != stop)
            meet(&s->in[cfg->blocks[branch].successors[i]], &own);
    for (bool changed = true; changed;) {
        changed = false;
        for (u32 n = 0; n < cfg->order_count; n++) {
            const u32 b = cfg->order[n];
            if (!s->under[b] || s->in[b].pair[PAIR_EXEC] == BIT_NEW)
                continue;
            if (!pass(s, b, &bits))
                return false;
            for (u32 i = 0; i < cfg->blocks[b].successor_count; i++) {
                const u32 next = cfg->blocks[b].successors[i];
                if (next != stop)
                    changed |= meet(&s->in[next], &bits);
                else if (!is_kept(s, &bits, masks, stop))
                    return false;
            }
        }
    }
    return true;
}

/* Whether values that are written under a branch are dead where its lanes meet. */
static bool values_are_dead(struct lane_regions *s, u64 masks, u32 stop)
{
    const u64 *live = s->liveness->in[stop].scalars;
    for (u32 b = 0; b < s->cfg->count; b++)
        for (u32 i = s->cfg->blocks[b].first; s->under[b] && i < s->cfg->blocks[b].end; i++) {
            struct operand list[INST_REFS];
            for (u32 k = 0, n = inst_writes(&s->code->insts[i], list); k < n; k++)
                for (u32 at = list[k].index;
                     list[k].kind == OPERAND_SCALAR && at < scalars_end(list[k]); at++)
                    if (live[at / 64] >> at % 64 & 1 && !(at / 2 < PAIRS && masks >> at / 2 & 1))
                        return false;
        }
    return true;
}

static bool is_indifferent(struct lane_regions *s, u64 masks, u32 branch)
{
    const struct cfg_block *b = &s->cfg->blocks[branch];
    memset(s->under, 0, s->cfg->count);
    for (u32 i = 0; i < b->successor_count; i++)
        if (!mark_blocks(s, s->under, b->successors[i], b->ipdom))
            return false;
    return values_are_dead(s, masks, b->ipdom) && keeps_inactive(s, masks, branch, b->ipdom);
}

/* ---- a region ---- */

bool lane_regions_find(struct lane_regions *s, u32 block, struct lane_region *region)
{
    const struct cfg *cfg = s->cfg;
    const struct cfg_block *b = &cfg->blocks[block];
    const struct inst *inst = &s->code->insts[b->end - 1];
    const u32 target = code_target(s->code, inst);
    memset(region, 0, sizeof *region);
    region->body = inst->key ? target : b->end; /* key 1: it goes there if EXEC is not empty */
    region->meet = inst->key ? b->end : target;
    if (b->ipdom == NO_BLOCK || region->body >= s->code->count ||
        cfg->blocks[b->ipdom].first != region->meet)
        return false;
    const u32 body = cfg->block_of[region->body];
    memset(s->inside, 0, cfg->count);
    if (body == b->ipdom || !mark_blocks(s, s->inside, body, b->ipdom) || is_ordered(s, region) ||
        !find_masks(s, region) || !find_needs(s, region, body) ||
        !is_indifferent(s, region->masks, block))
        return false;
    for (u32 i = 0; i < cfg->count; i++)
        if (s->inside[i] && is_exec_branch(last_inst(s, i)) &&
            (cfg->blocks[i].ipdom == NO_BLOCK || !is_indifferent(s, region->masks, i)))
            return false;
    return true;
}
