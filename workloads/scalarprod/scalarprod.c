/* Scalar products of many pairs of vectors, a block each: long loads, then a tree reduction. */
#include "common/workload.h"
#include <stdlib.h>

enum {
    VECTORS,
    LENGTH,
};

static const struct option_row options[] = {
    [VECTORS] = {"vectors", NULL, "pairs of vectors", 1024, 256, 1, 65536},
    [LENGTH] = {"length", "floats", "length of a vector", 512, 256, 1, 65536},
    {0},
};

static const struct program program = {
    "scalarprod", "Computes the scalar products of many pairs of vectors.", options};

static double product(const float *a, const float *b, size_t length)
{
    double sum = 0;
    for (size_t i = 0; i < length; i++)
        sum += (double)a[i] * b[i];
    return sum;
}

int main(int argc, char **argv)
{
    struct workload *w = workload_open(&program, argc, argv);
    cl_uint vectors = (cl_uint)option(w, VECTORS), length = (cl_uint)option(w, LENGTH);
    size_t count = (size_t)vectors * length;
    float *a = zeroed(count, sizeof *a), *b = zeroed(count, sizeof *b);
    for (size_t i = 0; i < count; i++) {
        a[i] = random_float(w, 0, 1);
        b[i] = random_float(w, 0, 1);
    }

    struct shape block = {"BLOCK", 256};
    workload_build(w, &block, 1, NULL);
    cl_mem a_device = workload_input(w, a, count * sizeof *a);
    cl_mem b_device = workload_input(w, b, count * sizeof *b);
    cl_mem products_device = workload_output(w, vectors * sizeof(float));
    cl_kernel kernel = workload_kernel(w, "scalar_product");
    workload_args(w, kernel, ARG(a_device), ARG(b_device), ARG(products_device), ARG(length));
    workload_launch(w, kernel, &block, vectors, 1, 1);

    float *products = zeroed(vectors, sizeof *products);
    double *expected = zeroed(vectors, sizeof *expected);
    for (cl_uint i = 0; i < vectors; i++)
        expected[i] = product(a + (size_t)i * length, b + (size_t)i * length, length);
    workload_read(w, products_device, products, vectors * sizeof *products);
    /* Positive terms; a thread rounds each of its own, the tree log2(block) times more. */
    size_t roundings = pieces(length, block.x) + 1 + 10;
    check_floats(w, "products", products, expected, vectors, (double)roundings * 0x1p-24, 0);
    free(a);
    free(b);
    free(products);
    free(expected);
    return workload_close(w);
}
