/*
 * Mechanisms at the seams: kernels give the same bytes under each of them and under pairs, off
 * means byte-identical statistics, and each does what it says.
 *
 *   test-seam TESTS     the folder tests/ of the sources
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

static const struct mechanism *const available[] = {
    &flip_mechanism,     &twice_mechanism, &borrow_mechanism, &hold_mechanism,
    &exchange_mechanism, &probe_mechanism, &check_mechanism,  &silent_mechanism,
    &uniform_mechanism,  &leap_mechanism,  &ledger_mechanism, NULL,
};

/* All on one core, in turn: warps stand together. */
#define CROWD "gpu.cores=1", "issue.policy=lrr"

/* `plain`: with the mechanisms that are built in, else with ours. `wrong` is set when the case may
 * fail; else that it does not is asserted. */
static struct seen run(const char *file, const char *name, const char *machine,
                       const char *const *words, bool plain, bool *wrong)
{
    struct seen seen = rig_run(file, name, machine, words, plain ? NULL : available, wrong);
    if (wrong)
        *wrong = seen.wrong;
    return seen;
}

/* ---- the same results ---- */

static const struct {
    const char *file, *name, *machine;
} kernels[] = {
    {"cuda/vectors", "saxpy", "gtx480"},
    {"cuda/vectors", "index3d", "rtx2060"},
    {"cuda/matmul", "matmul16", "gtx480"},
    {"cuda/reduce", "reduce_tree", "gtx480"},
    {"cuda/scan", "scan_inclusive", "rtx2060"},
    {"cuda/histogram", "histogram", "gtx480"},
    {"cuda/stencil", "stencil2d", "gtx480"},
    {"cuda/mandel", "mandel", "rtx2060"},
    {"cuda/graph", "spmv_row", "gtx480"},
    {"cuda/integer", "collatz", "gtx480"},
    {"cuda/double", "doubles", "gtx480"},
    {"cuda/control", "switches", "rtx2060"},
    {"cuda/calls", "recursion", "gtx480"},
    {"cuda/spaces", "local_index", "gtx480"},
    {"cuda/warps", "shuffles", "gtx480"},
    {"cuda/atomics", "atomics_shared", "gtx480"},
    {"opencl/basic", "matmul", "generic64"},
    {"opencl/reduce", "reduce", "generic64"},
    {"opencl/life", "life", "generic64"},
    {"opencl/loops", "collatz", "generic64"},
    {"opencl/sort", "bitonic", "generic64"},
    {"opencl/stencil", "jacobi", "generic64"},
    {"opencl/integer", "longs", "generic64"},
    {"opencl/localatomic", "local_atomics", "generic64"},
    {"opencl/scan", "transpose", "generic64"},
    {"opencl/basic", "saxpy", "rise28"},
    {"opencl/reduce", "prefix", "generic64"},
    {"opencl/search", "substring", "generic64"},
    {"opencl/basic", "saxpy", "generic64"},
    {"opencl/scan", "matmul16", "generic64"},
};

static void same_results(void **state)
{
    static const char *const sets[][8] = {
        {"twice", CROWD},
        {"twice"},
        {"borrow"},
        {"hold"},
        {"exchange"},
        {"borrow", CROWD},
        {"hold", CROWD},
        {"exchange", CROWD},
        {"twice", "borrow", CROWD},
        {"twice", "hold", CROWD},
        {"twice", "exchange", CROWD},
        {"borrow", "hold", CROWD},
        {"borrow", "exchange", CROWD},
        {"hold", "exchange", CROWD},
        {"twice", "borrow", "hold", "exchange", CROWD},
        {"borrow", "gpu.cores=1", "issue.policy=oldest", "fetch.buffer=2", "fetch.width=1"},
        {"probe", "twice", "exchange", CROWD},
        {"uniform"},
        {"uniform", "uniform.design=srf", "uniform.srf_entries=16", "uniform.protect=true"},
        {"uniform", "twice", CROWD},
        {"uniform", "hold", "uniform.design=srf", CROWD},
        {"leap", "leap.late=true"},
        {"leap", "leap.refuse=3", "leap.gather=2", "leap.stubborn=true"},
        {"leap", "leap.late=true", "leap.gather=1", "fetch.buffer=4", "fetch.when_empty=false",
         CROWD},
        {"silent:bits=2", "hold", "exchange", CROWD},
    };
    for (size_t k = 0; k < ARRAY_LEN(kernels); k++) {
        struct seen plain =
            run(kernels[k].file, kernels[k].name, kernels[k].machine, NULL, true, NULL);
        for (size_t i = 0; i < ARRAY_LEN(sets); i++) {
            struct seen with =
                run(kernels[k].file, kernels[k].name, kernels[k].machine, sets[i], false, NULL);
            if (with.hash != plain.hash)
                fail_msg("%s %s: other bytes with %s %s", kernels[k].file, kernels[k].name,
                         sets[i][0], sets[i][1] ? sets[i][1] : "");
            if (strcmp(sets[i][0], "twice") == 0)
                assert_int_equal(rig_total(&with, "twice.mismatches"), 0);
            rig_drop(&with);
        }
        rig_drop(&plain);
    }
}

/* Off: the statistics of a build that does not have them. */
static void off_is_identical(void **state)
{
    for (size_t k = 0; k < ARRAY_LEN(kernels); k++) {
        struct seen plain =
            run(kernels[k].file, kernels[k].name, kernels[k].machine, NULL, true, NULL);
        struct seen off =
            run(kernels[k].file, kernels[k].name, kernels[k].machine, NULL, false, NULL);
        assert_string_equal(plain.text, off.text);
        rig_drop(&plain);
        rig_drop(&off);
    }
}

/* ---- each does what it says ---- */

static void twice_issues_and_compares(void **state)
{
    struct seen plain = run("cuda/matmul", "matmul16", "gtx480", NULL, true, NULL);
    struct seen with = run("cuda/matmul", "matmul16", "gtx480", WITH("twice"), false, NULL);
    u64 instructions = rig_total(&plain, "issue.instructions");
    assert_int_equal(rig_total(&with, "issue.instructions"), instructions);
    /* all but control flow, and all of them compared */
    assert_true(rig_total(&with, "twice.copies") > instructions * 8 / 10);
    assert_int_equal(rig_total(&with, "twice.compared"), rig_total(&with, "twice.copies"));
    assert_true(rig_total(&with, "timing.cycles") > rig_total(&plain, "timing.cycles"));
    rig_drop(&plain);
    rig_drop(&with);
}

static void twice_is_in_the_next_cycle(void **state)
{
    /* one warp a scheduler: there is always room */
    struct seen with = run("cuda/integer", "collatz", "gtx480", WITH("twice"), false, NULL);
    assert_true(rig_total(&with, "twice.copies") > 100);
    assert_true(rig_total(&with, "twice.late") * 2 < rig_total(&with, "twice.copies"));
    rig_drop(&with);
}

static void flips_are_found(void **state)
{
    bool wrong;
    struct seen copy = run("cuda/matmul", "matmul16", "gtx480",
                           WITH("twice", "flip", "flip.every=100"), false, &wrong);
    assert_false(wrong); /* copies are never written */
    assert_true(rig_total(&copy, "flip.flips") > 10);
    assert_int_equal(rig_total(&copy, "twice.mismatches"), rig_total(&copy, "flip.flips"));
    rig_drop(&copy);
    struct seen own =
        run("cuda/mandel", "mandel", "gtx480",
            WITH("twice", "flip", "flip.every=100", "flip.copies=false"), false, &wrong);
    /* the launch may end in a fault, with some under way */
    assert_true(rig_total(&own, "twice.mismatches") > 0);
    assert_true(rig_total(&own, "twice.mismatches") <= rig_total(&own, "flip.flips"));
    rig_drop(&own);
}

static void borrowed_instructions_are_not_issued(void **state)
{
    struct seen plain = run("cuda/matmul", "matmul16", "gtx480", NULL, true, NULL);
    struct seen with = run("cuda/matmul", "matmul16", "gtx480", WITH("borrow"), false, NULL);
    assert_true(rig_total(&with, "borrow.skipped") > rig_total(&with, "borrow.led"));
    assert_true(rig_total(&with, "borrow.led") > 0);
    assert_int_equal(rig_total(&with, "issue.instructions") + rig_total(&with, "borrow.skipped"),
                     rig_total(&plain, "issue.instructions"));
    rig_drop(&plain);
    rig_drop(&with);
    /* the oldest warp goes ahead of those that follow it */
    struct seen si =
        run("opencl/scan", "matmul16", "generic64",
            WITH("borrow", "gpu.cores=1", "issue.policy=oldest", "fetch.buffer=2", "fetch.width=1"),
            false, NULL);
    assert_true(rig_total(&si, "borrow.skipped") > 0);
    rig_drop(&si);
}

/* K3 of core.h: marks are none of them. */
static void assert_fetches_add_up(const struct seen *seen)
{
    assert_int_equal(rig_total(seen, "fetch.instructions"), rig_total(seen, "issue.instructions") +
                                                                rig_total(seen, "fetch.flushed") +
                                                                rig_total(seen, "fetch.left"));
}

static void skimmed_instructions_are_not_fetched(void **state)
{
    struct seen plain = run("cuda/matmul", "matmul16", "gtx480", NULL, true, NULL);
    struct seen with = run("cuda/matmul", "matmul16", "gtx480", WITH("leap"), false, NULL);
    const u64 all = rig_total(&plain, "issue.instructions");
    assert_fetches_add_up(&plain);
    assert_fetches_add_up(&with);
    assert_true(rig_total(&with, "leap.skipped") > rig_total(&with, "leap.led"));
    assert_int_equal(rig_total(&with, "issue.instructions") + rig_total(&with, "leap.skipped"),
                     all);
    assert_true(rig_total(&with, "icache.reads") < rig_total(&plain, "icache.reads"));
    rig_drop(&with);
    /* marks set too late are dropped after fetch, and count as flushed */
    with = run("cuda/matmul", "matmul16", "gtx480", WITH("leap", "leap.late=true"), false, NULL);
    assert_fetches_add_up(&with);
    assert_true(rig_total(&with, "leap.dropped") > 0);
    assert_true(rig_total(&with, "fetch.flushed") >= rig_total(&with, "leap.dropped"));
    assert_int_equal(rig_total(&with, "issue.instructions") + rig_total(&with, "leap.skipped"),
                     all);
    rig_drop(&with);
    /* a mark that is refused is fetched: every second one, so as many are issued as are skipped */
    with = run("cuda/matmul", "matmul16", "gtx480", WITH("leap", "leap.refuse=2"), false, NULL);
    const u64 skipped = rig_total(&with, "leap.skipped"),
              refused = rig_total(&with, "leap.refused");
    assert_fetches_add_up(&with);
    assert_true(refused && skipped - refused <= 15); /* one more may be skipped on each core */
    assert_int_equal(rig_total(&with, "issue.instructions") + skipped, all);
    rig_drop(&with);
    rig_drop(&plain);
}

/* Held warps continue when mechanisms release them, at the latest when nothing makes progress. */
static void held_slots_wait(void **state)
{
    struct seen plain = run("cuda/matmul", "matmul16", "gtx480", WITH(CROWD), false, NULL);
    struct seen with =
        run("cuda/matmul", "matmul16", "gtx480", WITH("leap", "leap.gather=1", CROWD), false, NULL);
    assert_true(with.hash == plain.hash);
    assert_true(rig_total(&with, "leap.gathered") > 0);
    assert_true(rig_total(&with, "issue.idle_held") > 0);
    assert_fetches_add_up(&with);
    rig_drop(&with);
    rig_drop(&plain);
    /* they are not released */
    plain = run("cuda/integer", "collatz", "gtx480", WITH(CROWD), false, NULL);
    with = run("cuda/integer", "collatz", "gtx480",
               WITH("leap", "leap.gather=3", "leap.stubborn=true", CROWD), false, NULL);
    assert_true(with.hash == plain.hash);
    assert_true(rig_total(&with, "leap.stuck") > 0);
    rig_drop(&with);
    rig_drop(&plain);
}

static void holding_costs_time(void **state)
{
    struct seen plain = run("cuda/matmul", "matmul16", "gtx480", NULL, true, NULL);
    struct seen one =
        run("cuda/matmul", "matmul16", "gtx480", WITH("hold", "hold.cycles=1"), false, NULL);
    struct seen four = run("cuda/matmul", "matmul16", "gtx480", WITH("hold"), false, NULL);
    struct seen more =
        run("cuda/matmul", "matmul16", "gtx480", WITH("hold", "hold.cycles=16"), false, NULL);
    assert_true(rig_total(&one, "hold.waits") < rig_total(&four, "hold.waits"));
    assert_true(rig_total(&four, "hold.waits") < rig_total(&more, "hold.waits"));
    assert_true(rig_total(&four, "timing.cycles") > rig_total(&plain, "timing.cycles"));
    assert_true(rig_total(&more, "timing.cycles") > rig_total(&four, "timing.cycles"));
    assert_int_equal(rig_total(&four, "hold.writes"), rig_total(&one, "hold.writes"));
    rig_drop(&plain);
    rig_drop(&one);
    rig_drop(&four);
    rig_drop(&more);
}

static void lanes_are_exchanged(void **state)
{
    struct seen plain = run("cuda/matmul", "matmul16", "gtx480", NULL, true, NULL);
    struct seen with =
        run("cuda/matmul", "matmul16", "gtx480", WITH("exchange", CROWD), false, NULL);
    assert_true(rig_total(&with, "exchange.pairs") > 1000);
    assert_int_equal(rig_total(&with, "issue.instructions"),
                     rig_total(&plain, "issue.instructions"));
    assert_int_equal(rig_total(&with, "issue.threads"), rig_total(&plain, "issue.threads"));
    rig_drop(&plain);
    rig_drop(&with);
    struct seen si =
        run("opencl/basic", "matmul", "generic64", WITH("exchange", CROWD), false, NULL);
    assert_true(rig_total(&si, "exchange.pairs") > 0);
    rig_drop(&si);
}

/* Part of the machine as it is part of a shared object: tests/mech/outside.py. */
static void the_guides_example_works(void **state)
{
    struct seen plain = run("cuda/integer", "collatz", "gtx480", NULL, true, NULL);
    struct seen with = run("cuda/integer", "collatz", "gtx480", WITH("silent"), false, NULL);
    struct seen doubtful =
        run("cuda/integer", "collatz", "gtx480", WITH("silent:bits=1,entries=7"), false, NULL);
    assert_true(with.hash == plain.hash && doubtful.hash == plain.hash);
    assert_true(rig_total(&with, "silent.silent") > 0);
    assert_true(rig_total(&with, "silent.matches") >= rig_total(&with, "silent.silent"));
    assert_true(rig_total(&doubtful, "silent.matches") > rig_total(&with, "silent.matches"));
    assert_int_equal(rig_total(&doubtful, "silent.checks"), rig_total(&with, "silent.checks"));
    assert_int_equal(rig_total(&plain, "collect.lane_writes") -
                         rig_total(&with, "collect.lane_writes"),
                     32 * rig_total(&with, "silent.silent"));
    rig_drop(&plain);
    rig_drop(&with);
    rig_drop(&doubtful);
}

/* ---- the other seams ---- */

static void every_seam_is_called(void **state)
{
    struct seen plain = run("cuda/matmul", "matmul16", "gtx480", NULL, true, NULL);
    struct seen with = run("cuda/matmul", "matmul16", "gtx480", WITH("probe"), false, NULL);
    const u64 cores = 15;
    assert_int_equal(rig_total(&with, "probe.launches") % (2 * cores), 0);
    assert_int_equal(rig_total(&with, "probe.reads"), rig_total(&with, "collect.reads"));
    assert_int_equal(rig_total(&with, "probe.writes"), rig_total(&with, "collect.writes"));
    assert_int_equal(rig_total(&with, "collect.reads"), rig_total(&plain, "collect.reads"));
    assert_int_equal(rig_total(&with, "probe.blocks"), 2 * rig_total(&with, "timing.blocks"));
    assert_true(rig_total(&with, "probe.offers") >= rig_total(&with, "timing.blocks"));
    assert_int_equal(rig_total(&with, "probe.packets"), rig_total(&with, "lsu.requests"));
    assert_true(rig_total(&with, "probe.replies") >= rig_total(&with, "lsu.replies"));
    assert_true(rig_total(&with, "probe.notes") > 0);
    assert_true(rig_total(&with, "probe.l2_replies") >= rig_total(&with, "probe.replies"));
    assert_true(rig_total(&with, "probe.l2_requests") >= rig_total(&with, "probe.l2_replies"));
    assert_int_equal(rig_total(&with, "probe.retired"), rig_total(&with, "issue.instructions"));
    assert_true(rig_total(&with, "probe.results") > rig_total(&with, "probe.retired") * 8 / 10);
    assert_true(rig_total(&with, "probe.accesses") > 0 && rig_total(&with, "probe.control") > 0);
    assert_true(rig_total(&with, "probe.l2") > 0);
    assert_true(rig_total(&with, "probe.served") > 0);
    assert_true(rig_total(&with, "probe.arrived") >= rig_total(&with, "probe.served"));
    rig_drop(&plain);
    rig_drop(&with);
}

/* What a seam decides is done. */
static void decisions_act(void **state)
{
    static const char *const slower[] = {"probe.rate=0.5",       "probe.extra=8",
                                         "probe.one_bank=true",  "probe.hold_odd=true",
                                         "probe.fetch_odd=true", "probe.no_l2=true"};
    struct seen plain = run("cuda/matmul", "matmul16", "gtx480", WITH("probe"), false, NULL);
    for (size_t i = 0; i < ARRAY_LEN(slower); i++) {
        struct seen with =
            run("cuda/matmul", "matmul16", "gtx480", WITH("probe", slower[i]), false, NULL);
        if (rig_total(&with, "timing.picoseconds") <= rig_total(&plain, "timing.picoseconds"))
            fail_msg("%s costs nothing", slower[i]);
        assert_true(with.hash == plain.hash);
        if (!strcmp(slower[i], "probe.one_bank=true"))
            assert_true(rig_total(&with, "collect.conflicts") >
                        2 * rig_total(&plain, "collect.conflicts"));
        if (!strcmp(slower[i], "probe.hold_odd=true"))
            assert_true(rig_total(&with, "issue.idle_held") > 0);
        if (!strcmp(slower[i], "probe.no_l2=true"))
            assert_true(rig_total(&with, "dram.reads") > rig_total(&plain, "dram.reads"));
        rig_drop(&with);
    }
    struct seen here = run("cuda/matmul", "matmul16", "gtx480",
                           WITH("probe", "probe.fetch_here=true"), false, NULL);
    assert_true(here.hash == plain.hash);
    assert_int_equal(rig_total(&here, "icache.reads"), 0);
    assert_true(rig_total(&here, "fetch.fetches") == rig_total(&here, "fetch.instructions"));
    assert_true(rig_total(&plain, "fetch.fetches") < rig_total(&plain, "fetch.instructions"));
    assert_true(rig_total(&plain, "icache.reads") > 0);
    rig_drop(&here);
    rig_drop(&plain);
}

/* saxpy changes its operand in place: a copy whose stores came through would show. */
/* Whoever has room for them: the launch's occupancy, or resource tables. */
static void copies_of_blocks_leave_no_trace(void **state)
{
    static const char *const dispatch[] = {"timing.dispatch=round_robin", "timing.dispatch=lowest",
                                           "timing.dispatch=tables"};
    struct seen plain = run("cuda/vectors", "saxpy", "gtx480", NULL, true, NULL);
    for (u32 i = 0; i < ARRAY_LEN(dispatch); i++) {
        struct seen with = run("cuda/vectors", "saxpy", "gtx480",
                               WITH("check", "check.every=2", dispatch[i]), false, NULL);
        assert_true(rig_total(&with, "check.copies") > 0);
        assert_true(rig_total(&with, "check.stores") > 0);
        assert_int_equal(rig_total(&with, "timing.blocks"), rig_total(&plain, "timing.blocks"));
        assert_true(rig_total(&with, "issue.instructions") >
                    rig_total(&plain, "issue.instructions"));
        assert_true(with.hash == plain.hash);
        rig_drop(&with);
    }
    rig_drop(&plain);
}

/* ---- switching on ---- */

static void refusal(const char *const *words, const char *expected)
{
    struct hd_error error = {0};
    struct hd_config *config = config_with(available);
    struct hd_device *device = NULL;
    bool ok = true;
    for (; ok && *words; words++)
        ok = rig_apply(config, *words, &error);
    if (ok)
        device = hd_device_open(config, &error);
    assert_null(device);
    assert_string_equal(error.message, expected);
    hd_config_destroy(config);
}

static void wrong_choices_are_refused(void **state)
{
    refusal(WITH("twyce"), "unknown mechanism 'twyce': did you mean 'twice'?");
    refusal(WITH("zzzzzzzzzz"), "unknown mechanism 'zzzzzzzzzz': 'heddle mechanisms' lists them");
    refusal(WITH("timing.functional=false", "probe", "flip"),
            "mechanisms flip and probe cannot be combined");
    refusal(WITH("timing.functional=true", "hold"),
            "mechanism hold needs a timing model: it cannot be used with timing.functional=true");
    refusal(WITH("flip:evry=5"), "mechanism flip has no parameter 'evry': did you mean 'every'?");
    refusal(WITH("flip:zzzzzz=5"),
            "mechanism flip has no parameter 'zzzzzz': it has on, every, copies");
    refusal(WITH("flip:every=0"), "flip.every: '0' is out of range: expected 1 to 1000000 results");
    refusal(WITH("flip:every=7,copies=maybe"), "flip.copies: expected true or false, not 'maybe'");
    refusal(WITH("flip:every"),
            "'every' is not a setting of mechanism flip: expected parameter=value");
    refusal(WITH("flip:"), "'' is not a setting of mechanism flip: expected parameter=value");
    refusal(WITH("flip:every=5,"),
            "'' is not a setting of mechanism flip: expected parameter=value");
    refusal(WITH("flip:=5"), "'=5' is not a setting of mechanism flip: expected parameter=value");
    refusal(WITH(":every=5"), "unknown mechanism '': 'heddle mechanisms' lists them");
}

/* ---- first-level data caches ---- */

/* Events at the seams agree with the L1's counters, and with a list of its lines. */
static void check_ledger(const struct seen *seen)
{
    assert_int_equal(rig_total(seen, "ledger.lies"), 0);
    assert_int_equal(rig_total(seen, "ledger.reads"), rig_total(seen, "l1d.reads"));
    assert_int_equal(rig_total(seen, "ledger.hits"), rig_total(seen, "l1d.read_hits"));
    assert_int_equal(rig_total(seen, "ledger.merges"), rig_total(seen, "l1d.read_merges"));
    assert_int_equal(rig_total(seen, "ledger.misses"), rig_total(seen, "l1d.read_misses"));
    assert_int_equal(rig_total(seen, "ledger.writes"), rig_total(seen, "l1d.writes"));
    assert_int_equal(rig_total(seen, "ledger.evictions"), rig_total(seen, "l1d.evictions"));
    assert_int_equal(rig_total(seen, "ledger.fills"), rig_total(seen, "l1d.fills"));
}

static void first_level_caches_tell_the_truth(void **state)
{
    static const char *const files[][2] = {
        {"cuda/graph", "bfs_level"}, /* many launches: requests in flight are forgotten */
        {"cuda/graph", "spmv_row"},     {"cuda/matmul", "matmul16"},
        {"cuda/spaces", "local_index"}, {"cuda/stencil", "stencil2d"},
    };
    /* few lines, so that they give way */
    static const char *const sets[][8] = {
        {"ledger", "l1d.sets=2"},
        {"ledger:ahead=2", "l1d.sets=2"},
        {"ledger:supplies=3", "l1d.sets=2"},
        {"ledger:ahead=1,supplies=20", "l1d.sets=1"},
        {"ledger:ahead=2,supplies=7", "l1d.sets=2", "l1d.allocate=fill"},
        {"ledger:ahead=4,stores=true", "l1d.mshrs=8", "timing.flush_l1=true"},
        {"ledger:ahead=2,supplies=1", "l1d.sets=2", "l1d.write=through", "gpu.cores=1"},
        {"ledger:ahead=3,supplies=5", "l1d.sets=2", "l1d.mshrs=2", "l1d.miss_queue=2"},
    };
    u64 supplied = 0, sent = 0, used = 0, unused = 0;
    for (size_t k = 0; k < ARRAY_LEN(files); k++) {
        struct seen plain = run(files[k][0], files[k][1], "gtx480", NULL, true, NULL);
        for (size_t i = 0; i < ARRAY_LEN(sets); i++) {
            struct seen with = run(files[k][0], files[k][1], "gtx480", sets[i], false, NULL);
            assert_true(with.hash == plain.hash);
            check_ledger(&with);
            supplied += rig_total(&with, "ledger.supplied");
            sent += rig_total(&with, "ledger.sent");
            used += rig_total(&with, "ledger.used");
            unused += rig_total(&with, "ledger.unused");
            rig_drop(&with);
        }
        rig_drop(&plain);
    }
    assert_true(supplied > 100 && sent > 100 && used > 100 && unused > 10);
}

/* Prefetches are requests like others; a mechanism that only observes changes no statistic. */
static void prefetches_take_what_a_miss_takes(void **state)
{
    struct seen plain = run("cuda/vectors", "saxpy", "gtx480", NULL, true, NULL);
    struct seen seen = run("cuda/vectors", "saxpy", "gtx480", WITH("ledger"), false, NULL);
    struct seen ahead = run("cuda/vectors", "saxpy", "gtx480", WITH("ledger:ahead=4"), false, NULL);
    static const char *const same[] = {"timing.cycles",  "l1d.reads",    "l1d.read_hits",
                                       "l1d.fills",      "lsu.requests", "l1d.stalls_mshr",
                                       "l1d.stalls_line"};
    for (size_t i = 0; i < ARRAY_LEN(same); i++)
        assert_int_equal(rig_total(&plain, same[i]), rig_total(&seen, same[i]));
    check_ledger(&seen);
    check_ledger(&ahead);
    const u64 sent = rig_total(&ahead, "ledger.sent"),
              dropped = rig_total(&ahead, "ledger.dropped");
    assert_int_equal(sent + dropped, 4 * rig_total(&ahead, "l1d.read_misses"));
    assert_true(sent > 10);
    assert_int_equal(rig_total(&ahead, "l1d.reads"), rig_total(&plain, "l1d.reads"));
    /* each miss and each prefetch is one packet, as lines of L1 and L2 are alike; what was under
     * way, or not sent yet, when the launch ended was not answered */
    const u64 misses = rig_total(&ahead, "l1d.read_misses"), fills = rig_total(&ahead, "l1d.fills");
    assert_true(fills <= misses + sent && fills >= misses);
    assert_true(rig_total(&ahead, "lsu.requests") - rig_total(&plain, "lsu.requests") <=
                misses + sent - rig_total(&plain, "l1d.read_misses"));
    rig_drop(&plain);
    rig_drop(&seen);
    rig_drop(&ahead);
}

/* A value of the configuration as JSON. */
static char *value_of(const struct hd_config *config, const char *component, const char *name)
{
    char *text = hd_config_json(config);
    json_t *json = json_loads(text, 0, NULL);
    char *value = json_dumps(json_object_get(json_object_get(json, component), name),
                             JSON_ENCODE_ANY | JSON_REAL_PRECISION(3));
    json_decref(json);
    hd_free(text);
    return value;
}

static void assert_value(const struct hd_config *config, const char *component, const char *name,
                         const char *expected)
{
    char *value = value_of(config, component, name);
    assert_string_equal(value, expected);
    free(value);
}

static void parameters_stand_behind_the_name(void **state)
{
    struct hd_error error = {0};
    struct hd_config *config = config_with(available);
    assert_true(hd_config_mechanism(config, "flip:every=7,copies=false", &error));
    assert_value(config, "flip", "on", "true");
    assert_value(config, "flip", "every", "7");
    assert_value(config, "flip", "copies", "false");
    /* what was set before stays */
    assert_true(hd_config_mechanism(config, "flip:copies=true", &error));
    assert_value(config, "flip", "every", "7");
    /* and what fails changes nothing */
    assert_false(hd_config_mechanism(config, "hold:cycles=8,cycle=9", &error));
    assert_value(config, "hold", "on", "false");
    assert_value(config, "hold", "cycles", "4");
    /* values of a list have commas between them */
    assert_true(hd_config_mechanism(config, "probe:marks=1,2.5,rate=0.5", &error));
    assert_value(config, "probe", "marks", "[1.0, 2.5]");
    assert_value(config, "probe", "rate", "0.5");
    assert_false(hd_config_mechanism(config, "probe:rate=0.5,2", &error));
    hd_config_destroy(config);
}

static const json_t *field(const json_t *row, const char *list, size_t index, const char *name)
{
    const json_t *entry = json_array_get(json_object_get(row, list), index);
    return name ? json_object_get(entry, name) : entry;
}

static void a_mechanism_explains_itself(void **state)
{
    struct hd_error error = {0};
    struct hd_config *config = config_with(available);
    assert_true(hd_config_set(config, "gpu.cores=3", &error));
    char *text = hd_config_mechanisms(config);
    json_t *rows = json_loads(text, 0, NULL);
    assert_int_equal(json_array_size(rows), ARRAY_LEN(available) - 1);
    const json_t *probe = json_array_get(rows, 5);
    assert_string_equal(json_string_value(json_object_get(probe, "name")), "probe");
    assert_string_equal(json_string_value(json_object_get(probe, "source")),
                        "nobody, nowhere, never");
    assert_string_equal(json_string_value(field(probe, "params", 1, "key")), "probe.rate");
    assert_string_equal(json_string_value(field(probe, "stats", 0, "key")), "probe.launches");
    assert_string_equal(json_string_value(field(probe, "events", 0, "counter")), "probe.notes");
    assert_string_equal(json_string_value(field(probe, "events", 0, "kind")), "write");
    assert_true(json_is_null(field(probe, "events", 0, "pj")));
    assert_string_equal(json_string_value(field(probe, "events", 1, "given")), "probe.rate");
    assert_true(json_real_value(field(probe, "events", 1, "pj")) == 0.5);
    assert_int_equal(json_integer_value(json_object_get(probe, "core_bits")), 64);
    assert_int_equal(json_integer_value(field(probe, "storage", 0, "total_bits")), 3 * 64);
    assert_string_equal(json_string_value(field(probe, "seams", 0, NULL)), "launch");
    assert_string_equal(json_string_value(field(probe, "deviations", 0, NULL)),
                        "It is only a test.");
    assert_string_equal(json_string_value(field(probe, "conflicts", 0, NULL)), "flip");
    const json_t *twice = json_array_get(rows, 1);
    assert_true(json_is_null(json_object_get(twice, "source")));
    assert_int_equal(json_array_size(json_object_get(twice, "events")), 0);
    json_decref(rows);
    hd_free(text);
    hd_config_destroy(config);
}

static void tables_and_configuration(void **state)
{
    struct hd_error error = {0};
    struct hd_config *config = config_with(available);
    assert_true(hd_config_mechanism(config, "hold", &error));
    assert_true(hd_config_mechanism(config, "probe", &error));
    char *text = hd_config_json(config);
    json_t *json = json_loads(text, 0, NULL);
    assert_true(json_is_true(json_object_get(json_object_get(json, "hold"), "on")));
    assert_true(json_is_false(json_object_get(json_object_get(json, "twice"), "on")));
    json_decref(json);
    hd_free(text);
    text = hd_config_storage(config);
    assert_non_null(strstr(text, "the note under way"));
    hd_free(text);
    hd_config_destroy(config);
}

int main(int argc, char **argv)
{
    if (argc != 2)
        return 2;
    rig_folder(argv[1]);
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(wrong_choices_are_refused),
        cmocka_unit_test(parameters_stand_behind_the_name),
        cmocka_unit_test(a_mechanism_explains_itself),
        cmocka_unit_test(tables_and_configuration),
        cmocka_unit_test(every_seam_is_called),
        cmocka_unit_test(decisions_act),
        cmocka_unit_test(first_level_caches_tell_the_truth),
        cmocka_unit_test(prefetches_take_what_a_miss_takes),
        cmocka_unit_test(copies_of_blocks_leave_no_trace),
        cmocka_unit_test(twice_issues_and_compares),
        cmocka_unit_test(twice_is_in_the_next_cycle),
        cmocka_unit_test(flips_are_found),
        cmocka_unit_test(borrowed_instructions_are_not_issued),
        cmocka_unit_test(skimmed_instructions_are_not_fetched),
        cmocka_unit_test(held_slots_wait),
        cmocka_unit_test(holding_costs_time),
        cmocka_unit_test(lanes_are_exchanged),
        cmocka_unit_test(the_guides_example_works),
        cmocka_unit_test(off_is_identical),
        cmocka_unit_test(same_results),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
