/*
 * Counters of launches as plain numbers, for host runtimes whose programs launch so many kernels
 * that formatting each launch as JSON would take longer than running it.
 */
#include "gpu/launch/launch.h"
#include "gpu/machine/stats.h"

#include <stdio.h>
#include <stdlib.h>

/* Visits all counters of a launch, always in this order; zeros without a launch. */
static void each_count(const struct hd_device *device, const struct launch_record *launch,
                       count_fn *visit, void *user)
{
    stats_each(&exec_component, launch ? &launch->stats : NULL, visit, user);
    machine_stats_each(launch ? launch->machine : NULL, visit, user);
    mechanism_stats_each(&device->mechanisms, launch ? launch->mechanisms : NULL, visit, user);
    energy_each(device->energy, launch ? launch->energy : NULL, visit, user);
}

static void add_name(void *user, const char *const words[3], u64 value)
{
    json_array_append_new(user, words[2] ? json_sprintf("%s.%s.%s", words[0], words[1], words[2])
                                         : json_sprintf("%s.%s", words[0], words[1]));
}

char *hd_counters_json(const struct hd_device *device)
{
    if (!device)
        return NULL;
    json_t *names = json_array();
    each_count(device, NULL, add_name, names);
    char *text = json_dumps(names, JSON_COMPACT);
    json_decref(names);
    return text;
}

struct count_sums {
    uint64_t *counts;
    size_t at, room;
};

static void add_count(void *user, const char *const words[3], u64 value)
{
    struct count_sums *sums = user;
    if (sums->at < sums->room)
        sums->counts[sums->at] += value;
    sums->at++;
}

bool hd_launch_add(const struct hd_device *device, size_t index, uint64_t *counts, size_t count)
{
    if (!device || !counts || index >= device->launches.count ||
        !device->launches.data[index].kernel)
        return false;
    struct count_sums sums = {counts, 0, count};
    each_count(device, &device->launches.data[index], add_count, &sums);
    return sums.at == count;
}

void hd_launch_forget(struct hd_device *device, size_t index)
{
    if (!device || index >= device->launches.count)
        return;
    launch_record_free(&device->launches.data[index]);
    device->launches.data[index] = (struct launch_record){0};
}
