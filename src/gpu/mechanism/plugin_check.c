/*
 * Checks of the tables of a mechanism from a shared object. They were compiled with Heddle's
 * headers, so this finds mistakes of their authors: a missing `on`, a name that is taken, an energy
 * row without its counter.
 */
#include "gpu/mechanism/plugins.h"

#include "gpu/device.h"
#include "gpu/machine/storage.h"
#include "gpu/mechanism/changes.h"
#include "gpu/mechanism/mechanisms.h"
#include <ctype.h>
#include <math.h>
#include <stdlib.h>

enum {
    MOST_PARAMS = 1000,
    MOST_STATS = 10000,
    MOST_BYTES = 1 << 20, /* of parameters or counters */
    MOST_STATE = 1 << 30  /* of a core's state, bytes */
};

struct plugin_check {
    const struct mechanism *mechanism;
    const struct component *component;
    const char *path;
    struct error *error;
};

#define WRONG(check, ...) error_set((check)->error, ERROR_INPUT, (check)->path, __VA_ARGS__)

/* Whether text is a word of lower-case letters, digits and '_', as required for keys and files. */
static bool is_name(const char *text)
{
    size_t length = text && islower((u8)text[0]) ? strspn(text, "abcdefghijklmnopqrstuvwxyz"
                                                                "0123456789_")
                                                 : 0;
    return length && length <= 64 && !text[length];
}

/* ---- parameters ---- */

static size_t param_bytes(const struct param *param)
{
    static const size_t bytes[] = {[PARAM_U32] = 4,  [PARAM_U64] = 8,    [PARAM_F64] = 8,
                                   [PARAM_BOOL] = 1, [PARAM_CHOICE] = 4, [PARAM_LIST] = 8};
    return bytes[param->type];
}

static bool check_range(const struct plugin_check *check, const struct param *param)
{
    u32 choices = 1;
    for (const char *at = param->choices; at && *at; at++)
        choices += *at == '|';
    if (param->type == PARAM_CHOICE && (!param->choices || !param->choices[0]))
        return WRONG(check, "parameter '%s' has no choices", param->name);
    if (param->type == PARAM_CHOICE)
        return (param->initial >= 0 && param->initial < choices) ||
               WRONG(check, "the default of parameter '%s' is not one of its choices", param->name);
    if (!isfinite(param->min) || !isfinite(param->max) || param->min > param->max)
        return WRONG(check, "the range of parameter '%s' is empty", param->name);
    return param->type == PARAM_LIST ||
           (param->initial >= param->min && param->initial <= param->max) ||
           WRONG(check, "the default of parameter '%s' is outside its range", param->name);
}

static bool check_param(const struct plugin_check *check, u32 index)
{
    const struct param *param = &check->component->params[index];
    const u32 size = check->component->params_size;
    if (!is_name(param->name))
        return WRONG(check, "parameter %u needs a name of letters, digits and '_'", index + 1);
    for (u32 i = 0; i < index; i++)
        if (!strcmp(check->component->params[i].name, param->name))
            return WRONG(check, "there are two parameters '%s'", param->name);
    if ((u32)param->type > PARAM_LIST || !param->unit || !param->help)
        return WRONG(check, "parameter '%s' has no type, unit or help", param->name);
    if (param->offset + (size_t)MAX(param->most, 1u) * param_bytes(param) > size ||
        param->offset % param_bytes(param) ||
        (param->type == PARAM_LIST && (!param->most || param->count_offset + sizeof(u32) > size)))
        return WRONG(check, "parameter '%s' is outside its structure", param->name);
    return check_range(check, param);
}

static bool check_params(const struct plugin_check *check)
{
    const struct component *component = check->component;
    if (!component->params || !component->param_count || component->param_count > MOST_PARAMS ||
        component->params_size > MOST_BYTES)
        return WRONG(check, "mechanism %s has no parameters: the first is FLAG(on, 0, ...)",
                     component->name);
    for (u32 i = 0; i < component->param_count; i++)
        if (!check_param(check, i))
            return false;
    const struct param *on = &component->params[0];
    return (!strcmp(on->name, "on") && on->type == PARAM_BOOL && on->initial == 0) ||
           WRONG(check, "the first parameter is '%s': expected FLAG(on, 0, ...)", on->name);
}

/* ---- statistics and energy ---- */

static bool is_counter(const struct plugin_check *check, u32 offset)
{
    for (u32 i = 0; i < check->component->stat_count; i++)
        if (check->component->stats[i].offset == offset)
            return true;
    return false;
}

static bool check_stats(const struct plugin_check *check)
{
    const struct component *component = check->component;
    const u32 size = check->mechanism->stats_size;
    if (component->stat_count > MOST_STATS || component->rate_count > MOST_STATS ||
        size > MOST_BYTES || (component->stat_count && !component->stats) ||
        (component->rate_count && !component->rates))
        return WRONG(check, "its table of statistics is invalid");
    for (u32 i = 0; i < component->stat_count; i++) {
        const struct stat *stat = &component->stats[i];
        if (!is_name(stat->name) || !stat->unit || !stat->help)
            return WRONG(check, "statistic %u has no name, unit or help", i + 1);
        if (stat->offset % 8 || stat->offset + sizeof(u64) > size)
            return WRONG(check, "statistic '%s' is outside stats_size, %u bytes", stat->name, size);
    }
    for (u32 i = 0; i < component->rate_count; i++) {
        const struct rate *rate = &component->rates[i];
        if (!is_name(rate->name) || !rate->unit || !rate->help ||
            !is_counter(check, rate->numerator) || !is_counter(check, rate->denominator))
            return WRONG(check, "rate %u has no name, unit, help or counters", i + 1);
    }
    return true;
}

static bool check_event(const struct plugin_check *check, const struct energy_event *event)
{
    bool counted = false, given = !event->given;
    for (u32 i = 0; i < check->component->stat_count; i++)
        counted |= !strcmp(check->component->stats[i].name, event->counter);
    for (u32 i = 0; event->given && i < check->component->param_count; i++)
        given |= !strcmp(check->component->params[i].name, event->given);
    if (!counted)
        return WRONG(check,
                     "an energy event is counted by '%s', which is not one of its statistics",
                     event->counter);
    if (!event->part || !event->part[0] || (u32)event->kind > ENERGY_LOGIC)
        return WRONG(check, "the energy event of '%s' has no part or kind", event->counter);
    if (!given)
        return WRONG(check, "the energy event of '%s' is given by '%s', which is not a parameter",
                     event->counter, event->given);
    if (event->kind == ENERGY_LOGIC)
        return (isfinite(event->pj) && event->pj >= 0 && event->nm) ||
               WRONG(check, "the energy event of '%s' has no pJ and nm", event->counter);
    return event->array || WRONG(check, "the energy event of '%s' names no array", event->counter);
}

/* Whether `unit` is the first part of `element`, "unit.name". */
static bool is_unit(const char *element, const char *unit)
{
    const size_t length = strlen(unit);
    return !strncmp(element, unit, length) && element[length] == '.';
}

/* Whether a storage element is declared under these parameters. */
static bool is_declared(const struct plugin_check *check, const struct config *config,
                        const char *element)
{
    struct state_list list = {0};
    bool found = false;
    storage_collect(&list, config);
    mechanism_storage(&list, config, check->mechanism);
    for (u32 i = 0; i < list.rows.count; i++)
        found |= is_unit(element, list.rows.data[i].unit) &&
                 !strcmp(strchr(element, '.') + 1, list.rows.data[i].name);
    state_free(&list);
    return found;
}

/* The same with one flag or choice changed: which elements are built may depend on it. */
static bool is_declared_with(const struct plugin_check *check, const struct config *config,
                             const char *element, const struct param *param)
{
    const char *word = param->type == PARAM_BOOL     ? "false|true"
                       : param->type == PARAM_CHOICE ? param->choices
                                                     : NULL;
    bool found = false;
    while (word && !found) {
        const int length = (int)strcspn(word, "|");
        struct config *other = config_clone(config);
        char assignment[256];
        struct error error = {0};
        snprintf(assignment, sizeof assignment, "%s.%s=%.*s", check->component->name, param->name,
                 length, word);
        found = config_set(other, assignment, &error) && is_declared(check, other, element);
        config_destroy(other);
        word = word[length] ? word + length + 1 : NULL;
    }
    return found;
}

/* An array of its own must be declared by `storage`, with the defaults or with one flag or choice
 * changed; another one must belong to a component of the machine, which may do without it. */
static bool check_array(const struct plugin_check *check, const struct energy_event *event)
{
    if (event->kind == ENERGY_LOGIC || !event->array)
        return true;
    for (u32 i = 0; gpu_components[i]; i++)
        if (is_unit(event->array, gpu_components[i]->name))
            return true;
    const struct mechanism *const one[] = {check->mechanism, NULL};
    const struct component **components = mechanism_components(one);
    struct config *config = config_create(components);
    bool found = is_declared(check, config, event->array);
    for (u32 i = 1; i < check->component->param_count && !found; i++)
        found = is_declared_with(check, config, event->array, &check->component->params[i]);
    config_destroy(config);
    free(components);
    return found || WRONG(check,
                          "the energy event of '%s' names the array '%s', which neither its "
                          "storage nor the machine has",
                          event->counter, event->array);
}

/* ---- the mechanism ---- */

static bool check_state(const struct plugin_check *check)
{
    const struct mechanism *mechanism = check->mechanism;
    const u32 least = sizeof(struct mechanism_state);
    const u32 sizes[] = {mechanism->state_size, mechanism->memory_size, mechanism->dispatcher_size};
    bool right = !mechanism->forgets || mechanism->state_size;
    for (u32 i = 0; i < ARRAY_LEN(sizes); i++)
        right &= !sizes[i] || (sizes[i] >= least && sizes[i] <= MOST_STATE);
    if (!right)
        return WRONG(check,
                     "the state of mechanism %s does not have the size of a structure that begins "
                     "with MECHANISM_STATE",
                     mechanism->name);
    if (mechanism->device_size && !mechanism->one_thread)
        return WRONG(check,
                     "mechanism %s has memory for the whole device (device_size): expected "
                     "one_thread, too",
                     mechanism->name);
    return true;
}

static bool check_name(const struct plugin_check *check)
{
    const char *name = check->mechanism->name;
    if (!check->component->name || strcmp(check->component->name, name) != 0)
        return WRONG(check, "mechanism %s has a component with another name", name);
    for (u32 i = 0; gpu_components[i]; i++)
        if (!strcmp(gpu_components[i]->name, name))
            return WRONG(check, "mechanism %s has the name of a component of the machine", name);
    return true;
}

bool plugin_check_arrays(const struct mechanism *mechanism, const char *path, struct error *error)
{
    const struct plugin_check check = {mechanism, mechanism->component, path, error};
    for (const struct energy_event *event = mechanism->events; event && event->counter; event++)
        if (!check_array(&check, event))
            return false;
    return true;
}

bool plugin_check(const struct mechanism *mechanism, const char *path, struct error *error)
{
    const struct plugin_check check = {mechanism, mechanism ? mechanism->component : NULL, path,
                                       error};
    if (!mechanism || !is_name(mechanism->name))
        return WRONG(&check, "its mechanism needs a name of lower-case letters, digits and '_'");
    if (!mechanism->help || !mechanism->component || !mechanism->component->help)
        return WRONG(&check, "mechanism %s has no help or no component", mechanism->name);
    if (!check_name(&check) || !check_params(&check) || !check_stats(&check) ||
        !check_state(&check))
        return false;
    for (const struct energy_event *event = mechanism->events; event && event->counter; event++)
        if (!check_event(&check, event))
            return false;
    return changes_check(mechanism, path, error);
}
