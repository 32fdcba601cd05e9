/* Statistics: counters and rates of a component's table as JSON. See config.h. */
#include "base/config.h"

#include "base/arena.h"

#include <stdio.h>
#include <stdlib.h>

static u64 counter(const void *stats, u32 offset)
{
    u64 value;
    memcpy(&value, (const u8 *)stats + offset, sizeof value);
    return value;
}

json_t *stats_number(u64 value)
{
    /* JSON readers lose precision or fail beyond a signed 64-bit integer */
    if (value > INT64_MAX)
        return json_sprintf("0x%llx", (unsigned long long)value);
    return json_integer((json_int_t)value);
}

static void put(json_t *into, const struct component *component, const char *name, json_t *value)
{
    char key[128];
    assert(strlen(component->name) + strlen(name) + 2 <= sizeof key);
    stpcpy(stpcpy(stpcpy(key, component->name), "."), name);
    json_object_set_new_nocheck(into, key, value); /* names in tables are plain ASCII */
}

void stats_json(json_t *into, const struct component *component, const void *stats)
{
    for (u32 i = 0; i < component->stat_count; i++)
        put(into, component, component->stats[i].name,
            stats_number(counter(stats, component->stats[i].offset)));
    for (u32 i = 0; i < component->rate_count; i++) {
        const struct rate *rate = &component->rates[i];
        u64 denominator = counter(stats, rate->denominator);
        put(into, component, rate->name,
            denominator ? json_real((f64)counter(stats, rate->numerator) / (f64)denominator)
                        : json_null());
    }
}

void stats_each(const struct component *component, const void *stats, count_fn *visit, void *user)
{
    for (u32 i = 0; i < component->stat_count; i++) {
        const char *const words[3] = {component->name, component->stats[i].name};
        visit(user, words, stats ? counter(stats, component->stats[i].offset) : 0);
    }
}

void stats_add(const struct component *component, void *into, const void *from)
{
    for (u32 i = 0; i < component->stat_count; i++) {
        u32 offset = component->stats[i].offset;
        u64 sum = counter(into, offset) + counter(from, offset);
        memcpy((u8 *)into + offset, &sum, sizeof sum);
    }
}

/* Reads a number written by stats_number(); false: not one. */
static bool read_number(const json_t *json, u64 *value)
{
    char *end = NULL;
    if (json_is_string(json))
        *value = strtoull(json_string_value(json), &end, 16);
    else if (json_is_integer(json) && json_integer_value(json) >= 0)
        *value = (u64)json_integer_value(json);
    else
        return false;
    return !end || !*end;
}

/* Adds a launch's counters of one component to `sums`; sets `found` if it has any. */
static bool add_launch(u8 *sums, const json_t *launch, const struct component *component,
                       bool *found, struct error *error)
{
    for (u32 i = 0; i < component->stat_count; i++) {
        char key[128];
        snprintf(key, sizeof key, "%s.%s", component->name, component->stats[i].name);
        const json_t *value = json_object_get(json_object_get(launch, "stats"), key);
        u64 more, sum = counter(sums, component->stats[i].offset);
        if (!value)
            continue;
        if (!read_number(value, &more))
            return error_set(error, ERROR_INPUT, "", "%s of a launch is not a counter", key);
        sum += more;
        memcpy(sums + component->stats[i].offset, &sum, sizeof sum);
        *found = true;
    }
    return true;
}

json_t *stats_total_json(const json_t *launches, const struct component *const *components,
                         struct error *error)
{
    json_t *totals = json_object();
    bool right =
        json_is_array(launches) || error_set(error, ERROR_INPUT, "", "launches are not an array");
    for (; right && *components; components++) {
        size_t bytes = sizeof(u64);
        for (u32 i = 0; i < (*components)->stat_count; i++)
            bytes = MAX(bytes, (*components)->stats[i].offset + sizeof(u64));
        u8 *sums = checked(calloc(1, bytes));
        bool found = false;
        for (size_t i = 0; right && i < json_array_size(launches); i++)
            right = add_launch(sums, json_array_get(launches, i), *components, &found, error);
        if (right && found)
            stats_json(totals, *components, sums);
        free(sums);
    }
    if (right)
        return totals;
    json_decref(totals);
    return NULL;
}

/* The key of the counter at an offset, since rates keep offsets, not names. */
static json_t *counter_key(const struct component *component, u32 offset)
{
    for (u32 i = 0; i < component->stat_count; i++)
        if (component->stats[i].offset == offset)
            return json_sprintf("%s.%s", component->name, component->stats[i].name);
    return json_null();
}

static json_t *row(const struct component *component, const char *name, const char *kind,
                   const char *unit, const char *help)
{
    json_t *object = json_object();
    json_object_set_new(object, "key", json_sprintf("%s.%s", component->name, name));
    json_object_set_new(object, "component", json_string(component->name));
    json_object_set_new(object, "component_help", json_string(component->help));
    json_object_set_new(object, "kind", json_string(kind));
    json_object_set_new(object, "unit", json_string(unit));
    json_object_set_new(object, "numerator", json_null());
    json_object_set_new(object, "denominator", json_null());
    json_object_set_new(object, "help", json_string(help));
    return object;
}

json_t *stats_table_json(const struct component *const *components)
{
    json_t *array = json_array();
    for (; *components; components++) {
        const struct component *component = *components;
        for (u32 i = 0; i < component->stat_count; i++)
            json_array_append_new(array, row(component, component->stats[i].name, "counter",
                                             component->stats[i].unit, component->stats[i].help));
        for (u32 i = 0; i < component->rate_count; i++) {
            const struct rate *rate = &component->rates[i];
            json_t *object = row(component, rate->name, "rate", rate->unit, rate->help);
            json_object_set_new(object, "numerator", counter_key(component, rate->numerator));
            json_object_set_new(object, "denominator", counter_key(component, rate->denominator));
            json_array_append_new(array, object);
        }
    }
    return array;
}
