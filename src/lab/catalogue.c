/* The points of plans in a store: see catalogue.h. */
#include "lab/catalogue.h"

#include "lab/store_database.h"

static const char plan_axis[] = "experiment";

/* ---- writing ---- */

/* The values of the baseline by axis; null: the point's own. */
static json_t *baseline_json(const struct experiment *experiment)
{
    const struct space *space = &experiment->space;
    json_t *list = json_array();
    for (u32 g = 0; g < space->group_count; g++) {
        const struct axis_group *group = &space->groups[g];
        const i64 value = experiment->baseline[g];
        for (u32 k = 0; k < group->count; k++)
            json_array_append_new(
                list, value < 0 ? json_null()
                                : json_string(space->axes[group->first + k].values[value].label));
    }
    return list;
}

static json_t *columns_json(const struct experiment *experiment)
{
    json_t *list = json_array();
    for (u32 i = 0; !experiment->tabular && i < experiment->column_count; i++) {
        const struct column *column = &experiment->columns[i];
        json_t *one = json_object();
        json_object_set_new(one, "name", json_string(column->name));
        json_object_set_new(one, "formula", json_string(column->text));
        json_object_set_new(one, "unit", json_string(column->unit ? column->unit : ""));
        json_array_append_new(list, one);
    }
    return list;
}

static char *description_of(const struct experiment *experiment)
{
    json_t *axes = json_array(), *description = json_object();
    for (u32 i = 0; i < experiment->space.axis_count; i++)
        json_array_append_new(axes, json_string(experiment->space.axes[i].name));
    json_object_set_new(description, "axes", axes);
    json_object_set_new(description, "columns", columns_json(experiment));
    if (experiment->has_baseline)
        json_object_set_new(description, "baseline", baseline_json(experiment));
    char *text = checked(json_dumps(description, JSON_COMPACT));
    json_decref(description);
    return text;
}

static bool run(struct store *store, sqlite3_stmt *statement, struct error *error)
{
    const bool ok = sqlite3_step(statement) == SQLITE_DONE ||
                    store_refuse(store, error, "a plan cannot be stored");
    sqlite3_reset(statement);
    return ok;
}

/* A statement with one or two texts. */
static bool run_once(struct store *store, const char *text, const char *first, const char *second,
                     struct error *error)
{
    sqlite3_stmt *statement = store_prepare(store, text, error);
    if (!statement)
        return false;
    store_bind(statement, 1, first);
    if (second)
        store_bind(statement, 2, second);
    const bool ok = run(store, statement, error);
    sqlite3_finalize(statement);
    return ok;
}

static bool write_points(struct store *store, const struct planned *planned,
                         const struct survey *survey, struct error *error)
{
    const struct space *space = &planned->experiment->space;
    sqlite3_stmt *statement = store_prepare(
        store, "INSERT INTO points(plan, number, key, labels) VALUES(?,?,?,?)", error);
    bool ok = statement;
    for (u64 i = 0; ok && i < space->size; i++) {
        const u32 distinct = survey->of[planned->first + i];
        u32 values[SPACE_MAX_AXES];
        char key[SHA256_TEXT];
        if (distinct == SURVEY_NONE)
            continue;
        space_values(space, i, values);
        surveyed_key(&survey->points.data[distinct], key);
        json_t *labels = json_array();
        for (u32 k = 0; k < space->axis_count; k++)
            json_array_append_new(labels, json_string(space->axes[k].values[values[k]].label));
        char *text = checked(json_dumps(labels, JSON_COMPACT));
        json_decref(labels);
        store_bind(statement, 1, planned->experiment->name);
        sqlite3_bind_int64(statement, 2, (sqlite3_int64)i);
        store_bind(statement, 3, key);
        store_bind(statement, 4, text);
        ok = run(store, statement, error);
        free(text);
    }
    sqlite3_finalize(statement);
    return ok;
}

static bool write_plan(struct store *store, const struct planned *planned,
                       const struct survey *survey, struct error *error)
{
    const char *name = planned->experiment->name;
    char *description = description_of(planned->experiment);
    const bool ok = run_once(store, "DELETE FROM points WHERE plan=?", name, NULL, error) &&
                    run_once(store, "INSERT OR REPLACE INTO plans(name, description) VALUES(?,?)",
                             name, description, error) &&
                    write_points(store, planned, survey, error);
    free(description);
    return ok;
}

bool catalogue_write(struct store *store, const struct plan *plan, const struct survey *survey,
                     bool alone, struct error *error)
{
    bool ok = store_execute(store, "BEGIN IMMEDIATE", error);
    if (!ok)
        return false;
    ok = !alone || store_execute(store, "DELETE FROM points; DELETE FROM plans", error);
    for (u32 i = 0; ok && i < plan->experiments.count; i++)
        ok = write_plan(store, &plan->experiments.data[i], survey, error);
    if (ok && store_execute(store, "COMMIT", error))
        return true;
    store_undo(store);
    return false;
}

/* ---- reading ---- */

/* A plan as it was stored. */
struct stored_plan {
    const char *name;
    json_t *description;
    u32 *axes; /* of the catalogue, by axis of the plan */
    u32 axis_count;
};
typedef VEC(struct stored_plan) plan_list;

int catalogue_axis(const struct catalogue *catalogue, const char *name)
{
    for (u32 i = 0; i < catalogue->axis_count; i++)
        if (!strcmp(catalogue->axes[i], name))
            return (int)i;
    return -1;
}

/* The catalogue's axis with this name, which is added if there is none. */
static u32 take_axis(struct catalogue *catalogue, struct arena *arena, const char *name)
{
    const int found = catalogue_axis(catalogue, name);
    if (found >= 0)
        return (u32)found;
    catalogue->axes[catalogue->axis_count] = arena_strdup(arena, name);
    return catalogue->axis_count++;
}

static const char *text_in(const json_t *object, const char *key)
{
    const char *text = json_string_value(json_object_get(object, key));
    return text ? text : "";
}

static bool read_plans(struct store *store, struct arena *arena, plan_list *plans,
                       struct error *error)
{
    sqlite3_stmt *statement =
        store_prepare(store, "SELECT name, description FROM plans ORDER BY name", error);
    bool ok = statement;
    while (ok && sqlite3_step(statement) == SQLITE_ROW) {
        struct stored_plan *plan = vec_push(plans);
        const char *name = (const char *)sqlite3_column_text(statement, 0);
        const char *text = (const char *)sqlite3_column_text(statement, 1);
        *plan = (struct stored_plan){.name = arena_strdup(arena, name ? name : ""),
                                     .description = json_loads(text ? text : "", 0, NULL)};
        plan->axis_count = (u32)json_array_size(json_object_get(plan->description, "axes"));
        if (!plan->axis_count)
            ok = error_set(error, ERROR_INPUT, store->path,
                           "the description of plan '%s' is damaged", plan->name);
    }
    sqlite3_finalize(statement);
    return ok;
}

/* Joins the axes of all plans. */
static void join_axes(struct catalogue *catalogue, struct arena *arena, plan_list *plans)
{
    u32 most = 1;
    for (u32 i = 0; i < plans->count; i++)
        most += plans->data[i].axis_count;
    catalogue->axes = arena_array(arena, const char *, most);
    if (plans->count > 1)
        take_axis(catalogue, arena, plan_axis);
    for (u32 i = 0; i < plans->count; i++) {
        struct stored_plan *plan = &plans->data[i];
        const json_t *axes = json_object_get(plan->description, "axes");
        plan->axes = arena_array(arena, u32, plan->axis_count);
        for (u32 k = 0; k < plan->axis_count; k++) {
            const char *name = json_string_value(json_array_get(axes, k));
            plan->axes[k] = take_axis(catalogue, arena, name ? name : "");
        }
    }
}

static void read_columns(struct catalogue *catalogue, struct arena *arena,
                         const struct stored_plan *plan)
{
    const json_t *columns = json_object_get(plan->description, "columns");
    const json_t *baseline = json_object_get(plan->description, "baseline");
    catalogue->columns = arena_array(arena, struct catalogue_column, json_array_size(columns) + 1);
    for (size_t i = 0; i < json_array_size(columns); i++) {
        const json_t *one = json_array_get(columns, i);
        catalogue->columns[catalogue->column_count++] = (struct catalogue_column){
            arena_strdup(arena, text_in(one, "name")), arena_strdup(arena, text_in(one, "formula")),
            arena_strdup(arena, text_in(one, "unit"))};
    }
    if (!json_is_array(baseline))
        return;
    catalogue->baseline = arena_array(arena, const char *, catalogue->axis_count);
    for (u32 k = 0; k < plan->axis_count; k++) {
        const char *label = json_string_value(json_array_get(baseline, k));
        catalogue->baseline[plan->axes[k]] = label ? arena_strdup(arena, label) : NULL;
    }
}

/* Reads the statement's current row. */
static bool read_point(struct catalogue *catalogue, struct arena *arena,
                       const struct stored_plan *plan, sqlite3_stmt *statement)
{
    const char *key = (const char *)sqlite3_column_text(statement, 0);
    const char *text = (const char *)sqlite3_column_text(statement, 1);
    json_t *labels = json_loads(text ? text : "", 0, NULL);
    const bool ok =
        key && strlen(key) == SHA256_TEXT - 1 && json_array_size(labels) == plan->axis_count;
    if (ok) {
        struct catalogue_point *point = vec_push(&catalogue->points);
        memcpy(point->key, key, sizeof point->key);
        point->labels = arena_array(arena, const char *, catalogue->axis_count);
        point->labels[0] = plan->name; /* replaced below if the plan is the only one */
        for (u32 i = 0; i < plan->axis_count; i++) {
            const char *label = json_string_value(json_array_get(labels, i));
            point->labels[plan->axes[i]] = arena_strdup(arena, label ? label : "");
        }
    }
    json_decref(labels);
    return ok;
}

static bool read_points(struct catalogue *catalogue, struct store *store, struct arena *arena,
                        const struct stored_plan *plan, struct error *error)
{
    sqlite3_stmt *statement =
        store_prepare(store, "SELECT key, labels FROM points WHERE plan=? ORDER BY number", error);
    bool ok = statement;
    if (ok)
        store_bind(statement, 1, plan->name);
    while (ok && sqlite3_step(statement) == SQLITE_ROW)
        ok = read_point(catalogue, arena, plan, statement) ||
             error_set(error, ERROR_INPUT, store->path, "the points of plan '%s' are damaged",
                       plan->name);
    sqlite3_finalize(statement);
    return ok;
}

struct catalogue *catalogue_read(struct store *store, struct arena *arena, struct error *error)
{
    struct catalogue *catalogue = arena_new(arena, struct catalogue);
    plan_list plans = {0};
    bool ok = store_schema(store) >= SCHEMA_PLANS ? read_plans(store, arena, &plans, error) : true;
    if (ok && !plans.count)
        ok = error_set(
            error, ERROR_INPUT, store->path,
            "this results file does not say which points it has: an earlier version of "
            "Heddle wrote it, or nothing has run yet; running its sweep once more adds it");
    if (ok)
        join_axes(catalogue, arena, &plans);
    if (ok && plans.count == 1)
        read_columns(catalogue, arena, &plans.data[0]);
    for (u32 i = 0; ok && i < plans.count; i++)
        ok = read_points(catalogue, store, arena, &plans.data[i], error);
    for (u32 i = 0; i < plans.count; i++)
        json_decref(plans.data[i].description);
    vec_free(&plans);
    if (ok)
        return catalogue;
    catalogue_free(catalogue);
    return NULL;
}

void catalogue_free(struct catalogue *catalogue)
{
    if (catalogue)
        vec_free(&catalogue->points);
}
