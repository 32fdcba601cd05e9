/*
 * The inner loop: consecutive steps of 32 lanes, with fast paths for the most common accesses.
 *
 * Compiled once per instruction set like the lane functions, so that locating operands and moving
 * words are vector operations without a call.
 */
#include "exec/lanes_build.h"
#include "exec/lanes_paths.h"
#include "exec/lanes_rare.h"

ALWAYS_INLINE bool load_uniform(struct chunk *chunk, const struct step *step)
{
    eight *row = (eight *)chunk_row(chunk, step, SLOT_DST);
    const u32 *from = (const u32 *)(chunk->uniforms + step->uniform);
    if (step->uniform + 4u * step->words > chunk->uniform_bytes)
        return false;
    for (u32 j = 0; j < step->words; j++, row += chunk->lanes.stride / 8)
        for (unsigned k = 0; k < EIGHTS; k++)
            row[k] = SPLAT(from[j]);
    return true;
}

/* Accesses that have a fast path under any mask. */
static __attribute__((noinline)) bool run_rare(struct chunk *chunk, const struct inst *inst,
                                               const struct step *step, unsigned shape)
{
    if (shape == SHAPE_WORDS)
        return move_words(chunk, inst, step);
    if (shape == SHAPE_ATOMIC)
        return update_atomic(chunk, inst, step);
    return type_bytes(inst->type) == 1 ? move_narrows(chunk, inst, step, 1)
                                       : move_narrows(chunk, inst, step, 2);
}

/* Other than lane functions, with all lanes active; false: take the slow path. */
static __attribute__((noinline)) bool run_short(struct chunk *chunk, const struct inst *inst,
                                                const struct step *step, unsigned shape)
{
    switch (shape) {
    case SHAPE_SHARED_LOAD:
        return load_shared(chunk, inst, step);
    case SHAPE_SHARED_STORE:
        return store_shared(chunk, inst, step);
    case SHAPE_GLOBAL_LOAD:
        return load_global(chunk, inst, step);
    case SHAPE_GLOBAL_STORE:
        return store_global(chunk, inst, step);
    case SHAPE_UNIFORM:
        return load_uniform(chunk, step);
    case SHAPE_THREAD:
        memcpy(chunk_row(chunk, step, SLOT_DST), chunk->tids[step->uniform], LANES * sizeof(u32));
        return true;
    case SHAPE_WORDS:
    case SHAPE_NARROWS:
    case SHAPE_ATOMIC:
        return run_rare(chunk, inst, step, shape);
    default:
        return false;
    }
}

/* The same with some lanes inactive. */
static __attribute__((noinline)) bool run_some(struct chunk *chunk, const struct inst *inst,
                                               const struct step *step, unsigned shape)
{
    switch (shape) {
    case SHAPE_SHARED_LOAD:
    case SHAPE_SHARED_STORE:
        return shared_some(chunk, inst, step);
    case SHAPE_GLOBAL_LOAD:
    case SHAPE_GLOBAL_STORE:
        return global_some(chunk, inst, step);
    case SHAPE_WORDS:
    case SHAPE_NARROWS:
    case SHAPE_ATOMIC:
        return run_rare(chunk, inst, step, shape);
    default:
        return false;
    }
}

/* A step of any shape under the chunk's mask, which is not empty; false: take the slow path. */
ALWAYS_INLINE bool run_masked(struct chunk *chunk, const struct inst *inst, const struct step *step,
                              unsigned shape)
{
    if (shape == SHAPE_LANE) {
        chunk->lanes.inst = inst;
        chunk_place(chunk, step);
        step->fn(&chunk->lanes);
        return true;
    }
    return chunk->lanes.mask == LANES_FULL ? run_short(chunk, inst, step, shape)
                                           : run_some(chunk, inst, step, shape);
}

/* A step with a guard; *threads counts the lanes that have executed it. */
static __attribute__((noinline)) bool run_guarded(struct chunk *chunk, const struct inst *inst,
                                                  const struct step *step, u64 *threads)
{
    const u32 lanes = chunk_guard(chunk, step) & chunk->active;
    if (!lanes)
        return true;
    chunk_narrow(chunk, lanes);
    const bool done = run_masked(chunk, inst, step, step->shape & ~SHAPE_GUARDED);
    chunk_widen(chunk);
    if (done)
        *threads += count_lanes(lanes);
    return done;
}

/* `threads`: the counter of the first step, as in exec->guard_threads. */
ALWAYS_INLINE struct step *run_steps(struct chunk *chunk, const struct inst *inst,
                                     struct step *step, const struct step *last,
                                     const struct step *first, u64 *threads)
{
    for (; step != last; inst++, step++) {
        if (LIKELY(step->shape == SHAPE_LANE)) {
            chunk->lanes.inst = inst;
            chunk_place(chunk, step);
            step->fn(&chunk->lanes);
        } else if (step->shape == SHAPE_SHARED_LOAD && chunk->active == LANES_FULL) {
            if (UNLIKELY(!load_shared(chunk, inst, step)))
                break;
        } else if (step_is_guarded(step)) {
            if (!run_guarded(chunk, inst, step, &threads[step - first]))
                break;
        } else if (step->shape == SHAPE_WHOLE || !run_masked(chunk, inst, step, step->shape)) {
            break;
        }
    }
    return step;
}

/* One step whose guard has been evaluated. */
static bool LANE(run_step)(struct chunk *chunk, const struct inst *inst, const struct step *step)
{
    return run_masked(chunk, inst, step, step->shape & ~SHAPE_GUARDED);
}

/* What does not change while the current path goes from block to block. */
struct journey {
    struct path *path;
    u64 *guard_threads;
    u32 active, active_count, rpc;
    bool alone; /* no other path of the warp waits */
};

/*
 * All lanes take the plain branch at the end of a basic block, or none does: returns the next
 * block. NULL, and nothing has happened: the branch needs more than that.
 */
ALWAYS_INLINE struct stretch *pass_branch(const struct journey *j, const struct chunk *chunk,
                                          struct stretch *stretch)
{
    const struct step *const branch = stretch->last;
    struct stretch *next = stretch->taken;
    u32 target = stretch->target;
    bool guarded = false;
    if (UNLIKELY(stretch->kind > STRETCH_JUMPS))
        return stretch->kind == STRETCH_FALLS && stretch->straight_end != j->rpc ? stretch + 1
                                                                                 : NULL;
    if (LIKELY(stretch->kind == STRETCH_BRANCHES)) {
        const u32 lanes = chunk_guard(chunk, branch) & j->active;
        guarded = lanes;
        if (!lanes) {
            target = stretch->straight_end + 1;
            next = stretch + 1;
        } else if (lanes != j->active) {
            return NULL;
        }
    }
    if (UNLIKELY(target == j->rpc))
        return NULL;
    if (target <= stretch->straight_end && !j->alone) {
        if (UNLIKELY(j->path->spins + 1 >= j->path->next_look))
            return NULL;
        j->path->spins++;
    }
    if (guarded)
        j->guard_threads[stretch->straight_end] += j->active_count;
    return next;
}

/* The path is in `stretch` now; *entered instructions have been entered since it was in *at. */
ALWAYS_INLINE void move_on(struct warp *warp, const struct journey *j, struct stretch **at,
                           struct stretch *stretch, u64 *entered)
{
    if (!*entered)
        return;
    warp->exec->instructions += *entered;
    warp->instructions += *entered + (*at)->length - stretch->length;
    j->path->pc = stretch->first;
    *at = stretch;
    *entered = 0;
}

/* The slow path of a step. True: the path continues unchanged. */
static __attribute__((noinline)) bool run_long(struct warp *warp, const struct journey *j,
                                               const struct inst *inst, struct step **step)
{
    struct step *const at = *step;
    if (UNLIKELY(!warp_step(warp, inst, at))) {
        warp_stop_inside(warp, (u32)(at - warp->exec->image->steps));
        *step = NULL;
        return false;
    }
    ++*step;
    return !warp->yield && warp_path(warp) == j->path && (u32)warp->active == j->active &&
           (warp->path_live == 1) == j->alone;
}

ALWAYS_INLINE struct journey begin_journey(struct warp *warp)
{
    return (struct journey){
        .path = warp_path(warp),
        .guard_threads = warp->exec->guard_threads,
        .active = (u32)warp->active,
        .active_count = warp->active_count,
        .rpc = warp_path(warp)->rpc,
        .alone = warp->path_live == 1,
    };
}

static struct step *LANE(run_blocks)(struct warp *warp, struct stretch **at, struct step *step,
                                     u64 limit)
{
    struct exec *const exec = warp->exec;
    struct chunk *const chunk = &warp->chunks[0];
    struct stretch *stretch = *at;
    const struct inst *inst = &stretch->insts[step - stretch->steps];
    struct journey j = begin_journey(warp);
    u64 entered = 0, left = exec->instructions < limit ? limit - exec->instructions : 0;
    for (;;) {
        step = run_steps(chunk, inst, step, stretch->last, stretch->steps,
                         &j.guard_threads[stretch->first]);
        if (UNLIKELY(step != stretch->last)) {
            left -= MIN(left, entered);
            move_on(warp, &j, at, stretch, &entered);
            inst = &stretch->insts[step - stretch->steps] + 1;
            if (run_long(warp, &j, inst - 1, &step))
                continue;
            return step;
        }
        struct stretch *next = NULL;
        if (LIKELY(entered < left)) {
            next = pass_branch(&j, chunk, stretch);
            if (!next && (next = pass_apart(warp, stretch)))
                j = begin_journey(warp);
        }
        if (LIKELY(next)) {
            stretch = next;
            stretch->warps++;
            stretch->threads += j.active_count;
            entered += stretch->length;
        } else {
            move_on(warp, &j, at, stretch, &entered);
            next = warp_pass_end(warp, stretch, limit);
            if (!next)
                return NULL;
            *at = stretch = next;
            left = exec->instructions < limit ? limit - exec->instructions : 0;
            j = begin_journey(warp);
        }
        step = stretch->steps;
        inst = stretch->insts;
    }
}

const struct lanes_loops LANE(loops) = {LANE(run_step), LANE(run_blocks)};
