/*
 * Convolves data with a short filter over exclusive-or of indices: both are Walsh-transformed,
 * multiplied and transformed back.
 */
#include "common/workload.h"
#include <stdlib.h>

enum {
    ELEMENTS,
    FILTER,
    SECTIONS,
};

enum {
    SECTION_STEPS = 11, /* 2048 floats, 8 KB of local memory: two blocks fill 16 KB */
};

static const struct option_row options[] = {
    [ELEMENTS] = {"elements", "floats", "length of the data", 32768, 8192, 256, 1 << 26,
                  POWER_OF_TWO},
    [FILTER] = {"filter", "floats", "length of the filter", 128, 0, 1, 256, POWER_OF_TWO},
    [SECTIONS] = {"sections", "threads", "size of blocks that work in local memory", 512, 0, 64,
                  1024, POWER_OF_TWO},
    {0},
};

static const struct program program = {
    "walsh", "Convolves data with a filter by fast Walsh transforms.", options};

enum {
    BLOCK,         /* of kernels that work on the whole array */
    SECTION_BLOCK, /* of the one that works in local memory */
};

/* The number of steps done within sections: the others are done in pairs. */
static unsigned steps_within(cl_uint count)
{
    unsigned steps = (unsigned)__builtin_ctz(count);
    if (steps <= SECTION_STEPS)
        return steps;
    return SECTION_STEPS - (steps - SECTION_STEPS) % 2;
}

static void transform(struct workload *w, const struct shape *shapes, cl_mem numbers, cl_uint count)
{
    cl_kernel apart = workload_kernel(w, "transform_apart");
    cl_kernel sections = workload_kernel(w, "transform_sections");
    cl_uint section = 1u << steps_within(count), quads = count / 4;
    for (cl_uint stride = count / 4; stride >= section; stride /= 4) {
        workload_args(w, apart, ARG(numbers), ARG(stride), ARG(quads));
        workload_launch(w, apart, &shapes[BLOCK], pieces(quads, shapes[BLOCK].x), 1, 1);
    }
    workload_args(w, sections, ARG(numbers));
    workload_launch(w, sections, &shapes[SECTION_BLOCK], count / section, 1, 1);
}

int main(int argc, char **argv)
{
    struct workload *w = workload_open(&program, argc, argv);
    cl_uint count = (cl_uint)option(w, ELEMENTS), taps = (cl_uint)option(w, FILTER);
    float *data = zeroed(count, sizeof *data), *filter = zeroed(count, sizeof *filter);
    double *expected = zeroed(count, sizeof *expected);
    for (cl_uint i = 0; i < count; i++)
        data[i] = random_float(w, 0, 1);
    for (cl_uint i = 0; i < taps; i++)
        filter[i] = random_float(w, 0, 1);
    for (cl_uint i = 0; i < count; i++)
        for (cl_uint j = 0; j < taps; j++)
            expected[i] += (double)data[i ^ j] * filter[j];

    struct shape shapes[] = {{"BLOCK", 256}, {"SECTION_BLOCK", option(w, SECTIONS)}};
    unsigned steps = steps_within(count);
    workload_build(w, shapes, 2, "-D SECTION=%u -D SECTION_STEPS=%u", 1u << steps, steps);
    cl_mem data_device = workload_input(w, data, count * sizeof *data);
    cl_mem filter_device = workload_input(w, filter, count * sizeof *filter);
    transform(w, shapes, data_device, count);
    transform(w, shapes, filter_device, count);
    cl_kernel multiply = workload_kernel(w, "multiply");
    float factor = 1 / (float)count; /* transforming twice multiplies by the length */
    workload_args(w, multiply, ARG(data_device), ARG(filter_device), ARG(factor), ARG(count));
    workload_launch(w, multiply, &shapes[BLOCK], pieces(count, shapes[BLOCK].x), 1, 1);
    transform(w, shapes, data_device, count);

    workload_read(w, data_device, data, count * sizeof *data);
    /* Three transforms round log2(count) times each; a result sums up parts that are up to taps. */
    double roundings = 3.0 * __builtin_ctz(count) + 2;
    check_floats(w, "convolved", data, expected, count, 0, roundings * 0x1p-24 * taps);
    free(data);
    free(filter);
    free(expected);
    return workload_close(w);
}
