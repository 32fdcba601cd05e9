/* Reads, writes, copies, fills and mappings of images: boxes of their memory (transfer.c, map.c). */
#include "opencl/transfer.h"

#include <stdlib.h>
#include <string.h>

/* A 1D array has its layers where others have rows. */
static bool layers_are_rows(const struct mem_image *image)
{
    return image->desc.image_type == CL_MEM_OBJECT_IMAGE1D_ARRAY;
}

static size_t row_of(const struct mem_image *image)
{
    return layers_are_rows(image) ? image->plane : image->row;
}

/* Whether the texels are in the image. */
static cl_int check_box(const struct mem_image *image, const size_t *origin, const size_t *region)
{
    const cl_image_desc *d = &image->desc;
    const size_t rows = layers_are_rows(image) ? d->image_array_size : MAX(d->image_height, 1);
    const size_t planes =
        layers_are_rows(image) ? 1 : MAX(MAX(d->image_depth, d->image_array_size), 1);
    const size_t sizes[3] = {d->image_width, rows, planes};
    if (!origin || !region)
        return CL_INVALID_VALUE;
    for (u32 i = 0; i < 3; i++)
        if (!region[i] || origin[i] > sizes[i] || region[i] > sizes[i] - origin[i])
            return CL_INVALID_VALUE;
    return CL_SUCCESS;
}

/* The box of an image as a side of a transfer. */
static struct side side_of(cl_mem mem, const size_t *origin)
{
    const struct mem_image *image = mem->image;
    const size_t row = row_of(image);
    return (struct side){.mem = mem,
                         .start = origin[2] * image->plane + origin[1] * row +
                                  origin[0] * image->element,
                         .row_pitch = row,
                         .slice_pitch = image->plane};
}

static void set_region(struct transfer *t, const struct mem_image *image, const size_t *region)
{
    t->region[0] = region[0] * image->element;
    t->region[1] = region[1];
    t->region[2] = region[2];
}

/* Rows and planes of the host's memory; 0: as close as they can be. */
static cl_int host_side(struct side *side, const struct mem_image *image, const size_t *region,
                        size_t row, size_t slice, const void *pointer)
{
    const size_t width = region[0] * image->element;
    if (layers_are_rows(image) && slice)
        row = slice;
    side->host = (u8 *)pointer;
    side->row_pitch = row ? row : width;
    side->slice_pitch = slice && !layers_are_rows(image) ? slice : side->row_pitch * region[1];
    if (!pointer || side->row_pitch < width || side->slice_pitch < side->row_pitch * region[1])
        return CL_INVALID_VALUE;
    return CL_SUCCESS;
}

/* ---- between image and host ---- */

static cl_int check(const struct enqueue *how, cl_mem image, const size_t *origin,
                    const size_t *region)
{
    cl_int status = command_check(how->queue, how->wait_count, how->waits);
    if (status == CL_SUCCESS)
        status = image_check(how->queue, image);
    if (status == CL_SUCCESS && !device_has_images(how->queue->device))
        status = CL_INVALID_OPERATION;
    return status == CL_SUCCESS ? check_box(image->image, origin, region) : status;
}

static cl_int move(const struct enqueue *how, cl_mem mem, bool write, const size_t *origin,
                   const size_t *region, size_t row, size_t slice, const void *pointer)
{
    struct transfer t = {0};
    struct side host = {0};
    cl_int status = check(how, mem, origin, region);
    if (status == CL_SUCCESS)
        status = host_side(&host, mem->image, region, row, slice, pointer);
    if (status != CL_SUCCESS)
        return status;
    if (!mem_host_may(mem, write ? CL_MAP_WRITE : CL_MAP_READ))
        return CL_INVALID_OPERATION;
    *(write ? &t.to : &t.from) = side_of(mem, origin);
    *(write ? &t.from : &t.to) = host;
    set_region(&t, mem->image, region);
    return enqueue_transfer(&t, how);
}

CL_API_ENTRY cl_int CL_API_CALL clEnqueueReadImage(cl_command_queue command_queue, cl_mem image,
                                                   cl_bool blocking_read, const size_t *origin,
                                                   const size_t *region, size_t row_pitch,
                                                   size_t slice_pitch, void *ptr,
                                                   cl_uint num_events_in_wait_list,
                                                   const cl_event *event_wait_list, cl_event *event)
{
    LOCKED;
    const struct enqueue how = {command_queue,           CL_COMMAND_READ_IMAGE, blocking_read,
                                num_events_in_wait_list, event_wait_list,       event};
    return move(&how, image, false, origin, region, row_pitch, slice_pitch, ptr);
}

CL_API_ENTRY cl_int CL_API_CALL clEnqueueWriteImage(
    cl_command_queue command_queue, cl_mem image, cl_bool blocking_write, const size_t *origin,
    const size_t *region, size_t input_row_pitch, size_t input_slice_pitch, const void *ptr,
    cl_uint num_events_in_wait_list, const cl_event *event_wait_list, cl_event *event)
{
    LOCKED;
    const struct enqueue how = {command_queue,           CL_COMMAND_WRITE_IMAGE, blocking_write,
                                num_events_in_wait_list, event_wait_list,        event};
    return move(&how, image, true, origin, region, input_row_pitch, input_slice_pitch, ptr);
}

/* ---- within the device ---- */

static bool meet(const size_t *a, const size_t *b, const size_t *region)
{
    for (u32 i = 0; i < 3; i++)
        if (a[i] + region[i] <= b[i] || b[i] + region[i] <= a[i])
            return false;
    return true;
}

CL_API_ENTRY cl_int CL_API_CALL clEnqueueCopyImage(cl_command_queue command_queue, cl_mem src_image,
                                                   cl_mem dst_image, const size_t *src_origin,
                                                   const size_t *dst_origin, const size_t *region,
                                                   cl_uint num_events_in_wait_list,
                                                   const cl_event *event_wait_list, cl_event *event)
{
    LOCKED;
    const struct enqueue how = {command_queue,           CL_COMMAND_COPY_IMAGE, CL_FALSE,
                                num_events_in_wait_list, event_wait_list,       event};
    struct transfer t = {0};
    cl_int status = check(&how, src_image, src_origin, region);
    if (status == CL_SUCCESS)
        status = check(&how, dst_image, dst_origin, region);
    if (status != CL_SUCCESS)
        return status;
    if (memcmp(&src_image->image->format, &dst_image->image->format, sizeof(cl_image_format)))
        return CL_IMAGE_FORMAT_MISMATCH;
    if (src_image == dst_image && meet(src_origin, dst_origin, region))
        return CL_MEM_COPY_OVERLAP;
    t.from = side_of(src_image, src_origin);
    t.to = side_of(dst_image, dst_origin);
    set_region(&t, src_image->image, region);
    return enqueue_transfer(&t, &how);
}

/* Texels one after the other in a buffer. */
static cl_int buffer_side(struct side *side, cl_command_queue queue, cl_mem buffer, size_t offset,
                          const struct mem_image *image, const size_t *region)
{
    const cl_int status = mem_check(queue, buffer);
    const size_t row = region[0] * image->element, slice = row * region[1];
    if (status != CL_SUCCESS)
        return status;
    if (offset > buffer->size || slice * region[2] > buffer->size - offset)
        return CL_INVALID_VALUE;
    *side = (struct side){.mem = buffer, .start = offset, .row_pitch = row, .slice_pitch = slice};
    return CL_SUCCESS;
}

CL_API_ENTRY cl_int CL_API_CALL clEnqueueCopyImageToBuffer(
    cl_command_queue command_queue, cl_mem src_image, cl_mem dst_buffer, const size_t *src_origin,
    const size_t *region, size_t dst_offset, cl_uint num_events_in_wait_list,
    const cl_event *event_wait_list, cl_event *event)
{
    LOCKED;
    const struct enqueue how = {command_queue,   CL_COMMAND_COPY_IMAGE_TO_BUFFER,
                                CL_FALSE,        num_events_in_wait_list,
                                event_wait_list, event};
    struct transfer t = {0};
    cl_int status = check(&how, src_image, src_origin, region);
    if (status == CL_SUCCESS)
        status =
            buffer_side(&t.to, command_queue, dst_buffer, dst_offset, src_image->image, region);
    if (status != CL_SUCCESS)
        return status;
    t.from = side_of(src_image, src_origin);
    set_region(&t, src_image->image, region);
    return enqueue_transfer(&t, &how);
}

CL_API_ENTRY cl_int CL_API_CALL clEnqueueCopyBufferToImage(
    cl_command_queue command_queue, cl_mem src_buffer, cl_mem dst_image, size_t src_offset,
    const size_t *dst_origin, const size_t *region, cl_uint num_events_in_wait_list,
    const cl_event *event_wait_list, cl_event *event)
{
    LOCKED;
    const struct enqueue how = {command_queue,   CL_COMMAND_COPY_BUFFER_TO_IMAGE,
                                CL_FALSE,        num_events_in_wait_list,
                                event_wait_list, event};
    struct transfer t = {0};
    cl_int status = check(&how, dst_image, dst_origin, region);
    if (status == CL_SUCCESS)
        status =
            buffer_side(&t.from, command_queue, src_buffer, src_offset, dst_image->image, region);
    if (status != CL_SUCCESS)
        return status;
    t.to = side_of(dst_image, dst_origin);
    set_region(&t, dst_image->image, region);
    return enqueue_transfer(&t, &how);
}

/* ---- fills ---- */

struct image_fill {
    struct queue_command command;
    cl_mem mem;
    struct side side;
    size_t region[3]; /* texels */
    u8 texel[16];
};

static cl_int fill_run(struct queue_command *command, u64 *ps)
{
    struct image_fill *fill = (struct image_fill *)command;
    cl_device_id device = command->queue->device;
    const hd_address address = mem_on(fill->mem, device, ps);
    const size_t element = fill->mem->image->element;
    if (!address)
        return CL_MEM_OBJECT_ALLOCATION_FAILURE;
    for (size_t z = 0; z < fill->region[2]; z++)
        for (size_t y = 0; y < fill->region[1]; y++)
            if (!hd_fill(device->device,
                         address + fill->side.start + z * fill->side.slice_pitch +
                             y * fill->side.row_pitch,
                         fill->texel, element, fill->region[0] * element, NULL))
                return CL_OUT_OF_RESOURCES;
    *ps += copy_device_picoseconds(&device->info,
                                   fill->region[0] * fill->region[1] * fill->region[2] * element);
    return CL_SUCCESS;
}

static void fill_destroy(struct queue_command *command)
{
    struct image_fill *fill = (struct image_fill *)command;
    object_release(fill->mem);
    free(fill);
}

CL_API_ENTRY cl_int CL_API_CALL clEnqueueFillImage(cl_command_queue command_queue, cl_mem image,
                                                   const void *fill_color, const size_t *origin,
                                                   const size_t *region,
                                                   cl_uint num_events_in_wait_list,
                                                   const cl_event *event_wait_list, cl_event *event)
{
    LOCKED;
    const struct enqueue how = {command_queue,           CL_COMMAND_FILL_IMAGE, CL_FALSE,
                                num_events_in_wait_list, event_wait_list,       event};
    u32 color[4];
    cl_int status = check(&how, image, origin, region);
    if (status == CL_SUCCESS && !fill_color)
        status = CL_INVALID_VALUE;
    if (status != CL_SUCCESS)
        return status;
    struct image_fill *fill = checked(calloc(1, sizeof *fill));
    memcpy(color, fill_color, sizeof color);
    hd_texel_bytes(&image->image->shape, color, fill->texel);
    fill->command.run = fill_run;
    fill->command.destroy = fill_destroy;
    fill->mem = image;
    fill->side = side_of(image, origin);
    memcpy(fill->region, region, sizeof fill->region);
    object_retain(image);
    return command_enqueue(&fill->command, command_queue, CL_COMMAND_FILL_IMAGE,
                           num_events_in_wait_list, event_wait_list, false, event);
}

/* ---- mappings: of all bytes from the first to the last of the box ---- */

CL_API_ENTRY void *CL_API_CALL clEnqueueMapImage(cl_command_queue command_queue, cl_mem image,
                                                 cl_bool blocking_map, cl_map_flags map_flags,
                                                 const size_t *origin, const size_t *region,
                                                 size_t *image_row_pitch, size_t *image_slice_pitch,
                                                 cl_uint num_events_in_wait_list,
                                                 const cl_event *event_wait_list, cl_event *event,
                                                 cl_int *errcode_ret)
{
    LOCKED;
    const struct enqueue how = {command_queue,           CL_COMMAND_MAP_IMAGE, blocking_map,
                                num_events_in_wait_list, event_wait_list,      event};
    cl_int status = check(&how, image, origin, region);
    if (status == CL_SUCCESS &&
        (!image_row_pitch || (image->image->desc.image_slice_pitch && !image_slice_pitch)))
        status = CL_INVALID_VALUE;
    if (status != CL_SUCCESS)
        return failed(errcode_ret, status);
    const struct side side = side_of(image, origin);
    const size_t bytes = (region[2] - 1) * side.slice_pitch + (region[1] - 1) * side.row_pitch +
                         region[0] * image->image->element;
    /* what is not in the box must keep its content */
    const cl_map_flags flags =
        map_flags & CL_MAP_WRITE_INVALIDATE_REGION && (region[1] > 1 || region[2] > 1)
            ? (map_flags & ~(cl_map_flags)CL_MAP_WRITE_INVALIDATE_REGION) | CL_MAP_WRITE
            : map_flags;
    void *host = map_range(command_queue, image, blocking_map, flags, side.start, bytes,
                           CL_COMMAND_MAP_IMAGE, num_events_in_wait_list, event_wait_list, event,
                           errcode_ret);
    if (!host)
        return NULL;
    *image_row_pitch = image->image->row;
    if (image_slice_pitch)
        *image_slice_pitch = image->image->desc.image_slice_pitch;
    return host;
}
