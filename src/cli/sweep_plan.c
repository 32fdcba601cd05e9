/* Options as a plan: see sweep_plan.h. */
#include "cli/sweep_plan.h"

#include "base/text.h"
#include "lab/suite.h"

/* ---- building a tree ---- */

static struct yaml *node(struct arena *arena, enum yaml_kind kind, const char *text)
{
    struct yaml *one = arena_new(arena, struct yaml);
    *one = (struct yaml){.kind = kind, .text = text};
    return one;
}

static struct yaml *append(struct yaml *parent, const char *key, struct yaml *child)
{
    child->key = key;
    if (parent->last)
        parent->last->next = child;
    else
        parent->first = child;
    parent->last = child;
    parent->count++;
    return child;
}

static struct yaml *scalar(struct arena *arena, struct yaml *parent, const char *key,
                           const char *text)
{
    return append(parent, key, node(arena, YAML_SCALAR, text));
}

/* Takes the word before the next comma off a text that can be changed; NULL: there is none left. */
static char *next_word(char **rest)
{
    return strsep(rest, ",");
}

/* Appends the words between commas; false: one of them is empty. */
static bool add_split(struct arena *arena, struct yaml *list, const char *text)
{
    char *rest = arena_strdup(arena, text), *word;
    while ((word = next_word(&rest))) {
        if (!*word)
            return false;
        scalar(arena, list, NULL, word);
    }
    return true;
}

/* ---- options ---- */

struct plan_builder {
    const struct command *command;
    struct arena *arena;
    struct yaml *plan, *axes, *set, *programs, *exclude, *columns;
    const struct command_line *line;
};

static bool wrong(const struct plan_builder *builder, const char *option, const char *value,
                  const char *expected)
{
    usage_error(builder->command, "%s %s: expected %s", option,
                text_printable(builder->arena, value), expected);
    return false;
}

/* Whether a --set before has this key. */
static bool is_set(const struct plan_builder *builder, const char *key)
{
    bool found = yaml_get(builder->set, key);
    for (const struct yaml *axis = builder->axes->first; axis; axis = axis->next) {
        const struct yaml *set = yaml_get(axis, "set");
        found |= set && !strcmp(set->text, key);
    }
    return found;
}

/* --set KEY=VALUE is a setting of all points, KEY=VALUE,VALUE an axis. */
static bool add_set(struct plan_builder *builder, const char *value)
{
    struct arena *arena = builder->arena;
    const char *equals = strchr(value, '=');
    if (!equals || equals == value || !equals[1])
        return wrong(builder, "--set", value, "KEY=VALUE[,VALUE...] or KEY=FIRST..LAST[*FACTOR]");
    const char *key = arena_strndup(arena, value, (size_t)(equals - value));
    if (is_set(builder, key)) {
        usage_error(builder->command,
                    "--set %s is given twice: give all its values at once, as in "
                    "KEY=VALUE,VALUE",
                    text_printable(arena, key));
        return false;
    }
    if (!strchr(equals + 1, ',') && !strstr(equals + 1, "..")) {
        scalar(arena, builder->set, key, equals + 1);
        return true;
    }
    struct yaml *axis = append(builder->axes, NULL, node(arena, YAML_MAP, NULL));
    scalar(arena, axis, "set", key);
    return add_split(arena, append(axis, "values", node(arena, YAML_LIST, NULL)), equals + 1) ||
           wrong(builder, "--set", value, "values separated by single commas");
}

/* The axis with values of this kind; the first option of the kind makes it. */
static struct yaml *axis_list(struct plan_builder *builder, const char *kind)
{
    for (struct yaml *axis = builder->axes->first; axis; axis = axis->next)
        if (yaml_get(axis, kind))
            return axis->first;
    struct yaml *axis = append(builder->axes, NULL, node(builder->arena, YAML_MAP, NULL));
    return append(axis, kind, node(builder->arena, YAML_LIST, NULL));
}

/* A workload, program or kernel: all are values of one axis, which comes last. */
static bool add_program(struct plan_builder *builder, const char *option, const char *text)
{
    struct arena *arena = builder->arena;
    const char **words, *kind = option + strlen("--");
    if (!strcmp(kind, "workload"))
        return add_split(arena, builder->programs, text) ||
               wrong(builder, option, text,
                     "names that 'heddle workloads' lists, separated by single commas");
    if (!words_split(arena, text, &words) || !words[0])
        return wrong(builder, option, text, "a command line with closed quotation marks");
    /* an axis of workloads takes other programs as mappings */
    struct yaml *row = append(builder->programs, NULL, node(arena, YAML_MAP, NULL));
    scalar(arena, row, "id", text);
    scalar(arena, row, kind, words[0]);
    struct yaml *list = append(row, "arguments", node(arena, YAML_LIST, NULL));
    for (words++; *words; words++)
        scalar(arena, list, NULL, *words);
    return true;
}

/* {AXIS: VALUE, ...} from AXIS=VALUE,AXIS=VALUE */
static bool add_pattern(struct plan_builder *builder, const char *option, const char *value,
                        struct yaml *map)
{
    struct arena *arena = builder->arena;
    char *rest = arena_strdup(arena, value), *word;
    while ((word = next_word(&rest))) {
        char *equals = strchr(word, '=');
        if (!equals || equals == word)
            return wrong(builder, option, value, "AXIS=VALUE[,AXIS=VALUE...]");
        *equals = '\0';
        if (yaml_get(map, word))
            return wrong(builder, option, value, "one value of each axis");
        scalar(arena, map, word, equals + 1);
    }
    return true;
}

/* NAME=FORMULA, or a statistic */
static void add_column(struct plan_builder *builder, const char *value)
{
    struct arena *arena = builder->arena;
    const char *equals = strchr(value, '=');
    if (!equals) {
        scalar(arena, builder->columns, NULL, value);
        return;
    }
    struct yaml *column = append(builder->columns, NULL, node(arena, YAML_MAP, NULL));
    scalar(arena, column, "name", arena_strndup(arena, value, (size_t)(equals - value)));
    scalar(arena, column, "formula", equals + 1);
}

/* What --zip calls an axis. */
static const char *axis_name(const struct yaml *axis)
{
    const struct yaml *key = yaml_get(axis, "set");
    return key ? key->text : axis->first->key;
}

/* Removes a name from a list; false: it is not there. */
static bool take_name(struct yaml *names, const char *name)
{
    for (struct yaml **at = &names->first; *at; at = &(*at)->next)
        if (!strcmp((*at)->text, name)) {
            *at = (*at)->next;
            return true;
        }
    return false;
}

/* Replaces axes by one zip of them, at the place of the first. */
static bool add_zip(struct plan_builder *builder, const char *value)
{
    struct arena *arena = builder->arena;
    struct yaml *names = node(arena, YAML_LIST, NULL), *axes = node(arena, YAML_LIST, NULL);
    struct yaml *zip = node(arena, YAML_MAP, NULL);
    struct yaml *zipped = append(zip, "zip", node(arena, YAML_LIST, NULL));
    bool ok = add_split(arena, names, value);
    for (struct yaml *axis = builder->axes->first, *next; axis; axis = next) {
        next = axis->next;
        axis->next = NULL;
        if (!take_name(names, axis_name(axis))) {
            append(axes, NULL, axis);
            continue;
        }
        if (!zipped->count)
            append(axes, NULL, zip);
        append(zipped, NULL, axis);
    }
    builder->axes = axes;
    return (ok && !names->first) ||
           wrong(
               builder, "--zip", value,
               "different axes: parameters with several values, machine, mechanism, chip or seed");
}

static bool add_option(struct plan_builder *builder, const struct given *given)
{
    const char *name = given->option ? given->option->name : "", *value = given->value;
    struct arena *arena = builder->arena;
    if (!strcmp(name, "--set"))
        return add_set(builder, value);
    if (!strcmp(name, "--mech"))
        scalar(arena, axis_list(builder, "mechanism"), NULL, value);
    else if (!strcmp(name, "--machine") && strchr(value, ','))
        return add_split(arena, axis_list(builder, "machine"), value) ||
               wrong(builder, name, value, "machines separated by single commas");
    else if (!strcmp(name, "--machine"))
        scalar(arena, builder->plan, "machine", value);
    else if (!strcmp(name, "--seed"))
        return add_split(arena, axis_list(builder, "seed"), value) ||
               wrong(builder, name, value, "seeds separated by single commas");
    else if (!strcmp(name, "--chip"))
        return add_split(arena, axis_list(builder, "chip"), value) ||
               wrong(builder, name, value, "chips separated by single commas");
    else if (!strcmp(name, "--workload") || !strcmp(name, "--program") || !strcmp(name, "--kernel"))
        return add_program(builder, name, value);
    else if (!strcmp(name, "--exclude"))
        return add_pattern(builder, name, value,
                           append(builder->exclude, NULL, node(arena, YAML_MAP, NULL)));
    else if (!strcmp(name, "--baseline"))
        return add_pattern(builder, name, value,
                           append(builder->plan, "baseline", node(arena, YAML_MAP, NULL)));
    else if (!strcmp(name, "--column"))
        add_column(builder, value);
    return true;
}

const char *sweep_plan_option(const struct command_line *line)
{
    for (u32 i = 0; i < line->count; i++)
        if (line->given[i].option && line->given[i].option->flags & SWEEP_PLAN)
            return line->given[i].option->name;
    return NULL;
}

const struct yaml *sweep_plan(const struct command *command, const struct command_line *line,
                              struct arena *arena)
{
    struct plan_builder builder = {.command = command, .arena = arena, .line = line};
    const char *name = option_value(line, "--name"), *zip = option_value(line, "--zip");
    builder.plan = node(arena, YAML_MAP, NULL);
    builder.axes = node(arena, YAML_LIST, NULL);
    builder.set = node(arena, YAML_MAP, NULL);
    builder.programs = node(arena, YAML_LIST, NULL);
    builder.exclude = node(arena, YAML_LIST, NULL);
    builder.columns = node(arena, YAML_LIST, NULL);
    scalar(arena, builder.plan, "sweep", name ? name : "sweep");
    for (u32 i = 0; i < line->count; i++)
        if (!add_option(&builder, &line->given[i]))
            return NULL;
    if (!builder.programs->count) {
        usage_error(command, "there is nothing to run: expected --workload, --program, --kernel or "
                             "a plan file");
        return NULL;
    }
    if (zip && !add_zip(&builder, zip))
        return NULL;
    struct yaml *axis = append(builder.axes, NULL, node(arena, YAML_MAP, NULL));
    append(axis, "workload", builder.programs);
    if (builder.set->count)
        append(builder.plan, "set", builder.set);
    append(builder.plan, "axes", builder.axes);
    if (builder.exclude->count)
        append(builder.plan, "exclude", builder.exclude);
    if (builder.columns->count)
        append(builder.plan, "columns", builder.columns);
    return builder.plan;
}

/* ---- writing ---- */

static void write_text(FILE *to, const char *text)
{
    bool plain = *text && !text[strspn(text, "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ"
                                             "0123456789._/")];
    if (plain) {
        fputs(text, to);
        return;
    }
    fputc('"', to);
    for (; *text; text++) {
        if (*text == '"' || *text == '\\')
            fputc('\\', to);
        if ((unsigned char)*text < ' ')
            fprintf(to, "\\x%02x", (unsigned)*text);
        else
            fputc(*text, to);
    }
    fputc('"', to);
}

/* Maps and lists inside others are written on one line. */
static void write_flow(FILE *to, const struct yaml *tree)
{
    if (tree->kind == YAML_SCALAR) {
        write_text(to, tree->text);
        return;
    }
    bool map = tree->kind == YAML_MAP;
    fputc(map ? '{' : '[', to);
    for (const struct yaml *child = tree->first; child; child = child->next) {
        if (map) {
            write_text(to, child->key);
            fputs(": ", to);
        }
        write_flow(to, child);
        fputs(child->next ? ", " : "", to);
    }
    fputc(map ? '}' : ']', to);
}

void sweep_plan_write(FILE *to, const struct yaml *tree, const char *folder)
{
    fputs("folder: ", to);
    write_text(to, folder);
    fputc('\n', to);
    for (const struct yaml *child = tree->first; child; child = child->next) {
        write_text(to, child->key);
        fputc(':', to);
        if (child->kind == YAML_LIST) {
            fputc('\n', to);
            for (const struct yaml *one = child->first; one; one = one->next) {
                fputs("  - ", to);
                write_flow(to, one);
                fputc('\n', to);
            }
            continue;
        }
        fputc(' ', to);
        write_flow(to, child);
        fputc('\n', to);
    }
}
