/* The launches of a device as JSON. */
#include "gpu/device.h"

#include <stdio.h>

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
    json_object_set_new(json, "message", json_string(fault->message));
    json_object_set_new(json, "pc", stats_number(launch->pc));
    json_object_set_new(json, "line", launch->place ? json_string(launch->place) : json_null());
    json_object_set_new(json, "block", triple(fault->block));
    json_object_set_new(json, "thread", triple(fault->thread));
    json_object_set_new(json, "address", fault->bytes ? json_string(address) : json_null());
    return json;
}

static json_t *launch_json(const struct launch_record *launch)
{
    json_t *json = json_object(), *stats = json_object();
    json_object_set_new(json, "kernel", json_string(launch->kernel));
    json_object_set_new(json, "grid", triple(launch->grid));
    json_object_set_new(json, "block", triple(launch->block));
    json_object_set_new(json, "cycles", json_integer(0));
    json_object_set_new(json, "warp_instructions", stats_number(launch->stats.warp_instructions));
    json_object_set_new(json, "thread_instructions",
                        stats_number(launch->stats.thread_instructions));
    json_object_set_new(json, "registers_per_thread", json_integer(launch->registers));
    json_object_set_new(json, "outcome", json_string(outcome_name(launch->outcome)));
    if (launch->fault)
        json_object_set_new(json, "fault", fault_json(launch));
    stats_json(stats, &exec_component, &launch->stats);
    json_object_set_new(json, "stats", stats);
    return json;
}

char *hd_stats_json(const struct hd_device *device)
{
    if (!device)
        return NULL;
    json_t *json = json_object(), *launches = json_array(), *totals = json_object();
    for (u32 i = 0; i < device->launches.count; i++)
        json_array_append_new(launches, launch_json(&device->launches.data[i]));
    stats_json(totals, &exec_component, &device->totals);
    json_object_set_new(json, "launches", launches);
    json_object_set_new(json, "totals", totals);
    char *text = json_dumps(json, JSON_INDENT(2) | JSON_REAL_PRECISION(17));
    json_decref(json);
    return text;
}
