/* heddle mechanisms: lists mechanisms, and describes one. */
#include "cli/tables.h"

static const struct option mechanisms_options[] = {
    {"--seams", NULL, "List the seams: the hooks of the machine that mechanisms may fill.", 0, 0},
    {"--json", NULL, "Print a JSON array with one object for each mechanism or seam.", 0, 0},
    {"--markdown", NULL, "With --seams: print a Markdown page, as docs/ has it.", 0, 0},
    {0},
};

static void print_list(const json_t *rows)
{
    struct arena *arena = arena_create();
    if (!json_array_size(rows))
        printf("no mechanism is built in\n");
    for (size_t i = 0; i < json_array_size(rows); i++) {
        const json_t *row = json_array_get(rows, i);
        printf("%s\n", field_text(arena, row, "name"));
        print_wrapped(stdout, field_text(arena, row, "help"), 6);
    }
    arena_destroy(arena);
}

/* ---- seams ---- */

static void print_seams(const json_t *rows)
{
    struct arena *arena = arena_create();
    const char *group = "";
    for (size_t i = 0; i < json_array_size(rows); i++) {
        const json_t *row = json_array_get(rows, i);
        const char *own = field_text(arena, row, "group");
        if (strcmp(own, group) != 0)
            printf("%s%s\n", i ? "\n" : "", own);
        group = own;
        printf("  %s\n", field_text(arena, row, "name"));
        print_wrapped(stdout,
                      arena_printf(arena, "Called when: %s.", field_text(arena, row, "called")), 6);
        print_wrapped(stdout,
                      arena_printf(arena, "Decides: %s.", field_text(arena, row, "decides")), 6);
    }
    arena_destroy(arena);
}

static void print_seams_markdown(const json_t *rows)
{
    static const char *const fields[] = {"group", "called", "decides"};
    struct arena *arena = arena_create();
    printf(
        "# Seams\n\nGenerated from `src/core/seams.def` by `make docs`; do not edit. A seam is a "
        "member of `struct mechanism` in `src/core/hooks.h`, where its arguments are explained. "
        "[Mechanisms](mechanisms.md) is the guide to them; `heddle mechanisms --seams` prints "
        "this list.\n\n| group | seam | called when | decides |\n|---|---|---|---|\n");
    for (size_t i = 0; i < json_array_size(rows); i++) {
        const json_t *row = json_array_get(rows, i);
        for (u32 f = 0; f < ARRAY_LEN(fields); f++) {
            printf("| ");
            print_cell(field_text(arena, row, fields[f]));
            if (!f)
                printf(" | `%s`", field_text(arena, row, "name"));
            printf(" ");
        }
        printf("|\n");
    }
    arena_destroy(arena);
}

static int run_seams(const struct command *command, const struct command_line *line)
{
    if (option_word(line, 0))
        return usage_error(command, "--seams takes no name");
    if (option_value(line, "--json") && option_value(line, "--markdown"))
        return usage_error(command, "--json and --markdown cannot be combined");
    json_t *rows = parse_own_json(hd_seams_json());
    if (option_value(line, "--json"))
        print_json(stdout, rows);
    else if (option_value(line, "--markdown"))
        print_seams_markdown(rows);
    else
        print_seams(rows);
    json_decref(rows);
    return EXIT_DONE;
}

/* ---- one mechanism ---- */

typedef void print_fn(struct arena *arena, const json_t *entry);

static void print_section(struct arena *arena, const json_t *row, const char *field,
                          const char *title, print_fn *print)
{
    const json_t *list = json_object_get(row, field);
    if (!json_array_size(list))
        return;
    printf("\n%s:\n", title);
    for (size_t i = 0; i < json_array_size(list); i++)
        print(arena, json_array_get(list, i));
}

static void print_param(struct arena *arena, const json_t *entry)
{
    printf("  %s = %s\n", field_text(arena, entry, "key"), param_values(arena, entry));
    print_wrapped(stdout, field_text(arena, entry, "help"), 6);
}

static void print_stat(struct arena *arena, const json_t *entry)
{
    printf("  %s: %s\n", field_text(arena, entry, "key"), stat_values(arena, entry));
    print_wrapped(stdout, field_text(arena, entry, "help"), 6);
}

static void print_event(struct arena *arena, const json_t *entry)
{
    const char *kind = field_text(arena, entry, "kind"), *given = field_text(arena, entry, "given");
    const char *array = field_text(arena, entry, "array"), *bits = field_text(arena, entry, "bits");
    const char *text =
        arena_printf(arena, "%s: a %s of %s", field_text(arena, entry, "part"), kind, array);
    if (!strcmp(kind, "logic"))
        text = arena_printf(arena, "%s: %s pJ at %s nm", field_text(arena, entry, "part"),
                            field_text(arena, entry, "pj"), field_text(arena, entry, "nm"));
    if (bits[0])
        text = arena_printf(arena, "%s, %s bits", text, bits);
    if (given[0])
        text = arena_printf(arena, "%s, or the value of %s", text, given);
    printf("  %s\n", field_text(arena, entry, "counter"));
    print_wrapped(stdout, text, 6);
    if (!json_is_null(json_object_get(entry, "source")))
        print_wrapped(stdout, field_text(arena, entry, "source"), 6);
}

/* "82 pJ a read" or the name of the parameter that says it; nothing for what is not declared. */
static const char *cost_text(struct arena *arena, const json_t *cell, const char *field,
                             const char *unit)
{
    const json_t *given = json_object_get(json_object_get(cell, "given"), field);
    const char *text = json_is_number(json_object_get(cell, field))
                           ? arena_printf(arena, "%s %s", field_text(arena, cell, field), unit)
                           : "";
    if (json_is_string(given))
        text = arena_printf(arena, "%s%s%s", text, text[0] ? ", or the value of " : unit,
                            json_string_value(given));
    return text[0] ? arena_printf(arena, "; %s", text) : "";
}

static void print_cell_costs(struct arena *arena, const json_t *entry)
{
    printf("  %s: %s\n", field_text(arena, entry, "element"), field_text(arena, entry, "cell"));
    const char *size =
        json_is_integer(json_object_get(entry, "entries"))
            ? arena_printf(arena, ", %s entries", field_text(arena, entry, "entries"))
            : "";
    const char *text = arena_printf(arena, "at %s nm%s%s%s%s%s", field_text(arena, entry, "nm"),
                                    size, cost_text(arena, entry, "area_um2", "um2"),
                                    cost_text(arena, entry, "leakage_mw", "mW"),
                                    cost_text(arena, entry, "read_pj", "pJ per read"),
                                    cost_text(arena, entry, "write_pj", "pJ per write"));
    print_wrapped(stdout, text, 6);
    if (!json_is_null(json_object_get(entry, "source")))
        print_wrapped(stdout, field_text(arena, entry, "source"), 6);
}

static void print_replace(struct arena *arena, const json_t *entry)
{
    const json_t *by = json_object_get(entry, "by");
    printf("  %s\n", field_text(arena, entry, "element"));
    print_wrapped(stdout,
                  json_is_string(by)
                      ? arena_printf(arena, "its accesses go to %s", json_string_value(by))
                      : "the mechanism counts the accesses to what takes its place",
                  6);
}

static void print_supply(struct arena *arena, const json_t *entry)
{
    const char *volts = field_text(arena, entry, "volts"), *rate = field_text(arena, entry, "rate");
    printf("  %s:%s%s%s%s\n", field_text(arena, entry, "element"), volts[0] ? " supply " : "",
           volts, rate[0] ? " clock " : "", rate);
}

static void print_power(struct arena *arena, const json_t *entry)
{
    const char *off = field_text(arena, entry, "off");
    printf("  %s: powered for %s%s%s\n", field_text(arena, entry, "element"),
           field_text(arena, entry, "counter"), off[0] ? ", leakage without power " : "", off);
}

static void print_storage(struct arena *arena, const json_t *entry)
{
    printf("  %s.%s: %s x %s bits per %s\n", field_text(arena, entry, "unit"),
           field_text(arena, entry, "name"), field_text(arena, entry, "entries"),
           field_text(arena, entry, "bits"), field_text(arena, entry, "owner"));
    print_wrapped(stdout, field_text(arena, entry, "help"), 6);
}

static void print_sentence(struct arena *arena, const json_t *entry)
{
    print_wrapped(stdout, json_string_value(entry), 2);
}

static void print_words(const json_t *row, const char *field, const char *title)
{
    const json_t *list = json_object_get(row, field);
    if (!json_array_size(list))
        return;
    printf("\n%s:", title);
    for (size_t i = 0; i < json_array_size(list); i++)
        printf("%s %s", i ? "," : "", json_string_value(json_array_get(list, i)));
    printf("\n");
}

/* Prints an example that switches it on, with its first parameter after `on` at its default. */
static void print_example(struct arena *arena, const json_t *row, const char *name)
{
    const json_t *param = json_array_get(json_object_get(row, "params"), 1);
    const char *setting = "";
    if (param)
        setting = arena_printf(arena, ":%s=%s", strchr(field_text(arena, param, "key"), '.') + 1,
                               field_text(arena, param, "default"));
    printf("\nExample:\n  heddle run --workload hotspot --quick --mech %s%s\n", name, setting);
}

static void explain(const json_t *row, const char *name)
{
    struct arena *arena = arena_create();
    printf("%s\n", field_text(arena, row, "name"));
    print_wrapped(stdout, field_text(arena, row, "help"), 2);
    if (!json_is_null(json_object_get(row, "source"))) {
        printf("\nSource:\n");
        print_wrapped(stdout, field_text(arena, row, "source"), 2);
    }
    if (!json_is_null(json_object_get(row, "path")))
        printf("\nFile:\n  %s\n  sha256 %s\n", field_text(arena, row, "path"),
               field_text(arena, row, "sha256"));
    print_section(arena, row, "params", "Parameters", print_param);
    print_section(arena, row, "stats", "Statistics", print_stat);
    print_section(arena, row, "events", "Energy", print_event);
    print_section(arena, row, "replaces", "Replaces", print_replace);
    print_section(arena, row, "cells", "Cells", print_cell_costs);
    print_section(arena, row, "supplies", "Supplies of its own", print_supply);
    print_section(arena, row, "powers", "Leakage of what is powered", print_power);
    const char *bits = field_text(arena, row, "core_bits");
    print_section(arena, row, "storage", arena_printf(arena, "Storage, %s bits per core", bits),
                  print_storage);
    print_words(row, "seams", "Seams");
    if (json_is_true(json_object_get(row, "random")))
        printf("\nUses random numbers: results depend on --seed.\n");
    if (json_is_true(json_object_get(row, "chip")))
        printf("\nNeeds a chip: --chip FILE.db:NUMBER.\n");
    print_section(arena, row, "deviations", "Known deviations", print_sentence);
    print_words(row, "conflicts", "Cannot be combined with");
    print_example(arena, row, name);
    arena_destroy(arena);
}

/* The row of the mechanism that --mech would use for `text`: a file has only one. */
static const json_t *find_row(const json_t *rows, const char *text)
{
    size_t length = strcspn(text, ":");
    for (size_t i = 0; i < json_array_size(rows); i++) {
        const json_t *row = json_array_get(rows, i);
        const char *name = json_string_value(json_object_get(row, "name"));
        if ((strlen(name) == length && !memcmp(name, text, length)) ||
            !json_is_null(json_object_get(row, "path")))
            return row;
    }
    return NULL;
}

static int run_mechanisms(const struct command *command, const struct command_line *line)
{
    if (option_value(line, "--seams"))
        return run_seams(command, line);
    if (option_value(line, "--markdown"))
        return usage_error(command, "--markdown needs --seams");
    const char *text = option_word(line, 0);
    const bool json = option_value(line, "--json");
    struct hd_config *config = hd_config_create();
    struct hd_error error = {0};
    int code = EXIT_DONE;
    if (text && !hd_config_mechanism(config, text, &error))
        code =
            usage_error(command, "%s%s%s", error.place, error.place[0] ? ": " : "", error.message);
    json_t *rows = parse_own_json(hd_config_mechanisms(config));
    const json_t *row = text && !code ? find_row(rows, text) : NULL;
    json_t *one = row ? json_pack("[O]", row) : NULL;
    if (code == EXIT_DONE && json)
        print_json(stdout, one ? one : rows);
    else if (code == EXIT_DONE && row)
        explain(row, text);
    else if (code == EXIT_DONE)
        print_list(rows);
    json_decref(one);
    json_decref(rows);
    hd_config_destroy(config);
    return code;
}

static const struct example mechanisms_examples[] = {
    {"heddle mechanisms", "All mechanisms:"},
    {"heddle mechanisms --seams", "Where a mechanism of your own can take part:"},
    {0},
};

const struct command mechanisms_command = {
    .name = "mechanisms",
    .words = "[NAME|FILE.so[:PARAMETER=VALUE,...]|--seams] [--json]",
    .summary = "list research mechanisms, or explain one",
    .help =
        "Without a name, lists the mechanisms that 'heddle run --mech' accepts. With a name, "
        "or a mechanism's shared object, prints what it does, its source, its parameters, "
        "statistics, energy and storage (with parameters as given), the seams it uses, its "
        "deviations from the source and the mechanisms it cannot be combined with. With --seams, "
        "lists the points at which a mechanism can take part in what a machine does.",
    .options = mechanisms_options,
    .examples = mechanisms_examples,
    .max_words = 1,
    .complete = COMPLETE_MECHANISM,
    .run = run_mechanisms,
};
