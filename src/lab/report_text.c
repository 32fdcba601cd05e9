/* Results for a terminal, as CSV and as JSON: see report.h. */
#include "heddle/heddle.h"
#include "lab/report.h"

#include <stdlib.h>

/* ---- common parts ---- */

const char *report_counted(struct arena *arena, const struct table *table,
                           const struct table_column *column)
{
    if (!column->mean.given || column->counted == table->experiment->suite.count)
        return "";
    return arena_printf(arena, "%u of %u workloads", column->counted,
                        table->experiment->suite.count);
}

static const char *machine_of(const struct experiment *experiment, u32 configuration)
{
    const char *own = experiment->configurations[configuration].machine;
    return own ? own : experiment->machine;
}

const char *report_machines(struct arena *arena, const struct experiment *experiment)
{
    const char *text = "";
    for (u32 i = 0; i < experiment->configuration_count; i++) {
        const char *machine = machine_of(experiment, i);
        bool seen = false;
        for (u32 k = 0; k < i; k++)
            seen |= !strcmp(machine_of(experiment, k), machine);
        if (!seen)
            text = arena_printf(arena, "%s%s%s", text, *text ? ", " : "", machine);
    }
    return text;
}

static const char *with_settings(struct arena *arena, const char *text,
                                 const struct settings *settings)
{
    for (u32 i = 0; i < settings->count; i++)
        text =
            arena_printf(arena, "%s, %s=%s", text, settings->list[i].key, settings->list[i].value);
    return text;
}

const char *report_configuration(struct arena *arena, const struct experiment *experiment,
                                 u32 index)
{
    const struct configuration *configuration = &experiment->configurations[index];
    const char *text = machine_of(experiment, index);
    for (u32 i = 0; i < configuration->mechanisms.count; i++) {
        const struct chosen_mechanism *use = &configuration->mechanisms.list[i];
        text = arena_printf(arena, "%s, %s", text, use->name);
        for (u32 k = 0; k < use->settings.count; k++)
            text =
                arena_printf(arena, "%s%s%s=%s%s", text, k ? " " : " (", use->settings.list[k].key,
                             use->settings.list[k].value, k + 1 == use->settings.count ? ")" : "");
    }
    text = with_settings(arena, text, &experiment->settings);
    return with_settings(arena, text, &configuration->settings);
}

static struct cell theirs(struct published_number published)
{
    return (struct cell){published.value, published.given};
}

/* ---- a terminal ---- */

enum {
    ID_WIDTH = 9,
    NUMBER_WIDTH = 9
};

static void print_cells(FILE *to, struct arena *arena, const struct table_column *column,
                        struct cell published, struct cell ours)
{
    fprintf(to, " %*s %*s", NUMBER_WIDTH, cell_text(arena, published, column->column->digits),
            NUMBER_WIDTH, cell_text(arena, ours, column->column->digits));
}

static const char *heading(struct arena *arena, const struct column *column)
{
    return *column->unit ? arena_printf(arena, "%s, %s", column->name, column->unit) : column->name;
}

static void print_headings(FILE *to, struct arena *arena, const struct table *table, u32 first,
                           u32 last)
{
    fprintf(to, "%-*s", ID_WIDTH, "");
    for (u32 c = first; c < last; c++)
        fprintf(to, " %*s", 2 * NUMBER_WIDTH + 1, heading(arena, table->columns[c].column));
    fprintf(to, "\n%-*s", ID_WIDTH, "workload");
    for (u32 c = first; c < last; c++)
        fprintf(to, " %*s %*s", NUMBER_WIDTH, "published", NUMBER_WIDTH, "Heddle");
    fputc('\n', to);
}

static void print_summary(FILE *to, struct arena *arena, const struct table *table, u32 first,
                          u32 last)
{
    for (u32 group = 0; group < table->experiment->suite.group_count; group++) {
        if (!table->experiment->means[group])
            continue;
        fprintf(to, "%-*s", ID_WIDTH, table->experiment->suite.groups[group].name);
        for (u32 c = first; c < last; c++)
            print_cells(to, arena, &table->columns[c],
                        theirs(table->columns[c].column->groups[group]),
                        table->columns[c].groups[group]);
        fputc('\n', to);
    }
    fprintf(to, "%-*s", ID_WIDTH, "mean");
    for (u32 c = first; c < last; c++)
        print_cells(to, arena, &table->columns[c], theirs(table->columns[c].column->published_mean),
                    table->columns[c].mean);
    fprintf(to, "\n%-*s", ID_WIDTH, "max");
    for (u32 c = first; c < last; c++)
        print_cells(to, arena, &table->columns[c], theirs(table->columns[c].column->published_max),
                    table->columns[c].max);
    fputc('\n', to);
}

/* Prints a range of columns, as many as fit a wide terminal. */
static void print_columns(FILE *to, struct arena *arena, const struct table *table, u32 first,
                          u32 last)
{
    print_headings(to, arena, table, first, last);
    for (u32 r = 0; r < table->row_count; r++) {
        const struct table_row *row = &table->rows[r];
        fprintf(to, "%-*s", ID_WIDTH, row->row->id);
        for (u32 c = first; c < last; c++)
            print_cells(to, arena, &table->columns[c],
                        theirs(table->columns[c].column->rows[row->index]),
                        table->columns[c].rows[row->index]);
        fprintf(to, "%s\n", *row->failure ? "  failed" : "");
    }
    print_summary(to, arena, table, first, last);
    fputc('\n', to);
}

/* Prints text wrapped at 100 columns, with later lines indented. */
static void print_wrapped(FILE *to, const char *head, const char *text)
{
    u32 column = (u32)fprintf(to, "  %s", head), indent = 4;
    while (*text) {
        size_t word = strcspn(text, " ");
        if (column + word + 1 > 100 && column > indent) {
            fprintf(to, "\n%*s", (int)indent - 1, "");
            column = indent - 1;
        }
        fprintf(to, " %.*s", (int)word, text);
        column += (u32)word + 1;
        text += word;
        text += strspn(text, " ");
    }
    fputc('\n', to);
}

static void print_orderings(FILE *to, struct arena *arena, const struct table *table)
{
    if (table->experiment->ordering_count)
        fputs("orderings\n", to);
    for (u32 i = 0; i < table->experiment->ordering_count; i++) {
        const struct table_ordering *one = &table->orderings[i];
        print_wrapped(to, arena_printf(arena, "%-7s", verdict_name(one->verdict)),
                      arena_printf(arena, "%s, on %s: %s%s%s", one->ordering->text,
                                   one->ordering->on, one->detail, *one->ordering->note ? ". " : "",
                                   one->ordering->note));
    }
}

static void print_remarks(FILE *to, struct arena *arena, const struct table *table)
{
    const struct experiment *experiment = table->experiment;
    bool any = false;
    for (u32 i = 0; i < experiment->remark_count; i++)
        if (!experiment->remarks[i].id) {
            fputs(any ? "" : "remarks\n", to);
            any = true;
            print_wrapped(to, "all:", experiment->remarks[i].text);
        }
    for (u32 r = 0; r < table->row_count; r++) {
        const struct table_row *row = &table->rows[r];
        const char *head = arena_printf(arena, "%s:", row->row->id);
        if (*row->failure || *row->remark)
            fputs(any ? "" : "remarks\n", to);
        any |= *row->failure || *row->remark;
        if (*row->failure)
            print_wrapped(to, head, arena_printf(arena, "FAILED: %s", row->failure));
        if (*row->remark)
            print_wrapped(to, head, row->remark);
    }
}

void report_text(FILE *to, const struct table *table)
{
    enum {
        COLUMNS_A_PART = 5
    };
    struct arena *arena = arena_create();
    const struct experiment *experiment = table->experiment;
    fprintf(to, "%s: %s\n", experiment->name, experiment->title);
    if (*experiment->paper)
        fprintf(to, "%s%s%s\n", experiment->paper, *experiment->figure ? ", " : "",
                experiment->figure);
    fprintf(to, "machine %s; %s sizes\n\n", report_machines(arena, experiment),
            table->plan->quick ? "quick" : "full");
    for (u32 first = 0; first < experiment->column_count; first += COLUMNS_A_PART)
        print_columns(to, arena, table, first,
                      MIN(first + COLUMNS_A_PART, experiment->column_count));
    for (u32 c = 0; c < experiment->column_count; c++) {
        const struct table_column *column = &table->columns[c];
        const char *counted = report_counted(arena, table, column);
        fprintf(to, "%s: %s; %s%s%s\n", column->column->name, column->column->title,
                column->no_mean ? "no mean: a value is not positive"
                                : mean_name(column->column->mean),
                *counted ? ", " : "", counted);
    }
    print_orderings(to, arena, table);
    print_remarks(to, arena, table);
    arena_destroy(arena);
}

/* ---- CSV ---- */

void csv_text(FILE *to, const char *text)
{
    if (!text[strcspn(text, "\",\n")]) {
        fputs(text, to);
        return;
    }
    fputc('"', to);
    for (; *text; text++) {
        if (*text == '"')
            fputc('"', to);
        fputc(*text, to);
    }
    fputc('"', to);
}

static void csv_cell(FILE *to, struct cell cell)
{
    fputc(',', to);
    if (cell.given)
        fprintf(to, "%.10g", cell.value);
}

static void csv_summary(FILE *to, const struct table *table, const char *name, u32 which)
{
    fprintf(to, "%s,,", name);
    for (u32 c = 0; c < table->experiment->column_count; c++) {
        const struct table_column *column = &table->columns[c];
        csv_cell(to,
                 theirs(which ? column->column->published_max : column->column->published_mean));
        csv_cell(to, which ? column->max : column->mean);
    }
    fputs(",,\n", to);
}

static void csv_group(FILE *to, const struct table *table, u32 group)
{
    csv_text(to, table->experiment->suite.groups[group].name);
    fputs(",,", to);
    for (u32 c = 0; c < table->experiment->column_count; c++) {
        csv_cell(to, theirs(table->columns[c].column->groups[group]));
        csv_cell(to, table->columns[c].groups[group]);
    }
    fputs(",,\n", to);
}

void report_csv(FILE *to, const struct table *table)
{
    const struct experiment *experiment = table->experiment;
    fputs("workload,program,arguments", to);
    for (u32 c = 0; c < experiment->column_count; c++)
        fprintf(to, ",%s theirs,%s ours", experiment->columns[c].name, experiment->columns[c].name);
    fputs(",failure,remark\n", to);
    for (u32 r = 0; r < table->row_count; r++) {
        const struct table_row *row = &table->rows[r];
        const struct table_run *run = &table->runs[row->index];
        csv_text(to, row->row->id);
        fputc(',', to);
        csv_text(to, run->workload ? run->workload : "");
        fputc(',', to);
        csv_text(to, run->arguments ? run->arguments : "");
        for (u32 c = 0; c < experiment->column_count; c++) {
            csv_cell(to, theirs(experiment->columns[c].rows[row->index]));
            csv_cell(to, table->columns[c].rows[row->index]);
        }
        fputc(',', to);
        csv_text(to, row->failure);
        fputc(',', to);
        csv_text(to, row->remark);
        fputc('\n', to);
    }
    for (u32 group = 0; group < experiment->suite.group_count; group++)
        if (experiment->means[group])
            csv_group(to, table, group);
    csv_summary(to, table, "mean", 0);
    csv_summary(to, table, "max", 1);
}

/* ---- JSON ---- */

static json_t *cell_json(struct cell cell)
{
    return cell.given ? json_real(cell.value) : json_null();
}

static json_t *pair_json(struct published_number published, struct cell ours)
{
    json_t *pair = json_object();
    json_object_set_new(pair, "theirs", cell_json(theirs(published)));
    json_object_set_new(pair, "ours", cell_json(ours));
    return pair;
}

static json_t *groups_json(const struct table *table, const struct table_column *column)
{
    json_t *groups = json_object();
    for (u32 group = 0; group < table->experiment->suite.group_count; group++) {
        if (!table->experiment->means[group])
            continue;
        json_object_set_new(groups, table->experiment->suite.groups[group].name,
                            pair_json(column->column->groups[group], column->groups[group]));
    }
    return groups;
}

static json_t *columns_json(const struct table *table)
{
    json_t *array = json_array();
    for (u32 c = 0; c < table->experiment->column_count; c++) {
        const struct table_column *from = &table->columns[c];
        const struct column *column = from->column;
        json_t *one = json_object();
        json_object_set_new(one, "name", json_string(column->name));
        json_object_set_new(one, "title", json_string(column->title));
        json_object_set_new(one, "unit", json_string(column->unit));
        json_object_set_new(one, "formula", json_string(column->text));
        json_object_set_new(one, "digits", json_integer(column->digits));
        json_object_set_new(one, "mean_kind", json_string(mean_name(column->mean)));
        json_object_set_new(one, "mean_of", json_integer(from->counted));
        json_object_set_new(one, "mean", pair_json(column->published_mean, from->mean));
        json_t *groups = groups_json(table, from);
        if (json_object_size(groups))
            json_object_set(one, "groups", groups);
        json_decref(groups);
        json_object_set_new(one, "max", pair_json(column->published_max, from->max));
        json_object_set_new(one, "min", pair_json(column->published_min, from->min));
        json_array_append_new(array, one);
    }
    return array;
}

static json_t *rows_json(const struct table *table)
{
    json_t *array = json_array();
    for (u32 r = 0; r < table->row_count; r++) {
        const struct table_row *row = &table->rows[r];
        json_t *one = json_object(), *values = json_object();
        for (u32 c = 0; c < table->experiment->column_count; c++)
            json_object_set_new(values, table->columns[c].column->name,
                                pair_json(table->columns[c].column->rows[row->index],
                                          table->columns[c].rows[row->index]));
        json_object_set_new(one, "workload", json_string(row->row->id));
        json_object_set_new(one, "input", json_string(row->row->input));
        json_object_set_new(one, "command", json_string(row->command));
        json_object_set_new(one, "values", values);
        json_object_set_new(one, "failure", json_string(row->failure));
        json_object_set_new(one, "remark", json_string(row->remark));
        json_array_append_new(array, one);
    }
    return array;
}

static json_t *orderings_json(const struct table *table)
{
    json_t *array = json_array();
    for (u32 i = 0; i < table->experiment->ordering_count; i++) {
        const struct table_ordering *from = &table->orderings[i];
        json_t *one = json_object();
        json_object_set_new(one, "check", json_string(from->ordering->text));
        json_object_set_new(one, "on", json_string(from->ordering->on));
        json_object_set_new(one, "came_out", json_string(verdict_name(from->verdict)));
        json_object_set_new(one, "detail", json_string(from->detail));
        json_object_set_new(one, "note", json_string(from->ordering->note));
        json_array_append_new(array, one);
    }
    return array;
}

static json_t *configurations_json(const struct table *table)
{
    struct arena *arena = arena_create();
    const struct experiment *experiment = table->experiment;
    json_t *object = json_object();
    for (u32 i = 0; i < experiment->configuration_count; i++)
        json_object_set_new(object, experiment->configurations[i].name,
                            json_string(report_configuration(arena, experiment, i)));
    arena_destroy(arena);
    return object;
}

void report_json(FILE *to, const struct table *table)
{
    const struct experiment *experiment = table->experiment;
    json_t *document = json_object(), *remarks = json_array();
    for (u32 i = 0; i < experiment->remark_count; i++)
        if (!experiment->remarks[i].id)
            json_array_append_new(remarks, json_string(experiment->remarks[i].text));
    json_object_set_new(document, "schema", json_integer(1));
    json_object_set_new(document, "version", json_string(hd_version()));
    json_object_set_new(document, "build", json_string(table->plan->build));
    json_object_set_new(document, "experiment", json_string(experiment->name));
    json_object_set_new(document, "title", json_string(experiment->title));
    json_object_set_new(document, "paper", json_string(experiment->paper));
    json_object_set_new(document, "figure", json_string(experiment->figure));
    json_object_set_new(document, "sizes", json_string(table->plan->quick ? "quick" : "full"));
    json_object_set_new(document, "configurations", configurations_json(table));
    json_object_set_new(document, "columns", columns_json(table));
    json_object_set_new(document, "workloads", rows_json(table));
    json_object_set_new(document, "orderings", orderings_json(table));
    json_object_set_new(document, "remarks", remarks);
    json_object_set_new(document, "failures", json_integer(table->failures));
    json_dumpf(document, to, JSON_INDENT(2) | JSON_REAL_PRECISION(10));
    fputc('\n', to);
    json_decref(document);
}
