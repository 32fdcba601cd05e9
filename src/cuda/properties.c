/*
 * Properties of devices: those of the modelled machine.
 *
 * cudaDeviceProp has three layouts. That of CUDA 12 is the first of cuda_runtime_api.h; CUDA 11 has its
 * beginning, and so has the function without "_v2" in CUDA 12; CUDA 13 has dropped fields.
 */
#include "cuda/runtime.h"

#include <stdio.h>
#include <stdlib.h>

/* What neither the machine nor the model limits: CUDA's limits of all recent hardware. */
enum {
    GRID_X = 0x7fffffff,
    GRID_YZ = 65535,
    BLOCK_Z = 64,
    CONSTANT_BYTES = 65536,
    ATTRIBUTES_END = 149, /* of CUDA 13.0 */
    PITCH_MOST = 0x7fffffff,
    ALIGNMENT = 512
};

/* The name that programs print: the machine with "Heddle" before it, as it is not the hardware. */
static void tell_name(struct cudaDeviceProp *to, const struct cuda_device *device)
{
    snprintf(to->name, sizeof to->name, "Heddle %s", device->info.name);
    snprintf(to->uuid.bytes, sizeof to->uuid.bytes, "heddle%u", device->number);
}

static void tell(struct cudaDeviceProp *to, const struct cuda_device *device)
{
    const struct hd_machine_info *info = &device->info;
    *to = (struct cudaDeviceProp){
        .totalGlobalMem = info->memory_bytes,
        .sharedMemPerBlock = info->block_shared_bytes,
        .regsPerBlock = (int)info->core_registers,
        .warpSize = (int)info->lanes,
        .memPitch = PITCH_MOST,
        .maxThreadsPerBlock = (int)info->block_threads,
        .maxThreadsDim = {(int)info->block_threads, (int)info->block_threads,
                          (int)MIN(info->block_threads, BLOCK_Z)},
        .maxGridSize = {GRID_X, GRID_YZ, GRID_YZ},
        .clockRate = (int)(info->core_mhz * 1e3),
        .totalConstMem = CONSTANT_BYTES,
        .major = (int)info->capability / 10,
        .minor = (int)info->capability % 10,
        .textureAlignment = ALIGNMENT,
        .texturePitchAlignment = ALIGNMENT / 16,
        .deviceOverlap = 1,
        .multiProcessorCount = (int)info->cores,
        .canMapHostMemory = 1,
        .surfaceAlignment = ALIGNMENT,
        .pciBusID = (int)device->number,
        .asyncEngineCount = 2, /* T2 of stream.c */
        .unifiedAddressing = runtime_get()->device_count == 1,
        .memoryClockRate = (int)(info->dram_mhz * 1e3),
        .memoryBusWidth = (int)info->dram_bits,
        .l2CacheSize = (int)info->l2_bytes,
        .maxThreadsPerMultiProcessor = (int)(info->core_warps * info->lanes),
        .streamPrioritiesSupported = 1,
        .globalL1CacheSupported = info->l1_bytes != 0,
        .localL1CacheSupported = info->l1_bytes != 0,
        .sharedMemPerMultiprocessor = info->core_shared_bytes,
        .regsPerMultiprocessor = (int)info->core_registers,
        .managedMemory = 1,
        .hostNativeAtomicSupported = 1,
        .concurrentManagedAccess = 1,
        .cooperativeLaunch = 1,
        .sharedMemPerBlockOptin = info->block_shared_bytes,
        .maxBlocksPerMultiProcessor = (int)info->core_blocks,
        .hostRegisterSupported = 1,
    };
    tell_name(to, device);
}

static cudaError_t find(int number, struct cuda_device **device, const void *to)
{
    LOCKED;
    return to ? device_find(device, number) : cudaErrorInvalidValue;
}

EXPORT_12(properties_12, cudaGetDeviceProperties_v2);
__attribute__((visibility("default"))) cudaError_t properties_12(struct cudaDeviceProp *to,
                                                                 int number)
{
    struct cuda_device *device;
    const cudaError_t status = find(number, &device, to);
    if (status == cudaSuccess)
        tell(to, device);
    return ended(status);
}

EXPORT_OLD(properties_11, cudaGetDeviceProperties);
EXPORT_12(properties_11, cudaGetDeviceProperties);
__attribute__((visibility("default"))) cudaError_t properties_11(void *to, int number)
{
    struct cuda_device *device;
    struct cudaDeviceProp all;
    const cudaError_t status = find(number, &device, to);
    if (status == cudaSuccess) {
        tell(&all, device);
        memcpy(to, &all, offsetof(struct cudaDeviceProp, hostRegisterSupported));
    }
    return ended(status);
}

/* CUDA 13's layout. */
#define HEDDLE_FIELD(type, name, dimension) type name dimension;
#define HEDDLE_FIELD_OLD(type, name, dimension)
#define HEDDLE_FIELD_NEW HEDDLE_FIELD
struct properties_13 {
#include "heddle_properties.def"
    int deviceNumaConfig, deviceNumaId, mpsEnabled, hostNumaId;
    unsigned gpuPciDeviceID, gpuPciSubsystemID;
    int hostNumaMultinodeIpcSupported;
    int reserved[56];
};
#undef HEDDLE_FIELD
_Static_assert(sizeof(struct cudaDeviceProp) == 1032, "the layout of CUDA 12");
_Static_assert(sizeof(struct properties_13) == 1008, "the layout of CUDA 13");

EXPORT_13(properties_13, cudaGetDeviceProperties);
__attribute__((visibility("default"))) cudaError_t properties_13(struct properties_13 *to,
                                                                 int number)
{
    struct cuda_device *device;
    struct cudaDeviceProp all;
    const cudaError_t status = find(number, &device, to);
    if (status != cudaSuccess)
        return ended(status);
    tell(&all, device);
    *to = (struct properties_13){.deviceNumaId = -1, .hostNumaId = -1};
#define HEDDLE_FIELD(type, name, dimension) memcpy(&to->name, &all.name, sizeof to->name);
#include "heddle_properties.def"
    return ended(cudaSuccess);
}

/* ---- attributes: mostly a field of the properties each ---- */

EXPORT(cudaDeviceGetAttribute)
cudaError_t cudaDeviceGetAttribute(int *value, enum cudaDeviceAttr attribute, int number)
{
    struct cuda_device *device;
    struct cudaDeviceProp all;
    const cudaError_t status = find(number, &device, value);
    if (status != cudaSuccess)
        return ended(status);
    tell(&all, device);
    switch ((u32)attribute) {
#define HEDDLE_ATTRIBUTE(name, index, is) \
    case index:                           \
        *value = (int)(is);               \
        return ended(cudaSuccess);
#include "heddle_attributes.def"
#undef HEDDLE_ATTRIBUTE
    default:
        /* the others that CUDA has: abilities which no machine has, so 0 */
        *value = 0;
        return ended((u32)attribute - 1 < ATTRIBUTES_END - 1u ? cudaSuccess
                                                              : cudaErrorInvalidValue);
    }
}

/* The first device with as many cores and as much memory, or the first one. */
EXPORT(cudaChooseDevice)
cudaError_t cudaChooseDevice(int *number, const struct cudaDeviceProp *wanted)
{
    LOCKED;
    struct cuda_device *device;
    if (!number || !wanted)
        return ended(cudaErrorInvalidValue);
    *number = 0;
    for (u32 i = runtime_get()->device_count; i-- > 0;)
        if (device_find(&device, (int)i) == cudaSuccess &&
            device->info.memory_bytes >= wanted->totalGlobalMem &&
            (int)device->info.cores >= wanted->multiProcessorCount)
            *number = (int)i;
    return ended(device_find(&device, *number));
}
