/* Modules of the public API: loading and unloading, their variables, kernels and listings. */
#include "gpu/module/module.h"
#include "analysis/lifetimes.h"
#include "analysis/regions.h"
#include "gpu/api/api.h"

#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>

static void list_kernels(struct hd_module *module)
{
    const struct program *program = module->program;
    module->kernels = checked(calloc(program->function_count + 1, sizeof *module->kernels));
    for (u32 i = 0; i < program->function_count; i++) {
        const struct function *function = &program->functions[i];
        if (!function->is_kernel || function->first == function->end)
            continue;
        struct hd_kernel *kernel = &module->kernels[module->kernel_count++];
        kernel->module = module;
        kernel->function = function;
        kernel->params = checked(calloc(function->param_count + 1, sizeof *kernel->params));
        for (u32 p = 0; p < function->param_count; p++) {
            const struct parameter *from = &function->params[p];
            kernel->params[p] = (struct hd_param_info){
                .name = from->name,
                .offset = from->offset,
                .size = from->size,
                .align = from->align,
                .type = type_name(from->type),
                .is_array = from->is_array,
                .is_shared = from->is_shared,
            };
        }
    }
}

/* Checks the warp size, for which machine code is compiled. */
static bool check_width(const struct hd_device *device, u32 lanes, const char *name,
                        struct error *error)
{
    if (!lanes || lanes == device->core->warp_size)
        return true;
    return error_set(error, ERROR_USAGE, name,
                     "this code is for warps of %u lanes, but warps of machine '%s' have %u "
                     "(core.warp_size): generic%u is a machine for it",
                     lanes, config_machine(device->config), device->core->warp_size, lanes);
}

/* Checks the size of addresses. Wider ones than the machine's are no obstacle: all its memory is
 * where they reach. */
static bool check_addresses(const struct hd_device *device, u32 bits, const char *name,
                            struct error *error)
{
    if (bits >= device->gpu->address_bits)
        return true;
    return error_set(error, ERROR_USAGE, name,
                     "this code has %u-bit addresses, but the memory of machine '%s' begins beyond "
                     "them: compile it for %u-bit addresses, or set gpu.address_bits=%u",
                     bits, config_machine(device->config), device->gpu->address_bits, bits);
}

static struct hd_module *module_create(struct hd_device *device, struct program *program,
                                       const char *name, bool raw, struct error *error)
{
    struct hd_module *module = checked(calloc(1, sizeof *module));
    module->device = device;
    module->program = program;
    module->raw = raw;
    module->next = device->modules;
    device->modules = module;
    if (!check_width(device, program->traits.warp_size, name, error) ||
        !check_addresses(device, program->traits.address_bits, name, error) ||
        (!raw && !module_place(module, error))) {
        hd_module_unload(module);
        return NULL;
    }
    list_kernels(module);
    return module;
}

struct hd_module *hd_module_load(struct hd_device *device, const void *data, size_t bytes,
                                 const char *name, struct hd_error *error)
{
    if (!device || !data || !name) {
        api_null(error, "hd_module_load");
        return NULL;
    }
    struct error inner = {0};
    struct program *program = load_program(device, data, bytes, name, &inner);
    struct hd_module *module = program ? module_create(device, program, name, false, &inner) : NULL;
    if (!module)
        api_fail(error, &inner);
    return module;
}

struct hd_module *hd_module_load_raw(struct hd_device *device, const void *code, size_t bytes,
                                     const char *name, struct hd_error *error)
{
    if (!device || !code || !name) {
        api_null(error, "hd_module_load_raw");
        return NULL;
    }
    struct error inner = {0};
    struct program *program = raw_program(device, code, bytes, name, &inner);
    struct hd_module *module = program ? module_create(device, program, name, true, &inner) : NULL;
    if (!module)
        api_fail(error, &inner);
    return module;
}

void hd_module_unload(struct hd_module *module)
{
    if (!module)
        return;
    struct hd_device *device = module->device;
    profile_keep(module);
    if (device->timing)
        timing_forget(device->timing);
    module_displace(module);
    struct hd_module **link = &device->modules;
    while (*link != module)
        link = &(*link)->next;
    *link = module->next;
    for (size_t i = 0; i < module->kernel_count; i++)
        free(module->kernels[i].params);
    free(module->kernels);
    program_destroy(module->program);
    free(module);
}

/* Reports an unknown name, with a suggestion. */
static bool not_found(const struct hd_module *module, const char *what, const char *name,
                      const char *const *names, size_t count, struct error *error)
{
    const char *near = nearest_word(name, names, count);
    return error_set(error, ERROR_NOT_FOUND, module->program->file, "there is no %s '%s'%s%s%s",
                     what, name, near ? ": did you mean '" : "", near ? near : "",
                     near ? "'?" : "");
}

/* The number of a variable, or of a reference; UINT32_MAX: there is none, an error. */
static u32 find_variable(const struct hd_module *module, const char *name, bool texture,
                         struct hd_error *error)
{
    const struct program *program = module->program;
    const char **names = checked(calloc(program->variable_count + 1, sizeof *names));
    struct error inner = {0};
    u32 count = 0, found = UINT32_MAX;
    for (u32 i = 0; i < program->variable_count; i++) {
        const struct variable *v = &program->variables[i];
        if (v->is_texture != texture)
            continue;
        names[count++] = v->name;
        if (found == UINT32_MAX && !strcmp(v->name, name) && !v->is_extern)
            found = i;
    }
    if (found == UINT32_MAX) {
        not_found(module, texture ? "texture" : "variable", name, names, count, &inner);
        api_fail(error, &inner);
    }
    free(names);
    return found;
}

bool hd_module_variable(struct hd_module *module, const char *name, hd_address *address,
                        uint64_t *bytes, struct hd_error *error)
{
    if (!module || !name)
        return api_null(error, "hd_module_variable");
    const u32 i = find_variable(module, name, false, error);
    if (i == UINT32_MAX)
        return false;
    if (address)
        *address = module->image->variable_addresses[i];
    if (bytes)
        *bytes = module->program->variables[i].size;
    return true;
}

bool hd_module_texture(struct hd_module *module, const char *name, uint64_t *handle,
                       struct hd_error *error)
{
    if (!module || !name || !handle)
        return api_null(error, "hd_module_texture");
    const u32 i = find_variable(module, name, true, error);
    if (i != UINT32_MAX)
        *handle = module->image->variable_addresses[i];
    return i != UINT32_MAX;
}

size_t hd_kernel_count(const struct hd_module *module)
{
    if (!module)
        return 0;
    return module->kernel_count;
}

struct hd_kernel *hd_kernel_at(struct hd_module *module, size_t index)
{
    return module && index < module->kernel_count ? &module->kernels[index] : NULL;
}

static struct hd_kernel *only_kernel(struct hd_module *module, struct error *error)
{
    if (module->kernel_count == 1)
        return &module->kernels[0];
    char list[1024] = "";
    for (size_t i = 0; i < module->kernel_count && strlen(list) < sizeof list - 200; i++) {
        const char *name = module->kernels[i].function->name;
        size_t used = strlen(list);
        snprintf(list + used, sizeof list - used, "%s%.160s", i ? ", " : ": ", name);
    }
    error_set(error, ERROR_USAGE, module->program->file,
              module->kernel_count ? "name a kernel: the module has %zu%s"
                                   : "the module has no kernel%.0zu%s",
              module->kernel_count, list);
    return NULL;
}

struct hd_kernel *hd_kernel_find(struct hd_module *module, const char *name, struct hd_error *error)
{
    if (!module) {
        api_null(error, "hd_kernel_find");
        return NULL;
    }
    struct error inner = {0};
    struct hd_kernel *found = NULL;
    if (!name) {
        found = only_kernel(module, &inner);
    } else {
        const char **names = checked(calloc(module->kernel_count + 1, sizeof *names));
        for (size_t i = 0; i < module->kernel_count && !found; i++) {
            names[i] = module->kernels[i].function->name;
            if (!strcmp(names[i], name))
                found = &module->kernels[i];
        }
        if (!found)
            not_found(module, "kernel", name, names, module->kernel_count, &inner);
        free(names);
    }
    if (!found)
        api_fail(error, &inner);
    return found;
}

char *hd_module_listing(struct hd_module *module, const char *kernel, struct hd_error *error)
{
    if (!module) {
        api_null(error, "hd_module_listing");
        return NULL;
    }
    if (kernel && !hd_kernel_find(module, kernel, error))
        return NULL;
    struct listing_options options = {.kernel = kernel, .live = true, .source = true};
    return program_listing(module->program, &options);
}

char *hd_module_marks(struct hd_module *module, const char *kernel, const struct hd_dim *block,
                      struct hd_error *error)
{
    if (!module) {
        api_null(error, "hd_module_marks");
        return NULL;
    }
    if (kernel && !hd_kernel_find(module, kernel, error))
        return NULL;
    const u32 shape[] = {block ? block->x : 0, block ? block->y : 0, block ? block->z : 0};
    struct listing_options options = {
        .kernel = kernel,
        .source = true,
        .marks = true,
        .block = block ? shape : NULL,
        .warp_size = module->device->core->warp_size,
    };
    return program_listing(module->program, &options);
}

char *hd_module_lifetimes(struct hd_module *module, const char *kernel, uint32_t limit,
                          struct hd_error *error)
{
    if (!module) {
        api_null(error, "hd_module_lifetimes");
        return NULL;
    }
    if (kernel && !hd_kernel_find(module, kernel, error))
        return NULL;
    return lifetimes_listing(module->program, kernel, limit ? limit : LIFE_LIMIT);
}

char *hd_module_regions(struct hd_module *module, const char *kernel, struct hd_error *error)
{
    if (!module) {
        api_null(error, "hd_module_regions");
        return NULL;
    }
    if (kernel && !hd_kernel_find(module, kernel, error))
        return NULL;
    return regions_listing(module->program, kernel);
}

void hd_kernel_info(const struct hd_kernel *kernel, struct hd_kernel_info *info)
{
    if (!info)
        return;
    *info = (struct hd_kernel_info){.name = ""};
    if (!kernel)
        return;
    const struct function *function = kernel->function;
    const u32 *max = function->max_threads;
    *info = (struct hd_kernel_info){
        .name = function->name,
        .param_count = function->param_count,
        .params = kernel->params,
        .registers = function->total_registers,
        .masks = function->total_masks,
        .scalars = function->scalars,
        .max_live = function->max_live,
        .spill_bytes = function->spill_bytes,
        .local_bytes = function->total_frame_bytes,
        .shared_bytes = function->total_shared_bytes,
        .max_threads = max[0] ? max[0] * MAX(max[1], 1) * MAX(max[2], 1) : 0,
        .instructions = function->end - function->first,
    };
}
