/*
 * Raw programs in timing mode: all workgroups of the state as the blocks of one launch, in order.
 *
 * The registers of a block's waves are set when it is dispatched, and copied back to the state when
 * the block has ended or the launch has stopped. Workgroups of one launch may differ: storage and
 * occupancy are those of the largest, each block has its own number of warps and LDS size.
 */
#include "gpu/raw/raw.h"
#include "gpu/time/timing.h"

#include <stdlib.h>

/* A running launch. */
struct raw_launch {
    struct block_source source; /* first member: the machine refers to this by it */
    struct hd_raw *raw;
    const u32 **waves; /* [group][warp]: index in the state */
    struct raw_steps *steps;
};

/* The number of registers of a kind, from the first, that the code names. */
static u32 rows_named(const struct program *program, enum operand_kind kind, u32 most)
{
    u32 rows = 1;
    for (u32 i = 0; i < program->inst_count; i++) {
        struct operand list[2 * INST_REFS];
        u32 count = inst_writes(&program->insts[i], list);
        count += inst_reads(&program->insts[i], list + count);
        for (u32 k = 0; k < count; k++) {
            const struct operand o = list[k];
            const bool pair = o.kind == OPERAND_MASK && kind == OPERAND_SCALAR;
            const u32 first = pair ? 2u * o.index : o.index, words = pair ? 2 : o.count;
            if (!(pair || o.kind == kind) || first >= most) /* VCC etc. are not general registers */
                continue;
            rows = words ? MAX(rows, first + words) : most; /* 0: indexed, any register */
        }
    }
    return MIN(rows, most);
}

static struct launch_request largest(const struct hd_raw *raw)
{
    const struct si_state *state = raw->state;
    u32 waves = 0, bytes = 0;
    for (u32 i = 0; i < state->group_count; i++) {
        waves = MAX(waves, state->groups[i].wave_count);
        bytes = MAX(bytes, state->groups[i].lds_bytes);
    }
    return (struct launch_request){
        .kernel = &raw->module->kernels[0],
        .grid = {state->group_count, 1, 1},
        .block = {waves * SI_STATE_LANES, 1, 1},
        .dynamic_shared_bytes = bytes,
        .registers = rows_named(raw->module->program, OPERAND_VECTOR, SI_STATE_VGPRS),
        .scalars = rows_named(raw->module->program, OPERAND_SCALAR, SI_STATE_SGPRS),
    };
}

bool raw_check_time(struct hd_raw *raw, const char *name, struct error *error)
{
    const struct launch_request request = largest(raw);
    if (launch_resources(&request, &raw->occupancy, error))
        return true;
    snprintf(error->place, sizeof error->place, "%s", name);
    return false;
}

/* A block's resources: registers by its own waves, LDS in the same units as any block. */
static void needs(struct block_source *source, u64 number, struct amounts *amounts)
{
    const struct raw_launch *launch = (const struct raw_launch *)source;
    const struct si_group *group = &launch->raw->state->groups[number];
    const struct amounts *most = &launch->raw->occupancy.needs;
    const u32 unit = launch->raw->module->device->core->shared_unit;
    const u32 waves = most->of[RESOURCE_WARPS];
    *amounts = (struct amounts){{
        [RESOURCE_WARPS] = group->wave_count,
        [RESOURCE_VECTORS] = most->of[RESOURCE_VECTORS] / waves * group->wave_count,
        [RESOURCE_SCALARS] = most->of[RESOURCE_SCALARS] / waves * group->wave_count,
        [RESOURCE_SHARED] = (group->lds_bytes + unit - 1) / unit * unit,
    }};
}

static void start(struct block_source *source, struct thread_block *block)
{
    const struct raw_launch *launch = (const struct raw_launch *)source;
    const struct si_group *group = &launch->raw->state->groups[block->number];
    block_limit(block, group->wave_count, group->lds_bytes);
    memcpy(block->shared, group->lds, group->lds_bytes);
    for (u32 w = 0; w < group->wave_count; w++) {
        raw_wave_in(&block->warps[w], &launch->raw->state->waves[launch->waves[block->number][w]]);
        warp_set_active(&block->warps[w]);
    }
}

/* The instruction of a wave: the one that ended it, the one it waits at, or the next one. */
static u32 stands_at(const struct warp *warp)
{
    const struct exec *exec = warp->exec;
    const struct fault *fault = &exec->fault;
    const bool faulted = exec->stopped && fault->block[0] == warp->block->number &&
                         fault->thread[0] / SI_STATE_LANES == warp->index;
    return faulted ? fault->inst : warp->paths[0].pc;
}

static void end(struct block_source *source, struct thread_block *block)
{
    const struct raw_launch *launch = (const struct raw_launch *)source;
    const struct si_group *group = &launch->raw->state->groups[block->number];
    for (u32 w = 0; w < group->wave_count; w++)
        raw_wave_out(&block->warps[w], &launch->raw->state->waves[launch->waves[block->number][w]],
                     stands_at(&block->warps[w]));
    memcpy(group->lds, block->shared, group->lds_bytes);
}

static void follow(struct block_source *source, const struct launch_clock *clock)
{
    raw_steps_follow(((struct raw_launch *)source)->steps, clock);
}

static struct core_watcher *watcher(struct block_source *source, u32 core, struct exec *exec)
{
    return raw_steps_watcher(((struct raw_launch *)source)->steps, core, exec);
}

static void take(struct block_source *source, struct trace_buffer *steps)
{
    raw_steps_take(((struct raw_launch *)source)->steps, steps);
}

/* By workgroup, the indices of its waves in order; allocated in raw->arena. */
static const u32 **waves_of(struct hd_raw *raw)
{
    const struct si_state *state = raw->state;
    const u32 **of = arena_array(raw->arena, const u32 *, state->group_count);
    for (u32 g = 0; g < state->group_count; g++) {
        u32 *list = arena_array(raw->arena, u32, state->groups[g].wave_count), count = 0;
        for (u32 w = 0; w < state->wave_count; w++)
            if (state->waves[w].group == g)
                list[count++] = w;
        of[g] = list;
    }
    return of;
}

static struct exec *exec_of(const struct hd_raw *raw)
{
    const struct launch_request request = largest(raw);
    struct exec *exec = checked(calloc(1, sizeof *exec));
    launch_set_device(exec, raw->module->device);
    exec->image = raw->module->image;
    exec->kernel = request.kernel->function;
    exec->grid[0] = request.grid.x;
    exec->dims[0] = request.block.x;
    exec->grid[1] = exec->grid[2] = exec->dims[1] = exec->dims[2] = 1;
    exec->static_shared_bytes = request.dynamic_shared_bytes;
    exec->params = (const u8 *)"";
    return exec;
}

void raw_run_timed(struct hd_raw *raw, hd_trace_fn *trace, void *user, struct hd_result *result)
{
    struct hd_device *device = raw->module->device;
    struct raw_launch launch = {
        .source = {.needs = needs, .start = start, .end = end},
        .raw = raw,
        .waves = waves_of(raw),
    };
    if (trace) {
        launch.steps = raw_steps_create(trace, user, raw->state, launch.waves);
        launch.source.follow = follow;
        launch.source.watcher = watcher;
        launch.source.take = take;
    }
    struct timed_launch timed = {.source = &launch.source, .needs = raw->occupancy.needs};
    struct exec *exec = exec_of(raw);
    timing_run(device->timing, exec, raw->state->group_count, raw->occupancy.blocks_per_core,
               &timed);
    launch_end(device, exec, raw->module->program->file, result);
    device->launches.data[device->launches.count - 1].occupancy = raw->occupancy;
    launch_record_timing(raw->module, &timed, result);
    timed_launch_free(&timed);
    raw_steps_destroy(launch.steps);
    free(exec);
}
