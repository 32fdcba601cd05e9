/*
 * Mapping: buffers as memory of the host.
 *
 * A mapping of a buffer with CL_MEM_USE_HOST_PTR is part of the program's memory, others have
 * memory of their own. The map command fills it from the device, unless the program declares that
 * it will write all of it; unmapping writes it back if it was mapped for writing.
 *
 * Invariants
 *  P1  The pointer is valid from the call that maps until the unmap command has run, and so is the
 *      memory it points to for commands that wait: they hold a reference (count).
 *  P2  A pointer can be unmapped as often as it was mapped; each unmap takes one mapping off
 *      the list.
 */
#include "opencl/opencl.h"

#include <sys/mman.h>

enum {
    HUGE_PAGE = 2 << 20, /* bytes, on x86-64 */
    FRESH = 32 << 20 /* from here glibc's malloc() gives fresh pages (DEFAULT_MMAP_THRESHOLD_MAX) */
};

static const cl_map_flags writes = CL_MAP_WRITE | CL_MAP_WRITE_INVALIDATE_REGION;

struct map_command {
    struct queue_command command;
    cl_mem mem;
    struct mapping *mapping;
};

void mapping_release(struct mapping *mapping)
{
    if (--mapping->count)
        return;
    free(mapping->own);
    free(mapping);
}

static void map_destroy(struct queue_command *command)
{
    struct map_command *map = (struct map_command *)command;
    mapping_release(map->mapping);
    object_release(map->mem);
    free(map);
}

static cl_int map_run(struct queue_command *command, u64 *ps)
{
    struct map_command *map = (struct map_command *)command;
    const struct mapping *mapping = map->mapping;
    cl_device_id device = command->queue->device;
    if (mapping->flags & CL_MAP_WRITE_INVALIDATE_REGION)
        return CL_SUCCESS;
    hd_address address = mem_on(map->mem, device, ps);
    if (!address)
        return CL_MEM_OBJECT_ALLOCATION_FAILURE;
    if (!hd_read(device->device, mapping->host, address + mapping->offset, mapping->bytes, NULL))
        return CL_OUT_OF_RESOURCES;
    *ps += copy_host_picoseconds(&device->info, mapping->bytes);
    return CL_SUCCESS;
}

static cl_int unmap_run(struct queue_command *command, u64 *ps)
{
    struct map_command *map = (struct map_command *)command;
    const struct mapping *mapping = map->mapping;
    cl_device_id device = command->queue->device;
    if (!(mapping->flags & writes))
        return CL_SUCCESS;
    hd_address address = mem_on(map->mem, device, ps);
    if (!address)
        return CL_MEM_OBJECT_ALLOCATION_FAILURE;
    if (!hd_write(device->device, address + mapping->offset, mapping->host, mapping->bytes, NULL))
        return CL_OUT_OF_RESOURCES;
    *ps += copy_host_picoseconds(&device->info, mapping->bytes);
    return CL_SUCCESS;
}

static struct queue_command *command_of(cl_mem mem, struct mapping *mapping,
                                        cl_int (*run)(struct queue_command *command, u64 *ps))
{
    struct map_command *map = checked(calloc(1, sizeof *map));
    map->command.run = run;
    map->command.destroy = map_destroy;
    map->mem = mem;
    map->mapping = mapping;
    object_retain(mem);
    return &map->command;
}

/*
 * Allocates the memory of a mapping, including `lead` bytes before it; NULL: none. Large mappings
 * request huge pages: programs map and unmap whole buffers again and again, and with small pages
 * more time went into page faults than into copying.
 */
static u8 *own_memory(size_t lead, size_t bytes)
{
    if (bytes < FRESH)
        return aligned_alloc(MEM_ALIGN, align_up(lead + bytes, MEM_ALIGN));
    size_t whole = align_up(lead + bytes, HUGE_PAGE);
    u8 *own = aligned_alloc(HUGE_PAGE, whole);
    if (own)
        madvise(own, whole, MADV_HUGEPAGE); /* a hint: failure is harmless */
    return own;
}

/* Creates a mapping with the list's reference; NULL: the host has no memory. */
static struct mapping *map_create(cl_mem mem, cl_map_flags flags, size_t offset, size_t bytes)
{
    u8 *own = NULL;
    size_t lead = offset % MEM_ALIGN; /* keeps the alignment of the buffer */
    if (!mem->host_ptr) {
        own = own_memory(lead, bytes);
        if (!own)
            return NULL;
    }
    struct mapping *mapping = checked(malloc(sizeof *mapping));
    *mapping = (struct mapping){.next = mem->maps,
                                .host = own ? own + lead : (u8 *)mem->host_ptr + offset,
                                .own = own,
                                .offset = offset,
                                .bytes = bytes,
                                .flags = flags,
                                .count = 1};
    mem->maps = mapping;
    mem->map_count++;
    return mapping;
}

/* Takes the latest mapping with this pointer off the list; the caller gets its reference. */
static struct mapping *map_take(cl_mem mem, const void *host)
{
    struct mapping **at = &mem->maps;
    while (*at && (*at)->host != host)
        at = &(*at)->next;
    struct mapping *mapping = *at;
    if (mapping) {
        *at = mapping->next;
        mem->map_count--;
    }
    return mapping;
}

static bool flags_valid(cl_map_flags flags)
{
    return !(flags & ~(CL_MAP_READ | writes)) &&
           !(flags & CL_MAP_WRITE_INVALIDATE_REGION && flags & (CL_MAP_READ | CL_MAP_WRITE));
}

void *map_range(cl_command_queue queue, cl_mem mem, cl_bool blocking, cl_map_flags flags,
                size_t offset, size_t bytes, cl_command_type type, cl_uint wait_count,
                const cl_event *waits, cl_event *event, cl_int *status)
{
    if (!bytes || offset > mem->size || bytes > mem->size - offset || !flags_valid(flags))
        return failed(status, CL_INVALID_VALUE);
    if (!mem_host_may(mem, flags))
        return failed(status, CL_INVALID_OPERATION);
    struct mapping *mapping = map_create(mem, flags, offset, bytes);
    if (!mapping)
        return failed(status, CL_OUT_OF_HOST_MEMORY);
    u8 *host = mapping->host;
    mapping->count++; /* the command's reference */
    const cl_int result = command_enqueue(command_of(mem, mapping, map_run), queue, type,
                                          wait_count, waits, blocking, event);
    if (result == CL_SUCCESS)
        return made(status, host);
    mapping = map_take(mem, host);
    if (mapping)
        mapping_release(mapping);
    return failed(status, result);
}

CL_API_ENTRY void *CL_API_CALL clEnqueueMapBuffer(cl_command_queue command_queue, cl_mem buffer,
                                                  cl_bool blocking_map, cl_map_flags map_flags,
                                                  size_t offset, size_t cb,
                                                  cl_uint num_events_in_wait_list,
                                                  const cl_event *event_wait_list, cl_event *event,
                                                  cl_int *errcode_ret)
{
    LOCKED;
    cl_int status = command_check(command_queue, num_events_in_wait_list, event_wait_list);
    if (status == CL_SUCCESS)
        status = mem_check(command_queue, buffer);
    if (status != CL_SUCCESS)
        return failed(errcode_ret, status);
    return map_range(command_queue, buffer, blocking_map, map_flags, offset, cb,
                     CL_COMMAND_MAP_BUFFER, num_events_in_wait_list, event_wait_list, event,
                     errcode_ret);
}

CL_API_ENTRY cl_int CL_API_CALL clEnqueueUnmapMemObject(cl_command_queue command_queue,
                                                        cl_mem memobj, void *mapped_ptr,
                                                        cl_uint num_events_in_wait_list,
                                                        const cl_event *event_wait_list,
                                                        cl_event *event)
{
    LOCKED;
    cl_int status = command_check(command_queue, num_events_in_wait_list, event_wait_list);
    if (status == CL_SUCCESS)
        status = mem_check_any(command_queue, memobj);
    if (status != CL_SUCCESS)
        return status;
    struct mapping *mapping = map_take(memobj, mapped_ptr);
    if (!mapping)
        return CL_INVALID_VALUE;
    return command_enqueue(command_of(memobj, mapping, unmap_run), command_queue,
                           CL_COMMAND_UNMAP_MEM_OBJECT, num_events_in_wait_list, event_wait_list,
                           false, event);
}
