/* What the machine knows of a launch, kept with its record. */
#include "gpu/device.h"
#include "gpu/machine/stats.h"
#include "gpu/observe/waiting.h"
#include <stdlib.h>

static struct machine_stats *zeroed(void)
{
    struct machine_stats *stats = calloc(1, sizeof *stats);
    if (!stats)
        abort();
    return stats;
}

/* After a deadlock: the list of warps that wait becomes the explanation. */
static void explain(const struct hd_module *module, struct launch_record *launch,
                    const struct waiting_list *waiting)
{
    const struct waiting_names names = {
        .program = module->program,
        .kernel = launch->kernel,
        .grid = {launch->grid[0], launch->grid[1], launch->grid[2]},
        .code_address = module->code_address,
    };
    struct fault *last = &module->device->last_fault;
    launch->waiting = waiting_json(waiting, &names);
    waiting_text(waiting, &names, last->message, sizeof last->message);
    if (launch->fault)
        memcpy(launch->fault->message, last->message, sizeof launch->fault->message);
}

static void record_energy(struct hd_module *module, struct launch_record *launch,
                          const struct timed_launch *timed)
{
    struct hd_device *device = module->device;
    launch->energy = checked(calloc(1, sizeof *launch->energy));
    energy_of(device->energy, &timed->stats, timed->mechanisms, launch->energy);
    if (timed->profile)
        energy_attribute(device->energy, &timed->stats, timed->mechanisms, timed->uses,
                         timed->profile, module->program->inst_count, module->energy_fj,
                         launch->energy);
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

void launch_record_timing(struct hd_module *module, const struct timed_launch *timed,
                          struct hd_result *result)
{
    struct hd_device *device = module->device;
    struct launch_record *launch = &device->launches.data[device->launches.count - 1];
    launch->machine = zeroed();
    machine_stats_add(launch->machine, &timed->stats);
    if (!device->machine_totals)
        device->machine_totals = zeroed();
    machine_stats_add(device->machine_totals, &timed->stats);
    if (timed->mechanisms)
        launch_record_mechanisms(device, timed->mechanisms);
    if (timed->profile)
        profile_add(module, timed->profile);
    record_energy(module, launch, timed);
    if (timed->waiting.rows.count)
        explain(module, launch, &timed->waiting);
    result->cycles = timed->stats.timing.cycles;
    result->picoseconds = timed->stats.timing.picoseconds;
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
