/* Comparison of runs: see compare.h. Sections are made in the order in which they are read. */
#include "compare/runs.h"

#include "base/quantity.h"
#include "base/text.h"
#include <math.h>
#include <stdarg.h>

/* ---- sections ---- */

static const char *printed(struct arena *arena, const char *format, va_list arguments)
{
    char *text = NULL;
    if (vasprintf(&text, format, arguments) < 0)
        host_memory_exhausted();
    const char *copy = text_printable(arena, text);
    free(text);
    return copy;
}

void section_note(struct run_comparison *c, struct compare_section *section, const char *format,
                  ...)
{
    va_list arguments;
    va_start(arguments, format);
    *vec_push(&section->notes) = printed(c->arena, format, arguments);
    va_end(arguments);
}

void comparison_note(struct run_comparison *c, const char *format, ...)
{
    va_list arguments;
    va_start(arguments, format);
    *vec_push(&c->notes) = printed(c->arena, format, arguments);
    va_end(arguments);
}

struct compare_section *section_add(struct run_comparison *c, const char *name, const char *title,
                                    const char *heading)
{
    struct compare_section *section = vec_push(&c->sections);
    section->name = name;
    section->title = title;
    section->heading = heading;
    section->results = true;
    return section;
}

struct compare_row *section_row(struct run_comparison *c, struct compare_section *section,
                                const char *name, enum quantity quantity)
{
    struct compare_row *row = vec_push(&section->rows);
    row->name = text_printable(c->arena, name);
    row->detail = "";
    row->quantity = quantity;
    row->values = arena_array(c->arena, struct compare_value, c->count);
    row->number = section->rows.count;
    return row;
}

void row_number(struct compare_row *row, u32 run, f64 number)
{
    row->values[run] = (struct compare_value){.given = true, .number = number};
}

void row_text(struct compare_row *row, u32 run, const char *text)
{
    row->values[run] = (struct compare_value){.given = true, .text = text};
}

f64 row_spread(const struct run_comparison *c, const struct compare_row *row)
{
    f64 spread = 0;
    for (u32 r = 1; r < c->count; r++)
        spread = MAX(spread, fabs(row->values[r].number - row->values[0].number));
    return spread;
}

f64 row_relative(const struct run_comparison *c, const struct compare_row *row)
{
    f64 most = 0;
    for (u32 r = 1; r < c->count; r++) {
        const f64 from = row->values[0].number, to = row->values[r].number;
        const f64 larger = MAX(fabs(from), fabs(to));
        most = MAX(most, larger > 0 ? fabs(to - from) / larger : 0);
    }
    return most;
}

u32 row_farthest(const struct run_comparison *c, const struct compare_row *row)
{
    u32 far = 1;
    f64 most = -1;
    for (u32 r = 1; r < c->count; r++) {
        const f64 change = fabs(row->values[r].number - row->values[0].number);
        if (row->values[r].given && change > most) {
            far = r;
            most = change;
        }
    }
    return far;
}

static bool value_differs(const struct compare_row *row, u32 run, f64 ignore)
{
    const struct compare_value *from = &row->values[0], *to = &row->values[run];
    if (from->given != to->given)
        return true;
    if (!from->given)
        return false;
    if (row->quantity == QUANTITY_TEXT)
        return strcmp(from->text, to->text) != 0;
    return fabs(to->number - from->number) > ignore * MAX(fabs(from->number), fabs(to->number));
}

static int by_weight(const void *a, const void *b)
{
    const struct compare_row *first = a, *second = b;
    if (first->weight != second->weight)
        return first->weight > second->weight ? -1 : 1;
    return first->number < second->number ? -1 : 1;
}

void section_sort(struct compare_section *section, u32 first)
{
    if (section->rows.count > first)
        qsort(section->rows.data + first, section->rows.count - first, sizeof *section->rows.data,
              by_weight);
}

/* A table in which only one run has values compares nothing; comparison notes say why. */
static void drop_unpaired(const struct run_comparison *c, struct compare_section *section)
{
    u32 with = 0;
    for (u32 r = 0; r < c->count; r++) {
        bool any = false;
        for (u32 i = 0; i < section->rows.count; i++)
            any |= section->rows.data[i].values[r].given;
        with += any;
    }
    if (section->results && with < 2)
        section->rows.count = 0;
}

/* Moves rows that differ to the front. Others are kept only where a whole is shown. */
static void mark_rows(struct run_comparison *c, struct compare_section *section)
{
    const f64 ignore = section->results ? c->options.ignore : 0;
    const u32 all = section->rows.count;
    struct compare_row *rows = arena_array(c->arena, struct compare_row, all);
    u32 kept = 0;
    if (all)
        memcpy(rows, section->rows.data, all * sizeof *rows);
    for (u32 i = 0; i < all; i++)
        for (u32 r = 1; r < c->count; r++)
            rows[i].differs |= value_differs(&rows[i], r, ignore);
    for (u32 i = 0; i < all; i++)
        if (rows[i].differs || section->whole)
            section->rows.data[kept++] = rows[i];
    section->shown = kept;
    for (u32 i = 0; i < all; i++)
        if (section->stacked && !rows[i].differs)
            section->rows.data[kept++] = rows[i];
    section->rows.count = kept;
    if (c->options.top && !section->whole)
        section->shown = MIN(section->shown, c->options.top);
    for (u32 i = 0; i < kept; i++)
        section->more += i >= section->shown && section->rows.data[i].differs;
}

/* ---- how alike runs are ---- */

const char *sameness_name(enum sameness sameness)
{
    static const char *const names[] = {[SAME_BYTES] = "same_bytes",
                                        [SAME_DOCUMENT] = "same_document",
                                        [SAME_RESULTS] = "same_results",
                                        [SAME_ENOUGH] = "within_threshold",
                                        [SAME_NOT] = "different"};
    return names[sameness];
}

static bool equal_fields(const struct compare_run *a, const struct compare_run *b,
                         const char *const *keys)
{
    for (; *keys; keys++) {
        json_t *first = json_object_get(a->document, *keys);
        json_t *second = json_object_get(b->document, *keys);
        if (!first != !second || (first && !json_equal(first, second)))
            return false;
    }
    return true;
}

static enum sameness sameness_of(const struct run_comparison *c, u32 run)
{
    static const char *const results[] = {"launches", "sums", "totals", "profile", NULL};
    static const char *const others[] = {"manifest", "config", "energy", "storage", NULL};
    const struct compare_run *from = c->runs[0], *to = c->runs[run];
    const bool all = !c->options.kernel;
    if (!strcmp(from->sha256, to->sha256))
        return SAME_BYTES;
    if (all && equal_fields(from, to, results))
        return equal_fields(from, to, others) ? SAME_DOCUMENT : SAME_RESULTS;
    for (u32 i = 0; i < c->sections.count; i++) {
        const struct compare_section *section = &c->sections.data[i];
        for (u32 k = 0; section->results && k < section->rows.count; k++)
            if (value_differs(&section->rows.data[k], run, c->options.ignore))
                return SAME_NOT;
    }
    /* without a threshold, fields that no row shows count as well */
    return !all || c->options.ignore > 0 ? SAME_ENOUGH : SAME_NOT;
}

bool compare_differ(const struct run_comparison *c)
{
    for (u32 r = 1; r < c->count; r++)
        if (c->sameness[r] == SAME_NOT)
            return true;
    return false;
}

/* ---- the comparison ---- */

static void note_runs(struct run_comparison *c)
{
    for (u32 r = 0; r < c->count; r++) {
        const struct compare_run *run = c->runs[r];
        if (c->options.kernel && !run->launches)
            comparison_note(c, "%s has no launch of the selected kernels", run->label);
        else if (!run->timed)
            comparison_note(
                c,
                "%s has no times (functional mode): tables that need them show the others, or "
                "are left out",
                run->label);
        if (run->stopped)
            comparison_note(c, "%s did not run to its end (%s): its numbers cover what ran before",
                            run->label, run->stopped);
        if (!json_object_get(run->document, "launches"))
            comparison_note(c, "%s has no launches: only its totals are compared", run->label);
    }
}

struct run_comparison *comparison_start(struct arena *arena, struct compare_run *const *runs,
                                        u32 count, struct compare_options options)
{
    struct run_comparison *c = arena_new(arena, struct run_comparison);
    c->arena = arena;
    c->options = options;
    c->runs = runs;
    c->count = count;
    c->verdicts = arena_array(arena, const char *, count);
    c->sameness = arena_array(arena, enum sameness, count);
    c->speedups = arena_array(arena, f64, count);
    return c;
}

void comparison_choose_rows(struct run_comparison *c)
{
    for (u32 i = 0; i < c->sections.count; i++) {
        drop_unpaired(c, &c->sections.data[i]);
        mark_rows(c, &c->sections.data[i]);
    }
}

struct run_comparison *compare_runs(struct arena *arena, struct compare_run *const *runs, u32 count,
                                    struct compare_options options)
{
    static void (*const parts[])(struct run_comparison *) = {
        compare_origin, compare_configuration, compare_time,   compare_kernels, compare_launches,
        compare_slots,  compare_memory,        compare_energy, compare_lines,   compare_statistics};
    struct run_comparison *c = comparison_start(arena, runs, count, options);
    for (u32 r = 0; r < count; r++)
        run_select(arena, runs[r], options.kernel);
    note_runs(c);
    for (u32 i = 0; i < ARRAY_LEN(parts); i++)
        parts[i](c);
    comparison_choose_rows(c);
    for (u32 r = 1; r < count; r++)
        c->sameness[r] = sameness_of(c, r);
    compare_verdicts(c);
    return c;
}

void compare_free(struct run_comparison *c)
{
    for (u32 i = 0; i < c->sections.count; i++) {
        vec_free(&c->sections.data[i].rows);
        vec_free(&c->sections.data[i].notes);
    }
    vec_free(&c->sections);
    vec_free(&c->notes);
}
