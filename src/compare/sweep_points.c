/* Points of a results file: see sweep.h. */
#include "compare/sweep.h"

#include "base/text.h"
#include "lab/axis.h"
#include "lab/fields.h"
#include <stdlib.h>

static bool same_label(const char *a, const char *b)
{
    f64 first, second;
    return !strcmp(a, b) || (axis_number(a, &first) && axis_number(b, &second) && first == second);
}

/* ---- selections ---- */

/* The axis whose name and '=' begin a text; -1: none. */
static int axis_at(const struct catalogue *catalogue, const char *text)
{
    for (u32 i = 0; i < catalogue->axis_count; i++) {
        const size_t length = strlen(catalogue->axes[i]);
        if (!strncmp(text, catalogue->axes[i], length) && text[length] == '=')
            return (int)i;
    }
    return -1;
}

static const char *axes_text(struct arena *arena, const struct catalogue *catalogue)
{
    const char *text = "";
    for (u32 i = 0; i < catalogue->axis_count; i++)
        text = arena_printf(arena, "%s%s%s", text, i ? ", " : "", catalogue->axes[i]);
    return text;
}

static const char *labels_text(struct arena *arena, const struct catalogue *catalogue, u32 axis)
{
    enum {
        MOST = 12
    };
    const char *seen[MOST], *text = "";
    u32 count = 0;
    for (u32 i = 0; i < catalogue->points.count; i++) {
        const char *label = catalogue->points.data[i].labels[axis];
        u32 k = 0;
        while (label && k < count && strcmp(seen[k], label) != 0)
            k++;
        if (!label || k < count)
            continue;
        if (count == MOST)
            return arena_printf(arena, "%s, ...", text);
        seen[count++] = label;
        text = arena_printf(arena, "%s%s%s", text, *text ? ", " : "", shown_text(arena, label, 60));
    }
    return text;
}

/* Keeps the points with a value of an axis; an error: there are none. */
static bool keep(struct arena *arena, struct compare_sweep *sweep, u32 axis, const char *value,
                 struct error *error)
{
    u32 kept = 0;
    bool known = false;
    for (u32 i = 0; i < sweep->catalogue->points.count; i++) {
        const char *label = sweep->catalogue->points.data[i].labels[axis];
        known |= label && same_label(label, value);
    }
    if (!known)
        return error_set(error, ERROR_USAGE, sweep->place, "axis '%s' has no value '%s'; it has %s",
                         sweep->catalogue->axes[axis], shown_text(arena, value, 60),
                         labels_text(arena, sweep->catalogue, axis));
    for (u32 i = 0; i < sweep->points.count; i++) {
        const u32 point = sweep->points.data[i];
        const char *label = sweep->catalogue->points.data[point].labels[axis];
        if (label && same_label(label, value))
            sweep->points.data[kept++] = point;
    }
    sweep->points.count = kept;
    sweep->given[axis] = true;
    return true;
}

/* A value may contain commas: it ends where another axis begins. */
static bool choose(struct arena *arena, struct compare_sweep *sweep, const char *selection,
                   struct error *error)
{
    const struct catalogue *catalogue = sweep->catalogue;
    for (const char *at = selection; *at;) {
        const int axis = axis_at(catalogue, at);
        if (axis < 0)
            return error_set(error, ERROR_USAGE, sweep->place,
                             "'%s': expected AXIS=VALUE[,AXIS=VALUE...] after '#'; its axes are %s",
                             shown_text(arena, at, 60), axes_text(arena, catalogue));
        const char *value = at + strlen(catalogue->axes[axis]) + 1, *end = value;
        while (*end && !(*end == ',' && axis_at(catalogue, end + 1) >= 0))
            end++;
        if (!keep(arena, sweep, (u32)axis, arena_strndup(arena, value, (size_t)(end - value)),
                  error))
            return false;
        at = *end ? end + 1 : end;
    }
    return sweep->points.count || error_set(error, ERROR_USAGE, sweep->place,
                                            "no point has all the values of '%s'", selection);
}

/* ---- sweeps ---- */

struct compare_sweep *compare_sweep_open(struct arena *arena, const char *path,
                                         const char *selection, struct error *error)
{
    struct compare_sweep *sweep = arena_new(arena, struct compare_sweep);
    sweep->place = text_printable(arena, path);
    sweep->store = store_open_to_read(path, error);
    sweep->catalogue = sweep->store ? catalogue_read(sweep->store, arena, error) : NULL;
    if (sweep->catalogue) {
        sweep->given = arena_array(arena, bool, sweep->catalogue->axis_count);
        for (u32 i = 0; i < sweep->catalogue->points.count; i++)
            *vec_push(&sweep->points) = i;
        if (!selection || choose(arena, sweep, selection, error))
            return sweep;
    }
    compare_sweep_close(sweep);
    return NULL;
}

void compare_sweep_close(struct compare_sweep *sweep)
{
    if (!sweep)
        return;
    vec_free(&sweep->points);
    catalogue_free(sweep->catalogue);
    store_close(sweep->store);
}

const char *compare_point_name(struct arena *arena, const struct compare_sweep *sweep, u32 point,
                               const bool *without)
{
    const struct catalogue *catalogue = sweep->catalogue;
    const char *text = "";
    for (u32 i = 0; i < catalogue->axis_count; i++) {
        const char *label = catalogue->points.data[point].labels[i];
        if (label && !(without && without[i]))
            text = arena_printf(arena, "%s%s%s=%s", text, *text ? ", " : "", catalogue->axes[i],
                                label);
    }
    return text_printable(arena, text);
}

struct compare_run *compare_sweep_run(struct arena *arena, const struct compare_sweep *sweep,
                                      u32 point, const char **status, struct error *error)
{
    struct stored_result result;
    const char *key = sweep->catalogue->points.data[point].key;
    switch (store_find(sweep->store, key, true, arena, &result, error)) {
    case STORED_NOTHING:
        *status = "waiting";
        return NULL;
    case STORED_FAILED:
        *status = *result.message ? arena_printf(arena, "%s: %s", result.status,
                                                 text_printable(arena, result.message))
                                  : result.status;
        return NULL;
    case STORED_DONE:
        break;
    }
    *status = "done";
    return compare_run_parse(arena, sweep->label, sweep->place, result.statistics,
                             strlen(result.statistics), error);
}

/* ---- finding points by their labels ---- */

const char *match_text(struct arena *arena, const char *const *labels, const u32 *axes, u32 count)
{
    const char *text = "";
    for (u32 i = 0; i < count; i++) {
        const char *label = labels[axes[i]];
        f64 number;
        text = label && axis_number(label, &number)
                   ? arena_printf(arena, "%s%.17g\n", text, number)
                   : arena_printf(arena, "%s%s\n", text, label ? label : "");
    }
    return text;
}

static int by_text(const void *a, const void *b)
{
    const struct indexed_point *first = a, *second = b;
    const int order = strcmp(first->text, second->text);
    return order ? order : first->point < second->point ? -1 : 1;
}

struct point_index point_index_make(struct arena *arena, const struct compare_sweep *sweep,
                                    const u32 *points, u32 count, const u32 *axes, u32 axis_count)
{
    struct point_index index = {arena_array(arena, struct indexed_point, count + 1), count};
    for (u32 i = 0; i < count; i++) {
        const struct catalogue_point *point = &sweep->catalogue->points.data[points[i]];
        index.list[i] =
            (struct indexed_point){match_text(arena, point->labels, axes, axis_count), points[i]};
    }
    qsort(index.list, count, sizeof *index.list, by_text);
    return index;
}

u32 point_index_find(const struct point_index *index, const char *text)
{
    u32 low = 0, high = index->count;
    while (low < high) {
        const u32 middle = low + (high - low) / 2;
        const int order = strcmp(index->list[middle].text, text);
        if (!order)
            return index->list[middle].point;
        if (order < 0)
            low = middle + 1;
        else
            high = middle;
    }
    return NO_POINT;
}
