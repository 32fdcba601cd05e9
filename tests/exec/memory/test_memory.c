/* Device memory: lookups, gaps, freed memory, limits. */
#include "exec/memory.h"

#include <setjmp.h>
#include <stdarg.h>

#include <cmocka.h>

static void edges(void **state)
{
    struct error error;
    struct memory *memory = memory_create(1 << 20);
    u64 a = memory_allocate(memory, 100, ALLOC_BUFFER, "a", &error);
    u64 c = memory_allocate(memory, 4096, ALLOC_BUFFER, NULL, &error);
    assert_true(a >= MEMORY_BASE && a % MEMORY_ALIGN == 0 && c % MEMORY_ALIGN == 0);
    assert_true(c >= a + 100 + 4096); /* never adjacent */
    assert_ptr_equal(memory_find(memory, a, 100), memory_find(memory, a + 99, 1));
    assert_null(memory_find(memory, a, 101));
    assert_null(memory_find(memory, a + 100, 1));
    assert_null(memory_find(memory, a - 1, 1));
    assert_null(memory_find(memory, c - 1, 2));
    assert_null(memory_find(memory, a + 1, UINT64_MAX));
    assert_null(memory_find(memory, UINT64_MAX, 1));
    assert_string_equal(memory_nearest(memory, a + 101)->name, "a");
    assert_int_equal(memory_nearest(memory, c - 10)->address, c);
    assert_int_equal(memory_nearest(memory, UINT64_MAX)->address, c);
    assert_int_equal(memory_nearest(memory, 0)->address, a);
    memory_destroy(memory);
}

static void freed_is_remembered(void **state)
{
    struct error error;
    struct memory *memory = memory_create(1 << 20);
    u64 a = memory_allocate(memory, 64, ALLOC_BUFFER, "first", &error);
    u64 generation = *memory_generation(memory);
    assert_false(memory_free(memory, a + 4, &error));
    assert_int_equal(*memory_generation(memory), generation);
    assert_true(memory_free(memory, a, &error));
    assert_int_not_equal(*memory_generation(memory), generation);
    assert_null(memory_find(memory, a, 1));
    assert_false(memory_free(memory, a, &error));
    assert_int_equal(error.code, ERROR_USAGE);
    u64 next = memory_allocate(memory, 64, ALLOC_BUFFER, NULL, &error);
    assert_int_not_equal(next, a); /* addresses are not reused */
    const struct allocation *near = memory_nearest(memory, a + 8);
    assert_true(near->freed);
    assert_string_equal(near->name, "first");
    assert_int_equal(memory_used(memory), 64);
    for (int i = 0; i < 3000; i++) { /* more than are remembered */
        u64 address = memory_allocate(memory, 16, ALLOC_HEAP, "x", &error);
        assert_true(memory_free(memory, address, &error));
    }
    assert_non_null(memory_find(memory, next, 64));
    memory_destroy(memory);
}

static void limits(void **state)
{
    struct error error = {0};
    struct memory *memory = memory_create(1000);
    assert_int_equal(memory_allocate(memory, 0, ALLOC_BUFFER, NULL, &error), 0);
    assert_int_equal(error.code, ERROR_USAGE);
    assert_int_equal(memory_allocate(memory, 1001, ALLOC_BUFFER, NULL, &error), 0);
    assert_int_equal(error.code, ERROR_MEMORY);
    u64 all = memory_allocate(memory, 1000, ALLOC_BUFFER, NULL, &error);
    assert_int_not_equal(all, 0);
    assert_int_equal(memory_allocate(memory, 1, ALLOC_BUFFER, NULL, &error), 0);
    assert_true(memory_free(memory, all, &error));
    assert_int_not_equal(memory_allocate(memory, 1000, ALLOC_BUFFER, NULL, &error), 0);
    memory_destroy(memory);
    memory = memory_create(UINT64_MAX);
    assert_int_equal(memory_allocate(memory, MEMORY_MAX_ALLOCATION + 1, ALLOC_BUFFER, NULL, &error),
                     0);
    memory_destroy(memory);
}

static void contents(void **state)
{
    struct error error;
    struct memory *memory = memory_create(1 << 24);
    u64 a = memory_allocate(memory, 1 << 20, ALLOC_BUFFER, NULL, &error);
    u32 words[4] = {1, 2, 3, 4}, back[4];
    assert_true(memory_read(memory, a + (1 << 20) - 16, back, 16, &error));
    for (int i = 0; i < 4; i++)
        assert_int_equal(back[i], 0); /* fresh memory is zero */
    assert_true(memory_write(memory, a + 8, words, 16, &error));
    assert_true(memory_read(memory, a + 12, back, 8, &error));
    assert_int_equal(back[0], 2);
    assert_false(memory_write(memory, a + (1 << 20) - 8, words, 16, &error));
    assert_int_equal(error.code, ERROR_USAGE);
    assert_true(memory_fill(memory, a, "abc", 3, 9, &error));
    assert_true(memory_read(memory, a, back, 9, &error));
    assert_memory_equal(back, "abcabcabc", 9);
    assert_false(memory_fill(memory, a, "abc", 3, 10, &error));
    assert_false(memory_fill(memory, a, "abc", 0, 9, &error));
    memory_destroy(memory);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(edges),
        cmocka_unit_test(freed_is_remembered),
        cmocka_unit_test(limits),
        cmocka_unit_test(contents),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
