/*
 * The functional scheduler: resident blocks take turns.
 *
 * As many blocks are resident as the machine would hold. They are dispatched in order; a block
 * that ends is replaced by the next one in the same place. A turn lets every warp of a block run a
 * quantum of instructions, so ordinary blocks run from start to end in one turn, with warm memory,
 * while blocks that wait for each other still progress.
 */
#include "analysis/redundancy.h"
#include "gpu/device.h"

#include <fenv.h>
#include <stdio.h>
#include <stdlib.h>
#include <time.h>

enum {
    LOOK_INTERVAL = 20000
}; /* warp instructions between looks at the host's clock */

static f64 now_seconds(void)
{
    struct timespec t;
    clock_gettime(CLOCK_MONOTONIC, &t);
    return (f64)t.tv_sec + (f64)t.tv_nsec * 1e-9;
}

/* Between runs of warps: has someone asked the launch to stop? */
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
    u8 *block = calloc(1, MAX(bytes, 1));
    if (!block)
        abort();
    const struct function *function = r->kernel->function;
    for (u32 i = 0; i < function->param_count; i++)
        memcpy(block + function->params[i].offset, r->args[i].data, r->args[i].size);
    return block;
}

static void run_blocks(struct exec *exec, struct hd_device *device, u64 total, u32 resident)
{
    struct thread_block **slots = calloc(resident, sizeof *slots);
    if (!slots)
        abort();
    u64 next = 0, done = 0;
    for (u32 s = 0; done < total && !exec->stopped; s = s + 1 == resident ? 0 : s + 1) {
        if (!slots[s]) {
            if (next == total)
                continue;
            slots[s] = block_start(exec, next++, s % device->gpu->cores);
            if (UNLIKELY(device->look))
                observe_block(device->look, slots[s], true);
        }
        if (block_turn(slots[s])) {
            if (UNLIKELY(device->look))
                observe_block(device->look, slots[s], false);
            block_end(slots[s]);
            slots[s] = NULL;
            exec->stats.blocks++;
            atomic_store_explicit(&device->blocks_done, ++done, memory_order_relaxed);
        }
    }
    for (u32 s = 0; s < resident; s++)
        if (slots[s]) {
            account_tails(slots[s]);
            block_end(slots[s]);
        }
    account_finish(exec);
    free(slots);
}

/* "saxpy.cu:12", or NULL when the place is not known. */
static char *fault_place(const struct program *program, u32 inst)
{
    char text[PLACE_TEXT];
    return program_place(program, inst, text) ? strdup(text) : NULL;
}

/* A launch that was stopped from outside: why it may have needed that. */
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
    launch->fault = malloc(sizeof *launch->fault);
    if (!launch->fault)
        abort();
    device->last_fault = exec->fault;
    add_note(device, &device->last_fault);
    *launch->fault = device->last_fault;
}

/* What is the same for all launches of a device. */
void launch_set_device(struct exec *exec, struct hd_device *device)
{
    exec->memory = device->memory;
    exec->bounds = device->bounds;
    exec->heap = &device->heap;
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

/* What PTX finds in %envreg, see hd_range. */
static void set_environment(struct exec *exec, const struct launch_request *r)
{
    const struct hd_range *range = &r->kernel->range;
    const u64 longs[] = {range->offset[0], range->offset[1], range->offset[2], range->buffer};
    exec->env[0] = range->work_dim;
    memcpy(exec->env + 1, longs, sizeof longs);
}

/* Whose instructions are redundant, if a mechanism that is on looks at that. */
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

bool launch_run(const struct launch_request *r, const struct occupancy *occupancy,
                struct hd_result *result, struct error *error)
{
    struct hd_device *device = r->kernel->module->device;
    const struct function *function = r->kernel->function;
    u64 total = (u64)r->grid.x * r->grid.y * r->grid.z;
    u32 resident = (u32)MIN(total, (u64)occupancy->blocks_per_core * device->gpu->cores);
    u32 param_bytes = (u32)align_up(function->param_bytes, 16);
    u8 *params = pack_arguments(r, param_bytes);
    struct launch_entry entry;
    if (!launch_entry_create(&entry, r, params, function->param_bytes, &resident, error)) {
        free(params);
        return false;
    }
    struct exec *exec = calloc(1, sizeof *exec);
    if (!exec)
        abort();
    *exec = (struct exec){
        .image = r->kernel->module->image,
        .kernel = function,
        .grid = {r->grid.x, r->grid.y, r->grid.z},
        .dims = {r->block.x, r->block.y, r->block.z},
        .static_shared_bytes = function->total_shared_bytes,
        .dynamic_shared_bytes = r->dynamic_shared_bytes,
        .local_bytes = entry.entry ? 0 : (u32)launch_local_bytes(r->kernel),
        .params = params,
        .param_bytes = param_bytes,
        .entry = entry.entry,
        .entry_address = entry.address,
        .entry_local_address = entry.local_address,
        .marks = marks_of(r->kernel),
    };
    set_environment(exec, r);
    launch_set_device(exec, device);
    launch_begin(device, total);
    fenv_t host;
    fegetenv(&host);
    fesetenv(FE_DFL_ENV); /* guest arithmetic must not see the caller's rounding mode */
    struct timed_launch timed = {.needs = occupancy->needs};
    bool in_time = device->timing && !device->untimed;
    if (in_time) {
        timing_run(device->timing, exec, total, occupancy->blocks_per_core, &timed);
    } else {
        exec_prepare(exec, resident);
        if (UNLIKELY(device->look))
            look_begin(device->look, exec);
        run_blocks(exec, device, total, resident);
        if (UNLIKELY(device->look))
            look_end(device->look, exec);
        exec_release(exec);
    }
    fesetenv(&host);
    launch_end(device, exec, function->name, result);
    if (UNLIKELY(device->look))
        launch_record_mechanisms(device, look_counts(device->look));
    device->launches.data[device->launches.count - 1].occupancy = *occupancy;
    if (in_time)
        launch_record_timing(r->kernel->module, &timed, result);
    fesetenv(&host);
    timed_launch_free(&timed);
    free(exec);
    free(params);
    launch_entry_destroy(&entry, device->memory);
    return true;
}
