/*
 * Removes speckle from a picture, as radar and ultrasound make it, without blurring its edges: in
 * each step a kernel finds how freely brightness may flow, and a second one lets it flow. The host
 * measures the speckle of the steps in a part of the picture that is known to be even.
 */
#include "common/workload.h"
#include <math.h>
#include <stdlib.h>
#include <string.h>

enum {
    SIDE,
    STEPS,
    KIND,
};

enum {
    KIND_TILES,
    KIND_FLAT,
};

static const struct option_row options[] = {
    [SIDE] = {"side", "pixels", "width and image height", 128, 64, 16, 8192},
    [STEPS] = {"steps", NULL, "diffusion steps", 2, 0, 1, 10000},
    [KIND] = {"kind", NULL, "square blocks with local memory, or blocks of 512 consecutive pixels",
              .value = KIND_TILES, .choices = "tiles|flat"},
    {0},
};

static const struct program program = {"srad", "Removes speckle from an image by diffusion.",
                                       options};

static const float rate = 0.5f; /* of the flow; steps do not swing up to 1 */

/* Bright discs on darker ground, all of it speckled. The even part is the corner in the west. */
static void make_picture(struct workload *w, float *picture, int side)
{
    for (int y = 0; y < side; y++)
        for (int x = 0; x < side; x++) {
            double u = 4.0 * x / side - 2.5, v = 4.0 * y / side - 2;
            double level = hypot(u, v) < 0.8 ? 3 : hypot(u, v) < 1.3 ? 2 : 1;
            picture[y * side + x] = (float)level * random_float(w, 0.7f, 1.3f);
        }
}

/* Variance over squared mean in the even part. */
static double speckle_of(const double *picture, int side)
{
    double sum = 0, squares = 0, count = 0;
    for (int y = 0; y < side / 4; y++)
        for (int x = 0; x < side / 4; x++, count++) {
            sum += picture[y * side + x];
            squares += picture[y * side + x] * picture[y * side + x];
        }
    double mean = sum / count;
    return (squares / count - mean * mean) / (mean * mean);
}

/* How freely brightness flows at a pixel, equations 31 to 33 of Yu and Acton. */
static double freedom(double here, const double *differences, double speckle)
{
    double gradient = 0, laplacian = 0;
    for (int k = 0; k < 4; k++) {
        gradient += differences[k] * differences[k] / here / here;
        laplacian += differences[k] / here;
    }
    double variation = (gradient / 2 - laplacian * laplacian / 16) / pow(1 + laplacian / 4, 2);
    double c = 1 / (1 + (variation - speckle) / (speckle * (1 + speckle)));
    return fmin(fmax(c, 0), 1);
}

/* One step on the host; its speckle is its own. */
static void step(double *picture, double *freedoms, int side)
{
    static const int dx[4] = {0, 0, -1, 1}, dy[4] = {-1, 1, 0, 0};
    size_t count = (size_t)side * side;
    double speckle = speckle_of(picture, side);
    double *before = zeroed(count, sizeof *before);
    memcpy(before, picture, count * sizeof *before);
    for (int pass = 0; pass < 2; pass++)
        for (int y = 0; y < side; y++)
            for (int x = 0; x < side; x++) {
                double here = before[y * side + x], differences[4], flow = 0;
                for (int k = 0; k < 4; k++) {
                    int column = x + dx[k], row = y + dy[k];
                    bool edge = column < 0 || column == side || row < 0 || row == side;
                    int other = edge ? y * side + x : row * side + column;
                    differences[k] = before[other] - here;
                    /* Half way to a neighbour it is that of the pixel further south or east. */
                    flow += freedoms[k % 2 ? other : y * side + x] * differences[k];
                }
                if (pass == 0)
                    freedoms[y * side + x] = freedom(here, differences, speckle);
                else
                    picture[y * side + x] += rate / 4 * flow;
            }
    free(before);
}

/* The steps on the device; the picture comes back in place. */
static void diffuse(struct workload *w, const struct shape *shape, float *picture, cl_int side)
{
    bool flat = option(w, KIND) == KIND_FLAT;
    size_t count = (size_t)side * side, bytes = count * sizeof *picture;
    size_t columns = flat ? pieces(count, shape->x) : pieces(side, shape->x);
    size_t rows = flat ? 1 : pieces(side, shape->y);
    double *copy = zeroed(count, sizeof *copy);
    cl_mem device = workload_input(w, picture, bytes), freedoms = workload_output(w, bytes);
    cl_mem norths = workload_output(w, bytes), souths = workload_output(w, bytes);
    cl_mem wests = workload_output(w, bytes), easts = workload_output(w, bytes);
    cl_kernel find = workload_kernel(w, flat ? "flat_freedoms" : "tile_freedoms");
    cl_kernel flow = workload_kernel(w, flat ? "flat_flow" : "tile_flow");
    for (long i = 0; i < option(w, STEPS); i++) {
        for (size_t k = 0; k < count; k++)
            copy[k] = picture[k];
        cl_float speckle = (cl_float)speckle_of(copy, side);
        workload_args(w, find, ARG(device), ARG(freedoms), ARG(norths), ARG(souths), ARG(wests),
                      ARG(easts), ARG(side), ARG(side), ARG(speckle));
        workload_launch(w, find, shape, columns, rows, 1);
        workload_args(w, flow, ARG(device), ARG(freedoms), ARG(norths), ARG(souths), ARG(wests),
                      ARG(easts), ARG(side), ARG(side), ARG(rate));
        workload_launch(w, flow, shape, columns, rows, 1);
        workload_read(w, device, picture, bytes);
    }
    free(copy);
}

int main(int argc, char **argv)
{
    struct workload *w = workload_open(&program, argc, argv);
    int side = (int)option(w, SIDE);
    size_t count = (size_t)side * side;
    float *picture = zeroed(count, sizeof *picture);
    double *expected = zeroed(count, sizeof *expected), *freedoms = zeroed(count, sizeof *freedoms);
    make_picture(w, picture, side);
    for (size_t i = 0; i < count; i++)
        expected[i] = picture[i];
    double before = speckle_of(expected, side);

    struct shape shapes[] = {{"TILE", 16, 16}, {"FLAT", 512}};
    workload_build(w, shapes, 2, NULL);
    diffuse(w, &shapes[option(w, KIND)], picture, side);

    for (long i = 0; i < option(w, STEPS); i++)
        step(expected, freedoms, side);
    /* A step rounds differences of neighbours; the freedom, and with it a fraction of the flow,
     * enlarges that by one over the speckle, of which there is 0.03 at first. */
    check_floats(w, "picture", picture, expected, count, 0x1p-20 * (double)option(w, STEPS), 0);
    check_true(w, speckle_of(expected, side) < before, "the speckle did not shrink");
    free(picture);
    free(expected);
    free(freedoms);
    return workload_close(w);
}
