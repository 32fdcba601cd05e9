/* The electric potential of point charges on a grid of points: arithmetic and reciprocal roots. */
#include "common/workload.h"
#include <math.h>
#include <stdlib.h>

enum {
    WIDTH,
    HEIGHT,
    CHARGES,
};

enum {
    POINTS = 2, /* of a thread */
};

static const struct option_row options[] = {
    [WIDTH] = {"width", "points", "width of the grid", 256, 60, 1, 16384},
    [HEIGHT] = {"height", "points", "height of the grid", 256, 60, 1, 16384},
    [CHARGES] = {"charges", NULL, "number of charges", 224, 0, 1, 4096},
    {0},
};

static const struct program program = {
    "nbody-potential", "Computes the electric potential of point charges on a grid.", options};

static const float spacing = 0.1f; /* of the grid's points */

/* x and y, height above the grid squared, charge. */
static float *random_charges(struct workload *w, size_t count, float width, float height)
{
    float *charges = zeroed(4 * count, sizeof *charges);
    for (size_t i = 0; i < count; i++) {
        charges[4 * i] = random_float(w, 0, width);
        charges[4 * i + 1] = random_float(w, 0, height);
        charges[4 * i + 2] = random_float(w, 0.25f, 100);
        charges[4 * i + 3] = random_float(w, 0.5f, 2);
    }
    return charges;
}

static double potential(const float *charges, size_t count, double x, double y)
{
    double sum = 0;
    for (size_t i = 0; i < count; i++, charges += 4) {
        double dx = x - charges[0], dy = y - charges[1];
        sum += charges[3] / sqrt(dx * dx + dy * dy + charges[2]);
    }
    return sum;
}

int main(int argc, char **argv)
{
    struct workload *w = workload_open(&program, argc, argv);
    cl_uint width = (cl_uint)option(w, WIDTH), height = (cl_uint)option(w, HEIGHT);
    cl_uint count = (cl_uint)option(w, CHARGES);
    size_t points = (size_t)width * height;
    float *charges = random_charges(w, count, (float)width * spacing, (float)height * spacing);
    double *expected = zeroed(points, sizeof *expected);
    for (cl_uint y = 0; y < height; y++)
        for (cl_uint x = 0; x < width; x++)
            expected[(size_t)y * width + x] =
                potential(charges, count, x * (double)spacing, y * (double)spacing);

    struct shape block = {"BLOCK", 16, 8};
    workload_build(w, &block, 1, "-D POINTS=%d", POINTS);
    cl_mem charges_device = workload_input(w, charges, 4 * count * sizeof *charges);
    cl_mem map_device = workload_output(w, points * sizeof(float));
    cl_kernel kernel = workload_kernel(w, "potential");
    workload_args(w, kernel, ARG(charges_device), ARG(map_device), ARG(count), ARG(width),
                  ARG(height), ARG(spacing));
    workload_launch(w, kernel, &block, pieces(width, POINTS * block.x), pieces(height, block.y), 1);

    float *map = zeroed(points, sizeof *map);
    workload_read(w, map_device, map, points * sizeof *map);
    /* Positive terms: each sum rounds once. A term is off by what its distance is, about as much as
     * the grid is long in ULP of coordinates over the least height, and by a native root, which
     * devices give to 20 bits at least. */
    double reach = fmax(width, height) * spacing;
    check_floats(w, "map", map, expected, points, count * 0x1p-24 + 0x1p-20 + 4 * reach * 0x1p-24,
                 0);
    free(charges);
    free(expected);
    free(map);
    return workload_close(w);
}
