/* Resource tables of a dispatcher: whether blocks fit, their placement, and the remaining space. */
#include "gpu/time/resources.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

enum {
    NONE = UINT32_MAX
};

static struct amounts shared(u32 bytes)
{
    return (struct amounts){{[RESOURCE_WARPS] = 1, [RESOURCE_SHARED] = bytes}};
}

static void take(struct resources *resources, u32 owner, u32 bytes)
{
    const struct amounts needs = shared(bytes);
    assert_true(resources_fit(resources, &needs));
    resources_take(resources, owner, &needs);
}

static struct resources of_100(enum fit fit)
{
    struct resources resources;
    resources_init(&resources, &(struct amounts){{10, 100, 100, 100}}, fit);
    return resources;
}

static u32 where(const struct resources *resources, u32 bytes)
{
    return resource_find(&resources->tables[RESOURCE_SHARED], resources->fit, bytes);
}

/* 40, 30 and 30 fill it; each hole takes as much as it has and no more. */
static void holes(void **state)
{
    struct resources r = of_100(FIT_FIRST);
    const struct amounts much = shared(41), all = shared(100), more = shared(101);
    assert_true(resources_fit(&r, &all));
    assert_false(resources_fit(&r, &more));
    take(&r, 0, 40);
    take(&r, 1, 30);
    assert_int_equal(where(&r, 30), 70);
    assert_int_equal(where(&r, 31), NONE);
    take(&r, 2, 30);
    assert_int_equal(where(&r, 1), NONE);
    assert_int_equal(where(&r, 0), 0);
    resources_give(&r, 1);
    assert_int_equal(where(&r, 30), 40);
    assert_int_equal(where(&r, 31), NONE);
    take(&r, 1, 30);
    /* 70 are free, in pieces of 40 and 30 */
    resources_give(&r, 0);
    resources_give(&r, 2);
    assert_int_equal(where(&r, 40), 0);
    assert_int_equal(where(&r, 41), NONE);
    assert_false(resources_fit(&r, &much));
    assert_true(resources_suffice(&r, &much));
    assert_true(resources_suffice(&r, &(struct amounts){{1, 0, 0, 70}}));
    assert_false(resources_suffice(&r, &(struct amounts){{1, 0, 0, 71}}));
    resources_give(&r, 1);
    assert_true(resources_fit(&r, &all));
}

/* Holes of 10 at 10, 20 at 30 and 20 at 70. */
static void choices(void **state)
{
    for (enum fit fit = FIT_FIRST; fit <= FIT_LARGEST; fit++) {
        static const u32 sizes[] = {10, 10, 10, 20, 20, 20, 10};
        struct resources r = of_100(fit);
        for (u32 i = 0; i < 7; i++)
            take(&r, i, sizes[i]);
        for (u32 i = 1; i < 7; i += 2)
            resources_give(&r, i);
        assert_int_equal(where(&r, 10), fit == FIT_FIRST ? 10 : 30);
        assert_int_equal(where(&r, 11), 30); /* the lowest of two that are alike */
        assert_int_equal(where(&r, 20), 30);
        assert_int_equal(where(&r, 21), NONE);
    }
}

/* Places for warps are counted, wherever they are. */
static void warps(void **state)
{
    struct resources r = of_100(FIT_FIRST);
    const struct amounts three = {{[RESOURCE_WARPS] = 3}}, four = {{[RESOURCE_WARPS] = 4}},
                         five = {{[RESOURCE_WARPS] = 5}};
    for (u32 i = 0; i < 3; i++)
        resources_take(&r, i, &three);
    assert_false(resources_fit(&r, &four));
    assert_false(resources_suffice(&r, &four));
    resources_give(&r, 1);
    assert_true(resources_fit(&r, &four));
    assert_false(resources_fit(&r, &five));
}

/* Each resource alone can refuse a block. */
static void each(void **state)
{
    for (u32 one = 0; one < RESOURCES; one++) {
        struct resources r = of_100(FIT_FIRST);
        struct amounts needs = {{5, 50, 50, 50}};
        resources_take(&r, 0, &needs);
        needs.of[one]++;
        assert_false(resources_fit(&r, &needs));
        assert_false(resources_suffice(&r, &needs));
        needs.of[one]--;
        assert_true(resources_fit(&r, &needs));
    }
}

/* Against a map of single units. */
static void many(void **state)
{
    enum {
        SIZE = 100,
        OWNERS = 20
    };
    for (enum fit fit = FIT_FIRST; fit <= FIT_LARGEST; fit++) {
        struct resources r;
        u8 map[SIZE + 1] = {0}; /* owner + 1 */
        u32 refused = 0, taken = 0;
        resources_init(&r, &(struct amounts){{OWNERS, SIZE, SIZE, SIZE}}, fit);
        srand(7);
        for (u32 n = 0; n < 20000; n++) {
            const u32 owner = (u32)rand() % OWNERS;
            const struct amounts needs = shared(1 + (u32)rand() % 30);
            if (memchr(map, (int)owner + 1, SIZE)) {
                resources_give(&r, owner);
                for (u32 i = 0; i < SIZE; i++)
                    map[i] = map[i] == owner + 1 ? 0 : map[i];
                continue;
            }
            u32 found = NONE, largest = 0, free_units = 0;
            for (u32 i = 0, length = 0; i <= SIZE; i++) {
                const bool is_free = i < SIZE && !map[i];
                free_units += is_free;
                length = is_free ? length + 1 : 0;
                if (length < needs.of[RESOURCE_SHARED] || length <= largest)
                    continue;
                if (fit == FIT_LARGEST || found == NONE)
                    found = i + 1 - length;
                largest = fit == FIT_LARGEST ? length : SIZE;
            }
            assert_int_equal(where(&r, needs.of[RESOURCE_SHARED]), found);
            assert_int_equal(resources_suffice(&r, &needs),
                             free_units >= needs.of[RESOURCE_SHARED]);
            if (found == NONE) {
                refused++;
                continue;
            }
            resources_take(&r, owner, &needs);
            memset(map + found, (int)owner + 1, needs.of[RESOURCE_SHARED]);
            taken++;
        }
        assert_true(refused > 1000 && taken > 1000); /* both happen */
    }
}

int main(void)
{
    const struct CMUnitTest all[] = {
        cmocka_unit_test(holes), cmocka_unit_test(choices), cmocka_unit_test(warps),
        cmocka_unit_test(each),  cmocka_unit_test(many),
    };
    return cmocka_run_group_tests(all, NULL, NULL);
}
