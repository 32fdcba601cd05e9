/* Transposes a matrix by tiles: no arithmetic but addresses, memory traffic otherwise. */
#include "common/workload.h"
#include <stdlib.h>

enum {
    ROWS,
    COLUMNS,
    BLOCK,
};

static const struct option_row options[] = {
    [ROWS] = {"rows", NULL, "rows of the matrix", 1024, 256, 1, 16384},
    [COLUMNS] = {"columns", NULL, "columns of the matrix", 1024, 256, 1, 16384},
    [BLOCK] = {"block", "threads", "side of a block", 16, 0, 1, 32, POWER_OF_TWO},
    {0},
};

static const struct program program = {"transpose", "Transposes a matrix of floats.", options};

int main(int argc, char **argv)
{
    struct workload *w = workload_open(&program, argc, argv);
    cl_uint rows = (cl_uint)option(w, ROWS), columns = (cl_uint)option(w, COLUMNS);
    size_t count = (size_t)rows * columns;
    float *from = zeroed(count, sizeof *from), *to = zeroed(count, sizeof *to);
    float *expected = zeroed(count, sizeof *expected);
    for (size_t i = 0; i < count; i++)
        from[i] = random_float(w, -1, 1);
    for (cl_uint i = 0; i < rows; i++)
        for (cl_uint j = 0; j < columns; j++)
            expected[(size_t)j * rows + i] = from[(size_t)i * columns + j];

    struct shape block = {"BLOCK", option(w, BLOCK), option(w, BLOCK)};
    workload_build(w, &block, 1, NULL);
    cl_mem from_device = workload_input(w, from, count * sizeof *from);
    cl_mem to_device = workload_output(w, count * sizeof *to);
    cl_kernel kernel = workload_kernel(w, "transpose");
    workload_args(w, kernel, ARG(from_device), ARG(to_device), ARG(rows), ARG(columns));
    workload_launch(w, kernel, &block, pieces(columns, block.x), pieces(rows, block.y), 1);

    workload_read(w, to_device, to, count * sizeof *to);
    check_ints(w, "transposed", to, expected, count); /* moved, so the same bits */
    free(from);
    free(to);
    free(expected);
    return workload_close(w);
}
