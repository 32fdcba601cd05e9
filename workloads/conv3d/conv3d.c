/*
 * Convolution of a volume with a kernel of 3x3x3 points, a launch for each plane. Points are
 * integers and weights are multiples of a quarter, so that sums are exact in any order.
 */
#include "common/workload.h"
#include <stdlib.h>

enum {
    WIDTH,
    HEIGHT,
    DEPTH,
};

static const struct option_row options[] = {
    [WIDTH] = {"width", NULL, "points along x", 256, 64, 3, 1024},
    [HEIGHT] = {"height", NULL, "points along y", 256, 64, 3, 1024},
    [DEPTH] = {"depth", NULL, "points along z; a launch for each but the first and the last", 16, 8,
               3, 1024},
    {0},
};

static const struct program program = {"conv3d", "Convolution of a volume with 3x3x3 weights.",
                                       options};

/* The weights by place: [z][y][x], each from -1 to 1. */
static const double weights[3][3][3] = {
    {{2.00, 0, -1.50}, {0, 0, 0}, {-3.25, 0, 4.50}},
    {{0, 5.00, 0}, {0, 6.50, 0}, {0, -8.75, 0}},
    {{0.50, 0, 7.25}, {0, 0, 0}, {-0.75, 0, -9.00}},
};

/* From the input's side: every point adds to the results around it. */
static void scatter(const float *volume, double *result, int width, int height, int depth)
{
    for (int i = 0; i < width * height * depth; i++)
        for (int k = 0; k < 27; k++) {
            int x = i % width - (k % 3 - 1), y = i / width % height - (k / 3 % 3 - 1);
            int z = i / (width * height) - (k / 9 - 1);
            if (x > 0 && x < width - 1 && y > 0 && y < height - 1 && z > 0 && z < depth - 1)
                result[(z * height + y) * width + x] +=
                    weights[k / 9][k / 3 % 3][k % 3] * (double)volume[i];
        }
}

int main(int argc, char **argv)
{
    struct workload *w = workload_open(&program, argc, argv);
    cl_int width = (cl_int)option(w, WIDTH), height = (cl_int)option(w, HEIGHT);
    cl_int depth = (cl_int)option(w, DEPTH);
    size_t count = (size_t)width * height * depth;
    float *points = zeroed(count, sizeof *points);
    double *expected = zeroed(count, sizeof *expected);
    for (size_t i = 0; i < count; i++)
        points[i] = (float)random_below(w, 256);
    scatter(points, expected, width, height, depth);

    struct shape block = {"BLOCK", 32, 8};
    workload_build(w, &block, 1, NULL);
    cl_mem volume = workload_input(w, points, count * sizeof *points);
    cl_mem result = workload_output(w, count * sizeof *points);
    cl_kernel kernel = workload_kernel(w, "convolve_plane");
    for (cl_int z = 1; z < depth - 1; z++) {
        workload_args(w, kernel, ARG(volume), ARG(result), ARG(width), ARG(height), ARG(depth),
                      ARG(z));
        workload_launch(w, kernel, &block, pieces(width, block.x), pieces(height, block.y), 1);
    }

    workload_read(w, result, points, count * sizeof *points);
    check_floats(w, "points", points, expected, count, 0, 0);
    free(points);
    free(expected);
    return workload_close(w);
}
