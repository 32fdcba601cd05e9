/* Fat binaries, and the choice among their entries. */
#include "cuda/fatbin.h"
#include "fat.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>

#include <cmocka.h>

static const char *text_for(u32 capability, const u32 *archs, u32 count)
{
    static char texts[4][16];
    struct fat made;
    struct fatbin fatbin = {0};
    struct error error = {0};
    struct arena *arena = arena_create();
    static char chosen[16];
    fat_begin(&made);
    for (u32 i = 0; i < count; i++) {
        snprintf(texts[i], sizeof texts[i], "for %u", archs[i]);
        fat_ptx(&made, texts[i], archs[i], (enum fat_packing)(i % 3));
    }
    assert_int_equal(fatbin_size(made.data, made.bytes), made.bytes);
    assert_true(fatbin_read(&fatbin, arena, made.data, made.bytes, &error));
    assert_int_equal(fatbin.entries.count, count);
    const struct fatbin_entry *entry = fatbin_ptx(&fatbin, capability);
    snprintf(chosen, sizeof chosen, "%s", entry ? entry->text : "none");
    vec_free(&fatbin.entries);
    arena_destroy(arena);
    free(made.data);
    return chosen;
}

static void the_newest_that_runs_or_else_the_oldest(void **state)
{
    static const u32 archs[] = {52, 75, 61, 90};
    assert_string_equal(text_for(61, archs, 4), "for 61");
    assert_string_equal(text_for(60, archs, 4), "for 52");
    assert_string_equal(text_for(99, archs, 4), "for 90");
    assert_string_equal(text_for(20, archs, 4), "for 52");
    assert_string_equal(text_for(20, archs, 0), "none");
}

static void reads(const struct fat *made, size_t bytes, const char *expected)
{
    struct fatbin fatbin = {0};
    struct error error = {0};
    struct arena *arena = arena_create();
    u8 *exact = malloc(bytes + 1); /* so that a sanitizer sees what is read beyond */
    memcpy(exact, made->data, bytes);
    exact = realloc(exact, bytes ? bytes : 1);
    assert_int_equal(fatbin_read(&fatbin, arena, exact, bytes, &error), !expected);
    if (expected)
        assert_non_null(strstr(error.message, expected));
    free(exact);
    vec_free(&fatbin.entries);
    arena_destroy(arena);
}

static void damage_is_an_error(void **state)
{
    struct fat made;
    fat_begin(&made);
    fat_ptx(&made, ".version 7.0 and more of it", 52, FAT_LZ4);
    reads(&made, made.bytes, NULL);
    for (size_t bytes = 1; bytes < made.bytes; bytes++)
        reads(&made, bytes, "expected a container");
    const size_t entry = 16;
    u8 *at = made.data + entry;
    at[8] += 1; /* payload */
    reads(&made, made.bytes, "reaches beyond");
    at[8] -= 1;
    at[4] = 8; /* header */
    reads(&made, made.bytes, "reaches beyond");
    at[4] = 80;
    at[56] += 1; /* size when decompressed */
    reads(&made, made.bytes, "cannot be decompressed");
    at[56] -= 1;
    at[60] = 1; /* by 4 GB */
    reads(&made, made.bytes, "is damaged");
    at[60] = 0;
    at[41] = 0x10; /* the compression of CUDA before 11 */
    reads(&made, made.bytes, "before 11");
    made.data[0] = 0;
    reads(&made, made.bytes, "magic number");
    free(made.data);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(the_newest_that_runs_or_else_the_oldest),
        cmocka_unit_test(damage_is_an_error),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
