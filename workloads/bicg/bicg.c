/*
 * The two products of a step of the biconjugate gradient method: q = A p and s = transpose(A) r.
 * All numbers are small integers, held as floats: sums are exact in any order.
 */
#include "common/workload.h"
#include <stdlib.h>

enum {
    ROWS,
    COLUMNS,
};

enum {
    LARGEST = 15,   /* of all numbers, without sign */
    MOST = 1 << 15, /* rows or columns: as many products of 225 are below 2^24 */
};

static const struct option_row options[] = {
    [ROWS] = {"rows", NULL, "rows of the matrix", 4096, 300, 1, MOST},
    [COLUMNS] = {"columns", NULL, "columns of the matrix", 4096, 280, 1, MOST},
    {0},
};

static const struct program program = {
    "bicg", "The matrix-vector products of the biconjugate gradient method.", options};

static float *random_integers(struct workload *w, size_t count)
{
    float *numbers = zeroed(count, sizeof *numbers);
    for (size_t i = 0; i < count; i++)
        numbers[i] = (float)random_below(w, 2 * LARGEST + 1) - LARGEST;
    return numbers;
}

/* Both products in one pass over the matrix, from its last element to its first. */
static void multiply(const float *matrix, const float *p, const float *r, double *q, double *s,
                     size_t rows, size_t columns)
{
    for (size_t i = rows * columns; i-- > 0;) {
        q[i / columns] += (double)matrix[i] * p[i % columns];
        s[i % columns] += (double)matrix[i] * r[i / columns];
    }
}

int main(int argc, char **argv)
{
    struct workload *w = workload_open(&program, argc, argv);
    cl_int rows = (cl_int)option(w, ROWS), columns = (cl_int)option(w, COLUMNS);
    size_t count = (size_t)rows * columns;
    float *matrix = random_integers(w, count);
    float *p = random_integers(w, columns), *r = random_integers(w, rows);
    double *expected_q = zeroed(rows, sizeof *expected_q);
    double *expected_s = zeroed(columns, sizeof *expected_s);
    multiply(matrix, p, r, expected_q, expected_s, rows, columns);

    struct shape block = {"BLOCK", 256};
    workload_build(w, &block, 1, NULL);
    cl_mem matrix_device = workload_input(w, matrix, count * sizeof *matrix);
    cl_mem p_device = workload_input(w, p, columns * sizeof *p);
    cl_mem r_device = workload_input(w, r, rows * sizeof *r);
    cl_mem q_device = workload_output(w, rows * sizeof(float));
    cl_mem s_device = workload_output(w, columns * sizeof(float));
    cl_kernel direct = workload_kernel(w, "times_matrix");
    cl_kernel transposed = workload_kernel(w, "times_transpose");
    workload_args(w, transposed, ARG(matrix_device), ARG(r_device), ARG(s_device), ARG(rows),
                  ARG(columns));
    workload_launch(w, transposed, &block, pieces(columns, block.x), 1, 1);
    workload_args(w, direct, ARG(matrix_device), ARG(p_device), ARG(q_device), ARG(rows),
                  ARG(columns));
    workload_launch(w, direct, &block, pieces(rows, block.x), 1, 1);

    workload_read(w, q_device, r, rows * sizeof *r);
    workload_read(w, s_device, p, columns * sizeof *p);
    check_floats(w, "q", r, expected_q, rows, 0, 0);
    check_floats(w, "s", p, expected_s, columns, 0, 0);
    free(matrix);
    free(p);
    free(r);
    free(expected_q);
    free(expected_s);
    return workload_close(w);
}
