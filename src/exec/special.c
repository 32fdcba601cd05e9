/*
 * Special registers.
 *
 * PTX fixes its warp at 32 lanes. On a machine with 64-wide warps, each half is a separate PTX warp
 * for lane numbers, warp numbers and lane masks, so that programs compute the same everywhere.
 *
 * Time: without a timing model (exec.clock) the clock counts the instructions that the warp has
 * issued. The global timer counts those of the launch, one nanosecond each.
 */
#include "exec/warp.h"

static u64 clock_of(const struct warp *warp, u32 pc)
{
    const struct exec *exec = warp->exec;
    if (exec->clock)
        return exec->clock(warp, false);
    /* Dynamic instructions are counted one by one, including this one. */
    return exec->by_dyninst ? warp->instructions - 1
                            : warp->instructions + (pc - image_stretch(exec->image, pc)->first);
}

static u64 timer_of(const struct warp *warp)
{
    return warp->exec->clock ? warp->exec->clock(warp, true) : warp->exec->instructions;
}

/* Values that all lanes of a chunk share. */
static u64 uniform_value(const struct warp *warp, u32 pc, u32 chunk, enum special special)
{
    const struct exec *exec = warp->exec;
    u32 chunks = exec->image->chunks;
    switch (special) {
    case SPECIAL_ntid_x:
    case SPECIAL_ntid_y:
    case SPECIAL_ntid_z:
        return exec->dims[special - SPECIAL_ntid_x];
    case SPECIAL_envreg0 ... SPECIAL_envreg8:
        return exec->env[special - SPECIAL_envreg0];
    case SPECIAL_ctaid_x:
    case SPECIAL_ctaid_y:
    case SPECIAL_ctaid_z:
        return warp->block->id[special - SPECIAL_ctaid_x];
    case SPECIAL_nctaid_x:
    case SPECIAL_nctaid_y:
    case SPECIAL_nctaid_z:
        return exec->grid[special - SPECIAL_nctaid_x];
    case SPECIAL_nclusterid_x:
    case SPECIAL_nclusterid_y:
    case SPECIAL_nclusterid_z:
        return exec->grid[special - SPECIAL_nclusterid_x];
    case SPECIAL_clusterid:
        return warp->block->id[0];
    case SPECIAL_warpid:
        return warp->index * chunks + chunk;
    case SPECIAL_nwarpid:
        return exec->warps_per_core * chunks;
    case SPECIAL_smid:
        return warp->block->core;
    case SPECIAL_nsmid:
        return exec->cores;
    case SPECIAL_gridid:
        return exec->grid_number;
    case SPECIAL_clock:
        return (u32)clock_of(warp, pc);
    case SPECIAL_clock_hi:
        return clock_of(warp, pc) >> 32;
    case SPECIAL_clock64:
        return clock_of(warp, pc);
    case SPECIAL_globaltimer:
        return timer_of(warp);
    case SPECIAL_globaltimer_lo:
        return (u32)timer_of(warp);
    case SPECIAL_globaltimer_hi:
        return timer_of(warp) >> 32;
    case SPECIAL_total_smem_size:
    case SPECIAL_aggr_smem_size:
        return exec->shared_bytes;
    case SPECIAL_dynamic_smem_size:
        return exec->dynamic_shared_bytes;
    case SPECIAL_cluster_one:
        return 1;
    default:
        return 0;
    }
}

static u32 lane_value(u32 lane, enum special special)
{
    u32 bit = 1u << lane;
    switch (special) {
    case SPECIAL_lanemask_eq:
        return bit;
    case SPECIAL_lanemask_lt:
        return bit - 1;
    case SPECIAL_lanemask_le:
        return bit | (bit - 1);
    case SPECIAL_lanemask_ge:
        return ~(bit - 1);
    case SPECIAL_lanemask_gt:
        return ~(bit | (bit - 1));
    default: /* laneid */
        return lane;
    }
}

static void blend(u32 *row, const u32 *values, u32 mask, const u32 *lane_mask)
{
    if (mask == LANES_FULL) {
        memcpy(row, values, LANES * sizeof *row);
        return;
    }
    for (u32 lane = 0; lane < LANES; lane++)
        row[lane] = (values[lane] & lane_mask[lane]) | (row[lane] & ~lane_mask[lane]);
}

void special_step(struct warp *warp, u32 pc, struct step *step, struct chunk *chunk, u32 mask)
{
    const struct inst *inst = warp_inst(warp, pc);
    enum special special = (enum special)inst->imm;
    u32 index = (u32)(chunk - warp->chunks);
    u32 *row = chunk_row(chunk, step, SLOT_DST);
    if (!row)
        return;
    u32 values[LANES];
    if (special <= SPECIAL_tid_z) {
        u32 first = warp->index * warp->exec->image->warp_size + index * LANES;
        blend(row, &warp->exec->tids[special - SPECIAL_tid_x][first], mask, chunk->lanes.lane_mask);
        return;
    }
    bool by_lane = special == SPECIAL_laneid ||
                   (special >= SPECIAL_lanemask_eq && special <= SPECIAL_lanemask_gt);
    u64 value = by_lane ? 0 : uniform_value(warp, pc, index, special);
    for (u32 j = 0; j < inst->dst[0].count; j++) {
        for (u32 lane = 0; lane < LANES; lane++)
            values[lane] = by_lane ? (j ? 0 : lane_value(lane, special)) : (u32)(value >> 32 * j);
        blend(row + j * warp->exec->image->warp_size, values, mask, chunk->lanes.lane_mask);
    }
}
