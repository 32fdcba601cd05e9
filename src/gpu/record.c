/* What the machine knows of a launch, kept with its record. */
#include "gpu/device.h"
#include "gpu/machine_stats.h"
#include "gpu/waiting.h"
#include <stdlib.h>

static struct machine_stats *zeroed(void)
{
    struct machine_stats *stats = calloc(1, sizeof *stats);
    if (!stats)
        abort();
    return stats;
}

/* The warps that wait are what there is to say of a deadlock. */
static void explain(struct hd_device *device, struct launch_record *launch,
                    const struct launch_timing *timing)
{
    const struct waiting_names names = {
        .program = timing->module->program,
        .kernel = launch->kernel,
        .grid = {launch->grid[0], launch->grid[1], launch->grid[2]},
        .code_address = timing->module->code_address,
    };
    launch->waiting = waiting_json(timing->waiting, &names);
    waiting_text(timing->waiting, &names, device->last_fault.message,
                 sizeof device->last_fault.message);
    if (launch->fault)
        memcpy(launch->fault->message, device->last_fault.message, sizeof launch->fault->message);
}

static void record_energy(struct hd_device *device, struct launch_record *launch,
                          const struct launch_timing *timing)
{
    launch->energy = checked(calloc(1, sizeof *launch->energy));
    energy_of(device->energy, timing->stats, timing->mechanisms, launch->energy);
    if (timing->profile)
        energy_attribute(device->energy, timing->stats, timing->mechanisms, timing->uses,
                         timing->profile, timing->module->program->inst_count,
                         timing->module->energy_fj, launch->energy);
    if (!device->energy_totals)
        device->energy_totals = checked(calloc(1, sizeof *device->energy_totals));
    energy_add(device->energy_totals, launch->energy);
}

void launch_record_mechanisms(struct hd_device *device, const u8 *counts)
{
    struct launch_record *launch = &device->launches.data[device->launches.count - 1];
    launch->mechanisms = mechanism_stats_create(&device->mechanisms);
    mechanism_stats_add(&device->mechanisms, launch->mechanisms, counts);
    mechanism_stats_add(&device->mechanisms, device->mechanism_totals, counts);
}

void launch_record_timing(struct hd_device *device, const struct launch_timing *timing,
                          struct hd_result *result)
{
    struct launch_record *launch = &device->launches.data[device->launches.count - 1];
    launch->machine = zeroed();
    machine_stats_add(launch->machine, timing->stats);
    if (!device->machine_totals)
        device->machine_totals = zeroed();
    machine_stats_add(device->machine_totals, timing->stats);
    if (timing->mechanisms)
        launch_record_mechanisms(device, timing->mechanisms);
    if (timing->profile)
        profile_add(timing->module, timing->profile);
    record_energy(device, launch, timing);
    if (timing->waiting)
        explain(device, launch, timing);
    result->cycles = timing->stats->timing.cycles;
    result->picoseconds = timing->stats->timing.picoseconds;
}

void launch_record_free(struct launch_record *launch)
{
    free(launch->kernel);
    free(launch->place);
    free(launch->fault);
    free(launch->machine);
    free(launch->mechanisms);
    free(launch->energy);
    json_decref(launch->waiting);
}
