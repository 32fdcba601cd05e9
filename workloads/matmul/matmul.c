/* Multiplies matrices tile by tile in local memory. The columns of b make the grid's x. */
#include "common/workload.h"
#include <stdlib.h>

enum {
    ROWS,
    COLUMNS,
    INNER,
    TILE,
};

static const struct option_row options[] = {
    [ROWS] = {"rows", NULL, "rows of a and of the product", 128, 64, 1, 16384},
    [COLUMNS] = {"columns", NULL, "columns of b and of the product", 80, 0, 1, 16384},
    [INNER] = {"inner", NULL, "columns of a and rows of b", 48, 0, 1, 16384},
    [TILE] = {"tile", "floats", "side of a tile and of a block", 16, 0, 4, 32, POWER_OF_TWO},
    {0},
};

static const struct program program = {"matmul", "Multiplies two matrices of floats.", options};

static double *multiply(const float *a, const float *b, cl_uint rows, cl_uint columns,
                        cl_uint inner)
{
    double *c = zeroed((size_t)rows * columns, sizeof *c);
    for (cl_uint i = 0; i < rows; i++)
        for (cl_uint k = 0; k < inner; k++)
            for (cl_uint j = 0; j < columns; j++)
                c[i * columns + j] += (double)a[i * inner + k] * b[k * columns + j];
    return c;
}

static float *positive(struct workload *w, size_t count)
{
    float *numbers = zeroed(count, sizeof *numbers);
    for (size_t i = 0; i < count; i++)
        numbers[i] = random_float(w, 0, 1);
    return numbers;
}

int main(int argc, char **argv)
{
    struct workload *w = workload_open(&program, argc, argv);
    cl_uint rows = (cl_uint)option(w, ROWS), columns = (cl_uint)option(w, COLUMNS);
    cl_uint inner = (cl_uint)option(w, INNER);
    size_t count = (size_t)rows * columns;
    float *a = positive(w, (size_t)rows * inner), *b = positive(w, (size_t)inner * columns);

    struct shape block = {"BLOCK", option(w, TILE), option(w, TILE)};
    workload_build(w, &block, 1, NULL);
    cl_mem a_device = workload_input(w, a, (size_t)rows * inner * sizeof *a);
    cl_mem b_device = workload_input(w, b, (size_t)inner * columns * sizeof *b);
    cl_mem c_device = workload_output(w, count * sizeof(float));
    cl_kernel kernel = workload_kernel(w, "multiply");
    workload_args(w, kernel, ARG(a_device), ARG(b_device), ARG(c_device), ARG(rows), ARG(columns),
                  ARG(inner));
    workload_launch(w, kernel, &block, pieces(columns, block.x), pieces(rows, block.y), 1);

    float *c = zeroed(count, sizeof *c);
    workload_read(w, c_device, c, count * sizeof *c);
    double *expected = multiply(a, b, rows, columns, inner);
    /* All terms are positive: each of the sums and products adds at most one rounding. */
    check_floats(w, "c", c, expected, count, (inner + 1) * 0x1p-24, 0);
    free(a);
    free(b);
    free(c);
    free(expected);
    return workload_close(w);
}
