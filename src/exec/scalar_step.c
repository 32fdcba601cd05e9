/*
 * Instructions of the whole warp that need more than their operands: registers by number, hardware
 * registers, the PC, values passed between lanes and scalars; and the branches of a warp with
 * explicit EXEC, including those with their own stack.
 *
 * Hardware registers: MODE is real. STATUS is computed when read; the others give the resources of
 * the warp. Writes to any but MODE have no effect (they would need privilege).
 *
 * Deviations: a register number that M0 moves out of the file is a fault (hardware reads or writes
 * register 0). The branch stack has 8 entries of 4 scalars: the waiting lanes, then their address.
 */
#include "exec/scalars.h"

#include <inttypes.h>

enum {
    HWREG_MODE = 1,
    HWREG_STATUS = 2,
    HWREG_ID = 4,
    HWREG_GPR_ALLOC = 5,
    HWREG_LDS_ALLOC = 6,
    STACK_ENTRIES = 8,
    STACK_WORDS = 4
};

static bool fault(struct warp *warp, u32 pc, enum outcome outcome, const char *what, u64 value)
{
    lane_set lanes = warp->active ? warp->active : warp->live;
    fault_at(warp, pc, first_lane(lanes), outcome, what, value);
    return false;
}

/* ---- registers by number ---- */

static bool moves_to(const struct inst *inst)
{
    return inst->op == OP_smovrel_dst_b32 || inst->op == OP_smovrel_dst_b64;
}

static bool moves_pair(const struct inst *inst)
{
    return inst->op == OP_smovrel_src_b64 || inst->op == OP_smovrel_dst_b64;
}

bool moved_scalar(struct warp *warp, u32 pc, u32 *index)
{
    const struct inst *inst = warp_inst(warp, pc);
    const u32 named = moves_to(inst) ? inst->dst[0].index : inst->src[0].index;
    const u64 moved = (u64)named + scalar_read(warp, inst->src[1], 0);
    if (moved + moves_pair(inst) >= SCALAR_GENERAL_END)
        return fault(warp, pc, OUTCOME_OUT_OF_BOUNDS,
                     "M0 selects scalar register %" PRIu64 ", past the last one", moved);
    *index = (u32)moved;
    return true;
}

static bool move_scalars(struct warp *warp, u32 pc, const struct inst *inst)
{
    bool to = moves_to(inst), pair = moves_pair(inst);
    struct operand moved = to ? inst->dst[0] : inst->src[0];
    u32 index, words[2];
    if (!moved_scalar(warp, pc, &index))
        return false;
    moved.index = index & 0xfffff;
    for (u32 j = 0; j <= pair; j++)
        words[j] = scalar_read(warp, to ? inst->src[0] : moved, j);
    for (u32 j = 0; j <= pair; j++)
        scalar_write(warp, to ? moved : inst->dst[0], j, words[j]);
    return true;
}

bool moved_vectors(struct warp *warp, u32 pc, u32 *from, u32 *to)
{
    const struct inst *inst = warp_inst(warp, pc);
    const u64 by = scalar_read(warp, inst->src[1], 0);
    const u64 source = inst->op == OP_movrel_dst ? 0 : inst->src[0].index + by;
    const u64 target = inst->dst[0].index + (inst->op == OP_movrel_src ? 0 : by);
    if (MAX(source, target) >= warp->exec->register_rows)
        return fault(warp, pc, OUTCOME_OUT_OF_BOUNDS,
                     "M0 selects vector register %" PRIu64 ", past the last one",
                     MAX(source, target));
    *from = (u32)source;
    *to = (u32)target;
    return true;
}

bool move_relative_step(struct warp *warp, u32 pc, const struct step *step)
{
    const struct inst *inst = warp_inst(warp, pc);
    u32 from, to;
    if (!moved_vectors(warp, pc, &from, &to))
        return false;
    for (u32 c = 0; c < warp->exec->image->chunks; c++) {
        const struct chunk *chunk = &warp->chunks[c];
        bool scalar = inst->op == OP_movrel_dst && inst->src[0].kind != OPERAND_VECTOR;
        const u32 *source =
            inst->op == OP_movrel_dst ? chunk_row(chunk, step, 0) : vector_row(warp, chunk, from);
        u32 *target = vector_row(warp, chunk, to);
        for (u32 set = chunk->active; set; set &= set - 1)
            target[first_lane(set)] =
                scalar ? scalar_read(warp, inst->src[0], 0) : source[first_lane(set)];
    }
    return true;
}

/* ---- lanes and scalars ---- */

static u32 *lane_word(const struct warp *warp, const struct step *step, unsigned slot, u32 lane)
{
    return &chunk_row(&warp->chunks[lane / LANES], step, slot)[lane % LANES];
}

void lane_scalar_step(struct warp *warp, u32 pc, const struct step *step)
{
    const struct inst *inst = warp_inst(warp, pc);
    u32 lanes = warp->exec->image->warp_size;
    u32 lane = inst->op != OP_readfirstlane ? scalar_read(warp, inst->src[1], 0) % lanes
               : warp->active               ? first_lane(warp->active)
                                            : 0;
    bool is_vector = inst->src[0].kind == OPERAND_VECTOR;
    if (inst->op == OP_writelane)
        *lane_word(warp, step, SLOT_DST, lane) = scalar_read(warp, inst->src[0], 0);
    else
        scalar_write(warp, inst->dst[0], 0,
                     is_vector ? *lane_word(warp, step, 0, lane)
                               : scalar_read(warp, inst->src[0], 0));
}

/* ---- hardware registers ---- */

void scalar_derive(struct warp *warp)
{
    *scalar_word(warp, SCALAR_VCCZ) = scalar_pair(warp, SCALAR_VCC) == 0;
    *scalar_word(warp, SCALAR_EXECZ) = scalar_pair(warp, SCALAR_EXEC) == 0;
}

static u32 hardware_register(struct warp *warp, u32 id)
{
    const struct exec *exec = warp->exec;
    scalar_derive(warp);
    switch (id) {
    case HWREG_MODE:
        return *scalar_word(warp, SCALAR_MODE);
    case HWREG_STATUS: /* SCC, EXECZ, VCCZ, in a barrier-capable group, valid */
        return *scalar_word(warp, SCALAR_SCC) | *scalar_word(warp, SCALAR_EXECZ) << 9 |
               *scalar_word(warp, SCALAR_VCCZ) << 10 |
               (warp->block->warp_count > 1 ? 1u : 0) << 11 | 1u << 16;
    case HWREG_ID: /* slot of the warp on its core, and the core */
        return (warp->index & 15) | (warp->block->core & 15) << 8;
    case HWREG_GPR_ALLOC: /* sizes in units of 4 vector and 8 scalar registers, minus one */
        return ((exec->register_rows + 3) / 4 - 1) << 8 |
               ((exec->kernel->scalars + 7) / 8 - (exec->kernel->scalars > 0)) << 24;
    case HWREG_LDS_ALLOC: /* in units of 64 words */
        return ((warp->block->shared_bytes + 255) / 256) << 12;
    default:
        return 0;
    }
}

enum {
    FIELD_ID = 63
};
static u32 field_mask(const struct inst *inst, u32 *shift)
{
    *shift = (u32)inst->imm >> 6 & 31;
    u32 size = ((u32)inst->imm >> 11 & 31) + 1;
    return size == 32 ? ~0u : (1u << size) - 1;
}

/* ---- dispatch ---- */

bool scalar_step(struct warp *warp, u32 pc)
{
    const struct inst *inst = warp_inst(warp, pc);
    const struct image *image = warp->exec->image;
    u32 shift, mask;
    switch (inst->op) {
    case OP_smovrel_src_b32:
    case OP_smovrel_src_b64:
    case OP_smovrel_dst_b32:
    case OP_smovrel_dst_b64:
        return move_scalars(warp, pc, inst);
    case OP_sgetpc: {
        u64 next = image_pc(image, pc) + image->program->sizes[pc];
        scalar_set_pair(warp, inst->dst[0].index, next);
        return true;
    }
    case OP_sgetreg:
        mask = field_mask(inst, &shift);
        scalar_write(warp, inst->dst[0], 0,
                     hardware_register(warp, (u32)inst->imm & FIELD_ID) >> shift & mask);
        return true;
    case OP_ssetreg: {
        mask = field_mask(inst, &shift);
        if (inst->dst[0].kind == OPERAND_NONE)
            return true;
        u32 value = scalar_read(warp, inst->src[0], 0), *mode = scalar_word(warp, SCALAR_MODE);
        *mode = (*mode & ~(mask << shift)) | (value & mask) << shift;
        return true;
    }
    case OP_time:
        scalar_set_pair(warp, inst->dst[0].index,
                        warp->exec->clock ? warp->exec->clock(warp, false)
                                          : warp->exec->instructions);
        return true;
    case OP_sleep:
        warp->yield = true;
        return true;
    default: /* wait: everything has arrived in functional execution */
        return true;
    }
}

/* ---- control ---- */

/* Goes to a device address. */
static void go_to_address(struct warp *warp, u32 pc, u64 address)
{
    const struct image *image = warp->exec->image;
    u32 target = program_inst_at(image->program, address - image->code_address);
    if (target == NO_INST)
        fault(warp, pc, OUTCOME_BAD_CALL, "jump to 0x%" PRIx64 ", where there is no instruction",
              address);
    else
        warp_path(warp)->pc = target;
}

static u64 next_address(const struct warp *warp, u32 pc)
{
    const struct image *image = warp->exec->image;
    return image_pc(image, pc) + image->program->sizes[pc];
}

/* The side with fewer lanes runs first; the other waits on the stack. */
static void fork_paths(struct warp *warp, u32 pc, const struct inst *inst)
{
    const struct image *image = warp->exec->image;
    u64 exec = scalar_pair(warp, SCALAR_EXEC), condition = scalar_read64(warp, inst->src[0]);
    u64 pass = condition & exec, fail = ~condition & exec;
    u64 next = next_address(warp, pc);
    u64 target = inst->src[1].kind == OPERAND_NONE ? image_pc(image, (u32)inst->imm)
                                                   : scalar_read64(warp, inst->src[1]);
    if (pass == exec || fail == exec) {
        go_to_address(warp, pc, pass == exec ? target : next);
        return;
    }
    u32 *mode = scalar_word(warp, SCALAR_MODE), depth = *mode >> MODE_CSP_SHIFT;
    if (depth + 1 == STACK_ENTRIES) {
        fault(warp, pc, OUTCOME_STACK_OVERFLOW, "the branch stack is full: %" PRIu64 " entries",
              (u64)depth);
        return;
    }
    bool fail_first = count_lanes(fail) < count_lanes(pass);
    scalar_set_pair(warp, depth * STACK_WORDS, fail_first ? pass : fail);
    scalar_set_pair(warp, depth * STACK_WORDS + 2, fail_first ? target : next);
    *mode += 1u << MODE_CSP_SHIFT;
    scalar_set_pair(warp, SCALAR_EXEC, fail_first ? fail : pass);
    warp->exec->stats.divergent_branches++;
    go_to_address(warp, pc, fail_first ? next : target);
}

/* At the depth that the source names: both sides are done. */
static void join_paths(struct warp *warp, u32 pc, const struct inst *inst)
{
    u32 *mode = scalar_word(warp, SCALAR_MODE), depth = *mode >> MODE_CSP_SHIFT;
    if (depth == scalar_read(warp, inst->src[0], 0)) {
        go_to_address(warp, pc, next_address(warp, pc));
        return;
    }
    if (!depth) {
        fault(warp, pc, OUTCOME_STACK_OVERFLOW,
              "join at depth %" PRIu64 " of the branch stack, which is empty",
              (u64)scalar_read(warp, inst->src[0], 0));
        return;
    }
    *mode -= 1u << MODE_CSP_SHIFT;
    depth--;
    scalar_set_pair(warp, SCALAR_EXEC, scalar_pair(warp, depth * STACK_WORDS));
    go_to_address(warp, pc, scalar_pair(warp, depth * STACK_WORDS + 2));
}

void scalar_control(struct warp *warp, u32 pc)
{
    const struct inst *inst = warp_inst(warp, pc);
    switch (inst->op) {
    case OP_jump: {
        u64 target = scalar_read64(warp, inst->src[0]);
        if (inst->dst[0].kind != OPERAND_NONE)
            scalar_set_pair(warp, inst->dst[0].index, next_address(warp, pc));
        go_to_address(warp, pc, target);
        break;
    }
    case OP_fork:
        fork_paths(warp, pc, inst);
        break;
    case OP_join:
        join_paths(warp, pc, inst);
        break;
    case OP_strap:
        if (inst->imm < 0) /* inserted by a front end after code that does not end */
            fault(warp, pc, OUTCOME_TRAP,
                  "ran past the end of the code, its %" PRIu64 " instructions", (u64)pc);
        else
            fault(warp, pc, OUTCOME_TRAP, "trap %" PRIu64, (u64)inst->imm);
        break;
    default:                      /* end */
        warp_path(warp)->pc = pc; /* it stays here */
        paths_exit(warp, warp_path(warp)->mask);
    }
}
