/* Lane counts of a launch: see lanes.h. */
#include "gpu/time/lanes.h"

#include "base/events.h"
#include <stdlib.h>

static enum lane_kind kind_of(const struct inst *inst)
{
    const struct op_info *info = &op_info[inst->op];
    if (info->flags & OPF_SCALAR)
        return LANE_SCALAR;
    if (info->latency == LATENCY_DIV) /* divisions use the special-function pipe (core/decode.c) */
        return LANE_SFU;
    switch (info->event) {
    case EVENT_FP32:
        return LANE_FP32;
    case EVENT_FP64:
        return LANE_FP64;
    case EVENT_SFU:
        return LANE_SFU;
    case EVENT_MEM:
        return LANE_MEM;
    case EVENT_SCALAR:
        return LANE_SCALAR;
    case EVENT_CTRL:
        return LANE_CONTROL;
    default:
        return LANE_INT;
    }
}

/* The number of scalar registers in a list; masks count only with explicit EXEC. */
static u32 scalars_in(const struct operand *list, u32 count, bool masks)
{
    u32 sum = 0;
    for (u32 i = 0; i < count; i++)
        sum += list[i].kind == OPERAND_SCALAR          ? list[i].count
               : list[i].kind == OPERAND_MASK && masks ? 2
                                                       : 0;
    return sum;
}

static u32 words_in(const struct operand *list, u32 count)
{
    u32 sum = 0;
    for (u32 i = 0; i < count; i++)
        sum += list[i].kind == OPERAND_VECTOR || list[i].kind == OPERAND_CONST ? list[i].count : 0;
    return sum;
}

/* Counts shared-memory words. After the address, a store has its data, an atomic its operands,
 * which are one or two words for each word changed. */
static void use_shared(struct lane_use *use, const struct inst *inst)
{
    const u32 flags = op_info[inst->op].flags;
    u32 stored = words_in(inst->src + 1, flags & OPF_ATOMIC ? 1 : ARRAY_LEN(inst->src) - 1);
    u32 loaded = flags & OPF_ATOMIC ? stored : words_in(inst->dst, ARRAY_LEN(inst->dst));
    use->shared_reads = flags & OPF_LOAD ? (u8)loaded : 0;
    use->shared_writes = flags & OPF_STORE ? (u8)stored : 0;
}

struct lane_use *lanes_of_program(const struct program *program, const struct inst_time *times)
{
    const bool masks = program->traits.explicit_exec;
    struct lane_use *uses = checked(calloc(MAX(program->inst_count, 1), sizeof *uses));
    for (u32 i = 0; i < program->inst_count; i++) {
        const struct inst *inst = &program->insts[i];
        const struct op_info *info = &op_info[inst->op];
        struct operand list[INST_REFS];
        uses[i].reads = times[i].read_count;
        uses[i].writes = times[i].result_count;
        uses[i].kind = (u8)kind_of(inst);
        uses[i].multiplies = uses[i].kind == LANE_INT &&
                             (info->latency == LATENCY_MUL || info->latency == LATENCY_MAD);
        uses[i].scalar_reads = (u8)scalars_in(list, inst_reads(inst, list), masks);
        uses[i].scalar_writes = (u8)scalars_in(list, inst_writes(inst, list), masks);
        uses[i].constant =
            info->unit == UNIT_MEM && (inst->space == SPACE_CONST || inst->space == SPACE_PARAM);
        if (info->unit == UNIT_MEM && inst->space == SPACE_SHARED)
            use_shared(&uses[i], inst);
    }
    return uses;
}

/* `more` may be negative, down to -sum. */
static u64 with(u64 sum, i64 more)
{
    return sum + (u64)more;
}

struct lane_work_sum lanes_of_profile(const struct lane_use *use,
                                      const struct inst_profile *profile)
{
    const u64 lanes = profile->threads, warps = profile->issued;
    return (struct lane_work_sum){
        .reads = with(lanes * use->reads, profile->more_reads),
        .writes = with(lanes * use->writes, profile->more_writes),
        .shared_reads = lanes * use->shared_reads,
        .shared_writes = lanes * use->shared_writes,
        .scalar_reads = warps * use->scalar_reads,
        .scalar_writes = warps * use->scalar_writes,
        .ops = use->kind == LANE_SCALAR ? warps : with(lanes, profile->more_ops),
    };
}

void lanes_count(struct machine_stats *stats, const struct lane_use *uses,
                 const struct inst_profile *profile, u32 count, u64 unwritten)
{
    u64 ops[LANE_KINDS] = {0}, multiplies = 0;
    struct lane_work_sum all = {0};
    for (u32 i = 0; i < count; i++) {
        if (!profile[i].issued)
            continue;
        const struct lane_work_sum one = lanes_of_profile(&uses[i], &profile[i]);
        all.reads += one.reads;
        all.writes += one.writes;
        all.shared_reads += one.shared_reads;
        all.shared_writes += one.shared_writes;
        all.scalar_reads += one.scalar_reads;
        all.scalar_writes += one.scalar_writes;
        ops[uses[i].kind] += one.ops;
        multiplies += uses[i].multiplies ? one.ops : 0;
    }
    stats->collect.lane_reads = all.reads;
    stats->collect.lane_writes = all.writes - unwritten;
    stats->collect.scalar_reads = all.scalar_reads;
    stats->collect.scalar_writes = all.scalar_writes;
    stats->lsu.shared_reads = all.shared_reads;
    stats->lsu.shared_writes = all.shared_writes;
    stats->units.int_ops = ops[LANE_INT];
    stats->units.int_multiplies = multiplies;
    stats->units.fp32_ops = ops[LANE_FP32];
    stats->units.fp64_ops = ops[LANE_FP64];
    stats->units.sfu_ops = ops[LANE_SFU];
    stats->units.mem_ops = ops[LANE_MEM];
    stats->units.control_ops = ops[LANE_CONTROL];
    stats->units.scalar_ops = ops[LANE_SCALAR];
}
