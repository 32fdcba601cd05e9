/* Adds two vectors: one addition for three memory accesses, so memory decides its speed. */
#include "common/workload.h"
#include <stdlib.h>

enum {
    ELEMENTS,
};

static const struct option_row options[] = {
    [ELEMENTS] = {"elements", "floats", "length of the vectors", 262144, 32768, 1, 1 << 28},
    {0},
};

static const struct program program = {"vecadd", "Adds two vectors of floats.", options};

int main(int argc, char **argv)
{
    struct workload *w = workload_open(&program, argc, argv);
    cl_uint count = (cl_uint)option(w, ELEMENTS);
    float *a = zeroed(count, sizeof *a), *b = zeroed(count, sizeof *b);
    double *expected = zeroed(count, sizeof *expected);
    for (cl_uint i = 0; i < count; i++) {
        a[i] = random_float(w, -1, 1);
        b[i] = random_float(w, -1, 1);
        expected[i] = (double)a[i] + b[i];
    }

    struct shape block = {"BLOCK", 256};
    workload_build(w, &block, 1, NULL);
    cl_mem a_device = workload_input(w, a, count * sizeof *a);
    cl_mem b_device = workload_input(w, b, count * sizeof *b);
    cl_mem c_device = workload_output(w, count * sizeof(float));
    cl_kernel add = workload_kernel(w, "add");
    workload_args(w, add, ARG(a_device), ARG(b_device), ARG(c_device), ARG(count));
    workload_launch(w, add, &block, pieces(count, block.x), 1, 1);

    float *c = a; /* the input is not needed any more */
    workload_read(w, c_device, c, count * sizeof *c);
    check_floats(w, "c", c, expected, count, 0x1p-24, 0); /* one rounding */
    free(a);
    free(b);
    free(expected);
    return workload_close(w);
}
