/* Uniform, affine, other: vectors made by the definition, and ones that miss it by one lane. */
#include "exec/values.h"

/* clang-format off */
#include <setjmp.h>
#include <stdarg.h>
#include <cmocka.h>
/* clang-format on */

static u64 state = 1;

static u32 random_word(void)
{
    state ^= state << 13;
    state ^= state >> 7;
    state ^= state << 17;
    return (u32)(state >> 16);
}

static u64 random_value(u32 words)
{
    return words > 1 ? (u64)random_word() << 32 | random_word() : random_word();
}

static void fill(u32 *row, u32 words, u32 size, u32 width, u64 base, u64 a, u64 b)
{
    for (u32 l = 0; l < size; l++) {
        const u64 value = base + a * (l % width) + b * (l / width);
        row[l] = (u32)value;
        if (words > 1)
            row[size + l] = (u32)(value >> 32);
    }
}

static lane_set all_of(u32 size)
{
    return size == 64 ? ~0ull : 0xffffffffull;
}

static void test_width(void **unused)
{
    /* one base and one stride, whatever the shape of the block, unless rows are asked for */
    assert_int_equal(values_width((const u32[]){16, 16, 1}, 32, false), 32);
    assert_int_equal(values_width((const u32[]){8, 8, 1}, 64, false), 64);
    assert_int_equal(values_width((const u32[]){16, 16, 1}, 32, true), 16);
    assert_int_equal(values_width((const u32[]){16, 1, 4}, 32, true), 16);
    assert_int_equal(values_width((const u32[]){32, 4, 1}, 32, true), 32);
    assert_int_equal(values_width((const u32[]){64, 4, 1}, 32, true), 32); /* above the warp's */
    assert_int_equal(values_width((const u32[]){64, 4, 1}, 64, true), 64);
    assert_int_equal(values_width((const u32[]){16, 1, 1}, 32, true), 32); /* one row only */
    assert_int_equal(values_width((const u32[]){12, 8, 1}, 32, true), 32); /* no power of two */
    assert_int_equal(values_width((const u32[]){1, 256, 1}, 64, true), 1);
}

/* Every width of both warp sizes, words and pairs, with steps that wrap. */
static void test_all_lanes(void **unused)
{
    u32 row[128];
    for (u32 turn = 0; turn < 4000; turn++) {
        const u32 words = 1 + turn % 2, size = turn % 4 < 2 ? 32 : 64;
        const u32 width = 1u << random_word() % (size == 64 ? 7 : 6);
        const u64 base = random_value(words), a = width > 1 ? random_value(words) | 1 : 0;
        const u64 b = turn % 8 < 4 ? random_value(words) | 1 : a * width;
        if (width == 1 && !b)
            continue;
        fill(row, words, size, width, base, a, b);
        assert_int_equal(values_of(row, words, all_of(size), width, size), VALUES_AFFINE);
        const u32 lane = random_word() % (words * size);
        row[lane] ^= 1u << random_word() % 32;
        if (size / width > 2 || width > 2) /* else any two values in two rows are affine */
            assert_int_equal(values_of(row, words, all_of(size), width, size), VALUES_OTHER);
        fill(row, words, size, width, base, 0, 0);
        assert_int_equal(values_of(row, words, all_of(size), width, size), VALUES_UNIFORM);
        row[lane] ^= 1u << random_word() % 32;
        assert_int_not_equal(values_of(row, words, all_of(size), width, size), VALUES_UNIFORM);
    }
}

/* The coordinates of threads, and what is made of them. */
static void test_known(void **unused)
{
    u32 row[64];
    for (u32 l = 0; l < 32; l++) /* tid.x of 8 x 8 */
        row[l] = l % 8;
    assert_int_equal(values_of(row, 1, all_of(32), 8, 32), VALUES_AFFINE);
    assert_int_equal(values_of(row, 1, all_of(32), 32, 32), VALUES_OTHER);
    for (u32 l = 0; l < 32; l++) /* its square is not */
        row[l] = (l % 8) * (l % 8);
    assert_int_equal(values_of(row, 1, all_of(32), 8, 32), VALUES_OTHER);
    for (u32 l = 0; l < 32; l++) { /* a carry goes into the upper word of a pair */
        row[l] = 0xfffffff0u + l;
        row[32 + l] = l >= 16;
    }
    assert_int_equal(values_of(row, 2, all_of(32), 32, 32), VALUES_AFFINE);
    row[32 + 31] = 0;
    assert_int_equal(values_of(row, 2, all_of(32), 32, 32), VALUES_OTHER);
    assert_int_equal(values_of(row, 1, all_of(32), 32, 32),
                     VALUES_AFFINE); /* the lower by itself */
}

/* Lanes that are not in the set may hold anything. */
static void test_some_lanes(void **unused)
{
    u32 row[128];
    for (u32 turn = 0; turn < 4000; turn++) {
        const u32 words = 1 + turn % 2, size = turn % 4 < 2 ? 32 : 64;
        const u32 width = 1u << random_word() % (size == 64 ? 7 : 6);
        lane_set set = ((u64)random_word() << 32 | random_word()) & all_of(size);
        set |= 3ull << random_word() % size / width * width; /* two neighbours in a row */
        set |= size == 64 ? 1ull << 63 : 1ull << 31;
        set &= all_of(size);
        for (u32 l = 0; l + width < size && width > 1; l += width)
            set |= turn % 8 < 4 ? 1ull << l : 0; /* each row has a lane */
        /* small steps: those over several lanes must not wrap */
        const u64 a = random_word() % 1000 - (u64)500, b = random_word() % 1000 - (u64)500;
        fill(row, words, size, width, random_value(words), a, b);
        for (u32 l = 0; l < size; l++)
            if (!(set >> l & 1))
                row[l] = random_word();
        const enum values found = values_of(row, words, set, width, size);
        assert_int_not_equal(found, VALUES_OTHER);
        if (width >= 4 && (set & set >> 1 & set >> 2 & 1)) { /* three in a row, one of them off */
            row[2]++;
            assert_int_equal(values_of(row, words, set, width, size), VALUES_OTHER);
        }
    }
    row[5] = 77;
    assert_int_equal(values_of(row, 1, 1ull << 5, 32, 32), VALUES_UNIFORM);
    assert_int_equal(values_of(row, 1, 0, 32, 32), VALUES_UNIFORM);
    row[9] = 78; /* a step of a quarter */
    row[7] = row[6] = 0;
    assert_int_equal(values_of(row, 1, 1ull << 5 | 1ull << 9, 32, 32), VALUES_OTHER);
    row[9] = 73;
    assert_int_equal(values_of(row, 1, 1ull << 5 | 1ull << 9, 32, 32), VALUES_AFFINE);
    row[13] = 69;
    assert_int_equal(values_of(row, 1, 0x2220, 32, 32), VALUES_AFFINE);
    row[13] = 70;
    assert_int_equal(values_of(row, 1, 0x2220, 32, 32), VALUES_OTHER);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_width),
        cmocka_unit_test(test_all_lanes),
        cmocka_unit_test(test_known),
        cmocka_unit_test(test_some_lanes),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
