/*
 * Thread block compaction of code with explicit EXEC: what is stored stays the same, regions of which
 * it is proved are executed by as many warps as one counts by hand, and others as without.
 */
#include "micro/pair.h"

extern const struct mechanism tbc_mechanism, lwm_mechanism;
static const struct mechanism *const available[] = {&tbc_mechanism, &lwm_mechanism, NULL};

enum {
    WARP = 64
};
static const char *file; /* divergent.so */

static struct rig *open_rig(const char *machine, const char *settings, const char *kernel)
{
    char all[256];
    snprintf(all, sizeof all, "gpu.cores=1 %s", settings);
    struct rig *rig = rig_open_file_with(available, machine, all, file);
    rig->kernel = kernel;
    return rig;
}

static struct pair compare(const char *machine, const char *on, const char *kernel, u32 warps)
{
    const struct pair pair =
        pair_run(open_rig(machine, "", kernel), open_rig(machine, on, kernel), 1, warps * WARP, 1);
    pair_expect_same(&pair, kernel);
    return pair;
}

/* The lanes of either warp that execute a region complement those of the other: three instructions and
 * the branch's two are issued once instead of twice. */
static void two_halves(void **state)
{
    static const char *const machines[] = {"generic64", "tahiti", "miaow"};
    for (u32 i = 0; i < ARRAY_LEN(machines); i++) {
        const struct pair pair = compare(machines[i], "tbc.on=true tbc.across=true", "halves", 2);
        assert_int_equal(stat(pair.plain, "issue.instructions") - 3,
                         stat(pair.other, "issue.instructions"));
        assert_int_equal(stat(pair.other, "tbc.branches"), 11);
        assert_int_equal(stat(pair.other, "tbc.refused"), 6);
        assert_int_equal(stat(pair.other, "tbc.arrivals"), 4);
        assert_int_equal(stat(pair.other, "tbc.groups"), 2);
        assert_int_equal(stat(pair.other, "tbc.formed"), 2);
        assert_int_equal(stat(pair.other, "tbc.apart"), 4);
        assert_int_equal(stat(pair.other, "tbc.instructions"), 3);
        assert_int_equal(stat(pair.other, "tbc.threads"), 3 * WARP);
        /* add reads 2 and writes 1; xor reads a scalar and 1; mul reads 2 */
        assert_int_equal(stat(pair.other, "tbc.base_lanes"), WARP * (3 + 2 + 3));
        /* warps are on different vector units, so half of the threads are not at home */
        assert_int_equal(stat(pair.other, "tbc.remote_lanes"), i == 2 ? 0 : WARP / 2 * (3 + 2 + 3));
        pair_close(pair);
    }
}

/* Without `across`, two warps of tahiti share no register file. */
static void register_files(void **state)
{
    struct pair pair = compare("tahiti", "tbc.on=true", "halves", 2);
    assert_int_equal(stat(pair.other, "tbc.arrivals"), 0);
    assert_int_equal(pair.other->result.cycles, pair.plain->result.cycles);
    pair_close(pair);
}

/* A number that differs from warp to warp: they wait, and continue as they were. */
static void unlike(void **state)
{
    struct pair pair = compare("miaow", "tbc.on=true", "unlike", 2);
    assert_int_equal(stat(pair.other, "tbc.arrivals"), 2);
    assert_int_equal(stat(pair.other, "tbc.unlike"), 1);
    assert_int_equal(stat(pair.other, "tbc.groups"), 0);
    pair_close(pair);
}

/* Loops of different lengths with a region inside, at home and in re-formed warps. */
static void loops(void **state)
{
    static const char *const settings[] = {
        "tbc.on=true", "tbc.on=true tbc.when=always tbc.wait=all",
        "tbc.on=true tbc.form_cycles=0 tbc.patience=20", "lwm.on=true lwm.warps=2"};
    for (u32 i = 0; i < ARRAY_LEN(settings); i++) {
        struct pair pair = compare("miaow", settings[i], "rounds", 4);
        assert_true(stat(pair.other, i < 3 ? "tbc.formed" : "lwm.formed") > 0);
        pair_close(pair);
    }
}

/* MIAOW's RTL has neither scalar registers nor LDS in divergence: with scalars=false, the region that
 * reads one is left, and the other is compacted. */
static void without_scalars(void **state)
{
    struct pair pair = compare("miaow", "tbc.on=true tbc.scalars=false", "halves", 2);
    assert_int_equal(stat(pair.other, "tbc.groups"), 1);
    assert_int_equal(stat(pair.other, "tbc.instructions"), 1);
    pair_close(pair);
}

/* Regions of which nothing is proved run as without. */
static void others(void **state)
{
    static const char *const kernels[] = {"bad_value", "bad_number", "bad_branch",
                                          "bad_lane",  "bad_mask",   "bad_exec"};
    for (u32 i = 0; i < ARRAY_LEN(kernels); i++) {
        struct pair pair = compare("miaow", "tbc.on=true tbc.when=always", kernels[i], 2);
        assert_int_equal(stat(pair.other, "tbc.arrivals"), 0);
        assert_int_equal(pair.other->result.cycles, pair.plain->result.cycles);
        pair_close(pair);
    }
}

int main(int argc, char **argv)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(two_halves), cmocka_unit_test(register_files),  cmocka_unit_test(unlike),
        cmocka_unit_test(loops),      cmocka_unit_test(without_scalars), cmocka_unit_test(others),
    };
    if (argc != 2)
        return 2;
    file = argv[1];
    return cmocka_run_group_tests(tests, NULL, NULL);
}
