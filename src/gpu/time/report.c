/* Reports of a launch in timing mode: waiting warps of a deadlock, counters, samples for
 * observers. */
#include "gpu/device.h"
#include "gpu/time/parts.h"
#include <stdio.h>
#include <stdlib.h>

/* ---- waiting warps ---- */

static void add_waiting(struct timed_run *run, const struct core *core, u32 s)
{
    const struct warp *warp = core->slots[s].warp;
    struct core_wait wait;
    core_explain(core, s, &wait);
    struct waiting *row = vec_push(&run->launch->waiting.rows);
    *row = (struct waiting){
        .core = core->config.index,
        .slot = s,
        .block = warp->block->number,
        .warp = warp->index,
        .inst = wait.inst,
        .stall = (u8)core_waits(core, s),
        .writer = wait.writer,
        .barrier = wait.barrier,
    };
    memcpy(row->reg, wait.reg, sizeof row->reg);
    snprintf(row->more, sizeof row->more, "%s", wait.more);
    if (wait.has_request)
        memory_system_find(run->timing->memory_system, &wait.request, row->place,
                           sizeof row->place);
}

static void list_waiting(struct timed_run *run)
{
    struct timing *t = run->timing;
    struct waiting_list *list = &run->launch->waiting;
    list->cycle = (t->now - run->start) / t->period;
    list->stuck = (t->now - run->moved) / t->period;
    list->undone = run->blocks - run->done;
    list->unstarted = run->blocks - run->next;
    for (u32 i = 0; i < t->core_count; i++)
        for (u64 set = t->cores[i]->present; set; set &= set - 1)
            add_waiting(run, t->cores[i], first_bit(set));
}

void stop_deadlocked(struct timed_run *run)
{
    list_waiting(run);
    struct exec *exec = run->exec;
    const struct waiting_list *list = &run->launch->waiting;
    exec->stopped = true;
    exec->fault = (struct fault){.outcome = OUTCOME_DEADLOCK};
    if (list->rows.count && list->rows.data[0].inst != NO_INST)
        exec->fault.inst = list->rows.data[0].inst;
}

/* ---- counters and observers ---- */

void observe_begin(struct timed_run *run)
{
    struct timing *t = run->timing;
    struct observer *observer = t->device->observer;
    if (!observer)
        return;
    const struct exec *exec = run->exec;
    observer_begin(observer, &(struct observer_launch){
                                 .kernel = exec->kernel->name,
                                 .program = exec->image->program,
                                 .code_address = exec->image->code_address,
                                 .grid = {exec->grid[0], exec->grid[1], exec->grid[2]},
                                 .block = {exec->dims[0], exec->dims[1], exec->dims[2]},
                                 .cores = t->core_count,
                                 .l1_mshrs = t->cores[0]->config.l1d->mshrs,
                                 .l1_latency = t->cores[0]->config.l1d->latency,
                                 .l2_line = t->cores[0]->config.l2_line_bytes,
                                 .start = run->start,
                                 .core_period = t->period,
                                 .number = exec->grid_number,
                                 .energy = t->device->energy,
                                 .mechanisms = run->launch->mechanisms,
                             });
    fs from, to;
    observer_span(observer, &from, &to);
    /* the channels of the memory side follow the cores */
    const u32 channels = memory_system_channels(t->memory_system);
    run->seen = checked(calloc(t->core_count + channels, sizeof *run->seen));
    for (u32 i = 0; i < t->core_count + channels; i++)
        run->seen[i] =
            (struct trace_buffer){.from = from, .to = to, .causes = observer_causes(observer)};
    for (u32 i = 0; i < t->core_count; i++) {
        const bool traced = from < to && observer_traces(observer, i);
        core_watch(t->cores[i], traced ? &run->seen[i] : NULL, NULL, NULL);
    }
    if (observer_causes(observer) && from < to)
        memory_system_watch(t->memory_system, &run->seen[t->core_count]);
}

static void add_core_counts(struct machine_stats *stats, const struct core_counts *counts)
{
#define COMPONENT_ROW(name) stats_add(&name##_component, &stats->name, &counts->name);
#include "core/components.def"
#undef COMPONENT_ROW
}

void add_memory_counts(struct machine_stats *stats, const struct memory_system_stats *counts)
{
#define COMPONENT_ROW(name) stats_add(&name##_component, &stats->name, &counts->name);
#include "mem/components.def"
#undef COMPONENT_ROW
}

/* Warp cycles of ended and of present warps. */
static u64 warp_cycles(const struct core *core)
{
    u64 cycles = core->warp_cycles;
    for (u64 set = core->present; set; set &= set - 1)
        cycles += core_cycle(core) - core->slots[first_bit(set)].started;
    return cycles;
}

void take_counts(struct timed_run *run, fs now)
{
    struct timing *t = run->timing;
    struct machine_stats *stats = &run->launch->stats;
    struct memory_system_stats memory;
    struct core_counts counts;
    u64 unwritten = 0;
    stats->timing.warp_cycles = 0;
    for (u32 i = 0; i < t->core_count; i++) {
        core_take_counts(t->cores[i], &counts);
        add_core_counts(stats, &counts);
        stats->timing.warp_cycles += warp_cycles(t->cores[i]);
        unwritten += core_lanes_unwritten(t->cores[i]);
    }
    memset(t->issued, 0, t->core_count * sizeof *t->issued);
    memory_system_take_stats(t->memory_system, now, &memory);
    add_memory_counts(stats, &memory);
    windows_profile(run);
    lanes_count(stats, t->uses, run->launch->profile, t->timed->inst_count, unwritten);
    struct timing_stats *s = &stats->timing;
    fs begin_time = run->start - t->params->launch_cycles * t->period;
    s->cycles = now > begin_time ? (now - begin_time + t->period - 1) / t->period : 0;
    s->picoseconds = (now - begin_time) / 1000;
    s->warp_instructions = stats->issue.instructions;
    s->thread_instructions = stats->issue.threads;
    s->blocks = run->done;
    s->warp_slots = s->cycles * t->core_count * t->cores[0]->config.core->warps;
}

void settle_mechanisms(struct timed_run *run, fs now)
{
    struct timing *t = run->timing;
    for (u32 i = 0; i < t->core_count; i++)
        hooks_settle(t->cores[i], now);
    for (u32 i = 0; i < t->memory_hooks.count; i++) {
        EACH_USE(use, &t->memory_hooks.partitions[i], settle_memory)
            use->mechanism->settle_memory(use->state, now);
    }
}

void take_mechanism_counts(struct timed_run *run)
{
    struct timing *t = run->timing;
    const struct mechanism_set *set = &t->device->mechanisms;
    for (u32 i = 0; i < t->core_count; i++)
        mechanism_stats_take(set, run->launch->mechanisms, &t->cores[i]->hooks);
    for (u32 i = 0; i < t->memory_hooks.count; i++)
        mechanism_stats_take(set, run->launch->mechanisms, &t->memory_hooks.partitions[i]);
    mechanism_stats_take(set, run->launch->mechanisms, &t->dispatcher_hooks);
}

void follow_begin(struct timed_run *run)
{
    struct timing *t = run->timing;
    struct block_source *source = run->launch->source;
    if (!source || !source->follow)
        return;
    source->follow(source, &(struct launch_clock){
                               t->core_count,
                               run->start - t->params->launch_cycles * t->period,
                               t->period,
                           });
    run->steps = checked(calloc(t->core_count, sizeof *run->steps));
    for (u32 i = 0; i < t->core_count; i++) {
        run->steps[i].to = FS_NEVER;
        core_watch(t->cores[i], t->cores[i]->trace.spans, &run->steps[i],
                   source->watcher(source, i, &run->execs[i].exec));
    }
}

static void follow_end(struct timed_run *run)
{
    for (u32 i = 0; i < run->timing->core_count; i++) {
        core_watch(run->timing->cores[i], run->timing->cores[i]->trace.spans, NULL, NULL);
        vec_free(&run->steps[i].list);
    }
    free(run->steps);
}

void observe(struct timed_run *run, bool last)
{
    struct timing *t = run->timing;
    struct observer *observer = t->device->observer;
    if (run->steps)
        run->launch->source->take(run->launch->source, run->steps);
    if (!run->seen)
        return;
    const u32 sources = t->core_count + memory_system_channels(t->memory_system);
    for (u32 i = 0; i < sources; i++)
        if (run->seen[i].list.count)
            observer_take(observer, &run->seen[i]);
    if (observer_causes(observer))
        observer_window(observer);
    /* the last part of a finished launch is sampled at its end, which is before the window's */
    if (last || run->done == run->blocks || t->now < observer_next(observer))
        return;
    take_counts(run, t->now);
    settle_mechanisms(run, t->now);
    take_mechanism_counts(run);
    observer_sample(observer, t->now, &run->launch->stats);
}

void observe_blocks(struct timed_run *run, u32 core, fs time)
{
    struct observer *observer = run->timing->device->observer;
    if (observer)
        observer_blocks(observer, core, run->resident[core], time);
}

void observe_end(struct timed_run *run)
{
    struct timing *t = run->timing;
    if (run->steps)
        follow_end(run);
    run->steps = NULL;
    if (!run->seen)
        return;
    observe(run, true);
    observer_end(t->device->observer, run->end, &run->launch->stats);
    for (u32 i = 0; i < t->core_count; i++)
        core_watch(t->cores[i], NULL, NULL, NULL);
    memory_system_watch(t->memory_system, NULL);
    for (u32 i = 0; i < t->core_count + memory_system_channels(t->memory_system); i++)
        vec_free(&run->seen[i].list);
    free(run->seen);
}
