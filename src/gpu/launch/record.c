/* Records of launches: outcome, counters, and the results of timing mode. */
#include "gpu/launch/launch.h"
#include "gpu/machine/stats.h"
#include "gpu/observe/waiting.h"
#include <stdlib.h>

/* "saxpy.cu:12", or NULL if the place is not known. */
static char *fault_place(const struct program *program, u32 inst)
{
    char text[PLACE_TEXT];
    return program_place(program, inst, text) ? strdup(text) : NULL;
}

/* Adds a note about endless loops to the fault of a launch that was stopped. */
static void add_note(const struct hd_device *device, struct fault *fault)
{
    const char *note = endless_text(device);
    size_t used = strlen(fault->message);
    if (note && (fault->outcome == OUTCOME_LIMIT || fault->outcome == OUTCOME_INTERRUPTED))
        snprintf(fault->message + used, sizeof fault->message - used, "\n  %s", note);
}

static void record(struct hd_device *device, const struct exec *exec, const char *name)
{
    struct launch_record *launch = vec_push(&device->launches);
    launch->kernel = strdup(name);
    memcpy(launch->grid, exec->grid, sizeof launch->grid);
    memcpy(launch->block, exec->dims, sizeof launch->block);
    launch->registers = exec->kernel->total_registers;
    launch->stats = exec->stats;
    if (device->bounds) {
        launch->outside = device->bounds->stats;
        stats_add(&memory_component, &device->outside_totals, &launch->outside);
        bounds_forget(device->bounds);
    }
    stats_add(&exec_component, &device->totals, &exec->stats);
    memset(&device->last_fault, 0, sizeof device->last_fault);
    if (!exec->stopped)
        return;
    launch->outcome = exec->fault.outcome;
    launch->pc = image_pc(exec->image, exec->fault.inst);
    launch->place = fault_place(exec->image->program, exec->fault.inst);
    launch->fault = checked(malloc(sizeof *launch->fault));
    device->last_fault = exec->fault;
    add_note(device, &device->last_fault);
    *launch->fault = device->last_fault;
}

void launch_end(struct hd_device *device, const struct exec *exec, const char *name,
                struct hd_result *result)
{
    if (exec->stopped && exec->fault.outcome == OUTCOME_INTERRUPTED)
        atomic_store(&device->interrupt, false);
    const char *warnings = bounds_text(exec);
    record(device, exec, name);
    *result = (struct hd_result){
        .outcome = exec->stopped ? (enum hd_outcome)exec->fault.outcome : HD_DONE,
        .explanation = device->last_fault.message,
        .warnings = warnings,
        .warp_instructions = exec->stats.warp_instructions,
        .thread_instructions = exec->stats.thread_instructions,
    };
}

/* ---- timing mode ---- */

static struct machine_stats *zeroed(void)
{
    return checked(calloc(1, sizeof(struct machine_stats)));
}

/* After a deadlock: the list of waiting warps becomes the explanation. */
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
