/* Results of a sweep: see sheet.h. */
#include "lab/sheet.h"

#include "lab/statistics.h"
#include "lab/student.h"
#include <math.h>
#include <stdlib.h>

static const char baseline_prefix[] = "baseline.";

/* ---- columns ---- */

/* Columns of a plan that has none of its own. */
static const struct {
    const char *name, *formula, *unit;
    enum {
        OF_RUNS,
        OF_BASELINE, /* of runs, and if there is a baseline */
        OF_FAULTS
    } kind;
} usual[] = {
    {"cycles", "timing.cycles", "cycles", OF_RUNS},
    {"ipc", "timing.ipc_thread", "thread instructions/cycle", OF_RUNS},
    {"energy", "energy.total_pj / 1000000", "uJ", OF_RUNS},
    {"speedup", "baseline.timing.cycles / timing.cycles", "", OF_BASELINE},
    {"failures", "100 * faults.failures.share", "%", OF_FAULTS},
    {"low", "100 * faults.failures.low", "%", OF_FAULTS},
    {"high", "100 * faults.failures.high", "%", OF_FAULTS},
    {"sdc", "100 * faults.outcomes.sdc.share", "%", OF_FAULTS},
    {"due", "100 * faults.outcomes.due.share", "%", OF_FAULTS},
    {"hang", "100 * faults.outcomes.hang.share", "%", OF_FAULTS},
};

/* "energy, uJ"; a name that ends with its unit, such as "timing.cycles", says it already. */
static const char *heading_of(struct arena *arena, const char *name, const char *unit)
{
    const size_t all = strlen(name), end = strlen(unit);
    const bool said = !end || (end <= all && !strcmp(name + all - end, unit));
    return said ? name : arena_printf(arena, "%s, %s", name, unit);
}

static void add_column(struct sheet *sheet, const char *name, const char *unit, const char *text,
                       const struct formula *formula)
{
    sheet->columns[sheet->column_count++] =
        (struct sheet_column){name, unit, text, formula, heading_of(sheet->arena, name, unit)};
}

static void add_formula(struct sheet *sheet, const char *name, const char *text, const char *unit)
{
    struct error error = {0};
    add_column(sheet, name, unit, text,
               formula_parse(sheet->arena, text, (struct text_place){"", 0, 0}, &error));
}

/* The unit of a statistic, or "". */
static const char *unit_of(struct sheet *sheet, const json_t *table, const char *key)
{
    for (size_t i = 0; i < json_array_size(table); i++) {
        const json_t *row = json_array_get(table, i);
        const char *unit = json_string_value(json_object_get(row, "unit"));
        if (unit && !strcmp(json_string_value(json_object_get(row, "key")), key))
            return arena_strdup(sheet->arena, unit);
    }
    return "";
}

static bool choose_columns(struct sheet *sheet, bool all, struct error *error)
{
    const struct experiment *experiment = sheet->experiment;
    json_t *table = plan_statistics(experiment, error);
    if (!table)
        return false;
    size_t count = MAX(all ? json_array_size(table) : 0, ARRAY_LEN(usual));
    sheet->columns = arena_array(sheet->arena, struct sheet_column,
                                 MAX(count, experiment->column_count) + ARRAY_LEN(usual));
    const bool own = !experiment->tabular && experiment->column_count;
    const bool injects = plan_injects(experiment);
    for (u32 i = 0; own && !all && i < experiment->column_count; i++) {
        const struct column *column = &experiment->columns[i];
        const char *unit = column->unit ? column->unit : unit_of(sheet, table, column->text);
        add_column(sheet, column->name, unit, column->text, column->formula);
    }
    for (u32 i = 0; !own && !all && i < ARRAY_LEN(usual); i++)
        if ((usual[i].kind == OF_FAULTS) == injects &&
            (usual[i].kind != OF_BASELINE || experiment->has_baseline))
            add_formula(sheet, usual[i].name, usual[i].formula, usual[i].unit);
    for (size_t i = 0; all && i < json_array_size(table); i++) {
        const json_t *row = json_array_get(table, i);
        const char *key =
            arena_strdup(sheet->arena, json_string_value(json_object_get(row, "key")));
        add_formula(sheet, key, key, unit_of(sheet, table, key));
    }
    json_decref(table);
    return true;
}

/* ---- statistics ---- */

/* The statistics that columns need, by name, for every row. */
struct gathered {
    struct sheet *sheet;
    VEC(const char *) names;
    f64 *values; /* [row * names + name]; NaN: missing */
};

static const char *bare(const char *name)
{
    size_t length = sizeof baseline_prefix - 1;
    return strncmp(name, baseline_prefix, length) ? name : name + length;
}

static u32 name_index(const struct gathered *gathered, const char *name)
{
    u32 i = 0;
    while (i < gathered->names.count && strcmp(gathered->names.data[i], bare(name)) != 0)
        i++;
    return i;
}

static bool note_name(void *user, const char *name, struct text_place place)
{
    struct gathered *gathered = user;
    if (name_index(gathered, name) == gathered->names.count)
        *vec_push(&gathered->names) = bare(name);
    return true;
}

/* Reads the result of a row. */
static bool gather_row(struct gathered *gathered, struct store *store, u32 index,
                       struct error *error)
{
    struct sheet *sheet = gathered->sheet;
    struct sheet_row *row = &sheet->rows.data[index];
    struct arena *arena = arena_create();
    struct stored_result result;
    enum stored_state state = store_find(store, row->key, true, arena, &result, error);
    row->status = state == STORED_NOTHING ? "waiting" : arena_strdup(sheet->arena, result.status);
    row->message = state == STORED_FAILED ? arena_strdup(sheet->arena, result.message) : "";
    sheet->waiting += state == STORED_NOTHING;
    sheet->failed += state == STORED_FAILED;
    statistics_values(state == STORED_DONE ? result.statistics : NULL, gathered->names.data,
                      gathered->names.count,
                      gathered->values + (size_t)index * gathered->names.count);
    arena_destroy(arena);
    return error->code == ERROR_NONE;
}

struct row_lookup {
    const struct gathered *gathered;
    u32 row, base; /* base: row of the baseline; UINT32_MAX: there is none */
};

static bool look_up(void *user, const char *name, f64 *value)
{
    const struct row_lookup *lookup = user;
    const struct gathered *gathered = lookup->gathered;
    u32 row = bare(name) == name ? lookup->row : lookup->base;
    if (row == UINT32_MAX)
        return false;
    *value = gathered->values[(size_t)row * gathered->names.count + name_index(gathered, name)];
    return !isnan(*value);
}

/* The row of the baseline of a row. */
static u32 base_of(const struct sheet *sheet, u32 row)
{
    const struct experiment *experiment = sheet->experiment;
    u32 values[SPACE_MAX_AXES];
    if (!experiment->has_baseline)
        return UINT32_MAX;
    space_values(sheet->space, sheet->rows.data[row].point, values);
    for (u32 i = 0; i < sheet->space->group_count; i++) /* zipped axes follow their first */
        if (experiment->baseline[i] >= 0)
            values[sheet->space->groups[i].first] = (u32)experiment->baseline[i];
    return sheet->at[space_point(sheet->space, values)];
}

static void compute(struct sheet *sheet, const struct gathered *gathered)
{
    sheet->values =
        checked(calloc((size_t)sheet->rows.count * sheet->column_count + 1, sizeof(f64)));
    for (u32 r = 0; r < sheet->rows.count; r++) {
        struct row_lookup lookup = {gathered, r, base_of(sheet, r)};
        for (u32 c = 0; c < sheet->column_count; c++) {
            f64 *value = &sheet->values[(size_t)r * sheet->column_count + c];
            if (!formula_value(sheet->columns[c].formula, look_up, &lookup, value))
                *value = NAN;
        }
    }
}

/* ---- rows ---- */

static void make_rows(struct sheet *sheet, const struct survey *survey)
{
    sheet->at = checked(malloc((sheet->space->size + 1) * sizeof *sheet->at));
    for (u64 i = 0; i < sheet->space->size; i++) {
        u32 distinct = survey->of[sheet->planned->first + i];
        sheet->at[i] = UINT32_MAX;
        if (distinct == SURVEY_NONE)
            continue;
        struct sheet_row *row = vec_push(&sheet->rows);
        row->point = (u32)i;
        surveyed_key(&survey->points.data[distinct], row->key);
        sheet->at[i] = sheet->rows.count - 1;
    }
}

struct sheet *sheet_make(struct plan *plan, const struct survey *survey, struct store *store,
                         bool all, struct error *error)
{
    struct sheet *sheet = checked(calloc(1, sizeof *sheet));
    struct gathered gathered = {.sheet = sheet};
    sheet->arena = arena_create();
    sheet->plan = plan;
    sheet->planned = &plan->experiments.data[0];
    sheet->experiment = sheet->planned->experiment;
    sheet->space = &sheet->experiment->space;
    bool ok = choose_columns(sheet, all, error);
    for (u32 i = 0; i < sheet->column_count; i++)
        formula_names(sheet->columns[i].formula, note_name, &gathered);
    make_rows(sheet, survey);
    gathered.values =
        checked(calloc((size_t)sheet->rows.count * gathered.names.count + 1, sizeof(f64)));
    for (u32 i = 0; ok && i < sheet->rows.count; i++)
        ok = gather_row(&gathered, store, i, error);
    if (ok)
        compute(sheet, &gathered);
    vec_free(&gathered.names);
    free(gathered.values);
    if (ok)
        return sheet;
    sheet_destroy(sheet);
    return NULL;
}

void sheet_destroy(struct sheet *sheet)
{
    if (!sheet)
        return;
    vec_free(&sheet->rows);
    free(sheet->values);
    free(sheet->at);
    arena_destroy(sheet->arena);
    free(sheet);
}

f64 sheet_value(const struct sheet *sheet, u32 row, u32 column)
{
    return sheet->values[(size_t)row * sheet->column_count + column];
}

/* ---- means ---- */

bool sheet_repeats(const struct sheet *sheet)
{
    for (u32 i = 0; i < sheet->space->axis_count; i++)
        if (sheet->space->axes[i].kind->repeats && sheet->space->axes[i].count > 1)
            return true;
    return false;
}

/* The group of axes that repeats points, or -1. */
static int repeating_group(const struct space *space)
{
    int group = -1;
    for (u32 i = 0; i < space->group_count; i++)
        if (space->groups[i].count == 1 && space->axes[space->groups[i].first].kind->repeats &&
            (group < 0 || space->groups[i].length > 1))
            group = (int)i;
    return group;
}

/* The row of another sample of a row. */
static u32 sample_of(const struct sheet *sheet, u32 row, u32 group, u32 sample)
{
    u32 values[SPACE_MAX_AXES];
    space_values(sheet->space, sheet->rows.data[row].point, values);
    values[sheet->space->groups[group].first] = sample;
    return sheet->at[space_point(sheet->space, values)];
}

bool sheet_leads(const struct sheet *sheet, u32 row)
{
    int group = repeating_group(sheet->space);
    u32 values[SPACE_MAX_AXES];
    if (group < 0)
        return true;
    space_values(sheet->space, sheet->rows.data[row].point, values);
    for (u32 i = 0; i < values[sheet->space->groups[group].first]; i++)
        if (sample_of(sheet, row, (u32)group, i) != UINT32_MAX)
            return false;
    return true;
}

struct sheet_mean sheet_mean(const struct sheet *sheet, u32 row, u32 column)
{
    int group = repeating_group(sheet->space);
    u32 count = group < 0 ? 1 : sheet->space->groups[group].length;
    struct sheet_mean mean = {0};
    f64 sum = 0, squares = 0;
    for (u32 pass = 0; pass < 2; pass++)
        for (u32 i = 0; i < count; i++) {
            u32 at = group < 0 ? row : sample_of(sheet, row, (u32)group, i);
            f64 value = at == UINT32_MAX ? NAN : sheet_value(sheet, at, column);
            if (isnan(value))
                continue;
            if (pass) {
                squares += (value - mean.value) * (value - mean.value);
            } else {
                sum += value;
                mean.samples++;
                mean.value = sum / mean.samples;
            }
        }
    if (!mean.samples)
        mean.value = NAN;
    if (mean.samples > 1)
        mean.interval = half_interval(squares, mean.samples);
    return mean;
}
