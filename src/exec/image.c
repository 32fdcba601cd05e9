/* Makes a program ready to run: see image.h. */
#include "exec/image.h"

#include <stdlib.h>

/* Bytes from a warp's base (S3). */
static u32 mask_offset(const struct image *image, u32 index)
{
    return (index / LANES * image->warp_size + index % LANES) * (u32)sizeof(u32);
}

static void place_operand(struct step *step, unsigned slot, struct operand operand,
                          const struct image *image)
{
    u64 row = image->warp_size * sizeof(u32);
    switch (operand.kind) {
    case OPERAND_VECTOR:
        step->select[slot] = ~0ull;
        step->row[slot] = (image->mask_rows + operand.index) * row;
        break;
    case OPERAND_CONST:
        step->row[slot] = (uintptr_t)image->constants + operand.index * row;
        break;
    case OPERAND_MASK:
    case OPERAND_SCALAR:
        step->select[slot] = ~0ull;
        step->row[slot] = mask_offset(image, operand.index);
        break;
    default:
        break;
    }
}

static bool is_register(struct operand operand)
{
    return operand.kind == OPERAND_VECTOR;
}

/* Loads and stores of whole words; others take the long way through spaces.c. */
static enum shape memory_shape(const struct inst *inst, struct step *step)
{
    bool load = inst->op == OP_ld;
    struct operand data = load ? inst->dst[0] : inst->src[1], address = inst->src[0];
    u32 bytes = type_bytes(inst->type), total = bytes * MAX(inst->vector, 1);
    if (bytes < 4 || data.count * 4 != total || (load && !is_register(data)))
        return SHAPE_OTHER;
    step->words = data.count;
    step->wide = address.count > 1;
    if (inst->space == SPACE_PARAM) {
        if (!load || address.kind != OPERAND_NONE || inst->imm < 0 || inst->imm & (total - 1) ||
            inst->imm + total > UINT16_MAX)
            return SHAPE_OTHER;
        step->uniform = (u32)inst->imm + UNIFORM_PARAMS * sizeof(u32);
        return SHAPE_UNIFORM;
    }
    if (!is_register(address) || inst->imm != (i32)inst->imm || inst->space == SPACE_LOCAL)
        return SHAPE_OTHER;
    if (inst->space == SPACE_SHARED) {
        if (data.count != 1)
            return SHAPE_OTHER;
        return load ? SHAPE_SHARED_LOAD : SHAPE_SHARED_STORE;
    }
    if (!step->wide || (!load && data.count != 1))
        return SHAPE_OTHER;
    return load ? SHAPE_GLOBAL_LOAD : SHAPE_GLOBAL_STORE;
}

static enum shape special_shape(const struct inst *inst, struct step *step)
{
    u32 special = (u32)inst->imm;
    if (!is_register(inst->dst[0]) || inst->dst[0].count != 1 || special > SPECIAL_nctaid_z)
        return SHAPE_OTHER;
    step->words = 1;
    if (special <= SPECIAL_tid_z) {
        step->uniform = special - SPECIAL_tid_x;
        return SHAPE_THREAD;
    }
    step->uniform = (UNIFORM_NTID + special - SPECIAL_ntid_x) * (u32)sizeof(u32);
    return SHAPE_UNIFORM;
}

static enum shape shape_of(const struct inst *inst, struct step *step)
{
    u16 flags = op_info[inst->op].flags;
    if (flags & OPF_LANE)
        return SHAPE_LANE;
    if (inst->op == OP_ld || inst->op == OP_st)
        return memory_shape(inst, step);
    if (inst->op == OP_sreg)
        return special_shape(inst, step);
    bool whole = inst->op == OP_syscall || flags & (OPF_CROSS | OPF_BARRIER);
    return whole ? SHAPE_WHOLE : SHAPE_OTHER;
}

static void make_step(struct image *image, u32 index, enum simd simd)
{
    const struct inst *inst = &image->program->insts[index];
    struct step *step = &image->steps[index];
    for (unsigned k = 0; k < 4; k++)
        place_operand(step, k, inst->src[k], image);
    for (unsigned k = 0; k < 2; k++)
        place_operand(step, SLOT_DST + k, inst->dst[k], image);
    step->shape = (u8)shape_of(inst, step);
    if (inst->guard.kind == OPERAND_MASK) {
        step->shape |= SHAPE_GUARDED;
        step->guard_offset = mask_offset(image, inst->guard.index);
        step->guard_not = inst->guard.neg;
    }
    if (op_info[inst->op].flags & OPF_LANE) {
        step->fn = lanes_resolve(inst, simd, image->program->traits.canonical_nan);
        assert(step->fn);
    }
}

static struct stretch make_stretch(const struct image *image, u32 index)
{
    const struct program *program = image->program;
    const struct block *block = &program->blocks[index];
    const struct inst *last = &program->insts[block->end - 1];
    bool branches = op_info[last->op].flags & OPF_BRANCH, plain = last->op == OP_bra;
    u32 straight_end = block->end - branches;
    return (struct stretch){
        .steps = &image->steps[block->first],
        .last = &image->steps[straight_end],
        .insts = &program->insts[block->first],
        .taken = plain ? &image->stretches[program->block_of[last->imm]] : NULL,
        .length = block->end - block->first,
        .first = block->first,
        .straight_end = straight_end,
        .reconverge = block->reconverge,
        .kind = !branches                          ? STRETCH_FALLS
                : !plain                           ? STRETCH_OTHER
                : last->guard.kind == OPERAND_MASK ? STRETCH_BRANCHES
                                                   : STRETCH_JUMPS,
        .target = plain ? (u32)last->imm : NO_INST,
    };
}

static u32 mask_end(struct operand operand)
{
    bool scalar = operand.kind == OPERAND_MASK || operand.kind == OPERAND_SCALAR;
    return scalar ? operand.index + operand.count : 0;
}

static u32 count_mask_rows(const struct program *program)
{
    u32 masks = 1;
    for (u32 i = 0; i < program->inst_count; i++) {
        const struct inst *inst = &program->insts[i];
        masks = MAX(masks, mask_end(inst->guard));
        for (unsigned k = 0; k < 2; k++)
            masks = MAX(masks, mask_end(inst->dst[k]));
        for (unsigned k = 0; k < 4; k++)
            masks = MAX(masks, mask_end(inst->src[k]));
    }
    return (masks + LANES - 1) / LANES;
}

struct image *image_create(const struct program *program, const u32 *constants, u64 code_address,
                           u32 warp_size, enum simd simd)
{
    struct image *image = calloc(1, sizeof *image);
    size_t step_bytes = MAX(program->inst_count, 1) * sizeof *image->steps;
    size_t row_bytes = align_up(MAX(program->constant_count, 1) * warp_size * sizeof(u32), 64);
    struct stretch *stretches = calloc(MAX(program->block_count, 1), sizeof *stretches);
    struct step *steps = aligned_alloc(_Alignof(struct step), step_bytes);
    u32 *rows = aligned_alloc(64, row_bytes);
    u64 *addresses = calloc(MAX(program->variable_count, 1), sizeof *addresses);
    if (!image || !steps || !rows || !addresses || !stretches)
        abort();
    memset(steps, 0, step_bytes);
    memset(rows, 0, row_bytes);
    *image = (struct image){
        .program = program,
        .stretches = stretches,
        .steps = steps,
        .constants = rows,
        .code_address = code_address,
        .warp_size = warp_size,
        .chunks = warp_size / LANES,
        .mask_rows = count_mask_rows(program),
        .moves = lanes_memory(simd),
        .loops = lanes_loops(simd),
        .variable_addresses = addresses,
    };
    for (u32 i = 0; i < program->constant_count; i++)
        for (u32 lane = 0; lane < warp_size; lane++)
            rows[i * warp_size + lane] = constants[i];
    for (u32 i = 0; i < program->inst_count; i++)
        make_step(image, i, simd);
    for (u32 i = 0; i < program->block_count; i++)
        stretches[i] = make_stretch(image, i);
    return image;
}

void image_destroy(struct image *image)
{
    if (!image)
        return;
    free(image->stretches);
    free(image->steps);
    free(image->constants);
    free(image->variable_addresses);
    free(image);
}
