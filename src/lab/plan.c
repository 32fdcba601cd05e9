/* Points of experiments and sweeps: see plan.h. */
#include "lab/plan.h"

#include "base/text.h"
#include "base/toolchain.h"
#include "heddle/heddle.h"
#include "lab/executor.h"
#include "lab/faults.h"
#include "lab/resolver.h"
#include <stdio.h>
#include <stdlib.h>

enum {
    INSTRUCTIONS_PER_SECOND = 300 * 1000 /* host speed: only decides the order of points */
};

/* ---- statistics ---- */

struct statistic_check {
    const struct experiment *experiment;
    json_t *table; /* from plan_statistics */
    struct error *error;
};

/* Whether a key is a statistic of a component, or under energy, config or storage, or under those of
 * reports, chips and area, which are not in the table. */
static bool is_known(const struct statistic_check *check, const char *key, const char **nearest)
{
    static const char *const others[] = {"energy", "config", "storage", "chips", "area"};
    size_t count = json_array_size(check->table), length = strcspn(key, ".");
    const char **names = checked(calloc(count + 1, sizeof *names));
    bool found = false;
    for (size_t i = 0; i < count; i++) {
        names[i] = json_string_value(json_object_get(json_array_get(check->table, i), "key"));
        found |= !strcmp(names[i], key);
    }
    found |= faults_has_statistic(key);
    for (u32 i = 0; i < ARRAY_LEN(others); i++)
        found |= strlen(others[i]) == length && !memcmp(others[i], key, length);
    *nearest = nearest_word(key, names, count);
    free(names);
    return found;
}

static bool check_name(void *user, const char *name, struct text_place place)
{
    const struct statistic_check *check = user;
    const char *nearest = NULL;
    bool qualified = check->experiment->tabular || !strncmp(name, "baseline.", 9);
    const char *key = qualified ? name + strcspn(name, ".") + 1 : name;
    if (is_known(check, key, &nearest))
        return true;
    char where[256];
    return error_set(check->error, ERROR_INPUT, place_text(place, where, sizeof where),
                     "there is no statistic '%.100s'%s%s%s; 'heddle stats' lists them", key,
                     nearest ? ": did you mean '" : "", nearest ? nearest : "",
                     nearest ? "'?" : "");
}

/* Appends rows of statistics that the table does not have: two files may hold the same mechanism. */
static void add_rows(json_t *table, const json_t *rows)
{
    json_t *row, *other;
    size_t i, k;
    json_array_foreach(rows, i, row)
    {
        bool found = false;
        json_array_foreach(table, k, other)
        {
            found |= json_equal(json_object_get(row, "key"), json_object_get(other, "key"));
        }
        if (!found)
            json_array_append(table, row);
    }
}

/* Appends the statistics of a mechanism in a shared object. */
static bool add_object(json_t *table, const struct chosen_mechanism *use, struct error *error)
{
    struct hd_error own = {0};
    char place[256];
    struct hd_config *config = hd_config_create();
    const bool ok = hd_config_mechanism(config, use->file, &own);
    char *text = ok ? hd_config_mechanisms(config) : NULL;
    json_t *mechanisms = text ? json_loads(text, 0, NULL) : NULL, *one;
    size_t i;
    json_array_foreach(mechanisms, i, one)
    {
        if (json_is_string(json_object_get(one, "path")))
            add_rows(table, json_object_get(one, "stats"));
    }
    json_decref(mechanisms);
    hd_free(text);
    hd_config_destroy(config);
    return ok || error_set(error, ERROR_INPUT, place_text(use->place, place, sizeof place),
                           "%s%s%s", own.place, own.place[0] ? ": " : "", own.message);
}

/* What a value of an axis chooses by itself: mechanisms (NULL: none), and whether faults. */
static const struct mechanism_list *chosen_by(const struct axis *axis, u32 value, bool *injects)
{
    const struct mechanism_list *list = NULL;
    const struct settings *settings, *faults;
    struct recipe recipe = {.mechanisms = &list, .settings = &settings, .faults = &faults};
    axis->kind->apply(&axis->values[value], &recipe);
    *injects = recipe.faults_count;
    return list;
}

bool plan_injects(const struct experiment *experiment)
{
    bool any = experiment->faults.count, injects;
    for (u32 a = 0; a < experiment->space.axis_count; a++)
        for (u32 v = 0; v < experiment->space.axes[a].count; v++) {
            chosen_by(&experiment->space.axes[a], v, &injects);
            any |= injects;
        }
    return any;
}

json_t *plan_statistics(const struct experiment *experiment, struct error *error)
{
    char *text = hd_stats_table_json();
    json_t *table = json_loads(text, 0, NULL);
    VEC(const char *) seen = {0};
    bool ok = true;
    hd_free(text);
    for (u32 a = 0; a < experiment->space.axis_count; a++)
        for (u32 v = 0; v < experiment->space.axes[a].count; v++) {
            bool injects;
            const struct mechanism_list *list = chosen_by(&experiment->space.axes[a], v, &injects);
            for (u32 i = 0; ok && list && i < list->count; i++) {
                const char *file = list->list[i].file;
                u32 k = 0;
                while (file && k < seen.count && strcmp(seen.data[k], file) != 0)
                    k++;
                if (!file || k < seen.count)
                    continue;
                *vec_push(&seen) = file;
                ok = add_object(table, &list->list[i], error);
            }
        }
    vec_free(&seen);
    if (ok)
        return table;
    json_decref(table);
    return NULL;
}

static bool check_statistics(const struct experiment *experiment, struct error *error)
{
    struct statistic_check check = {experiment, plan_statistics(experiment, error), error};
    bool ok = check.table;
    for (u32 i = 0; ok && i < experiment->column_count; i++)
        ok = formula_names(experiment->columns[i].formula, check_name, &check);
    json_decref(check.table);
    return ok;
}

/* ---- the recipe of a point ---- */

static void make_recipe(const struct experiment *experiment, u64 number, struct arena *arena,
                        struct recipe *recipe)
{
    const struct space *space = &experiment->space;
    u32 values[SPACE_MAX_AXES];
    space_values(space, number, values);
    *recipe = (struct recipe){
        .machine = experiment->machine,
        .machine_place = experiment->machine_place,
        .chip = experiment->chip,
        .chip_place = experiment->machine_place,
        .mechanisms = arena_array(arena, const struct mechanism_list *, space->axis_count + 1),
        .settings = arena_array(arena, const struct settings *, space->axis_count + 1),
        .faults = arena_array(arena, const struct settings *, space->axis_count + 1)};
    recipe->settings[recipe->settings_count++] = &experiment->settings;
    if (experiment->faults.count)
        recipe->faults[recipe->faults_count++] = &experiment->faults;
    for (u32 i = 0; i < space->axis_count; i++) {
        const struct axis *axis = &space->axes[i];
        axis->kind->apply(&axis->values[values[i]], recipe);
    }
    assert(recipe->row); /* one axis chooses the program: space.c checks it */
}

/* ---- command lines ---- */

static const char *joined(struct arena *arena, const char *const *words)
{
    const char *text = "";
    for (; *words; words++)
        text = arena_printf(arena, "%s%s%s", text, *text ? " " : "", *words);
    return text;
}

typedef VEC(const char *) word_list;

static void add_words(word_list *list, const char *const *words)
{
    for (; *words; words++)
        *vec_push(list) = *words;
}

static void add_settings(struct arena *arena, word_list *words, const char *prefix,
                         const struct settings *settings)
{
    for (u32 i = 0; i < settings->count; i++) {
        *vec_push(words) = "--set";
        *vec_push(words) = arena_printf(arena, "%s%s%s=%s", prefix ? prefix : "", prefix ? "." : "",
                                        settings->list[i].key, settings->list[i].value);
    }
}

static void add_mechanisms(struct arena *arena, word_list *words,
                           const struct mechanism_list *mechanisms)
{
    for (u32 i = 0; i < mechanisms->count; i++) {
        const struct chosen_mechanism *use = &mechanisms->list[i];
        *vec_push(words) = "--mech";
        *vec_push(words) = mechanism_option(arena, use);
        if (!use->file)
            add_settings(arena, words, use->name, &use->settings);
    }
}

static const char **listed(struct arena *arena, word_list *words)
{
    const char **list = arena_array(arena, const char *, words->count + 1);
    if (words->count)
        memcpy(list, words->data, words->count * sizeof *list);
    vec_free(words);
    return list;
}

static void make_words(const struct plan *plan, const struct recipe *recipe, struct arena *arena,
                       struct point *point)
{
    const struct suite_row *row = recipe->row;
    const char **own = plan->quick ? row->quick : row->arguments;
    const bool named =
        row->report && !strcmp(row->report, "area"); /* its machine is a plain word */
    word_list words = {0}, program = {0};
    *vec_push(&words) = "heddle";
    *vec_push(&words) = row->report ? row->report : recipe->faults_count ? "inject" : "run";
    if (row->workload) {
        *vec_push(&words) = "--workload";
        *vec_push(&words) = row->workload;
    } else if (row->kernel || row->report) {
        if (row->kernel)
            *vec_push(&words) = row->kernel;
        add_words(&words, own);
    }
    if (!named)
        *vec_push(&words) = "--machine";
    *vec_push(&words) = recipe->machine;
    if (recipe->chip) {
        *vec_push(&words) = "--chip";
        *vec_push(&words) = recipe->chip;
    }
    for (u32 i = 0; i < recipe->mechanism_count; i++)
        add_mechanisms(arena, &words, recipe->mechanisms[i]);
    for (u32 i = 0; i < recipe->settings_count; i++)
        add_settings(arena, &words, NULL, recipe->settings[i]);
    if (recipe->faults_count) {
        add_words(&words, faults_words(arena, recipe->faults, recipe->faults_count));
        add_words(&words, (const char *const[]){"--jobs", "1", NULL}); /* points run in parallel */
    }
    if (!row->report)
        *vec_push(&words) = "--quiet";
    if (row->program)
        *vec_push(&program) = row->program;
    if (!row->kernel && !row->report)
        add_words(&program, own);
    point->words = listed(arena, &words);
    point->program = listed(arena, &program);
    point->arguments = joined(arena, own);
}

/* ---- keys ---- */

static void add_text(struct sha256 *hash, const char *text)
{
    sha256_add(hash, text, strlen(text) + 1);
}

static bool add_file(struct plan *plan, struct sha256 *hash, const char *path, struct error *error)
{
    const char *sum = resolver_file(plan->resolver, path, error);
    if (sum)
        add_text(hash, sum);
    return sum;
}

/* Adds the program's own files to the hash. */
static bool add_program(struct plan *plan, const struct suite_row *row, struct arena *arena,
                        struct sha256 *hash, struct error *error)
{
    const struct lab_host *host = plan->host;
    const char *path = row->program ? row->program : row->kernel;
    if (row->workload) {
        path = host->program(host->user, arena, row->workload);
        if (!path)
            return error_set(error, ERROR_NOT_FOUND, "",
                             "the program of workload '%s' was not found, neither beside this "
                             "command nor in its prefix",
                             row->workload);
        const char *kernels = host->kernels(host->user, arena, row->workload);
        if (kernels && !add_file(plan, hash, kernels, error))
            return false;
    }
    return (row->report || add_file(plan, hash, path, error)) &&
           resolver_add_inputs(plan->resolver, plan->quick ? row->quick : row->arguments, hash,
                               error);
}

static bool make_key(struct plan *plan, const struct recipe *recipe,
                     const struct resolved *resolved, struct arena *arena, struct point *point,
                     struct error *error)
{
    const struct suite_row *row = recipe->row;
    const char **faults = faults_words(arena, recipe->faults, recipe->faults_count);
    struct sha256 hash;
    sha256_start(&hash);
    add_text(&hash, plan->build);
    if (row->report)
        add_text(&hash, row->report);
    else if (!row->kernel) /* kernels in files are compiled already */
        add_text(&hash, plan->compilers[resolved->target]);
    if (!add_program(plan, row, arena, &hash, error))
        return false;
    for (const char **word = plan->quick ? row->quick : row->arguments; *word; word++)
        add_text(&hash, *word);
    add_text(&hash, point->configuration);
    add_text(&hash, resolved->chip);
    for (const char **word = faults; *word; word++)
        add_text(&hash, *word);
    for (u32 i = 0; i < recipe->mechanism_count; i++)
        for (u32 k = 0; k < recipe->mechanisms[i]->count; k++) {
            const struct chosen_mechanism *use = &recipe->mechanisms[i]->list[k];
            if (!use->file)
                add_text(&hash, use->name);
            else if (!add_file(plan, &hash, use->file, error))
                return false;
        }
    sha256_text(&hash, point->key);
    return true;
}

/* The expected duration from the manifest's instruction count, if the program runs with its default
 * arguments. */
static f64 manifest_seconds(const struct plan *plan, struct arena *arena,
                            const struct suite_row *row)
{
    struct error error = {0};
    u64 count = 0;
    for (const struct builtin_file *file = plan->files->workloads; file->name; file++) {
        if (!row->workload || strcmp(file->name, row->workload) != 0)
            continue;
        const struct yaml *tree = yaml_parse(arena, file->text, file->length, file->name, &error);
        const struct yaml *at = tree ? yaml_get(tree, "instructions") : NULL;
        at = at ? yaml_get(at, "ptx") : NULL;
        at = at ? yaml_get(at, plan->quick ? "quick" : "default") : NULL;
        if (at && at->kind == YAML_SCALAR)
            text_u64(at->text, &count);
    }
    return (f64)count / INSTRUCTIONS_PER_SECOND;
}

/* ---- points ---- */

const struct planned *plan_part(const struct plan *plan, u64 *number)
{
    u32 at = plan->experiments.count;
    while (plan->experiments.data[--at].first > *number)
        ;
    *number -= plan->experiments.data[at].first;
    return &plan->experiments.data[at];
}

u64 plan_number(const struct planned *planned, u32 configuration, u32 row)
{
    const u32 values[SPACE_MAX_AXES] = {configuration, row};
    return planned->first + space_point(&planned->experiment->space, values);
}

bool plan_wants(const struct plan *plan, u64 number)
{
    const struct planned *planned = plan_part(plan, &number);
    const struct experiment *experiment = planned->experiment;
    const struct space *space = &experiment->space;
    if (space_excludes(space, number))
        return false;
    if (!experiment->tabular)
        return true;
    u32 values[SPACE_MAX_AXES];
    space_values(space, number, values);
    u32 row = values[space->axis_count - 1];
    const struct suite_row *from = &experiment->suite.rows[row];
    return planned->members[row] && suite_row_runs(from);
}

static void describe(const struct plan *plan, const struct recipe *recipe, struct arena *arena,
                     struct point *point)
{
    const struct suite_row *row = recipe->row;
    *point = (struct point){.machine = recipe->machine,
                            .by_heddle = row->kernel || row->report || recipe->faults_count,
                            .report = row->report,
                            .workload = row->workload  ? row->workload
                                        : row->program ? row->program
                                        : row->kernel  ? row->kernel
                                                       : row->report};
    make_words(plan, recipe, arena, point);
}

void plan_command(const struct plan *plan, u64 number, struct arena *arena, struct point *point)
{
    const struct planned *planned = plan_part(plan, &number);
    struct recipe recipe;
    make_recipe(planned->experiment, number, arena, &recipe);
    describe(plan, &recipe, arena, point);
}

/* A report of chips draws its own and runs nothing; one of areas depends on no chip; neither has faults. */
static bool check_report(const struct recipe *recipe, const char *label, struct error *error)
{
    const bool chips = recipe->row->report && !strcmp(recipe->row->report, "chip");
    bool mechanisms = false;
    char place[256];
    for (u32 i = 0; i < recipe->mechanism_count; i++)
        mechanisms |= recipe->mechanisms[i]->count > 0;
    if (!recipe->row->report || (!recipe->chip && !(chips && mechanisms) && !recipe->faults_count))
        return true;
    return error_set(error, ERROR_INPUT, place_text(recipe->machine_place, place, sizeof place),
                     "%s: a report '%s' takes no %s", label, recipe->row->report,
                     recipe->chip           ? "chip"
                     : recipe->faults_count ? "faults"
                                            : "mechanisms");
}

static bool check_faults(const struct recipe *recipe, const char *label, struct error *error)
{
    char place[256];
    return !recipe->faults_count || faults_count_given(recipe->faults, recipe->faults_count) ||
           error_set(error, ERROR_INPUT, place_text(recipe->machine_place, place, sizeof place),
                     "%s: how many faults? expected 'faults' or 'interval' under 'inject'", label);
}

bool plan_point(struct plan *plan, u64 number, struct arena *arena, struct point *point,
                struct error *error)
{
    const struct planned *planned = plan_part(plan, &number);
    const struct experiment *experiment = planned->experiment;
    struct recipe recipe;
    struct resolved resolved;
    make_recipe(experiment, number, arena, &recipe);
    if (!recipe.machine)
        return error_set(error, ERROR_INPUT, experiment->given ? experiment->given : "",
                         "no machine is named: expected --machine NAME, or 'machine:' in the plan");
    const char *label = space_label(arena, &experiment->space, number);
    if (!check_faults(&recipe, label, error) || !check_report(&recipe, label, error) ||
        !resolver_configure(plan->resolver, &recipe, label, &resolved, error))
        return false;
    describe(plan, &recipe, arena, point);
    point->configuration = arena_strdup(arena, resolved.json);
    return make_key(plan, &recipe, &resolved, arena, point, error);
}

f64 plan_expected(const struct plan *plan, u64 number, struct arena *arena)
{
    const struct planned *planned = plan_part(plan, &number);
    struct recipe recipe;
    make_recipe(planned->experiment, number, arena, &recipe);
    return manifest_seconds(plan, arena, recipe.row);
}

/* ---- experiments ---- */

static bool choose(struct plan *plan, const struct experiment *experiment, const char *only,
                   bool *members, struct error *error)
{
    const struct suite *suite = &experiment->suite;
    for (u32 i = 0; i < suite->count; i++)
        members[i] = experiment->members[i];
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
    struct planned planned = {.experiment = experiment,
                              .only = only ? arena_strdup(plan->arena, only) : NULL,
                              .first = plan->count};
    planned.members = arena_array(plan->arena, bool, experiment->suite.count + 1);
    if (!choose(plan, experiment, only, planned.members, error) ||
        !check_statistics(experiment, error))
        return false;
    *(struct planned *)vec_push(&plan->experiments) = planned;
    plan->count += experiment->space.size;
    return true;
}

static void name_compilers(struct plan *plan)
{
    for (enum code_target target = CODE_PTX; target < CODE_TARGETS_END; target++) {
        struct toolchain toolchain;
        struct sha256 hash;
        const char *missing;
        sha256_start(&hash);
        toolchain_find(&toolchain, plan->arena, plan->host->driver, target, &missing);
        toolchain_identify(&toolchain, &hash);
        sha256_text(&hash, plan->compilers[target]);
    }
}

struct plan *plan_create(const struct lab_host *host, const struct lab_files *files, bool quick,
                         struct error *error)
{
    struct plan *plan = checked(calloc(1, sizeof *plan));
    struct sha256 hash;
    *plan = (struct plan){.arena = arena_create(),
                          .host = host,
                          .files = files,
                          .quick = quick,
                          .resolver = resolver_create()};
    sha256_start(&hash);
    if (!add_file(plan, &hash, host->heddle, error) ||
        (host->driver && !add_file(plan, &hash, host->driver, error))) {
        plan_destroy(plan);
        return NULL;
    }
    sha256_text(&hash, plan->build);
    name_compilers(plan);
    return plan;
}

void plan_destroy(struct plan *plan)
{
    if (!plan)
        return;
    vec_free(&plan->experiments);
    resolver_destroy(plan->resolver);
    arena_destroy(plan->arena);
    free(plan);
}

const char *point_command(struct arena *arena, const struct point *point)
{
    const char *text = "";
    for (const char **word = point->words; *word; word++)
        text = arena_printf(arena, "%s%s%s", text, *text ? " " : "", shell_quoted(arena, *word));
    if (point->program[0])
        text = arena_printf(arena, "%s --", text);
    for (const char **word = point->program; *word; word++)
        text = arena_printf(arena, "%s %s", text, shell_quoted(arena, *word));
    return text;
}

const char *planned_command(struct arena *arena, const struct plan *plan,
                            const struct planned *planned)
{
    const struct experiment *experiment = planned->experiment;
    const char *given = experiment->given ? experiment->given : experiment->name;
    const char *text =
        arena_printf(arena, "heddle %s %s", experiment->tabular ? "reproduce" : "sweep",
                     shell_quoted(arena, text_printable(arena, given)));
    if (plan->quick)
        text = arena_printf(arena, "%s --quick", text);
    if (planned->only)
        text = arena_printf(arena, "%s --workloads %s", text, shell_quoted(arena, planned->only));
    return text;
}
