/*
 * States of mechanisms: each has a stream of random numbers that depends on its name and on nothing
 * else, and none is touched but by its owner.
 *
 *   test-seam-state TESTS     the folder tests/ of the sources
 */
#include "base/guard.h"
#include "gpu/device.h"
#include "kernels.h"
#include "rig.h"
#include "seam/seam.h"
#include <signal.h>
#include <sys/wait.h>
#include <unistd.h>

/* after kernels.h, which has a function of the name of one of its macros */
/* clang-format off */
#include <setjmp.h>
#include <stdarg.h>
#include <cmocka.h>
/* clang-format on */

static const struct mechanism *const available[] = {&dice_mechanism, &draw_mechanism,
                                                    &cheat_mechanism, NULL};

static struct seen run(const char *const *words)
{
    return rig_run("cuda/matmul", "matmul16", "gtx480", words, available, false);
}

/* ---- random numbers ---- */

static const char *const sums[] = {"dice.cores", "dice.partitions", "dice.dispatched"};

static void same_seed(void **state)
{
    struct seen a = run(WITH("dice")), b = run(WITH("dice", "launch.seed=1"));
    assert_string_equal(a.text, b.text);
    for (u32 i = 0; i < ARRAY_LEN(sums); i++)
        assert_true(rig_total(&a, sums[i]) > 0);
    assert_int_equal(rig_total(&a, "dice.repeated"), 0);
    assert_int_equal(rig_total(&a, "dice.drawn"), rig_total(&a, "issue.instructions"));
    rig_drop(&a);
    rig_drop(&b);
}

static void other_seed(void **state)
{
    struct seen a = run(WITH("dice")), b = run(WITH("dice", "launch.seed=2"));
    for (u32 i = 0; i < ARRAY_LEN(sums); i++)
        assert_true(rig_total(&a, sums[i]) != rig_total(&b, sums[i]));
    assert_int_equal(rig_total(&a, "timing.cycles"), rig_total(&b, "timing.cycles"));
    rig_drop(&a);
    rig_drop(&b);
}

/* Numbers that decide change when blocks start, and so the time, but no result. */
static void seed_decides(void **state)
{
    static const char *const seeds[] = {"launch.seed=2", "launch.seed=3", "launch.seed=4",
                                        "launch.seed=5"};
    struct seen first = run(WITH("dice:decides=true"));
    bool differ = false;
    for (u32 i = 0; i < ARRAY_LEN(seeds); i++) {
        struct seen other = run(WITH("dice:decides=true", seeds[i]));
        differ |= rig_total(&first, "timing.cycles") != rig_total(&other, "timing.cycles");
        assert_true(first.hash == other.hash);
        rig_drop(&other);
    }
    assert_true(differ);
    rig_drop(&first);
}

/* Without a mechanism that uses them, and with one that does not, the seed changes nothing. */
static void seed_without_random(void **state)
{
    static const char *const seeds[] = {"launch.seed=0", "launch.seed=7",
                                        "launch.seed=18446744073709551615"};
    for (u32 with = 0; with < 2; with++) {
        struct seen first = run(with ? WITH("cheat") : NULL);
        for (u32 i = 0; i < ARRAY_LEN(seeds); i++) {
            struct seen other = run(with ? WITH("cheat", seeds[i]) : WITH(seeds[i]));
            assert_string_equal(first.text, other.text);
            rig_drop(&other);
        }
        rig_drop(&first);
    }
}

/* Another mechanism that draws numbers does not shift these. */
static void streams_are_apart(void **state)
{
    struct seen alone = run(WITH("dice")), both = run(WITH("dice", "draw"));
    struct seen draw = run(WITH("draw"));
    for (u32 i = 0; i < ARRAY_LEN(sums); i++)
        assert_int_equal(rig_total(&alone, sums[i]), rig_total(&both, sums[i]));
    assert_int_equal(rig_total(&draw, "draw.numbers"), rig_total(&both, "draw.numbers"));
    assert_true(rig_total(&draw, "draw.numbers") != rig_total(&alone, "dice.cores"));
    rig_drop(&alone);
    rig_drop(&both);
    rig_drop(&draw);
}

/* ---- launches of a device ---- */

static const char kernel[] =
    ".version 7.0\n.target sm_70\n.address_size 64\n.visible .entry k(.param .u64 p)\n{\n"
    ".reg .b32 %r<3>;\n.reg .b64 %d<2>;\nld.param.u64 %d1, [p];\nmov.u32 %r1, %tid.x;\n"
    "atom.global.add.u32 %r2, [%d1], %r1;\nret;\n}\n";

/* Statistics of two launches of the same kernel. */
static json_t *two_launches(const char *order)
{
    struct hd_error error = {0};
    struct hd_config *config = config_with(available);
    assert_true(hd_config_load(config, "gtx480", &error));
    assert_true(hd_config_mechanism(config, "dice:decides=true", &error));
    struct hd_device *device = hd_device_open(config, &error);
    hd_config_destroy(config);
    assert_non_null(device);
    assert_true(hd_set_core_order(device, order, &error));
    struct hd_module *module = hd_module_load(device, kernel, strlen(kernel), "k.ptx", &error);
    assert_non_null(module);
    hd_address memory = hd_alloc(device, 4, &error);
    assert_true(hd_fill(device, memory, &(u8){0}, 1, 4, &error));
    for (u32 i = 0; i < 2; i++) {
        struct hd_result result;
        struct hd_arg arg = {&memory, sizeof memory};
        assert_true(hd_launch(hd_kernel_at(module, 0), (struct hd_dim){60, 1, 1},
                              (struct hd_dim){64, 1, 1}, 0, &arg, 1, &result, &error));
        assert_int_equal(result.outcome, HD_DONE);
    }
    char *text = hd_stats_json(device);
    json_t *stats = json_loads(text, 0, NULL);
    hd_free(text);
    hd_device_close(device);
    return stats;
}

static u64 drawn(const json_t *stats, u32 launch, const char *sum)
{
    const json_t *one = json_array_get(json_object_get(stats, "launches"), launch);
    return (u64)json_integer_value(json_object_get(json_object_get(one, "stats"), sum));
}

static void launches_have_streams(void **state)
{
    json_t *stats = two_launches("forward");
    for (u32 i = 0; i < ARRAY_LEN(sums); i++)
        assert_true(drawn(stats, 0, sums[i]) &&
                    drawn(stats, 0, sums[i]) != drawn(stats, 1, sums[i]));
    json_decref(stats);
}

static void order_of_cores(void **state)
{
    static const char *const orders[] = {"reverse", "shuffle:1", "shuffle:2"};
    json_t *first = two_launches("forward");
    for (u32 i = 0; i < ARRAY_LEN(orders); i++) {
        json_t *other = two_launches(orders[i]);
        assert_true(json_equal(first, other));
        json_decref(other);
    }
    json_decref(first);
}

/* ---- what stops a program ---- */

/* Runs in a process of its own. Returns whether it ended well; `text` gets what it printed. */
static bool survives(const struct mechanism *const *list, const char *word, char *text, size_t size)
{
    int ends[2];
    assert_int_equal(pipe(ends), 0);
    fflush(NULL);
    const pid_t child = fork();
    assert_true(child >= 0);
    if (!child) {
        for (int signal_number = 1; signal_number < 32; signal_number++)
            signal(signal_number, SIG_DFL); /* cmocka catches them */
        dup2(ends[1], STDOUT_FILENO);
        dup2(ends[1], STDERR_FILENO);
        struct seen seen = rig_run("cuda/matmul", "matmul16", "gtx480", WITH(word), list, false);
        rig_drop(&seen);
        _exit(0);
    }
    close(ends[1]);
    size_t used = 0;
    for (ssize_t got; used + 1 < size && (got = read(ends[0], text + used, size - used - 1)) > 0;)
        used += (size_t)got;
    text[used] = 0;
    close(ends[0]);
    int status;
    assert_int_equal(waitpid(child, &status, 0), child);
    return WIFEXITED(status) && !WEXITSTATUS(status);
}

static void undeclared_numbers(void **state)
{
#ifdef NDEBUG
    skip();
#endif
    static struct mechanism silent; /* that it is random */
    static char text[1 << 16];
    silent = draw_mechanism;
    silent.random = false;
    const struct mechanism *const list[] = {&silent, NULL};
    assert_false(survives(list, "draw", text, sizeof text));
    assert_non_null(strstr(text, "random")); /* the assertion names what is missing */
}

static void cheats_are_caught(void **state)
{
    static const char *const cheats[] = {"cheat:what=state", "cheat:what=counters",
                                         "cheat:what=memory", "cheat:what=partition",
                                         "cheat:what=dispatcher"};
    static char text[1 << 16];
    assert_true(survives(available, "cheat", text, sizeof text));
    for (u32 i = 0; GUARDED && i < ARRAY_LEN(cheats); i++) {
        if (survives(available, cheats[i], text, sizeof text))
            fail_msg("%s was not caught", cheats[i]);
        if (!strstr(text, "use-after-poison"))
            fail_msg("%s: %.500s", cheats[i], text);
    }
    if (!GUARDED)
        skip();
}

int main(int argc, char **argv)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(same_seed),         cmocka_unit_test(other_seed),
        cmocka_unit_test(seed_decides),      cmocka_unit_test(seed_without_random),
        cmocka_unit_test(streams_are_apart), cmocka_unit_test(launches_have_streams),
        cmocka_unit_test(order_of_cores),    cmocka_unit_test(undeclared_numbers),
        cmocka_unit_test(cheats_are_caught),
    };
    assert(argc == 2);
    rig_folder(argv[1]);
    return cmocka_run_group_tests(tests, NULL, NULL);
}
