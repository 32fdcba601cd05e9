/* Makes a program ready to run: see image.h. */
#include "exec/image.h"

#include <stdlib.h>

static void place_operand(struct step *step, unsigned slot, struct operand operand,
                          const struct image *image)
{
    u32 row = image->warp_size * (u32)sizeof(u32);
    switch (operand.kind) {
    case OPERAND_VECTOR:
        step->base[slot] = BASE_VECTOR;
        step->offset[slot] = operand.index * row;
        break;
    case OPERAND_CONST:
        step->base[slot] = BASE_CONST;
        step->offset[slot] = operand.index * row;
        break;
    case OPERAND_MASK:
    case OPERAND_SCALAR:
        step->base[slot] = BASE_MASK;
        step->offset[slot] = operand.index * image->chunks * (u32)sizeof(u32);
        break;
    default:
        step->base[slot] = BASE_NONE;
        step->offset[slot] = 0;
    }
}

/*
 * By the operands that are there. The interpreter keeps the pointers of the third and fourth source
 * and of the second destination null between steps, so that absent ones need no work.
 */
static enum shape lane_shape(const struct inst *inst)
{
    if (inst->src[3].kind != OPERAND_NONE || inst->dst[1].kind != OPERAND_NONE)
        return SHAPE_LANE_ALL;
    if (inst->src[2].kind != OPERAND_NONE)
        return SHAPE_LANE_3;
    return inst->src[1].kind != OPERAND_NONE ? SHAPE_LANE_2 : SHAPE_LANE_1;
}

static enum shape shape_of(const struct inst *inst)
{
    u16 flags = op_info[inst->op].flags;
    if (flags & OPF_LANE)
        return lane_shape(inst);
    if (inst->op == OP_ld && inst->space == SPACE_SHARED && inst->vector <= 1 &&
        type_bytes(inst->type) == 4 && inst->src[0].count >= 1 && inst->dst[0].count == 1 &&
        inst->imm == (i32)inst->imm)
        return SHAPE_SHARED_LOAD;
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
    step->shape = shape_of(inst);
    if (inst->guard.kind == OPERAND_MASK) {
        step->shape |= SHAPE_GUARDED;
        step->guard_offset = inst->guard.index * image->chunks * (u32)sizeof(u32);
        step->guard_flip = inst->guard.neg ? LANES_FULL : 0;
    }
    if (op_info[inst->op].flags & OPF_LANE) {
        step->fn = lanes_resolve(inst, simd, image->program->traits.canonical_nan);
        assert(step->fn);
    }
}

static struct stretch make_stretch(const struct program *program, const struct block *block)
{
    const struct inst *last = &program->insts[block->end - 1];
    bool branches = op_info[last->op].flags & OPF_BRANCH, plain = last->op == OP_bra;
    return (struct stretch){
        .first = block->first,
        .end = block->end,
        .straight_end = block->end - branches,
        .reconverge = block->reconverge,
        .kind = !branches ? STRETCH_FALLS
                : plain   ? STRETCH_BRANCHES
                          : STRETCH_OTHER,
        .target = plain ? (u32)last->imm : NO_INST,
    };
}

struct image *image_create(const struct program *program, const u32 *constants, u64 code_address,
                           u32 warp_size, enum simd simd)
{
    struct image *image = calloc(1, sizeof *image);
    size_t step_bytes = MAX(program->inst_count, 1) * sizeof *image->steps;
    size_t row_bytes = align_up(MAX(program->constant_count, 1) * warp_size * sizeof(u32), 64);
    struct stretch *stretches = calloc(MAX(program->block_count, 1), sizeof *stretches);
    struct step *steps = aligned_alloc(64, step_bytes);
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
        .moves = lanes_memory(simd),
        .variable_addresses = addresses,
    };
    for (u32 i = 0; i < program->constant_count; i++)
        for (u32 lane = 0; lane < warp_size; lane++)
            rows[i * warp_size + lane] = constants[i];
    for (u32 i = 0; i < program->inst_count; i++)
        make_step(image, i, simd);
    for (u32 i = 0; i < program->block_count; i++)
        stretches[i] = make_stretch(program, &program->blocks[i]);
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
