/*
 * An electromagnetic field in two dimensions by finite differences in time (Yee's scheme): two
 * electric components and a magnetic one, driven by a source along one edge. The host advances the
 * magnetic field and its sum over the steps only; the electric components follow from that sum.
 */
#include "common/workload.h"
#include <math.h>
#include <stdlib.h>

enum {
    WIDTH,
    HEIGHT,
    STEPS,
};

static const struct option_row options[] = {
    [WIDTH] = {"width", "cells", "cells along x", 512, 96, 2, 4096},
    [HEIGHT] = {"height", "cells", "cells along y", 512, 64, 2, 4096},
    [STEPS] = {"steps", NULL, "time steps", 4, 3, 1, 10000},
    {0},
};

static const struct program program = {
    "fdtd2d", "An electromagnetic field in two dimensions by finite differences.", options};

/* The field on the host. An electric component at time t is its start minus half the differences of
 * the sum of hz over the steps before, so only hz and that sum are advanced. */
struct field {
    int width, height;
    const float *ex, *ey; /* at the start */
    double *hz, *sum;
};

static double ey_at(const struct field *f, double source, int x, int y)
{
    int i = y * f->width + x;
    return y == 0 ? source : f->ey[i] - 0.5 * (f->sum[i] - f->sum[i - f->width]);
}

static double ex_at(const struct field *f, int x, int y)
{
    int i = y * f->width + x;
    return x == 0 ? f->ex[i] : f->ex[i] - 0.5 * (f->sum[i] - f->sum[i - 1]);
}

static void advance(struct field *f, double source)
{
    for (int i = 0; i < f->width * f->height; i++)
        f->sum[i] += f->hz[i];
    for (int y = 0; y < f->height - 1; y++)
        for (int x = 0; x < f->width - 1; x++)
            f->hz[y * f->width + x] -= 0.7 * (ex_at(f, x + 1, y) - ex_at(f, x, y) +
                                              ey_at(f, source, x, y + 1) - ey_at(f, source, x, y));
}

static void random_field(struct workload *w, float *field, size_t count)
{
    for (size_t i = 0; i < count; i++)
        field[i] = random_float(w, -1, 1);
}

/* Compares one component. The scheme is stable (0.5 * 0.7 for each of two directions), so the few
 * roundings of each step do not grow, and fields stay near the size of their start. */
static void compare(struct workload *w, const char *what, cl_mem device, const double *expected,
                    size_t count)
{
    float *got = zeroed(count, sizeof *got);
    double largest = 0;
    for (size_t i = 0; i < count; i++)
        largest = fmax(largest, fabs(expected[i]));
    workload_read(w, device, got, count * sizeof *got);
    check_floats(w, what, got, expected, count, 0,
                 (double)option(w, STEPS) * 8 * 0x1p-24 * largest);
    free(got);
}

int main(int argc, char **argv)
{
    struct workload *w = workload_open(&program, argc, argv);
    cl_int width = (cl_int)option(w, WIDTH), height = (cl_int)option(w, HEIGHT);
    cl_int steps = (cl_int)option(w, STEPS);
    size_t count = (size_t)width * height, bytes = count * sizeof(float);
    float *ex = zeroed(1, bytes), *ey = zeroed(1, bytes), *hz = zeroed(1, bytes);
    float *source = zeroed(steps, sizeof *source);
    random_field(w, ex, count);
    random_field(w, ey, count);
    random_field(w, hz, count);
    random_field(w, source, steps);

    struct shape block = {"BLOCK", 32, 8};
    workload_build(w, &block, 1, NULL);
    cl_mem source_device = workload_input(w, source, steps * sizeof *source);
    cl_mem ex_device = workload_input(w, ex, bytes), ey_device = workload_input(w, ey, bytes);
    cl_mem hz_device = workload_input(w, hz, bytes);
    cl_kernel electric_y = workload_kernel(w, "electric_y");
    cl_kernel electric_x = workload_kernel(w, "electric_x");
    cl_kernel magnetic = workload_kernel(w, "magnetic");
    size_t blocks_x = pieces(width, block.x), blocks_y = pieces(height, block.y);
    workload_args(w, electric_x, ARG(ex_device), ARG(hz_device), ARG(width), ARG(height));
    workload_args(w, magnetic, ARG(ex_device), ARG(ey_device), ARG(hz_device), ARG(width),
                  ARG(height));
    for (cl_int step = 0; step < steps; step++) {
        workload_args(w, electric_y, ARG(source_device), ARG(ey_device), ARG(hz_device), ARG(width),
                      ARG(height), ARG(step));
        workload_launch(w, electric_y, &block, blocks_x, blocks_y, 1);
        workload_launch(w, electric_x, &block, blocks_x, blocks_y, 1);
        workload_launch(w, magnetic, &block, blocks_x, blocks_y, 1);
    }

    struct field f = {
        width, height, ex, ey, zeroed(count, sizeof(double)), zeroed(count, sizeof(double))};
    double *expected_x = zeroed(count, sizeof(double)), *expected_y = zeroed(count, sizeof(double));
    for (size_t i = 0; i < count; i++)
        f.hz[i] = hz[i];
    for (cl_int step = 0; step < steps; step++)
        advance(&f, source[step]);
    for (size_t i = 0; i < count; i++) {
        int x = (int)(i % (size_t)width), y = (int)(i / (size_t)width);
        expected_x[i] = ex_at(&f, x, y);
        expected_y[i] = ey_at(&f, source[steps - 1], x, y);
    }
    compare(w, "ex", ex_device, expected_x, count);
    compare(w, "ey", ey_device, expected_y, count);
    compare(w, "hz", hz_device, f.hz, count);
    free(ex);
    free(ey);
    free(hz);
    free(source);
    free(f.hz);
    free(f.sum);
    free(expected_x);
    free(expected_y);
    return workload_close(w);
}
