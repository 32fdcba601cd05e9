/* heddle area: the chip area of a machine, and what mechanisms add to it. */
#include "cli/columns.h"
#include "cli/common.h"
#include "cli/energy.h"
#include <stdlib.h>

static const struct option area_options[] = {
    {"--mech", "NAME|FILE.so[:PARAMETER=VALUE,...]",
     "Switch a mechanism on, as 'heddle run' does: its elements are listed, and what it adds to "
     "the front end, the core and the chip. May be repeated.",
     OPTION_REPEAT, COMPLETE_MECHANISM},
    {"--set", "KEY=VALUE",
     "Change a parameter first, as 'heddle run' does; energy.nm, energy.volts, energy.celsius and "
     "energy.table choose the technology and whose published costs are used.",
     OPTION_REPEAT, COMPLETE_KEY},
    {"--residuals", NULL,
     "Print the array model's value beside every published one, and the difference in percent.", 0,
     0},
    {"--stats", "FILE",
     "Write the same as JSON, as experiments read it: elements, owners and mechanisms by name.", 0,
     COMPLETE_FILE},
    {"--json", NULL, "Print JSON instead of text.", 0, 0},
    {0},
};

static f64 number(const json_t *row, const char *name)
{
    return json_number_value(json_object_get(row, name));
}

/* Four digits, or nothing for a missing value. */
static const char *digits(struct arena *arena, f64 value)
{
    if (value == 0)
        return "";
    return arena_printf(arena, value >= 1000 ? "%.0f" : value >= 10 ? "%.1f" : "%.3f", value);
}

static const char *percent(struct arena *arena, f64 value)
{
    return arena_printf(arena, value != 0 && value < 0.1 ? "%.4f" : "%.2f", value);
}

/* ---- elements ---- */

/* Where the costs of a row come from, and what mechanisms change. */
static const char *source_text(struct arena *arena, const json_t *row)
{
    const char *source = field_text(arena, row, "source"), *change = change_text(arena, row);
    return change[0] && !json_object_get(row, "replaced_by")
               ? arena_printf(arena, "%s; %s", source, change)
               : source;
}

static void print_rows(struct arena *arena, const json_t *rows)
{
    struct columns table = {
        arena,
        13,
        {false, false, true, false, true, true, true, true, true, true, true, true, false},
        {0}};
    columns_row(&table,
                (const char *[]){"element", "owner", "copies", "kind", "bits", "um2", "mW",
                                 "read pJ", "write pJ", "ps", "% owner", "% chip", "source"});
    for (size_t i = 0; i < json_array_size(rows); i++) {
        const json_t *row = json_array_get(rows, i);
        f64 search = number(row, "search_pj");
        columns_row(
            &table,
            (const char *[]){
                arena_printf(arena, "%s.%s", field_text(arena, row, "unit"),
                             field_text(arena, row, "name")),
                field_text(arena, row, "owner"), field_text(arena, row, "copies"),
                field_text(arena, row, "kind"),
                arena_printf(arena, "%.0f", number(row, "entries") * number(row, "bits")),
                digits(arena, number(row, "area_um2")), digits(arena, number(row, "leakage_mw")),
                digits(arena, search > 0 ? search : number(row, "read_pj")),
                digits(arena, number(row, "write_pj")), digits(arena, number(row, "delay_ps")),
                percent(arena, number(row, "owner_percent")),
                percent(arena, number(row, "chip_percent")), source_text(arena, row)});
    }
    columns_print(&table);
}

/* ---- sums ---- */

static void sum_row(struct arena *arena, struct columns *table, const char *what,
                    const json_t *sums, f64 copies, const json_t *chip)
{
    f64 area = number(sums, "area_um2"), leakage = number(sums, "leakage_mw");
    columns_row(table,
                (const char *[]){
                    what, arena_printf(arena, "%.3f", number(sums, "bits") / 8192),
                    arena_printf(arena, "%.4f", area / 1e6), arena_printf(arena, "%.2f", leakage),
                    percent(arena, 100 * copies * area / number(chip, "area_um2")),
                    percent(arena, 100 * copies * leakage / number(chip, "leakage_mw"))});
}

static const char *said(struct arena *arena, const json_t *module, const char *name)
{
    f64 value = number(module, name);
    return value > 0 ? arena_printf(arena, "%.2f", value) : "";
}

/* Prints published values of a core's modules. Published power is that of a run; here only leakage
 * is known. */
static void print_published(struct arena *arena, const json_t *published)
{
    struct columns rows = {arena, 6, {false, true, true, true, true, false}, {0}};
    columns_row(&rows, (const char *[]){"one core", "Heddle mm2", "published", "Heddle mW leakage",
                                        "published mW in use", ""});
    const json_t *modules = json_object_get(published, "modules");
    for (size_t i = 0; i < json_array_size(modules); i++) {
        const json_t *module = json_array_get(modules, i);
        columns_row(&rows, (const char *[]){
                               field_text(arena, module, "name"), said(arena, module, "our_mm2"),
                               said(arena, module, "mm2"), said(arena, module, "our_leakage_mw"),
                               said(arena, module, "mw"), field_text(arena, module, "note")});
    }
    printf("\n"
           "compared with published values\n");
    print_wrapped(stdout, field_text(arena, published, "source"), 2);
    columns_print(&rows);
}

static void print_sums(struct arena *arena, const json_t *area)
{
    const json_t *owners = json_object_get(area, "owners"), *chip = json_object_get(area, "chip");
    struct columns table = {arena, 6, {false, true, true, true, true, true}, {0}};
    columns_row(&table, (const char *[]){"", "KB", "mm2", "mW", "% area", "% leakage"});
    for (size_t i = 0; i < json_array_size(owners); i++) {
        const json_t *owner = json_array_get(owners, i);
        const char *name = field_text(arena, owner, "owner");
        f64 copies = number(owner, "copies");
        const char *what =
            !strcmp(name, "chip") ? "network" : arena_printf(arena, "one %s of %.0f", name, copies);
        sum_row(arena, &table, what, owner, copies, chip);
        if (!strcmp(name, "core"))
            sum_row(arena, &table, "  its front end", json_object_get(area, "front_end"), copies,
                    chip);
    }
    sum_row(arena, &table, "the chip", chip, 1, chip);
    printf("\n");
    columns_print(&table);
}

static void print_mechanisms(struct arena *arena, const json_t *mechanisms)
{
    static const struct {
        const char *key, *what;
    } parts[] = {{"front_end_storage", "storage of the front end"},
                 {"front_end", "the front end"},
                 {"core", "a core"},
                 {"chip", "the chip"}};
    for (size_t i = 0; i < json_array_size(mechanisms); i++) {
        const json_t *mechanism = json_array_get(mechanisms, i);
        const json_t *core = json_object_get(mechanism, "core"),
                     *adds = json_object_get(mechanism, "adds_percent");
        printf("\n"
               "%s: %.6g mm2 and %.4g mW per core, %.6g mm2 and %.4g mW in total\n",
               field_text(arena, mechanism, "name"), number(core, "area_um2") / 1e6,
               number(core, "leakage_mw"), number(mechanism, "area_um2") / 1e6,
               number(mechanism, "leakage_mw"));
        struct columns table = {arena, 3, {false, true, true}, {0}};
        columns_row(&table, (const char *[]){"adds to", "% area", "% leakage"});
        for (u32 p = 0; p < ARRAY_LEN(parts); p++) {
            const json_t *part = json_object_get(adds, parts[p].key);
            columns_row(&table,
                        (const char *[]){parts[p].what, percent(arena, number(part, "area")),
                                         percent(arena, number(part, "leakage"))});
        }
        columns_print(&table);
    }
}

static void print_issue_path(const json_t *path)
{
    if (!path)
        return;
    printf("issue path: %.1f levels of gates; with busy bits by warp and offset, as re-formed "
           "warps need, %.1f (%+.1f %%)\n",
           number(path, "levels"), number(path, "by_offset"), number(path, "grows_percent"));
}

static void print_area(const json_t *area)
{
    struct arena *arena = arena_create();
    const json_t *technology = json_object_get(area, "technology");
    printf("%s, %s nm, %.2f V, %.0f degrees; published costs: %s\n\n",
           field_text(arena, area, "machine"), field_text(arena, technology, "nm"),
           number(technology, "volts"), number(technology, "celsius"),
           field_text(arena, technology, "table"));
    print_rows(arena, json_object_get(area, "rows"));
    print_sums(arena, area);
    print_issue_path(json_object_get(area, "issue_path"));
    if (json_object_get(area, "published"))
        print_published(arena, json_object_get(area, "published"));
    print_mechanisms(arena, json_object_get(area, "mechanisms"));
    arena_destroy(arena);
}

/* ---- residuals ---- */

static const char *pair(struct arena *arena, const json_t *row, const char *name)
{
    const json_t *both = json_object_get(row, name);
    if (!json_is_object(both))
        return "";
    if (!json_object_get(both, "model"))
        return arena_printf(arena, "%.4g/-", number(both, "published"));
    return arena_printf(arena, "%.4g/%.4g %+.0f%%", number(both, "published"),
                        number(both, "model"), number(both, "residual_percent"));
}

static void print_residuals(const json_t *residuals)
{
    static const char *const numbers[] = {"area_um2", "leakage_mw", "read_pj", "write_pj",
                                          "delay_ps"};
    struct arena *arena = arena_create();
    struct columns table = {
        arena, 9, {false, false, true, true, true, true, true, true, true}, {0}};
    u32 within = 0, all = 0;
    columns_row(&table, (const char *[]){"table", "what", "entries", "bits", "um2", "mW", "read pJ",
                                         "write pJ", "ps"});
    for (size_t i = 0; i < json_array_size(residuals); i++) {
        const json_t *row = json_array_get(residuals, i);
        columns_row(&table, (const char *[]){
                                field_text(arena, row, "table"), field_text(arena, row, "what"),
                                field_text(arena, row, "entries"), field_text(arena, row, "bits"),
                                pair(arena, row, numbers[0]), pair(arena, row, numbers[1]),
                                pair(arena, row, numbers[2]), pair(arena, row, numbers[3]),
                                pair(arena, row, numbers[4])});
        for (u32 n = 0; n < ARRAY_LEN(numbers); n++) {
            const json_t *both = json_object_get(row, numbers[n]);
            f64 percent_off = number(both, "residual_percent");
            bool modelled = json_object_get(both, "model");
            all += modelled;
            within += modelled && percent_off <= 25 && percent_off >= -25;
        }
    }
    printf("published/model, and the model's deviation\n");
    columns_print(&table);
    printf("%u of %u within 25 %%\n", within, all);
    arena_destroy(arena);
}

/* An object instead of a list, so that formulas can name its rows: by one or two of their fields. */
static json_t *by_name(const json_t *list, const char *first, const char *second)
{
    json_t *all = json_object(), *row;
    struct arena *arena = arena_create();
    size_t i;
    json_array_foreach(list, i, row)
    {
        const char *name = field_text(arena, row, first);
        if (second)
            name = arena_printf(arena, "%s.%s", name, field_text(arena, row, second));
        json_object_set(all, name, row);
    }
    arena_destroy(arena);
    return all;
}

static int report_area(const struct command *command, const struct command_line *line, char *text)
{
    json_t *area = parse_own_json(text);
    json_t *rows = json_object_get(area, "rows");
    if (option_value(line, "--json"))
        print_json(stdout, area);
    else
        print_area(area);
    json_object_set_new(area, "elements", by_name(rows, "unit", "name"));
    json_object_del(area, "rows");
    json_object_set_new(area, "owners", by_name(json_object_get(area, "owners"), "owner", NULL));
    json_object_set_new(area, "mechanisms",
                        by_name(json_object_get(area, "mechanisms"), "name", NULL));
    return write_report(command, line, "area", area);
}

static int run_area(const struct command *command, const struct command_line *line)
{
    const char *machine = option_word(line, 0);
    if (option_value(line, "--residuals")) {
        if (machine || option_value(line, "--mech") || option_value(line, "--set") ||
            option_value(line, "--stats"))
            return usage_error(command,
                               "--residuals compares published entries: it takes no machine, "
                               "--mech, --set or --stats");
        return show_json(line, hd_area_residuals(), print_residuals);
    }
    if (!machine)
        return usage_error(command, "expected a machine, or --residuals");
    struct hd_config *config = open_checked_config(command, line, machine);
    if (!config)
        return EXIT_USAGE;
    int code = report_area(command, line, hd_area_json(config));
    hd_config_destroy(config);
    return code;
}

static const struct example area_examples[] = {
    {"heddle area gtx480", "Area and leakage of a machine:"},
    {"heddle area tesla16 --mech filter_cache:entries=16 --set energy.nm=32 --set "
     "energy.table=lashgar",
     "What a mechanism adds, with the published costs of its authors:"},
    {"heddle area --residuals", "How far the model is from published values:"},
    {0},
};

const struct command area_command = {
    .name = "area",
    .words = "NAME|FILE | --residuals",
    .summary = "print the area of a machine, and what mechanisms add",
    .help =
        "Prints every element of a machine, as derived from its parameters: bits, area, leakage, "
        "energy of an access and delay, for one owner (a core, a slice, a channel, the chip), and "
        "its share of that owner's and of the chip's area; then sums. For elements that are "
        "searched, the energy is that of a search instead of a read.\n"
        "\n"
        "The costs of storage come from a model of memory arrays, or are as published where "
        "energy.table names a source that has the element; those of logic come from published "
        "units. docs/area.md explains the model and its accuracy.",
    .options = area_options,
    .examples = area_examples,
    .max_words = 1,
    .complete = COMPLETE_MACHINE,
    .run = run_area,
};
