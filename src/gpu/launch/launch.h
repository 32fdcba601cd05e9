/*
 * A launch from its request to its record.
 *
 * check.c refuses what cannot run, entry.c puts arguments and what machine code expects into
 * memory, launch.c prepares the launch and hands it to the machine in time (gpu/time) or to the
 * functional scheduler (functional.c), and record.c keeps what happened.
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
    u32 registers, scalars; /* that a warp takes of a core; 0: the kernel's */
};

/* check.c: false when the launch cannot run on this device */
bool launch_check(const struct launch_request *request, struct occupancy *occupancy,
                  struct error *error);
/* The part of it about what a core must hold. */
bool launch_resources(const struct launch_request *request, struct occupancy *occupancy,
                      struct error *error);
/* Local memory of a thread: static frames and, where depth is unknown, the stack. */
u64 launch_local_bytes(const struct hd_kernel *kernel);

/* launch.c: fills in what an exec takes from its device. */
void launch_set_device(struct exec *exec, struct hd_device *device);
/* Progress starts again. */
void launch_begin(struct hd_device *device, u64 blocks);
/* False when the launch cannot be set up. */
bool launch_run(const struct launch_request *request, const struct occupancy *occupancy,
                struct hd_result *result, struct error *error);

/* functional.c: runs all blocks without time, `resident` of them taking turns. */
void functional_run(struct hd_device *device, struct exec *exec, u64 blocks, u32 resident);

/* record.c: records the launch under a name, and gives its result. */
void launch_end(struct hd_device *device, const struct exec *exec, const char *name,
                struct hd_result *result);
/* Completes the record that launch_end has made, with what the machine knows of a
 * launch in time of the module. After a deadlock the warps that wait become the explanation. */
void launch_record_timing(struct hd_module *module, const struct timed_launch *timed,
                          struct hd_result *result);
/* The same with what mechanisms have counted in it. */
void launch_record_mechanisms(struct hd_device *device, const u8 *counts);
void launch_record_free(struct launch_record *launch);

/* entry.c: what a launch of machine code has in guest memory beside its arguments' buffers. */
struct launch_entry {
    struct arena *arena;
    const struct entry *entry; /* NULL: the kernel needs none */
    u64 address;               /* of the image */
    u64 local_address;         /* of local memory, 0: none */
};
/* `resident` blocks at once, fewer when local memory is scarce. */
bool launch_entry_create(struct launch_entry *entry, const struct launch_request *request,
                         const u8 *arguments, u32 argument_bytes, u32 *resident,
                         struct error *error);
void launch_entry_destroy(struct launch_entry *entry, struct memory *memory);

#endif
