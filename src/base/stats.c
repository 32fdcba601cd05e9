/* Statistics: counters and rates of a component's table as JSON. See config.h. */
#include "base/config.h"

#include <stdio.h>

static u64 counter(const void *stats, u32 offset)
{
    u64 value;
    memcpy(&value, (const u8 *)stats + offset, sizeof value);
    return value;
}

json_t *stats_number(u64 value)
{
    /* JSON readers lose precision or fail beyond what a signed 64-bit integer holds. */
    if (value > INT64_MAX)
        return json_sprintf("0x%llx", (unsigned long long)value);
    return json_integer((json_int_t)value);
}

static void put(json_t *into, const struct component *component, const char *name, json_t *value)
{
    char key[128];
    int length = snprintf(key, sizeof key, "%s.%s", component->name, name);
    assert(length > 0 && (size_t)length < sizeof key);
    (void)length;
    json_object_set_new(into, key, value);
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

void stats_add(const struct component *component, void *into, const void *from)
{
    for (u32 i = 0; i < component->stat_count; i++) {
        u32 offset = component->stats[i].offset;
        u64 sum = counter(into, offset) + counter(from, offset);
        memcpy((u8 *)into + offset, &sum, sizeof sum);
    }
}

/* The counter at an offset: rates are declared by name but kept by offset. */
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
