/*
 * The public API's objects: a device owns memory, modules and the records of its launches.
 */
#ifndef GPU_DEVICE_H
#define GPU_DEVICE_H

#include "base/config.h"
#include "chip/maps.h"
#include "exec/bounds.h"
#include "exec/texture.h"
#include "exec/warp.h"
#include "gpu/machine/energy.h"
#include "gpu/machine/params.h"
#include "gpu/mechanism/mechanisms.h"
#include "gpu/mechanism/observers.h"
#include "gpu/mechanism/plugins.h"
#include "gpu/observe/endless.h"
#include "gpu/observe/observer.h"
#include "gpu/observe/profile.h"
#include "gpu/time/timing.h"
#include "heddle/heddle.h"
#include "isa/ptx/ptx.h"
#include "isa/si/params.h"

struct hd_config {
    struct config *config;
    const struct mechanism *
        *available; /* NULL-terminated: those that are built in, then those of */
    VEC(struct plugin *) plugins;
    struct chip_maps *chip; /* NULL: none */
};
/* hd_config_create() with other mechanisms than the built-in ones, for tests. They must outlive
 * configuration and devices. */
struct hd_config *config_with(const struct mechanism *const *available);

/* The occupancy of a launch. */
struct occupancy {
    u32 blocks_per_core;
    const char *limit;    /* the resource that limits it */
    struct amounts needs; /* per block, in whole allocation units */
};

/* The record of a launch. */
struct launch_record {
    char *kernel;
    u32 grid[3], block[3];
    u32 registers;
    u64 pc;
    char *place;         /* "saxpy.cu:12" of the fault, or NULL */
    struct fault *fault; /* NULL: done */
    enum outcome outcome;
    struct exec_stats stats;
    struct memory_stats outside;   /* with memory.bounds=warn */
    struct occupancy occupancy;    /* `limit` NULL for raw programs */
    struct machine_stats *machine; /* NULL: functional */
    u8 *mechanisms;                /* counters of mechanisms, or NULL: none is on */
    struct energy_sum *energy;     /* NULL: functional */
    json_t *waiting;               /* of a deadlock in timing mode: observe/waiting.h; or NULL */
};

/* The order in which cores are simulated within a window; no result depends on it. */
enum core_order {
    ORDER_FORWARD,
    ORDER_REVERSE,
    ORDER_SHUFFLE
};

struct hd_device {
    struct config *config;
    const struct core_params *core;
    const struct gpu_params *gpu;
    const struct launch_params *launch;
    const struct ptx_params *ptx;
    const struct si_params *si;
    enum simd simd;
    struct memory *memory;
    struct heap heap;
    struct texture_table textures;
    struct hd_image *images;   /* a list */
    struct hd_module *modules; /* a list */
    output_fn *output;
    void *output_user;
    hd_note_fn *note; /* NULL: no callback */
    void *note_user;
    struct endless endless;
    VEC(struct launch_record) launches;
    struct exec_stats totals;
    struct bounds *bounds;                /* NULL: memory.bounds=fault */
    struct memory_stats outside_totals;   /* with bounds */
    struct machine_stats *machine_totals; /* NULL: no launch in timing mode */
    struct energy_model *energy;
    struct energy_sum *energy_totals; /* NULL: no launch in timing mode */
    struct mechanism_set mechanisms;
    VEC(struct plugin *) plugins; /* shared objects that `mechanisms` may come from */
    struct chip_maps *chip;       /* NULL: none */
    u8 *mechanism_totals;         /* NULL: none is on */
    struct fault last_fault;      /* its message is the last result's explanation */
    atomic_bool interrupt;
    atomic_ullong blocks_done, blocks_total, warp_instructions;
    atomic_ullong cycles, picoseconds; /* of the running launch so far */
    struct observer *observer;         /* NULL: none */
    enum core_order core_order;
    u64 core_order_seed;         /* ORDER_SHUFFLE */
    json_t *profiles;            /* of unloaded modules, or NULL */
    struct observers *observers; /* in functional mode; NULL: timing mode, or no mechanism is on */
    struct timing *timing;       /* NULL: all launches are functional */
    bool untimed;                /* launches are functional for now */
};

struct hd_kernel {
    struct hd_module *module;
    const struct function *function;
    struct hd_param_info *params;
    struct hd_range range; /* work_dim 0: not given */
    bool ranged;           /* a host runtime sets `range`; read by launch checks, which may run
                            * concurrently with another launch */
};

struct hd_module {
    struct hd_device *device;
    struct hd_module *next;
    struct program *program;
    struct image *image;
    u64 code_address;
    bool raw;        /* code without a container: placed in memory when a state is loaded */
    VEC(u64) pieces; /* addresses of the allocations for code and loaded data */
    struct inst_profile *profile; /* by instruction; NULL: no launch in timing mode */
    u64 *energy_fj;               /* by instruction; NULL as `profile` */
    struct hd_kernel *kernels;
    size_t kernel_count;
    u8 **marks; /* by kernel: exec.marks, computed on first use; in program->arena */
};

#endif
