/* Checks of a program's invariants: I2 to I4 of inst.h, P1 to P4 of program.h. */
#include "ir/program.h"
#include "ir/scalars.h"
#include <stdarg.h>
#include <stdio.h>

struct verifier {
    const struct program *program;
    char *message;
    size_t size;
};

static bool fail(const struct verifier *c, u32 at, const char *format, ...)
    __attribute__((format(printf, 3, 4)));
static bool fail(const struct verifier *c, u32 at, const char *format, ...)
{
    char what[200], text[200];
    va_list args;
    va_start(args, format);
    vsnprintf(what, sizeof what, format, args);
    va_end(args);
    if (at < c->program->inst_count)
        snprintf(c->message, c->size, "instruction %u (%s): %s", at,
                 inst_text(c->program, at, text, sizeof text), what);
    else
        snprintf(c->message, c->size, "%s", what);
    return false;
}

/* Whether an operand matches its letter in the signature. */
static bool operand_fits(struct operand o, char letter)
{
    bool absent_allowed = letter >= 'A' && letter <= 'Z';
    bool scalar = o.kind == OPERAND_SCALAR || o.kind == OPERAND_CONST;
    bool value = scalar || o.kind == OPERAND_VECTOR || o.kind == OPERAND_LANEID;
    if (o.kind == OPERAND_NONE)
        return absent_allowed || letter == 'a';
    switch (letter | 0x20) {
    case 'w':
        return value && o.count == 1;
    case 'p':
        return value && o.count == 2;
    case 'v':
        return value && o.count >= 1 && o.count <= 16;
    case 'm':
        return o.kind == OPERAND_MASK || (o.kind == OPERAND_CONST && o.index <= 1);
    case 'x':
        return scalar && o.count == 1;
    case 'y':
        return scalar && o.count == 2 && (o.kind == OPERAND_CONST || o.index % 2 == 0);
    case 's':
        return scalar && o.count >= 1 && o.count <= 16;
    case 'a':
        return o.kind == OPERAND_CONST ? o.count >= 1 && o.count <= 2 : value && o.count <= 2;
    default:
        return false;
    }
}

static bool check_operand(const struct verifier *c, u32 at, const struct function *f,
                          struct operand o, char letter, bool source)
{
    if (!operand_fits(o, letter))
        return fail(c, at, "an operand does not fit '%c'", letter);
    if (!source && o.kind == OPERAND_CONST)
        return fail(c, at, "a constant is written");
    if (o.kind == OPERAND_VECTOR && (u32)o.index + o.count > f->registers)
        return fail(c, at, "register %u is beyond the function's %u", o.index + o.count - 1,
                    f->registers);
    if (o.kind == OPERAND_MASK && o.index >= f->masks)
        return fail(c, at, "mask %u is beyond the function's %u", o.index, f->masks);
    if (o.kind == OPERAND_CONST && (u32)o.index + o.count > c->program->constant_count)
        return fail(c, at, "constant %u does not exist", o.index);
    if (o.kind == OPERAND_SCALAR && (u32)o.index + o.count > SCALAR_COUNT)
        return fail(c, at, "scalar %u does not exist", o.index + o.count - 1);
    if (c->program->traits.even_pairs && o.kind == OPERAND_VECTOR && o.count == 2 &&
        (letter | 0x20) == 'p' && o.index % 2)
        return fail(c, at, "the pair at register %u is not aligned", o.index);
    return true;
}

static bool check_operands(const struct verifier *c, u32 at, const struct function *f)
{
    const struct inst *inst = &c->program->insts[at];
    const char *s = op_info[inst->op].signature;
    u32 d = 0, k = 0;
    bool source = false;
    for (; *s; s++) {
        if (*s == '=') {
            source = true;
            continue;
        }
        if (!check_operand(c, at, f, source ? inst->src[k] : inst->dst[d], *s, source))
            return false;
        source ? k++ : d++;
    }
    for (; d < ARRAY_LEN(inst->dst); d++)
        if (inst->dst[d].kind != OPERAND_NONE)
            return fail(c, at, "has more destinations than its op");
    for (; k < ARRAY_LEN(inst->src); k++)
        if (inst->src[k].kind != OPERAND_NONE)
            return fail(c, at, "has more sources than its op");
    if (inst->guard.kind == OPERAND_NONE)
        return true;
    if (inst->guard.kind != OPERAND_MASK)
        return fail(c, at, "the guard is not a mask");
    return check_operand(c, at, f, inst->guard, 'm', true);
}

static bool check_targets(const struct verifier *c, u32 at, const struct function *f)
{
    const struct program *p = c->program;
    const struct inst *inst = &p->insts[at];
    bool branches = inst->op == OP_bra || inst->op == OP_bra_if ||
                    (inst->op == OP_fork && inst->src[1].kind == OPERAND_NONE);
    if (branches && (inst->imm < f->first || inst->imm >= f->end))
        return fail(c, at, "branches out of its function");
    if (branches && p->blocks[p->block_of[inst->imm]].first != inst->imm)
        return fail(c, at, "branches into the middle of a block");
    if (inst->op == OP_call) {
        const struct function *to = program_function_at(p, (u32)inst->imm);
        if (!to || to->first != inst->imm)
            return fail(c, at, "calls something that is not a function");
    }
    if (inst->op == OP_brx && (inst->imm < 0 || inst->imm >= p->table_count))
        return fail(c, at, "uses a table that does not exist");
    for (u32 i = 0; inst->op == OP_brx && i < p->tables[inst->imm].count; i++) {
        u32 to = p->tables[inst->imm].targets[i];
        if (to < f->first || to >= f->end || p->blocks[p->block_of[to]].first != to)
            return fail(c, at, "entry %u of its table is not a block", i);
    }
    if (inst->location >= p->location_count)
        return fail(c, at, "location %u does not exist", inst->location);
    return true;
}

static bool check_block(const struct verifier *c, const struct function *f, u32 b)
{
    const struct program *p = c->program;
    const struct block *block = &p->blocks[b];
    if (block->first >= block->end)
        return fail(c, NO_INST, "block %u is empty", b);
    u32 unguarded = 0;
    for (u32 i = block->first; i < block->end; i++) {
        unguarded += p->insts[i].guard.kind == OPERAND_NONE;
        if (p->block_of[i] != b)
            return fail(c, i, "block_of does not name its block");
        if (i + 1 < block->end && op_info[p->insts[i].op].flags & OPF_BRANCH)
            return fail(c, i, "a branch inside a block");
    }
    if (unguarded != block->unguarded)
        return fail(c, block->first, "the block's count of unguarded instructions is wrong");
    if (block->ipdom == NO_BLOCK ? block->reconverge != NO_INST
                                 : block->reconverge != p->blocks[block->ipdom].first)
        return fail(c, block->end - 1, "reconverges at a block other than its post-dominator");
    for (u32 k = 0; k < 2; k++)
        if (block->successors[k] != NO_BLOCK &&
            (block->successors[k] < f->first_block || block->successors[k] >= f->block_end))
            return fail(c, block->end - 1, "its block's successor is in another function");
    return true;
}

static bool check_function(const struct verifier *c, const struct function *f)
{
    const struct program *p = c->program;
    u32 at = f->first;
    for (u32 b = f->first_block; b < f->block_end; b++) {
        if (p->blocks[b].first != at)
            return fail(c, at, "blocks are not contiguous");
        at = p->blocks[b].end;
        if (!check_block(c, f, b))
            return false;
    }
    if (at != f->end)
        return fail(c, at, "blocks do not cover the function");
    for (u32 i = f->first; i < f->end; i++)
        if (p->insts[i].op >= OP_COUNT || !check_operands(c, i, f) || !check_targets(c, i, f))
            return false;
    if (f->first == f->end)
        return true;
    const struct inst *last = &p->insts[f->end - 1];
    if (last->guard.kind != OPERAND_NONE || !(op_info[last->op].flags & OPF_BRANCH) ||
        last->op == OP_call || last->op == OP_calli || last->op == OP_bra_if ||
        last->op == OP_fork || last->op == OP_join ||
        (last->op == OP_jump && last->dst[0].kind != OPERAND_NONE))
        return fail(c, f->end - 1, "the function can run off its end");
    return true;
}

/* P1. */
static bool check_offsets(const struct verifier *c)
{
    const struct program *p = c->program;
    for (u32 i = 0; p->offsets && i < p->inst_count; i++) {
        if (p->offsets[i] + (u64)p->sizes[i] > p->load_bytes)
            return fail(c, i, "lies beyond the program's bytes");
        if (i && p->offsets[i] <= p->offsets[i - 1])
            return fail(c, i, "does not follow the instruction before it");
    }
    return true;
}

bool program_verify(const struct program *program, char *message, size_t size)
{
    struct verifier c = {program, message, size};
    if (program->constant_count < 2 || program->constants[0] != 0 ||
        program->constants[1] != UINT32_MAX)
        return fail(&c, NO_INST, "constants 0 and 1 are not all zeros and all ones");
    if (!check_offsets(&c))
        return false;
    for (u32 f = 0; f < program->function_count; f++)
        if (!check_function(&c, &program->functions[f]))
            return false;
    return true;
}
