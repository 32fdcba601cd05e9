/*
 * Comparison of sweeps, point by point: see sweep.h.
 *
 * Matching points are compared as runs are (compare_runs). This file adds the results up: a row for
 * each point in a table of times, of energy and of each column, geometric means by value of an
 * axis, and the differences of configuration with the number of points that have them.
 */
#include "compare/runs.h"
#include "compare/sweep_columns.h"
#include "lab/fields.h"
#include <math.h>
#include <stdlib.h>

/* Sections, in the order in which they are read; those of columns follow. */
enum {
    SECTION_ORIGIN,
    SECTION_CONFIGURATION,
    SECTION_UNPAIRED,
    SECTION_AXES,
    SECTION_TIME,
    SECTION_ENERGY,
    SECTION_COLUMNS
};

/* A point that at least one sweep has. */
struct matched_point {
    const char *name;
    u32 *points;         /* by sweep, or NO_POINT */
    const char **status; /* by sweep: "done", or why there is nothing to compare */
    f64 *seconds;        /* by sweep; 0: it has no time */
};

struct sweep_comparison {
    struct arena *arena;
    struct run_comparison *c;
    struct compare_sweep *const *sweeps;
    u32 count;
    u32 **axes; /* by sweep: the axes that points are matched by, in the order of the first sweep */
    bool **without; /* by sweep and axis: not one of them */
    bool **silent;  /* by sweep and axis: not part of a point's name, since it has one value */
    u32 axis_count;
    VEC(struct matched_point) points;
    struct sweep_columns *columns;
    u32 compared; /* points with results in the first sweep and in another */
    struct error *error;
};

/* ---- matching ---- */

/* Finds the axes that all sweeps have and no selection names (W2). */
static void find_axes(struct sweep_comparison *all)
{
    const struct catalogue *first = all->sweeps[0]->catalogue;
    all->axes = arena_array(all->arena, u32 *, all->count);
    all->without = arena_array(all->arena, bool *, all->count);
    for (u32 s = 0; s < all->count; s++) {
        const u32 own = all->sweeps[s]->catalogue->axis_count;
        all->axes[s] = arena_array(all->arena, u32, first->axis_count);
        all->without[s] = arena_array(all->arena, bool, own);
        for (u32 i = 0; i < own; i++)
            all->without[s][i] = true;
    }
    for (u32 i = 0; i < first->axis_count; i++) {
        bool common = true;
        for (u32 s = 0; s < all->count; s++) {
            const int axis = catalogue_axis(all->sweeps[s]->catalogue, first->axes[i]);
            common &= axis >= 0 && !all->sweeps[s]->given[axis];
            all->axes[s][all->axis_count] = (u32)MAX(axis, 0);
        }
        for (u32 s = 0; common && s < all->count; s++)
            all->without[s][all->axes[s][all->axis_count]] = false;
        all->axis_count += common;
    }
}

/* An axis of the sweep by which two points differ although they match. */
static const char *other_axis(const struct sweep_comparison *all, u32 s, u32 a, u32 b)
{
    const struct catalogue *catalogue = all->sweeps[s]->catalogue;
    for (u32 i = 0; i < catalogue->axis_count; i++) {
        const char *first = catalogue->points.data[a].labels[i];
        const char *second = catalogue->points.data[b].labels[i];
        if (all->without[s][i] && first && second && strcmp(first, second) != 0)
            return catalogue->axes[i];
    }
    return catalogue->axes[0];
}

/* Whether every point of a sweep can be told from its others by the axes that are matched. */
static bool is_distinct(const struct sweep_comparison *all, u32 s, const struct point_index *index)
{
    for (u32 i = 1; i < index->count; i++) {
        const u32 a = index->list[i - 1].point, b = index->list[i].point;
        if (strcmp(index->list[i - 1].text, index->list[i].text) != 0)
            continue;
        const char *axis = other_axis(all, s, a, b);
        const int at = catalogue_axis(all->sweeps[s]->catalogue, axis);
        return error_set(
            all->error, ERROR_USAGE, all->sweeps[s]->place,
            "its points differ in '%s', which the others do not have or select: choose one value, "
            "as "
            "in '%s#%s=%s'",
            axis, all->sweeps[s]->place, axis,
            shown_text(all->arena, all->sweeps[s]->catalogue->points.data[a].labels[at], 60));
    }
    return true;
}

static struct matched_point *add_matched(struct sweep_comparison *all, u32 s, u32 point)
{
    struct matched_point *one = vec_push(&all->points);
    const char *name = compare_point_name(all->arena, all->sweeps[s], point, all->silent[s]);
    *one = (struct matched_point){.name = *name ? name : "the only point",
                                  .points = arena_array(all->arena, u32, all->count),
                                  .status = arena_array(all->arena, const char *, all->count),
                                  .seconds = arena_array(all->arena, f64, all->count)};
    for (u32 i = 0; i < all->count; i++) {
        one->points[i] = NO_POINT;
        one->status[i] = "-";
    }
    return one;
}

/* Whether all selected points have the same label of an axis that is matched. */
static bool has_one_value(const struct sweep_comparison *all, u32 axis)
{
    const char *first = NULL;
    for (u32 s = 0; s < all->count; s++)
        for (u32 i = 0; i < all->sweeps[s]->points.count; i++) {
            const struct catalogue_point *point =
                &all->sweeps[s]->catalogue->points.data[all->sweeps[s]->points.data[i]];
            const char *label = point->labels[all->axes[s][axis]];
            first = first ? first : label;
            if (!label || strcmp(first, label) != 0)
                return false;
        }
    return true;
}

/* Finds the axes that names of points can do without. */
static void find_silent(struct sweep_comparison *all)
{
    all->silent = arena_array(all->arena, bool *, all->count);
    for (u32 s = 0; s < all->count; s++) {
        const u32 count = all->sweeps[s]->catalogue->axis_count;
        all->silent[s] = arena_array(all->arena, bool, count);
        memcpy(all->silent[s], all->without[s], count * sizeof(bool));
    }
    for (u32 axis = 0; axis < all->axis_count; axis++)
        if (has_one_value(all, axis))
            for (u32 s = 0; s < all->count; s++)
                all->silent[s][all->axes[s][axis]] = true;
}

/* Matches the points of all sweeps, those of the first one in its order, then the others'. */
static bool match(struct sweep_comparison *all)
{
    struct point_index *indexes = arena_array(all->arena, struct point_index, all->count);
    find_axes(all);
    find_silent(all);
    for (u32 s = 0; s < all->count; s++) {
        const struct compare_sweep *sweep = all->sweeps[s];
        indexes[s] = point_index_make(all->arena, sweep, sweep->points.data, sweep->points.count,
                                      all->axes[s], all->axis_count);
        if (!is_distinct(all, s, &indexes[s]))
            return false;
    }
    for (u32 s = 0; s < all->count; s++)
        for (u32 i = 0; i < all->sweeps[s]->points.count; i++) {
            const u32 point = all->sweeps[s]->points.data[i];
            const char *text =
                match_text(all->arena, all->sweeps[s]->catalogue->points.data[point].labels,
                           all->axes[s], all->axis_count);
            bool seen = false;
            for (u32 k = 0; k < s; k++)
                seen |= point_index_find(&indexes[k], text) != NO_POINT;
            if (seen)
                continue;
            struct matched_point *one = add_matched(all, s, point);
            for (u32 k = s; k < all->count; k++)
                one->points[k] = point_index_find(&indexes[k], text);
        }
    return true;
}

/* ---- rows ---- */

static struct compare_section *section_at(const struct sweep_comparison *all, u32 index)
{
    return &all->c->sections.data[index];
}

/* The largest ratio to the first sweep's value, either way. */
static f64 ratio_weight(const struct compare_row *row, u32 count)
{
    f64 most = 0;
    for (u32 s = 1; s < count; s++) {
        const f64 from = row->values[0].number, to = row->values[s].number;
        if (row->values[0].given && row->values[s].given && from != to)
            most = MAX(most, from > 0 && to > 0 ? fabs(log(to / from)) : INFINITY);
    }
    return most;
}

/* The runs of one point that can be compared. */
struct point_pair {
    struct arena *arena;
    struct compare_run **runs;
    u32 *sweeps; /* by run */
    u32 count;
    struct run_comparison *c;
};

static void add_time(struct sweep_comparison *all, struct matched_point *point,
                     const struct point_pair *pair)
{
    struct run_comparison *c = pair->c;
    struct compare_row *row =
        section_row(all->c, section_at(all, SECTION_TIME), point->name, time_quantity(c));
    u32 far = 0;
    for (u32 i = 0; i < pair->count; i++) {
        const struct compare_run *run = pair->runs[i];
        if (!run->timed)
            continue;
        row_number(row, pair->sweeps[i], run_time(c, run));
        point->seconds[pair->sweeps[i]] = run->seconds;
        if (!far || fabs(log(run->seconds / pair->runs[0]->seconds)) >
                        fabs(log(pair->runs[far]->seconds / pair->runs[0]->seconds)))
            far = i;
    }
    if (far && pair->runs[0]->timed)
        row->detail = arena_strdup(
            all->arena, main_reason(c, &pair->runs[0]->slots, &pair->runs[far]->slots, far));
    row->weight = ratio_weight(row, all->count);
}

static void add_energy(struct sweep_comparison *all, const struct matched_point *point,
                       const struct point_pair *pair)
{
    struct compare_row *row =
        section_row(all->c, section_at(all, SECTION_ENERGY), point->name, QUANTITY_PJ);
    f64 pj;
    for (u32 i = 0; i < pair->count; i++)
        if (number_of(json_object_get(pair->runs[i]->totals, "energy.total_pj"), &pj))
            row_number(row, pair->sweeps[i], pj);
    row->weight = ratio_weight(row, all->count);
}

static void add_columns(struct sweep_comparison *all, const struct matched_point *point,
                        const struct point_pair *pair)
{
    for (u32 i = 0; i < pair->count; i++) {
        const u32 s = pair->sweeps[i];
        sweep_columns_note(all->columns, s, point->points[s], pair->runs[i]->document);
    }
    for (u32 k = 0; k < sweep_columns_count(all->columns); k++) {
        struct compare_row *row =
            section_row(all->c, section_at(all, SECTION_COLUMNS + k), point->name, QUANTITY_NUMBER);
        f64 value;
        for (u32 i = 0; i < pair->count; i++) {
            const u32 s = pair->sweeps[i];
            if (sweep_columns_value(all->columns, k, s, point->points[s], &value))
                row_number(row, s, value);
        }
        row->weight = row_relative(all->c, row);
    }
}

/* ---- what was given ---- */

/* Adds a row of one point to the table of all: values that are not the same everywhere are "(several)". */
static void merge_row(struct sweep_comparison *all, u32 section_index,
                      const struct point_pair *pair, const struct compare_row *from)
{
    struct compare_section *section = section_at(all, section_index);
    struct compare_row *row = NULL;
    for (u32 i = 0; i < section->rows.count && !row; i++)
        if (!strcmp(section->rows.data[i].name, from->name))
            row = &section->rows.data[i];
    if (!row)
        row = section_row(all->c, section, from->name, QUANTITY_TEXT);
    row->weight++; /* the number of points */
    for (u32 i = 0; i < pair->count; i++) {
        struct compare_value *value = &row->values[pair->sweeps[i]];
        const char *text = from->values[i].given ? from->values[i].text : "-";
        if (!value->given)
            row_text(row, pair->sweeps[i], arena_strdup(all->arena, text));
        else if (strcmp(value->text, text) != 0)
            value->text = "(several)";
    }
}

static void merge_section(struct sweep_comparison *all, u32 index, const struct point_pair *pair,
                          const char *name)
{
    for (u32 i = 0; i < pair->c->sections.count; i++) {
        const struct compare_section *section = &pair->c->sections.data[i];
        for (u32 k = 0; !strcmp(section->name, name) && k < section->rows.count; k++)
            merge_row(all, index, pair, &section->rows.data[k]);
    }
}

/* Says in how many points a parameter differs. Values that are the same list differ row by row. */
static void describe_given(struct sweep_comparison *all, u32 index)
{
    struct compare_section *section = section_at(all, index);
    section->whole = true;
    for (u32 i = 0; i < section->rows.count; i++) {
        struct compare_row *row = &section->rows.data[i];
        if (row->weight < all->compared)
            row->detail =
                arena_printf(all->arena, "in %.0f of %u points", row->weight, all->compared);
    }
    section_sort(section, 0);
}

/* ---- points ---- */

/* Reads the results of a point; false after an error. */
static bool read_pair(struct sweep_comparison *all, struct matched_point *point,
                      struct point_pair *pair)
{
    for (u32 s = 0; s < all->count; s++) {
        const char *status = "-";
        if (point->points[s] == NO_POINT)
            continue;
        struct compare_run *run =
            compare_sweep_run(pair->arena, all->sweeps[s], point->points[s], &status, all->error);
        if (all->error->code != ERROR_NONE)
            return false;
        point->status[s] = arena_strdup(all->arena, status);
        if (!run)
            continue;
        pair->sweeps[pair->count] = s;
        pair->runs[pair->count++] = run;
    }
    return true;
}

static void add_pair(struct sweep_comparison *all, struct matched_point *point,
                     struct point_pair *pair)
{
    pair->c = compare_runs(pair->arena, pair->runs, pair->count, all->c->options);
    all->compared++;
    for (u32 i = 1; i < pair->count; i++) {
        enum sameness *least = &all->c->sameness[pair->sweeps[i]];
        *least = MAX(*least, pair->c->sameness[i]);
    }
    add_time(all, point, pair);
    add_energy(all, point, pair);
    add_columns(all, point, pair);
    merge_section(all, SECTION_ORIGIN, pair, "origin");
    merge_section(all, SECTION_CONFIGURATION, pair, "configuration");
    compare_free(pair->c);
}

static bool compare_point(struct sweep_comparison *all, struct matched_point *point)
{
    struct point_pair pair = {.arena = arena_create()};
    pair.runs = arena_array(pair.arena, struct compare_run *, all->count);
    pair.sweeps = arena_array(pair.arena, u32, all->count);
    const bool ok = read_pair(all, point, &pair);
    bool paired = ok && pair.count > 1 && pair.sweeps[0] == 0;
    if (paired)
        add_pair(all, point, &pair);
    bool whole = true;
    for (u32 s = 0; s < all->count; s++)
        whole &= !strcmp(point->status[s], "done");
    if (ok && !whole) {
        struct compare_row *row =
            section_row(all->c, section_at(all, SECTION_UNPAIRED), point->name, QUANTITY_TEXT);
        for (u32 s = 0; s < all->count; s++)
            row_text(row, s, point->status[s]);
    }
    for (u32 i = 0; i < pair.count; i++)
        compare_run_free(pair.runs[i]);
    arena_destroy(pair.arena);
    return ok;
}

/* ---- means by axis ---- */

/* Whether all sweeps have a time for a point. */
static bool all_timed(const struct sweep_comparison *all, const struct matched_point *point)
{
    for (u32 s = 0; s < all->count; s++)
        if (point->seconds[s] <= 0)
            return false;
    return true;
}

static const char *label_of(const struct sweep_comparison *all, const struct matched_point *point,
                            u32 axis)
{
    const char *label =
        all->sweeps[0]->catalogue->points.data[point->points[0]].labels[all->axes[0][axis]];
    return label ? label : "-";
}

static void add_mean(struct sweep_comparison *all, u32 axis, const char *label)
{
    const char *name = all->sweeps[0]->catalogue->axes[all->axes[0][axis]];
    struct compare_row *row =
        section_row(all->c, section_at(all, SECTION_AXES),
                    arena_printf(all->arena, "%s=%s", name, label), QUANTITY_SECONDS);
    u32 count = 0;
    f64 *sums = arena_array(all->arena, f64, all->count);
    for (u32 i = 0; i < all->points.count; i++) {
        const struct matched_point *point = &all->points.data[i];
        if (!all_timed(all, point) || strcmp(label_of(all, point, axis), label) != 0)
            continue;
        count++;
        for (u32 s = 0; s < all->count; s++)
            sums[s] += log(point->seconds[s]);
    }
    for (u32 s = 0; s < all->count; s++)
        row_number(row, s, exp(sums[s] / count));
    row->detail = arena_printf(all->arena, "%u point%s", count, count > 1 ? "s" : "");
    row->weight = ratio_weight(row, all->count);
}

/* Means by value of each axis that has several, of the points for which all sweeps have a time. */
static void add_means(struct sweep_comparison *all)
{
    for (u32 axis = 0; axis < all->axis_count; axis++) {
        VEC(const char *) labels = {0};
        for (u32 i = 0; i < all->points.count; i++) {
            if (!all_timed(all, &all->points.data[i]))
                continue;
            const char *label = label_of(all, &all->points.data[i], axis);
            u32 k = 0;
            while (k < labels.count && strcmp(labels.data[k], label) != 0)
                k++;
            if (k == labels.count)
                *vec_push(&labels) = label;
        }
        for (u32 i = 0; labels.count > 1 && i < labels.count; i++)
            add_mean(all, axis, labels.data[i]);
        vec_free(&labels);
    }
}

/* ---- verdicts ---- */

/* How the times of one sweep's points compare with the first one's. */
struct sweep_tally {
    u32 paired, timed, faster, slower, alone;
    f64 logs; /* sum of the logarithms of speedups */
    f64 most; /* the speedup that is farthest from 1 */
    const char *where;
};

static struct sweep_tally tally_of(const struct sweep_comparison *all, u32 s)
{
    struct sweep_tally tally = {.most = 1};
    for (u32 i = 0; i < all->points.count; i++) {
        const struct matched_point *point = &all->points.data[i];
        const bool has[2] = {!strcmp(point->status[0], "done"), !strcmp(point->status[s], "done")};
        tally.paired += has[0] && has[1];
        tally.alone += has[0] != has[1];
        if (!has[0] || !has[1] || point->seconds[0] <= 0 || point->seconds[s] <= 0)
            continue;
        const f64 speedup = point->seconds[0] / point->seconds[s];
        const bool same = 1 - MIN(speedup, 1 / speedup) <= all->c->options.ignore;
        tally.timed++;
        tally.logs += log(speedup);
        tally.faster += !same && speedup > 1;
        tally.slower += !same && speedup < 1;
        if (fabs(log(speedup)) > fabs(log(tally.most))) {
            tally.most = speedup;
            tally.where = point->name;
        }
    }
    return tally;
}

/* "2.00 times as fast" or "1.30 times as long" */
static const char *speed_text(struct arena *arena, f64 speedup)
{
    return arena_printf(arena, "%s times as %s", ratio_text(arena, MAX(speedup, 1 / speedup)),
                        speedup >= 1 ? "fast" : "long");
}

static const char *verdict_on(const struct sweep_comparison *all, u32 s,
                              const struct sweep_tally *tally)
{
    struct arena *arena = all->arena;
    const char *from = all->sweeps[0]->label, *to = all->sweeps[s]->label;
    const char *points = tally->paired == 1 ? "point" : "points";
    if (!tally->paired)
        return arena_printf(arena, "%s and %s have no point with results in common", from, to);
    if (all->c->sameness[s] <= SAME_RESULTS)
        return arena_printf(arena, "the statistics of %s and %s are identical in %u %s", from, to,
                            tally->paired, points);
    if (!tally->timed)
        return arena_printf(arena, "%s and %s have %u %s in common, but no times to compare", from,
                            to, tally->paired, points);
    if (!tally->where)
        return arena_printf(arena,
                            "%s takes exactly as long as %s in %u %s, but other statistics differ",
                            to, from, tally->timed, points);
    const f64 mean = exp(tally->logs / tally->timed);
    return arena_printf(
        arena,
        "%s %s %s as %s, by the geometric mean of %u %s: %u faster, %u slower, %u the same; "
        "the largest difference is %s at %s",
        to, mean >= 1 ? "is" : "takes", speed_text(arena, mean), from, tally->timed, points,
        tally->faster, tally->slower, tally->timed - tally->faster - tally->slower,
        speed_text(arena, tally->most), tally->where);
}

static void add_verdicts(struct sweep_comparison *all)
{
    for (u32 s = 1; s < all->count; s++) {
        const struct sweep_tally tally = tally_of(all, s);
        const char *verdict = verdict_on(all, s, &tally);
        if (tally.alone)
            all->c->sameness[s] = SAME_NOT;
        all->c->verdicts[s] =
            tally.alone
                ? arena_printf(all->arena, "%s; %u point%s in only one of them", verdict,
                               tally.alone, tally.alone > 1 ? "s have a result" : " has a result")
                : verdict;
        all->c->speedups[s] = tally.timed ? exp(tally.logs / tally.timed) : NAN;
    }
}

/* ---- the comparison ---- */

static void add_sections(struct sweep_comparison *all)
{
    static const struct {
        const char *name, *title, *heading;
    } parts[] = {
        [SECTION_ORIGIN] = {"origin", "What was run", ""},
        [SECTION_CONFIGURATION] = {"configuration", "Configuration: parameters that differ",
                                   "parameter"},
        [SECTION_UNPAIRED] = {"unpaired", "Points without a result in all sweeps", "point"},
        [SECTION_AXES] = {"axes", "By axis: geometric means of simulated times", "axis"},
        [SECTION_TIME] = {"time", "Time by point, by relative change", "point"},
        [SECTION_ENERGY] = {"energy", "Energy by point, by relative change", "point"},
    };
    for (u32 i = 0; i < ARRAY_LEN(parts); i++)
        section_add(all->c, parts[i].name, parts[i].title, parts[i].heading)->results =
            i > SECTION_UNPAIRED;
    for (u32 k = 0; k < sweep_columns_count(all->columns); k++)
        section_add(all->c, arena_printf(all->arena, "column_%u", k + 1),
                    arena_printf(all->arena, "Column %s", sweep_columns_title(all->columns, k)),
                    "point");
}

/* What stands for a sweep in the headings of tables. */
static struct compare_run **stand_ins(struct arena *arena, struct compare_sweep *const *sweeps,
                                      u32 count)
{
    struct compare_run **runs = arena_array(arena, struct compare_run *, count);
    for (u32 s = 0; s < count; s++) {
        runs[s] = arena_new(arena, struct compare_run);
        runs[s]->label = sweeps[s]->label;
        runs[s]->place = sweeps[s]->place;
        runs[s]->points = sweeps[s]->points.count;
    }
    return runs;
}

static void finish(struct sweep_comparison *all)
{
    describe_given(all, SECTION_ORIGIN);
    describe_given(all, SECTION_CONFIGURATION);
    add_means(all);
    for (u32 i = SECTION_AXES; i < all->c->sections.count; i++)
        section_sort(section_at(all, i), 0);
    comparison_choose_rows(all->c);
    add_verdicts(all);
}

struct run_comparison *compare_sweeps(struct arena *arena, struct compare_sweep *const *sweeps,
                                      u32 count, struct compare_options options,
                                      struct error *error)
{
    struct sweep_comparison all = {
        .arena = arena, .sweeps = sweeps, .count = count, .error = error};
    all.c = comparison_start(arena, stand_ins(arena, sweeps, count), count, options);
    all.columns = sweep_columns_make(arena, sweeps, count, error);
    bool ok = all.columns && match(&all);
    if (ok)
        add_sections(&all);
    for (u32 i = 0; ok && i < all.points.count; i++)
        ok = compare_point(&all, &all.points.data[i]);
    if (ok)
        finish(&all);
    else
        compare_free(all.c);
    sweep_columns_free(all.columns);
    vec_free(&all.points);
    return ok ? all.c : NULL;
}
