/*
 * Follows points on the inner and the outer wall of a heart through frames of its beat, each by the
 * correlation of its surroundings in the first frame with those of all places near by.
 */
#include "common/workload.h"
#include <math.h>
#include <stdlib.h>
#include <string.h>

enum {
    FRAMES,
    POINTS,
    SIDE,
    RADIUS,
    REACH,
};

static const struct option_row options[] = {
    [FRAMES] = {"frames", NULL, "frames after the first", 1, 0, 1, 1000},
    [POINTS] = {"points", NULL, "points on the two walls", 51, 16, 1, 4096},
    [SIDE] = {"side", "pixels", "width and height of a frame", 256, 0, 64, 4096},
    [RADIUS] = {"radius", "pixels", "template radius", 3, 0, 1, 12},
    [REACH] = {"reach", "pixels", "largest displacement of a point per frame", 10, 0, 1, 16},
    {0},
};

static const struct program program = {"heartwall", "Tracks points on the walls of a heart.",
                                       options};

/* By which correlations may be off: sums of up to some hundred positive terms are rounded, and then
 * the difference of two that are near each other is taken. */
static const double rounding = 0x1p-14;

struct sizes {
    cl_int width, height, radius, reach;
};

/* What lies at rest: noise, smoothed over three pixels each way so that it can be moved by parts of
 * a pixel. */
static double *make_tissue(struct workload *w, int side)
{
    double *noise = zeroed((size_t)side * side, sizeof *noise);
    double *tissue = zeroed((size_t)side * side, sizeof *tissue);
    for (int i = 0; i < side * side; i++)
        noise[i] = random_float(w, 0, 1);
    for (int y = 1; y < side - 1; y++)
        for (int x = 1; x < side - 1; x++)
            for (int k = 0; k < 9; k++)
                tissue[y * side + x] += noise[(y + k / 3 - 1) * side + x + k % 3 - 1] / 9;
    free(noise);
    return tissue;
}

/* How much larger than at rest the heart is in a frame; 16 frames are a beat. */
static double swelling(long frame)
{
    return 1 + 0.08 * sin(2 * M_PI / 16 * (double)frame);
}

/* The heart in a frame: tissue that swells from the middle, and the noise of the camera. */
static void make_frame(struct workload *w, const double *tissue, float *frame, int side,
                       long number)
{
    double middle = side / 2.0, scale = swelling(number);
    for (int y = 0; y < side; y++)
        for (int x = 0; x < side; x++) {
            double u = fmin(fmax(middle + (x - middle) / scale, 0), side - 1.001);
            double v = fmin(fmax(middle + (y - middle) / scale, 0), side - 1.001);
            const double *at = &tissue[(int)v * side + (int)u];
            double right = u - floor(u), down = v - floor(v);
            double upper = at[0] * (1 - right) + at[1] * right;
            double lower = at[side] * (1 - right) + at[side + 1] * right;
            frame[y * side + x] =
                (float)(upper * (1 - down) + lower * down) + random_float(w, 0, 0.02f);
        }
}

/* Points lie on two ellipses, two of five on the inner one. */
static void make_points(cl_int2 *points, int count, int side)
{
    int inner = 2 * count / 5;
    for (int i = 0; i < count; i++) {
        double angle = i < inner ? 2 * M_PI * i / inner : 2 * M_PI * (i - inner) / (count - inner);
        double radius = side * (i < inner ? 0.18 : 0.3);
        points[i].s[0] = (cl_int)lrint(side / 2.0 + radius * cos(angle));
        points[i].s[1] = (cl_int)lrint(side / 2.0 + 1.2 * radius * sin(angle));
    }
}

static double pixel(const float *frame, struct sizes sizes, int x, int y)
{
    x = x < 0 ? 0 : x >= sizes.width ? sizes.width - 1 : x;
    y = y < 0 ? 0 : y >= sizes.height ? sizes.height - 1 : y;
    return frame[y * sizes.width + x];
}

/* Pearson's coefficient of two squares of pixels, by its definition. */
static double correlation(const float *first, cl_int2 a, const float *second, cl_int2 b,
                          struct sizes sizes)
{
    int radius = sizes.radius;
    double count = (2 * radius + 1) * (2 * radius + 1), means[2] = {0}, sums[3] = {0};
    for (int pass = 0; pass < 2; pass++)
        for (int y = -radius; y <= radius; y++)
            for (int x = -radius; x <= radius; x++) {
                double one = pixel(first, sizes, a.s[0] + x, a.s[1] + y) - means[0];
                double other = pixel(second, sizes, b.s[0] + x, b.s[1] + y) - means[1];
                sums[0] += pass ? one * one : one / count;
                sums[1] += pass ? other * other : other / count;
                sums[2] += pass ? one * other : 0;
                if (!pass && x == radius && y == radius) {
                    memcpy(means, sums, sizeof means);
                    memset(sums, 0, sizeof sums);
                }
            }
    return sums[2] / sqrt(sums[0] * sums[1]);
}

/* Where a point went, and how sure that is. A place that is as good but for roundings is right. */
static double follow(const float *first, cl_int2 start, const float *now, cl_int2 before,
                     cl_int2 got, cl_int2 *expected, struct sizes sizes)
{
    double highest = -2, chosen = -2;
    for (int y = -sizes.reach; y <= sizes.reach; y++)
        for (int x = -sizes.reach; x <= sizes.reach; x++) {
            cl_int2 place = {{before.s[0] + x, before.s[1] + y}};
            double score = correlation(first, start, now, place, sizes);
            if (score > highest) {
                highest = score;
                *expected = place;
            }
            if (place.s[0] == got.s[0] && place.s[1] == got.s[1])
                chosen = score;
        }
    if (highest - chosen < rounding)
        *expected = got;
    return highest;
}

struct buffers {
    cl_mem frame, templates, points, scores;
};

static void launch(struct workload *w, const struct shape *block, const struct buffers *buffers,
                   struct sizes sizes, bool first)
{
    cl_kernel kernel = workload_kernel(w, first ? "take_templates" : "track");
    if (first)
        workload_args(w, kernel, ARG(buffers->frame), ARG(buffers->points), ARG(buffers->templates),
                      ARG(sizes.width), ARG(sizes.height));
    else
        workload_args(w, kernel, ARG(buffers->frame), ARG(buffers->templates), ARG(buffers->points),
                      ARG(buffers->scores), ARG(sizes.width), ARG(sizes.height));
    workload_launch(w, kernel, block, option(w, POINTS), 1, 1);
}

int main(int argc, char **argv)
{
    struct workload *w = workload_open(&program, argc, argv);
    int side = (int)option(w, SIDE);
    long count = option(w, POINTS), frames = option(w, FRAMES);
    struct sizes sizes = {side, side, (cl_int)option(w, RADIUS), (cl_int)option(w, REACH)};
    size_t pixels = (size_t)side * side, area = 4 * (size_t)sizes.radius * (sizes.radius + 1) + 1;
    double *tissue = make_tissue(w, side), *sure = zeroed(count * frames, sizeof *sure);
    float *first = zeroed(pixels, sizeof *first), *now = zeroed(pixels, sizeof *now);
    float *scores = zeroed(count * frames, sizeof *scores);
    /* Of the first frame, and then of each: where the points are, and where they should be. */
    cl_int2 *places = zeroed(count * (frames + 1), sizeof *places);
    cl_int2 *expected = zeroed(count * frames, sizeof *expected);
    make_frame(w, tissue, first, side, 0);
    make_points(places, (int)count, side);

    struct shape block = {"BLOCK", 512};
    workload_build(w, &block, 1, "-D RADIUS=%d -D REACH=%d", sizes.radius, sizes.reach);
    struct buffers buffers = {
        .frame = workload_input(w, first, pixels * sizeof *first),
        .templates = workload_output(w, count * area * sizeof(float)),
        .points = workload_input(w, places, count * sizeof *places),
        .scores = workload_output(w, count * sizeof *scores),
    };
    launch(w, &block, &buffers, sizes, true);
    for (long frame = 0; frame < frames; frame++) {
        cl_int2 *before = places + frame * count, *got = before + count;
        make_frame(w, tissue, now, side, frame + 1);
        workload_write(w, buffers.frame, now, pixels * sizeof *now);
        launch(w, &block, &buffers, sizes, false);
        workload_read(w, buffers.points, got, count * sizeof *got);
        workload_read(w, buffers.scores, scores + frame * count, count * sizeof *scores);
        for (long i = 0; i < count; i++)
            sure[frame * count + i] = follow(first, places[i], now, before[i], got[i],
                                             &expected[frame * count + i], sizes);
    }
    check_ints(w, "places", places + count, expected, 2 * count * frames);
    check_floats(w, "correlations", scores, sure, count * frames, 0, rounding);
    free(tissue);
    free(sure);
    free(first);
    free(now);
    free(scores);
    free(places);
    free(expected);
    return workload_close(w);
}
