/* Random numbers: the generators give the numbers of their authors, and streams are apart. */
#include "base/rng.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>

#include <cmocka.h>

/* Outputs of the authors' splitmix64.c for the seed 1234567. */
static void test_splitmix(void **state)
{
    static const u64 wanted[] = {6457827717110365317ull, 3203168211198807973ull,
                                 9817491932198370423ull, 4593380528125082431ull,
                                 16408922859458223821ull};
    u64 at = 1234567;
    for (u32 i = 0; i < ARRAY_LEN(wanted); i++)
        assert_true(splitmix64(&at) == wanted[i]);
}

/* Outputs of the authors' xoshiro256starstar.c for the state 1, 2, 3, 4. */
static void test_xoshiro(void **state)
{
    static const u64 wanted[] = {11520ull,
                                 0ull,
                                 1509978240ull,
                                 1215971899390074240ull,
                                 1216172134540287360ull,
                                 607988272756665600ull,
                                 16172922978634559625ull,
                                 8476171486693032832ull,
                                 10595114339597558777ull,
                                 2904607092377533576ull};
    struct rng rng = {{1, 2, 3, 4}};
    for (u32 i = 0; i < ARRAY_LEN(wanted); i++)
        assert_true(rng_next(&rng) == wanted[i]);
}

/* Every part of a name makes another stream; the same name makes the same. */
static void test_streams(void **state)
{
    static const struct {
        u64 seed, launch;
        const char *place;
        u64 index;
        const char *user;
    } names[] = {
        {1, 0, "core", 0, "a"},     {1, 0, "core", 0, "b"},       {1, 0, "core", 1, "a"},
        {1, 1, "core", 0, "a"},     {0, 1, "core", 0, "a"},       {2, 0, "core", 0, "a"},
        {1, 0, "memory", 0, "a"},   {1, 0, "dispatcher", 0, "a"}, {0, 0, "", 0, ""},
        {UINT64_MAX, 0, "", 0, ""},
    };
    u64 seen[ARRAY_LEN(names)];
    for (u32 i = 0; i < ARRAY_LEN(names); i++) {
        struct rng rng, again;
        rng_stream(&rng, names[i].seed, names[i].launch, names[i].place, names[i].index,
                   names[i].user);
        again = rng;
        seen[i] = rng_next(&rng);
        rng_stream(&rng, names[i].seed, names[i].launch, names[i].place, names[i].index,
                   names[i].user);
        assert_memory_equal(&rng, &again, sizeof rng);
        for (u32 j = 0; j < i; j++)
            assert_true(seen[i] != seen[j]);
    }
}

/* Ranges, and a rough count of what falls where. */
static void test_ranges(void **state)
{
    enum {
        DRAWS = 60000,
        FACES = 6
    };
    struct rng rng;
    u32 faces[FACES] = {0}, low = 0;
    rng_stream(&rng, 1, 0, "test", 0, "ranges");
    for (u32 i = 0; i < DRAWS; i++) {
        const u64 face = rng_below(&rng, FACES);
        const f64 unit = rng_unit(&rng);
        assert_true(face < FACES && unit >= 0 && unit < 1);
        faces[face]++;
        low += unit < 0.25;
    }
    for (u32 i = 0; i < FACES; i++) /* five standard deviations: sqrt(60000 x 5 / 36) is 91 */
        assert_true(faces[i] > 10000 - 456 && faces[i] < 10000 + 456);
    assert_true(low > 15000 - 530 && low < 15000 + 530);
    assert_true(rng_below(&rng, 1) == 0);
    /* numbers below 2^64 mod limit are left out, so that none is twice as likely */
    const u64 limit = 3ull << 62;
    u32 third = 0;
    for (u32 i = 0; i < DRAWS; i++)
        third += rng_below(&rng, limit) < 1ull << 62;
    assert_true(third > 20000 - 577 && third < 20000 + 577);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_splitmix),
        cmocka_unit_test(test_xoshiro),
        cmocka_unit_test(test_streams),
        cmocka_unit_test(test_ranges),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
