/* Coalescing against a byte-by-byte reading of the rules. */
#include "mem/coalesce.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stdio.h>

#include <cmocka.h>

#include "mem/packet.h"
#include "random.h"

static struct transaction list[MAX_TRANSACTIONS];
static struct transaction expected[MAX_TRANSACTIONS];

/* The lines of the lanes' bytes in order, each byte by itself. */
static u32 reference_lines(bool whole, u32 line_bytes, const u64 *address, u64 lanes, u32 bytes,
                           bool store)
{
    static u8 written[MAX_TRANSACTIONS][1024];
    u32 count = 0;
    for (u32 lane = 0; lane < 64; lane++)
        for (u32 byte = 0; (lanes >> lane & 1) && byte < bytes; byte++) {
            u64 at = address[lane] + byte, line = at / line_bytes * line_bytes;
            u32 i = 0;
            while (i < count && expected[i].line != line)
                i++;
            if (i == count) {
                expected[count++] = (struct transaction){.line = line};
                memset(written[i], 0, line_bytes);
            }
            expected[i].lanes |= 1ull << lane;
            expected[i].sectors |= 1u << (at - line) / SECTOR_BYTES;
            written[i][at - line] = 1;
        }
    for (u32 i = 0; i < count; i++) {
        u32 bytes_written = 0, sectors = 0;
        for (u32 byte = 0; byte < line_bytes; byte++)
            bytes_written += written[i][byte];
        for (u32 sector = 0; sector < line_bytes / SECTOR_BYTES; sector++)
            sectors += expected[i].sectors >> sector & 1;
        expected[i].full = store && bytes_written == sectors * SECTOR_BYTES;
        if (whole && !store)
            for (u32 sector = 0; sector < line_bytes / SECTOR_BYTES; sector++)
                expected[i].sectors |= 1u << sector;
    }
    return count;
}

static void same(u32 count, u32 expected_count)
{
    assert_int_equal(count, expected_count);
    for (u32 i = 0; i < count; i++) {
        assert_int_equal(list[i].line, expected[i].line);
        assert_int_equal(list[i].lanes, expected[i].lanes);
        assert_int_equal(list[i].sectors, expected[i].sectors);
        assert_int_equal(list[i].full, expected[i].full);
    }
}

static void check_lines(const u64 *address, u64 lanes, u32 bytes)
{
    for (u32 line_bytes = 32; line_bytes <= 1024; line_bytes *= 2)
        for (u32 store = 0; store < 2; store++)
            for (u32 rule = COALESCE_LINE; rule <= COALESCE_SECTOR; rule++) {
                u32 count = 0;
                coalesce(rule, line_bytes, address, lanes, bytes, store, list, &count);
                same(count, reference_lines(rule == COALESCE_LINE, line_bytes, address, lanes,
                                            bytes, store));
            }
}

static void strides(void **state)
{
    const u64 masks[] = {UINT32_MAX, UINT64_MAX, 1,          0x8000000000000000ull,
                         0xffff,     0xaaaaaaaa, 0xffff0000, 0};
    for (u32 bytes = 1; bytes <= 16; bytes *= 2)
        for (u32 stride = 0; stride <= 32; stride++)
            for (u32 offset = 0; offset < 160; offset += offset < 4 ? 1 : 12)
                for (u32 mask = 0; mask < ARRAY_LEN(masks); mask++) {
                    u64 address[64];
                    for (u32 lane = 0; lane < 64; lane++)
                        address[lane] = 0x10000 + offset + (u64)lane * stride * bytes;
                    check_lines(address, masks[mask], bytes);
                }
}

/* Pieces of even stretches beside each other, as blocks narrower than a warp give them. */
static void random_addresses(void **state)
{
    struct random random = {1};
    for (u32 round = 0; round < 4000; round++) {
        u64 address[64], lanes = random_next(&random);
        u32 bytes = 1u << random_below(&random, 5), spread = 1u << random_below(&random, 16);
        if (random_below(&random, 3) == 0)
            lanes = random_below(&random, 2) ? UINT32_MAX : UINT64_MAX;
        else if (random_below(&random, 2))
            lanes &= random_next(&random) & UINT32_MAX;
        if (random_below(&random, 8) == 0)
            bytes = 12;
        bool aligned = random_below(&random, 4);
        u32 even = 1 + random_below(&random, 40); /* lanes of a stretch */
        u64 base = random_below(&random, 1 << 20), step = 0;
        for (u32 lane = 0; lane < 64; lane++) {
            if (random_below(&random, even) == 0 || !lane) {
                address[lane] = base + random_below(&random, spread);
                address[lane] -= aligned ? address[lane] % bytes : 0;
                step = random_below(&random, 3) * bytes;
            } else {
                address[lane] = address[lane - 1] + step;
            }
        }
        check_lines(address, lanes, bytes);
    }
}

/* Two elements of each lane: transactions of the first call are joined. */
static void adds_to_an_earlier_call(void **state)
{
    u64 address[64];
    u32 count = 0;
    for (u32 lane = 0; lane < 64; lane++)
        address[lane] = 0x1000 + lane * 8;
    coalesce(COALESCE_SECTOR, 128, address, UINT32_MAX, 4, true, list, &count);
    assert_int_equal(count, 2);
    assert_false(list[0].full);
    for (u32 lane = 0; lane < 64; lane++)
        address[lane] = 0x1080 + lane * 4;
    coalesce(COALESCE_SECTOR, 128, address, UINT32_MAX << 16 & UINT32_MAX, 4, true, list, &count);
    assert_int_equal(count, 2);
    assert_int_equal(list[1].line, 0x1080);
    assert_int_equal(list[1].lanes, 0xffff0000);
    for (u32 lane = 0; lane < 64; lane++)
        address[lane] = 0x1100 + lane * 4;
    coalesce(COALESCE_SECTOR, 128, address, UINT32_MAX, 4, true, list, &count);
    assert_int_equal(count, 3);
    assert_true(list[2].full && !list[1].full && !list[0].full);
    coalesce(COALESCE_SECTOR, 128, address, 1, 4, true, list, &count);
    assert_int_equal(count, 3);
    assert_false(list[2].full);
    assert_int_equal(list[2].sectors, 15);
}

/*
 * The rule as the programming guide tells it for compute capability 1.2: take the lowest lane left;
 * its segment; all lanes in it; halve it while only one half is used; those lanes are done.
 */
static u32 reference_halves(u32 line_bytes, const u64 *address, u64 lanes, u32 bytes, bool store)
{
    u32 count = 0;
    for (u32 half = 0; half < 4; half++) {
        u64 left = lanes & 0xffffull << half * 16;
        for (u32 lane = 0; lane < 64; lane++) {
            if (!(left >> lane & 1))
                continue;
            u64 size = bytes == 1 ? 32 : bytes == 2 ? 64 : 128, base = address[lane] / size * size;
            u8 used[128] = {0};
            u64 served = 0;
            for (u32 i = 0; i < 64; i++)
                if ((left >> i & 1) && address[i] / size * size == base) {
                    served |= 1ull << i;
                    memset(used + (address[i] - base), 1, bytes);
                }
            u64 start = 0;
            for (bool cut = true; cut && size > 32;) {
                bool lower = memchr(used + start, 1, size / 2);
                bool upper = memchr(used + start + size / 2, 1, size / 2);
                cut = lower != upper;
                size = cut ? size / 2 : size;
                start += cut && upper ? size : 0;
            }
            bool full = store && !memchr(used + start, 0, size);
            for (u64 at = start; at < start + size; at += 32) {
                u64 line = (base + at) / line_bytes * line_bytes;
                if (at == start || line != expected[count - 1].line)
                    expected[count++] =
                        (struct transaction){.line = line, .lanes = served, .full = full};
                expected[count - 1].sectors |= 1u << (base + at - line) / 32;
            }
            left &= ~served;
        }
    }
    return count;
}

static void halves(void **state)
{
    struct random random = {2};
    for (u32 round = 0; round < 30000; round++) {
        u64 address[64], lanes = random_next(&random);
        u32 bytes = 1u << random_below(&random, 5), spread = 1u << random_below(&random, 12);
        if (random_below(&random, 2))
            lanes = UINT32_MAX;
        u32 stride = random_below(&random, 5);
        u64 base = random_below(&random, 1 << 16);
        for (u32 lane = 0; lane < 64; lane++) {
            address[lane] = base + (stride ? lane * stride * bytes : random_below(&random, spread));
            address[lane] -= address[lane] % bytes;
        }
        bool store = random_below(&random, 2);
        u32 count = 0, line_bytes = 32u << random_below(&random, 4);
        coalesce(COALESCE_HALF, line_bytes, address, lanes, bytes, store, list, &count);
        same(count, reference_halves(line_bytes, address, lanes, bytes, store));
    }
}

/* The guide's own examples of half a warp reading floats. */
static void halves_of_the_guide(void **state)
{
    static const struct {
        u32 offset, stride, skip; /* bytes, bytes, a lane that is off */
        u32 transactions;
        u32 bytes[2];
    } cases[] = {
        {128, 4, 99, 1, {64}},     /* in order, aligned to 64 bytes: one of 64 */
        {128, 4, 6, 1, {64}},      /* one lane off: the same */
        {132, 4, 99, 1, {128}},    /* shifted by a word, within 128 bytes: one of 128 */
        {96, 4, 99, 2, {32, 32}},  /* across 128 bytes: two of 32 */
        {224, 4, 99, 2, {32, 32}}, /* the same at another place */
        {100, 4, 99, 2, {32, 64}}, /* across, with more than 32 bytes above */
        {128, 8, 99, 1, {128}},    /* every other word: one of 128 */
        {128, 0, 99, 1, {32}},     /* all the same word: one of 32 */
    };
    for (u32 i = 0; i < ARRAY_LEN(cases); i++) {
        u64 address[64] = {0};
        u32 count = 0;
        for (u32 lane = 0; lane < 16; lane++)
            address[lane] = cases[i].offset + lane * cases[i].stride;
        u64 lanes = 0xffff & ~(cases[i].skip < 16 ? 1ull << cases[i].skip : 0);
        coalesce(COALESCE_HALF, 128, address, lanes, 4, false, list, &count);
        assert_int_equal(count, cases[i].transactions);
        for (u32 t = 0; t < count; t++)
            assert_int_equal(__builtin_popcount(list[t].sectors) * 32, cases[i].bytes[t]);
    }
}

/* A lane whose bytes lie in two segments is served by both. */
static void halves_of_unaligned_lanes(void **state)
{
    u64 address[64] = {[0] = 126, [1] = 100, [2] = 254};
    u32 count = 0;
    coalesce(COALESCE_HALF, 128, address, 7, 4, false, list, &count);
    assert_int_equal(count, 3);
    assert_int_equal(list[0].line, 0);
    assert_int_equal(list[0].lanes, 3);
    assert_int_equal(list[0].sectors, 8);
    assert_int_equal(list[1].line, 128);
    assert_int_equal(list[1].lanes, 5);
    assert_int_equal(list[1].sectors, 15);
    assert_int_equal(list[2].line, 256);
    assert_int_equal(list[2].lanes, 4);
    assert_int_equal(list[2].sectors, 1);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(strides),
        cmocka_unit_test(random_addresses),
        cmocka_unit_test(adds_to_an_earlier_call),
        cmocka_unit_test(halves),
        cmocka_unit_test(halves_of_the_guide),
        cmocka_unit_test(halves_of_unaligned_lanes),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
