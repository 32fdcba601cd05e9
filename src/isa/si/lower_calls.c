/*
 * Whom a function calls. Compilers form the address of a function from the program counter,
 *
 *     s_getpc_b64 s[4:5]; s_add_u32 s4, s4, low; s_addc_u32 s5, s5, high; s_swappc_b64 s[30:31],
 * s[4:5]
 *
 * or load it from a table of addresses next to it. Constants are followed through straight code, as
 * if the program lay at address 0: offsets from the counter do not depend on where it lies, words
 * that do are known by their relocations. Other calls are indirect ones.
 *
 * A jump without a way back is a return in a function, and an indirect call in a kernel, which has
 * nowhere to return to.
 */
#include "ir/scalars.h"
#include "isa/si/lower.h"

#include <stdlib.h>

/* Scalars whose value is known; SCC among them. */
struct known {
    const struct program *program;
    bool is[SCALAR_COUNT];
    u32 value[SCALAR_COUNT];
};

static bool word(const struct known *k, struct operand o, u32 at, u32 *value)
{
    if (o.kind == OPERAND_CONST) {
        *value = k->program->constants[o.index + at];
        return true;
    }
    if (o.kind != OPERAND_SCALAR || o.index + at >= SCALAR_COUNT)
        return false;
    *value = k->value[o.index + at];
    return k->is[o.index + at];
}

static void know(struct known *k, struct operand dst, u32 at, bool is, u32 value)
{
    if (dst.kind == OPERAND_SCALAR && dst.index + at < SCALAR_COUNT) {
        k->is[dst.index + at] = is;
        k->value[dst.index + at] = value;
    }
}

static void forget(struct known *k, const struct inst *inst)
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
            k->is[s] = false;
    }
}

static void add_words(struct known *k, const struct inst *inst, bool has_carry)
{
    u32 a = 0, b = 0, c = 0;
    bool is = word(k, inst->src[0], 0, &a) && word(k, inst->src[1], 0, &b) &&
              (!has_carry || word(k, inst->src[2], 0, &c));
    u64 sum = (u64)a + b + c;
    know(k, inst->dst[0], 0, is, (u32)sum);
    know(k, inst->dst[1], 0, is, (u32)(sum >> 32));
}

/* A pair loaded from where a relocation puts an address of the program. */
static void load_address(struct known *k, const struct inst *inst)
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

static void step(struct known *k, const struct inst *inst, u64 next)
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

static u32 function_at(const struct program *program, u64 offset)
{
    u32 inst = program_inst_at(program, offset);
    for (u32 f = 0; inst != NO_INST && f < program->function_count; f++)
        if (program->functions[f].first == inst && program->functions[f].end > inst)
            return f;
    return UINT32_MAX;
}

static void add_callee(struct function *function, u32 callee)
{
    for (u32 i = 0; i < function->callee_count; i++)
        if (function->callees[i] == callee)
            return;
    function->callees[function->callee_count++] = callee;
}

static void jump(struct known *k, struct function *function, const struct inst *inst)
{
    u32 low, high, callee = UINT32_MAX;
    bool links = inst->dst[0].kind != OPERAND_NONE;
    bool is = word(k, inst->src[0], 0, &low) && word(k, inst->src[0], 1, &high);
    if (is)
        callee = function_at(k->program, low | (u64)high << 32);
    if (callee != UINT32_MAX)
        add_callee(function, callee);
    else if (is || links || function->is_kernel)
        function->calls_indirectly = true;
    memset(k->is, 0, sizeof k->is); /* the callee may change all */
}

/* Instructions that branches lead to: what is known before them may not hold there. */
static u8 *targets_of(const struct program *program, const struct function *function)
{
    u8 *targets = calloc(function->end - function->first + 1, 1);
    if (!targets)
        abort(); /* as arenas do */
    for (u32 i = function->first; i < function->end; i++) {
        const struct inst *inst = &program->insts[i];
        if (inst->op == OP_bra || inst->op == OP_bra_if ||
            (inst->op == OP_fork && inst->src[1].kind == OPERAND_NONE))
            targets[inst->imm - function->first] = 1;
    }
    return targets;
}

void lower_calls(struct program *program, struct function *function)
{
    struct known k = {.program = program};
    u32 jumps = 0;
    function->open = !function->is_kernel || function->open;
    function->address_taken = !function->is_kernel;
    for (u32 i = function->first; i < function->end; i++) {
        u16 op = program->insts[i].op;
        jumps += op == OP_jump;
        function->open |= op == OP_jump || op == OP_fork || op == OP_join;
    }
    function->callees = arena_array(program->arena, u32, MIN(jumps, program->function_count) + 1);
    if (!jumps)
        return;
    u8 *targets = targets_of(program, function);
    for (u32 i = function->first; i < function->end; i++) {
        const struct inst *inst = &program->insts[i];
        if (targets[i - function->first])
            memset(k.is, 0, sizeof k.is);
        if (inst->op == OP_jump)
            jump(&k, function, inst);
        else
            step(&k, inst, program->offsets[i] + (u64)program->sizes[i]);
    }
    free(targets);
}
