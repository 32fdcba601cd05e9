/* Launches of code objects: images byte by byte, registers one by one, libraries told apart. */
#include "objects.h"

#include "ir/scalars.h"
#include "isa/si/abi.h"
#include <setjmp.h>
#include <stdarg.h>
#include <stdlib.h>

#include <cmocka.h>

static void libraries(void **state)
{
    static const struct {
        const char *file;
        enum abi_hidden hidden;
        const char *why;
    } cases[] = {
        {"loader_clc14.so", ABI_LIBCLC, "the arguments that its code loads"},
        {"loader_rocm4.so", ABI_ROCM4, "the arguments that its code loads"},
        {"loader_rocm5.so", ABI_ROCM5, "the arguments that its code loads"},
        {"ids_clc14.so", ABI_LIBCLC, "the arguments that its code loads"},
        {"ids_clc14_O0.so", ABI_LIBCLC, "the arguments that its code loads"},
        {"ids_clc19_v4.so", ABI_LIBCLC, "the arguments that its code loads"},
        {"ids_clc19_v5.so", ABI_LIBCLC, "the arguments that its code loads"},
        {"ids_rocm4.so", ABI_ROCM4, "its code object version, in the absence of other evidence"},
        {"ids_rocm4_O0.so", ABI_ROCM4, "the names of its functions"},
        {"ids_rocm5.so", ABI_ROCM5, "the arguments that its code loads"},
        {"dims_clc14.so", ABI_LIBCLC, "the compilers that it names"},
        {"dims_clc19_v4.so", ABI_LIBCLC, "the compilers that it names"},
        {"dims_rocm4.so", ABI_ROCM4, "the arguments that its code loads"},
        {"dims_rocm5.so", ABI_ROCM5, "the arguments that its code loads"},
        {"globals.so", ABI_ROCM5, "the arguments that its code loads"},
    };
    for (size_t i = 0; i < ARRAY_LEN(cases); i++) {
        struct arena *arena = arena_create();
        const char *why;
        enum abi_hidden found = abi_detect(object_open(arena, cases[i].file), &why);
        if (found != cases[i].hidden || strcmp(why, cases[i].why))
            fail_msg("%s: %s by %s", cases[i].file, abi_hidden_name(found), why);
        arena_destroy(arena);
    }
}

static void override(void **state)
{
    struct arena *arena = arena_create();
    const struct code_object *object = object_open(arena, "loader_clc14.so");
    for (u32 choice = 0; choice <= ABI_DRIVER; choice++) {
        const struct si_params params = {.hidden_args = choice};
        const struct abi_kernel *kernels = abi_kernels(arena, object, &params);
        for (u32 i = 0; i < object->kernel_count; i++) {
            assert_int_equal(kernels[i].hidden,
                             choice && choice != ABI_DRIVER ? choice : ABI_LIBCLC);
            assert_ptr_equal(kernels[i].kernel, &object->kernels[i]);
            assert_ptr_equal(kernels[i].object, object);
        }
    }
    static const char *const names[] = {"auto", "libclc", "rocm4", "rocm5", "driver"};
    for (u32 i = 0; i < ARRAY_LEN(names); i++)
        assert_string_equal(abi_hidden_name((enum abi_hidden)i), names[i]);
    arena_destroy(arena);
}

static const struct abi_kernel *open_kernel(struct arena *arena, const char *file, const char *name)
{
    struct code_object *object = object_open(arena, file);
    const struct si_params params = {.hidden_args = ABI_AUTO};
    const struct abi_kernel *kernels = abi_kernels(arena, object, &params);
    return &kernels[codeobject_kernel(object, name) - object->kernels];
}

enum {
    MANY_BYTES = 49 /* where the last explicit argument of `many` ends */
};
static u8 arguments[64];

static struct entry_launch launch_of_many(void)
{
    for (u32 i = 0; i < sizeof arguments; i++)
        arguments[i] = (u8)(i + 1);
    return (struct entry_launch){.grid = {3, 4, 5},
                                 .block = {16, 2, 2},
                                 .dims = 3,
                                 .offset = {0x100000007ull, 8, 9},
                                 .dynamic_shared_bytes = 128,
                                 .stack_bytes = 1000,
                                 .arguments = arguments,
                                 .argument_bytes = MANY_BYTES};
}

static const struct entry_state *compose(struct arena *arena, const struct abi_kernel *kernel,
                                         const struct entry_launch *launch)
{
    struct error error = {0};
    const struct entry_state *entry = abi_entry(kernel, launch, arena, &error);
    if (!entry)
        fail_msg("%s", error.message);
    return entry;
}

static void put(u8 *image, u32 offset, u64 value, u32 bytes)
{
    for (u32 i = 0; i < bytes; i++)
        image[offset + i] = (u8)(value >> 8 * i);
}

/* The dispatch packet of launch_of_many at `at`. */
static void put_packet(u8 *image, u32 at)
{
    put(image, at, 0x1502, 2); /* a kernel dispatch, barrier, system fences */
    put(image, at + 2, 3, 2);  /* dimensions */
    put(image, at + 4, 16, 2); /* threads of a block */
    put(image, at + 6, 2, 2);
    put(image, at + 8, 2, 2);
    put(image, at + 12, 48, 4); /* threads of the grid */
    put(image, at + 16, 8, 4);
    put(image, at + 20, 10, 4);
    put(image, at + 24, 144, 4); /* private */
    put(image, at + 28, 128, 4); /* shared */
}

static void check_image(const char *file, const u8 *expected, u32 bytes, u32 packet)
{
    struct arena *arena = arena_create();
    struct entry_launch launch = launch_of_many();
    const struct entry_state *entry = compose(arena, open_kernel(arena, file, "many"), &launch);
    assert_int_equal(entry->image_bytes, bytes);
    assert_memory_equal(entry->image, expected, bytes);
    assert_int_equal(entry->image_align, 64);
    assert_int_equal(entry->fixup_count, 1);
    assert_int_equal(entry->fixups[0].offset, packet + 40);
    assert_int_equal(entry->fixups[0].value, 0);
    assert_int_equal(entry->part_count, 2);
    assert_string_equal(entry->parts[0].name, "kernel arguments");
    assert_int_equal(entry->parts[0].offset, 0);
    assert_int_equal(entry->parts[0].bytes, packet);
    assert_string_equal(entry->parts[1].name, "dispatch packet");
    assert_int_equal(entry->parts[1].offset, packet);
    assert_int_equal(entry->parts[1].bytes, 64);
    assert_int_equal(entry->local_bytes, 144);
    arena_destroy(arena);
}

static void image_libclc(void **state)
{
    u8 image[192] = {0};
    launch_of_many();
    memcpy(image, arguments, MANY_BYTES);
    put(image, 56, 3, 4);
    put(image, 60, 7, 4);
    put(image, 64, 8, 4);
    put(image, 68, 9, 4);
    put_packet(image, 128);
    check_image("loader_clc14.so", image, sizeof image, 128);
}

static void image_rocm4(void **state)
{
    u8 image[192] = {0};
    launch_of_many();
    memcpy(image, arguments, MANY_BYTES);
    put(image, 56, 0x100000007ull, 8);
    put(image, 64, 8, 8);
    put(image, 72, 9, 8);
    put_packet(image, 128);
    check_image("loader_rocm4.so", image, sizeof image, 128);
}

static void image_rocm5(void **state)
{
    u8 image[384] = {0};
    launch_of_many();
    memcpy(image, arguments, MANY_BYTES);
    put(image, 56, 3, 4);
    put(image, 60, 4, 4);
    put(image, 64, 5, 4);
    put(image, 68, 16, 2);
    put(image, 70, 2, 2);
    put(image, 72, 2, 2);
    put(image, 96, 0x100000007ull, 8);
    put(image, 104, 8, 8);
    put(image, 112, 9, 8);
    put(image, 120, 3, 2);
    put(image, 176, 128, 4);
    put_packet(image, 320);
    check_image("loader_rocm5.so", image, sizeof image, 320);
}

static void check_registers(const struct entry_state *entry, const struct entry_register *expected,
                            size_t count)
{
    assert_int_equal(entry->register_count, count);
    for (size_t i = 0; i < count; i++) {
        assert_int_equal(entry->registers[i].file, expected[i].file);
        assert_int_equal(entry->registers[i].index, expected[i].index);
        assert_int_equal(entry->registers[i].what, expected[i].what);
        assert_int_equal(entry->registers[i].value, expected[i].value);
    }
}

#define S(index, what, value)                    \
    {                                            \
        ENTRY_SCALAR, ENTRY_##what, index, value \
    }
#define V(index, what)                       \
    {                                        \
        ENTRY_VECTOR, ENTRY_##what, index, 0 \
    }
#define ALWAYS(mode) \
    S(SCALAR_EXEC, LANES_LO, 0), S(SCALAR_EXEC + 1, LANES_HI, 0), S(SCALAR_MODE, CONSTANT, mode)

static void registers(void **state)
{
    static const struct entry_register many[] = {
        S(0, LOCAL_LO, 0),
        S(1, LOCAL_HI, 0x80000000),
        S(2, CONSTANT, 0xffffffff),
        S(3, CONSTANT, 0x00e8f000),
        S(4, IMAGE_LO, 128), /* packet */
        S(5, IMAGE_HI, 128),
        S(6, IMAGE_LO, 0), /* arguments */
        S(7, IMAGE_HI, 0),
        S(8, BLOCK_X, 0),
        S(9, BLOCK_Y, 0),
        S(10, BLOCK_Z, 0),
        S(11, LOCAL_WARP_OFFSET, 0),
        ALWAYS(0x3c0),
        V(0, THREAD_X),
        V(1, THREAD_Y),
        V(2, THREAD_Z),
    };
    /* Everything a compiler asks for at -O0. */
    static const struct entry_register all[] = {
        S(0, LOCAL_LO, 0),
        S(1, LOCAL_HI, 0x80000000),
        S(2, CONSTANT, 0xffffffff),
        S(3, CONSTANT, 0x00e8f000),
        S(4, IMAGE_LO, 128),
        S(5, IMAGE_HI, 128),
        S(6, IMAGE_LO, 192),
        S(7, IMAGE_HI, 192), /* queue */
        S(8, IMAGE_LO, 0),
        S(9, IMAGE_HI, 0),
        S(10, LAUNCH_LO, 0),
        S(11, LAUNCH_HI, 0),
        S(12, BLOCK_X, 0),
        S(13, BLOCK_Y, 0),
        S(14, BLOCK_Z, 0),
        S(15, LOCAL_WARP_OFFSET, 0),
        ALWAYS(0x3c0),
        V(0, THREAD_X),
        V(1, THREAD_Y),
        V(2, THREAD_Z),
    };
    struct arena *arena = arena_create();
    struct entry_launch launch = launch_of_many();
    check_registers(compose(arena, open_kernel(arena, "loader_clc14.so", "many"), &launch), many,
                    ARRAY_LEN(many));
    launch.argument_bytes = 12;
    const struct entry_state *entry =
        compose(arena, open_kernel(arena, "ids_clc14_O0.so", "ids"), &launch);
    check_registers(entry, all, ARRAY_LEN(all));
    assert_int_equal(entry->part_count, 3);
    assert_string_equal(entry->parts[2].name, "queue");
    assert_int_equal(entry->image_bytes, 192 + 256);
    arena_destroy(arena);
}

/* What no compiler emits for this GPU, and user SGPRs that nothing was asked for. */
static void rare_registers(void **state)
{
    static const struct entry_register expected[] = {
        S(0, CONSTANT, 0),   S(1, CONSTANT, 0), S(2, CONSTANT, 32), S(7, BLOCK_Y, 0),
        S(8, BLOCK_INFO, 0), ALWAYS(0x3c0),     V(0, THREAD_X),     V(1, THREAD_Y),
    };
    struct arena *arena = arena_create();
    struct bytes bytes = object_bytes("tiny_v3.so");
    u8 *kd = elf_bytes_at(&bytes, elf_symbol_of(&bytes, "tiny.kd")->st_value);
    put(kd, 4, 32, 4);
    put(kd, 52, 7u << 1 | 1u << 8 | 1u << 10 | 1u << 11, 4);
    put(kd, 56, 0x860, 2); /* flat scratch, private size, dynamic stack */
    struct error error = {0};
    struct code_object *object = codeobject_read(arena, bytes.data, bytes.size, "x.so", &error);
    assert_non_null(object);
    const struct abi_kernel kernel = {object, &object->kernels[0], ABI_LIBCLC};
    struct entry_launch launch = launch_of_many();
    launch.argument_bytes = 8;
    const struct entry_state *entry = compose(arena, &kernel, &launch);
    check_registers(entry, expected, ARRAY_LEN(expected));
    assert_int_equal(entry->local_bytes, 32 + 1000);
    free(bytes.data);
    arena_destroy(arena);
}

static void dimensions(void **state)
{
    static const struct {
        u32 grid[3], block[3], given, expected;
    } cases[] = {
        {{1, 1, 1}, {1, 1, 1}, 0, 1}, {{7, 1, 1}, {64, 1, 1}, 0, 1}, {{1, 2, 1}, {1, 1, 1}, 0, 2},
        {{1, 1, 1}, {8, 1, 2}, 0, 3}, {{7, 1, 1}, {64, 1, 1}, 2, 2}, {{1, 1, 1}, {1, 1, 1}, 3, 3},
    };
    struct arena *arena = arena_create();
    const struct abi_kernel *kernel = open_kernel(arena, "dims_clc14.so", "dims");
    for (size_t i = 0; i < ARRAY_LEN(cases); i++) {
        struct entry_launch launch = launch_of_many();
        memcpy(launch.grid, cases[i].grid, sizeof launch.grid);
        memcpy(launch.block, cases[i].block, sizeof launch.block);
        launch.dims = cases[i].given;
        launch.argument_bytes = 8;
        const struct entry_state *entry = compose(arena, kernel, &launch);
        assert_int_equal(entry->image[8], cases[i].expected);
        assert_int_equal(entry->image[entry->parts[1].offset + 2], cases[i].expected);
    }
    arena_destroy(arena);
}

static void err_launch(void **state)
{
    struct arena *arena = arena_create();
    const struct abi_kernel *kernel = open_kernel(arena, "loader_clc14.so", "many");
    static const struct {
        u32 grid, block, bytes;
        const char *message;
    } cases[] = {
        {1, 65536, 49, "kernel many: 1 blocks of 65536 threads along y"},
        {1 << 30, 4, 49, "kernel many: 1073741824 blocks of 4 threads along y"},
        {1, 1, 48, "48 bytes of arguments are given, but argument 7 ends at 49"},
        {1, 1, 113, "kernel many takes 112 bytes of arguments, but 113 are given"},
    };
    for (size_t i = 0; i < ARRAY_LEN(cases); i++) {
        struct error error = {0};
        struct entry_launch launch = launch_of_many();
        launch.grid[1] = cases[i].grid;
        launch.block[1] = cases[i].block;
        launch.argument_bytes = cases[i].bytes;
        assert_null(abi_entry(kernel, &launch, arena, &error));
        assert_int_equal(error.code, ERROR_USAGE);
        assert_non_null(strstr(error.message, cases[i].message));
    }
    /* One less is fine. */
    struct entry_launch launch = launch_of_many();
    launch.grid[1] = 65537;
    launch.block[1] = 65535;
    compose(arena, kernel, &launch);
    arena_destroy(arena);
}

int main(int argc, char **argv)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(libraries),      cmocka_unit_test(override),
        cmocka_unit_test(image_libclc),   cmocka_unit_test(image_rocm4),
        cmocka_unit_test(image_rocm5),    cmocka_unit_test(registers),
        cmocka_unit_test(rare_registers), cmocka_unit_test(dimensions),
        cmocka_unit_test(err_launch),
    };
    objects_folder = argv[argc - 1];
    return cmocka_run_group_tests(tests, NULL, NULL);
}
