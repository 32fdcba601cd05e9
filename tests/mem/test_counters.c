/* Every cache component's statistics begin with struct cache_counters, so that they can be handed
 * to cache_create. All components that have such statistics are found by the list of components. */
#include "mem/cache.h"

#include <setjmp.h>
#include <stdarg.h>

#include <cmocka.h>

#include "gpu/device.h"
#include "mem/cluster.h"

#define PARAM(type, name, initial, min, max, unit, help)
#define FLAG(name, initial, help)
#define CHOICE(name, initial, choices, help)
#define PRODUCT(name, solved, factors, unit, help)
#define RATE(name, numerator, denominator, unit, help)

/* The names of cache.def in order, and where struct cache_counters has them. */
static const struct {
    const char *name;
    size_t offset;
} counters[] = {
#define STAT(name, unit, help) {#name, offsetof(struct cache_counters, name)},
#include "mem/cache.def"
#undef STAT
};

static void counters_are_the_table(void **state)
{
    for (u32 i = 0; i < ARRAY_LEN(counters); i++)
        assert_int_equal(counters[i].offset, i * sizeof(u64));
    assert_int_equal(sizeof(struct cache_counters), ARRAY_LEN(counters) * sizeof(u64));
}

/* What a cluster's caches count beside that: mem/cluster.h has it behind the others. */
static void counters_of_clusters(void **state)
{
    size_t own = offsetof(struct cluster_counters, queue_cycles);
    assert_int_equal(own, offsetof(struct cluster_icache_stats, queue_cycles));
    assert_int_equal(own, offsetof(struct cluster_constant_stats, queue_cycles));
}

static bool has(const struct component *component, const char *name)
{
    for (u32 i = 0; i < component->stat_count; i++)
        if (!strcmp(component->stats[i].name, name))
            return true;
    return false;
}

static void components_begin_with_counters(void **state)
{
    u32 caches = 0, known = 0;
    for (u32 c = 0; gpu_components[c]; c++) {
        const struct component *component = gpu_components[c];
        if (!has(component, "read_merges"))
            continue;
        caches++;
        known += !strcmp(component->name, "l1d") || !strcmp(component->name, "l2") ||
                 !strcmp(component->name, "icache") || !strcmp(component->name, "constant") ||
                 !strcmp(component->name, "readonly");
        assert_true(component->stat_count >= ARRAY_LEN(counters));
        for (u32 i = 0; i < ARRAY_LEN(counters); i++) {
            assert_string_equal(component->stats[i].name, counters[i].name);
            assert_int_equal(component->stats[i].offset, counters[i].offset);
        }
    }
    assert_int_equal(known, 5);
    assert_true(caches >= known);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(counters_are_the_table),
        cmocka_unit_test(counters_of_clusters),
        cmocka_unit_test(components_begin_with_counters),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
