/* Many Fourier transforms of complex numbers at once, a block each. */
#include "common/workload.h"
#include <math.h>
#include <stdlib.h>

enum {
    TRANSFORMS,
    POINTS,
};

static const struct option_row options[] = {
    [TRANSFORMS] = {"transforms", NULL, "number of transforms", 256, 32, 1, 65536},
    [POINTS] = {"points", NULL, "points per transform", .value = 1, .choices = "64|512|4096"},
    {0},
};

static const struct program program = {"fft", "Complex radix-8 Fourier transforms, one per block.",
                                       options};

/* exp(-2 pi i k / points) for all k: real and imaginary parts in turn. */
static double *circle(size_t points)
{
    double *turns = zeroed(2 * points, sizeof *turns);
    for (size_t k = 0; k < points; k++) {
        double angle = -2 * M_PI * (double)k / (double)points;
        turns[2 * k] = cos(angle);
        turns[2 * k + 1] = sin(angle);
    }
    return turns;
}

/* The definition: every result from every point. */
static void transform(const float *from, double *to, const double *turns, size_t points)
{
    for (size_t k = 0; k < points; k++) {
        double real = 0, imaginary = 0;
        for (size_t i = 0; i < points; i++) {
            const double *turn = turns + 2 * (i * k % points);
            real += from[2 * i] * turn[0] - from[2 * i + 1] * turn[1];
            imaginary += from[2 * i] * turn[1] + from[2 * i + 1] * turn[0];
        }
        to[2 * k] = real;
        to[2 * k + 1] = imaginary;
    }
}

int main(int argc, char **argv)
{
    struct workload *w = workload_open(&program, argc, argv);
    size_t transforms = option(w, TRANSFORMS), points = (size_t)64 << 3 * option(w, POINTS);
    if (points / 8 > workload_block_limit(w))
        fail(w, "%zu points need blocks of %zu threads; this device has %zu at most", points,
             points / 8, workload_block_limit(w));
    size_t count = 2 * transforms * points; /* of floats: a complex number is two */
    double *turns = circle(points), *expected = zeroed(count, sizeof *expected);
    float *numbers = zeroed(count, sizeof *numbers), *table = zeroed(2 * points, sizeof *table);
    for (size_t i = 0; i < count; i++)
        numbers[i] = random_float(w, -1, 1);
    for (size_t i = 0; i < 2 * points; i++)
        table[i] = (float)turns[i];
    for (size_t i = 0; i < count; i += 2 * points)
        transform(numbers + i, expected + i, turns, points);

    struct shape block = {"BLOCK", points / 8};
    workload_build(w, &block, 1, "-D POINTS=%zu", points);
    if (block.x != points / 8)
        fail(w, "the kernel needs too many registers for blocks of %zu threads", points / 8);
    cl_mem from = workload_input(w, numbers, count * sizeof *numbers);
    cl_mem to = workload_output(w, count * sizeof *numbers);
    cl_mem turns_device = workload_input(w, table, 2 * points * sizeof *table);
    cl_kernel kernel = workload_kernel(w, "transform");
    workload_args(w, kernel, ARG(from), ARG(to), ARG(turns_device));
    workload_launch(w, kernel, &block, transforms, 1, 1);

    workload_read(w, to, numbers, count * sizeof *numbers);
    /* Errors spread evenly over the results: a few roundings in each of log2(points) steps, of
     * results that are about sqrt(points). */
    double tolerance = 4 * log2((double)points) * 0x1p-24 * sqrt((double)points);
    check_floats(w, "spectrum", numbers, expected, count, 0, tolerance);
    free(turns);
    free(expected);
    free(numbers);
    free(table);
    return workload_close(w);
}
