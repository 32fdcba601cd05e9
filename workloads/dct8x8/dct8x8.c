/* Cosine transforms of a picture's 8x8 tiles, as picture formats use them. */
#include "common/workload.h"
#include <math.h>
#include <stdlib.h>

enum {
    WIDTH,
    HEIGHT,
};

enum {
    SIDE = 8, /* of a tile; a block has a thread for each of its pixels */
};

static const struct option_row options[] = {
    [WIDTH] = {"width", "pixels", "image width", 512, 256, 8, 16384, .multiple = SIDE},
    [HEIGHT] = {"height", "pixels", "image height", 512, 256, 8, 16384, .multiple = SIDE},
    {0},
};

static const struct program program = {"dct8x8", "Cosine transforms of the 8x8 tiles of an image.",
                                       options};

/* turn[u][x]: the wave of frequency u at place x, scaled so that the matrix is orthogonal. */
static void waves(double turn[SIDE][SIDE])
{
    for (int u = 0; u < SIDE; u++)
        for (int x = 0; x < SIDE; x++)
            turn[u][x] = sqrt((u ? 2.0 : 1.0) / SIDE) * cos((2 * x + 1) * u * M_PI / (2 * SIDE));
}

/* The definition: every coefficient of a tile from all of its pixels. */
static void transform(const float *from, double *to, size_t stride, double turn[SIDE][SIDE])
{
    for (int v = 0; v < SIDE; v++)
        for (int u = 0; u < SIDE; u++) {
            double sum = 0;
            for (int y = 0; y < SIDE; y++)
                for (int x = 0; x < SIDE; x++)
                    sum += turn[v][y] * turn[u][x] * from[y * stride + x];
            to[v * stride + u] = sum;
        }
}

int main(int argc, char **argv)
{
    struct workload *w = workload_open(&program, argc, argv);
    cl_uint width = (cl_uint)option(w, WIDTH), height = (cl_uint)option(w, HEIGHT);
    size_t count = (size_t)width * height;
    float *picture = zeroed(count, sizeof *picture), table[SIDE][SIDE];
    double *expected = zeroed(count, sizeof *expected), turn[SIDE][SIDE];
    waves(turn);
    for (int u = 0; u < SIDE; u++)
        for (int x = 0; x < SIDE; x++)
            table[u][x] = (float)turn[u][x];
    for (size_t i = 0; i < count; i++)
        picture[i] = (float)random_below(w, 256) - 128; /* grey values around zero */
    for (cl_uint y = 0; y < height; y += SIDE)
        for (cl_uint x = 0; x < width; x += SIDE)
            transform(picture + (size_t)y * width + x, expected + (size_t)y * width + x, width,
                      turn);

    struct shape block = {"BLOCK", SIDE, SIDE};
    workload_build(w, &block, 1, NULL);
    if (block.x != SIDE || block.y != SIDE)
        fail(w, "a tile needs a block of 8x8 threads");
    cl_mem from = workload_input(w, picture, count * sizeof *picture);
    cl_mem to = workload_output(w, count * sizeof *picture);
    cl_mem table_device = workload_input(w, table, sizeof table);
    cl_kernel kernel = workload_kernel(w, "transform");
    workload_args(w, kernel, ARG(from), ARG(to), ARG(table_device), ARG(width));
    workload_launch(w, kernel, &block, width / SIDE, height / SIDE, 1);

    workload_read(w, to, picture, count * sizeof *picture);
    /* Each of the two passes rounds its table, products and sums: ten roundings of terms whose
     * sizes sum up to at most 8 * 8 * 128 / 4. */
    check_floats(w, "coefficients", picture, expected, count, 0, 20 * 0x1p-24 * 2048);
    free(picture);
    free(expected);
    return workload_close(w);
}
