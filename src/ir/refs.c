/* All operands that an instruction reads and writes, including implicit ones: see program.h. */
#include "ir/program.h"
#include "ir/scalars.h"

static const struct operand exec = {.kind = OPERAND_SCALAR, .index = SCALAR_EXEC, .count = 2};
static const struct operand mode = {.kind = OPERAND_SCALAR, .index = SCALAR_MODE, .count = 1};

static u32 add_all(const struct operand *from, u32 n, struct operand *list)
{
    u32 count = 0;
    for (u32 k = 0; k < n; k++)
        if (from[k].kind != OPERAND_NONE)
            list[count++] = from[k];
    return count;
}

/* Marks an operand that M0 indexes as open: all registers from the named one on (count 0). */
static void open_range(struct operand *list, u32 count, enum operand_kind kind, u32 index)
{
    for (u32 k = 0; k < count; k++)
        if (list[k].kind == kind && list[k].index == index)
            list[k].count = 0;
}

static bool is_stack_op(const struct inst *inst)
{
    return inst->op == OP_fork || inst->op == OP_join;
}

static const struct operand stack = {.kind = OPERAND_SCALAR, .index = 0, .count = 0};

u32 inst_writes(const struct inst *inst, struct operand list[INST_REFS])
{
    u32 count = add_all(inst->dst, ARRAY_LEN(inst->dst), list);
    switch (inst->op) {
    case OP_movrel_dst:
    case OP_movrel_both:
    case OP_smovrel_dst_b32:
    case OP_smovrel_dst_b64:
        open_range(list, count, inst->dst[0].kind, inst->dst[0].index);
        break;
    default:
        break;
    }
    if (inst->mods & MOD_EXEC)
        list[count++] = exec;
    if (is_stack_op(inst)) {
        list[count++] = exec;
        list[count++] = mode;
        if (inst->op == OP_fork)
            list[count++] = stack;
    }
    return count;
}

u32 inst_reads(const struct inst *inst, struct operand list[INST_REFS])
{
    u32 count = add_all(inst->src, ARRAY_LEN(inst->src), list);
    switch (inst->op) {
    case OP_movrel_src:
    case OP_movrel_both:
    case OP_smovrel_src_b32:
    case OP_smovrel_src_b64:
        open_range(list, count, inst->src[0].kind, inst->src[0].index);
        break;
    default:
        break;
    }
    if (inst->guard.kind != OPERAND_NONE)
        list[count++] = inst->guard;
    if (is_stack_op(inst)) {
        list[count++] = exec;
        list[count++] = mode;
        if (inst->op == OP_join)
            list[count++] = stack;
    }
    return count;
}

/* Whether a written operand has a scalar in [first, first + n). */
static bool writes_scalar(const struct inst *inst, u32 first, u32 n)
{
    struct operand list[INST_REFS];
    u32 count = inst_writes(inst, list);
    for (u32 k = 0; k < count; k++) {
        struct operand o = list[k];
        u32 from = o.kind == OPERAND_MASK ? 2 * o.index : o.index;
        u32 words = o.kind == OPERAND_MASK ? 2 : o.count ? o.count : SCALAR_COUNT;
        if ((o.kind == OPERAND_SCALAR || o.kind == OPERAND_MASK) && from < first + n &&
            first < from + words)
            return true;
    }
    return false;
}

bool inst_writes_exec(const struct inst *inst)
{
    return writes_scalar(inst, SCALAR_EXEC, 2);
}

bool inst_writes_mode(const struct inst *inst)
{
    return writes_scalar(inst, SCALAR_MODE, 1);
}
