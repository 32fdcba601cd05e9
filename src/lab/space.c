/* The product of axes: see space.h. */
#include "lab/space.h"

#include <stdlib.h>

struct axis *space_add(struct space *space)
{
    assert(space->axis_count < SPACE_MAX_AXES);
    space->groups[space->group_count++] = (struct axis_group){space->axis_count, 1, 0};
    return &space->axes[space->axis_count++];
}

int space_axis(const struct space *space, const char *name)
{
    for (u32 i = 0; i < space->axis_count; i++)
        if (!strcmp(space->axes[i].name, name))
            return (int)i;
    return -1;
}

bool space_reserves(const char *name)
{
    return !strcmp(name, "status") || !strcmp(name, "message");
}

/* ---- reading ---- */

static bool room(const struct fields *fields, const struct yaml *node, const struct space *space)
{
    return space->axis_count < SPACE_MAX_AXES ||
           fields_error(fields, node, "expected at most %d axes", SPACE_MAX_AXES);
}

/* Appends an axis to the last group. */
static bool read_axis(const struct fields *fields, const struct lab_files *files,
                      const struct yaml *node, struct space *space)
{
    struct axis *axis = &space->axes[space->axis_count];
    if (!room(fields, node, space) || !axis_read(fields, files, node, axis))
        return false;
    if (space_axis(space, axis->name) >= 0)
        return fields_error(fields, node, "there are two axes '%s': 'name' gives one another name",
                            axis->name);
    if (space_reserves(axis->name))
        return fields_error(fields, node,
                            "tables have a column '%s' already: expected another name", axis->name);
    space->axis_count++;
    struct axis_group *group = &space->groups[space->group_count - 1];
    const struct axis *first = &space->axes[group->first];
    if (group->count++ && axis->count != first->count)
        return fields_error(fields, node,
                            "zipped axes have equally many values; '%s' has %u, '%s' %u",
                            first->name, first->count, axis->name, axis->count);
    return true;
}

bool space_read_axes(const struct fields *fields, const struct lab_files *files,
                     const struct yaml *node, struct space *space)
{
    static const char *const zip_keys[] = {"zip", NULL};
    if (!fields_kind(fields, node, YAML_LIST, "axes"))
        return false;
    for (const struct yaml *child = node->first; child; child = child->next) {
        const struct yaml *zip = yaml_get(child, "zip");
        if (!room(fields, child, space))
            return false;
        space->groups[space->group_count++] = (struct axis_group){.first = space->axis_count};
        if (!zip) {
            if (!read_axis(fields, files, child, space))
                return false;
            continue;
        }
        if (!fields_map(fields, child, "a zip", zip_keys) ||
            !fields_kind(fields, zip, YAML_LIST, "zip"))
            return false;
        if (zip->count < 2)
            return fields_error(fields, zip, "expected at least two axes to zip");
        for (const struct yaml *one = zip->first; one; one = one->next)
            if (!read_axis(fields, files, one, space))
                return false;
    }
    return true;
}

static bool read_condition(const struct fields *fields, const struct yaml *node,
                           const struct space *space, struct point_pattern *pattern)
{
    int at = space_axis(space, node->key);
    const char *names[SPACE_MAX_AXES];
    for (u32 i = 0; i < space->axis_count; i++)
        names[i] = space->axes[i].name;
    if (at < 0)
        return fields_key_error(fields, node, "there is no axis '%s'%s",
                                shown_text(fields->arena, node->key, 60),
                                fields_nearest(fields, node->key, names, space->axis_count));
    const struct axis *axis = &space->axes[at];
    const char **words;
    if (!fields_words(fields, node, &words))
        return false;
    bool *chosen = arena_array(fields->arena, bool, axis->count);
    for (; *words; words++) {
        int value = axis_find(axis, *words);
        if (value < 0)
            return fields_error(fields, node, "axis '%s' has no value '%s'", axis->name,
                                shown_text(fields->arena, *words, 60));
        chosen[value] = true;
    }
    pattern->values[at] = chosen;
    return true;
}

bool space_read_pattern(const struct fields *fields, const struct yaml *node,
                        const struct space *space, struct point_pattern *pattern)
{
    if (!fields_kind(fields, node, YAML_MAP, node->key ? node->key : "values of axes"))
        return false;
    pattern->place = (struct text_place){fields->file, node->line, node->column};
    for (const struct yaml *child = node->first; child; child = child->next)
        if (!read_condition(fields, child, space, pattern))
            return false;
    return node->count || fields_error(fields, node, "expected values of axes, as in {%s: %s}",
                                       space->axes[0].name, space->axes[0].values[0].label);
}

bool space_read_exclusions(const struct fields *fields, const struct yaml *node,
                           struct space *space)
{
    if (!fields_kind(fields, node, YAML_LIST, "exclude"))
        return false;
    space->exclusions = arena_array(fields->arena, struct point_pattern, node->count + 1);
    for (const struct yaml *child = node->first; child; child = child->next)
        if (!space_read_pattern(fields, child, space, &space->exclusions[space->exclusion_count++]))
            return false;
    return true;
}

/* Means are taken over one axis: samples of two would be mixed. */
static bool repeats_once(const struct fields *fields, const struct yaml *map,
                         const struct space *space)
{
    const struct axis *first = NULL;
    for (u32 i = 0; i < space->axis_count; i++) {
        const struct axis *axis = &space->axes[i];
        if (!axis->kind->repeats || axis->count < 2)
            continue;
        if (first)
            return fields_error(fields, map,
                                "axes '%s' and '%s' both repeat points: expected one of them, or "
                                "one value of the other",
                                first->name, axis->name);
        first = axis;
    }
    return true;
}

bool space_finish(const struct fields *fields, const struct yaml *map, struct space *space)
{
    const struct axis *program = NULL;
    if (!repeats_once(fields, map, space))
        return false;
    space->size = 1;
    for (u32 i = 0; i < space->group_count; i++) {
        struct axis_group *group = &space->groups[i];
        group->length = space->axes[group->first].count;
        if (__builtin_mul_overflow(space->size, group->length, &space->size) ||
            space->size > UINT32_MAX)
            return fields_error(fields, map, "expected at most %u points", UINT32_MAX);
    }
    for (u32 i = 0; i < space->axis_count; i++) {
        const struct axis *axis = &space->axes[i];
        if (!axis->kind->chooses_program)
            continue;
        if (program)
            return fields_error(fields, map,
                                "axes '%s' and '%s' both choose the program: put workloads, "
                                "programs and kernels into one axis",
                                program->name, axis->name);
        program = axis;
    }
    return program || fields_error(fields, map,
                                   "there is nothing to run: expected an axis of workloads, "
                                   "programs or kernels");
}

/* ---- points ---- */

void space_values(const struct space *space, u64 point, u32 values[SPACE_MAX_AXES])
{
    for (u32 i = space->group_count; i-- > 0;) {
        const struct axis_group *group = &space->groups[i];
        u32 digit = (u32)(point % group->length);
        point /= group->length;
        for (u32 k = 0; k < group->count; k++)
            values[group->first + k] = digit;
    }
}

u64 space_point(const struct space *space, const u32 values[SPACE_MAX_AXES])
{
    u64 point = 0;
    for (u32 i = 0; i < space->group_count; i++)
        point = point * space->groups[i].length + values[space->groups[i].first];
    return point;
}

bool pattern_matches(const struct point_pattern *pattern, const struct space *space,
                     const u32 values[SPACE_MAX_AXES])
{
    for (u32 i = 0; i < space->axis_count; i++)
        if (pattern->values[i] && !pattern->values[i][values[i]])
            return false;
    return true;
}

bool space_excludes(const struct space *space, u64 point)
{
    u32 values[SPACE_MAX_AXES];
    if (!space->exclusion_count)
        return false;
    space_values(space, point, values);
    for (u32 i = 0; i < space->exclusion_count; i++)
        if (pattern_matches(&space->exclusions[i], space, values))
            return true;
    return false;
}

const char *space_label(struct arena *arena, const struct space *space, u64 point)
{
    u32 values[SPACE_MAX_AXES] = {0};
    const char *text = "";
    space_values(space, point, values);
    for (u32 i = 0; i < space->axis_count; i++)
        text = arena_printf(arena, "%s%s%s=%s", text, i ? ", " : "", space->axes[i].name,
                            space->axes[i].values[values[i]].label);
    return text;
}
