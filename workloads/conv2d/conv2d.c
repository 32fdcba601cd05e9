/*
 * Filters a picture with a separable kernel, a thread a pixel, every pixel from global memory as
 * from a texture. (`conv` is the same with tiles in local memory.)
 */
#include "common/workload.h"
#include <stdlib.h>

enum {
    WIDTH,
    HEIGHT,
    RADIUS,
};

enum {
    MOST_RADIUS = 32,
};

static const struct option_row options[] = {
    [WIDTH] = {"width", "pixels", "image width", 512, 128, 1, 16384},
    [HEIGHT] = {"height", "pixels", "image height", 448, 112, 1, 16384},
    [RADIUS] = {"radius", "pixels", "filter radius", 8, 0, 1, MOST_RADIUS},
    {0},
};

static const struct program program = {
    "conv2d", "Filters an image with a separable kernel, without local memory.", options};

static int nearest(int place, int length)
{
    return place < 0 ? 0 : place >= length ? length - 1 : place;
}

/* The whole filter at once: the product of its weights along the rows and along the columns. */
static double filtered(const float *picture, const float *weights, int radius, int width,
                       int height, int x, int y)
{
    double sum = 0;
    for (int j = -radius; j <= radius; j++)
        for (int i = -radius; i <= radius; i++)
            sum += (double)weights[radius - j] * weights[radius - i] *
                   picture[(size_t)nearest(y + j, height) * width + nearest(x + i, width)];
    return sum;
}

static void pass(struct workload *w, const char *name, const struct shape *block, cl_mem from,
                 cl_mem to, cl_mem weights, cl_int width, cl_int height)
{
    cl_kernel kernel = workload_kernel(w, name);
    workload_args(w, kernel, ARG(from), ARG(to), ARG(weights), ARG(width), ARG(height));
    workload_launch(w, kernel, block, pieces(width, block->x), pieces(height, block->y), 1);
}

int main(int argc, char **argv)
{
    struct workload *w = workload_open(&program, argc, argv);
    cl_int width = (cl_int)option(w, WIDTH), height = (cl_int)option(w, HEIGHT);
    int radius = (int)option(w, RADIUS), taps = 2 * radius + 1;
    size_t count = (size_t)width * height;
    float *picture = zeroed(count, sizeof *picture), weights[2 * MOST_RADIUS + 1];
    double *expected = zeroed(count, sizeof *expected);
    for (size_t i = 0; i < count; i++)
        picture[i] = random_float(w, 0, 1);
    for (int k = 0; k < taps; k++)
        weights[k] = random_float(w, 0, 1) / (float)taps;
    for (int y = 0; y < height; y++)
        for (int x = 0; x < width; x++)
            expected[(size_t)y * width + x] =
                filtered(picture, weights, radius, width, height, x, y);

    struct shape block = {"BLOCK", 16, 16};
    workload_build(w, &block, 1, "-D RADIUS=%d", radius);
    cl_mem from = workload_input(w, picture, count * sizeof *picture);
    cl_mem between = workload_output(w, count * sizeof *picture);
    cl_mem to = workload_output(w, count * sizeof *picture);
    cl_mem weights_device = workload_input(w, weights, taps * sizeof *weights);
    pass(w, "convolve_rows", &block, from, between, weights_device, width, height);
    pass(w, "convolve_columns", &block, between, to, weights_device, width, height);

    workload_read(w, to, picture, count * sizeof *picture);
    /* Positive terms: a pass rounds each product and each sum. */
    check_floats(w, "filtered", picture, expected, count, 2 * (taps + 1) * 0x1p-24, 0);
    free(picture);
    free(expected);
    return workload_close(w);
}
