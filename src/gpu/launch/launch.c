/*
 * Launches: arguments, the setup common to all launches of a device, and the run in timing mode or
 * by the functional scheduler.
 */
#include "gpu/launch/launch.h"
#include "analysis/redundancy.h"

#include <fenv.h>
#include <stdio.h>
#include <stdlib.h>
#include <time.h>

enum {
    LOOK_INTERVAL = 20000
}; /* warp instructions between reads of the host's clock */

static f64 now_seconds(void)
{
    struct timespec t;
    clock_gettime(CLOCK_MONOTONIC, &t);
    return (f64)t.tv_sec + (f64)t.tv_nsec * 1e-9;
}

/* Called between runs of warps: updates progress and checks for interrupts and limits. */
static void poll(struct exec *exec)
{
    struct hd_device *device = exec->poll_user;
    atomic_store_explicit(&device->warp_instructions, exec->instructions, memory_order_relaxed);
    if (atomic_load_explicit(&device->interrupt, memory_order_relaxed) && !exec->stopped) {
        fault_stop(exec, OUTCOME_INTERRUPTED, "interrupted");
        return;
    }
    if (UNLIKELY(exec->instructions >= device->endless.next) && !device->endless.in_time &&
        exec->last)
        endless_look(device, exec->last, exec->instructions, exec->instructions);
    f64 limit = exec->limits->max_seconds;
    if (limit == 0 || exec->stopped || exec->instructions < exec->next_look)
        return;
    exec->next_look = exec->instructions + LOOK_INTERVAL;
    if (now_seconds() > exec->deadline)
        fault_stop(exec, OUTCOME_LIMIT, "stopped after %g s (launch.max_seconds)", limit);
}

static u8 *pack_arguments(const struct launch_request *r, u32 bytes)
{
    u8 *block = checked(calloc(1, MAX(bytes, 1)));
    const struct function *function = r->kernel->function;
    for (u32 i = 0; i < function->param_count; i++)
        memcpy(block + function->params[i].offset, r->args[i].data, r->args[i].size);
    return block;
}

/* Sets what is the same for all launches of a device. */
void launch_set_device(struct exec *exec, struct hd_device *device)
{
    exec->memory = device->memory;
    exec->bounds = device->bounds;
    exec->heap = &device->heap;
    exec->textures = &device->textures;
    exec->limits = device->launch;
    exec->cores = device->gpu->cores;
    exec->warps_per_core = device->core->warps;
    exec->grid_number = device->launches.count;
    exec->output = device->output;
    exec->output_user = device->output_user;
    exec->poll = poll;
    exec->poll_user = device;
    exec->deadline = now_seconds() + device->launch->max_seconds;
}

void launch_begin(struct hd_device *device, u64 blocks)
{
    atomic_store(&device->blocks_done, 0);
    atomic_store(&device->blocks_total, blocks);
    atomic_store(&device->warp_instructions, 0);
    atomic_store(&device->cycles, 0);
    atomic_store(&device->picoseconds, 0);
    endless_begin(&device->endless);
}

/* Sets PTX's %envreg registers: see hd_range. */
static void set_environment(struct exec *exec, const struct launch_request *r)
{
    const struct hd_range *range = &r->kernel->range;
    const u64 longs[] = {range->offset[0], range->offset[1], range->offset[2], range->buffer};
    exec->env[0] = range->work_dim;
    memcpy(exec->env + 1, longs, sizeof longs);
}

/* The redundancy marks of a kernel, if a mechanism that is on needs them. */
static const u8 *marks_of(const struct hd_kernel *kernel)
{
    struct hd_module *module = kernel->module;
    const struct mechanism_set *set = &module->device->mechanisms;
    struct arena *arena = module->program->arena;
    bool wanted = false;
    for (u32 i = 0; i < set->count; i++)
        wanted |= set->uses[i].mechanism->marks;
    if (!wanted)
        return NULL;
    if (!module->marks)
        module->marks = arena_array(arena, u8 *, module->kernel_count);
    u8 **marks = &module->marks[kernel - module->kernels];
    if (!*marks)
        *marks = redundancy_marks(arena, module->program, kernel->function);
    return *marks;
}

static struct exec *exec_of(const struct launch_request *r, const struct launch_entry *entry,
                            const u8 *params, u32 param_bytes)
{
    const struct function *function = r->kernel->function;
    struct exec *exec = checked(calloc(1, sizeof *exec));
    *exec = (struct exec){
        .image = r->kernel->module->image,
        .kernel = function,
        .grid = {r->grid.x, r->grid.y, r->grid.z},
        .dims = {r->block.x, r->block.y, r->block.z},
        .static_shared_bytes = function->total_shared_bytes,
        .dynamic_shared_bytes = r->dynamic_shared_bytes,
        .local_bytes = entry->entry ? 0 : (u32)launch_local_bytes(r->kernel),
        .params = params,
        .param_bytes = param_bytes,
        .entry = entry->entry,
        .entry_address = entry->address,
        .entry_local_address = entry->local_address,
        .marks = marks_of(r->kernel),
    };
    set_environment(exec, r);
    launch_set_device(exec, r->kernel->module->device);
    return exec;
}

static bool is_timed(const struct hd_device *device)
{
    return device->timing && !device->untimed;
}

/* The most blocks that are resident at once. In timing mode a mechanism may leave cores out, or add copies of blocks. */
static u32 most_resident(const struct hd_device *device, u64 blocks, u32 per_core)
{
    const u32 cores = device->gpu->cores;
    return is_timed(device) ? timing_per_core(device->timing, blocks, per_core) * cores
                            : (u32)MIN(blocks, (u64)per_core * cores);
}

/* Runs a prepared launch and records it. */
static void run(struct hd_module *module, struct exec *exec, const struct occupancy *occupancy,
                u32 resident, struct hd_result *result)
{
    struct hd_device *device = module->device;
    const u64 blocks = (u64)exec->grid[0] * exec->grid[1] * exec->grid[2];
    struct timed_launch timed = {.needs = occupancy->needs,
                                 .places = exec->entry_local_address ? resident : 0};
    const bool in_time = is_timed(device);
    fenv_t host;
    launch_begin(device, blocks);
    fegetenv(&host);
    fesetenv(FE_DFL_ENV); /* guest arithmetic must not depend on the caller's rounding mode */
    if (in_time)
        timing_run(device->timing, exec, blocks, occupancy->blocks_per_core, &timed);
    else
        functional_run(device, exec, blocks, resident);
    fesetenv(&host);
    launch_end(device, exec, exec->kernel->name, result);
    if (UNLIKELY(device->observers))
        launch_record_mechanisms(device, observers_counts(device->observers));
    device->launches.data[device->launches.count - 1].occupancy = *occupancy;
    if (in_time)
        launch_record_timing(module, &timed, result);
    fesetenv(&host);
    timed_launch_free(&timed);
}

bool launch_run(const struct launch_request *r, const struct occupancy *occupancy,
                struct hd_result *result, struct error *error)
{
    struct hd_module *module = r->kernel->module;
    const struct function *function = r->kernel->function;
    const u64 blocks = (u64)r->grid.x * r->grid.y * r->grid.z;
    u32 resident = most_resident(module->device, blocks, occupancy->blocks_per_core);
    const u32 param_bytes = (u32)align_up(function->param_bytes, 16);
    u8 *params = pack_arguments(r, param_bytes);
    struct launch_entry entry;
    if (!launch_entry_create(&entry, r, params, function->param_bytes, &resident, error)) {
        free(params);
        return false;
    }
    struct exec *exec = exec_of(r, &entry, params, param_bytes);
    run(module, exec, occupancy, resident, result);
    free(exec);
    free(params);
    launch_entry_destroy(&entry, module->device->memory);
    return true;
}
