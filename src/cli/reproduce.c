/*
 * heddle reproduce: experiments of papers, published values beside Heddle's. The work is done in
 * lab/; options, progress and files are handled here.
 */
#include "base/text.h"
#include "cli/common.h"
#include "cli/laboratory.h"
#include "cli/output.h"
#include "lab/catalogue.h"
#include "lab/report.h"
#include <stdlib.h>
#include <unistd.h>

static const char default_database[] = "heddle-results.db", default_folder[] = "reproduced";

struct reproduce {
    const struct command *command;
    const struct command_line *line;
    struct arena *arena;
    struct plan *plan;
    struct survey *survey;
    struct store *store;
    struct runner_options options;
    struct run_limits limits;
    u32 parallel;
    const char *folder;
    bool draws; /* shows progress, on a terminal */
};

static bool complain_of(const struct reproduce *state, const struct error *error)
{
    char text[2400];
    complain(state->command, "%s", error_text(error, text, sizeof text));
    return false;
}

static bool is_suite(const struct builtin_file *file)
{
    return !strncmp(file->name, "suite-", 6);
}

static int by_number(const void *a, const void *b)
{
    const struct builtin_file *const *first = a, *const *second = b;
    return strverscmp((*first)->name, (*second)->name);
}

/* The built-in experiments, fig2 before fig10; NULL at the end. */
static const struct builtin_file **built_in(struct arena *arena)
{
    u32 count = 0;
    for (const struct builtin_file *file = laboratory_files.experiments; file->name; file++)
        count += !is_suite(file);
    const struct builtin_file **list = arena_array(arena, const struct builtin_file *, count + 1);
    u32 at = 0;
    for (const struct builtin_file *file = laboratory_files.experiments; file->name; file++)
        if (!is_suite(file))
            list[at++] = file;
    qsort(list, count, sizeof *list, by_number);
    return list;
}

/* ---- --list ---- */

static int list_all(const struct reproduce *state)
{
    json_t *rows = json_array();
    struct error error = {0};
    bool ok = true;
    for (const struct builtin_file **file = built_in(state->arena); *file; file++) {
        const struct experiment *one =
            experiment_load(state->arena, &laboratory_files, (*file)->name, &error);
        if (!one) {
            ok = complain_of(state, &error);
            continue;
        }
        json_array_append_new(rows,
                              json_pack("{s:s, s:s, s:s, s:s}", "experiment", one->name, "paper",
                                        one->paper, "figure", one->figure, "title", one->title));
    }
    if (option_value(state->line, "--json")) {
        print_json(stdout, rows);
    } else {
        for (size_t i = 0; i < json_array_size(rows); i++) {
            const json_t *row = json_array_get(rows, i);
            printf("%-16s %-10s %s\n", field_text(state->arena, row, "experiment"),
                   field_text(state->arena, row, "figure"), field_text(state->arena, row, "title"));
        }
        printf("\n"
               "'heddle reproduce NAME' runs one, 'heddle reproduce NAME --quick' runs it with "
               "small sizes.\n");
    }
    json_decref(rows);
    return ok ? EXIT_DONE : EXIT_USAGE;
}

/* ---- the plan ---- */

static bool add_one(struct reproduce *state, const char *name)
{
    struct error error = {0};
    const struct experiment *one = experiment_load(state->arena, &laboratory_files, name, &error);
    if (one && !one->tabular) {
        complain(state->command, "%s: this plan has axes; 'heddle sweep' runs it", name);
        return false;
    }
    if (!one || !plan_add(state->plan, one, option_value(state->line, "--workloads"), &error))
        return complain_of(state, &error);
    return true;
}

static bool make_plan(struct reproduce *state, const struct lab_host *host)
{
    struct error error = {0};
    state->plan =
        plan_create(host, &laboratory_files, option_value(state->line, "--quick"), &error);
    if (!state->plan)
        return complain_of(state, &error);
    const char *word;
    for (u32 i = 0; (word = option_word(state->line, i)); i++) {
        bool all = !strcmp(word, "all");
        if (!all && !add_one(state, word))
            return false;
        const struct builtin_file **file = built_in(state->arena);
        for (; all && *file; file++)
            if (!add_one(state, (*file)->name))
                return false;
    }
    state->survey = survey_create(state->plan, &error);
    return state->survey || complain_of(state, &error);
}

/* ---- running ---- */

/* --dry-run: prints each command once, however many experiments need it */
static int print_commands(const struct reproduce *state)
{
    struct error error = {0};
    for (u32 i = 0; i < state->survey->points.count; i++) {
        struct arena *arena = arena_create();
        struct point point;
        u32 number = state->survey->points.data[i].number;
        bool ok = plan_point(state->plan, number, arena, &point, &error);
        if (ok)
            printf("%s\n", point_command(arena, &point));
        arena_destroy(arena);
        if (!ok)
            return complain_of(state, &error), EXIT_USAGE;
    }
    return EXIT_DONE;
}

/* ---- files ---- */

static bool write_one(struct reproduce *state, const struct table *table, const char *kind,
                      void (*report_as)(FILE *, const struct table *))
{
    struct output output;
    struct error error = {0};
    const char *path =
        arena_printf(state->arena, "%s/%s%s.%s", state->folder, table->experiment->name,
                     state->plan->quick ? "-quick" : "", kind);
    if (!output_open(&output, path, &error))
        return complain_of(state, &error);
    report_as(output.stream, table);
    return output_commit(&output, &error) || complain_of(state, &error);
}

/* The number of failed runs; below 0 if a file could not be written. */
static int report_all(struct reproduce *state)
{
    u32 failures = 0;
    for (u32 i = 0; i < state->plan->experiments.count; i++) {
        struct error error = {0};
        const struct table *table =
            table_make(state->plan, &state->plan->experiments.data[i], state->store, &error);
        if (!table) {
            complain_of(state, &error);
            return -1;
        }
        if (i)
            putchar('\n');
        (option_value(state->line, "--markdown") ? report_markdown : report_text)(stdout, table);
        if (!write_one(state, table, "csv", report_csv) ||
            !write_one(state, table, "json", report_json) ||
            !write_one(state, table, "html", report_html))
            return -1;
        failures += table->failures;
    }
    return (int)failures;
}

/* ---- the command ---- */

static bool run_points(struct reproduce *state, const struct lab_host *host, int *number,
                       struct error *error)
{
    const struct executor_setup setup = {
        .heddle = host->heddle, .parallel = state->parallel, .limits = state->limits};
    struct executor *executor = executor_open(&setup, "local", error);
    struct runner_result result;
    if (!executor)
        return false;
    bool ok = catalogue_write(state->store, state->plan, state->survey, false, error) &&
              runner_run(state->plan, state->survey, state->store, executor, &state->options,
                         state->draws ? laboratory_draw : NULL, NULL, &result, error);
    executor->kind->close(executor);
    *number = ok ? result.signal : 0;
    return ok;
}

static bool read_options(struct reproduce *state)
{
    if (!laboratory_limits(state->command, state->line, &state->parallel, &state->limits))
        return false;
    state->options.retry = "";
    state->options.force = option_value(state->line, "--force");
    const char *folder = option_value(state->line, "--out");
    state->folder = folder ? folder : default_folder;
    state->draws = isatty(STDERR_FILENO);
    return true;
}

static int reproduce(struct reproduce *state)
{
    const struct lab_host host = laboratory_host(state->arena);
    const char *database = option_value(state->line, "--db");
    struct error error = {0};
    int number = 0;
    if (!read_options(state) || !make_plan(state, &host))
        return EXIT_USAGE;
    if (option_value(state->line, "--dry-run"))
        return print_commands(state);
    state->store = store_open(database ? database : default_database, &error);
    if (!state->store) {
        complain_of(state, &error);
        return EXIT_USAGE;
    }
    if (!laboratory_folder(state->command, "--out", state->folder))
        return EXIT_USAGE;
    bool ran = run_points(state, &host, &number, &error);
    if (state->draws)
        laboratory_clear();
    if (!ran) {
        complain_of(state, &error);
        return EXIT_USAGE;
    }
    const u32 damaged = store_damaged(state->store);
    if (damaged)
        complain(state->command, "%s: %u result%s damaged or modified; ignored, and run again",
                 database ? database : default_database, damaged, damaged > 1 ? "s were" : " was");
    if (number) {
        complain(state->command, "interrupted; the same command continues from here");
        return 128 + number;
    }
    int failures = report_all(state);
    if (failures > 0)
        complain(state->command, "%d runs failed; the same command repeats them", failures);
    return failures < 0 ? EXIT_USAGE : failures ? EXIT_GUEST : EXIT_DONE;
}

static int run_reproduce(const struct command *command, const struct command_line *line)
{
    struct reproduce state = {.command = command, .line = line, .arena = arena_create()};
    int code = EXIT_USAGE;
    if (option_value(line, "--list"))
        code = list_all(&state);
    else if (!option_word(line, 0))
        usage_error(command, "expected the name of an experiment, or all; --list prints them");
    else
        code = reproduce(&state);
    store_close(state.store);
    survey_destroy(state.survey);
    plan_destroy(state.plan);
    arena_destroy(state.arena);
    return code;
}

static const struct option options[] = {
    {"--list", NULL, "List all experiments, with the figures they reproduce.", 0, 0},
    {"--json", NULL, "With --list: print JSON instead of text.", 0, 0},
    {"--markdown", NULL, "Print the tables as Markdown, for a document.", 0, 0},
    {"--quick", NULL,
     "Use small sizes of all workloads, for a first look; published numbers are for full sizes.", 0,
     0},
    {"--workloads", "LIST", "Run only these workloads, by the paper's names, separated by commas.",
     0, 0},
    {"--jobs", "N", "Number of runs at a time; by default as many as the host has cores.", 0, 0},
    {"--db", "FILE",
     "The results file (SQLite); heddle-results.db by default. A result in it is reused as long as "
     "Heddle, the program, its arguments and the configuration are the same.",
     0, COMPLETE_FILE},
    {"--dry-run", NULL,
     "Check the experiments, print the command line of each run that they need, and stop.", 0, 0},
    {"--force", NULL, "Repeat all runs, whatever the results file contains.", 0, 0},
    {"--max-seconds", "S", "Stop a run after this much host time; it counts as failed.", 0, 0},
    {"--out", "DIR",
     "Where NAME.csv, NAME.json and NAME.html are written; the folder 'reproduced' by default.", 0,
     COMPLETE_FILE},
    {0},
};

static const struct example examples[] = {
    {"heddle reproduce --list", "All experiments:"},
    {"heddle reproduce xiang-fig5 --quick", "One experiment, with small sizes:"},
    {"heddle reproduce my.yaml --workloads VA,MM --jobs 4 --out results",
     "An experiment of your own, with two of its workloads:"},
    {0},
};

const struct command reproduce_command = {
    .name = "reproduce",
    .words = "NAME|FILE...|all",
    .summary = "run experiments of papers and compare the results with the published ones",
    .help =
        "Runs an experiment: every configuration with every workload, several at a time. Prints "
        "the published values beside Heddle's, for each workload and on average, whether the "
        "published orderings are reproduced, and remarks that explain differences. The same is "
        "written as CSV, JSON and an HTML page with charts; a second run writes the same bytes. "
        "docs/reproduce.md explains how to read the result and how to write an experiment.\n"
        "\n"
        "Every result is kept as soon as its run ends: after Ctrl-C or a crash the same command "
        "continues, and experiments that need the same run share it. A failed run is shown as "
        "failed and the others continue; the exit code is then 1. An ordering that is not "
        "reproduced is a finding, not a failure.",
    .options = options,
    .examples = examples,
    .max_words = UINT32_MAX,
    .complete = COMPLETE_EXPERIMENT,
    .run = run_reproduce,
};

void print_experiment_names(void)
{
    for (const struct builtin_file *file = laboratory_files.experiments; file->name; file++)
        if (!is_suite(file))
            printf("%s\n", file->name);
}
