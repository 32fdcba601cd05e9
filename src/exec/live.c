/* Bit flips in warps and dynamic instructions: see live.h. */
#include "exec/live.h"
#include "exec/dyninst_parts.h"
#include <assert.h>
#include <inttypes.h>

/* ---- PCs ---- */

u32 live_inst_at(const struct exec *exec, u64 address)
{
    const struct program *program = exec->image->program;
    const struct function *kernel = exec->kernel;
    const u32 inst = program_inst_at(program, address - exec->image->code_address);
    if (address < exec->image->code_address || inst == NO_INST)
        return NO_INST;
    for (u32 i = 0; i < kernel->reachable_count; i++) {
        const struct function *f = &program->functions[kernel->reachable[i]];
        if (inst >= f->first && inst < f->end)
            return inst;
    }
    return inst >= kernel->first && inst < kernel->end ? inst : NO_INST;
}

void live_wild(struct warp *warp, u64 address)
{
    if (!warp->exec->stopped)
        fault_at(warp, warp->exec->kernel->first, 0, OUTCOME_BAD_CALL,
                 "the PC is 0x%" PRIx64 ", where the kernel has no instruction", address);
}

void live_illegal(struct warp *warp, u64 address, const u32 words[2], const char *why)
{
    if (!warp->exec->stopped)
        fault_at(warp, warp->exec->kernel->first, 0, OUTCOME_TRAP,
                 "the words 0x%08x 0x%08x at 0x%" PRIx64 " cannot be executed: %s", words[0],
                 words[1], address, why);
}

/* ---- paths ---- */

bool live_has_path(const struct warp *warp, u32 node)
{
    for (u32 i = 0; i < warp->order_count; i++)
        for (u32 n = warp->order[i]; n != NO_PATH; n = warp->paths[n].parent)
            if (n == node)
                return true;
    return false;
}

/* Lanes of all nodes. */
static lane_set all_lanes(const struct warp *warp)
{
    lane_set lanes = 0;
    for (u32 i = 0; i < warp->order_count; i++)
        for (u32 n = warp->order[i]; n != NO_PATH; n = warp->paths[n].parent)
            lanes |= warp->paths[n].mask;
    return lanes;
}

void live_flip_lanes(struct warp *warp, u32 node, lane_set lanes)
{
    struct path *path = &warp->paths[node];
    path->mask ^= lanes;
    if (!path->mask && !path->children)
        paths_remove(warp, node);
    else if (node == warp->current)
        warp_set_active(warp);
    warp->live = all_lanes(warp);
    if (!warp->live && warp->state == WARP_WAITING)
        warp->state = WARP_READY; /* it ends when it is next looked at */
    if (warp->block->barriers_used)
        barrier_exits(warp->block);
}

void live_move(struct warp *warp, u32 node, u32 inst)
{
    struct path *path = &warp->paths[node];
    if (path->state == PATH_READY || path->children)
        path->pc = inst;
    else
        path->stray = inst + 1;
    path->resume = true;
}

/* The leaf that waits at a barrier, or NO_PATH. */
static u32 waiting_leaf(const struct warp *warp)
{
    for (u32 i = 0; i < warp->order_count; i++)
        if (warp->paths[warp->order[i]].state == PATH_BARRIER)
            return warp->order[i];
    return NO_PATH;
}

bool live_waits(const struct warp *warp)
{
    return waiting_leaf(warp) != NO_PATH;
}

void live_flip_waiting(struct warp *warp)
{
    const u32 leaf = waiting_leaf(warp);
    if (leaf != NO_PATH) {
        paths_advance(warp, &warp->paths[leaf]);
        if (warp->state == WARP_WAITING)
            warp->state = WARP_READY;
    } else if (warp->current != NO_PATH) {
        struct path *path = warp_path(warp);
        path->barrier = 0;
        path->stray = path->pc + 1;
        paths_park(warp, PATH_BARRIER);
    }
}

/* ---- dynamic instructions ---- */

u32 *live_operand(const struct dyninst *f, u32 row)
{
    u32 rows = 0;
    for (unsigned k = 0; k < 4; k++)
        rows += f->plan->vectors >> k & 1 ? f->plan->src_rows[k] : 0;
    const u8 kind = f->plan->kind;
    if (row >= rows || f->homes || (kind != PLAN_LANES && kind != PLAN_ACCESS))
        return NULL;
    return f->rows + (size_t)row * f->warp->exec->image->warp_size;
}

u32 live_operand_register(const struct dyninst *f, u32 row)
{
    for (unsigned k = 0; k < 4; k++) {
        const u32 rows = f->plan->vectors >> k & 1 ? f->plan->src_rows[k] : 0;
        if (row < rows)
            return f->code->src[k].index + row;
        row -= rows;
    }
    return 0;
}

bool live_redo(struct dyninst *f)
{
    if (f->homes || f->faulted)
        return false;
    if (f->kind == DYNINST_COMPUTE && f->plan->kind == PLAN_LANES) {
        f->work = WORK_LANES;
        dyninst_compute(f);
        return true;
    }
    if (f->kind != DYNINST_ACCESS || f->work == WORK_NONE || f->plan->kind != PLAN_ACCESS)
        return false;
    dyninst_locate(f);
    return true;
}

bool live_readdress(struct dyninst *f, u32 lane, u64 address)
{
    const u32 lanes = f->warp->exec->image->warp_size;
    if (f->homes || f->kind != DYNINST_ACCESS || f->work == WORK_NONE || f->scalar ||
        f->plan->kind != PLAN_ACCESS || !(f->plan->vectors & 1))
        return false;
    assert(f->src[0]); /* the address is a vector operand */
    const u64 add = address - dyninst_addresses(f)[lane];
    const bool wide = f->plan->src_rows[0] > 1;
    u32 *low = f->src[0] + lane, *high = low + lanes;
    const u64 value = (wide ? (u64)*high << 32 | *low : *low) + add;
    *low = (u32)value;
    if (wide)
        *high = (u32)(value >> 32);
    return live_redo(f);
}
