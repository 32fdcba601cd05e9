/*
 * The public API: errors, configurations, devices and their memory. Mechanisms are in
 * mechanisms.c, modules in module.c, launches in launch.c, statistics in stats.c and counts.c.
 */
#include "gpu/api/api.h"
#include "gpu/launch/launch.h"
#include "gpu/machine/effects.h"
#include "gpu/machine/relations.h"

#include "gpu/machine/storage.h"
#include "gpu/mechanism/chips.h"
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>

_Static_assert((int)HD_ERROR_INTERRUPTED == (int)ERROR_INTERRUPTED, "error codes are the same");
_Static_assert((int)HD_CHECK == (int)OUTCOME_CHECK, "outcomes are the same");

const char *hd_version(void)
{
    return HEDDLE_VERSION;
}

bool api_fail(struct hd_error *to, const struct error *from)
{
    if (to) {
        to->code = (enum hd_error_code)from->code;
        memcpy(to->place, from->place, sizeof to->place);
        memcpy(to->message, from->message, sizeof to->message);
    }
    return false;
}

bool api_null(struct hd_error *to, const char *call)
{
    struct error inner = {0};
    error_set(&inner, ERROR_USAGE, "", "%s: NULL given where an object, a name or data is required",
              call);
    return api_fail(to, &inner);
}

void hd_free(void *text)
{
    free(text);
}

struct hd_config *config_with(const struct mechanism *const *available)
{
    struct hd_config *config = checked(calloc(1, sizeof *config));
    const struct component **components = mechanism_components(available);
    config->config = config_create(components);
    free(components);
    u32 count = 0;
    while (available[count])
        count++;
    config->available = checked(calloc(count + 1, sizeof *config->available));
    memcpy(config->available, available, count * sizeof *config->available);
    struct error error;
    bool loaded = config_load_machine(config->config, "generic", &error);
    assert(loaded); /* a built-in machine with defaults only */
    (void)loaded;
    return config;
}

struct hd_config *hd_config_create(void)
{
    return config_with(mechanisms_built_in);
}

void hd_config_destroy(struct hd_config *config)
{
    if (!config)
        return;
    config_destroy(config->config);
    chip_maps_release(config->chip);
    free(config->available);
    for (u32 i = 0; i < config->plugins.count; i++)
        plugin_close(config->plugins.data[i]);
    vec_free(&config->plugins);
    free(config);
}

bool hd_config_load(struct hd_config *config, const char *machine, struct hd_error *error)
{
    if (!config || !machine)
        return api_null(error, "hd_config_load");
    struct error inner = {0};
    return config_load_machine(config->config, machine, &inner) || api_fail(error, &inner);
}

bool hd_config_set(struct hd_config *config, const char *assignment, struct hd_error *error)
{
    if (!config || !assignment)
        return api_null(error, "hd_config_set");
    struct error inner = {0};
    return config_set(config->config, assignment, &inner) || api_fail(error, &inner);
}

bool hd_config_chip(struct hd_config *config, const void *maps, size_t bytes, const char *name,
                    struct hd_error *error)
{
    if (!config || (maps && !name))
        return api_null(error, "hd_config_chip");
    struct error inner = {0};
    struct chip_maps *chip = maps ? chip_maps_read(maps, bytes, name, &inner) : NULL;
    if (maps && !chip)
        return api_fail(error, &inner);
    chip_maps_release(config->chip);
    config->chip = chip;
    return true;
}

static char *dump(json_t *json)
{
    char *text = json_dumps(json, JSON_INDENT(2) | JSON_REAL_PRECISION(17));
    json_decref(json);
    return text;
}

char *hd_config_json(const struct hd_config *config)
{
    if (!config)
        return NULL;
    return dump(config_json(config->config));
}

char *hd_config_explain(const struct hd_config *config)
{
    if (!config)
        return NULL;
    return dump(config_explain_json(config->config));
}

char *hd_config_diff(const struct hd_config *a, const struct hd_config *b)
{
    if (!a || !b)
        return NULL;
    return dump(config_diff_json(a->config, b->config));
}

uint64_t hd_config_seed(const struct hd_config *config)
{
    const struct launch_params *launch =
        config ? config_params(config->config, &launch_component) : NULL;
    return launch ? launch->seed : 0;
}

/* The storage of the machine and its mechanisms. */
static struct state_list storage_of(const struct hd_config *config)
{
    struct state_list list = {0};
    storage_collect(&list, config->config);
    mechanisms_storage(&list, config->config, config->available);
    return list;
}

char *hd_config_storage(const struct hd_config *config)
{
    if (!config)
        return NULL;
    struct state_list list = storage_of(config);
    char *text = dump(storage_json(config->config, &list));
    state_free(&list);
    return text;
}

char *hd_config_bits(const struct hd_config *config)
{
    if (!config)
        return NULL;
    struct state_list list = storage_of(config);
    char *text = dump(storage_bits_json(&list));
    state_free(&list);
    return text;
}

/* JSON of the tables of all components of this build. */
static char *dump_tables(json_t *(*tables)(const struct component *const *components))
{
    const struct component **components = mechanism_components(mechanisms_built_in);
    char *text = dump(tables(components));
    free(components);
    return text;
}

char *hd_config_chip_json(const struct hd_config *config)
{
    if (!config || !config->chip)
        return NULL;
    json_t *chip = json_object();
    json_object_set_new(chip, "name", text_json(config->chip->name));
    json_object_set_new(chip, "sha256", json_string(config->chip->sha256));
    return dump(chip);
}

char *hd_machines_json(void)
{
    return dump_tables(config_machines_json);
}

char *hd_params_json(void)
{
    return dump_tables(config_params_table_json);
}

char *hd_stats_table_json(void)
{
    return dump_tables(stats_table_json);
}

/* The maximum block size that clang assumes if a kernel does not state one. */
#define SI_KERNEL_THREADS 256u

bool hd_config_info(const struct hd_config *config, struct hd_machine_info *info,
                    struct hd_error *error)
{
    if (!config || !info)
        return api_null(error, "hd_config_info");
    const struct config *from = config->config;
    const struct core_params *core = config_params(from, &core_component);
    const struct gpu_params *gpu = config_params(from, &gpu_component);
    const struct clock_params *clock = config_params(from, &clock_component);
    const struct timing_params *timing = config_params(from, &timing_component);
    const struct host_params *host = config_params(from, &host_component);
    const struct l1d_params *l1d = config_params(from, &l1d_component);
    const struct l2_params *l2 = config_params(from, &l2_component);
    const struct dram_params *dram = config_params(from, &dram_component);
    const u64 memory = memory_room(gpu->memory_bytes, gpu->address_bits);
    *info = (struct hd_machine_info){
        .name = config_machine(from),
        .functional = timing->functional,
        .cores = gpu->cores,
        .lanes = core->warp_size,
        .block_threads = core->block_threads,
        .core_warps = core->warps,
        .kernel_threads = core->warp_size == 64 ? MIN(core->block_threads, SI_KERNEL_THREADS)
                                                : core->block_threads,
        .core_shared_bytes = core->shared_bytes,
        .block_shared_bytes = core->block_shared_bytes,
        .l1_bytes = l1d->global || l1d->local ? l1d->sets * l1d->ways * l1d->line_bytes : 0,
        .l2_bytes = l2->channels * l2->slices * l2->sets * l2->ways * l2->line_bytes,
        .line_bytes = l2->line_bytes,
        .address_bits = gpu->address_bits,
        .memory_bytes = memory,
        .allocation_bytes = MIN(memory, MEMORY_MAX_ALLOCATION),
        .core_mhz = clock->core_mhz,
        .copy_gbps = host->copy_gbps,
        .copy_ns = host->copy_ns,
        .capability = gpu->capability,
        .core_registers = core->registers,
        .core_blocks = core->blocks,
        .dram_mhz = clock->dram_mhz * dram->data_rate / 2,
        .dram_bits = l2->channels * dram->bus_bytes * 8,
    };
    return true;
}

static bool choose_simd(struct hd_device *device, struct error *error)
{
    enum {
        AUTO,
        AVX2,
        PORTABLE
    };
    const struct exec_params *exec = config_params(device->config, &exec_component);
    device->simd = exec->simd == PORTABLE ? SIMD_PORTABLE : simd_best();
    if (exec->simd == AVX2 && device->simd != SIMD_AVX2)
        return error_set(error, ERROR_UNSUPPORTED, "", "exec.simd is avx2, which this host lacks");
    return true;
}

bool hd_config_check(const struct hd_config *config, struct hd_error *error)
{
    if (!config)
        return api_null(error, "hd_config_check");
    struct error inner = {0};
    return (relations_check(config->config, &inner) &&
            chip_check(config->config, config->chip, &inner)) ||
           api_fail(error, &inner);
}

char *hd_config_missing(const struct hd_config *config, const char *key)
{
    if (!config || !key)
        return NULL;
    struct arena *arena = arena_create();
    const char *missing = effects_missing(arena, config->config, key);
    char *copy = missing ? checked(strdup(missing)) : NULL;
    arena_destroy(arena);
    return copy;
}

struct hd_device *hd_device_open(const struct hd_config *config, struct hd_error *error)
{
    if (!config) {
        api_null(error, "hd_device_open");
        return NULL;
    }
    struct error inner = {0};
    struct hd_device *device = checked(calloc(1, sizeof *device));
    device->config = config_clone(config->config);
    device->core = config_params(device->config, &core_component);
    device->gpu = config_params(device->config, &gpu_component);
    device->launch = config_params(device->config, &launch_component);
    device->ptx = config_params(device->config, &ptx_component);
    device->si = config_params(device->config, &si_component);
    const struct timing_params *timing = config_params(device->config, &timing_component);
    if (!relations_check(device->config, &inner) ||
        !chip_check(device->config, config->chip, &inner) || !choose_simd(device, &inner) ||
        !mechanisms_choose(&device->mechanisms, device->config, config->available,
                           timing->functional, &inner) ||
        !chip_serves(config->chip, &device->mechanisms, &inner) ||
        (!timing->functional && !timing_serves(device, &inner)) ||
        !(device->energy = energy_create(device->config, &device->mechanisms, &inner))) {
        free(device->mechanisms.uses);
        config_destroy(device->config);
        free(device);
        api_fail(error, &inner);
        return NULL;
    }
    device->memory = memory_create(device->gpu->memory_bytes, device->gpu->address_bits);
    const struct memory_params *memory = config_params(device->config, &memory_component);
    device->bounds = memory->bounds ? bounds_create() : NULL;
    device->mechanism_totals = mechanism_stats_create(&device->mechanisms);
    for (u32 i = 0; i < config->plugins.count; i++)
        *vec_push(&device->plugins) = plugin_share(config->plugins.data[i]);
    device->chip = chip_maps_share(config->chip);
    if (!timing->functional)
        device->timing = timing_create(device);
    else if (device->mechanisms.count)
        device->observers = observers_create(&device->mechanisms);
    return device;
}

void hd_device_close(struct hd_device *device)
{
    if (!device)
        return;
    observer_destroy(device->observer);
    while (device->modules)
        hd_module_unload(device->modules);
    json_decref(device->profiles);
    for (u32 i = 0; i < device->launches.count; i++)
        launch_record_free(&device->launches.data[i]);
    vec_free(&device->launches);
    endless_free(&device->endless);
    free(device->machine_totals);
    free(device->energy_totals);
    energy_destroy(device->energy);
    timing_destroy(device->timing);
    observers_destroy(device->observers);
    free(device->mechanisms.uses);
    free(device->mechanism_totals);
    chip_maps_release(device->chip);
    while (device->images)
        hd_image_destroy(device->images);
    texture_table_free(&device->textures);
    memory_destroy(device->memory);
    bounds_destroy(device->bounds);
    config_destroy(device->config);
    for (u32 i = 0; i < device->plugins.count; i++)
        plugin_close(device->plugins.data[i]);
    vec_free(&device->plugins);
    free(device);
}

hd_address hd_alloc_named(struct hd_device *device, uint64_t bytes, const char *name,
                          struct hd_error *error)
{
    if (!device) {
        api_null(error, "hd_alloc");
        return 0;
    }
    struct error inner = {0};
    u64 address = memory_allocate(device->memory, bytes, ALLOC_BUFFER, name, &inner);
    if (!address)
        api_fail(error, &inner);
    return address;
}

hd_address hd_alloc(struct hd_device *device, uint64_t bytes, struct hd_error *error)
{
    return hd_alloc_named(device, bytes, NULL, error);
}

hd_address hd_alloc_host(struct hd_device *device, void *host, uint64_t bytes, hd_address at,
                         const char *name, struct hd_error *error)
{
    if (!device || !host) {
        api_null(error, "hd_alloc_host");
        return 0;
    }
    struct error inner = {0};
    const u64 address = memory_share(device->memory, at, host, bytes, name, &inner);
    if (!address)
        api_fail(error, &inner);
    return address;
}

bool hd_release(struct hd_device *device, hd_address address, struct hd_error *error)
{
    if (!device)
        return api_null(error, "hd_release");
    struct error inner = {0};
    const struct allocation *found = memory_find(device->memory, address, 1);
    if (found && found->address == address && found->kind != ALLOC_BUFFER) {
        error_set(&inner, ERROR_USAGE, "",
                  "0x%" PRIx64 " was not allocated by hd_alloc: it belongs to a module or the heap",
                  address);
        return api_fail(error, &inner);
    }
    return memory_free(device->memory, address, &inner) || api_fail(error, &inner);
}

bool hd_write(struct hd_device *device, hd_address to, const void *from, uint64_t bytes,
              struct hd_error *error)
{
    if (!device || (!from && bytes))
        return api_null(error, "hd_write");
    struct error inner = {0};
    if (!memory_write(device->memory, to, from, bytes, &inner))
        return api_fail(error, &inner);
    if (device->timing)
        timing_copied(device->timing, to, bytes);
    return true;
}

bool hd_read(struct hd_device *device, void *to, hd_address from, uint64_t bytes,
             struct hd_error *error)
{
    if (!device || (!to && bytes))
        return api_null(error, "hd_read");
    struct error inner = {0};
    if (!memory_read(device->memory, from, to, bytes, &inner))
        return api_fail(error, &inner);
    if (device->timing)
        timing_copied(device->timing, from, bytes);
    return true;
}

bool hd_copy(struct hd_device *device, hd_address to, hd_address from, uint64_t bytes,
             struct hd_error *error)
{
    if (!device)
        return api_null(error, "hd_copy");
    struct error inner = {0};
    if (!bytes)
        return true;
    const struct allocation *source = memory_find(device->memory, from, bytes);
    if (!source) {
        u8 unused;
        memory_read(device->memory, from, &unused, bytes, &inner); /* to fill the error */
        return api_fail(error, &inner);
    }
    return memory_write(device->memory, to, source->host + (from - source->address), bytes,
                        &inner) ||
           api_fail(error, &inner);
}

bool hd_fill(struct hd_device *device, hd_address to, const void *pattern, uint64_t pattern_bytes,
             uint64_t bytes, struct hd_error *error)
{
    if (!device || (!pattern && bytes))
        return api_null(error, "hd_fill");
    struct error inner = {0};
    return memory_fill(device->memory, to, pattern, pattern_bytes, bytes, &inner) ||
           api_fail(error, &inner);
}

void hd_set_output(struct hd_device *device, hd_output_fn *output, void *user)
{
    if (!device)
        return;
    device->output = output;
    device->output_user = user;
}
