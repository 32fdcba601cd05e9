/*
 * The dispatcher: blocks in order to cores that have room, between windows.
 *
 * Each core in turn takes one, or the lowest-numbered takes all it can (timing.dispatch). How many
 * a core holds is the launch's occupancy; a small grid is spread over the cores evenly. Mechanisms
 * may refuse a core, or have it run a copy.
 */
#include "gpu/timing_parts.h"

static bool core_takes(const struct run *run, u32 core)
{
    return run->resident[core] < run->per_core && core_has_room(run->timing->cores[core]);
}

static void start_block(struct run *run, u32 core, u64 number, bool copy)
{
    struct thread_block *block = block_start(&run->execs[core].exec, number, core);
    struct block_source *source = run->launch->source;
    if (source)
        source->start(source, block);
    core_start_block(run->timing->cores[core], block, copy);
    run->resident[core]++;
    run->copies += copy;
}

/* The core has room. False: it takes no block. */
static bool give_block(struct run *run, u32 core)
{
    struct core *c = run->timing->cores[core];
    if (core_hooked(c, SEAM_DISPATCH)) {
        struct dispatch d = hooks_dispatch(c, run->next, run->blocks);
        if (d.answer == DISPATCH_COPY) {
            assert(d.copy < run->next);
            start_block(run, core, d.copy, true);
            return true;
        }
        if (d.answer == DISPATCH_REFUSE || run->next == run->blocks)
            return false;
    }
    start_block(run, core, run->next++, false);
    return true;
}

/* Hands out blocks in order: each core in turn takes one, or the lowest-numbered takes all it can.
 */
void place_blocks(struct run *run)
{
    struct timing *t = run->timing;
    u32 refused = 0, n = t->core_count;
    const bool lowest = t->params->dispatch == 1;
    const bool copies = core_hooked(t->cores[0], SEAM_DISPATCH);
    for (u32 core = lowest ? 0 : run->turn; (run->next < run->blocks || copies) && refused < n;) {
        if (core_takes(run, core) && give_block(run, core)) {
            refused = 0;
            if (lowest)
                continue;
        } else {
            refused++;
        }
        core = core + 1 == n ? 0 : core + 1;
        run->turn = core;
    }
}

void leave_block(struct run *run, struct thread_block *block)
{
    struct block_source *source = run->launch->source;
    if (source)
        source->end(source, block);
    block_end(block);
}

void take_finished(struct run *run)
{
    struct timing *t = run->timing;
    for (u32 i = 0; i < t->core_count; i++) {
        struct core *core = t->cores[i];
        for (u32 k = 0; k < core->finished_count; k++) {
            struct resident *r = &core->blocks[core->finished[k]];
            run->launch->stats.timing.block_cycles += core_cycle(core) - r->started;
            leave_block(run, r->block);
            r->block = NULL;
            core->block_count--;
            run->resident[i]--;
            run->done += !r->copy;
            run->copies -= r->copy;
        }
        core->finished_count = 0;
    }
    atomic_store_explicit(&t->device->blocks_done, run->done, memory_order_relaxed);
}
