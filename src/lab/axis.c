/* Kinds of axes: see axis.h. */
#include "lab/axis.h"

#include "lab/faults.h"
#include "variation/choice.h"
#include <math.h>
#include <stdio.h>
#include <stdlib.h>

/* ---- lists of texts ---- */

typedef VEC(char *) text_list;

static void add_text(struct arena *arena, text_list *list, const char *text)
{
    *vec_push(list) = arena_strdup(arena, text);
}

bool axis_number(const char *label, f64 *number)
{
    u64 size;
    if (text_f64(label, number) == TEXT_OK)
        return true;
    if (text_size(label, &size) != TEXT_OK)
        return false;
    *number = (f64)size;
    return true;
}

/* FIRST..LAST[+STEP], or FIRST..LAST*FACTOR; false: it is no range. */
static bool is_range(struct arena *arena, const char *text, f64 *first, f64 *last, f64 *step,
                     bool *times)
{
    const char *dots = strstr(text, "..");
    if (!dots)
        return false;
    const char *head = arena_strndup(arena, text, (size_t)(dots - text));
    const char *tail = dots + 2, *sign = strpbrk(tail, "+*");
    const char *end = sign ? arena_strndup(arena, tail, (size_t)(sign - tail)) : tail;
    *times = sign && *sign == '*';
    *step = 1;
    return axis_number(head, first) && axis_number(end, last) &&
           (!sign || axis_number(sign + 1, step));
}

static bool add_range(const struct fields *fields, const struct yaml *node, f64 first, f64 last,
                      f64 step, bool times, text_list *list)
{
    char text[64];
    if (!(first <= last) || !isfinite(last) || (times ? !(step > 1) || !(first > 0) : !(step > 0)))
        return fields_error(fields, node,
                            "'%s': expected FIRST..LAST, FIRST..LAST+STEP or FIRST..LAST*FACTOR "
                            "that grows from FIRST to LAST",
                            shown_text(fields->arena, node->text, 60));
    f64 slack = times ? 1e-9 * last : 1e-9 * step;
    for (u32 i = 0;; i++) {
        f64 value = times ? first * pow(step, i) : first + i * step;
        if (value > last + slack)
            return true;
        if (list->count >= AXIS_MAX_VALUES)
            return fields_error(fields, node, "expected at most %d values", AXIS_MAX_VALUES);
        snprintf(text, sizeof text, "%.12g", value);
        add_text(fields->arena, list, text);
    }
}

static bool add_scalar(const struct fields *fields, const struct yaml *node, bool ranges,
                       text_list *list)
{
    f64 first, last, step;
    bool times;
    if (!fields_kind(fields, node, YAML_SCALAR, "a value"))
        return false;
    if (!node->text[0])
        return fields_error(fields, node, "expected a value");
    if (ranges && is_range(fields->arena, node->text, &first, &last, &step, &times))
        return add_range(fields, node, first, last, step, times, list);
    add_text(fields->arena, list, node->text);
    return true;
}

/* The values of an axis from a scalar or a list of scalars; `place` of a value is that of the node
 * it comes from. */
static bool read_texts(const struct fields *fields, const struct yaml *node, bool ranges,
                       struct axis *axis)
{
    text_list list = {0};
    bool single = node->kind == YAML_SCALAR;
    bool ok = single || fields_kind(fields, node, YAML_LIST, "values");
    VEC(struct text_place) places = {0};
    for (const struct yaml *child = single ? node : node->first; ok && child;
         child = single ? NULL : child->next) {
        ok = add_scalar(fields, child, ranges, &list);
        while (places.count < list.count)
            *vec_push(&places) = fields_place(fields, child);
    }
    axis->values = arena_array(fields->arena, struct axis_value, list.count + 1);
    for (u32 i = 0; ok && i < list.count; i++)
        axis->values[i] = (struct axis_value){.label = list.data[i], .place = places.data[i]};
    axis->count = list.count;
    vec_free(&list);
    vec_free(&places);
    return ok;
}

/* ---- set, inject and seed ---- */

static void set_all(const struct fields *fields, struct axis *axis, const char *key)
{
    struct setting *list = arena_array(fields->arena, struct setting, axis->count + 1);
    for (u32 i = 0; i < axis->count; i++) {
        struct axis_value *value = &axis->values[i];
        list[i] = (struct setting){key, value->label, value->place};
        value->settings = (struct settings){&list[i], 1};
    }
}

/* The name under `kind` and its values: {set: l1d.sets, values: [8, 16]} */
static bool read_named_values(const struct fields *fields, const struct yaml *map, const char *kind,
                              struct axis *axis, const char **key)
{
    const struct yaml *values = yaml_get(map, "values");
    if (!fields_text(fields, map, kind, true, key))
        return false;
    if (!values)
        return fields_error(fields, map, "'values' is missing here: the values of %s", *key);
    if (!read_texts(fields, values, true, axis))
        return false;
    axis->name = axis->name ? axis->name : *key;
    set_all(fields, axis, *key);
    return true;
}

static bool read_set(const struct fields *fields, const struct lab_files *files,
                     const struct yaml *node, struct axis *axis)
{
    const char *key = NULL;
    return read_named_values(fields, node, "set", axis, &key);
}

static bool read_inject(const struct fields *fields, const struct lab_files *files,
                        const struct yaml *node, struct axis *axis)
{
    const char *key = NULL;
    if (!read_named_values(fields, node, "inject", axis, &key))
        return false;
    for (u32 i = 0; i < axis->count; i++)
        if (!faults_check(fields, yaml_get(node, "inject"), key, axis->values[i].label))
            return false;
    return true;
}

static bool read_seed(const struct fields *fields, const struct lab_files *files,
                      const struct yaml *node, struct axis *axis)
{
    if (!read_texts(fields, yaml_get(node, "seed"), true, axis))
        return false;
    set_all(fields, axis, "launch.seed");
    return true;
}

static void apply_settings(const struct axis_value *value, struct recipe *recipe)
{
    recipe->settings[recipe->settings_count++] = &value->settings;
}

static void apply_faults(const struct axis_value *value, struct recipe *recipe)
{
    recipe->faults[recipe->faults_count++] = &value->settings;
}

/* ---- machine ---- */

static bool read_machine(const struct fields *fields, const struct lab_files *files,
                         const struct yaml *node, struct axis *axis)
{
    if (!read_texts(fields, yaml_get(node, "machine"), false, axis))
        return false;
    for (u32 i = 0; i < axis->count; i++)
        axis->values[i].machine = machine_path(fields, axis->values[i].label);
    return true;
}

static void apply_machine(const struct axis_value *value, struct recipe *recipe)
{
    recipe->machine = value->machine;
    recipe->machine_place = value->place;
}

/* ---- chip ---- */

static struct axis_value *add_chip(const struct fields *fields, const struct yaml *node,
                                   struct axis *axis, const char *file, const char *number)
{
    struct axis_value *value = &axis->values[axis->count++];
    const char *path = chip_path(fields, file);
    value->place = fields_place(fields, node);
    value->label = number ? arena_printf(fields->arena, "%s:%s", file, number) : file;
    value->chip = number ? arena_printf(fields->arena, "%s:%s", path, number) : path;
    return value;
}

/* FILE.db:NUMBER, FILE.db:FIRST..LAST, or a file of maps; makes room for the values. */
static bool read_chips(const struct fields *fields, const struct yaml *node, struct axis *axis)
{
    const char *text = node->text, *colon = strrchr(text, ':');
    const char *dots = colon ? strstr(colon, "..") : NULL;
    u64 first = 0, last = 0;
    if (!fields_kind(fields, node, YAML_SCALAR, "a chip"))
        return false;
    if (dots &&
        (text_u64(arena_strndup(fields->arena, colon + 1, (size_t)(dots - colon) - 1), &first) !=
             TEXT_OK ||
         text_u64(dots + 2, &last) != TEXT_OK || first > last || last - first >= AXIS_MAX_VALUES))
        return fields_error(fields, node,
                            "'%s': expected FILE.db:NUMBER, FILE.db:FIRST..LAST or a file of maps",
                            shown_text(fields->arena, text, 60));
    struct axis_value *all =
        arena_array(fields->arena, struct axis_value, axis->count + (last - first) + 2);
    memcpy(all, axis->values, axis->count * sizeof *all);
    axis->values = all;
    if (!dots) {
        const size_t length = chip_choice_file(text);
        const char *file =
            length ? arena_strndup(fields->arena, text, length) : arena_strdup(fields->arena, text);
        add_chip(fields, node, axis, file,
                 length ? arena_strdup(fields->arena, text + length + 1) : NULL);
        return true;
    }
    const char *file = arena_strndup(fields->arena, text, (size_t)(colon - text));
    for (u64 number = first; number <= last; number++)
        add_chip(fields, node, axis, file,
                 arena_printf(fields->arena, "%llu", (unsigned long long)number));
    return true;
}

static bool read_chip(const struct fields *fields, const struct lab_files *files,
                      const struct yaml *node, struct axis *axis)
{
    node = yaml_get(node, "chip");
    const bool single = node->kind == YAML_SCALAR;
    if (!single && !fields_kind(fields, node, YAML_LIST, "chips"))
        return false;
    axis->values = arena_array(fields->arena, struct axis_value, 1);
    for (const struct yaml *child = single ? node : node->first; child;
         child = single ? NULL : child->next)
        if (!read_chips(fields, child, axis))
            return false;
    return true;
}

static void apply_chip(const struct axis_value *value, struct recipe *recipe)
{
    recipe->chip = value->chip;
    recipe->chip_place = value->place;
}

/* ---- mechanism ---- */

/* Reads an element of a list of mechanisms or programs into `value`. `key`: the kind of axis. */
typedef bool read_value(const struct fields *fields, const struct lab_files *files,
                        const struct yaml *node, const char *key, struct axis_value *value);

/* The values of an axis from one element or a list of them. */
static bool read_list(const struct fields *fields, const struct lab_files *files,
                      const struct yaml *node, const char *key, read_value *read, struct axis *axis)
{
    node = yaml_get(node, key);
    const bool single = node->kind == YAML_SCALAR;
    if (!single && !fields_kind(fields, node, YAML_LIST, key))
        return false;
    axis->values = arena_array(fields->arena, struct axis_value, node->count + 1);
    for (const struct yaml *child = single ? node : node->first; child;
         child = single ? NULL : child->next) {
        struct axis_value *value = &axis->values[axis->count++];
        value->place = fields_place(fields, child);
        if (!read(fields, files, child, key, value))
            return false;
    }
    return true;
}

static bool read_mechanisms(const struct fields *fields, const struct lab_files *files,
                            const struct yaml *node, const char *key, struct axis_value *value)
{
    const bool text = node->kind == YAML_SCALAR;
    if (!(text ? mechanisms_parse : mechanisms_read)(fields, node, &value->mechanisms))
        return false;
    value->label = mechanisms_text(fields->arena, &value->mechanisms);
    return true;
}

static bool read_mechanism(const struct fields *fields, const struct lab_files *files,
                           const struct yaml *node, struct axis *axis)
{
    return read_list(fields, files, node, "mechanism", read_mechanisms, axis);
}

static void apply_mechanism(const struct axis_value *value, struct recipe *recipe)
{
    recipe->mechanisms[recipe->mechanism_count++] = &value->mechanisms;
}

/* ---- configuration ---- */

static bool read_configuration(const struct fields *fields, const struct lab_files *files,
                               const struct yaml *node, struct axis *axis)
{
    node = yaml_get(node, "configuration");
    if (!fields_kind(fields, node, YAML_MAP, "configuration"))
        return false;
    struct configuration *list = arena_array(fields->arena, struct configuration, node->count + 1);
    u32 count = 0;
    for (const struct yaml *child = node->first; child; child = child->next)
        if (!configuration_read(fields, child, &list[count++]))
            return false;
    const char *name = axis->name;
    axis_of_configurations(fields->arena, list, count, axis);
    axis->name = name ? name : axis->name;
    return true;
}

static void apply_configuration(const struct axis_value *value, struct recipe *recipe)
{
    const struct configuration *one = &value->configuration;
    if (one->machine) {
        recipe->machine = one->machine;
        recipe->machine_place = one->place;
    }
    if (one->chip) {
        recipe->chip = one->chip;
        recipe->chip_place = one->place;
    }
    recipe->mechanisms[recipe->mechanism_count++] = &one->mechanisms;
    recipe->settings[recipe->settings_count++] = &one->settings;
    if (one->faults.count)
        recipe->faults[recipe->faults_count++] = &one->faults;
}

/* ---- programs ---- */

/* Reads a program; a scalar is a command line whose first word is of the kind `key`. */
static bool read_row(const struct fields *fields, const struct lab_files *files,
                     const struct yaml *node, const char *key, struct axis_value *value)
{
    const bool ok = node->kind == YAML_SCALAR
                        ? suite_row_parse(fields, files, node, key, &value->row)
                        : suite_row_read(fields, files, node, &value->row);
    if (!ok)
        return false;
    if (!suite_row_runs(&value->row))
        return fields_error(fields, node, "expected 'workload', 'program', 'kernel' or 'report'");
    value->label = value->row.id;
    return true;
}

static bool read_workload(const struct fields *fields, const struct lab_files *files,
                          const struct yaml *node, struct axis *axis)
{
    return read_list(fields, files, node, "workload", read_row, axis);
}

static bool read_program(const struct fields *fields, const struct lab_files *files,
                         const struct yaml *node, struct axis *axis)
{
    return read_list(fields, files, node, "program", read_row, axis);
}

static bool read_kernel(const struct fields *fields, const struct lab_files *files,
                        const struct yaml *node, struct axis *axis)
{
    return read_list(fields, files, node, "kernel", read_row, axis);
}

static void apply_row(const struct axis_value *value, struct recipe *recipe)
{
    recipe->row = &value->row;
    recipe->settings[recipe->settings_count++] = &value->row.settings;
}

/* ---- the table ---- */

enum kind_index {
    KIND_CONFIGURATION,
    KIND_WORKLOAD
};

static const struct axis_kind kinds[] = {
    [KIND_CONFIGURATION] = {"configuration", "configuration", .read = read_configuration,
                            .apply = apply_configuration},
    [KIND_WORKLOAD] = {"workload", "workload", .chooses_program = true, .read = read_workload,
                       .apply = apply_row},
    {"program", "workload", .chooses_program = true, .read = read_program, .apply = apply_row},
    {"kernel", "workload", .chooses_program = true, .read = read_kernel, .apply = apply_row},
    {"machine", "machine", .chooses_machine = true, .read = read_machine, .apply = apply_machine},
    {"mechanism", "mechanism", .read = read_mechanism, .apply = apply_mechanism},
    {"set", NULL, .read = read_set, .apply = apply_settings},
    {"inject", NULL, .read = read_inject, .apply = apply_faults},
    {"seed", "seed", .repeats = true, .read = read_seed, .apply = apply_settings},
    {"chip", "chip", .repeats = true, .read = read_chip, .apply = apply_chip},
};

static const struct axis_kind *kind_of(const struct fields *fields, const struct yaml *node)
{
    const struct axis_kind *found = NULL;
    const char *all = "";
    for (u32 i = 0; i < ARRAY_LEN(kinds); i++) {
        all = arena_printf(fields->arena, "%s%s%s", all, i ? ", " : "", kinds[i].key);
        if (!yaml_get(node, kinds[i].key))
            continue;
        if (found) {
            fields_error(fields, node, "an axis is of one kind, not both '%s' and '%s'", found->key,
                         kinds[i].key);
            return NULL;
        }
        found = &kinds[i];
    }
    if (!found)
        fields_error(fields, node, "expected an axis of one of these kinds: %s, or zip", all);
    return found;
}

/* Numbers of the labels, for lines in charts. */
static void find_numbers(struct arena *arena, struct axis *axis)
{
    f64 *numbers = arena_array(arena, f64, axis->count + 1);
    for (u32 i = 0; i < axis->count; i++)
        if (!axis_number(axis->values[i].label, &numbers[i]) || !isfinite(numbers[i]))
            return;
    axis->numbers = numbers;
}

static int by_label(const void *a, const void *b)
{
    const struct axis_value *const *first = a, *const *second = b;
    int order = strcmp((*first)->label, (*second)->label);
    return order ? order : *first < *second ? -1 : 1;
}

static bool check_labels(const struct fields *fields, const struct yaml *node,
                         const struct axis *axis)
{
    if (!axis->count)
        return fields_error(fields, node, "axis '%s' has no values", axis->name);
    const struct axis_value **sorted = checked(calloc(axis->count, sizeof *sorted));
    for (u32 i = 0; i < axis->count; i++)
        sorted[i] = &axis->values[i];
    qsort(sorted, axis->count, sizeof *sorted, by_label);
    const struct axis_value *twin = NULL;
    for (u32 i = 1; i < axis->count && !twin; i++)
        if (!strcmp(sorted[i - 1]->label, sorted[i]->label))
            twin = sorted[i];
    free(sorted);
    if (!twin)
        return true;
    char place[256];
    return error_set(fields->error, ERROR_INPUT, place_text(twin->place, place, sizeof place),
                     "axis '%s' has the value '%s' twice", axis->name,
                     shown_text(fields->arena, twin->label, 60));
}

bool axis_read(const struct fields *fields, const struct lab_files *files, const struct yaml *node,
               struct axis *axis)
{
    if (!fields_kind(fields, node, YAML_MAP, "an axis"))
        return false;
    const struct axis_kind *kind = kind_of(fields, node);
    if (!kind)
        return false;
    bool sets = !kind->name;
    const char *const keys[] = {kind->key, "name", sets ? "values" : NULL, NULL};
    *axis = (struct axis){.kind = kind, .place = {fields->file, node->line, node->column}};
    if (!fields_map(fields, node, "an axis", keys) ||
        !fields_text(fields, node, "name", false, &axis->name))
        return false;
    axis->name = axis->name ? axis->name : kind->name;
    if (!kind->read(fields, files, node, axis) || !check_labels(fields, node, axis))
        return false;
    if (!kind->chooses_program)
        find_numbers(fields->arena, axis);
    return true;
}

/* ---- axes of experiments ---- */

void axis_of_configurations(struct arena *arena, const struct configuration *list, u32 count,
                            struct axis *axis)
{
    *axis = (struct axis){.kind = &kinds[KIND_CONFIGURATION],
                          .name = "configuration",
                          .values = arena_array(arena, struct axis_value, count + 1),
                          .count = count};
    for (u32 i = 0; i < count; i++)
        axis->values[i] = (struct axis_value){
            .label = list[i].name, .place = list[i].place, .configuration = list[i]};
}

void axis_of_rows(struct arena *arena, const struct suite *suite, const bool *members,
                  struct axis *axis)
{
    *axis = (struct axis){.kind = &kinds[KIND_WORKLOAD],
                          .name = "workload",
                          .values = arena_array(arena, struct axis_value, suite->count + 1)};
    for (u32 i = 0; i < suite->count; i++)
        if (!members || members[i])
            axis->values[axis->count++] =
                (struct axis_value){.label = suite->rows[i].id, .row = suite->rows[i]};
}

int axis_find(const struct axis *axis, const char *label)
{
    f64 number;
    for (u32 i = 0; i < axis->count; i++)
        if (!strcmp(axis->values[i].label, label))
            return (int)i;
    if (axis->numbers && text_f64(label, &number) == TEXT_OK)
        for (u32 i = 0; i < axis->count; i++)
            if (axis->numbers[i] == number)
                return (int)i;
    return -1;
}
