/*
 * Guest memory that a launch of machine code needs while it runs: the image composed by its front
 * end (arguments and what registers initially point to), and local memory of the resident warps.
 *
 * Local memory is taken from the device's. If it is too small for the blocks that a core's other
 * resources could hold, fewer are resident.
 */
#include "gpu/launch/launch.h"

#include <inttypes.h>

static const char *parts_text(const struct entry_state *entry, struct arena *arena)
{
    const char *text = "";
    for (u32 i = 0; i < entry->part_count; i++)
        text = arena_printf(arena, "%s%s%s", text, i ? ", " : "", entry->parts[i].name);
    return text;
}

static bool place_image(struct launch_entry *e, struct memory *memory, struct error *error)
{
    const struct entry_state *entry = e->entry;
    assert(entry->image_align <= MEMORY_ALIGN);
    if (!entry->image_bytes)
        return true;
    e->address = memory_allocate(memory, entry->image_bytes, ALLOC_LAUNCH,
                                 parts_text(entry, e->arena), error);
    if (!e->address || !memory_write(memory, e->address, entry->image, entry->image_bytes, error))
        return false;
    for (u32 i = 0; i < entry->fixup_count; i++) {
        u64 value = e->address + entry->fixups[i].value;
        if (!memory_write(memory, e->address + entry->fixups[i].offset, &value, sizeof value,
                          error))
            return false;
    }
    memory_set_read_only(memory, e->address);
    return true;
}

static bool place_local(struct launch_entry *e, const struct launch_request *r, u32 *resident,
                        struct error *error)
{
    const struct hd_device *device = r->kernel->module->device;
    u32 lanes = device->core->warp_size, threads = r->block.x * r->block.y * r->block.z;
    u64 a_block = (u64)e->entry->local_bytes * align_up(threads, lanes);
    if (!a_block)
        return true;
    u64 room = MIN(MEMORY_MAX_ALLOCATION, device->gpu->memory_bytes - memory_used(device->memory));
    if (a_block > room)
        return error_set(error, ERROR_MEMORY, "",
                         "kernel %s needs %u bytes of local memory per thread, %" PRIu64
                         " for one block, but only %" PRIu64 " are free (gpu.memory_bytes)",
                         r->kernel->function->name, e->entry->local_bytes, a_block, room);
    *resident = (u32)MIN(*resident, room / a_block);
    e->local_address =
        memory_allocate(device->memory, *resident * a_block, ALLOC_LAUNCH, "local memory", error);
    return e->local_address;
}

bool launch_entry_create(struct launch_entry *e, const struct launch_request *r,
                         const u8 *arguments, u32 argument_bytes, u32 *resident,
                         struct error *error)
{
    const struct function *function = r->kernel->function;
    struct memory *memory = r->kernel->module->device->memory;
    *e = (struct launch_entry){0};
    if (!function->entry)
        return true;
    const struct entry_launch launch = {
        .grid = {r->grid.x, r->grid.y, r->grid.z},
        .block = {r->block.x, r->block.y, r->block.z},
        .dims = r->kernel->range.work_dim,
        .offset = {r->kernel->range.offset[0], r->kernel->range.offset[1],
                   r->kernel->range.offset[2]},
        .buffer = r->kernel->range.buffer,
        .dynamic_shared_bytes = r->dynamic_shared_bytes,
        .stack_bytes = r->kernel->module->device->launch->stack_bytes,
        .arguments = arguments,
        .argument_bytes = argument_bytes,
    };
    e->arena = arena_create();
    e->entry = function->entry(function->description, &launch, e->arena, error);
    if (e->entry && place_image(e, memory, error) && place_local(e, r, resident, error))
        return true;
    launch_entry_destroy(e, memory);
    return false;
}

void launch_entry_destroy(struct launch_entry *e, struct memory *memory)
{
    struct error ignored; /* freeing an allocation cannot fail */
    if (e->address)
        memory_free(memory, e->address, &ignored);
    if (e->local_address)
        memory_free(memory, e->local_address, &ignored);
    if (e->arena)
        arena_destroy(e->arena);
    *e = (struct launch_entry){0};
}
