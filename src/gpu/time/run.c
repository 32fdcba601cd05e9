/* A launch, window by window: see timing.h. */
#include "gpu/device.h"
#include "gpu/time/live.h"
#include "gpu/time/parts.h"
#include <inttypes.h>
#include <stdlib.h>

static u64 clock_of(const struct warp *warp, bool nanoseconds)
{
    const struct core *core = ((const struct core_launch *)warp->exec)->core;
    return nanoseconds ? core->clock.next / 1000000 : core_cycle(core);
}

/* What a warp of the launch is given of its core's register files, and how many there can be. */
static struct register_layout layout_of(const struct timed_run *run, const struct exec *exec)
{
    const struct image *image = exec->image;
    const struct amounts *needs = &run->launch->needs;
    const u32 given = needs->of[RESOURCE_VECTORS] / exec->warps;
    return (struct register_layout){
        .header = image->mask_rows + image->own_rows,
        .rows = MAX((given + image->warp_size - 1) / image->warp_size, exec->register_rows),
        .frames = MIN(run->per_core * exec->warps, CORE_WARPS + exec->warps),
        .scalars = needs->of[RESOURCE_SCALARS] / exec->warps,
    };
}

/* Whether the registers of all warps that can be resident exceed what second-level caches of hosts
 * hold, 1 to 2 MB, beside the rest. */
static bool is_crowded(const struct timed_run *run, const struct exec *exec)
{
    enum {
        HOST_CACHE = 1536 * 1024
    };
    const u64 blocks = MIN(run->blocks, (u64)run->timing->core_count * run->per_core);
    const u64 lanes = blocks * run->exec->dims[0] * run->exec->dims[1] * run->exec->dims[2];
    return lanes * exec->kernel->total_registers * sizeof(u32) > HOST_CACHE;
}

static void exec_of_core(struct timed_run *run, u32 i)
{
    struct timing *t = run->timing;
    run->execs[i].core = t->cores[i];
    struct exec *exec = &run->execs[i].exec;
    *exec = *run->exec;
    exec->poll = NULL;
    exec->clock = clock_of;
    exec->by_dyninst = true;
    exec->file = t->cores[i]->registers;
    exec->crowded = is_crowded(run, exec);
    if (exec->bounds)
        exec->bounds = bounds_create();
    exec_prepare(exec, run->per_core);
    const struct register_layout layout = layout_of(run, exec);
    register_file_begin(exec->file, &layout);
    exec->storages = i * run->per_core; /* local memory differs between cores */
}

static void tell_memory(struct timed_run *run, bool begins, fs now)
{
    const struct memory_hooks *memory = &run->timing->memory_hooks;
    for (u32 i = 0; i < memory->count; i++) {
        EACH_USE(use, &memory->partitions[i], launch_memory)
            use->mechanism->launch_memory(use->state, run->exec, begins, now);
    }
}

/* Mechanisms' states of the memory side and of the dispatcher; cores have theirs. */
static void begin_states(struct timed_run *run)
{
    struct timing *t = run->timing;
    for (u32 i = 0; i < t->memory_hooks.count; i++)
        hooks_seed(&t->memory_hooks.partitions[i], run->exec, "memory", i);
    tell_memory(run, true, t->now);
    hooks_forget(&t->dispatcher_hooks);
    hooks_seed(&t->dispatcher_hooks, run->exec, "dispatcher", 0);
}

static void begin(struct timed_run *run)
{
    struct timing *t = run->timing;
    const struct program *program = run->exec->image->program;
    if (t->timed != program) {
        free(t->times);
        free(t->uses);
        t->times = checked(calloc(MAX(program->inst_count, 1), sizeof *t->times));
        time_program(t->times, run->exec->image, &t->cores[0]->config);
        t->uses = lanes_of_program(program, t->times);
        t->timed = program;
    }
    run->launch->profile = checked(calloc(program->inst_count, sizeof(struct inst_profile)));
    run->launch->uses = t->uses;
    run->launch->mechanisms = mechanism_stats_create(&t->device->mechanisms);
    run->start = t->now + t->params->launch_cycles * t->period;
    run->end = run->moved = run->start;
    memory_system_start(t->memory_system, t->now);
    begin_states(run);
    if (t->params->flush_l1)
        memory_system_flush(t->memory_system);
    for (u32 i = 0; i < t->core_count; i++) {
        exec_of_core(run, i);
        t->cores[i]->config.mhz = t->clock->core_mhz;
        if (i < t->clock->core_rates_count)
            t->cores[i]->config.mhz *= t->clock->core_rates[i];
        t->cores[i]->config.mhz *= hooks_clock(t->cores[i]);
        core_begin(t->cores[i], &run->execs[i].exec, t->times, run->launch->profile, run->start);
        if (t->params->flush_l1)
            core_flush(t->cores[i]);
        if (UNLIKELY(t->content != NULL))
            core_content_begin(t->cores[i]);
    }
    if (UNLIKELY(t->content != NULL))
        content_reload(t->content);
}

/* ---- windows ---- */

/* Finds the fault of the window (T3). */
static bool found_fault(struct timed_run *run)
{
    struct timing *t = run->timing;
    const struct exec *first = NULL;
    fs when = FS_NEVER;
    for (u32 k = 0; k < t->awake.count; k++) {
        const struct core *core = t->awake.list[k];
        if (UNLIKELY(core->exec->stopped) && core->clock.next < when) {
            first = core->exec;
            when = core->clock.next;
        }
    }
    if (!first)
        return false;
    run->exec->stopped = true;
    run->exec->fault = first->fault;
    run->end = MAX(run->end, when);
    return true;
}

static void tell_changed(const struct timing *t, const struct content_change *change)
{
    for (u32 i = 0; i < t->core_count; i++)
        core_content_changed(t->cores[i], change);
}

/* meet for launches with content (N6 of mem/content.h). */
static __attribute__((noinline)) void meet_content(struct timed_run *run)
{
    struct timing *t = run->timing;
    struct content_change change;
    u32 count;
    bool serial = false;
    for (u32 i = 0; content_stored(t->content, i, &change); i++)
        tell_changed(t, &change);
    const struct packet *atomics = memory_system_atomics(t->memory_system, &count);
    for (u32 i = 0; i < count; i++) {
        content_lift(t->content, &atomics[i]);
        core_atomic(t->cores[atomics[i].core], &atomics[i]);
        content_lower(t->content, &atomics[i], &change);
        tell_changed(t, &change);
    }
    for (u32 k = 0; k < t->awake.count; k++)
        serial |= t->awake.list[k]->issue.serial != 0;
    if (!serial)
        return;
    content_expose(t->content);
    for (u32 i = 0; i < t->core_count; i++)
        core_content_expose(t->cores[i]);
    for (u32 i = 0; i < t->core_count; i++)
        if (t->cores[i]->issue.serial)
            core_serial(t->cores[i]);
    content_conceal(t->content);
}

static void meet(struct timed_run *run)
{
    struct timing *t = run->timing;
    u32 count;
    memory_system_meet(t->memory_system, t->awake.set);
    image_settle(run->exec->image);
    if (UNLIKELY(t->content != NULL)) {
        meet_content(run);
        return;
    }
    for (u32 k = 0; k < t->awake.count; k++)
        if (!memory_view_empty(t->awake.list[k]->view))
            memory_view_publish(t->awake.list[k]->view);
    const struct packet *atomics = memory_system_atomics(t->memory_system, &count);
    for (u32 i = 0; i < count; i++)
        core_atomic(t->cores[atomics[i].core], &atomics[i]);
    for (u32 k = 0; k < t->awake.count; k++)
        if (UNLIKELY(t->awake.list[k]->issue.serial))
            core_serial(t->awake.list[k]);
}

static fs next_event(const struct timed_run *run)
{
    const struct timing *t = run->timing;
    fs next = memory_system_next(t->memory_system);
    for (u32 k = 0; k < t->awake.count && next > t->now; k++)
        next = MIN(next, core_next(t->awake.list[k]));
    return next;
}

/* Skips windows in which nothing happens (T2). */
static void skip_windows(struct timed_run *run, fs next)
{
    struct timing *t = run->timing;
    if (next != FS_NEVER && next > t->now)
        t->now += (next - t->now) / t->window * t->window;
}

/* ---- early ends of a launch ---- */

/* Releases warps that would wait forever at a reconvergence point. */
static bool unblock_all(struct timed_run *run)
{
    bool any = false;
    for (u32 i = 0; i < run->timing->core_count; i++)
        any |= core_unblock(run->timing->cores[i]);
    return any;
}

/* A warp to name in the message when the launch is stopped from outside. */
static const struct warp *some_warp(const struct timed_run *run)
{
    const struct timing *t = run->timing;
    for (u32 k = 0; k < t->awake.count; k++) {
        const struct core *core = t->awake.list[k];
        if (core->present & ~core->ended)
            return core->slots[first_bit(core->present & ~core->ended)].warp;
    }
    return NULL;
}

/* Whether memory has replied since the last call: slow is not stuck. */
static bool answers_came(struct timed_run *run)
{
    u64 answers = 0;
    for (u32 i = 0; i < run->timing->core_count; i++)
        answers += run->timing->cores[i]->stats.lsu.replies;
    const bool more = answers != run->answers;
    run->answers = answers;
    return more;
}

/* Samples one warp, or all, for repetition (endless.h). The slot of the warp that is sampled first
 * is found once. */
static void look_for_repeats(struct timed_run *run, u64 issued)
{
    struct timing *t = run->timing;
    struct endless *endless = &t->device->endless;
    u32 live = 0, at = 0;
    if (!endless->all && endless->picked && run->sampled && run->sampled->warp == endless->picked &&
        !run->sampled->ended) {
        endless_look(t->device, endless->picked, run->sampled->issued, issued);
        return;
    }
    for (u32 i = 0; i < t->core_count; i++)
        live += count_lanes(t->cores[i]->present & ~t->cores[i]->ended);
    const u32 picked = live ? endless_pick(endless, live) : 0;
    const bool all = endless->all;
    for (u32 i = 0; i < t->core_count; i++)
        for (u64 set = t->cores[i]->present & ~t->cores[i]->ended; set; set &= set - 1, at++) {
            if (issued < endless->next)
                return; /* end of the round */
            const struct slot *slot = &t->cores[i]->slots[first_bit(set)];
            if ((all && endless->all) || slot->warp == endless->picked ||
                (!endless->picked && at == picked)) {
                endless_look(t->device, slot->warp, slot->issued, issued);
                run->sampled = endless->picked == slot->warp ? slot : run->sampled;
            }
        }
}

/* Checks limits, the user's interrupt, and launches without progress. */
static void look_after(struct timed_run *run, fs next)
{
    struct timing *t = run->timing;
    u64 issued = run->issued, cycles = (t->now - run->start) / t->period;
    struct exec *exec = run->exec;
    exec->instructions = issued;
    atomic_store_explicit(&t->device->cycles, cycles, memory_order_relaxed);
    atomic_store_explicit(&t->device->picoseconds, (t->now - run->start) / 1000,
                          memory_order_relaxed);
    exec->last = some_warp(run);
    exec->poll(exec);
    if (exec->stopped)
        return;
    if (UNLIKELY(issued >= t->device->endless.next))
        look_for_repeats(run, issued);
    const u64 limit = exec->limits->max_instructions;
    if (limit && issued >= limit)
        fault_stop(exec, OUTCOME_LIMIT,
                   "stopped after %" PRIu64 " warp instructions (launch.max_instructions)", limit);
    else if (t->params->max_cycles && cycles >= t->params->max_cycles)
        fault_stop(exec, OUTCOME_LIMIT, "stopped after %" PRIu64 " cycles (timing.max_cycles)",
                   t->params->max_cycles);
    if (next == FS_NEVER) /* a core may have released held warps in this window */
        next = next_event(run);
    if (issued != run->progress) {
        run->progress = issued;
        run->moved = t->now;
    } else if (next == FS_NEVER || t->now - run->moved > t->params->stuck_cycles * t->period) {
        if (next != FS_NEVER && answers_came(run))
            run->moved = t->now;
        else if (next != FS_NEVER || !unblock_all(run))
            stop_deadlocked(run);
    }
}

/* ---- the launch ---- */

/* Lets outstanding replies and writes complete: they belong to this launch, but not to its time. */
static void drain(struct timed_run *run)
{
    struct timing *t = run->timing;
    if (UNLIKELY(t->live != NULL))
        memory_system_forget_strays(t->memory_system);
    while (memory_system_pending(t->memory_system) ||
           memory_system_next(t->memory_system) != FS_NEVER) {
        fs next = memory_system_next(t->memory_system);
        for (u32 i = 0; i < t->core_count; i++)
            next = MIN(next, port_next(t->cores[i]->config.replies));
        skip_windows(run, next);
        for (u32 i = 0; i < t->core_count; i++)
            core_drain(t->cores[i], t->now + t->window);
        memory_system_run(t->memory_system, t->now + t->window);
        memory_system_meet(t->memory_system, NULL);
        t->now += t->window;
    }
    struct memory_system_stats rest;
    struct machine_stats *stats = &run->launch->stats;
    memory_system_take_stats(t->memory_system, t->now, &rest);
    rest.network.cycles = rest.l2.slice_cycles = rest.dram.channel_cycles = 0;
    add_memory_counts(stats, &rest);
}

/* Calls launch_done of each mechanism with the states of all cores. */
static void call_launch_done(struct timed_run *run)
{
    const struct timing *t = run->timing;
    void **states = checked(calloc(t->core_count, sizeof *states));
    for (u32 m = 0; m < t->device->mechanisms.count; m++) {
        const struct mechanism *mechanism = t->device->mechanisms.uses[m].mechanism;
        for (u32 i = 0; i < t->core_count; i++)
            states[i] = t->cores[i]->hooks.uses[m].state;
        if (mechanism->launch_done)
            mechanism->launch_done(states, t->core_count, run->exec);
    }
    free(states);
}

static void finish(struct timed_run *run)
{
    struct timing *t = run->timing;
    for (u32 i = 0; i < t->core_count; i++)
        core_settle(t->cores[i], run->end);
    take_counts(run, run->end);
    settle_mechanisms(run, run->end);
    drain(run);
    if (UNLIKELY(t->content != NULL))
        content_flush(t->content);
    tell_memory(run, false, run->end);
    call_launch_done(run);
    observe(run, true);
    for (u32 i = 0; i < t->core_count; i++) {
        struct core *core = t->cores[i];
        for (u32 b = 0; b < CORE_BLOCKS; b++)
            if (core->blocks[b].block)
                leave_block(run, core->blocks[b].block);
        core_end(core);
        stats_add(&exec_component, &run->exec->stats, &run->execs[i].exec.stats);
        exec_release(&run->execs[i].exec);
        if (run->exec->bounds) {
            bounds_add(run->exec->bounds, run->execs[i].exec.bounds);
            bounds_destroy(run->execs[i].exec.bounds);
        }
    }
    take_mechanism_counts(run);
    observe_end(run);
    run->exec->stats.blocks = run->done;
    const struct inst_profile *profile = run->launch->profile;
    for (u32 i = 0; i < run->exec->image->program->inst_count; i++)
        if (profile[i].issued)
            account_inst(run->exec, i, (i64)profile[i].issued, (i64)profile[i].threads);
}

static struct core_launch *create_execs(u32 cores)
{
    const size_t bytes = cores * sizeof(struct core_launch);
    return memset(checked(aligned_alloc(_Alignof(struct core_launch), bytes)), 0, bytes);
}

void timing_run(struct timing *t, struct exec *exec, u64 blocks, u32 per_core,
                struct timed_launch *launch)
{
    struct timed_run run = {
        .timing = t,
        .exec = exec,
        .execs = create_execs(t->core_count),
        .launch = launch,
        .blocks = blocks,
        .per_core = per_core,
        .resident = checked(calloc(t->core_count, sizeof(u32))),
    };
    t->device->endless.in_time = true;
    dispatcher_begin(&run);
    begin(&run);
    windows_begin(&run);
    observe_begin(&run);
    follow_begin(&run);
    while ((run.done < blocks || run.copies) && !exec->stopped) {
        place_blocks(&run);
        list_awake(t);
        fs next = next_event(&run);
        skip_windows(&run, next);
        fs end = t->now + t->window;
        if (UNLIKELY(t->live != NULL))
            live_window(&run, end);
        window_run(&run, end);
        t->now = end;
        meet(&run);
        if (found_fault(&run))
            break;
        take_finished(&run);
        windows_settle(&run);
        observe(&run, false);
        look_after(&run, next);
    }
    for (u32 i = 0; i < t->core_count; i++)
        run.end = MAX(run.end, t->cores[i]->last_left);
    if (run.done < blocks)
        run.end = t->now;
    if (UNLIKELY(t->live != NULL))
        live_end(&run);
    finish(&run);
    dispatcher_end(&run);
    free(run.execs);
    free(run.resident);
}

void timed_launch_free(struct timed_launch *launch)
{
    free(launch->profile);
    free(launch->mechanisms);
    vec_free(&launch->waiting.rows);
}
