/*
 * heddle params, heddle stats: lists of parameters and statistics, from the component tables. Plain
 * text for people, JSON for programs, Markdown for docs/.
 */
#include "cli/tables.h"

#include "base/text.h"
#include <fnmatch.h>
#include <stdlib.h>

static const struct option table_options[] = {
    {"--json", NULL, "Print a JSON array with one object per entry.", 0, 0},
    {"--markdown", NULL, "Print Markdown tables, as docs/ has them.", 0, 0},
    {0},
};

/* Whether a row matches: a glob over the key, or a part of the key or the help. */
static bool matches(const json_t *row, const char *pattern)
{
    const char *key = json_string_value(json_object_get(row, "key"));
    const char *help = json_string_value(json_object_get(row, "help"));
    if (!pattern)
        return true;
    if (strpbrk(pattern, "*?["))
        return fnmatch(pattern, key, 0) == 0;
    return strcasestr(key, pattern) || strcasestr(help, pattern);
}

static json_t *select_rows(json_t *table, const char *pattern)
{
    json_t *chosen = json_array(), *row;
    size_t i;
    json_array_foreach(table, i, row)
    {
        if (matches(row, pattern))
            json_array_append(chosen, row);
    }
    return chosen;
}

static int no_match(const struct command *command, const json_t *table, const char *pattern)
{
    const char *names[4096];
    size_t count = MIN(json_array_size(table), ARRAY_LEN(names));
    for (size_t i = 0; i < count; i++)
        names[i] = json_string_value(json_object_get(json_array_get(table, i), "key"));
    const char *nearest = nearest_word(pattern, names, count);
    struct arena *arena = arena_create();
    const char *shown = text_printable(arena, pattern);
    if (nearest)
        usage_error(command, "nothing matches '%s': did you mean '%s'?", shown, nearest);
    else
        usage_error(command, "nothing matches '%s'", shown);
    arena_destroy(arena);
    return EXIT_USAGE;
}

const char *param_values(struct arena *arena, const json_t *row)
{
    const char *type = field_text(arena, row, "type"), *unit = field_text(arena, row, "unit");
    const char *initial = field_text(arena, row, "default"), *space = unit[0] ? " " : "";
    if (!strcmp(type, "bool"))
        return arena_printf(arena, "%s (true or false)", initial);
    if (!strcmp(type, "choice"))
        return arena_printf(arena, "%s (%s)", initial, field_text(arena, row, "choices"));
    if (!strcmp(type, "size"))
        return arena_printf(arena, "%s%s%s (determines %s)", initial, space, unit,
                            field_text(arena, row, "solved"));
    const char *most = "";
    if (!strcmp(type, "list"))
        most = arena_printf(arena, "up to %s values, ", field_text(arena, row, "most"));
    return arena_printf(arena, "%s%s%s (%s%s to %s)", initial, space, unit, most,
                        field_text(arena, row, "min"), field_text(arena, row, "max"));
}

const char *stat_values(struct arena *arena, const json_t *row)
{
    const char *unit = field_text(arena, row, "unit");
    if (strcmp(field_text(arena, row, "kind"), "rate") != 0)
        return unit;
    return arena_printf(arena, "%s%s%s / %s", unit, unit[0] ? ", " : "",
                        field_text(arena, row, "numerator"), field_text(arena, row, "denominator"));
}

typedef const char *describe_fn(struct arena *arena, const json_t *row);

static void print_text(const json_t *rows, const char *joint, describe_fn *describe)
{
    struct arena *arena = arena_create();
    const char *component = "";
    for (size_t i = 0; i < json_array_size(rows); i++) {
        const json_t *row = json_array_get(rows, i);
        const char *own = field_text(arena, row, "component");
        if (strcmp(own, component) != 0)
            printf("%s%s: %s\n", component[0] ? "\n" : "", own,
                   field_text(arena, row, "component_help"));
        component = own;
        printf("  %s%s%s\n", field_text(arena, row, "key"), joint, describe(arena, row));
        print_wrapped(stdout, field_text(arena, row, "help"), 6);
    }
    arena_destroy(arena);
}

void print_cell(const char *text)
{
    for (; *text; text++)
        printf(*text == '|' ? "\\|" : "%c", *text);
}

/* Prints one table per component; `columns` are pairs of field and heading. */
static void print_markdown(const char *title, const char *intro, const json_t *rows,
                           const char *const *columns)
{
    struct arena *arena = arena_create();
    const char *component = "";
    printf("# %s\n\nGenerated from the component tables by `make docs`; do not edit. %s\n", title,
           intro);
    for (size_t i = 0; i < json_array_size(rows); i++) {
        const json_t *row = json_array_get(rows, i);
        const char *own = field_text(arena, row, "component");
        if (strcmp(own, component) != 0) {
            printf("\n## %s\n\n%s\n\n|", own, field_text(arena, row, "component_help"));
            for (u32 c = 0; columns[c]; c += 2)
                printf(" %s |", columns[c + 1]);
            printf("\n|");
            for (u32 c = 0; columns[c]; c += 2)
                printf("---|");
            printf("\n");
        }
        component = own;
        printf("|");
        for (u32 c = 0; columns[c]; c += 2) {
            printf(" ");
            print_cell(field_text(arena, row, columns[c]));
            printf(" |");
        }
        printf("\n");
    }
    arena_destroy(arena);
}

struct reference_table {
    const char *title, *intro, *joint;
    describe_fn *describe;
    const char *const *columns;
};

static int show_table(const struct command *command, const struct command_line *line, char *text,
                      const struct reference_table *about)
{
    json_t *table = parse_own_json(text), *rows = select_rows(table, option_word(line, 0));
    int code = EXIT_DONE;
    if (option_value(line, "--json") && option_value(line, "--markdown"))
        code = usage_error(command, "--json and --markdown cannot be combined");
    else if (!json_array_size(rows) && option_word(line, 0))
        code = no_match(command, table, option_word(line, 0));
    else if (option_value(line, "--json"))
        print_json(stdout, rows);
    else if (option_value(line, "--markdown"))
        print_markdown(about->title, about->intro, rows, about->columns);
    else
        print_text(rows, about->joint, about->describe);
    json_decref(rows);
    json_decref(table);
    return code;
}

static int run_params(const struct command *command, const struct command_line *line)
{
    static const char *const columns[] = {
        "key", "parameter", "type",    "type", "default", "default", "min",     "min", "max",
        "max", "choices",   "choices", "unit", "unit",    "help",    "meaning", NULL};
    static const struct reference_table about = {
        "Parameters",
        "Set a parameter in a machine file or with `--set key=value`; `heddle params` prints this "
        "list.",
        " = ", param_values, columns};
    return show_table(command, line, hd_params_json(), &about);
}

static int run_stats(const struct command *command, const struct command_line *line)
{
    static const char *const columns[] = {
        "key",       "statistic",   "kind",        "kind", "unit",    "unit", "numerator",
        "numerator", "denominator", "denominator", "help", "meaning", NULL};
    static const struct reference_table about = {
        "Statistics",
        "`heddle run --stats` writes all of them for every launch; a rate is null when its "
        "denominator "
        "is 0.",
        ": ", stat_values, columns};
    return show_table(command, line, hd_stats_table_json(), &about);
}

static const struct example params_examples[] = {
    {"heddle params", "All parameters:"},
    {"heddle params 'core.*'", "The parameters of one component:"},
    {"heddle params memory --json", "All parameters related to memory, as JSON:"},
    {0},
};

const struct command params_command = {
    .name = "params",
    .words = "[PATTERN] [--json|--markdown]",
    .summary = "list the parameters of a machine",
    .help = "Lists every parameter with its default, range, unit and meaning. PATTERN is a glob "
            "over the keys (quote it) or a part of a key or of a description.\n"
            "\n"
            "A parameter is set in a machine file or, for one run, with --set key=value.",
    .options = table_options,
    .examples = params_examples,
    .max_words = 1,
    .run = run_params,
};

static const struct example stats_examples[] = {
    {"heddle stats", "All statistics:"},
    {"heddle stats divergen", "Statistics about divergence:"},
    {0},
};

const struct command stats_command = {
    .name = "stats",
    .words = "[PATTERN] [--json|--markdown]",
    .summary = "list the statistics of a run",
    .help =
        "Lists every counter and rate that 'heddle run --stats' writes, with its unit and meaning. "
        "PATTERN is a glob over the names (quote it) or a part of a name or of a description.",
    .options = table_options,
    .examples = stats_examples,
    .max_words = 1,
    .run = run_stats,
};
