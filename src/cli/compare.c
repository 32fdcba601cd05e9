/* heddle compare: what differs between runs (compare/compare.h) or sweeps (compare/sweep.h). */
#include "base/text.h"
#include "cli/common.h"
#include "cli/compare_inputs.h"
#include "cli/output.h"

enum {
    DEFAULT_TOP = 10
};

struct compare_command {
    const struct command *command;
    const struct command_line *line;
    struct arena *arena;
    struct compare_inputs inputs;
    regex_t expression;
    bool has_expression;
    struct compare_options options;
};

/* ---- options ---- */

/* "1%" or "0.01" */
static bool parse_ignore(struct compare_command *state, const char *text)
{
    const size_t length = strlen(text);
    const bool percent = length && text[length - 1] == '%';
    const char *digits = arena_strndup(state->arena, text, length - percent);
    f64 value;
    if (text_f64(digits, &value) == TEXT_OK && value >= 0 && value < (percent ? 100 : 1)) {
        state->options.ignore = percent ? value / 100 : value;
        return true;
    }
    usage_error(state->command, "--ignore: '%s': expected a share below 100 %%, as in 1%% or 0.01",
                text_printable(state->arena, text));
    return false;
}

static bool parse_kernel(struct compare_command *state, const char *text)
{
    char reason[256];
    const int code = regcomp(&state->expression, text, REG_EXTENDED | REG_NOSUB);
    if (code) {
        regerror(code, &state->expression, reason, sizeof reason);
        usage_error(state->command, "--kernel: '%s' is not a regular expression: %s",
                    text_printable(state->arena, text), reason);
        return false;
    }
    state->has_expression = true;
    state->options.kernel = &state->expression;
    return true;
}

static bool parse_options(struct compare_command *state)
{
    const char *top = option_value(state->line, "--top");
    const char *ignore = option_value(state->line, "--ignore");
    const char *kernel = option_value(state->line, "--kernel");
    u64 rows;
    state->options.top = DEFAULT_TOP;
    if (top && (text_u64(top, &rows) != TEXT_OK || rows > UINT32_MAX)) {
        usage_error(state->command, "--top: '%s': expected a number of rows; 0 shows all",
                    text_printable(state->arena, top));
        return false;
    }
    if (top)
        state->options.top = (u32)rows;
    return (!ignore || parse_ignore(state, ignore)) && (!kernel || parse_kernel(state, kernel));
}

/* ---- outputs ---- */

static bool check_outputs(struct compare_command *state)
{
    static const char *const names[] = {"--json", "--html"};
    const char *paths[ARRAY_LEN(names)];
    struct error error = {0};
    for (u32 i = 0; i < ARRAY_LEN(names); i++) {
        paths[i] = option_value(state->line, names[i]);
        if (!paths[i])
            continue;
        if (!output_check(paths[i], &error)) {
            complain(state->command, "%s: %s: %s", names[i], error.place, error.message);
            return false;
        }
        for (u32 k = 0; k < state->inputs.list.count; k++)
            if (strcmp(paths[i], "-") != 0 &&
                output_same(paths[i], state->inputs.list.data[k].path)) {
                usage_error(state->command, "%s: '%s' is one of the files to compare", names[i],
                            text_printable(state->arena, paths[i]));
                return false;
            }
    }
    if (paths[0] && paths[1] && output_same(paths[0], paths[1])) {
        usage_error(state->command, "--html: '%s' is already written by --json",
                    text_printable(state->arena, paths[1]));
        return false;
    }
    return true;
}

static void write_json(FILE *to, const struct run_comparison *comparison)
{
    json_t *json = compare_json(comparison);
    print_json(to, json);
    json_decref(json);
}

/* Writes one output, if its option is given. */
static bool write_output(struct compare_command *state, const struct run_comparison *comparison,
                         const char *option, void (*write)(FILE *, const struct run_comparison *))
{
    const char *path = option_value(state->line, option);
    struct output output;
    struct error error = {0};
    if (!path)
        return true;
    bool ok = output_open(&output, path, &error);
    if (ok) {
        write(output.stream, comparison);
        ok = output_commit(&output, &error);
    }
    if (!ok)
        complain(state->command, "%s: %s: %s", option, error.place, error.message);
    return ok;
}

static bool goes_to_stdout(const struct command_line *line, const char *option)
{
    const char *path = option_value(line, option);
    return path && !strcmp(path, "-");
}

/* Compares runs; NULL after an error message. */
static struct run_comparison *compare_inputs_as_runs(struct compare_command *state)
{
    const u32 count = state->inputs.list.count;
    struct compare_run **runs = arena_array(state->arena, struct compare_run *, count);
    for (u32 i = 0; i < count; i++)
        runs[i] = state->inputs.list.data[i].run;
    struct run_comparison *comparison = compare_runs(state->arena, runs, count, state->options);
    bool any = !state->options.kernel;
    for (u32 i = 0; i < count; i++)
        any |= compare_run_launches(runs[i]) > 0;
    if (any)
        return comparison;
    complain(state->command, "--kernel %s: no kernel of any file has such a name",
             option_value(state->line, "--kernel"));
    compare_free(comparison);
    return NULL;
}

/* Compares sweeps point by point; NULL after an error message. */
static struct run_comparison *compare_inputs_as_sweeps(struct compare_command *state)
{
    const u32 count = state->inputs.list.count;
    struct compare_sweep **sweeps = arena_array(state->arena, struct compare_sweep *, count);
    struct error error = {0};
    char text[2400];
    for (u32 i = 0; i < count; i++)
        sweeps[i] = state->inputs.list.data[i].sweep;
    struct run_comparison *comparison =
        compare_sweeps(state->arena, sweeps, count, state->options, &error);
    if (!comparison)
        complain(state->command, "%s", error_text(&error, text, sizeof text));
    return comparison;
}

static int compare_all(struct compare_command *state)
{
    if (!parse_options(state) || !compare_inputs_read(&state->inputs, state->line) ||
        !check_outputs(state))
        return EXIT_USAGE;
    struct run_comparison *comparison =
        (state->inputs.sweeps ? compare_inputs_as_sweeps : compare_inputs_as_runs)(state);
    int code = EXIT_USAGE;
    if (!comparison)
        return code;
    if (write_output(state, comparison, "--json", write_json) &&
        write_output(state, comparison, "--html", compare_print_html)) {
        if (!goes_to_stdout(state->line, "--json") && !goes_to_stdout(state->line, "--html"))
            compare_print_text(stdout, comparison);
        const bool tell = option_value(state->line, "--exit-code");
        code = tell && compare_differ(comparison) ? EXIT_DIFFER : EXIT_DONE;
    }
    compare_free(comparison);
    return code;
}

static int run_compare(const struct command *command, const struct command_line *line)
{
    struct compare_command state = {.command = command, .line = line, .arena = arena_create()};
    state.inputs = (struct compare_inputs){.command = command, .arena = state.arena, .least = 2};
    const int code = compare_all(&state);
    compare_inputs_close(&state.inputs);
    if (state.has_expression)
        regfree(&state.expression);
    arena_destroy(state.arena);
    return code;
}

static const struct option compare_options[] = {
    {"--kernel", "REGEX",
     "Compare only launches of kernels whose names match this extended regular expression.", 0, 0},
    {"--top", "N", "Rows of each table; 0 shows all. The default is 10.", 0, 0},
    {"--ignore", "SHARE",
     "Results that differ by at most this share of the larger value count as equal: 1% or 0.01. "
     "The default is 0: every difference counts.",
     0, 0},
    {"--exit-code", NULL,
     "Return 1 if a result differs from that of the first file by more than --ignore, 0 if none "
     "does. Differences of configuration, manifest and host do not count.",
     0, 0},
    {"--json", "FILE",
     "Write the comparison as JSON, with all rows; '-' is standard output, instead of the text.", 0,
     COMPLETE_FILE},
    {"--html", "FILE",
     "Write the comparison as a page with charts, which needs no other file; '-' is standard "
     "output, instead of the text.",
     0, COMPLETE_FILE},
    {0},
};

static const struct example compare_examples[] = {
    {"heddle compare base.json darsie.json", "What a mechanism changes:"},
    {"heddle compare l1-16k.json l1-32k.json l1-64k.json --html sizes.html",
     "Several runs beside the first, as a page:"},
    {"heddle compare a.json b.json --kernel '^hotspot$' --top 30",
     "One kernel, with more rows in each table:"},
    {"heddle compare old/sweep.db new/sweep.db", "Two sweeps, point by point:"},
    {"heddle compare cache/sweep.db#mechanism=none cache/sweep.db#mechanism=darsie",
     "Two halves of one sweep: what a mechanism does at every point:"},
    {"heddle compare expected.json now.json --ignore 1% --exit-code",
     "In a test: fail if a result moved by more than 1 %:"},
    {0},
};

const struct command compare_command = {
    .name = "compare",
    .words = "A.json|A.db[#AXIS=VALUE,...] B.json|B.db[#AXIS=VALUE,...] [...]",
    .summary = "compare runs or sweeps: what differs, and what explains the time",
    .help =
        "Compares statistics files of 'heddle run --stats' with the first of them: what was "
        "given (program, version, machine, mechanisms, parameters), time in total and by "
        "kernel and launch, uses of issue slots, memory, energy by part, source lines, and all "
        "statistics. In each table the largest contribution to the difference comes first. The "
        "first line is the verdict: how many times as fast, and which issue slots explain "
        "it.\n"
        "\n"
        "Results files of 'heddle sweep' and 'heddle reproduce', or the folders of sweeps, are "
        "compared point by point: points are matched by the values of their axes. "
        "'#AXIS=VALUE,...' after a file selects points, and these axes are then not matched. If "
        "one point is selected of each, they are compared as runs.\n"
        "\n"
        "Files of another schema are refused. Files without some section (a functional run has "
        "no times) are compared in the others, and a note says so. '-' reads standard input.",
    .options = compare_options,
    .examples = compare_examples,
    .max_words = UINT32_MAX,
    .complete = COMPLETE_FILE,
    .run = run_compare,
};
