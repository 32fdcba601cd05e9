/* Jobs of experiments: see plan.h. */
#include "lab/plan.h"

#include "base/text.h"
#include "base/toolchain.h"
#include "heddle/heddle.h"
#include <stdio.h>
#include <stdlib.h>

enum {
    FILE_LIMIT = 1 << 29,                /* largest program that is hashed, in bytes */
    INSTRUCTIONS_PER_SECOND = 300 * 1000 /* host speed: only decides the order of jobs */
};

/* ---- keys ---- */

static bool add_file(struct sha256 *hash, const char *path, struct error *error)
{
    size_t length;
    char *text = text_read_file(path, false, FILE_LIMIT, &length, error);
    if (!text)
        return false;
    u64 bytes = length;
    sha256_add(hash, &bytes, sizeof bytes);
    sha256_add(hash, text, length);
    free(text);
    return true;
}

static void add_text(struct sha256 *hash, const char *text)
{
    sha256_add(hash, text, strlen(text) + 1);
}

/* Adds the program's own files to the hash. */
static bool add_program(struct plan *plan, const struct suite_row *row, struct sha256 *hash,
                        struct error *error)
{
    const struct lab_host *host = plan->host;
    const char *path = row->program;
    if (row->workload) {
        path = host->program(host->user, plan->arena, row->workload);
        if (!path)
            return error_set(error, ERROR_NOT_FOUND, "",
                             "the program of workload '%s' was not found, neither beside this "
                             "command nor in its prefix",
                             row->workload);
        const char *kernels = host->kernels(host->user, plan->arena, row->workload);
        if (kernels && !add_file(hash, kernels, error))
            return false;
    }
    return add_file(hash, path, error);
}

/* ---- configurations ---- */

static bool at_place(struct error *error, const char *file, u32 line, u32 column,
                     const struct hd_error *from)
{
    char place[256];
    snprintf(place, sizeof place, "%.200s:%u:%u", file, line, column);
    return error_set(error, ERROR_INPUT, place, "%s%s%s", from->place, from->place[0] ? ": " : "",
                     from->message);
}

static bool apply(struct plan *plan, struct hd_config *config, const struct settings *settings,
                  const char *prefix, const char *file, struct error *error)
{
    struct hd_error own = {0};
    for (u32 i = 0; i < settings->count; i++) {
        const struct setting *one = &settings->list[i];
        const char *text = arena_printf(plan->arena, "%s%s%s=%s", prefix ? prefix : "",
                                        prefix ? "." : "", one->key, one->value);
        if (!hd_config_set(config, text, &own))
            return at_place(error, file, one->line, one->column, &own);
    }
    return true;
}

/* Builds the configuration as the job's command line does: machine, mechanisms with their settings,
 * settings. */
static bool resolve(struct plan *plan, const struct experiment *experiment,
                    const struct configuration *from, const struct suite_row *row,
                    struct hd_config *config, struct error *error)
{
    struct hd_error own = {0};
    const char *file = experiment->file;
    if (!hd_config_load(config, from->machine, &own))
        return at_place(error, file, from->line, from->column, &own);
    for (u32 i = 0; i < from->mechanism_count; i++) {
        const struct chosen_mechanism *use = &from->mechanisms[i];
        if (!hd_config_mechanism(config, use->name, &own))
            return at_place(error, file, use->line, use->column, &own);
        if (!apply(plan, config, &use->settings, use->name, file, error))
            return false;
    }
    if (!apply(plan, config, &from->settings, NULL, file, error) ||
        !apply(plan, config, &row->settings, NULL, experiment->suite.file, error))
        return false;
    return true;
}

/* Checks that a device can be opened: values fit together and mechanisms do not conflict. */
static bool opens(const struct experiment *experiment, const struct configuration *from,
                  const struct hd_config *config, struct error *error)
{
    struct hd_error own = {0};
    struct hd_device *device = hd_device_open(config, &own);
    if (!device)
        return at_place(error, experiment->file, from->line, from->column, &own);
    hd_device_close(device);
    return true;
}

/* ---- statistics ---- */

struct statistic_check {
    const struct experiment *experiment;
    json_t *table; /* from hd_stats_table_json */
    struct error *error;
};

/* Whether a key is a statistic of a component, or under energy, config or storage, which are not in
 * the table. */
static bool is_known(const struct statistic_check *check, const char *key, const char **nearest)
{
    static const char *const others[] = {"energy", "config", "storage"};
    size_t count = json_array_size(check->table), length = strcspn(key, ".");
    const char **names = checked(calloc(count + 1, sizeof *names));
    bool found = false;
    for (size_t i = 0; i < count; i++) {
        names[i] = json_string_value(json_object_get(json_array_get(check->table, i), "key"));
        found |= !strcmp(names[i], key);
    }
    for (u32 i = 0; i < ARRAY_LEN(others); i++)
        found |= strlen(others[i]) == length && !memcmp(others[i], key, length);
    *nearest = nearest_word(key, names, count);
    free(names);
    return found;
}

static bool check_name(void *user, const char *name, struct text_place place)
{
    const struct statistic_check *check = user;
    const char *key = name + strcspn(name, ".") + 1, *nearest = NULL;
    if (is_known(check, key, &nearest))
        return true;
    char where[256];
    snprintf(where, sizeof where, "%.200s:%u:%u", place.file, place.line, place.column);
    return error_set(check->error, ERROR_INPUT, where,
                     "there is no statistic '%.100s'%s%s%s; 'heddle stats' lists them", key,
                     nearest ? ": did you mean '" : "", nearest ? nearest : "",
                     nearest ? "'?" : "");
}

static bool check_statistics(const struct experiment *experiment, struct error *error)
{
    char *text = hd_stats_table_json();
    struct statistic_check check = {experiment, json_loads(text, 0, NULL), error};
    bool ok = true;
    hd_free(text);
    for (u32 i = 0; ok && i < experiment->column_count; i++)
        ok = formula_names(experiment->columns[i].formula, check_name, &check);
    json_decref(check.table);
    return ok;
}

/* ---- jobs ---- */

static const char *joined(struct arena *arena, const char *const *words)
{
    const char *text = "";
    for (; *words; words++)
        text = arena_printf(arena, "%s%s%s", text, *text ? " " : "", *words);
    return text;
}

static u32 add_settings(struct arena *arena, const char **words, u32 at, const char *prefix,
                        const struct settings *settings)
{
    for (u32 i = 0; i < settings->count; i++) {
        words[at++] = "--set";
        words[at++] = arena_printf(arena, "%s%s%s=%s", prefix ? prefix : "", prefix ? "." : "",
                                   settings->list[i].key, settings->list[i].value);
    }
    return at;
}

static void make_words(struct plan *plan, const struct configuration *from,
                       const struct suite_row *row, struct job *job)
{
    u32 count = 16 + 2 * (from->settings.count + row->settings.count), at = 0;
    for (u32 i = 0; i < from->mechanism_count; i++)
        count += 2 + 2 * from->mechanisms[i].settings.count;
    const char **words = arena_array(plan->arena, const char *, count);
    words[at++] = "heddle";
    words[at++] = "run";
    if (row->workload) {
        words[at++] = "--workload";
        words[at++] = row->workload;
    }
    words[at++] = "--machine";
    words[at++] = from->machine;
    for (u32 i = 0; i < from->mechanism_count; i++) {
        words[at++] = "--mech";
        words[at++] = from->mechanisms[i].name;
        at = add_settings(plan->arena, words, at, from->mechanisms[i].name,
                          &from->mechanisms[i].settings);
    }
    at = add_settings(plan->arena, words, at, NULL, &from->settings);
    at = add_settings(plan->arena, words, at, NULL, &row->settings);
    words[at++] = "--quiet";
    job->words = words;
    const char **own = plan->quick ? row->quick : row->arguments;
    u32 length = 0;
    while (own[length])
        length++;
    job->program = arena_array(plan->arena, const char *, length + 2);
    at = 0;
    if (row->program)
        job->program[at++] = row->program;
    memcpy(job->program + at, own, length * sizeof *own);
}

/* The expected duration from the manifest's instruction count, if the program runs with its default
 * arguments. */
static f64 manifest_seconds(struct plan *plan, const struct suite_row *row)
{
    struct error error = {0};
    u64 count = 0;
    for (const struct builtin_file *file = plan->files->workloads; file->name; file++) {
        if (!row->workload || strcmp(file->name, row->workload) != 0)
            continue;
        const struct yaml *tree =
            yaml_parse(plan->arena, file->text, file->length, file->name, &error);
        const struct yaml *at = tree ? yaml_get(tree, "instructions") : NULL;
        at = at ? yaml_get(at, "ptx") : NULL;
        at = at ? yaml_get(at, plan->quick ? "quick" : "default") : NULL;
        if (at && at->kind == YAML_SCALAR)
            text_u64(at->text, &count);
    }
    return (f64)count / INSTRUCTIONS_PER_SECOND;
}

/* Whether the kernels are compiled for Southern Islands, judging by the machine's warp size. */
static bool runs_si(const struct job *job)
{
    json_t *tree = json_loads(job->configuration, 0, NULL);
    json_int_t lanes =
        json_integer_value(json_object_get(json_object_get(tree, "core"), "warp_size"));
    json_decref(tree);
    return lanes == 64;
}

static bool make_key(struct plan *plan, const struct configuration *from,
                     const struct suite_row *row, struct job *job, struct error *error)
{
    struct sha256 hash;
    sha256_start(&hash);
    add_text(&hash, plan->build);
    add_text(&hash, plan->compilers[runs_si(job)]);
    if (!add_program(plan, row, &hash, error))
        return false;
    for (const char **word = job->program; *word; word++)
        add_text(&hash, *word);
    add_text(&hash, job->configuration);
    for (u32 i = 0; i < from->mechanism_count; i++) {
        add_text(&hash, from->mechanisms[i].name);
        if (strchr(from->mechanisms[i].name, '/') &&
            !add_file(&hash, from->mechanisms[i].name, error))
            return false;
    }
    sha256_text(&hash, job->key);
    return true;
}

/* Adds a job, or finds an equal one, and gives its index. `first`: the first of its configuration,
 * which is then checked more thoroughly. */
static bool add_job(struct plan *plan, const struct experiment *experiment, u32 configuration,
                    const struct suite_row *row, bool first, u32 *index, struct error *error)
{
    const struct configuration *from = &experiment->configurations[configuration];
    struct hd_config *config = hd_config_create();
    bool ok = resolve(plan, experiment, from, row, config, error) &&
              (!first || opens(experiment, from, config, error));
    char *text = ok ? hd_config_json(config) : NULL;
    hd_config_destroy(config);
    if (!ok)
        return false;
    struct job job = {.configuration = arena_strdup(plan->arena, text),
                      .machine = from->machine,
                      .workload = row->workload ? row->workload : row->program,
                      .label = arena_printf(plan->arena, "%s, %s", row->id, from->name),
                      .status = "",
                      .message = ""};
    hd_free(text);
    make_words(plan, from, row, &job);
    job.arguments = joined(plan->arena, job.program + (row->program ? 1 : 0));
    job.expected = manifest_seconds(plan, row);
    if (!make_key(plan, from, row, &job, error))
        return false;
    for (*index = 0; *index < plan->jobs.count; ++*index)
        if (!strcmp(plan->jobs.data[*index].key, job.key))
            return true;
    *(struct job *)vec_push(&plan->jobs) = job;
    return true;
}

/* ---- experiments ---- */

static bool choose(struct plan *plan, const struct experiment *experiment, const char *only,
                   bool *members, struct error *error)
{
    const struct suite *suite = &experiment->suite;
    memcpy(members, experiment->members, suite->count * sizeof *members);
    if (!only)
        return true;
    bool *chosen = arena_array(plan->arena, bool, suite->count);
    for (const char *at = only; *at;) {
        size_t length = strcspn(at, ",");
        const char *id = arena_strndup(plan->arena, at, length);
        int row = suite_find(suite, id);
        if (row < 0)
            return error_set(error, ERROR_USAGE, "", "experiment '%s' has no workload '%s'",
                             experiment->name, text_printable(plan->arena, id));
        chosen[row] = true;
        at += length + (at[length] == ',');
    }
    for (u32 i = 0; i < suite->count; i++)
        members[i] &= chosen[i];
    return true;
}

bool plan_add(struct plan *plan, const struct experiment *experiment, const char *only,
              struct error *error)
{
    const struct suite *suite = &experiment->suite;
    struct planned planned = {.experiment = experiment,
                              .only = only ? arena_strdup(plan->arena, only) : NULL};
    planned.members = arena_array(plan->arena, bool, suite->count);
    if (!choose(plan, experiment, only, planned.members, error) ||
        !check_statistics(experiment, error))
        return false;
    planned.jobs =
        arena_array(plan->arena, u32, (size_t)experiment->configuration_count * suite->count);
    for (u32 c = 0; c < experiment->configuration_count; c++) {
        bool first = true;
        for (u32 r = 0; r < suite->count; r++) {
            u32 *job = &planned.jobs[c * suite->count + r];
            *job = NO_JOB;
            bool there = suite->rows[r].workload || suite->rows[r].program;
            if (!there || !planned.members[r])
                continue;
            if (!add_job(plan, experiment, c, &suite->rows[r], first, job, error))
                return false;
            first = false;
        }
    }
    *(struct planned *)vec_push(&plan->experiments) = planned;
    return true;
}

static void name_compilers(struct plan *plan)
{
    for (u32 si = 0; si < ARRAY_LEN(plan->compilers); si++) {
        struct toolchain toolchain;
        struct sha256 hash;
        const char *missing;
        sha256_start(&hash);
        toolchain_find(&toolchain, plan->arena, plan->host->driver, si, &missing);
        toolchain_identify(&toolchain, &hash);
        sha256_text(&hash, plan->compilers[si]);
    }
}

struct plan *plan_create(const struct lab_host *host, const struct lab_files *files, bool quick,
                         struct error *error)
{
    struct sha256 hash;
    sha256_start(&hash);
    if (!add_file(&hash, host->heddle, error) ||
        (host->driver && !add_file(&hash, host->driver, error)))
        return NULL;
    struct plan *plan = checked(calloc(1, sizeof *plan));
    *plan = (struct plan){.arena = arena_create(), .host = host, .files = files, .quick = quick};
    sha256_text(&hash, plan->build);
    name_compilers(plan);
    return plan;
}

void plan_destroy(struct plan *plan)
{
    if (!plan)
        return;
    for (u32 i = 0; i < plan->jobs.count; i++)
        json_decref(plan->jobs.data[i].statistics);
    vec_free(&plan->jobs);
    vec_free(&plan->experiments);
    arena_destroy(plan->arena);
    free(plan);
}

struct job *plan_job(const struct plan *plan, const struct planned *planned, u32 configuration,
                     u32 row)
{
    u32 job = planned->jobs[configuration * planned->experiment->suite.count + row];
    return job == NO_JOB ? NULL : &plan->jobs.data[job];
}

/* A word quoted for a shell, if necessary. */
static const char *quoted(struct arena *arena, const char *word)
{
    if (word[0] && !word[strcspn(word, " \t\n'\"\\$`*?[]{}()<>|&;#~!")])
        return word;
    const char *text = "'";
    for (; *word; word++)
        text = *word == '\'' ? arena_printf(arena, "%s'\\''", text)
                             : arena_printf(arena, "%s%c", text, *word);
    return arena_printf(arena, "%s'", text);
}

const char *job_command(struct arena *arena, const struct job *job)
{
    const char *text = "";
    for (const char **word = job->words; *word; word++)
        text = arena_printf(arena, "%s%s%s", text, *text ? " " : "", quoted(arena, *word));
    if (job->program[0])
        text = arena_printf(arena, "%s --", text);
    for (const char **word = job->program; *word; word++)
        text = arena_printf(arena, "%s %s", text, quoted(arena, *word));
    return text;
}

const char *planned_command(struct arena *arena, const struct plan *plan,
                            const struct planned *planned)
{
    const struct experiment *experiment = planned->experiment;
    const char *given = experiment->given ? experiment->given : experiment->name;
    const char *text =
        arena_printf(arena, "heddle reproduce %s", quoted(arena, text_printable(arena, given)));
    if (plan->quick)
        text = arena_printf(arena, "%s --quick", text);
    if (planned->only)
        text = arena_printf(arena, "%s --workloads %s", text, quoted(arena, planned->only));
    return text;
}
