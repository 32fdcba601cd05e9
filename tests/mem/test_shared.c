/* Bank conflicts: closed forms for strides, sharing of words, wide accesses, and random addresses
 * against a count of distinct words. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include "mem/coalesce.h"
#include "random.h"

static u64 address[64];

static u32 gcd(u32 a, u32 b)
{
    return b ? gcd(b, a % b) : a;
}

static void strided(u32 words)
{
    for (u32 lane = 0; lane < 64; lane++)
        address[lane] = (u64)lane * words * 4;
}

/* 32 lanes meet the same bank gcd(stride, 32) at a time. */
static void strides(void **state)
{
    for (u32 stride = 1; stride <= 64; stride++) {
        strided(stride);
        assert_int_equal(shared_cycles(address, UINT32_MAX, 4, 32, 4, 1, 32), gcd(stride, 32));
        assert_int_equal(shared_cycles(address, UINT32_MAX, 4, 16, 4, 2, 32), 2 * gcd(stride, 16));
        assert_int_equal(shared_cycles(address, UINT64_MAX, 4, 32, 4, 2, 64), 2 * gcd(stride, 32));
    }
    strided(1);
    for (u32 shift = 0; shift < 200; shift++) {
        for (u32 lane = 0; lane < 64; lane++)
            address[lane] = (lane + shift) * 4;
        assert_int_equal(shared_cycles(address, UINT32_MAX, 4, 32, 4, 1, 32), 1);
    }
}

static void words_are_shared(void **state)
{
    strided(0);
    assert_int_equal(shared_cycles(address, UINT32_MAX, 4, 32, 4, 1, 32), 1);
    assert_int_equal(shared_cycles(address, UINT32_MAX, 4, 16, 4, 2, 32), 2);
    for (u32 words = 1; words <= 32; words++) {
        /* Several words of different banks: one cycle; of the same bank: one each. */
        for (u32 lane = 0; lane < 32; lane++)
            address[lane] = lane % words * 4;
        assert_int_equal(shared_cycles(address, UINT32_MAX, 4, 32, 4, 1, 32), 1);
        for (u32 lane = 0; lane < 32; lane++)
            address[lane] = lane % words * 32 * 4;
        assert_int_equal(shared_cycles(address, UINT32_MAX, 4, 32, 4, 1, 32), words);
    }
    for (u32 lane = 0; lane < 32; lane++)
        address[lane] = lane; /* bytes: four lanes a word */
    assert_int_equal(shared_cycles(address, UINT32_MAX, 1, 32, 4, 1, 32), 1);
}

static void wide_accesses(void **state)
{
    for (u32 lane = 0; lane < 32; lane++)
        address[lane] = lane * 8;
    assert_int_equal(shared_cycles(address, UINT32_MAX, 8, 32, 4, 1, 32), 2);
    assert_int_equal(shared_cycles(address, UINT32_MAX, 8, 32, 8, 1, 32), 1);
    assert_int_equal(shared_cycles(address, UINT32_MAX, 8, 16, 4, 2, 32), 4);
    assert_int_equal(shared_cycles(address, 0xffff, 8, 32, 4, 1, 32), 1);
    for (u32 lane = 0; lane < 32; lane++)
        address[lane] = lane * 16;
    assert_int_equal(shared_cycles(address, UINT32_MAX, 16, 32, 4, 1, 32), 4);
    assert_int_equal(shared_cycles(address, UINT32_MAX, 8, 32, 4, 1, 32), 4);
    for (u32 lane = 0; lane < 32; lane++)
        address[lane] = 0x40;
    assert_int_equal(shared_cycles(address, UINT32_MAX, 16, 32, 4, 1, 32), 4);
    assert_int_equal(shared_cycles(address, 0, 4, 32, 4, 1, 32), 1);
}

/* Sorts nothing and hashes nothing: asks of each word whether an earlier lane asked for it. */
static u32 reference(u64 lanes, u32 bytes, u32 banks, u32 bank_bytes, u32 parts, u32 warp_size)
{
    u32 words = bytes <= bank_bytes       ? 1
                : bytes <= 2 * bank_bytes ? 2
                : bytes <= 4 * bank_bytes ? 4
                                          : 8;
    u32 passes = parts * words, lanes_each = warp_size / passes, cycles = 0;
    for (u32 pass = 0; pass < passes; pass++) {
        u32 busiest = 0;
        for (u32 bank = 0; bank < banks; bank++) {
            u64 asked[256];
            u32 count = 0;
            for (u32 lane = pass * lanes_each; lane < (pass + 1) * lanes_each; lane++)
                for (u32 byte = 0; (lanes >> lane & 1) && byte < bytes; byte++) {
                    u64 word = (address[lane] + byte) / bank_bytes;
                    bool known = word % banks != bank;
                    for (u32 i = 0; i < count; i++)
                        known |= asked[i] == word;
                    if (!known)
                        asked[count++] = word;
                }
            busiest = MAX(busiest, count);
        }
        cycles += busiest;
    }
    return MAX(cycles, 1);
}

static void random_addresses(void **state)
{
    static const u32 machines[][4] = {{32, 4, 1, 32}, {16, 4, 2, 32}, {32, 8, 1, 32},
                                      {32, 4, 2, 64}, {64, 4, 1, 64}, {24, 4, 1, 32},
                                      {16, 4, 4, 64}, {32, 16, 1, 32}};
    struct random random = {3};
    for (u32 round = 0; round < 10000; round++) {
        const u32 *m = machines[random_below(&random, ARRAY_LEN(machines))];
        u32 bytes = 1u << random_below(&random, 5), spread = 1u << random_below(&random, 14);
        u64 lanes = random_next(&random) | (random_below(&random, 2) ? UINT64_MAX : 0);
        lanes &= m[3] == 64 ? UINT64_MAX : UINT32_MAX;
        u32 stride = random_below(&random, 4);
        bool aligned = random_below(&random, 4);
        for (u32 lane = 0; lane < 64; lane++) {
            address[lane] = stride ? 64 + lane * stride * bytes : random_below(&random, spread);
            address[lane] -= aligned ? address[lane] % bytes : 0;
        }
        const u32 cycles = reference(lanes, bytes, m[0], m[1], m[2], m[3]);
        assert_int_equal(shared_cycles(address, lanes, bytes, m[0], m[1], m[2], m[3]), cycles);
        /* all lanes so many banks further: the second element of a pair */
        const u64 apart = (u64)m[1] * random_below(&random, 256);
        for (u32 lane = 0; lane < 64; lane++)
            address[lane] += apart;
        assert_int_equal(shared_cycles(address, lanes, bytes, m[0], m[1], m[2], m[3]), cycles);
    }
}

/* A few stretches of equal or consecutive words that meet in banks or share words. */
static void random_stretches(void **state)
{
    struct random random = {4};
    for (u32 round = 0; round < 20000; round++) {
        u32 bytes = 4u << random_below(&random, 3), step = 0, even = 4 + random_below(&random, 20);
        for (u32 lane = 0; lane < 64; lane++)
            if (!lane || random_below(&random, even) == 0) {
                address[lane] = random_below(&random, 4) * bytes + random_below(&random, 2) * 128;
                step = random_below(&random, 3) ? bytes : 0;
            } else {
                address[lane] = address[lane - 1] + step;
            }
        u64 lanes = random_below(&random, 2) ? UINT32_MAX : random_next(&random) & UINT32_MAX;
        assert_int_equal(shared_cycles(address, lanes, bytes, 32, 4, 1, 32),
                         reference(lanes, bytes, 32, 4, 1, 32));
    }
}

/* What is free is told without looking at lanes; only groups at equal or consecutive words are. */
static void even_groups(void **state)
{
    static const i32 distances[] = {0, 4, 4, 8, -4, 2};
    struct random random = {5};
    u32 free = 0;
    for (u32 round = 0; round < 20000; round++) {
        u64 first[2];
        i32 apart[2];
        bool plain = true;
        memcpy(address + 32, address, 32 * sizeof *address); /* those of the last round */
        for (u32 g = 0; g < 2; g++) {
            first[g] = random_below(&random, 64) * 4 + 2 * (random_below(&random, 20) == 0);
            apart[g] = distances[random_below(&random, ARRAY_LEN(distances))];
            if (g && random_below(&random, 3) == 0)
                first[1] = first[0], apart[1] = apart[0];
            plain &= (!apart[g] || apart[g] == 4) && first[g] % 4 == 0;
            for (u32 i = 0; i < 16; i++)
                address[16 * g + i] = 1024 + first[g] + i * (u64)(i64)apart[g];
        }
        first[0] += 1024, first[1] += 1024;
        assert_int_equal(shared_cycles(address, UINT32_MAX, 4, 32, 4, 1, 32),
                         reference(UINT32_MAX, 4, 32, 4, 1, 32));
        assert_int_equal(shared_cycles(address, UINT64_MAX, 4, 32, 4, 2, 64),
                         reference(UINT64_MAX, 4, 32, 4, 2, 64));
        bool one = reference(UINT32_MAX, 4, 32, 4, 1, 32) == 1;
        bool told = shared_is_free(first, apart, 4);
        assert_true(!told || one);
        /* two runs may share words without being the same: that is for the long way */
        bool meet = first[0] != first[1] || apart[0] != apart[1];
        assert_true(told || !one || !plain || meet);
        free += told;
    }
    assert_true(free > 2000 && free < 18000);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(strides),          cmocka_unit_test(words_are_shared),
        cmocka_unit_test(wide_accesses),    cmocka_unit_test(random_addresses),
        cmocka_unit_test(random_stretches), cmocka_unit_test(even_groups),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
