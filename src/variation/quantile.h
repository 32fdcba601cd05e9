/*
 * Tables of quantiles of a property of a cell, given the systematic threshold voltage at its place.
 *
 * A quantile is named by its level a = -ln F(x): of cells with independent random parts, the levels
 * are independent exponential numbers, so the order statistics of m cells are sums (Renyi, "On the
 * theory of order statistics", 1953): the k-th highest of them has the level
 *   E_1 / m + E_2 / (m - 1) + ... + E_k / (m - k + 1).
 *
 *  Q1  In every row, a higher level never has a higher quantile.
 *  Q2  Beyond the ends of a table, its values at the ends hold.
 */
#ifndef VARIATION_QUANTILE_H
#define VARIATION_QUANTILE_H

#include "base/arena.h"
#include "base/rng.h"
#include <math.h>

enum {
    QUANTILE_STEPS = 640
};

struct quantiles {
    u32 rows;
    f64 low, step; /* systematic deviations of the rows, volts */
    f64 *values;   /* QUANTILE_STEPS of each row, by the logarithm of the level */
};

/* Rows for deviations from -reach to +reach. */
void quantiles_make(struct quantiles *table, struct arena *arena, u32 rows, f64 reach);
static inline f64 quantiles_deviation(const struct quantiles *table, u32 row)
{
    return table->low + row * table->step;
}
/* Fills a row from levels at increasing x. */
void quantiles_fill(struct quantiles *table, u32 row, const f64 *x, const f64 *levels, u32 count);
/* The quantile of a level. */
f64 quantile_of(const struct quantiles *table, f64 deviation, f64 level);
/* The level of a value: the inverse. */
f64 quantile_level(const struct quantiles *table, f64 deviation, f64 value);

/* An exponential number of mean 1. */
static inline f64 exponential(struct rng *rng)
{
    return -log(1 - rng_unit(rng));
}

/* ---- integrals over normal numbers ---- */

enum {
    NORMAL_NODES = 43,
    NORMAL_REACH = 9,
    NORMAL_STEPS = 256 /* of the table, per unit */
};

/* Equidistant nodes and weights: for a smooth function of a normal number, the trapezoidal rule
 * converges exponentially. And shares of a normal distribution above z: erfc takes too long for tens
 * of millions of them. */
struct normal_rule {
    f64 at[NORMAL_NODES], weight[NORMAL_NODES];
    f64 above[2 * NORMAL_REACH * NORMAL_STEPS + 2];
};

void normal_rule_make(struct normal_rule *rule);
/* The share above z; interpolated, with a relative error below 2e-4. */
static inline f64 normal_above(const struct normal_rule *rule, f64 z)
{
    f64 at = (fmin(fmax(z, -NORMAL_REACH), NORMAL_REACH) + NORMAL_REACH) * NORMAL_STEPS;
    u32 i = (u32)at;
    return rule->above[i] + (at - i) * (rule->above[i + 1] - rule->above[i]);
}

#endif
