/* Gaussian random fields: see field.h. */
#include "variation/field.h"

#include "base/arena.h"
#include <fftw3.h>
#include <math.h>
#include <stdlib.h>

enum {
    PERIOD = 2 * FIELD_SIDE,
    POINTS = PERIOD * PERIOD
};

struct field_source {
    fftw_complex *points;
    fftw_plan plan;
    f64 *amplitude; /* of each frequency: the square root of its eigenvalue over POINTS */
};

f64 field_correlation(f64 distance, f64 range)
{
    f64 r = distance / range;
    return r >= 1 ? 0 : 1 - 1.5 * r + 0.5 * r * r * r;
}

static u32 around(u32 index)
{
    return index <= FIELD_SIDE ? index : PERIOD - index;
}

struct field_source *field_source_create(f64 range)
{
    struct field_source *source = checked(calloc(1, sizeof *source));
    source->points = checked(fftw_malloc(sizeof *source->points * POINTS));
    source->amplitude = checked(malloc(sizeof *source->amplitude * POINTS));
    /* FFTW_ESTIMATE: a plan that is measured would differ from run to run, and so would bytes */
    source->plan = fftw_plan_dft_2d(PERIOD, PERIOD, source->points, source->points, FFTW_FORWARD,
                                    FFTW_ESTIMATE);
    checked(source->plan);
    for (u32 i = 0; i < POINTS; i++) {
        f64 y = around(i / PERIOD), x = around(i % PERIOD);
        source->points[i][0] = field_correlation(hypot(x, y) / FIELD_SIDE, range);
        source->points[i][1] = 0;
    }
    fftw_execute(source->plan);
    for (u32 i = 0; i < POINTS; i++) {
        f64 eigenvalue = source->points[i][0];
        assert(eigenvalue > -1e-6); /* F1, but for rounding */
        source->amplitude[i] = sqrt(fmax(eigenvalue, 0) / POINTS);
    }
    return source;
}

void field_source_destroy(struct field_source *source)
{
    if (!source)
        return;
    fftw_destroy_plan(source->plan);
    fftw_free(source->points);
    free(source->amplitude);
    free(source);
}

/* Box and Muller, "A note on the generation of random normal deviates", 1958. */
void normal_pair(struct rng *rng, f64 *a, f64 *b)
{
    f64 radius = sqrt(-2 * log(1 - rng_unit(rng))), angle = 2 * M_PI * rng_unit(rng);
    *a = radius * cos(angle);
    *b = radius * sin(angle);
}

void field_draw(struct field_source *source, struct rng *rng, f32 *first, f32 *second)
{
    for (u32 i = 0; i < POINTS; i++) {
        f64 a, b;
        normal_pair(rng, &a, &b);
        source->points[i][0] = source->amplitude[i] * a;
        source->points[i][1] = source->amplitude[i] * b;
    }
    fftw_execute(source->plan);
    /* the real and the imaginary part are independent */
    for (u32 y = 0; y < FIELD_SIDE; y++)
        for (u32 x = 0; x < FIELD_SIDE; x++) {
            first[y * FIELD_SIDE + x] = (f32)source->points[y * PERIOD + x][0];
            if (second)
                second[y * FIELD_SIDE + x] = (f32)source->points[y * PERIOD + x][1];
        }
}

f64 field_at(const f32 *field, f64 x, f64 y)
{
    f64 column = fmin(fmax(x * FIELD_SIDE - 0.5, 0), FIELD_SIDE - 1.001);
    f64 row = fmin(fmax(y * FIELD_SIDE - 0.5, 0), FIELD_SIDE - 1.001);
    u32 c = (u32)column, r = (u32)row;
    f64 right = column - c, below = row - r;
    const f32 *at = field + r * FIELD_SIDE + c;
    return (1 - below) * ((1 - right) * at[0] + right * at[1]) +
           below * ((1 - right) * at[FIELD_SIDE] + right * at[FIELD_SIDE + 1]);
}
