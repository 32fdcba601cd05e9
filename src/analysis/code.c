/* Reads and writes of instructions, in virtual and physical form. See code.h. */
#include "analysis/code.h"

struct operand *inst_tuple_operand(struct inst *inst)
{
    if (!inst->spare)
        return NULL;
    return inst_loads_tuple(inst) ? &inst->dst[0] : &inst->src[1];
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

void inst_refs(const struct code *code, const struct inst *inst, struct refs *refs)
{
    refs->read_count = refs->write_count = 0;
    const struct tuple *tuple = code->is_virtual && inst->spare ? &code->tuples[inst->spare] : NULL;
    bool stored = !inst_loads_tuple(inst);
    for (unsigned i = 0; i < ARRAY_LEN(inst->src); i++)
        add(code, inst->src[i], stored && i == 1 ? tuple : NULL, refs->reads, &refs->read_count);
    for (unsigned i = 0; i < ARRAY_LEN(inst->dst); i++)
        add(code, inst->dst[i], !stored && i == 0 ? tuple : NULL, refs->writes, &refs->write_count);
    refs->kills = inst->guard.kind == OPERAND_NONE;
    if (!refs->kills) {
        add(code, inst->guard, NULL, refs->reads, &refs->read_count);
        if (inst->op != OP_bra)
            for (u32 i = 0; i < refs->write_count; i++)
                refs->reads[refs->read_count++] = refs->writes[i];
    }
}

struct code code_of(const struct program *program, const struct function *function)
{
    return (struct code){.insts = program->insts + function->first,
                         .count = function->end - function->first,
                         .base = function->first,
                         .tables = program->tables,
                         .constants = program->constants,
                         .vectors = function->registers,
                         .masks = function->masks,
                         .explicit_exec = program->traits.explicit_exec};
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
        return inst->dst[0].kind != OPERAND_NONE; /* a call: writes a return address */
    default:
        return true;
    }
}
