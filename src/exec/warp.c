/*
 * The interpreter: a warp runs its current path, one basic block at a time.
 *
 * A block is counted when it is entered; instructions with a guard count their lanes one by one
 * (W5). Lane functions get pointers into the warp's registers; their masks are expanded only when
 * the path changes or a guard excludes some of its lanes.
 */
#include "exec/scalars.h"
#include "exec/texture.h"

void warp_set_active(struct warp *warp)
{
    const struct image *const image = warp->exec->image;
    bool explicit_exec = image->program->traits.explicit_exec;
    lane_set mask = explicit_exec ? scalar_pair(warp, SCALAR_EXEC) : warp_path(warp)->mask;
    if (mask == warp->active)
        return;
    warp->active = mask;
    warp->active_count = count_lanes(mask);
    struct chunk *const chunks = warp->chunks;
    chunks[0].active = chunks[0].lanes.mask = (u32)mask;
    image->moves->expand((u32)mask, chunks[0].active_mask);
    if (image->chunks == 1)
        return;
    chunks[1].active = chunks[1].lanes.mask = lanes_of_chunk(mask, 1);
    image->moves->expand(chunks[1].active, chunks[1].active_mask);
}

/* Counts and returns the lanes of an instruction that has a guard. */
static inline lane_set count_guarded(struct warp *warp, u32 pc, const struct step *step)
{
    lane_set lanes = warp_guard(warp, step);
    if (lanes == warp->active)
        warp->exec->guard_threads[pc] += warp->active_count;
    else if (lanes)
        warp->exec->guard_threads[pc] += count_lanes(lanes);
    return lanes;
}

bool other_step(struct warp *warp, u32 pc, struct step *step, struct chunk *chunk, u32 mask)
{
    const struct inst *inst = warp_inst(warp, pc);
    switch (inst->op) {
    case OP_ld:
    case OP_st:
    case OP_ld2:
    case OP_st2:
        return memory_step(warp, pc, step, chunk, mask);
    case OP_buf_ld:
    case OP_buf_st:
        return buffer_step(warp, pc, step, chunk, mask);
    case OP_atom:
    case OP_atom_b128:
    case OP_exch2:
    case OP_atom_src2:
    case OP_buf_atom:
        return atomic_step(warp, pc, step, chunk, mask);
    case OP_sreg:
        special_step(warp, pc, step, chunk, mask);
        return true;
    case OP_isspacep:
        isspace_step(warp, step, chunk, inst, mask);
        return true;
    case OP_tex:
    case OP_suld:
    case OP_sust:
        return texture_step(warp, pc, step, chunk, mask);
    case OP_txq:
        texture_query_step(warp, step, chunk, inst, mask);
        return true;
    case OP_nanosleep:
        warp->yield = true; /* the path yields at the end of its block */
        return true;
    case OP_unsupported:
        fault_at(warp, pc, first_lane(chunk_lanes(mask, (unsigned)(chunk - warp->chunks))),
                 OUTCOME_TRAP, "unsupported instruction reached: %s",
                 warp->exec->image->program->unsupported[inst->imm].text);
        return false;
    default: /* prefetch, fence, brkpt, nop: nothing to do in functional execution */
        return true;
    }
}

/* One chunk under the mask its lanes struct holds; any shape but SHAPE_WHOLE. */
static bool run_chunk(struct warp *warp, u32 pc, const struct inst *inst, struct step *step,
                      struct chunk *chunk, u32 mask)
{
    return warp->exec->image->loops->step(chunk, inst, step) ||
           other_step(warp, pc, step, chunk, mask);
}

/* The same under a guard: lanes whose guard is false are neither executed nor counted. */
static bool run_guarded(struct warp *warp, u32 pc, const struct inst *inst, struct step *step)
{
    lane_set lanes = count_guarded(warp, pc, step);
    bool going = true;
    for (u32 c = 0; c < warp->exec->image->chunks && going; c++) {
        struct chunk *chunk = &warp->chunks[c];
        u32 mask = lanes_of_chunk(lanes, c);
        if (!mask)
            continue;
        chunk_narrow(chunk, mask);
        going = run_chunk(warp, pc, inst, step, chunk, mask);
        chunk_widen(chunk);
    }
    return going;
}

/* Instructions of the whole warp: they may make the path wait. */
static enum outcome_step run_whole(struct warp *warp, u32 pc, struct step *step)
{
    const struct inst *inst = warp_inst(warp, pc);
    lane_set lanes = step_is_guarded(step) ? count_guarded(warp, pc, step) : warp->active;
    if (!lanes)
        return STEP_NEXT;
    warp_path(warp)->pc = pc;
    if (inst->op == OP_syscall)
        return system_step(warp, pc, lanes) ? STEP_NEXT : STEP_STOP;
    if (inst->op == OP_bar || inst->op == OP_bar_popc)
        return barrier_step(warp, pc, lanes);
    return cross_step(warp, pc, lanes);
}

bool warp_step(struct warp *warp, const struct inst *inst, struct step *step)
{
    u32 pc = (u32)(step - warp->exec->image->steps);
    if ((step->shape & ~SHAPE_GUARDED) == SHAPE_WHOLE)
        return run_whole(warp, pc, step) == STEP_NEXT;
    if (step_is_guarded(step))
        return run_guarded(warp, pc, inst, step);
    for (u32 c = 0; c < warp->exec->image->chunks; c++) {
        struct chunk *chunk = &warp->chunks[c];
        if (chunk->active && !run_chunk(warp, pc, inst, step, chunk, chunk->active))
            return false;
    }
    return true;
}

/* Sorts lanes by target: the lowest lane's target first. */
static u32 add_target(struct target *targets, u32 count, u32 lane, u32 pc)
{
    for (u32 i = 0; i < count; i++)
        if (targets[i].pc == pc) {
            targets[i].mask |= 1ull << lane;
            return count;
        }
    targets[count] = (struct target){1ull << lane, pc};
    return count + 1;
}

/* One word of an operand for one lane. */
static u32 lane_word(const struct warp *warp, const struct step *step, unsigned slot, u32 lane,
                     u32 word)
{
    const struct chunk *chunk = &warp->chunks[lane / LANES];
    return chunk_row(chunk, step, slot)[word * warp->exec->image->warp_size + lane % LANES];
}

/* The current path goes to one place. False: another path may have become the current one. */
static inline bool go_to(struct warp *warp, struct path *path, u32 pc, u32 target)
{
    path->pc = target;
    if (target > pc || warp->path_live == 1 || ++path->spins < path->next_look)
        return true;
    paths_spin(warp);
    return false;
}

static void branch_apart(struct warp *warp, u32 pc, lane_set taken, u32 target, u32 reconverge)
{
    if (target == pc + 1) {
        warp_path(warp)->pc = target;
        return;
    }
    warp->exec->stats.divergent_branches++;
    struct target targets[2] = {{warp->active & ~taken, pc + 1}, {taken, target}};
    if (paths_diverge(warp, targets, 2, reconverge) && warp_path(warp)->pc == target)
        go_to(warp, warp_path(warp), pc, target); /* a loop that some lanes have left */
}

static void jump_table(struct warp *warp, u32 pc, const struct step *step, lane_set lanes,
                       u32 reconverge)
{
    const struct inst *inst = warp_inst(warp, pc);
    const struct jump_table *table = &warp->exec->image->program->tables[inst->imm];
    struct target targets[MAX_LANES];
    u32 count = 0;
    for (lane_set set = warp->active; set; set &= set - 1) {
        u32 lane = first_lane(set);
        u32 next = pc + 1;
        if (lanes >> lane & 1) {
            u32 index = lane_word(warp, step, 0, lane, 0);
            if (index >= table->count) {
                fault_at(warp, pc, lane, OUTCOME_BAD_CALL,
                         "jump table index %u is out of range: the table has %u targets", index,
                         table->count);
                return;
            }
            next = table->targets[index];
        }
        count = add_target(targets, count, lane, next);
    }
    if (count == 1) {
        go_to(warp, warp_path(warp), pc, targets[0].pc);
        return;
    }
    warp->exec->stats.divergent_branches++;
    paths_diverge(warp, targets, count, reconverge);
}

static void call_indirect(struct warp *warp, u32 pc, const struct step *step, lane_set lanes)
{
    const struct image *image = warp->exec->image;
    const struct inst *inst = warp_inst(warp, pc);
    struct target targets[MAX_LANES];
    u32 count = 0;
    for (lane_set set = lanes; set; set &= set - 1) {
        u32 lane = first_lane(set);
        u64 address = lane_word(warp, step, 0, lane, 0);
        if (inst->src[0].count > 1)
            address |= (u64)lane_word(warp, step, 0, lane, 1) << 32;
        u32 index = program_inst_at(image->program, address - image->code_address);
        const struct function *function =
            index == NO_INST ? NULL : program_function_at(image->program, index);
        if (!function || function->first != index || function->is_kernel) {
            fault_at(warp, pc, lane, OUTCOME_BAD_CALL,
                     "indirect call to 0x%llx, which is not the address of a function",
                     (unsigned long long)address);
            return;
        }
        count = add_target(targets, count, lane, index);
    }
    warp->exec->stats.divergent_branches += count > 1;
    paths_call(warp, targets, count, pc + 1);
}

static void leave(struct warp *warp, u32 pc, lane_set lanes, bool exits)
{
    warp_path(warp)->pc = pc + 1; /* for lanes whose guard is false */
    if (exits)
        paths_exit(warp, lanes);
    else
        paths_return(warp, lanes);
}

/* The last instruction of a basic block, other than a plain branch. */
static void run_control(struct warp *warp, u32 pc, const struct step *step, lane_set lanes,
                        u32 reconverge)
{
    const struct inst *inst = warp_inst(warp, pc);
    if (!lanes) {
        warp_path(warp)->pc = pc + 1;
        return;
    }
    switch (inst->op) {
    case OP_brx:
        jump_table(warp, pc, step, lanes, reconverge);
        break;
    case OP_call: {
        struct target target = {lanes, (u32)inst->imm};
        paths_call(warp, &target, 1, pc + 1);
        break;
    }
    case OP_calli:
        call_indirect(warp, pc, step, lanes);
        break;
    case OP_ret:
    case OP_exit:
        leave(warp, pc, lanes, inst->op == OP_exit);
        break;
    case OP_trap:
        fault_at(warp, pc, first_lane(lanes), OUTCOME_TRAP, "trap");
        break;
    default:
        assert(!"unknown branch instruction");
    }
}

void warp_control(struct warp *warp, u32 pc, lane_set lanes)
{
    const struct stretch *stretch = image_stretch(warp->exec->image, pc);
    assert(stretch->straight_end == pc);
    if (stretch->kind == STRETCH_OTHER)
        run_control(warp, pc, stretch->last, lanes, stretch->reconverge);
    else if (!lanes)
        warp_path(warp)->pc = pc + 1;
    else if (lanes == warp->active)
        go_to(warp, warp_path(warp), pc, stretch->target);
    else
        branch_apart(warp, pc, lanes, stretch->target, stretch->reconverge);
}

/* A waiting path has set its own state; one that faulted has issued the instruction. */
void warp_stop_inside(struct warp *warp, u32 pc)
{
    if (!warp->exec->stopped || warp->current == NO_PATH)
        return;
    warp_path(warp)->pc = pc;
    paths_advance(warp, warp_path(warp));
}

/*
 * The end of a basic block. Returns the block in which the path continues, or NULL if it has
 * diverged, called, ended, or needs other handling.
 */
static inline struct stretch *run_end(struct warp *warp, struct path *path, struct stretch *stretch)
{
    u32 end = stretch->straight_end;
    if (UNLIKELY(stretch->kind == STRETCH_FALLS)) {
        path->pc = end;
        return stretch + 1;
    }
    const struct step *step = stretch->last;
    lane_set lanes = step_is_guarded(step) ? count_guarded(warp, end, step) : warp->active;
    if (UNLIKELY(stretch->kind == STRETCH_OTHER)) {
        run_control(warp, end, step, lanes, stretch->reconverge);
        return NULL;
    }
    if (lanes == warp->active)
        return go_to(warp, path, end, stretch->target) ? stretch->taken : NULL;
    if (!lanes) {
        path->pc = end + 1;
        return stretch + 1;
    }
    branch_apart(warp, end, lanes, stretch->target, stretch->reconverge);
    return NULL;
}

struct stretch *warp_pass_end(struct warp *warp, struct stretch *stretch, u64 limit)
{
    struct exec *exec = warp->exec;
    const struct image *image = exec->image;
    warp->instructions += stretch->length;
    struct stretch *next = run_end(warp, warp_path(warp), stretch);
    if (exec->instructions >= limit || exec->stopped || warp->yield)
        return NULL;
    while (warp->current != NO_PATH && warp_path(warp)->pc == warp_path(warp)->rpc) {
        paths_merge(warp);
        next = NULL;
    }
    if (warp->current == NO_PATH || warp_path(warp)->resume)
        return NULL;
    if (!next)
        next = &image->views->stretches[image->stretch_of[warp_path(warp)->pc]];
    exec_count_entry(exec, next, warp->active_count);
    return next;
}

static void about_to(struct warp *warp, u32 inst)
{
    struct exec_watcher *watcher = warp->exec->watcher;
    if (watcher->before)
        watcher->before(watcher, warp, inst);
}

/* warp_step with an observer. */
static bool run_watched(struct warp *warp, const struct inst *inst, struct step *step)
{
    const u32 pc = (u32)(step - warp->exec->image->steps);
    struct exec_watcher *watcher = warp->exec->watcher;
    about_to(warp, pc);
    const bool going = warp_step(warp, inst, step);
    if (watcher->committed && !warp->exec->stopped)
        watcher->committed(watcher, warp, pc);
    return going;
}

/*
 * Runs the current path until it has used up the budget, reaches its reconvergence point, diverges,
 * calls, ends or must wait. An observer sees one instruction after the other.
 */
PART_OF void run_path(struct warp *warp, u64 limit, bool watched)
{
    struct exec *exec = warp->exec;
    const struct image *image = exec->image;
    struct path *path = warp_path(warp);
    struct stretch *stretch = &image->views->stretches[image->stretch_of[path->pc]];
    struct step *step = &image->steps[path->pc];
    if (path->resume)
        path->resume = false;
    else
        exec_count_entry(exec, stretch, warp->active_count);
    for (;;) {
        if (!watched && LIKELY(image->chunks == 1)) {
            step = image->loops->blocks(warp, &stretch, step, limit);
            if (UNLIKELY(!step))
                return;
            if (UNLIKELY(warp->yield))
                limit = 0;
        }
        if (step != stretch->last) {
            const struct inst *inst = &stretch->insts[step - stretch->steps];
            if (UNLIKELY(!(watched ? run_watched : warp_step)(warp, inst, step))) {
                warp_stop_inside(warp, (u32)(step - image->steps));
                return;
            }
            if (UNLIKELY(warp->yield))
                limit = 0; /* its turn ends with the block */
            step++;
            continue;
        }
        if (watched && stretch->kind != STRETCH_FALLS)
            about_to(warp, stretch->straight_end);
        warp->instructions += stretch->length;
        path = warp_path(warp); /* a split may have moved the paths */
        stretch = run_end(warp, path, stretch);
        if (!stretch || path->pc == path->rpc || exec->instructions >= limit)
            return;
        step = stretch->steps;
        exec_count_entry(exec, stretch, warp->active_count);
    }
}

static void run_path_plain(struct warp *warp, u64 limit)
{
    run_path(warp, limit, false);
}

static COLD void run_path_watched(struct warp *warp, u64 limit)
{
    run_path(warp, limit, true);
}

/* No leaf is ready: the warp has ended, waits at a barrier or to be formed anew, or releases lanes that wait at a
 * reconvergence point; otherwise it is deadlocked. */
static void settle(struct warp *warp)
{
    if (UNLIKELY(warp->reformed != NULL) && !warp->order_count) {
        warp->state = WARP_WAITING; /* V4 of reformed.h */
        return;
    }
    if (!warp->live) {
        warp->state = WARP_DONE;
        warp->block->done_warps++;
        warp->exec->stats.warps++;
        return;
    }
    for (u32 i = 0; i < warp->order_count; i++)
        if (warp->paths[warp->order[i]].state == PATH_BARRIER) {
            warp->state = WARP_WAITING;
            return;
        }
    if (paths_release(warp))
        paths_select(warp);
    else
        fault_deadlock(warp->block);
}

/* A sleep in a loop indicates waiting as much as many iterations without one. */
static void sleep_path(struct warp *warp)
{
    enum {
        SLEEP_WEIGHT = 1024
    };
    warp_path(warp)->spins += SLEEP_WEIGHT;
    paths_spin(warp);
}

/* The path has slept, and yields. */
static void wake(struct warp *warp)
{
    warp->yield = false;
    warp->slept = true;
    if (warp->path_live > 1)
        sleep_path(warp);
}

/* Finds a path with lanes that is not at its reconvergence point; false: there is none. */
static bool find_path(struct warp *warp)
{
    while (!warp->exec->stopped) {
        if (warp->current == NO_PATH && !paths_select(warp)) {
            settle(warp);
            if (warp->state != WARP_READY)
                return false;
            continue;
        }
        const struct path *path = warp_path(warp);
        if (path->pc != path->rpc)
            return true;
        paths_merge(warp);
    }
    return false;
}

bool warp_settle(struct warp *warp)
{
    if (warp->state != WARP_READY || !find_path(warp))
        return false;
    if (LIKELY(!warp->yield))
        return true;
    wake(warp);
    return find_path(warp);
}

void warp_run(struct warp *warp, u64 budget)
{
    struct exec *exec = warp->exec;
    u64 end = exec->instructions + budget;
    warp->slept = false;
    while (find_path(warp)) {
        if (exec->instructions >= end)
            return;
        if (warp->yield) {
            wake(warp);
            return;
        }
        if (exec->image->program->traits.explicit_exec)
            wave_run_path(warp, end);
        else if (UNLIKELY(exec->watcher))
            run_path_watched(warp, end);
        else
            run_path_plain(warp, end);
    }
}
