/* Devices: the machines of HEDDLE_MACHINE. Their properties are in properties.c. */
#include "cuda/runtime.h"

#include <stdio.h>
#include <stdlib.h>

enum {
    VERSION = 13000, /* of the driver, in CUDA's counting: the newest runtime whose programs run */
    /* defaults of CUDA, which nothing here is limited by: local memory and the heap are the machine's */
    STACK_BYTES = 1024,
    PRINTF_BYTES = 1 << 20,
    HEAP_BYTES = 8 << 20
};

EXPORT(cudaGetDeviceCount)
cudaError_t cudaGetDeviceCount(int *count)
{
    LOCKED;
    if (!count)
        return ended(cudaErrorInvalidValue);
    *count = (int)runtime_get()->device_count;
    return ended(*count ? cudaSuccess : cudaErrorNoDevice);
}

EXPORT(cudaGetDevice)
cudaError_t cudaGetDevice(int *number)
{
    LOCKED;
    struct cuda_device *device;
    if (!number)
        return ended(cudaErrorInvalidValue);
    *number = *thread_device();
    return ended(device_find(&device, *number));
}

EXPORT(cudaSetDevice)
cudaError_t cudaSetDevice(int number)
{
    LOCKED;
    struct cuda_device *device;
    const cudaError_t status = device_find(&device, number);
    if (status == cudaSuccess)
        *thread_device() = number;
    return ended(status);
}

EXPORT(cudaInitDevice)
cudaError_t cudaInitDevice(int number, unsigned device_flags, unsigned flags)
{
    (void)device_flags, (void)flags;
    LOCKED;
    struct cuda_device *device;
    const cudaError_t status = device_find(&device, number);
    if (status != cudaSuccess)
        return ended(status);
    return ended(device_open(device) ? cudaSuccess : cudaErrorInitializationError);
}

EXPORT(cudaSetValidDevices)
cudaError_t cudaSetValidDevices(int *numbers, int count)
{
    LOCKED;
    struct cuda_device *device;
    cudaError_t status = count > 0 && !numbers ? cudaErrorInvalidValue : cudaSuccess;
    for (int i = 0; i < count && status == cudaSuccess; i++)
        status = device_find(&device, numbers[i]);
    return ended(status);
}

static cudaError_t synchronize(void)
{
    ENTER(device);
    device_wait(device);
    return ended(device->sticky);
}

EXPORT(cudaDeviceSynchronize)
cudaError_t cudaDeviceSynchronize(void)
{
    return synchronize();
}

EXPORT(cudaThreadSynchronize)
cudaError_t cudaThreadSynchronize(void)
{
    return synchronize();
}

/* The device stays open, so that its records and statistics continue; its memory, streams and error are
 * gone, and variables have their initial values again. */
cudaError_t device_reset(void)
{
    struct cuda_device *device = device_current();
    if (!device)
        return ended(cudaSuccess);
    device->sticky = cudaSuccess;
    textures_free(device);
    arrays_free(device);
    allocations_free(device);
    streams_free(device);
    modules_forget(device);
    return ended(cudaSuccess);
}

EXPORT(cudaDeviceReset)
cudaError_t cudaDeviceReset(void)
{
    LOCKED;
    return device_reset();
}

EXPORT(cudaThreadExit)
cudaError_t cudaThreadExit(void)
{
    return cudaDeviceReset();
}

EXPORT(cudaSetDeviceFlags)
cudaError_t cudaSetDeviceFlags(unsigned flags)
{
    LOCKED;
    struct cuda_device *device;
    const cudaError_t status = device_find(&device, *thread_device());
    if (status == cudaSuccess)
        device->flags = flags;
    return ended(status);
}

EXPORT(cudaGetDeviceFlags)
cudaError_t cudaGetDeviceFlags(unsigned *flags)
{
    LOCKED;
    struct cuda_device *device;
    const cudaError_t status = device_find(&device, *thread_device());
    if (status == cudaSuccess && flags)
        *flags = device->flags | cudaDeviceMapHost;
    return ended(flags ? status : cudaErrorInvalidValue);
}

/* ---- limits and preferences: remembered, without an effect ---- */

static size_t default_limit(enum cudaLimit limit)
{
    switch (limit) {
    case cudaLimitStackSize:
        return STACK_BYTES;
    case cudaLimitPrintfFifoSize:
        return PRINTF_BYTES;
    case cudaLimitMallocHeapSize:
        return HEAP_BYTES;
    default:
        return 0;
    }
}

EXPORT(cudaDeviceGetLimit)
cudaError_t cudaDeviceGetLimit(size_t *value, enum cudaLimit limit)
{
    ENTER(device);
    if (!value || (u32)limit >= ARRAY_LEN(device->limits))
        return ended(value ? cudaErrorUnsupportedLimit : cudaErrorInvalidValue);
    *value = device->limits[limit] ? device->limits[limit] : default_limit(limit);
    return ended(cudaSuccess);
}

EXPORT(cudaDeviceSetLimit)
cudaError_t cudaDeviceSetLimit(enum cudaLimit limit, size_t value)
{
    ENTER(device);
    if ((u32)limit >= ARRAY_LEN(device->limits))
        return ended(cudaErrorUnsupportedLimit);
    device->limits[limit] = value;
    return ended(cudaSuccess);
}

EXPORT(cudaDeviceGetCacheConfig)
cudaError_t cudaDeviceGetCacheConfig(enum cudaFuncCache *config)
{
    ENTER(device);
    if (!config)
        return ended(cudaErrorInvalidValue);
    *config = device->cache_config;
    return ended(cudaSuccess);
}

EXPORT(cudaDeviceSetCacheConfig)
cudaError_t cudaDeviceSetCacheConfig(enum cudaFuncCache config)
{
    ENTER(device);
    device->cache_config = config;
    return ended(cudaSuccess);
}

EXPORT(cudaThreadSetCacheConfig)
cudaError_t cudaThreadSetCacheConfig(enum cudaFuncCache config)
{
    return cudaDeviceSetCacheConfig(config);
}

EXPORT(cudaDeviceGetSharedMemConfig)
cudaError_t cudaDeviceGetSharedMemConfig(enum cudaSharedMemConfig *config)
{
    ENTER(device);
    if (!config)
        return ended(cudaErrorInvalidValue);
    *config = cudaSharedMemBankSizeFourByte;
    return ended(cudaSuccess);
}

EXPORT(cudaDeviceSetSharedMemConfig)
cudaError_t cudaDeviceSetSharedMemConfig(enum cudaSharedMemConfig config)
{
    (void)config;
    ENTER(device);
    return ended(cudaSuccess);
}

/* ---- other devices ---- */

EXPORT(cudaDeviceCanAccessPeer)
cudaError_t cudaDeviceCanAccessPeer(int *can, int number, int peer)
{
    LOCKED;
    struct cuda_device *device;
    cudaError_t status = device_find(&device, number);
    if (status == cudaSuccess)
        status = device_find(&device, peer);
    if (status == cudaSuccess && can)
        *can = 0;
    return ended(can ? status : cudaErrorInvalidValue);
}

EXPORT(cudaDeviceEnablePeerAccess)
cudaError_t cudaDeviceEnablePeerAccess(int peer, unsigned flags)
{
    (void)flags;
    LOCKED;
    struct cuda_device *device;
    const cudaError_t status = device_find(&device, peer);
    return ended(status == cudaSuccess ? cudaErrorPeerAccessUnsupported : status);
}

EXPORT(cudaDeviceDisablePeerAccess)
cudaError_t cudaDeviceDisablePeerAccess(int peer)
{
    LOCKED;
    struct cuda_device *device;
    const cudaError_t status = device_find(&device, peer);
    return ended(status == cudaSuccess ? cudaErrorPeerAccessNotEnabled : status);
}

/* A device's PCI address is its number. */
EXPORT(cudaDeviceGetPCIBusId)
cudaError_t cudaDeviceGetPCIBusId(char *text, int length, int number)
{
    LOCKED;
    struct cuda_device *device;
    const cudaError_t status = device_find(&device, number);
    if (!text || length < 13)
        return ended(cudaErrorInvalidValue);
    if (status == cudaSuccess)
        snprintf(text, (size_t)length, "0000:%02x:00.0", (u32)number);
    return ended(status);
}

EXPORT(cudaDeviceGetByPCIBusId)
cudaError_t cudaDeviceGetByPCIBusId(int *number, const char *text)
{
    LOCKED;
    struct cuda_device *device;
    unsigned domain = 0, bus;
    if (!number || !text ||
        (sscanf(text, "%x:%x:", &domain, &bus) != 2 && sscanf(text, "%x:", &bus) != 1))
        return ended(cudaErrorInvalidValue);
    *number = (int)bus;
    return ended(device_find(&device, *number));
}

/* ---- versions ---- */

EXPORT(cudaDriverGetVersion)
cudaError_t cudaDriverGetVersion(int *version)
{
    if (!version)
        return ended(cudaErrorInvalidValue);
    *version = VERSION;
    return cudaSuccess;
}

static cudaError_t tell_version(int *version, int value)
{
    if (!version)
        return ended(cudaErrorInvalidValue);
    *version = value;
    return cudaSuccess;
}

EXPORT_OLD(version_11, cudaRuntimeGetVersion);
__attribute__((visibility("default"))) cudaError_t version_11(int *version)
{
    return tell_version(version, 11080);
}

EXPORT_12(version_12, cudaRuntimeGetVersion);
__attribute__((visibility("default"))) cudaError_t version_12(int *version)
{
    return tell_version(version, CUDART_VERSION);
}

EXPORT_13(version_13, cudaRuntimeGetVersion);
__attribute__((visibility("default"))) cudaError_t version_13(int *version)
{
    return tell_version(version, 13000);
}

/* ---- profilers: there is nothing to switch ---- */

EXPORT(cudaProfilerStart)
cudaError_t cudaProfilerStart(void)
{
    return cudaSuccess;
}

EXPORT(cudaProfilerStop)
cudaError_t cudaProfilerStop(void)
{
    return cudaSuccess;
}
