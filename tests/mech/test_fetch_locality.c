/*
 * Instruction locality against counts that are found by looking everywhere.
 *
 *   test-fetch-locality TESTS     the folder tests/ of the sources
 */
#include "rig.h"
#include "watch.h"

/* clang-format off */
#include <setjmp.h>
#include <stdarg.h>
#include <cmocka.h>
/* clang-format on */

extern const struct mechanism filter_cache_mechanism, fetch_locality_mechanism;
static const struct mechanism *const watched[] = {&watch_mechanism, &fetch_locality_mechanism,
                                                  &filter_cache_mechanism, NULL};

static const struct {
    const char *file, *name, *machine;
} kernels[] = {
    {"cuda/matmul", "matmul16", "tesla16"},     {"cuda/mandel", "mandel", "tesla16"},
    {"cuda/integer", "collatz", "tesla16"},     {"cuda/control", "switches", "rtx2060"},
    {"cuda/calls", "recursion", "gtx480"},      {"cuda/scan", "scan_inclusive", "gtx480"},
    {"opencl/life", "life", "generic64"},       {"opencl/sort", "bitonic", "generic64"},
    {"opencl/reduce", "reduce", "tesla16"},     {"cuda/reduce", "reduce_tree", "tesla16"},
    {"cuda/histogram", "histogram", "tesla16"},
};

struct counts {
    u64 fetches, redundant[3], in_buffer, refetched;
};

/* Whether the instruction was fetched at most so many cycles ago, in the same launch. */
static bool came_before(const struct watch_log *log, size_t at, u64 cycles)
{
    const struct watched *w = &log->events[at];
    for (size_t i = at; i--;) {
        const struct watched *e = &log->events[i];
        if (e->age == UINT64_MAX || w->cycle - e->cycle > cycles)
            return false;
        if (e->arrives && e->inst == w->inst)
            return true;
    }
    return false;
}

static void add(struct counts *sum, const struct watch_log *log, u64 cycles)
{
    for (size_t i = 0; i < log->count; i++) {
        const struct watched *w = &log->events[i];
        if (w->age == UINT64_MAX || !w->arrives)
            continue;
        sum->fetches++;
        for (u32 k = 0; k < 3; k++)
            sum->redundant[k] += w->ago <= 16u << k;
        sum->in_buffer += w->in_a_buffer;
        sum->refetched += came_before(log, i, cycles);
    }
}

static void compare(const struct seen *seen, u64 cycles)
{
    struct counts sum = {0};
    for (u32 c = 0; c < WATCHED_CORES; c++)
        add(&sum, &watch_logs[c], cycles);
    assert_int_equal(rig_total(seen, "fetch_locality.fetches"), sum.fetches);
    assert_int_equal(rig_total(seen, "fetch_locality.redundant_16"), sum.redundant[0]);
    assert_int_equal(rig_total(seen, "fetch_locality.redundant_32"), sum.redundant[1]);
    assert_int_equal(rig_total(seen, "fetch_locality.redundant_64"), sum.redundant[2]);
    assert_int_equal(rig_total(seen, "fetch_locality.in_buffer"), sum.in_buffer);
    assert_int_equal(rig_total(seen, "fetch_locality.refetched"), sum.refetched);
    assert_int_equal(rig_total(seen, "fetch.instructions"), sum.fetches);
    watch_forget();
}

static void counts_are_those_of_looking_everywhere(void **state)
{
    for (size_t k = 0; k < ARRAY_LEN(kernels); k++) {
        struct seen seen = rig_run(kernels[k].file, kernels[k].name, kernels[k].machine,
                                   WITH("watch", "fetch_locality", "gpu.cores=3"), watched, false);
        compare(&seen, 64);
        rig_drop(&seen);
    }
}

/* Warps come and go so fast that another one has the place of one that fetched shortly before. */
static void short_blocks(void **state)
{
    static const char *const blocks[] = {"core.blocks=1", "core.blocks=2", "core.blocks=3"};
    static const char *const cases[][2] = {{"cuda/vectors", "saxpy"}, {"cuda/vectors", "index3d"}};
    for (size_t i = 0; i < ARRAY_LEN(blocks); i++)
        for (size_t k = 0; k < ARRAY_LEN(cases); k++) {
            struct seen seen = rig_run(
                cases[k][0], cases[k][1], "tesla16",
                WITH("watch", "fetch_locality", "gpu.cores=1", "network.window=1", blocks[i]),
                watched, false);
            compare(&seen, 64);
            rig_drop(&seen);
        }
}

/* The same when a filter cache serves, and with other numbers of cycles. */
static void with_a_filter_cache(void **state)
{
    static const u32 cycles[] = {1, 7, 8, 1000};
    u64 before = 0;
    for (size_t i = 0; i < ARRAY_LEN(cycles); i++) {
        char text[64];
        snprintf(text, sizeof text, "fetch_locality.cycles=%u", cycles[i]);
        struct seen seen = rig_run(
            "cuda/mandel", "mandel", "tesla16",
            WITH("watch", "filter_cache", "fetch_locality", "gpu.cores=3", text), watched, false);
        compare(&seen, cycles[i]);
        assert_true(rig_total(&seen, "filter_cache.hits") > 0);
        assert_true(rig_total(&seen, "fetch_locality.refetched") > before);
        before = rig_total(&seen, "fetch_locality.refetched");
        rig_drop(&seen);
    }
}

/* What the statistics say but for its own. */
static json_t *others(const struct seen *seen)
{
    json_t *totals = json_copy(seen->totals), *value;
    const char *key;
    void *next;
    json_object_foreach_safe(totals, next, key, value)
    {
        if (!strncmp(key, "fetch_locality.", 15))
            json_object_del(totals, key);
    }
    return totals;
}

static void changes_nothing(void **state)
{
    for (size_t k = 0; k < ARRAY_LEN(kernels); k++)
        for (u32 filtered = 0; filtered < 2; filtered++) {
            struct seen off = rig_run(kernels[k].file, kernels[k].name, kernels[k].machine,
                                      filtered ? WITH("filter_cache") : NULL, NULL, false);
            struct seen on =
                rig_run(kernels[k].file, kernels[k].name, kernels[k].machine,
                        filtered ? WITH("filter_cache", "fetch_locality") : WITH("fetch_locality"),
                        NULL, false);
            json_t *rest = others(&on);
            assert_true(json_object_size(rest) < json_object_size(on.totals));
            assert_true(json_equal(rest, off.totals));
            assert_true(on.hash == off.hash);
            json_decref(rest);
            rig_drop(&off);
            rig_drop(&on);
        }
}

static int forget(void **state)
{
    watch_forget();
    return 0;
}

int main(int argc, char **argv)
{
    if (argc != 2)
        return 2;
    rig_folder(argv[1]);
    const struct CMUnitTest tests[] = {
        cmocka_unit_test_setup(counts_are_those_of_looking_everywhere, forget),
        cmocka_unit_test_setup(short_blocks, forget),
        cmocka_unit_test_setup(with_a_filter_cache, forget),
        cmocka_unit_test(changes_nothing),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
