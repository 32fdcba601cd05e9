/* Attributes of kernels, and how many of their blocks a core holds. */
#include "cuda/runtime.h"

/* The kernel of a stub, for functions about it. */
static cudaError_t find(const void *function, struct cuda_device **device,
                        struct hd_kernel **kernel)
{
    const cudaError_t status = device_enter(device);
    return status == cudaSuccess ? function_kernel(*device, function, kernel) : status;
}

/* The largest block, in whole warps, whose registers a core has; 0: none. */
static int max_threads(const struct cuda_device *device, struct hd_kernel *kernel,
                       const struct hd_kernel_info *info)
{
    u32 most = device->info.block_threads, blocks;
    if (info->max_threads)
        most = MIN(most, info->max_threads);
    while (most && !hd_kernel_occupancy(kernel, (struct hd_dim){most, 1, 1}, 0, &blocks, NULL))
        most = most > device->info.lanes ? most - device->info.lanes : 0;
    return (int)most;
}

void kernel_attributes(const struct cuda_device *device, struct hd_kernel *kernel,
                       struct cudaFuncAttributes *attributes)
{
    struct hd_kernel_info info;
    hd_kernel_info(kernel, &info);
    *attributes = (struct cudaFuncAttributes){
        .sharedSizeBytes = info.shared_bytes,
        .localSizeBytes = info.local_bytes,
        .maxThreadsPerBlock = max_threads(device, kernel, &info),
        .numRegs = (int)info.registers,
        .ptxVersion = (int)device->info.capability,
        .binaryVersion = (int)device->info.capability,
        .maxDynamicSharedSizeBytes = (int)device->info.block_shared_bytes - (int)info.shared_bytes,
        .preferredShmemCarveout = -1,
    };
}

EXPORT(cudaFuncGetAttributes)
cudaError_t cudaFuncGetAttributes(struct cudaFuncAttributes *attributes, const void *function)
{
    LOCKED;
    struct cuda_device *device;
    struct hd_kernel *kernel;
    if (!attributes)
        return ended(cudaErrorInvalidValue);
    const cudaError_t status = find(function, &device, &kernel);
    if (status == cudaSuccess)
        kernel_attributes(device, kernel, attributes);
    return ended(status);
}

/* The machine's limit always holds, so that a program need not ask for it. */
cudaError_t kernel_set_attribute(const struct cuda_device *device, struct hd_kernel *kernel,
                                 enum cudaFuncAttribute attribute, int value)
{
    struct hd_kernel_info info;
    hd_kernel_info(kernel, &info);
    if (attribute == cudaFuncAttributePreferredSharedMemoryCarveout)
        return cudaSuccess;
    const bool fits = attribute == cudaFuncAttributeMaxDynamicSharedMemorySize && value >= 0 &&
                      (u64)value + info.shared_bytes <= device->info.block_shared_bytes;
    return fits ? cudaSuccess : cudaErrorInvalidValue;
}

EXPORT(cudaFuncSetAttribute)
cudaError_t cudaFuncSetAttribute(const void *function, enum cudaFuncAttribute attribute, int value)
{
    LOCKED;
    struct cuda_device *device;
    struct hd_kernel *kernel;
    const cudaError_t status = find(function, &device, &kernel);
    return ended(status == cudaSuccess ? kernel_set_attribute(device, kernel, attribute, value)
                                       : status);
}

/* Advice that the model has no use for. */
static cudaError_t advise(const void *function)
{
    LOCKED;
    struct cuda_device *device;
    struct hd_kernel *kernel;
    return ended(find(function, &device, &kernel));
}

EXPORT(cudaFuncSetCacheConfig)
cudaError_t cudaFuncSetCacheConfig(const void *function, enum cudaFuncCache config)
{
    (void)config;
    return advise(function);
}

EXPORT(cudaFuncSetSharedMemConfig)
cudaError_t cudaFuncSetSharedMemConfig(const void *function, enum cudaSharedMemConfig config)
{
    (void)config;
    return advise(function);
}

/* ---- occupancy ---- */

cudaError_t kernel_occupancy(struct hd_kernel *kernel, int *blocks, int block_threads,
                             size_t shared_bytes)
{
    u32 count = 0;
    if (!blocks || block_threads <= 0)
        return cudaErrorInvalidValue;
    if (shared_bytes > UINT32_MAX ||
        !hd_kernel_occupancy(kernel, (struct hd_dim){(u32)block_threads, 1, 1}, (u32)shared_bytes,
                             &count, NULL))
        count = 0;
    *blocks = (int)count;
    return cudaSuccess;
}

EXPORT(cudaOccupancyMaxActiveBlocksPerMultiprocessorWithFlags)
cudaError_t cudaOccupancyMaxActiveBlocksPerMultiprocessorWithFlags(
    int *blocks, const void *function, int block_threads, size_t shared_bytes, unsigned flags)
{
    LOCKED;
    struct cuda_device *device;
    struct hd_kernel *kernel;
    if (flags > cudaOccupancyDisableCachingOverride)
        return ended(cudaErrorInvalidValue);
    const cudaError_t status = find(function, &device, &kernel);
    return ended(status == cudaSuccess
                     ? kernel_occupancy(kernel, blocks, block_threads, shared_bytes)
                     : status);
}

EXPORT(cudaOccupancyMaxActiveBlocksPerMultiprocessor)
cudaError_t cudaOccupancyMaxActiveBlocksPerMultiprocessor(int *blocks, const void *function,
                                                          int block_threads, size_t shared_bytes)
{
    return cudaOccupancyMaxActiveBlocksPerMultiprocessorWithFlags(
        blocks, function, block_threads, shared_bytes, cudaOccupancyDefault);
}

EXPORT(cudaOccupancyAvailableDynamicSMemPerBlock)
cudaError_t cudaOccupancyAvailableDynamicSMemPerBlock(size_t *bytes, const void *function,
                                                      int blocks, int block_threads)
{
    LOCKED;
    struct cuda_device *device;
    struct hd_kernel *kernel;
    if (!bytes || blocks <= 0 || block_threads <= 0)
        return ended(cudaErrorInvalidValue);
    const cudaError_t status = find(function, &device, &kernel);
    if (status != cudaSuccess)
        return ended(status);
    /* the most with which as many blocks fit */
    u32 low = 0, high = device->info.block_shared_bytes, count;
    const struct hd_dim block = {(u32)block_threads, 1, 1};
    if (!hd_kernel_occupancy(kernel, block, 0, &count, NULL) || count < (u32)blocks)
        return ended(cudaErrorInvalidValue);
    while (low < high) {
        const u32 middle = low + (high - low + 1) / 2;
        const bool fits =
            hd_kernel_occupancy(kernel, block, middle, &count, NULL) && count >= (u32)blocks;
        low = fits ? middle : low;
        high = fits ? high : middle - 1;
    }
    *bytes = low;
    return ended(cudaSuccess);
}
