/*
 * Registers have a place: mechanisms that choose rows of the register file, move registers and turn
 * lanes leave results as they are, unless they are wrong, and then kernels fail their own check.
 *
 *   test-seam-registers TESTS     the folder tests/ of the sources
 */
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
    &rows_mechanism,
    &twice_mechanism,
    &borrow_mechanism,
    &exchange_mechanism,
    &uniform_mechanism,
    &leap_mechanism,
    NULL,
};

/* All on one core, in turn: warps stand together. */
#define CROWD "gpu.cores=1", "issue.policy=lrr"

static const struct kernel_row {
    const char *file, *name, *machine;
} kernels[] = {
    {"cuda/matmul", "matmul16", "gtx480"},        {"cuda/reduce", "reduce_tree", "gtx480"},
    {"cuda/scan", "scan_inclusive", "rtx2060"},   {"cuda/mandel", "mandel", "rtx2060"},
    {"cuda/double", "doubles", "gtx480"},         {"cuda/control", "switches", "rtx2060"},
    {"cuda/calls", "recursion", "gtx480"},        {"cuda/warps", "shuffles", "gtx480"},
    {"cuda/warps", "exchange", "gtx480"},         {"cuda/warps", "aggregate", "gtx480"},
    {"cuda/barriers", "barrier_votes", "gtx480"}, {"cuda/atomics", "atomics_shared", "gtx480"},
    {"opencl/reduce", "reduce", "generic64"},     {"opencl/integer", "longs", "generic64"},
    {"opencl/basic", "matmul", "miaow"},
};

static struct seen run(const struct kernel_row *kernel, const char *const *words, bool *wrong)
{
    struct seen seen =
        rig_run(kernel->file, kernel->name, kernel->machine, words, available, wrong != NULL);
    if (wrong)
        *wrong = seen.wrong;
    return seen;
}

static void rows_do_not_matter(void **state)
{
    static const char *const sets[][8] = {
        {"rows"},
        {"rows", "rows.map=reversed"},
        {"rows", "rows.every=1"},
        {"rows", "rows.every=1", "rows.pieces=true"},
        {"rows", "rows.every=3", "rows.added=5", CROWD},
        {"rows", "rows.every=1", "uniform", CROWD},
        {"rows", "rows.map=reversed", "uniform", "uniform.design=srf", "uniform.protect=true"},
        {"rows", "rows.every=2", "rows.pieces=true", "twice", "borrow", "exchange", CROWD},
        {"rows", "rows.map=reversed", "leap", "leap.late=true", "leap.gather=1"},
    };
    for (size_t k = 0; k < ARRAY_LEN(kernels); k++) {
        struct seen plain = run(&kernels[k], NULL, NULL);
        for (size_t i = 0; i < ARRAY_LEN(sets); i++) {
            /* uniform and leap want a common pipeline */
            if (strcmp(kernels[k].machine, "miaow") == 0 && i > 4)
                continue;
            struct seen with = run(&kernels[k], sets[i], NULL);
            if (with.hash != plain.hash)
                fail_msg("%s %s: other bytes with %s %s", kernels[k].file, kernels[k].name,
                         sets[i][0], sets[i][1] ? sets[i][1] : "");
            assert_true(rig_total(&with, "rows.allocated") > 0);
            if (i < 2) /* the map alone takes no time */
                assert_int_equal(rig_total(&with, "timing.cycles"),
                                 rig_total(&plain, "timing.cycles"));
            rig_drop(&with);
        }
        rig_drop(&plain);
    }
}

/* Registers really move, and there are rows to move them to. */
static void registers_move(void **state)
{
    const struct kernel_row *matmul = &kernels[0];
    struct seen with = run(matmul, WITH("rows", "rows.every=2"), NULL);
    assert_true(rig_total(&with, "rows.moves") * 4 > rig_total(&with, "issue.instructions"));
    assert_true(rig_total(&with, "rows.spare") > 0);
    rig_drop(&with);
    with =
        run(matmul, WITH("rows", "rows.every=2", "rows.added=3", "rows.pieces=true", CROWD), NULL);
    assert_true(rig_total(&with, "rows.moves") > 10);
    rig_drop(&with);
}

/* A register that is looked for in another row than its value is in. */
static void a_wrong_row_is_noticed(void **state)
{
    for (size_t k = 0; k < 4; k++) {
        bool wrong;
        struct seen with =
            run(&kernels[k], WITH("rows", "rows.every=16", "rows.lose=true"), &wrong);
        assert_true(rig_total(&with, "rows.moves") > 0);
        assert_true(wrong);
        rig_drop(&with);
        with = run(&kernels[k], WITH("rows", "rows.every=16", "rows.lose=true", "rows.pieces=true"),
                   &wrong);
        assert_true(wrong);
        rig_drop(&with);
    }
}

static void assert_stopped(const char *word, const char *message)
{
    bool wrong;
    struct seen with = run(&kernels[0], WITH("rows", word), &wrong);
    assert_true(wrong);
    assert_non_null(strstr(with.text, "\"check\""));
    if (!strstr(with.text, message))
        fail_msg("%s: not explained: %s", word, with.text);
    rig_drop(&with);
}

/* A row that is not there, or is there for another one, ends the launch with an explanation. */
static void impossible_rows_are_refused(void **state)
{
    assert_stopped("rows.map=beyond", "in row 1024 of a register file of 1024 rows");
    assert_stopped("rows.map=twice", "of which a register has these lanes already");
    assert_stopped("rows.turn_badly=true", "no permutation");
}

static void lanes_do_not_matter(void **state)
{
    for (size_t k = 0; k < ARRAY_LEN(kernels); k++) {
        struct seen plain = run(&kernels[k], WITH("rows"), NULL);
        struct seen with = run(&kernels[k], WITH("rows", "rows.turn=true"), NULL);
        assert_int_equal(with.hash, plain.hash);
        assert_int_equal(rig_total(&plain, "rows.lanes"), 0);
        assert_true(rig_total(&with, "rows.lanes") > 0);
        assert_int_equal(rig_total(&with, "timing.cycles"), rig_total(&plain, "timing.cycles"));
        rig_drop(&plain);
        rig_drop(&with);
    }
}

int main(int argc, char **argv)
{
    if (argc != 2)
        return 2;
    rig_folder(argv[1]);
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(rows_do_not_matter),     cmocka_unit_test(registers_move),
        cmocka_unit_test(a_wrong_row_is_noticed), cmocka_unit_test(impossible_rows_are_refused),
        cmocka_unit_test(lanes_do_not_matter),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
