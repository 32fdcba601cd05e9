/* A page: its head, its sections in order, and what they share. */
#include "report/page.h"

#include "lab/chart.h"
#include "lab/page.h"

#include "base/text.h"

extern const struct builtin_file report_assets[];

const char *page_label(const struct page *page, const char *name, u32 run)
{
    const char *shown = text_printable(page->arena, name);
    return page->count > 1 ? arena_printf(page->arena, "%s, %s", shown, page->runs[run].run->label)
                           : shown;
}

f64 page_param(const struct page *page, u32 run, const char *component, const char *name)
{
    const json_t *config = json_object_get(page->runs[run].run->document, "config");
    return number_in(json_object_get(config, component), name);
}

f64 page_total(const struct page *page, u32 run, const char *name)
{
    return number_in(page->runs[run].run->totals, name);
}

bool page_timed(const struct page *page)
{
    bool timed = false;
    for (u32 r = 0; r < page->count; r++)
        timed |= page->runs[r].run->timed;
    return timed;
}

/* Cycles of a kernel in all runs. */
static f64 kernel_cycles(const struct page *page, const char *name)
{
    f64 cycles = 0;
    for (u32 r = 0; r < page->count; r++) {
        const struct kernel_use *use = kernel_in(page->runs[r].run, name);
        cycles += use ? use->cycles : 0;
    }
    return cycles;
}

static u32 insert_kernel(const struct page *page, const char **names, u32 count, u32 most,
                         const char *name)
{
    const f64 cycles = kernel_cycles(page, name);
    u32 at = count;
    while (at && kernel_cycles(page, names[at - 1]) < cycles)
        at--;
    if (at == most)
        return count;
    const u32 moved = MIN(count, most - 1) - at;
    memmove(&names[at + 1], &names[at], moved * sizeof *names);
    names[at] = name;
    return MIN(count + 1, most);
}

u32 page_kernels(const struct page *page, const char **names, u32 most)
{
    u32 count = 0;
    for (u32 r = 0; r < page->count; r++)
        for (u32 i = 0; i < page->runs[r].run->kernels.count; i++) {
            const char *name = page->runs[r].run->kernels.data[i].name;
            bool seen = false;
            for (u32 k = 0; k < r; k++)
                seen |= kernel_in(page->runs[k].run, name) != NULL;
            if (!seen)
                count = insert_kernel(page, names, count, most, name);
        }
    return count;
}

/* ---- head ---- */

static const char *asset(const char *name)
{
    const struct builtin_file *file = report_assets;
    while (strcmp(file->name, name) != 0)
        file++;
    return file->text;
}

/* The program or the file that a run is of. */
static const char *input_of(const struct page *page, u32 run)
{
    const json_t *manifest = json_object_get(page->runs[run].run->document, "manifest");
    const json_t *first = json_array_get(json_object_get(manifest, "inputs"), 0);
    const char *path = string_in(first, "path"), *slash = strrchr(path, '/');
    return *path ? text_printable(page->arena, slash ? slash + 1 : path) : "a program";
}

static const char *machine_of(const struct page *page, u32 run)
{
    const char *name =
        string_in(json_object_get(page->runs[run].run->document, "config"), "machine");
    return *name ? text_printable(page->arena, name) : "a machine";
}

static void print_head(struct page *page)
{
    const char *title =
        arena_printf(page->arena, "%s on %s", input_of(page, 0), machine_of(page, 0));
    for (u32 r = 1; r < page->count; r++)
        if (strcmp(input_of(page, r), input_of(page, 0)) != 0 ||
            strcmp(machine_of(page, r), machine_of(page, 0)) != 0)
            title = arena_printf(page->arena, "%s, %s on %s", title, input_of(page, r),
                                 machine_of(page, r));
    fputs("<!DOCTYPE html>\n<html lang=\"en\">\n<head>\n<meta charset=\"utf-8\"/>\n"
          "<meta name=\"viewport\" content=\"width=device-width, initial-scale=1\"/>\n",
          page->to);
    page_element(page->to, "<title>", title, " - Heddle</title>\n");
    fprintf(page->to, "<style>\n%s</style>\n</head>\n<body>\n<main>\n", asset("style"));
    page_element(page->to, "<h1>", title, "</h1>\n");
}

void report_print(FILE *to, struct arena *arena, const struct report_run *runs, u32 count)
{
    struct page page = {to, arena, runs, count};
    static void (*const sections[])(struct page * page) = {
        page_summary, page_findings, page_limits,     page_slots,     page_series,
        page_window,  page_memory,   page_roofline,   page_occupancy, page_listings,
        page_energy,  page_faults,   page_statistics, page_setup,
    };
    for (u32 r = 0; r < count; r++)
        run_select(arena, runs[r].run, NULL);
    print_head(&page);
    for (u32 i = 0; i < ARRAY_LEN(sections); i++)
        sections[i](&page);
    page_script(to, asset("script"));
    page_end(to);
}
