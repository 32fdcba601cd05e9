/* Every cache component's statistics begin with struct cache_counters, so that it can be handed to
 * cache_create. A new cache component is one line in CACHES and its header. */
#include "mem/cache.h"
#include "mem/memside.h"

#include <setjmp.h>
#include <stdarg.h>

#include <cmocka.h>

#define CACHES(X) X(l2)

#define PARAM(type, name, initial, min, max, unit, help)
#define FLAG(name, initial, help)
#define CHOICE(name, initial, choices, help)
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

static void check(const char *component, u32 index, const char *name, size_t offset)
{
    if (offset != counters[index].offset)
        fail_msg("%s.%s is at %zu, struct cache_counters has it at %zu", component, name, offset,
                 counters[index].offset);
}

#define CHECK(component)                                       \
    static void component##_begins_with_counters(void **state) \
    {                                                          \
        const size_t at[] = {                                  \
            offsetof(struct component##_stats, reads),         \
            offsetof(struct component##_stats, read_hits),     \
            offsetof(struct component##_stats, read_merges),   \
            offsetof(struct component##_stats, read_misses),   \
            offsetof(struct component##_stats, writes),        \
            offsetof(struct component##_stats, write_hits),    \
            offsetof(struct component##_stats, write_misses),  \
            offsetof(struct component##_stats, evictions),     \
            offsetof(struct component##_stats, writebacks),    \
            offsetof(struct component##_stats, fills),         \
            offsetof(struct component##_stats, stalls_line),   \
            offsetof(struct component##_stats, stalls_mshr),   \
            offsetof(struct component##_stats, stalls_queue),  \
        };                                                     \
        assert_int_equal(ARRAY_LEN(at), ARRAY_LEN(counters));  \
        for (u32 i = 0; i < ARRAY_LEN(at); i++)                \
            check(#component, i, counters[i].name, at[i]);     \
    }
CACHES(CHECK)

int main(void)
{
#define TEST(component) cmocka_unit_test(component##_begins_with_counters),
    const struct CMUnitTest tests[] = {cmocka_unit_test(counters_are_the_table), CACHES(TEST)};
    return cmocka_run_group_tests(tests, NULL, NULL);
}
