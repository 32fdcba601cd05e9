/*
 * The kernels of ../../kernels under the witness (witness.h): PTX on a machine with warps of 32
 * lanes, Southern Islands code on one of 64. No mark lies, and some say something.
 *
 *   test-mech-witness TESTS     the folder tests/ of the sources
 */
#include "kernels.h"
#include "rig.h"
#include "witness.h"

/* after kernels.h, which has a function of the name of one of its macros */
/* clang-format off */
#include <setjmp.h>
#include <stdarg.h>
#include <cmocka.h>
/* clang-format on */

static const struct kernel_case *const groups[] = {
    cuda_basic_cases,    cuda_flow_cases,      cuda_space_cases,  cuda_warp_cases,
    opencl_cases,        opencl_program_cases, opencl_more_cases, opencl_memory_cases,
    opencl_number_cases, opencl_wide_cases,    opencl_flow_cases,
};

static u64 watch(const struct kernel_case *c, const char *machine)
{
    struct seen seen = rig_run(c->file, c->name, machine, WITH("witness", "gpu.cores=2"),
                               witness_mechanisms(), true); /* prints go nowhere: others check it */
    const u64 compared = rig_total(&seen, "witness.compared");
    if (rig_total(&seen, "witness.lies"))
        fail_msg("%s %s on %s: %llu lies, the first at instruction %llu", c->file, c->name, machine,
                 (unsigned long long)rig_total(&seen, "witness.lies"),
                 (unsigned long long)rig_total(&seen, "witness.first") - 1);
    rig_drop(&seen);
    return compared;
}

static void no_mark_lies(void **state)
{
    u64 ptx = 0, si = 0;
    for (size_t g = 0; g < sizeof groups / sizeof *groups; g++)
        for (const struct kernel_case *c = groups[g]; c->name; c++) {
            if (c->flags & (CASE_LONG | CASE_ROCM))
                continue;
            if (!(c->flags & CASE_SI))
                ptx += watch(c, "generic");
            if (strncmp(c->file, "opencl/", 7) == 0)
                si += watch(c, "generic64");
        }
    print_message("compared: %llu of PTX, %llu of Southern Islands\n", (unsigned long long)ptx,
                  (unsigned long long)si);
    assert_true(ptx > 0 && si > 0);
}

int main(int argc, char **argv)
{
    const struct CMUnitTest tests[] = {cmocka_unit_test(no_mark_lies)};
    assert_int_equal(argc, 2);
    rig_folder(argv[1]);
    return cmocka_run_group_tests(tests, NULL, NULL);
}
