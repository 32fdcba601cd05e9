/* One warp to try memory instructions on: see rig.h. */
#include "rig.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stdlib.h>

#include <cmocka.h>

void rig_open(struct rig *rig)
{
    struct error error;
    memset(rig, 0, sizeof *rig);
    rig->memory = memory_create(1 << 30, 64);
    memory_allocate(rig->memory, 256, ALLOC_BUFFER, "before", &error);
    rig->address = memory_allocate(rig->memory, RIG_BYTES, ALLOC_BUFFER, "data", &error);
    rig->bytes = memory_find(rig->memory, rig->address, 1)->host;
}

void rig_start(struct rig *rig, struct inst inst, bool window_faults, enum simd simd)
{
    rig->insts[0] = inst;
    /* Names register 0 and the last scalar. */
    rig->insts[1] = (struct inst){
        .op = OP_readlane, .dst = {S(SCALAR_COUNT - 1, 1)}, .src = {V(0, 1), S(0, 1)}};
    rig->constants[1] = 0xffffffff;
    rig->blocks[0] = (struct block){.end = 2, .reconverge = NO_INST, .unguarded = 2};
    rig->function = (struct function){.name = "kernel",
                                      .is_kernel = true,
                                      .end = 2,
                                      .block_end = 1,
                                      .total_registers = RIG_REGISTERS,
                                      .total_masks = 1};
    rig->program = (struct program){.traits = {.inst_bytes = 8,
                                               .warp_size = 64,
                                               .explicit_exec = true,
                                               .window_faults = window_faults},
                                    .file = "test",
                                    .insts = rig->insts,
                                    .inst_count = 2,
                                    .blocks = rig->blocks,
                                    .block_count = 1,
                                    .block_of = rig->block_of,
                                    .functions = &rig->function,
                                    .function_count = 1,
                                    .constants = rig->constants,
                                    .constant_count = 16,
                                    .locations = &rig->location,
                                    .location_count = 1};
    rig->image = image_create(&rig->program, rig->constants, 0x4000000000, 64, simd);
    rig->limits.quantum = 1;
    rig->exec = (struct exec){.image = rig->image,
                              .kernel = &rig->function,
                              .memory = rig->memory,
                              .limits = &rig->limits,
                              .grid = {1, 1, 1},
                              .dims = {64, 1, 1},
                              .static_shared_bytes = RIG_SHARED,
                              .params = (u8 *)rig->constants,
                              .cores = 1,
                              .warps_per_core = 1};
    exec_prepare(&rig->exec, 1);
    rig->block = block_start(&rig->exec, 0, 0);
    rig->warp = &rig->block->warps[0];
    rig->warp->view = image_view(rig->image, 0);
    rig->step = &rig->warp->view->steps[0];
    rig->step->hint = memory_find(rig->memory, rig->address, 1);
    rig->step->hint_generation = *memory_generation(rig->memory);
}

void rig_end(struct rig *rig)
{
    block_end(rig->block);
    exec_release(&rig->exec);
    image_destroy(rig->image);
    memory_destroy(rig->memory);
}

u32 *rig_vector(struct rig *rig, u32 reg, u32 lane)
{
    u32 *row = chunk_row(&rig->warp->chunks[lane / LANES], rig->step + 1, 0);
    return row + reg * 64 + lane % LANES;
}

u32 *rig_scalar(struct rig *rig, u32 scalar)
{
    return scalar_word(rig->warp, scalar);
}

static bool run_chunk(struct rig *rig, struct chunk *chunk, u32 mask)
{
    struct step *step = rig->step;
    switch (rig->insts[0].op) {
    case OP_buf_ld:
    case OP_buf_st:
        return buffer_step(rig->warp, 0, step, chunk, mask);
    case OP_ld:
    case OP_st:
    case OP_ld2:
    case OP_st2:
        return memory_step(rig->warp, 0, step, chunk, mask);
    default:
        return atomic_step(rig->warp, 0, step, chunk, mask);
    }
}

bool rig_run(struct rig *rig, u64 lanes)
{
    rig->exec.stopped = false;
    rig->warp->active = lanes;
    for (u32 c = 0; c < MAX_CHUNKS; c++) {
        struct chunk *chunk = &rig->warp->chunks[c];
        chunk->active = chunk->lanes.mask = lanes_of_chunk(lanes, c);
        chunk->lanes.lane_mask = chunk->active_mask;
        lanes_expand(chunk->active, chunk->active_mask);
    }
    if (rig->inner) {
        const struct inst *inst = &rig->warp->view->insts[0];
        if (rig->image->waves->steps(rig->warp, inst, rig->step, rig->step + 1) != rig->step)
            return true;
        if (rig->exec.stopped)
            return false;
    }
    if (op_info[rig->insts[0].op].flags & OPF_SCALAR)
        return scalar_load_step(rig->warp, 0, rig->step);
    if (rig->insts[0].op == OP_swizzle) {
        swizzle_step(rig->warp, 0, rig->step, lanes);
        return true;
    }
    for (u32 c = 0; c < MAX_CHUNKS; c++)
        if (lanes_of_chunk(lanes, c) &&
            !run_chunk(rig, &rig->warp->chunks[c], lanes_of_chunk(lanes, c)))
            return false;
    return true;
}

void rig_fill(struct rig *rig, u64 *state)
{
    for (u32 reg = 0; reg < RIG_REGISTERS; reg++)
        for (u32 lane = 0; lane < 64; lane++)
            *rig_vector(rig, reg, lane) = (u32)rig_random(state);
    for (u32 i = 0; i < RIG_BYTES; i++)
        rig->bytes[i] = (u8)rig_random(state);
    for (u32 i = 0; i < RIG_SHARED; i++)
        rig->block->shared[i] = (u8)rig_random(state);
}

u64 rig_random(u64 *state)
{
    u64 z = *state += 0x9e3779b97f4a7c15ull;
    z = (z ^ z >> 30) * 0xbf58476d1ce4e5b9ull;
    z = (z ^ z >> 27) * 0x94d049bb133111ebull;
    return z ^ z >> 31;
}
