/*
 * LU decomposition of a matrix by tiles, without pivots. The host multiplies the two factors: the
 * result must be the matrix, and no other factors have that product.
 */
#include "common/workload.h"
#include <stdlib.h>

enum {
    SIZE,
};

enum {
    TILE = 16,
};

static const struct option_row options[] = {
    [SIZE] = {"size", NULL, "rows and columns of the matrix", 256, 96, TILE, 4096,
              .multiple = TILE},
    {0},
};

static const struct program program = {"lu", "LU decomposition of a matrix by tiles.", options};

/* Numbers on the diagonal exceed the sum of their rows and columns: no pivots are needed. */
static void random_matrix(struct workload *w, float *matrix, int size)
{
    for (int y = 0; y < size; y++)
        for (int x = 0; x < size; x++)
            matrix[y * size + x] =
                x == y ? (float)size + random_float(w, 0, (float)size) : random_float(w, -1, 1);
}

/* The product of the factors that one array holds. */
static void multiply(const float *factors, float *product, int size)
{
    for (int y = 0; y < size; y++)
        for (int x = 0; x < size; x++) {
            double sum = y <= x ? factors[y * size + x] : 0; /* the ones of L */
            for (int k = 0; k < y && k <= x; k++)
                sum += (double)factors[y * size + k] * factors[k * size + x];
            product[y * size + x] = (float)sum;
        }
}

static void decompose(struct workload *w, cl_mem matrix, cl_int size)
{
    enum {
        DIAGONAL,
        PERIMETER,
        INTERNAL,
        KINDS,
    };
    struct shape shapes[KINDS] = {
        {"DIAGONAL", TILE}, {"PERIMETER", 2 * TILE}, {"INTERNAL", TILE, TILE}};
    workload_build(w, shapes, KINDS, NULL);
    if (shapes[INTERNAL].x != TILE)
        fail(w, "a tile needs a block of %d threads", TILE * TILE);
    cl_kernel diagonal = workload_kernel(w, "diagonal");
    cl_kernel perimeter = workload_kernel(w, "perimeter");
    cl_kernel internal = workload_kernel(w, "internal");
    for (cl_int start = 0; start < size; start += TILE) {
        size_t left = (size_t)(size - start) / TILE - 1;
        workload_args(w, diagonal, ARG(matrix), ARG(size), ARG(start));
        workload_launch(w, diagonal, &shapes[DIAGONAL], 1, 1, 1);
        if (left == 0)
            break;
        workload_args(w, perimeter, ARG(matrix), ARG(size), ARG(start));
        workload_launch(w, perimeter, &shapes[PERIMETER], left, 1, 1);
        workload_args(w, internal, ARG(matrix), ARG(size), ARG(start));
        workload_launch(w, internal, &shapes[INTERNAL], left, left, 1);
    }
}

int main(int argc, char **argv)
{
    struct workload *w = workload_open(&program, argc, argv);
    cl_int size = (cl_int)option(w, SIZE);
    size_t count = (size_t)size * size, bytes = count * sizeof(float);
    float *matrix = zeroed(1, bytes), *product = zeroed(1, bytes);
    double *expected = zeroed(count, sizeof *expected);
    random_matrix(w, matrix, size);
    for (size_t i = 0; i < count; i++)
        expected[i] = matrix[i];

    cl_mem device = workload_input(w, matrix, bytes);
    decompose(w, device, size);
    workload_read(w, device, matrix, bytes);
    multiply(matrix, product, size);
    /* An element is off by at most `size` roundings of the sum of |l| |u|. The dominant diagonal
     * keeps L below 2 / size and U below 2 beside its diagonal, which is below 2 size: that sum is
     * below 6 beside the diagonal, and little more than the element on it. */
    double rounding = (double)size * 0x1p-24;
    check_floats(w, "product of the factors", product, expected, count, rounding, 6 * rounding);
    free(matrix);
    free(product);
    free(expected);
    return workload_close(w);
}
