/*
 * Modules in device memory: code and variables get addresses, images their relocations, and the
 * constant pool the addresses it refers to.
 */
#include "gpu/module/module.h"

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

/* Makes [from, to) of the loaded bytes an allocation of its own. */
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

/* Loads the program's own bytes into one range: code and constants read-only, the rest writable. */
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

/* Places the code; code without bytes of its own still gets addresses. */
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
        u64 address = v->is_texture ? texture_add(&module->device->textures)
                                    : memory_allocate(memory, MAX(v->size, 1), ALLOC_VARIABLE,
                                                      v->name, error);
        if (v->is_texture && !address)
            error_set(error, ERROR_MEMORY, v->name, "too many textures");
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
        if (!address || v->in_load || v->is_texture)
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

/* Patches the entries of the constant pool that hold addresses. */
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
    struct error ignored; /* freeing an allocation cannot fail */
    for (u32 i = 0; module->image && i < module->program->variable_count; i++) {
        const u64 address = module->image->variable_addresses[i];
        if (module->program->variables[i].is_texture)
            texture_drop(&module->device->textures, address);
        else if (address && !module->program->variables[i].in_load)
            memory_free(memory, address, &ignored);
    }
    for (u32 i = 0; i < module->pieces.count; i++)
        memory_free(memory, module->pieces.data[i], &ignored);
    vec_free(&module->pieces);
    image_destroy(module->image);
    module->image = NULL;
}
