/*
 * Memory of programs.
 *
 * Memory that host and device share (managed, pinned, registered) is host memory which the device uses
 * directly (hd_alloc_host): nothing is copied and nothing migrates. Managed and pinned memory has the
 * same address on both sides. Deviation: a kernel's accesses to it take the time of device memory.
 */
#include "cuda/runtime.h"

#include <stdlib.h>
#include <sys/mman.h>
#include <unistd.h>

enum {
    PITCH_ALIGN = 512, /* as cudaMallocPitch has it on all recent hardware */
    SHARED_FLAGS = cudaHostAllocPortable | cudaHostAllocMapped | cudaHostAllocWriteCombined
};

/* Where shared memory is put, so that kernels reach it with generic addresses, which have windows for
 * shared and local memory from 0x7e0000000000 on (ir/special.h); and above the 4 TB from 0x600000000000
 * on that AddressSanitizer takes. */
#define SHARED_BASE 0x680000000000ull
#define SHARED_END 0x700000000000ull
#define SHARED_STEP 0x1000000ull /* between attempts */

/* The index of the first entry whose range ends above the address. */
static u32 first_above(const struct cuda_device *device, u64 address)
{
    u32 low = 0, high = device->allocations.count;
    while (low < high) {
        const u32 middle = (low + high) / 2;
        const struct allocation_entry *entry = &device->allocations.data[middle];
        if (entry->address + entry->bytes <= address)
            low = middle + 1;
        else
            high = middle;
    }
    return low;
}

const struct allocation_entry *allocation_at(const struct cuda_device *device, u64 address)
{
    const u32 at = first_above(device, address);
    const struct allocation_entry *entry =
        at < device->allocations.count ? &device->allocations.data[at] : NULL;
    return entry && entry->address <= address ? entry : NULL;
}

const struct allocation_entry *allocation_of_host(const struct cuda_device *device,
                                                  const void *pointer)
{
    const u8 *host = pointer;
    for (u32 i = 0; i < device->allocations.count; i++) {
        const struct allocation_entry *entry = &device->allocations.data[i];
        if (entry->host && host >= entry->host && host < entry->host + entry->bytes)
            return entry;
    }
    return NULL;
}

void allocation_add(struct cuda_device *device, struct allocation_entry entry)
{
    const u32 at = first_above(device, entry.address);
    (void)vec_push(&device->allocations);
    struct allocation_entry *place = &device->allocations.data[at];
    memmove(place + 1, place, (device->allocations.count - 1 - at) * sizeof *place);
    *place = entry;
}

static void release(struct cuda_device *device, const struct allocation_entry *entry)
{
    if (entry->use != USED_BY_VARIABLE)
        hd_release(device->device, entry->address, NULL);
    if (entry->mapped)
        munmap(entry->host, entry->mapped);
}

static void allocation_remove(struct cuda_device *device, const struct allocation_entry *entry)
{
    const u32 at = (u32)(entry - device->allocations.data);
    release(device, entry);
    device->allocations.count--;
    memmove(&device->allocations.data[at], &device->allocations.data[at + 1],
            (device->allocations.count - at) * sizeof *device->allocations.data);
}

void allocations_free(struct cuda_device *device)
{
    for (u32 i = 0; i < device->allocations.count; i++)
        release(device, &device->allocations.data[i]);
    vec_free(&device->allocations);
}

/* ---- device memory ---- */

EXPORT(cudaMalloc)
cudaError_t cudaMalloc(void **pointer, size_t bytes)
{
    ENTER(device);
    struct hd_error error = {0};
    if (!pointer)
        return ended(cudaErrorInvalidValue);
    *pointer = NULL;
    if (!bytes)
        return ended(cudaSuccess);
    const u64 address = hd_alloc(device->device, bytes, &error);
    if (!address) {
        explain("cudaMalloc", "%s", error.message);
        return ended(cudaErrorMemoryAllocation);
    }
    allocation_add(device, (struct allocation_entry){.address = address, .bytes = bytes});
    *pointer = (void *)address;
    return ended(cudaSuccess);
}

EXPORT_STREAM(cudaMallocAsync)
cudaError_t cudaMallocAsync(void **pointer, size_t bytes, cudaStream_t stream)
{
    (void)stream;
    return cudaMalloc(pointer, bytes);
}

EXPORT(cudaFree)
cudaError_t cudaFree(void *pointer)
{
    ENTER(device);
    if (!pointer)
        return ended(cudaSuccess);
    const struct allocation_entry *entry = allocation_at(device, (u64)pointer);
    if (!entry || entry->address != (u64)pointer ||
        (entry->use != USED_BY_DEVICE && entry->use != USED_BY_BOTH))
        return ended(cudaErrorInvalidValue);
    device_wait(device);
    allocation_remove(device, entry);
    return ended(cudaSuccess);
}

EXPORT_STREAM(cudaFreeAsync)
cudaError_t cudaFreeAsync(void *pointer, cudaStream_t stream)
{
    (void)stream;
    return cudaFree(pointer);
}

EXPORT(cudaMallocPitch)
cudaError_t cudaMallocPitch(void **pointer, size_t *pitch, size_t width, size_t height)
{
    size_t bytes;
    if (!pointer || !pitch || width > SIZE_MAX - PITCH_ALIGN)
        return ended(cudaErrorInvalidValue);
    *pitch = align_up(width, PITCH_ALIGN);
    if (__builtin_mul_overflow(*pitch, height, &bytes))
        return ended(cudaErrorMemoryAllocation);
    return cudaMalloc(pointer, bytes);
}

EXPORT(cudaMalloc3D)
cudaError_t cudaMalloc3D(struct cudaPitchedPtr *pointer, struct cudaExtent extent)
{
    size_t rows;
    if (!pointer)
        return ended(cudaErrorInvalidValue);
    if (__builtin_mul_overflow(extent.height, extent.depth, &rows))
        return ended(cudaErrorMemoryAllocation);
    pointer->xsize = extent.width;
    pointer->ysize = extent.height;
    return cudaMallocPitch(&pointer->ptr, &pointer->pitch, extent.width, rows);
}

EXPORT(cudaMemGetInfo)
cudaError_t cudaMemGetInfo(size_t *available, size_t *total)
{
    ENTER(device);
    u64 used = 0;
    for (u32 i = 0; i < device->allocations.count; i++)
        if (device->allocations.data[i].use == USED_BY_DEVICE)
            used += device->allocations.data[i].bytes;
    if (total)
        *total = device->info.memory_bytes;
    if (available)
        *available = device->info.memory_bytes - used;
    return ended(cudaSuccess);
}

/* ---- memory that host and device share ---- */

/* Zeroed memory where kernels reach it, in the first free place from *from on, which moves behind it;
 * NULL: none. */
static u8 *map_shared(u64 *from, u64 bytes)
{
    const u64 span = align_up(bytes, SHARED_STEP);
    for (*from = MAX(*from, SHARED_BASE); *from + span < SHARED_END; *from += span) {
        void *host = mmap((void *)*from, bytes, PROT_READ | PROT_WRITE,
                          MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE | MAP_FIXED_NOREPLACE, -1, 0);
        if (host == (void *)*from) {
            *from += span;
            return host;
        }
        if (host != MAP_FAILED)
            munmap(host, bytes);
    }
    return NULL;
}

/* The same; what has been freed is used again when the end has been reached. */
static u8 *map_again(struct cuda_device *device, u64 bytes)
{
    u8 *host = map_shared(&device->shared_next, bytes);
    if (host)
        return host;
    device->shared_next = SHARED_BASE;
    return map_shared(&device->shared_next, bytes);
}

static cudaError_t allocate_shared(struct cuda_device *device, void **pointer, size_t bytes,
                                   unsigned flags, enum allocation_use use)
{
    struct hd_error error = {0};
    const u64 page = (u64)sysconf(_SC_PAGESIZE);
    if (!bytes)
        return cudaSuccess;
    if (bytes > SIZE_MAX / 2)
        return cudaErrorMemoryAllocation;
    const u64 mapped = align_up(bytes + HD_HOST_PADDING, page);
    u8 *host = map_again(device, mapped);
    if (!host)
        return cudaErrorMemoryAllocation;
    if (!hd_alloc_host(device->device, host, bytes, (u64)host,
                       use == USED_BY_BOTH ? "managed memory" : "pinned memory", &error)) {
        explain("pinned and managed memory", "%s", error.message);
        munmap(host, mapped);
        return cudaErrorMemoryAllocation;
    }
    allocation_add(device, (struct allocation_entry){(u64)host, bytes, host, mapped, use, flags});
    *pointer = host;
    return cudaSuccess;
}

EXPORT(cudaMallocManaged)
cudaError_t cudaMallocManaged(void **pointer, size_t bytes, unsigned flags)
{
    ENTER(device);
    if (!pointer || !bytes || (flags != cudaMemAttachGlobal && flags != cudaMemAttachHost))
        return ended(cudaErrorInvalidValue);
    return ended(allocate_shared(device, pointer, bytes, flags, USED_BY_BOTH));
}

EXPORT(cudaHostAlloc)
cudaError_t cudaHostAlloc(void **pointer, size_t bytes, unsigned flags)
{
    ENTER(device);
    if (!pointer || (flags & ~(unsigned)SHARED_FLAGS))
        return ended(cudaErrorInvalidValue);
    *pointer = NULL;
    return ended(allocate_shared(device, pointer, bytes, flags, USED_BY_HOST));
}

EXPORT(cudaMallocHost)
cudaError_t cudaMallocHost(void **pointer, size_t bytes)
{
    return cudaHostAlloc(pointer, bytes, cudaHostAllocDefault);
}

EXPORT(cudaFreeHost)
cudaError_t cudaFreeHost(void *pointer)
{
    ENTER(device);
    if (!pointer)
        return ended(cudaSuccess);
    const struct allocation_entry *entry = allocation_of_host(device, pointer);
    if (!entry || entry->host != pointer || entry->use != USED_BY_HOST || !entry->mapped)
        return ended(cudaErrorInvalidValue);
    device_wait(device);
    allocation_remove(device, entry);
    return ended(cudaSuccess);
}

/* Whether what the device may read behind the program's memory is mapped. */
static bool readable_behind(const u8 *end)
{
    const u64 page = (u64)sysconf(_SC_PAGESIZE);
    const u64 last = ((u64)end + HD_HOST_PADDING - 1) & ~(page - 1);
    unsigned char unused;
    return mincore((void *)last, page, &unused) == 0;
}

EXPORT(cudaHostRegister)
cudaError_t cudaHostRegister(void *pointer, size_t bytes, unsigned flags)
{
    ENTER(device);
    struct hd_error error = {0};
    if (!pointer || !bytes)
        return ended(cudaErrorInvalidValue);
    if (allocation_of_host(device, pointer))
        return ended(cudaErrorHostMemoryAlreadyRegistered);
    if (!readable_behind((u8 *)pointer + bytes)) {
        explain("cudaHostRegister",
                "the memory ends where the program's memory ends, which is not "
                "supported: allocate %d bytes more",
                HD_HOST_PADDING);
        return ended(cudaErrorNotSupported);
    }
    const u64 address =
        hd_alloc_host(device->device, pointer, bytes, 0, "registered memory", &error);
    if (!address)
        return ended(cudaErrorMemoryAllocation);
    allocation_add(device, (struct allocation_entry){.address = address,
                                                     .bytes = bytes,
                                                     .host = pointer,
                                                     .use = USED_BY_HOST,
                                                     .flags = flags});
    return ended(cudaSuccess);
}

EXPORT(cudaHostUnregister)
cudaError_t cudaHostUnregister(void *pointer)
{
    ENTER(device);
    const struct allocation_entry *entry = allocation_of_host(device, pointer);
    if (!entry || entry->host != pointer || entry->mapped)
        return ended(cudaErrorHostMemoryNotRegistered);
    allocation_remove(device, entry);
    return ended(cudaSuccess);
}

EXPORT(cudaHostGetDevicePointer)
cudaError_t cudaHostGetDevicePointer(void **pointer, void *host, unsigned flags)
{
    ENTER(device);
    const struct allocation_entry *entry = allocation_of_host(device, host);
    if (!pointer || flags || !entry)
        return ended(cudaErrorInvalidValue);
    *pointer = (void *)(entry->address + (u64)((u8 *)host - entry->host));
    return ended(cudaSuccess);
}

EXPORT(cudaHostGetFlags)
cudaError_t cudaHostGetFlags(unsigned *flags, void *host)
{
    ENTER(device);
    const struct allocation_entry *entry = allocation_of_host(device, host);
    if (!flags || !entry || entry->use != USED_BY_HOST)
        return ended(cudaErrorInvalidValue);
    *flags = entry->flags | cudaHostAllocMapped;
    return ended(cudaSuccess);
}

EXPORT(cudaPointerGetAttributes)
cudaError_t cudaPointerGetAttributes(struct cudaPointerAttributes *attributes, const void *pointer)
{
    ENTER(device);
    static const enum cudaMemoryType types[] = {
        [USED_BY_DEVICE] = cudaMemoryTypeDevice,
        [USED_BY_VARIABLE] = cudaMemoryTypeDevice,
        [USED_BY_BOTH] = cudaMemoryTypeManaged,
        [USED_BY_HOST] = cudaMemoryTypeHost,
    };
    if (!attributes)
        return ended(cudaErrorInvalidValue);
    const struct allocation_entry *entry = allocation_at(device, (u64)pointer);
    if (!entry)
        entry = allocation_of_host(device, pointer);
    *attributes = (struct cudaPointerAttributes){cudaMemoryTypeUnregistered, -2, NULL, NULL};
    if (entry) {
        const bool by_host = entry->host && (const u8 *)pointer >= entry->host &&
                             (const u8 *)pointer < entry->host + entry->bytes;
        const u64 offset =
            by_host ? (u64)((const u8 *)pointer - entry->host) : (u64)pointer - entry->address;
        attributes->type = types[entry->use];
        attributes->device = (int)device->number;
        attributes->devicePointer = (void *)(entry->address + offset);
        attributes->hostPointer = entry->host ? entry->host + offset : NULL;
    } else {
        attributes->hostPointer = (void *)pointer;
    }
    return ended(cudaSuccess);
}

/* ---- advice, which changes nothing: nothing migrates ---- */

static cudaError_t advise(const void *pointer)
{
    ENTER(device);
    const struct allocation_entry *entry = allocation_at(device, (u64)pointer);
    return ended(entry && entry->use == USED_BY_BOTH ? cudaSuccess : cudaErrorInvalidValue);
}

EXPORT_STREAM(cudaMemPrefetchAsync)
cudaError_t cudaMemPrefetchAsync(const void *pointer, size_t bytes, int to, cudaStream_t stream)
{
    (void)bytes, (void)to, (void)stream;
    return advise(pointer);
}

EXPORT(cudaMemAdvise)
cudaError_t cudaMemAdvise(const void *pointer, size_t bytes, enum cudaMemoryAdvise advice, int to)
{
    (void)bytes, (void)advice, (void)to;
    return advise(pointer);
}

EXPORT_STREAM(cudaStreamAttachMemAsync)
cudaError_t cudaStreamAttachMemAsync(cudaStream_t stream, void *pointer, size_t bytes,
                                     unsigned flags)
{
    (void)stream, (void)bytes, (void)flags;
    return advise(pointer);
}
