/*
 * heddle sweep: grids of runs. The work is done in lab/; options, progress and files are handled
 * here, the plan that options describe in sweep_plan.c.
 *
 * A campaign is a folder: plan.yaml if options gave the plan, sweep.db with the results, logs of
 * failed points, and sweep.csv, sweep.json and sweep.html.
 */
#include "cli/sweep.h"

#include "base/text.h"
#include "cli/common.h"
#include "cli/laboratory.h"
#include "cli/output.h"
#include "cli/sweep_plan.h"
#include "lab/batch.h"
#include "lab/catalogue.h"
#include "lab/resolver.h"
#include <errno.h>
#include <stdlib.h>
#include <sys/stat.h>
#include <unistd.h>

enum {
    ROWS_SHOWN = 48,
    COMMANDS_SHOWN = 5
};

bool campaign_complain(const struct campaign *campaign, const struct error *error)
{
    char text[2400];
    complain(campaign->command, "%s", error_text(error, text, sizeof text));
    return false;
}

/* ---- the plan ---- */

static bool make_plan(struct campaign *campaign)
{
    struct error error = {0};
    campaign->plan = plan_create(&campaign->host, &laboratory_files, campaign->quick, &error);
    if (!campaign->plan || !plan_add(campaign->plan, campaign->experiment, NULL, &error))
        return campaign_complain(campaign, &error);
    campaign->survey = survey_create(campaign->plan, &error);
    if (campaign->survey && !campaign->survey->wanted)
        error_fill(&error, ERROR_INPUT, campaign->tree ? "" : campaign->experiment->given,
                   "there is nothing to run: all points are excluded");
    return error.code == ERROR_NONE || campaign_complain(campaign, &error);
}

/* Says which settings affect no point: a sweep over them shows nothing. */
static void note_idle_parameters(const struct campaign *campaign)
{
    const struct set_parameter *one;
    for (u32 i = 0; (one = resolver_parameter(campaign->plan->resolver, i)); i++)
        if (!one->acts)
            complain(campaign->command, "note: %s has no effect on any point: it needs %s",
                     one->key, one->missing);
}

/* The experiment of a plan file or of options. */
static bool load_plan(struct campaign *campaign, const char *file)
{
    struct error error = {0};
    const char *option = sweep_plan_option(campaign->line);
    if (file && option) {
        usage_error(campaign->command,
                    "%s is part of a plan: write it into %s, or use options only", option,
                    text_printable(campaign->arena, file));
        return false;
    }
    if (file) {
        campaign->experiment = experiment_load(campaign->arena, &laboratory_files, file, &error);
    } else {
        campaign->tree = sweep_plan(campaign->command, campaign->line, campaign->arena);
        if (!campaign->tree)
            return false;
        campaign->experiment = experiment_read(campaign->arena, &laboratory_files, campaign->tree,
                                               "options", false, &error);
    }
    return campaign->experiment || campaign_complain(campaign, &error);
}

/* Sets the campaign's folder: absolute, and as the user named it, without slashes at the end. */
static void set_folder(struct campaign *campaign, const char *name)
{
    size_t length = strlen(name);
    while (length > 1 && name[length - 1] == '/')
        length--;
    campaign->shown = arena_strndup(campaign->arena, name, length);
    campaign->folder = campaign->shown[0] == '/' ? campaign->shown
                                                 : arena_printf(campaign->arena, "%s/%s",
                                                                campaign->start, campaign->shown);
    campaign->database = arena_printf(campaign->arena, "%s/sweep.db", campaign->folder);
}

/* ---- a folder that exists ---- */

/* Opens the campaign in a folder: its store, and the plan as it was given. */
static bool open_campaign(struct campaign *campaign,
                          struct store *(*open)(const char *path, struct error *error))
{
    const char *name = option_word(campaign->line, 1);
    struct error error = {0};
    if (!name) {
        usage_error(campaign->command,
                    "expected the folder of a sweep, as in 'heddle sweep %s DIR'",
                    option_word(campaign->line, 0));
        return false;
    }
    set_folder(campaign, name);
    if (access(campaign->database, F_OK) != 0) {
        complain(campaign->command, "%s: there is no sweep in this folder: %s is missing",
                 campaign->shown, campaign->database);
        return false;
    }
    campaign->store = open(campaign->database, &error);
    if (!campaign->store)
        return campaign_complain(campaign, &error);
    const char *plan = store_fact(campaign->store, campaign->arena, "plan");
    const char *folder = store_fact(campaign->store, campaign->arena, "folder");
    const char *quick = store_fact(campaign->store, campaign->arena, "quick");
    if (!plan || !folder) {
        complain(campaign->command, "%s: this results file belongs to no sweep",
                 campaign->database);
        return false;
    }
    if (chdir(folder) != 0) {
        complain(campaign->command, "%s: the folder in which the sweep was started: %s", folder,
                 strerror(errno));
        return false;
    }
    campaign->quick = quick && !strcmp(quick, "yes");
    struct experiment *experiment =
        experiment_load(campaign->arena, &laboratory_files, plan, &error);
    if (!experiment)
        return campaign_complain(campaign, &error);
    experiment->given = plan;
    campaign->experiment = experiment;
    return make_plan(campaign);
}

/* ---- a new campaign ---- */

static bool save_plan(struct campaign *campaign)
{
    struct output output;
    struct error error = {0};
    if (!output_open(&output, arena_printf(campaign->arena, "%s/plan.yaml", campaign->folder),
                     &error))
        return campaign_complain(campaign, &error);
    sweep_plan_write(output.stream, campaign->tree, campaign->start);
    return output_commit(&output, &error) || campaign_complain(campaign, &error);
}

/* Creates the folder, the plan and the results file. */
static bool create_campaign(struct campaign *campaign)
{
    struct error error = {0};
    if (!laboratory_folder(campaign->command, "--out", campaign->folder))
        return false;
    /* the store first: the plan of a folder whose results cannot be used is left alone */
    campaign->store = store_open(campaign->database, &error);
    if (!campaign->store)
        return campaign_complain(campaign, &error);
    if (campaign->tree && !save_plan(campaign))
        return false;
    return (store_set_fact(campaign->store, "plan", campaign->experiment->given, &error) &&
            store_set_fact(campaign->store, "folder", campaign->start, &error) &&
            store_set_fact(campaign->store, "quick", campaign->quick ? "yes" : "no", &error)) ||
           campaign_complain(campaign, &error);
}

/* ---- running ---- */

static int dry_run(struct campaign *campaign)
{
    const struct survey *survey = campaign->survey;
    const struct space *space = &campaign->experiment->space;
    struct error error = {0};
    printf("%s: %llu point%s", campaign->experiment->name, (unsigned long long)survey->wanted,
           survey->wanted == 1 ? "" : "s");
    if (space->size > survey->wanted)
        printf(", %llu excluded", (unsigned long long)(space->size - survey->wanted));
    if (survey->wanted > survey->points.count)
        printf(", %llu equal to others",
               (unsigned long long)(survey->wanted - survey->points.count));
    printf("\n");
    for (u32 i = 0; i < space->axis_count; i++)
        printf("  %-20s %u value%s\n", space->axes[i].name, space->axes[i].count,
               space->axes[i].count == 1 ? "" : "s");
    for (u32 i = 0; i < MIN(survey->points.count, COMMANDS_SHOWN); i++) {
        struct arena *arena = arena_create();
        struct point point;
        if (plan_point(campaign->plan, survey->points.data[i].number, arena, &point, &error))
            printf("%s\n", point_command(arena, &point));
        arena_destroy(arena);
    }
    if (survey->points.count > COMMANDS_SHOWN)
        printf("... and %u more\n", survey->points.count - COMMANDS_SHOWN);
    return EXIT_DONE;
}

/* Writes the files and prints the table; the exit code. */
static int report_campaign(struct campaign *campaign, const struct runner_result *result)
{
    struct error error = {0};
    struct sheet *sheet =
        sheet_make(campaign->plan, campaign->survey, campaign->store, false, &error);
    if (!sheet)
        return campaign_complain(campaign, &error), EXIT_USAGE;
    bool ok = sweep_write(campaign, sheet);
    if (ok) {
        sheet_text(stdout, sheet, ROWS_SHOWN);
        printf("\n%llu of %u runs were stored before; %s/sweep.csv, sweep.json, sweep.html\n",
               (unsigned long long)result->stored, campaign->survey->points.count, campaign->shown);
    }
    sheet_destroy(sheet);
    if (result->failed)
        complain(campaign->command,
                 "%llu point%s failed; 'heddle sweep status %s' shows why, 'heddle sweep retry %s' "
                 "runs %s again",
                 (unsigned long long)result->failed, result->failed == 1 ? "" : "s",
                 campaign->shown, campaign->shown, result->failed == 1 ? "it" : "them");
    return !ok ? EXIT_USAGE : result->failed ? EXIT_GUEST : EXIT_DONE;
}

static const char *self(struct arena *arena)
{
    char path[4096];
    ssize_t length = readlink("/proc/self/exe", path, sizeof path - 1);
    return length > 0 ? arena_strndup(arena, path, (size_t)length) : "/proc/self/exe";
}

/* The values of a repeated option, NULL-terminated. */
static const char **option_values(struct arena *arena, const struct command_line *line,
                                  const char *name)
{
    const char **values = arena_array(arena, const char *, line->count + 1);
    u32 count = 0;
    for (u32 i = 0; i < line->count; i++)
        if (line->given[i].option && !strcmp(line->given[i].option->name, name))
            values[count++] = line->given[i].value;
    return values;
}

static struct executor *open_executor(struct campaign *campaign)
{
    const char *on = option_value(campaign->line, "--on");
    const char *pack = option_value(campaign->line, "--pack");
    struct executor_setup setup = {.folder = campaign->folder,
                                   .build = campaign->plan->build,
                                   .options =
                                       option_values(campaign->arena, campaign->line, "--sbatch")};
    struct error error = {0};
    u64 points = 0;
    on = on ? on : "local";
    /* only this host can run an executable that has been replaced */
    setup.heddle = strncmp(on, "local", 5) ? self(campaign->arena) : campaign->host.heddle;
    if (!laboratory_limits(campaign->command, campaign->line, &setup.parallel, &setup.limits))
        return NULL;
    if (pack && (text_u64(pack, &points) != TEXT_OK || !points || points > 1000000)) {
        usage_error(campaign->command, "--pack: '%s': expected 1 to 1000000 points", pack);
        return NULL;
    }
    setup.pack = (u32)points;
    struct executor *executor = executor_open(&setup, on, &error);
    if (!executor)
        usage_error(campaign->command, "--on %s", error.message);
    return executor;
}

/* Runs the points on an executor, which is closed. */
static int run_campaign(struct campaign *campaign, struct executor *executor, const char *retry)
{
    const struct runner_options options = {
        .force = option_value(campaign->line, "--force"),
        .fail_fast = option_value(campaign->line, "--fail-fast"),
        .retry = retry,
        .logs = arena_printf(campaign->arena, "%s/logs", campaign->folder)};
    struct runner_result result;
    struct error error = {0};
    bool ok = catalogue_write(campaign->store, campaign->plan, campaign->survey, true, &error) &&
              runner_run(campaign->plan, campaign->survey, campaign->store, executor, &options,
                         campaign->draws ? laboratory_draw : NULL, NULL, &result, &error);
    executor->kind->close(executor);
    if (campaign->draws)
        laboratory_clear();
    if (!ok)
        return campaign_complain(campaign, &error), EXIT_USAGE;
    const u32 damaged = store_damaged(campaign->store);
    if (damaged)
        complain(campaign->command, "%s: %u result%s damaged or modified; ignored, and run again",
                 campaign->database, damaged, damaged > 1 ? "s were" : " was");
    if (option_value(campaign->line, "--timing") && result.ran)
        complain(campaign->command, "%.3f ms of bookkeeping for each of %llu runs",
                 1e3 * result.busy / (f64)result.ran, (unsigned long long)result.ran);
    if (result.signal) {
        complain(campaign->command, "interrupted; 'heddle sweep resume %s' continues from here",
                 campaign->shown);
        return 128 + result.signal;
    }
    if (result.cut_short)
        complain(campaign->command, "stopped at the first failure");
    return report_campaign(campaign, &result);
}

/* ---- the command ---- */

static int new_campaign(struct campaign *campaign)
{
    const char *file = option_word(campaign->line, 0), *out = option_value(campaign->line, "--out");
    if (out && !*out)
        return usage_error(campaign->command, "--out: expected a folder");
    if (!load_plan(campaign, file))
        return EXIT_USAGE;
    set_folder(campaign, out ? out : campaign->experiment->name);
    struct experiment *experiment = (struct experiment *)campaign->experiment;
    if (!file)
        experiment->given = arena_printf(campaign->arena, "%s/plan.yaml", campaign->shown);
    if (!make_plan(campaign))
        return EXIT_USAGE;
    note_idle_parameters(campaign);
    if (option_value(campaign->line, "--dry-run"))
        return dry_run(campaign);
    struct executor *executor = open_executor(campaign);
    if (!executor)
        return EXIT_USAGE;
    if (create_campaign(campaign))
        return run_campaign(campaign, executor, NULL);
    executor->kind->close(executor);
    return EXIT_USAGE;
}

static int continue_campaign(struct campaign *campaign, const char *retry)
{
    struct executor *executor =
        open_campaign(campaign, store_open) ? open_executor(campaign) : NULL;
    return executor ? run_campaign(campaign, executor, retry) : EXIT_USAGE;
}

static int retry_campaign(struct campaign *campaign)
{
    const char *reason = option_value(campaign->line, "--failed");
    if (reason && !outcome_find(reason)) {
        const char *all = "";
        for (u32 i = 0; outcome_reasons[i].name; i++)
            all = arena_printf(campaign->arena, "%s%s%s", all,
                               !i                            ? ""
                               : outcome_reasons[i + 1].name ? ", "
                                                             : " or ",
                               outcome_reasons[i].name);
        return usage_error(campaign->command, "--failed: '%s': expected %s",
                           text_printable(campaign->arena, reason), all);
    }
    return continue_campaign(campaign, reason ? reason : "");
}

static int resume_campaign(struct campaign *campaign)
{
    return continue_campaign(campaign, NULL);
}

static int show_status(struct campaign *campaign)
{
    return open_campaign(campaign, store_open_to_read) ? sweep_status(campaign) : EXIT_USAGE;
}

static int export_campaign(struct campaign *campaign)
{
    return open_campaign(campaign, store_open_to_read) ? sweep_export(campaign) : EXIT_USAGE;
}

/* heddle sweep worker FOLDER TASK: what a scheduler starts on its nodes */
static int run_worker(struct campaign *campaign)
{
    const char *cores = getenv("SLURM_CPUS_PER_TASK");
    struct worker_setup setup = {
        .heddle = campaign->host.heddle, .folder = option_word(campaign->line, 1), .parallel = 1};
    const char *task = option_word(campaign->line, 2);
    struct error error = {0};
    u64 count;
    int number = 0;
    if (!setup.folder || !task || text_u64(task, &setup.task) != TEXT_OK)
        return usage_error(campaign->command, "expected worker FOLDER TASK");
    if (cores && text_u64(cores, &count) == TEXT_OK && count && count <= 1024)
        setup.parallel = (u32)count;
    campaign->plan = plan_create(&campaign->host, &laboratory_files, false, &error);
    if (campaign->plan)
        setup.build = campaign->plan->build;
    if (!campaign->plan || !batch_work(&setup, &number, &error))
        return campaign_complain(campaign, &error), EXIT_USAGE;
    return number ? 128 + number : EXIT_DONE;
}

/* What the first word may be. */
struct action {
    const char *name;
    int (*run)(struct campaign *campaign);
    u32 words;   /* after the name */
    u32 options; /* that it takes: enum sweep_option_flags */
};

static const struct action actions[] = {
    {"status", show_status, 1, 0},
    {"resume", resume_campaign, 1, SWEEP_RUN},
    {"retry", retry_campaign, 1, SWEEP_RUN | SWEEP_RETRY},
    {"export", export_campaign, 1, SWEEP_EXPORT},
    {"worker", run_worker, 2, 0},
};
/* A plan file, or options only. */
static const struct action new_action = {"", new_campaign, 0, SWEEP_PLAN | SWEEP_NEW | SWEEP_RUN};

/* Refuses options of other actions, which would have no effect, and words too many. */
static bool fits(const struct action *action, const struct command *command,
                 const struct command_line *line)
{
    const bool is_new = action == &new_action;
    for (u32 i = 0; i < line->count; i++) {
        const struct option *option = line->given[i].option;
        if (!option || option->flags & action->options)
            continue;
        if (is_new)
            usage_error(command, "%s belongs to 'heddle sweep %s'", option->name,
                        option->flags & SWEEP_RETRY ? "retry" : "export");
        else
            usage_error(command, "'heddle sweep %s' takes no %s", action->name, option->name);
        return false;
    }
    const char *more = option_word(line, action->words + 1);
    if (more && is_new)
        usage_error(command, "expected one plan file, or status, resume, retry or export with a "
                             "folder");
    else if (more)
        usage_error(command, "'heddle sweep %s': expected one folder", action->name);
    return !more;
}

static int run_sweep(const struct command *command, const struct command_line *line)
{
    char here[4096];
    const char *word = option_word(line, 0);
    const struct action *action = &new_action;
    for (u32 i = 0; word && i < ARRAY_LEN(actions); i++)
        if (!strcmp(word, actions[i].name))
            action = &actions[i];
    if (!fits(action, command, line))
        return EXIT_USAGE;
    struct campaign campaign = {.command = command,
                                .line = line,
                                .arena = arena_create(),
                                .start = getcwd(here, sizeof here) ? here : ".",
                                .quick = option_value(line, "--quick"),
                                .draws = isatty(STDERR_FILENO)};
    campaign.host = laboratory_host(campaign.arena);
    const int code = action->run(&campaign);
    store_close(campaign.store);
    survey_destroy(campaign.survey);
    plan_destroy(campaign.plan);
    arena_destroy(campaign.arena);
    return code;
}

static const struct option options[] = {
    {"--machine", "LIST",
     "The machine, or several separated by commas: names that 'heddle machines' lists, or YAML "
     "files.",
     OPTION_LIST | SWEEP_PLAN, COMPLETE_MACHINE},
    {"--set", "KEY=VALUE,...",
     "A parameter, as 'heddle run' takes it. Several values make an axis; 8..64*2 stands for "
     "8,16,32,64 and 1..9+2 for 1,3,5,7,9. May be repeated.",
     OPTION_REPEAT | SWEEP_PLAN, COMPLETE_KEY},
    {"--mech", "NAME[:PARAMETER=VALUE,...][+NAME...]",
     "A value of the axis of mechanisms: none, one, or several joined with '+'. Repeat it for each "
     "value.",
     OPTION_REPEAT | SWEEP_PLAN, COMPLETE_MECHANISM},
    {"--workload", "LIST",
     "Programs that come with Heddle, separated by commas; a name may be followed by arguments, as "
     "in 'bfs --block 256'. May be repeated.",
     OPTION_REPEAT | OPTION_LIST | SWEEP_PLAN, COMPLETE_WORKLOAD},
    {"--program", "COMMAND", "An OpenCL program of your own with its arguments. May be repeated.",
     OPTION_REPEAT | SWEEP_PLAN, COMPLETE_FILE},
    {"--kernel", "COMMAND",
     "A file of kernels, with the options that 'heddle run' needs to launch it: 'k.ptx --grid 4 "
     "--block 256 --arg zero:4K'. May be repeated.",
     OPTION_REPEAT | SWEEP_PLAN, COMPLETE_FILE},
    {"--seed", "LIST",
     "Repeat every point with these seeds, as in 1..5; tables then show means with 95 % confidence "
     "intervals. Only mechanisms that use random numbers depend on seeds.",
     SWEEP_PLAN, 0},
    {"--chip", "LIST",
     "Repeat every point on these chips, separated by blanks: FILE.db:NUMBER or "
     "FILE.db:FIRST..LAST, "
     "of files that 'heddle chip --out' wrote, or draw:SEED:NUMBER, as 'heddle run --chip' takes; "
     "tables then show means with 95 % confidence "
     "intervals.",
     SWEEP_PLAN, COMPLETE_FILE},
    {"--zip", "AXIS,AXIS,...",
     "Vary these axes together: the first value of each, the second of each, and so on.",
     SWEEP_PLAN, 0},
    {"--exclude", "AXIS=VALUE,...", "Leave out the points with these values. May be repeated.",
     OPTION_REPEAT | SWEEP_PLAN, 0},
    {"--baseline", "AXIS=VALUE,...",
     "The points that others are compared with: 'baseline.timing.cycles' in a formula is the value "
     "of the point that has these values instead of its own.",
     SWEEP_PLAN, 0},
    {"--column", "STATISTIC|NAME=FORMULA",
     "What to put into the tables: a statistic that 'heddle stats' lists, or a formula over "
     "statistics. By default cycles, IPC and energy, and the speedup over a baseline. May be "
     "repeated.",
     OPTION_REPEAT | SWEEP_PLAN, 0},
    {"--quick", NULL, "Use the small sizes of workloads.", SWEEP_NEW, 0},
    {"--name", "NAME", "The name of the sweep; 'sweep' by default.", SWEEP_PLAN, 0},
    {"--out", "DIR", "The folder of the sweep; by default, its name.", SWEEP_NEW, COMPLETE_FILE},
    {"--dry-run", NULL,
     "Check the whole plan, print how many points it has and the first commands, and stop.",
     SWEEP_NEW, 0},
    {"--on", "local[:N]|command:'ssh host {}'|slurm[:N]",
     "Where to run: on this host, N runs at a time; through a command of yours, in which {} stands "
     "for the run's command line and {slot} for a number below --jobs; or as array jobs of Slurm, "
     "N tasks at a time. Other hosts must see the same files under the same paths.",
     SWEEP_RUN, 0},
    {"--pack", "N",
     "With --on slurm: points per task; by default, so that there are at most 256 "
     "tasks.",
     SWEEP_RUN, 0},
    {"--sbatch", "OPTION",
     "With --on slurm: an option for sbatch, as in --sbatch=--partition=long. May be repeated.",
     OPTION_REPEAT | SWEEP_RUN, 0},
    {"--jobs", "N", "Number of runs at a time; by default as many as the host has cores.",
     SWEEP_RUN, 0},
    {"--max-seconds", "S", "Stop a run after this much host time; it counts as failed (time-out).",
     SWEEP_RUN, 0},
    {"--max-memory", "BYTES",
     "Stop a run that uses more host memory than this, as in 512M or 4G; it counts as failed "
     "(memory).",
     SWEEP_RUN, 0},
    {"--keep-going", NULL, "Continue after failures. This is the default.", SWEEP_RUN, 0},
    {"--fail-fast", NULL, "Stop at the first failure.", SWEEP_RUN, 0},
    {"--force", NULL, "Run all points, whatever results there are.", SWEEP_RUN, 0},
    {"--failed", "exit|fault|deadlock|limit|memory|time-out|crash|start|node",
     "With retry: only points that failed for this reason.", SWEEP_RETRY, COMPLETE_CHOICE},
    {"--format", "csv|json|html|sqlite", "With export: the format; CSV by default.", SWEEP_EXPORT,
     COMPLETE_CHOICE},
    {"--file", "FILE", "With export: the file to write; standard output by default.", SWEEP_EXPORT,
     COMPLETE_FILE},
    {"--all", NULL, "With export: every statistic is a column.", SWEEP_EXPORT, 0},
    {"--timing", NULL, "Print the processor time that bookkeeping takes per run.", SWEEP_RUN, 0},
    {0},
};

static const struct example examples[] = {
    {"heddle sweep --machine gtx480 --set l1d.sets=8..64*2 --mech none --mech darsie --workload "
     "hotspot,kmeans --quick --out cache",
     "Four cache sizes, with and without a mechanism, on two workloads:"},
    {"heddle sweep plan.yaml --on local:4",
     "A plan file (docs/campaigns.md), four runs at a time:"},
    {"heddle sweep status cache", "How far it is, and what failed:"},
    {"heddle sweep retry cache --failed time-out --max-seconds 600",
     "Those that took too long once more, with more time:"},
    {"heddle sweep export cache --all --format json --file all.json",
     "Every statistic of every point:"},
    {0},
};

const struct command sweep_command = {
    .name = "sweep",
    .words = "[PLAN.yaml | status DIR | resume DIR | retry DIR | export DIR]",
    .summary = "run a grid of machines, parameters, mechanisms and programs",
    .help =
        "Runs every combination of the values given: of machines, parameters, mechanisms, programs "
        "and seeds. The axes come from options or from a plan file, which can also zip axes, "
        "exclude points and compute columns. The folder receives sweep.db (all results), sweep.csv "
        "(a row for each point), sweep.json and sweep.html (curves for each workload). "
        "docs/campaigns.md is a tutorial and describes plan files.\n"
        "\n"
        "Every result is kept as soon as its run ends. A point is run only if there is no result "
        "for "
        "the same resolved configuration, program, input files, Heddle, mechanism files and "
        "compiler. After Ctrl-C or a crash the "
        "same command, or 'resume', continues; several processes may work on one folder at a "
        "time. However often a sweep was interrupted, its files are the same, byte for byte.\n"
        "\n"
        "'status' counts what is done, running, waiting and failed, and lists the failures with "
        "their logs. 'retry' runs failed points again. 'export' writes the table in other formats. "
        "The exit code is 1 if points failed.",
    .options = options,
    .examples = examples,
    .max_words = 3,
    .complete = COMPLETE_CAMPAIGN,
    .run = run_sweep,
};
