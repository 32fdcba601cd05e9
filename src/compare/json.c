/* A comparison as JSON: all rows, numbers unrounded. */
#include "compare/runs.h"

#include <math.h>

enum {
    COMPARISON_SCHEMA = 1
};

static const char *const units[] = {
    [QUANTITY_COUNT] = "",  [QUANTITY_CYCLES] = "cycles", [QUANTITY_SECONDS] = "s",
    [QUANTITY_PJ] = "pJ",   [QUANTITY_BYTES] = "bytes",   [QUANTITY_SHARE] = "fraction",
    [QUANTITY_NUMBER] = "", [QUANTITY_TEXT] = "text",
};

static json_t *value_json(const struct compare_row *row, const struct compare_value *value)
{
    if (!value->given)
        return json_null();
    return row->quantity == QUANTITY_TEXT ? json_string(value->text) : json_real(value->number);
}

static json_t *row_json(const struct run_comparison *c, const struct compare_row *row)
{
    json_t *object = json_object(), *values = json_array();
    for (u32 r = 0; r < c->count; r++)
        json_array_append_new(values, value_json(row, &row->values[r]));
    json_object_set_new(object, "name", json_string(row->name));
    json_object_set_new(object, "unit", json_string(units[row->quantity]));
    json_object_set_new(object, "values", values);
    json_object_set_new(object, "differs", json_boolean(row->differs));
    if (*row->detail)
        json_object_set_new(object, "detail", json_string(row->detail));
    return object;
}

static json_t *texts_json(const char *const *texts, u32 count)
{
    json_t *array = json_array();
    for (u32 i = 0; i < count; i++)
        json_array_append_new(array, json_string(texts[i]));
    return array;
}

static json_t *section_json(const struct run_comparison *c, const struct compare_section *section)
{
    json_t *object = json_object(), *rows = json_array();
    for (u32 i = 0; i < section->rows.count; i++)
        json_array_append_new(rows, row_json(c, &section->rows.data[i]));
    json_object_set_new(object, "name", json_string(section->name));
    json_object_set_new(object, "title", json_string(section->title));
    json_object_set_new(object, "rows", rows);
    json_object_set_new(object, "notes", texts_json(section->notes.data, section->notes.count));
    return object;
}

static json_t *run_json(const struct run_comparison *c, u32 r)
{
    const struct compare_run *run = c->runs[r];
    json_t *object = json_object();
    json_object_set_new(object, "label", json_string(run->label));
    json_object_set_new(object, "place", json_string(run->place));
    if (!run->points) /* the bytes of a results file say nothing about its results */
        json_object_set_new(object, "sha256", json_string(run->sha256));
    json_object_set_new(object, "cycles", run->timed ? json_real(run->cycles) : json_null());
    json_object_set_new(object, "seconds", run->timed ? json_real(run->seconds) : json_null());
    if (run->points)
        json_object_set_new(object, "points", json_integer(run->points));
    if (r) {
        json_object_set_new(object, "sameness", json_string(sameness_name(c->sameness[r])));
        json_object_set_new(object, "speedup",
                            isnan(c->speedups[r]) ? json_null() : json_real(c->speedups[r]));
        json_object_set_new(object, "verdict", json_string(c->verdicts[r]));
    }
    return object;
}

json_t *compare_json(const struct run_comparison *c)
{
    json_t *object = json_object(), *runs = json_array(), *sections = json_array();
    for (u32 r = 0; r < c->count; r++)
        json_array_append_new(runs, run_json(c, r));
    for (u32 i = 0; i < c->sections.count; i++)
        json_array_append_new(sections, section_json(c, &c->sections.data[i]));
    json_object_set_new(object, "schema", json_integer(COMPARISON_SCHEMA));
    json_object_set_new(object, "differ", json_boolean(compare_differ(c)));
    json_object_set_new(object, "ignore", json_real(c->options.ignore));
    json_object_set_new(object, "runs", runs);
    json_object_set_new(object, "notes", texts_json(c->notes.data, c->notes.count));
    json_object_set_new(object, "sections", sections);
    return object;
}
