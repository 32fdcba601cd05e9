/*
 * Seams of the memory side: no request is anonymous, what DRAM gives a request comes back once for
 * each packet that waits for it, lines that are dropped are written back and miss, and ways can be
 * reserved while a kernel runs.
 *
 *   test-seam-memory TESTS     the folder tests/ of the sources
 */
#include "gpu/device.h"
#include "kernels.h"
#include "rig.h"
#include "seam/seam.h"

/* after kernels.h, which has a function of the name of one of its macros */
/* clang-format off */
#include <setjmp.h>
#include <stdarg.h>
#include <cmocka.h>
/* clang-format on */

static const struct mechanism *const available[] = {&requester_mechanism, &ways_mechanism,
                                                    &ledger_mechanism, NULL};

static struct seen run(const char *file, const char *name, const char *machine,
                       const char *const *words)
{
    return rig_run(file, name, machine, words, available, false);
}

/* Both instruction sets; L1s with lines and with sectors, clusters, no data caches at all. */
static const struct {
    const char *file, *name, *machine, *set;
} cases[] = {
    {"cuda/matmul", "matmul16", "gtx480", NULL},
    {"cuda/graph", "bfs_level", "gtx480", "ledger:ahead=2"},
    {"cuda/graph", "spmv_row", "rtx2060", NULL},
    {"cuda/histogram", "histogram", "gtx480", "l1d.sets=1"},
    {"cuda/histogram", "histogram", "rise28", NULL}, /* atomics without L2 */
    {"cuda/stencil", "stencil2d", "gtx480", "l2.sets=2"},
    {"cuda/spaces", "local_index", "gtx480", "l2.sets=1"},
    {"cuda/spaces", "local_index", "rtx2060", "l1d.sets=1"},
    {"cuda/reduce", "reduce_tree", "gtx1080ti", "icache.line_bytes=256"},
    {"opencl/basic", "matmul", "generic64", NULL},
    {"opencl/basic", "saxpy", "rise28", NULL},
    {"opencl/life", "life", "tahiti", NULL},
    {"opencl/reduce", "reduce", "tahiti", "l2.sets=1"},
    {"opencl/sort", "bitonic", "generic64", "l2.sets=1"},
};

static void no_request_is_anonymous(void **state)
{
    u64 fetches = 0, prefetches = 0, notes = 0, shared = 0, merged = 0, evictions = 0, stores = 0;
    for (size_t i = 0; i < ARRAY_LEN(cases); i++) {
        struct seen plain = run(cases[i].file, cases[i].name, cases[i].machine, NULL);
        struct seen seen =
            run(cases[i].file, cases[i].name, cases[i].machine, WITH("requester", cases[i].set));
        if (rig_total(&seen, "requester.lies"))
            fail_msg("%s on %s: %llu lies", cases[i].name, cases[i].machine,
                     (unsigned long long)rig_total(&seen, "requester.lies"));
        assert_true(seen.hash == plain.hash);
        assert_true(rig_total(&seen, "requester.accesses") > 0);
        assert_true(rig_total(&seen, "requester.at_l2") > 0);
        assert_int_equal(rig_total(&seen, "requester.given"), 0);
        fetches += rig_total(&seen, "requester.fetches");
        prefetches += rig_total(&seen, "requester.prefetches");
        notes += rig_total(&seen, "requester.notes");
        shared += rig_total(&seen, "requester.shared");
        merged += rig_total(&seen, "requester.merged");
        evictions += rig_total(&seen, "requester.evictions");
        stores += rig_total(&seen, "requester.stores");
        rig_drop(&plain);
        rig_drop(&seen);
    }
    /* each kind has occurred */
    assert_true(fetches && prefetches && notes && shared && merged && evictions && stores);
}

/* A payload for each DRAM request: those that waited at the L2, missing or merging, get one each,
 * and all others none. */
static void payloads_come_once(void **state)
{
    static const char *const settings[][5] = {
        {"requester:bits=40", "icache.perfect=true", "constant.perfect=true"},
        {"requester:bits=40,late=true", "icache.perfect=true", "constant.perfect=true"},
        {"requester:bits=300", "icache.perfect=true", "constant.perfect=true", "l2.sets=1",
         "l2.request_sectors=1"},
    };
    u64 merges = 0, shared = 0;
    for (size_t i = 0; i < ARRAY_LEN(cases); i++)
        for (size_t s = 0; s < ARRAY_LEN(settings); s++) {
            if (!strcmp(cases[i].machine, "tahiti"))
                continue; /* clusters answer cores: a test of its own */
            struct seen seen =
                run(cases[i].file, cases[i].name, cases[i].machine,
                    WITH(settings[s][0], settings[s][1], settings[s][2],
                         settings[s][3] ? settings[s][3] : "gpu.cores=6", settings[s][4]));
            const u64 given = rig_total(&seen, "requester.given");
            assert_int_equal(rig_total(&seen, "requester.lies"), 0);
            assert_true(given > 0);
            if (!strcmp(cases[i].machine, "rise28")) /* everything waits for DRAM */
                assert_int_equal(given + rig_total(&seen, "requester.noted"),
                                 rig_total(&seen, "lsu.replies"));
            else
                assert_int_equal(given, rig_total(&seen, "l2.read_misses") +
                                            rig_total(&seen, "l2.read_merges"));
            assert_int_equal(rig_total(&seen, "requester.received"), given);
            merges += rig_total(&seen, "l2.read_merges");
            shared += rig_total(&seen, "requester.shared");
            rig_drop(&seen);
        }
    assert_true(merges > 100 && shared > 100);
}

/* Through the cluster's caches to all cores that wait there. */
static void payloads_pass_clusters(void **state)
{
    struct seen plain = run("opencl/life", "life", "tahiti", NULL);
    struct seen seen =
        run("opencl/life", "life", "tahiti", WITH("requester:bits=20", "l2.enabled=false"));
    assert_int_equal(rig_total(&seen, "requester.lies"), 0);
    assert_true(seen.hash == plain.hash);
    const u64 merged = rig_total(&seen, "cluster_icache.read_merges") +
                       rig_total(&seen, "cluster_constant.read_merges");
    assert_true(merged > 0);
    /* each that merged there got a copy */
    assert_int_equal(rig_total(&seen, "requester.received"),
                     rig_total(&seen, "requester.given") + merged);
    rig_drop(&plain);
    rig_drop(&seen);
}

static void dropped_lines_miss(void **state)
{
    struct seen plain = run("cuda/matmul", "matmul16", "gtx480", NULL);
    struct seen some = run("cuda/matmul", "matmul16", "gtx480", WITH("ways:drop=3"));
    struct seen all = run("cuda/matmul", "matmul16", "gtx480", WITH("ways:drop=1"));
    assert_int_equal(rig_total(&some, "ways.lies") + rig_total(&all, "ways.lies"), 0);
    assert_true(some.hash == plain.hash && all.hash == plain.hash);
    assert_true(rig_total(&some, "ways.drops") > 10);
    assert_true(rig_total(&plain, "l2.read_hits") > 100);
    assert_true(rig_total(&some, "l2.read_hits") < rig_total(&plain, "l2.read_hits"));
    /* a line lives from its fill until its first answer leaves */
    assert_true(rig_total(&all, "l2.read_hits") * 3 < rig_total(&plain, "l2.read_hits"));
    assert_true(rig_total(&all, "l2.writebacks") > rig_total(&plain, "l2.writebacks"));
    assert_true(rig_total(&all, "dram.reads") > rig_total(&plain, "dram.reads"));
    rig_drop(&plain);
    rig_drop(&some);
    rig_drop(&all);
}

static void ways_change_while_a_kernel_runs(void **state)
{
    static const char *const files[][2] = {{"cuda/matmul", "matmul16"},
                                           {"cuda/stencil", "stencil2d"},
                                           {"cuda/histogram", "histogram"},
                                           {"cuda/graph", "spmv_row"}};
    static const char *const sets[][4] = {
        {"ways:every=100,ways=2", "l2.ways=16", "gpu.cores=2"},
        {"ways:every=60,ways=3", "l2.ways=16", "l1d.sets=4", "gpu.cores=1"},
        {"ways:every=7,ways=3", "l2.ways=16", "l2.sets=2"},
        {"ways:every=40,ways=15", "l2.ways=16", "l2.sets=4", "l2.miss_queue=1"},
        {"ways:every=25,ways=16", "l2.ways=16", "l2.sets=2", "l1d.sets=2"},
        {"ways:every=10,ways=8,drop=5", "l2.ways=16", "l2.sets=2", "l2.allocate=fill"},
    };
    u64 emptied = 0;
    for (size_t k = 0; k < ARRAY_LEN(files); k++) {
        struct seen plain = run(files[k][0], files[k][1], "gtx480", NULL);
        for (size_t i = 0; i < ARRAY_LEN(sets); i++) {
            struct seen seen = run(files[k][0], files[k][1], "gtx480",
                                   WITH(sets[i][0], sets[i][1], sets[i][2], sets[i][3]));
            assert_int_equal(rig_total(&seen, "ways.lies"), 0);
            assert_true(seen.hash == plain.hash);
            assert_true(rig_total(&seen, "ways.changes") > 10);
            emptied += rig_total(&seen, "ways.emptied");
            rig_drop(&seen);
        }
        rig_drop(&plain);
    }
    assert_true(emptied > 10);
}

int main(int argc, char **argv)
{
    if (argc != 2)
        return 2;
    rig_folder(argv[1]);
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(no_request_is_anonymous),         cmocka_unit_test(payloads_come_once),
        cmocka_unit_test(payloads_pass_clusters),          cmocka_unit_test(dropped_lines_miss),
        cmocka_unit_test(ways_change_while_a_kernel_runs),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
