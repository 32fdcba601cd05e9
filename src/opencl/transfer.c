/*
 * Reads, writes, copies and fills of buffers.
 *
 * All but fills move a box of bytes, region[0] wide, region[1] rows high and region[2] slices deep,
 * from one side to the other; each side has its start and its pitches. A plain copy is one row.
 *
 * Time: copies between host and device take copy_host_picoseconds, others copy_device_picoseconds, whatever the box's
 * layout.
 */
#include "opencl/transfer.h"

/* ---- boxes ---- */

/* Sets the pitches, with defaults for 0; false: impossible values. */
static bool set_pitches(struct side *side, const size_t *region, size_t row, size_t slice)
{
    if (!region[0] || !region[1] || !region[2] || (row && row < region[0]))
        return false;
    side->row_pitch = row ? row : region[0];
    u128 least = (u128)region[1] * side->row_pitch;
    if (least > SIZE_MAX || (slice && (slice < least || slice % side->row_pitch)))
        return false;
    side->slice_pitch = slice ? slice : (size_t)least;
    return true;
}

/* Sets the start offset and gives the end offset; false: beyond the address range. */
static bool set_start(struct side *side, const size_t *origin, const size_t *region, size_t *end)
{
    u128 start = (u128)origin[2] * side->slice_pitch + (u128)origin[1] * side->row_pitch;
    if (start > SIZE_MAX || start + origin[0] > SIZE_MAX)
        return false;
    start += origin[0];
    u128 rows = (u128)(region[1] - 1) * side->row_pitch + region[0];
    u128 bytes = (u128)(region[2] - 1) * side->slice_pitch;
    if (rows > SIZE_MAX || bytes > SIZE_MAX || start + bytes + rows > SIZE_MAX)
        return false;
    side->start = (size_t)start;
    *end = (size_t)(start + bytes + rows);
    return true;
}

/* Sets a box; false: invalid pitches, or outside its buffer. */
static bool set_side(struct side *side, const size_t *origin, const size_t *region, size_t row,
                     size_t slice)
{
    size_t end;
    return set_pitches(side, region, row, slice) && set_start(side, origin, region, &end) &&
           (!side->mem || end <= side->mem->size);
}

static bool set_line(struct side *side, size_t offset, size_t bytes)
{
    const size_t origin[3] = {offset, 0, 0}, region[3] = {bytes, 1, 1};
    return set_side(side, origin, region, 0, 0);
}

/* Merges rows and slices that are contiguous on both sides into one row. */
static void join(struct transfer *t)
{
    for (u32 i = 0; i < 2 && t->region[1] * t->region[2] > 1; i++) {
        bool rows = t->from.row_pitch == t->region[0] && t->to.row_pitch == t->region[0];
        if (t->region[1] > 1 && !rows)
            return;
        t->region[0] *= t->region[1];
        t->region[1] = t->region[2];
        t->region[2] = 1;
        t->from.row_pitch = t->from.slice_pitch;
        t->to.row_pitch = t->to.slice_pitch;
    }
}

/* ---- overlap ---- */

static size_t absolute(const struct side *side)
{
    return side->start + side->mem->origin;
}

static bool same_memory(const struct side *a, const struct side *b)
{
    cl_mem first = a->mem->parent ? a->mem->parent : a->mem;
    return first == (b->mem->parent ? b->mem->parent : b->mem);
}

/*
 * Whether some row of one box overlaps a row of the other, exactly: rows differ by whole pitches,
 * so for each difference of slices only the nearest differences of rows matter. Both boxes have the
 * same pitches.
 */
static bool overlap(const struct transfer *t)
{
    i128 width = (i128)t->region[0], rows = (i128)t->region[1] - 1, slices = (i128)t->region[2] - 1;
    i128 row = (i128)t->from.row_pitch, slice = (i128)t->from.slice_pitch;
    i128 apart = (i128)absolute(&t->from) - (i128)absolute(&t->to);
    for (i128 z = -slices; z <= slices; z++) {
        i128 distance = apart + z * slice;
        i128 nearest = -distance / row;
        for (i128 y = nearest - 1; y <= nearest + 1; y++) {
            i128 clamped = y < -rows ? -rows : y > rows ? rows : y;
            i128 gap = distance + clamped * row;
            if (gap < width && -gap < width)
                return true;
        }
    }
    return false;
}

/* Whether both sides have the same pitches, where there is more than one row or slice. */
static bool same_pitches(const struct transfer *t)
{
    return (t->region[1] == 1 || t->from.row_pitch == t->to.row_pitch) &&
           (t->region[2] == 1 || t->from.slice_pitch == t->to.slice_pitch);
}

/* ---- the command ---- */

static bool move_row(const struct transfer *t, hd_address from, hd_address to, size_t from_at,
                     size_t to_at)
{
    struct hd_device *device = t->command.queue->device->device;
    size_t bytes = t->region[0];
    if (!t->from.mem)
        return hd_write(device, to + to_at, t->from.host + from_at, bytes, NULL);
    if (!t->to.mem)
        return hd_read(device, t->to.host + to_at, from + from_at, bytes, NULL);
    return hd_copy(device, to + to_at, from + from_at, bytes, NULL);
}

static cl_int transfer_run(struct queue_command *command, u64 *ps)
{
    struct transfer *t = (struct transfer *)command;
    cl_device_id device = command->queue->device;
    hd_address from = t->from.mem ? mem_on(t->from.mem, device, ps) : 0;
    hd_address to = t->to.mem ? mem_on(t->to.mem, device, ps) : 0;
    if ((t->from.mem && !from) || (t->to.mem && !to))
        return CL_MEM_OBJECT_ALLOCATION_FAILURE;
    join(t);
    for (size_t z = 0; z < t->region[2]; z++)
        for (size_t y = 0; y < t->region[1]; y++)
            if (!move_row(t, from, to,
                          t->from.start + z * t->from.slice_pitch + y * t->from.row_pitch,
                          t->to.start + z * t->to.slice_pitch + y * t->to.row_pitch))
                return CL_OUT_OF_RESOURCES;
    u64 bytes = (u64)t->region[0] * t->region[1] * t->region[2];
    *ps += from && to ? copy_device_picoseconds(&device->info, bytes)
                      : copy_host_picoseconds(&device->info, bytes);
    return CL_SUCCESS;
}

static void transfer_destroy(struct queue_command *command)
{
    struct transfer *t = (struct transfer *)command;
    if (t->from.mem)
        object_release(t->from.mem);
    if (t->to.mem)
        object_release(t->to.mem);
    free(t);
}

cl_int enqueue_transfer(const struct transfer *what, const struct enqueue *how)
{
    struct transfer *t = checked(malloc(sizeof *t));
    *t = *what;
    t->command.run = transfer_run;
    t->command.destroy = transfer_destroy;
    if (t->from.mem)
        object_retain(t->from.mem);
    if (t->to.mem)
        object_retain(t->to.mem);
    return command_enqueue(&t->command, how->queue, how->type, how->wait_count, how->waits,
                           how->blocking, how->event);
}

static cl_int check(const struct enqueue *how, cl_mem first, cl_mem second)
{
    cl_int status = command_check(how->queue, how->wait_count, how->waits);
    if (status == CL_SUCCESS)
        status = mem_check(how->queue, first);
    if (status == CL_SUCCESS && second)
        status = mem_check(how->queue, second);
    return status;
}

/* ---- one row ---- */

CL_API_ENTRY cl_int CL_API_CALL clEnqueueReadBuffer(cl_command_queue command_queue, cl_mem buffer,
                                                    cl_bool blocking_read, size_t offset, size_t cb,
                                                    void *ptr, cl_uint num_events_in_wait_list,
                                                    const cl_event *event_wait_list,
                                                    cl_event *event)
{
    LOCKED;
    const struct enqueue how = {command_queue,           CL_COMMAND_READ_BUFFER, blocking_read,
                                num_events_in_wait_list, event_wait_list,        event};
    cl_int status = check(&how, buffer, NULL);
    if (status != CL_SUCCESS)
        return status;
    struct transfer t = {.from.mem = buffer, .to.host = ptr, .region = {cb, 1, 1}};
    if (!ptr || !set_line(&t.from, offset, cb) || !set_line(&t.to, 0, cb))
        return CL_INVALID_VALUE;
    if (!mem_host_may(buffer, CL_MAP_READ))
        return CL_INVALID_OPERATION;
    return enqueue_transfer(&t, &how);
}

CL_API_ENTRY cl_int CL_API_CALL clEnqueueWriteBuffer(cl_command_queue command_queue, cl_mem buffer,
                                                     cl_bool blocking_write, size_t offset,
                                                     size_t cb, const void *ptr,
                                                     cl_uint num_events_in_wait_list,
                                                     const cl_event *event_wait_list,
                                                     cl_event *event)
{
    LOCKED;
    const struct enqueue how = {command_queue,           CL_COMMAND_WRITE_BUFFER, blocking_write,
                                num_events_in_wait_list, event_wait_list,         event};
    cl_int status = check(&how, buffer, NULL);
    if (status != CL_SUCCESS)
        return status;
    struct transfer t = {.from.host = (u8 *)ptr, .to.mem = buffer, .region = {cb, 1, 1}};
    if (!ptr || !set_line(&t.from, 0, cb) || !set_line(&t.to, offset, cb))
        return CL_INVALID_VALUE;
    if (!mem_host_may(buffer, CL_MAP_WRITE))
        return CL_INVALID_OPERATION;
    return enqueue_transfer(&t, &how);
}

CL_API_ENTRY cl_int CL_API_CALL clEnqueueCopyBuffer(cl_command_queue command_queue,
                                                    cl_mem src_buffer, cl_mem dst_buffer,
                                                    size_t src_offset, size_t dst_offset, size_t cb,
                                                    cl_uint num_events_in_wait_list,
                                                    const cl_event *event_wait_list,
                                                    cl_event *event)
{
    LOCKED;
    const struct enqueue how = {command_queue,           CL_COMMAND_COPY_BUFFER, CL_FALSE,
                                num_events_in_wait_list, event_wait_list,        event};
    cl_int status = check(&how, src_buffer, dst_buffer);
    if (status != CL_SUCCESS || !dst_buffer)
        return status != CL_SUCCESS ? status : CL_INVALID_MEM_OBJECT;
    struct transfer t = {.from.mem = src_buffer, .to.mem = dst_buffer, .region = {cb, 1, 1}};
    if (!set_line(&t.from, src_offset, cb) || !set_line(&t.to, dst_offset, cb))
        return CL_INVALID_VALUE;
    if (same_memory(&t.from, &t.to) && overlap(&t))
        return CL_MEM_COPY_OVERLAP;
    return enqueue_transfer(&t, &how);
}

/* ---- boxes ---- */

CL_API_ENTRY cl_int CL_API_CALL clEnqueueReadBufferRect(
    cl_command_queue command_queue, cl_mem buffer, cl_bool blocking_read,
    const size_t *buffer_origin, const size_t *host_origin, const size_t *region,
    size_t buffer_row_pitch, size_t buffer_slice_pitch, size_t host_row_pitch,
    size_t host_slice_pitch, void *ptr, cl_uint num_events_in_wait_list,
    const cl_event *event_wait_list, cl_event *event)
{
    LOCKED;
    const struct enqueue how = {command_queue,   CL_COMMAND_READ_BUFFER_RECT,
                                blocking_read,   num_events_in_wait_list,
                                event_wait_list, event};
    cl_int status = check(&how, buffer, NULL);
    if (status != CL_SUCCESS)
        return status;
    if (!ptr || !buffer_origin || !host_origin || !region)
        return CL_INVALID_VALUE;
    struct transfer t = {
        .from.mem = buffer, .to.host = ptr, .region = {region[0], region[1], region[2]}};
    if (!set_side(&t.from, buffer_origin, region, buffer_row_pitch, buffer_slice_pitch) ||
        !set_side(&t.to, host_origin, region, host_row_pitch, host_slice_pitch))
        return CL_INVALID_VALUE;
    if (!mem_host_may(buffer, CL_MAP_READ))
        return CL_INVALID_OPERATION;
    return enqueue_transfer(&t, &how);
}

CL_API_ENTRY cl_int CL_API_CALL clEnqueueWriteBufferRect(
    cl_command_queue command_queue, cl_mem buffer, cl_bool blocking_read,
    const size_t *buffer_origin, const size_t *host_origin, const size_t *region,
    size_t buffer_row_pitch, size_t buffer_slice_pitch, size_t host_row_pitch,
    size_t host_slice_pitch, const void *ptr, cl_uint num_events_in_wait_list,
    const cl_event *event_wait_list, cl_event *event)
{
    LOCKED;
    const struct enqueue how = {command_queue,   CL_COMMAND_WRITE_BUFFER_RECT,
                                blocking_read,   num_events_in_wait_list,
                                event_wait_list, event};
    cl_int status = check(&how, buffer, NULL);
    if (status != CL_SUCCESS)
        return status;
    if (!ptr || !buffer_origin || !host_origin || !region)
        return CL_INVALID_VALUE;
    struct transfer t = {
        .from.host = (u8 *)ptr, .to.mem = buffer, .region = {region[0], region[1], region[2]}};
    if (!set_side(&t.from, host_origin, region, host_row_pitch, host_slice_pitch) ||
        !set_side(&t.to, buffer_origin, region, buffer_row_pitch, buffer_slice_pitch))
        return CL_INVALID_VALUE;
    if (!mem_host_may(buffer, CL_MAP_WRITE))
        return CL_INVALID_OPERATION;
    return enqueue_transfer(&t, &how);
}

CL_API_ENTRY cl_int CL_API_CALL clEnqueueCopyBufferRect(
    cl_command_queue command_queue, cl_mem src_buffer, cl_mem dst_buffer, const size_t *src_origin,
    const size_t *dst_origin, const size_t *region, size_t src_row_pitch, size_t src_slice_pitch,
    size_t dst_row_pitch, size_t dst_slice_pitch, cl_uint num_events_in_wait_list,
    const cl_event *event_wait_list, cl_event *event)
{
    LOCKED;
    const struct enqueue how = {command_queue,   CL_COMMAND_COPY_BUFFER_RECT,
                                CL_FALSE,        num_events_in_wait_list,
                                event_wait_list, event};
    cl_int status = check(&how, src_buffer, dst_buffer);
    if (status != CL_SUCCESS || !dst_buffer)
        return status != CL_SUCCESS ? status : CL_INVALID_MEM_OBJECT;
    if (!src_origin || !dst_origin || !region)
        return CL_INVALID_VALUE;
    struct transfer t = {
        .from.mem = src_buffer, .to.mem = dst_buffer, .region = {region[0], region[1], region[2]}};
    if (!set_side(&t.from, src_origin, region, src_row_pitch, src_slice_pitch) ||
        !set_side(&t.to, dst_origin, region, dst_row_pitch, dst_slice_pitch))
        return CL_INVALID_VALUE;
    if (same_memory(&t.from, &t.to)) {
        if (!same_pitches(&t))
            return CL_INVALID_VALUE;
        if (overlap(&t))
            return CL_MEM_COPY_OVERLAP;
    }
    return enqueue_transfer(&t, &how);
}

/* ---- fills ---- */

enum {
    PATTERN_BYTES = 128 /* maximum: size of the largest OpenCL type */
};

struct fill {
    struct queue_command command;
    cl_mem mem;
    size_t offset, bytes, pattern_bytes;
    u8 pattern[PATTERN_BYTES];
};

static cl_int fill_run(struct queue_command *command, u64 *ps)
{
    struct fill *fill = (struct fill *)command;
    cl_device_id device = command->queue->device;
    hd_address address = mem_on(fill->mem, device, ps);
    if (!address)
        return CL_MEM_OBJECT_ALLOCATION_FAILURE;
    if (!hd_fill(device->device, address + fill->offset, fill->pattern, fill->pattern_bytes,
                 fill->bytes, NULL))
        return CL_OUT_OF_RESOURCES;
    *ps += copy_device_picoseconds(&device->info, fill->bytes);
    return CL_SUCCESS;
}

static void fill_destroy(struct queue_command *command)
{
    struct fill *fill = (struct fill *)command;
    object_release(fill->mem);
    free(fill);
}

CL_API_ENTRY cl_int CL_API_CALL clEnqueueFillBuffer(cl_command_queue command_queue, cl_mem buffer,
                                                    const void *pattern, size_t pattern_size,
                                                    size_t offset, size_t cb,
                                                    cl_uint num_events_in_wait_list,
                                                    const cl_event *event_wait_list,
                                                    cl_event *event)
{
    LOCKED;
    const struct enqueue how = {command_queue,           CL_COMMAND_FILL_BUFFER, CL_FALSE,
                                num_events_in_wait_list, event_wait_list,        event};
    cl_int status = check(&how, buffer, NULL);
    if (status != CL_SUCCESS)
        return status;
    if (offset > buffer->size || cb > buffer->size - offset || !pattern || !is_pow2(pattern_size) ||
        pattern_size > PATTERN_BYTES || offset % pattern_size || cb % pattern_size)
        return CL_INVALID_VALUE;
    struct fill *fill = checked(calloc(1, sizeof *fill));
    fill->command.run = fill_run;
    fill->command.destroy = fill_destroy;
    object_retain(buffer);
    fill->mem = buffer;
    fill->offset = offset;
    fill->bytes = cb;
    fill->pattern_bytes = pattern_size;
    memcpy(fill->pattern, pattern, pattern_size);
    return command_enqueue(&fill->command, command_queue, how.type, num_events_in_wait_list,
                           event_wait_list, false, event);
}
