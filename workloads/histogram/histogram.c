/* A histogram of 64 bins over bytes: private counters in local memory, merged twice. */
#include "common/workload.h"
#include <stdlib.h>

enum {
    BINS = 64,
    PER_THREAD = 60, /* words of a thread: 240 values, so that its byte counters do not overflow */
};

enum {
    VALUES,
};

static const struct option_row options[] = {
    [VALUES] = {"values", "bytes", "number of values", 1048576, 131072, 4, 1 << 30, .multiple = 4},
    {0},
};

static const struct program program = {"histogram", "Histogram of values below 64.", options};

int main(int argc, char **argv)
{
    struct workload *w = workload_open(&program, argc, argv);
    cl_uint words = (cl_uint)option(w, VALUES) / 4;
    cl_uint *values = zeroed(words, sizeof *values);
    cl_uint histogram[BINS], expected[BINS] = {0};
    for (cl_uint i = 0; i < words; i++)
        for (unsigned byte = 0; byte < 4; byte++) {
            /* The lesser of two: low bins are fuller, as in pictures. */
            cl_uint one = random_below(w, BINS), other = random_below(w, BINS);
            cl_uint value = one < other ? one : other;
            values[i] |= value << 8 * byte;
            expected[value]++;
        }

    struct shape block = {"BLOCK", 64};
    workload_build(w, &block, 1, "-D PER_THREAD=%d", PER_THREAD);
    cl_uint parts = (cl_uint)pieces(words, block.x * PER_THREAD);
    cl_mem values_device = workload_input(w, values, words * sizeof *values);
    cl_mem parts_device = workload_output(w, (size_t)parts * BINS * sizeof(cl_uint));
    cl_mem histogram_device = workload_output(w, sizeof histogram);
    cl_kernel count = workload_kernel(w, "count_private"), merge = workload_kernel(w, "merge");
    workload_args(w, count, ARG(values_device), ARG(parts_device), ARG(words));
    workload_launch(w, count, &block, parts, 1, 1);
    workload_args(w, merge, ARG(parts_device), ARG(histogram_device), ARG(parts));
    workload_launch(w, merge, &block, BINS, 1, 1);

    workload_read(w, histogram_device, histogram, sizeof histogram);
    check_ints(w, "histogram", histogram, expected, BINS);
    free(values);
    return workload_close(w);
}
