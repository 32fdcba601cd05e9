/* heddle sweep status, export, and the files that a sweep writes: see sweep.h. */
#include "base/text.h"
#include "cli/common.h"
#include "cli/output.h"
#include "cli/sweep.h"
#include "lab/slurm.h"
#include <unistd.h>

enum {
    FAILURES_SHOWN = 20
};

/* Counts of the distinct points of a campaign. */
struct tally {
    u64 done, waiting, failed;
    u64 reasons[16]; /* by row of outcome_reasons */
    f64 seconds;     /* of those that are done */
};

static bool count(struct campaign *campaign, struct tally *tally, struct error *error)
{
    const struct survey *survey = campaign->survey;
    for (u32 i = 0; i < survey->points.count && error->code == ERROR_NONE; i++) {
        struct arena *arena = arena_create();
        struct stored_result result;
        char key[SHA256_TEXT];
        surveyed_key(&survey->points.data[i], key);
        enum stored_state state = store_find(campaign->store, key, false, arena, &result, error);
        tally->done += state == STORED_DONE;
        tally->waiting += state == STORED_NOTHING;
        tally->failed += state == STORED_FAILED;
        tally->seconds += state == STORED_DONE ? result.seconds : 0;
        const struct outcome_reason *reason =
            state == STORED_FAILED ? outcome_find(result.status) : NULL;
        if (reason)
            tally->reasons[reason - outcome_reasons]++;
        arena_destroy(arena);
    }
    return error->code == ERROR_NONE;
}

static void print_counts(const struct campaign *campaign, const struct tally *tally)
{
    const struct survey *survey = campaign->survey;
    u64 running = MIN(store_claims(campaign->store), tally->waiting + tally->failed);
    printf("%s: %llu point%s", campaign->shown, (unsigned long long)survey->wanted,
           survey->wanted == 1 ? "" : "s");
    if (survey->wanted > survey->points.count)
        printf(", %u of them different", survey->points.count);
    printf("\ndone     %8llu\nrunning  %8llu\nwaiting  %8llu\nfailed   %8llu",
           (unsigned long long)tally->done, (unsigned long long)running,
           (unsigned long long)(tally->waiting - MIN(running, tally->waiting)),
           (unsigned long long)tally->failed);
    const char *sign = "  (";
    for (u32 i = 0; outcome_reasons[i].name; i++)
        if (tally->reasons[i]) {
            printf("%s%s %llu", sign, outcome_reasons[i].name,
                   (unsigned long long)tally->reasons[i]);
            sign = ", ";
        }
    printf("%s\n", tally->failed ? ")" : "");
    const struct slurm_left left = slurm_left_in(campaign->folder);
    if (left.batches)
        printf("slurm    %8u results to be taken in, %u tasks running, %u in the queue, %u failed; "
               "'heddle sweep resume %s --on slurm' waits for them\n",
               left.results, left.running, left.queued, left.failed, campaign->shown);
    if (!tally->done || !tally->waiting)
        return;
    f64 mean = tally->seconds / (f64)tally->done;
    printf("rate     %8.3g points a minute per process\n", 60 / MAX(mean, 1e-6));
    if (running)
        printf("estimate %8.3g s with %llu at a time\n", mean * (f64)tally->waiting / (f64)running,
               (unsigned long long)running);
}

static void print_failures(struct campaign *campaign)
{
    struct error error = {0};
    u32 shown = 0, left = 0;
    for (u32 i = 0; i < campaign->survey->points.count; i++) {
        const struct surveyed *point = &campaign->survey->points.data[i];
        struct arena *arena = arena_create();
        struct stored_result result;
        char key[SHA256_TEXT];
        surveyed_key(point, key);
        bool failed =
            store_find(campaign->store, key, false, arena, &result, &error) == STORED_FAILED;
        if (failed && shown < FAILURES_SHOWN) {
            const char *log = arena_printf(arena, "logs/%.16s.log", key);
            printf("%s%s: %s: %s\n", shown++ ? "" : "\nfailed points\n",
                   space_label(arena, &campaign->experiment->space, point->number), result.status,
                   result.message);
            if (access(arena_printf(arena, "%s/%s", campaign->folder, log), F_OK) == 0)
                printf("  log: %s/%s\n", campaign->shown, log);
        } else {
            left += failed;
        }
        arena_destroy(arena);
    }
    if (left)
        printf("... and %u more\n", left);
}

int sweep_status(struct campaign *campaign)
{
    struct tally tally = {0};
    struct error error = {0};
    if (!count(campaign, &tally, &error))
        return campaign_complain(campaign, &error), EXIT_USAGE;
    print_counts(campaign, &tally);
    if (tally.failed)
        print_failures(campaign);
    return tally.failed ? EXIT_GUEST : EXIT_DONE;
}

/* ---- files ---- */

static bool write_one(const struct campaign *campaign, const struct sheet *sheet, const char *path,
                      void (*print)(FILE *, const struct sheet *))
{
    struct output output;
    struct error error = {0};
    if (!output_open(&output, path, &error))
        return campaign_complain(campaign, &error);
    print(output.stream, sheet);
    return output_commit(&output, &error) || campaign_complain(campaign, &error);
}

bool sweep_write(struct campaign *campaign, const struct sheet *sheet)
{
    static const struct {
        const char *name;
        void (*print)(FILE *, const struct sheet *);
    } files[] = {{"sweep.csv", sheet_csv}, {"sweep.json", sheet_json}, {"sweep.html", sheet_html}};
    for (u32 i = 0; i < ARRAY_LEN(files); i++)
        if (!write_one(campaign, sheet,
                       arena_printf(campaign->arena, "%s/%s", campaign->folder, files[i].name),
                       files[i].print))
            return false;
    return true;
}

/* Writes a database, which cannot go to a stream. */
static bool write_sqlite(const struct campaign *campaign, const struct sheet *sheet,
                         const char *path)
{
    struct output output;
    struct error error = {0};
    if (!output_open(&output, path, &error))
        return campaign_complain(campaign, &error);
    if (!output.temporary)
        error_fill(&error, ERROR_USAGE, path, "expected an ordinary file for --format sqlite");
    else if (sheet_sqlite(output.temporary, sheet, &error))
        return output_commit(&output, &error) || campaign_complain(campaign, &error);
    else
        error_fill(&error, error.code, path, "%s", arena_strdup(campaign->arena, error.message));
    output_discard(&output);
    return campaign_complain(campaign, &error);
}

/* The file of --file, which is relative to the folder in which the command was started. */
static const char *export_path(const struct campaign *campaign)
{
    const char *path = option_value(campaign->line, "--file");
    return !path || !strcmp(path, "-") || path[0] == '/'
               ? path
               : arena_printf(campaign->arena, "%s/%s", campaign->start, path);
}

int sweep_export(struct campaign *campaign)
{
    const char *format = option_value(campaign->line, "--format");
    const char *path = export_path(campaign);
    struct error error = {0};
    format = format ? format : "csv";
    static const struct {
        const char *name;
        void (*print)(FILE *, const struct sheet *);
    } kinds[] = {{"csv", sheet_csv}, {"json", sheet_json}, {"html", sheet_html}, {"sqlite", NULL}};
    u32 kind = 0;
    while (kind < ARRAY_LEN(kinds) && strcmp(format, kinds[kind].name) != 0)
        kind++;
    if (kind == ARRAY_LEN(kinds))
        return usage_error(campaign->command, "--format: '%s': expected csv, json, html or sqlite",
                           text_printable(campaign->arena, format));
    const bool sqlite = !kinds[kind].print;
    if (sqlite && (!path || !strcmp(path, "-")))
        return usage_error(campaign->command, "--format sqlite: expected --file FILE");
    if (path && output_same(path, campaign->database))
        return usage_error(campaign->command, "--file: %s has the results of the sweep",
                           text_printable(campaign->arena, path));
    struct sheet *sheet = sheet_make(campaign->plan, campaign->survey, campaign->store,
                                     option_value(campaign->line, "--all"), &error);
    bool ok = sheet;
    if (!ok)
        campaign_complain(campaign, &error);
    else if (sqlite)
        ok = write_sqlite(campaign, sheet, path);
    else
        ok = write_one(campaign, sheet, path ? path : "-", kinds[kind].print);
    sheet_destroy(sheet);
    return ok ? EXIT_DONE : EXIT_USAGE;
}
