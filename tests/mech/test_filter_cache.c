/*
 * The filter cache against a model of it that replays what was looked up and what arrived; when it
 * fills, what a stage costs, and that programs run what its lines hold.
 *
 *   test-filter-cache TESTS     the folder tests/ of the sources
 */
#include "rig.h"
#include "watch.h"

/* clang-format off */
#include <setjmp.h>
#include <stdarg.h>
#include <cmocka.h>
/* clang-format on */

/* A second one whose lines can be made wrong. */
#define filter_cache_component crooked_component
#define filter_cache_mechanism plain_crooked_mechanism
#include "mech/filter_cache.c"
#undef filter_cache_component
#undef filter_cache_mechanism

extern const struct mechanism filter_cache_mechanism;

static u32 crooked_at; /* the fill that goes wrong, counted over all cores; 0: none */
static u32 crooked_fills;

static void crooked_fetched(void *state, struct core *core, u32 slot, u32 inst, u32 count,
                            bool here)
{
    struct filter_cache *f = state;
    u64 tag;
    fetched(state, core, slot, inst, count, here);
    if (!here && ++crooked_fills == crooked_at)
        line_of(f, core, inst, &tag)->inst = inst + 1;
}

static struct mechanism crooked;
static const struct mechanism *const with_crooked[] = {&crooked, NULL};
static const struct mechanism *const watched[] = {&watch_mechanism, &filter_cache_mechanism, NULL};
static const struct mechanism *const none[] = {NULL};

static const struct {
    const char *file, *name, *machine;
} kernels[] = {
    {"cuda/matmul", "matmul16", "tesla16"},    {"cuda/mandel", "mandel", "tesla16"},
    {"cuda/integer", "collatz", "tesla16"},    {"cuda/control", "switches", "rtx2060"},
    {"cuda/calls", "recursion", "gtx480"},     {"cuda/scan", "scan_inclusive", "gtx480"},
    {"opencl/life", "life", "generic64"},      {"opencl/sort", "bitonic", "generic64"},
    {"opencl/loops", "collatz", "generic64"},  {"cuda/reduce", "reduce_tree", "tesla16"},
    {"opencl/reduce", "reduce", "tesla16"},    {"cuda/histogram", "histogram", "tesla16"},
    {"opencl/search", "substring", "tesla16"},
};

/* ---- the model ---- */

struct model {
    u64 pcs[256]; /* by line; 0: empty */
    u64 probes, hits, fills, evictions;
};

/* Whether a lookup came to the instruction cache: then the slot's next event is an arrival, or a
 * lookup after it missed in that cycle. */
static bool reaches(const struct watch_log *log, size_t at)
{
    const struct watched *w = &log->events[at];
    for (size_t i = at + 1; i < log->count && log->events[i].age != UINT64_MAX; i++)
        if (log->events[i].slot == w->slot)
            return log->events[i].arrives || log->events[i].missed == w->cycle;
    return false;
}

/* Lines of 8 bytes of code, or of 4 where instructions may be so short. */
static void replay(struct model *m, const struct watch_log *log, u32 entries, u32 bytes)
{
    for (size_t i = 0; i < log->count; i++) {
        const struct watched *w = &log->events[i];
        if (w->age == UINT64_MAX) {
            memset(m->pcs, 0, sizeof m->pcs);
            continue;
        }
        u64 *line = &m->pcs[w->pc / bytes % entries];
        if (!w->arrives) {
            const bool hit = *line == w->pc;
            m->hits += hit;
            m->probes += hit || reaches(log, i);
        } else if (!w->here) {
            m->fills++;
            m->evictions += *line && *line != w->pc;
            *line = w->pc;
        }
    }
}

static void hits_are_those_of_the_model(void **state)
{
    static const u32 sizes[] = {4, 16, 32, 256};
    for (size_t k = 0; k < ARRAY_LEN(kernels); k++)
        for (size_t i = 0; i < ARRAY_LEN(sizes); i++) {
            char entries[64];
            snprintf(entries, sizeof entries, "filter_cache.entries=%u", sizes[i]);
            struct seen seen =
                rig_run(kernels[k].file, kernels[k].name, kernels[k].machine,
                        WITH("watch", "filter_cache", entries, "gpu.cores=4"), watched, false);
            struct model sum = {0};
            for (u32 c = 0; c < 4; c++)
                replay(&sum, &watch_logs[c], sizes[i],
                       strcmp(kernels[k].machine, "generic64") ? 8 : 4);
            assert_int_equal(rig_total(&seen, "filter_cache.probes"), sum.probes);
            assert_int_equal(rig_total(&seen, "filter_cache.hits"), sum.hits);
            assert_int_equal(rig_total(&seen, "filter_cache.misses"), sum.probes - sum.hits);
            assert_int_equal(rig_total(&seen, "filter_cache.fills"), sum.fills);
            assert_int_equal(rig_total(&seen, "filter_cache.evictions"), sum.evictions);
            assert_true(sum.hits < sum.probes && (sum.hits || sizes[i] == 4));
            /* a hit prevents an access, and only a hit does */
            if (rig_total(&seen, "icache.reads")) /* else it is perfect */
                assert_int_equal(rig_total(&seen, "icache.reads"), sum.probes - sum.hits);
            watch_forget();
            rig_drop(&seen);
        }
}

/* Larger ones hit more. */
static void larger_is_better(void **state)
{
    u64 before = 0;
    for (u32 entries = 4; entries <= 256; entries *= 2) {
        char text[64];
        snprintf(text, sizeof text, "filter_cache.entries=%u", entries);
        struct seen seen =
            rig_run("cuda/mandel", "mandel", "tesla16", WITH("filter_cache", text), NULL, false);
        assert_true(rig_total(&seen, "filter_cache.hits") >= before);
        assert_true(entries > 32 || rig_total(&seen, "filter_cache.hits") > before);
        before = rig_total(&seen, "filter_cache.hits");
        rig_drop(&seen);
    }
}

/* ---- when ---- */

/* Warps begin together and fetch their first instruction one a cycle; it comes n cycles after the
 * first of them has fetched it. Those that look n - 1 cycles later miss, n later they hit. */
static void fills_when_it_arrives(void **state)
{
    for (u32 cycles = 1; cycles <= 5; cycles++)
        for (u32 stage = 0; stage < 2; stage++) {
            char decode[64];
            snprintf(decode, sizeof decode, "fetch.decode_cycles=%u", cycles);
            struct seen seen =
                rig_run("cuda/matmul", "matmul16", "tesla16",
                        WITH("watch", "filter_cache", decode, "gpu.cores=1", "icache.perfect=true",
                             stage ? "filter_cache.stage=true" : "filter_cache.stage=false"),
                        watched, false);
            const struct watched *e = watch_logs[0].events;
            const u64 n = cycles + stage, first = e[1].cycle;
            const u32 inst = e[1].inst;
            u32 late = 0, early = 0; /* looked n cycles after the first, and n - 1 */
            for (size_t i = 1; i < watch_logs[0].count && !late; i++) {
                if (!e[i].arrives || e[i].inst != inst)
                    continue;
                const u64 looked = e[i].cycle - n;
                assert_int_equal(e[i].here, looked >= first + n);
                early += looked == first + n - 1;
                late += looked == first + n;
            }
            assert_int_equal(early, 1);
            assert_int_equal(late, 1);
            watch_forget();
            rig_drop(&seen);
        }
}

/* From a lookup to the arrival of what it found: a cycle more with the stage, on both ways. */
static void a_stage_costs_a_cycle(void **state)
{
    for (u32 stage = 0; stage < 2; stage++) {
        struct seen seen =
            rig_run("cuda/mandel", "mandel", "tesla16",
                    WITH("watch", "filter_cache", "gpu.cores=1",
                         stage ? "filter_cache.stage=true" : "filter_cache.stage=false"),
                    watched, false);
        u64 looked[CORE_WARPS] = {0}, ways[2] = {0};
        for (size_t i = 0; i < watch_logs[0].count; i++) {
            const struct watched *w = &watch_logs[0].events[i];
            if (w->age == UINT64_MAX)
                continue;
            if (!w->arrives) {
                looked[w->slot] = w->cycle;
                continue;
            }
            ways[w->here]++;
            assert_int_equal(w->cycle - looked[w->slot], 1 + stage); /* tesla16 decodes in one */
        }
        assert_true(ways[0] > 16 && ways[1] > 16);
        watch_forget();
        rig_drop(&seen);
    }
}

/* ---- what it serves ---- */

static void programs_run_what_lines_hold(void **state)
{
    crooked = plain_crooked_mechanism;
    crooked.component = &crooked_component;
    crooked.fetched = crooked_fetched;
    struct seen good = rig_run("cuda/matmul", "matmul16", "tesla16",
                               WITH("filter_cache", "gpu.cores=1"), with_crooked, false);
    u32 wrong = 0;
    const u32 tries = 12;
    for (u32 i = 0; i < tries; i++) {
        crooked_fills = 0;
        crooked_at = 3 + 5 * i;
        struct seen seen = rig_run("cuda/matmul", "matmul16", "tesla16",
                                   WITH("filter_cache", "gpu.cores=1", "timing.max_cycles=1000000"),
                                   with_crooked, true);
        wrong += seen.wrong;
        rig_drop(&seen);
    }
    crooked_at = 0;
    assert_false(good.wrong);
    assert_true(wrong > tries / 2);
    rig_drop(&good);
}

/* ---- all else stays ---- */

static void off_is_identical(void **state)
{
    for (size_t k = 0; k < ARRAY_LEN(kernels); k++) {
        struct seen without =
            rig_run(kernels[k].file, kernels[k].name, kernels[k].machine, NULL, none, false);
        struct seen off =
            rig_run(kernels[k].file, kernels[k].name, kernels[k].machine, NULL, NULL, false);
        struct seen on = rig_run(kernels[k].file, kernels[k].name, kernels[k].machine,
                                 WITH("filter_cache"), NULL, false);
        struct seen again = rig_run(kernels[k].file, kernels[k].name, kernels[k].machine,
                                    WITH("filter_cache"), NULL, false);
        assert_true(json_equal(without.totals, off.totals));
        assert_true(without.hash == on.hash);
        assert_string_equal(on.text, again.text);
        rig_drop(&without);
        rig_drop(&off);
        rig_drop(&on);
        rig_drop(&again);
    }
}

/* With fetch.policy=groups, the group of the last fetched warp continues while it can. */
static void neighbours_are_fetched_together(void **state)
{
    struct seen seen = rig_run("cuda/mandel", "mandel", "tesla16",
                               WITH("watch", "gpu.cores=1", "icache.perfect=true",
                                    "issue.group_size=4", "fetch.policy=groups"),
                               watched, false);
    u32 last = CORE_WARPS, moves = 0, stays = 0;
    for (size_t i = 0; i < watch_logs[0].count; i++) {
        const struct watched *w = &watch_logs[0].events[i];
        if (w->age == UINT64_MAX)
            last = CORE_WARPS;
        if (w->age == UINT64_MAX || w->arrives)
            continue;
        const u64 group = last < CORE_WARPS ? w->wanting >> last / 4 * 4 & 15 : 0;
        u32 want = last;
        do
            want = want % CORE_WARPS + 1 < CORE_WARPS ? want % CORE_WARPS + 1 : 0;
        while (!(w->wanting >> want & 1) || (group && want / 4 != last / 4));
        if (last == CORE_WARPS)
            want = (u32)__builtin_ctzll(w->wanting);
        assert_int_equal(w->slot, want);
        moves += !group;
        stays += group && w->wanting >> w->slot != 1;
        last = w->slot;
    }
    assert_true(moves > 10 && stays > 10);
    rig_drop(&seen);
}

/* Lines of instructions that come after a fixed time do not wait for the requests of others. */
static void fixed_misses_need_no_queue(void **state)
{
    struct seen seen = rig_run("cuda/histogram", "histogram", "tesla16",
                               WITH("gpu.cores=1", "network.input_packets=1"), NULL, false);
    assert_int_equal(rig_total(&seen, "icache.stalls_queue"), 0);
    rig_drop(&seen);
}

/* Nothing is fetched after a branch until its target is known: see fetch.branch. */
static void stalled_fetches_waste_nothing(void **state)
{
    for (size_t k = 0; k < 3; k++) {
        struct seen seen =
            rig_run(kernels[k].file, kernels[k].name, kernels[k].machine, NULL, NULL, false);
        assert_int_equal(rig_total(&seen, "fetch.flushed"), 0);
        assert_int_equal(rig_total(&seen, "fetch.buffered"),
                         rig_total(&seen, "issue.instructions"));
        rig_drop(&seen);
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
        cmocka_unit_test_setup(hits_are_those_of_the_model, forget),
        cmocka_unit_test(larger_is_better),
        cmocka_unit_test_setup(fills_when_it_arrives, forget),
        cmocka_unit_test_setup(a_stage_costs_a_cycle, forget),
        cmocka_unit_test(programs_run_what_lines_hold),
        cmocka_unit_test(off_is_identical),
        cmocka_unit_test_setup(neighbours_are_fetched_together, forget),
        cmocka_unit_test(fixed_misses_need_no_queue),
        cmocka_unit_test(stalled_fetches_waste_nothing),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
