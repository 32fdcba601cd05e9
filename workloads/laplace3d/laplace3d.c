/* Laplace's equation in a box: each point becomes the mean of its six neighbours, again and again.
 */
#include "common/workload.h"
#include <stdlib.h>
#include <string.h>

enum {
    WIDTH,
    HEIGHT,
    DEPTH,
    ROUNDS,
};

static const struct option_row options[] = {
    [WIDTH] = {"width", NULL, "points along x", 100, 64, 1, 1024},
    [HEIGHT] = {"height", NULL, "points along y", 100, 32, 1, 1024},
    [DEPTH] = {"depth", NULL, "points along z, the direction in which blocks advance", 100, 40, 1,
               1024},
    [ROUNDS] = {"rounds", NULL, "number of iterations", 1, 0, 1, 10000},
    {0},
};

static const struct program program = {
    "laplace3d", "Solves Laplace's equation in a box, with planes in local memory.", options};

/* One round on the host; the faces of the box stay as they are. */
static void relax(const double *from, double *to, int width, int height, int depth)
{
    int row = width, plane = width * height;
    for (int z = 0; z < depth; z++)
        for (int y = 0; y < height; y++)
            for (int x = 0; x < width; x++) {
                const double *here = from + z * plane + y * row + x;
                bool face = x == 0 || x == width - 1 || y == 0 || y == height - 1 || z == 0 ||
                            z == depth - 1;
                to[z * plane + y * row + x] = face ? *here
                                                   : (here[-1] + here[1] + here[-row] + here[row] +
                                                      *(here - plane) + here[plane]) /
                                                         6;
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
    cl_mem to = workload_output(w, count * sizeof *points);
    cl_kernel kernel = workload_kernel(w, "relax");
    for (long i = 0; i < rounds; i++) {
        workload_args(w, kernel, ARG(from), ARG(to), ARG(width), ARG(height), ARG(depth));
        workload_launch(w, kernel, &block, pieces(width, block.x), pieces(height, block.y), 1);
        cl_mem other = from;
        from = to;
        to = other;
    }

    for (long i = 0; i < rounds; i++) {
        memcpy(before, expected, count * sizeof *before);
        relax(before, expected, width, height, depth);
    }
    workload_read(w, from, points, count * sizeof *points);
    /* Positive terms: a round rounds five sums, a sixth and the product with it. */
    check_floats(w, "points", points, expected, count, (double)rounds * 7 * 0x1p-24, 0);
    free(points);
    free(before);
    free(expected);
    return workload_close(w);
}
