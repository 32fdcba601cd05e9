/*
 * The dispatcher: assigns blocks in order to cores that have room, between windows.
 *
 * Each core in turn takes one, or the lowest-numbered takes all it can (timing.dispatch). How many
 * a core holds is the launch's occupancy; a small grid is spread over the cores evenly. Mechanisms
 * may refuse a core, or have it run a copy.
 *
 * With tables a block waits in one of timing.pending entries, which are tried in turn; the
 * lowest-numbered core whose resource tables have room for it takes it, and small grids are not
 * spread. A block that does not fit anywhere is tried again after the others. A mechanism with the
 * dispatch seam sees blocks in order, one at a time.
 *
 * Deviation: MIAOW's dispatcher, on which the tables are modelled, takes some cycles to find room
 * and to update a core's tables; here a block that fits starts in the next window.
 */
#include "gpu/device.h"
#include "gpu/time/parts.h"
#include <stdlib.h>

struct pending {
    u64 block;
    bool valid;
    bool fragmented; /* counted as fragmented */
};

struct tables {
    struct resources *of_core;
    struct pending *pending;
    u32 entries, waiting; /* entries of `pending`, and valid ones */
    u32 last;             /* entry tried last */
    bool refused;         /* no pending block fits, and no resources have been freed since */
};

static struct amounts needs_of(const struct timed_run *run, u64 number)
{
    struct amounts needs = run->launch->needs;
    struct block_source *source = run->launch->source;
    if (source)
        source->needs(source, number, &needs);
    return needs;
}

u32 timing_per_core(const struct timing *t, u64 blocks, u32 per_core)
{
    const u64 spread = (blocks + t->core_count - 1) / t->core_count;
    return t->params->dispatch != 2 ? (u32)MIN(per_core, spread) : per_core;
}

void dispatcher_begin(struct timed_run *run)
{
    const struct timing *t = run->timing;
    const struct core_params *core = t->cores[0]->config.core;
    run->per_core = timing_per_core(t, run->blocks, run->per_core);
    if (run->launch->places) /* at least one for each of the first cores */
        run->per_core = MAX(MIN(run->per_core, run->launch->places / t->core_count), 1u);
    if (t->params->dispatch != 2)
        return;
    struct tables *tables = run->tables = checked(calloc(1, sizeof *tables));
    const struct amounts capacity = {{
        [RESOURCE_WARPS] = MIN(MIN(core->warps, CORE_WARPS), core->threads / core->warp_size),
        [RESOURCE_VECTORS] = core->registers,
        [RESOURCE_SCALARS] = core->scalar_registers,
        [RESOURCE_SHARED] = core->shared_bytes,
    }};
    _Static_assert((u32)RESOURCE_OWNERS >= CORE_BLOCKS, "each block of a core owns something");
    if (run->launch->source) /* smaller blocks than the largest: more of them may fit */
        run->per_core = MIN(core->blocks, CORE_BLOCKS);
    tables->of_core = checked(calloc(t->core_count, sizeof *tables->of_core));
    for (u32 i = 0; i < t->core_count; i++)
        resources_init(&tables->of_core[i], &capacity, (enum fit)t->params->fit);
    tables->entries = t->params->pending;
    tables->pending = checked(calloc(tables->entries, sizeof *tables->pending));
    tables->last = tables->entries - 1;
}

void dispatcher_end(struct timed_run *run)
{
    if (!run->tables)
        return;
    free(run->tables->of_core);
    free(run->tables->pending);
    free(run->tables);
}

/* Cores for which there is no local memory take no blocks. */
static bool has_place(const struct timed_run *run, u32 core)
{
    const u32 places = run->launch->places;
    return run->resident[core] < run->per_core && (!places || (core + 1) * run->per_core <= places);
}

static bool fits(const struct timed_run *run, u32 core, u64 number)
{
    const struct amounts needs = needs_of(run, number);
    return has_place(run, core) && resources_fit(&run->tables->of_core[core], &needs);
}

/* Whether a core can take block `number`. */
static bool core_takes(const struct timed_run *run, u32 core, u64 number)
{
    if (run->tables)
        return fits(run, core, MIN(number, run->blocks - 1));
    return has_place(run, core) && core_has_room(run->timing->cores[core]);
}

static void start_block(struct timed_run *run, u32 core, u64 number, bool copy)
{
    core_wake(run->timing, core);
    struct thread_block *block = block_start(&run->execs[core].exec, number, core);
    struct block_source *source = run->launch->source;
    if (source)
        source->start(source, block);
    const u32 place = core_start_block(run->timing->cores[core], block, copy);
    if (run->tables) {
        const struct amounts needs = needs_of(run, number);
        resources_take(&run->tables->of_core[core], place, &needs);
    }
    run->resident[core]++;
    run->copies += copy;
    observe_blocks(run, core, run->timing->cores[core]->clock.next);
}

/* Gives the next block to a core that has room. False: it takes none. */
static bool give_block(struct timed_run *run, u32 core)
{
    struct core *c = run->timing->cores[core];
    if (core_hooked(c, SEAM_DISPATCH)) {
        const struct hooks *own = &run->timing->dispatcher_hooks;
        struct dispatch d = hooks_dispatch(c, own, run->next, run->blocks);
        if (d.answer == DISPATCH_COPY) {
            assert(d.copy < run->next);
            if (run->tables && !fits(run, core, d.copy))
                return false;
            start_block(run, core, d.copy, true);
            return true;
        }
        if (d.answer == DISPATCH_REFUSE || run->next == run->blocks)
            return false;
    }
    start_block(run, core, run->next++, false);
    return true;
}

/* Fills free entries with the next blocks, the lowest entry first. */
static void fill_pending(struct timed_run *run)
{
    struct tables *tables = run->tables;
    for (u32 i = 0; tables->waiting < tables->entries && run->next < run->blocks; i++)
        if (!tables->pending[i].valid) {
            tables->pending[i] = (struct pending){.block = run->next++, .valid = true};
            tables->waiting++;
        }
}

/* Gives the block of an entry to the lowest-numbered core where it fits. */
static bool place_pending(struct timed_run *run, struct pending *pending)
{
    struct timing *t = run->timing;
    const struct amounts needs = needs_of(run, pending->block);
    for (u32 core = 0; core < t->core_count; core++)
        if (fits(run, core, pending->block)) {
            start_block(run, core, pending->block, false);
            pending->valid = false;
            run->tables->waiting--;
            return true;
        }
    for (u32 core = 0; core < t->core_count && !pending->fragmented; core++)
        pending->fragmented = run->resident[core] < run->per_core &&
                              resources_suffice(&run->tables->of_core[core], &needs);
    return false;
}

/* Tries entries in turn until none of them fits anywhere. */
static void place_by_tables(struct timed_run *run)
{
    struct tables *tables = run->tables;
    u32 refused = 0;
    if (tables->refused)
        return;
    fill_pending(run);
    while (tables->waiting && refused < tables->waiting) {
        do
            tables->last = tables->last + 1 == tables->entries ? 0 : tables->last + 1;
        while (!tables->pending[tables->last].valid);
        struct pending *pending = &tables->pending[tables->last];
        const bool counted = pending->fragmented;
        if (place_pending(run, pending)) {
            refused = 0;
            fill_pending(run);
        } else {
            refused++;
            run->launch->stats.timing.blocks_fragmented += pending->fragmented && !counted;
        }
    }
    tables->refused = tables->waiting;
}

/* Each core in turn takes one, or the lowest-numbered takes all it can. */
static void place_in_order(struct timed_run *run)
{
    struct timing *t = run->timing;
    u32 refused = 0, n = t->core_count;
    const bool lowest = t->params->dispatch != 0;
    const bool copies = core_hooked(t->cores[0], SEAM_DISPATCH);
    bool room = false;
    if (run->full)
        return;
    for (u32 core = lowest ? 0 : run->turn; (run->next < run->blocks || copies) && refused < n;) {
        if (core_takes(run, core, run->next) && give_block(run, core)) {
            refused = 0;
            if (lowest)
                continue;
        } else {
            refused++;
            room |= run->resident[core] < run->per_core;
        }
        core = core + 1 == n ? 0 : core + 1;
        run->turn = core;
    }
    run->full = !room && !copies; /* a mechanism that refuses may change its mind */
}

void place_blocks(struct timed_run *run)
{
    if (run->tables && !core_hooked(run->timing->cores[0], SEAM_DISPATCH))
        place_by_tables(run);
    else
        place_in_order(run);
}

void leave_block(struct timed_run *run, struct thread_block *block)
{
    struct block_source *source = run->launch->source;
    if (source)
        source->end(source, block);
    block_end(block);
}

void take_finished(struct timed_run *run)
{
    struct timing *t = run->timing;
    for (u32 a = 0; a < t->awake.count; a++) {
        struct core *core = t->awake.list[a];
        const u32 i = core->config.index;
        if (LIKELY(!core->finished_count))
            continue;
        run->full = false;
        for (u32 k = 0; k < core->finished_count; k++) {
            struct resident *r = &core->blocks[core->finished[k]];
            run->launch->stats.timing.block_cycles += core_cycle(core) - r->started;
            leave_block(run, r->block);
            r->block = NULL;
            if (run->tables) {
                resources_give(&run->tables->of_core[i], core->finished[k]);
                run->tables->refused = false;
            }
            core->block_count--;
            run->resident[i]--;
            run->done += !r->copy;
            run->copies -= r->copy;
            observe_blocks(run, i, core->last_left);
        }
        core->finished_count = 0;
    }
    atomic_store_explicit(&t->device->blocks_done, run->done, memory_order_relaxed);
}
