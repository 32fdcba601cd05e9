/* The verdict on each run: how fast it is beside the baseline, and what explains most of it. */
#include "compare/runs.h"

#include "base/quantity.h"
#include <math.h>

const char *ratio_text(struct arena *arena, f64 ratio)
{
    return arena_printf(arena, "%.*f", ratio >= 100 ? 0 : ratio < 1.01 ? 4 : 2, ratio);
}

static const struct compare_section *section_named(const struct run_comparison *c, const char *name)
{
    for (u32 i = 0; i < c->sections.count; i++)
        if (!strcmp(c->sections.data[i].name, name))
            return &c->sections.data[i];
    return NULL;
}

static u32 rows_in(const struct run_comparison *c, const char *section)
{
    const struct compare_section *found = section_named(c, section);
    return found ? found->rows.count : 0;
}

/* What was given differently to runs with the same results. */
static const char *given_differently(const struct run_comparison *c)
{
    const u32 origin = rows_in(c, "origin"), params = rows_in(c, "configuration");
    const char *text = "";
    if (origin)
        text = "what was run (below)";
    if (params)
        text = arena_printf(c->arena, "%s%s%u parameter%s", text, origin ? " and " : "", params,
                            params > 1 ? "s" : "");
    return *text ? text : "fields of the manifest or the configuration that have no effect";
}

/* ": issue slots lost to memory fell from 2 009 to 1 181 cycles, 57 % of the difference". The parts
 * add up to the difference, so one part alone may be larger. */
static const char *cause_text(const struct run_comparison *c, u32 r)
{
    enum {
        MOST_CAUSES = 2
    };
    const struct compare_run *from = c->runs[0], *to = c->runs[r];
    const enum quantity quantity = time_quantity(c);
    const f64 whole = run_time(c, to) - run_time(c, from);
    const char *text = "";
    u32 taken = 0;
    f64 explained = 0;
    for (u32 i = 0; i < MOST_CAUSES && explained < 0.6; i++) {
        f64 change;
        const u32 at = largest_change(c, &from->slots, &to->slots, r, whole, taken, &change);
        if (at == MAX_REASONS)
            break;
        const char *name = to->slots.names[at];
        const bool issued = !strcmp(name, "issued");
        const f64 before = slot_time(c, from, slots_named(&from->slots, name));
        struct compare_value values[2] = {{true, before, NULL}, {true, before + change, NULL}};
        taken |= 1u << at;
        explained += change / whole;
        const f64 part = 100 * change / whole;
        text = arena_printf(
            c->arena, "%s%s %s%s %s from %s to %s%s, %s", text, i ? "; slots" : ": issue slots",
            issued ? "that issued" : "lost to ", issued ? "" : name, change < 0 ? "fell" : "rose",
            value_text(c->arena, quantity, &values[0]), value_text(c->arena, quantity, &values[1]),
            quantity == QUANTITY_CYCLES ? " cycles" : "",
            part <= 100 ? arena_printf(c->arena, "%.0f %% of the difference", part)
                        : "more than the whole difference");
    }
    return text;
}

/* Whether a kernel of the baseline is in the run as well, or it is not known which ran. */
static bool have_common_kernel(const struct run_comparison *c, u32 r)
{
    const struct compare_run *from = c->runs[0], *to = c->runs[r];
    for (u32 i = 0; i < from->kernels.count; i++)
        if (kernel_in(to, from->kernels.data[i].name))
            return true;
    return !from->kernels.count || !to->kernels.count;
}

/* "; it issues 1.12 times the warp instructions" where that is more than 1 %. */
static const char *work_text(const struct run_comparison *c, u32 r)
{
    static const char key[] = "exec.warp_instructions";
    const f64 from = number_in(c->runs[0]->totals, key), to = number_in(c->runs[r]->totals, key);
    if (from <= 0 || fabs(to / from - 1) <= 0.01)
        return "";
    return arena_printf(c->arena, "; it issues %.3g times the warp instructions", to / from);
}

static const char *untimed_verdict(const struct run_comparison *c, u32 r)
{
    return arena_printf(c->arena, "%s and %s cannot be compared in time: %s has none%s",
                        c->runs[r]->label, c->runs[0]->label,
                        c->runs[0]->timed   ? c->runs[r]->label
                        : c->runs[r]->timed ? c->runs[0]->label
                                            : "either of them",
                        work_text(c, r));
}

static const char *timed_verdict(const struct run_comparison *c, u32 r)
{
    struct arena *arena = c->arena;
    const struct compare_run *from = c->runs[0], *to = c->runs[r];
    const f64 faster = from->seconds / to->seconds;
    const f64 ratio = MAX(faster, 1 / faster);
    const char *work = work_text(c, r);
    if (from->seconds == to->seconds)
        return arena_printf(arena, "%s takes exactly as long as %s (%s cycles)%s, but %s",
                            to->label, from->label, count_text(arena, (u64)to->cycles), work,
                            "other statistics differ");
    if (1 - 1 / ratio <= c->options.ignore)
        return arena_printf(
            arena, "%s is as fast as %s within %g %% (%s times as %s)%s%s", to->label, from->label,
            100 * c->options.ignore, ratio_text(arena, ratio), faster > 1 ? "fast" : "long", work,
            c->sameness[r] == SAME_NOT ? ", but other statistics differ by more" : "");
    const char *how = faster > 1 ? "is" : "takes", *what = faster > 1 ? "fast" : "long";
    if (!have_common_kernel(c, r))
        return arena_printf(arena, "%s and %s have no kernel in common; %s %s %s times as %s",
                            from->label, to->label, to->label, how, ratio_text(arena, ratio), what);
    return arena_printf(arena, "%s %s %s times as %s as %s%s%s", to->label, how,
                        ratio_text(arena, ratio), what, from->label, cause_text(c, r), work);
}

static const char *verdict_on(const struct run_comparison *c, u32 r)
{
    const char *from = c->runs[0]->label, *to = c->runs[r]->label;
    switch (c->sameness[r]) {
    case SAME_BYTES:
        return arena_printf(c->arena, "%s and %s are identical, byte for byte", from, to);
    case SAME_DOCUMENT:
        return arena_printf(c->arena,
                            "%s and %s are identical in everything but 'host' (command line, date "
                            "and host times)",
                            from, to);
    case SAME_RESULTS:
        return arena_printf(c->arena,
                            "the statistics of %s and %s are identical; they differ in %s", from,
                            to, given_differently(c));
    case SAME_ENOUGH:
    case SAME_NOT:
        break;
    }
    if (c->options.kernel && c->sameness[r] == SAME_ENOUGH && c->options.ignore <= 0)
        return arena_printf(c->arena, "the selected kernels of %s and %s have identical statistics",
                            from, to);
    return c->runs[0]->timed && c->runs[r]->timed ? timed_verdict(c, r) : untimed_verdict(c, r);
}

void compare_verdicts(struct run_comparison *c)
{
    for (u32 r = 1; r < c->count; r++) {
        c->speedups[r] = c->runs[0]->timed && c->runs[r]->timed
                             ? c->runs[0]->seconds / c->runs[r]->seconds
                             : NAN;
        c->verdicts[r] = verdict_on(c, r);
    }
}
