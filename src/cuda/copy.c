/*
 * Copies and fills.
 *
 * What a pointer names is found out from the pointer where that is possible, as on devices with
 * unified addresses; only for others does the direction count that the program gives.
 *
 * Time: a copy between host and device takes copy_host_picoseconds, one within the device or a fill
 * copy_device_picoseconds, whatever the rows. A call that is not asynchronous waits for it.
 */
#include "cuda/runtime.h"

#include <stdlib.h>

/* One end of a copy: either in the device's memory or in the host's. */
struct copy_end {
    bool device;
    u64 address;
    size_t pitch;
};

/* Rows of bytes from one place to another. */
struct copy {
    struct copy_end to, from;
    size_t width, height;
    bool wait; /* until it has ended */
};

static struct copy_end place_of(const struct cuda_device *device, const void *pointer, size_t pitch,
                                bool said_device)
{
    const struct allocation_entry *entry = allocation_at(device, (u64)pointer);
    if (entry)
        return (struct copy_end){
            !entry->host,
            entry->host ? (u64)entry->host + ((u64)pointer - entry->address) : (u64)pointer, pitch};
    return (struct copy_end){said_device, (u64)pointer, pitch};
}

static enum engine engine_of(const struct copy *copy)
{
    if (copy->to.device == copy->from.device)
        return ENGINE_NONE;
    return copy->to.device ? ENGINE_TO_DEVICE : ENGINE_FROM_DEVICE;
}

static bool copy_row(struct cuda_device *device, const struct copy *copy, size_t row,
                     struct hd_error *error)
{
    const u64 to = copy->to.address + row * copy->to.pitch;
    const u64 from = copy->from.address + row * copy->from.pitch;
    if (copy->to.device)
        return copy->from.device ? hd_copy(device->device, to, from, copy->width, error)
                                 : hd_write(device->device, to, (void *)from, copy->width, error);
    if (copy->from.device)
        return hd_read(device->device, (void *)to, from, copy->width, error);
    memmove((void *)to, (void *)from, copy->width);
    return true;
}

static cudaError_t run(struct cuda_device *device, const struct copy *copy,
                       struct CUstream_st *stream)
{
    struct hd_error error = {0};
    const u64 bytes = (u64)copy->width * copy->height;
    if (!bytes)
        return cudaSuccess;
    if (!copy->to.address || !copy->from.address)
        return cudaErrorInvalidValue;
    for (size_t row = 0; row < copy->height; row++)
        if (!copy_row(device, copy, row, &error)) {
            explain("copy", "%s", error.message);
            return cudaErrorInvalidValue;
        }
    const enum engine engine = engine_of(copy);
    stream_work(stream, engine,
                engine == ENGINE_NONE ? copy_device_picoseconds(&device->info, bytes)
                                      : copy_host_picoseconds(&device->info, bytes));
    if (copy->wait)
        stream_wait(stream);
    return cudaSuccess;
}

cudaError_t copy_act(struct cuda_device *device, const struct copy_work *work,
                     struct CUstream_st *stream, bool wait)
{
    const enum cudaMemcpyKind kind = work->kind;
    if ((u32)kind > cudaMemcpyDefault)
        return cudaErrorInvalidMemcpyDirection;
    if (work->height > 1 && (work->width > work->to_pitch || work->width > work->from_pitch))
        return cudaErrorInvalidPitchValue;
    const bool to_device = kind == cudaMemcpyHostToDevice || kind == cudaMemcpyDeviceToDevice;
    const bool from_device = kind == cudaMemcpyDeviceToHost || kind == cudaMemcpyDeviceToDevice;
    const struct copy copy = {place_of(device, work->to, work->to_pitch, to_device),
                              place_of(device, work->from, work->from_pitch, from_device),
                              work->width, work->height, wait};
    return run(device, &copy, stream);
}

/* A copy of rows by the rules of cudaMemcpy2D. */
static cudaError_t copy_rows(void *to, size_t to_pitch, const void *from, size_t from_pitch,
                             size_t width, size_t height, enum cudaMemcpyKind kind, bool wait,
                             cudaStream_t handle)
{
    ENTER(device);
    const struct copy_work work = {to, from, to_pitch, from_pitch, width, height, kind};
    struct CUstream_st *stream = stream_of(device, handle);
    if (!stream)
        return ended(cudaErrorInvalidResourceHandle);
    return ended(stream->capture ? capture_copy(stream, &work)
                                 : copy_act(device, &work, stream, wait));
}

EXPORT_SYNC(cudaMemcpy)
cudaError_t cudaMemcpy(void *to, const void *from, size_t bytes, enum cudaMemcpyKind kind)
{
    return copy_rows(to, 0, from, 0, bytes, 1, kind, true, NULL);
}

EXPORT_STREAM(cudaMemcpyAsync)
cudaError_t cudaMemcpyAsync(void *to, const void *from, size_t bytes, enum cudaMemcpyKind kind,
                            cudaStream_t stream)
{
    return copy_rows(to, 0, from, 0, bytes, 1, kind, false, stream);
}

EXPORT_SYNC(cudaMemcpy2D)
cudaError_t cudaMemcpy2D(void *to, size_t to_pitch, const void *from, size_t from_pitch,
                         size_t width, size_t height, enum cudaMemcpyKind kind)
{
    return copy_rows(to, to_pitch, from, from_pitch, width, height, kind, true, NULL);
}

EXPORT_STREAM(cudaMemcpy2DAsync)
cudaError_t cudaMemcpy2DAsync(void *to, size_t to_pitch, const void *from, size_t from_pitch,
                              size_t width, size_t height, enum cudaMemcpyKind kind,
                              cudaStream_t stream)
{
    return copy_rows(to, to_pitch, from, from_pitch, width, height, kind, false, stream);
}

/* ---- boxes ---- */

static u8 *corner(const struct cudaPitchedPtr *box, const struct cudaPos *at, size_t plane)
{
    return (u8 *)box->ptr + ((at->z + plane) * box->ysize + at->y) * box->pitch + at->x;
}

static cudaError_t copy_box(const struct cudaMemcpy3DParms *box, bool wait, cudaStream_t stream)
{
    if (box && (box->srcArray || box->dstArray))
        return array_copy_box(box, wait, stream);
    if (!box || !box->srcPtr.ptr || !box->dstPtr.ptr)
        return ended(cudaErrorInvalidValue);
    cudaError_t status = cudaSuccess;
    for (size_t z = 0; z < box->extent.depth && status == cudaSuccess; z++)
        status = copy_rows(corner(&box->dstPtr, &box->dstPos, z), box->dstPtr.pitch,
                           corner(&box->srcPtr, &box->srcPos, z), box->srcPtr.pitch,
                           box->extent.width, box->extent.height, box->kind, wait, stream);
    return status;
}

EXPORT_SYNC(cudaMemcpy3D)
cudaError_t cudaMemcpy3D(const struct cudaMemcpy3DParms *parameters)
{
    return copy_box(parameters, true, NULL);
}

EXPORT_STREAM(cudaMemcpy3DAsync)
cudaError_t cudaMemcpy3DAsync(const struct cudaMemcpy3DParms *parameters, cudaStream_t stream)
{
    return copy_box(parameters, false, stream);
}

/* ---- between devices: through the host ---- */

EXPORT(cudaMemcpyPeerAsync)
cudaError_t cudaMemcpyPeerAsync(void *to, int to_device, const void *from, int from_device,
                                size_t bytes, cudaStream_t stream)
{
    struct cuda_device *target, *source;
    if (to_device == from_device)
        return cudaMemcpyAsync(to, from, bytes, cudaMemcpyDeviceToDevice, stream);
    LOCKED;
    cudaError_t status = device_find(&target, to_device);
    if (status == cudaSuccess)
        status = device_find(&source, from_device);
    if (status != cudaSuccess)
        return ended(status);
    if (!device_open(target) || !device_open(source))
        return ended(cudaErrorInitializationError);
    u8 *between = malloc(bytes + 1);
    const bool ok = between && hd_read(source->device, between, (u64)from, bytes, NULL) &&
                    hd_write(target->device, (u64)to, between, bytes, NULL);
    free(between);
    stream_work(&source->legacy, ENGINE_FROM_DEVICE, copy_host_picoseconds(&source->info, bytes));
    stream_work(&target->legacy, ENGINE_TO_DEVICE, copy_host_picoseconds(&target->info, bytes));
    return ended(ok ? cudaSuccess : cudaErrorInvalidValue);
}

EXPORT(cudaMemcpyPeer)
cudaError_t cudaMemcpyPeer(void *to, int to_device, const void *from, int from_device, size_t bytes)
{
    return cudaMemcpyPeerAsync(to, to_device, from, from_device, bytes, NULL);
}

/* ---- fills ---- */

static void fill_host(u8 *to, const void *pattern, u32 pattern_bytes, size_t bytes)
{
    if (pattern_bytes == 1)
        memset(to, *(const u8 *)pattern, bytes);
    for (size_t i = 0; pattern_bytes > 1 && i < bytes; i += pattern_bytes)
        memcpy(to + i, pattern, pattern_bytes);
}

cudaError_t fill_act(struct cuda_device *device, const struct fill_work *work,
                     struct CUstream_st *stream, bool wait)
{
    struct hd_error error = {0};
    const struct copy_end place = place_of(device, work->to, work->pitch, true);
    if (work->height > 1 && work->width > work->pitch)
        return cudaErrorInvalidPitchValue;
    for (size_t row = 0; work->width && row < work->height; row++) {
        const u64 at = place.address + row * work->pitch;
        if (!place.device)
            fill_host((u8 *)at, work->pattern, work->pattern_bytes, work->width);
        else if (!hd_fill(device->device, at, work->pattern, work->pattern_bytes, work->width,
                          &error)) {
            explain("cudaMemset", "%s", error.message);
            return cudaErrorInvalidValue;
        }
    }
    stream_work(stream, ENGINE_NONE,
                copy_device_picoseconds(&device->info, (u64)work->width * work->height));
    if (wait)
        stream_wait(stream);
    return cudaSuccess;
}

/* Rows of `width` bytes, each filled with a pattern. */
static cudaError_t fill_rows(void *to, size_t pitch, const void *pattern, u32 pattern_bytes,
                             size_t width, size_t height, bool wait, cudaStream_t handle)
{
    ENTER(device);
    struct fill_work work = {
        .to = to, .pitch = pitch, .width = width, .height = height, .pattern_bytes = pattern_bytes};
    struct CUstream_st *stream = stream_of(device, handle);
    if (!stream)
        return ended(cudaErrorInvalidResourceHandle);
    memcpy(work.pattern, pattern, pattern_bytes);
    return ended(stream->capture ? capture_fill(stream, &work)
                                 : fill_act(device, &work, stream, wait));
}

cudaError_t pattern_fill(void *to, const void *pattern, u32 pattern_bytes, size_t count, bool wait,
                         cudaStream_t stream)
{
    size_t bytes;
    if ((u64)to % pattern_bytes || __builtin_mul_overflow(count, pattern_bytes, &bytes))
        return ended(cudaErrorInvalidValue);
    return fill_rows(to, 0, pattern, pattern_bytes, bytes, 1, wait, stream);
}

static cudaError_t fill_bytes(void *to, size_t pitch, int value, size_t width, size_t height,
                              bool wait, cudaStream_t stream)
{
    return fill_rows(to, pitch, &(u8){(u8)value}, 1, width, height, wait, stream);
}

EXPORT_SYNC(cudaMemset)
cudaError_t cudaMemset(void *to, int value, size_t bytes)
{
    return fill_bytes(to, 0, value, bytes, 1, true, NULL);
}

EXPORT_STREAM(cudaMemsetAsync)
cudaError_t cudaMemsetAsync(void *to, int value, size_t bytes, cudaStream_t stream)
{
    return fill_bytes(to, 0, value, bytes, 1, false, stream);
}

EXPORT_SYNC(cudaMemset2D)
cudaError_t cudaMemset2D(void *to, size_t pitch, int value, size_t width, size_t height)
{
    return fill_bytes(to, pitch, value, width, height, true, NULL);
}

EXPORT_STREAM(cudaMemset2DAsync)
cudaError_t cudaMemset2DAsync(void *to, size_t pitch, int value, size_t width, size_t height,
                              cudaStream_t stream)
{
    return fill_bytes(to, pitch, value, width, height, false, stream);
}

EXPORT_SYNC(cudaMemset3D)
cudaError_t cudaMemset3D(struct cudaPitchedPtr to, int value, struct cudaExtent extent)
{
    cudaError_t status = cudaSuccess;
    for (size_t z = 0; z < extent.depth && status == cudaSuccess; z++)
        status = fill_bytes((u8 *)to.ptr + z * to.ysize * to.pitch, to.pitch, value, extent.width,
                            extent.height, true, NULL);
    return status;
}

/* ---- variables of modules ---- */

/* The address of `bytes` at an offset in a variable. */
static cudaError_t in_variable(const void *symbol, size_t bytes, size_t offset, u8 **address)
{
    ENTER(device);
    u64 start, size;
    const cudaError_t status = variable_find(device, symbol, &start, &size);
    if (status != cudaSuccess)
        return ended(status);
    if (offset > size || bytes > size - offset)
        return ended(cudaErrorInvalidValue);
    *address = (u8 *)start + offset;
    return cudaSuccess;
}

EXPORT_STREAM(cudaMemcpyToSymbolAsync)
cudaError_t cudaMemcpyToSymbolAsync(const void *symbol, const void *from, size_t bytes,
                                    size_t offset, enum cudaMemcpyKind kind, cudaStream_t stream)
{
    u8 *to = NULL;
    const cudaError_t status = in_variable(symbol, bytes, offset, &to);
    return status == cudaSuccess ? cudaMemcpyAsync(to, from, bytes, kind, stream) : status;
}

EXPORT_SYNC(cudaMemcpyToSymbol)
cudaError_t cudaMemcpyToSymbol(const void *symbol, const void *from, size_t bytes, size_t offset,
                               enum cudaMemcpyKind kind)
{
    u8 *to = NULL;
    const cudaError_t status = in_variable(symbol, bytes, offset, &to);
    return status == cudaSuccess ? cudaMemcpy(to, from, bytes, kind) : status;
}

EXPORT_STREAM(cudaMemcpyFromSymbolAsync)
cudaError_t cudaMemcpyFromSymbolAsync(void *to, const void *symbol, size_t bytes, size_t offset,
                                      enum cudaMemcpyKind kind, cudaStream_t stream)
{
    u8 *from = NULL;
    const cudaError_t status = in_variable(symbol, bytes, offset, &from);
    return status == cudaSuccess ? cudaMemcpyAsync(to, from, bytes, kind, stream) : status;
}

EXPORT_SYNC(cudaMemcpyFromSymbol)
cudaError_t cudaMemcpyFromSymbol(void *to, const void *symbol, size_t bytes, size_t offset,
                                 enum cudaMemcpyKind kind)
{
    u8 *from = NULL;
    const cudaError_t status = in_variable(symbol, bytes, offset, &from);
    return status == cudaSuccess ? cudaMemcpy(to, from, bytes, kind) : status;
}

EXPORT(cudaGetSymbolAddress)
cudaError_t cudaGetSymbolAddress(void **address, const void *symbol)
{
    u8 *start = NULL;
    if (!address)
        return ended(cudaErrorInvalidValue);
    const cudaError_t status = in_variable(symbol, 0, 0, &start);
    if (status == cudaSuccess)
        *address = start;
    return status;
}

EXPORT(cudaGetSymbolSize)
cudaError_t cudaGetSymbolSize(size_t *bytes, const void *symbol)
{
    ENTER(device);
    u64 address, size;
    if (!bytes)
        return ended(cudaErrorInvalidValue);
    const cudaError_t status = variable_find(device, symbol, &address, &size);
    if (status == cudaSuccess)
        *bytes = size;
    return ended(status);
}
