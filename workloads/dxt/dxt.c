/*
 * Compresses a picture as graphics cards decode it, 4x4 texels to 8 bytes, and looks for the best
 * way to do so: all partitions of a block's colours that their order along an axis allows. The
 * result is decoded and compared with the picture, and its errors with those of the best partition.
 */
#include "common/workload.h"
#include <math.h>
#include <stdlib.h>
#include <string.h>

enum {
    SIDE,
};

enum {
    TEXELS = 16, /* of a block */
    POWERS = 8,  /* steps towards the axis */
    PARTITIONS =
        965, /* ways to cut 16 sorted texels in four, without those that leave them whole */
};

static const struct option_row options[] = {
    [SIDE] = {"side", "texels", "width and image height", 128, 16, 4, 4096, .multiple = 4},
    {0},
};

static const struct program program = {
    "dxt", "Compresses an image to a texture format (DXT1, BC1).", options};

/* Four smooth waves of colour, edges between them, and noise. */
static void make_picture(struct workload *w, cl_uint *picture, int side)
{
    float phases[12];
    for (int i = 0; i < 12; i++)
        phases[i] = random_float(w, 0, 6);
    for (int y = 0; y < side; y++)
        for (int x = 0; x < side; x++) {
            int part = (x / 10 + y / 14) % 4;
            picture[y * side + x] = 0xff000000;
            for (int k = 0; k < 3; k++) {
                double wave =
                    sin(0.11 * x * (k + 1) + 0.07 * y * (part + 1) + phases[3 * part + k]);
                double value = 128 + 90 * wave + random_float(w, -20, 20);
                picture[y * side + x] |= (cl_uint)value << 8 * k;
            }
        }
}

/* A cut gives the first texels code 0, the next 2, then 3, and 1 to the last: the order in which
 * the codes lead from the first colour to the second. */
static void make_partitions(cl_uint *partitions)
{
    int count = 0;
    for (int a = 0; a <= TEXELS; a++)
        for (int b = a; b <= TEXELS; b++)
            for (int c = b; c <= TEXELS; c++) {
                int largest = a > b - a ? a : b - a;
                largest = c - b > largest ? c - b : largest;
                largest = TEXELS - c > largest ? TEXELS - c : largest;
                if (largest == TEXELS)
                    continue; /* one cluster: any of many pairs of colours would do */
                cl_uint codes = 0;
                for (cl_uint i = 0; i < TEXELS; i++) {
                    cl_uint code = (int)i < a ? 0 : (int)i < b ? 2 : (int)i < c ? 3 : 1;
                    codes |= code << 2 * i;
                }
                partitions[count++] = codes;
            }
}

struct texel {
    double part[3];
    double along; /* the axis */
};

static void read_block(const cl_uint *picture, int side, int block, struct texel *texels)
{
    int across = side / 4;
    for (int i = 0; i < TEXELS; i++) {
        int x = block % across * 4 + i % 4, y = block / across * 4 + i / 4;
        for (int k = 0; k < 3; k++)
            texels[i].part[k] = (picture[y * side + x] >> 8 * k & 255) / 255.0;
    }
}

static int by_place(const void *a, const void *b)
{
    const struct texel *one = a, *two = b;
    return (one->along > two->along) - (one->along < two->along);
}

/* Sorts texels along the axis on which they differ most. */
static void sort_texels(struct texel *texels)
{
    double mean[3] = {0}, matrix[3][3] = {{0}}, axis[3], next[3];
    for (int i = 0; i < TEXELS; i++)
        for (int k = 0; k < 3; k++)
            mean[k] += texels[i].part[k] / TEXELS;
    for (int i = 0; i < TEXELS; i++)
        for (int k = 0; k < 9; k++)
            matrix[k / 3][k % 3] +=
                (texels[i].part[k / 3] - mean[k / 3]) * (texels[i].part[k % 3] - mean[k % 3]);
    int start = 0;
    for (int k = 1; k < 3; k++)
        if (matrix[k][k] > matrix[start][start])
            start = k;
    memcpy(axis, matrix[start], sizeof axis);
    for (int step = 0; step < POWERS; step++) {
        for (int k = 0; k < 3; k++)
            next[k] = matrix[k][0] * axis[0] + matrix[k][1] * axis[1] + matrix[k][2] * axis[2];
        double largest = fmax(fmax(fabs(next[0]), fabs(next[1])), fabs(next[2]));
        for (int k = 0; k < 3; k++)
            axis[k] = largest > 0 ? next[k] / largest : next[k];
    }
    for (int i = 0; i < TEXELS; i++)
        texels[i].along =
            axis[0] * texels[i].part[0] + axis[1] * texels[i].part[1] + axis[2] * texels[i].part[2];
    qsort(texels, TEXELS, sizeof *texels, by_place);
}

static const double steps[3] = {31, 63, 31}; /* of the parts of a colour */

/* The share of the second colour that a code stands for. */
static double share(cl_uint code)
{
    static const double shares[4] = {0, 1, 1.0 / 3, 2.0 / 3};
    return shares[code];
}

/* The smallest error of texels with these codes: each part of the colour is a line through shares,
 * by least squares, whose ends are rounded. */
static double error_of(const struct texel *texels, cl_uint codes)
{
    double s = 0, ss = 0, error = 0;
    for (int i = 0; i < TEXELS; i++) {
        s += share(codes >> 2 * i & 3);
        ss += pow(share(codes >> 2 * i & 3), 2);
    }
    for (int k = 0; k < 3; k++) {
        double y = 0, sy = 0;
        for (int i = 0; i < TEXELS; i++) {
            y += texels[i].part[k];
            sy += share(codes >> 2 * i & 3) * texels[i].part[k];
        }
        double slope = (TEXELS * sy - s * y) / (TEXELS * ss - s * s);
        double ends[2] = {(y - slope * s) / TEXELS, (y - slope * s) / TEXELS + slope};
        for (int end = 0; end < 2; end++)
            ends[end] = floor(fmin(fmax(ends[end], 0), 1) * steps[k] + 0.5) / steps[k];
        for (int i = 0; i < TEXELS; i++) {
            double b = share(codes >> 2 * i & 3);
            error += pow(texels[i].part[k] - (1 - b) * ends[0] - b * ends[1], 2);
        }
    }
    return error;
}

/* The error of a compressed block, decoded as the format says. */
static double decoded_error(const struct texel *texels, cl_uint2 words)
{
    static const int shifts[3] = {11, 5, 0};
    cl_uint first = words.s[0] & 0xffff, second = words.s[0] >> 16;
    double error = 0;
    for (int i = 0; i < TEXELS; i++) {
        cl_uint code = words.s[1] >> 2 * i & 3;
        double b = first > second ? share(code) : code == 2 ? 0.5 : code == 1;
        bool black = first <= second && code == 3;
        for (int k = 0; k < 3; k++) {
            double one = (first >> shifts[k] & (int)steps[k]) / steps[k];
            double two = (second >> shifts[k] & (int)steps[k]) / steps[k];
            double value = black ? 0 : (1 - b) * one + b * two;
            error += pow(texels[i].part[k] - value, 2);
        }
    }
    return error;
}

int main(int argc, char **argv)
{
    struct workload *w = workload_open(&program, argc, argv);
    cl_int side = (cl_int)option(w, SIDE), count = PARTITIONS;
    int blocks = side / 4 * (side / 4);
    cl_uint *picture = zeroed((size_t)side * side, sizeof *picture);
    static cl_uint partitions[PARTITIONS];
    make_picture(w, picture, side);
    make_partitions(partitions);

    struct shape block = {"BLOCK", 64};
    workload_build(w, &block, 1, "-D POWERS=%d", POWERS);
    cl_mem picture_device = workload_input(w, picture, (size_t)side * side * sizeof *picture);
    cl_mem partitions_device = workload_input(w, partitions, sizeof partitions);
    cl_mem compressed_device = workload_output(w, blocks * sizeof(cl_uint2));
    cl_kernel compress = workload_kernel(w, "compress");
    workload_args(w, compress, ARG(picture_device), ARG(side), ARG(partitions_device), ARG(count),
                  ARG(compressed_device));
    workload_launch(w, compress, &block, blocks, 1, 1);

    cl_uint2 *compressed = zeroed(blocks, sizeof *compressed);
    float *errors = zeroed(blocks, sizeof *errors);
    double *expected = zeroed(blocks, sizeof *expected);
    workload_read(w, compressed_device, compressed, blocks * sizeof *compressed);
    for (int i = 0; i < blocks; i++) {
        struct texel texels[TEXELS];
        read_block(picture, side, i, texels);
        errors[i] = (float)decoded_error(texels, compressed[i]);
        sort_texels(texels);
        expected[i] = INFINITY;
        for (int k = 0; k < PARTITIONS; k++)
            expected[i] = fmin(expected[i], error_of(texels, partitions[k]));
    }
    /* Roundings may exchange two texels in the order, or a level of a colour. */
    check_floats(w, "errors of blocks", errors, expected, blocks, 0.001, 1e-5);
    free(picture);
    free(compressed);
    free(errors);
    free(expected);
    return workload_close(w);
}
