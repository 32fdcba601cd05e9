/* Takes noise out of a picture by non-local means: many reads of neighbours and little else. */
#include "common/workload.h"
#include <math.h>
#include <stdlib.h>

enum {
    WIDTH,
    HEIGHT,
    WINDOW,
    PATCH,
};

static const struct option_row options[] = {
    [WIDTH] = {"width", "pixels", "image width", 256, 32, 1, 16384},
    [HEIGHT] = {"height", "pixels", "image height", 224, 32, 1, 16384},
    [WINDOW] = {"window", "pixels", "radius of the search window", 3, 2, 1, 16},
    [PATCH] = {"patch", "pixels", "radius of the patches that are compared", 3, 2, 1, 16},
    {0},
};

static const struct program program = {"denoise", "Removes noise from an image by non-local means.",
                                       options};

struct picture {
    float *pixels;
    int width, height;
};

static double pixel(const struct picture *picture, int x, int y)
{
    x = x < 0 ? 0 : x >= picture->width ? picture->width - 1 : x;
    y = y < 0 ? 0 : y >= picture->height ? picture->height - 1 : y;
    return picture->pixels[(size_t)y * picture->width + x];
}

/* Areas of even brightness with edges between them, and noise. */
static struct picture random_picture(struct workload *w, int width, int height)
{
    struct picture picture = {zeroed((size_t)width * height, sizeof(float)), width, height};
    for (int y = 0; y < height; y++)
        for (int x = 0; x < width; x++)
            picture.pixels[(size_t)y * width + x] =
                ((x / 11 + y / 7) % 2 ? 0.7f : 0.3f) + random_float(w, -0.1f, 0.1f);
    return picture;
}

/* How different the surroundings of two places look. */
static double difference(const struct picture *picture, int x, int y, int other_x, int other_y,
                         int patch)
{
    double sum = 0;
    for (int n = -patch; n <= patch; n++)
        for (int m = -patch; m <= patch; m++) {
            double apart = pixel(picture, other_x + m, other_y + n) - pixel(picture, x + m, y + n);
            sum += apart * apart;
        }
    return sum;
}

static double denoised(const struct picture *picture, int x, int y, int window, int patch,
                       double sharpness, double nearness)
{
    double sum = 0, weights = 0;
    for (int j = -window; j <= window; j++)
        for (int i = -window; i <= window; i++) {
            double weight = exp(-difference(picture, x, y, x + i, y + j, patch) * sharpness -
                                (i * i + j * j) * nearness);
            sum += weight * pixel(picture, x + i, y + j);
            weights += weight;
        }
    return sum / weights;
}

int main(int argc, char **argv)
{
    struct workload *w = workload_open(&program, argc, argv);
    cl_int width = (cl_int)option(w, WIDTH), height = (cl_int)option(w, HEIGHT);
    int window = (int)option(w, WINDOW), patch = (int)option(w, PATCH);
    size_t count = (size_t)width * height;
    struct picture picture = random_picture(w, width, height);
    /* A patch that differs by the noise alone, 1/150 a pixel on the mean, weighs e^-1. */
    int patch_area = (2 * patch + 1) * (2 * patch + 1), area = (2 * window + 1) * (2 * window + 1);
    cl_float sharpness = 150.0f / (float)patch_area, nearness = 1.0f / (float)area;
    double *expected = zeroed(count, sizeof *expected);
    for (int y = 0; y < height; y++)
        for (int x = 0; x < width; x++)
            expected[(size_t)y * width + x] =
                denoised(&picture, x, y, window, patch, sharpness, nearness);

    struct shape block = {"BLOCK", 16, 16};
    workload_build(w, &block, 1, "-D WINDOW=%d -D PATCH=%d", window, patch);
    cl_mem from = workload_input(w, picture.pixels, count * sizeof(float));
    cl_mem to = workload_output(w, count * sizeof(float));
    cl_kernel kernel = workload_kernel(w, "denoise");
    workload_args(w, kernel, ARG(from), ARG(to), ARG(width), ARG(height), ARG(sharpness),
                  ARG(nearness));
    workload_launch(w, kernel, &block, pieces(width, block.x), pieces(height, block.y), 1);

    workload_read(w, to, picture.pixels, count * sizeof(float));
    /* A weight is off by what its exponent is: at most 0.36 * 150 + 2, each term of its sum rounded
     * about three times and the sum once for each of its terms, and the native exponential, some
     * 2^-20. A mean is off by no more than its weights are, and by its own sums. */
    double exponent = 56 * (patch_area + 4) * 0x1p-24;
    check_floats(w, "picture", picture.pixels, expected, count,
                 exponent + 0x1p-20 + 2 * area * 0x1p-24, 0);
    free(picture.pixels);
    free(expected);
    return workload_close(w);
}
