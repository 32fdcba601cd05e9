/*
 * libheddle: a GPU to open, load and launch on.
 *
 * Every fallible call returns false, 0 or NULL on failure and, when `error` is not NULL, fills it;
 * NULL where an object, a name or data is needed is such a failure, and calls that cannot fail do
 * nothing with it. When the host has no memory left for the library itself, the process aborts.
 * The library never prints and never exits. Objects belong to the one they were made from; two
 * devices share nothing and may be used from two threads at once, one device from one thread at a
 * time. A guest fault is not an error: the launch succeeds and its outcome says what happened.
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
    HD_ERROR_INPUT,       /* a file, text or object given is wrong */
    HD_ERROR_USAGE,       /* an argument of the call is wrong */
    HD_ERROR_NOT_FOUND,   /* a named thing does not exist */
    HD_ERROR_UNSUPPORTED, /* right, but not supported; the message lists every place */
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
 * The default machine for a module: "generic", or "generic64" when its code is made for warps of 64
 * lanes. `raw`: machine code as hd_module_load_raw takes it; data may be NULL then.
 */
HD_API const char *hd_machine_for(const void *data, size_t bytes, bool raw);
HD_API void hd_config_destroy(struct hd_config *config);
/* A machine by name or by path of a YAML file. */
HD_API bool hd_config_load(struct hd_config *config, const char *machine, struct hd_error *error);
/* "key=value" */
HD_API bool hd_config_set(struct hd_config *config, const char *assignment, struct hd_error *error);
/*
 * "NAME[:parameter=value,...]" switches a mechanism on that hd_mechanisms_json names and sets
 * parameters of it: the same as setting NAME.on to true, and NAME.parameter. What has a slash or
 * ends in ".so" is the path of a shared object with a mechanism (docs/write-a-mechanism.md), which
 * this configuration and devices opened with it know from then on. Its values are those of any
 * other: hd_config_load replaces them. To load a machine that names them, call this before, and
 * again to switch it on.
 */
HD_API bool hd_config_mechanism(struct hd_config *config, const char *text, struct hd_error *error);
/* Whether the values fit each other (line sizes, DRAM timing, what the model would need of the
 * host's memory); the message says which values would. hd_device_open asks the same. */
HD_API bool hd_config_check(const struct hd_config *config, struct hd_error *error);
/* The resolved configuration as JSON; it loads again as a machine file. Free with hd_free. */
HD_API char *hd_config_json(const struct hd_config *config);
/*
 * Where every value comes from, as JSON: {"machine", "description", "parents": [names], "values":
 * [{"key", "value", "unit", "from", "source", "note", "inherited"}]}. Free with hd_free.
 */
HD_API char *hd_config_explain(const struct hd_config *config);
/*
 * Where two configurations differ, as JSON: {"a": machine, "b": machine, "values": [{"key", "unit",
 * "a", "b"}]}. Values of a mechanism that one of them has not loaded are null there. Free with
 * hd_free.
 */
HD_API char *hd_config_diff(const struct hd_config *a, const struct hd_config *b);
/*
 * Every storage element of the machine, as JSON: {"machine", "rows": [{"unit", "name", "owner",
 * "copies", "entries", "bits", "total_bits", "class", "help"}], "owners": [{"owner", "copies",
 * "live_bits", "counted_bits"}], "live_bits", "counted_bits"}. An owner's bits are those of one
 * copy, the last two those of the chip. Live bits are held by the model, of counted ones it knows
 * only the number. Where the machine's file says what has been published about it, "published":
 * {"source", "modules": [{"name", "units", "parts", "each", "bits", "mm2", "mw", "note",
 * "our_bits", "their_bits", "difference"}]}, of one core; "units" null: all of them; "parts": of
 * energy. Free with hd_free.
 */
HD_API char *hd_config_storage(const struct hd_config *config);
/*
 * The area of the machine with the mechanisms that are on, as JSON: {"machine", "technology":
 * {"nm", "volts", "celsius", "table"}, "rows": [{"unit", "name", "owner", "copies", "kind",
 * "mechanism", "entries", "bits", "total_bits", "banks", "access_bits", "ports", "area_um2",
 * "leakage_mw", "read_pj", "write_pj", "search_pj", "delay_ps", "owner_percent", "chip_percent",
 * "source", "help"}], "owners": [{"owner", "copies", "bits", "area_um2", "leakage_mw"}],
 * "front_end", "mechanisms": [{"name", "bits", "area_um2", "leakage_mw", "core", "adds_percent"}],
 * "chip"}. A row's costs are those of one owner. "kind" is array, compared, searched, flip-flops,
 * logic, or inside: registers within units, which cost nothing beside these. "published" is as of
 * hd_config_storage, with "our_mm2" and "our_leakage_mw" instead of bits. Free with hd_free.
 */
HD_API char *hd_area_json(const struct hd_config *config);
/*
 * The array model beside every published entry, as JSON: [{"table", "place", "what", "element",
 * "entries", "bits", ..., "area_um2": {"published", "model", "residual_percent"} or null,
 * "leakage_mw", "read_pj", "write_pj", "delay_ps", "note"}]. Cells of another kind (STT-RAM) have
 * no model and no residual. Free with hd_free.
 */
HD_API char *hd_area_residuals(void);
/*
 * What events cost on the machine and what leaks, as JSON: {"technology": {"nm", "volts",
 * "celsius", "table"}, "events": [{"counter", "part", "kind", "array", "bits", "pj", "from",
 * "source"}], "leakage": [{"part", "what", "copies", "mw", "from", "source"}], "without_events":
 * [elements of storage]}. Energies of launches are among their statistics, under names that begin
 * with "energy."; docs/energy.md has all of it. Free with hd_free.
 */
HD_API char *hd_energy_json(const struct hd_config *config, struct hd_error *error);
/* What a host runtime tells its programs of a machine. */
struct hd_machine_info {
    const char *name;                   /* lives as long as the configuration */
    bool functional;                    /* launches take no simulated time */
    uint32_t cores, lanes;              /* lanes: of a warp */
    uint32_t block_threads, core_warps; /* at most */
    uint32_t kernel_threads; /* of a block, at most, that compilers make code for by default: 256
                              * for Southern Islands, else block_threads */
    uint32_t core_shared_bytes, block_shared_bytes;
    uint32_t l1_bytes, l2_bytes, line_bytes; /* of data caches; line_bytes: of the L2 */
    uint64_t memory_bytes, allocation_bytes; /* allocation_bytes: the largest single one */
    double core_mhz;
    double copy_gbps, copy_ns; /* what a copy between host and device takes */
};
HD_API bool hd_config_info(const struct hd_config *config, struct hd_machine_info *info,
                           struct hd_error *error);
/* The machines that can be named: [{"name", "description", "parent", "place"}]; hd_free it. */
HD_API char *hd_machines_json(void);
/*
 * The mechanisms that are built in, as JSON: [{"name", "help", "source", "on", "path", "bytes",
 * "sha256", "params", "stats", "events", "storage", "core_bits", "seams", "deviations",
 * "conflicts"}]. "path", "bytes" and "sha256" are of the file of one that was loaded, else null.
 * "params" and "stats" are rows as of hd_params_json and hd_stats_table_json, "storage" as of
 * hd_config_storage on the default machine, of which "core_bits" are those of a core. An event is
 * {"counter", "part", "kind": "read", "write", "search" or "logic", "array", "bits", "pj", "nm",
 * "source", "given"}, with null for what does not apply. The other lists are of words or sentences.
 * hd_free it.
 */
HD_API char *hd_mechanisms_json(void);
/* The same of all that a configuration knows, with its values. */
HD_API char *hd_config_mechanisms(const struct hd_config *config);
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
/* The same with a name that messages about this memory use. */
HD_API hd_address hd_alloc_named(struct hd_device *device, uint64_t bytes, const char *name,
                                 struct hd_error *error);
HD_API bool hd_release(struct hd_device *device, hd_address address, struct hd_error *error);
HD_API bool hd_write(struct hd_device *device, hd_address to, const void *from, uint64_t bytes,
                     struct hd_error *error);
HD_API bool hd_read(struct hd_device *device, void *to, hd_address from, uint64_t bytes,
                    struct hd_error *error);
HD_API bool hd_copy(struct hd_device *device, hd_address to, hd_address from, uint64_t bytes,
                    struct hd_error *error);
HD_API bool hd_fill(struct hd_device *device, hd_address to, const void *pattern,
                    uint64_t pattern_bytes, uint64_t bytes, struct hd_error *error);

/* What guest printf writes goes here, in whole calls; the default drops it. */
typedef void hd_output_fn(void *user, const char *text, size_t length);
HD_API void hd_set_output(struct hd_device *device, hd_output_fn *output, void *user);

/* ---- modules and kernels ---- */

struct hd_module;
struct hd_kernel;

/*
 * PTX text or an AMDHSA code object for Southern Islands, told apart by their bytes; `name` stands
 * for it in messages. Text need not be terminated. A code object runs on machines with warps of 64
 * lanes.
 */
HD_API struct hd_module *hd_module_load(struct hd_device *device, const void *data, size_t bytes,
                                        const char *name, struct hd_error *error);
HD_API void hd_module_unload(struct hd_module *module);
/* Address and size of a global or constant variable. */
HD_API bool hd_module_variable(struct hd_module *module, const char *name, hd_address *address,
                               uint64_t *bytes, struct hd_error *error);
/* The code as the machine sees it; kernel may be NULL for all. Free with hd_free. */
HD_API char *hd_module_listing(struct hd_module *module, const char *kernel,
                               struct hd_error *error);
/* The code with marks of the instructions that all warps of a block execute with the same values:
 * DR always, CR where rows of threads along x fill warps evenly, CY where planes of x and y do, V
 * otherwise. block: NULL, or a shape; marks that hold in blocks of this shape get an asterisk. */
struct hd_dim;
HD_API char *hd_module_marks(struct hd_module *module, const char *kernel,
                             const struct hd_dim *block, struct hd_error *error);

HD_API size_t hd_kernel_count(const struct hd_module *module);
HD_API struct hd_kernel *hd_kernel_at(struct hd_module *module, size_t index);
/* NULL name: the only kernel; an error when there are several. */
HD_API struct hd_kernel *hd_kernel_find(struct hd_module *module, const char *name,
                                        struct hd_error *error);

struct hd_param_info {
    const char *name;
    uint32_t offset, size, align; /* bytes in the parameter block */
    const char *type;             /* element type, "u64"; "b8" arrays are structures */
    bool is_array;
    bool is_shared; /* an offset in the block's shared memory: dynamic arrays begin behind
                     * hd_kernel_info.shared_bytes */
};

struct hd_kernel_info {
    const char *name;
    uint32_t param_count;
    const struct hd_param_info *params;
    uint32_t registers;    /* vector registers a thread, all reachable code included */
    uint32_t masks;        /* predicate registers */
    uint32_t scalars;      /* scalar registers a warp */
    uint32_t max_live;     /* words live at once in the kernel itself */
    uint32_t spill_bytes;  /* a thread */
    uint64_t local_bytes;  /* a thread, static part */
    uint32_t shared_bytes; /* static part */
    uint32_t max_threads;  /* .maxntid product, 0 = not said */
    uint32_t instructions; /* of the kernel itself, after lowering */
};
HD_API void hd_kernel_info(const struct hd_kernel *kernel, struct hd_kernel_info *info);
/*
 * What OpenCL gives a kernel beside its arguments, for launches from now on. Southern Islands code
 * finds it in its hidden arguments; PTX in %envreg0 (work_dim), %envreg1 to 6 (offsets, low words
 * first) and %envreg7, 8 (buffer). Before the first call PTX reads zeros; Southern Islands code
 * zero offsets and as many dimensions as are not 1.
 */
struct hd_range {
    uint32_t work_dim;  /* 1 to 3 */
    uint64_t offset[3]; /* of global thread numbers */
    hd_address buffer;  /* where code of the runtime leaves what kernels print; 0: nowhere */
};
HD_API bool hd_kernel_range(struct hd_kernel *kernel, const struct hd_range *range,
                            struct hd_error *error);
/* Every unsupported instruction that a launch could reach, and for which it would be refused: a
 * line "place: instruction (why)" each, "" when there is none. Free with hd_free. */
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
    HD_CHECK,   /* a mechanism's check of itself failed; the launch has run to its end */
};
HD_API const char *hd_outcome_name(enum hd_outcome outcome); /* "out_of_bounds" */

struct hd_result {
    enum hd_outcome outcome;
    const char *explanation; /* lives until the next launch on the device; "" when done */
    const char *warnings;    /* accesses beyond buffers, with memory.bounds=warn; lives as long */
    uint64_t cycles;         /* 0 in functional mode, */
    uint64_t picoseconds;    /* and so is the simulated time */
    uint64_t warp_instructions;
    uint64_t thread_instructions;
};

/* Runs to the end. Device memory keeps what was written even if the outcome is a fault. */
HD_API bool hd_launch(struct hd_kernel *kernel, struct hd_dim grid, struct hd_dim block,
                      uint32_t dynamic_shared_bytes, const struct hd_arg *args, size_t arg_count,
                      struct hd_result *result, struct hd_error *error);

/*
 * All that hd_launch checks before it starts: sizes against the machine and the kernel, arguments
 * against the parameters, unsupported instructions the kernel can reach. Only the size of an
 * argument is looked at, so its data may be NULL.
 */
HD_API bool hd_launch_check(struct hd_kernel *kernel, struct hd_dim grid, struct hd_dim block,
                            uint32_t dynamic_shared_bytes, const struct hd_arg *args,
                            size_t arg_count, struct hd_error *error);

/*
 * Whether launches from now on are modelled in time or only computed. A device that was opened with
 * timing.functional has no time to model.
 */
HD_API bool hd_set_timed(struct hd_device *device, bool timed, struct hd_error *error);

/*
 * Asks the running launch to stop soon, or the next one when none is running; safe from a signal
 * handler and from other threads.
 */
HD_API void hd_interrupt(struct hd_device *device);

/* Progress of the running launch, safe from other threads; what is not wanted may be NULL. */
HD_API void hd_progress(const struct hd_device *device, uint64_t *blocks_done,
                        uint64_t *blocks_total, uint64_t *warp_instructions);

/* How far the running launch is in its own time; 0 in functional mode. Safe as hd_progress is. */
HD_API void hd_progress_time(const struct hd_device *device, uint64_t *cycles,
                             uint64_t *picoseconds);

/*
 * Called from within hd_launch, at most once a launch, when warps repeat a loop with the same
 * registers and no other warp gets any further, so that the launch may never end: a line of text
 * about it. The explanation of a launch that a limit or hd_interrupt stops has it, too. NULL: tell
 * nobody.
 */
typedef void hd_note_fn(void *user, const char *kernel, const char *text);
HD_API void hd_set_note(struct hd_device *device, hd_note_fn *note, void *user);

/* ---- watching launches in time ---- */

/* The next bytes of a file, or one line of text with its newline. Called from within hd_launch. */
typedef void hd_bytes_fn(void *user, const void *data, size_t bytes);

struct hd_observe {
    hd_bytes_fn *trace; /* a trace for the Perfetto viewer; NULL: none */
    void *trace_user;
    uint64_t trace_from, trace_to; /* only this span, in core cycles of all launches together; a
                                    * trace_to of 0: to the end */
    uint64_t interval;   /* core cycles between two samples; 0: none, and 1,000 for a trace */
    hd_bytes_fn *series; /* each sample as a line of JSON; NULL: none */
    void *series_user;
};

/*
 * From the next launch on the device tells what happens; functional launches tell nothing. NULL
 * ends it: only then a trace is complete. Closing the device ends it too.
 */
HD_API bool hd_observe(struct hd_device *device, const struct hd_observe *what,
                       struct hd_error *error);

/*
 * In which order cores run within a window of time: "forward", "reverse" or "shuffle:N". No
 * statistic may depend on it; it is for tests of that.
 */
HD_API bool hd_set_core_order(struct hd_device *device, const char *order, struct hd_error *error);

/* ---- raw programs ---- */

/*
 * Southern Islands machine code without a container, for programs written in assembly and for tests
 * of single instructions: a state says what waves there are, what their registers hold and what
 * memory there is; the code runs; a dump says the same of the end.
 *
 * A state is JSON:
 *
 *   {"waves": [{"workgroup": 0, "threads": 64, "pc": 0, "lds_bytes": 0, "sgpr": {"0": N, ...},
 *               "vgpr": {"0": [a value for each lane], ...}, "exec": "0x...", ...}],
 *    "memory": [{"address": "0x0", "hex": ".."}]}
 *
 * docs/southern-islands.md has all of it. Waves of one workgroup share LDS and barriers. On a
 * device that models time workgroups are the blocks of one launch, else they run one after the
 * other. Memory regions are all the memory there is, beside the code itself.
 */

/* A module without kernels to launch: to be listed, and to be run from a state. */
HD_API struct hd_module *hd_module_load_raw(struct hd_device *device, const void *code,
                                            size_t bytes, const char *name, struct hd_error *error);

struct hd_raw;

/*
 * Checks a state against the code and lays out its memory, which must not be in use. `name` stands
 * for the state in messages. Unknown and unsupported instructions that a wave can come to are
 * errors here. Destroy before the module is unloaded.
 */
HD_API struct hd_raw *hd_raw_create(struct hd_module *module, const char *state, size_t bytes,
                                    const char *name, struct hd_error *error);
HD_API void hd_raw_destroy(struct hd_raw *raw);

/* One line of JSON for an instruction that was completed or, in time, for one of its steps, without
 * a newline; terminated. */
typedef void hd_trace_fn(void *user, const char *line, size_t length);

/* Runs to the end, once, in time unless the device has none. `trace` may be NULL. It counts as a
 * launch of the device. */
HD_API bool hd_raw_run(struct hd_raw *raw, hd_trace_fn *trace, void *user, struct hd_result *result,
                       struct hd_error *error);

/* Waves and memory as they are now, as JSON in the form of a state; hd_free it. */
HD_API char *hd_raw_dump(const struct hd_raw *raw);

struct hd_raw_info {
    uint32_t workgroups, waves;
    uint32_t threads;   /* of the largest workgroup: 64 for each of its waves */
    uint32_t registers; /* vector registers a thread that the code uses */
};
HD_API void hd_raw_info(const struct hd_raw *raw, struct hd_raw_info *info);

/* ---- statistics ---- */

/*
 * The launches of this device so far, as JSON:
 * {"launches": [{"kernel", "grid", "block", ..., "stats": {...}}], "totals": {...}, "profile":
 * [{"module", "function", "instructions": [...]}]}. docs/statistics-json.md has all of it. Free
 * with hd_free.
 */
HD_API char *hd_stats_json(const struct hd_device *device);

/* One of these launches as a line of JSON, without a newline; NULL: there is none of that number,
 * or it has been forgotten. Free with hd_free. */
HD_API char *hd_launch_json(const struct hd_device *device, size_t index);
/*
 * For programs of very many launches: the names of all counters of a launch as a JSON array, and a
 * launch's counters added to `count` numbers in that order; false: there is no such launch, or the
 * number is not that of the names. Energies ("..._pj") are in fJ here. A launch that is forgotten
 * takes no more memory: hd_stats_json leaves it out, and only its totals still have it.
 */
HD_API char *hd_counters_json(const struct hd_device *device);
HD_API bool hd_launch_add(const struct hd_device *device, size_t index, uint64_t *counts,
                          size_t count);
HD_API void hd_launch_forget(struct hd_device *device, size_t index);
/* The code that ran so far, instruction by instruction: "profile" of hd_stats_json, in a line. */
HD_API char *hd_profile_json(const struct hd_device *device);
/*
 * Totals of launches that hd_launch_json told, perhaps in other processes: an array of them as JSON
 * becomes the object "totals" of hd_stats_json. `config` knows the mechanisms that were on; NULL:
 * they are built in. Free with hd_free.
 */
HD_API char *hd_stats_total(const struct hd_config *config, const char *launches, size_t bytes,
                            struct hd_error *error);

/* The tables behind `heddle params` and `heddle stats`, as JSON arrays. Free with hd_free. */
HD_API char *hd_params_json(void);
HD_API char *hd_stats_table_json(void);

#ifdef __cplusplus
}
#endif

#endif
