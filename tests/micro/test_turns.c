/*
 * Schedulers in turn (core.pipeline=gcn): who issues what in which cycle, on hand-made programs,
 * and what becomes of issue slots.
 */
#include "rig.h"

/* Instructions are there when they are wanted; lanes of a unit are those of a warp. */
#define TURNS                                                                                     \
    "gpu.cores=1 core.pipeline=gcn issue.sub_cores=true issue.policy=oldest fetch.per_cycle=16 "  \
    "fetch.buffer=16 fetch.width=8 collect.generic=32 l1d.latency=10 issue.branch_resolve=issue " \
    "fetch.branch=continue "

static const char *folder;

static struct rig *open_kernel(const char *settings, const char *kernel)
{
    char path[1024], all[1024];
    snprintf(path, sizeof path, "%s/turns.so", folder);
    snprintf(all, sizeof all, TURNS "%s", settings);
    struct rig *rig = rig_open_file("generic64", all, path);
    rig->kernel = kernel;
    return rig;
}

static void run(struct rig *rig, u32 warps)
{
    rig_run(rig, 1, 64 * warps, rig_memory(rig, 64));
}

/* A turn is a slot: none is lost, none is counted twice. */
static void check_slots(const struct rig *rig)
{
    static const char *const idle[] = {"empty",  "fetch", "branch", "barrier",   "raw", "waw",
                                       "memory", "wait",  "unit",   "collector", "held"};
    u64 sum = stat(rig, "issue.issued");
    for (u32 i = 0; i < ARRAY_LEN(idle); i++) {
        char name[64];
        snprintf(name, sizeof name, "issue.idle_%s", idle[i]);
        sum += stat(rig, name);
    }
    assert_int_equal(sum, stat(rig, "issue.slots"));
    assert_int_equal(sum, stat(rig, "timing.cycles"));
}

enum {
    THIRD = 1, /* instructions before the end of a warp */
    SECOND,
    FIRST,
    BARRIER
};
/* Warps of the kernel `kinds`. */
enum {
    VECTOR,
    SCALAR,
    BRANCH,
    ACCESS,
    SHARED,
    INTERNAL,
    INTERNAL2,
    VECTOR2,
    SCALAR2
};

/* When the barrier lets them go, five warps issue five kinds at once, and what is internal to
 * warps comes beside; in the next turn again. */
static void test_five(void **state)
{
    struct rig *rig = open_kernel("issue.schedulers=1 units.sp_lanes=64", "kinds");
    run(rig, 7);
    u64 last = 0;
    for (u32 w = 0; w < 7; w++)
        last = issued_before_end(rig, 0, w, BARRIER) > last ? issued_before_end(rig, 0, w, BARRIER)
                                                            : last;
    for (u32 w = 0; w < 7; w++) {
        assert_int_equal(issued_before_end(rig, 0, w, FIRST), last + 1);
        assert_int_equal(issued_before_end(rig, 0, w, SECOND), last + 2);
        assert_int_equal(issued_before_end(rig, 0, w, THIRD), last + 3);
    }
    check_slots(rig);
    rig_close(rig);
}

/* Two of a kind take two turns, the older one first, and do not hold up the others. */
static void test_same_kind(void **state)
{
    struct rig *rig = open_kernel("issue.schedulers=1 units.sp_lanes=64", "kinds");
    run(rig, 9);
    const u64 first = issued_before_end(rig, 0, VECTOR, FIRST);
    for (u32 k = 0; k < 3; k++) {
        assert_int_equal(issued_before_end(rig, 0, VECTOR, FIRST - k), first + k);
        assert_int_equal(issued_before_end(rig, 0, VECTOR2, FIRST - k), first + 3 + k);
        assert_int_equal(issued_before_end(rig, 0, SCALAR, FIRST - k), first + k);
        assert_int_equal(issued_before_end(rig, 0, SCALAR2, FIRST - k), first + 3 + k);
        assert_int_equal(issued_before_end(rig, 0, ACCESS, FIRST - k), first + k);
        assert_int_equal(issued_before_end(rig, 0, INTERNAL, FIRST - k), first + k);
    }
    check_slots(rig);
    rig_close(rig);
}

/* No more than issue.kinds in a turn; internal ones do not count. */
static void test_most(void **state)
{
    for (u32 most = 1; most <= 5; most++) {
        char settings[128];
        snprintf(settings, sizeof settings, "issue.schedulers=1 units.sp_lanes=64 issue.kinds=%u",
                 most);
        struct rig *rig = open_kernel(settings, "kinds");
        run(rig, 7);
        const u64 first = issued_before_end(rig, 0, VECTOR, FIRST);
        u32 at_first = 0;
        for (u32 w = VECTOR; w <= SHARED; w++)
            at_first += issued_before_end(rig, 0, w, FIRST) == first;
        assert_int_equal(at_first, most);
        assert_int_equal(issued_before_end(rig, 0, INTERNAL, FIRST), first);
        assert_int_equal(issued_before_end(rig, 0, INTERNAL2, FIRST), first);
        check_slots(rig);
        rig_close(rig);
    }
}

/* Scheduler c mod n in cycle c, and no other. */
static void test_in_turn(void **state)
{
    for (u32 n = 1; n <= 8; n *= 2) {
        char settings[64];
        snprintf(settings, sizeof settings, "issue.schedulers=%u collect.banks=16", n);
        struct rig *rig = open_kernel(settings, "kinds");
        run(rig, 9);
        for (u32 i = 0; i < rig->issued.count; i++)
            assert_int_equal(rig->issued.data[i].cycle % n, rig->issued.data[i].slot % n);
        check_slots(rig);
        rig_close(rig);
    }
}

/* A result is there a latency after its instruction has issued: with four schedulers and passes of
 * 16 lanes in each turn. */
static void test_chain(void **state)
{
    static const struct {
        const char *settings;
        u32 vector, special, scalar; /* cycles to the next one */
    } cases[] = {
        {"issue.schedulers=4", 4, 16, 4},
        {"issue.schedulers=4 units.fp32_add=2", 8, 16, 4}, /* one late: a turn late */
        {"issue.schedulers=4 units.scalar_latency=5", 4, 16, 8},
        {"issue.schedulers=4 units.scalar_latency=3", 4, 16, 4},
        {"issue.schedulers=1 units.fp32_add=2 units.scalar_latency=3", 5, 16, 3},
        {"issue.schedulers=1 units.fp32_add=3 units.scalar_latency=1", 6, 16, 1},
    };
    for (u32 i = 0; i < ARRAY_LEN(cases); i++) {
        struct rig *rig = open_kernel(cases[i].settings, "chain");
        run(rig, 1);
        u64 at[9];
        for (u32 k = 0; k < 9; k++)
            at[k] = issued_before_end(rig, 0, 0, 8 - k);
        assert_int_equal(at[1] - at[0], cases[i].vector);
        assert_int_equal(at[2] - at[1], cases[i].vector);
        assert_int_equal(at[3] - at[2], cases[i].vector);
        assert_int_equal(at[4] - at[3], cases[i].special);
        assert_int_equal(at[6] - at[5], cases[i].scalar);
        assert_int_equal(at[7] - at[6], cases[i].scalar);
        check_slots(rig);
        rig_close(rig);
    }
}

/* What takes the vector unit for long holds up what else it does, whatever it is, and no more. */
static void test_busy(void **state)
{
    for (u32 interval = 4; interval <= 6; interval++) {
        char settings[128];
        snprintf(settings, sizeof settings, "issue.schedulers=1 units.sfu_interval=%u", interval);
        struct rig *rig = open_kernel(settings, "busy");
        run(rig, 2);
        const u64 first = issued_before_end(rig, 0, 0, FIRST);
        assert_int_equal(issued_before_end(rig, 0, 1, FIRST), first);
        assert_int_equal(issued_before_end(rig, 0, 0, SECOND), first + 4 * interval);
        assert_int_equal(issued_before_end(rig, 0, 0, THIRD), first + 4 * interval + 1);
        assert_true(issued_before_end(rig, 0, 1, SECOND) >= first + 4 * interval + 4);
        /* the second warp's first vector instruction, the moves behind the long one, and the second
         * of these behind the first, but for a turn in which the first warp ends */
        assert_int_equal(stat(rig, "issue.idle_unit"), 3 + (4 * interval - 1) + (3 - 2));
        check_slots(rig);
        rig_close(rig);
    }
}

/* Of `busy`, until its branch: v_readfirstlane writes a register, s_lshr reads one and writes one and SCC,
 * s_cmp reads one and writes SCC, which the branch reads. Later s_mov writes one. */
static void test_scalar_accesses(void **state)
{
    struct rig *rig = open_kernel("issue.schedulers=1", "busy");
    run(rig, 1);
    assert_int_equal(stat(rig, "collect.scalar_reads"), 0 + 1 + 1 + 1);
    assert_int_equal(stat(rig, "collect.scalar_writes"), 1 + 2 + 1 + 1);
    rig_close(rig);
}

int main(int argc, char **argv)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_five),
        cmocka_unit_test(test_same_kind),
        cmocka_unit_test(test_most),
        cmocka_unit_test(test_in_turn),
        cmocka_unit_test(test_chain),
        cmocka_unit_test(test_busy),
        cmocka_unit_test(test_scalar_accesses),
    };
    folder = argv[1];
    return argc == 2 ? cmocka_run_group_tests(tests, NULL, NULL) : 2;
}
