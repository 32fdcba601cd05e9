/*
 * libheddle: simulated GPUs. Open a device, load modules, launch kernels.
 *
 * Every fallible call returns false, 0 or NULL on failure and, if `error` is not NULL, fills it.
 * Passing NULL for a required object, name or data is such a failure; calls that cannot fail ignore
 * it. If the host has no memory left for the library itself, the process aborts. The library never
 * prints and never exits. Objects belong to the object they were created from; two devices share
 * nothing and may be used from two threads at once, one device from one thread at a time. A guest
 * fault is not an error: the launch succeeds and its outcome says what happened.
 */
#ifndef HEDDLE_HEDDLE_H
#define HEDDLE_HEDDLE_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#ifdef __cplusplus
extern "C" {
#endif

#if defined(__GNUC__)
#define HD_API __attribute__((visibility("default")))
#else
#define HD_API
#endif

/* "0.2.0" */
HD_API const char *hd_version(void);

/* ---- errors ---- */

enum hd_error_code {
    HD_OK = 0,
    HD_ERROR_INPUT,       /* a given file, text or object is wrong */
    HD_ERROR_USAGE,       /* an argument of the call is wrong */
    HD_ERROR_NOT_FOUND,   /* a named thing does not exist */
    HD_ERROR_UNSUPPORTED, /* correct, but not supported; the message lists every place */
    HD_ERROR_MEMORY,      /* device or host memory exhausted */
    HD_ERROR_SYSTEM,      /* the operating system refused */
    HD_ERROR_INTERRUPTED,
};

struct hd_error {
    enum hd_error_code code;
    char place[256];    /* "kernel.ptx:41:7", or "" */
    char message[2048]; /* one line or several */
};

/* ---- configuration ---- */

struct hd_config;

HD_API struct hd_config *hd_config_create(void); /* the default machine, "generic" */
/*
 * The default machine for a module: "generic", or "generic64" if its code requires warps of 64
 * lanes. `raw`: machine code for hd_module_load_raw; data may then be NULL.
 */
HD_API const char *hd_machine_for(const void *data, size_t bytes, bool raw);
HD_API void hd_config_destroy(struct hd_config *config);
/* Loads a machine by name or by the path of a YAML file. */
HD_API bool hd_config_load(struct hd_config *config, const char *machine, struct hd_error *error);
/* "key=value" */
HD_API bool hd_config_set(struct hd_config *config, const char *assignment, struct hd_error *error);
/*
 * "NAME[:parameter=value,...]" switches on a mechanism of hd_mechanisms_json and sets its
 * parameters: the same as setting NAME.on to true, and NAME.parameter. A name with a slash or
 * ending in ".so" is the path of a shared object with a mechanism (docs/write-a-mechanism.md),
 * which is then known to this configuration and to devices opened with it. Its values are like any
 * others: hd_config_load replaces them. To load a machine file that sets them, call this before,
 * and again to switch the mechanism on.
 */
HD_API bool hd_config_mechanism(struct hd_config *config, const char *text, struct hd_error *error);
/*
 * The chip that devices are: how the cells of its register files differ, for mechanisms that read this
 * ("chip" of hd_mechanisms_json); nothing else changes. `maps`: the bytes that 'heddle chip --maps' writes
 * (chip/maps.h); `name` is used in messages. NULL maps: none. Whether the chip fits the machine is
 * checked by hd_config_check and hd_device_open.
 */
HD_API bool hd_config_chip(struct hd_config *config, const void *maps, size_t bytes,
                           const char *name, struct hd_error *error);
/* The chip as JSON: {"name", "sha256"}, the hash of its maps; NULL: there is none. Free with
 * hd_free. */
HD_API char *hd_config_chip_json(const struct hd_config *config);
/* Whether the values fit together (line sizes, DRAM timing, host memory that the model would need);
 * the message says which values would. hd_device_open checks the same. */
HD_API bool hd_config_check(const struct hd_config *config, struct hd_error *error);
/*
 * Whether a parameter, as "component.name", has an effect on simulations with this configuration. NULL:
 * it has, as far as is known. Otherwise what would have to hold for that: "readonly.enabled=true".
 * Free with hd_free.
 */
HD_API char *hd_config_missing(const struct hd_config *config, const char *key);
/* The resolved configuration as JSON, which can be loaded as a machine file. Free with hd_free. */
HD_API char *hd_config_json(const struct hd_config *config);
/*
 * The origin of every value, as JSON: {"machine", "description", "parents": [names], "values":
 * [{"key", "value", "unit", "from", "source", "note", "inherited"}]}. Free with hd_free.
 */
HD_API char *hd_config_explain(const struct hd_config *config);
/*
 * Differences between two configurations, as JSON: {"a": machine, "b": machine, "values": [{"key",
 * "unit", "a", "b"}]}. Values of a mechanism that one of them has not loaded are null there. Free
 * with hd_free.
 */
HD_API char *hd_config_diff(const struct hd_config *a, const struct hd_config *b);
/*
 * Every storage element of the machine, as JSON: {"machine", "rows": [{"unit", "name", "owner",
 * "copies", "entries", "bits", "total_bits", "class", "help"}], "owners": [{"owner", "copies",
 * "live_bits", "counted_bits"}], "live_bits", "counted_bits"}. An owner's bits are those of one
 * copy, the last two those of the chip. The model holds the values of live bits; of counted bits it
 * knows only the number. If the machine file has published values, "published": {"source",
 * "modules": [{"name", "units", "parts", "each", "bits", "mm2", "mw", "note",
 * "our_bits", "their_bits", "difference"}]}, of one core; "units" null: all of them; "parts": of
 * energy. A row that a mechanism replaces has "replaced_by", the mechanism's name, and is in no sum.
 * Free with hd_free.
 */
HD_API char *hd_config_storage(const struct hd_config *config);
/* The bits of every storage element, in one owner, as JSON: {unit: {name: bits}}; 0 for an element
 * that a mechanism replaces. Free with hd_free. */
HD_API char *hd_config_bits(const struct hd_config *config);
/* launch.seed, the seed of random numbers. */
HD_API uint64_t hd_config_seed(const struct hd_config *config);
/*
 * The area of the machine with the mechanisms that are on, as JSON: {"machine", "technology":
 * {"nm", "volts", "celsius", "table"}, "rows": [{"unit", "name", "owner", "copies", "kind",
 * "mechanism", "entries", "bits", "total_bits", "banks", "access_bits", "ports", "area_um2",
 * "leakage_mw", "read_pj", "write_pj", "search_pj", "delay_ps", "owner_percent", "chip_percent",
 * "source", "help"}], "owners": [{"owner", "copies", "bits", "area_um2", "leakage_mw"}],
 * "front_end", "mechanisms": [{"name", "bits", "area_um2", "leakage_mw", "core", "adds_percent"}],
 * "chip"}. A row's costs are those of one owner. "kind" is array, compared, searched, flip-flops,
 * logic, or inside: registers within units, whose cost is included there; replaced: a mechanism,
 * named in "replaced_by", has other elements in its place, and it costs nothing; or the name that a
 * mechanism gives its cells. A row whose supply a mechanism sets has "supplied_by", "volts" and
 * "rate". "published" is as in hd_config_storage, with "our_mm2" and "our_leakage_mw" instead of
 * bits. Free with hd_free.
 */
HD_API char *hd_area_json(const struct hd_config *config);
/*
 * The array model compared with every published entry, as JSON: [{"table", "place", "what",
 * "element", "entries", "bits", ..., "area_um2": {"published", "model", "residual_percent"} or
 * null, "leakage_mw", "read_pj", "write_pj", "delay_ps", "note"}]. Cells of another kind (STT-RAM)
 * have no model and no residual. Free with hd_free.
 */
HD_API char *hd_area_residuals(void);
/*
 * The energy of events on the machine, and its leakage, as JSON: {"technology": {"nm", "volts",
 * "celsius", "table"}, "events": [{"counter", "part", "kind", "array", "bits", "pj", "from",
 * "source"}], "leakage": [{"part", "what", "copies", "mw", "from", "source"}], "without_events":
 * [storage elements]}. Rows that mechanisms change have more fields: "replaced_by", with a cost of
 * 0; "volts"; of leakage also "rate", which divides its time, "powered_by", a counter of which each
 * count costs "fj_per_count", and "off", the share of "mw" that leaks without power. Energies of
 * launches are among their statistics, under names that begin with "energy."; see docs/energy.md.
 * Free with hd_free.
 */
HD_API char *hd_energy_json(const struct hd_config *config, struct hd_error *error);
/* Properties of a machine that a host runtime reports to programs. */
struct hd_machine_info {
    const char *name;                   /* valid as long as the configuration */
    bool functional;                    /* functional mode: launches take no simulated time */
    uint32_t cores, lanes;              /* lanes: per warp */
    uint32_t block_threads, core_warps; /* maxima */
    uint32_t kernel_threads; /* maximum block size that compilers generate code for by default: 256
                              * for Southern Islands, else block_threads */
    uint32_t core_shared_bytes, block_shared_bytes;
    uint32_t l1_bytes, l2_bytes, line_bytes; /* of data caches; line_bytes: of the L2 */
    uint32_t address_bits;                   /* of device addresses: 32 or 64 */
    uint64_t memory_bytes, allocation_bytes; /* allocation_bytes: maximum of one allocation */
    double core_mhz;
    double copy_gbps, copy_ns; /* bandwidth and latency of copies between host and device */
    uint32_t capability;       /* CUDA's compute capability, ten times its version: 61 */
    uint32_t core_registers, core_blocks;
    double dram_mhz;    /* half of the transfers per second on a DRAM bus, as CUDA reports it */
    uint32_t dram_bits; /* of all DRAM buses */
};
HD_API bool hd_config_info(const struct hd_config *config, struct hd_machine_info *info,
                           struct hd_error *error);
/* The machines available by name: [{"name", "description", "parent", "place"}]. Free with
 * hd_free. */
HD_API char *hd_machines_json(void);
/*
 * The built-in mechanisms, as JSON: [{"name", "help", "source", "on", "path", "bytes",
 * "sha256", "params", "stats", "events", "replaces", "cells", "supplies", "powers", "storage",
 * "core_bits", "seams", "random", "chip", "deviations", "conflicts"}]. "path", "bytes" and "sha256" describe
 * the file of a loaded mechanism, else null. "params" and "stats" are rows as in hd_params_json and
 * hd_stats_table_json, "storage" as in hd_config_storage for the default machine; "core_bits" is its
 * part per core. An event is {"counter", "part", "kind": "read", "write", "search" or "logic",
 * "array", "bits", "pj", "nm", "source", "given"}, with null for what does not apply. The changes of
 * a machine's costs are "replaces": [{"element", "by", "part"}], "cells": [{"element", "cell",
 * "area_um2", "leakage_mw", "read_pj", "write_pj", "delay_ps", "area_share" (of the array model's),
 * "entries" (the numbers are for so many; null: for any), "nm", "source", "given"}], "supplies":
 * [{"element", "volts", "rate"}] and "powers": [{"element", "counter", "off", "part"}];
 * "given", "volts", "rate" and "off" name parameters. "random": it uses random numbers, so that
 * results depend on launch.seed. "chip": it needs a chip (hd_config_chip). The other lists are of words or sentences. Free with hd_free.
 */
HD_API char *hd_mechanisms_json(void);
/* hd_mechanisms_json for all mechanisms that a configuration knows, with its values. */
HD_API char *hd_config_mechanisms(const struct hd_config *config);
/* The mechanisms that were loaded from files, as JSON: [{"name", "on", "path", "bytes", "sha256"}].
 * Free with hd_free. */
HD_API char *hd_config_plugins(const struct hd_config *config);
/* The seams that mechanisms may fill, as JSON: [{"group", "name", "called", "decides"}], in the
 * order of the pipeline; hd_free it. */
HD_API char *hd_seams_json(void);

HD_API void hd_free(void *text);

/* ---- device and memory ---- */

struct hd_device;
typedef uint64_t hd_address; /* device addresses; 0 is never valid */

/* The configuration is copied. */
HD_API struct hd_device *hd_device_open(const struct hd_config *config, struct hd_error *error);
HD_API void hd_device_close(struct hd_device *device);

HD_API hd_address hd_alloc(struct hd_device *device, uint64_t bytes, struct hd_error *error);
/* hd_alloc with a name for messages about this memory. */
HD_API hd_address hd_alloc_named(struct hd_device *device, uint64_t bytes, const char *name,
                                 struct hd_error *error);
/*
 * Gives the device `bytes` of host memory, which both then share: at the address `at`, or at one that
 * the device chooses if that is 0. It takes no device memory. The host memory must stay until
 * hd_release, and HD_HOST_PADDING bytes after it must be readable.
 */
#define HD_HOST_PADDING 512
HD_API hd_address hd_alloc_host(struct hd_device *device, void *host, uint64_t bytes, hd_address at,
                                const char *name, struct hd_error *error);
HD_API bool hd_release(struct hd_device *device, hd_address address, struct hd_error *error);
HD_API bool hd_write(struct hd_device *device, hd_address to, const void *from, uint64_t bytes,
                     struct hd_error *error);
HD_API bool hd_read(struct hd_device *device, void *to, hd_address from, uint64_t bytes,
                    struct hd_error *error);
HD_API bool hd_copy(struct hd_device *device, hd_address to, hd_address from, uint64_t bytes,
                    struct hd_error *error);
HD_API bool hd_fill(struct hd_device *device, hd_address to, const void *pattern,
                    uint64_t pattern_bytes, uint64_t bytes, struct hd_error *error);

/* ---- textures and surfaces ---- */

/* What a component is, and as what it is read: integers; floats of 16 or 32 bits; integers as
 * floats from 0 to 1, or from -1 to 1. */
enum hd_texel {
    HD_TEXEL_UINT,
    HD_TEXEL_SINT,
    HD_TEXEL_FLOAT,
    HD_TEXEL_UNORM,
    HD_TEXEL_SNORM
};
/* In hd_image_shape.select. */
#define HD_CHANNEL_ZERO 4
#define HD_CHANNEL_ONE 5
struct hd_image_shape {
    uint32_t dimensions;                           /* 1 to 3, of a layer */
    uint32_t width, height, depth, layers, levels; /* in texels; 0: 1. A cube has six layers */
    bool cube;
    uint32_t channels, bits; /* 1, 2, 4; 8, 16, 32 each */
    enum hd_texel texel;
    /* Which component each result is, HD_CHANNEL_ZERO or HD_CHANNEL_ONE; all 0: those that there
     * are, then 0, 0 and 1. */
    uint8_t select[4];
    /* Not 0: texels are in memory at this address, rows `pitch` bytes apart, planes or layers `plane`;
     * one level. Otherwise they get memory of their own, in blocks. */
    hd_address address;
    uint64_t pitch, plane;
    uint32_t data_type, channel_order; /* what kernels read when they ask */
};
enum hd_texture_address {
    HD_TEXTURE_WRAP,
    HD_TEXTURE_CLAMP,
    HD_TEXTURE_MIRROR,
    HD_TEXTURE_BORDER
};
struct hd_sampler {
    enum hd_texture_address address[3];
    bool normalized, linear, levels_linear;
    uint32_t border[4]; /* bits of floats, or of integers as the texels are */
    float level_bias, level_min, level_max;
};
/* The sampler as a word, for kernels that get samplers as arguments; without border and levels. */
HD_API uint32_t hd_sampler_word(const struct hd_sampler *sampler);

struct hd_image;
HD_API struct hd_image *hd_image_create(struct hd_device *device,
                                        const struct hd_image_shape *shape, const char *name,
                                        struct hd_error *error);
HD_API void hd_image_destroy(struct hd_image *image);
/* Moves a box of texels of a level, between rows and planes of the host that are so many bytes apart.
 * The third coordinate is the depth or the layer. */
struct hd_box {
    uint32_t level, from[3], count[3];
    uint64_t row_bytes, plane_bytes;
};
HD_API bool hd_image_write(struct hd_image *image, const struct hd_box *box, const void *from,
                           struct hd_error *error);
HD_API bool hd_image_read(struct hd_image *image, const struct hd_box *box, void *to,
                          struct hd_error *error);
/* The bytes of a texel of a shape, for a colour: floats, or integers as the texels are. 0: failure. */
HD_API uint32_t hd_texel_bytes(const struct hd_image_shape *shape, const uint32_t color[4],
                               uint8_t bytes[16]);
/* A handle by which kernels read an image, or write it as a surface; `texel`: as what they read it,
 * which must fit the image's. 0: failure. */
HD_API uint64_t hd_texture_create(struct hd_image *image, enum hd_texel texel,
                                  const struct hd_sampler *sampler, struct hd_error *error);
HD_API void hd_texture_destroy(struct hd_device *device, uint64_t handle);

/* Receives guest printf output, in whole calls; by default it is dropped. */
typedef void hd_output_fn(void *user, const char *text, size_t length);
HD_API void hd_set_output(struct hd_device *device, hd_output_fn *output, void *user);

/* ---- modules and kernels ---- */

struct hd_module;
struct hd_kernel;

/*
 * Loads PTX text or an AMDHSA code object for Southern Islands, distinguished by their bytes;
 * `name` is used in messages. Text need not be terminated. A code object requires a machine with
 * warps of 64 lanes.
 */
HD_API struct hd_module *hd_module_load(struct hd_device *device, const void *data, size_t bytes,
                                        const char *name, struct hd_error *error);
HD_API void hd_module_unload(struct hd_module *module);
/* Address and size of a global or constant variable. */
HD_API bool hd_module_variable(struct hd_module *module, const char *name, hd_address *address,
                               uint64_t *bytes, struct hd_error *error);
/* The handle of a texture or surface reference, for hd_texture_bind. */
HD_API bool hd_module_texture(struct hd_module *module, const char *name, uint64_t *handle,
                              struct hd_error *error);
/* Makes a handle stand for an image, from the next launch on; NULL image: for none. */
HD_API bool hd_texture_bind(struct hd_device *device, uint64_t handle, struct hd_image *image,
                            enum hd_texel texel, const struct hd_sampler *sampler,
                            struct hd_error *error);
/* The code as the machine executes it; kernel may be NULL for all. Free with hd_free. */
HD_API char *hd_module_listing(struct hd_module *module, const char *kernel,
                               struct hd_error *error);
/* The code with marks of the instructions that all warps of a block execute with the same values:
 * DR always, CR where rows of threads along x fill warps evenly, CY where planes of x and y do, V
 * otherwise. block: NULL, or a shape; marks that hold in blocks of this shape get an asterisk. */
struct hd_dim;
HD_API char *hd_module_marks(struct hd_module *module, const char *kernel,
                             const struct hd_dim *block, struct hd_error *error);
/* The code with the lifetimes of results in vector registers: the instructions on the longest path
 * to their last read. S marks values that live at most `limit` instructions (0: 10), L others, SL
 * short-lived values in a register that also holds long-lived ones. */
HD_API char *hd_module_lifetimes(struct hd_module *module, const char *kernel, uint32_t limit,
                                 struct hd_error *error);
/* The code with its idempotent regions: before each instruction, why one begins there. */
HD_API char *hd_module_regions(struct hd_module *module, const char *kernel,
                               struct hd_error *error);

HD_API size_t hd_kernel_count(const struct hd_module *module);
HD_API struct hd_kernel *hd_kernel_at(struct hd_module *module, size_t index);
/* NULL name: the only kernel; an error if there are several. */
HD_API struct hd_kernel *hd_kernel_find(struct hd_module *module, const char *name,
                                        struct hd_error *error);

struct hd_param_info {
    const char *name;
    uint32_t offset, size, align; /* bytes in the parameter block */
    const char *type;             /* element type, "u64"; "b8" arrays are structures */
    bool is_array;
    bool is_shared; /* an offset in the block's shared memory: dynamic arrays begin after
                     * hd_kernel_info.shared_bytes */
};

struct hd_kernel_info {
    const char *name;
    uint32_t param_count;
    const struct hd_param_info *params;
    uint32_t registers;    /* vector registers per thread, including all reachable code */
    uint32_t masks;        /* predicate registers */
    uint32_t scalars;      /* scalar registers per warp */
    uint32_t max_live;     /* maximum of live words in the kernel itself */
    uint32_t spill_bytes;  /* per thread */
    uint64_t local_bytes;  /* per thread, static part */
    uint32_t shared_bytes; /* static part */
    uint32_t max_threads;  /* .maxntid product, 0 = not given */
    uint32_t instructions; /* of the kernel itself, after lowering */
};
HD_API void hd_kernel_info(const struct hd_kernel *kernel, struct hd_kernel_info *info);
/*
 * What OpenCL passes to a kernel besides its arguments, for subsequent launches. Southern Islands
 * code reads it from its hidden arguments; PTX from %envreg0 (work_dim), %envreg1 to 6 (offsets,
 * low words first) and %envreg7, 8 (buffer). Before the first call PTX reads zeros; Southern
 * Islands code reads zero offsets and as many dimensions as are not 1.
 */
struct hd_range {
    uint32_t work_dim;  /* 1 to 3 */
    uint64_t offset[3]; /* added to global thread numbers */
    hd_address buffer;  /* printf buffer of the runtime's code; 0: none */
};
HD_API bool hd_kernel_range(struct hd_kernel *kernel, const struct hd_range *range,
                            struct hd_error *error);
/* Every unsupported instruction that a launch could reach, for which it would be refused: one line
 * "place: instruction (why)" each, "" if there is none. Free with hd_free. */
HD_API char *hd_kernel_unsupported(const struct hd_kernel *kernel);

/* ---- launch ---- */

struct hd_dim {
    uint32_t x, y, z;
};

struct hd_arg {
    const void *data; /* little-endian bytes of the value */
    uint32_t size;    /* must equal the parameter's */
};

enum hd_outcome {
    HD_DONE = 0,
    HD_OUT_OF_BOUNDS,
    HD_USE_AFTER_FREE,
    HD_MISALIGNED,
    HD_READ_ONLY,
    HD_DEADLOCK,
    HD_STACK_OVERFLOW,
    HD_BAD_CALL,
    HD_ASSERT,
    HD_TRAP,
    HD_HEAP,
    HD_LIMIT,
    HD_STOPPED, /* hd_interrupt was called */
    HD_CHECK,   /* a mechanism's check failed; the launch has run to its end */
};
HD_API const char *hd_outcome_name(enum hd_outcome outcome); /* "out_of_bounds" */

struct hd_result {
    enum hd_outcome outcome;
    const char *explanation; /* valid until the next launch on the device; "" if done */
    const char *warnings;    /* accesses beyond buffers, with memory.bounds=warn; valid as long */
    uint64_t cycles;         /* 0 in functional mode */
    uint64_t picoseconds;    /* simulated time; 0 in functional mode */
    uint64_t warp_instructions;
    uint64_t thread_instructions;
};

/* Runs a kernel to the end. Device memory keeps what was written even if the outcome is a fault. */
HD_API bool hd_launch(struct hd_kernel *kernel, struct hd_dim grid, struct hd_dim block,
                      uint32_t dynamic_shared_bytes, const struct hd_arg *args, size_t arg_count,
                      struct hd_result *result, struct hd_error *error);

/*
 * Performs the checks of hd_launch without launching: sizes against the machine and the kernel,
 * arguments against the parameters, unsupported instructions the kernel can reach. Only the size of
 * an argument is checked, so its data may be NULL.
 */
HD_API bool hd_launch_check(struct hd_kernel *kernel, struct hd_dim grid, struct hd_dim block,
                            uint32_t dynamic_shared_bytes, const struct hd_arg *args,
                            size_t arg_count, struct hd_error *error);

/* The number of blocks of such a launch that a core holds at once; false: a launch of this size would be
 * refused. */
HD_API bool hd_kernel_occupancy(struct hd_kernel *kernel, struct hd_dim block,
                                uint32_t dynamic_shared_bytes, uint32_t *blocks,
                                struct hd_error *error);

/*
 * Whether subsequent launches run in timing mode or in functional mode. A device opened with
 * timing.functional has no timing mode.
 */
HD_API bool hd_set_timed(struct hd_device *device, bool timed, struct hd_error *error);

/*
 * Asks the running launch to stop soon, or the next one if none is running; safe from a signal
 * handler and from other threads.
 */
HD_API void hd_interrupt(struct hd_device *device);

/* Progress of the running launch, safe from other threads; any pointer may be NULL. */
HD_API void hd_progress(const struct hd_device *device, uint64_t *blocks_done,
                        uint64_t *blocks_total, uint64_t *warp_instructions);

/* Simulated time of the running launch; 0 in functional mode. As safe as hd_progress. */
HD_API void hd_progress_time(const struct hd_device *device, uint64_t *cycles,
                             uint64_t *picoseconds);

/*
 * Called from within hd_launch, at most once per launch, if warps repeat a loop with the same
 * registers and no other warp makes progress, so that the launch may never end: a line of text
 * about it. It is also part of the explanation of a launch that a limit or hd_interrupt stops.
 * NULL: no callback.
 */
typedef void hd_note_fn(void *user, const char *kernel, const char *text);
HD_API void hd_set_note(struct hd_device *device, hd_note_fn *note, void *user);

/* ---- traces and time series ---- */

/* Receives the next bytes of a file, or one line of text with its newline. Called from within
 * hd_launch. */
typedef void hd_bytes_fn(void *user, const void *data, size_t bytes);

struct hd_observe {
    hd_bytes_fn *trace; /* a trace; NULL: none */
    void *trace_user;
    bool trace_events;       /* lines of JSON (docs/events.md), not a Perfetto trace; the mechanism
                                   * `causes` adds what `heddle why` needs */
    const char *trace_cores; /* only these: "0,4-7"; NULL: all */
    bool trace_longest;      /* of each kernel, only what surrounds the longest stall of a warp:
                                   * needs trace_events, and neither trace_from nor trace_to */
    uint64_t trace_from, trace_to; /* only this span, in core cycles over all launches;
                                    * trace_to 0: to the end */
    uint64_t interval;   /* core cycles between two samples; 0: none, and 1,000 for a trace */
    hd_bytes_fn *series; /* each sample as a line of JSON; NULL: none */
    void *series_user;
};

/*
 * Starts tracing with the next launch; functional launches are not traced. NULL ends it: only then
 * is a trace complete. Closing the device ends it, too.
 */
HD_API bool hd_observe(struct hd_device *device, const struct hd_observe *what,
                       struct hd_error *error);

/*
 * The order in which cores are simulated within a window of time: "forward", "reverse" or
 * "shuffle:N". No statistic may depend on it; for tests of this.
 */
HD_API bool hd_set_core_order(struct hd_device *device, const char *order, struct hd_error *error);

/*
 * The threads of this process that share the work of a launch in timing mode, the caller's own
 * included: a number, or "auto": as many as the host has cores for this process. The default is 1,
 * and no thread is created. Results are the same, byte for byte, for every number; functional
 * launches use one thread. Between launches only.
 *
 * Threads are started by the first launch and end with the device. They block all signals. In a
 * child process after fork() a device has none: the child's next launch starts its own.
 */
HD_API bool hd_set_threads(struct hd_device *device, const char *threads, struct hd_error *error);
/* The number that launches use: at most one more than the machine has cores; 1 if the device models
 * no time, or a mechanism is on that says it needs one thread. */
HD_API uint32_t hd_threads(const struct hd_device *device);

/*
 * The processor time that the host took for the parts of a window, in nanoseconds: how launches
 * could be shared among threads.
 */
struct hd_window_times {
    const uint64_t *cores; /* by core; 0: it did not run */
    uint32_t core_count;
    uint64_t memory;  /* networks, L2 and DRAM */
    uint64_t between; /* since the last window; 0 in the first one of a launch */
};
typedef void hd_window_fn(void *user, const struct hd_window_times *times);
/* `take` is called after each window of later launches in timing mode, which use one thread as long
 * as they are measured; NULL ends it. */
HD_API void hd_measure_windows(struct hd_device *device, hd_window_fn *take, void *user);

/* ---- raw programs ---- */

/*
 * Southern Islands machine code without a container, for programs written in assembly and for tests
 * of single instructions: a state describes the waves, their registers and memory; the code runs; a
 * dump describes the final state.
 *
 * A state is JSON:
 *
 *   {"waves": [{"workgroup": 0, "threads": 64, "pc": 0, "lds_bytes": 0, "sgpr": {"0": N, ...},
 *               "vgpr": {"0": [a value for each lane], ...}, "exec": "0x...", ...}],
 *    "memory": [{"address": "0x0", "hex": ".."}]}
 *
 * See docs/southern-islands.md. Waves of one workgroup share LDS and barriers. In timing mode the
 * workgroups are the blocks of one launch, else they run one after the other. The memory regions
 * are the only memory besides the code itself.
 */

/* A module without kernels to launch: it can be listed, and run from a state. */
HD_API struct hd_module *hd_module_load_raw(struct hd_device *device, const void *code,
                                            size_t bytes, const char *name, struct hd_error *error);

struct hd_raw;

/*
 * Checks a state against the code and allocates its memory, which must not be in use. `name` is
 * used in messages. Unknown and unsupported instructions that a wave can reach are errors here.
 * Destroy before the module is unloaded.
 */
HD_API struct hd_raw *hd_raw_create(struct hd_module *module, const char *state, size_t bytes,
                                    const char *name, struct hd_error *error);
HD_API void hd_raw_destroy(struct hd_raw *raw);

/* One line of JSON per completed instruction or, in timing mode, per step of an instruction;
 * terminated, without a newline. */
typedef void hd_trace_fn(void *user, const char *line, size_t length);

/* Runs to the end, once, in timing mode unless the device is functional. `trace` may be NULL.
 * Counts as a launch of the device. */
HD_API bool hd_raw_run(struct hd_raw *raw, hd_trace_fn *trace, void *user, struct hd_result *result,
                       struct hd_error *error);

/* The current waves and memory as a state in JSON. Free with hd_free. */
HD_API char *hd_raw_dump(const struct hd_raw *raw);

struct hd_raw_info {
    uint32_t workgroups, waves;
    uint32_t threads;   /* of the largest workgroup, 64 per wave */
    uint32_t registers; /* vector registers per thread that the code uses */
};
HD_API void hd_raw_info(const struct hd_raw *raw, struct hd_raw_info *info);

/* ---- statistics ---- */

/*
 * The launches of this device so far, as JSON:
 * {"launches": [{"kernel", "grid", "block", ..., "stats": {...}}], "totals": {...}, "profile":
 * [{"module", "function", "instructions": [...]}]}. See docs/statistics-json.md. Free with
 * hd_free.
 */
HD_API char *hd_stats_json(const struct hd_device *device);

/* One of these launches as a line of JSON, without a newline; NULL: no launch of that index, or it
 * has been forgotten. Free with hd_free. */
HD_API char *hd_launch_json(const struct hd_device *device, size_t index);
/*
 * For programs with very many launches: the names of all counters of a launch as a JSON array, and
 * a launch's counters added to `count` numbers in that order; false: no such launch, or `count` is
 * not the number of names. Energies ("..._pj") are in fJ here. A forgotten launch takes no more
 * memory: hd_stats_json omits it, but includes it in the totals.
 */
HD_API char *hd_counters_json(const struct hd_device *device);
HD_API bool hd_launch_add(const struct hd_device *device, size_t index, uint64_t *counts,
                          size_t count);
HD_API void hd_launch_forget(struct hd_device *device, size_t index);
/* The profile of the code run so far, by instruction: "profile" of hd_stats_json, in one line. */
HD_API char *hd_profile_json(const struct hd_device *device);
/*
 * Totals of launches from hd_launch_json, perhaps of other processes: turns a JSON array of them
 * into the object "totals" of hd_stats_json. `config` knows the mechanisms that were on; NULL: they
 * are built in. Free with hd_free.
 */
HD_API char *hd_stats_total(const struct hd_config *config, const char *launches, size_t bytes,
                            struct hd_error *error);

/* The tables behind `heddle params` and `heddle stats`, as JSON arrays. A parameter of type "size" has
 * no value of its own: setting it sets the parameter "solved", so that the product with "factors" is
 * the given number. Free with hd_free. */
HD_API char *hd_params_json(void);
HD_API char *hd_stats_table_json(void);

#ifdef __cplusplus
}
#endif

#endif
