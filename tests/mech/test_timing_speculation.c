/*
 * Late bits and recovery from them (timing_speculation): delays and cycles against closed forms; counts
 * by hand; that recovery leaves no trace on each pipeline, that without it results are wrong, and that
 * they are if code is cut one instruction late.
 *
 *   test-mech-timing-speculation TESTS     the folder tests/ of the sources
 */
#include "gpu/device.h"
#include "mech/timing_speculation.h"
#include "rig.h"

#include <math.h>
#include <stdlib.h>

/* clang-format off */
#include <setjmp.h>
#include <stdarg.h>
#include <cmocka.h>
/* clang-format on */

extern const struct mechanism timing_speculation_mechanism;

/* ---- a mechanism behind it ---- */

#undef COMPONENT
#undef COMPONENT_DEF
#define COMPONENT shift
#define COMPONENT_DEF "shift.def"
#define COMPONENT_HELP "moves cuts, for tests"
#include "base/component_struct.h"
#include "base/component_table.h"

struct shift {
    MECHANISM_STATE(shift);
};

/* Cuts because of what a region has read are one instruction later; others stay. */
static void shift_launch(void *state, struct core *core, bool begins)
{
    struct shift *s = state;
    const struct program *program = core_exec(core)->image->program;
    if (!begins || core_config(core)->index)
        return;
    struct arena *arena = arena_create();
    for (u32 n = 0; n < program->function_count; n++) {
        const struct function *f = &program->functions[n];
        const struct regions *regions = regions_of(arena, program, f);
        for (u32 i = f->end; i-- > f->first;)
            if (regions->cut[i - f->first] == REGION_REGISTER ||
                regions->cut[i - f->first] == REGION_MEMORY) {
                core->times[i].flags &= (u16)~TIME_CUT;
                core_cut(core, i + 1);
                s->stats->moved++;
            }
    }
    arena_destroy(arena);
}

static const struct mechanism shift_mechanism = {
    MECHANISM_NAMED(shift, "moves cuts by one instruction"),
    .state_size = sizeof(struct shift),
    .restarts = true,
    .launch = shift_launch,
};

static const struct mechanism *const available[] = {&timing_speculation_mechanism, &shift_mechanism,
                                                    NULL};

/* ---- delays ---- */

static const struct timing_speculation_params usual = {.nominal = 1.15,
                                                       .period = 1,
                                                       .threshold = 0.35,
                                                       .alpha = 1.3,
                                                       .shape = 2,
                                                       .path_issue = 1,
                                                       .path_simd = 0.9,
                                                       .path_simple = 0.5};

static f64 share(u64 late)
{
    return (f64)late / 0x1p64;
}

static void assert_near(f64 got, f64 want)
{
    if (fabs(got - want) > 1e-9 * fabs(want) + 1e-15)
        fail_msg("%.12g, expected %.12g", got, want);
}

static void delays_follow_the_alpha_power_law(void **state)
{
    struct timing_speculation_params p = usual;
    assert_near(spec_slowness(&p), 1);
    p.volts = 1.15;
    assert_near(spec_slowness(&p), 1);
    p.volts = 0.95; /* 0.95 / 0.6^1.3 over 1.15 / 0.8^1.3 */
    assert_near(spec_slowness(&p), 0.95 / 1.15 * pow(0.8 / 0.6, 1.3));
    p.volts = 0.36; /* at the threshold, as with 0.05 V above it */
    assert_near(spec_slowness(&p), 0.36 / 1.15 * pow(0.8 / 0.05, 1.3));
}

static void more_bits_are_late_more_often(void **state)
{
    struct timing_speculation_params p = usual;
    struct spec_delays *delays = calloc(1, sizeof *delays);
    assert_non_null(delays);
    spec_delays_make(delays, &p);
    for (u32 n = 0; n <= SPEC_BITS; n++)
        assert_int_equal(delays->late[SPEC_ISSUE][n], 0); /* nothing is late at 1.15 V */
    p.volts = 0.95;
    spec_delays_make(delays, &p);
    const f64 slow = spec_slowness(&p), bit = pow(1 - 1 / slow, 2);
    const f64 simd = pow(1 - 1 / (0.9 * slow), 2);
    assert_near(delays->slowness, slow);
    assert_int_equal(delays->late[SPEC_ISSUE][0], 0);
    assert_near(share(delays->late[SPEC_ISSUE][1]), bit);
    assert_near(share(delays->late[SPEC_ISSUE][7]), 1 - pow(1 - bit, 7));
    assert_near(share(delays->late[SPEC_SIMD][512]), 1 - pow(1 - simd, 512));
    assert_int_equal(delays->late[SPEC_SIMPLE + SPEC_SIMD - SPEC_SALU][512], 0);
    assert_int_equal(delays->late[SPEC_FETCH][20], 0);
    p.volts = 1.15; /* a shorter period is as good as a lower voltage */
    p.period = 1 / slow;
    spec_delays_make(delays, &p);
    assert_near(share(delays->late[SPEC_ISSUE][7]), 1 - pow(1 - bit, 7));
    free(delays);
}

static void cycles_count_once(void **state)
{
    struct timing_speculation_stats stats = {0};
    struct mechanism_use use = {.mechanism = &timing_speculation_mechanism};
    struct timing_speculation *t = calloc(1, sizeof *t);
    struct spec_delays *delays = calloc(1, sizeof *delays);
    assert_true(t && delays);
    for (u32 n = 1; n <= SPEC_BITS; n++) /* all are late, if a bit changes */
        delays->late[SPEC_SIMD][n] = delays->late[SPEC_LSU][n] = UINT64_MAX;
    t->stats = &stats;
    t->use = &use;
    t->delays = delays;
    assert_false(spec_is_late(t, SPEC_SIMD, SPEC_SIMD, 0, 1));
    assert_true(spec_is_late(t, SPEC_SIMD, SPEC_SIMD, 3, 100));
    assert_true(spec_is_late(t, SPEC_LSU, SPEC_LSU, 4, 100));
    assert_true(spec_is_late(t, SPEC_SIMD, SPEC_SIMD, 5, 101));
    assert_int_equal(stats.violating_cycles, 2);
    spec_advance(t, 128);
    assert_true(spec_is_late(t, SPEC_SIMD, SPEC_SIMD, 1, 101));
    assert_int_equal(stats.violating_cycles, 2);
    spec_advance(t, 100 + SPEC_RING); /* cycle 100 is forgotten, and its place free */
    assert_true(spec_is_late(t, SPEC_SIMD, SPEC_SIMD, 1, 100 + SPEC_RING));
    assert_int_equal(stats.violating_cycles, 3);
    spec_advance(t, 10 * SPEC_RING);
    assert_true(spec_is_late(t, SPEC_SIMD, SPEC_SIMD, 1, 10 * SPEC_RING));
    assert_int_equal(stats.violating_cycles, 4);
    assert_int_equal(stats.activities, 7);
    assert_int_equal(stats.late, 6);
    assert_int_equal(stats.late_simd, 5);
    assert_int_equal(stats.late_lsu, 1);
    assert_int_equal(stats.toggled, 15);
    free(delays);
    free(t);
}

/* ---- launches ---- */

static const char *const kernels[][2] = {
    {"cuda/vectors", "vecadd"},    {"cuda/vectors", "saxpy"},      {"cuda/matmul", "matmul16"},
    {"cuda/sort", "bitonic"},      {"cuda/spaces", "local_index"}, {"cuda/vectors", "blend4"},
    {"cuda/stencil", "stencil2d"}, {"cuda/mandel", "mandel"},      {"cuda/reduce", "reduce_atomic"},
};

static u64 spec_total(struct seen *seen, const char *name)
{
    char full[64];
    snprintf(full, sizeof full, "timing_speculation.%s", name);
    return rig_total(seen, full);
}

#define THREADS 64 /* of one block: two warps of 32 */

static const char doubles[] =
    ".version 6.0\n.target sm_30\n.address_size 64\n.visible .entry k(.param .u64 p)\n{\n"
    ".reg .u64 %a, %o;\n.reg .u32 %x, %t;\n"
    "ld.param.u64 %a, [p];\nmov.u32 %t, %tid.x;\nmul.wide.u32 %o, %t, 4;\n"
    "add.u64 %a, %a, %o;\nld.global.u32 %x, [%a];\nadd.u32 %x, %x, %x;\n"
    "st.global.u32 [%a], %x;\nret;\n}\n";

static struct seen run_doubles(const char *set)
{
    struct hd_error error = {0};
    struct hd_config *config = hd_config_create();
    struct hd_result result;
    u32 values[THREADS];
    assert_true(hd_config_load(config, "gtx480", &error));
    assert_true(rig_apply(config, "timing.functional=false", &error));
    assert_true(rig_apply(config, set, &error));
    struct hd_device *device = hd_device_open(config, &error);
    hd_config_destroy(config);
    assert_non_null(device);
    struct hd_module *module = hd_module_load(device, doubles, strlen(doubles), "k.ptx", &error);
    assert_non_null(module);
    hd_address memory = hd_alloc(device, sizeof values, &error);
    for (u32 i = 0; i < THREADS; i++)
        values[i] = 7 * i;
    assert_true(hd_write(device, memory, values, sizeof values, &error));
    struct hd_arg arg = {&memory, sizeof memory};
    assert_true(hd_launch(hd_kernel_at(module, 0), (struct hd_dim){1, 1, 1},
                          (struct hd_dim){THREADS, 1, 1}, 0, &arg, 1, &result, &error));
    assert_int_equal(result.outcome, HD_DONE);
    assert_true(hd_read(device, values, memory, sizeof values, &error));
    for (u32 i = 0; i < THREADS; i++)
        assert_int_equal(values[i], 14 * i);
    struct seen seen = {.text = hd_stats_json(device)};
    json_t *all = json_loads(seen.text, 0, NULL);
    seen.totals = json_incref(json_object_get(all, "totals"));
    json_decref(all);
    hd_device_close(device);
    return seen;
}

/* 8 instructions of each warp: three activities each before issue, two passes for each of the four that
 * compute, 32 addresses for each of three accesses. Seven of them begin regions: all but the second. */
static void activities_by_hand(void **state)
{
    static const char *const sets[] = {"timing_speculation:errors=count", "timing_speculation"};
    for (u32 i = 0; i < 2; i++) {
        struct seen seen = run_doubles(sets[i]);
        assert_int_equal(spec_total(&seen, "activities"), 2 * (8 * 3 + 4 * 2 + 3 * 32));
        assert_int_equal(spec_total(&seen, "cuts"), i ? 7 : 0);
        assert_int_equal(spec_total(&seen, "passed"), i ? 2 * 7 : 0);
        assert_int_equal(spec_total(&seen, "late"), 0);
        rig_drop(&seen);
    }
}

/* Only the arbiter of issue is late, and always, if a bit differs: its instructions are lost, and run
 * again up to `tries` times for each region. */
static void what_is_always_late_runs_slowly(void **state)
{
    struct seen seen = run_doubles(
        "timing_speculation:volts=0.36,threshold=0.35,period=0.5,shape=0.5,tries=3,path_fetch=0,"
        "path_decode=0,path_salu=0,path_simd=0,path_simf=0,path_lsu=0");
    const u64 lost = spec_total(&seen, "lost");
    assert_int_equal(spec_total(&seen, "late"), spec_total(&seen, "late_issue"));
    assert_int_equal(spec_total(&seen, "late_issue"), lost);
    assert_int_equal(spec_total(&seen, "restarts"), lost);
    assert_int_equal(spec_total(&seen, "dropped") + spec_total(&seen, "altered"), 0);
    assert_true(lost > 2 * 7 && lost <= 2 * 7 * 3);
    assert_true(spec_total(&seen, "slowed") > 0 && spec_total(&seen, "slowed") <= 2 * 7);
    assert_int_equal(rig_total(&seen, "issue.instructions"), 2 * 8 + spec_total(&seen, "again"));
    rig_drop(&seen);
}

/* Counting changes nothing, and fewer volts or a shorter period never give fewer late activities. */
static void counting_changes_nothing(void **state)
{
    static const char *const volts[] = {
        "timing_speculation:errors=count", "timing_speculation:errors=count,volts=1.05",
        "timing_speculation:errors=count,volts=1.0", "timing_speculation:errors=count,volts=0.8"};
    for (u32 i = 0; i < 3; i++) {
        struct seen plain = rig_run(kernels[i][0], kernels[i][1], "gtx480", NULL, available, false);
        u64 late = 0, activities = 0;
        for (u32 v = 0; v < ARRAY_LEN(volts); v++) {
            struct seen with =
                rig_run(kernels[i][0], kernels[i][1], "gtx480", WITH(volts[v]), available, false);
            assert_true(with.hash == plain.hash);
            assert_int_equal(rig_total(&with, "timing.cycles"), rig_total(&plain, "timing.cycles"));
            assert_true(spec_total(&with, "late") >= late);
            assert_true(!v || spec_total(&with, "activities") == activities);
            assert_true(spec_total(&with, "violating_cycles") <= spec_total(&with, "late"));
            late = spec_total(&with, "late");
            activities = spec_total(&with, "activities");
            assert_int_equal(late,
                             spec_total(&with, "late_fetch") + spec_total(&with, "late_decode") +
                                 spec_total(&with, "late_issue") + spec_total(&with, "late_salu") +
                                 spec_total(&with, "late_simd") + spec_total(&with, "late_simf") +
                                 spec_total(&with, "late_lsu"));
            assert_true(v || !late);
            assert_int_equal(spec_total(&with, "altered") + spec_total(&with, "lost"), 0);
            rig_drop(&with);
        }
        assert_true(late > 0);
        rig_drop(&plain);
    }
}

static void compare_recovered(const char *file, const char *name, const char *machine,
                              const char *set)
{
    struct seen plain = rig_run(file, name, machine, NULL, available, false);
    struct seen with = rig_run(file, name, machine, WITH(set), available, false);
    const u64 restarts = spec_total(&with, "restarts"), again = spec_total(&with, "again");
    if (with.hash != plain.hash)
        fail_msg("%s on %s with %s: results differ", name, machine, set);
    assert_true(restarts > 0);
    assert_true(spec_total(&with, "passed") > 0 && spec_total(&with, "cuts") > 0);
    assert_int_equal(rig_total(&with, "issue.instructions") - again,
                     rig_total(&plain, "issue.instructions"));
    /* each late instruction restarts a region, unless it is annulled with another */
    assert_true(restarts <= spec_total(&with, "lost") + spec_total(&with, "dropped"));
    assert_true(spec_total(&with, "slowed") <= restarts);
    rig_drop(&with);
    rig_drop(&plain);
}

/* Whatever is late, results are those of a machine without errors, and what is issued beyond its
 * instructions is what has been run again. */
static void recovery_leaves_no_trace(void **state)
{
    static const char *const machines[] = {"gtx480", "gtx1080ti", "miaow"};
    static const char *const codes[][2] = {
        {"opencl/reduce", "reduce"}, {"opencl/reduce", "histogram16"},
        {"opencl/fft", "fft"},       {"opencl/lu", "lu"},
        {"opencl/loops", "tangled"}, {"opencl/scan", "scan"},
        {"opencl/scan", "matmul16"}, {"opencl/localatomic", "local_atomics"},
        {"opencl/narrow", "dither"},
    };
    static const char *const others[] = {"generic64", "si:tahiti", "si:miaow"};
    static const char *const sets[] = {"timing_speculation:volts=1.0",
                                       "timing_speculation:volts=0.85,tries=10"};
    for (u32 i = 0; i < ARRAY_LEN(kernels); i++)
        for (u32 k = 0; k < ARRAY_LEN(sets); k++)
            compare_recovered(kernels[i][0], kernels[i][1], machines[(i + k) % 3], sets[k]);
    for (u32 i = 0; i < ARRAY_LEN(codes); i++)
        for (u32 k = 0; k < ARRAY_LEN(sets); k++)
            compare_recovered(codes[i][0], codes[i][1], others[(i + k) % 3], sets[k]);
}

static void results_are_wrong_without_recovery(void **state)
{
    u32 wrong = 0;
    for (u32 i = 0; i < ARRAY_LEN(kernels); i++) {
        struct seen plain = rig_run(kernels[i][0], kernels[i][1], "gtx480", NULL, available, false);
        struct seen with = rig_run(kernels[i][0], kernels[i][1], "gtx480",
                                   WITH("timing_speculation:volts=0.95,recovery=false",
                                        "launch.max_instructions=10000000"),
                                   available, true);
        assert_int_equal(spec_total(&with, "restarts") + spec_total(&with, "dropped"), 0);
        wrong += with.wrong || with.hash != plain.hash;
        rig_drop(&with);
        rig_drop(&plain);
    }
    assert_int_equal(wrong, ARRAY_LEN(kernels));
}

static void a_cut_one_instruction_late_is_found(void **state)
{
    u32 wrong = 0;
    for (u32 i = 0; i < ARRAY_LEN(kernels); i++) {
        struct seen plain = rig_run(kernels[i][0], kernels[i][1], "gtx480", NULL, available, false);
        struct seen with =
            rig_run(kernels[i][0], kernels[i][1], "gtx480",
                    WITH("timing_speculation:volts=0.9,tries=20", "shift"), available, true);
        printf("%s: %llu cuts moved, %s\n", kernels[i][1],
               (unsigned long long)rig_total(&with, "shift.moved"),
               with.wrong || with.hash != plain.hash ? "found" : "not found");
        wrong += with.wrong || with.hash != plain.hash;
        rig_drop(&with);
        rig_drop(&plain);
    }
    assert_true(wrong > 0);
}

int main(int argc, char **argv)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(delays_follow_the_alpha_power_law),
        cmocka_unit_test(more_bits_are_late_more_often),
        cmocka_unit_test(cycles_count_once),
        cmocka_unit_test(activities_by_hand),
        cmocka_unit_test(what_is_always_late_runs_slowly),
        cmocka_unit_test(counting_changes_nothing),
        cmocka_unit_test(recovery_leaves_no_trace),
        cmocka_unit_test(results_are_wrong_without_recovery),
        cmocka_unit_test(a_cut_one_instruction_late_is_found),
    };
    if (argc != 2)
        return 2;
    rig_folder(argv[1]);
    return cmocka_run_group_tests(tests, NULL, NULL);
}
