/*
 * Buffers and sub-buffers: where their content is, and how it moves.
 *
 * In a context with one device, a buffer is on the device from the beginning. With several devices,
 * or while the device is busy, its initial content is kept on the host (`staged`) until a command
 * needs it. A command on another device than the last one moves the content there (mem_on).
 *
 * Invariants
 *  B1  The content is in one place: at `home`, or in `staged` while there is no home. Addresses on
 *      other devices stay allocated, so that a command there that has the address already may still
 *      read it; they are filled again when the content returns.
 *  B2  Another device's memory is accessed only with the lock and while no command uses that
 *      device: it is not busy, or its command is parked here, too. So two commands that need each
 *      other's buffers do not deadlock.
 *  B3  Memory on a busy device is not released but listed in `dead`, and released later.
 *
 * Deviations: a sub-buffer moves together with its whole buffer; the initial content of a buffer is
 * on the device without a copy in simulated time.
 */
#include "opencl/opencl.h"

static const cl_mem_flags device_access = CL_MEM_READ_WRITE | CL_MEM_WRITE_ONLY | CL_MEM_READ_ONLY;
static const cl_mem_flags host_access =
    CL_MEM_HOST_WRITE_ONLY | CL_MEM_HOST_READ_ONLY | CL_MEM_HOST_NO_ACCESS;
static const cl_mem_flags host_memory =
    CL_MEM_USE_HOST_PTR | CL_MEM_ALLOC_HOST_PTR | CL_MEM_COPY_HOST_PTR;

/* ---- memory on devices ---- */

static cl_mem root_of(cl_mem mem)
{
    return mem->parent ? mem->parent : mem;
}

static u32 index_of(cl_context context, cl_device_id device)
{
    u32 index = 0;
    while (context->devices[index] != device)
        index++;
    return index;
}

/* Whether holding the lock is enough to access the device (B2). */
static bool idle(const struct _cl_device_id *device)
{
    return !device->busy || device->parked;
}

static void release_dead(cl_device_id device)
{
    for (u32 i = 0; i < device->dead.count; i++)
        hd_release(device->device, device->dead.data[i], NULL);
    device->dead.count = 0;
    for (u32 i = 0; i < device->dead_views.count; i++) {
        hd_texture_destroy(device->device, device->dead_views.data[i].handle);
        hd_image_destroy(device->dead_views.data[i].image);
    }
    device->dead_views.count = 0;
}

void image_give_back(cl_device_id device, struct image_view view)
{
    *(struct image_view *)vec_push(&device->dead_views) = view;
    if (idle(device))
        release_dead(device);
}

static void give_back(cl_device_id device, hd_address address)
{
    *vec_push(&device->dead) = address;
    if (idle(device))
        release_dead(device);
}

static hd_address place(cl_mem root, cl_device_id device)
{
    hd_address *address = &root->addresses[index_of(root->context, device)];
    if (!*address) {
        release_dead(device);
        *address = hd_alloc(device->device, root->size, NULL);
    }
    return *address;
}

static bool move_between(cl_mem root, cl_device_id to, hd_address address)
{
    enum {
        PIECE = 1 << 20 /* bytes at a time, to limit host memory */
    };
    cl_device_id from = root->home;
    hd_address there = root->addresses[index_of(root->context, from)];
    u8 *piece = checked(malloc(PIECE));
    bool ok = true;
    for (size_t done = 0; ok && done < root->size; done += PIECE) {
        size_t bytes = MIN((size_t)PIECE, root->size - done);
        ok = hd_read(from->device, piece, there + done, bytes, NULL) &&
             hd_write(to->device, address + done, piece, bytes, NULL);
    }
    free(piece);
    return ok;
}

/* Moves the buffer's content to its address on a device. */
static bool bring(cl_mem root, cl_device_id device, hd_address address, u64 *ps)
{
    if (root->home) {
        if (!move_between(root, device, address))
            return false;
        *ps += copy_host_picoseconds(&root->home->info, root->size) +
               copy_host_picoseconds(&device->info, root->size);
    } else if (root->staged) {
        if (!hd_write(device->device, address, root->staged, root->size, NULL))
            return false;
        *ps += copy_host_picoseconds(&device->info, root->size);
    }
    return true;
}

static hd_address move_to(cl_mem mem, cl_device_id device, bool content, u64 *ps)
{
    LOCKED;
    cl_mem root = root_of(mem);
    while (content && root->home && root->home != device && !idle(root->home)) {
        device->parked = true;
        driver_changed();
        driver_wait();
    }
    device->parked = false;
    hd_address address = place(root, device);
    if (!address || (content && root->home != device && !bring(root, device, address, ps)))
        return 0;
    free(root->staged);
    root->staged = NULL;
    root->home = device;
    return address + mem->origin;
}

hd_address mem_on(cl_mem mem, cl_device_id device, u64 *ps)
{
    return move_to(mem, device, true, ps);
}

/* ---- what commands check ---- */

cl_int mem_check_any(cl_command_queue queue, cl_mem mem)
{
    if (!object_is(mem, KIND_MEM))
        return CL_INVALID_MEM_OBJECT;
    return mem->context == queue->context ? CL_SUCCESS : CL_INVALID_CONTEXT;
}

cl_int mem_check(cl_command_queue queue, cl_mem mem)
{
    const cl_int status = mem_check_any(queue, mem);
    return status == CL_SUCCESS && mem->image ? CL_INVALID_MEM_OBJECT : status;
}

cl_int image_check(cl_command_queue queue, cl_mem mem)
{
    const cl_int status = mem_check_any(queue, mem);
    return status == CL_SUCCESS && !mem->image ? CL_INVALID_MEM_OBJECT : status;
}

bool mem_host_may(cl_mem mem, cl_map_flags flags)
{
    cl_mem_flags bars = CL_MEM_HOST_NO_ACCESS;
    if (flags & CL_MAP_READ)
        bars |= CL_MEM_HOST_WRITE_ONLY;
    if (flags & (CL_MAP_WRITE | CL_MAP_WRITE_INVALIDATE_REGION))
        bars |= CL_MEM_HOST_READ_ONLY;
    return !(mem->flags & bars);
}

/* ---- creation ---- */

static bool at_most_one(cl_mem_flags flags)
{
    return !(flags & (flags - 1));
}

bool mem_flags_valid(cl_mem_flags flags)
{
    return !(flags & ~(device_access | host_access | host_memory)) &&
           at_most_one(flags & device_access) && at_most_one(flags & host_access) &&
           !(flags & CL_MEM_USE_HOST_PTR && flags & (CL_MEM_ALLOC_HOST_PTR | CL_MEM_COPY_HOST_PTR));
}

static u64 largest_allocation(cl_context context)
{
    u64 bytes = 0;
    for (u32 i = 0; i < context->device_count; i++)
        bytes = MAX(bytes, device_allocation(context->devices[i]));
    return bytes;
}

/* Writes the initial content to the device, or stages it. */
static cl_int fill_first(cl_mem mem, const void *content)
{
    cl_device_id device = mem->context->devices[0];
    if (mem->context->device_count == 1 && idle(device)) {
        hd_address address = place(mem, device);
        if (!address || (content && !hd_write(device->device, address, content, mem->size, NULL)))
            return CL_MEM_OBJECT_ALLOCATION_FAILURE;
        mem->home = device;
    } else if (content) {
        mem->staged = malloc(mem->size);
        if (!mem->staged)
            return CL_OUT_OF_HOST_MEMORY;
        memcpy(mem->staged, content, mem->size);
    }
    return CL_SUCCESS;
}

cl_mem mem_create(cl_context context, cl_mem_flags flags, size_t size, void *host_ptr,
                  cl_int *status)
{
    cl_mem mem = object_create(KIND_MEM, sizeof *mem);
    object_retain(context);
    mem->context = context;
    mem->flags = flags & device_access ? flags : flags | CL_MEM_READ_WRITE;
    mem->size = size;
    mem->host_ptr = flags & CL_MEM_USE_HOST_PTR ? host_ptr : NULL;
    mem->addresses = checked(calloc(context->device_count, sizeof *mem->addresses));
    *status = fill_first(mem, host_ptr);
    if (*status == CL_SUCCESS)
        return mem;
    object_release(mem);
    return NULL;
}

CL_API_ENTRY cl_mem CL_API_CALL clCreateBuffer(cl_context context, cl_mem_flags flags, size_t size,
                                               void *host_ptr, cl_int *errcode_ret)
{
    LOCKED;
    cl_int status;
    if (!object_is(context, KIND_CONTEXT))
        return failed(errcode_ret, CL_INVALID_CONTEXT);
    if (!mem_flags_valid(flags))
        return failed(errcode_ret, CL_INVALID_VALUE);
    if (!size || size > largest_allocation(context))
        return failed(errcode_ret, CL_INVALID_BUFFER_SIZE);
    if (!host_ptr != !(flags & (CL_MEM_USE_HOST_PTR | CL_MEM_COPY_HOST_PTR)))
        return failed(errcode_ret, CL_INVALID_HOST_PTR);
    cl_mem mem = mem_create(context, flags, size, host_ptr, &status);
    return mem ? made(errcode_ret, mem) : failed(errcode_ret, status);
}

/* Whether a sub-buffer's flags allow no more than its buffer's. */
static bool flags_fit(cl_mem_flags parent, cl_mem_flags flags)
{
    if (!mem_flags_valid(flags) || flags & host_memory)
        return false;
    if (parent & CL_MEM_WRITE_ONLY && flags & (CL_MEM_READ_WRITE | CL_MEM_READ_ONLY))
        return false;
    if (parent & CL_MEM_READ_ONLY && flags & (CL_MEM_READ_WRITE | CL_MEM_WRITE_ONLY))
        return false;
    if (parent & CL_MEM_HOST_WRITE_ONLY && flags & CL_MEM_HOST_READ_ONLY)
        return false;
    if (parent & CL_MEM_HOST_READ_ONLY && flags & CL_MEM_HOST_WRITE_ONLY)
        return false;
    return !(parent & CL_MEM_HOST_NO_ACCESS &&
             flags & (CL_MEM_HOST_READ_ONLY | CL_MEM_HOST_WRITE_ONLY));
}

static cl_mem_flags flags_inherited(cl_mem_flags parent, cl_mem_flags flags)
{
    cl_mem_flags from = host_memory;
    if (!(flags & device_access))
        from |= device_access;
    if (!(flags & host_access))
        from |= host_access;
    return flags | (parent & from);
}

static cl_int check_region(cl_mem buffer, const cl_buffer_region *region)
{
    if (!region || region->origin > buffer->size || region->size > buffer->size - region->origin)
        return CL_INVALID_VALUE;
    if (!region->size)
        return CL_INVALID_BUFFER_SIZE;
    return region->origin % MEM_ALIGN ? CL_MISALIGNED_SUB_BUFFER_OFFSET : CL_SUCCESS;
}

CL_API_ENTRY cl_mem CL_API_CALL clCreateSubBuffer(cl_mem buffer, cl_mem_flags flags,
                                                  cl_buffer_create_type buffer_create_type,
                                                  const void *buffer_create_info,
                                                  cl_int *errcode_ret)
{
    LOCKED;
    if (!object_is(buffer, KIND_MEM) || buffer->parent || buffer->image)
        return failed(errcode_ret, CL_INVALID_MEM_OBJECT);
    if (!flags_fit(buffer->flags, flags) || buffer_create_type != CL_BUFFER_CREATE_TYPE_REGION)
        return failed(errcode_ret, CL_INVALID_VALUE);
    const cl_buffer_region *region = buffer_create_info;
    cl_int status = check_region(buffer, region);
    if (status != CL_SUCCESS)
        return failed(errcode_ret, status);
    cl_mem mem = object_create(KIND_MEM, sizeof *mem);
    object_retain(buffer);
    mem->parent = buffer;
    mem->context = buffer->context;
    mem->flags = flags_inherited(buffer->flags, flags);
    mem->origin = region->origin;
    mem->size = region->size;
    mem->host_ptr = buffer->host_ptr ? (u8 *)buffer->host_ptr + region->origin : NULL;
    return made(errcode_ret, mem);
}

/* ---- the end ---- */

static void call_back(cl_mem mem)
{
    struct mem_callback *next;
    for (struct mem_callback *callback = mem->callbacks; callback; callback = next) {
        next = callback->next;
        driver_unlock();
        callback->call(mem, callback->user);
        driver_lock();
        free(callback);
    }
}

void destroy_mem(void *object)
{
    cl_mem mem = object;
    while (mem->named) { /* kernels with this argument cannot be enqueued until it is set again */
        mem->named->set = false;
        kernel_arg_name(mem->named, NULL);
    }
    call_back(mem);
    struct mapping *next;
    for (struct mapping *mapping = mem->maps; mapping; mapping = next) {
        next = mapping->next;
        mapping_release(mapping);
    }
    if (mem->image)
        mem_image_destroy(mem);
    if (mem->parent) {
        object_release(mem->parent);
        return;
    }
    for (u32 i = 0; i < mem->context->device_count; i++)
        if (mem->addresses[i])
            give_back(mem->context->devices[i], mem->addresses[i]);
    free(mem->addresses);
    free(mem->staged);
    object_release(mem->context);
}

CL_API_ENTRY cl_int CL_API_CALL clRetainMemObject(cl_mem memobj)
{
    LOCKED;
    if (!object_is(memobj, KIND_MEM))
        return CL_INVALID_MEM_OBJECT;
    object_retain(memobj);
    return CL_SUCCESS;
}

CL_API_ENTRY cl_int CL_API_CALL clReleaseMemObject(cl_mem memobj)
{
    LOCKED;
    if (!object_is(memobj, KIND_MEM))
        return CL_INVALID_MEM_OBJECT;
    object_release(memobj);
    return CL_SUCCESS;
}

CL_API_ENTRY cl_int CL_API_CALL clSetMemObjectDestructorCallback(
    cl_mem memobj, void(CL_CALLBACK *pfn_notify)(cl_mem memobj, void *user_data), void *user_data)
{
    LOCKED;
    if (!object_is(memobj, KIND_MEM))
        return CL_INVALID_MEM_OBJECT;
    if (!pfn_notify)
        return CL_INVALID_VALUE;
    struct mem_callback *callback = checked(malloc(sizeof *callback));
    *callback = (struct mem_callback){memobj->callbacks, pfn_notify, user_data};
    memobj->callbacks = callback;
    return CL_SUCCESS;
}

/* ---- queries ---- */

CL_API_ENTRY cl_int CL_API_CALL clGetMemObjectInfo(cl_mem memobj, cl_mem_info param_name,
                                                   size_t param_value_size, void *param_value,
                                                   size_t *param_value_size_ret)
{
    LOCKED;
    const struct query query = {param_value_size, param_value, param_value_size_ret};
    if (!object_is(memobj, KIND_MEM))
        return CL_INVALID_MEM_OBJECT;
    switch (param_name) {
    case CL_MEM_TYPE:
        return QUERY_VALUE(&query, cl_mem_object_type, mem_type(memobj));
    case CL_MEM_FLAGS:
        return QUERY_VALUE(&query, cl_mem_flags, memobj->flags);
    case CL_MEM_SIZE:
        return QUERY_VALUE(&query, size_t, memobj->size);
    case CL_MEM_HOST_PTR:
        return QUERY_VALUE(&query, void *, memobj->host_ptr);
    case CL_MEM_MAP_COUNT:
        return QUERY_VALUE(&query, cl_uint, memobj->map_count);
    case CL_MEM_REFERENCE_COUNT:
        return QUERY_VALUE(&query, cl_uint, memobj->object.references);
    case CL_MEM_CONTEXT:
        return QUERY_VALUE(&query, cl_context, memobj->context);
    case CL_MEM_ASSOCIATED_MEMOBJECT:
        return QUERY_VALUE(&query, cl_mem, memobj->parent);
    case CL_MEM_OFFSET:
        return QUERY_VALUE(&query, size_t, memobj->origin);
    default:
        return CL_INVALID_VALUE;
    }
}

/* ---- migration ---- */

struct migrate {
    struct queue_command command;
    cl_mem_migration_flags flags;
    u32 count;
    cl_mem mems[];
};

static cl_int migrate_run(struct queue_command *command, u64 *ps)
{
    struct migrate *migrate = (struct migrate *)command;
    if (migrate->flags & CL_MIGRATE_MEM_OBJECT_HOST)
        return CL_SUCCESS; /* nothing to do: the host reads or maps what it needs */
    bool content = !(migrate->flags & CL_MIGRATE_MEM_OBJECT_CONTENT_UNDEFINED);
    for (u32 i = 0; i < migrate->count; i++) {
        cl_mem mem = migrate->mems[i];
        /* a sub-buffer's parent keeps its other content */
        if (!move_to(mem, command->queue->device, content || mem->parent, ps))
            return CL_MEM_OBJECT_ALLOCATION_FAILURE;
    }
    return CL_SUCCESS;
}

static void migrate_destroy(struct queue_command *command)
{
    struct migrate *migrate = (struct migrate *)command;
    for (u32 i = 0; i < migrate->count; i++)
        object_release(migrate->mems[i]);
    free(migrate);
}

CL_API_ENTRY cl_int CL_API_CALL clEnqueueMigrateMemObjects(
    cl_command_queue command_queue, cl_uint num_mem_objects, const cl_mem *mem_objects,
    cl_mem_migration_flags flags, cl_uint num_events_in_wait_list, const cl_event *event_wait_list,
    cl_event *event)
{
    LOCKED;
    cl_int status = command_check(command_queue, num_events_in_wait_list, event_wait_list);
    if (status != CL_SUCCESS)
        return status;
    if (!num_mem_objects || !mem_objects ||
        flags & ~(cl_mem_migration_flags)(CL_MIGRATE_MEM_OBJECT_HOST |
                                          CL_MIGRATE_MEM_OBJECT_CONTENT_UNDEFINED))
        return CL_INVALID_VALUE;
    for (u32 i = 0; i < num_mem_objects; i++) {
        status = mem_check_any(command_queue, mem_objects[i]);
        if (status != CL_SUCCESS)
            return status;
    }
    struct migrate *migrate =
        checked(calloc(1, sizeof *migrate + num_mem_objects * sizeof *migrate->mems));
    migrate->command.run = migrate_run;
    migrate->command.destroy = migrate_destroy;
    migrate->flags = flags;
    migrate->count = num_mem_objects;
    for (u32 i = 0; i < num_mem_objects; i++) {
        object_retain(mem_objects[i]);
        migrate->mems[i] = mem_objects[i];
    }
    return command_enqueue(&migrate->command, command_queue, CL_COMMAND_MIGRATE_MEM_OBJECTS,
                           num_events_in_wait_list, event_wait_list, false, event);
}
