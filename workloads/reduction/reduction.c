/* Sums an array of integers in local memory, launch by launch until one number is left. */
#include "common/workload.h"
#include <stdlib.h>

enum {
    ELEMENTS,
    BLOCK,
};

static const struct option_row options[] = {
    [ELEMENTS] = {"elements", "integers", "length of the array", 1048576, 65536, 1, 1 << 28},
    [BLOCK] = {"block", "threads", "block size", 256, 0, 1, 1024, POWER_OF_TWO},
    {0},
};

static const struct program program = {"reduction", "Sums an array of integers.", options};

int main(int argc, char **argv)
{
    struct workload *w = workload_open(&program, argc, argv);
    cl_uint count = (cl_uint)option(w, ELEMENTS);
    cl_int *numbers = zeroed(count, sizeof *numbers);
    cl_uint expected = 0; /* unsigned: it may wrap around, here as there */
    for (cl_uint i = 0; i < count; i++) {
        numbers[i] = (cl_int)random_bits(w) >> 8;
        expected += (cl_uint)numbers[i];
    }

    struct shape block = {"BLOCK", option(w, BLOCK)};
    workload_build(w, &block, 1, NULL);
    cl_kernel kernel = workload_kernel(w, "sum_blocks");
    cl_mem from = workload_input(w, numbers, count * sizeof *numbers);
    cl_mem to = workload_output(w, pieces(count, 2 * block.x) * sizeof *numbers);
    cl_uint left = count;
    do { /* what a launch wrote is what the next one sums; the array is overwritten by its sums */
        workload_args(w, kernel, ARG(from), ARG(to), ARG(left));
        left = (cl_uint)pieces(left, 2 * block.x);
        workload_launch(w, kernel, &block, left, 1, 1);
        cl_mem swap = from;
        from = to;
        to = swap;
    } while (left > 1);

    cl_int sum;
    workload_read(w, from, &sum, sizeof sum);
    check_ints(w, "sum", &sum, &expected, 1);
    free(numbers);
    return workload_close(w);
}
