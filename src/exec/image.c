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

/* By how many operands the op's signature has: a lane function looks at no others. */
static enum shape lane_shape(enum op op)
{
    const char *signature = op_info[op].signature;
    const char *equals = strchr(signature, '=');
    size_t destinations = (size_t)(equals - signature), sources = strlen(equals + 1);
    if (destinations != 1 || sources < 1 || sources > 3)
        return SHAPE_LANE_ALL;
    return (enum shape)(SHAPE_LANE_1 + sources - 1);
}

static enum shape shape_of(const struct inst *inst)
{
    u16 flags = op_info[inst->op].flags;
    if (flags & OPF_LANE)
        return lane_shape(inst->op);
    if (inst->op == OP_ld && inst->space == SPACE_SHARED && inst->vector <= 1 &&
        type_bytes(inst->type) == 4 && inst->src[0].count == 1 && inst->dst[0].count == 1)
        return SHAPE_SHARED_LOAD;
    return inst->op == OP_ld || inst->op == OP_st ? SHAPE_MEMORY : SHAPE_OTHER;
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
    step->guarded = inst->guard.kind == OPERAND_MASK;
    if (step->guarded) {
        step->guard_offset = inst->guard.index * image->chunks * (u32)sizeof(u32);
        step->guard_flip = inst->guard.neg ? LANES_FULL : 0;
    }
    if (op_info[inst->op].flags & OPF_LANE) {
        step->fn = lanes_resolve(inst, simd, image->program->traits.canonical_nan);
        assert(step->fn);
    }
}

struct image *image_create(const struct program *program, const u32 *constants, u64 code_address,
                           u32 warp_size, enum simd simd)
{
    struct image *image = calloc(1, sizeof *image);
    size_t step_bytes = MAX(program->inst_count, 1) * sizeof *image->steps;
    size_t row_bytes = align_up(MAX(program->constant_count, 1) * warp_size * sizeof(u32), 64);
    struct step *steps = aligned_alloc(64, step_bytes);
    u32 *rows = aligned_alloc(64, row_bytes);
    u64 *addresses = calloc(MAX(program->variable_count, 1), sizeof *addresses);
    if (!image || !steps || !rows || !addresses)
        abort();
    memset(steps, 0, step_bytes);
    memset(rows, 0, row_bytes);
    *image = (struct image){
        .program = program,
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
    return image;
}

void image_destroy(struct image *image)
{
    if (!image)
        return;
    free(image->steps);
    free(image->constants);
    free(image->variable_addresses);
    free(image);
}
