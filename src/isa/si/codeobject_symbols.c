/* The names of a code object: functions, variables, and kernels with their descriptors. */
#include "isa/si/codeobject_internal.h"

#include <inttypes.h>
#include <stdlib.h>

static bool in_text(const struct code_object *object, u64 address)
{
    return address >= object->text_address && address - object->text_address < object->text_bytes &&
           address % 4 == 0;
}

static bool ends_in_kd(const char *name)
{
    size_t length = strlen(name);
    return length > 3 && !strcmp(name + length - 3, ".kd");
}

/* Notes function names that only the ROCm device libraries or only libclc use. */
static void note_library(struct reader *reader, const char *name)
{
    struct code_producer *producer = &reader->object->producer;
    if (!strncmp(name, "__ockl_", 7) || !strncmp(name, "__ocml_", 7))
        producer->rocm_names = true;
    if (!strncmp(name, "__clc_", 6) || strstr(name, "__clc_"))
        producer->libclc_names = true;
}

static void add_function(struct reader *reader, const char *name, const Elf64_Sym *symbol)
{
    struct code_object *object = reader->object;
    note_library(reader, name);
    if (!in_text(object, symbol->st_value)) {
        reader_warn(reader, "function %s at 0x%" PRIx64 " is outside the code: ignored",
                    reader_name(reader, name), (u64)symbol->st_value);
        return;
    }
    object->functions[object->function_count++] =
        (struct code_function){name, symbol->st_value, symbol->st_size, false};
}

static void add_kernel(struct reader *reader, const char *name, const Elf64_Sym *symbol)
{
    struct code_object *object = reader->object;
    object->kernels[object->kernel_count++] = (struct code_kernel){
        .name = arena_strndup(reader->arena, name, strlen(name) - 3),
        .symbol = name,
        .descriptor_address = symbol->st_value,
        .function = NO_FUNCTION,
        .kernarg_align = 16,
        .language = "",
    };
}

/* The name of a symbol that is defined here, or NULL. */
static const char *defined_name(const struct reader *reader, const Elf64_Sym *symbol)
{
    const char *name = elf_string(&reader->symbols.names, symbol->st_name);
    return symbol->st_shndx != SHN_UNDEF && name && *name && strnlen(name, MOST_NAME) < MOST_NAME
               ? name
               : NULL;
}

static void add_symbol(struct reader *reader, const Elf64_Sym *symbol)
{
    struct code_object *object = reader->object;
    const char *name = defined_name(reader, symbol);
    u32 type = ELF64_ST_TYPE(symbol->st_info);
    if (!name)
        return;
    if (type == STT_FUNC)
        add_function(reader, name, symbol);
    else if (type == STT_OBJECT && ends_in_kd(name))
        add_kernel(reader, name, symbol);
    else if (type == STT_OBJECT)
        object->variables[object->variable_count++] =
            (struct code_variable){name, symbol->st_value, symbol->st_size};
}

/* Allocates arrays for the largest possible number of symbols of each kind. */
static bool make_room(struct reader *reader)
{
    struct code_object *object = reader->object;
    u32 functions = 0, kernels = 0, variables = 0;
    for (u32 i = 0; i < reader->symbols.count; i++) {
        Elf64_Sym symbol = elf_symbol(&reader->symbols, i);
        u32 type = ELF64_ST_TYPE(symbol.st_info);
        const char *name = defined_name(reader, &symbol);
        functions += type == STT_FUNC;
        kernels += type == STT_OBJECT && name && ends_in_kd(name);
        variables += type == STT_OBJECT;
    }
    if (kernels > MOST_KERNELS)
        return reader_fail(reader, ERROR_INPUT, "%u kernels, expected at most %d", kernels,
                           MOST_KERNELS);
    /* a kernel's entry becomes a function if it has no symbol */
    object->functions =
        arena_array(reader->arena, struct code_function, (size_t)functions + kernels);
    object->kernels = arena_array(reader->arena, struct code_kernel, kernels);
    object->variables = arena_array(reader->arena, struct code_variable, variables);
    return true;
}

static int functions_by_address(const void *a, const void *b)
{
    const struct code_function *x = a, *y = b;
    if (x->address != y->address)
        return x->address < y->address ? -1 : 1;
    if (x->is_kernel != y->is_kernel)
        return x->is_kernel ? -1 : 1;
    return strcmp(x->name, y->name);
}

static int kernels_by_name(const void *a, const void *b)
{
    return strcmp(((const struct code_kernel *)a)->name, ((const struct code_kernel *)b)->name);
}

static bool read_descriptor(struct reader *reader, struct code_kernel *kernel)
{
    const char *symbol = reader_name(reader, kernel->symbol);
    struct elf_bytes bytes;
    if (!elf_at(&reader->elf, kernel->descriptor_address, DESCRIPTOR_BYTES, &bytes))
        return reader_fail(reader, ERROR_INPUT,
                           "%s: the kernel descriptor at 0x%" PRIx64
                           " is not within the %d bytes of the file that a loaded segment covers",
                           symbol, kernel->descriptor_address, DESCRIPTOR_BYTES);
    struct kernel_descriptor *d = &kernel->descriptor;
    *d = descriptor_decode(bytes.data);
    kernel->entry = kernel->descriptor_address + (u64)d->entry_offset;
    if (!in_text(reader->object, kernel->entry))
        return reader_fail(
            reader, ERROR_INPUT,
            "%s: the entry at 0x%" PRIx64 " is not an instruction address in .text (0x%" PRIx64
            " + 0x%" PRIx64 ")",
            symbol, kernel->entry, reader->object->text_address, reader->object->text_bytes);
    if (d->wave32)
        return reader_fail(reader, ERROR_UNSUPPORTED,
                           "%s: the descriptor requests warps of 32 lanes; Southern Islands has 64",
                           symbol);
    u32 used = 4 * d->private_buffer + 2 * d->dispatch_ptr + 2 * d->queue_ptr + 2 * d->kernarg_ptr +
               2 * d->dispatch_id + 2 * d->flat_scratch_init + d->private_size;
    if (used > d->user_sgprs || d->user_sgprs > 16)
        return reader_fail(
            reader, ERROR_INPUT,
            "%s: %u user SGPRs (RSRC2), but the enabled properties need %u; at most 16 exist",
            symbol, d->user_sgprs, used);
    if (kernel->entry % 256)
        reader_warn(reader, "%s: the entry at 0x%" PRIx64 " is not a multiple of 256", symbol,
                    kernel->entry);
    kernel->kernarg_bytes = d->kernarg_bytes;
    return true;
}

static bool read_descriptors(struct reader *reader)
{
    struct code_object *object = reader->object;
    qsort(object->kernels, object->kernel_count, sizeof *object->kernels, kernels_by_name);
    for (u32 i = 0; i < object->kernel_count; i++) {
        if (i && !strcmp(object->kernels[i].name, object->kernels[i - 1].name))
            return reader_fail(reader, ERROR_INPUT, "two kernel descriptors are named %s",
                               reader_name(reader, object->kernels[i].symbol));
        if (!read_descriptor(reader, &object->kernels[i]))
            return false;
        object->functions[object->function_count++] =
            (struct code_function){object->kernels[i].name, object->kernels[i].entry, 0, true};
    }
    return true;
}

/*
 * Leaves one function per address, which ends at the next one at the latest. If a kernel and a
 * function symbol have the same address, the kernel's row stays and takes the symbol's size.
 */
static void settle_functions(struct reader *reader)
{
    struct code_object *object = reader->object;
    struct code_function *list = object->functions;
    u32 count = 0;
    qsort(list, object->function_count, sizeof *list, functions_by_address);
    for (u32 i = 0; i < object->function_count; i++) {
        if (count && list[count - 1].address == list[i].address)
            list[count - 1].size = MAX(list[count - 1].size, list[i].size);
        else
            list[count++] = list[i];
    }
    object->function_count = count;
    u64 text_end = object->text_address + object->text_bytes;
    for (u32 i = 0; i < count; i++) {
        u64 room = (i + 1 < count ? list[i + 1].address : text_end) - list[i].address;
        if (list[i].size > room)
            reader_warn(reader, "function %s overlaps the next one: truncated at 0x%" PRIx64,
                        reader_name(reader, list[i].name), list[i].address + room);
        if (!list[i].size || list[i].size > room)
            list[i].size = room;
        list[i].size &= ~(u64)3;
    }
    for (u32 i = 0; i < object->kernel_count; i++)
        object->kernels[i].function =
            (u32)(codeobject_function_at(object, object->kernels[i].entry) - list);
}

bool read_symbols(struct reader *reader)
{
    if (!elf_symbols(&reader->elf, &reader->symbols))
        return reader_fail(reader, ERROR_INPUT,
                           "no symbol table: kernels are identified by their <name>.kd symbols");
    if (!make_room(reader))
        return false;
    for (u32 i = 0; i < reader->symbols.count; i++) {
        Elf64_Sym symbol = elf_symbol(&reader->symbols, i);
        add_symbol(reader, &symbol);
    }
    if (!read_descriptors(reader))
        return false;
    if (!reader->object->kernel_count)
        reader_warn(reader, "the file has no kernels: there is no symbol named <name>.kd");
    settle_functions(reader);
    return true;
}
