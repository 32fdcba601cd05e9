/* Gather, scatter and address translation: exact bounds, alignment, wrap-around, masks. */
#include "harness.h"

static const enum simd builds[] = {SIMD_PORTABLE, SIMD_AVX2};
static unsigned build_count(void)
{
    return simd_best() == SIMD_AVX2 ? 2 : 1;
}

static void test_gather_scatter(void **unused)
{
    u64 state = 51;
    u8 memory[4096], copy[4096];
    u32 lane_mask[LANES] __attribute__((aligned(32)));
    for (unsigned round = 0; round < 200; round++) {
        const struct lanes_memory *m = lanes_memory(builds[round % build_count()]);
        const u32 mask = round % 5 ? (u32)random_next(&state) : LANES_FULL;
        u32 offset[LANES], dst[LANES], src[LANES];
        lanes_expand(mask, lane_mask);
        for (unsigned i = 0; i < sizeof memory; i++)
            memory[i] = (u8)random_next(&state);
        for (unsigned i = 0; i < LANES; i++) {
            assert_int_equal(lane_mask[i], mask >> i & 1 ? ~0u : 0);
            /* Lanes outside the mask may hold anything, even what is far out of bounds. */
            offset[i] = mask >> i & 1 ? (u32)random_next(&state) % (sizeof memory - 3) : 0x7fffffff;
            dst[i] = src[i] = (u32)random_next(&state);
        }
        m->gather32(dst, memory, offset, mask, lane_mask);
        for (unsigned i = 0; i < LANES; i++) {
            u32 expected = src[i];
            if (mask >> i & 1)
                memcpy(&expected, memory + offset[i], 4);
            assert_int_equal(dst[i], expected);
        }
        memcpy(copy, memory, sizeof copy);
        for (unsigned i = 0; i < LANES; i++) /* later lanes win */
            if (mask >> i & 1)
                memcpy(copy + offset[i], &src[i], 4);
        m->scatter32(memory, offset, src, mask);
        assert_memory_equal(memory, copy, sizeof copy);
    }
}

static void check_translate64(u64 lo, u32 size, u32 bytes, i64 imm, const u64 *address, u32 mask)
{
    u32 low[LANES], high[LANES], offset[LANES];
    for (unsigned i = 0; i < LANES; i++)
        low[i] = (u32)address[i], high[i] = (u32)(address[i] >> 32);
    for (unsigned b = 0; b < build_count(); b++) {
        const u32 got =
            lanes_memory(builds[b])->translate64(offset, low, high, imm, lo, size, bytes, mask);
        for (unsigned i = 0; i < LANES; i++) {
            const u64 at = address[i] + (u64)imm;
            const bool inside =
                mask >> i & 1 && at >= lo && (u128)at + bytes <= (u128)lo + size && at % bytes == 0;
            if ((got >> i & 1) != inside || offset[i] != (inside ? at - lo : 0))
                fail_msg("address %llx%+lld in [%llx, +%x) bytes %u: %s, offset %x",
                         (unsigned long long)address[i], (long long)imm, (unsigned long long)lo,
                         size, bytes, got >> i & 1 ? "inside" : "outside", offset[i]);
        }
    }
}

static void test_translate64(void **unused)
{
    static const u64 bases[] = {0,          0x1000,     0x100000000,        0xfffffff0,
                                0x80000000, 0x10000002, 0xfffffffffffff000, 0x7f0000000004};
    static const u32 sizes[] = {0, 1, 3, 4, 8, 16, 64, 4096, 0x7fffffff};
    u64 state = 52;
    for (unsigned round = 0; round < 4000; round++) {
        const u64 lo = bases[random_next(&state) % ARRAY_LEN(bases)];
        u32 size = sizes[random_next(&state) % ARRAY_LEN(sizes)];
        if (lo + size < lo) /* an allocation may end at 2^64, not wrap around it */
            size = (u32)(0 - lo);
        const u32 bytes = 1u << random_next(&state) % 5;
        i64 imm = (i64)(random_next(&state) % 65) - 32;
        if (round % 7 == 0)
            imm = (i64)random_next(&state) >> random_next(&state) % 64;
        u64 address[LANES];
        for (unsigned i = 0; i < LANES; i++) {
            const u64 near = random_next(&state) & 1 ? lo : lo + size;
            address[i] = near + random_next(&state) % 65 - 32 - (u64)imm;
            if (i % 8 == 7)
                address[i] = random_value(&state);
            if (i % 8 == 6) /* right low word, wrong high word */
                address[i] += 1ull << (32 + random_next(&state) % 32);
        }
        check_translate64(lo, size, bytes, imm, address,
                          round & 1 ? LANES_FULL : (u32)random_next(&state));
    }
}

static void test_translate32(void **unused)
{
    static const u32 sizes[] = {0, 2, 4, 16, 4096, 49152, 0x7fffffff};
    u64 state = 53;
    for (unsigned round = 0; round < 3000; round++) {
        const u32 size = sizes[random_next(&state) % ARRAY_LEN(sizes)];
        const u32 bytes = 1u << random_next(&state) % 5, mask = (u32)random_next(&state);
        const i64 imm = round % 9 ? (i64)(random_next(&state) % 129) - 64
                                  : (i64)random_next(&state) >> random_next(&state) % 40;
        u32 address[LANES], offset[LANES];
        for (unsigned i = 0; i < LANES; i++)
            address[i] = (u32)(random_next(&state) & 1 ? 0 : size) +
                         (u32)(random_next(&state) % 65) - 32 - (u32)imm;
        const u32 got = lanes_memory(builds[round % build_count()])
                            ->translate32(offset, address, imm, size, bytes, mask);
        for (unsigned i = 0; i < LANES; i++) {
            const u32 at = address[i] + (u32)imm; /* wraps, as the guest's addition does */
            const bool far = imm > (i64)UINT32_MAX || imm < -(i64)UINT32_MAX;
            const bool inside = mask >> i & 1 && !far && (u64)at + bytes <= size && at % bytes == 0;
            assert_int_equal(got >> i & 1, inside);
            assert_int_equal(offset[i], inside ? at : 0);
        }
    }
}

/* Loads exactly when every lane is aligned and inside, and then the words of translate64's lanes.
 */
static void test_load32(void **unused)
{
    u64 state = 29;
    u8 space[256];
    unsigned loaded = 0;
    for (unsigned i = 0; i < sizeof space; i++)
        space[i] = (u8)(i * 37 + 11);
    for (unsigned round = 0; round < 4000; round++) {
        const struct lanes_memory *m = lanes_memory(builds[round % build_count()]);
        const u32 size = (u32)(random_next(&state) % 60) * 4 + 12;
        const i32 imm = (i32)(random_next(&state) % 33) * 4 - 64;
        const bool wide = round & 8;
        u32 low[LANES], high[LANES], dst[LANES];
        bool all = true;
        for (unsigned i = 0; i < LANES; i++) {
            u64 at = random_next(&state) % (size / 4) * 4;
            if (round % 3 == 0 && random_next(&state) % 40 == 0)
                at += random_next(&state) & 1 ? size : 2;
            u64 address = at - (u64)(i64)imm;
            if (round % 5 == 0 && i == round % 32)
                address += 1ull << 32;
            low[i] = (u32)address;
            high[i] = (u32)(address >> 32);
            dst[i] = 0xdeadbeef;
            const u64 full = (wide ? address : low[i]) + (u64)(i64)imm;
            const u64 seen = wide ? full : (u32)full;
            all &= seen + 4 <= size && seen % 4 == 0;
            /* Addresses from 2^31 on may be refused: they get a closer look elsewhere. */
            if (wide && all && (high[i] || low[i] >> 31))
                all = false;
        }
        assert_int_equal(m->load32(dst, space, low, wide ? high : NULL, imm, size), all);
        for (unsigned i = 0; i < LANES; i++) {
            u32 want = 0xdeadbeef;
            if (all)
                memcpy(&want, space + (u32)(low[i] + (u32)imm), sizeof want);
            assert_int_equal(dst[i], want);
        }
        loaded += all;
    }
    assert_true(loaded > 500 && loaded < 3500);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_gather_scatter),
        cmocka_unit_test(test_translate64),
        cmocka_unit_test(test_translate32),
        cmocka_unit_test(test_load32),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
