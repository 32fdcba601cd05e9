/*
 * heddle inject: fault campaigns on kernels of files and on programs. heddle/inject.h does the work;
 * options, launches, outputs, progress and files are handled here and in inject_files.c.
 *
 *  I1  All errors of options, files and kernels are found before the first run.
 *  I2  Files are written when the campaign has ended, each atomically; after Ctrl-C, with what is
 *      done. They depend on the command line and its inputs only, not on --jobs or the host.
 */
#include "cli/inject.h"

#include "base/text.h"
#include "cli/common.h"
#include "cli/laboratory.h"
#include "cli/program.h"
#include "cli/raw.h"
#include <errno.h>
#include <math.h>
#include <signal.h>
#include <stdlib.h>
#include <sys/stat.h>
#include <time.h>
#include <unistd.h>

enum {
    OWN = OPTION_OWN, /* options that the request of a run does not know */
    MOST_FOR_INTERVAL = 1000000,
    LIST_LIMIT = 1 << 28
};

/* ---- options ---- */

/* The command line without the campaign's own options, as the request of a run takes it. */
static void take_run_line(struct inject_command *inject, const struct command_line *line,
                          struct arena *arena)
{
    inject->line = *line;
    inject->line.given = arena_array(arena, struct given, line->count);
    inject->line.count = 0;
    for (u32 i = 0; i < line->count; i++)
        if (!line->given[i].option || !(line->given[i].option->flags & OWN))
            inject->line.given[inject->line.count++] = line->given[i];
}

static bool take_number(const struct inject_command *inject, const struct command_line *line,
                        const char *option, u64 least, u64 most, u64 *value)
{
    const char *text = option_value(line, option);
    if (!text || (text_u64(text, value) == TEXT_OK && *value >= least && *value <= most))
        return true;
    usage_error(inject->run.command, "%s: '%.64s': expected an integer from %llu to %llu", option,
                text, (unsigned long long)least, (unsigned long long)most);
    return false;
}

/* A share: "1%" or 0.01. */
static bool take_share(const struct inject_command *inject, const struct command_line *line,
                       const char *option, f64 least, f64 most, f64 *value)
{
    const char *text = option_value(line, option);
    char number[32];
    if (!text)
        return true;
    const size_t length = strlen(text);
    const bool percent = length && text[length - 1] == '%';
    snprintf(number, sizeof number, "%.*s", (int)MIN(length - percent, sizeof number), text);
    if (length >= sizeof number || text_f64(number, value) != TEXT_OK ||
        !((*value *= percent ? 0.01 : 1) >= least && *value <= most)) {
        usage_error(inject->run.command, "%s: '%.64s': expected a share from %g%% to %g%%", option,
                    text, 100 * least, 100 * most);
        return false;
    }
    return true;
}

static bool take_hang(struct inject_command *inject, const struct command_line *line)
{
    const char *text = option_value(line, "--hang");
    if (!text || (text_f64(text, &inject->plan.hang) == TEXT_OK && inject->plan.hang >= 1.1 &&
                  inject->plan.hang <= 1e6))
        return true;
    usage_error(inject->run.command, "--hang: '%.64s': expected a number from 1.1 to 1000000",
                text);
    return false;
}

static bool take_list(struct inject_command *inject, const struct command_line *line)
{
    struct error error = {0};
    size_t length;
    const char *path = option_value(line, "--list");
    if (!path)
        return true;
    const char *random = option_value(line, "--faults")     ? "--faults"
                         : inject->plan.half_width > 0      ? "--interval"
                         : option_value(line, "--stratify") ? "--stratify"
                                                            : NULL;
    if (random) {
        usage_error(inject->run.command, "--list names the faults: %s is for random ones", random);
        return false;
    }
    char *text = text_read_file(path, true, LIST_LIMIT, &length, &error);
    if (!text) {
        complain(inject->run.command, "--list: %s: %s", error.place, error.message);
        return false;
    }
    record_text(&inject->run, path, text, length);
    inject->plan.list = arena_strndup(inject->run.request.arena, text, length);
    inject->plan.list_name = path;
    free(text);
    return true;
}

/* How outputs are compared. */
static bool take_verdict(struct inject_command *inject, const struct command_line *line)
{
    struct hd_inject_plan *plan = &inject->plan;
    const char **files = arena_array(inject->run.request.arena, const char *, line->count);
    const char *tolerance = option_value(line, "--tolerance");
    for (u32 i = 0; i < line->count; i++) {
        const struct given *given = &line->given[i];
        if (!given->option || strcmp(given->option->name, "--compare") != 0)
            continue;
        if (!*given->value || *given->value == '/') {
            usage_error(inject->run.command,
                        "--compare: '%s': expected the name of a file in the program's working "
                        "folder, or - for standard output",
                        given->value);
            return false;
        }
        files[plan->file_count++] = given->value;
    }
    plan->files = files;
    if (plan->file_count && !inject->run.request.program) {
        usage_error(inject->run.command, "--compare is for programs: of kernel files, buffers are "
                                         "compared");
        return false;
    }
    if (!tolerance || (text_f64(tolerance, &plan->tolerance) == TEXT_OK && plan->tolerance >= 0 &&
                       plan->tolerance <= 1000))
        return true;
    usage_error(inject->run.command,
                "--tolerance: '%.64s': expected a number from 0 to 1000, such as 0.001", tolerance);
    return false;
}

static bool take_options(struct inject_command *inject, const struct command_line *line)
{
    struct hd_inject_plan *plan = &inject->plan;
    u64 jobs = 0, only = 0;
    struct error error = {0};
    plan->structures = option_value(line, "--structures");
    plan->model = option_value(line, "--model");
    plan->words = option_value(line, "--words");
    plan->seed = 1;
    plan->stratify = option_value(line, "--stratify");
    if (!take_share(inject, line, "--interval", 0.0005, 0.5, &plan->half_width) ||
        !take_share(inject, line, "--audit", 0.0001, 1, &plan->audit) || !take_hang(inject, line) ||
        !take_list(inject, line) ||
        !take_number(inject, line, "--faults", 1, 10000000, &plan->faults) ||
        !take_number(inject, line, "--seed", 0, UINT64_MAX, &plan->seed) ||
        !take_number(inject, line, "--window", 1, 1000000000000, &plan->window) ||
        !take_number(inject, line, "--jobs", 1, 1024, &jobs) ||
        !take_number(inject, line, "--only", 0, 10000000, &only))
        return false;
    plan->jobs = (u32)jobs;
    plan->only = option_value(line, "--only") ? (i64)only : -1;
    if (!plan->faults && !plan->list) {
        if (plan->half_width <= 0) {
            usage_error(inject->run.command,
                        "how many faults? expected --faults N, --interval P%% or --list FILE");
            return false;
        }
        plan->faults = MOST_FOR_INTERVAL;
    }
    if (!take_verdict(inject, line))
        return false;
    inject->trace = inject->run.request.timeline;
    if (inject->trace && (plan->only < 0 || inject->run.request.program ||
                          inject->run.request.state || !strcmp(inject->trace, "-"))) {
        usage_error(inject->run.command,
                    "--trace writes the trace of one fault in kernels of a file: "
                    "expected --only ID and the name of a file");
        return false;
    }
    inject->out = option_value(line, "--out");
    inject->stats = option_value(line, "--stats");
    if (inject->stats && !output_check(inject->stats, &error)) {
        complain(inject->run.command, "--stats: %s: %s", error.place, error.message);
        return false;
    }
    if (inject->out || inject->stats || plan->only >= 0)
        return true;
    usage_error(inject->run.command,
                "no place given for the results: expected --out DIR, or --stats FILE");
    return false;
}

/* ---- the trace of a fault ---- */

static void write_trace(void *user, const void *data, size_t bytes)
{
    fwrite(data, 1, bytes, user);
}

/* Called in the process that runs the fault again. */
static void trace_begin(struct inject_command *inject)
{
    const struct request *request = &inject->run.request;
    const struct hd_observe what = {.trace = write_trace,
                                    .trace_user = inject->tracing,
                                    .trace_from = request->trace_from,
                                    .trace_to = request->trace_to};
    hd_observe(inject->run.device, &what, NULL);
}

static void trace_end(void *user)
{
    const struct inject_command *inject = user;
    hd_observe(inject->run.device, NULL, NULL);
    fflush(inject->tracing);
}

/* ---- one run of the program ---- */

static void guest_output(void *user, const char *text, size_t length)
{
    struct inject_command *inject = user;
    if (inject->printed_bytes + length > inject->printed_room) {
        inject->printed_room = 2 * (inject->printed_bytes + length);
        inject->printed = checked(realloc(inject->printed, inject->printed_room));
    }
    memcpy(inject->printed + inject->printed_bytes, text, length);
    inject->printed_bytes += length;
}

static bool give_buffer(struct inject_command *inject, const struct run_buffer *buffer,
                        struct hd_error *error)
{
    u8 *bytes = checked(malloc(buffer->bytes));
    const bool ok = hd_read(inject->run.device, bytes, buffer->address, buffer->bytes, error);
    if (ok)
        hd_inject_output(inject->inject, buffer->label, buffer->address, bytes, buffer->bytes);
    free(bytes);
    return ok;
}

/* Output buffers, or all if there are none. */
static bool give_buffers(struct inject_command *inject, struct hd_error *error)
{
    const struct request *request = &inject->run.request;
    bool any = false;
    for (u32 i = 0; i < request->buffers.count; i++)
        any |= request->buffers.data[i].output != NULL;
    for (u32 i = 0; i < request->buffers.count; i++)
        if ((!any || request->buffers.data[i].output) &&
            !give_buffer(inject, &request->buffers.data[i], error))
            return false;
    hd_inject_output(inject->inject, "printf", 0, inject->printed, inject->printed_bytes);
    return true;
}

static u8 digit(char c)
{
    return (u8)(c <= '9' ? c - '0' : (c | 0x20) - 'a' + 10);
}

/* The memory of a raw program, region by region. */
static void give_regions(struct inject_command *inject)
{
    json_t *dump = parse_own_json(hd_raw_dump(inject->run.raw)), *region;
    size_t i;
    json_array_foreach(json_object_get(dump, "memory"), i, region)
    {
        const char *name = json_string_value(json_object_get(region, "address"));
        const char *hex = json_string_value(json_object_get(region, "hex"));
        const size_t count = hex ? strlen(hex) / 2 : 0;
        u8 *bytes = checked(malloc(count + 1));
        for (size_t b = 0; b < count; b++)
            bytes[b] = (u8)(digit(hex[2 * b]) << 4 | digit(hex[2 * b + 1]));
        hd_inject_output(inject->inject, name ? name : "memory", name ? strtoull(name, NULL, 0) : 0,
                         bytes, count);
        free(bytes);
    }
    json_decref(dump);
}

static bool run_once(void *user, struct hd_inject *unused, struct hd_result *result,
                     struct hd_error *error)
{
    struct inject_command *inject = user;
    struct run_command *run = &inject->run;
    (void)unused;
    inject->printed_bytes = 0;
    if (inject->tracing)
        trace_begin(inject);
    if (run->raw) {
        if (!hd_raw_run(run->raw, NULL, NULL, result, error))
            return false;
        if (result->outcome == HD_DONE)
            give_regions(inject);
        return true;
    }
    hd_set_output(run->device, guest_output, inject);
    for (u32 i = 0; i < run->request.launches.count; i++) {
        struct launch *launch = &run->request.launches.data[i];
        if (!run_launch(run, launch, error))
            return false;
        *result = launch->result;
        if (result->outcome != HD_DONE)
            return true;
    }
    return give_buffers(inject, error);
}

static int64_t start_program(void *user, const char *place, const char *job, struct hd_error *error)
{
    const struct inject_command *inject = user;
    return guest_start(inject->program, place, job, error);
}

/* ---- while it runs ---- */

static bool progress(void *user, uint64_t done, uint64_t total)
{
    struct inject_command *inject = user;
    sigset_t set;
    sigemptyset(&set);
    sigaddset(&set, SIGINT);
    sigaddset(&set, SIGTERM);
    const int number = sigtimedwait(&set, NULL, &(struct timespec){0});
    if (number > 0)
        inject->stopped = number;
    if (inject->draws && total) {
        fprintf(stderr, "\r\033[K%llu of %llu faults", (unsigned long long)done,
                (unsigned long long)total);
        fflush(stderr);
        inject->drawn = true;
    }
    return !inject->stopped;
}

/* Returns an exit code. */
static int run_campaign(struct inject_command *inject)
{
    struct hd_error error = {0};
    const struct hd_inject_host host = {inject->program ? NULL : run_once, progress, inject,
                                        .start = start_program};
    sigset_t set, old;
    sigemptyset(&set);
    sigaddset(&set, SIGINT);
    sigaddset(&set, SIGTERM);
    sigprocmask(SIG_BLOCK, &set, &old);
    const bool ok = hd_inject_run(inject->inject, &host, &error);
    sigprocmask(SIG_SETMASK, &old, NULL);
    if (inject->drawn)
        laboratory_clear();
    if (ok)
        return EXIT_DONE;
    report(inject->run.command, &error);
    return error.code == HD_ERROR_USAGE ? EXIT_USAGE : EXIT_FAULT;
}

/* ---- the command ---- */

/* Tells the story of the fault of --only. */
static void tell(const struct inject_command *inject)
{
    struct hd_fault fault;
    if (!hd_inject_fault(inject->inject, (u64)inject->plan.only, &fault))
        return;
    printf("fault %llu: %s, %u, entry %llu, bit %u, pattern %#llx, in launch %u, cycle %llu\n",
           (unsigned long long)fault.id, fault.structure, fault.owner,
           (unsigned long long)fault.entry, fault.bit, (unsigned long long)fault.pattern,
           fault.launch, (unsigned long long)fault.cycle);
    printf("outcome: %s (decided: %s)\n",
           fault.crashed ? "the simulator failed" : hd_effect_name(fault.effect),
           *fault.decided ? fault.decided : "no");
    if (fault.effect == HD_EFFECT_SDC)
        printf("wrong words: %llu, the first is word %llu of %s; largest relative error %g\n",
               (unsigned long long)fault.wrong, (unsigned long long)fault.first, fault.output,
               fault.error);
    if (fault.cycles)
        printf("cycles: %llu\n", (unsigned long long)fault.cycles);
    fputs(fault.story, stdout);
    if (*fault.detail || *fault.explanation)
        printf("%s: %s\n", *fault.detail ? fault.detail : "limit", fault.explanation);
}

/* Faults that show a bug of ours. */
static bool check_bugs(const struct inject_command *inject)
{
    struct hd_fault fault;
    u64 crashed = 0, disagree = 0, first = 0;
    for (u64 i = 0; hd_inject_fault(inject->inject, i, &fault); i++) {
        if (!crashed && !disagree)
            first = fault.id;
        crashed += fault.crashed;
        disagree += fault.disagrees;
    }
    if (crashed)
        complain(
            inject->run.command,
            "the simulator failed on %llu faults, first on %llu (--only repeats it): this is a "
            "bug in heddle",
            (unsigned long long)crashed, (unsigned long long)first);
    if (disagree)
        complain(inject->run.command,
                 "%llu faults that were decided early had another fate, first %llu: this is a bug "
                 "in heddle, and the results are not valid",
                 (unsigned long long)disagree, (unsigned long long)first);
    return !crashed && !disagree;
}

/* Runs the fault of --only once more, and writes its trace. */
static bool trace_fault(struct inject_command *inject)
{
    const struct hd_inject_host host = {run_once, NULL, inject, .replayed = trace_end};
    struct output output;
    struct error error = {0};
    struct hd_error why = {0};
    if (!output_open(&output, inject->trace, &error)) {
        complain(inject->run.command, "--trace: %s: %s", error.place, error.message);
        return false;
    }
    inject->tracing = output.stream;
    const bool ok = hd_inject_replay(inject->inject, (u64)inject->plan.only, &host, &why);
    inject->tracing = NULL;
    if (!ok)
        report(inject->run.command, &why);
    else if (!output_commit(&output, &error))
        complain(inject->run.command, "--trace: %s: %s", error.place, error.message);
    else
        return true;
    return false;
}

/* Everything that was asked for is written and printed; false: something could not be written. */
static bool tell_all(struct inject_command *inject, const json_t *summary)
{
    bool ok = !inject->out || inject_write(inject, summary);
    if (inject->trace && !inject->stopped)
        ok &= trace_fault(inject);
    if (inject->plan.only >= 0)
        tell(inject);
    else if (!inject->run.request.quiet)
        inject_print(inject, summary);
    if (hd_inject_threaded(inject->inject) && !inject->run.request.quiet)
        complain(inject->run.command, "the program has threads, so each fault ran in a process of "
                                      "its own from the beginning");
    return ok;
}

static int finish(struct inject_command *inject)
{
    json_t *summary = parse_own_json(hd_inject_json(inject->inject));
    const bool ok = tell_all(inject, summary);
    int code = ok ? EXIT_DONE : EXIT_USAGE;
    if (!check_bugs(inject)) {
        code = EXIT_BUG;
    } else if (inject->stopped) {
        complain(inject->run.command, "interrupted; the files have the faults that were done");
        code = 128 + inject->stopped;
    } else if (inject->stats && !inject_write_stats(inject, summary)) {
        code = EXIT_USAGE; /* only of a whole, valid campaign: a sweep would take it for one */
    }
    if (inject->plan.keep && !inject->stopped)
        unlink(inject->plan.keep);
    json_decref(summary);
    return code;
}

static int inject_all(struct inject_command *inject, const struct command_line *line)
{
    struct hd_error error = {0};
    struct run_command *run = &inject->run;
    run->inputs.wanted = true;
    if (!request_parse(&run->request, run->command, &inject->line))
        return EXIT_USAGE;
    run->request.in_time = true;
    run->request.threads = "1"; /* processes are forked in the middle of a launch */
    inject->draws = !run->request.quiet && isatty(STDERR_FILENO);
    if (!take_options(inject, line) || !(run->request.program ? run_open(run) : run_prepare(run)))
        return EXIT_USAGE;
    if (run->request.program) {
        inject->program = guest_open(run);
        if (!inject->program)
            return EXIT_USAGE;
        inject->plan.folder =
            arena_printf(run->request.arena, "%s/inject", guest_folder(inject->program));
        if (mkdir(inject->plan.folder, 0700) != 0) {
            complain(run->command, "%s: %s", inject->plan.folder, strerror(errno));
            return EXIT_USAGE;
        }
    }
    if (inject->out && inject->plan.only < 0)
        inject->plan.keep = arena_printf(run->request.arena, "%s/unfinished", inject->out);
    inject->inject = hd_inject_create(run->device, &inject->plan, &error);
    if (!inject->inject) {
        report(run->command, &error);
        return EXIT_USAGE;
    }
    if (inject->out && !laboratory_folder(run->command, "--out", inject->out))
        return EXIT_USAGE;
    const int code = run_campaign(inject);
    return code ? code : finish(inject);
}

static int inject_run(const struct command *command, const struct command_line *line)
{
    struct arena *arena = arena_create();
    struct inject_command inject = {.run = {.command = command, .live = true}};
    take_run_line(&inject, line, arena);
    inject.run.line = &inject.line;
    int code = inject_all(&inject, line);
    hd_inject_destroy(inject.inject);
    if (inject.program)
        guest_close(inject.program);
    run_free(&inject.run);
    free(inject.printed);
    arena_destroy(arena);
    return code;
}

static const struct option options[] = {
    {"--faults", "N", "The number of faults; with --interval, at most.", OWN, 0},
    {"--interval", "P%",
     "Stop when the share of faults that make the program fail (sdc, due and hang) is known within "
     "this half-width, at 95 % confidence.",
     OWN, 0},
    {"--list", "FILE",
     "Inject the faults of a table instead of random ones: comma-separated, with the headings "
     "structure, owner, entry, bit, pattern, launch and cycle, as in faults.csv.",
     OWN, COMPLETE_FILE},
    {"--only", "ID", "Run only the fault with this id, and print what became of it.", OWN, 0},
    {"--trace", "FILE",
     "With --only, of kernels of files: write a trace of the launches with the fault for the "
     "Perfetto "
     "viewer.",
     0, COMPLETE_FILE},
    {"--trace-window", "FROM:TO",
     "Trace only between two core cycles, counted from the start of the first launch.", 0, 0},
    {"--structures", "REGEX",
     "Flip bits of the storage elements whose names match this extended regular expression; "
     "'heddle machines NAME --storage' lists them. The default is all.",
     OWN, 0},
    {"--model", "bit|burst:K|stuck:CYCLES|word",
     "What a fault flips: one bit, K adjacent bits of an entry, or random bits of a 32-bit word of "
     "an entry. A bit that is stuck keeps the flipped value for so many cycles, or to the end of "
     "the "
     "launch. The default is bit.",
     OWN, 0},
    {"--stratify", NULL,
     "As many faults for each structure, instead of for each bit: small structures get intervals "
     "as "
     "narrow as large ones. Shares of the total are weighted by live bits.",
     OWN, 0},
    {"--seed", "S",
     "Seed of the random choice of faults; the default is 1. A fault with the same id, seed and "
     "options is the same fault.",
     OWN, 0},
    {"--words", "u32|s32|f32|f64",
     "The type of the words of output buffers, for counts of wrong words and relative errors. The "
     "default is u32.",
     OWN, COMPLETE_CHOICE},
    {"--tolerance", "X",
     "Words of outputs that differ by at most this share of the right value are right; for floats, "
     "with --words f32 or f64, and for numbers in text. The default is 0.",
     OWN, 0},
    {"--compare", "FILE",
     "A file that the program writes, by its name in the working folder, or - for its standard "
     "output: if it differs, so does the program's output. May be repeated. The program's exit "
     "code is always compared.",
     OWN | OPTION_REPEAT, COMPLETE_FILE},
    {"--window", "N",
     "Follow each fault for N cycles, or to the end of its launch, as studies of circuits do: then "
     "device memory that differs is sdc, and any bit that the model holds and that differs is "
     "gray, "
     "whether or not it matters.",
     OWN, 0},
    {"--hang", "X",
     "A launch that takes more than X times the cycles of the run without faults hangs; the "
     "default is 2.",
     OWN, 0},
    {"--audit", "P%",
     "Check this share of the faults that are decided before the end by running them to it; a "
     "single disagreement is an error. The default is 1 %.",
     OWN, 0},
    {"--jobs", "N",
     "Faults that are followed at the same time, each by a process; the default is the number of "
     "cores of the host. Results do not depend on it.",
     OWN, 0},
    {"--out", "DIR",
     "The folder for faults.csv, summary.json and report.html. A campaign that was killed or "
     "stopped goes on where it was if it is started again with the same options.",
     OWN, COMPLETE_FILE},
    {"--stats", "FILE",
     "Write the counts and shares of outcomes as statistics (JSON), as 'heddle sweep' reads them; "
     "- is "
     "standard output.",
     OWN, COMPLETE_FILE},
    LAUNCH_OPTIONS,
    PROGRAM_OPTIONS,
    MACHINE_OPTIONS,
    {"--quiet", NULL, "Print no summary, notes or progress.", 0, 0},
    {0},
};

static const struct example examples[] = {
    {"heddle inject saxpy.ptx --grid 16 --block 256 --arg in:x.bin --arg out:y.bin:16K "
     "--machine gtx480 --structures registers --faults 1000 --words f32 --out faults",
     "A thousand bit flips in the register files:"},
    {"heddle inject k.ptx --grid 64 --block 256 --arg out:y.bin:64K --machine gtx480 --interval 1% "
     "--out faults",
     "As many as it takes to know the failure rate of all structures within 1 %:"},
    {"heddle inject k.ptx --grid 64 --block 256 --arg out:y.bin:64K --machine gtx480 --faults 1000 "
     "--seed 7 --only 42",
     "One of these faults again, alone:"},
    {"heddle inject --workload kmeans --quick --machine gtx480 --structures registers --faults 500 "
     "--out faults",
     "A program that comes with Heddle:"},
    {"heddle inject --machine gtx480 --faults 500 --compare result.bin --words f32 --tolerance "
     "1e-3 "
     "--out faults -- ./my_opencl_program 1024",
     "An OpenCL program; a thousandth more or less in its result is right:"},
    {"heddle inject prog.s --si-state state.json --machine miaow --structures '^(issue|exec)[.]' "
     "--faults 200 --out faults",
     "Flip-flops of MIAOW's issue stage, in assembly code:"},
    {0},
};

const struct command inject_command = {
    .name = "inject",
    .words = "FILE --grid X[,Y[,Z]] --block X[,Y[,Z]] [options] [--then [FILE] ...] --faults N "
             "--out DIR | [options] --faults N --out DIR -- PROGRAM [ARGUMENTS]",
    .summary = "flip bits while kernels run, and tell what becomes of them",
    .help =
        "Launches kernels of a file as 'heddle run' does, first without faults, then with a bit "
        "flip each in a storage element of the machine at some cycle. Faults are drawn evenly over "
        "all live bits of the structures and all cycles. Each runs in a process that is forked "
        "from the run without faults at that cycle, and ends as soon as its fate is known:\n"
        "\n"
        "masked: output and cycles are those of the run without faults, and so is all state that "
        "can still matter. gray: output and cycles are, but state or memory differs at the end. "
        "time: only the number of cycles differs. sdc: the output differs (silent data "
        "corruption). due: the guest faults or deadlocks (detected, unrecoverable). hang: a launch "
        "exceeds --hang times its cycles.\n"
        "\n"
        "Output is what out: and inout: buffers hold at the end and what the guest prints; without "
        "such buffers, all buffers count; of raw programs, all memory. Output files of buffers are "
        "not written.\n"
        "\n"
        "Of an OpenCL program the exit code counts, and the files of --compare. It runs in a "
        "temporary folder with copies of small files of the working folder and links to others, "
        "and can write nowhere else. A process with a fault that is not decided in its launch "
        "returns into the program, in a copy of that folder. If the program has threads, each "
        "fault runs in a process from the beginning, which takes longer.",
    .options = options,
    .examples = examples,
    .max_words = UINT32_MAX,
    .complete = COMPLETE_FILE,
    .runs_programs = true,
    .run = inject_run,
};
