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

static u32 words_count(const char *const *words)
{
    u32 count = 0;
    while (words[count])
        count++;
    return count;
}

/* What --quick runs, unless the plan says: a workload's own --quick, before its arguments. */
static const char **quick_words(struct arena *arena, const struct suite_row *row, bool with_own)
{
    u32 count = with_own ? words_count(row->arguments) : 0, at = 0;
    const char **words = arena_array(arena, const char *, count + 2);
    if (row->workload)
        words[at++] = "--quick";
    memcpy(words + at, row->arguments, count * sizeof *words);
    return words;
}

static bool read_words(const struct fields *fields, const struct yaml *map, struct suite_row *row)
{
    const struct yaml *arguments = yaml_get(map, "arguments"), *small = yaml_get(map, "quick");
    row->arguments = arena_array(fields->arena, const char *, 1);
    if (arguments && !fields_words(fields, arguments, &row->arguments))
        return false;
    row->quick = quick_words(fields->arena, row, row->kernel || row->report);
    return !small || fields_words(fields, small, &row->quick);
}

static bool check_kind(const struct fields *fields, const struct lab_files *files,
                       const struct yaml *map, const struct suite_row *row)
{
    const char *const kinds[][2] = {{"workload", row->workload},
                                    {"program", row->program},
                                    {"kernel", row->kernel},
                                    {"report", row->report}};
    const char *found = NULL;
    for (u32 i = 0; i < ARRAY_LEN(kinds); i++) {
        if (kinds[i][1] && found)
            return fields_error(fields, map, "'%s' has both '%s' and '%s'", row->id, found,
                                kinds[i][0]);
        found = kinds[i][1] ? kinds[i][0] : found;
    }
    if (row->report && strcmp(row->report, "chip") != 0 && strcmp(row->report, "area") != 0)
        return fields_error(fields, yaml_get(map, "report"), "expected 'chip' or 'area', not '%s'",
                            shown_text(fields->arena, row->report, 60));
    return !row->workload ||
           known_workload(fields, files, yaml_get(map, "workload"), row->workload);
}

/* Kernels, and programs with a slash, are relative to the plan; other programs are found in PATH. */
static void find_files(const struct fields *fields, struct suite_row *row)
{
    if (row->kernel)
        row->kernel = fields_path(fields, row->kernel);
    if (row->program && strchr(row->program, '/'))
        row->program = fields_path(fields, row->program);
}

bool suite_row_read(const struct fields *fields, const struct lab_files *files,
                    const struct yaml *map, struct suite_row *row)
{
    static const char *const keys[] = {"id",     "workload",  "program", "kernel",
                                       "report", "arguments", "quick",   "set",
                                       "input",  "remark",    NULL};
    *row = (struct suite_row){.input = "", .remark = ""};
    const struct yaml *set = yaml_get(map, "set");
    if (!fields_map(fields, map, "a workload", keys) ||
        !fields_text(fields, map, "id", false, &row->id) ||
        !fields_text(fields, map, "workload", false, &row->workload) ||
        !fields_text(fields, map, "program", false, &row->program) ||
        !fields_text(fields, map, "kernel", false, &row->kernel) ||
        !fields_text(fields, map, "report", false, &row->report) ||
        !fields_text(fields, map, "input", false, &row->input) ||
        !fields_text(fields, map, "remark", false, &row->remark) || !read_words(fields, map, row))
        return false;
    if (!row->id)
        row->id = row->workload  ? row->workload
                  : row->program ? row->program
                  : row->kernel  ? row->kernel
                                 : row->report;
    if (!row->id)
        return fields_error(fields, map, "'id' is missing here");
    find_files(fields, row);
    return check_kind(fields, files, map, row) &&
           (!set || settings_read(fields, set, &row->settings));
}

bool words_split(struct arena *arena, const char *text, const char ***words)
{
    const char **list = arena_array(arena, const char *, strlen(text) / 2 + 2);
    u32 count = 0;
    for (text += strspn(text, " \t\n"); *text; text += strspn(text, " \t\n")) {
        char *word = arena_array(arena, char, strlen(text) + 1), quote = '\0';
        size_t length = 0;
        for (; *text && (quote || !strchr(" \t\n", *text)); text++) {
            if (quote ? *text == quote : *text == '\'' || *text == '"')
                quote = quote ? '\0' : *text;
            else if (*text == '\\' && quote != '\'' && text[1])
                word[length++] = *++text;
            else
                word[length++] = *text;
        }
        if (quote)
            return false;
        list[count++] = word;
    }
    *words = list;
    return true;
}

bool suite_row_parse(const struct fields *fields, const struct lab_files *files,
                     const struct yaml *node, const char *kind, struct suite_row *row)
{
    const char **words;
    *row = (struct suite_row){.input = "", .remark = ""};
    if (!words_split(fields->arena, node->text, &words))
        return fields_error(fields, node, "'%s': a quotation mark is not closed",
                            shown_text(fields->arena, node->text, 60));
    if (!words[0])
        return fields_error(fields, node, "expected a %s", kind);
    row->id = arena_strdup(fields->arena, node->text);
    row->arguments = words + 1;
    if (!strcmp(kind, "workload")) {
        row->workload = words[0];
        if (!known_workload(fields, files, node, words[0]))
            return false;
    } else if (!strcmp(kind, "program")) {
        row->program = words[0];
    } else {
        row->kernel = words[0];
    }
    find_files(fields, row);
    row->quick = quick_words(fields->arena, row, true);
    return true;
}

/* Reads a row of a suite, whose id is a name. */
static bool read_row(const struct fields *fields, const struct lab_files *files,
                     const struct yaml *map, struct suite *suite)
{
    struct suite_row row;
    const struct yaml *id = yaml_get(map, "id");
    if (!suite_row_read(fields, files, map, &row))
        return false;
    if (!id)
        return fields_error(fields, map, "'id' is missing here");
    if (!fields_name(fields, id, row.id, true))
        return false;
    if (suite_find(suite, row.id) >= 0)
        return fields_error(fields, id, "there are two workloads '%s'", row.id);
    suite->rows[suite->count++] = row;
    return true;
}

bool suite_row_runs(const struct suite_row *row)
{
    return row->workload || row->program || row->kernel || row->report;
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
