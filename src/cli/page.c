/* heddle report: pages of runs (report/report.h) from their statistics files. */
#include "cli/page.h"
#include "base/text.h"
#include "cli/common.h"
#include "cli/compare_inputs.h"
#include "cli/output.h"
#include "compare/runs.h"
#include "report/report.h"
#include <stdlib.h>

enum {
    FAULTS_LIMIT = 1 << 28
};

struct report_command {
    const struct command *command;
    const struct command_line *line;
    struct arena *arena;
    struct compare_inputs inputs;
    struct report_run runs[REPORT_RUNS];
    struct series series[REPORT_RUNS];
    struct event_trace events;
    json_t *faults;
    u32 count;
};

static bool take_runs(struct report_command *state)
{
    const u32 count = state->inputs.list.count;
    if (state->inputs.sweeps) {
        complain(state->command, "a page is of single runs: choose one point of each results file, "
                                 "as in sweep.db#mechanism=none; 'heddle sweep' writes the page of "
                                 "all points");
        return false;
    }
    if (count > REPORT_RUNS) {
        usage_error(state->command, "%u runs given: expected at most %u on one page", count,
                    REPORT_RUNS);
        return false;
    }
    state->count = count;
    for (u32 i = 0; i < count; i++)
        state->runs[i] = (struct report_run){.run = state->inputs.list.data[i].run,
                                             .sources = option_value(state->line, "--sources")};
    return true;
}

/* Whether a series is that of a run: its rows add up to the run's counters. */
static bool series_belongs(struct report_command *state, u32 at, const char *path)
{
    const struct series *series = &state->series[at];
    const json_t *totals = json_object_get(state->runs[at].run->document, "totals");
    f64 issued = 0, cycles = 0;
    for (u32 i = 0; i < series->rows.count; i++) {
        issued += series->rows.data[i].issued;
        cycles += series->rows.data[i].cycles;
    }
    if (issued == number_in(totals, "issue.issued") && cycles == number_in(totals, "timing.cycles"))
        return true;
    complain(state->command,
             "--series: %s is of another run than %s: its rows add up to %.0f issued slots in %.0f "
             "cycles, the run has %.0f in %.0f; expected one --series for each run, in their order",
             text_printable(state->arena, path),
             text_printable(state->arena, state->inputs.list.data[at].path), issued, cycles,
             number_in(totals, "issue.issued"), number_in(totals, "timing.cycles"));
    return false;
}

/* The n-th --series belongs to the n-th run. */
static bool read_series(struct report_command *state)
{
    u32 at = 0;
    for (u32 i = 0; i < state->line->count; i++) {
        const struct given *given = &state->line->given[i];
        struct error error = {0};
        char text[2400];
        if (!given->option || strcmp(given->option->name, "--series") != 0)
            continue;
        if (at == state->count) {
            usage_error(state->command,
                        "more --series than runs: expected at most one for each, in "
                        "their order");
            return false;
        }
        if (!series_read(&state->series[at], state->arena, given->value, &error)) {
            complain(state->command, "--series: %s", error_text(&error, text, sizeof text));
            return false;
        }
        if (!series_belongs(state, at, given->value))
            return false;
        state->runs[at].series = &state->series[at];
        at++;
    }
    return true;
}

/* Whether all traced kernels are kernels of the run. */
static bool events_belong(const struct command *command, struct arena *arena, const char *path,
                          const struct event_trace *events, const struct compare_run *run)
{
    const json_t *launches = json_object_get(run->document, "launches");
    const json_t *launch;
    size_t index;
    for (u32 i = 0; i < events->launches.count; i++) {
        const char *kernel = events->launches.data[i].kernel;
        bool found = false;
        json_array_foreach((json_t *)launches, index, launch) found |=
            !strcmp(string_in(launch, "kernel"), kernel);
        if (found)
            continue;
        complain(command,
                 "--events: %s is of another run than the first one, which has no kernel '%s'",
                 text_printable(arena, path), text_printable(arena, kernel));
        return false;
    }
    return true;
}

static bool read_events(struct report_command *state)
{
    const char *path = option_value(state->line, "--events");
    struct error error = {0};
    char text[2400];
    if (!path)
        return true;
    if (!events_read(&state->events, state->arena, path, &error)) {
        complain(state->command, "--events: %s", error_text(&error, text, sizeof text));
        return false;
    }
    state->runs[0].events = &state->events;
    return events_belong(state->command, state->arena, path, &state->events, state->runs[0].run);
}

/* The bytes of the first input, and the machine: the same for a run and its campaign. */
static const char *identity_of(struct arena *arena, const json_t *document)
{
    const json_t *inputs = json_object_get(json_object_get(document, "manifest"), "inputs");
    return arena_printf(arena, "%s on %s", string_in(json_array_get(inputs, 0), "sha256"),
                        string_in(json_object_get(document, "config"), "machine"));
}

static bool read_faults(struct report_command *state)
{
    const char *path = option_value(state->line, "--faults");
    struct error error = {0};
    size_t length;
    if (!path)
        return true;
    char *text = text_read_file(path, false, FAULTS_LIMIT, &length, &error);
    state->faults = text ? json_loadb(text, length, 0, NULL) : NULL;
    const char *shown = text_printable(state->arena, path);
    if (!text)
        complain(state->command, "--faults: %s: %s", error.place, error.message);
    else if (!json_is_array(json_object_get(state->faults, "structures")))
        complain(state->command,
                 "--faults: %s: expected the summary.json that 'heddle inject --out' writes",
                 shown);
    else if (strcmp(identity_of(state->arena, state->faults),
                    identity_of(state->arena, state->runs[0].run->document)) != 0)
        complain(state->command, "--faults: %s is of another program or machine than the first run",
                 shown);
    else
        state->runs[0].faults = state->faults;
    free(text);
    return state->runs[0].faults;
}

static const char *output_of(struct report_command *state)
{
    const char *path = option_value(state->line, "--out");
    const char *first = state->inputs.list.data[0].path;
    const size_t length = strlen(first);
    if (path)
        return path;
    if (!strcmp(first, "-") || state->inputs.list.data[0].database)
        return "-";
    const bool json = length > 5 && !strcmp(first + length - 5, ".json");
    return arena_printf(state->arena, "%.*s.html", (int)(json ? length - 5 : length), first);
}

static int write_pages(struct report_command *state)
{
    const char *path = output_of(state);
    struct error error = {0};
    struct output output = {0};
    for (u32 i = 0; i < state->inputs.list.count; i++)
        if (strcmp(path, "-") != 0 && output_same(path, state->inputs.list.data[i].path))
            return usage_error(state->command, "--out: '%s' is one of the files to read",
                               text_printable(state->arena, path));
    bool ok = output_open(&output, path, &error);
    if (ok) {
        report_print(output.stream, state->arena, state->runs, state->count);
        ok = output_commit(&output, &error);
    }
    if (!ok) {
        complain(state->command, "--out: %s: %s", error.place, error.message);
        return EXIT_USAGE;
    }
    if (strcmp(path, "-") != 0)
        printf("%s\n", text_printable(state->arena, path));
    return EXIT_DONE;
}

static int run_report(const struct command *command, const struct command_line *line)
{
    struct report_command state = {.command = command, .line = line, .arena = arena_create()};
    state.inputs = (struct compare_inputs){.command = command, .arena = state.arena, .least = 1};
    int code = EXIT_USAGE;
    if (compare_inputs_read(&state.inputs, line) && take_runs(&state) && read_series(&state) &&
        read_events(&state) && read_faults(&state))
        code = write_pages(&state);
    compare_inputs_close(&state.inputs);
    for (u32 i = 0; i < REPORT_RUNS; i++)
        series_free(&state.series[i]);
    events_free(&state.events);
    json_decref(state.faults);
    arena_destroy(state.arena);
    return code;
}

bool write_page(struct run_command *run, const struct statistics_of *from)
{
    char *text = NULL;
    size_t length = 0;
    struct output output = {0};
    struct error error = {0};
    FILE *to = checked(open_memstream(&text, &length));
    print_statistics(to, from);
    fclose(to);
    struct report_run page = {
        .run = compare_run_parse(run->request.arena, "run", "statistics", text, length, &error),
        .series = run->over_time.rows.count ? &run->over_time : NULL,
        .sources = from->sources};
    free(text);
    struct event_trace events = {0};
    char *traced = run->timeline.events.text;
    if (traced && events_parse(&events, run->request.arena, "trace", traced,
                               run->timeline.events.length, &error))
        page.events = &events;
    else if (traced) /* nothing ran in the window */
        complain(run->command, "--trace-window: %s; the page has no window", error.message);
    bool ok = page.run && open_output(run, &output, run->request.report, &error);
    if (ok) {
        report_print(output.stream, run->request.arena, &page, 1);
        ok = commit_output(run, &output, &error);
    }
    events_free(&events);
    free(traced);
    run->timeline.events.text = NULL;
    compare_run_free(page.run);
    if (!ok)
        complain(run->command, "--report: %s: %s", error.place, error.message);
    return ok;
}

static const struct option report_options[] = {
    {"--out", "FILE",
     "The page; '-' is standard output. The default is the name of the first file with the ending "
     ".html.",
     0, COMPLETE_FILE},
    {"--series", "FILE",
     "The time series of the run, from 'heddle run --interval N:FILE'. May be repeated: one for "
     "each "
     "run, in their order.",
     OPTION_REPEAT, COMPLETE_FILE},
    {"--events", "FILE.jsonl",
     "What happened in a window of the first run, from 'heddle run --trace FILE.jsonl': the page "
     "shows "
     "its longest waits, each with its chain of causes, and its memory requests.",
     0, COMPLETE_FILE},
    {"--faults", "SUMMARY.json",
     "The outcomes of a campaign with the first run's program and machine, from 'heddle inject "
     "--out "
     "FOLDER': FOLDER/summary.json.",
     0, COMPLETE_FILE},
    {"--sources", "FOLDER",
     "Look for source files in this folder. By default they are read where they were compiled.", 0,
     COMPLETE_FILE},
    {0},
};

static const struct example report_examples[] = {
    {"heddle report run.json", "A page of one run, run.html:"},
    {"heddle report run.json --series run.csv --out run.html", "The same with charts over time:"},
    {"heddle report base.json darsie.json --out darsie.html", "Two runs in every chart:"},
    {0},
};

const struct command report_command = {
    .name = "report",
    .words = "RUN.json|RESULTS.db#AXIS=VALUE,... [...]",
    .summary = "write a page with charts from a run, or from several side by side",
    .help =
        "Writes one page, which loads nothing: what bounds the run, where its issue slots went in "
        "total, by kernel and over time, memory, roofline, occupancy, source lines and "
        "instructions with what each cost, energy, all statistics, and what was seen in words. "
        "Charts can be clicked and zoomed, tables filtered, sorted and saved; each chart has its "
        "numbers as a table.\n"
        "\n"
        "Runs are statistics files of 'heddle run --stats', or points of results files. With "
        "several, each chart has all of them. 'heddle run --report' writes the page of a run "
        "when it ends.",
    .options = report_options,
    .examples = report_examples,
    .max_words = UINT32_MAX,
    .complete = COMPLETE_FILE,
    .run = run_report,
};
