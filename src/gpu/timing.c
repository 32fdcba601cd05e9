#include "gpu/timing.h"
#include "core/core.h"
#include "gpu/device.h"
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>

struct timing {
    struct hd_device *device;
    const struct timing_params *params;
    const struct clock_params *clock;
    struct memside *memside;
    struct memside_params memory;
    struct core **cores;
    u32 *order; /* in which cores run in a window */
    u32 core_count;
    fs now, window;
    fs period; /* of the cores' nominal clock */
    struct hooks memory_hooks;
    struct inst_time *times;
    const struct program *timed; /* the program of `times` */
};

/* ---- create ---- */

#define PARAMS(device, name) \
    ((const struct name##_params *)config_params((device)->config, &name##_component))

static struct core_config core_config(const struct hd_device *device)
{
    return (struct core_config){
        .cores = device->gpu->cores,
        .core = device->core,
        .fetch = PARAMS(device, fetch),
        .icache = PARAMS(device, icache),
        .issue = PARAMS(device, issue),
        .collect = PARAMS(device, collect),
        .units = PARAMS(device, units),
        .lsu = PARAMS(device, lsu),
        .l1d = PARAMS(device, l1d),
        .constant = PARAMS(device, constant),
        .readonly = PARAMS(device, readonly),
        .mhz = PARAMS(device, clock)->core_mhz,
        .l2_line_bytes = PARAMS(device, l2)->line_bytes,
        .mechanisms = device->mechanisms.uses,
        .mechanism_count = device->mechanisms.count,
    };
}

static struct memside_params memside_params(const struct hd_device *device)
{
    const struct clock_params *clock = PARAMS(device, clock);
    return (struct memside_params){
        .network = PARAMS(device, network),
        .l2 = PARAMS(device, l2),
        .dram = PARAMS(device, dram),
        .network_mhz = clock->network_mhz,
        .l2_mhz = clock->l2_mhz,
        .dram_mhz = clock->dram_mhz,
        .cores = device->gpu->cores,
    };
}

static bool refuse(struct error *error, const char *key, u32 value, const char *expected)
{
    error_set(error, ERROR_USAGE, "", "%s is %u: in time it must be %s", key, value, expected);
    return false;
}

/* Every group of units takes its share of each kind, at least one: as collect.c gives them out. */
static bool check_collectors(const struct core_config *c, struct error *error)
{
    const struct collect_params *p = c->collect;
    const u32 groups = c->issue->sub_cores ? c->issue->schedulers : 1;
    u32 each = MAX(p->generic / groups, 1);
    if (!p->generic)
        each = MAX(p->sp / groups, 1) + MAX(p->sfu / groups, 1) + MAX(p->memory / groups, 1) +
               (p->fp64 ? MAX(p->fp64 / groups, 1) : 0);
    if (each * groups > CORE_COLLECTORS)
        return refuse(error, "the number of operand collectors", each * groups, "at most 64");
    return true;
}

bool timing_check(const struct hd_device *device, struct error *error)
{
    struct core_config c = core_config(device);
    struct memside_params memory = memside_params(device);
    if (c.core->warps > CORE_WARPS)
        return refuse(error, "core.warps", c.core->warps, "at most 64");
    if (c.core->blocks > CORE_BLOCKS)
        return refuse(error, "core.blocks", c.core->blocks, "at most 64");
    if (c.issue->sub_cores && (c.collect->banks < c.issue->schedulers))
        return refuse(error, "collect.banks", c.collect->banks, "at least one a scheduler");
    if (!check_collectors(&c, error))
        return false;
    if (time_longest(&c) > WHEEL - 64)
        return refuse(error, "the longest latency of all passes through a unit", time_longest(&c),
                      "at most 4032: more lanes or shorter intervals");
    if (c.l1d->line_bytes > 256 || c.readonly->line_bytes > 256)
        return refuse(error, "line_bytes of l1d or readonly",
                      MAX(c.l1d->line_bytes, c.readonly->line_bytes), "at most 256");
    if (!is_pow2(c.l1d->line_bytes) || !is_pow2(c.icache->line_bytes) ||
        !is_pow2(c.constant->line_bytes) || !is_pow2(memory.l2->line_bytes))
        return refuse(error, "a cache's line_bytes", 0, "a power of two");
    return memside_check(&memory, error);
}

struct timing *timing_create(struct hd_device *device)
{
    struct timing *t = checked(calloc(1, sizeof *t));
    t->device = device;
    t->params = PARAMS(device, timing);
    t->clock = PARAMS(device, clock);
    t->memory = memside_params(device);
    t->memside = memside_create(&t->memory);
    mechanisms_attach(&t->memory_hooks, &device->mechanisms, t->memside);
    t->window = memside_window(&t->memory);
    t->period = clock_period(t->clock->core_mhz);
    t->core_count = device->gpu->cores;
    t->cores = checked(calloc(t->core_count, sizeof(struct core *)));
    t->order = checked(calloc(t->core_count, sizeof *t->order));
    struct core_config config = core_config(device);
    for (u32 i = 0; i < t->core_count; i++) {
        config.index = i;
        config.requests = memside_requests(t->memside, i);
        config.replies = memside_replies(t->memside, i);
        t->cores[i] = core_create(&config);
        t->order[i] = i;
    }
    return t;
}

void timing_destroy(struct timing *t)
{
    if (!t)
        return;
    for (u32 i = 0; i < t->core_count; i++)
        core_destroy(t->cores[i]);
    memside_destroy(t->memside);
    mechanisms_detach(&t->memory_hooks);
    free(t->cores);
    free(t->order);
    free(t->times);
    free(t);
}

struct core *timing_core(struct timing *t, u32 index)
{
    return t->cores[index];
}

void timing_copied(struct timing *t, u64 address, u64 bytes)
{
    if (t->memory.l2->fill_on_copy)
        memside_copied(t->memside, address, bytes);
}

void timing_forget(struct timing *t)
{
    t->timed = NULL;
}

/* ---- one launch ---- */

/* A core works on a launch of its own: its faults, counters and blocks are its alone. */
struct core_launch {
    struct exec exec; /* first: a warp knows it */
    const struct core *core;
};

static u64 clock_of(const struct warp *warp, bool nanoseconds)
{
    const struct core *core = ((const struct core_launch *)warp->exec)->core;
    return nanoseconds ? core->clock.next / 1000000 : core_cycle(core);
}

/* A launch while it runs. */
struct run {
    struct timing *timing;
    struct exec *exec;         /* of the whole launch */
    struct core_launch *execs; /* of each core */
    struct timed_launch *launch;
    u64 blocks, next, done;
    u32 copies; /* of blocks, on cores */
    u32 per_core;
    u32 *resident;             /* blocks of each core */
    u32 turn;                  /* core that is asked first for room */
    fs start, end;             /* when the first block may start; when the last warp left */
    u64 progress;              /* instructions issued when something last moved */
    fs moved;                  /* and when that was */
    struct observations *seen; /* of each core; NULL: nobody looks */
};

static u64 issued_of(const struct run *run)
{
    u64 issued = run->launch->stats.issue.instructions; /* taken from the cores by samples */
    for (u32 i = 0; i < run->timing->core_count; i++)
        issued += run->timing->cores[i]->stats.issue.instructions;
    return issued;
}

static void exec_of_core(struct run *run, u32 i)
{
    struct timing *t = run->timing;
    run->execs[i].core = t->cores[i];
    struct exec *exec = &run->execs[i].exec;
    *exec = *run->exec;
    exec->poll = NULL;
    exec->clock = clock_of;
    exec_prepare(exec, run->per_core);
    exec->storages = i * run->per_core; /* places in local memory differ between cores */
}

static void begin(struct run *run)
{
    struct timing *t = run->timing;
    const struct program *program = run->exec->image->program;
    if (t->timed != program) {
        free(t->times);
        t->times = checked(calloc(MAX(program->inst_count, 1), sizeof *t->times));
        time_program(t->times, program, &t->cores[0]->config);
        t->timed = program;
    }
    run->launch->profile = checked(calloc(program->inst_count, sizeof(struct inst_profile)));
    run->start = t->now + t->params->launch_cycles * t->period;
    run->end = run->moved = run->start;
    memside_start(t->memside, t->now);
    for (u32 i = 0; i < t->core_count; i++) {
        exec_of_core(run, i);
        t->cores[i]->config.mhz = t->clock->core_mhz;
        if (i < t->clock->core_rates_count)
            t->cores[i]->config.mhz *= t->clock->core_rates[i];
        t->cores[i]->config.mhz *= hooks_clock(t->cores[i]);
        core_begin(t->cores[i], &run->execs[i].exec, t->times, run->launch->profile, run->start);
        if (t->params->flush_l1)
            core_flush(t->cores[i]);
    }
}

/* ---- blocks ---- */

static bool core_takes(const struct run *run, u32 core)
{
    return run->resident[core] < run->per_core && core_has_room(run->timing->cores[core]);
}

static void start_block(struct run *run, u32 core, u64 number, bool copy)
{
    struct thread_block *block = block_start(&run->execs[core].exec, number, core);
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
static void place_blocks(struct run *run)
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

static void take_finished(struct run *run)
{
    struct timing *t = run->timing;
    for (u32 i = 0; i < t->core_count; i++) {
        struct core *core = t->cores[i];
        for (u32 k = 0; k < core->finished_count; k++) {
            struct resident *r = &core->blocks[core->finished[k]];
            run->launch->stats.timing.block_cycles += core_cycle(core) - r->started;
            block_end(r->block);
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

/* ---- windows ---- */

/* xorshift64*, from the seed and the window: any permutation will do. */
static void shuffle(struct timing *t)
{
    u64 state = t->device->core_order_seed * 0x9e3779b97f4a7c15ull + t->now + 1;
    for (u32 i = t->core_count; i-- > 1;) {
        state ^= state >> 12;
        state ^= state << 25;
        state ^= state >> 27;
        u32 j = (u32)((state * 0x2545f4914f6cdd1dull >> 33) % (i + 1)), other = t->order[j];
        t->order[j] = t->order[i];
        t->order[i] = other;
    }
}

static void set_order(struct timing *t)
{
    for (u32 i = 0; i < t->core_count; i++)
        t->order[i] = t->device->core_order == ORDER_REVERSE ? t->core_count - 1 - i : i;
    if (t->device->core_order == ORDER_SHUFFLE)
        shuffle(t);
}

static void run_window(struct run *run, fs end)
{
    struct timing *t = run->timing;
    if (UNLIKELY(t->device->core_order != ORDER_FORWARD))
        set_order(t);
    const bool memory_first = t->device->core_order == ORDER_REVERSE;
    if (memory_first)
        memside_run(t->memside, end);
    for (u32 k = 0; k < t->core_count; k++) {
        struct core *core = t->cores[t->order[k]];
        if (core->present || core->tasks_taken || port_next(core->config.replies) < end)
            core_run(core, end);
    }
    if (!memory_first)
        memside_run(t->memside, end);
}

/* The fault of the window (T3). */
static bool found_fault(struct run *run)
{
    struct timing *t = run->timing;
    const struct exec *first = NULL;
    fs when = FS_NEVER;
    for (u32 i = 0; i < t->core_count; i++)
        if (run->execs[i].exec.stopped && t->cores[i]->clock.next < when) {
            first = &run->execs[i].exec;
            when = t->cores[i]->clock.next;
        }
    if (!first)
        return false;
    run->exec->stopped = true;
    run->exec->fault = first->fault;
    run->end = MAX(run->end, when);
    return true;
}

static void meet(struct run *run)
{
    struct timing *t = run->timing;
    u32 count;
    memside_meet(t->memside);
    for (u32 i = 0; i < t->core_count; i++)
        if (!memory_view_empty(t->cores[i]->view))
            memory_view_publish(t->cores[i]->view);
    const struct packet *atomics = memside_atomics(t->memside, &count);
    for (u32 i = 0; i < count; i++)
        core_atomic(t->cores[atomics[i].core], &atomics[i]);
    for (u32 i = 0; i < t->core_count; i++)
        if (UNLIKELY(t->cores[i]->serial))
            core_serial(t->cores[i]);
}

static fs next_event(const struct run *run)
{
    const struct timing *t = run->timing;
    fs next = memside_next(t->memside);
    for (u32 i = 0; i < t->core_count && next > t->now; i++)
        next = MIN(next, core_next(t->cores[i]));
    return next;
}

/* Leaves out windows in which nothing happens (T2). */
static void skip_windows(struct run *run, fs next)
{
    struct timing *t = run->timing;
    if (next != FS_NEVER && next > t->now)
        t->now += (next - t->now) / t->window * t->window;
}

/* ---- what ends a launch early ---- */

/* A warp that would wait forever at a reconvergence point goes on without the others. */
static bool unblock_all(struct run *run)
{
    bool any = false;
    for (u32 i = 0; i < run->timing->core_count; i++)
        any |= core_unblock(run->timing->cores[i]);
    return any;
}

static void add_waiting(struct run *run, const struct core *core, u32 s)
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
        memside_find(run->timing->memside, &wait.request, row->place, sizeof row->place);
}

static void list_waiting(struct run *run)
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

static void stop_deadlocked(struct run *run)
{
    list_waiting(run);
    struct exec *exec = run->exec;
    const struct waiting_list *list = &run->launch->waiting;
    exec->stopped = true;
    exec->fault = (struct fault){.outcome = OUTCOME_DEADLOCK};
    if (list->rows.count && list->rows.data[0].inst != NO_INST)
        exec->fault.inst = list->rows.data[0].inst;
}

/* A warp to name when the launch is stopped from outside. */
static const struct warp *some_warp(const struct run *run)
{
    const struct timing *t = run->timing;
    for (u32 i = 0; i < t->core_count; i++)
        if (t->cores[i]->present & ~t->cores[i]->ended)
            return t->cores[i]->slots[first_bit(t->cores[i]->present & ~t->cores[i]->ended)].warp;
    return NULL;
}

/* Limits, the user's interrupt, and launches that do not move. */
static void look_after(struct run *run, fs next)
{
    struct timing *t = run->timing;
    u64 issued = issued_of(run), cycles = (t->now - run->start) / t->period;
    struct exec *exec = run->exec;
    exec->instructions = issued;
    atomic_store_explicit(&t->device->cycles, cycles, memory_order_relaxed);
    atomic_store_explicit(&t->device->picoseconds, (t->now - run->start) / 1000,
                          memory_order_relaxed);
    exec->last = some_warp(run);
    exec->poll(exec);
    if (exec->stopped)
        return;
    const u64 limit = exec->limits->max_instructions;
    if (limit && issued >= limit)
        fault_stop(exec, OUTCOME_LIMIT,
                   "stopped after %" PRIu64 " warp instructions (launch.max_instructions)", limit);
    else if (t->params->max_cycles && cycles >= t->params->max_cycles)
        fault_stop(exec, OUTCOME_LIMIT, "stopped after %" PRIu64 " cycles (timing.max_cycles)",
                   t->params->max_cycles);
    if (issued != run->progress) {
        run->progress = issued;
        run->moved = t->now;
    } else if (next == FS_NEVER || t->now - run->moved > t->params->stuck_cycles * t->period) {
        if (next != FS_NEVER || !unblock_all(run))
            stop_deadlocked(run);
    }
}

/* ---- observers ---- */

static void observe_begin(struct run *run)
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
                                 .start = run->start,
                                 .core_period = t->period,
                                 .number = exec->grid_number,
                             });
    fs from, to;
    observer_span(observer, &from, &to);
    run->seen = checked(calloc(t->core_count, sizeof *run->seen));
    for (u32 i = 0; i < t->core_count; i++) {
        run->seen[i].from = from;
        run->seen[i].to = to;
        t->cores[i]->observations = from < to ? &run->seen[i] : NULL;
    }
}

static void add_core_counts(struct machine_stats *stats, const struct core_counts *counts)
{
#define ADD(name) stats_add(&name##_component, &stats->name, &counts->name);
    ADD(fetch)
    ADD(icache)
    ADD(issue)
    ADD(collect)
    ADD(units)
    ADD(lsu)
    ADD(l1d)
    ADD(constant)
    ADD(readonly)
#undef ADD
}

/* Of warps that have left and of those that are there. */
static u64 warp_cycles(const struct core *core)
{
    u64 cycles = core->warp_cycles;
    for (u64 set = core->present; set; set &= set - 1)
        cycles += core_cycle(core) - core->slots[first_bit(set)].started;
    return cycles;
}

/* All that has been counted so far goes to the launch's statistics. */
static void take_counts(struct run *run, fs now)
{
    struct timing *t = run->timing;
    struct machine_stats *stats = &run->launch->stats;
    struct memside_stats memory;
    struct core_counts counts;
    stats->timing.warp_cycles = 0;
    for (u32 i = 0; i < t->core_count; i++) {
        core_take_counts(t->cores[i], &counts);
        add_core_counts(stats, &counts);
        stats->timing.warp_cycles += warp_cycles(t->cores[i]);
    }
    memside_take_stats(t->memside, now, &memory);
    stats_add(&network_component, &stats->network, &memory.network);
    stats_add(&l2_component, &stats->l2, &memory.l2);
    stats_add(&dram_component, &stats->dram, &memory.dram);
    struct timing_stats *s = &stats->timing;
    fs begin_time = run->start - t->params->launch_cycles * t->period;
    s->cycles = now > begin_time ? (now - begin_time + t->period - 1) / t->period : 0;
    s->picoseconds = (now - begin_time) / 1000;
    s->warp_instructions = stats->issue.instructions;
    s->thread_instructions = stats->issue.threads;
    s->blocks = run->done;
    s->warp_slots = s->cycles * t->core_count * t->cores[0]->config.core->warps;
}

static void observe(struct run *run, bool last)
{
    struct timing *t = run->timing;
    struct observer *observer = t->device->observer;
    if (!run->seen)
        return;
    for (u32 i = 0; i < t->core_count; i++)
        if (run->seen[i].list.count)
            observer_take(observer, &run->seen[i]);
    /* what is left of a launch that is done goes with its end, which lies before the window's */
    if (last || run->done == run->blocks || t->now < observer_next(observer))
        return;
    take_counts(run, t->now);
    observer_sample(observer, t->now, &run->launch->stats);
}

static void observe_end(struct run *run)
{
    struct timing *t = run->timing;
    if (!run->seen)
        return;
    observe(run, true);
    observer_end(t->device->observer, run->end, &run->launch->stats);
    for (u32 i = 0; i < t->core_count; i++) {
        t->cores[i]->observations = NULL;
        vec_free(&run->seen[i].list);
    }
    free(run->seen);
}

/* ---- the launch ---- */

/* Answers and writes that nobody waits for any more: they are of this launch, but not of its time.
 */
static void drain(struct run *run)
{
    struct timing *t = run->timing;
    while (memside_pending(t->memside) || memside_next(t->memside) != FS_NEVER) {
        fs next = memside_next(t->memside);
        for (u32 i = 0; i < t->core_count; i++)
            next = MIN(next, port_next(t->cores[i]->config.replies));
        skip_windows(run, next);
        for (u32 i = 0; i < t->core_count; i++)
            core_drain(t->cores[i], t->now + t->window);
        memside_run(t->memside, t->now + t->window);
        memside_meet(t->memside);
        t->now += t->window;
    }
    struct memside_stats rest;
    struct machine_stats *stats = &run->launch->stats;
    memside_take_stats(t->memside, t->now, &rest);
    rest.network.cycles = rest.l2.slice_cycles = rest.dram.channel_cycles = 0;
    stats_add(&network_component, &stats->network, &rest.network);
    stats_add(&l2_component, &stats->l2, &rest.l2);
    stats_add(&dram_component, &stats->dram, &rest.dram);
}

static void finish(struct run *run)
{
    struct timing *t = run->timing;
    const struct mechanism_set *set = &t->device->mechanisms;
    run->launch->mechanisms = mechanism_stats_create(set);
    for (u32 i = 0; i < t->core_count; i++)
        core_settle(t->cores[i], run->end);
    take_counts(run, run->end);
    drain(run);
    observe_end(run);
    for (u32 i = 0; i < t->core_count; i++) {
        struct core *core = t->cores[i];
        for (u32 b = 0; b < CORE_BLOCKS; b++)
            if (core->blocks[b].block)
                block_end(core->blocks[b].block);
        core_end(core);
        stats_add(&exec_component, &run->exec->stats, &run->execs[i].exec.stats);
        exec_release(&run->execs[i].exec);
        mechanism_stats_take(set, run->launch->mechanisms, &core->hooks);
    }
    mechanism_stats_take(set, run->launch->mechanisms, &t->memory_hooks);
    run->exec->stats.blocks = run->done;
    const struct inst_profile *profile = run->launch->profile;
    for (u32 i = 0; i < run->exec->image->program->inst_count; i++)
        if (profile[i].issued)
            account_inst(run->exec, i, (i64)profile[i].issued, (i64)profile[i].threads);
}

void timing_run(struct timing *t, struct exec *exec, u64 blocks, u32 per_core,
                struct timed_launch *launch)
{
    struct run run = {
        .timing = t,
        .exec = exec,
        .execs = checked(calloc(t->core_count, sizeof(struct core_launch))),
        .launch = launch,
        .blocks = blocks,
        /* a small grid is spread over the cores evenly */
        .per_core = (u32)MIN(per_core, (blocks + t->core_count - 1) / t->core_count),
        .resident = checked(calloc(t->core_count, sizeof(u32))),
    };
    begin(&run);
    observe_begin(&run);
    while ((run.done < blocks || run.copies) && !exec->stopped) {
        place_blocks(&run);
        fs next = next_event(&run);
        skip_windows(&run, next);
        fs end = t->now + t->window;
        run_window(&run, end);
        t->now = end;
        meet(&run);
        if (found_fault(&run))
            break;
        take_finished(&run);
        observe(&run, false);
        look_after(&run, next);
    }
    for (u32 i = 0; i < t->core_count; i++)
        run.end = MAX(run.end, t->cores[i]->last_left);
    if (run.done < blocks)
        run.end = t->now;
    finish(&run);
    free(run.execs);
    free(run.resident);
}

void timed_launch_free(struct timed_launch *launch)
{
    free(launch->profile);
    free(launch->mechanisms);
    vec_free(&launch->waiting.rows);
}
