/*
 * Modules: code and variables get device addresses, images their relocations, and the constant
 * pool the addresses it refers to.
 */
#include "gpu/device.h"

#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>

static u64 target_address(const struct hd_module *module, enum relocation_kind kind, u32 target)
{
    const struct program *program = module->program;
    if (kind == RELOC_VARIABLE)
        return module->image->variable_addresses[target];
    return image_pc(module->image, program->functions[target].first);
}

/* [from, to) of the loaded bytes becomes an allocation of its own. */
static bool map_piece(struct hd_module *module, const u8 *bytes, u64 from, u64 to, bool writable,
                      const char *name, struct error *error)
{
    struct memory *memory = module->device->memory;
    u64 address = module->code_address + from;
    if (from == to)
        return true;
    if (!memory_map(memory, address, to - from, writable ? ALLOC_VARIABLE : ALLOC_CODE, name,
                    error))
        return false;
    *vec_push(&module->pieces) = address;
    bool written = memory_write(memory, address, bytes + from, to - from, error);
    if (!writable)
        memory_set_read_only(memory, address);
    return written;
}

/* The program's own bytes: code and constants read-only, the rest writable, all in one range. */
static bool load_bytes(struct hd_module *module, const char *name, struct error *error)
{
    const struct program *program = module->program;
    module->code_address = memory_reserve(module->device->memory, program->load_bytes, error);
    if (!module->code_address)
        return false;
    u8 *bytes = checked(malloc(program->load_bytes));
    memcpy(bytes, program->load, program->load_bytes);
    for (u32 i = 0; i < program->load_relocation_count; i++) {
        const struct relocation *relocation = &program->load_relocations[i];
        u64 value = module->code_address + (u64)relocation->addend;
        memcpy(bytes + relocation->offset, &value, relocation->bytes);
    }
    u64 at = 0;
    bool ok = true;
    for (u32 i = 0; i < program->writable_count && ok; i++) {
        const struct load_range *range = &program->writable[i];
        ok = map_piece(module, bytes, at, range->offset, false, name, error) &&
             map_piece(module, bytes, range->offset, range->offset + range->bytes, true, name,
                       error);
        at = range->offset + range->bytes;
    }
    ok = ok && map_piece(module, bytes, at, program->load_bytes, false, name, error);
    free(bytes);
    return ok;
}

/* Code that has no bytes of its own still has addresses. */
static bool place_code(struct hd_module *module, const char *name, struct error *error)
{
    struct memory *memory = module->device->memory;
    const struct program *program = module->program;
    if (program->load)
        return load_bytes(module, name, error);
    u64 bytes = MAX(program_offset(program, program->inst_count), 1);
    module->code_address = memory_allocate(memory, bytes, ALLOC_CODE, name, error);
    if (!module->code_address)
        return false;
    *vec_push(&module->pieces) = module->code_address;
    memory_set_read_only(memory, module->code_address);
    return true;
}

static bool allocate_variables(struct hd_module *module, struct error *error)
{
    struct memory *memory = module->device->memory;
    const struct program *program = module->program;
    for (u32 i = 0; i < program->variable_count; i++) {
        const struct variable *v = &program->variables[i];
        if (v->is_extern)
            continue;
        if (v->in_load) {
            module->image->variable_addresses[i] = module->code_address + v->load_offset;
            continue;
        }
        u64 address = memory_allocate(memory, MAX(v->size, 1), ALLOC_VARIABLE, v->name, error);
        if (!address)
            return false;
        module->image->variable_addresses[i] = address;
        if (v->image && !memory_write(memory, address, v->image, v->size, error))
            return false;
    }
    return true;
}

static bool relocate_variables(struct hd_module *module, struct error *error)
{
    struct memory *memory = module->device->memory;
    const struct program *program = module->program;
    for (u32 i = 0; i < program->variable_count; i++) {
        const struct variable *v = &program->variables[i];
        u64 address = module->image->variable_addresses[i];
        if (!address || v->in_load)
            continue;
        for (u32 r = 0; r < v->relocation_count; r++) {
            const struct relocation *relocation = &v->relocations[r];
            u64 value = target_address(module, relocation->kind, relocation->target) +
                        (u64)relocation->addend;
            if (!memory_write(memory, address + relocation->offset, &value, relocation->bytes,
                              error))
                return false;
        }
        if (v->space == SPACE_CONST)
            memory_set_read_only(memory, address);
    }
    return true;
}

/* Rows of the constant pool that hold addresses. */
static void patch_constants(struct hd_module *module)
{
    const struct program *program = module->program;
    struct image *image = module->image;
    for (u32 i = 0; i < program->fixup_count; i++) {
        const struct constant_fixup *fixup = &program->fixups[i];
        u64 value = target_address(module, fixup->kind, fixup->target) + (u64)fixup->addend;
        for (u32 word = 0; word < 2; word++)
            for (u32 lane = 0; lane < image->warp_size; lane++)
                image->constants[(fixup->index + word) * image->warp_size + lane] =
                    (u32)(value >> 32 * word);
    }
}

bool module_place(struct hd_module *module, struct error *error)
{
    struct hd_device *device = module->device;
    const struct program *program = module->program;
    if (!place_code(module, program->file, error))
        return false;
    module->image = image_create(program, program->constants, module->code_address,
                                 device->core->warp_size, device->simd);
    if (!allocate_variables(module, error) || !relocate_variables(module, error))
        return false;
    patch_constants(module);
    return true;
}

void module_displace(struct hd_module *module)
{
    struct memory *memory = module->device->memory;
    struct error ignored; /* what was allocated can be freed */
    for (u32 i = 0; module->image && i < module->program->variable_count; i++)
        if (module->image->variable_addresses[i] && !module->program->variables[i].in_load)
            memory_free(memory, module->image->variable_addresses[i], &ignored);
    for (u32 i = 0; i < module->pieces.count; i++)
        memory_free(memory, module->pieces.data[i], &ignored);
    vec_free(&module->pieces);
    image_destroy(module->image);
    module->image = NULL;
}

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

/* Machine code is made for one width of a warp. */
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
    const struct front_end *end = front_end_of(data, bytes);
    struct program *program = end->load(device, data, bytes, name, &inner);
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
    struct program *program = raw_program(code, bytes, name, &inner);
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

/* "did you mean" for a name that is not there. */
static bool not_found(const struct hd_module *module, const char *what, const char *name,
                      const char *const *names, size_t count, struct error *error)
{
    const char *near = nearest_word(name, names, count);
    return error_set(error, ERROR_NOT_FOUND, module->program->file, "there is no %s '%s'%s%s%s",
                     what, name, near ? ": did you mean '" : "", near ? near : "",
                     near ? "'?" : "");
}

bool hd_module_variable(struct hd_module *module, const char *name, hd_address *address,
                        uint64_t *bytes, struct hd_error *error)
{
    if (!module || !name)
        return api_null(error, "hd_module_variable");
    const struct program *program = module->program;
    const char **names = checked(calloc(program->variable_count + 1, sizeof *names));
    for (u32 i = 0; i < program->variable_count; i++) {
        names[i] = program->variables[i].name;
        if (strcmp(names[i], name) != 0 || program->variables[i].is_extern)
            continue;
        if (address)
            *address = module->image->variable_addresses[i];
        if (bytes)
            *bytes = program->variables[i].size;
        free(names);
        return true;
    }
    struct error inner = {0};
    not_found(module, "variable", name, names, program->variable_count, &inner);
    free(names);
    return api_fail(error, &inner);
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
