/* Launches of the public API. */
#include "gpu/launch/launch.h"
#include "gpu/api/api.h"

static bool has_data(const struct hd_arg *args, size_t count)
{
    for (size_t i = 0; i < count; i++)
        if (!args || !args[i].data)
            return false;
    return true;
}

static struct launch_request request_of(struct hd_kernel *kernel, struct hd_dim grid,
                                        struct hd_dim block, u32 dynamic_shared_bytes,
                                        const struct hd_arg *args, size_t arg_count)
{
    return (struct launch_request){kernel, grid, block, dynamic_shared_bytes, args, arg_count};
}

bool hd_launch_check(struct hd_kernel *kernel, struct hd_dim grid, struct hd_dim block,
                     uint32_t dynamic_shared_bytes, const struct hd_arg *args, size_t arg_count,
                     struct hd_error *error)
{
    if (!kernel || (!args && arg_count))
        return api_null(error, "hd_launch_check");
    struct error inner = {0};
    struct occupancy occupancy;
    struct launch_request request =
        request_of(kernel, grid, block, dynamic_shared_bytes, args, arg_count);
    return launch_check(&request, &occupancy, &inner) || api_fail(error, &inner);
}

bool hd_kernel_occupancy(struct hd_kernel *kernel, struct hd_dim block,
                         uint32_t dynamic_shared_bytes, uint32_t *blocks, struct hd_error *error)
{
    if (!kernel || !blocks)
        return api_null(error, "hd_kernel_occupancy");
    struct error inner = {0};
    struct occupancy occupancy;
    struct launch_request request =
        request_of(kernel, (struct hd_dim){1, 1, 1}, block, dynamic_shared_bytes, NULL, 0);
    if (!launch_fits(&request, &occupancy, &inner))
        return api_fail(error, &inner);
    *blocks = occupancy.blocks_per_core;
    return true;
}

bool hd_launch(struct hd_kernel *kernel, struct hd_dim grid, struct hd_dim block,
               uint32_t dynamic_shared_bytes, const struct hd_arg *args, size_t arg_count,
               struct hd_result *result, struct hd_error *error)
{
    if (!kernel || !has_data(args, arg_count))
        return api_null(error, "hd_launch");
    struct error inner = {0};
    struct occupancy occupancy;
    struct hd_result unused;
    struct launch_request request =
        request_of(kernel, grid, block, dynamic_shared_bytes, args, arg_count);
    return (launch_check(&request, &occupancy, &inner) &&
            launch_run(&request, &occupancy, result ? result : &unused, &inner)) ||
           api_fail(error, &inner);
}

bool hd_set_timed(struct hd_device *device, bool timed, struct hd_error *error)
{
    if (!device)
        return api_null(error, "hd_set_timed");
    struct error inner = {0};
    if (timed && !device->timing)
        return error_set(&inner, ERROR_USAGE, "",
                         "the device was opened with timing.functional: it has no timing model") ||
               api_fail(error, &inner);
    device->untimed = !timed;
    return true;
}

bool hd_kernel_range(struct hd_kernel *kernel, const struct hd_range *range, struct hd_error *error)
{
    if (!kernel || !range)
        return api_null(error, "hd_kernel_range");
    struct error inner = {0};
    if (range->work_dim < 1 || range->work_dim > 3)
        return error_set(&inner, ERROR_USAGE, "", "work_dim is %u; expected 1 to 3",
                         range->work_dim) ||
               api_fail(error, &inner);
    kernel->range = *range;
    if (!kernel->ranged)
        kernel->ranged = true;
    return true;
}

/* The code reads %envreg1 (high half of the address) and %envreg2 (low half): u32 bytes, u32 arrivals. */
bool hd_kernel_grid_barrier(struct hd_kernel *kernel, struct hd_dim grid, struct hd_dim block,
                            uint32_t dynamic_shared_bytes, hd_address *counter,
                            struct hd_error *error)
{
    static const u32 start[2] = {sizeof start, 0};
    u32 blocks = 0;
    if (!kernel || !counter)
        return api_null(error, "hd_kernel_grid_barrier");
    struct hd_device *device = kernel->module->device;
    struct error inner = {0};
    if (!hd_kernel_occupancy(kernel, block, dynamic_shared_bytes, &blocks, error))
        return false;
    const u64 wanted = (u64)grid.x * grid.y * grid.z, most = (u64)blocks * device->gpu->cores;
    if (wanted > most)
        return error_set(&inner, ERROR_USAGE, "",
                         "a cooperative launch of %llu blocks: at most %llu fit at once",
                         (unsigned long long)wanted, (unsigned long long)most) ||
               api_fail(error, &inner);
    *counter = hd_alloc_named(device, sizeof start, "grid barrier", error);
    if (!*counter || !hd_write(device, *counter, start, sizeof start, error))
        return false;
    const struct hd_range range = {.work_dim = 3, .offset = {*counter << 32 | *counter >> 32}};
    return hd_kernel_range(kernel, &range, error);
}

const char *hd_outcome_name(enum hd_outcome outcome)
{
    return (u32)outcome <= HD_CHECK ? outcome_name((enum outcome)outcome) : "unknown";
}

void hd_interrupt(struct hd_device *device)
{
    if (device)
        atomic_store_explicit(&device->interrupt, true, memory_order_relaxed);
}

void hd_set_note(struct hd_device *device, hd_note_fn *note, void *user)
{
    if (!device)
        return;
    device->note = note;
    device->note_user = user;
}

void hd_progress(const struct hd_device *device, uint64_t *blocks_done, uint64_t *blocks_total,
                 uint64_t *warp_instructions)
{
    if (!device)
        return;
    u64 *const to[] = {blocks_done, blocks_total, warp_instructions};
    const atomic_ullong *const from[] = {&device->blocks_done, &device->blocks_total,
                                         &device->warp_instructions};
    for (u32 i = 0; i < ARRAY_LEN(to); i++)
        if (to[i])
            *to[i] = atomic_load_explicit(from[i], memory_order_relaxed);
}
