/* heddle energy: what events cost on a machine, and what leaks. */
#include "cli/columns.h"
#include "cli/common.h"
#include <stdlib.h>

static const struct option energy_options[] = {
    {"--mech", "NAME[:PARAMETER=VALUE,...]",
     "Switch a mechanism on, as 'heddle run' would: its events are listed, too. May be given many "
     "times.",
     OPTION_REPEAT, COMPLETE_MECHANISM},
    {"--set", "KEY=VALUE",
     "Change a parameter first, as 'heddle run' would; energy.nm, energy.volts, energy.celsius and "
     "energy.table choose the technology and whose published costs are used.",
     OPTION_REPEAT, COMPLETE_KEY},
    {"--json", NULL, "Print JSON instead of text.", 0, 0},
    {"--markdown", NULL, "Print Markdown tables, as docs/ has them.", 0, 0},
    {0},
};

static f64 number(const json_t *row, const char *name)
{
    return json_number_value(json_object_get(row, name));
}

/* Where a number comes from: the source, if there is one to name. */
static const char *origin(struct arena *arena, const json_t *row)
{
    const char *source = json_string_value(json_object_get(row, "source"));
    const char *from = json_string_value(json_object_get(row, "from"));
    return source ? arena_printf(arena, "%s: %s", from, source) : from;
}

/* "write 1024 bits of collect.operands" */
static const char *what_text(struct arena *arena, const json_t *row)
{
    const char *array = json_string_value(json_object_get(row, "array"));
    if (!array)
        return "";
    return arena_printf(arena, "%s %.0f bits of %s", field_text(arena, row, "kind"),
                        number(row, "bits"), array);
}

static const char *digits(struct arena *arena, f64 value)
{
    return arena_printf(arena, "%.4g", value);
}

static void print_events(struct arena *arena, const json_t *events)
{
    struct columns table = {arena, 5, {false, false, false, true, false}, {0}};
    columns_row(&table, (const char *[]){"counter", "part", "what", "pJ", "from"});
    for (size_t i = 0; i < json_array_size(events); i++) {
        const json_t *row = json_array_get(events, i);
        columns_row(&table, (const char *[]){field_text(arena, row, "counter"),
                                             field_text(arena, row, "part"), what_text(arena, row),
                                             digits(arena, number(row, "pj")), origin(arena, row)});
    }
    columns_print(&table);
}

static void print_leakage(struct arena *arena, const json_t *leakage)
{
    struct columns table = {arena, 5, {false, false, true, true, false}, {0}};
    columns_row(&table, (const char *[]){"leaks", "part", "copies", "mW each", "from"});
    for (size_t i = 0; i < json_array_size(leakage); i++) {
        const json_t *row = json_array_get(leakage, i);
        columns_row(&table,
                    (const char *[]){field_text(arena, row, "what"), field_text(arena, row, "part"),
                                     field_text(arena, row, "copies"),
                                     digits(arena, number(row, "mw")), origin(arena, row)});
    }
    printf("\n");
    columns_print(&table);
}

/* What no event counts, in lines. */
static void print_holes(const json_t *holes)
{
    int column = 0;
    printf("\naccesses that no event counts:");
    for (size_t i = 0; i < json_array_size(holes); i++) {
        const char *name = json_string_value(json_array_get(holes, i));
        bool breaks = !i || column + (int)strlen(name) > 96;
        column = breaks ? 0 : column;
        column += printf("%s%s%s", i ? "," : "", breaks ? "\n  " : " ", name);
    }
    printf("\n");
}

static void print_text(struct arena *arena, const char *machine, const json_t *costs)
{
    const json_t *technology = json_object_get(costs, "technology");
    printf("%s, %s nm, %.2f V, %.0f degrees; published costs: %s\n\n", machine,
           field_text(arena, technology, "nm"), number(technology, "volts"),
           number(technology, "celsius"), field_text(arena, technology, "table"));
    print_events(arena, json_object_get(costs, "events"));
    print_leakage(arena, json_object_get(costs, "leakage"));
    print_holes(json_object_get(costs, "without_events"));
}

static void print_markdown(struct arena *arena, const char *machine, const json_t *costs)
{
    const json_t *technology = json_object_get(costs, "technology"), *row;
    size_t i;
    printf("# What events cost\n\nOn %s, %s nm, %.3g V, %.0f degrees, published costs: %s. "
           "`heddle energy MACHINE` prints the same\nof any machine; [energy.md](energy.md) "
           "explains it. Written by `make docs`.\n\n## Events\n\n"
           "| counter | part | what | pJ | from |\n|---|---|---|---|---|\n",
           machine, field_text(arena, technology, "nm"), number(technology, "volts"),
           number(technology, "celsius"), field_text(arena, technology, "table"));
    json_array_foreach(json_object_get(costs, "events"), i, row)
        printf("| `%s` | %s | %s | %s | %s |\n", field_text(arena, row, "counter"),
               field_text(arena, row, "part"), what_text(arena, row),
               digits(arena, number(row, "pj")), origin(arena, row));
    printf("\n## Leakage\n\n| what | part | copies | mW each | from |\n|---|---|---|---|---|\n");
    json_array_foreach(json_object_get(costs, "leakage"), i, row)
        printf("| `%s` | %s | %s | %s | %s |\n", field_text(arena, row, "what"),
               field_text(arena, row, "part"), field_text(arena, row, "copies"),
               digits(arena, number(row, "mw")), origin(arena, row));
    printf("\n## Accesses that no event counts\n\n");
    json_array_foreach(json_object_get(costs, "without_events"), i, row)
        printf("- `%s`\n", json_string_value(row));
}

static int run_energy(const struct command *command, const struct command_line *line)
{
    const char *machine = option_word(line, 0);
    struct hd_error error = {0};
    if (option_value(line, "--json") && option_value(line, "--markdown"))
        return usage_error(command, "--json and --markdown exclude each other");
    struct hd_config *config = open_config(command, line, machine);
    char *text = config ? hd_energy_json(config, &error) : NULL;
    if (!text) {
        if (config)
            report(command, &error);
        hd_config_destroy(config);
        return EXIT_USAGE;
    }
    json_t *costs = parse_own_json(text);
    struct arena *arena = arena_create();
    machine = machine ? machine : "generic";
    if (option_value(line, "--json"))
        print_json(stdout, costs);
    else if (option_value(line, "--markdown"))
        print_markdown(arena, machine, costs);
    else
        print_text(arena, machine, costs);
    arena_destroy(arena);
    json_decref(costs);
    hd_config_destroy(config);
    return EXIT_DONE;
}

static const struct example energy_examples[] = {
    {"heddle energy gtx285", "What events cost on a machine:"},
    {"heddle energy tesla16 --mech filter_cache:entries=16 --json",
     "With a mechanism, for programs:"},
    {"heddle energy gtx480 --set energy.nm=28 --set energy.volts=0.8",
     "In another technology, at another voltage:"},
    {0},
};

const struct command energy_command = {
    .name = "energy",
    .words = "[NAME|FILE] [--json|--markdown]",
    .summary = "what events cost on a machine, and what leaks",
    .help =
        "Prints what each event costs on a machine, in pJ: the counter that counts it, the part "
        "of the machine it is counted under, what it does to which element of storage, and "
        "where the number comes from; then what leaks, and elements whose accesses no event "
        "counts. 'heddle run --energy' prints what launches cost. docs/energy.md explains the "
        "method.",
    .options = energy_options,
    .examples = energy_examples,
    .max_words = 1,
    .complete = COMPLETE_MACHINE,
    .run = run_energy,
};
