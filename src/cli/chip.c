/* heddle chip: draws chips whose register files differ, and reports on them. */
#include "base/text.h"
#include "chip/maps.h"
#include "cli/columns.h"
#include "cli/common.h"
#include "cli/output.h"
#include "lab/chip_page.h"
#include "variation/draw.h"
#include "variation/machine.h"
#include <math.h>
#include <signal.h>
#include <stdlib.h>

enum {
    MOST_CHIPS = 100000
};

static const struct option chip_options[] = {
    {"--machine", "NAME|FILE",
     "The machine whose chips to draw: a name that 'heddle machines' lists, or a YAML file. Of it "
     "are used the number of cores, the register file and its banks, and energy.nm, energy.volts "
     "and energy.celsius.",
     0, COMPLETE_MACHINE},
    {"--set", "KEY=VALUE", "Change a parameter of the machine first, as 'heddle run' does.",
     OPTION_REPEAT, COMPLETE_KEY},
    {"-n", "COUNT", "How many chips; the default is 1.", 0, 0},
    {"--seed", "NUMBER", "The seed; the default is 1. Chip k of a seed is always the same.", 0, 0},
    {"--out", "FILE.db",
     "Write the chips as an SQLite file, which replaces an earlier one. Without it, only the "
     "summary is printed.",
     0, COMPLETE_FILE},
    {"--node", "45|32|28|11",
     "Feature size in nm, which chooses threshold, sigmas and supply; the default is energy.nm.", 0,
     COMPLETE_CHOICE},
    {"--ratio", "RANDOM:SYSTEMATIC",
     "Ratio of the random to the systematic part, such as 1:4, 1:1 (the default) or 4:1.", 0, 0},
    {"--ratio-of", "sigma|variance", "What the ratio is of; the default is sigma.", 0,
     COMPLETE_CHOICE},
    {"--vth-sigma", "PERCENT", "Sigma/mu of the threshold voltage, both parts.", 0, 0},
    {"--leff-sigma", "PERCENT", "Sigma/mu of the channel length, both parts.", 0, 0},
    {"--leff-correlation", "NUMBER",
     "Correlation of the systematic parts of length and threshold, 0 to 1; the default is 1.", 0,
     0},
    {"--range", "WIDTHS",
     "Distance beyond which the systematic part is uncorrelated, in chip widths; the default is "
     "0.5.",
     0, 0},
    {"--mm2", "AREA",
     "Area of the chip, over which its cores are spread; the default is 261. The less it is, the "
     "larger a part of the chip each register file covers.",
     0, 0},
    {"--failures", "both|hold|write",
     "Which failures of cells determine V_min; the default is both. One of them alone shows what "
     "the "
     "other contributes.",
     0, COMPLETE_CHOICE},
    {"--check-bits", NULL,
     "Each entry also has the cells of the check bits of a SEC-DED code over it.", 0, 0},
    {"--fast", "PERCENT", "Share of parts that take one cycle; the default is 70.", 0, 0},
    {"--sub-banks", "COUNT",
     "Sub-banks of a bank; the default is 2, or 1 if a bank is narrower than a vector register.", 0,
     0},
    {"--keep", "PERCENT", "Share of cells whose V_min is kept, from the highest; the default is 2.",
     0, 0},
    {"--html", "FILE", "Write a page with maps of one chip and histograms over all.", 0,
     COMPLETE_FILE},
    {"--maps", "FILE",
     "Write the maps of one chip in the form that 'heddle run --chip' also takes; it does not name "
     "the chip's number or file.",
     0, COMPLETE_FILE},
    {"--chip", "NUMBER", "The chip of --html and --maps; the default is 0, the first.", 0, 0},
    {"--stats", "FILE", "Write the summary as JSON, as experiments read it.", 0, COMPLETE_FILE},
    {"--json", NULL, "Print the summary as JSON instead of text.", 0, 0},
    {0},
};

/* ---- options ---- */

static bool whole(const struct command *command, const struct command_line *line, const char *name,
                  u64 low, u64 high, u64 *value)
{
    const char *text = option_value(line, name);
    if (!text || (text_u64(text, value) == TEXT_OK && *value >= low && *value <= high))
        return true;
    usage_error(command, "%s: '%s': expected a number from %llu to %llu", name, text,
                (unsigned long long)low, (unsigned long long)high);
    return false;
}

static bool real(const struct command *command, const struct command_line *line, const char *name,
                 f64 scale, f64 *value)
{
    const char *text = option_value(line, name);
    f64 given;
    if (!text)
        return true;
    if (text_f64(text, &given) == TEXT_OK && isfinite(given)) {
        *value = given * scale;
        return true;
    }
    usage_error(command, "%s: '%s': expected a number", name, text);
    return false;
}

static int refuse(const struct command *command, const struct error *error)
{
    char text[2400];
    complain(command, "%s", error_text(error, text, sizeof text));
    return EXIT_USAGE;
}

/* The node: --node, or the machine's feature size. */
static const struct variation_node *
find_node(const struct command *command, const struct command_line *line, const json_t *machine)
{
    u64 nm = (u64)machine_number(machine, "energy", "nm");
    const char *given = option_value(line, "--node");
    if (given && text_u64(given, &nm) != TEXT_OK)
        nm = 0;
    const struct variation_node *node = variation_node((u32)MIN(nm, UINT32_MAX));
    if (node)
        return node;
    if (given)
        usage_error(command, "--node: '%s': expected 45, 32, 28 or 11", given);
    else
        usage_error(command,
                    "energy.nm of the machine is %llu, for which no constants are known: expected "
                    "--node 45, 32, 28 or 11",
                    (unsigned long long)nm);
    return NULL;
}

static const char *const failure_names[] = {
    [FAILURES_BOTH] = "both", [FAILURES_HOLD] = "hold", [FAILURES_WRITE] = "write"};

static bool read_failures(const struct command *command, const struct command_line *line,
                          struct variation *variation)
{
    const char *text = option_value(line, "--failures");
    for (u32 i = 0; i < ARRAY_LEN(failure_names); i++)
        if (!text || !strcmp(text, failure_names[i])) {
            variation->failures = (enum cell_failures)i;
            return true;
        }
    usage_error(command, "--failures: '%s': expected both, hold or write", text);
    return false;
}

static bool read_variation(const struct command *command, const struct command_line *line,
                           const json_t *machine, struct chips_facts *facts)
{
    struct variation *variation = &facts->variation;
    struct error error = {0};
    const struct variation_node *node = find_node(command, line, machine);
    if (!node)
        return false;
    machine_variation(variation, node, machine);
    const char *ratio = option_value(line, "--ratio"), *of = option_value(line, "--ratio-of");
    snprintf(facts->ratio, sizeof facts->ratio, "%s", ratio ? ratio : "1:1");
    if (ratio && !variation_ratio(variation, ratio, &error)) {
        usage_error(command, "--ratio: %s", error.message);
        return false;
    }
    if (of && strcmp(of, "sigma") != 0 && strcmp(of, "variance") != 0) {
        usage_error(command, "--ratio-of: '%s': expected sigma or variance", of);
        return false;
    }
    if (!read_failures(command, line, variation))
        return false;
    variation->of_variance = of && !strcmp(of, "variance");
    if (!real(command, line, "--vth-sigma", 0.01, &variation->vth_sigma) ||
        !real(command, line, "--leff-sigma", 0.01, &variation->leff_sigma) ||
        !real(command, line, "--leff-correlation", 1, &variation->leff_correlation) ||
        !real(command, line, "--range", 1, &variation->range) ||
        !real(command, line, "--mm2", 1, &variation->chip_mm2))
        return false;
    return variation_check(variation, "", &error) || refuse(command, &error) == EXIT_DONE;
}

static bool read_plan(const struct command *command, const struct command_line *line,
                      const json_t *machine, struct chips_facts *facts)
{
    struct error error = {0};
    struct file_plan *plan = &facts->plan;
    u64 sub_banks, count = 1, seed = 1;
    f64 fast = 0.7, kept = 0.02;
    if (!machine_file_plan(plan, machine, &error)) {
        refuse(command, &error);
        return false;
    }
    sub_banks = class_sub_banks(plan);
    if (!whole(command, line, "-n", 1, MOST_CHIPS, &count) ||
        !whole(command, line, "--seed", 0, INT64_MAX, &seed) ||
        !whole(command, line, "--sub-banks", 1, plan->words, &sub_banks) ||
        !real(command, line, "--fast", 0.01, &fast) || !real(command, line, "--keep", 0.01, &kept))
        return false;
    if (!(kept >= 0.01 && kept <= 0.5)) {
        usage_error(command, "--keep: %g %%: expected 1 to 50", 100 * kept);
        return false;
    }
    facts->rule = (struct class_rule){fast, (u32)sub_banks};
    facts->kept = kept;
    facts->count = (u32)count;
    facts->seed = seed;
    if (option_value(line, "--check-bits"))
        plan->check_bits = file_plan_check_bits(plan);
    return class_rule_check(&facts->rule, plan, &error) || refuse(command, &error) == EXIT_DONE;
}

static bool read_facts(const struct command *command, const struct command_line *line,
                       struct chips_facts *facts)
{
    const char *name = option_value(line, "--machine");
    if (!name) {
        usage_error(command, "expected --machine NAME, or a file of chips");
        return false;
    }
    struct hd_config *config = open_checked_config(command, line, name);
    if (!config)
        return false;
    json_t *machine = parse_own_json(hd_config_json(config));
    const char *own = json_string_value(json_object_get(machine, "machine"));
    snprintf(facts->machine, sizeof facts->machine, "%s", own ? own : name);
    bool ok =
        read_variation(command, line, machine, facts) && read_plan(command, line, machine, facts);
    json_decref(machine);
    hd_config_destroy(config);
    return ok;
}

/* ---- the summary ---- */

static const struct summary_row {
    const char *name, *text;
    size_t at;
    u32 digits;
} summary_rows[] = {
#define ROW(name, text, field, digits)                           \
    {                                                            \
        name, text, offsetof(struct chip_numbers, field), digits \
    }
    ROW("frequency", "frequency, all in one cycle", frequency[PART_FILE], 3),
    ROW("vl_rf", "  slow registers in two cycles (VL-RF)", frequency[PART_REGISTER], 3),
    ROW("vl_rv", "  slow arrays of vectors (VL-RV)", frequency[PART_ARRAY], 3),
    ROW("vl_sb", "  slow sub-banks (VL-SB)", frequency[PART_SUB_BANK], 3),
    ROW("within_words", "slowest over fastest register of a core", word_ratio, 3),
    ROW("within_vectors", "slowest over fastest vector of a core", vector_ratio, 3),
    ROW("between_cores", "fastest over slowest core", between, 3),
    ROW("vmin", "V_min of the weakest cell, V", vmin, 3),
    ROW("one_percent", "supply at 1 % failing cells, V", one_percent, 3),
    ROW("reduction", "  below V_min, if that is scaled to 1 V, V", reduction, 3),
    ROW("reduction_0_5", "    the same at 0.5 %", rare[3], 3),
    ROW("reduction_0_1", "    at 0.1 %", rare[2], 3),
    ROW("reduction_0_01", "    at 0.01 %", rare[1], 3),
    ROW("reduction_0_001", "    at 0.001 %", rare[0], 3),
    ROW("bad_0", "entries there with 0 failing cells", bad_bits[0], 4),
    ROW("bad_1", "  with 1", bad_bits[1], 4),
    ROW("bad_2", "  with 2", bad_bits[2], 4),
    ROW("bad_3", "  with 3", bad_bits[3], 4),
    ROW("bad_4", "  with 4", bad_bits[4], 4),
    ROW("bad_5", "  with 5 or more", bad_bits[5], 4),
#undef ROW
};

struct spread {
    f64 mean, deviation, least, most;
};

/* Mean and deviation over chips, the latter of the sample. */
static struct spread spread_of(const struct chip_numbers *numbers, u32 count, size_t at)
{
    struct spread spread = {0, 0, INFINITY, -INFINITY};
    f64 squares = 0;
    for (u32 i = 0; i < count; i++) {
        f64 value = *(const f64 *)((const char *)&numbers[i] + at);
        spread.mean += value / count;
        spread.least = fmin(spread.least, value);
        spread.most = fmax(spread.most, value);
    }
    for (u32 i = 0; i < count; i++) {
        f64 off = *(const f64 *)((const char *)&numbers[i] + at) - spread.mean;
        squares += off * off;
    }
    spread.deviation = count > 1 ? sqrt(squares / (count - 1)) : 0;
    return spread;
}

static u32 worst_entry(const struct chip_numbers *numbers, u32 count)
{
    u32 most = 0;
    for (u32 i = 0; i < count; i++)
        most = MAX(most, numbers[i].most_bad);
    return most;
}

static void print_text(const struct chips_facts *facts, const struct chip_numbers *numbers)
{
    struct arena *arena = arena_create();
    const struct variation *variation = &facts->variation;
    const struct file_plan *plan = &facts->plan;
    printf("%s, %u nm, %.2f V: %u chip%s of %u core%s, seed %llu\n", facts->machine, variation->nm,
           variation->volts, facts->count, facts->count == 1 ? "" : "s", plan->cores,
           plan->cores == 1 ? "" : "s", (unsigned long long)facts->seed);
    printf("threshold %.2f V; sigma/mu %.4g %%, of the length %.4g %%; random to systematic %s of "
           "%s; range %.4g\n",
           variation->threshold, 100 * variation->vth_sigma, 100 * variation->leff_sigma,
           facts->ratio, variation->of_variance ? "variance" : "sigma", variation->range);
    printf("%u banks of %u entries of %u + %u bits; %u of %u sub-banks are fast\n\n", plan->banks,
           plan->entries, plan->words * CELLS_PER_WORD, plan->check_bits,
           class_fast(plan, &facts->rule, PART_SUB_BANK),
           class_parts(plan, &facts->rule, PART_SUB_BANK));
    struct columns table = {arena, 5, {false, true, true, true, true}, {0}};
    columns_row(&table, (const char *[]){"", "mean", "deviation", "least", "most"});
    for (u32 i = 0; i < ARRAY_LEN(summary_rows); i++) {
        const struct summary_row *row = &summary_rows[i];
        struct spread spread = spread_of(numbers, facts->count, row->at);
        int digits = (int)row->digits;
        columns_row(&table,
                    (const char *[]){row->text, arena_printf(arena, "%.*f", digits, spread.mean),
                                     arena_printf(arena, "%.*f", digits, spread.deviation),
                                     arena_printf(arena, "%.*f", digits, spread.least),
                                     arena_printf(arena, "%.*f", digits, spread.most)});
    }
    columns_print(&table);
    printf("\n"
           "the worst entry there has %u failing cells; frequencies are relative to a chip without "
           "variation\n",
           worst_entry(numbers, facts->count));
    arena_destroy(arena);
}

static json_t *summary_json(const struct chips_facts *facts, const struct chip_numbers *numbers)
{
    const struct variation *variation = &facts->variation;
    json_t *rows = json_object();
    for (u32 i = 0; i < ARRAY_LEN(summary_rows); i++) {
        struct spread spread = spread_of(numbers, facts->count, summary_rows[i].at);
        json_object_set_new(rows, summary_rows[i].name,
                            json_pack("{sfsfsfsf}", "mean", spread.mean, "deviation",
                                      spread.deviation, "least", spread.least, "most",
                                      spread.most));
    }
    return json_pack("{sssisisIsfsfsfsfsssssfsisssisiso}", "machine", facts->machine, "chips",
                     (int)facts->count, "cores", (int)facts->plan.cores, "seed",
                     (json_int_t)facts->seed, "volts", variation->volts, "threshold_volts",
                     variation->threshold, "vth_sigma", variation->vth_sigma, "leff_sigma",
                     variation->leff_sigma, "ratio", facts->ratio, "ratio_of",
                     variation->of_variance ? "variance" : "sigma", "range", variation->range, "nm",
                     (int)variation->nm, "failures", failure_names[variation->failures],
                     "check_bits", (int)facts->plan.check_bits, "worst_entry",
                     (int)worst_entry(numbers, facts->count), "numbers", rows);
}

/* ---- work ---- */

/* What is drawn or read, and where it goes. */
struct chip_work {
    const struct command *command;
    const struct command_line *line;
    struct chips_facts facts;
    struct chip_numbers *numbers; /* of all chips */
    struct arena *arena;          /* of the command */
    u32 shown;                    /* chip of the page */
    struct output page;           /* of --html, if stream is set */
};

static bool write_page(struct chip_work *work, const struct chip *chip, struct error *error)
{
    struct core_numbers *cores =
        arena_array(work->arena, struct core_numbers, work->facts.plan.cores);
    struct chip_numbers numbers;
    chip_count(&numbers, cores, chip, &work->facts.rule);
    chip_page(work->page.stream, &work->facts, chip, cores, work->numbers);
    return output_commit(&work->page, error);
}

/* --maps: what a device is given. */
static bool write_maps(const struct chip_work *work, const struct chip *chip, struct error *error)
{
    const char *path = option_value(work->line, "--maps");
    struct output output;
    size_t bytes;
    if (!path)
        return true;
    if (!output_open(&output, path, error))
        return false;
    u8 *maps = chip_maps_write(chip, &bytes);
    fwrite(maps, 1, bytes, output.stream);
    free(maps);
    return output_commit(&output, error);
}

static int finish(struct chip_work *work, const struct chip *chip)
{
    struct error error = {0};
    if (!write_maps(work, chip, &error))
        return refuse(work->command, &error);
    if (work->page.stream && !write_page(work, chip, &error))
        return refuse(work->command, &error);
    json_t *summary = summary_json(&work->facts, work->numbers);
    if (option_value(work->line, "--json"))
        print_json(stdout, summary);
    else
        print_text(&work->facts, work->numbers);
    return write_report(work->command, work->line, "chips", summary);
}

static bool open_page(struct chip_work *work, struct error *error)
{
    const char *path = option_value(work->line, "--html");
    return !path || output_open(&work->page, path, error);
}

static bool was_interrupted(void)
{
    sigset_t pending;
    return sigpending(&pending) == 0 &&
           (sigismember(&pending, SIGINT) == 1 || sigismember(&pending, SIGTERM) == 1);
}

/* Draws all chips; the one that is shown stays in the command's arena. */
static struct chip *draw_all(struct chip_work *work, struct chip_source *source,
                             struct chips_writer *writer, struct error *error)
{
    const struct chips_facts *facts = &work->facts;
    struct core_numbers *cores = arena_array(work->arena, struct core_numbers, facts->plan.cores);
    struct chip *shown = NULL;
    for (u32 i = 0; i < facts->count; i++) {
        struct arena *own = i == work->shown ? NULL : arena_create_large(0);
        struct chip *chip = chip_draw(source, i, own ? own : work->arena);
        chip_count(&work->numbers[i], cores, chip, &facts->rule);
        bool ok = !writer || chips_add(writer, chip, &work->numbers[i], cores, error);
        shown = own ? shown : chip;
        arena_destroy(own);
        if (ok && was_interrupted())
            ok = error_set(error, ERROR_INTERRUPTED, "", "interrupted: nothing was written");
        if (!ok)
            return NULL;
    }
    return shown;
}

static int draw_chips(struct chip_work *work)
{
    const char *path = option_value(work->line, "--out");
    const char *stats = option_value(work->line, "--stats");
    struct error error = {0};
    struct chips_writer *writer = NULL;
    struct chip_source source;
    sigset_t signals;
    if ((path && (!output_check(path, &error) || !chips_may_write(path, &error))) ||
        (stats && !output_check(stats, &error)))
        return refuse(work->command, &error);
    if (!open_page(work, &error))
        return refuse(work->command, &error);
    if (path && !(writer = chips_create(path, &work->facts, &error)))
        goto failed;
    sigemptyset(&signals); /* asked for between two chips, so that no part of a file is left */
    sigaddset(&signals, SIGINT);
    sigaddset(&signals, SIGTERM);
    sigprocmask(SIG_BLOCK, &signals, NULL);
    chip_source_make(&source, work->arena, &work->facts.variation, &work->facts.plan,
                     work->facts.seed, work->facts.kept);
    struct chip *shown = draw_all(work, &source, writer, &error);
    chip_source_end(&source);
    if (!shown) {
        chips_abandon(writer);
        goto failed;
    }
    if (writer && !chips_commit(writer, &error))
        goto failed;
    return finish(work, shown);
failed:
    output_discard(&work->page);
    refuse(work->command, &error);
    return error.code == ERROR_INTERRUPTED ? EXIT_INTERRUPTED : EXIT_USAGE;
}

static int read_chips(struct chip_work *work, const char *path)
{
    struct error error = {0};
    struct chips_reader *reader = chips_open(path, &error);
    struct chip *shown = NULL;
    bool ok = reader;
    if (ok) {
        work->facts = *chips_facts(reader);
        work->numbers = arena_array(work->arena, struct chip_numbers, work->facts.count);
        for (u32 i = 0; ok && i < work->facts.count; i++)
            ok = chips_numbers(reader, i, &work->numbers[i], &error);
        ok = ok && (shown = chips_load(reader, work->shown, work->arena, &error)) &&
             open_page(work, &error);
    }
    chips_close(reader);
    return ok ? finish(work, shown) : refuse(work->command, &error);
}

static int run_chip(const struct command *command, const struct command_line *line)
{
    static const char *const kept[] = {"--html", "--maps", "--chip", "--stats", "--json"};
    const char *file = option_word(line, 0);
    struct chip_work work = {.command = command, .line = line};
    u64 shown = 0;
    for (u32 i = 0; file && i < line->count; i++) {
        const struct option *option = line->given[i].option;
        bool fits = !option;
        for (u32 k = 0; option && k < ARRAY_LEN(kept); k++)
            fits = fits || !strcmp(option->name, kept[k]);
        if (!fits)
            return usage_error(command,
                               "%s is for drawing: with a file of chips, expected --html, --maps, "
                               "--chip, --stats or --json",
                               option->name);
    }
    if (!whole(command, line, "--chip", 0, MOST_CHIPS, &shown))
        return EXIT_USAGE;
    if (!file && !read_facts(command, line, &work.facts))
        return EXIT_USAGE;
    if (!file && shown >= work.facts.count)
        return usage_error(command, "--chip: %llu: expected 0 to %u", (unsigned long long)shown,
                           work.facts.count - 1);
    work.shown = (u32)shown;
    work.arena = arena_create_large(0);
    if (!file)
        work.numbers = arena_array(work.arena, struct chip_numbers, work.facts.count);
    int code = file ? read_chips(&work, file) : draw_chips(&work);
    arena_destroy(work.arena);
    return code;
}

static const struct example chip_examples[] = {
    {"heddle chip --machine fermi15 --seed 7 -n 100 --out chips.db --html chips.html",
     "Draw a hundred chips, with a page of maps and histograms:"},
    {"heddle chip --machine fermi15-lv -n 10 --ratio 4:1 --check-bits",
     "How far the supply can fall if most variation is random:"},
    {"heddle chip chips.db --chip 42 --html chip42.html", "Look at one of them later:"},
    {0},
};

const struct command chip_command = {
    .name = "chip",
    .words = "--machine NAME|FILE | FILE.db",
    .summary = "draw chips whose register files differ, by process variation",
    .help =
        "Draws chips of a machine: threshold voltage and length of every transistor in its "
        "register "
        "files vary, partly in common with its neighbours, partly at random. From them follow how "
        "slow each register is, the frequency of each core, and the lowest supply at which each "
        "memory cell works. Prints mean and deviation over the chips; --out writes the chips as "
        "data.\n"
        "\n"
        "With a file of chips, prints its summary again. docs/variation.md has the model, its "
        "equations and its constants.",
    .options = chip_options,
    .examples = chip_examples,
    .max_words = 1,
    .complete = COMPLETE_FILE,
    .run = run_chip,
};
