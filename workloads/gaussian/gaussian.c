/*
 * Solves a system of linear equations by Gaussian elimination, a launch a column. Columns are
 * eliminated in all other rows, so what remains is a diagonal, by which the host divides.
 */
#include "common/workload.h"
#include <math.h>
#include <stdlib.h>
#include <string.h>

enum {
    SIZE,
    BLOCK,
};

static const struct option_row options[] = {
    [SIZE] = {"size", NULL, "number of equations and of unknowns", 48, 32, 1, 2048},
    [BLOCK] = {"block", "threads", "side of a block", 16, 0, 1, 32, POWER_OF_TWO},
    {0},
};

static const struct program program = {
    "gaussian", "Solves a system of linear equations by Gaussian elimination.", options};

/* Numbers on the diagonal exceed the sum of their rows, so no pivots need be looked for. */
static void random_system(struct workload *w, float *matrix, float *right, int size)
{
    for (int y = 0; y < size; y++) {
        for (int x = 0; x < size; x++)
            matrix[y * size + x] = random_float(w, -1, 1);
        matrix[y * size + y] = (float)size + random_float(w, 0, (float)size);
        right[y] = random_float(w, -100, 100);
    }
}

static void swap_rows(double *a, double *b, int size)
{
    for (int x = 0; x < size; x++) {
        double kept = a[x];
        a[x] = b[x];
        b[x] = kept;
    }
}

/* Elimination below the diagonal with the largest pivots, then substitution from the last row up.
 * right becomes the solution. */
static void solve(double *matrix, double *right, int size)
{
    for (int k = 0; k < size; k++) {
        int pivot = k;
        for (int y = k + 1; y < size; y++)
            if (fabs(matrix[y * size + k]) > fabs(matrix[pivot * size + k]))
                pivot = y;
        swap_rows(matrix + k * size, matrix + pivot * size, size);
        swap_rows(right + k, right + pivot, 1);
        for (int y = k + 1; y < size; y++) {
            double factor = matrix[y * size + k] / matrix[k * size + k];
            for (int x = k; x < size; x++)
                matrix[y * size + x] -= factor * matrix[k * size + x];
            right[y] -= factor * right[k];
        }
    }
    for (int y = size - 1; y >= 0; y--) {
        for (int x = y + 1; x < size; x++)
            right[y] -= matrix[y * size + x] * right[x];
        right[y] /= matrix[y * size + y];
    }
}

int main(int argc, char **argv)
{
    struct workload *w = workload_open(&program, argc, argv);
    cl_int size = (cl_int)option(w, SIZE);
    size_t count = (size_t)size * size;
    float *matrix = zeroed(count, sizeof *matrix), *right = zeroed(size, sizeof *right);
    double *exact = zeroed(count, sizeof *exact), *expected = zeroed(size, sizeof *expected);
    random_system(w, matrix, right, size);
    for (size_t i = 0; i < count; i++)
        exact[i] = matrix[i];
    for (int i = 0; i < size; i++)
        expected[i] = right[i];
    solve(exact, expected, size);

    struct shape block = {"BLOCK", option(w, BLOCK), option(w, BLOCK)};
    workload_build(w, &block, 1, NULL);
    cl_mem matrix_device = workload_input(w, matrix, count * sizeof *matrix);
    cl_mem right_device = workload_input(w, right, size * sizeof *right);
    cl_kernel kernel = workload_kernel(w, "eliminate");
    for (cl_int column = 0; column < size; column++) {
        workload_args(w, kernel, ARG(matrix_device), ARG(right_device), ARG(size), ARG(column));
        workload_launch(w, kernel, &block, pieces(size, block.x), pieces(size, block.y), 1);
    }

    workload_read(w, matrix_device, matrix, count * sizeof *matrix);
    workload_read(w, right_device, right, size * sizeof *right);
    double largest = 0;
    for (int i = 0; i < size; i++) {
        right[i] /= matrix[i * size + i];
        largest = fmax(largest, fabs(expected[i]));
    }
    /* Factors are below one and elements do not grow, so each of the columns adds a few roundings
     * of numbers no larger than the largest, and the dominant diagonal does not magnify them. */
    check_floats(w, "solution", right, expected, size, 0, 4.0 * size * 0x1p-24 * largest);
    free(matrix);
    free(right);
    free(exact);
    free(expected);
    return workload_close(w);
}
