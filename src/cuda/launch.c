/*
 * Launches.
 *
 * A launch that is refused (sizes, resources, unsupported instructions) returns its error. A guest fault
 * is explained on standard error; as on hardware, where launches are asynchronous, the launch itself
 * succeeds and later calls return the error (R2).
 */
#include "cuda/runtime.h"

#include <stdio.h>
#include <stdlib.h>

enum {
    NESTED = 8 /* configurations of one thread between <<<>>> and the stub: more than one only if an
                * argument's expression launches, too */
};

struct call_configuration {
    struct dim3 grid, block;
    size_t shared_bytes;
    cudaStream_t stream;
};

static _Thread_local struct call_configuration pushed[NESTED]; /* R4 */
static _Thread_local u32 depth;

EXPORT(__cudaPushCallConfiguration)
unsigned __cudaPushCallConfiguration(struct dim3 grid, struct dim3 block, size_t shared_bytes,
                                     cudaStream_t stream)
{
    if (depth == NESTED)
        return (unsigned)ended(cudaErrorMissingConfiguration);
    pushed[depth++] = (struct call_configuration){grid, block, shared_bytes, stream};
    return cudaSuccess;
}

EXPORT(__cudaPopCallConfiguration)
cudaError_t __cudaPopCallConfiguration(struct dim3 *grid, struct dim3 *block, size_t *shared_bytes,
                                       void *stream)
{
    if (!depth)
        return ended(cudaErrorMissingConfiguration);
    const struct call_configuration *last = &pushed[--depth];
    *grid = last->grid;
    *block = last->block;
    *shared_bytes = last->shared_bytes;
    *(cudaStream_t *)stream = last->stream;
    return cudaSuccess;
}

/* ---- outcomes ---- */

cudaError_t error_of(const struct hd_error *error)
{
    switch (error->code) {
    case HD_ERROR_UNSUPPORTED:
        return cudaErrorNotSupported;
    case HD_ERROR_MEMORY:
        return cudaErrorMemoryAllocation;
    case HD_ERROR_USAGE:
        return cudaErrorInvalidConfiguration;
    default:
        return cudaErrorLaunchFailure;
    }
}

static cudaError_t fault_of(enum hd_outcome outcome)
{
    switch (outcome) {
    case HD_DONE:
        return cudaSuccess;
    case HD_OUT_OF_BOUNDS:
    case HD_USE_AFTER_FREE:
    case HD_READ_ONLY:
        return cudaErrorIllegalAddress;
    case HD_MISALIGNED:
        return cudaErrorMisalignedAddress;
    case HD_ASSERT:
        return cudaErrorAssert;
    case HD_STACK_OVERFLOW:
        return cudaErrorHardwareStackError;
    case HD_BAD_CALL:
        return cudaErrorInvalidPc;
    case HD_DEADLOCK:
    case HD_LIMIT:
        return cudaErrorLaunchTimeout;
    default:
        return cudaErrorLaunchFailure;
    }
}

/* ---- launches ---- */

struct kernel_launch {
    struct hd_kernel *kernel;
    struct hd_kernel_info info;
    struct hd_dim grid, block;
    u32 shared_bytes;
    struct hd_arg *args;
};

static cudaError_t refuse(const struct kernel_launch *launch, const struct hd_error *error)
{
    explain(error->place, "%s", error->message);
    session_refused(runtime_get()->session, launch->info.name);
    return error_of(error);
}

static cudaError_t run(struct cuda_device *device, const struct kernel_launch *launch,
                       struct CUstream_st *stream)
{
    struct cuda_runtime *runtime = runtime_get();
    struct hd_error error = {0};
    struct hd_result result = {0};
    const struct hd_dim grid = launch->grid;
    const char *name = launch->info.name;
    const u64 number = ++runtime->launches;
    if (!device->info.functional)
        hd_set_timed(device->device, session_timed(runtime->session, number, name), NULL);
    session_started(runtime->session, &device->records, number, name,
                    (u64)grid.x * grid.y * grid.z);
    const bool ok = hd_launch(launch->kernel, grid, launch->block, launch->shared_bytes,
                              launch->args, launch->info.param_count, &result, &error);
    session_launched(runtime->session, &device->records, number, ok ? &result : NULL);
    fflush(stdout);
    if (!ok)
        return refuse(launch, &error);
    stream_work(stream, ENGINE_KERNELS, launch_picoseconds(&device->info, &result));
    if (result.warnings[0])
        explain("", "%s", result.warnings);
    if (result.outcome != HD_DONE)
        explain("", "%s", result.explanation);
    device->sticky = fault_of(result.outcome);
    return cudaSuccess;
}

static bool fill_args(struct kernel_launch *launch, void **args)
{
    launch->args = checked(calloc(launch->info.param_count + 1, sizeof *launch->args));
    for (u32 i = 0; i < launch->info.param_count; i++) {
        if (!args || !args[i])
            return false;
        launch->args[i] = (struct hd_arg){args[i], launch->info.params[i].size};
    }
    return true;
}

/* How many blocks the device holds at once. */
static u64 resident(const struct cuda_device *device, const struct kernel_launch *launch)
{
    u32 blocks;
    return hd_kernel_occupancy(launch->kernel, launch->block, launch->shared_bytes, &blocks, NULL)
               ? (u64)blocks * device->info.cores
               : 0;
}

/*
 * Blocks of a cooperative launch wait for each other, by a counter that the compiler's code finds
 * through %envreg1 (high half of its address) and %envreg2 (low half): u32 bytes, u32 arrivals.
 */
static cudaError_t prepare_grid_barrier(struct cuda_device *device,
                                        const struct kernel_launch *launch, hd_address *workspace)
{
    static const u32 start[2] = {sizeof start, 0};
    struct hd_error error = {0};
    const struct hd_dim grid = launch->grid;
    if ((u64)grid.x * grid.y * grid.z > resident(device, launch))
        return cudaErrorCooperativeLaunchTooLarge;
    *workspace = hd_alloc_named(device->device, sizeof start, "grid barrier", &error);
    if (!*workspace || !hd_write(device->device, *workspace, start, sizeof start, &error))
        return cudaErrorMemoryAllocation;
    const struct hd_range range = {.work_dim = 3, .offset = {*workspace << 32 | *workspace >> 32}};
    hd_kernel_range(launch->kernel, &range, &error);
    return cudaSuccess;
}

cudaError_t kernel_launch(struct cuda_device *device, struct hd_kernel *kernel, struct dim3 grid,
                          struct dim3 block, void **args, size_t shared_bytes,
                          struct CUstream_st *stream, bool cooperative)
{
    struct kernel_launch launch = {.kernel = kernel,
                                   .grid = {grid.x, grid.y, grid.z},
                                   .block = {block.x, block.y, block.z},
                                   .shared_bytes = (u32)MIN(shared_bytes, UINT32_MAX)};
    struct hd_error error = {0};
    hd_address workspace = 0;
    cudaError_t status = cudaSuccess;
    hd_kernel_info(launch.kernel, &launch.info);
    if (!fill_args(&launch, args))
        status = cudaErrorInvalidValue;
    else if (!hd_launch_check(launch.kernel, launch.grid, launch.block, launch.shared_bytes,
                              launch.args, launch.info.param_count, &error))
        status = refuse(&launch, &error);
    else if (cooperative)
        status = prepare_grid_barrier(device, &launch, &workspace);
    if (status == cudaSuccess)
        status = run(device, &launch, stream);
    if (workspace) {
        hd_kernel_range(launch.kernel, &(struct hd_range){.work_dim = 3}, NULL);
        hd_release(device->device, workspace, NULL);
    }
    free(launch.args);
    return status;
}

static cudaError_t start(const void *function, struct dim3 grid, struct dim3 block, void **args,
                         size_t shared_bytes, cudaStream_t handle, bool cooperative)
{
    ENTER(device);
    struct CUstream_st *stream = stream_of(device, handle);
    struct hd_kernel *kernel;
    if (!stream)
        return ended(cudaErrorInvalidResourceHandle);
    const cudaError_t status = function_kernel(device, function, &kernel);
    if (status == cudaSuccess && stream->capture) {
        struct hd_kernel_info info;
        hd_kernel_info(kernel, &info);
        return ended(
            capture_kernel(stream, function, &info, grid, block, args, shared_bytes, cooperative));
    }
    return ended(status == cudaSuccess ? kernel_launch(device, kernel, grid, block, args,
                                                       shared_bytes, stream, cooperative)
                                       : status);
}

EXPORT_STREAM(cudaLaunchKernel)
cudaError_t cudaLaunchKernel(const void *function, struct dim3 grid, struct dim3 block, void **args,
                             size_t shared_bytes, cudaStream_t stream)
{
    return start(function, grid, block, args, shared_bytes, stream, false);
}

EXPORT_STREAM(cudaLaunchCooperativeKernel)
cudaError_t cudaLaunchCooperativeKernel(const void *function, struct dim3 grid, struct dim3 block,
                                        void **args, size_t shared_bytes, cudaStream_t stream)
{
    return start(function, grid, block, args, shared_bytes, stream, true);
}

/* CUDA 13 launches by the handle of __cudaGetKernel, which is the stub. */
EXPORT_STREAM(__cudaLaunchKernel)
cudaError_t __cudaLaunchKernel(cudaKernel_t kernel, struct dim3 grid, struct dim3 block,
                               void **args, size_t shared_bytes, cudaStream_t stream)
{
    return start(kernel, grid, block, args, shared_bytes, stream, false);
}

EXPORT_STREAM(cudaLaunchKernelExC)
cudaError_t cudaLaunchKernelExC(const cudaLaunchConfig_t *config, const void *function, void **args)
{
    bool cooperative = false;
    if (!config || (config->numAttrs && !config->attrs))
        return ended(cudaErrorInvalidValue);
    for (unsigned i = 0; i < config->numAttrs; i++)
        if (config->attrs[i].id == cudaLaunchAttributeCooperative)
            cooperative = config->attrs[i].val.cooperative;
        else if (config->attrs[i].id == cudaLaunchAttributeClusterDimension)
            return ended(cudaErrorNotSupported);
    return start(function, config->gridDim, config->blockDim, args, config->dynamicSmemBytes,
                 config->stream, cooperative);
}
