/*
 * Simplification of virtual code before allocation: copies, address offsets, dead code. Nothing is
 * moved.
 *
 * Copies and additions are looked through only between registers with one definition in the whole
 * function, unguarded, at a place that dominates the use. Then the source still holds, at the use,
 * what it held at the copy: a path from the copy through a new definition of the source to the use,
 * not passing the copy again, would give a path from the entry to the use that avoids the copy.
 * Guards and divergence do not matter: a lane that reads the use has itself executed the copy.
 *
 *  Z1  Only moves without conversion are looked through; address moves of cvta count.
 *  Z2  An offset is folded only into addresses of the program's size: both sides then wrap at 2^64,
 *      or both at 2^32. In a program with 64-bit addresses a 32-bit sum wraps at 2^32, which base +
 *      offset of an access may not.
 *  Z3  Pure lane operations, reads of special registers and parameter loads are removed if their
 *      results are unused. Other loads stay: they can fault, and they cause traffic.
 */
#include "analysis/cfg.h"
#include "isa/ptx/lower.h"
#include <stdlib.h>

struct simplifier {
    struct fn *fn;
    struct code code;
    struct cfg *cfg;
    u32 *definition; /* by location: instruction + 1; 0 none; UINT32_MAX several */
};

static void find_definitions(struct simplifier *s)
{
    for (u32 i = 0; i < s->code.count; i++) {
        struct refs refs;
        inst_refs(&s->code, &s->code.insts[i], &refs);
        for (u32 k = 0; k < refs.write_count; k++) {
            u32 *definition = &s->definition[refs.writes[k]];
            *definition = *definition || !refs.kills ? UINT32_MAX : i + 1;
        }
    }
    s->definition[0] = UINT32_MAX; /* the stack pointer */
}

/* The only definition of an operand, if it reaches instruction `at` on every path. */
static const struct inst *definition_at(const struct simplifier *s, struct operand o, u32 at)
{
    if (o.kind != OPERAND_VECTOR && o.kind != OPERAND_MASK)
        return NULL;
    u32 location = o.kind == OPERAND_MASK ? s->code.vectors + o.index : o.index;
    u32 definition = s->definition[location];
    if (!definition || definition == UINT32_MAX)
        return NULL;
    u32 from = definition - 1, a = s->cfg->block_of[from], b = s->cfg->block_of[at];
    bool dominates = a == b ? from < at && s->cfg->blocks[a].enter : cfg_dominates(s->cfg, a, b);
    return dominates ? &s->code.insts[from] : NULL;
}

/* Whether the operand holds the same value wherever its definition dominates. */
static bool is_stable(const struct simplifier *s, struct operand o, const struct inst *at)
{
    return o.kind == OPERAND_CONST || definition_at(s, o, (u32)(at - s->code.insts));
}

/* Looks through moves: the source an operand may be replaced with. */
static struct operand look_through(const struct simplifier *s, struct operand o, u32 at)
{
    if (o.kind == OPERAND_VECTOR && (o.neg || o.abs))
        return o; /* the modifier belongs to this use */
    for (u32 steps = 0; steps < 64; steps++) {
        const struct inst *move = definition_at(s, o, at);
        if (!move || (move->op != OP_mov_b32 && move->op != OP_mov_b64 && move->op != OP_mov_mask))
            return o;
        struct operand from = move->src[0];
        if (!is_stable(s, from, move) || (from.kind == OPERAND_VECTOR && from.count != o.count))
            return o;
        if (o.kind == OPERAND_MASK) {
            bool negated = o.neg ^ from.neg;
            if (from.kind == OPERAND_CONST)
                return operand_make(OPERAND_CONST, from.index ^ o.neg, 1);
            from.neg = negated;
        }
        o = from;
    }
    return o;
}

static bool takes_constant(const struct inst *inst, unsigned k)
{
    const struct op_info *info = &op_info[inst->op];
    if (info->flags & OPF_LANE)
        return true;
    return (inst->op == OP_st || inst->op == OP_atom) && k > 0;
}

static void propagate_copies(struct simplifier *s)
{
    for (u32 i = 0; i < s->code.count; i++) {
        struct inst *inst = &s->code.insts[i];
        for (unsigned k = 0; k < ARRAY_LEN(inst->src); k++) {
            if (inst->spare && &inst->src[k] == inst_tuple_operand(inst))
                continue;
            struct operand from = look_through(s, inst->src[k], i);
            if (from.kind != OPERAND_CONST || takes_constant(inst, k))
                inst->src[k] = from;
        }
        struct operand guard = look_through(s, inst->guard, i);
        if (guard.kind == OPERAND_MASK)
            inst->guard = guard;
        struct tuple *tuple =
            inst->spare && !inst_loads_tuple(inst) ? &s->fn->tuples.data[inst->spare] : NULL;
        for (u32 k = 0; tuple && k < tuple->count; k++) {
            struct operand o = vreg_operand(s->fn, tuple->registers[k]);
            struct operand from = look_through(s, o, i);
            bool again = from.kind != OPERAND_VECTOR;
            for (u32 j = 0; j < tuple->count && !again; j++)
                again = j != k && tuple->registers[j] == from.index;
            if (!again)
                tuple->registers[k] = from.index;
        }
    }
}

/* The value of a constant that is no address: one word is a signed offset. */
static bool constant_value(const struct lower *l, struct operand o, i64 *value)
{
    if (o.kind != OPERAND_CONST || const_is_address(l, o))
        return false;
    const u32 *words = &l->constants.data[o.index];
    *value = o.count == 1 ? (i32)words[0] : (i64)((u64)words[1] << 32 | words[0]);
    return true;
}

static void fold_offsets(struct simplifier *s)
{
    const u32 words = lower_address_words(s->fn->l);
    for (u32 i = 0; i < s->code.count; i++) {
        struct inst *inst = &s->code.insts[i];
        if (inst->op != OP_ld && inst->op != OP_st && inst->op != OP_atom &&
            inst->op != OP_atom_b128 && inst->op != OP_prefetch)
            continue;
        for (u32 steps = 0; steps < 64; steps++) {
            const struct inst *add = definition_at(s, inst->src[0], i);
            i64 offset;
            if (!add || add->op != (words == 1 ? OP_add_b32 : OP_add_b64) ||
                inst->src[0].count != words)
                break;
            unsigned base = constant_value(s->fn->l, add->src[0], &offset) ? 1 : 0;
            if (!base && !constant_value(s->fn->l, add->src[1], &offset))
                break;
            if (add->src[base].kind != OPERAND_VECTOR || !is_stable(s, add->src[base], add))
                break;
            inst->src[0] = add->src[base];
            inst->imm = (i64)((u64)inst->imm + (u64)offset);
            if (words == 1)
                inst->imm = (i32)inst->imm; /* the same modulo 2^32 */
        }
    }
}

static bool removable(const struct inst *inst)
{
    if (op_info[inst->op].flags & OPF_LANE || inst->op == OP_isspacep)
        return true;
    if (inst->op == OP_sreg)
        return true;
    return inst->op == OP_ld && inst->space == SPACE_PARAM && !(inst->mods & MOD_VOLATILE);
}

/* Removes instructions with unused results, from the end of each chain backward. */
static void remove_dead(struct fn *fn)
{
    struct code code = fn_code(fn);
    u32 *uses = calloc(code.vectors + code.masks + 1, sizeof *uses);
    u8 *dead = calloc(code.count + 1, 1);
    struct refs refs;
    for (u32 i = 0; i < code.count; i++) {
        inst_refs(&code, &code.insts[i], &refs);
        /* A guarded write's read of its own destination does not keep it alive. */
        u32 reads = refs.kills ? refs.read_count : refs.read_count - refs.write_count;
        for (u32 k = 0; k < reads; k++)
            uses[refs.reads[k]]++;
    }
    for (bool changed = true; changed;) {
        changed = false;
        for (u32 i = code.count; i-- > 0;) {
            if (dead[i] || !removable(&code.insts[i]))
                continue;
            inst_refs(&code, &code.insts[i], &refs);
            bool used = refs.write_count == 0;
            for (u32 k = 0; k < refs.write_count; k++)
                used |= uses[refs.writes[k]] > 0 || !refs.writes[k];
            if (used)
                continue;
            dead[i] = 1;
            u32 reads = refs.kills ? refs.read_count : refs.read_count - refs.write_count;
            for (u32 k = 0; k < reads; k++)
                changed |= --uses[refs.reads[k]] == 0;
        }
    }
    struct rewrite r = rewrite_begin(fn);
    for (u32 i = 0; i < r.count; i++) {
        rewrite_mark(&r, i);
        if (!dead[i])
            rewrite_add(&r, &fn->insts.data[i]);
    }
    rewrite_end(&r);
    free(uses);
    free(dead);
}

void optimize(struct fn *fn)
{
    struct arena *arena = arena_create();
    struct simplifier s = {.fn = fn, .code = fn_code(fn)};
    s.cfg = cfg_build(arena, &s.code);
    s.definition = calloc(s.code.vectors + s.code.masks + 1, sizeof(u32));
    find_definitions(&s);
    propagate_copies(&s);
    fold_offsets(&s);
    propagate_copies(&s);
    free(s.definition);
    arena_destroy(arena);
    remove_dead(fn);
}
