/* Traces and time series of a running launch: see observer.h. */
#include "gpu/observe/observer.h"

#include "base/text.h"
#include "gpu/machine/energy.h"
#include "gpu/machine/stats.h"
#include "gpu/observe/events.h"
#include "gpu/observe/trace.h"
#include <stdio.h>
#include <stdlib.h>

enum {
    TRACE_INTERVAL = 1000 /* default core cycles between a trace's counter values */
};

struct core_range {
    u32 first, last;
};

/* Blocks on a core, times the time that they have been there since the last sample. */
struct core_blocks {
    u32 blocks;
    fs since, sum;
};

struct observer {
    struct hd_observe what;
    struct trace *trace;          /* NULL: none */
    struct events *events;        /* NULL: none */
    VEC(struct core_range) cores; /* that are traced; empty: all */
    struct observer_launch launch;
    bool traced;                    /* the trace includes this launch */
    fs elapsed;                     /* time of earlier launches (V4) */
    u64 cycles;                     /* of earlier launches */
    fs next;                        /* next sample, device time */
    fs sampled;                     /* last sample, device time */
    VEC(struct core_blocks) blocks; /* by core */
    struct machine_stats last;
    struct energy_sum last_energy;
};

/* "0,4-7"; hd_observe has checked it. */
static void read_cores(struct observer *observer, const char *text)
{
    while (*text) {
        char *end;
        struct core_range *range = vec_push(&observer->cores);
        range->first = range->last = (u32)strtoul(text, &end, 10);
        if (*end == '-')
            range->last = (u32)strtoul(end + 1, &end, 10);
        text = *end ? end + 1 : end;
    }
}

struct observer *observer_create(const struct hd_observe *what)
{
    struct observer *observer = checked(calloc(1, sizeof *observer));
    observer->what = *what;
    if (what->trace && what->trace_events)
        observer->events = events_create(what->trace, what->trace_user, what->trace_longest);
    else if (what->trace)
        observer->trace = trace_create(what->trace, what->trace_user);
    if (observer->trace && !what->interval)
        observer->what.interval = TRACE_INTERVAL;
    read_cores(observer, what->trace_cores ? what->trace_cores : "");
    return observer;
}

bool observer_traces(const struct observer *observer, u32 core)
{
    for (u32 i = 0; i < observer->cores.count; i++)
        if (core >= observer->cores.data[i].first && core <= observer->cores.data[i].last)
            return true;
    return !observer->cores.count;
}

bool observer_causes(const struct observer *observer)
{
    return observer->events;
}

void observer_destroy(struct observer *observer)
{
    if (!observer)
        return;
    trace_destroy(observer->trace);
    events_destroy(observer->events);
    vec_free(&observer->cores);
    vec_free(&observer->blocks);
    free(observer);
}

/* Device time as trace time. */
static fs shifted(const struct observer *observer, fs time)
{
    return time - observer->launch.start + observer->elapsed;
}

/* The device time of a cycle counted over all launches. */
static fs cycle_time(const struct observer *observer, u64 cycle)
{
    const struct observer_launch *launch = &observer->launch;
    if (cycle <= observer->cycles)
        return launch->start;
    cycle -= observer->cycles;
    return cycle > (FS_NEVER - launch->start) / launch->core_period
               ? FS_NEVER
               : launch->start + cycle * launch->core_period;
}

void observer_span(const struct observer *observer, fs *from, fs *to)
{
    *from = *to = 0;
    if (!observer->trace && !observer->events)
        return;
    *from = cycle_time(observer, observer->what.trace_from);
    *to = observer->what.trace_to ? cycle_time(observer, observer->what.trace_to) : FS_NEVER;
}

/* A launch that the span does not touch is not in the trace. */
static void observer_begin_events(struct observer *observer)
{
    fs from, to;
    observer_span(observer, &from, &to);
    if (observer->events && from < to)
        events_launch(observer->events, &observer->launch, observer->cycles);
}

void observer_begin(struct observer *observer, const struct observer_launch *launch)
{
    observer->launch = *launch;
    observer->traced = false;
    observer_begin_events(observer);
    observer->blocks.count = 0;
    for (u32 i = 0; i < launch->cores; i++)
        *vec_push(&observer->blocks) = (struct core_blocks){.since = launch->start};
    memset(&observer->last, 0, sizeof observer->last);
    memset(&observer->last_energy, 0, sizeof observer->last_energy);
    observer->sampled = launch->start;
    observer->next = observer->what.interval
                         ? cycle_time(observer, observer->cycles + observer->what.interval)
                         : FS_NEVER;
}

/* Adds the launch to the trace when its first event is in the span; the launch may end before
 * that. */
static void begin_trace(struct observer *observer)
{
    fs from, to;
    observer_span(observer, &from, &to);
    if (!observer->traced)
        trace_launch(observer->trace, &observer->launch, shifted(observer, from));
    observer->traced = true;
}

void observer_take(struct observer *observer, struct trace_buffer *core)
{
    if (observer->trace && core->list.count)
        begin_trace(observer);
    for (u32 i = 0; i < core->list.count && observer->trace; i++)
        trace_note(observer->trace, &core->list.data[i],
                   shifted(observer, core->list.data[i].time));
    for (u32 i = 0; i < core->list.count && observer->events; i++)
        events_note(observer->events, &core->list.data[i]);
    core->list.count = 0;
}

void observer_window(struct observer *observer)
{
    events_window(observer->events);
}

fs observer_next(const struct observer *observer)
{
    return observer->next;
}

static f64 ratio(f64 a, f64 b)
{
    return b ? a / b : 0;
}

static f64 bandwidth(const struct machine_stats *part)
{
    /* bytes in a picosecond are TB/s */
    return ratio((f64)(part->dram.read_bytes + part->dram.write_bytes) * 1000,
                 (f64)part->timing.picoseconds);
}

/* Counters and energy since the last sample. */
struct sample {
    struct machine_stats stats;
    struct energy_sum energy; /* without attribution to instructions */
};

/* Writes counter values for the part of the launch that begins at `from`, if the trace covers
 * it. */
static void count(struct observer *observer, fs from, const struct sample *sample)
{
    const struct machine_stats *part = &sample->stats;
    fs first, end;
    observer_span(observer, &first, &end);
    if (from < first || from >= end)
        return;
    trace_count(
        observer->trace, shifted(observer, from),
        (const f64[TRACE_COUNTERS]){
            [TRACE_IPC] = ratio((f64)part->timing.warp_instructions, (f64)part->timing.cycles),
            [TRACE_WARPS] = ratio((f64)part->timing.warp_cycles, (f64)part->timing.cycles),
            [TRACE_L1_HITS] = 100 * ratio((f64)part->l1d.read_hits, (f64)part->l1d.reads),
            [TRACE_L2_HITS] = 100 * ratio((f64)part->l2.read_hits, (f64)part->l2.reads),
            [TRACE_DRAM] = bandwidth(part),
            /* fJ in a picosecond are mW */
            [TRACE_POWER] = ratio((f64)energy_total_fj(&sample->energy) / 1000,
                                  (f64)part->timing.picoseconds)});
}

static void count_blocks(struct core_blocks *core, fs now)
{
    core->sum += now > core->since ? core->blocks * (now - core->since) : 0;
    core->since = MAX(core->since, now);
}

void observer_blocks(struct observer *observer, u32 core, u32 blocks, fs now)
{
    count_blocks(&observer->blocks.data[core], now);
    observer->blocks.data[core].blocks = blocks;
}

/* Of each core: cycles of its blocks since the last row. */
static void blocks_json(json_t *row, struct observer *observer, fs now)
{
    char name[48];
    for (u32 i = 0; i < observer->blocks.count; i++) {
        struct core_blocks *core = &observer->blocks.data[i];
        count_blocks(core, now);
        snprintf(name, sizeof name, "core%u.block_cycles", i);
        json_object_set_new(row, name, stats_number(core->sum / observer->launch.core_period));
        core->sum %= observer->launch.core_period;
    }
}

/* Writes one line of the time series. */
static void write_row(struct observer *observer, fs now, const struct sample *sample)
{
    const struct machine_stats *part = &sample->stats;
    u64 from = observer->last.timing.cycles;
    json_t *row = json_object();
    json_object_set_new(row, "launch", stats_number(observer->launch.number));
    json_object_set_new(row, "kernel", text_json(observer->launch.kernel));
    json_object_set_new(row, "from_cycle", stats_number(from));
    json_object_set_new(row, "to_cycle", stats_number(from + part->timing.cycles));
    machine_stats_json(row, part);
    if (observer->launch.energy) {
        energy_json(row, observer->launch.energy, &sample->energy, part);
        json_object_del(row, "energy.unattributed_pj");
    }
    json_object_set_new(row, "dram_gb_per_s",
                        part->timing.picoseconds ? json_real(bandwidth(part)) : json_null());
    blocks_json(row, observer, now);
    char *text = json_dumps(row, JSON_COMPACT | JSON_REAL_PRECISION(17));
    json_decref(row);
    size_t length = strlen(text);
    text[length] = '\n'; /* replaces the terminating NUL */
    observer->what.series(observer->what.series_user, text, length + 1);
    free(text);
}

/* Reports the difference to the last sample (V2). */
static void tell(struct observer *observer, fs now, const struct machine_stats *stats)
{
    const struct observer_launch *launch = &observer->launch;
    struct energy_sum energy = {0};
    struct sample sample;
    if (!machine_stats_between(&sample.stats, stats, &observer->last))
        return;
    if (launch->energy)
        energy_of(launch->energy, stats, launch->mechanisms, &energy);
    energy_between(&sample.energy, &energy, &observer->last_energy);
    if (observer->trace)
        count(observer, observer->sampled, &sample);
    if (observer->what.series && observer->what.interval)
        write_row(observer, now, &sample);
    observer->last = *stats;
    observer->last_energy = energy;
    observer->sampled = now;
}

void observer_sample(struct observer *observer, fs now, const struct machine_stats *stats)
{
    tell(observer, now, stats);
    fs step = observer->what.interval * observer->launch.core_period;
    if (step && now >= observer->next)
        observer->next += ((now - observer->next) / step + 1) * step;
}

void observer_end(struct observer *observer, fs now, const struct machine_stats *stats)
{
    fs from, to;
    tell(observer, now, stats);
    observer_span(observer, &from, &to);
    if (observer->trace && from < to && from < now)
        begin_trace(observer);
    if (observer->traced)
        trace_launch_end(observer->trace, shifted(observer, MIN(now, to)));
    if (observer->events)
        events_launch_end(observer->events, now);
    observer->elapsed += now - observer->launch.start;
    observer->cycles += stats->timing.cycles;
}
