/* heddle compare: what differs between runs (compare/compare.h). */
#include "compare/compare.h"

#include "base/text.h"
#include "cli/common.h"
#include "cli/output.h"
#include <stdlib.h>

enum {
    MOST_RUNS = 32,
    DEFAULT_TOP = 10,
    FILE_LIMIT = 1 << 30
};

struct compare_command {
    const struct command *command;
    const struct command_line *line;
    struct arena *arena;
    struct compare_run *runs[MOST_RUNS];
    u32 count;
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

/* ---- inputs ---- */

/* The name of a file without folder and ".json", if those of all files are different; else the
 * whole path. */
static const char *label_of(struct compare_command *state, const char *path, bool whole)
{
    if (whole)
        return path;
    const char *slash = strrchr(path, '/'), *name = slash ? slash + 1 : path;
    const char *dot = strrchr(name, '.');
    return dot && dot > name && !strcmp(dot, ".json")
               ? arena_strndup(state->arena, name, (size_t)(dot - name))
               : name;
}

static bool labels_differ(struct compare_command *state)
{
    for (u32 i = 0; option_word(state->line, i); i++)
        for (u32 k = 0; k < i; k++)
            if (!strcmp(label_of(state, option_word(state->line, i), false),
                        label_of(state, option_word(state->line, k), false)))
                return false;
    return true;
}

static bool read_run(struct compare_command *state, const char *path, bool whole)
{
    struct error error = {0};
    size_t length;
    char *text = text_read_file(path, true, FILE_LIMIT, &length, &error);
    struct compare_run *run = text ? compare_run_parse(state->arena, label_of(state, path, whole),
                                                       path, text, length, &error)
                                   : NULL;
    free(text);
    if (!run) {
        complain(state->command, "%s: %s", error.place, error.message);
        return false;
    }
    state->runs[state->count++] = run;
    return true;
}

static bool read_runs(struct compare_command *state)
{
    const bool whole = !labels_differ(state);
    u32 dashes = 0;
    if (!option_word(state->line, 1)) {
        usage_error(state->command, "expected at least two statistics files");
        return false;
    }
    for (u32 i = 0; option_word(state->line, i); i++)
        dashes += !strcmp(option_word(state->line, i), "-");
    if (dashes > 1) {
        usage_error(state->command, "standard input ('-') can be read only once");
        return false;
    }
    for (u32 i = 0; option_word(state->line, i); i++)
        if (!read_run(state, option_word(state->line, i), whole))
            return false;
    return true;
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
        for (u32 k = 0; option_word(state->line, k); k++)
            if (strcmp(paths[i], "-") != 0 && output_same(paths[i], option_word(state->line, k))) {
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

static int compare_all(struct compare_command *state)
{
    if (!parse_options(state) || !check_outputs(state) || !read_runs(state))
        return EXIT_USAGE;
    struct run_comparison *comparison =
        compare_runs(state->arena, state->runs, state->count, state->options);
    bool any = !state->options.kernel;
    for (u32 i = 0; i < state->count; i++)
        any |= compare_run_launches(state->runs[i]) > 0;
    int code = EXIT_USAGE;
    if (!any) {
        complain(state->command, "--kernel %s: no kernel of any file has such a name",
                 option_value(state->line, "--kernel"));
    } else if (write_output(state, comparison, "--json", write_json) &&
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
    const int code = compare_all(&state);
    for (u32 i = 0; i < state.count; i++)
        compare_run_free(state.runs[i]);
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
    {"heddle compare expected.json now.json --ignore 1% --exit-code",
     "In a test: fail if a result moved by more than 1 %:"},
    {0},
};

const struct command compare_command = {
    .name = "compare",
    .words = "A.json B.json [...]",
    .summary = "compare runs: what differs, and what explains the time",
    .help = "Compares statistics files of 'heddle run --stats' with the first of them: what was "
            "given (program, version, machine, mechanisms, parameters), time in total and by "
            "kernel and launch, uses of issue slots, memory, energy by part, source lines, and all "
            "statistics. In each table the largest contribution to the difference comes first. The "
            "first line is the verdict: how many times as fast, and which issue slots explain "
            "it.\n"
            "\n"
            "Files of another schema are refused. Files without some section (a functional run has "
            "no times) are compared in the others, and a note says so. '-' reads standard input.",
    .options = compare_options,
    .examples = compare_examples,
    .max_words = MOST_RUNS,
    .complete = COMPLETE_FILE,
    .run = run_compare,
};
