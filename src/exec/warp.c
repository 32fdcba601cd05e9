/*
 * The interpreter: a warp runs its current path, a basic block at a time.
 *
 * A block is counted when it is entered; instructions with a guard count their lanes one by one
 * (W5). Lane functions get pointers into the warp's registers; the masks they work under are
 * expanded only when the path changes or a guard takes some of its lanes away.
 */
#include "exec/warp.h"

/* A sleep in a loop is as good a sign of waiting as this many iterations without one. */
enum {
    SLEEP_WEIGHT = 1024
};

void warp_set_active(struct warp *warp)
{
    lane_set mask = warp_path(warp)->mask;
    if (mask == warp->active)
        return;
    warp->active = mask;
    warp->active_count = count_lanes(mask);
    for (u32 c = 0; c < warp->exec->image->chunks; c++) {
        struct chunk *chunk = &warp->chunks[c];
        chunk->active = lanes_of_chunk(mask, c);
        chunk->lanes.mask = chunk->active;
        lanes_expand(chunk->active, chunk->active_mask);
    }
}

lane_set warp_guarded(const struct warp *warp, u32 inst)
{
    const struct step *step = &warp->exec->image->steps[inst];
    if (!step->guarded)
        return warp->active;
    lane_set lanes = 0;
    for (u32 c = 0; c < warp->exec->image->chunks; c++)
        lanes |= chunk_lanes(chunk_guard(&warp->chunks[c], step), c);
    return lanes & warp->active;
}

/* Counts and returns the lanes of an instruction with or without a guard. */
static lane_set guarded_lanes(struct warp *warp, u32 pc, const struct step *step)
{
    if (!step->guarded)
        return warp->active;
    lane_set lanes = warp_guarded(warp, pc);
    if (lanes == warp->active)
        warp->exec->guard_threads[pc] += warp->active_count;
    else if (lanes)
        warp->exec->guard_threads[pc] += count_lanes(lanes);
    return lanes;
}

static bool other_step(struct warp *warp, u32 pc, struct step *step, struct chunk *chunk, u32 mask)
{
    const struct inst *inst = warp_inst(warp, pc);
    switch (inst->op) {
    case OP_ld:
    case OP_st:
        return memory_step(warp, pc, step, chunk, mask);
    case OP_atom:
        return atomic_step(warp, pc, step, chunk, mask);
    case OP_sreg:
        special_step(warp, pc, step, chunk, mask);
        return true;
    case OP_isspacep:
        isspace_step(warp, step, chunk, inst, mask);
        return true;
    case OP_nanosleep:
        warp->yield = true; /* the path gives way at the end of its block */
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

/* The lane function over one chunk, under the mask its lanes struct holds. */
static inline __attribute__((always_inline)) void
run_lanes(struct chunk *chunk, const struct inst *inst, const struct step *step)
{
    struct lanes *lanes = &chunk->lanes;
    lanes->inst = inst;
    switch (step->shape) {
    case SHAPE_LANE_ALL:
        lanes->src[3] = chunk_row(chunk, step, 3);
        lanes->dst[1] = chunk_row(chunk, step, SLOT_DST + 1);
        /* fall through */
    case SHAPE_LANE_3:
        lanes->src[2] = chunk_row(chunk, step, 2);
        /* fall through */
    case SHAPE_LANE_2:
        lanes->src[1] = chunk_row(chunk, step, 1);
        /* fall through */
    default:
        lanes->src[0] = chunk_row(chunk, step, 0);
        lanes->dst[0] = chunk_row(chunk, step, SLOT_DST);
    }
    step->fn(lanes);
}

/* ld.shared of a word with a 32-bit address, the commonest access of tiled kernels. */
static inline bool run_shared_load(struct warp *warp, u32 pc, struct step *step,
                                   struct chunk *chunk, const struct inst *inst, u32 mask)
{
    _Alignas(64) u32 offset[LANES];
    const struct lanes_memory *moves = warp->exec->image->moves;
    u32 found = moves->translate32(offset, chunk_row(chunk, step, 0), inst->imm,
                                   warp->exec->shared_bytes, 4, mask);
    if (UNLIKELY(found != mask))
        return memory_step(warp, pc, step, chunk, mask);
    moves->gather32(chunk_row(chunk, step, SLOT_DST), warp->block->shared, offset, mask,
                    chunk->lanes.lane_mask);
    return true;
}

static inline __attribute__((always_inline)) bool run_chunk(struct warp *warp, u32 pc,
                                                            const struct inst *inst,
                                                            struct step *step, struct chunk *chunk,
                                                            u32 mask)
{
    if (LIKELY(step->shape <= SHAPE_LANE_ALL)) {
        run_lanes(chunk, inst, step);
        return true;
    }
    if (step->shape == SHAPE_SHARED_LOAD)
        return run_shared_load(warp, pc, step, chunk, inst, mask);
    return other_step(warp, pc, step, chunk, mask);
}

/* The same under a guard: lanes whose guard is false are neither run nor counted. */
static bool run_guarded(struct warp *warp, u32 pc, const struct inst *inst, struct step *step)
{
    lane_set lanes = guarded_lanes(warp, pc, step);
    bool going = true;
    for (u32 c = 0; c < warp->exec->image->chunks && going; c++) {
        struct chunk *chunk = &warp->chunks[c];
        u32 mask = lanes_of_chunk(lanes, c);
        if (!mask)
            continue;
        if (mask == chunk->active) {
            going = run_chunk(warp, pc, inst, step, chunk, mask);
            continue;
        }
        if (mask != chunk->guarded) {
            chunk->guarded = mask;
            lanes_expand(mask, chunk->guard_mask);
        }
        chunk->lanes.mask = mask;
        chunk->lanes.lane_mask = chunk->guard_mask;
        going = run_chunk(warp, pc, inst, step, chunk, mask);
        chunk->lanes.mask = chunk->active;
        chunk->lanes.lane_mask = chunk->active_mask;
    }
    return going;
}

/* Instructions that concern the whole warp: they may make the path wait. */
static enum outcome_step run_whole(struct warp *warp, u32 pc, struct step *step)
{
    const struct inst *inst = warp_inst(warp, pc);
    lane_set lanes = guarded_lanes(warp, pc, step);
    if (!lanes)
        return STEP_NEXT;
    if (inst->op == OP_syscall)
        return system_step(warp, pc, lanes) ? STEP_NEXT : STEP_STOP;
    if (inst->op == OP_bar || inst->op == OP_bar_popc)
        return barrier_step(warp, pc, lanes);
    return cross_step(warp, pc, lanes);
}

static bool is_whole(const struct inst *inst)
{
    return inst->op == OP_syscall || op_info[inst->op].flags & (OPF_CROSS | OPF_BARRIER);
}

/*
 * Runs instructions [pc, end) of the current path, none of them a branch. Returns the first one
 * that was not completed, or end. `chunks` is a constant where this is inlined.
 */
static inline __attribute__((always_inline)) u32 run_straight(struct warp *warp, u32 pc, u32 end,
                                                              u32 chunks)
{
    const struct inst *inst = warp_inst(warp, pc);
    struct step *step = &warp->exec->image->steps[pc];
    for (; pc < end; pc++, inst++, step++) {
        if (UNLIKELY(step->shape == SHAPE_OTHER) && is_whole(inst)) {
            warp_path(warp)->pc = pc;
            switch (run_whole(warp, pc, step)) {
            case STEP_NEXT:
                continue;
            case STEP_PARK:
            case STEP_STOP:
                return pc;
            }
        }
        if (UNLIKELY(step->guarded)) {
            if (!run_guarded(warp, pc, inst, step))
                return pc;
            continue;
        }
        for (u32 c = 0; c < chunks; c++) {
            struct chunk *chunk = &warp->chunks[c];
            if (chunks > 1 && !chunk->active)
                continue;
            if (!run_chunk(warp, pc, inst, step, chunk, chunk->active))
                return pc;
        }
    }
    return end;
}

static u32 run_straight_32(struct warp *warp, u32 pc, u32 end)
{
    return run_straight(warp, pc, end, 1);
}

static u32 run_straight_64(struct warp *warp, u32 pc, u32 end)
{
    return run_straight(warp, pc, end, 2);
}

/* Sorts lanes by where they go: the lowest lane's target first. */
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

static void go_to(struct warp *warp, u32 pc, u32 target)
{
    warp_path(warp)->pc = target;
    if (target <= pc && warp->path_live > 1)
        paths_spin(warp, 1);
}

static void branch(struct warp *warp, u32 pc, lane_set taken, u32 target, u32 reconverge)
{
    if (taken == warp->active) {
        go_to(warp, pc, target);
        return;
    }
    if (!taken || target == pc + 1) {
        warp_path(warp)->pc = pc + 1;
        return;
    }
    warp->exec->stats.divergent_branches++;
    bool backward = target <= pc;
    struct target targets[2] = {{warp->active & ~taken, pc + 1}, {taken, target}};
    paths_diverge(warp, targets, 2, reconverge);
    if (backward && !warp->exec->stopped && warp_path(warp)->pc == target)
        paths_spin(warp, 1);
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
        go_to(warp, pc, targets[0].pc);
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
        u64 offset = address - image->code_address;
        u64 index = offset / image->program->traits.inst_bytes;
        const struct function *function =
            offset % image->program->traits.inst_bytes == 0 && index < image->program->inst_count
                ? program_function_at(image->program, (u32)index)
                : NULL;
        if (!function || function->first != index || function->is_kernel) {
            fault_at(warp, pc, lane, OUTCOME_BAD_CALL,
                     "indirect call to 0x%llx, which is not the address of a function",
                     (unsigned long long)address);
            return;
        }
        count = add_target(targets, count, lane, (u32)index);
    }
    warp->exec->stats.divergent_branches += count > 1;
    paths_call(warp, targets, count, pc + 1);
}

static void leave(struct warp *warp, u32 pc, lane_set lanes, bool exits)
{
    warp_path(warp)->pc = pc + 1; /* for lanes whose guard keeps them */
    if (exits)
        paths_exit(warp, lanes);
    else
        paths_return(warp, lanes);
}

/* The last instruction of a basic block. */
static void run_branch(struct warp *warp, u32 pc, u32 reconverge)
{
    const struct inst *inst = warp_inst(warp, pc);
    struct step *step = &warp->exec->image->steps[pc];
    lane_set lanes = guarded_lanes(warp, pc, step);
    if (inst->op == OP_bra) {
        branch(warp, pc, lanes, (u32)inst->imm, reconverge);
        return;
    }
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
        warp_path(warp)->pc = pc;
        fault_at(warp, pc, first_lane(lanes), OUTCOME_TRAP, "trap");
        break;
    default:
        assert(!"a branch instruction without a meaning");
    }
}

/* Runs the current path to the end of its basic block, or to where it must wait. */
static void run_block(struct warp *warp)
{
    struct exec *exec = warp->exec;
    const struct program *program = exec->image->program;
    struct path *path = warp_path(warp);
    u32 pc = path->pc;
    u32 index = program->block_of[pc];
    const struct block *block = &program->blocks[index];
    if (path->resume) {
        path->resume = false;
    } else {
        exec->block_warps[index]++;
        exec->block_threads[index] += warp->active_count;
        exec->instructions += block->end - block->first;
    }
    bool branches = op_info[program->insts[block->end - 1].op].flags & OPF_BRANCH;
    u32 end = block->end - branches;
    u32 stop =
        exec->image->chunks == 1 ? run_straight_32(warp, pc, end) : run_straight_64(warp, pc, end);
    if (UNLIKELY(stop != end)) {
        /* A path that waits has said so itself; one that faulted stands at the instruction. */
        if (exec->stopped && warp->current != NO_PATH) {
            warp_path(warp)->pc = stop;
            paths_advance(warp, warp_path(warp));
        }
        return;
    }
    warp->instructions += block->end - block->first;
    if (branches)
        run_branch(warp, end, block->reconverge);
    else
        warp_path(warp)->pc = end;
}

/* No leaf is ready: what now? */
static void settle(struct warp *warp)
{
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

void warp_run(struct warp *warp, u64 budget)
{
    struct exec *exec = warp->exec;
    u64 end = exec->instructions + budget;
    warp->slept = false;
    while (!exec->stopped) {
        if (warp->current == NO_PATH && !paths_select(warp)) {
            settle(warp);
            if (warp->state != WARP_READY)
                return;
            continue;
        }
        struct path *path = warp_path(warp);
        if (path->pc == path->rpc) {
            paths_merge(warp);
            continue;
        }
        if (exec->instructions >= end)
            return;
        if (warp->yield) {
            warp->yield = false;
            warp->slept = true;
            if (warp->path_live > 1)
                paths_spin(warp, SLEEP_WEIGHT);
            return;
        }
        run_block(warp);
    }
}
