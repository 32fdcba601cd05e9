/* The driver API: memory and copies. */
#include "cuda/driver.h"

#define POINTER(address) ((void *)(address))

EXPORT_DRIVER(cuMemGetInfo_v2)
CUresult cuMemGetInfo(size_t *available, size_t *total)
{
    DRIVER(cudaMemGetInfo(available, total));
}

EXPORT_DRIVER(cuMemAlloc_v2)
CUresult cuMemAlloc(CUdeviceptr *address, size_t bytes)
{
    if (!bytes)
        return CUDA_ERROR_INVALID_VALUE;
    DRIVER(cudaMalloc((void **)address, bytes));
}

EXPORT_DRIVER(cuMemAllocPitch_v2)
CUresult cuMemAllocPitch(CUdeviceptr *address, size_t *pitch, size_t width, size_t height,
                         unsigned element_bytes)
{
    if (!width || !height || (element_bytes != 4 && element_bytes != 8 && element_bytes != 16))
        return CUDA_ERROR_INVALID_VALUE;
    DRIVER(cudaMallocPitch((void **)address, pitch, width, height));
}

EXPORT_DRIVER(cuMemFree_v2)
CUresult cuMemFree(CUdeviceptr address)
{
    DRIVER(cudaFree(POINTER(address)));
}

EXPORT_DRIVER_STREAM(cuMemAllocAsync)
CUresult cuMemAllocAsync(CUdeviceptr *address, size_t bytes, CUstream stream)
{
    DRIVER(cudaMallocAsync((void **)address, bytes, stream));
}

EXPORT_DRIVER_STREAM(cuMemFreeAsync)
CUresult cuMemFreeAsync(CUdeviceptr address, CUstream stream)
{
    DRIVER(cudaFreeAsync(POINTER(address), stream));
}

EXPORT_DRIVER(cuMemGetAddressRange_v2)
CUresult cuMemGetAddressRange(CUdeviceptr *start, size_t *bytes, CUdeviceptr address)
{
    DRIVER_ENTER(device);
    const struct allocation_entry *entry = allocation_at(device, address);
    if (!entry)
        return CUDA_ERROR_NOT_FOUND;
    if (start)
        *start = entry->address;
    if (bytes)
        *bytes = entry->bytes;
    return CUDA_SUCCESS;
}

/* ---- memory that host and device share ---- */

EXPORT_DRIVER(cuMemAllocHost_v2)
CUresult cuMemAllocHost(void **pointer, size_t bytes)
{
    DRIVER(cudaMallocHost(pointer, bytes));
}

EXPORT_DRIVER(cuMemHostAlloc)
CUresult cuMemHostAlloc(void **pointer, size_t bytes, unsigned flags)
{
    DRIVER(cudaHostAlloc(pointer, bytes, flags));
}

EXPORT_DRIVER(cuMemFreeHost)
CUresult cuMemFreeHost(void *pointer)
{
    DRIVER(cudaFreeHost(pointer));
}

EXPORT_DRIVER(cuMemHostRegister_v2)
CUresult cuMemHostRegister(void *pointer, size_t bytes, unsigned flags)
{
    DRIVER(cudaHostRegister(pointer, bytes, flags));
}

EXPORT_DRIVER(cuMemHostUnregister)
CUresult cuMemHostUnregister(void *pointer)
{
    DRIVER(cudaHostUnregister(pointer));
}

EXPORT_DRIVER(cuMemHostGetDevicePointer_v2)
CUresult cuMemHostGetDevicePointer(CUdeviceptr *address, void *pointer, unsigned flags)
{
    DRIVER(cudaHostGetDevicePointer((void **)address, pointer, flags));
}

EXPORT_DRIVER(cuMemHostGetFlags)
CUresult cuMemHostGetFlags(unsigned *flags, void *pointer)
{
    DRIVER(cudaHostGetFlags(flags, pointer));
}

EXPORT_DRIVER(cuMemAllocManaged)
CUresult cuMemAllocManaged(CUdeviceptr *address, size_t bytes, unsigned flags)
{
    DRIVER(cudaMallocManaged((void **)address, bytes, flags));
}

EXPORT_DRIVER_STREAM(cuMemPrefetchAsync)
CUresult cuMemPrefetchAsync(CUdeviceptr address, size_t bytes, CUdevice device, CUstream stream)
{
    DRIVER(cudaMemPrefetchAsync(POINTER(address), bytes, device, stream));
}

EXPORT_DRIVER(cuMemAdvise)
CUresult cuMemAdvise(CUdeviceptr address, size_t bytes, CUmem_advise advice, CUdevice device)
{
    DRIVER(cudaMemAdvise(POINTER(address), bytes, (enum cudaMemoryAdvise)advice, device));
}

static CUresult tell(const struct cuda_device *device, const struct allocation_entry *entry,
                     CUpointer_attribute attribute, u64 address, void *value)
{
    switch (attribute) {
    case CU_POINTER_ATTRIBUTE_MEMORY_TYPE:
        *(unsigned *)value = entry->use == USED_BY_HOST   ? CU_MEMORYTYPE_HOST
                             : entry->use == USED_BY_BOTH ? CU_MEMORYTYPE_UNIFIED
                                                          : CU_MEMORYTYPE_DEVICE;
        return CUDA_SUCCESS;
    case CU_POINTER_ATTRIBUTE_DEVICE_POINTER:
        *(CUdeviceptr *)value = address;
        return CUDA_SUCCESS;
    case CU_POINTER_ATTRIBUTE_HOST_POINTER:
        *(void **)value = entry->host ? entry->host + (address - entry->address) : NULL;
        return entry->host ? CUDA_SUCCESS : CUDA_ERROR_INVALID_VALUE;
    case CU_POINTER_ATTRIBUTE_IS_MANAGED:
        *(unsigned *)value = entry->use == USED_BY_BOTH;
        return CUDA_SUCCESS;
    case CU_POINTER_ATTRIBUTE_DEVICE_ORDINAL:
        *(int *)value = (int)device->number;
        return CUDA_SUCCESS;
    case CU_POINTER_ATTRIBUTE_RANGE_START_ADDR:
        *(CUdeviceptr *)value = entry->address;
        return CUDA_SUCCESS;
    case CU_POINTER_ATTRIBUTE_RANGE_SIZE:
        *(size_t *)value = entry->bytes;
        return CUDA_SUCCESS;
    default:
        return CUDA_ERROR_NOT_SUPPORTED;
    }
}

EXPORT_DRIVER(cuPointerGetAttribute)
CUresult cuPointerGetAttribute(void *value, CUpointer_attribute attribute, CUdeviceptr address)
{
    DRIVER_ENTER(device);
    const struct allocation_entry *entry = allocation_at(device, address);
    return value && entry ? tell(device, entry, attribute, address, value)
                          : CUDA_ERROR_INVALID_VALUE;
}

/* ---- copies ---- */

EXPORT_DRIVER_SYNC(cuMemcpy)
CUresult cuMemcpy(CUdeviceptr to, CUdeviceptr from, size_t bytes)
{
    DRIVER(cudaMemcpy(POINTER(to), POINTER(from), bytes, cudaMemcpyDefault));
}

EXPORT_DRIVER_STREAM(cuMemcpyAsync)
CUresult cuMemcpyAsync(CUdeviceptr to, CUdeviceptr from, size_t bytes, CUstream stream)
{
    DRIVER(cudaMemcpyAsync(POINTER(to), POINTER(from), bytes, cudaMemcpyDefault, stream));
}

EXPORT_DRIVER_SYNC(cuMemcpyHtoD_v2)
CUresult cuMemcpyHtoD(CUdeviceptr to, const void *from, size_t bytes)
{
    DRIVER(cudaMemcpy(POINTER(to), from, bytes, cudaMemcpyHostToDevice));
}

EXPORT_DRIVER_SYNC(cuMemcpyDtoH_v2)
CUresult cuMemcpyDtoH(void *to, CUdeviceptr from, size_t bytes)
{
    DRIVER(cudaMemcpy(to, POINTER(from), bytes, cudaMemcpyDeviceToHost));
}

EXPORT_DRIVER_SYNC(cuMemcpyDtoD_v2)
CUresult cuMemcpyDtoD(CUdeviceptr to, CUdeviceptr from, size_t bytes)
{
    DRIVER(cudaMemcpy(POINTER(to), POINTER(from), bytes, cudaMemcpyDeviceToDevice));
}

EXPORT_DRIVER_STREAM(cuMemcpyHtoDAsync_v2)
CUresult cuMemcpyHtoDAsync(CUdeviceptr to, const void *from, size_t bytes, CUstream stream)
{
    DRIVER(cudaMemcpyAsync(POINTER(to), from, bytes, cudaMemcpyHostToDevice, stream));
}

EXPORT_DRIVER_STREAM(cuMemcpyDtoHAsync_v2)
CUresult cuMemcpyDtoHAsync(void *to, CUdeviceptr from, size_t bytes, CUstream stream)
{
    DRIVER(cudaMemcpyAsync(to, POINTER(from), bytes, cudaMemcpyDeviceToHost, stream));
}

EXPORT_DRIVER_STREAM(cuMemcpyDtoDAsync_v2)
CUresult cuMemcpyDtoDAsync(CUdeviceptr to, CUdeviceptr from, size_t bytes, CUstream stream)
{
    DRIVER(cudaMemcpyAsync(POINTER(to), POINTER(from), bytes, cudaMemcpyDeviceToDevice, stream));
}

/* One end of a copy of rows; NULL: an array, or none. */
static u8 *end_of(CUmemorytype type, const void *host, CUdeviceptr device, size_t x, size_t y,
                  size_t pitch)
{
    u8 *start = type == CU_MEMORYTYPE_HOST                                      ? (u8 *)host
                : type == CU_MEMORYTYPE_DEVICE || type == CU_MEMORYTYPE_UNIFIED ? (u8 *)device
                                                                                : NULL;
    return start ? start + y * pitch + x : NULL;
}

static cudaError_t copy_rows(const CUDA_MEMCPY2D *copy, bool wait, CUstream stream)
{
    if (!copy)
        return cudaErrorInvalidValue;
    void *to = end_of(copy->dstMemoryType, copy->dstHost, copy->dstDevice, copy->dstXInBytes,
                      copy->dstY, copy->dstPitch);
    const void *from = end_of(copy->srcMemoryType, copy->srcHost, copy->srcDevice,
                              copy->srcXInBytes, copy->srcY, copy->srcPitch);
    if (copy->dstMemoryType == CU_MEMORYTYPE_ARRAY || copy->srcMemoryType == CU_MEMORYTYPE_ARRAY)
        return cudaErrorNotSupported;
    const bool to_device = copy->dstMemoryType == CU_MEMORYTYPE_DEVICE;
    const bool from_device = copy->srcMemoryType == CU_MEMORYTYPE_DEVICE;
    const enum cudaMemcpyKind kind =
        to_device     ? from_device ? cudaMemcpyDeviceToDevice : cudaMemcpyHostToDevice
        : from_device ? cudaMemcpyDeviceToHost
                      : cudaMemcpyDefault;
    const size_t to_pitch = copy->dstPitch ? copy->dstPitch : copy->WidthInBytes;
    const size_t from_pitch = copy->srcPitch ? copy->srcPitch : copy->WidthInBytes;
    return wait ? cudaMemcpy2D(to, to_pitch, from, from_pitch, copy->WidthInBytes, copy->Height,
                               kind)
                : cudaMemcpy2DAsync(to, to_pitch, from, from_pitch, copy->WidthInBytes,
                                    copy->Height, kind, stream);
}

EXPORT_DRIVER_SYNC(cuMemcpy2D_v2)
CUresult cuMemcpy2D(const CUDA_MEMCPY2D *copy)
{
    DRIVER(copy_rows(copy, true, NULL));
}

EXPORT_DRIVER_SYNC(cuMemcpy2DUnaligned_v2)
CUresult cuMemcpy2DUnaligned(const CUDA_MEMCPY2D *copy)
{
    DRIVER(copy_rows(copy, true, NULL));
}

EXPORT_DRIVER_STREAM(cuMemcpy2DAsync_v2)
CUresult cuMemcpy2DAsync(const CUDA_MEMCPY2D *copy, CUstream stream)
{
    DRIVER(copy_rows(copy, false, stream));
}

/* ---- fills ---- */

EXPORT_DRIVER_SYNC(cuMemsetD8_v2)
CUresult cuMemsetD8(CUdeviceptr to, unsigned char value, size_t count)
{
    DRIVER(pattern_fill(POINTER(to), &value, 1, count, true, NULL));
}

EXPORT_DRIVER_SYNC(cuMemsetD16_v2)
CUresult cuMemsetD16(CUdeviceptr to, unsigned short value, size_t count)
{
    DRIVER(pattern_fill(POINTER(to), &value, 2, count, true, NULL));
}

EXPORT_DRIVER_SYNC(cuMemsetD32_v2)
CUresult cuMemsetD32(CUdeviceptr to, unsigned value, size_t count)
{
    DRIVER(pattern_fill(POINTER(to), &value, 4, count, true, NULL));
}

EXPORT_DRIVER_STREAM(cuMemsetD8Async)
CUresult cuMemsetD8Async(CUdeviceptr to, unsigned char value, size_t count, CUstream stream)
{
    DRIVER(pattern_fill(POINTER(to), &value, 1, count, false, stream));
}

EXPORT_DRIVER_STREAM(cuMemsetD16Async)
CUresult cuMemsetD16Async(CUdeviceptr to, unsigned short value, size_t count, CUstream stream)
{
    DRIVER(pattern_fill(POINTER(to), &value, 2, count, false, stream));
}

EXPORT_DRIVER_STREAM(cuMemsetD32Async)
CUresult cuMemsetD32Async(CUdeviceptr to, unsigned value, size_t count, CUstream stream)
{
    DRIVER(pattern_fill(POINTER(to), &value, 4, count, false, stream));
}
