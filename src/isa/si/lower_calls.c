/*
 * Finds the callees of each function. Compilers form the address of a function from the program
 * counter,
 *
 *     s_getpc_b64 s[4:5]; s_add_u32 s4, s4, low; s_addc_u32 s5, s5, high
 *     s_swappc_b64 s[30:31], s[4:5]
 *
 * or load it from a table of addresses next to it. Constants are propagated forward over the flow
 * graph, as if the program were loaded at address 0: offsets from the program counter do not depend
 * on the load address, and words that do are known by their relocations. A call of a known function
 * clobbers the scalars that it and its callees write; these sets are computed together with the
 * calls, starting with the best case and iterating until nothing gets worse. All other calls are
 * indirect.
 *
 * A jump without a return address is a return in a function, and an indirect call in a kernel,
 * which has nowhere to return to.
 */
#include "analysis/cfg.h"
#include "ir/scalars.h"
#include "isa/si/lower.h"

#include <stdlib.h>

enum {
    BLOCKS_MAX = 1 << 16, /* of all functions that jump; beyond, calls are indirect */
    ROUNDS_MAX = 32
};

enum scalar_holds {
    HOLDS_NEW, /* not reached yet */
    HOLDS_VALUE,
    HOLDS_ANY
};

/* Known values of scalars, including SCC. */
struct known_scalars {
    u8 is[SCALAR_COUNT]; /* enum scalar_holds */
    u32 value[SCALAR_COUNT];
};

struct caller {
    struct cfg *cfg;           /* NULL: it has no jumps */
    struct known_scalars *in;  /* by block */
    bool writes[SCALAR_COUNT]; /* scalars that it or its callees write */
};

struct call_lowering {
    struct program *program;
    struct caller *callers; /* by function */
    struct known_scalars now;
    bool changed;
};

static bool word(const struct call_lowering *k, struct operand o, u32 at, u32 *value)
{
    if (o.kind == OPERAND_CONST) {
        *value = k->program->constants[o.index + at];
        return true;
    }
    if (o.kind != OPERAND_SCALAR || o.index + at >= SCALAR_COUNT)
        return false;
    *value = k->now.value[o.index + at];
    return k->now.is[o.index + at] == HOLDS_VALUE;
}

static void know(struct call_lowering *k, struct operand dst, u32 at, bool is, u32 value)
{
    if (dst.kind == OPERAND_SCALAR && dst.index + at < SCALAR_COUNT) {
        k->now.is[dst.index + at] = is ? HOLDS_VALUE : HOLDS_ANY;
        k->now.value[dst.index + at] = is ? value : 0;
    }
}

/* Adds the scalars an instruction writes. */
static void written(const struct inst *inst, bool *set)
{
    struct operand list[INST_REFS];
    u32 count = inst_writes(inst, list);
    for (u32 i = 0; i < count; i++) {
        struct operand o = list[i];
        if (o.kind != OPERAND_SCALAR && o.kind != OPERAND_MASK)
            continue;
        u32 first = o.kind == OPERAND_MASK ? 2 * o.index : o.index;
        u32 words = o.kind == OPERAND_MASK ? 2 : o.count ? o.count : SCALAR_COUNT;
        for (u32 s = first; s < first + words && s < SCALAR_COUNT; s++)
            set[s] = true;
    }
}

static void forget_set(struct call_lowering *k, const bool *set)
{
    for (u32 s = 0; s < SCALAR_COUNT; s++) {
        if (!set || set[s]) {
            k->now.is[s] = HOLDS_ANY;
            k->now.value[s] = 0;
        }
    }
}

static void forget(struct call_lowering *k, const struct inst *inst)
{
    bool set[SCALAR_COUNT] = {0};
    written(inst, set);
    forget_set(k, set);
}

static void add_words(struct call_lowering *k, const struct inst *inst, bool has_carry)
{
    u32 a = 0, b = 0, c = 0;
    bool is = word(k, inst->src[0], 0, &a) && word(k, inst->src[1], 0, &b) &&
              (!has_carry || word(k, inst->src[2], 0, &c));
    u64 sum = (u64)a + b + c;
    know(k, inst->dst[0], 0, is, (u32)sum);
    know(k, inst->dst[1], 0, is, (u32)(sum >> 32));
}

/* Tracks a load of a pair that a relocation fills with an address of the program. */
static void load_address(struct call_lowering *k, const struct inst *inst)
{
    u32 low = 0, high = 0;
    bool is = inst->dst[0].count == 2 && inst->src[1].kind == OPERAND_NONE &&
              word(k, inst->src[0], 0, &low) && word(k, inst->src[0], 1, &high);
    u64 from = (low | (u64)high << 32) + (u64)inst->imm, address = 0;
    bool found = false;
    for (u32 i = 0; is && i < k->program->load_relocation_count && !found; i++) {
        const struct relocation *r = &k->program->load_relocations[i];
        found = r->offset == from && r->bytes == 8;
        address = (u64)r->addend;
    }
    forget(k, inst);
    know(k, inst->dst[0], 0, found, (u32)address);
    if (found)
        know(k, inst->dst[0], 1, true, (u32)(address >> 32));
}

static void step(struct call_lowering *k, const struct inst *inst, u64 next)
{
    u32 value[2] = {0};
    bool is[2];
    switch (inst->op) {
    case OP_sgetpc:
        know(k, inst->dst[0], 0, true, (u32)next);
        know(k, inst->dst[0], 1, true, (u32)(next >> 32));
        break;
    case OP_sadd_u32:
    case OP_saddc_u32:
        add_words(k, inst, inst->op == OP_saddc_u32);
        break;
    case OP_smov_b32:
    case OP_smov_b64:
        for (u32 i = 0; i < inst->dst[0].count; i++)
            is[i] = word(k, inst->src[0], i, &value[i]);
        for (u32 i = 0; i < inst->dst[0].count; i++)
            know(k, inst->dst[0], i, is[i], value[i]);
        break;
    case OP_ld_scalar:
        load_address(k, inst);
        break;
    default:
        forget(k, inst);
        break;
    }
}

/* The function that begins at an offset; functions are sorted by code, and some have none. */
static u32 function_at(const struct program *program, u64 offset)
{
    u32 inst = program_inst_at(program, offset), low = 0, high = program->function_count;
    while (low < high) {
        u32 middle = low + (high - low) / 2;
        if (program->functions[middle].first < inst)
            low = middle + 1;
        else
            high = middle;
    }
    for (; low < program->function_count && program->functions[low].first == inst; low++)
        if (program->functions[low].end > inst)
            return low;
    return UINT32_MAX;
}

static void add_callee(struct function *function, u32 callee)
{
    for (u32 i = 0; i < function->callee_count; i++)
        if (function->callees[i] == callee)
            return;
    function->callees[function->callee_count++] = callee;
}

/* The target function of a jump, or UINT32_MAX; `is`: its address is known. */
static u32 target_of(const struct call_lowering *k, const struct inst *inst, bool *is)
{
    u32 low, high;
    *is = word(k, inst->src[0], 0, &low) && word(k, inst->src[0], 1, &high);
    return *is ? function_at(k->program, low | (u64)high << 32) : UINT32_MAX;
}

static void jump(struct call_lowering *k, const struct inst *inst)
{
    bool is;
    u32 callee = target_of(k, inst, &is);
    if (callee == UINT32_MAX) {
        forget_set(k, NULL);
        return;
    }
    forget_set(k, k->callers[callee].writes);
    forget(k, inst);
}

static bool merge(struct known_scalars *to, const struct known_scalars *from)
{
    bool changed = false;
    for (u32 s = 0; s < SCALAR_COUNT; s++) {
        u8 is = to->is[s] == HOLDS_NEW                                       ? from->is[s]
                : to->is[s] == from->is[s] && to->value[s] == from->value[s] ? to->is[s]
                                                                             : HOLDS_ANY;
        changed |= is != to->is[s];
        to->is[s] = is;
        to->value[s] = is == HOLDS_VALUE ? from->value[s] : 0;
    }
    return changed;
}

/* Updates the state from the start of a block to its end, or to its last instruction if that is a
 * jump. */
static void run_block(struct call_lowering *k, const struct function *f,
                      const struct cfg_block *block)
{
    const struct program *program = k->program;
    for (u32 i = f->first + block->first; i < f->first + block->end; i++)
        if (program->insts[i].op != OP_jump)
            step(k, &program->insts[i], program->offsets[i] + (u64)program->sizes[i]);
}

/* Computes the states at the starts of a function's blocks, to the fixed point. */
static void solve(struct call_lowering *k, u32 index)
{
    const struct function *f = &k->program->functions[index];
    struct caller *caller = &k->callers[index];
    const struct cfg *cfg = caller->cfg;
    memset(caller->in, 0, cfg->count * sizeof *caller->in);
    memset(caller->in[0].is, HOLDS_ANY, sizeof caller->in[0].is);
    for (bool changed = true; changed;) {
        changed = false;
        for (u32 n = 0; n < cfg->order_count; n++) {
            const struct cfg_block *block = &cfg->blocks[cfg->order[n]];
            const struct inst *last = &k->program->insts[f->first + block->end - 1];
            k->now = caller->in[cfg->order[n]];
            run_block(k, f, block);
            if (last->op == OP_jump)
                jump(k, last);
            for (u32 e = 0; e < block->successor_count; e++)
                changed |= merge(&caller->in[block->successors[e]], &k->now);
        }
    }
}

/* Lists the callees of a function from the solution, and adds the scalars they write. */
static void list_callees(struct call_lowering *k, u32 index)
{
    struct function *f = &k->program->functions[index];
    struct caller *caller = &k->callers[index];
    f->callee_count = 0;
    f->calls_indirectly = false;
    for (u32 n = 0; n < caller->cfg->order_count; n++) {
        const struct cfg_block *block = &caller->cfg->blocks[caller->cfg->order[n]];
        const struct inst *last = &k->program->insts[f->first + block->end - 1];
        if (last->op != OP_jump)
            continue;
        bool is, links = last->dst[0].kind != OPERAND_NONE;
        k->now = caller->in[caller->cfg->order[n]];
        run_block(k, f, block);
        u32 callee = target_of(k, last, &is);
        if (callee != UINT32_MAX)
            add_callee(f, callee);
        else if (is || links || f->is_kernel)
            f->calls_indirectly = true;
    }
    for (u32 s = 0; s < SCALAR_COUNT; s++) {
        bool writes = caller->writes[s] || f->calls_indirectly;
        for (u32 i = 0; i < f->callee_count; i++)
            writes |= k->callers[f->callees[i]].writes[s];
        k->changed |= writes != caller->writes[s];
        caller->writes[s] = writes;
    }
}

/* Finds the scalars that a function writes itself; returns the number of its jumps. */
static u32 survey(struct program *program, u32 index, struct caller *caller)
{
    struct function *f = &program->functions[index];
    u32 jumps = 0;
    f->open = !f->is_kernel || f->open;
    f->address_taken = !f->is_kernel;
    for (u32 i = f->first; i < f->end; i++) {
        u16 op = program->insts[i].op;
        jumps += op == OP_jump;
        f->open |= op == OP_jump || op == OP_fork || op == OP_join;
        written(&program->insts[i], caller->writes);
    }
    f->callees = arena_array(program->arena, u32, MIN(jumps, program->function_count) + 1);
    return jumps;
}

/* Makes all calls indirect. */
static void give_up(struct call_lowering *k)
{
    for (u32 f = 0; f < k->program->function_count; f++) {
        k->program->functions[f].callee_count = 0;
        k->program->functions[f].calls_indirectly = k->callers[f].cfg != NULL;
    }
}

void lower_calls(struct program *program)
{
    struct arena *arena = arena_create();
    struct call_lowering k = {.program = program, .changed = true};
    u32 blocks = 0, rounds = 0;
    k.callers = arena_array(arena, struct caller, program->function_count + 1);
    for (u32 f = 0; f < program->function_count; f++) {
        struct caller *caller = &k.callers[f];
        if (!survey(program, f, caller))
            continue;
        struct code code = code_of(program, &program->functions[f]);
        caller->cfg = cfg_build(arena, &code);
        blocks += caller->cfg->count;
        if (blocks <= BLOCKS_MAX)
            caller->in = arena_array(arena, struct known_scalars, caller->cfg->count);
    }
    while (k.changed && blocks <= BLOCKS_MAX && rounds < ROUNDS_MAX) {
        k.changed = false;
        rounds++;
        for (u32 f = 0; f < program->function_count; f++) {
            if (!k.callers[f].cfg)
                continue;
            solve(&k, f);
            list_callees(&k, f);
        }
    }
    if (k.changed)
        give_up(&k);
    arena_destroy(arena);
}
