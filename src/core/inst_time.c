/*
 * The timing properties of each instruction: its pipe, its latency and interval, the registers it
 * reads through the banks and the scoreboard bits it depends on.
 *
 * Deviations: all vector instructions that are neither memory accesses nor of a timed arithmetic
 * class take the integer pipe at units.int_simple, including control flow, as in GPGPU-Sim.
 * Divisions and remainders of any type take the special-function pipe.
 */
#include "core/inst_time.h"
#include "core/common/common.h"
#include "ir/scalars.h"

/* ---- pipes and latencies ---- */

struct cost {
    u32 latency, interval;
};

static struct cost cost_of(const struct units_params *u, enum unit unit, enum latency class)
{
#define COST(name) ((struct cost){u->name, u->name##_interval})
    switch (class) {
    case LATENCY_ADD:
        return unit == UNIT_FP64   ? COST(fp64_add)
               : unit == UNIT_FP32 ? COST(fp32_add)
                                   : COST(int_add);
    case LATENCY_MAX:
        return unit == UNIT_FP64   ? COST(fp64_max)
               : unit == UNIT_FP32 ? COST(fp32_max)
                                   : COST(int_max);
    case LATENCY_MUL:
        return unit == UNIT_FP64   ? COST(fp64_mul)
               : unit == UNIT_FP32 ? COST(fp32_mul)
                                   : COST(int_mul);
    case LATENCY_MAD:
        return unit == UNIT_FP64   ? COST(fp64_mad)
               : unit == UNIT_FP32 ? COST(fp32_mad)
                                   : COST(int_mad);
    case LATENCY_DIV:
        return unit == UNIT_FP64   ? COST(fp64_div)
               : unit == UNIT_FP32 ? COST(fp32_div)
                                   : COST(int_div);
    case LATENCY_SHFL:
        return COST(shuffle);
    case LATENCY_SFU:
        return (struct cost){u->sfu_latency, u->sfu_interval};
    default: /* SIMPLE, CTRL */
        return COST(int_simple);
    }
#undef COST
}

static bool is_int_multiply(const struct op_info *info)
{
    return info->unit == UNIT_INT && (info->latency == LATENCY_MUL || info->latency == LATENCY_MAD);
}

static enum pipe pipe_of(const struct units_params *u, const struct inst *inst)
{
    const struct op_info *info = &op_info[inst->op];
    const enum pipe integer = u->integer ? PIPE_INT : PIPE_SP;
    if (info->unit == UNIT_MEM)
        return PIPE_MEMORY;
    if (info->unit == UNIT_SCALAR || (info->unit == UNIT_CTRL && info->flags & OPF_SCALAR))
        return PIPE_SCALAR;
    switch (info->latency) {
    case LATENCY_SIMPLE:
    case LATENCY_SHFL:
    case LATENCY_CTRL:
        return integer;
    case LATENCY_DIV:
    case LATENCY_SFU:
        return PIPE_SFU;
    default:
        break;
    }
    if (info->unit == UNIT_FP64)
        return u->fp64 ? PIPE_FP64 : PIPE_SFU;
    if (is_int_multiply(info) && u->int_mul_unit == INT_MUL_SFU)
        return PIPE_SFU;
    return info->unit == UNIT_FP32 ? PIPE_SP : integer;
}

static enum turn_kind kind_of(const struct inst *inst, enum pipe pipe)
{
    const struct op_info *info = &op_info[inst->op];
    switch (inst->op) {
    case OP_nop:
    case OP_wait:
    case OP_sleep:
    case OP_end:
    case OP_bar_whole:
        return TURN_INTERNAL;
    default:
        break;
    }
    if (info->flags & OPF_BRANCH)
        return TURN_BRANCH;
    if (pipe == PIPE_MEMORY && !(info->flags & OPF_SCALAR))
        return inst->space == SPACE_SHARED ? TURN_SHARED : TURN_ACCESS;
    return pipe == PIPE_MEMORY || pipe == PIPE_SCALAR ? TURN_SCALAR : TURN_VECTOR;
}

static u32 lanes_of(const struct units_params *u, enum pipe pipe)
{
    return pipe == PIPE_FP64 ? u->fp64_lanes : pipe == PIPE_SFU ? u->sfu_lanes : u->sp_lanes;
}

void time_place(struct inst_time *time, const struct inst *inst, const struct core_config *config)
{
    time->pipe = (u8)pipe_of(config->units, inst);
    time->kind = (u8)kind_of(inst, time->pipe);
}

/* A warp passes a narrow unit several times: each further pass adds the interval to unit time and
 * latency. */
void time_cost(struct inst_time *time, const struct inst *inst, const struct core_config *config)
{
    const struct units_params *u = config->units;
    const struct op_info *info = &op_info[inst->op];
    if (time->pipe == PIPE_SCALAR) {
        time->latency = (u16)u->scalar_latency;
        time->interval = (u16)u->scalar_interval;
        return;
    }
    if (time->pipe == PIPE_MEMORY)
        return;
    struct cost cost = cost_of(u, info->unit, info->latency);
    u32 lanes = lanes_of(u, time->pipe);
    u32 passes = (config->core->warp_size + lanes - 1) / lanes;
    time->interval = (u16)(cost.interval * passes);
    time->latency = (u16)MAX(cost.latency + cost.interval * (passes - 1), time->interval);
}

u32 time_longest(const struct core_config *config)
{
    u32 longest = 0;
    for (u32 op = 0; op < OP_COUNT; op++) {
        struct inst inst = {.op = (u16)op};
        struct inst_time time = {0};
        time_place(&time, &inst, config);
        time_cost(&time, &inst, config);
        longest = MAX(longest, time.latency);
    }
    return longest;
}

/* ---- registers ---- */

/* Scoreboard bits: vector registers first, then scalar registers (which begin a word, so that pairs
 * of them are in one) or masks (which do not, so that one word suffices for most programs). */
u32 time_scalar_base(const struct program *program)
{
    u32 registers = 0;
    for (u32 i = 0; i < program->function_count; i++)
        registers = MAX(registers, program->functions[i].total_registers);
    return program->traits.explicit_exec ? (u32)align_up(registers, 64) : registers;
}

u32 time_scoreboard_bits(const struct program *program, const struct function *kernel)
{
    const u32 scalars =
        program->traits.explicit_exec ? (u32)SCALAR_COUNT : MAX(kernel->total_masks, 1);
    return time_scalar_base(program) + scalars;
}

static void add_bits(struct inst_time *time, u32 first, u32 count)
{
    for (u32 at = first; at < first + count; at++) {
        u32 word = at / 64, i = 0;
        while (i < time->dependence_count && time->dependences[i].word != word)
            i++;
        if (i == time->dependence_count) {
            if (i == MAX_DEPENDENCES) {
                time->flags |= TIME_DRAIN;
                return;
            }
            time->dependences[i].word = word;
            time->dependences[i].bits = 0;
            time->dependence_count++;
        }
        time->dependences[i].bits |= bit(at % 64);
    }
}

/* A register operand indexed by M0, from `first` on: which registers it reads or writes is known
 * only at execution. So it runs alone, and everything it may write is pending until it is done. */
static void add_open(struct inst_time *time, u32 first, u32 end)
{
    time->flags |= TIME_DRAIN;
    add_bits(time, first, end > first ? end - first : 0);
}

/* Adds the scoreboard bits of an operand. */
static void add_operand(struct inst_time *time, const struct program *program, u32 base,
                        struct operand o)
{
    switch (o.kind) {
    case OPERAND_VECTOR:
        if (!o.count)
            add_open(time, o.index, base);
        add_bits(time, o.index, o.count);
        break;
    case OPERAND_MASK:
        if (program->traits.explicit_exec)
            add_bits(time, base + 2 * o.index, 2);
        else
            add_bits(time, base + o.index, 1);
        break;
    case OPERAND_SCALAR:
        if (!o.count)
            add_open(time, base + o.index, base + SCALAR_VCC);
        if (o.index == SCALAR_VCCZ)
            add_bits(time, base + SCALAR_VCC, 2);
        else if (o.index == SCALAR_EXECZ)
            add_bits(time, base + SCALAR_EXEC, 2);
        else
            add_bits(time, base + o.index, o.count);
        break;
    default:
        break;
    }
}

static void add_writes(struct inst_time *time, const struct program *program,
                       const struct inst *inst, u32 base, struct implied implied)
{
    struct operand list[INST_REFS];
    u32 count = inst_writes(inst, list);
    for (u32 i = 0; i < count; i++)
        add_operand(time, program, base, list[i]);
    if (implied.writes_scc)
        add_bits(time, base + SCALAR_SCC, 1);
    time->write_count = time->reserve_count = time->dependence_count;
    time->region_count = (u8)count;
    time->reserves = count;
}

/*
 * Reads come after the writes, in entries of their own, so that reserving uses exactly the first
 * entries.
 */
static void add_reads(struct inst_time *time, const struct program *program,
                      const struct inst *inst, u32 base, struct implied implied)
{
    struct inst_time reads = {0};
    struct operand list[INST_REFS];
    u32 count = inst_reads(inst, list);
    for (u32 i = 0; i < count; i++)
        add_operand(&reads, program, base, list[i]);
    if (implied.reads_exec)
        add_bits(&reads, base + SCALAR_EXEC, 2);
    if (implied.reads_scc)
        add_bits(&reads, base + SCALAR_SCC, 1);
    if (program->traits.explicit_exec && inst->mods & MOD_MODE)
        add_bits(&reads, base + SCALAR_MODE, 1);
    time->flags |= reads.flags;
    for (u32 i = 0; i < reads.dependence_count; i++) {
        if (time->dependence_count == MAX_DEPENDENCES) {
            time->flags |= TIME_DRAIN;
            return;
        }
        time->dependences[time->dependence_count++] = reads.dependences[i];
    }
}

void time_flags(struct inst_time *time, const struct inst *inst)
{
    u32 flags = op_info[inst->op].flags;
    if (flags & OPF_BRANCH)
        time->flags |= TIME_BRANCH;
    if (flags & (OPF_BARRIER | OPF_CROSS))
        time->flags |= TIME_BARRIER;
    if (flags & OPF_BARRIER && !(flags & OPF_CROSS))
        time->flags |= TIME_BLOCK_BARRIER;
    if (flags & OPF_LOAD)
        time->flags |= TIME_LOAD;
    if (time->pipe == PIPE_MEMORY && flags & OPF_SCALAR)
        time->flags |= TIME_SCALAR_MEMORY;
    switch (inst->op) {
    case OP_fence:
        time->flags |= TIME_FENCE;
        break;
    case OP_wait:
        time->flags |= TIME_COUNTERS;
        break;
    case OP_sgetreg:
    case OP_fork:
    case OP_join:
        time->flags |= TIME_DRAIN;
        break;
    case OP_syscall:
        time->flags |= TIME_DRAIN | TIME_SERIAL;
        break;
    default:
        break;
    }
}

/* Prepares the fast check that suffices for most instructions. */
static void set_plain(struct inst_time *time, const struct issue_params *issue)
{
    const u32 special = TIME_FENCE | TIME_COUNTERS | TIME_DRAIN | TIME_BLOCK_BARRIER | TIME_SERIAL;
    time->plain = !(time->flags & special) && !issue->in_flight_per_warp && !issue->scoreboard &&
                  !time->counter;
    time->flags |= issue->scoreboard ? 0 : TIME_NEAR;
    for (u32 i = 0; i < time->dependence_count; i++) {
        const u32 word = time->dependences[i].word;
        const u64 bits = time->dependences[i].bits;
        if (word >= NEAR_WORDS) {
            time->plain = false;
            time->flags &= (u16)~TIME_NEAR;
            time->far_writes |= i < time->reserve_count;
            continue;
        }
        time->near[word] |= bits;
        if (i >= time->write_count)
            time->near_reads[word] |= bits;
        else if (i < time->reserve_count)
            time->near_writes[word] |= bits;
    }
}

/* VCC and EXEC count as one register each for the scoreboard. */
static void join_halves(struct inst_time *time, u32 base)
{
    const u32 words[] = {SCALAR_VCC, SCALAR_EXEC};
    for (u32 i = 0; i < time->dependence_count; i++)
        for (u32 k = 0; k < ARRAY_LEN(words); k++) {
            const u64 both = 3ull << (base + words[k]) % 64;
            if (time->dependences[i].word == (base + words[k]) / 64 &&
                time->dependences[i].bits & both)
                time->dependences[i].bits |= both;
        }
}

void time_registers(struct inst_time *time, const struct timed_code *code, const struct inst *inst,
                    struct implied implied)
{
    add_writes(time, code->program, inst, code->scalar_base, implied);
    add_reads(time, code->program, inst, code->scalar_base, implied);
    if (implied.whole_masks)
        join_halves(time, code->scalar_base);
}

void time_finish(struct inst_time *time, const struct inst *inst, const struct core_config *config)
{
    collect_time(time, inst, config);
    set_plain(time, config->issue);
}

/* ---- whole instructions ---- */

void time_own(struct inst_time *time, const struct inst *inst, const struct core_config *config)
{
    memset(time, 0, sizeof *time);
    time_place(time, inst, config);
    time_cost(time, inst, config);
    collect_time(time, inst, config);
}

void time_program(struct inst_time *times, const struct image *image,
                  const struct core_config *config)
{
    const struct program *program = image->program;
    const struct pipeline *pipeline = pipeline_of(config->core);
    const struct timed_code code = {program, config, time_scalar_base(program)};
    for (u32 i = 0; i < program->inst_count; i++) {
        memset(&times[i], 0, sizeof times[i]);
        pipeline->time(&times[i], &code, i);
    }
    fetch_time(times, image, config);
}
