/*
 * What bounds the runs: how busy each resource was, and the roofline.
 *
 * A share is of what the resource could do in the time of the run. The roofline has a point for
 * each kernel and level of memory: thread instructions a second over thread instructions a byte of
 * that level. Its ceilings are the machine's own numbers: issue slots times lanes, the data ports
 * of L2, the pins of DRAM.
 */
#include "report/page.h"

#include <math.h>

enum {
    KERNELS = 8 /* on the roofline */
};

/* ---- shares ---- */

struct resource {
    const char *name, *busy, *whole;
};

static const struct resource resources[] = {
    {"issue slots", "issue.issued", "issue.slots"},
    {"single-precision units", "units.sp_busy", "units.sp_cycles"},
    {"integer units", "units.int_busy", "units.int_cycles"},
    {"double-precision units", "units.fp64_busy", "units.fp64_cycles"},
    {"special-function units", "units.sfu_busy", "units.sfu_cycles"},
    {"scalar units", "units.scalar_busy", "units.scalar_cycles"},
    {"L2 data ports", "l2.port_cycles", "l2.slice_cycles"},
    {"DRAM bus", "dram.bus_cycles", "dram.channel_cycles"},
};

void page_limits(struct page *page)
{
    if (!page_timed(page))
        return;
    figure_open(page, "share", "limits", "What bounds it",
                "How busy each resource was, of all it could do in the time of the run. A resource "
                "near 100 % is the bound; if none is, the run waits: see the issue slots.");
    figure_head(page, "resource");
    figure_run_columns(page, "busy");
    for (u32 i = 0; i < ARRAY_LEN(resources); i++) {
        const struct resource *resource = &resources[i];
        f64 share[REPORT_RUNS], used = 0;
        bool given[REPORT_RUNS] = {0};
        for (u32 r = 0; r < page->count; r++) {
            given[r] =
                ratio_in(page->runs[r].run->totals, resource->busy, resource->whole, &share[r]);
            used += given[r] ? share[r] : 0;
        }
        if (used <= 0)
            continue;
        figure_row(page, "", resource->name);
        for (u32 r = 0; r < page->count; r++)
            if (given[r])
                figure_number(page, QUANTITY_SHARE, share[r]);
            else
                figure_none(page);
    }
    figure_close(page);
}

/* ---- roofline ---- */

/* Sums of a kernel's timed launches; the ceilings need its slots as well. */
struct kernel_sums {
    f64 instructions, seconds, l2_bytes, dram_bytes;
};

static void add_sums(const struct page *page, u32 run, const char *kernel, const char *list,
                     struct kernel_sums *sums)
{
    size_t i;
    json_t *launch;
    json_array_foreach(json_object_get(page->runs[run].run->document, list), i, launch)
    {
        const json_t *stats = json_object_get(launch, "stats");
        if (strcmp(string_in(launch, "kernel"), kernel) != 0 ||
            !json_is_number(json_object_get(launch, "seconds")))
            continue;
        sums->instructions += number_in(stats, "timing.thread_instructions");
        sums->seconds += number_in(stats, "timing.picoseconds") * 1e-12;
        sums->l2_bytes +=
            number_in(stats, "l2.port_cycles") * page_param(page, run, "l2", "port_bytes");
        sums->dram_bytes +=
            number_in(stats, "dram.read_bytes") + number_in(stats, "dram.write_bytes");
    }
}

static void point(struct page *page, const char *name, f64 bytes, const struct kernel_sums *sums)
{
    if (bytes <= 0 || sums->seconds <= 0)
        return;
    figure_row(page, "", name);
    figure_number(page, QUANTITY_NUMBER, sums->instructions / bytes);
    figure_number(page, QUANTITY_NUMBER, sums->instructions / sums->seconds);
}

static void kernel_points(struct page *page, u32 run, const char *kernel)
{
    struct kernel_sums sums = {0};
    add_sums(page, run, kernel, "launches", &sums);
    add_sums(page, run, kernel, "sums", &sums);
    const char *name = page_label(page, kernel, run);
    point(page, arena_printf(page->arena, "%s, DRAM", name), sums.dram_bytes, &sums);
    point(page, arena_printf(page->arena, "%s, L2", name), sums.l2_bytes, &sums);
}

/* What a run's machine could do: bytes and instructions a second. */
struct ceilings {
    f64 slots, dram, l2;
};

static struct ceilings ceilings_of(const struct page *page, u32 run)
{
    const f64 seconds = page->runs[run].run->seconds;
    return (struct ceilings){
        .slots = page_total(page, run, "issue.slots") * page_param(page, run, "core", "warp_size") /
                 seconds,
        .dram = page_total(page, run, "dram.channel_cycles") *
                page_param(page, run, "dram", "bus_bytes") *
                page_param(page, run, "dram", "data_rate") / seconds,
        .l2 = page_total(page, run, "l2.slice_cycles") * page_param(page, run, "l2", "port_bytes") /
              seconds,
    };
}

static void ceiling(struct page *page, const char *name, f64 bytes, f64 instructions)
{
    figure_row(page, "roof", name);
    figure_number(page, QUANTITY_NUMBER, bytes);
    figure_number(page, QUANTITY_NUMBER, instructions);
}

/* Counters are whole cycles, so the same ceilings of two runs differ a little. */
static bool near(f64 a, f64 b)
{
    return fabs(a - b) <= 0.001 * MAX(fabs(a), fabs(b));
}

/* Runs with the same ceilings share their lines. */
static void ceiling_rows(struct page *page, u32 run)
{
    if (!page->runs[run].run->timed)
        return;
    const struct ceilings ours = ceilings_of(page, run);
    for (u32 r = 0; r < run; r++) {
        const struct ceilings theirs = ceilings_of(page, r);
        if (page->runs[r].run->timed && near(ours.slots, theirs.slots) &&
            near(ours.dram, theirs.dram) && near(ours.l2, theirs.l2))
            return;
    }
    ceiling(page, page_label(page, "issue slots", run), 0, ours.slots);
    if (ours.dram > 0)
        ceiling(page, page_label(page, "DRAM", run), ours.dram, ours.slots);
    if (ours.l2 > 0)
        ceiling(page, page_label(page, "L2", run), ours.l2, ours.slots);
}

void page_roofline(struct page *page)
{
    const char *names[KERNELS];
    if (!page_timed(page))
        return;
    const u32 count = page_kernels(page, names, KERNELS);
    figure_open(page, "roofline", "roofline", "Roofline",
                "Thread instructions a second over thread instructions a byte, for the bytes of "
                "DRAM and of the L2's data ports. Lines are what the machine could do.");
    figure_head(page, "kernel or ceiling");
    figure_column(page, "instructions a byte, or bytes a second");
    figure_column(page, "instructions a second");
    for (u32 r = 0; r < page->count; r++)
        ceiling_rows(page, r);
    for (u32 i = 0; i < count; i++)
        for (u32 r = 0; r < page->count; r++)
            kernel_points(page, r, names[i]);
    figure_close(page);
}
