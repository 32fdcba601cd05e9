/*
 * The limit study on kernels that can be counted by hand: every level and class, shapes of blocks,
 * partial warps, divergence, loops; with and without time, on warps of 32 and 64.
 */
#include "gpu/device.h"

#include <pthread.h>

/* clang-format off */
#include <setjmp.h>
#include <stdarg.h>
#include <cmocka.h>
/* clang-format on */

#define HEAD ".version 7.0\n.target sm_70\n.address_size 64\n"
#define REGISTERS " .reg .pred %p<4>; .reg .b32 %r<12>; .reg .b64 %rd<4>;\n"

static const char ptx[] = HEAD
    /* coordinates, and values computed from them: nine instructions and an exit */
    ".visible .entry shape(.param .u64 p)\n{\n" REGISTERS " mov.u32 %r0, %tid.x;\n"
    " mov.u32 %r1, %tid.y;\n"
    " mov.u32 %r2, %ctaid.x;\n"
    " mov.u32 %r3, %ntid.x;\n"
    " add.u32 %r4, %r0, 1;\n"
    " add.u32 %r5, %r3, 2;\n"
    " mul.lo.u32 %r6, %r0, %r0;\n"
    " add.u32 %r7, %r6, 1;\n"
    " add.u32 %r8, %r1, %r0;\n"
    " ret;\n}\n"
    /* odd lanes go another way, and a guard is true in even ones */
    ".visible .entry parts(.param .u64 p)\n{\n" REGISTERS " mov.u32 %r0, %tid.x;\n"
    " and.b32 %r1, %r0, 1;\n"
    " setp.eq.u32 %p0, %r1, 0;\n"
    " @%p0 bra next;\n"
    " add.u32 %r2, %r1, 5;\n"
    "next: add.u32 %r3, %r1, 1;\n"
    " @%p0 add.u32 %r4, %r1, 2;\n"
    " ret;\n}\n"
    /* warp n goes round n + 1 times */
    ".visible .entry trips(.param .u64 p)\n{\n" REGISTERS " mov.u32 %r0, %tid.x;\n"
    " shr.u32 %r1, %r0, 5;\n"
    " mov.u32 %r2, 0;\n"
    "loop: add.u32 %r3, %r2, 7;\n"
    " add.u32 %r2, %r2, 1;\n"
    " setp.le.u32 %p0, %r2, %r1;\n"
    " @%p0 bra loop;\n"
    " add.u32 %r4, %r2, 0;\n"
    " ret;\n}\n"
    /* stores and loads of one place by all, and of each thread's; an atomic, a barrier */
    ".visible .entry memory(.param .u64 p)\n{\n" REGISTERS " ld.param.u64 %rd0, [p];\n"
    " mov.u32 %r0, %tid.x;\n"
    " mad.wide.u32 %rd1, %r0, 4, %rd0;\n"
    " mov.u32 %r1, 7;\n"
    " st.global.u32 [%rd0], %r1;\n"
    " st.global.u32 [%rd1+64], %r0;\n"
    " bar.sync 0;\n"
    " ld.global.u32 %r2, [%rd0];\n"
    " ld.global.u32 %r3, [%rd1+64];\n"
    " atom.global.add.u32 %r4, [%rd0+8], 1;\n"
    " add.u32 %r5, %r3, %r2;\n"
    " ret;\n}\n"
    /* all blocks but the first do a little more */
    ".visible .entry blocks(.param .u64 p)\n{\n" REGISTERS " mov.u32 %r0, %ctaid.x;\n"
    " setp.eq.u32 %p0, %r0, 0;\n"
    " @%p0 bra end;\n"
    " mov.u32 %r1, 7;\n"
    "end: ret;\n}\n"
    /* 600 rounds */
    ".visible .entry long(.param .u64 p)\n{\n" REGISTERS " mov.u32 %r2, 0;\n"
    "loop: add.u32 %r2, %r2, 1;\n"
    " setp.lt.u32 %p0, %r2, 600;\n"
    " @%p0 bra loop;\n"
    " ret;\n}\n"
    /* 64 bits: a pair is one value */
    ".visible .entry pairs(.param .u64 p)\n{\n" REGISTERS " mov.u32 %r0, %laneid;\n"
    " add.u32 %r1, %r0, 0xfffffff0;\n"
    " cvt.u64.u32 %rd0, %r0;\n"
    " add.u64 %rd1, %rd0, 0xfffffff0;\n"
    " add.u64 %rd2, %rd1, 1;\n"
    " ret;\n}\n";

struct counts {
    u64 instructions, partial, diverged, effects, lone, unmatched;
    u64 grid, block, uniform, affine, unstructured, loads, stores, branches, some, warp;
};

struct run {
    const char *kernel;
    struct hd_dim grid, block;
    bool timed, wide; /* in time; warps of 64 */
    enum core_order order;
    const char *more; /* a setting, or NULL */
};

static u64 total(json_t *totals, const char *name)
{
    char key[64];
    snprintf(key, sizeof key, "redundancy.%s", name);
    json_t *value = json_object_get(totals, key);
    if (!json_is_integer(value))
        fail_msg("no statistic %s", key);
    return (u64)json_integer_value(value);
}

static struct hd_device *open_device(const struct run *run, const char *mechanism)
{
    struct hd_error error = {0};
    struct hd_config *config = hd_config_create();
    const char *const words[] = {run->timed ? "timing.functional=false" : "timing.functional=true",
                                 run->wide ? "core.warp_size=64" : "core.warp_size=32",
                                 "ptx.optimize=false", "gpu.cores=3", run->more};
    for (u32 i = 0; i < ARRAY_LEN(words) && words[i]; i++)
        if (!hd_config_set(config, words[i], &error))
            fail_msg("%s: %s", words[i], error.message);
    if (mechanism && !hd_config_mechanism(config, mechanism, &error))
        fail_msg("%s: %s", mechanism, error.message);
    struct hd_device *device = hd_device_open(config, &error);
    if (!device)
        fail_msg("no device: %s", error.message);
    hd_config_destroy(config);
    device->core_order = run->order;
    return device;
}

static void launch(struct hd_device *device, const struct run *run)
{
    struct hd_error error = {0};
    struct hd_result result;
    struct hd_module *module = hd_module_load(device, ptx, sizeof ptx - 1, "counted.ptx", &error);
    if (!module)
        fail_msg("%s: %s", error.place, error.message);
    const u64 buffer = hd_alloc(device, 1 << 16, &error);
    const struct hd_arg arg = {&buffer, 8};
    if (!hd_launch(hd_kernel_find(module, run->kernel, NULL), run->grid, run->block, 0, &arg, 1,
                   &result, &error))
        fail_msg("%s", error.message);
    assert_int_equal(result.outcome, HD_DONE);
}

/* The statistics as text, to be freed. */
static char *run_text(const struct run *run)
{
    struct hd_device *device = open_device(run, "redundancy");
    launch(device, run);
    char *text = hd_stats_json(device);
    hd_device_close(device);
    return text;
}

static struct counts counts_of(const struct run *run)
{
    char *text = run_text(run);
    json_t *all = json_loads(text, 0, NULL), *t = json_object_get(all, "totals");
    struct counts c = {
        .instructions = total(t, "instructions"),
        .partial = total(t, "partial"),
        .diverged = total(t, "diverged"),
        .effects = total(t, "effects"),
        .lone = total(t, "lone"),
        .unmatched = total(t, "unmatched"),
        .grid = total(t, "grid"),
        .block = total(t, "block"),
        .uniform = total(t, "block_uniform"),
        .affine = total(t, "block_affine"),
        .unstructured = total(t, "block_unstructured"),
        .loads = total(t, "block_loads"),
        .stores = total(t, "block_stores"),
        .branches = total(t, "block_branches"),
        .some = total(t, "block_some"),
        .warp = total(t, "warp"),
    };
    assert_int_equal(c.instructions,
                     json_integer_value(json_object_get(t, "exec.warp_instructions")));
    assert_int_equal(c.block, c.uniform + c.affine + c.unstructured);
    json_decref(all);
    hd_free(text);
    return c;
}

static void expect(struct run run, struct counts expected)
{
    for (u32 timed = 0; timed < 2; timed++) {
        run.timed = timed;
        const struct counts c = counts_of(&run);
#define SAME(name)                                                                                 \
    if (c.name != expected.name)                                                                   \
    fail_msg("%s (%u,%u,%u) %s: " #name " is %llu, not %llu", run.kernel, run.block.x,             \
             run.block.y, run.block.z, timed ? "timed" : "functional", (unsigned long long)c.name, \
             (unsigned long long)expected.name)
        SAME(instructions);
        SAME(partial);
        SAME(diverged);
        SAME(effects);
        SAME(lone);
        SAME(unmatched);
        SAME(grid);
        SAME(block);
        SAME(uniform);
        SAME(affine);
        SAME(unstructured);
        SAME(loads);
        SAME(stores);
        SAME(branches);
        SAME(some);
        SAME(warp);
#undef SAME
    }
}

#define ROWS "redundancy.affine_rows=true"

/* Blocks of 16 x 16: x is the same in all warps, y is not. In a warp x counts to 15 twice, which no
 * single stride describes. */
static void test_two_dimensions(void **unused)
{
    struct counts expected = {.instructions = 160,
                              .effects = 16,
                              .grid = 6 * 16,
                              .block = 7 * 16,
                              .uniform = 3 * 16,
                              .unstructured = 4 * 16,
                              .warp = 3 * 16};
    expect((struct run){"shape", {2, 1, 1}, {16, 16, 1}}, expected);
    /* warps of 64 lanes: the same, with half as many warps */
    expect((struct run){"shape", {4, 1, 1}, {16, 16, 1}, .wide = true}, expected);
    expected.affine = 3 * 16; /* all but the sum that reads the square */
    expected.unstructured = 16;
    expect((struct run){"shape", {2, 1, 1}, {16, 16, 1}, .more = ROWS}, expected);
    expect((struct run){"shape", {4, 1, 1}, {16, 16, 1}, .wide = true, .more = ROWS}, expected);
}

/* Rows of 32: y is one number a warp. */
static void test_rows(void **unused)
{
    expect((struct run){"shape", {2, 1, 1}, {32, 4, 1}}, (struct counts){.instructions = 80,
                                                                         .effects = 8,
                                                                         .grid = 6 * 8,
                                                                         .block = 7 * 8,
                                                                         .uniform = 3 * 8,
                                                                         .affine = 3 * 8,
                                                                         .unstructured = 8,
                                                                         .warp = 4 * 8});
}

/* One row: x is other in each warp, y is 0. */
static void test_one_dimension(void **unused)
{
    expect((struct run){"shape", {3, 1, 1}, {256, 1, 1}}, (struct counts){.instructions = 240,
                                                                          .effects = 24,
                                                                          .grid = 3 * 24,
                                                                          .block = 4 * 24,
                                                                          .uniform = 4 * 24,
                                                                          .warp = 4 * 24});
}

/* Planes fill warps: y is the same, too. Where a warp has two planes, a stride from row to row does
 * not describe y. */
static void test_three_dimensions(void **unused)
{
    struct counts expected = {.instructions = 80,
                              .effects = 8,
                              .grid = 8 * 8,
                              .block = 9 * 8,
                              .uniform = 3 * 8,
                              .unstructured = 6 * 8,
                              .warp = 3 * 8};
    expect((struct run){"shape", {2, 1, 1}, {16, 2, 4}}, expected);
    expect((struct run){"shape", {2, 1, 1}, {8, 2, 8}}, expected);
    expected.affine = 5 * 8;
    expected.unstructured = 8;
    expect((struct run){"shape", {2, 1, 1}, {16, 2, 4}, .more = ROWS}, expected);
    expected.affine = 3 * 8;
    expected.unstructured = 3 * 8;
    expect((struct run){"shape", {2, 1, 1}, {8, 2, 8}, .more = ROWS}, expected);
}

/* Rows that do not fill warps evenly: only what does not depend on x is the same. */
static void test_uneven_rows(void **unused)
{
    expect((struct run){"shape", {2, 1, 1}, {12, 8, 1}}, (struct counts){.instructions = 60,
                                                                         .effects = 6,
                                                                         .grid = 2 * 6,
                                                                         .block = 3 * 6,
                                                                         .uniform = 3 * 6,
                                                                         .warp = 3 * 6});
}

/* Warps without all lanes do not count, and do not hinder the others. */
static void test_partial(void **unused)
{
    expect((struct run){"shape", {3, 1, 1}, {80, 1, 1}}, (struct counts){.instructions = 90,
                                                                         .partial = 30,
                                                                         .effects = 6,
                                                                         .grid = 3 * 6,
                                                                         .block = 4 * 6,
                                                                         .uniform = 4 * 6,
                                                                         .warp = 4 * 6});
    /* one full warp in a block: nothing to share there, but with other blocks */
    expect((struct run){"shape", {2, 1, 1}, {16, 3, 1}}, (struct counts){.instructions = 40,
                                                                         .partial = 20,
                                                                         .effects = 2,
                                                                         .lone = 18,
                                                                         .grid = 8 * 2,
                                                                         .warp = 3 * 2});
    expect((struct run){"shape", {1, 1, 1}, {32, 1, 1}},
           (struct counts){.instructions = 10, .effects = 1, .lone = 9, .warp = 4});
    expect((struct run){"shape", {2, 1, 1}, {20, 1, 1}},
           (struct counts){.instructions = 20, .partial = 20});
}

static void test_divergence(void **unused)
{
    expect((struct run){"parts", {1, 1, 1}, {64, 1, 1}}, (struct counts){.instructions = 16,
                                                                         .diverged = 4,
                                                                         .effects = 2,
                                                                         .grid = 6,
                                                                         .block = 6,
                                                                         .unstructured = 6,
                                                                         .branches = 2});
}

static void test_trips(void **unused)
{
    expect((struct run){"trips", {2, 1, 1}, {96, 1, 1}}, (struct counts){.instructions = 78,
                                                                         .effects = 6,
                                                                         .grid = 18,
                                                                         .block = 18,
                                                                         .uniform = 18,
                                                                         .some = 8,
                                                                         .warp = 60});
}

/* What a block leaves out is not of the grid. */
static void test_blocks(void **unused)
{
    expect((struct run){"blocks", {3, 1, 1}, {64, 1, 1}},
           (struct counts){.instructions = 8 + 10 + 10,
                           .effects = 6,
                           .block = 18 + 4,
                           .uniform = 18 + 4,
                           .branches = 6,
                           .warp = 18 + 4});
}

/* The same are: the parameter, the constant, the store, the load, in that order. */
static void test_memory(void **unused)
{
    expect((struct run){"memory", {2, 1, 1}, {128, 1, 1}}, (struct counts){.instructions = 96,
                                                                           .effects = 24,
                                                                           .grid = 4 * 8,
                                                                           .block = 4 * 8,
                                                                           .uniform = 4 * 8,
                                                                           .loads = 2 * 8,
                                                                           .stores = 8,
                                                                           .warp = 4 * 8});
}

/* The sum of two halves carries: as 64 bits it has one stride. */
static void test_pairs(void **unused)
{
    expect(
        (struct run){"pairs", {1, 1, 1}, {64, 1, 1}},
        (struct counts){.instructions = 12, .effects = 2, .grid = 10, .block = 10, .affine = 10});
}

/* ---- whatever the order ---- */

static void *run_elsewhere(void *run)
{
    return run_text(run);
}

static void test_determined(void **unused)
{
    static const char *const kernels[] = {"shape", "trips", "parts"};
    for (u32 i = 0; i < ARRAY_LEN(kernels); i++) {
        struct run run = {kernels[i], {13, 1, 1}, {16, 10, 1}, .timed = true};
        char *first = run_text(&run), *text;
        for (u32 order = ORDER_FORWARD; order <= ORDER_SHUFFLE; order++) {
            run.order = order;
            text = run_text(&run);
            assert_string_equal(first, text);
            hd_free(text);
        }
        pthread_t threads[3];
        void *texts[3];
        for (u32 t = 0; t < 3; t++)
            assert_int_equal(pthread_create(&threads[t], NULL, run_elsewhere, &run), 0);
        for (u32 t = 0; t < 3; t++) {
            assert_int_equal(pthread_join(threads[t], &texts[t]), 0);
            assert_string_equal(first, texts[t]);
            hd_free(texts[t]);
        }
        hd_free(first);
    }
}

/* Any number of cores gives the same counts. */
static void test_cores(void **unused)
{
    struct run run = {"trips", {13, 1, 1}, {128, 1, 1}};
    const struct counts expected = counts_of(&run);
    assert_true(expected.grid > 0);
    run.timed = true;
    for (u32 cores = 1; cores < 20; cores += 6) {
        char word[32];
        snprintf(word, sizeof word, "gpu.cores=%u", cores);
        run.more = word;
        const struct counts c = counts_of(&run);
        assert_memory_equal(&c, &expected, sizeof c);
    }
}

/* ---- its place ---- */

/* Too little room: less is found, and this is reported. In functional mode the first warp runs
 * ahead; in timing mode warps run together. */
static void test_room(void **unused)
{
    struct run run = {"long", {2, 1, 1}, {64, 1, 1}};
    const u64 all = 4 * (1 + 3 * 600);
    struct counts c = counts_of(&run);
    assert_int_equal(c.unmatched, 0);
    assert_int_equal(c.block, all);
    assert_int_equal(c.grid, all);
    run.more = "redundancy.instances=1024";
    c = counts_of(&run);
    assert_true(c.unmatched > 0);
    assert_true(c.block > 4 * 1000 && c.block <= 4 * 1024);
    assert_true(c.grid > 4 * 1000 && c.grid <= 4 * 1024);
    assert_int_equal(c.warp, all);
    run.timed = true;
    c = counts_of(&run);
    assert_int_equal(c.block, all);
    assert_true(c.grid > 4 * 1000 && c.grid <= 4 * 1024); /* all executions of a grid stay */
}

/* Nothing changes: results, counts and time are those of a run without it. */
static void test_passive(void **unused)
{
    static const char *const names[] = {"exec.warp_instructions", "timing.cycles",
                                        "issue.instructions"};
    const struct run run = {"memory", {9, 1, 1}, {128, 1, 1}, .timed = true};
    json_int_t seen[2][ARRAY_LEN(names)];
    for (u32 on = 0; on < 2; on++) {
        struct hd_device *device = open_device(&run, on ? "redundancy" : NULL);
        launch(device, &run);
        char *text = hd_stats_json(device);
        json_t *all = json_loads(text, 0, NULL), *totals = json_object_get(all, "totals");
        for (u32 i = 0; i < ARRAY_LEN(names); i++) {
            seen[on][i] = json_integer_value(json_object_get(totals, names[i]));
            assert_true(seen[on][i] > 0);
        }
        json_decref(all);
        hd_free(text);
        hd_device_close(device);
    }
    assert_memory_equal(seen[0], seen[1], sizeof seen[0]);
}

/* Mechanisms that need time still say so. */
static void test_needs_time(void **unused)
{
    struct hd_error error = {0};
    struct hd_config *config = hd_config_create();
    assert_true(hd_config_set(config, "timing.functional=true", &error));
    assert_true(hd_config_mechanism(config, "redundancy", &error));
    assert_true(hd_config_mechanism(config, "uniform", &error));
    assert_null(hd_device_open(config, &error));
    assert_non_null(strstr(error.message, "mechanism uniform needs a timing model"));
    hd_config_destroy(config);
}

/* Nor can it be combined with mechanisms that skip instructions it would examine. */
static void test_conflicts(void **unused)
{
    struct hd_error error = {0};
    struct hd_config *config = hd_config_create();
    assert_true(hd_config_mechanism(config, "redundancy", &error));
    assert_true(hd_config_mechanism(config, "darsie", &error));
    assert_null(hd_device_open(config, &error));
    assert_non_null(strstr(error.message, "redundancy"));
    assert_non_null(strstr(error.message, "cannot be combined"));
    hd_config_destroy(config);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_two_dimensions), cmocka_unit_test(test_rows),
        cmocka_unit_test(test_one_dimension),  cmocka_unit_test(test_three_dimensions),
        cmocka_unit_test(test_uneven_rows),    cmocka_unit_test(test_partial),
        cmocka_unit_test(test_divergence),     cmocka_unit_test(test_trips),
        cmocka_unit_test(test_blocks),         cmocka_unit_test(test_memory),
        cmocka_unit_test(test_pairs),          cmocka_unit_test(test_determined),
        cmocka_unit_test(test_cores),          cmocka_unit_test(test_room),
        cmocka_unit_test(test_passive),        cmocka_unit_test(test_needs_time),
        cmocka_unit_test(test_conflicts),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
