/*
 * Launches of kernels.
 *
 * An enqueued launch has a copy of the arguments, so that the program may set others. Buffers get
 * their addresses when it runs; local arguments are offsets into the block's shared memory.
 *
 * Time: the simulated time (launch_picoseconds).
 *
 * Deviation: Southern Islands code reads 32-bit offsets (libclc); larger ones are refused.
 *
 * Guest faults end the command's event with CL_OUT_OF_RESOURCES, are explained on standard error
 * and reported to the context's callback; memory keeps what was written, and the queue is broken
 * (command.c).
 */
#include "opencl/opencl.h"

#include <stdio.h>

struct shape {
    u32 dims;
    u64 offset[3], global[3], local[3];
};

struct ndrange_launch {
    struct queue_command command;
    cl_kernel kernel;
    const struct kernel_code *code;
    struct shape shape;
    u32 dynamic_bytes;   /* shared memory after the kernel's own */
    struct hd_arg *args; /* by parameter */
    cl_mem *mems;        /* by parameter: the buffer or NULL */
    u64 *addresses;      /* by parameter: the buffer's address at launch */
    u8 *values;          /* copies of the argument values */
};

/* ---- sizes ---- */

static u64 largest(u32 bits)
{
    return bits == 32 ? UINT32_MAX : UINT64_MAX;
}

/* Sizes fit into size_t of the device, and so do all global IDs; those of Southern Islands code have
 * 32 bits. */
static cl_int read_global(struct shape *shape, cl_uint dims, const size_t *offset,
                          const size_t *global, cl_device_id device)
{
    const u64 longest = largest(device->info.address_bits);
    const u64 most = device->target == CODE_SI ? UINT32_MAX : longest;
    if (dims < 1 || dims > 3)
        return CL_INVALID_WORK_DIMENSION;
    if (!global)
        return CL_INVALID_GLOBAL_WORK_SIZE;
    *shape = (struct shape){.dims = dims, .global = {1, 1, 1}, .local = {1, 1, 1}};
    for (u32 i = 0; i < dims; i++) {
        if (!global[i] || global[i] > longest)
            return CL_INVALID_GLOBAL_WORK_SIZE;
        shape->global[i] = global[i];
    }
    for (u32 i = 0; offset && i < dims; i++) {
        if (global[i] > most || offset[i] > most - global[i])
            return CL_INVALID_GLOBAL_OFFSET;
        shape->offset[i] = offset[i];
    }
    return CL_SUCCESS;
}

/* A device allows as many work-items in each dimension as in total, so CL_INVALID_WORK_ITEM_SIZE is
 * never the first error. */
static cl_int read_local(struct shape *shape, const size_t *local, const size_t *required,
                         const struct kernel_code *code)
{
    u128 items = 1;
    for (u32 i = 0; i < shape->dims; i++) {
        if (!local[i] || shape->global[i] % local[i])
            return CL_INVALID_WORK_GROUP_SIZE;
        shape->local[i] = local[i];
        items = MIN(items * local[i], (u128)UINT64_MAX);
    }
    for (u32 i = 0; required[0] && i < 3; i++)
        if (shape->local[i] != MAX(required[i], 1))
            return CL_INVALID_WORK_GROUP_SIZE;
    return items > code->max_block ? CL_INVALID_WORK_GROUP_SIZE : CL_SUCCESS;
}

/* Whether block size `a` is better than `b`: whole warps, then more of them. */
static bool better(const u64 *a, const u64 *b, u32 lanes)
{
    u64 items_a = a[0] * a[1] * a[2], items_b = b[0] * b[1] * b[2];
    bool whole_a = items_a % lanes == 0, whole_b = items_b % lanes == 0;
    if (whole_a != whole_b)
        return whole_a;
    return items_a != items_b ? items_a > items_b : a[0] > b[0];
}

enum {
    MAX_DIVISORS = 1024 /* more divisors than any 64-bit number has among block sizes */
};

static u32 list_divisors(u64 number, u64 most, u32 *list)
{
    u32 count = 0;
    for (u32 i = 1; i <= MIN(number, most) && count < MAX_DIVISORS; i++)
        if (number % i == 0)
            list[count++] = i;
    return count;
}

/* Chooses the best block whose sizes divide those of the range, by exhaustive search. */
static void choose_local(struct shape *shape, u64 most, u32 lanes)
{
    u32 sizes[3][MAX_DIVISORS], counts[3];
    u64 try[3];
    for (u32 i = 0; i < 3; i++) {
        counts[i] = list_divisors(shape->global[i], most, sizes[i]);
        shape->local[i] = 1;
    }
    for (u32 z = 0; z < counts[2]; z++)
        for (u32 y = 0; y < counts[1] && (u64)sizes[2][z] * sizes[1][y] <= most; y++)
            for (u32 x = 0; x < counts[0]; x++) {
                try[0] = sizes[0][x];
                try[1] = sizes[1][y];
                try[2] = sizes[2][z];
                if (try[0] * try[1] * try[2] > most)
                    break;
                if (better(try, shape->local, lanes))
                    memcpy(shape->local, try, sizeof try);
            }
}

/* ---- the command ---- */

static struct hd_dim dim(const u64 *sizes)
{
    return (struct hd_dim){(u32)sizes[0], (u32)sizes[1], (u32)sizes[2]};
}

static struct hd_dim grid_of(const struct shape *shape)
{
    u64 blocks[3];
    for (u32 i = 0; i < 3; i++)
        blocks[i] = shape->global[i] / shape->local[i];
    return dim(blocks);
}

static void explain(const struct ndrange_launch *launch, const char *place, const char *text)
{
    char *line;
    bool named = !strncmp(text, "kernel ", strlen("kernel "));
    if (asprintf(&line, "%s%s%s%s%s%s", named ? "" : "kernel ",
                 named ? "" : launch->kernel->info->name, named ? "" : ": ", place,
                 *place ? ": " : "", text) < 0)
        host_memory_exhausted();
    fprintf(stderr, "heddle: %s\n", line);
    context_notify(launch->command.queue->context, line);
    free(line);
}

/* Refuses a launch that was enqueued but cannot run. */
static cl_int refuse(const struct ndrange_launch *launch, const char *place, const char *text,
                     cl_int status)
{
    explain(launch, place, text);
    session_refused(platform_get()->session, launch->kernel->info->name);
    return status;
}

/* The number of this launch in the process, from 1. */
static u64 count_launch(cl_platform_id platform)
{
    LOCKED;
    return ++platform->launches;
}

static cl_int act(struct ndrange_launch *launch, u64 *ps)
{
    cl_device_id device = launch->command.queue->device;
    cl_platform_id platform = platform_get();
    const struct shape *shape = &launch->shape;
    struct hd_error error = {0};
    struct hd_result result = {0};
    const struct hd_range range = {
        shape->dims, {shape->offset[0], shape->offset[1], shape->offset[2]}, print_prepare(device)};
    const char *name = launch->kernel->info->name;
    u64 number = count_launch(platform);
    if (!device->info.functional)
        hd_set_timed(device->device, session_timed(platform->session, number, name), NULL);
    struct hd_dim grid = grid_of(shape);
    session_started(platform->session, &device->records, number, name,
                    (u64)grid.x * grid.y * grid.z);
    bool ok = hd_kernel_range(launch->code->kernel, &range, &error) &&
              hd_launch(launch->code->kernel, grid, dim(shape->local), launch->dynamic_bytes,
                        launch->args, launch->code->info.param_count, &result, &error);
    print_drain(device);
    session_launched(platform->session, &device->records, number, ok ? &result : NULL);
    if (!ok)
        return refuse(launch, error.place, error.message, CL_OUT_OF_RESOURCES);
    *ps += launch_picoseconds(&device->info, &result);
    if (result.warnings[0])
        explain(launch, "", result.warnings);
    if (result.outcome == HD_DONE)
        return CL_SUCCESS;
    explain(launch, "", result.explanation);
    return CL_OUT_OF_RESOURCES;
}

static cl_int launch_run(struct queue_command *command, u64 *ps)
{
    struct ndrange_launch *launch = (struct ndrange_launch *)command;
    for (u32 i = 0; i < launch->code->info.param_count; i++) {
        if (!launch->mems[i])
            continue;
        launch->addresses[i] = mem_on(launch->mems[i], command->queue->device, ps);
        if (launch->addresses[i] && launch->mems[i]->image)
            launch->addresses[i] =
                image_handle(launch->mems[i], command->queue->device, launch->addresses[i]);
        if (!launch->addresses[i])
            return refuse(launch, "", "out of device memory for a buffer argument",
                          CL_MEM_OBJECT_ALLOCATION_FAILURE);
    }
    return act(launch, ps);
}

static void launch_destroy(struct queue_command *command)
{
    struct ndrange_launch *launch = (struct ndrange_launch *)command;
    for (u32 i = 0; i < launch->code->info.param_count; i++)
        if (launch->mems[i])
            object_release(launch->mems[i]);
    object_release(launch->kernel);
    free(launch->args);
    free(launch->mems);
    free(launch->addresses);
    free(launch->values);
    free(launch);
}

/* ---- arguments ---- */

static void copy_args(struct ndrange_launch *launch)
{
    cl_kernel kernel = launch->kernel;
    u32 count = kernel->info->arg_count;
    size_t bytes = 0;
    for (u32 i = 0; i < count; i++)
        bytes += kernel->args[i].value ? kernel->args[i].size : 0;
    launch->args = checked(calloc(count + 1, sizeof *launch->args));
    launch->mems = checked(calloc(count + 1, sizeof *launch->mems));
    launch->addresses = checked(calloc(count + 1, sizeof *launch->addresses));
    launch->values = checked(malloc(bytes + 1));
    kernel_shared(kernel, launch->code, launch->addresses);
    u8 *value = launch->values;
    for (u32 i = 0; i < count; i++) {
        const struct kernel_arg *arg = &kernel->args[i];
        launch->args[i] = (struct hd_arg){&launch->addresses[i], launch->code->info.params[i].size};
        if (arg->value) {
            launch->args[i].data = memcpy(value, arg->value, arg->size);
            value += arg->size;
        } else if (arg->mem) {
            object_retain(arg->mem);
            launch->mems[i] = arg->mem;
        }
    }
}

static bool args_set(cl_kernel kernel)
{
    for (u32 i = 0; i < kernel->info->arg_count; i++)
        if (!kernel->args[i].set)
            return false;
    return true;
}

/* ---- enqueueing ---- */

/* Whether the launch can run at all: registers, shared memory, unsupported instructions. The check
 * reads only what does not change while a device is open, so the device may be busy. */
static bool can_run(struct ndrange_launch *launch)
{
    struct hd_error error = {0};
    const struct shape *shape = &launch->shape;
    for (u32 i = 0; i < 3; i++)
        if (shape->global[i] / shape->local[i] > UINT32_MAX)
            return false;
    if (hd_launch_check(launch->code->kernel, grid_of(shape), dim(shape->local),
                        launch->dynamic_bytes, launch->args, launch->code->info.param_count,
                        &error))
        return true;
    driver_unlock(); /* the program's callback may be called */
    explain(launch, error.place, error.message);
    driver_lock();
    return false;
}

static cl_int check_kernel(cl_command_queue queue, cl_kernel kernel)
{
    if (!object_is(kernel, KIND_KERNEL))
        return CL_INVALID_KERNEL;
    if (kernel->program->context != queue->context)
        return CL_INVALID_CONTEXT;
    if (!kernel_code(kernel, queue->device))
        return CL_INVALID_PROGRAM_EXECUTABLE;
    return args_set(kernel) ? CL_SUCCESS : CL_INVALID_KERNEL_ARGS;
}

static cl_int read_shape(struct shape *shape, cl_kernel kernel, cl_device_id device, cl_uint dims,
                         const size_t *offset, const size_t *global, const size_t *local)
{
    const struct kernel_code *code = kernel_code(kernel, device);
    const size_t *required = kernel->info->required;
    cl_int status = read_global(shape, dims, offset, global, device);
    if (status != CL_SUCCESS)
        return status;
    if (local || required[0])
        return read_local(shape, local ? local : required, required, code);
    choose_local(shape, code->max_block, device->info.lanes);
    return CL_SUCCESS;
}

static cl_int enqueue(cl_command_queue queue, cl_kernel kernel, const struct shape *shape,
                      cl_command_type type, cl_uint wait_count, const cl_event *waits,
                      cl_event *event)
{
    struct ndrange_launch *launch = checked(calloc(1, sizeof *launch));
    launch->command.run = launch_run;
    launch->command.destroy = launch_destroy;
    launch->command.queue = queue;
    launch->kernel = kernel;
    launch->code = kernel_code(kernel, queue->device);
    launch->shape = *shape;
    object_retain(kernel);
    copy_args(launch);
    u64 dynamic = kernel_shared(kernel, launch->code, NULL) - launch->code->info.shared_bytes;
    launch->dynamic_bytes = (u32)MIN(dynamic, UINT32_MAX);
    if (!can_run(launch)) {
        launch_destroy(&launch->command);
        return CL_OUT_OF_RESOURCES;
    }
    return command_enqueue(&launch->command, queue, type, wait_count, waits, false, event);
}

CL_API_ENTRY cl_int CL_API_CALL clEnqueueNDRangeKernel(
    cl_command_queue command_queue, cl_kernel kernel, cl_uint work_dim,
    const size_t *global_work_offset, const size_t *global_work_size, const size_t *local_work_size,
    cl_uint num_events_in_wait_list, const cl_event *event_wait_list, cl_event *event)
{
    LOCKED;
    struct shape shape;
    cl_int status = command_check(command_queue, num_events_in_wait_list, event_wait_list);
    if (status == CL_SUCCESS)
        status = check_kernel(command_queue, kernel);
    if (status == CL_SUCCESS)
        status = read_shape(&shape, kernel, command_queue->device, work_dim, global_work_offset,
                            global_work_size, local_work_size);
    if (status != CL_SUCCESS)
        return status;
    return enqueue(command_queue, kernel, &shape, CL_COMMAND_NDRANGE_KERNEL,
                   num_events_in_wait_list, event_wait_list, event);
}

CL_API_ENTRY cl_int CL_API_CALL clEnqueueTask(cl_command_queue command_queue, cl_kernel kernel,
                                              cl_uint num_events_in_wait_list,
                                              const cl_event *event_wait_list, cl_event *event)
{
    LOCKED;
    struct shape shape;
    const size_t one = 1;
    cl_int status = command_check(command_queue, num_events_in_wait_list, event_wait_list);
    if (status == CL_SUCCESS)
        status = check_kernel(command_queue, kernel);
    if (status == CL_SUCCESS)
        status = read_shape(&shape, kernel, command_queue->device, 1, NULL, &one, &one);
    if (status != CL_SUCCESS)
        return status;
    return enqueue(command_queue, kernel, &shape, CL_COMMAND_TASK, num_events_in_wait_list,
                   event_wait_list, event);
}

CL_API_ENTRY cl_int CL_API_CALL clEnqueueNativeKernel(
    cl_command_queue command_queue, void(CL_CALLBACK *user_func)(void *), void *args,
    size_t cb_args, cl_uint num_mem_objects, const cl_mem *mem_list, const void **args_mem_loc,
    cl_uint num_events_in_wait_list, const cl_event *event_wait_list, cl_event *event)
{
    LOCKED;
    cl_int status = command_check(command_queue, num_events_in_wait_list, event_wait_list);
    return status == CL_SUCCESS ? CL_INVALID_OPERATION : status; /* no native kernels */
}
