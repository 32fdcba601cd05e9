/*
 * Prefix sums: of many arrays that fit a block (--kind blocks), or of one large array by levels of
 * sections (--kind large). With smaller blocks the arrays of a block are smaller, too.
 */
#include "common/workload.h"
#include <stdlib.h>

enum {
    KIND,
    ELEMENTS,
    BLOCK,
};

enum {
    KIND_BLOCKS,
    KIND_LARGE,
};

static const struct option_row options[] = {
    [KIND] = {"kind", NULL, "scan the section of each block, or the whole array",
              .value = KIND_BLOCKS, .choices = "blocks|large"},
    [ELEMENTS] = {"elements", "integers", "length of the array", 32768, 8192, 1, 1 << 26},
    [BLOCK] = {"block", "threads", "block size", 256, 0, 1, 1024, POWER_OF_TWO},
    {0},
};

static const struct program program = {"scan", "Computes exclusive prefix sums of integers.",
                                       options};

/* Scans count integers of a buffer into another: every section by itself, then, if the sums are to
 * run over all of them, the sections' totals and the addition of these. */
static void scan(struct workload *w, const struct shape *block, cl_mem from, cl_mem to,
                 cl_uint count, bool whole)
{
    cl_kernel sections = workload_kernel(w, "scan_sections");
    cl_uint blocks = (cl_uint)pieces(count, 2 * block->x);
    cl_mem totals = workload_output(w, blocks * sizeof(cl_uint));
    workload_args(w, sections, ARG(from), ARG(to), ARG(totals), ARG(count));
    workload_launch(w, sections, block, blocks, 1, 1);
    if (!whole || blocks == 1)
        return;
    cl_kernel add = workload_kernel(w, "add_offsets");
    cl_mem offsets = workload_output(w, blocks * sizeof(cl_uint));
    scan(w, block, totals, offsets, blocks, true);
    workload_args(w, add, ARG(to), ARG(offsets), ARG(count));
    workload_launch(w, add, block, blocks, 1, 1);
}

int main(int argc, char **argv)
{
    struct workload *w = workload_open(&program, argc, argv);
    cl_uint count = (cl_uint)option(w, ELEMENTS);
    bool whole = option(w, KIND) == KIND_LARGE;
    cl_uint *numbers = zeroed(count, sizeof *numbers), *expected = zeroed(count, sizeof *expected);
    for (cl_uint i = 0; i < count; i++)
        numbers[i] = random_below(w, 1000);

    struct shape block = {"BLOCK", option(w, BLOCK)};
    workload_build(w, &block, 1, NULL);
    cl_mem from = workload_input(w, numbers, count * sizeof *numbers);
    cl_mem to = workload_output(w, count * sizeof *numbers);
    scan(w, &block, from, to, count, whole);

    for (cl_uint i = 0, sum = 0; i < count; i++) {
        if (!whole && i % (2 * block.x) == 0)
            sum = 0;
        expected[i] = sum;
        sum += numbers[i];
    }
    workload_read(w, to, numbers, count * sizeof *numbers);
    check_ints(w, "sums", numbers, expected, count);
    free(numbers);
    free(expected);
    return workload_close(w);
}
