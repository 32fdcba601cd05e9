/* Experiment files: see experiment.h. */
#include "lab/experiment.h"

#include "lab/faults.h"
#include <stdio.h>
#include <stdlib.h>

static const char *const mean_words[] = {"geometric",  "growth", "saving",
                                         "arithmetic", "none",   NULL};

const char *mean_name(enum mean_kind kind)
{
    static const char *const names[] = {"geometric mean", "geometric mean of 1 + x/100",
                                        "geometric mean of 1 - x/100", "arithmetic mean",
                                        "no mean"};
    return names[kind];
}

const struct configuration *experiment_configuration(const struct experiment *experiment,
                                                     const char *name, size_t length)
{
    for (u32 i = 0; i < experiment->configuration_count; i++) {
        const struct configuration *one = &experiment->configurations[i];
        if (strlen(one->name) == length && !memcmp(one->name, name, length))
            return one;
    }
    return NULL;
}

int experiment_column(const struct experiment *experiment, const char *name, size_t length)
{
    for (u32 i = 0; i < experiment->column_count; i++)
        if (strlen(experiment->columns[i].name) == length &&
            !memcmp(experiment->columns[i].name, name, length))
            return (int)i;
    return -1;
}

/* ---- configurations ---- */

static bool read_configurations(const struct fields *fields, const struct yaml *node,
                                struct experiment *experiment)
{
    if (!fields_kind(fields, node, YAML_MAP, "configurations"))
        return false;
    if (!node->count)
        return fields_error(fields, node, "expected at least one configuration");
    experiment->configurations = arena_array(fields->arena, struct configuration, node->count);
    for (const struct yaml *child = node->first; child; child = child->next) {
        struct configuration *one = &experiment->configurations[experiment->configuration_count++];
        if (!configuration_read(fields, child, one))
            return false;
        if (!one->machine && !experiment->machine && experiment->tabular)
            return fields_key_error(fields, child, "configuration '%s' names no machine",
                                    one->name);
    }
    return true;
}

/* ---- columns ---- */

struct name_check {
    const struct fields *fields;
    const struct experiment *experiment;
};

static bool name_error(const struct name_check *check, struct text_place at, const char *message)
{
    char place[256];
    return error_set(check->fields->error, ERROR_INPUT, place_text(at, place, sizeof place), "%s",
                     message);
}

/* CONFIGURATION.STATISTIC of an experiment; [baseline.]STATISTIC of a sweep */
static bool check_statistic(void *user, const char *name, struct text_place place)
{
    const struct name_check *check = user;
    if (!check->experiment->tabular) {
        bool of_baseline = !strncmp(name, "baseline.", strlen("baseline."));
        return !of_baseline || check->experiment->has_baseline ||
               name_error(check, place,
                          "the plan has no baseline: 'baseline: {AXIS: VALUE}' names one");
    }
    struct arena *arena = check->fields->arena;
    const struct experiment *experiment = check->experiment;
    size_t length = strcspn(name, ".");
    if (experiment_configuration(experiment, name, length) && name[length])
        return true;
    const char **names = arena_array(arena, const char *, experiment->configuration_count + 1);
    for (u32 i = 0; i < experiment->configuration_count; i++)
        names[i] = experiment->configurations[i].name;
    const char *first = arena_strndup(arena, name, length);
    return name_error(check, place,
                      name[length] ? arena_printf(arena, "there is no configuration '%s'%s", first,
                                                  fields_nearest(check->fields, first, names,
                                                                 experiment->configuration_count))
                                   : arena_printf(arena,
                                                  "'%s': expected CONFIGURATION.STATISTIC, such as "
                                                  "%s.timing.cycles",
                                                  first, experiment->configurations[0].name));
}

/* Reads published values; a published mean of a group is shown beside Heddle's. */
static bool read_published(const struct fields *fields, const struct yaml *node,
                           struct experiment *experiment, struct column *column)
{
    const struct suite *suite = &experiment->suite;
    const char **names = arena_array(fields->arena, const char *, suite->count + 3);
    names[0] = "mean";
    names[1] = "max";
    names[2] = "min";
    if (!fields_kind(fields, node, YAML_MAP, "published"))
        return false;
    for (u32 i = 0; i < suite->count; i++)
        names[3 + i] = suite->rows[i].id;
    for (const struct yaml *child = node->first; child; child = child->next) {
        int at = suite_find(suite, child->key), group = suite_find_group(suite, child->key);
        struct published_number *to = at >= 0                       ? &column->rows[at]
                                      : group >= 0                  ? &column->groups[group]
                                      : !strcmp(child->key, "mean") ? &column->published_mean
                                      : !strcmp(child->key, "max")  ? &column->published_max
                                      : !strcmp(child->key, "min")  ? &column->published_min
                                                                    : NULL;
        if (!to)
            return fields_key_error(
                fields, child,
                "'%s' is not a workload or group of the suite, nor mean, max or min%s",
                text_printable(fields->arena, child->key),
                fields_nearest(fields, child->key, names, 3 + suite->count));
        if (!fields_number(fields, child, &to->value))
            return false;
        to->given = true;
        if (group >= 0)
            experiment->means[group] = true;
    }
    return true;
}

static bool read_digits(const struct fields *fields, const struct yaml *node, u32 *digits)
{
    f64 value = 0;
    if (!fields_number(fields, node, &value))
        return false;
    if (value < 0 || value > 9 || value != (u32)value)
        return fields_error(fields, node, "expected 0 to 9 digits");
    *digits = (u32)value;
    return true;
}

/* Tables have a column for each axis, one for the status, and those of the plan; all have different
 * names. */
static bool is_free(const struct fields *fields, const struct yaml *node,
                    const struct experiment *experiment, const char *name)
{
    if (experiment_column(experiment, name, strlen(name)) >= 0)
        return fields_error(fields, node, "there are two columns '%s'", name);
    if (!experiment->tabular && (space_axis(&experiment->space, name) >= 0 || space_reserves(name)))
        return fields_error(fields, node,
                            "tables have a column '%s' already: expected another name", name);
    return true;
}

static bool read_column(const struct fields *fields, const struct yaml *map,
                        struct experiment *experiment)
{
    static const char *const keys[] = {"name", "title",  "formula",   "unit",
                                       "mean", "digits", "published", NULL};
    const struct suite *suite = &experiment->suite;
    struct column column = {
        .unit = "",
        .digits = 1,
        .rows = arena_array(fields->arena, struct published_number, suite->count + 1),
        .groups = arena_array(fields->arena, struct published_number, suite->group_count + 1)};
    const struct yaml *mean = yaml_get(map, "mean"), *digits = yaml_get(map, "digits");
    const struct yaml *published = yaml_get(map, "published"), *name = yaml_get(map, "name");
    u32 kind = MEAN_GEOMETRIC;
    if (!fields_map(fields, map, "a column", keys) ||
        !fields_text(fields, map, "name", true, &column.name) ||
        !fields_name(fields, name, column.name, false) ||
        !fields_text(fields, map, "title", false, &column.title) ||
        !fields_text(fields, map, "unit", false, &column.unit) ||
        !fields_text(fields, map, "formula", true, &column.text) ||
        (mean && !fields_choice(fields, mean, mean_words, &kind)) ||
        (digits && !read_digits(fields, digits, &column.digits)))
        return false;
    if (!is_free(fields, name, experiment, column.name))
        return false;
    column.title = column.title ? column.title : column.name;
    column.mean = kind;
    column.formula = formula_parse(fields->arena, column.text,
                                   fields_place(fields, yaml_get(map, "formula")), fields->error);
    column.place = fields_place(fields, name);
    struct name_check check = {fields, experiment};
    if (published && !experiment->tabular)
        return fields_key_error(fields, published, "published values need a plan without 'axes'");
    if (!column.formula || !formula_names(column.formula, check_statistic, &check) ||
        (published && !read_published(fields, published, experiment, &column)))
        return false;
    experiment->columns[experiment->column_count++] = column;
    return true;
}

/* A column of a sweep that is a statistic itself. */
static bool read_plain_column(const struct fields *fields, const struct yaml *node,
                              struct experiment *experiment)
{
    struct column column = {.name = arena_strdup(fields->arena, node->text),
                            .title = arena_strdup(fields->arena, node->text),
                            .text = arena_strdup(fields->arena, node->text),
                            .place = fields_place(fields, node)};
    struct name_check check = {fields, experiment};
    if (!is_free(fields, node, experiment, column.name))
        return false;
    column.formula = formula_parse(fields->arena, column.text, column.place, fields->error);
    if (!column.formula || !formula_names(column.formula, check_statistic, &check))
        return false;
    experiment->columns[experiment->column_count++] = column;
    return true;
}

static bool read_columns(const struct fields *fields, const struct yaml *map,
                         struct experiment *experiment)
{
    const struct yaml *node = yaml_get(map, "columns");
    if (!node && !experiment->tabular)
        return true;
    if (!node)
        return fields_error(fields, map, "'columns' is missing here");
    if (!fields_kind(fields, node, YAML_LIST, "columns"))
        return false;
    if (!node->count)
        return fields_error(fields, node, "expected at least one column");
    experiment->columns = arena_array(fields->arena, struct column, node->count);
    for (const struct yaml *child = node->first; child; child = child->next) {
        bool plain = child->kind == YAML_SCALAR && !experiment->tabular;
        if (plain ? !read_plain_column(fields, child, experiment)
                  : !fields_kind(fields, child, YAML_MAP, "a column") ||
                        !read_column(fields, child, experiment))
            return false;
    }
    return true;
}

/* ---- orderings ---- */

static const char *const places[] = {"mean", "max", "min", "each", NULL};

/* COLUMN, or COLUMN.PLACE where a place is mean, max, min, a group or a workload */
static bool check_column(void *user, const char *name, struct text_place place)
{
    const struct name_check *check = user;
    const struct experiment *experiment = check->experiment;
    struct arena *arena = check->fields->arena;
    size_t length = strcspn(name, ".");
    const char *behind = name[length] ? name + length + 1 : NULL;
    if (experiment_column(experiment, name, length) < 0) {
        const char **names = arena_array(arena, const char *, experiment->column_count + 1);
        const char *first = arena_strndup(arena, name, length);
        for (u32 i = 0; i < experiment->column_count; i++)
            names[i] = experiment->columns[i].name;
        return name_error(
            check, place,
            arena_printf(arena, "there is no column '%s'%s", first,
                         fields_nearest(check->fields, first, names, experiment->column_count)));
    }
    if (!behind || suite_find(&experiment->suite, behind) >= 0 ||
        suite_find_group(&experiment->suite, behind) >= 0)
        return true;
    for (u32 i = ON_MEAN; i <= ON_MIN; i++)
        if (!strcmp(behind, places[i]))
            return true;
    return name_error(
        check, place,
        arena_printf(arena, "'%s': expected mean, max, min, a group or a workload after the point",
                     name));
}

static bool read_place(const struct fields *fields, const struct yaml *node,
                       const struct experiment *experiment, struct ordering *ordering)
{
    const struct suite *suite = &experiment->suite;
    int group = suite_find_group(suite, ordering->on), row = suite_find(suite, ordering->on);
    ordering->members = experiment->members;
    for (u32 i = 0; places[i]; i++)
        if (!strcmp(places[i], ordering->on)) {
            ordering->place = i;
            return true;
        }
    ordering->place = ON_EACH;
    if (group < 0 && row < 0)
        return fields_error(fields, node,
                            "expected mean, max, min, each, a group or a workload, not '%s'",
                            text_printable(fields->arena, ordering->on));
    bool *members = arena_array(fields->arena, bool, suite->count);
    for (u32 i = 0; i < suite->count; i++)
        members[i] = experiment->members[i] &&
                     (group >= 0 ? suite->groups[group].members[i] : i == (u32)row);
    ordering->members = members;
    return true;
}

static bool read_ordering(const struct fields *fields, const struct yaml *map,
                          struct experiment *experiment)
{
    static const char *const keys[] = {"check", "on", "note", NULL};
    struct ordering ordering = {.on = "mean", .note = ""};
    const struct yaml *check = yaml_get(map, "check"), *on = yaml_get(map, "on");
    if (!fields_map(fields, map, "an ordering", keys) ||
        !fields_text(fields, map, "check", true, &ordering.text) ||
        !fields_text(fields, map, "on", false, &ordering.on) ||
        !fields_text(fields, map, "note", false, &ordering.note) ||
        !read_place(fields, on ? on : map, experiment, &ordering))
        return false;
    ordering.comparison =
        comparison_parse(fields->arena, ordering.text, fields_place(fields, check), fields->error);
    struct name_check names = {fields, experiment};
    for (u32 i = 0; ordering.comparison && i < ordering.comparison->count; i++)
        if (!formula_names(ordering.comparison->sides[i], check_column, &names))
            return false;
    experiment->orderings[experiment->ordering_count++] = ordering;
    return ordering.comparison;
}

static bool read_orderings(const struct fields *fields, const struct yaml *node,
                           struct experiment *experiment)
{
    if (!fields_kind(fields, node, YAML_LIST, "orderings"))
        return false;
    experiment->orderings = arena_array(fields->arena, struct ordering, node->count + 1);
    for (const struct yaml *child = node->first; child; child = child->next)
        if (!fields_kind(fields, child, YAML_MAP, "an ordering") ||
            !read_ordering(fields, child, experiment))
            return false;
    return true;
}

static bool read_remarks(const struct fields *fields, const struct yaml *node,
                         struct experiment *experiment)
{
    if (!fields_kind(fields, node, YAML_MAP, "remarks"))
        return false;
    experiment->remarks = arena_array(fields->arena, struct remark, node->count + 1);
    for (const struct yaml *child = node->first; child; child = child->next) {
        struct remark *remark = &experiment->remarks[experiment->remark_count++];
        bool *members;
        const struct yaml id = {.kind = YAML_SCALAR,
                                .text = child->key,
                                .line = child->key_line,
                                .column = child->key_column};
        bool all = !strcmp(child->key, "all");
        if (!all && !suite_members(fields, &experiment->suite, &id, &members))
            return false;
        remark->id = all ? NULL : arena_strdup(fields->arena, child->key);
        if (!fields_text(fields, node, child->key, true, &remark->text))
            return false;
    }
    return true;
}

/* Names of groups. */
static bool read_means(const struct fields *fields, const struct yaml *node,
                       struct experiment *experiment)
{
    const struct suite *suite = &experiment->suite;
    const char **words, **names = arena_array(fields->arena, const char *, suite->group_count + 1);
    if (!fields_words(fields, node, &words))
        return false;
    for (u32 i = 0; i < suite->group_count; i++)
        names[i] = suite->groups[i].name;
    for (; *words; words++) {
        int at = suite_find_group(suite, *words);
        if (at < 0)
            return fields_error(fields, node, "there is no group '%s' in the suite%s",
                                text_printable(fields->arena, *words),
                                fields_nearest(fields, *words, names, suite->group_count));
        experiment->means[at] = true;
    }
    return true;
}

/* ---- experiments ---- */

static bool read_source(const struct fields *fields, const struct yaml *node,
                        struct experiment *experiment)
{
    static const char *const keys[] = {"paper", "figure", "table", NULL};
    const char *figure = NULL, *table = NULL;
    if (!fields_map(fields, node, "a source", keys) ||
        !fields_text(fields, node, "paper", true, &experiment->paper) ||
        !fields_text(fields, node, "figure", false, &figure) ||
        !fields_text(fields, node, "table", false, &table))
        return false;
    const char *kind = !figure ? "table " : *figure >= '0' && *figure <= '9' ? "figure " : "";
    if (figure || table)
        experiment->figure = arena_printf(fields->arena, "%s%s", kind, figure ? figure : table);
    return true;
}

/* Loads a suite from its own file; errors in it name that file. */
static bool load_suite(const struct fields *fields, const struct lab_files *files,
                       const struct yaml *node, const char *name, bool beside, struct suite *suite)
{
    struct fields own = *fields;
    struct error error = {0};
    size_t length;
    if (strchr(name, '/'))
        return fields_error(fields, node, "a suite is given by name, not by path");
    const char *text =
        lab_find(fields->arena, files, beside ? fields->file : NULL,
                 arena_printf(fields->arena, "suite-%s", name), &own.file, &length, &error);
    if (!text)
        return fields_error(fields, node, "%s", error.message);
    const struct yaml *map = yaml_parse(fields->arena, text, length, own.file, fields->error);
    return map && suite_read(&own, files, map, suite);
}

static bool read_programs(const struct fields *fields, const struct lab_files *files,
                          const struct yaml *map, bool beside, struct experiment *experiment)
{
    const struct yaml *name = yaml_get(map, "suite"), *rows = yaml_get(map, "workloads");
    const struct yaml *groups = yaml_get(map, "groups");
    struct suite *suite = &experiment->suite;
    const char *text = NULL;
    if (!name && !rows && !experiment->tabular)
        return true; /* an axis chooses the program */
    if (!name) {
        struct yaml own = {.kind = YAML_MAP, .line = map->line, .column = map->column};
        struct yaml *copy = rows ? arena_new(fields->arena, struct yaml) : NULL;
        struct yaml *others = rows && groups ? arena_new(fields->arena, struct yaml) : NULL;
        if (!rows)
            return fields_error(fields, map, "'suite' or 'workloads' is missing here");
        *copy = *rows;
        copy->next = others;
        if (others) {
            *others = *groups;
            others->next = NULL;
        }
        own.first = copy;
        if (!suite_read(fields, files, &own, suite))
            return false;
    } else if (groups) {
        return fields_key_error(fields, groups, "groups belong in the suite's file");
    } else if (!fields_text(fields, map, "suite", true, &text) ||
               !load_suite(fields, files, name, text, beside, suite)) {
        return false;
    }
    bool *members = arena_array(fields->arena, bool, suite->count);
    memset(members, true, suite->count);
    experiment->means = arena_array(fields->arena, bool, suite->group_count + 1);
    bool ok = !name || !rows || suite_members(fields, suite, rows, &members);
    experiment->members = members;
    return ok;
}

/* Reads the space: configurations, axes and workloads. */
static bool read_space(const struct fields *fields, const struct lab_files *files,
                       const struct yaml *map, struct experiment *experiment)
{
    const struct yaml *axes = yaml_get(map, "axes"), *exclude = yaml_get(map, "exclude");
    struct space *space = &experiment->space;
    if (experiment->configuration_count)
        axis_of_configurations(fields->arena, experiment->configurations,
                               experiment->configuration_count, space_add(space));
    if (axes && !space_read_axes(fields, files, axes, space))
        return false;
    if (experiment->suite.count)
        axis_of_rows(fields->arena, &experiment->suite,
                     experiment->tabular ? NULL : experiment->members, space_add(space));
    return space_finish(fields, map, space) &&
           (!exclude || space_read_exclusions(fields, exclude, space));
}

/* Reads `baseline`: one value for each of its axes. */
static bool read_baseline(const struct fields *fields, const struct yaml *node,
                          struct experiment *experiment)
{
    const struct space *space = &experiment->space;
    struct point_pattern pattern = {0};
    if (!space_read_pattern(fields, node, space, &pattern))
        return false;
    experiment->has_baseline = true;
    for (u32 i = 0; i < space->group_count; i++) {
        const struct axis_group *group = &space->groups[i];
        experiment->baseline[i] = -1;
        for (u32 k = group->first; k < group->first + group->count; k++)
            for (u32 v = 0; pattern.values[k] && v < group->length; v++) {
                if (!pattern.values[k][v])
                    continue;
                if (experiment->baseline[i] >= 0 && experiment->baseline[i] != v)
                    return fields_error(fields, node, "expected one value of axis '%s'",
                                        space->axes[k].name);
                experiment->baseline[i] = v;
            }
    }
    return true;
}

/* Reads the name, which becomes part of file names. */
static bool read_name(const struct fields *fields, const struct yaml *map,
                      struct experiment *experiment)
{
    const char *key = yaml_get(map, "sweep") ? "sweep" : "experiment";
    if (!fields_text(fields, map, key, true, &experiment->name) ||
        !fields_text(fields, map, "title", experiment->tabular, &experiment->title))
        return false;
    if (strspn(experiment->name, "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789"
                                 "-_") != strlen(experiment->name) ||
        !strcmp(experiment->name, "all") || strlen(experiment->name) > 64)
        return fields_error(fields, yaml_get(map, key),
                            "expected a name of letters, digits, '-' and '_' other than 'all'");
    experiment->title = experiment->title ? experiment->title : experiment->name;
    return true;
}

static bool read_machine(const struct fields *fields, const struct yaml *map,
                         struct experiment *experiment)
{
    const struct yaml *machine = yaml_get(map, "machine"), *set = yaml_get(map, "set");
    const struct yaml *inject = yaml_get(map, "inject");
    if (machine)
        experiment->machine_place = fields_place(fields, machine);
    if (!fields_text(fields, map, "machine", false, &experiment->machine))
        return false;
    if (!fields_text(fields, map, "chip", false, &experiment->chip))
        return false;
    experiment->machine = machine_path(fields, experiment->machine);
    experiment->chip = chip_path(fields, experiment->chip);
    return (!set || settings_read(fields, set, &experiment->settings)) &&
           (!inject || faults_read(fields, inject, &experiment->faults));
}

static bool read_experiment(const struct fields *fields, const struct lab_files *files,
                            const struct yaml *map, bool beside, struct experiment *experiment)
{
    static const char *const keys[] = {
        "experiment",     "sweep",   "title", "source",    "suite",   "workloads", "groups",
        "machine",        "chip",    "set",   "inject",    "axes",    "exclude",   "baseline",
        "configurations", "columns", "means", "orderings", "remarks", "folder",    NULL};
    const struct yaml *source = yaml_get(map, "source"), *orderings = yaml_get(map, "orderings");
    const struct yaml *remarks = yaml_get(map, "remarks"), *means = yaml_get(map, "means");
    const struct yaml *configurations = yaml_get(map, "configurations");
    const struct yaml *baseline = yaml_get(map, "baseline");
    experiment->tabular = !yaml_get(map, "axes");
    if (!fields_map(fields, map, "a plan", keys) || !read_name(fields, map, experiment) ||
        (source && !read_source(fields, source, experiment)) ||
        !read_programs(fields, files, map, beside, experiment) ||
        (means && !read_means(fields, means, experiment)) || !read_machine(fields, map, experiment))
        return false;
    if (orderings && !experiment->tabular)
        return fields_key_error(fields, orderings, "orderings need a plan without 'axes'");
    if (!configurations && experiment->tabular)
        return fields_error(fields, map, "'configurations' or 'axes' is missing here");
    return (!configurations || read_configurations(fields, configurations, experiment)) &&
           read_space(fields, files, map, experiment) &&
           (!baseline || read_baseline(fields, baseline, experiment)) &&
           read_columns(fields, map, experiment) &&
           (!orderings || read_orderings(fields, orderings, experiment)) &&
           (!remarks || read_remarks(fields, remarks, experiment));
}

struct experiment *experiment_read(struct arena *arena, const struct lab_files *files,
                                   const struct yaml *map, const char *file, bool beside,
                                   struct error *error)
{
    struct fields fields = {arena, file, error, beside ? file_folder(arena, file) : NULL};
    const char *folder = NULL;
    if (map->kind == YAML_MAP && !fields_text(&fields, map, "folder", false, &folder))
        return NULL;
    if (folder)
        fields.folder = fields_path(&fields, folder);
    struct experiment *experiment = arena_new(arena, struct experiment);
    experiment->file = file;
    experiment->paper = experiment->figure = "";
    return read_experiment(&fields, files, map, beside, experiment) ? experiment : NULL;
}

struct experiment *experiment_parse(struct arena *arena, const struct lab_files *files,
                                    const char *text, size_t length, const char *file, bool beside,
                                    struct error *error)
{
    const struct yaml *map = yaml_parse(arena, text, length, file, error);
    return map ? experiment_read(arena, files, map, file, beside, error) : NULL;
}

static bool is_path(const char *name)
{
    static const char *const ends[] = {".yaml", ".yml", ".json"};
    size_t length = strlen(name);
    for (u32 i = 0; i < ARRAY_LEN(ends); i++)
        if (length > strlen(ends[i]) && !strcmp(name + length - strlen(ends[i]), ends[i]))
            return true;
    return strchr(name, '/');
}

struct experiment *experiment_load(struct arena *arena, const struct lab_files *files,
                                   const char *name_or_path, struct error *error)
{
    size_t length;
    const char *file = arena_strdup(arena, name_or_path), *text;
    char *own = NULL;
    const bool path = is_path(name_or_path);
    if (path)
        text = own = text_read_file(name_or_path, false, YAML_MAX_BYTES, &length, error);
    else
        text = lab_find(arena, files, NULL, name_or_path, &file, &length, error);
    struct experiment *experiment =
        text ? experiment_parse(arena, files, text, length, file, path, error) : NULL;
    if (experiment)
        experiment->given = arena_strdup(arena, name_or_path);
    free(own);
    return experiment;
}
