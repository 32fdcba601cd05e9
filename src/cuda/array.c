/*
 * CUDA arrays: images of the device, and copies of boxes of texels between them and linear memory.
 *
 * A box is copied through the host: what takes simulated time is as for other copies.
 */
#include "cuda/runtime.h"

#include <assert.h>
#include <stdlib.h>

struct cudaArray *array_find(const struct cuda_device *device, const void *array)
{
    for (struct cudaArray *at = device->arrays; at; at = at->next)
        if (at == array)
            return at;
    return NULL;
}

bool channels_of(const struct cudaChannelFormatDesc *desc, struct hd_image_shape *shape)
{
    static const enum hd_texel texels[] = {[cudaChannelFormatKindSigned] = HD_TEXEL_SINT,
                                           [cudaChannelFormatKindUnsigned] = HD_TEXEL_UINT,
                                           [cudaChannelFormatKindFloat] = HD_TEXEL_FLOAT};
    const int bits[] = {desc->x, desc->y, desc->z, desc->w};
    u32 channels = 0;
    while (channels < 4 && bits[channels])
        channels++;
    for (u32 c = 0; c < 4; c++)
        if (bits[c] != (c < channels ? bits[0] : 0))
            return false;
    if (!channels || channels == 3 || (bits[0] != 8 && bits[0] != 16 && bits[0] != 32) ||
        (u32)desc->f >= ARRAY_LEN(texels) ||
        (desc->f == cudaChannelFormatKindFloat && bits[0] == 8))
        return false;
    shape->channels = channels;
    shape->bits = (u32)bits[0];
    shape->texel = texels[desc->f];
    return true;
}

static u32 texel_bytes(const struct cudaArray *array)
{
    const struct cudaChannelFormatDesc *d = &array->desc;
    return (u32)(d->x + d->y + d->z + d->w) / 8;
}

/* ---- creation ---- */

/* False: an extent that no array of these flags has. */
static bool shape_of(const struct cudaExtent *e, unsigned flags, struct hd_image_shape *shape)
{
    const bool layered = flags & cudaArrayLayered, cube = flags & cudaArrayCubemap;
    const bool planes = layered || cube;
    if (!e->width || e->width > UINT32_MAX || e->height > UINT32_MAX || e->depth > UINT32_MAX ||
        (cube && (e->width != e->height || e->depth % 6 || (!layered && e->depth != 6))) ||
        (layered && !e->depth) || (!planes && e->depth && !e->height))
        return false;
    shape->width = (u32)e->width;
    shape->height = (u32)e->height;
    shape->depth = planes ? 1 : (u32)e->depth;
    shape->layers = planes ? (u32)e->depth : 1;
    shape->dimensions = !e->height ? 1 : planes || !e->depth ? 2 : 3;
    shape->cube = cube;
    return true;
}

static cudaError_t create(struct cudaArray **array, const struct cudaChannelFormatDesc *desc,
                          struct cudaExtent extent, u32 levels, unsigned flags)
{
    ENTER(device);
    struct hd_image_shape shape = {.levels = levels};
    struct hd_error error = {0};
    const unsigned known =
        cudaArrayLayered | cudaArraySurfaceLoadStore | cudaArrayCubemap | cudaArrayTextureGather;
    if (!array || !desc || flags & ~known || !shape_of(&extent, flags, &shape))
        return ended(cudaErrorInvalidValue);
    *array = NULL;
    if (!channels_of(desc, &shape))
        return ended(cudaErrorInvalidChannelDescriptor);
    struct hd_image *image = hd_image_create(device->device, &shape, "CUDA array", &error);
    if (!image) {
        explain("CUDA array", "%s", error.message);
        return ended(cudaErrorMemoryAllocation);
    }
    *array = checked(malloc(sizeof **array));
    **array = (struct cudaArray){.kind = KIND_ARRAY,
                                 .next = device->arrays,
                                 .image = image,
                                 .levels = MAX(levels, 1),
                                 .desc = *desc,
                                 .extent = extent,
                                 .flags = flags};
    device->arrays = *array;
    return ended(cudaSuccess);
}

static void release(struct cuda_device *device, struct cudaArray *array)
{
    struct cudaArray **at = &device->arrays;
    while (*at != array) {
        assert(*at); /* callers have found it there */
        at = &(*at)->next;
    }
    *at = array->next;
    if (!array->parent)
        hd_image_destroy(array->image);
    free(array);
}

void arrays_free(struct cuda_device *device)
{
    while (device->arrays)
        release(device, device->arrays);
}

EXPORT(cudaMallocArray)
cudaError_t cudaMallocArray(cudaArray_t *array, const struct cudaChannelFormatDesc *desc,
                            size_t width, size_t height, unsigned flags)
{
    return create(array, desc, (struct cudaExtent){width, height, 0}, 1, flags);
}

EXPORT(cudaMalloc3DArray)
cudaError_t cudaMalloc3DArray(cudaArray_t *array, const struct cudaChannelFormatDesc *desc,
                              struct cudaExtent extent, unsigned flags)
{
    return create(array, desc, extent, 1, flags);
}

EXPORT(cudaMallocMipmappedArray)
cudaError_t cudaMallocMipmappedArray(cudaMipmappedArray_t *array,
                                     const struct cudaChannelFormatDesc *desc,
                                     struct cudaExtent extent, unsigned levels, unsigned flags)
{
    const size_t longest = MAX(MAX(extent.width, extent.height),
                               flags & (cudaArrayLayered | cudaArrayCubemap) ? 0 : extent.depth);
    u32 most = 1;
    while (most < 32 && longest >> most)
        most++;
    return create((struct cudaArray **)array, desc, extent, MIN(MAX(levels, 1), most), flags);
}

EXPORT(cudaFreeArray)
cudaError_t cudaFreeArray(cudaArray_t handle)
{
    ENTER(device);
    struct cudaArray *array = array_find(device, handle);
    if (!handle)
        return ended(cudaSuccess);
    if (!array)
        return ended(cudaErrorInvalidResourceHandle);
    device_wait(device);
    release(device, array);
    return ended(cudaSuccess);
}

/* Its levels go with it. */
EXPORT(cudaFreeMipmappedArray)
cudaError_t cudaFreeMipmappedArray(cudaMipmappedArray_t handle)
{
    ENTER(device);
    struct cudaArray *array = array_find(device, handle);
    if (!handle)
        return ended(cudaSuccess);
    if (!array)
        return ended(cudaErrorInvalidResourceHandle);
    device_wait(device);
    for (struct cudaArray *at = device->arrays, *next; at; at = next) {
        next = at->next;
        if (at->parent == array)
            release(device, at);
    }
    release(device, array);
    return ended(cudaSuccess);
}

static size_t level_side(size_t side, u32 level)
{
    return side ? MAX(side >> level, 1) : 0;
}

EXPORT(cudaGetMipmappedArrayLevel)
cudaError_t cudaGetMipmappedArrayLevel(cudaArray_t *level, cudaMipmappedArray_const_t handle,
                                       unsigned number)
{
    ENTER(device);
    struct cudaArray *parent = array_find(device, handle);
    if (!level || !parent || number >= parent->levels)
        return ended(cudaErrorInvalidValue);
    for (struct cudaArray *at = device->arrays; at; at = at->next)
        if (at->parent == parent && at->level == number) {
            *level = at;
            return ended(cudaSuccess);
        }
    struct cudaArray *array = checked(malloc(sizeof *array));
    *array = *parent;
    array->next = device->arrays;
    array->parent = parent;
    array->level = number;
    array->extent.width = level_side(parent->extent.width, number);
    array->extent.height = level_side(parent->extent.height, number);
    if (!(parent->flags & (cudaArrayLayered | cudaArrayCubemap)))
        array->extent.depth = level_side(parent->extent.depth, number);
    device->arrays = *level = array;
    return ended(cudaSuccess);
}

EXPORT(cudaArrayGetInfo)
cudaError_t cudaArrayGetInfo(struct cudaChannelFormatDesc *desc, struct cudaExtent *extent,
                             unsigned *flags, cudaArray_t handle)
{
    ENTER(device);
    const struct cudaArray *array = array_find(device, handle);
    if (!array)
        return ended(cudaErrorInvalidResourceHandle);
    if (desc)
        *desc = array->desc;
    if (extent)
        *extent = array->extent;
    if (flags)
        *flags = array->flags;
    return ended(cudaSuccess);
}

EXPORT(cudaGetChannelDesc)
cudaError_t cudaGetChannelDesc(struct cudaChannelFormatDesc *desc, cudaArray_const_t array)
{
    return cudaArrayGetInfo(desc, NULL, NULL, (cudaArray_t)array);
}

EXPORT(cudaCreateChannelDesc)
struct cudaChannelFormatDesc cudaCreateChannelDesc(int x, int y, int z, int w,
                                                   enum cudaChannelFormatKind kind)
{
    return (struct cudaChannelFormatDesc){x, y, z, w, kind};
}

/* ---- copies ---- */

/* The other end of a copy: rows and planes of memory. */
struct memory_end {
    u8 *at;
    size_t pitch, plane;
    bool device;
};

static struct memory_end memory_end(const struct cuda_device *device, const void *pointer,
                                    size_t pitch, size_t plane, bool said_device)
{
    const struct allocation_entry *entry = allocation_at(device, (u64)pointer);
    struct memory_end end = {(u8 *)pointer, pitch, plane, entry ? !entry->host : said_device};
    if (entry && entry->host)
        end.at = entry->host + ((u64)pointer - entry->address);
    return end;
}

/* Moves rows of device memory to packed rows of the host, or back. */
static bool move_rows(struct cuda_device *device, const struct memory_end *end, u8 *packed,
                      const u32 count[3], u32 bytes, bool to_device, struct hd_error *error)
{
    const size_t width = (size_t)count[0] * bytes;
    for (u32 z = 0; z < count[2]; z++)
        for (u32 y = 0; y < count[1]; y++, packed += width) {
            const u64 at = (u64)end->at + z * end->plane + y * end->pitch;
            if (to_device ? !hd_write(device->device, at, packed, width, error)
                          : !hd_read(device->device, packed, at, width, error))
                return false;
        }
    return true;
}

/* A box of texels from memory into an array (into), or back. */
static bool move_box(struct cuda_device *device, const struct cudaArray *array,
                     const struct cudaPos *pos, const u32 count[3], struct memory_end *end,
                     bool into, struct hd_error *error)
{
    const u32 bytes = texel_bytes(array);
    struct hd_box box = {.level = array->level,
                         .from = {(u32)pos->x, (u32)pos->y, (u32)pos->z},
                         .count = {count[0], count[1], count[2]},
                         .row_bytes = end->pitch,
                         .plane_bytes = end->plane};
    if (!end->device)
        return into ? hd_image_write(array->image, &box, end->at, error)
                    : hd_image_read(array->image, &box, end->at, error);
    box.row_bytes = (u64)count[0] * bytes;
    box.plane_bytes = box.row_bytes * count[1];
    u8 *packed = checked(malloc(box.plane_bytes * count[2]));
    const bool ok = into ? move_rows(device, end, packed, count, bytes, false, error) &&
                               hd_image_write(array->image, &box, packed, error)
                         : hd_image_read(array->image, &box, packed, error) &&
                               move_rows(device, end, packed, count, bytes, true, error);
    free(packed);
    return ok;
}

/* A copy takes its time in the stream. */
static cudaError_t copied(struct cuda_device *device, bool ok, const struct hd_error *error,
                          u64 bytes, enum engine engine, bool wait, cudaStream_t handle)
{
    struct CUstream_st *stream = stream_of(device, handle);
    if (!ok) {
        explain("copy", "%s", error->message);
        return ended(cudaErrorInvalidValue);
    }
    stream_work(stream, engine,
                engine == ENGINE_NONE ? copy_device_picoseconds(&device->info, bytes)
                                      : copy_host_picoseconds(&device->info, bytes));
    if (wait)
        stream_wait(stream);
    return ended(cudaSuccess);
}

static cudaError_t copy_memory(const void *handle, struct cudaPos pos, struct cudaExtent extent,
                               const void *pointer, size_t pitch, size_t plane, bool into,
                               enum cudaMemcpyKind kind, bool wait, cudaStream_t stream)
{
    ENTER(device);
    struct hd_error error = {0};
    const struct cudaArray *array = array_find(device, handle);
    if (!array || !stream_of(device, stream))
        return ended(cudaErrorInvalidResourceHandle);
    if (!pointer || extent.width > UINT32_MAX || extent.height > UINT32_MAX ||
        extent.depth > UINT32_MAX || pos.x > UINT32_MAX || pos.y > UINT32_MAX || pos.z > UINT32_MAX)
        return ended(cudaErrorInvalidValue);
    const u32 count[3] = {(u32)extent.width, (u32)MAX(extent.height, 1), (u32)MAX(extent.depth, 1)};
    const u32 bytes = texel_bytes(array);
    if (!count[0])
        return ended(cudaSuccess);
    if (count[1] > 1 && pitch < (size_t)count[0] * bytes)
        return ended(cudaErrorInvalidPitchValue);
    const bool said = kind == cudaMemcpyDeviceToDevice ||
                      kind == (into ? cudaMemcpyDeviceToHost : cudaMemcpyHostToDevice);
    struct memory_end end = memory_end(device, pointer, pitch, plane, said);
    const bool ok = move_box(device, array, &pos, count, &end, into, &error);
    const enum engine engine = end.device ? ENGINE_NONE
                               : into     ? ENGINE_TO_DEVICE
                                          : ENGINE_FROM_DEVICE;
    return copied(device, ok, &error, (u64)count[0] * count[1] * count[2] * bytes, engine, wait,
                  stream);
}

/* Between arrays, through the host. */
static cudaError_t copy_arrays(const void *to, struct cudaPos to_pos, const void *from,
                               struct cudaPos from_pos, struct cudaExtent extent, bool wait,
                               cudaStream_t stream)
{
    ENTER(device);
    struct hd_error error = {0};
    const struct cudaArray *target = array_find(device, to), *source = array_find(device, from);
    if (!target || !source || !stream_of(device, stream))
        return ended(cudaErrorInvalidResourceHandle);
    const u32 bytes = texel_bytes(source);
    const u32 count[3] = {(u32)extent.width, (u32)MAX(extent.height, 1), (u32)MAX(extent.depth, 1)};
    if (bytes != texel_bytes(target) || extent.width > target->extent.width)
        return ended(cudaErrorInvalidValue);
    const size_t row = (size_t)count[0] * bytes, all = row * count[1] * count[2];
    u8 *packed = checked(malloc(MAX(all, 1)));
    struct memory_end end = {packed, row, row * count[1], false};
    const bool ok = move_box(device, source, &from_pos, count, &end, false, &error) &&
                    move_box(device, target, &to_pos, count, &end, true, &error);
    free(packed);
    return copied(device, ok, &error, all, ENGINE_NONE, wait, stream);
}

cudaError_t array_copy_box(const struct cudaMemcpy3DParms *box, bool wait, cudaStream_t stream)
{
    if (box->srcArray && box->dstArray)
        return copy_arrays(box->dstArray, box->dstPos, box->srcArray, box->srcPos, box->extent,
                           wait, stream);
    const bool into = box->dstArray != NULL;
    const struct cudaPitchedPtr *memory = into ? &box->srcPtr : &box->dstPtr;
    const struct cudaPos *at = into ? &box->srcPos : &box->dstPos;
    const size_t plane = memory->pitch * memory->ysize;
    const u8 *pointer =
        memory->ptr ? (u8 *)memory->ptr + at->z * plane + at->y * memory->pitch + at->x : NULL;
    return copy_memory(into ? box->dstArray : box->srcArray, into ? box->dstPos : box->srcPos,
                       box->extent, pointer, memory->pitch, plane, into, box->kind, wait, stream);
}

/* A rectangle, whose x and width are in bytes. */
static cudaError_t copy_rectangle(const void *handle, size_t x, size_t y, const void *pointer,
                                  size_t pitch, size_t width, size_t height, bool into,
                                  enum cudaMemcpyKind kind, bool wait, cudaStream_t stream)
{
    u32 bytes = 0;
    {
        ENTER(device);
        const struct cudaArray *array = array_find(device, handle);
        bytes = array ? texel_bytes(array) : 0;
    }
    if (!bytes)
        return ended(cudaErrorInvalidResourceHandle);
    if (x % bytes || width % bytes)
        return ended(cudaErrorInvalidValue);
    return copy_memory(handle, (struct cudaPos){x / bytes, y, 0},
                       (struct cudaExtent){width / bytes, height, 1}, pointer, pitch, 0, into, kind,
                       wait, stream);
}

EXPORT_SYNC(cudaMemcpy2DToArray)
cudaError_t cudaMemcpy2DToArray(cudaArray_t to, size_t x, size_t y, const void *from, size_t pitch,
                                size_t width, size_t height, enum cudaMemcpyKind kind)
{
    return copy_rectangle(to, x, y, from, pitch, width, height, true, kind, true, NULL);
}

EXPORT_STREAM(cudaMemcpy2DToArrayAsync)
cudaError_t cudaMemcpy2DToArrayAsync(cudaArray_t to, size_t x, size_t y, const void *from,
                                     size_t pitch, size_t width, size_t height,
                                     enum cudaMemcpyKind kind, cudaStream_t stream)
{
    return copy_rectangle(to, x, y, from, pitch, width, height, true, kind, false, stream);
}

EXPORT_SYNC(cudaMemcpy2DFromArray)
cudaError_t cudaMemcpy2DFromArray(void *to, size_t pitch, cudaArray_const_t from, size_t x,
                                  size_t y, size_t width, size_t height, enum cudaMemcpyKind kind)
{
    return copy_rectangle(from, x, y, to, pitch, width, height, false, kind, true, NULL);
}

EXPORT_STREAM(cudaMemcpy2DFromArrayAsync)
cudaError_t cudaMemcpy2DFromArrayAsync(void *to, size_t pitch, cudaArray_const_t from, size_t x,
                                       size_t y, size_t width, size_t height,
                                       enum cudaMemcpyKind kind, cudaStream_t stream)
{
    return copy_rectangle(from, x, y, to, pitch, width, height, false, kind, false, stream);
}

EXPORT_SYNC(cudaMemcpy2DArrayToArray)
cudaError_t cudaMemcpy2DArrayToArray(cudaArray_t to, size_t to_x, size_t to_y,
                                     cudaArray_const_t from, size_t from_x, size_t from_y,
                                     size_t width, size_t height, enum cudaMemcpyKind kind)
{
    (void)kind;
    const u32 bytes = from ? texel_bytes(from) : 1;
    return copy_arrays(to, (struct cudaPos){to_x / bytes, to_y, 0}, from,
                       (struct cudaPos){from_x / bytes, from_y, 0},
                       (struct cudaExtent){width / bytes, height, 1}, true, NULL);
}

/*
 * The deprecated copies of `bytes` from (x, y) on: the rest of that row, whole rows, and the start of
 * another one.
 */
static cudaError_t copy_run(const void *handle, size_t x, size_t y, u8 *pointer, size_t bytes,
                            bool into, enum cudaMemcpyKind kind, bool wait, cudaStream_t stream)
{
    size_t row = 0;
    cudaError_t status = cudaSuccess;
    {
        ENTER(device);
        const struct cudaArray *array = array_find(device, handle);
        row = array ? array->extent.width * texel_bytes(array) : 0;
    }
    if (!row || x >= row)
        return ended(row ? cudaErrorInvalidValue : cudaErrorInvalidResourceHandle);
    while (bytes && status == cudaSuccess) {
        const size_t rows = x || bytes < row ? 1 : bytes / row;
        const size_t width = MIN(bytes, row - x);
        status = copy_rectangle(handle, x, y, pointer, row, width, rows, into, kind, wait, stream);
        pointer += width * rows;
        bytes -= width * rows;
        y += rows;
        x = 0;
    }
    return status;
}

EXPORT_SYNC(cudaMemcpyToArray)
cudaError_t cudaMemcpyToArray(cudaArray_t to, size_t x, size_t y, const void *from, size_t bytes,
                              enum cudaMemcpyKind kind)
{
    return copy_run(to, x, y, (u8 *)from, bytes, true, kind, true, NULL);
}

EXPORT_STREAM(cudaMemcpyToArrayAsync)
cudaError_t cudaMemcpyToArrayAsync(cudaArray_t to, size_t x, size_t y, const void *from,
                                   size_t bytes, enum cudaMemcpyKind kind, cudaStream_t stream)
{
    return copy_run(to, x, y, (u8 *)from, bytes, true, kind, false, stream);
}

EXPORT_SYNC(cudaMemcpyFromArray)
cudaError_t cudaMemcpyFromArray(void *to, cudaArray_const_t from, size_t x, size_t y, size_t bytes,
                                enum cudaMemcpyKind kind)
{
    return copy_run(from, x, y, to, bytes, false, kind, true, NULL);
}

EXPORT_STREAM(cudaMemcpyFromArrayAsync)
cudaError_t cudaMemcpyFromArrayAsync(void *to, cudaArray_const_t from, size_t x, size_t y,
                                     size_t bytes, enum cudaMemcpyKind kind, cudaStream_t stream)
{
    return copy_run(from, x, y, to, bytes, false, kind, false, stream);
}

EXPORT_SYNC(cudaMemcpyArrayToArray)
cudaError_t cudaMemcpyArrayToArray(cudaArray_t to, size_t to_x, size_t to_y, cudaArray_const_t from,
                                   size_t from_x, size_t from_y, size_t bytes,
                                   enum cudaMemcpyKind kind)
{
    const size_t row = from ? from->extent.width * texel_bytes(from) : 1;
    const size_t rows = MAX(bytes / row, 1);
    return cudaMemcpy2DArrayToArray(to, to_x, to_y, from, from_x, from_y, MIN(bytes, row), rows,
                                    kind);
}
