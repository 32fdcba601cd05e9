/*
 * The code object loader on any bytes: it ends, stays inside them, and what it returns keeps the
 * invariants of codeobject.h; then it is loaded, described and launched as a runtime would.
 */
#include "isa/si/abi.h"
#include "isa/si/codeobject.h"

#include <stdlib.h>

int LLVMFuzzerTestOneInput(const u8 *data, size_t size);

static void require(bool condition)
{
    if (!condition)
        abort();
}

static bool inside(u64 address, u64 bytes, u64 low, u64 high)
{
    return address >= low && address <= high && bytes <= high - address;
}

static void check_code(const struct code_object *object)
{
    u64 text_end = object->text_address + object->text_bytes, before = 0;
    for (u32 i = 0; i < object->segment_count; i++) { /* O1 */
        const struct code_segment *segment = &object->segments[i];
        require(segment->address >= before && segment->data_bytes <= segment->bytes);
        require(inside(segment->address, segment->bytes, object->low, object->high));
        before = segment->address + segment->bytes;
    }
    require(inside(object->text_address, object->text_bytes, object->low, object->high)); /* O2 */
    require(object->text_address % 4 == 0 && object->text_bytes % 4 == 0 && object->text_bytes);
    before = object->text_address;
    for (u32 i = 0; i < object->function_count; i++) { /* O3 */
        const struct code_function *function = &object->functions[i];
        require(function->address >= before && function->address % 4 == 0 && function->name);
        require(inside(function->address, function->size, object->text_address, text_end));
        before = function->address + function->size;
    }
    before = object->text_address;
    for (u32 i = 0; i < object->line_count; i++) { /* O5 */
        const struct code_line *line = &object->lines[i];
        require(line->start >= before && line->end > line->start && line->end <= text_end);
        require(line->file < object->file_count && line->line);
        before = line->end;
    }
}

static void check_kernel(const struct code_object *object, const struct code_kernel *kernel)
{
    require(inside(kernel->entry, 4, object->text_address, /* O4 */
                   object->text_address + object->text_bytes));
    require(kernel->function < object->function_count);
    require(object->functions[kernel->function].address == kernel->entry);
    require(kernel->explicit_count <= kernel->arg_count);
    for (u32 i = 0; i < kernel->arg_count; i++) { /* O6 */
        require(inside(kernel->args[i].offset, kernel->args[i].size, 0, kernel->kernarg_bytes));
        require(kernel->args[i].hidden == (i >= kernel->explicit_count));
    }
    require(codeobject_kernel(object, kernel->name) == kernel);
}

static void check_entry(const struct entry_state *entry)
{
    for (u32 i = 0; i < entry->register_count; i++)
        for (u32 k = 0; k < i; k++) /* E1 */
            require(entry->registers[i].file != entry->registers[k].file ||
                    entry->registers[i].index != entry->registers[k].index);
    for (u32 i = 0; i < entry->fixup_count; i++)
        require(inside(entry->fixups[i].offset, 8, 0, entry->image_bytes));
    for (u32 i = 0; i < entry->part_count; i++)
        require(inside(entry->parts[i].offset, entry->parts[i].bytes, 0, entry->image_bytes));
}

static void launch(struct arena *arena, const struct code_object *object)
{
    static const u8 arguments[65536];
    for (u32 hidden = ABI_AUTO; hidden <= ABI_DRIVER; hidden++) {
        const struct si_params params = {.hidden_args = hidden};
        const struct abi_kernel *kernels = abi_kernels(arena, object, &params);
        for (u32 i = 0; i < object->kernel_count; i++) {
            struct error error = {0};
            const struct entry_launch launch = {.grid = {2, 3, 4},
                                                .block = {5, 6, 7},
                                                .offset = {1, 2, 3},
                                                .arguments = arguments,
                                                .argument_bytes = object->kernels[i].kernarg_bytes};
            const struct entry_state *entry = abi_entry(&kernels[i], &launch, arena, &error);
            require(entry);
            check_entry(entry);
        }
    }
}

int LLVMFuzzerTestOneInput(const u8 *data, size_t size)
{
    struct arena *arena = arena_create();
    struct error error = {0};
    struct code_object *object = codeobject_read(arena, data, size, "fuzz.so", &error);
    if (!object) {
        require(error.code && error.place[0] && error.message[0]);
        arena_destroy(arena);
        return 0;
    }
    check_code(object);
    for (u32 i = 0; i < object->kernel_count; i++) {
        check_kernel(object, &object->kernels[i]);
        require(codeobject_describe_kernel(object, &object->kernels[i], arena));
    }
    if (object->high - object->low < 1 << 20) {
        u8 *image = malloc(object->high - object->low);
        require(image);
        codeobject_load(object, 0x100000, image);
        free(image);
    }
    launch(arena, object);
    arena_destroy(arena);
    return 0;
}
