/* What the loader makes of objects from both compilers. */
#include "objects.h"

#include "base/text.h"
#include <setjmp.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>

#include <cmocka.h>

static const struct code_argument *argument(const struct code_kernel *kernel, u32 index)
{
    assert_true(index < kernel->arg_count);
    return &kernel->args[index];
}

/* The same program by three ways; only addresses and hidden arguments differ. */
static void check_loader(const char *name, u32 version, u32 hidden, u32 add_bytes)
{
    struct arena *arena = arena_create();
    struct code_object *object = object_open(arena, name);
    assert_int_equal(object->version, version);
    assert_string_equal(object->gpu, "gfx600");
    assert_int_equal(object->warning_count, 0);
    assert_int_equal(object->kernel_count, 3);
    assert_int_equal(object->function_count, 4);
    assert_int_equal(object->relocation_count, 0);
    assert_string_equal(object->functions[0].name, "helper");
    assert_false(object->functions[0].is_kernel);
    assert_int_equal(object->functions[0].address, object->text_address);
    static const char *const names[] = {"add", "many", "required"};
    for (u32 i = 0; i < 3; i++) {
        const struct code_kernel *kernel = codeobject_kernel(object, names[i]);
        assert_ptr_equal(kernel, &object->kernels[i]);
        assert_true(object->functions[kernel->function].is_kernel);
        assert_int_equal(object->functions[kernel->function].address, kernel->entry);
        assert_true(kernel->has_metadata);
        assert_int_equal(kernel->entry % 256, 0);
        assert_string_equal(kernel->language, "OpenCL C");
        assert_int_equal(kernel->descriptor.mode, 0x3c0);
    }
    assert_null(codeobject_kernel(object, "helper"));
    assert_null(codeobject_kernel(object, "ad"));
    const struct code_kernel *add = codeobject_kernel(object, "add");
    assert_int_equal(add->explicit_count, 3);
    assert_int_equal(add->arg_count, 3 + hidden);
    assert_int_equal(add->kernarg_bytes, add_bytes);
    assert_int_equal(add->max_threads, 256);
    assert_int_equal(add->required[0], 0);
    assert_true(argument(add, 0)->is_const);
    assert_false(argument(add, 1)->is_const);
    assert_string_equal(argument(add, 1)->address_space, "global");
    assert_string_equal(argument(add, 1)->type_name, "float*");
    assert_int_equal(argument(add, 2)->offset, 16);
    assert_int_equal(argument(add, 2)->size, 4);
    assert_int_equal(argument(add, 2)->kind, CODE_ARG_by_value);
    assert_true(argument(add, 3)->hidden);
    assert_int_equal(argument(add, 3)->offset, 24);
    const struct code_kernel *many = codeobject_kernel(object, "many");
    assert_int_equal(argument(many, 2)->kind, CODE_ARG_dynamic_shared_pointer);
    assert_int_equal(argument(many, 2)->size, 4);
    assert_string_equal(argument(many, 2)->address_space, "local");
    assert_int_equal(argument(many, 1)->size, 16);
    assert_string_equal(argument(many, 5)->address_space, "constant");
    assert_int_equal(many->descriptor.private_bytes, 144);
    assert_true(many->descriptor.scratch);
    assert_int_equal(many->descriptor.local_ids, 3);
    assert_int_equal(many->descriptor.vgprs, 32);
    assert_int_equal(many->descriptor.sgprs, 40);
    const struct code_kernel *required = codeobject_kernel(object, "required");
    assert_int_equal(required->descriptor.lds_bytes, 512);
    assert_int_equal(required->required[0], 8);
    assert_int_equal(required->required[1], 4);
    assert_int_equal(required->required[2], 2);
    assert_int_equal(required->arg_count, 1);
    assert_false(required->descriptor.scratch);
    arena_destroy(arena);
}

static void libclc_version_4(void **state)
{
    check_loader("loader_clc14.so", 4, 7, 80);
}

static void rocm_version_4(void **state)
{
    check_loader("loader_rocm4.so", 4, 7, 80);
}

static void rocm_version_5(void **state)
{
    check_loader("loader_rocm5.so", 5, 15, 280);
    struct arena *arena = arena_create();
    const struct code_kernel *add = codeobject_kernel(object_open(arena, "loader_rocm5.so"), "add");
    assert_int_equal(argument(add, 3)->kind, CODE_ARG_hidden_block_count_x);
    assert_int_equal(argument(add, 15)->kind, CODE_ARG_hidden_grid_dims);
    assert_int_equal(argument(add, 15)->offset, 24 + 64);
    assert_int_equal(argument(add, 17)->kind, CODE_ARG_hidden_shared_base);
    arena_destroy(arena);
}

static void other_versions(void **state)
{
    struct arena *arena = arena_create();
    assert_int_equal(object_open(arena, "tiny_v3.so")->version, 3);
    assert_string_equal(object_open(arena, "tiny_gfx601.so")->gpu, "gfx601");
    struct bytes v2 = object_bytes("tiny_v2.so"), other = object_bytes("tiny_gfx906.so");
    object_refused(&v2, "code object version 2 (ABI version 0)");
    object_refused(&other, "code for gfx906 (ELF flags 0x52f): expected Southern Islands: gfx600");
    struct bytes v6 = object_bytes("loader_rocm5.so");
    v6.data[EI_ABIVERSION] = 4;
    assert_int_equal(object_warned(arena, &v6, NULL)->version, 6);
    free(v2.data);
    free(other.data);
    free(v6.data);
    arena_destroy(arena);
}

/* At -O0 every pointer is asked for. */
static void descriptor_bits(void **state)
{
    struct arena *arena = arena_create();
    struct code_object *object = object_open(arena, "ids_clc14_O0.so");
    const struct kernel_descriptor *d = &codeobject_kernel(object, "ids")->descriptor;
    assert_int_equal(d->properties, 0x1f);
    assert_true(d->private_buffer && d->dispatch_ptr && d->queue_ptr && d->kernarg_ptr &&
                d->dispatch_id);
    assert_false(d->flat_scratch_init || d->private_size || d->wave32 || d->dynamic_stack);
    assert_int_equal(d->user_sgprs, 12);
    assert_true(d->group_id[0] && d->group_id[1] && d->group_id[2]);
    assert_false(d->group_info || d->trap_handler);
    arena_destroy(arena);
    /* Each bit alone, in a descriptor of our own making. */
    struct bytes bytes = object_bytes("tiny_v3.so");
    u8 *kd = elf_bytes_at(&bytes, elf_symbol_of(&bytes, "tiny.kd")->st_value);
    u32 rsrc1 = 9 | 5u << 6 | 2u << 10 | 0x5au << 12 | 1u << 23, rsrc2 = 16u << 1 | 1u << 10;
    u16 properties = 0x869;
    memcpy(kd + 48, &rsrc1, 4);
    memcpy(kd + 52, &rsrc2, 4);
    memcpy(kd + 56, &properties, 2);
    arena = arena_create();
    object = object_warned(arena, &bytes, NULL);
    d = &object->kernels[0].descriptor;
    assert_int_equal(d->vgprs, 40);
    assert_int_equal(d->sgprs, 48);
    assert_int_equal(d->priority, 2);
    assert_int_equal(d->mode, 0x25a); /* no DX10_CLAMP */
    assert_int_equal(d->user_sgprs, 16);
    assert_true(d->group_info && !d->group_id[0] && !d->scratch);
    assert_true(d->private_size && d->flat_scratch_init && d->dynamic_stack && !d->wave32);
    assert_int_equal(d->local_ids, 1);
    free(bytes.data);
    arena_destroy(arena);
}

static void description(void **state)
{
    struct arena *arena = arena_create();
    struct code_object *object = object_open(arena, "loader_clc14.so");
    const char *text = codeobject_describe_kernel(object, codeobject_kernel(object, "many"), arena);
    static const char *const lines[] = {
        "kernel many: gfx600, code object version 4, descriptor at 0x",
        "private memory: 144 bytes per thread\n",
        "32 vector registers, 40 scalar registers (VCC included)",
        "f32: rounds to nearest even, subnormals flushed; f64: rounds to nearest even, subnormals "
        "kept\n",
        "DX10_CLAMP on (clamp of a NaN gives 0), IEEE on; MODE 0x3c0\n",
        "RSRC2 0x00001391: private memory set up, 8 user SGPRs, trap handler off\n",
        "properties 0x000b: private buffer, dispatch pointer, kernarg pointer\n",
        "    s[0:3]  descriptor of private memory\n    s[4:5]  address of the dispatch packet\n"
        "    s[6:7]  address of the arguments\n    s8      block number x\n",
        "    s11     offset of the warp's private memory\n    v0      thread number x\n",
        "    @24      4  dynamic_shared_pointer   int* (local)\n",
        "    @56      8  hidden_global_offset_x\n",
    };
    for (size_t i = 0; i < ARRAY_LEN(lines); i++)
        if (!strstr(text, lines[i]))
            fail_msg("'%s' is not in\n%s", lines[i], text);
    text = codeobject_describe_kernel(object, codeobject_kernel(object, "required"), arena);
    assert_non_null(strstr(text, "blocks must have 8 x 4 x 2 threads\n"));
    arena_destroy(arena);
}

/* Every version says the same lines of the same code. */
static void source_lines(void **state)
{
    static const char *const names[] = {"tiny_dwarf2.so", "tiny_dwarf3.so", "tiny_dwarf4.so",
                                        "tiny_dwarf5.so"};
    for (size_t i = 0; i < ARRAY_LEN(names); i++) {
        struct arena *arena = arena_create();
        struct code_object *object = object_open(arena, names[i]);
        assert_int_equal(object->line_count, 3);
        const char *file = NULL;
        u32 line = 0;
        for (u64 at = 0; at < object->text_bytes; at += 4) {
            assert_true(codeobject_line(object, object->text_address + at, &file, &line));
            assert_string_equal(file, "tiny.cl");
            assert_int_equal(line, at < 0x18 ? 4 : at < 0x2c ? 5 : 6);
        }
        assert_false(codeobject_line(object, object->text_address - 4, &file, &line));
        assert_false(
            codeobject_line(object, object->text_address + object->text_bytes, &file, &line));
        arena_destroy(arena);
    }
}

/* In a program of several functions each line lies in the function it is written in. */
static void source_lines_of_functions(void **state)
{
    static const struct {
        const char *function;
        u32 first, last;
    } spans[] = {{"helper", 11, 14}, {"add", 16, 21}, {"many", 23, 35}, {"required", 37, 43}};
    struct arena *arena = arena_create();
    struct code_object *object = object_open(arena, "loader_rocm5.so");
    u32 seen = 0;
    for (u32 f = 0; f < object->function_count; f++)
        for (u64 at = 0; at < object->functions[f].size; at += 4) {
            const char *file;
            u32 line;
            u64 address = object->functions[f].address + at;
            assert_ptr_equal(codeobject_function_at(object, address), &object->functions[f]);
            if (!codeobject_line(object, address, &file, &line))
                continue;
            assert_string_equal(file, "loader.cl");
            assert_string_equal(object->functions[f].name, spans[f].function);
            assert_in_range(line, spans[f].first, spans[f].last);
            seen++;
        }
    assert_in_range(seen, 200, 2000);
    arena_destroy(arena);
}

static void relocations(void **state)
{
    struct arena *arena = arena_create();
    struct code_object *object = object_open(arena, "globals.so");
    const u64 base = 0x7123456789000;
    assert_int_equal(object->relocation_count, 1);
    u64 pointer = 0, counter = 0;
    for (u32 i = 0; i < object->variable_count; i++) {
        if (!strcmp(object->variables[i].name, "pointer"))
            pointer = object->variables[i].address;
        if (!strcmp(object->variables[i].name, "counter"))
            counter = object->variables[i].address;
    }
    assert_true(pointer && counter);
    size_t bytes = object->high - object->low;
    u8 *image = malloc(bytes);
    memset(image, 0xee, bytes);
    codeobject_load(object, base, image);
    u64 value;
    u32 word;
    memcpy(&value, image + (pointer - object->low), 8);
    memcpy(&word, image + (counter - object->low), 4);
    assert_true(value == base + counter);
    assert_int_equal(word, 5);
    assert_memory_equal(image + (object->text_address - object->low), object->text,
                        object->text_bytes);
    for (u32 i = 0; i < object->segment_count; i++) { /* zeros after the data, to the page's end */
        const struct code_segment *segment = &object->segments[i];
        for (u64 at = segment->data_bytes; at < segment->bytes; at++)
            assert_int_equal(image[segment->address + at - object->low], 0);
    }
    free(image);
    arena_destroy(arena);
}

/* Other kinds, by changing the one record there is. */
static void relocation_kinds(void **state)
{
    static const struct {
        u32 type, symbol;
        u64 expected;
        u32 bytes;
    } cases[] = {{3, 2, 0x500000000ull + 0x10, 8},
                 {1, 2, 0x10, 4},
                 {2, 2, 5, 4},
                 {6, 2, 0x10, 4},
                 {3, 0, 0x10, 8}};
    for (size_t i = 0; i < ARRAY_LEN(cases); i++) {
        struct arena *arena = arena_create();
        struct bytes bytes = object_bytes("globals.so");
        Elf64_Rela *rela =
            (Elf64_Rela *)(bytes.data + elf_section_of(&bytes, ".rela.dyn")->sh_offset);
        Elf64_Sym *symbols =
            (Elf64_Sym *)(bytes.data + elf_section_of(&bytes, ".dynsym")->sh_offset);
        u64 target = symbols[2].st_value; /* whatever it is: relative to the base */
        rela->r_info = ELF64_R_INFO((u64)cases[i].symbol, cases[i].type);
        rela->r_addend = (i64)(0x10 - (cases[i].symbol ? target : 0));
        struct code_object *object = object_warned(arena, &bytes, NULL);
        u8 *image = malloc(object->high - object->low);
        codeobject_load(object, 0x500000000ull, image);
        u64 value = 0;
        memcpy(&value, image + (rela->r_offset - object->low), cases[i].bytes);
        assert_true(value == cases[i].expected);
        free(image);
        free(bytes.data);
        arena_destroy(arena);
    }
}

/* Without section headers the dynamic segment leads to the names. */
static void stripped(void **state)
{
    struct arena *arena = arena_create();
    struct bytes bytes = object_bytes("loader_clc14.so");
    elf_header(&bytes)->e_shoff = 0;
    elf_header(&bytes)->e_shnum = 0;
    elf_header(&bytes)->e_shstrndx = 0;
    struct code_object *object = object_warned(arena, &bytes, NULL);
    assert_int_equal(object->kernel_count, 3);
    assert_int_equal(object->function_count, 3); /* helper is a local name */
    assert_int_equal(object->line_count, 0);
    assert_int_equal(codeobject_kernel(object, "add")->explicit_count, 3);
    assert_int_equal(object->text_bytes, elf_load(&bytes, 1)->p_filesz);
    free(bytes.data);
    arena_destroy(arena);
}

int main(int argc, char **argv)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(libclc_version_4), cmocka_unit_test(rocm_version_4),
        cmocka_unit_test(rocm_version_5),   cmocka_unit_test(other_versions),
        cmocka_unit_test(descriptor_bits),  cmocka_unit_test(description),
        cmocka_unit_test(source_lines),     cmocka_unit_test(source_lines_of_functions),
        cmocka_unit_test(relocations),      cmocka_unit_test(relocation_kinds),
        cmocka_unit_test(stripped),
    };
    objects_folder = argv[argc - 1];
    return cmocka_run_group_tests(tests, NULL, NULL);
}
