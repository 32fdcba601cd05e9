/* A stencil of seven points in a box, applied again and again, as in solving the heat equation. */
#include "common/workload.h"
#include <math.h>
#include <stdlib.h>
#include <string.h>

enum {
    WIDTH,
    HEIGHT,
    DEPTH,
    ROUNDS,
};

static const struct option_row options[] = {
    [WIDTH] = {"width", NULL, "points along x", 128, 120, 2, 1024},
    [HEIGHT] = {"height", NULL, "points along y", 128, 22, 2, 1024},
    [DEPTH] = {"depth", NULL, "points along z, the direction in which blocks advance", 32, 16, 2,
               1024},
    [ROUNDS] = {"rounds", NULL, "number of iterations", 8, 2, 1, 1000},
    {0},
};

static const struct program program = {
    "stencil3d", "A stencil of seven points in a box, one plane in local memory.", options};

static const float around = 1 / 6.0f, centre = 1 / 36.0f;

/* One round on the host, a direction after the other; the faces of the box stay as they are. */
static void apply(const double *from, double *to, int width, int height, int depth)
{
    const int steps[] = {1, width, width * height};
    for (int z = 1; z < depth - 1; z++)
        for (int y = 1; y < height - 1; y++)
            for (int x = 1; x < width - 1; x++) {
                int i = (z * height + y) * width + x;
                double sum = 0;
                for (int k = 0; k < 3; k++)
                    sum += from[i - steps[k]] + from[i + steps[k]];
                to[i] = (double)around * sum - (double)centre * from[i];
            }
}

int main(int argc, char **argv)
{
    struct workload *w = workload_open(&program, argc, argv);
    cl_int width = (cl_int)option(w, WIDTH), height = (cl_int)option(w, HEIGHT);
    cl_int depth = (cl_int)option(w, DEPTH);
    long rounds = option(w, ROUNDS);
    size_t count = (size_t)width * height * depth;
    float *points = zeroed(count, sizeof *points);
    double *before = zeroed(count, sizeof *before), *expected = zeroed(count, sizeof *expected);
    for (size_t i = 0; i < count; i++)
        expected[i] = points[i] = random_float(w, 0, 1);

    struct shape block = {"BLOCK", 32, 4};
    workload_build(w, &block, 1, NULL);
    cl_mem from = workload_input(w, points, count * sizeof *points);
    cl_mem to = workload_input(w, points, count * sizeof *points);
    cl_kernel kernel = workload_kernel(w, "stencil");
    size_t plane_bytes = 2 * block.x * block.y * sizeof(float);
    for (long i = 0; i < rounds; i++) {
        workload_args(w, kernel, ARG(from), ARG(to), ARG_LOCAL(plane_bytes), ARG(width),
                      ARG(height), ARG(depth), ARG(around), ARG(centre));
        workload_launch(w, kernel, &block, pieces(width, 2 * block.x), pieces(height, block.y), 1);
        cl_mem other = from;
        from = to;
        to = other;
    }

    for (long i = 0; i < rounds; i++) {
        memcpy(before, expected, count * sizeof *before);
        apply(before, expected, width, height, depth);
    }
    workload_read(w, from, points, count * sizeof *points);
    /* A round rounds five sums, two products and their difference, and magnifies what it is given
     * by the sum of its weights, 37/36. Values are at most that power of it themselves. */
    double growth = pow(37 / 36.0, (double)rounds);
    check_floats(w, "points", points, expected, count, 0, (double)rounds * 8 * 0x1p-24 * growth);
    free(points);
    free(before);
    free(expected);
    return workload_close(w);
}
