/* The launches of a device as JSON. */
#include "gpu/machine/stats.h"
#include "base/demangle.h"
#include "base/text.h"
#include "gpu/api/api.h"
#include "gpu/launch/launch.h"

#include <stdio.h>
#include <stdlib.h>

static json_t *triple(const u32 *v)
{
    return json_pack("[III]", (json_int_t)v[0], (json_int_t)v[1], (json_int_t)v[2]);
}

static json_t *fault_json(const struct launch_record *launch)
{
    const struct fault *fault = launch->fault;
    char address[32];
    snprintf(address, sizeof address, "0x%llx", (unsigned long long)fault->address);
    json_t *json = json_object();
    json_object_set_new(json, "message", text_json(fault->message));
    json_object_set_new(json, "pc", stats_number(launch->pc));
    json_object_set_new(json, "line", launch->place ? text_json(launch->place) : json_null());
    json_object_set_new(json, "block", triple(fault->block));
    json_object_set_new(json, "thread", triple(fault->thread));
    json_object_set_new(json, "address", fault->bytes ? json_string(address) : json_null());
    if (launch->waiting)
        json_object_set(json, "waiting", launch->waiting);
    return json;
}

static json_t *occupancy_json(const struct occupancy *occupancy)
{
    if (!occupancy->limit)
        return json_null();
    return json_pack("{s:I, s:s}", "blocks_per_core", (json_int_t)occupancy->blocks_per_core,
                     "limit", occupancy->limit);
}

/* Simulated time. */
static json_t *seconds_json(const struct machine_stats *machine)
{
    return machine ? json_real((f64)machine->timing.picoseconds * 1e-12) : json_null();
}

/* The kernel's name, and what its C++ source calls it. */
static void set_kernel(json_t *json, const char *name)
{
    struct arena *arena = arena_create();
    const char *shown = demangle(arena, name);
    json_object_set_new(json, "kernel", text_json(name));
    if (shown != name)
        json_object_set_new(json, "demangled", text_json(shown));
    arena_destroy(arena);
}

static json_t *launch_json(const struct hd_device *device, const struct launch_record *launch)
{
    json_t *json = json_object(), *stats = json_object();
    set_kernel(json, launch->kernel);
    json_object_set_new(json, "grid", triple(launch->grid));
    json_object_set_new(json, "block", triple(launch->block));
    json_object_set_new(json, "cycles",
                        launch->machine ? stats_number(launch->machine->timing.cycles)
                                        : json_integer(0));
    json_object_set_new(json, "seconds", seconds_json(launch->machine));
    json_object_set_new(json, "warp_instructions", stats_number(launch->stats.warp_instructions));
    json_object_set_new(json, "thread_instructions",
                        stats_number(launch->stats.thread_instructions));
    json_object_set_new(json, "registers_per_thread", json_integer(launch->registers));
    json_object_set_new(json, "occupancy", occupancy_json(&launch->occupancy));
    json_object_set_new(json, "outcome", json_string(outcome_name(launch->outcome)));
    if (launch->fault)
        json_object_set_new(json, "fault", fault_json(launch));
    stats_json(stats, &exec_component, &launch->stats);
    if (device->bounds)
        stats_json(stats, &memory_component, &launch->outside);
    if (launch->machine)
        machine_stats_json(stats, launch->machine);
    mechanism_stats_json(stats, &device->mechanisms, launch->mechanisms);
    if (launch->energy)
        energy_json(stats, device->energy, launch->energy, launch->machine);
    json_object_set_new(json, "stats", stats);
    return json;
}

static char *dumped(json_t *json, size_t flags)
{
    char *text = json_dumps(json, flags | JSON_REAL_PRECISION(17));
    json_decref(json);
    return text;
}

char *hd_stats_json(const struct hd_device *device)
{
    if (!device)
        return NULL;
    json_t *json = json_object(), *launches = json_array(), *totals = json_object();
    for (u32 i = 0; i < device->launches.count; i++)
        if (device->launches.data[i].kernel) /* not forgotten */
            json_array_append_new(launches, launch_json(device, &device->launches.data[i]));
    stats_json(totals, &exec_component, &device->totals);
    if (device->bounds)
        stats_json(totals, &memory_component, &device->outside_totals);
    if (device->machine_totals)
        machine_stats_json(totals, device->machine_totals);
    mechanism_stats_json(totals, &device->mechanisms, device->mechanism_totals);
    if (device->energy_totals)
        energy_json(totals, device->energy, device->energy_totals, device->machine_totals);
    json_object_set_new(json, "launches", launches);
    json_object_set_new(json, "totals", totals);
    json_object_set_new(json, "profile", profile_json(device));
    return dumped(json, JSON_INDENT(2));
}

char *hd_launch_json(const struct hd_device *device, size_t index)
{
    return device && index < device->launches.count && device->launches.data[index].kernel
               ? dumped(launch_json(device, &device->launches.data[index]), JSON_COMPACT)
               : NULL;
}

char *hd_stats_total(const struct hd_config *config, const char *launches, size_t bytes,
                     struct hd_error *error)
{
    if (!launches) {
        api_null(error, "hd_stats_total");
        return NULL;
    }
    struct error inner = {0};
    json_error_t wrong;
    json_t *array = json_loadb(launches, bytes, 0, &wrong), *totals = NULL;
    const struct component **components =
        mechanism_components(config ? config->available : mechanisms_built_in);
    if (!array)
        error_set(&inner, ERROR_INPUT, "", "launches: %s", wrong.text);
    else
        totals = stats_total_json(array, components, &inner);
    if (totals && !energy_total_json(totals, array, &inner)) {
        json_decref(totals);
        totals = NULL;
    }
    free(components);
    json_decref(array);
    if (totals)
        return dumped(totals, JSON_COMPACT);
    api_fail(error, &inner);
    return NULL;
}

char *hd_profile_json(const struct hd_device *device)
{
    return device ? dumped(profile_json(device), JSON_COMPACT) : NULL;
}
