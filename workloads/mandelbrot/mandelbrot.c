/* The Mandelbrot set, in fixed-point numbers: loops of different lengths in neighbouring threads. */
#include "common/workload.h"
#include <stdio.h>
#include <stdlib.h>

enum {
    WIDTH,
    HEIGHT,
    ROUNDS,
};

static const struct option_row options[] = {
    [WIDTH] = {"width", NULL, "points of a row", 256, 64, 1, 16384},
    [HEIGHT] = {"height", NULL, "rows", 128, 32, 1, 16384},
    [ROUNDS] = {"rounds", NULL, "most rounds of a point", 64, 32, 1, 65536},
    {0},
};

static const struct program program = {"mandelbrot", "Draws the Mandelbrot set.", options};

static cl_uint rounds_of(int64_t column, int64_t row, int64_t width, int64_t height, cl_int rounds)
{
    const int64_t one = 1 << 26, x0 = column * 3 * one / width - 2 * one,
                  y0 = row * 2 * one / height - one;
    int64_t x = 0, y = 0;
    for (cl_int round = 0; round < rounds; round++) {
        const int64_t xx = x * x >> 26, yy = y * y >> 26;
        if (xx + yy > 4 * one)
            return (cl_uint)round;
        y = (x * y >> 25) + y0;
        x = xx - yy + x0;
    }
    return (cl_uint)rounds;
}

int main(int argc, char **argv)
{
    struct workload *w = workload_open(&program, argc, argv);
    const cl_int width = (cl_int)option(w, WIDTH), height = (cl_int)option(w, HEIGHT),
                 rounds = (cl_int)option(w, ROUNDS);
    const size_t points = (size_t)width * (size_t)height;
    struct shape block = {"BLOCK", 16, 16};
    workload_build(w, &block, 1, NULL);
    cl_mem out = workload_output(w, points * sizeof(cl_uint));
    cl_kernel kernel = workload_kernel(w, "mandelbrot");
    workload_args(w, kernel, ARG(out), ARG(width), ARG(height), ARG(rounds));
    workload_launch(w, kernel, &block, pieces((size_t)width, block.x),
                    pieces((size_t)height, block.y), 1);

    cl_uint *found = zeroed(points, sizeof *found), *expected = zeroed(points, sizeof *expected);
    size_t inside = 0;
    for (size_t i = 0; i < points; i++) {
        expected[i] = rounds_of((int64_t)i % width, (int64_t)i / width, width, height, rounds);
        inside += expected[i] == (cl_uint)rounds;
    }
    workload_read(w, out, found, points * sizeof *found);
    check_ints(w, "rounds of points", found, expected, points);
    printf("%zu of %zu points are still inside after %d rounds\n", inside, points, rounds);
    free(found);
    free(expected);
    return workload_close(w);
}
