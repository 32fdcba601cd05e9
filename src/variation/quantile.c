/* Tables of quantiles: see quantile.h. */
#include "variation/quantile.h"

/* Logarithms of levels: from the slowest of 10^12 cells to the fastest 10^-10. */
static const f64 low_level = -28, level_step = 0.0490;

void quantiles_make(struct quantiles *table, struct arena *arena, u32 rows, f64 reach)
{
    *table = (struct quantiles){rows, -reach, 2 * reach / (rows - 1),
                                arena_array(arena, f64, (size_t)rows * QUANTILE_STEPS)};
}

void quantiles_fill(struct quantiles *table, u32 row, const f64 *x, const f64 *levels, u32 count)
{
    f64 *values = table->values + (size_t)row * QUANTILE_STEPS;
    u32 at = count - 1; /* levels fall as x rises: from the last point down */
    for (u32 i = 0; i < QUANTILE_STEPS; i++) {
        f64 level = exp(low_level + i * level_step);
        while (at > 0 && levels[at - 1] < level)
            at--;
        if (at == 0 || levels[at] >= level || !(levels[at] > 0)) {
            values[i] = x[at]; /* beyond an end (Q2) */
            continue;
        }
        f64 below = log(levels[at]), above = log(levels[at - 1]);
        f64 share = (log(level) - below) / (above - below);
        values[i] = x[at] + share * (x[at - 1] - x[at]);
    }
}

struct row_place {
    const f64 *first, *second; /* rows */
    f64 share;                 /* of the second */
};

static struct row_place rows_at(const struct quantiles *table, f64 deviation)
{
    f64 at = fmin(fmax((deviation - table->low) / table->step, 0), table->rows - 1.0001);
    u32 row = (u32)at;
    const f64 *first = table->values + (size_t)row * QUANTILE_STEPS;
    return (struct row_place){first, first + QUANTILE_STEPS, at - row};
}

static f64 value_at(const struct row_place *rows, f64 at)
{
    at = fmin(fmax(at, 0), QUANTILE_STEPS - 1.0001);
    u32 i = (u32)at;
    f64 share = at - i, a = rows->first[i] + share * (rows->first[i + 1] - rows->first[i]);
    f64 b = rows->second[i] + share * (rows->second[i + 1] - rows->second[i]);
    return a + rows->share * (b - a);
}

f64 quantile_of(const struct quantiles *table, f64 deviation, f64 level)
{
    struct row_place rows = rows_at(table, deviation);
    return value_at(&rows, (log(level) - low_level) / level_step);
}

f64 quantile_level(const struct quantiles *table, f64 deviation, f64 value)
{
    struct row_place rows = rows_at(table, deviation);
    f64 low = 0, high = QUANTILE_STEPS - 1;
    for (u32 i = 0; i < 40; i++) {
        f64 middle = (low + high) / 2;
        if (value_at(&rows, middle) > value)
            low = middle;
        else
            high = middle;
    }
    return exp(low_level + level_step * (low + high) / 2);
}

void normal_rule_make(struct normal_rule *rule)
{
    f64 step = 0.4, sum = 0;
    for (u32 i = 0; i < NORMAL_NODES; i++) {
        f64 z = step * (i - 0.5 * (NORMAL_NODES - 1));
        rule->at[i] = z;
        sum += rule->weight[i] = exp(-z * z / 2);
    }
    for (u32 i = 0; i < NORMAL_NODES; i++)
        rule->weight[i] /= sum;
    for (u32 i = 0; i < ARRAY_LEN(rule->above); i++)
        rule->above[i] = 0.5 * erfc(((f64)i / NORMAL_STEPS - NORMAL_REACH) * M_SQRT1_2);
}
