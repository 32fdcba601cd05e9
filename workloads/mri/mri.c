/*
 * Sums for the reconstruction of a magnetic resonance image from samples along a trajectory that is
 * not a grid. Samples go through constant memory, some per launch. The voxels do lie on a grid: the
 * host multiplies a phase factor per axis where the device adds up phases.
 */
#include "common/workload.h"
#include <complex.h>
#include <math.h>
#include <stdlib.h>

enum {
    SIDE,
    SAMPLES,
};

enum {
    CHUNK = 512, /* samples of a launch */
};

static const struct option_row options[] = {
    [SIDE] = {"side", "voxels", "side of the image, a cube", 24, 7, 1, 64},
    [SAMPLES] = {"samples", NULL, "number of samples", 1024, 600, 1, 1 << 20},
    {0},
};

static const struct program program = {
    "mri", "Sums for the reconstruction of magnetic resonance images.", options};

/* As in the kernel. */
struct sample {
    cl_float place[3], real, imaginary;
};

struct scan {
    long samples, side;
    float *coil[2], *measured[2]; /* real and imaginary parts */
    struct sample *all;           /* places only; values come from the device */
    float *voxels[3];             /* coordinates, from -1/2 to 1/2 */
};

static struct scan random_scan(struct workload *w)
{
    struct scan s = {.samples = option(w, SAMPLES), .side = option(w, SIDE)};
    size_t voxels = (size_t)(s.side * s.side * s.side);
    s.all = zeroed(s.samples, sizeof *s.all);
    for (int part = 0; part < 2; part++) {
        s.coil[part] = zeroed(s.samples, sizeof(float));
        s.measured[part] = zeroed(s.samples, sizeof(float));
        for (long i = 0; i < s.samples; i++) {
            s.coil[part][i] = random_float(w, -1, 1);
            s.measured[part][i] = random_float(w, -1, 1);
        }
    }
    for (long i = 0; i < s.samples; i++)
        for (int axis = 0; axis < 3; axis++)
            s.all[i].place[axis] = random_float(w, -0.5f, 0.5f) * (float)s.side;
    for (int axis = 0, step = 1; axis < 3; axis++, step *= (int)s.side) {
        s.voxels[axis] = zeroed(voxels, sizeof(float));
        for (size_t i = 0; i < voxels; i++)
            s.voxels[axis][i] = (float)((long)i / step % s.side) / (float)s.side - 0.5f;
    }
    return s;
}

/* Every sample to every voxel: the phase factor of a voxel is a product of one factor per axis. */
static void expect(const struct scan *s, double *real, double *imaginary)
{
    double complex *factors = zeroed(3 * (size_t)s->side, sizeof *factors);
    for (long k = 0; k < s->samples; k++) {
        double complex value =
            (s->coil[0][k] - I * s->coil[1][k]) * (s->measured[0][k] + I * s->measured[1][k]);
        for (int axis = 0, step = 1; axis < 3; axis++, step *= (int)s->side)
            for (long i = 0; i < s->side; i++)
                factors[axis * s->side + i] =
                    cexp(2 * M_PI * I * s->all[k].place[axis] * s->voxels[axis][i * step]);
        for (long z = 0, i = 0; z < s->side; z++)
            for (long y = 0; y < s->side; y++) {
                double complex row = value * factors[2 * s->side + z] * factors[s->side + y];
                for (long x = 0; x < s->side; x++, i++) {
                    real[i] += creal(row * factors[x]);
                    imaginary[i] += cimag(row * factors[x]);
                }
            }
    }
    free(factors);
}

/* What the samples are worth, computed on the device. */
static void weigh(struct workload *w, struct scan *s, const struct shape *block)
{
    size_t bytes = s->samples * sizeof(float);
    cl_int samples = (cl_int)s->samples;
    cl_mem coil_real = workload_input(w, s->coil[0], bytes);
    cl_mem coil_imaginary = workload_input(w, s->coil[1], bytes);
    cl_mem measured_real = workload_input(w, s->measured[0], bytes);
    cl_mem measured_imaginary = workload_input(w, s->measured[1], bytes);
    cl_mem real = workload_output(w, bytes), imaginary = workload_output(w, bytes);
    cl_kernel kernel = workload_kernel(w, "weigh");
    workload_args(w, kernel, ARG(coil_real), ARG(coil_imaginary), ARG(measured_real),
                  ARG(measured_imaginary), ARG(real), ARG(imaginary), ARG(samples));
    workload_launch(w, kernel, block, pieces(s->samples, block->x), 1, 1);
    float *values = zeroed(s->samples, sizeof *values);
    workload_read(w, real, values, bytes);
    for (long i = 0; i < s->samples; i++)
        s->all[i].real = values[i];
    workload_read(w, imaginary, values, bytes);
    for (long i = 0; i < s->samples; i++)
        s->all[i].imaginary = values[i];
    free(values);
}

static void reconstruct(struct workload *w, struct scan *s, float *real, float *imaginary)
{
    struct shape shapes[] = {{"SAMPLES", 512}, {"VOXELS", 256}};
    workload_build(w, shapes, 2, NULL);
    weigh(w, s, &shapes[0]);
    cl_int voxels = (cl_int)(s->side * s->side * s->side);
    size_t bytes = (size_t)voxels * sizeof(float);
    cl_mem xs = workload_input(w, s->voxels[0], bytes), ys = workload_input(w, s->voxels[1], bytes);
    cl_mem zs = workload_input(w, s->voxels[2], bytes);
    cl_mem chunk = workload_output(w, CHUNK * sizeof *s->all);
    cl_mem real_device = workload_output(w, bytes), imaginary_device = workload_output(w, bytes);
    cl_kernel kernel = workload_kernel(w, "add_samples");
    for (long first = 0; first < s->samples; first += CHUNK) {
        cl_int count = (cl_int)(s->samples - first < CHUNK ? s->samples - first : CHUNK);
        workload_write(w, chunk, s->all + first, count * sizeof *s->all);
        workload_args(w, kernel, ARG(xs), ARG(ys), ARG(zs), ARG(chunk), ARG(real_device),
                      ARG(imaginary_device), ARG(voxels), ARG(count));
        workload_launch(w, kernel, &shapes[1], pieces(voxels, shapes[1].x), 1, 1);
    }
    workload_read(w, real_device, real, bytes);
    workload_read(w, imaginary_device, imaginary, bytes);
}

int main(int argc, char **argv)
{
    struct workload *w = workload_open(&program, argc, argv);
    struct scan s = random_scan(w);
    size_t voxels = (size_t)(s.side * s.side * s.side);
    float *real = zeroed(voxels, sizeof *real), *imaginary = zeroed(voxels, sizeof *imaginary);
    double *expected_real = zeroed(voxels, sizeof(double));
    double *expected_imaginary = zeroed(voxels, sizeof(double));
    reconstruct(w, &s, real, imaginary);
    expect(&s, expected_real, expected_imaginary);

    /* A sample is at most 2. Its phase is off by a few roundings of up to 3/4 side turns, its sine by
     * what OpenCL leaves to the device: 2^-20 where GPUs document it. Errors of samples are
     * independent of each other, so their sum grows with the square root; eight deviations. */
    double each = 2 * (2 * M_PI * 0.75 * (double)s.side * 2 * 0x1p-24 + 0x1p-20);
    double tolerance = 8 * each * sqrt((double)s.samples);
    check_floats(w, "real parts", real, expected_real, voxels, 0, tolerance);
    check_floats(w, "imaginary parts", imaginary, expected_imaginary, voxels, 0, tolerance);
    for (int part = 0; part < 2; part++) {
        free(s.coil[part]);
        free(s.measured[part]);
    }
    for (int axis = 0; axis < 3; axis++)
        free(s.voxels[axis]);
    free(s.all);
    free(real);
    free(imaginary);
    free(expected_real);
    free(expected_imaginary);
    return workload_close(w);
}
