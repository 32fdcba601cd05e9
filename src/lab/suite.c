/* Suites of programs: see suite.h. */
#include "lab/suite.h"

#include <stdio.h>
#include <stdlib.h>
#include <unistd.h>

static const struct builtin_file *builtin_find(const struct builtin_file *table, const char *name)
{
    for (; table->name; table++)
        if (!strcmp(table->name, name))
            return table;
    return NULL;
}

static const char **builtin_names(struct arena *arena, const struct builtin_file *table, u32 *count)
{
    for (*count = 0; table[*count].name; ++*count)
        ;
    const char **names = arena_array(arena, const char *, *count + 1);
    for (u32 i = 0; i < *count; i++)
        names[i] = table[i].name;
    return names;
}

const char *lab_find(struct arena *arena, const struct lab_files *files, const char *beside,
                     const char *name, const char **file, size_t *length, struct error *error)
{
    if (beside) {
        const char *slash = strrchr(beside, '/');
        const char *path =
            arena_printf(arena, "%.*s%s.yaml", slash ? (int)(slash + 1 - beside) : 0, beside, name);
        if (access(path, F_OK) == 0) {
            char *text = text_read_file(path, false, YAML_MAX_BYTES, length, error);
            const char *copy = text ? arena_strndup(arena, text, *length) : NULL;
            free(text);
            *file = path;
            return copy;
        }
    }
    const struct builtin_file *row = builtin_find(files->experiments, name);
    if (row) {
        *file = arena_printf(arena, "%s.yaml", name);
        *length = row->length;
        return row->text;
    }
    u32 count;
    const char **names = builtin_names(arena, files->experiments, &count);
    const char *nearest = nearest_word(name, names, count);
    error_fill(error, ERROR_NOT_FOUND, "", "there is no experiment or suite '%s'%s%s%s",
               shown_text(arena, name, 80), nearest ? ": did you mean '" : "",
               nearest ? nearest : "", nearest ? "'?" : "");
    return NULL;
}

bool settings_read(const struct fields *fields, const struct yaml *node, struct settings *settings)
{
    if (!fields_kind(fields, node, YAML_MAP, node->key ? node->key : "settings"))
        return false;
    settings->list = arena_array(fields->arena, struct setting, node->count + 1);
    for (const struct yaml *child = node->first; child; child = child->next) {
        if (!fields_kind(fields, child, YAML_SCALAR, child->key))
            return false;
        settings->list[settings->count++] = (struct setting){
            arena_strdup(fields->arena, child->key), arena_strdup(fields->arena, child->text),
            child->key_line, child->key_column};
    }
    return true;
}

/* ---- rows ---- */

static bool known_workload(const struct fields *fields, const struct lab_files *files,
                           const struct yaml *node, const char *name)
{
    u32 count;
    const char **names = builtin_names(fields->arena, files->workloads, &count);
    if (builtin_find(files->workloads, name))
        return true;
    return fields_error(fields, node, "there is no workload '%s'%s",
                        shown_text(fields->arena, name, 60),
                        fields_nearest(fields, name, names, count));
}

static bool read_words(const struct fields *fields, const struct yaml *map, struct suite_row *row)
{
    static const char *none[] = {NULL}, *quick[] = {"--quick", NULL};
    const struct yaml *arguments = yaml_get(map, "arguments"), *small = yaml_get(map, "quick");
    row->arguments = none;
    row->quick = row->workload ? quick : none;
    return (!arguments || fields_words(fields, arguments, &row->arguments)) &&
           (!small || fields_words(fields, small, &row->quick));
}

static bool read_row(const struct fields *fields, const struct lab_files *files,
                     const struct yaml *map, struct suite *suite)
{
    static const char *const keys[] = {"id",  "workload", "program", "arguments", "quick",
                                       "set", "input",    "remark",  NULL};
    struct suite_row row = {.input = "", .remark = ""};
    if (!fields_map(fields, map, "a workload", keys) ||
        !fields_text(fields, map, "id", true, &row.id) ||
        !fields_name(fields, yaml_get(map, "id"), row.id, true) ||
        !fields_text(fields, map, "workload", false, &row.workload) ||
        !fields_text(fields, map, "program", false, &row.program) ||
        !fields_text(fields, map, "input", false, &row.input) ||
        !fields_text(fields, map, "remark", false, &row.remark) || !read_words(fields, map, &row))
        return false;
    const struct yaml *set = yaml_get(map, "set"), *id = yaml_get(map, "id");
    if (row.workload && row.program)
        return fields_error(fields, map, "'%s' has both 'workload' and 'program'", row.id);
    if (row.workload && !known_workload(fields, files, yaml_get(map, "workload"), row.workload))
        return false;
    if (suite_find(suite, row.id) >= 0)
        return fields_error(fields, id, "there are two workloads '%s'", row.id);
    if (set && !settings_read(fields, set, &row.settings))
        return false;
    suite->rows[suite->count++] = row;
    return true;
}

int suite_find(const struct suite *suite, const char *id)
{
    for (u32 i = 0; i < suite->count; i++)
        if (!strcmp(suite->rows[i].id, id))
            return (int)i;
    return -1;
}

int suite_find_group(const struct suite *suite, const char *name)
{
    for (u32 i = 0; i < suite->group_count; i++)
        if (!strcmp(suite->groups[i].name, name))
            return (int)i;
    return -1;
}

bool suite_members(const struct fields *fields, const struct suite *suite, const struct yaml *node,
                   bool **members)
{
    const char **ids, **names = arena_array(fields->arena, const char *, suite->count + 1);
    *members = arena_array(fields->arena, bool, suite->count + 1);
    if (!fields_words(fields, node, &ids))
        return false;
    for (u32 i = 0; i < suite->count; i++)
        names[i] = suite->rows[i].id;
    for (; *ids; ids++) {
        int at = suite_find(suite, *ids);
        if (at < 0)
            return fields_error(fields, node, "there is no workload '%s' in the suite%s",
                                text_printable(fields->arena, *ids),
                                fields_nearest(fields, *ids, names, suite->count));
        (*members)[at] = true;
    }
    return true;
}

static bool read_groups(const struct fields *fields, const struct yaml *node, struct suite *suite)
{
    if (!fields_kind(fields, node, YAML_MAP, "groups"))
        return false;
    suite->groups = arena_array(fields->arena, struct suite_group, node->count + 1);
    for (const struct yaml *child = node->first; child; child = child->next) {
        struct suite_group *group = &suite->groups[suite->group_count];
        group->name = arena_strdup(fields->arena, child->key);
        if (!fields_name(fields, child, group->name, false))
            return false;
        if (suite_find(suite, group->name) >= 0 || !strcmp(group->name, "mean") ||
            !strcmp(group->name, "max") || !strcmp(group->name, "min") ||
            !strcmp(group->name, "each"))
            return fields_key_error(fields, child, "a group cannot be called '%s'", group->name);
        bool *members;
        if (!suite_members(fields, suite, child, &members))
            return false;
        group->members = members;
        suite->group_count++;
    }
    return true;
}

bool suite_read(const struct fields *fields, const struct lab_files *files, const struct yaml *map,
                struct suite *suite)
{
    static const char *const keys[] = {"suite", "title", "source", "workloads", "groups", NULL};
    const char *source = "";
    if (!fields_map(fields, map, "a suite", keys) ||
        !fields_text(fields, map, "suite", false, &suite->name) ||
        !fields_text(fields, map, "title", false, &suite->title) ||
        !fields_text(fields, map, "source", false, &source))
        return false;
    const struct yaml *rows = yaml_get(map, "workloads"), *groups = yaml_get(map, "groups");
    if (!rows)
        return fields_error(fields, map, "'workloads' is missing here");
    if (!fields_kind(fields, rows, YAML_LIST, "workloads"))
        return false;
    if (!rows->count)
        return fields_error(fields, rows, "expected at least one workload");
    suite->file = fields->file;
    suite->rows = arena_array(fields->arena, struct suite_row, rows->count);
    for (const struct yaml *row = rows->first; row; row = row->next)
        if (!read_row(fields, files, row, suite))
            return false;
    return !groups || read_groups(fields, groups, suite);
}
