/* Runs of lanes against a look at each pair. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include "mem/stride.h"
#include "random.h"

static u64 address[64];

static void check(u64 lanes, u32 bytes)
{
    struct strides strides = strides_of(address, lanes, bytes);
    for (u32 lane = 0; lane < 64; lane++) {
        bool pair = lane < 63 && lanes >> lane & 1 && lanes >> (lane + 1) & 1;
        assert_int_equal(strides.equal >> lane & 1, pair && address[lane + 1] == address[lane]);
        assert_int_equal(strides.next >> lane & 1,
                         pair && address[lane + 1] == address[lane] + bytes);
    }
    /* Runs are a partition of the lanes. */
    for (u64 left = lanes; left;) {
        u32 first = (u32)__builtin_ctzll(left);
        struct run run = run_at(&strides, first);
        assert_int_equal(run.first, first);
        for (u32 i = 0; i < run.lanes; i++)
            assert_int_equal(address[first + i],
                             address[first] + (run.consecutive ? i : 0) * bytes);
        assert_int_equal(run_mask(&run) & ~left, 0);
        left &= ~run_mask(&run);
    }
}

/* Even stretches, and the same with one lane elsewhere. */
static void one_lane_elsewhere(void **state)
{
    const u64 masks[] = {UINT32_MAX, UINT64_MAX, 0xffff0000ffff, 0x7fffffff, 0xfffefffe, 1, 0};
    for (u32 mask = 0; mask < ARRAY_LEN(masks); mask++)
        for (u32 step = 0; step <= 8; step += 4)
            for (u32 odd = 0; odd <= 64; odd++) {
                for (u32 lane = 0; lane < 64; lane++)
                    address[lane] = 0xfffffff0 + lane * step + (lane == odd);
                check(masks[mask], 4);
                if (odd < 64)
                    address[odd] += (1ull << 32) - 1; /* the lower halves agree */
                check(masks[mask], 4);
            }
}

static void random_runs(void **state)
{
    struct random random = {5};
    for (u32 round = 0; round < 20000; round++) {
        u32 bytes = 1u << random_below(&random, 5), step = 0;
        u64 lanes = random_next(&random) | random_next(&random);
        lanes |= random_below(&random, 2) ? random_next(&random) | random_next(&random) : 0;
        for (u32 lane = 0; lane < 64; lane++) {
            if (!lane || random_below(&random, 12) == 0) {
                address[lane] = random_below(&random, 256);
                step = random_below(&random, 2) * bytes;
            } else {
                address[lane] = address[lane - 1] + step;
            }
        }
        check(random_below(&random, 4) ? lanes : UINT64_MAX, bytes);
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(one_lane_elsewhere),
        cmocka_unit_test(random_runs),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
