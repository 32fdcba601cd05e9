/*
 * Timing properties of instructions in the miaow pipeline: the class of unit and the cycles of a
 * pass.
 *
 * From the RTL: the class of unit, and passes of v_mov, integer arithmetic and multiplication,
 * floating-point addition, multiplication, reciprocal, comparison and maximum. Assumed, because the
 * RTL lacks them and would hang: similar operations take as long (integer multiply-adds as
 * multiplications, square roots and other functions as the reciprocal), and 64-bit floating-point
 * operations simf_double times as long.
 */
#include "core/miaow/miaow.h"

static bool has_vector(const struct inst *inst)
{
    for (u32 k = 0; k < ARRAY_LEN(inst->src); k++)
        if (inst->src[k].kind == OPERAND_VECTOR)
            return true;
    return inst->dst[0].kind == OPERAND_VECTOR || inst->dst[1].kind == OPERAND_VECTOR;
}

static bool is_scalar(const struct inst *inst)
{
    const struct op_info *info = &op_info[inst->op];
    return info->unit == UNIT_CTRL ||
           ((info->flags & OPF_SCALAR || info->unit == UNIT_SCALAR) && !has_vector(inst));
}

static bool is_float(const struct inst *inst)
{
    const struct op_info *info = &op_info[inst->op];
    return info->flags & OPF_FLOAT || info->unit == UNIT_FP32 || info->unit == UNIT_FP64 ||
           info->unit == UNIT_SFU;
}

static u32 float_pass(const struct miaow_params *p, const struct inst *inst)
{
    const struct op_info *info = &op_info[inst->op];
    if (inst->op == OP_cvt || info->unit == UNIT_INT)
        return p->simf_convert;
    switch (info->latency) {
    case LATENCY_ADD:
        return p->simf_add;
    case LATENCY_MUL:
        return p->simf_mul;
    case LATENCY_MAD:
        /* one that accumulates into its own result is a multiplication, with the addition at no
         * cost */
        return inst->src[2].kind == OPERAND_VECTOR && inst->src[2].index == inst->dst[0].index
                   ? p->simf_mul
                   : p->simf_mad;
    case LATENCY_DIV:
    case LATENCY_SFU:
        return p->simf_div;
    default:
        return p->simf_simple;
    }
}

static u32 integer_pass(const struct miaow_params *p, const struct inst *inst)
{
    switch (op_info[inst->op].latency) {
    case LATENCY_MUL:
    case LATENCY_MAD:
    case LATENCY_DIV:
        return p->simd_mul;
    default:
        return p->simd_simple;
    }
}

/* v_mad_f32; the RTL treats the forms with a literal or in a single word differently. */
static bool restarts(const struct program *program, u32 i)
{
    const struct inst *inst = &program->insts[i];
    return inst->op == OP_mad_f32 &&
           program_offset(program, i + 1) - program_offset(program, i) > 4 &&
           inst->src[1].kind != OPERAND_CONST;
}

/* The pipe that stands for a class of units, and the cycles of a pass. */
static void set_class(struct inst_time *time, const struct timed_code *code, u32 i)
{
    const struct inst *inst = &code->program->insts[i];
    const struct miaow_params *p = code->config->miaow;
    if (op_info[inst->op].unit == UNIT_MEM) {
        time->pipe = PIPE_MEMORY;
    } else if (is_scalar(inst) || inst->op == OP_nop) {
        time->pipe = PIPE_SCALAR;
        time->latency = time->interval = (u16)p->scalar_latency;
    } else if (is_float(inst)) {
        const bool wide = op_info[inst->op].unit == UNIT_FP64 || inst->type == TYPE_F64 ||
                          inst->stype == TYPE_F64;
        time->pipe = PIPE_SP;
        time->flags |= restarts(code->program, i) ? TIME_RESTART : 0;
        time->interval = (u16)(float_pass(p, inst) * (wide ? p->simf_double : 1));
    } else {
        time->pipe = PIPE_INT;
        time->interval = (u16)integer_pass(p, inst);
    }
    if (inst->op == OP_end)
        time->flags |= TIME_END;
}

static bool reads_exec(const struct inst *inst)
{
    return !is_scalar(inst) &&
           !(op_info[inst->op].unit == UNIT_MEM && op_info[inst->op].flags & OPF_SCALAR);
}

static bool reads_scc(const struct inst *inst)
{
    return inst->op == OP_sbrev_b32 || inst->op == OP_ssext_s8; /* as in the RTL's decoder */
}

/* In the RTL's decoder and scalar ALU the instruction writes SCC, as s_addk_i32 does; according to
 * the ISA manual SCC does not change. */
bool miaow_writes_scc(const struct inst *inst)
{
    return inst->op == OP_smul_s32 && inst->key;
}

void miaow_time(struct inst_time *time, const struct timed_code *code, u32 i)
{
    const struct inst *inst = &code->program->insts[i];
    struct implied implied = {.whole_masks = true};
    if (code->program->traits.explicit_exec)
        implied = (struct implied){reads_exec(inst), reads_scc(inst), miaow_writes_scc(inst), true};
    time_place(time, inst, code->config);
    time_cost(time, inst, code->config);
    time_flags(time, inst);
    set_class(time, code, i);
    time_registers(time, code, inst, implied);
    time_finish(time, inst, code->config);
}
