/* Columns of sweeps: see sweep_columns.h. */
#include "compare/sweep_columns.h"

#include "lab/formula.h"
#include "lab/statistics.h"
#include <math.h>
#include <stdlib.h>

static const char baseline_prefix[] = "baseline.";

/* What is known of the points of one sweep. */
struct noted_points {
    f64 *values;              /* [point * names + name]; NaN: missing */
    bool *noted;              /* by point */
    struct point_index index; /* of all points, if there is a baseline */
    u32 *axes;                /* all of them, for the index */
};

struct sweep_columns {
    struct arena *arena;
    struct compare_sweep *const *sweeps;
    u32 count;
    struct formula **formulas;
    u32 column_count;
    VEC(const char *) names; /* statistics that formulas use */
    struct noted_points *noted;
};

static const char *bare(const char *name)
{
    const size_t length = sizeof baseline_prefix - 1;
    return strncmp(name, baseline_prefix, length) ? name : name + length;
}

static u32 name_index(const struct sweep_columns *columns, const char *name)
{
    u32 i = 0;
    while (i < columns->names.count && strcmp(columns->names.data[i], bare(name)) != 0)
        i++;
    return i;
}

static bool add_name(void *user, const char *name, struct text_place place)
{
    struct sweep_columns *columns = user;
    if (name_index(columns, name) == columns->names.count)
        *vec_push(&columns->names) = bare(name);
    return true;
}

/* Prepares a sweep, once the names are known. */
static void prepare(struct sweep_columns *columns, u32 s)
{
    const struct catalogue *catalogue = columns->sweeps[s]->catalogue;
    struct noted_points *noted = &columns->noted[s];
    const u32 count = catalogue->points.count;
    noted->values = checked(calloc((size_t)count * columns->names.count + 1, sizeof(f64)));
    noted->noted = checked(calloc(count + 1, sizeof(bool)));
    if (!catalogue->baseline)
        return;
    u32 *points = checked(calloc(count + 1, sizeof *points));
    for (u32 i = 0; i < count; i++)
        points[i] = i;
    noted->axes = arena_array(columns->arena, u32, catalogue->axis_count);
    for (u32 i = 0; i < catalogue->axis_count; i++)
        noted->axes[i] = i;
    noted->index = point_index_make(columns->arena, columns->sweeps[s], points, count, noted->axes,
                                    catalogue->axis_count);
    free(points);
}

struct sweep_columns *sweep_columns_make(struct arena *arena, struct compare_sweep *const *sweeps,
                                         u32 count, struct error *error)
{
    const struct catalogue *catalogue = sweeps[0]->catalogue;
    struct sweep_columns *columns = arena_new(arena, struct sweep_columns);
    *columns = (struct sweep_columns){.arena = arena, .sweeps = sweeps, .count = count};
    columns->noted = arena_array(arena, struct noted_points, count);
    columns->formulas = arena_array(arena, struct formula *, catalogue->column_count + 1);
    for (u32 i = 0; i < catalogue->column_count; i++) {
        const char *text = catalogue->columns[i].formula;
        const struct text_place place = {sweeps[0]->place, 0, 0};
        columns->formulas[i] = formula_parse(arena, text, place, error);
        if (!columns->formulas[i]) {
            sweep_columns_free(columns);
            return NULL;
        }
        formula_names(columns->formulas[i], add_name, columns);
        columns->column_count++;
    }
    for (u32 s = 0; columns->column_count && s < count; s++)
        prepare(columns, s);
    return columns;
}

void sweep_columns_free(struct sweep_columns *columns)
{
    if (!columns)
        return;
    for (u32 s = 0; s < columns->count; s++) {
        free(columns->noted[s].values);
        free(columns->noted[s].noted);
    }
    vec_free(&columns->names);
}

u32 sweep_columns_count(const struct sweep_columns *columns)
{
    return columns->column_count;
}

const char *sweep_columns_title(const struct sweep_columns *columns, u32 column)
{
    const struct catalogue_column *one = &columns->sweeps[0]->catalogue->columns[column];
    return *one->unit ? arena_printf(columns->arena, "%s, %s", one->name, one->unit) : one->name;
}

void sweep_columns_note(struct sweep_columns *columns, u32 sweep, u32 point,
                        const json_t *statistics)
{
    if (!columns->column_count)
        return;
    struct noted_points *noted = &columns->noted[sweep];
    f64 *values = noted->values + (size_t)point * columns->names.count;
    for (u32 i = 0; i < columns->names.count; i++)
        if (!statistics || !statistic_value(statistics, columns->names.data[i], &values[i]))
            values[i] = NAN;
    noted->noted[point] = true;
}

/* The baseline of a point in its sweep, or NO_POINT. */
static u32 baseline_of(struct sweep_columns *columns, u32 s, u32 point)
{
    const struct catalogue *catalogue = columns->sweeps[s]->catalogue;
    const struct noted_points *noted = &columns->noted[s];
    if (!catalogue->baseline)
        return NO_POINT;
    struct arena *arena = arena_create();
    const char **labels = arena_array(arena, const char *, catalogue->axis_count);
    for (u32 i = 0; i < catalogue->axis_count; i++)
        labels[i] = catalogue->baseline[i] ? catalogue->baseline[i]
                                           : catalogue->points.data[point].labels[i];
    const u32 found = point_index_find(
        &noted->index, match_text(arena, labels, noted->axes, catalogue->axis_count));
    struct stored_result result;
    struct error ignored = {0};
    if (found != NO_POINT && !noted->noted[found]) {
        const bool done = store_find(columns->sweeps[s]->store, catalogue->points.data[found].key,
                                     true, arena, &result, &ignored) == STORED_DONE;
        json_t *statistics = done ? json_loads(result.statistics, 0, NULL) : NULL;
        sweep_columns_note(columns, s, found, statistics);
        json_decref(statistics);
    }
    arena_destroy(arena);
    return found;
}

struct column_lookup {
    struct sweep_columns *columns;
    u32 sweep, point;
};

static bool look_up(void *user, const char *name, f64 *value)
{
    const struct column_lookup *lookup = user;
    struct sweep_columns *columns = lookup->columns;
    const u32 point =
        bare(name) == name ? lookup->point : baseline_of(columns, lookup->sweep, lookup->point);
    if (point == NO_POINT)
        return false;
    *value = columns->noted[lookup->sweep]
                 .values[(size_t)point * columns->names.count + name_index(columns, name)];
    return !isnan(*value);
}

bool sweep_columns_value(struct sweep_columns *columns, u32 column, u32 sweep, u32 point,
                         f64 *value)
{
    struct column_lookup lookup = {columns, sweep, point};
    return formula_value(columns->formulas[column], look_up, &lookup, value);
}
