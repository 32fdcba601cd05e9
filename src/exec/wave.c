/*
 * The interpreter for code with explicit EXEC.
 *
 * A warp has one path. Its active lanes are EXEC, its code is the view of its MODE: both are
 * checked only where a stretch ends (S4 of image.h). Branches apply to the whole warp. If the
 * launch is observed, every instruction goes through run_step by itself.
 */
#include "exec/scalars.h"

/* ---- the start of a warp ---- */

static u32 entry_word(const struct warp *warp, const struct entry_register *r)
{
    const struct thread_block *block = warp->block;
    const struct exec *exec = warp->exec;
    u64 lanes = exec->image->warp_size, slot = (u64)block->slot * exec->warps + warp->index;
    switch (r->what) {
    case ENTRY_CONSTANT:
        return r->value;
    case ENTRY_IMAGE_LO:
        return (u32)(exec->entry_address + r->value);
    case ENTRY_IMAGE_HI:
        return (u32)((exec->entry_address + r->value) >> 32);
    case ENTRY_LOCAL_LO:
        return (u32)exec->entry_local_address;
    case ENTRY_LOCAL_HI:
        return (u32)(exec->entry_local_address >> 32) | r->value;
    case ENTRY_LOCAL_WARP_OFFSET:
        return (u32)(slot * exec->entry->local_bytes * lanes);
    case ENTRY_LANES_LO:
        return (u32)warp->members;
    case ENTRY_LANES_HI:
        return (u32)(warp->members >> 32);
    case ENTRY_BLOCK_X:
    case ENTRY_BLOCK_Y:
    case ENTRY_BLOCK_Z:
        return block->id[r->what - ENTRY_BLOCK_X];
    case ENTRY_BLOCK_INFO:
        return (exec->warps & 63) | (warp->index ? 0 : 1u << 31);
    case ENTRY_LAUNCH_LO:
        return (u32)exec->grid_number;
    default: /* ENTRY_LAUNCH_HI */
        return (u32)(exec->grid_number >> 32);
    }
}

static void fill_vector(struct warp *warp, const struct entry_register *r)
{
    const struct image *image = warp->exec->image;
    for (u32 c = 0; c < image->chunks; c++) {
        const struct chunk *chunk = &warp->chunks[c];
        u32 *row = vector_row(warp, chunk, r->index);
        if (r->what >= ENTRY_THREAD_X)
            memcpy(row, chunk->tids[r->what - ENTRY_THREAD_X], LANES * sizeof *row);
        else
            for (u32 lane = 0; lane < LANES; lane++)
                row[lane] = entry_word(warp, r);
    }
}

void wave_start(struct warp *warp)
{
    const struct exec *exec = warp->exec;
    const struct image *image = exec->image;
    u32 *ids = (u32 *)(warp->chunks[0].base + own_row_offset(image, ROW_LANEID));
    for (u32 lane = 0; lane < image->warp_size; lane++)
        ids[lane] = lane;
    scalar_set_pair(warp, SCALAR_EXEC, warp->members);
    *scalar_word(warp, SCALAR_MODE) = exec->kernel->mode;
    for (u32 i = 0; exec->entry && i < exec->entry->register_count; i++) {
        const struct entry_register *r = &exec->entry->registers[i];
        if (r->file == ENTRY_VECTOR)
            fill_vector(warp, r);
        else
            *scalar_word(warp, r->index) = entry_word(warp, r);
    }
    if (exec->watcher && exec->watcher->started)
        exec->watcher->started(exec->watcher, warp);
}

/* ---- steps ---- */

static void about_to(struct warp *warp, u32 inst)
{
    struct exec_watcher *watcher = warp->exec->watcher;
    if (watcher && watcher->before)
        watcher->before(watcher, warp, inst);
}

static void committed(struct warp *warp, u32 inst)
{
    struct exec_watcher *watcher = warp->exec->watcher;
    if (watcher && watcher->committed)
        watcher->committed(watcher, warp, inst);
}

/* Instructions that are neither lane nor scalar functions. False: the path cannot continue. */
static bool run_other(struct warp *warp, u32 pc, struct step *step)
{
    const struct inst *inst = warp_inst(warp, pc);
    switch (inst->op) {
    case OP_readlane:
    case OP_readfirstlane:
    case OP_writelane:
        lane_scalar_step(warp, pc, step);
        return true;
    case OP_movrel_src:
    case OP_movrel_dst:
    case OP_movrel_both:
        return move_relative_step(warp, pc, step);
    case OP_swizzle:
        swizzle_step(warp, pc, step, warp->active);
        return true;
    case OP_append:
        return append_step(warp, pc, step, warp->active);
    case OP_ld_scalar:
    case OP_ld_scalar_buffer:
        return scalar_load_step(warp, pc, step);
    case OP_bar_whole:
        warp_path(warp)->pc = pc;
        return barrier_step(warp, pc, warp->live | warp->active) == STEP_NEXT;
    default:
        break;
    }
    if (op_info[inst->op].flags & OPF_SCALAR)
        return scalar_step(warp, pc);
    for (u32 c = 0; c < warp->exec->image->chunks; c++) {
        struct chunk *chunk = &warp->chunks[c];
        if (chunk->active && !other_step(warp, pc, step, chunk, chunk->active))
            return false;
    }
    return true;
}

/* Functions that read derived scalars (VCCZ, EXECZ) run on a copy of their step. */
static bool run_derived(struct warp *warp, const struct inst *inst, struct step *step)
{
    struct step plain = *step;
    plain.shape &= (u8)~SHAPE_DERIVED;
    scalar_derive(warp);
    if (plain.fn)
        warp->exec->image->waves->steps(warp, inst, &plain, &plain + 1);
    return plain.fn || run_other(warp, (u32)(step - warp->view->steps), step);
}

static bool run_step(struct warp *warp, const struct inst *inst, struct step *step)
{
    if (step->shape & SHAPE_DERIVED)
        return run_derived(warp, inst, step);
    if (warp->exec->image->waves->steps(warp, inst, step, step + 1) != step)
        return true;
    return !warp->exec->stopped && run_other(warp, (u32)(step - warp->view->steps), step);
}

/* ---- stretches ---- */

/* Counts a stretch; if a computed jump enters it in the middle, only the rest. */
static void enter(struct warp *warp, struct stretch *stretch, u32 pc)
{
    exec_count_entry(warp->exec, stretch, warp->active_count);
    for (u32 i = stretch->first; i < pc; i++)
        account_inst(warp->exec, i, -1, -(i64)warp->active_count);
}

bool wave_set_mode(struct warp *warp, u32 pc)
{
    u32 mode = *scalar_word(warp, SCALAR_MODE);
    struct view *view = image_view(warp->exec->image, mode);
    if (!warp->exec->by_dyninst)
        image_settle(warp->exec->image);
    if (!view) {
        fault_at(
            warp, pc, first_lane(warp->live), OUTCOME_LIMIT,
            "too many different values of MODE in this program: 0x%x is one more than supported",
            mode);
        return false;
    }
    warp->view = view;
    return true;
}

/* Sets where the path goes at the end of a stretch. False: it has ended or faulted. */
static bool run_end(struct warp *warp, const struct stretch *stretch)
{
    struct path *path = warp_path(warp);
    u32 end = stretch->straight_end;
    switch (stretch->kind) {
    case STRETCH_FALLS:
        path->pc = end;
        break;
    case STRETCH_JUMPS:
        path->pc = stretch->target;
        committed(warp, end);
        break;
    case STRETCH_TESTS:
        path->pc = warp_branch_taken(warp, stretch) ? stretch->target : end + 1;
        committed(warp, end);
        break;
    default:
        scalar_control(warp, end);
        if (warp->exec->stopped)
            return false;
        committed(warp, end);
        if (warp->current == NO_PATH)
            return false;
    }
    if (stretch->changes_exec)
        warp_set_active(warp);
    return !stretch->changes_mode || wave_set_mode(warp, end);
}

bool wave_control(struct warp *warp, u32 pc)
{
    const struct stretch *stretch = &warp->view->stretches[warp->exec->image->stretch_of[pc]];
    assert(stretch->straight_end == pc);
    return run_end(warp, stretch);
}

void wave_run_path(struct warp *warp, u64 limit)
{
    struct exec *exec = warp->exec;
    const struct image *image = exec->image;
    struct path *path = warp_path(warp);
    if (!warp->view && !wave_set_mode(warp, path->pc))
        return;
    bool resumed = path->resume;
    path->resume = false;
    for (;;) {
        struct stretch *stretch = &warp->view->stretches[image->stretch_of[path->pc]];
        struct step *step = &warp->view->steps[path->pc];
        if (!resumed)
            enter(warp, stretch, path->pc);
        resumed = false;
        for (;;) {
            if (LIKELY(!exec->watcher))
                step = image->waves->blocks(warp, &stretch, step, limit);
            if (step == stretch->last)
                break;
            u32 pc = (u32)(step - warp->view->steps);
            about_to(warp, pc);
            bool going =
                !exec->stopped && run_step(warp, &stretch->insts[step - stretch->steps], step);
            if (!exec->stopped)
                committed(warp, pc);
            if (!going) {
                warp_stop_inside(warp, pc);
                return;
            }
            if (warp->yield)
                limit = 0;
            step++;
        }
        warp->instructions += stretch->length;
        if (stretch->kind != STRETCH_FALLS)
            about_to(warp, stretch->straight_end);
        if (!run_end(warp, stretch) || exec->instructions >= limit)
            return;
    }
}
