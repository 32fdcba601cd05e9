/*
 * Gaussian random fields over a chip: mean 0, variance 1, and the spherical correlation
 *   rho(r) = 1 - 3/2 (r / range) + 1/2 (r / range)^3 up to the range, 0 beyond.
 *
 * Sampled exactly at the points of a grid by circulant embedding (Dietrich and Newsam, "Fast and
 * exact simulation of stationary Gaussian processes through circulant embedding of the covariance
 * matrix", SIAM J. Sci. Comput. 18(4), 1997) with FFTW.
 *
 *  F1  The embedding has no negative eigenvalue: the correlation is positive definite in the plane
 *      and reaches no further than half the period, which is two chip widths.
 *  F2  The same generator gives the same bytes on the same host. FFTW and libm may differ in the
 *      last digits on processors with other vector units.
 *  F3  Between the points of the grid a value is interpolated, which takes up to
 *      1.28 / (range * FIELD_SIDE) off its variance: 0.5 % at a range of 0.5.
 */
#ifndef VARIATION_FIELD_H
#define VARIATION_FIELD_H

#include "base/error.h"
#include "base/rng.h"

enum {
    FIELD_SIDE = 512 /* points across the chip */
};

struct field_source; /* draws fields of one range */

f64 field_correlation(f64 distance, f64 range);

struct field_source *field_source_create(f64 range);
void field_source_destroy(struct field_source *source); /* NULL is fine */
/* Draws two independent fields of FIELD_SIDE rows each; `second` may be NULL. */
void field_draw(struct field_source *source, struct rng *rng, f32 *first, f32 *second);
/* The value at a place in chip widths. */
f64 field_at(const f32 *field, f64 x, f64 y);

/* Two independent standard normal numbers. */
void normal_pair(struct rng *rng, f64 *a, f64 *b);

#endif
