/* Values, means and orderings: see table.h. */
#include "lab/table.h"

#include "lab/statistics.h"
#include <math.h>
#include <stdio.h>
#include <stdlib.h>

/* ---- statistics ---- */

static struct table_run *run_of(const struct table *table, u32 configuration, u32 row)
{
    return &table->runs[configuration * table->experiment->suite.count + row];
}

struct row_context {
    const struct table *table;
    u32 row; /* of the suite */
};

/* CONFIGURATION.STATISTIC */
static bool look_up(void *user, const char *name, f64 *value)
{
    const struct row_context *context = user;
    const struct experiment *experiment = context->table->experiment;
    size_t length = strcspn(name, ".");
    const struct configuration *found = experiment_configuration(experiment, name, length);
    const struct table_run *run =
        run_of(context->table, (u32)(found - experiment->configurations), context->row);
    return run->state == STORED_DONE && statistic_value(run->statistics, name + length + 1, value);
}

/* ---- means ---- */

/* The mean over the rows in `members`, or over all if NULL; false: there is none. */
static bool mean_of(const struct table *table, const struct table_column *column,
                    const bool *members, struct cell *mean, u32 *counted)
{
    enum mean_kind kind = column->column->mean;
    f64 sum = 0;
    *counted = 0;
    *mean = (struct cell){0};
    for (u32 i = 0; i < table->row_count; i++) {
        u32 row = table->rows[i].index;
        if ((members && !members[row]) || !column->rows[row].given)
            continue;
        f64 value = column->rows[row].value;
        f64 factor = kind == MEAN_GROWTH   ? 1 + value / 100
                     : kind == MEAN_SAVING ? 1 - value / 100
                                           : value;
        if (kind != MEAN_ARITHMETIC && factor <= 0)
            return false;
        sum += kind == MEAN_ARITHMETIC ? factor : log(factor);
        ++*counted;
    }
    if (!*counted || kind == MEAN_NONE)
        return false;
    sum /= *counted;
    f64 factor = kind == MEAN_ARITHMETIC ? sum : exp(sum);
    mean->value = kind == MEAN_GROWTH   ? 100 * (factor - 1)
                  : kind == MEAN_SAVING ? 100 * (1 - factor)
                                        : factor;
    mean->given = true;
    return true;
}

static void fill_column(const struct table *table, struct table_column *to)
{
    const struct column *column = to->column;
    for (u32 i = 0; i < table->row_count; i++) {
        u32 row = table->rows[i].index;
        struct row_context context = {table, row};
        struct cell *cell = &to->rows[row];
        to->any_rows |= column->rows[row].given;
        cell->given = formula_value(column->formula, look_up, &context, &cell->value);
        if (!cell->given)
            continue;
        if (!to->max.given || cell->value > to->max.value)
            to->max = *cell;
        if (!to->min.given || cell->value < to->min.value)
            to->min = *cell;
    }
    bool ok = mean_of(table, to, NULL, &to->mean, &to->counted);
    for (u32 group = 0; group < table->experiment->suite.group_count; group++) {
        u32 counted;
        if (table->experiment->means[group])
            mean_of(table, to, table->experiment->suite.groups[group].members, &to->groups[group],
                    &counted);
    }
    to->no_mean = !ok && to->max.given && column->mean != MEAN_NONE;
}

/* ---- orderings ---- */

struct place_context {
    const struct table *table;
    enum ordering_place place;
    u32 row; /* for ON_EACH */
};

static struct cell at_place(const struct table_column *column, enum ordering_place place, u32 row)
{
    return place == ON_MEAN  ? column->mean
           : place == ON_MAX ? column->max
           : place == ON_MIN ? column->min
                             : column->rows[row];
}

/* The cell of a name: a group's mean, a single program, or mean, max, min. */
static struct cell at_named(const struct table *table, const struct table_column *column,
                            const char *name)
{
    const struct suite *suite = &table->experiment->suite;
    int row = suite_find(suite, name);
    struct cell cell = {0};
    u32 counted;
    if (row >= 0)
        return column->rows[row];
    int group = suite_find_group(suite, name);
    if (group >= 0) {
        mean_of(table, column, suite->groups[group].members, &cell, &counted);
        return cell;
    }
    return at_place(column,
                    !strcmp(name, "mean")  ? ON_MEAN
                    : !strcmp(name, "max") ? ON_MAX
                                           : ON_MIN,
                    0);
}

static bool look_up_column(void *user, const char *name, f64 *value)
{
    const struct place_context *context = user;
    size_t length = strcspn(name, ".");
    int at = experiment_column(context->table->experiment, name, length);
    const struct table_column *column = &context->table->columns[at];
    struct cell cell = name[length] ? at_named(context->table, column, name + length + 1)
                                    : at_place(column, context->place, context->row);
    *value = cell.value;
    return cell.given;
}

static enum verdict compare(const struct table *table, const struct ordering *ordering, u32 row,
                            f64 *values)
{
    struct place_context context = {table, ordering->place, row};
    const struct comparison *comparison = ordering->comparison;
    for (u32 i = 0; i < comparison->count; i++)
        if (!formula_value(comparison->sides[i], look_up_column, &context, &values[i]))
            return VERDICT_UNKNOWN;
    return comparison_holds(comparison, values) ? VERDICT_YES : VERDICT_NO;
}

static const char *values_text(struct arena *arena, const struct comparison *comparison,
                               const f64 *values)
{
    const char *text = "";
    for (u32 i = 0; i < comparison->count; i++)
        text = arena_printf(arena, "%s%s%s%s%.2f", text, i ? " " : "",
                            i ? comparison_sign(comparison->kinds[i - 1]) : "", i ? " " : "",
                            values[i]);
    return text;
}

static void judge_each(const struct table *table, struct table_ordering *to)
{
    struct arena *arena = table->plan->arena;
    f64 values[COMPARISON_MAX_SIDES];
    u32 held = 0, known = 0;
    const char *others = "";
    for (u32 i = 0; i < table->row_count; i++) {
        u32 row = table->rows[i].index;
        if (!to->ordering->members[row])
            continue;
        enum verdict verdict = compare(table, to->ordering, row, values);
        known += verdict != VERDICT_UNKNOWN;
        held += verdict == VERDICT_YES;
        if (verdict == VERDICT_NO)
            others = arena_printf(arena, "%s%s%s (%s)", others, *others ? ", " : "; not ",
                                  table->rows[i].row->id,
                                  values_text(arena, to->ordering->comparison, values));
    }
    to->verdict = !known ? VERDICT_UNKNOWN : held == known ? VERDICT_YES : VERDICT_NO;
    to->detail = arena_printf(arena, "%u of %u workloads%s", held, known, others);
}

static void judge(const struct table *table, struct table_ordering *to)
{
    f64 values[COMPARISON_MAX_SIDES];
    if (to->ordering->place == ON_EACH) {
        judge_each(table, to);
        return;
    }
    to->verdict = compare(table, to->ordering, 0, values);
    to->detail = to->verdict == VERDICT_UNKNOWN
                     ? "a value is missing"
                     : values_text(table->plan->arena, to->ordering->comparison, values);
}

/* ---- rows ---- */

static const char *remarks_of(const struct table *table, const struct suite_row *row)
{
    const struct experiment *experiment = table->experiment;
    struct arena *arena = table->plan->arena;
    const char *text = row->remark;
    if (!suite_row_runs(row) && !*text)
        text = "the program does not exist here";
    for (u32 i = 0; i < experiment->remark_count; i++)
        if (experiment->remarks[i].id && !strcmp(experiment->remarks[i].id, row->id))
            text =
                arena_printf(arena, "%s%s%s", text, *text ? "; " : "", experiment->remarks[i].text);
    return text;
}

static void fill_row(struct table *table, u32 row)
{
    const struct experiment *experiment = table->experiment;
    struct table_row *to = &table->rows[table->row_count++];
    *to = (struct table_row){.row = &experiment->suite.rows[row],
                             .index = row,
                             .failure = "",
                             .command = "",
                             .remark = remarks_of(table, &experiment->suite.rows[row])};
    for (u32 c = 0; c < experiment->configuration_count; c++) {
        const struct table_run *run = run_of(table, c, row);
        if (run->command && !*to->command)
            to->command = run->command;
        if (run->state != STORED_FAILED)
            continue;
        table->failures++;
        if (!*to->failure)
            to->failure =
                arena_printf(table->plan->arena, "%s: %s: %s", experiment->configurations[c].name,
                             run->status, run->message);
    }
}

static bool read_run(struct table *table, struct plan *plan, struct store *store, u32 configuration,
                     u32 row, struct error *error)
{
    u64 number = plan_number(table->planned, configuration, row);
    struct table_run *run = run_of(table, configuration, row);
    struct stored_result result;
    struct point point;
    if (!plan_wants(plan, number))
        return true;
    struct arena *arena = arena_create();
    bool ok = plan_point(plan, number, arena, &point, error);
    if (ok) {
        run->state = store_find(store, point.key, true, arena, &result, error);
        run->command = arena_strdup(plan->arena, point_command(arena, &point));
        run->workload = arena_strdup(plan->arena, point.workload);
        run->arguments = arena_strdup(plan->arena, point.arguments);
        ok = error->code == ERROR_NONE;
    }
    if (ok && run->state != STORED_NOTHING) {
        run->status = arena_strdup(plan->arena, result.status);
        run->message = arena_strdup(plan->arena, result.message);
        run->statistics = json_loads(result.statistics, 0, NULL);
    }
    arena_destroy(arena);
    return ok;
}

static void fill(struct table *table)
{
    const struct experiment *experiment = table->experiment;
    struct arena *arena = table->plan->arena;
    for (u32 i = 0; i < experiment->suite.count; i++)
        if (table->planned->members[i])
            fill_row(table, i);
    for (u32 i = 0; i < experiment->column_count; i++) {
        struct table_column *column = &table->columns[i];
        column->column = &experiment->columns[i];
        column->rows = arena_array(arena, struct cell, experiment->suite.count);
        column->groups = arena_array(arena, struct cell, experiment->suite.group_count + 1);
        fill_column(table, column);
    }
    for (u32 i = 0; i < experiment->ordering_count; i++) {
        table->orderings[i].ordering = &experiment->orderings[i];
        judge(table, &table->orderings[i]);
    }
}

struct table *table_make(struct plan *plan, const struct planned *planned, struct store *store,
                         struct error *error)
{
    const struct experiment *experiment = planned->experiment;
    const u32 rows = experiment->suite.count, configurations = experiment->configuration_count;
    struct table *table = arena_new(plan->arena, struct table);
    *table = (struct table){.plan = plan, .planned = planned, .experiment = experiment};
    table->rows = arena_array(plan->arena, struct table_row, rows);
    table->runs = arena_array(plan->arena, struct table_run, (size_t)configurations * rows);
    table->columns = arena_array(plan->arena, struct table_column, experiment->column_count);
    table->orderings =
        arena_array(plan->arena, struct table_ordering, experiment->ordering_count + 1);
    bool ok = true;
    for (u32 c = 0; ok && c < configurations; c++)
        for (u32 r = 0; ok && r < rows; r++)
            ok = read_run(table, plan, store, c, r, error);
    if (ok)
        fill(table);
    for (u32 i = 0; i < configurations * rows; i++) {
        json_decref(table->runs[i].statistics);
        table->runs[i].statistics = NULL;
    }
    return ok ? table : NULL;
}

const char *cell_text(struct arena *arena, struct cell cell, u32 digits)
{
    if (!cell.given)
        return "-";
    char text[64];
    snprintf(text, sizeof text, "%.*f", (int)digits, cell.value);
    /* no minus sign before a value rounded to zero */
    return arena_strdup(arena, text[0] == '-' && strtod(text, NULL) == 0 ? text + 1 : text);
}

const char *verdict_name(enum verdict verdict)
{
    static const char *const names[] = {"yes", "no", "unknown"};
    return names[verdict];
}
