/*
 * A launch from its request to its record.
 *
 * check.c refuses launches that cannot run, entry.c puts arguments and the entry image of machine
 * code into memory, launch.c prepares the launch and runs it in timing mode (gpu/time) or on the
 * functional scheduler (functional.c), and record.c records the result.
 */
#ifndef GPU_LAUNCH_LAUNCH_H
#define GPU_LAUNCH_LAUNCH_H

#include "gpu/device.h"

struct launch_request {
    const struct hd_kernel *kernel;
    struct hd_dim grid, block;
    u32 dynamic_shared_bytes;
    const struct hd_arg *args;
    size_t arg_count;
    u32 registers, scalars; /* per warp on a core; 0: the kernel's */
};

/* check.c: false if the launch cannot run on this device */
bool launch_check(const struct launch_request *request, struct occupancy *occupancy,
                  struct error *error);
/* The parts of launch_check() about sizes, and about the resources of a core: both, and the second. */
bool launch_fits(const struct launch_request *request, struct occupancy *occupancy,
                 struct error *error);
bool launch_resources(const struct launch_request *request, struct occupancy *occupancy,
                      struct error *error);
/* Local memory of a thread: static frames and, if their depth is unknown, the stack. */
u64 launch_local_bytes(const struct hd_kernel *kernel);

/* launch.c: fills the fields of an exec that come from its device. */
void launch_set_device(struct exec *exec, struct hd_device *device);
/* Resets the progress counters. */
void launch_begin(struct hd_device *device, u64 blocks);
/* False if the launch cannot be set up. */
bool launch_run(const struct launch_request *request, const struct occupancy *occupancy,
                struct hd_result *result, struct error *error);

/* functional.c: runs all blocks functionally, `resident` of them taking turns. */
void functional_run(struct hd_device *device, struct exec *exec, u64 blocks, u32 resident);

/* record.c: records the launch under a name, and gives its result. */
void launch_end(struct hd_device *device, const struct exec *exec, const char *name,
                struct hd_result *result);
/* Completes the record of launch_end with the results of timing mode. After a deadlock the list of
 * waiting warps becomes the explanation. */
void launch_record_timing(struct hd_module *module, const struct timed_launch *timed,
                          struct hd_result *result);
/* Adds the counters of mechanisms to the record. */
void launch_record_mechanisms(struct hd_device *device, const u8 *counts);
void launch_record_free(struct launch_record *launch);

/* entry.c: guest memory of a launch of machine code, besides the buffers of its arguments. */
struct launch_entry {
    struct arena *arena;
    const struct entry_state *entry; /* NULL: the kernel needs none */
    u64 address;                     /* of the image */
    u64 local_address;               /* of local memory, 0: none */
};
/* For `resident` blocks at once; reduced if local memory is scarce. */
bool launch_entry_create(struct launch_entry *entry, const struct launch_request *request,
                         const u8 *arguments, u32 argument_bytes, u32 *resident,
                         struct error *error);
void launch_entry_destroy(struct launch_entry *entry, struct memory *memory);

#endif
