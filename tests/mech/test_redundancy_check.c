/*
 * The check of marks: it has nothing to say of the analysis' own, finds marks that the test puts
 * where they are wrong, says what is wrong with them, and compares no warps that may differ.
 */
#include "analysis/redundancy.h"
#include "gpu/device.h"

/* clang-format off */
#include <setjmp.h>
#include <stdarg.h>
#include <cmocka.h>
/* clang-format on */

#define HEAD ".version 7.0\n.target sm_70\n.address_size 64\n"
#define REGISTERS " .reg .pred %p<4>; .reg .b32 %r<12>; .reg .b64 %rd<4>;\n"
#define ENTRY(name) ".visible .entry " name "(.param .u64 p)\n{\n" REGISTERS

static const char ptx[] = HEAD
    /* coordinates */
    ENTRY("shape") " mov.u32 %r0, %tid.x;\n"
                   " mov.u32 %r3, %ntid.x;\n"
                   " add.u32 %r4, %r0, 1;\n"
                   " setp.lt.u32 %p0, %r0, 40;\n"
                   " mul.wide.u32 %rd0, %r0, %r3;\n"
                   " ret;\n}\n"
    /* two warps of four go another way */
    ENTRY("ways") " mov.u32 %r0, %tid.x;\n"
                  " and.b32 %r1, %r0, 32;\n"
                  " setp.eq.u32 %p0, %r1, 0;\n"
                  " mov.u32 %r2, 1;\n"
                  " @%p0 bra next;\n"
                  " mov.u32 %r2, 2;\n"
                  "next: add.u32 %r3, %r2, 5;\n"
                  " bar.sync 0;\n"
                  " add.u32 %r4, %r2, 6;\n"
                  " ret;\n}\n"
    /* lanes part, but in the last warp, and meet */
    ENTRY("parts") " mov.u32 %r0, %tid.x;\n"
                   " and.b32 %r1, %r0, 1;\n"
                   " setp.eq.u32 %p0, %r1, 1;\n"
                   " setp.lt.and.u32 %p0, %r0, 96, %p0;\n"
                   " @%p0 bra next;\n"
                   " add.u32 %r2, %r1, 5;\n"
                   "next: add.u32 %r3, %r0, 1;\n"
                   " bar.sync 0;\n"
                   " add.u32 %r4, %r0, 2;\n"
                   " ret;\n}\n"
    /* all load what each warp changes */
    ENTRY("races") " ld.param.u64 %rd0, [p];\n"
                   " mov.u32 %r0, %tid.x;\n"
                   " mad.wide.u32 %rd1, %r0, 4, %rd0;\n"
                   " ld.global.u32 %r3, [%rd1+64];\n"
                   " ld.global.u32 %r1, [%rd0];\n"
                   " add.u32 %r2, %r1, 1;\n"
                   " st.global.u32 [%rd0], %r2;\n"
                   " bar.sync 0;\n"
                   " add.u32 %r4, %r1, 2;\n"
                   " ret;\n}\n"
    /* barriers in a loop */
    ENTRY("rounds") " mov.u32 %r2, 0;\n"
                    "loop: add.u32 %r2, %r2, 1;\n"
                    " bar.sync 0;\n"
                    " add.u32 %r3, %r2, 5;\n"
                    " setp.lt.u32 %p0, %r2, 3;\n"
                    " @%p0 bra loop;\n"
                    " ret;\n}\n"
    /* 600 rounds without one */
    ENTRY("long") " mov.u32 %r2, 0;\n"
                  "loop: add.u32 %r2, %r2, 1;\n"
                  " setp.lt.u32 %p0, %r2, 600;\n"
                  " @%p0 bra loop;\n"
                  " ret;\n}\n";

struct run {
    const char *kernel;
    struct hd_dim grid, block;
    const char *more; /* a setting, or NULL */
    int plant;        /* an instruction of the kernel, -1: all, NO_PLANT: none */
};
enum {
    NO_PLANT = -2
};

struct found {
    u64 checked, kept, unchecked, raced, lies, instructions;
    enum hd_outcome outcome;
    char message[4096];
};

static struct hd_device *open_device(const struct run *run, bool timed)
{
    struct hd_error error = {0};
    struct hd_config *config = hd_config_create();
    const char *const words[] = {timed ? "timing.functional=false" : "timing.functional=true",
                                 "core.warp_size=32", "ptx.optimize=false", "gpu.cores=2",
                                 run->more};
    for (u32 i = 0; i < ARRAY_LEN(words) && words[i]; i++)
        if (!hd_config_set(config, words[i], &error))
            fail_msg("%s: %s", words[i], error.message);
    if (!hd_config_mechanism(config, "redundancy:check=true", &error))
        fail_msg("%s", error.message);
    struct hd_device *device = hd_device_open(config, &error);
    if (!device)
        fail_msg("no device: %s", error.message);
    hd_config_destroy(config);
    return device;
}

static struct hd_result launch(struct hd_kernel *kernel, const struct run *run, u64 buffer)
{
    struct hd_error error = {0};
    struct hd_result result;
    const struct hd_arg arg = {&buffer, 8};
    if (!hd_launch(kernel, run->grid, run->block, 0, &arg, 1, &result, &error))
        fail_msg("%s", error.message);
    return result;
}

/* Marks are made by a first launch. */
static void plant(struct hd_kernel *kernel, int where)
{
    const struct function *function = kernel->function;
    u8 *marks = kernel->module->marks[kernel - kernel->module->kernels];
    assert_non_null(marks);
    for (u32 i = function->first; i < function->end; i++)
        if (where == -1 || i - function->first == (u32)where)
            marks[i] = REDUNDANT;
}

static u64 last(struct hd_device *device, const char *name)
{
    char *text = hd_launch_json(device, device->launches.count - 1);
    json_t *launch = json_loads(text, 0, NULL);
    json_t *value = json_object_get(json_object_get(launch, "stats"), name);
    if (!json_is_integer(value))
        fail_msg("no statistic %s", name);
    const u64 number = (u64)json_integer_value(value);
    json_decref(launch);
    hd_free(text);
    return number;
}

static struct found run_it(const struct run *run, bool timed)
{
    struct hd_error error = {0};
    struct hd_device *device = open_device(run, timed);
    struct hd_module *module = hd_module_load(device, ptx, sizeof ptx - 1, "checked.ptx", &error);
    if (!module)
        fail_msg("%s: %s", error.place, error.message);
    struct hd_kernel *kernel = hd_kernel_find(module, run->kernel, NULL);
    const u64 buffer = hd_alloc(device, 1 << 16, &error);
    struct hd_result result = launch(kernel, run, buffer);
    assert_int_equal(result.outcome, HD_DONE); /* the analysis' own marks are right */
    assert_int_equal(last(device, "redundancy.lies"), 0);
    if (run->plant != NO_PLANT) {
        plant(kernel, run->plant);
        result = launch(kernel, run, buffer);
    }
    struct found found = {
        .checked = last(device, "redundancy.checked"),
        .kept = last(device, "redundancy.kept"),
        .unchecked = last(device, "redundancy.unchecked"),
        .raced = last(device, "redundancy.raced"),
        .lies = last(device, "redundancy.lies"),
        .instructions = last(device, "redundancy.instructions"),
        .outcome = result.outcome,
    };
    snprintf(found.message, sizeof found.message, "%s", result.explanation);
    assert_int_equal(found.outcome, found.lies ? HD_CHECK : HD_DONE);
    assert_int_equal(found.instructions, result.warp_instructions); /* all of them ran */
    hd_device_close(device);
    return found;
}

static void expect_text(const struct found *found, const char *text)
{
    if (!strstr(found->message, text))
        fail_msg("'%s' is not in: %s", text, found->message);
}

/* In blocks of one row nothing of x is the same; in blocks of rows that fill warps all is. */
static void test_planted(void **unused)
{
    for (u32 timed = 0; timed < 2; timed++) {
        struct found f = run_it(&(struct run){"shape", {3, 1, 1}, {128, 1, 1}, .plant = -1}, timed);
        assert_int_equal(f.kept, 5 * 3);
        assert_int_equal(f.checked, 5 * 3 * 3);
        assert_int_equal(f.lies, 3 * 3 * 3 + 3 * 3); /* of setp by 40 all but the first warp's */
        assert_int_equal(f.unchecked, 0);
        expect_text(&f, "in kernel shape");
        expect_text(&f, "checked.ptx:");
        expect_text(&f, "mov.sreg");
        expect_text(&f, "marked DR");
        expect_text(&f, "in block (0,0,0) lane 0 of register 0 of result 0 is 0x0 in warp 0 and "
                        "0x20 in warp 1");
        expect_text(&f, "lane 8 of result 0, a mask");
        f = run_it(&(struct run){"shape", {3, 1, 1}, {16, 8, 1}, .plant = -1}, timed);
        assert_int_equal(f.kept, 5 * 3);
        assert_int_equal(f.checked, 5 * 3 * 3);
        assert_int_equal(f.lies, 0);
        f = run_it(&(struct run){"shape", {3, 1, 1}, {16, 8, 1}, .plant = NO_PLANT}, timed);
        assert_int_equal(f.checked, 5 * 3 * 3);
        f = run_it(&(struct run){"shape", {1, 1, 1}, {24, 4, 1}, .plant = NO_PLANT}, timed);
        assert_int_equal(f.checked, 2); /* ntid.x */
    }
}

/* Warps that came another way are not compared, until all have passed a barrier. */
static void test_ways(void **unused)
{
    for (u32 timed = 0; timed < 2; timed++) {
        struct run run = {"ways", {2, 1, 1}, {128, 1, 1}, .plant = NO_PLANT};
        const struct found own = run_it(&run, timed);
        run.plant = 6;
        struct found f = run_it(&run, timed);
        assert_int_equal(f.lies, 0);
        assert_int_equal(f.checked, own.checked + 2 * 2);
        assert_int_equal(f.kept, own.kept + 2 * 2); /* a first one on each way */
        run.plant = 8;
        f = run_it(&run, timed);
        assert_int_equal(f.checked, own.checked + 3 * 2);
        assert_int_equal(f.lies, 2 * 2);
        expect_text(&f, "0x8 in warp ");
        expect_text(&f, "0x7 in warp ");
    }
}

/* What was kept before a barrier is not that of the next round. */
static void test_rounds(void **unused)
{
    for (u32 timed = 0; timed < 2; timed++) {
        const struct found f =
            run_it(&(struct run){"rounds", {2, 1, 1}, {96, 1, 1}, .plant = NO_PLANT}, timed);
        assert_int_equal(f.kept, 2 * (1 + 3 * 3));
        assert_int_equal(f.checked, 2 * f.kept);
    }
}

/* A warp that has diverged takes part again after the next barrier. */
static void test_parts(void **unused)
{
    for (u32 timed = 0; timed < 2; timed++) {
        struct run run = {"parts", {1, 1, 1}, {128, 1, 1}, .plant = NO_PLANT};
        const struct found own = run_it(&run, timed);
        run.plant = 6;
        struct found f = run_it(&run, timed);
        assert_int_equal(f.kept, own.kept + 1);
        assert_int_equal(f.checked, own.checked);
        run.plant = 8;
        f = run_it(&run, timed);
        assert_int_equal(f.kept, own.kept + 1);
        assert_int_equal(f.checked, own.checked + 3);
        assert_int_equal(f.lies, 3);
    }
}

/* What is loaded may differ when it is stored meanwhile; the address may not. */
static void test_races(void **unused)
{
    for (u32 timed = 0; timed < 2; timed++) {
        struct run run = {"races", {1, 1, 1}, {128, 1, 1}, .plant = NO_PLANT};
        struct found f = run_it(&run, timed);
        assert_int_equal(f.lies, 0);
        assert_true(f.checked > 0);
        if (!timed) /* each warp runs to the barrier by itself */
            assert_int_equal(f.raced, 3);
        run.plant = 3;
        f = run_it(&run, timed);
        assert_int_equal(f.lies, 3);
        expect_text(&f, "of operand 0 is 0x");
        expect_text(&f, "ld.global");
    }
}

/* Without room nothing is checked, and that is counted. */
static void test_room(void **unused)
{
    struct run run = {"long", {1, 1, 1}, {96, 1, 1}, .plant = NO_PLANT};
    struct found f = run_it(&run, false);
    assert_int_equal(f.unchecked, 0);
    assert_int_equal(f.kept, 1 + 2 * 600);
    assert_int_equal(f.checked, 2 * f.kept);
    run.more = "redundancy.results=1024";
    f = run_it(&run, false);
    assert_true(f.unchecked > 0);
    assert_true(f.checked > 1000 && f.checked <= 2 * 1024);
    assert_int_equal(f.lies, 0);
    f = run_it(&run, true); /* in timing mode, warps run together */
    assert_int_equal(f.unchecked, 0);
    assert_int_equal(f.checked, 2 * (1 + 2 * 600));
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_planted), cmocka_unit_test(test_ways),  cmocka_unit_test(test_rounds),
        cmocka_unit_test(test_parts),   cmocka_unit_test(test_races), cmocka_unit_test(test_room),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
