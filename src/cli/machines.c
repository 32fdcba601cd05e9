/* heddle machines: lists and explains machines, compares two, shows storage. */
#include "base/text.h"
#include "cli/columns.h"
#include "cli/common.h"
#include <stdlib.h>

static const struct option machines_options[] = {
    {"--json", NULL, "Print JSON instead of text.", 0, 0},
    MECHANISM_OPTION,
    {"--set", "KEY=VALUE", "Change a parameter before explaining, as 'heddle run' does.",
     OPTION_REPEAT, COMPLETE_KEY},
    {"--diff", NULL, "Print the parameters in which two machines differ.", 0, 0},
    {"--storage", NULL,
     "Print every storage element of a machine with its size. The model holds the values of live "
     "bits, and can flip them; of the others it knows only the number.",
     0, 0},
    {0},
};

static void print_machines(const json_t *machines)
{
    struct arena *arena = arena_create();
    for (size_t i = 0; i < json_array_size(machines); i++) {
        const json_t *machine = json_array_get(machines, i);
        const char *parent = field_text(arena, machine, "parent"),
                   *error = field_text(arena, machine, "error");
        printf("%s", field_text(arena, machine, "name"));
        if (parent[0])
            printf(" (from %s)", parent);
        if (strcmp(field_text(arena, machine, "place"), "built in") != 0)
            printf(" [%s]", field_text(arena, machine, "place"));
        printf("\n");
        if (error[0])
            print_wrapped(stdout, arena_printf(arena, "cannot be used: %s", error), 6);
        else
            print_wrapped(stdout, field_text(arena, machine, "description"), 6);
    }
    arena_destroy(arena);
}

/* ---- one machine ---- */

/* "stated: table 2"; a parent's value is inherited, whatever its source. */
static const char *source_text(struct arena *arena, const json_t *value)
{
    const char *source = field_text(arena, value, "source"),
               *note = field_text(arena, value, "note");
    const char *own = arena_printf(arena, "%s%s%s", source, source[0] && note[0] ? ": " : "", note);
    if (!json_is_true(json_object_get(value, "inherited")))
        return own;
    return own[0] ? arena_printf(arena, "inherited (%s)", own) : "inherited";
}

static void print_explanation(const json_t *machine)
{
    struct arena *arena = arena_create();
    const json_t *parents = json_object_get(machine, "parents");
    printf("%s", field_text(arena, machine, "machine"));
    for (size_t i = 0; i < json_array_size(parents); i++)
        printf(" < %s", json_string_value(json_array_get(parents, i)));
    printf("\n");
    print_wrapped(stdout, field_text(arena, machine, "description"), 2);
    printf("\n%-28s %16s %-18s %-12s %s\n", "parameter", "value", "unit", "from", "source");
    const json_t *values = json_object_get(machine, "values");
    for (size_t i = 0; i < json_array_size(values); i++) {
        const json_t *value = json_array_get(values, i);
        const char *line =
            arena_printf(arena, "%-28s %16s %-18s %-12s %s", field_text(arena, value, "key"),
                         field_text(arena, value, "value"), field_text(arena, value, "unit"),
                         field_text(arena, value, "from"), source_text(arena, value));
        size_t length = strlen(line);
        while (length && line[length - 1] == ' ')
            length--;
        printf("%.*s\n", (int)length, line);
    }
    arena_destroy(arena);
}

static const char *kilobytes(struct arena *arena, f64 bits)
{
    return arena_printf(arena, "%.3f", bits / (8 * 1024));
}

static f64 number(const json_t *row, const char *name)
{
    return json_number_value(json_object_get(row, name));
}

static const char *percent(struct arena *arena, f64 part, f64 whole)
{
    return whole > 0 ? arena_printf(arena, "%.1f %%", 100 * part / whole) : "";
}

static void print_sums(struct arena *arena, struct columns *columns, const char *what,
                       const json_t *sums)
{
    f64 live = number(sums, "live_bits"), all = live + number(sums, "counted_bits");
    f64 control = number(sums, "control_bits");
    columns_row(columns,
                (const char *[]){what, kilobytes(arena, all), percent(arena, live, all),
                                 kilobytes(arena, control),
                                 percent(arena, number(sums, "live_control_bits"), control)});
}

/* Prints published storage of a core's modules beside that declared here. */
static void print_published(struct arena *arena, const json_t *published)
{
    struct columns rows = {arena, 5, {false, true, true, true}, {0}};
    columns_row(&rows, (const char *[]){"module", "Heddle bits", "published", "difference", ""});
    const json_t *modules = json_object_get(published, "modules");
    for (size_t i = 0; i < json_array_size(modules); i++) {
        const json_t *module = json_array_get(modules, i);
        f64 each = number(module, "each");
        const char *note = field_text(arena, module, "note"),
                   *times = each > 1 ? arena_printf(arena, "%.0f x %s", each,
                                                    field_text(arena, module, "bits"))
                                     : "";
        columns_row(&rows, (const char *[]){field_text(arena, module, "name"),
                                            field_text(arena, module, "our_bits"),
                                            field_text(arena, module, "their_bits"),
                                            field_text(arena, module, "difference"),
                                            arena_printf(arena, "%s%s%s", times,
                                                         times[0] && note[0] ? "; " : "", note)});
    }
    printf("\n"
           "one core compared with published values\n");
    print_wrapped(stdout, field_text(arena, published, "source"), 2);
    columns_print(&rows);
}

/* Elements whose bits can be flipped, but have not been seen to matter. */
static void print_unseen(struct arena *arena, const json_t *rows)
{
    const char *names = NULL;
    for (size_t i = 0; i < json_array_size(rows); i++) {
        const json_t *row = json_array_get(rows, i);
        if (!strcmp(field_text(arena, row, "class"), "unseen"))
            names = arena_printf(arena, "%s%s%s.%s", names ? names : "", names ? ", " : "",
                                 field_text(arena, row, "unit"), field_text(arena, row, "name"));
    }
    if (names)
        print_wrapped(
            stdout, arena_printf(arena, "no flip was seen to act, not counted as live: %s", names),
            0);
}

static void print_storage(const json_t *storage)
{
    struct arena *arena = arena_create();
    struct columns rows = {arena, 8, {false, false, true, true, true, true, true}, {0}};
    columns_row(&rows, (const char *[]){"element", "owner", "copies", "entries", "bits",
                                        "KB in total", "live", "meaning"});
    const json_t *list = json_object_get(storage, "rows");
    for (size_t i = 0; i < json_array_size(list); i++) {
        const json_t *row = json_array_get(list, i);
        const char *name = arena_printf(arena, "%s.%s", field_text(arena, row, "unit"),
                                        field_text(arena, row, "name"));
        columns_row(&rows,
                    (const char *[]){
                        name, field_text(arena, row, "owner"), field_text(arena, row, "copies"),
                        field_text(arena, row, "entries"), field_text(arena, row, "bits"),
                        kilobytes(arena, number(row, "total_bits")),
                        !strcmp(field_text(arena, row, "class"), "unseen")
                            ? "unseen"
                            : percent(arena, number(row, "live_bits"), number(row, "total_bits")),
                        field_text(arena, row, "help")});
    }
    printf("%s\n\n", field_text(arena, storage, "machine"));
    columns_print(&rows);
    struct columns sums = {arena, 5, {false, true, true, true, true}, {0}};
    columns_row(&sums, (const char *[]){"KB", "all", "live", "without data", "live"});
    const json_t *owners = json_object_get(storage, "owners");
    for (size_t i = 0; i < json_array_size(owners); i++) {
        const json_t *owner = json_array_get(owners, i);
        const char *name = field_text(arena, owner, "owner");
        bool shared = !strcmp(name, "chip"); /* exists once per chip */
        print_sums(
            arena, &sums,
            shared ? "network"
                   : arena_printf(arena, "one %s of %s", name, field_text(arena, owner, "copies")),
            owner);
    }
    print_sums(arena, &sums, "the chip", storage);
    printf("\n");
    columns_print(&sums);
    print_unseen(arena, list);
    if (json_object_get(storage, "published"))
        print_published(arena, json_object_get(storage, "published"));
    arena_destroy(arena);
}

/* ---- two machines ---- */

static void print_differences(const json_t *diff)
{
    struct arena *arena = arena_create();
    struct columns rows = {arena, 4, {false, true, true, false}, {0}};
    columns_row(&rows, (const char *[]){"parameter", field_text(arena, diff, "a"),
                                        field_text(arena, diff, "b"), "unit"});
    const json_t *values = json_object_get(diff, "values");
    for (size_t i = 0; i < json_array_size(values); i++) {
        const json_t *value = json_array_get(values, i);
        columns_row(&rows, (const char *[]){
                               field_text(arena, value, "key"), field_text(arena, value, "a"),
                               field_text(arena, value, "b"), field_text(arena, value, "unit")});
    }
    if (json_array_size(values))
        columns_print(&rows);
    else
        printf("%s and %s have the same parameters\n", field_text(arena, diff, "a"),
               field_text(arena, diff, "b"));
    vec_free(&rows.cells);
    arena_destroy(arena);
}

static int run_diff(const struct command *command, const struct command_line *line)
{
    if (!option_word(line, 1))
        return usage_error(command, "--diff needs two machines");
    struct hd_config *a = open_config(command, line, option_word(line, 0));
    struct hd_config *b = a ? open_config(command, line, option_word(line, 1)) : NULL;
    int code = b ? show_json(line, hd_config_diff(a, b), print_differences) : EXIT_USAGE;
    hd_config_destroy(a);
    hd_config_destroy(b);
    return code;
}

static int run_machines(const struct command *command, const struct command_line *line)
{
    const char *name = option_word(line, 0);
    bool diff = option_value(line, "--diff"), storage = option_value(line, "--storage");
    if (diff && storage)
        return usage_error(command, "--diff and --storage cannot be combined");
    if (diff)
        return run_diff(command, line);
    if (option_word(line, 1))
        return usage_error(command,
                           "only one machine can be explained at a time; --diff compares two");
    const char *option = storage                        ? "--storage"
                         : option_value(line, "--set")  ? "--set"
                         : option_value(line, "--mech") ? "--mech"
                                                        : NULL;
    if (!name && option)
        return usage_error(command, "%s needs the name of a machine", option);
    if (!name)
        return show_json(line, hd_machines_json(), print_machines);
    struct hd_config *config = open_checked_config(command, line, name);
    if (!config)
        return EXIT_USAGE;
    int code = storage ? show_json(line, hd_config_storage(config), print_storage)
                       : show_json(line, hd_config_explain(config), print_explanation);
    hd_config_destroy(config);
    return code;
}

static const struct example machines_examples[] = {
    {"heddle machines", "All machines:"},
    {"heddle machines generic", "One machine, value by value:"},
    {"heddle machines my-machine.yaml --json", "A machine file of your own, as JSON:"},
    {"heddle machines --diff gtx480 titanx", "How two machines differ:"},
    {"heddle machines gtx480 --storage", "What a machine stores, and where:"},
    {0},
};

const struct command machines_command = {
    .name = "machines",
    .words = "[NAME|FILE] [--storage] | --diff A B",
    .summary = "list machines, explain one value by value, or compare two",
    .help = "Without a name, lists the machines that --machine accepts: the built-in ones and "
            "those in the directories of HEDDLE_MACHINE_PATH. With a name or a YAML file, prints "
            "every value of that machine, the file of its inheritance chain that sets it, and "
            "whether it is stated by the modelled machine's source, derived from what is stated, "
            "inherited from the nearest described machine or assumed.\n"
            "\n"
            "A machine file names its parent and lists only what differs: 'parent: generic' "
            "followed by components with their values, as in 'core: {threads: 1536}'. A value may "
            "say where it comes from: '{value: 1536, source: stated, note: table 2}'. The output "
            "of 'heddle run --dump-config' is a machine file, too.",
    .options = machines_options,
    .examples = machines_examples,
    .max_words = 2,
    .complete = COMPLETE_MACHINE,
    .run = run_machines,
};
