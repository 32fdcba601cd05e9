/* Device memory: lookups, gaps, freed memory, limits. */
#include "exec/memory.h"

#include <setjmp.h>
#include <stdarg.h>

#include <cmocka.h>

static void edges(void **state)
{
    struct error error;
    struct memory *memory = memory_create(1 << 20, 64);
    u64 a = memory_allocate(memory, 100, ALLOC_BUFFER, "a", &error);
    u64 c = memory_allocate(memory, 4096, ALLOC_BUFFER, NULL, &error);
    assert_true(a >= memory_base(memory) && a % MEMORY_ALIGN == 0 && c % MEMORY_ALIGN == 0);
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

/* Messages are about the guest's data, unless the address is in something else. */
static void data_is_nearer_than_code(void **state)
{
    struct error error;
    struct memory *memory = memory_create(1 << 20, 64);
    u64 code = memory_allocate(memory, 256, ALLOC_CODE, "code", &error);
    assert_string_equal(memory_nearest(memory, code - 4)->name, "code"); /* there is no data */
    u64 a = memory_allocate(memory, 256, ALLOC_BUFFER, "a", &error);
    u64 launch = memory_allocate(memory, 256, ALLOC_LAUNCH, "launch", &error);
    u64 more = memory_allocate(memory, 256, ALLOC_LAUNCH, "more", &error);
    assert_string_equal(memory_nearest(memory, code + 256)->name, "a");
    assert_string_equal(memory_nearest(memory, code + 255)->name, "code");
    assert_string_equal(memory_nearest(memory, 0)->name, "a");
    assert_string_equal(memory_nearest(memory, launch - 4)->name, "a");
    assert_string_equal(memory_nearest(memory, more + 256)->name, "a");
    assert_string_equal(memory_nearest(memory, more)->name, "more");
    assert_true(memory_free(memory, a, &error));
    assert_string_equal(memory_nearest(memory, more + 256)->name, "a"); /* freed, but data */
    memory_destroy(memory);
}

static void freed_is_remembered(void **state)
{
    struct error error;
    struct memory *memory = memory_create(1 << 20, 64);
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
    struct memory *memory = memory_create(1000, 64);
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
    memory = memory_create(UINT64_MAX, 64);
    assert_int_equal(memory_allocate(memory, MEMORY_MAX_ALLOCATION + 1, ALLOC_BUFFER, NULL, &error),
                     0);
    memory_destroy(memory);
}

static void contents(void **state)
{
    struct error error;
    struct memory *memory = memory_create(1 << 24, 64);
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
    static const char mixed[] = "abcdefghijklmnop", same[] = "zzzzzzzzzzzzzzzz";
    static u8 filled[6 * 16 * 1000];
    for (u32 length = 1; length <= 16; length++)
        for (u32 count = 1; count <= 6000; count = count * 3 + 1) {
            const char *pattern = count % 2 ? mixed : same;
            assert_true(memory_fill(memory, a, "#", 1, sizeof filled, &error));
            assert_true(memory_fill(memory, a + 1, pattern, length, length * count, &error));
            assert_true(memory_read(memory, a, filled, sizeof filled, &error));
            for (u32 i = 0; i < length * count; i++)
                assert_int_equal(filled[i + 1], pattern[i % length]);
            assert_true(filled[0] == '#' && filled[length * count + 1] == '#');
        }
    assert_false(memory_fill(memory, a, "abc", 3, 10, &error));
    assert_false(memory_fill(memory, a, "abc", 0, 9, &error));
    memory_destroy(memory);
}

static void mapped(void **state)
{
    struct error error = {0};
    struct memory *memory = memory_create(1 << 24, 64);
    assert_true(memory_map(memory, 0, 16, ALLOC_BUFFER, "zero", &error));
    assert_true(memory_map(memory, 24, 8, ALLOC_BUFFER, NULL, &error));
    assert_true(memory_map(memory, 16, 8, ALLOC_BUFFER, NULL, &error)); /* between neighbours */
    assert_true(memory_map(memory, UINT64_MAX, 1, ALLOC_BUFFER, NULL, &error));
    assert_true(memory_map(memory, memory_base(memory) + 4096, 100, ALLOC_BUFFER, NULL, &error));
    static const u64 taken[][2] = {{0, 1}, {15, 2}, {8, 8}, {23, 1}, {20, 5}, {1, 100}, {31, 1}};
    for (u32 i = 0; i < ARRAY_LEN(taken); i++) {
        assert_false(memory_map(memory, taken[i][0], taken[i][1], ALLOC_BUFFER, NULL, &error));
        assert_int_equal(error.code, ERROR_USAGE);
    }
    assert_true(memory_map(memory, 32, 1, ALLOC_BUFFER, NULL, &error));
    assert_false(memory_map(memory, UINT64_MAX - 1, 3, ALLOC_BUFFER, NULL, &error));
    assert_false(memory_map(memory, 64, 0, ALLOC_BUFFER, NULL, &error));
    assert_false(memory_map(memory, 64, 1 << 25, ALLOC_BUFFER, NULL, &error));
    assert_int_equal(error.code, ERROR_MEMORY);
    assert_string_equal(memory_find(memory, 15, 1)->name, "zero");
    assert_null(memory_find(memory, 15, 2)); /* neighbours are not one allocation */
    assert_int_equal(memory_find(memory, 16, 8)->address, 16);
    assert_non_null(memory_find(memory, UINT64_MAX, 1));
    assert_null(memory_find(memory, UINT64_MAX - 1, 1));
    /* Addresses that are given out keep their distance from mapped ones, before and behind. */
    u64 a = memory_allocate(memory, 1, ALLOC_BUFFER, NULL, &error);
    u64 b = memory_reserve(memory, 512, &error);
    u64 c = memory_allocate(memory, 512, ALLOC_BUFFER, NULL, &error);
    assert_true(a >= memory_base(memory) + 4096 + 100 + 4096 && b >= a + 4096 &&
                c >= b + 512 + 4096);
    assert_null(memory_find(memory, b, 1));
    assert_true(memory_map(memory, b + 256, 256, ALLOC_VARIABLE, NULL, &error));
    assert_true(memory_map(memory, b, 256, ALLOC_CODE, NULL, &error));
    assert_int_equal(memory_find(memory, b + 255, 1)->kind, ALLOC_CODE);
    assert_true(memory_free(memory, 16, &error) && !memory_find(memory, 16, 1));
    assert_true(memory_find(memory, 24, 8) && memory_find(memory, 0, 16));
    memory_destroy(memory);
}

/* Storage of the host's: both see one memory, which takes no capacity and stays when it is released. */
static void shared(void **state)
{
    struct error error;
    struct memory *memory = memory_create(1 << 16, 64);
    static u8 host[4096 + 512];
    u32 word = 0;
    const u64 chosen = memory_share(memory, 0, host, 4096, "ours", &error);
    assert_true(chosen);
    assert_true(memory_allocate(memory, 1 << 16, ALLOC_BUFFER, NULL, &error)); /* all there is */
    assert_true(memory_write(memory, chosen + 8, &(u32){0x12345678}, 4, &error));
    assert_int_equal(host[8], 0x78);
    host[8] = 0x79;
    assert_true(memory_read(memory, chosen + 8, &word, 4, &error));
    assert_int_equal(word, 0x12345679);
    assert_null(memory_find(memory, chosen, 4097));
    assert_int_equal(memory_share(memory, chosen + 4000, host, 200, NULL, &error), 0);
    assert_non_null(strstr(error.message, "in use"));
    assert_int_equal(memory_share(memory, 0, host, 0, NULL, &error), 0);
    const u64 own = 0x600000001000;
    assert_int_equal(memory_share(memory, own, host, 256, NULL, &error),
                     own); /* again, elsewhere */
    assert_true(memory_write(memory, own, &(u32){7}, 4, &error));
    assert_true(memory_read(memory, chosen, &word, 4, &error));
    assert_int_equal(word, 7);
    assert_true(memory_free(memory, chosen, &error));
    assert_false(memory_read(memory, chosen, &word, 4, &error));
    assert_int_equal(host[8], 0x79);
    memory_destroy(memory);
    assert_int_equal(host[0], 7);
}

/* A space of 32 bits: below the windows of generic addresses, and used again when it is full. */
static void narrow(void **state)
{
    enum {
        BYTES = 512 << 20,
        ROUNDS = 40
    };
    struct error error = {0};
    assert_int_equal(memory_room(1 << 30, 32), 1 << 30);
    assert_int_equal(memory_room(1ull << 40, 64), 1ull << 40);
    assert_int_equal(memory_room(1ull << 40, 32), 4048ull << 20);
    struct memory *memory = memory_create(1ull << 40, 32);
    u64 kept = memory_allocate(memory, 4096, ALLOC_BUFFER, "kept", &error);
    u64 freed = 0, again = 0;
    assert_true(kept >= memory_base(memory));
    for (u32 i = 0; i < ROUNDS; i++) {
        u64 address = memory_allocate(memory, BYTES, ALLOC_BUFFER, "round", &error);
        assert_true(address >= kept + 2 * 4096 && address + BYTES <= 0xfe000000);
        again += i && address < freed;
        freed = address;
        assert_true(memory_free(memory, address, &error));
        assert_true(memory_find(memory, kept, 4096) && !memory_find(memory, address, 1));
    }
    assert_true(again >= ROUNDS / 8 - 1); /* 7 fit side by side */
    for (u32 i = 0; i < 7; i++)
        assert_true(memory_allocate(memory, BYTES, ALLOC_BUFFER, NULL, &error));
    assert_false(memory_allocate(memory, BYTES, ALLOC_BUFFER, NULL, &error));
    assert_int_equal(error.code, ERROR_MEMORY);
    assert_true(memory_has_address(memory, kept + 5000)); /* given out once, and not freed */
    assert_false(memory_has_address(memory, 0));
    memory_destroy(memory);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(edges),
        cmocka_unit_test(data_is_nearer_than_code),
        cmocka_unit_test(freed_is_remembered),
        cmocka_unit_test(limits),
        cmocka_unit_test(contents),
        cmocka_unit_test(mapped),
        cmocka_unit_test(narrow),
        cmocka_unit_test(shared),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
