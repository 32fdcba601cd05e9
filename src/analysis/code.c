/* Reads and writes of instructions, in virtual and physical form. See code.h. */
#include "analysis/exec_flow.h"
#include "ir/scalars.h"

struct operand *inst_tuple_operand(struct inst *inst)
{
    if (!inst->spare)
        return NULL;
    return inst->op == OP_ld ? &inst->dst[0] : &inst->src[1];
}

static void add(const struct code *code, struct operand operand, const struct tuple *tuple,
                u32 *list, u32 *count)
{
    if (operand.kind == OPERAND_MASK) {
        list[(*count)++] = code->vectors + operand.index;
        return;
    }
    if (operand.kind != OPERAND_VECTOR)
        return;
    if (tuple) {
        for (u32 i = 0; i < tuple->count; i++)
            list[(*count)++] = tuple->registers[i];
        return;
    }
    u32 words = code->is_virtual ? 1 : operand.count;
    for (u32 i = 0; i < words; i++)
        list[(*count)++] = operand.index + i;
}

static const struct operand vcc = {.kind = OPERAND_SCALAR, .index = SCALAR_VCC, .count = 2};
static const struct operand m0 = {.kind = OPERAND_SCALAR, .index = SCALAR_M0, .count = 1};

static bool has_liveness(u32 scalar)
{
    return scalar < SCALAR_EXEC || scalar == SCALAR_SCC;
}

/* Words of a scalar or mask operand; what is derived is read from its origin. */
static void add_scalars(const struct code *code, struct operand operand, u32 *list, u32 *count)
{
    bool mask = operand.kind == OPERAND_MASK;
    u32 first = mask ? 2 * operand.index : operand.index;
    u32 words = mask ? 2 : operand.count;
    if (first == SCALAR_VCCZ) {
        first = SCALAR_VCC;
        words = 2;
    }
    for (u32 i = first; i < first + words; i++)
        if (has_liveness(i))
            list[(*count)++] = code->vectors + i;
}

/* With explicit EXEC: implicit operands count, and each kind kills by its own rule (C4). */
static void explicit_refs(const struct code *code, const struct inst *inst, struct refs *refs)
{
    struct operand list[INST_REFS];
    u32 count = inst_reads(inst, list);
    for (u32 i = 0; i < count; i++) {
        bool scalar = list[i].kind == OPERAND_SCALAR || list[i].kind == OPERAND_MASK;
        if (list[i].kind != OPERAND_MASK && !list[i].count) { /* all from the one that is named */
            refs->range_first = scalar ? code->vectors + list[i].index : list[i].index;
            refs->range_end = scalar ? code->vectors + SCALAR_EXEC : code->vectors;
        } else if (scalar) {
            add_scalars(code, list[i], refs->reads, &refs->read_count);
        } else {
            add(code, list[i], NULL, refs->reads, &refs->read_count);
        }
    }
    bool anywhere = inst->op == OP_jump || inst->op == OP_join;
    if (anywhere) { /* what is there may read anything */
        refs->range_first = 0;
        refs->range_end = code->vectors + SCALAR_GENERAL_END;
        add_scalars(code, vcc, refs->reads, &refs->read_count);
        add_scalars(code, m0, refs->reads, &refs->read_count);
    }
    count = inst_writes(inst, list);
    for (u32 i = 0; i < count; i++)
        if ((list[i].kind == OPERAND_SCALAR && list[i].count) || list[i].kind == OPERAND_MASK)
            add_scalars(code, list[i], refs->writes, &refs->write_count);
    refs->kill_count = refs->write_count;
    for (u32 i = 0; i < count; i++)
        if (list[i].kind == OPERAND_VECTOR)
            add(code, list[i], NULL, refs->writes, &refs->write_count);
    u32 at = (u32)(inst - code->insts);
    while (refs->kill_count < refs->write_count &&
           exec_flow_kills(code->exec, at, refs->writes[refs->kill_count]))
        refs->kill_count++;
    refs->kills = refs->kill_count == refs->write_count;
}

void inst_refs(const struct code *code, const struct inst *inst, struct refs *refs)
{
    refs->read_count = refs->write_count = refs->kill_count = 0;
    refs->range_first = refs->range_end = 0;
    if (code->explicit_exec) {
        explicit_refs(code, inst, refs);
        return;
    }
    const struct tuple *tuple = code->is_virtual && inst->spare ? &code->tuples[inst->spare] : NULL;
    bool stored = inst->op != OP_ld;
    for (unsigned i = 0; i < ARRAY_LEN(inst->src); i++)
        add(code, inst->src[i], stored && i == 1 ? tuple : NULL, refs->reads, &refs->read_count);
    for (unsigned i = 0; i < ARRAY_LEN(inst->dst); i++)
        add(code, inst->dst[i], !stored && i == 0 ? tuple : NULL, refs->writes, &refs->write_count);
    refs->kills = inst->guard.kind == OPERAND_NONE;
    refs->kill_count = refs->kills ? refs->write_count : 0;
    if (!refs->kills) {
        add(code, inst->guard, NULL, refs->reads, &refs->read_count);
        if (inst->op != OP_bra)
            for (u32 i = 0; i < refs->write_count; i++)
                refs->reads[refs->read_count++] = refs->writes[i];
    }
}

struct code code_of(const struct program *program, const struct function *function)
{
    bool explicit_exec = program->traits.explicit_exec;
    return (struct code){.insts = program->insts + function->first,
                         .count = function->end - function->first,
                         .base = function->first,
                         .tables = program->tables,
                         .constants = program->constants,
                         .vectors = function->registers,
                         .masks = explicit_exec ? SCALAR_COUNT : function->masks,
                         .explicit_exec = explicit_exec};
}

bool inst_falls_through(const struct inst *inst)
{
    if (inst->guard.kind != OPERAND_NONE)
        return true;
    switch (inst->op) {
    case OP_bra:
    case OP_brx:
    case OP_ret:
    case OP_exit:
    case OP_trap:
    case OP_end:
    case OP_strap:
        return false;
    case OP_jump:
        return inst->dst[0].kind != OPERAND_NONE; /* with a way back */
    default:
        return true;
    }
}
