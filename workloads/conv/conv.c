/* Filters a picture with a separable kernel: rows, then columns. */
#include "common/workload.h"
#include <stdlib.h>

enum {
    WIDTH,
    HEIGHT,
    RADIUS,
};

enum {
    RESULTS = 8, /* pixels of a thread */
    MOST_TAPS = 17,
};

static const struct option_row options[] = {
    [WIDTH] = {"width", "pixels", "image width", 512, 128, 1, 16384},
    [HEIGHT] = {"height", "pixels", "image height", 512, 128, 1, 16384},
    [RADIUS] = {"radius", "pixels", "filter radius", 8, 0, 1, MOST_TAPS / 2},
    {0},
};

static const struct program program = {"conv", "Filters an image with a separable kernel.",
                                       options};

enum {
    ROWS,
    COLUMNS,
};

/* One pass on the host: results are sums over pixels that lie dx and dy apart. */
static double *pass(const double *from, const float *weights, int radius, int width, int height,
                    int dx, int dy)
{
    double *to = zeroed((size_t)width * height, sizeof *to);
    for (int y = 0; y < height; y++)
        for (int x = 0; x < width; x++)
            for (int k = -radius; k <= radius; k++) {
                int column = x + k * dx, row = y + k * dy;
                if (column >= 0 && column < width && row >= 0 && row < height)
                    to[y * width + x] += weights[k + radius] * from[row * width + column];
            }
    return to;
}

int main(int argc, char **argv)
{
    struct workload *w = workload_open(&program, argc, argv);
    cl_int width = (cl_int)option(w, WIDTH), height = (cl_int)option(w, HEIGHT);
    int radius = (int)option(w, RADIUS), taps = 2 * radius + 1;
    size_t count = (size_t)width * height;
    float *picture = zeroed(count, sizeof *picture), weights[MOST_TAPS];
    double *exact = zeroed(count, sizeof *exact);
    for (size_t i = 0; i < count; i++)
        exact[i] = picture[i] = random_float(w, 0, 1);
    for (int k = 0; k < taps; k++)
        weights[k] = random_float(w, 0, 1) / (float)taps;

    struct shape shapes[] = {{"ROWS", 16, 4}, {"COLUMNS", 16, 8}};
    workload_build(w, shapes, 2, "-D RADIUS=%d -D RESULTS=%d", radius, RESULTS);
    const struct shape *rows = &shapes[ROWS], *columns = &shapes[COLUMNS];
    cl_mem from = workload_input(w, picture, count * sizeof *picture);
    cl_mem between = workload_output(w, count * sizeof *picture);
    cl_mem to = workload_output(w, count * sizeof *picture);
    cl_mem weights_device = workload_input(w, weights, taps * sizeof *weights);
    cl_kernel kernel = workload_kernel(w, "convolve_rows");
    workload_args(w, kernel, ARG(from), ARG(between), ARG(weights_device), ARG(width), ARG(height));
    workload_launch(w, kernel, rows, pieces(width, RESULTS * rows->x), pieces(height, rows->y), 1);
    kernel = workload_kernel(w, "convolve_columns");
    workload_args(w, kernel, ARG(between), ARG(to), ARG(weights_device), ARG(width), ARG(height));
    workload_launch(w, kernel, columns, pieces(width, columns->x),
                    pieces(height, RESULTS * columns->y), 1);

    workload_read(w, to, picture, count * sizeof *picture);
    double *once = pass(exact, weights, radius, width, height, 1, 0);
    double *twice = pass(once, weights, radius, width, height, 0, 1);
    /* Positive terms: a pass rounds each product and each sum. */
    check_floats(w, "filtered", picture, twice, count, 2 * (taps + 1) * 0x1p-24, 0);
    free(picture);
    free(exact);
    free(once);
    free(twice);
    return workload_close(w);
}
