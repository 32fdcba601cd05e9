/*
 * GR-Guard on kernels: programs compute what they compute without it, whatever fails; without
 * patches they do not; and they notice when a patch is not what the maps say.
 *
 *   test-gr-guard TESTS     the folder tests/ of the sources
 */
#include "mech/gr_guard.h"
#include "rig.h"

/* clang-format off */
#include <setjmp.h>
#include <stdarg.h>
#include <cmocka.h>
/* clang-format on */

extern const struct mechanism gr_guard_mechanism;

static const struct mechanism *const none[] = {NULL};

static const struct {
    const char *file, *name, *machine;
} kernels[] = {
    {"cuda/matmul", "matmul16", "fermi15-lv"},     {"cuda/reduce", "reduce_tree", "fermi15-lv"},
    {"cuda/double", "doubles", "fermi15-lv"},      {"cuda/control", "switches", "fermi15-lv"},
    {"cuda/calls", "recursion", "fermi15-lv"},     {"cuda/warps", "shuffles", "fermi15-lv"},
    {"cuda/warps", "exchange", "gtx480"},          {"cuda/barriers", "barrier_votes", "gtx480"},
    {"cuda/atomics", "atomics_shared", "generic"}, {"opencl/sort", "bitonic", "generic"},
    {"opencl/reduce", "reduce", "generic64"},      {"opencl/integer", "longs", "generic64"},
    {"opencl/loops", "collatz", "generic64"},
};
enum {
    LV = 6 /* the first ones, on a machine whose warps have a multiple of its banks of registers */
};

static const char *const sets[][4] = {
    {"gr_guard.single=0"},
    {"gr_guard.faulty=90", "gr_guard.single=10"},
    {"gr_guard.faulty=12", "launch.seed=7"},
    {"gr_guard.ecc=false", "gr_guard.faulty=20", "gr_guard.single=20"},
    {"gr_guard.patches=unallocated"},
};

static struct seen run(u32 kernel, const char *const *set)
{
    const char *words[12] = {"gr_guard"};
    u32 count = 1;
    if (!strcmp(kernels[kernel].machine, "generic64")) { /* warps of 64 */
        words[count++] = "issue.sub_cores=false";
        words[count++] = "gr_guard.spill=false";
    }
    for (; set && *set; set++)
        words[count++] = *set;
    return rig_run(kernels[kernel].file, kernels[kernel].name, kernels[kernel].machine, words, NULL,
                   true);
}

static u64 guard_total(const struct seen *seen, const char *name)
{
    char full[64];
    snprintf(full, sizeof full, "gr_guard.%s", name);
    return rig_total(seen, full);
}

/* Sums that hold for every run. */
static void check_sums(const struct seen *seen)
{
#define T(name) guard_total(seen, #name)
    assert_int_equal(T(accesses), T(normal) + T(patched) + T(occupied) + T(spilled) + T(in_memory));
    assert_int_equal(T(selections), T(same_bank) + T(other_bank) + T(spills) + T(memory_spills));
    assert_int_equal(T(selections), T(index_writes));
    assert_int_equal(T(selections), T(releases)); /* blocks have left */
    assert_int_equal(T(patch_writes), 2 * (T(same_bank) + T(other_bank)));
    assert_int_equal(T(accesses), T(faulty_reads));
    /* registers come to life and die, by an instruction or with their warp */
    assert_int_equal(T(dead_writes) % 2, 0);
    assert_true(T(dead_writes) >= 2 * T(dead_marks));
    assert_int_equal(T(exposed), 0);
    assert_int_equal(T(changed_bits), 0);
    assert_true(T(live_cycles) + T(unallocated_cycles) <= T(entry_cycles));
    assert_true(T(live_faulty_cycles) <= T(needing_cycles));
    assert_true(T(needing_cycles) <= T(live_cycles));
    assert_true(T(live_cycles) + T(dead_good_cycles) <= T(entry_cycles));
#undef T
}

static void results_are_those_of_good_cells(void **state)
{
    for (u32 k = 0; k < ARRAY_LEN(kernels); k++) {
        const bool si = !strcmp(kernels[k].machine, "generic64");
        struct seen plain = rig_run(kernels[k].file, kernels[k].name, kernels[k].machine,
                                    si ? WITH("issue.sub_cores=false") : NULL, none, false);
        for (u32 i = 0; i < ARRAY_LEN(sets); i++) {
            struct seen with = run(k, sets[i]);
            if (with.wrong || with.hash != plain.hash)
                fail_msg("%s %s: other bytes with %s", kernels[k].file, kernels[k].name,
                         sets[i][0]);
            check_sums(&with);
            assert_true(guard_total(&with, "selections") > 0);
            rig_drop(&with);
        }
        rig_drop(&plain);
    }
}

/* With good cells only, nothing is moved and nothing takes longer. */
static void good_cells_cost_no_time(void **state)
{
    for (u32 k = 0; k < LV; k++) {
        struct seen plain =
            rig_run(kernels[k].file, kernels[k].name, kernels[k].machine, NULL, NULL, false);
        struct seen with = run(k, WITH("gr_guard.faulty=0"));
        assert_int_equal(rig_total(&plain, "timing.cycles"), rig_total(&with, "timing.cycles"));
        assert_int_equal(rig_total(&plain, "collect.reads"), rig_total(&with, "collect.reads"));
        assert_int_equal(rig_total(&plain, "collect.conflicts"),
                         rig_total(&with, "collect.conflicts"));
        assert_int_equal(guard_total(&with, "selections"), 0);
        assert_int_equal(guard_total(&with, "normal"), guard_total(&with, "accesses"));
        rig_drop(&plain);
        rig_drop(&with);
    }
}

static void off_is_identical(void **state)
{
    for (u32 k = 0; k < 4; k++) {
        struct seen without =
            rig_run(kernels[k].file, kernels[k].name, kernels[k].machine, NULL, none, false);
        struct seen off =
            rig_run(kernels[k].file, kernels[k].name, kernels[k].machine, NULL, NULL, false);
        assert_true(json_equal(without.totals, off.totals));
        rig_drop(&without);
        rig_drop(&off);
    }
}

/* A faulty entry that is not patched has its preferred bits, and programs see them. */
static void without_patches_programs_fail(void **state)
{
    u32 wrong = 0;
    for (u32 k = 0; k < ARRAY_LEN(kernels); k++) {
        struct seen with =
            run(k, WITH("gr_guard.protect=false", "timing.max_cycles=300000", "gr_guard.single=0"));
        wrong += with.wrong;
        assert_true(guard_total(&with, "exposed") > 0);
        assert_true(guard_total(&with, "changed_bits") > 0);
        rig_drop(&with);
    }
    assert_int_equal(wrong, ARRAY_LEN(kernels));
    /* single bits are repaired, unless there is no code */
    struct seen repaired =
        run(0, WITH("gr_guard.protect=false", "gr_guard.faulty=0", "gr_guard.single=50"));
    assert_false(repaired.wrong);
    assert_true(guard_total(&repaired, "repaired") > 0);
    rig_drop(&repaired);
    struct seen without_code =
        run(0, WITH("gr_guard.protect=false", "gr_guard.faulty=0", "gr_guard.single=50",
                    "gr_guard.ecc=false", "timing.max_cycles=300000"));
    assert_true(without_code.wrong);
    rig_drop(&without_code);
}

/* The same chip gives the same run; another seed is another chip. */
static void chips_follow_from_the_seed(void **state)
{
    struct seen first = run(0, NULL), again = run(0, NULL), other = run(0, WITH("launch.seed=3"));
    assert_string_equal(first.text, again.text);
    assert_true(guard_total(&first, "patched") != guard_total(&other, "patched"));
    rig_drop(&first);
    rig_drop(&again);
    rig_drop(&other);
}

/* The L1 loses the reserved way while lines hold registers, and only then. */
static void spills_take_a_way_of_the_l1(void **state)
{
    struct seen all = run(0, WITH("gr_guard.faulty=100", "gr_guard.single=0"));
    assert_true(guard_total(&all, "spilled") > 0);
    assert_true(guard_total(&all, "reserved_cycles") > 0);
    assert_true(guard_total(&all, "spill_line_cycles") >= guard_total(&all, "reserved_cycles"));
    assert_int_equal(guard_total(&all, "normal") + guard_total(&all, "occupied"), 0);
    struct seen few = run(0, WITH("gr_guard.faulty=3"));
    assert_int_equal(guard_total(&few, "spilled") + guard_total(&few, "reserved_cycles"), 0);
    rig_drop(&all);
    rig_drop(&few);
}

/* ---- wrong maps ---- */

enum crime {
    NOTHING,
    WRONG_ROW,   /* an entry of the index map is wrong by one */
    TOO_EARLY,   /* the patch of a register that still holds a value ends */
    FORGETS,     /* a line of the L1 loses what was written to it */
    LENT_TWICE,  /* a live register is lent */
    WRONG_ENTRY, /* a patch has an entry that is faulty itself */
};
static enum crime crime;
static u32 crimes, every;

static void offend(struct gr_guard *g, struct core *core, struct warp *warp, u32 reg)
{
    const u32 at = guard_home(g, warp, reg);
    struct guard_row *row = &g->rows[at];
    char why[160];
    if (row->patch == NO_ROW || (crime == FORGETS) != (row->patch >= g->count) || ++crimes % every)
        return;
    switch (crime) {
    case WRONG_ROW: /* the value stays where it was written */
        for (u32 to = row->patch + 1; to < g->count; to++)
            if (!(core_row_lanes(core, to) & guard_lanes(row->moved))) {
                register_map_place(warp, reg, guard_lanes(row->moved), to, false, why, sizeof why);
                return;
            }
        return;
    case TOO_EARLY:
        guard_mark_dead(g, at);
        return;
    case FORGETS:
        memset(core_row(core, row->patch), 0, core_warp_size(core) * sizeof(u32));
        return;
    case LENT_TWICE:
        memset(core_row(core, row->patch), 0x55, core_warp_size(core) * sizeof(u32));
        return;
    case WRONG_ENTRY: {
        const u32 e = first_bit(row->moved), bank = row->patch % g->banks;
        const u32 cell = (row->patch * g->entries + e) * ENTRY_LANES;
        g->rows[row->patch].faulty |= (entry_set)(1u << e);
        g->faulty[e][bank * g->span + row->patch / g->banks / 64] |= 1ull
                                                                     << row->patch / g->banks % 64;
        for (u32 i = 0; i < ENTRY_LANES; i++) {
            g->fails[cell + i] = ~0u;
            g->preferred[cell + i] = 0x12345678;
        }
        return;
    }
    default:
        return;
    }
}

static void crooked_retired(void *state, struct core *core, struct inflight *inflight)
{
    struct gr_guard *g = state;
    const struct dyninst *dyn = &inflight->dyn;
    gr_guard_mechanism.retired(state, core, inflight);
    if (!core_slot(core, inflight->slot)->warp || !g->inflight[inflight->index].written)
        return;
    for (u32 k = 0; k < ARRAY_LEN(dyn->dst); k++)
        for (u32 r = 0; dyn->dst[k] && r < dyn->dst_rows[k]; r++)
            offend(g, core, dyn->warp, dyn->to[k] + r);
}

static struct mechanism crooked;
static const struct mechanism *const with_crooked[] = {&crooked, NULL};

static bool goes_wrong(u32 kernel, enum crime which, const char *faulty)
{
    crime = which;
    crimes = 0;
    every = 5;
    struct seen seen = rig_run(
        kernels[kernel].file, kernels[kernel].name, kernels[kernel].machine,
        WITH("gr_guard", faulty, "gr_guard.single=0", "gpu.cores=1", "timing.max_cycles=4000000"),
        with_crooked, true);
    const bool wrong = seen.wrong;
    rig_drop(&seen);
    assert_true(which == NOTHING || crimes > 0);
    return wrong;
}

static void wrong_maps_are_noticed(void **state)
{
    crooked = gr_guard_mechanism;
    crooked.retired = crooked_retired;
    for (u32 k = 0; k < 4; k++) {
        assert_false(goes_wrong(k, NOTHING, "gr_guard.faulty=30"));
        assert_true(goes_wrong(k, WRONG_ROW, "gr_guard.faulty=30"));
        assert_true(goes_wrong(k, TOO_EARLY, "gr_guard.faulty=30"));
        assert_true(goes_wrong(k, LENT_TWICE, "gr_guard.faulty=30"));
        assert_true(goes_wrong(k, WRONG_ENTRY, "gr_guard.faulty=30"));
        assert_true(goes_wrong(k, FORGETS, "gr_guard.faulty=100"));
    }
}

int main(int argc, char **argv)
{
    if (argc != 2)
        return 2;
    rig_folder(argv[1]);
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(results_are_those_of_good_cells),
        cmocka_unit_test(good_cells_cost_no_time),
        cmocka_unit_test(off_is_identical),
        cmocka_unit_test(without_patches_programs_fail),
        cmocka_unit_test(chips_follow_from_the_seed),
        cmocka_unit_test(spills_take_a_way_of_the_l1),
        cmocka_unit_test(wrong_maps_are_noticed),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
