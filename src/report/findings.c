/*
 * What a page says about a run in words: rules, each with a condition on the run's numbers, what was
 * seen, and what to try. A rule quotes its numbers. Its weight is the share of the run's time, or of
 * its energy, that it is about: findings are listed by weight, and below MINIMUM not at all.
 */
#include "report/page.h"

#include "base/text.h"
#include "lab/page.h"

enum {
    FINDINGS = 24
};
static const f64 MINIMUM = 0.05;

struct finding {
    const char *rule;
    f64 weight;
    const char *seen, *try;
};

struct run_findings {
    const struct page *page;
    u32 run;
    const struct compare_run *of;
    struct finding list[FINDINGS];
    u32 count;
};

static void find(struct run_findings *f, const char *rule, f64 weight, const char *seen,
                 const char *try)
{
    if (weight < MINIMUM || f->count == FINDINGS)
        return;
    u32 at = f->count++;
    for (; at && f->list[at - 1].weight < weight; at--)
        f->list[at] = f->list[at - 1];
    f->list[at] = (struct finding){rule, weight, seen, try};
}

/* The share of issue slots lost to a reason. */
static f64 lost(const struct run_findings *f, const char *reason)
{
    return f->of->slots.total > 0 ? slots_named(&f->of->slots, reason) / f->of->slots.total : 0;
}

static f64 share(const struct run_findings *f, const char *part, const char *whole)
{
    f64 ratio;
    return ratio_in(f->of->totals, part, whole, &ratio) ? ratio : 0;
}

static const char *text(const struct run_findings *f, const char *format, ...)
    __attribute__((format(printf, 2, 3)));
static const char *text(const struct run_findings *f, const char *format, ...)
{
    va_list args;
    char *line = NULL;
    va_start(args, format);
    if (vasprintf(&line, format, args) < 0)
        host_memory_exhausted();
    va_end(args);
    const char *copy = arena_strdup(f->page->arena, line);
    free(line);
    return copy;
}

/* The instruction at which most slots were lost to a reason; NULL: none. */
static const json_t *worst(const struct run_findings *f, const char *reason, f64 *slots)
{
    const json_t *best = NULL;
    size_t k, i;
    json_t *function, *inst;
    *slots = 0;
    json_array_foreach(json_object_get(f->of->document, "profile"), k, function)
        json_array_foreach(json_object_get(function, "instructions"), i, inst)
    {
        const f64 one = number_in(json_object_get(inst, "stalls"), reason);
        if (one > *slots) {
            *slots = one;
            best = inst;
        }
    }
    return best;
}

/* " Most of them, 12.0 %, were lost at hotspot.cl:17: add.s32 ...": or nothing. */
static const char *where(const struct run_findings *f, const char *reason)
{
    f64 slots;
    const json_t *inst = worst(f, reason, &slots);
    if (!inst || f->of->slots.total <= 0)
        return "";
    const char *place = string_in(inst, "place");
    return text(f, " The costliest place, with %.1f %%: %s%s%s.", 100 * slots / f->of->slots.total,
                text_printable(f->page->arena, place), *place ? ", " : "",
                text_printable(f->page->arena, string_in(inst, "text")));
}

/* ---- rules ---- */

static void waits_for_memory(struct run_findings *f)
{
    const f64 weight = lost(f, "memory"), latency = share(f, "lsu.latency_cycles", "lsu.replies");
    const f64 occupancy = share(f, "timing.warp_cycles", "timing.warp_slots");
    find(f, "memory", weight,
         text(f,
              "%.1f %% of the issue slots were lost to registers that waited for memory. A request "
              "took %.0f cycles on average; %.1f %% of the warp slots were taken.%s",
              100 * weight, latency, 100 * occupancy, where(f, "memory")),
         occupancy < 0.5 ? "More warps hide more latency: see what limits the occupancy."
                         : "Fewer or nearer requests: see hits and requests of each level.");
}

static void computes_in_order(struct run_findings *f)
{
    const f64 weight = lost(f, "raw") + lost(f, "waw");
    find(f, "dependences", weight,
         text(f,
              "%.1f %% of the issue slots were lost to results of units that were not there "
              "yet.%s",
              100 * weight, where(f, "raw")),
         "More warps, or more independent instructions in each, hide the latency of the units.");
}

static void units_are_busy(struct run_findings *f)
{
    const f64 weight = lost(f, "unit") + lost(f, "collector");
    find(f, "units", weight,
         text(f,
              "%.1f %% of the issue slots were lost because a unit or every operand collector "
              "was taken.%s",
              100 * weight, where(f, "unit")),
         "The first chart shows the busiest unit; --set units.KEY and collect.KEY change their "
         "numbers.");
}

static void fetches_slowly(struct run_findings *f)
{
    const f64 weight = lost(f, "fetch");
    const f64 hits = share(f, "icache.read_hits", "icache.reads");
    find(f, "fetch", weight,
         text(f,
              "%.1f %% of the issue slots were lost to empty instruction buffers; %.1f %% of "
              "the reads of the instruction cache hit.",
              100 * weight, 100 * hits),
         hits < 0.95 ? "The code may exceed the instruction cache: try --set icache.sets=N."
                     : "Buffers are filled too slowly: try --set fetch.width=N or "
                       "fetch.buffer=N.");
}

static void waits_at_barriers(struct run_findings *f)
{
    const f64 weight = lost(f, "barrier");
    find(f, "barriers", weight,
         text(f, "%.1f %% of the issue slots were lost at barriers.%s", 100 * weight,
              where(f, "barrier")),
         "Smaller blocks, or more of them on a core, leave others to run meanwhile.");
}

static void is_empty(struct run_findings *f)
{
    const f64 weight = lost(f, "empty"), cores = page_param(f->page, f->run, "gpu", "cores");
    const f64 blocks = number_in(f->of->totals, "timing.blocks");
    find(f, "empty", weight,
         text(f, "%.1f %% of the issue slots had no warp at all: %.0f blocks ran on %.0f cores.",
              100 * weight, blocks, cores),
         "A larger grid fills the machine; or the last blocks of a launch run alone: see the slots "
         "over time (--interval).");
}

static void diverges(struct run_findings *f)
{
    const f64 lanes = share(f, "issue.threads", "issue.lane_slots");
    const f64 issued = lost(f, "issued");
    if (lanes > 0)
        find(f, "divergence", (1 - lanes) * issued,
             text(f,
                  "%.1f %% of the lanes of issued instructions did nothing; %.1f %% of the "
                  "branches diverged.",
                  100 * (1 - lanes), 100 * share(f, "exec.divergent_branches", "exec.branches")),
             "The column 'lanes' of the source lines shows where.");
}

static void scatters(struct run_findings *f)
{
    const f64 each = share(f, "lsu.transactions", "lsu.memory_accesses");
    const f64 weight = lost(f, "memory") + lost(f, "unit");
    if (each >= 4)
        find(f, "scattered", weight * (1 - 1 / each),
             text(f, "A global or local access became %.1f transactions on average.", each),
             "Neighbouring lanes should access neighbouring words.");
}

static void conflicts(struct run_findings *f)
{
    const f64 more = number_in(f->of->totals, "lsu.shared_conflict_cycles");
    const f64 weight = share(f, "lsu.shared_conflict_cycles", "issue.cycles");
    find(f, "bank_conflicts", weight,
         text(f,
              "Conflicts between banks of shared memory took %.0f cycles, %.1f %% of the time "
              "that cores held blocks.",
              more, 100 * weight),
         "Padding rows by one word often removes them.");
}

static void dram_is_busy(struct run_findings *f)
{
    const f64 busy = share(f, "dram.bus_cycles", "dram.channel_cycles");
    const f64 all =
        number_in(f->of->totals, "dram.reads") + number_in(f->of->totals, "dram.writes");
    const f64 hits = all > 0 ? number_in(f->of->totals, "dram.row_hits") / all : 0;
    if (busy >= 0.6)
        find(f, "dram", busy,
             text(f,
                  "The DRAM bus was busy %.1f %% of the time; %.1f %% of the accesses hit an open "
                  "row.",
                  100 * busy, 100 * hits),
             "The run is bound by DRAM: fewer bytes count, not fewer instructions.");
}

static void l1_refuses(struct run_findings *f)
{
    const f64 cycles =
        number_in(f->of->totals, "l1d.stalls_line") + number_in(f->of->totals, "l1d.stalls_mshr");
    const f64 busy = number_in(f->of->totals, "issue.cycles");
    if (busy > 0)
        find(f, "l1_stalls", cycles / busy,
             text(f,
                  "The L1 data cache refused accesses in %.1f %% of the cores' cycles: all lines "
                  "of the set in flight in %.0f, no MSHR in %.0f.",
                  100 * cycles / busy, number_in(f->of->totals, "l1d.stalls_line"),
                  number_in(f->of->totals, "l1d.stalls_mshr")),
             "Try --set l1d.ways=N, l1d.mshrs=N, or --set l1d.allocate=fill.");
}

static void leaks(struct run_findings *f)
{
    const f64 weight = share(f, "energy.static_pj", "energy.total_pj");
    if (weight >= 0.6)
        find(f, "leakage", weight - 0.5,
             text(f,
                  "%.1f %% of the energy was leakage and standby: it grows with time, not with "
                  "work.",
                  100 * weight),
             "What makes the run shorter saves it.");
}

static void stopped(struct run_findings *f)
{
    if (f->of->stopped)
        find(f, "stopped", 1, text(f, "A launch did not end: %s.", f->of->stopped),
             "All numbers are complete up to that point.");
}

/* ---- output ---- */

static void print_findings(const struct run_findings *f)
{
    FILE *to = f->page->to;
    if (f->page->count > 1)
        page_element(to, "<h3>", f->of->label, "</h3>\n");
    if (!f->count) {
        fputs("<p>Nothing stands out.</p>\n", to);
        return;
    }
    fputs("<ol class=\"findings\">\n", to);
    for (u32 i = 0; i < f->count; i++) {
        fprintf(to, "<li data-rule=\"%s\">", f->list[i].rule);
        page_element(to, "", f->list[i].seen, " ");
        page_element(to, "<span class=\"quiet\">", f->list[i].try, "</span></li>\n");
    }
    fputs("</ol>\n", to);
}

void page_findings(struct page *page)
{
    static void (*const rules[])(struct run_findings * f) = {
        stopped,        waits_for_memory,  computes_in_order, units_are_busy,
        fetches_slowly, waits_at_barriers, is_empty,          diverges,
        scatters,       conflicts,         dram_is_busy,      l1_refuses,
        leaks,
    };
    if (!page_timed(page))
        return;
    fputs("<section id=\"findings\">\n<h2>What was seen</h2>\n", page->to);
    for (u32 r = 0; r < page->count; r++) {
        struct run_findings f = {.page = page, .run = r, .of = page->runs[r].run};
        for (u32 i = 0; i < ARRAY_LEN(rules); i++)
            rules[i](&f);
        print_findings(&f);
    }
    fputs("</section>\n", page->to);
}
