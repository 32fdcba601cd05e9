/*
 * Statistics from counted basic blocks (W5).
 *
 * While a launch runs, only three counters change: paths and lanes that enter each basic block, and
 * lanes of instructions with a guard. Everything that follows from an instruction (its event, its
 * space, its kind) is added up here at the end. Instructions that were not executed, because paths
 * stopped inside a block, are subtracted.
 */
#include "base/events.h"
#include "exec/warp.h"

#define FOLLOWS(first, space, member)                                              \
    _Static_assert(offsetof(struct exec_stats, member) ==                          \
                       offsetof(struct exec_stats, first) + (space) * sizeof(u64), \
                   "exec.def lists each family of spaces in the order of enum space")
FOLLOWS(loads_generic, SPACE_SHARED, loads_shared);
FOLLOWS(loads_generic, SPACE_PARAM, loads_param);
FOLLOWS(stores_generic, SPACE_PARAM, stores_param);
FOLLOWS(atomics_generic, SPACE_PARAM, atomics_param);
FOLLOWS(load_threads_generic, SPACE_PARAM, load_threads_param);
FOLLOWS(store_threads_generic, SPACE_PARAM, store_threads_param);
FOLLOWS(atomic_threads_generic, SPACE_PARAM, atomic_threads_param);
FOLLOWS(int_operations, EVENT_COUNT - 1, control_operations);

static void add_space(u64 *generic, u64 *threads_generic, enum space space, u64 warps, u64 threads)
{
    generic[space] += warps;
    threads_generic[space] += threads;
}

static void add_kind(struct exec_stats *stats, const struct inst *inst, u64 warps, u64 threads)
{
    u16 flags = op_info[inst->op].flags;
    enum space space = inst->space;
    if (flags & OPF_ATOMIC)
        add_space(&stats->atomics_generic, &stats->atomic_threads_generic, space, warps, threads);
    else if (flags & OPF_LOAD)
        add_space(&stats->loads_generic, &stats->load_threads_generic, space, warps, threads);
    else if (flags & OPF_STORE)
        add_space(&stats->stores_generic, &stats->store_threads_generic, space, warps, threads);
    else if (flags & OPF_CROSS)
        stats->cross_lane += warps;
    else if (flags & OPF_BARRIER)
        stats->barriers += warps;
    else if (inst->op == OP_bra || inst->op == OP_brx || inst->op == OP_bra_if ||
             inst->op == OP_fork)
        stats->branches += warps;
    else if (inst->op == OP_call || inst->op == OP_calli ||
             (inst->op == OP_jump && inst->dst[0].kind != OPERAND_NONE))
        stats->calls += warps;
}

/* Adds an instruction issued `warps` times for `threads` lanes; negative numbers subtract. */
void account_inst(struct exec *exec, u32 index, i64 warps, i64 threads)
{
    struct exec_stats *stats = &exec->stats;
    const struct inst *inst = &exec->image->program->insts[index];
    stats->warp_instructions += (u64)warps;
    stats->thread_instructions += (u64)threads;
    bool scalar = op_info[inst->op].flags & OPF_SCALAR;
    stats->scalar_instructions += scalar ? (u64)warps : 0;
    (&stats->int_operations)[op_info[inst->op].event] += scalar ? (u64)warps : (u64)threads;
    add_kind(stats, inst, (u64)warps, (u64)threads);
}

static void account_view(struct exec *exec, const struct view *view)
{
    for (u32 k = 0; k < exec->image->stretch_count; k++) {
        struct stretch *stretch = &view->stretches[k];
        if (!stretch->warps)
            continue;
        for (u32 i = stretch->first; i < stretch->first + stretch->length; i++) {
            bool guarded = step_is_guarded(&exec->image->steps[i]);
            account_inst(exec, i, (i64)stretch->warps,
                         (i64)(guarded ? exec->guard_threads[i] : stretch->threads));
        }
        stretch->warps = stretch->threads = 0;
    }
}

void account_finish(struct exec *exec)
{
    for (const struct view *view = exec->image->views; view; view = view->next)
        account_view(exec, view);
}

/* For a block that will not continue: subtracts what its paths have not executed. */
void account_tails(struct thread_block *block)
{
    struct exec *exec = block->exec;
    bool explicit_exec = exec->image->program->traits.explicit_exec;
    for (u32 w = 0; w < exec->warps && !exec->by_dyninst; w++) {
        const struct warp *warp = &block->warps[w];
        for (u32 i = 0; i < warp->order_count; i++) {
            const struct path *path = &warp->paths[warp->order[i]];
            if (!path->resume)
                continue;
            /* A waiting leaf has issued the instruction it is at. */
            u32 first = path->pc + (path->state != PATH_READY);
            const struct stretch *stretch = image_stretch(exec->image, path->pc);
            u32 lanes = count_lanes(explicit_exec ? warp->active : path->mask);
            for (u32 inst = first; inst < stretch->first + stretch->length; inst++)
                account_inst(exec, inst, -1,
                             step_is_guarded(&exec->image->steps[inst]) ? 0 : -(i64)lanes);
        }
    }
}

void account_issued(struct exec *exec, const u64 *warps, const u64 *threads)
{
    for (u32 i = 0; i < exec->image->program->inst_count; i++)
        if (warps[i])
            account_inst(exec, i, (i64)warps[i], (i64)threads[i]);
}
