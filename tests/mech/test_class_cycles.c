/*
 * Cycles of classes against a list of all instructions: each with its issue and its write-back, and
 * every cycle between them marked.
 *
 *   test-class-cycles TESTS     the folder tests/ of the sources
 */
#include "core/mechanism.h"
#include "rig.h"

#include <stdlib.h>

/* clang-format off */
#include <setjmp.h>
#include <stdarg.h>
#include <cmocka.h>
/* clang-format on */

#define COMPONENT probe
#define COMPONENT_DEF "probe.def"
#define COMPONENT_HELP "writes down when instructions are under way, for tests"
#include "base/component_struct.h"
#include "base/component_table.h"

enum {
    CORES = 3,
    MOST = 1 << 21 /* cycles of a launch */
};

/* By core, class (scalar, vector, memory) and cycle: instructions in flight. */
static u16 (*under_way)[3][MOST];
static u64 instructions[3], busy[3];

static u32 class_of(const struct inflight *inflight)
{
    const struct inst_time *time = inflight->time;
    return time->pipe == PIPE_MEMORY ? 2 : time->pipe == PIPE_SCALAR ? 0 : 1;
}

struct probe {
    MECHANISM_STATE(probe);
    u64 issued[CORE_INFLIGHT];
};

static void issued(void *state, struct core *core, struct inflight *inflight)
{
    struct probe *p = state;
    p->issued[inflight->index] = core_cycle(core);
    p->stats->issued++;
    instructions[class_of(inflight)]++;
}

static void retired(void *state, struct core *core, struct inflight *inflight)
{
    struct probe *p = state;
    assert_true(core_cycle(core) < MOST);
    for (u64 c = p->issued[inflight->index]; c < core_cycle(core); c++)
        under_way[core_config(core)->index][class_of(inflight)][c]++;
}

static void gather(void *const *states, u32 count, struct exec *exec)
{
    for (u32 c = 0; c < count; c++)
        for (u32 k = 0; k < 3; k++)
            for (u32 at = 0; at < MOST; at++)
                busy[k] += under_way[c][k][at] != 0;
    memset(under_way, 0, CORES * sizeof *under_way);
}

static const struct mechanism probe_mechanism = {
    MECHANISM_NAMED(probe, "writes down when instructions are under way"),
    .state_size = sizeof(struct probe),
    .issued = issued,
    .retired = retired,
    .launch_done = gather,
};

extern const struct mechanism class_cycles_mechanism;
static const struct mechanism *const available[] = {&probe_mechanism, &class_cycles_mechanism,
                                                    NULL};

static const struct {
    const char *file, *name, *machine;
} kernels[] = {
    {"opencl/life", "life", "generic64"},     {"opencl/sort", "bitonic", "generic64"},
    {"opencl/reduce", "reduce", "tahiti"},    {"opencl/sort", "bitonic", "tahiti"},
    {"opencl/life", "life", "miaow"},         {"opencl/sort", "bitonic", "miaow"},
    {"cuda/matmul", "matmul16", "gtx1080ti"}, {"cuda/histogram", "histogram", "gtx480"},
};

static void counts_are_those_of_marked_cycles(void **state)
{
    for (size_t k = 0; k < ARRAY_LEN(kernels); k++) {
        memset(instructions, 0, sizeof instructions);
        memset(busy, 0, sizeof busy);
        struct seen seen = rig_run(kernels[k].file, kernels[k].name, kernels[k].machine,
                                   WITH("probe", "class_cycles", "gpu.cores=3", "gpu.cluster=1"),
                                   available, false);
        static const char *const counted[] = {"class_cycles.scalar_instructions",
                                              "class_cycles.vector_instructions",
                                              "class_cycles.memory_instructions"};
        static const char *const cycles[] = {"class_cycles.scalar_cycles",
                                             "class_cycles.vector_cycles",
                                             "class_cycles.memory_cycles"};
        for (u32 c = 0; c < 3; c++) {
            assert_int_equal(rig_total(&seen, counted[c]), instructions[c]);
            assert_int_equal(rig_total(&seen, cycles[c]), busy[c]);
        }
        assert_true(instructions[1] && instructions[2]);
        rig_drop(&seen);
    }
}

/* One at a time, three cycles each. */
static void scalars_take_three(void **state)
{
    struct seen seen =
        rig_run("opencl/sort", "bitonic", "miaow", WITH("class_cycles"), available, false);
    assert_true(rig_total(&seen, "class_cycles.scalar_instructions") > 100);
    assert_int_equal(rig_total(&seen, "class_cycles.scalar_cycles"),
                     3 * rig_total(&seen, "class_cycles.scalar_instructions"));
    rig_drop(&seen);
}

int main(int argc, char **argv)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(counts_are_those_of_marked_cycles),
        cmocka_unit_test(scalars_take_three),
    };
    if (argc != 2)
        return 2;
    rig_folder(argv[1]);
    under_way = checked(calloc(CORES, sizeof *under_way));
    int failed = cmocka_run_group_tests(tests, NULL, NULL);
    free(under_way);
    return failed;
}
