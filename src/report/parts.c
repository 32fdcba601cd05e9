/* Where time and energy went: issue slots, memory, occupancy, energy, and the same over time. */
#include "report/page.h"

#include "base/text.h"
#include <math.h>

enum {
    KERNELS = 12 /* of a figure; the others are in the first rows, which have all kernels */
};

/* ---- issue slots ---- */

/* Uses of issue slots of any run: "issued", then the reasons in the order of the statistics. */
static u32 slot_names(const struct page *page, const char **names)
{
    u32 count = 0;
    for (u32 r = 0; r < page->count; r++) {
        const struct slot_use *slots = &page->runs[r].run->slots;
        for (u32 i = 0; i < slots->count; i++) {
            u32 at = 0;
            while (at < count && strcmp(names[at], slots->names[i]) != 0)
                at++;
            if (at == count && count < MAX_REASONS && slots->slots[i] > 0)
                names[count++] = slots->names[i];
        }
    }
    return count;
}

static void slot_row(struct page *page, const char *label, const struct slot_use *slots,
                     const char *const *names, u32 count)
{
    figure_row(page, "", label);
    for (u32 i = 0; i < count; i++)
        figure_number(page, QUANTITY_COUNT, slots_named(slots, names[i]));
}

void page_slots(struct page *page)
{
    const char *names[MAX_REASONS], *kernels[KERNELS];
    if (!page_timed(page))
        return;
    const u32 count = slot_names(page, names), kernel_count = page_kernels(page, kernels, KERNELS);
    figure_open(page, "stack", "slots", "Issue slots",
                "Each scheduler has one slot a cycle: an instruction issued in it, or it was lost "
                "for one reason.");
    figure_head(page, "launches");
    for (u32 i = 0; i < count; i++)
        figure_column(page, names[i]);
    for (u32 r = 0; r < page->count; r++)
        slot_row(page, page_label(page, "all", r), &page->runs[r].run->slots, names, count);
    for (u32 k = 0; kernel_count > 1 && k < kernel_count; k++)
        for (u32 r = 0; r < page->count; r++) {
            const struct kernel_use *use = kernel_in(page->runs[r].run, kernels[k]);
            if (use && use->slots.total > 0)
                slot_row(page, page_label(page, kernels[k], r), &use->slots, names, count);
        }
    figure_close(page);
}

/* ---- over time ---- */

/* Starts the row of an interval, whose label is where it begins; moves `cycle` to its end. */
static void series_row_open(struct page *page, const struct series_row *row, f64 *cycle)
{
    figure_row(page, "", arena_printf(page->arena, "%.0f", *cycle));
    *cycle += row->cycles;
    figure_number(page, QUANTITY_COUNT, *cycle);
}

/* Whether slots were lost to a reason at any time. */
static bool loses(const struct series *series, u32 reason)
{
    for (u32 i = 0; i < series->rows.count; i++)
        if (series->rows.data[i].lost[reason] > 0)
            return true;
    return false;
}

static void series_slots(struct page *page, u32 run)
{
    const struct series *series = page->runs[run].series;
    u32 reasons[SERIES_REASONS], count = 0;
    f64 cycle = 0;
    for (u32 i = 0; i < series->reason_count; i++)
        if (loses(series, i))
            reasons[count++] = i;
    figure_open(page, "area", arena_printf(page->arena, "slots-time-%u", run),
                page_label(page, "Issue slots over time", run),
                "Drag over the chart to look at a part of it.");
    figure_head(page, "from cycle");
    figure_column(page, "to cycle");
    figure_column(page, "issued");
    for (u32 i = 0; i < count; i++)
        figure_column(page, series->reasons[reasons[i]]);
    for (u32 i = 0; i < series->rows.count; i++) {
        const struct series_row *row = &series->rows.data[i];
        series_row_open(page, row, &cycle);
        figure_number(page, QUANTITY_COUNT, row->issued);
        for (u32 k = 0; k < count; k++)
            figure_number(page, QUANTITY_COUNT, row->lost[reasons[k]]);
    }
    figure_close(page);
}

static void share_cell(struct page *page, f64 part, f64 whole)
{
    if (whole > 0)
        figure_number(page, QUANTITY_SHARE, part / whole);
    else
        figure_none(page);
}

static void series_shares(struct page *page, u32 run)
{
    const struct series *series = page->runs[run].series;
    f64 cycle = 0;
    figure_open(page, "lines", arena_printf(page->arena, "shares-time-%u", run),
                page_label(page, "Occupancy and memory over time", run), "");
    figure_head(page, "from cycle");
    figure_column(page, "to cycle");
    figure_column(page, "warp slots taken");
    figure_column(page, "L2 data ports busy");
    figure_column(page, "DRAM bus busy");
    for (u32 i = 0; i < series->rows.count; i++) {
        const struct series_row *row = &series->rows.data[i];
        series_row_open(page, row, &cycle);
        share_cell(page, row->warp_cycles, row->warp_slots);
        share_cell(page, row->l2_cycles, row->slice_cycles);
        share_cell(page, row->dram_cycles, row->channel_cycles);
    }
    figure_close(page);
}

static void series_power(struct page *page, u32 run)
{
    const struct series *series = page->runs[run].series;
    f64 cycle = 0;
    figure_open(page, "power", arena_printf(page->arena, "power-time-%u", run),
                page_label(page, "Power over time", run), "");
    figure_head(page, "from cycle");
    figure_column(page, "to cycle");
    figure_column(page, "static, W");
    figure_column(page, "dynamic, W");
    for (u32 i = 0; i < series->rows.count; i++) {
        const struct series_row *row = &series->rows.data[i];
        const f64 picoseconds = MAX(row->picoseconds, 1); /* pJ / ps = W */
        series_row_open(page, row, &cycle);
        figure_number(page, QUANTITY_NUMBER, row->static_pj / picoseconds);
        figure_number(page, QUANTITY_NUMBER, row->dynamic_pj / picoseconds);
    }
    figure_close(page);
}

enum {
    BLOCK_COLUMNS = 60 /* points in time of the chart of blocks on cores */
};

/* Cores are rows, points in time columns: each the mean number of blocks of a core. */
static void series_blocks(struct page *page, u32 run)
{
    const struct series *series = page->runs[run].series;
    const u32 rows = series->rows.count, each = MAX((rows + BLOCK_COLUMNS - 1) / BLOCK_COLUMNS, 1);
    const char *note =
        series->each > 1
            ? arena_printf(page->arena,
                           "The mean number of blocks on a core, for groups of %u cores.",
                           series->each)
            : "The mean number of blocks on each core.";
    f64 cycle = 0;
    assert(series->each || !series->cores);
    figure_open(page, "heat", arena_printf(page->arena, "blocks-time-%u", run),
                page_label(page, "Blocks on cores over time", run), note);
    figure_head(page, series->each > 1 ? "cores" : "core");
    for (u32 at = 0; at < rows; at += each) {
        for (u32 i = at; i < MIN(at + each, rows); i++)
            cycle += series->rows.data[i].cycles;
        figure_column(page, arena_printf(page->arena, "%.0f", cycle));
    }
    for (u32 core = 0; core < series->cores; core += series->each) {
        const u32 last = MIN(core + series->each, series->cores) - 1;
        figure_row(page, "",
                   core == last ? arena_printf(page->arena, "%u", core)
                                : arena_printf(page->arena, "%u to %u", core, last));
        for (u32 at = 0; at < rows; at += each) {
            f64 blocks = 0, cycles = 0;
            for (u32 i = at; i < MIN(at + each, rows); i++) {
                blocks += series->rows.data[i].blocks[core / series->each];
                cycles += series->rows.data[i].cycles;
            }
            figure_number(page, QUANTITY_NUMBER,
                          cycles > 0 ? blocks / cycles / (last - core + 1) : 0);
        }
    }
    figure_close(page);
}

void page_series(struct page *page)
{
    for (u32 r = 0; r < page->count; r++)
        if (page->runs[r].series)
            series_slots(page, r);
    for (u32 r = 0; r < page->count; r++)
        if (page->runs[r].series)
            series_shares(page, r);
    for (u32 r = 0; r < page->count; r++)
        if (page->runs[r].series)
            series_power(page, r);
    for (u32 r = 0; r < page->count; r++)
        if (page->runs[r].series && page->runs[r].series->cores)
            series_blocks(page, r);
}

/* ---- memory ---- */

struct level {
    const char *name, *requests, *hits;
    const char *down, *down_unit; /* counter of bytes to the next level, or of flits */
    const char *up, *up_unit;
};

static const struct level levels[] = {
    {"cores", "lsu.memory_accesses", NULL, NULL, NULL, NULL, NULL},
    {"L1 data", "l1d.reads", "l1d.read_hits", "network.request_flits", "flit_bytes",
     "network.reply_flits", "flit_bytes"},
    {"L2", "l2.reads", "l2.read_hits", "dram.write_bytes", NULL, "dram.read_bytes", NULL},
    {"DRAM", "dram.reads", "dram.row_hits", NULL, NULL, NULL, NULL},
};

static void bytes_cell(struct page *page, u32 run, const char *counter, const char *unit)
{
    f64 count;
    if (counter && number_of(json_object_get(page->runs[run].run->totals, counter), &count))
        figure_number(page, QUANTITY_BYTES,
                      count * (unit ? page_param(page, run, "network", unit) : 1));
    else
        figure_none(page);
}

static void level_row(struct page *page, const struct level *level, u32 run)
{
    f64 number;
    const json_t *totals = page->runs[run].run->totals;
    figure_row(page, "", page_label(page, level->name, run));
    if (number_of(json_object_get(totals, level->requests), &number))
        figure_number(page, QUANTITY_COUNT, number);
    else
        figure_none(page);
    /* the rows of DRAM are hit by writes as well */
    const f64 writes = !strcmp(level->name, "DRAM") ? number_in(totals, "dram.writes") : 0;
    const f64 all = number_in(totals, level->requests) + writes;
    if (level->hits && all > 0)
        figure_number(page, QUANTITY_SHARE, number_in(totals, level->hits) / all);
    else
        figure_none(page);
    bytes_cell(page, run, level->down, level->down_unit);
    bytes_cell(page, run, level->up, level->up_unit);
}

static void latency(struct page *page)
{
    static const char below[] = "lsu.latency_below_";
    const char *key;
    json_t *value;
    figure_open(page, "bars", "latency", "Latency of memory requests",
                "From a core to its reply, in core cycles.");
    figure_head(page, "cycles");
    figure_run_columns(page, "requests");
    json_object_foreach(page->runs[0].run->totals, key, value)
    {
        const bool last = !strcmp(key, "lsu.latency_above");
        if (strncmp(key, below, sizeof below - 1) != 0 && !last)
            continue;
        figure_row(page, "",
                   last ? "longer"
                        : arena_printf(page->arena, "below %s",
                                       text_printable(page->arena, key + sizeof below - 1)));
        for (u32 r = 0; r < page->count; r++)
            figure_number(page, QUANTITY_COUNT, page_total(page, r, key));
    }
    figure_close(page);
}

void page_memory(struct page *page)
{
    f64 accesses = 0;
    for (u32 r = 0; r < page->count; r++)
        accesses += page_total(page, r, "lsu.requests");
    if (!page_timed(page) || accesses <= 0)
        return;
    figure_open(page, "memory", "memory", "Memory",
                "Reads of each level and how many hit (in DRAM: open rows), and the bytes that go "
                "down and come up between levels, with the headers of packets.");
    figure_head(page, "level");
    figure_column(page, "accesses, reads");
    figure_column(page, "hits");
    figure_column(page, "bytes down");
    figure_column(page, "bytes up");
    for (u32 i = 0; i < ARRAY_LEN(levels); i++)
        for (u32 r = 0; r < page->count; r++)
            level_row(page, &levels[i], r);
    figure_close(page);
    latency(page);
}

/* ---- occupancy ---- */

static const json_t *launch_of(const struct page *page, u32 run, const char *kernel)
{
    size_t i;
    json_t *launch;
    json_array_foreach(json_object_get(page->runs[run].run->document, "launches"), i, launch)
    {
        if (!strcmp(string_in(launch, "kernel"), kernel) &&
            json_is_object(json_object_get(launch, "occupancy")))
            return launch;
    }
    return NULL;
}

/* "11 x 11 x 1" */
static const char *size_text(const struct page *page, const json_t *size)
{
    f64 axis[3] = {0};
    for (u32 i = 0; i < 3; i++)
        number_of(json_array_get(size, i), &axis[i]);
    return arena_printf(page->arena, "%.0f x %.0f x %.0f", axis[0], axis[1], axis[2]);
}

static void occupancy_row(struct page *page, const char *kernel, u32 run)
{
    const json_t *launch = launch_of(page, run, kernel);
    if (!launch)
        return;
    const json_t *stats = json_object_get(launch, "stats");
    const json_t *occupancy = json_object_get(launch, "occupancy");
    figure_row(page, "", page_label(page, kernel, run));
    share_cell(page, number_in(stats, "timing.warp_cycles"), number_in(stats, "timing.warp_slots"));
    figure_text(page, size_text(page, json_object_get(launch, "grid")));
    figure_text(page, size_text(page, json_object_get(launch, "block")));
    figure_number(page, QUANTITY_COUNT, number_in(launch, "registers_per_thread"));
    figure_number(page, QUANTITY_COUNT, number_in(occupancy, "blocks_per_core"));
    figure_text(page, text_printable(page->arena, string_in(occupancy, "limit")));
}

void page_occupancy(struct page *page)
{
    const char *kernels[KERNELS];
    bool any = false;
    const u32 count = page_kernels(page, kernels, KERNELS);
    for (u32 k = 0; k < count; k++)
        for (u32 r = 0; r < page->count; r++)
            any |= launch_of(page, r, kernels[k]) != NULL;
    if (!page_timed(page) || !any)
        return;
    figure_open(page, "share", "occupancy", "Occupancy",
                "Warp slots taken in the first launch of each kernel, idle cores included, and the "
                "resource that limits the blocks of a core.");
    figure_head(page, "kernel");
    static const char *const names[] = {
        "warp slots taken",      "grid",      "block", "registers a thread",
        "blocks a core at most", "limited by"};
    for (u32 i = 0; i < ARRAY_LEN(names); i++)
        figure_column(page, names[i]);
    for (u32 k = 0; k < count; k++)
        for (u32 r = 0; r < page->count; r++)
            occupancy_row(page, kernels[k], r);
    figure_close(page);
}

/* ---- energy ---- */

enum {
    PARTS = 64
};

struct part {
    const char *name; /* "energy.parts.NAME" */
    f64 pj;           /* of all runs */
};

static u32 add_part(struct part *parts, u32 count, const char *name, f64 pj)
{
    u32 at = 0;
    while (at < count && strcmp(parts[at].name, name) != 0)
        at++;
    if (at == PARTS)
        return count;
    if (at == count)
        parts[count++] = (struct part){.name = name};
    parts[at].pj += pj;
    return count;
}

static const char prefix_of_parts[] = "energy.parts.";

/* Parts of any run, those with most energy first. */
static u32 parts_of(const struct page *page, struct part *parts)
{
    static const char suffix[] = ".dynamic_pj";
    u32 count = 0;
    for (u32 r = 0; r < page->count; r++) {
        const char *key;
        json_t *value;
        json_object_foreach(page->runs[r].run->totals, key, value)
        {
            const size_t length = strlen(key);
            if (strncmp(key, prefix_of_parts, sizeof prefix_of_parts - 1) != 0 ||
                length < sizeof suffix || strcmp(key + length - (sizeof suffix - 1), suffix) != 0)
                continue;
            const char *name = arena_strndup(page->arena, key, length - (sizeof suffix - 1));
            const f64 pj = page_total(page, r, key) +
                           page_total(page, r, arena_printf(page->arena, "%s.static_pj", name));
            if (pj > 0)
                count = add_part(parts, count, name, pj);
        }
    }
    for (u32 i = 1; i < count; i++)
        for (u32 k = i; k && parts[k - 1].pj < parts[k].pj; k--) {
            const struct part other = parts[k];
            parts[k] = parts[k - 1];
            parts[k - 1] = other;
        }
    return count;
}

void page_energy(struct page *page)
{
    struct part parts[PARTS];
    const u32 count = parts_of(page, parts);
    if (!count)
        return;
    figure_open(page, "energy", "energy", "Energy", "By part of the machine.");
    figure_head(page, "part");
    for (u32 r = 0; r < page->count; r++) {
        figure_column(page, page_label(page, "dynamic", r));
        figure_column(page, page_label(page, "static", r));
    }
    for (u32 i = 0; i < count; i++) {
        figure_row(page, "",
                   text_printable(page->arena, parts[i].name + sizeof prefix_of_parts - 1));
        for (u32 r = 0; r < page->count; r++) {
            static const char *const kinds[] = {"dynamic", "static"};
            for (u32 k = 0; k < 2; k++)
                figure_number(
                    page, QUANTITY_PJ,
                    page_total(page, r,
                               arena_printf(page->arena, "%s.%s_pj", parts[i].name, kinds[k])));
        }
    }
    figure_close(page);
}
