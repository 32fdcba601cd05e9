/*
 * Swaptions in the LIBOR market model by Monte Carlo, a path a thread, with rates in memory of the
 * thread's own. The device finds slopes by going back from the price (the adjoint); what is
 * expected comes from going forward with the change of every rate, in double precision.
 */
#include "common/workload.h"
#include <math.h>
#include <stdlib.h>

enum {
    PATHS,
    RATES,
    STEPS,
    KIND,
    DRAWS,
};

enum { /* words of --kind and --draws */
    KIND_BOTH,
    KIND_VALUES,
    KIND_SLOPES,
    DRAWS_EQUAL = 1,
};

enum {
    SWAPTIONS = 15,
    MOST_RATES = 256,
};

static const struct option_row options[] = {
    [PATHS] = {"paths", NULL, "number of Monte Carlo paths", 4096, 256, 1, 1 << 24},
    [RATES] = {"rates", NULL, "number of forward rates", 80, 20, 2, MOST_RATES},
    [STEPS] = {"steps", NULL, "time steps, fewer than rates", 40, 8, 1, MOST_RATES - 1},
    [KIND] = {"kind", NULL, "values only, values with slopes, or both, one after the other",
              KIND_BOTH, 0, 0, 0, .choices = "both|values|slopes"},
    [DRAWS] = {"draws", NULL, "normally distributed draws, or always 0.3", 0, 0, 0, 0,
               .choices = "normal|equal"},
    {0},
};

static const struct program program = {
    "libor", "Prices swaptions in the LIBOR market model by Monte Carlo.", options};

static const double period = 0.25, start = 0.05, notional = 100; /* as in the kernels */

struct market {
    int rates, steps;
    cl_float volatilities[MOST_RATES]; /* by the distance in periods */
    cl_int maturities[SWAPTIONS];      /* in periods behind the last step */
    cl_float strikes[SWAPTIONS];
};

/* Five maturities with three strikes each. */
static struct market make_market(int rates, int steps)
{
    static const double shares[] = {0.1, 0.2, 0.5, 0.7, 1}, strikes[] = {0.045, 0.05, 0.055};
    struct market market = {.rates = rates, .steps = steps};
    for (int i = 0; i < rates; i++)
        market.volatilities[i] = 0.2f;
    for (int i = 0; i < SWAPTIONS; i++) {
        int maturity = (int)((rates - steps) * shares[i / 3]);
        market.maturities[i] = maturity > 0 ? maturity : 1;
        market.strikes[i] = (float)strikes[i % 3];
    }
    return market;
}

/* Two of them by the method of Box and Muller. */
static void random_normals(struct workload *w, float *normals, size_t count)
{
    for (size_t i = 0; i < count; i += 2) {
        double radius = sqrt(-2 * log(random_float(w, 0x1p-20f, 1)));
        double angle = 2 * M_PI * random_float(w, 0, 1);
        normals[i] = (float)(radius * cos(angle));
        if (i + 1 < count)
            normals[i + 1] = (float)(radius * sin(angle));
    }
}

/* A number and how it changes with the last rate of the start. */
struct dual {
    double x, slope;
};

static void advance(const struct market *market, struct dual *rates, int n, double draw)
{
    struct dual drift = {0};
    for (int i = n + 1; i < market->rates; i++) {
        double volatility = market->volatilities[i - n - 1], scaled = period * volatility;
        double growth = 1 + period * rates[i].x;
        drift.x += scaled * rates[i].x / growth;
        drift.slope += scaled * rates[i].slope / (growth * growth);
        double factor = exp(scaled * drift.x + volatility * (sqrt(period) * draw - 0.5 * scaled));
        rates[i].slope = factor * (rates[i].slope + rates[i].x * scaled * drift.slope);
        rates[i].x *= factor;
    }
}

static struct dual discounted(struct dual bond, struct dual rate)
{
    double growth = 1 + period * rate.x;
    return (struct dual){bond.x / growth,
                         (bond.slope - bond.x * period * rate.slope / growth) / growth};
}

/* The price; nearest is how close a swaption is to being worth nothing, where its slope jumps. */
static struct dual price(const struct market *market, const struct dual *rates, double *nearest)
{
    struct dual bonds[MOST_RATES], annuities[MOST_RATES], bond = {1, 0}, annuity = {0};
    struct dual value = {0}, today = {1, 0};
    for (int n = market->steps; n < market->rates; n++) {
        bond = discounted(bond, rates[n]);
        annuity.x += period * bond.x;
        annuity.slope += period * bond.slope;
        bonds[n - market->steps] = bond;
        annuities[n - market->steps] = annuity;
    }
    *nearest = INFINITY;
    for (int i = 0; i < SWAPTIONS; i++) {
        int last = market->maturities[i] - 1;
        double swap = bonds[last].x + market->strikes[i] * annuities[last].x - 1;
        *nearest = fmin(*nearest, fabs(swap));
        if (swap < 0) {
            value.x -= notional * swap;
            value.slope -=
                notional * (bonds[last].slope + market->strikes[i] * annuities[last].slope);
        }
    }
    for (int n = 0; n < market->steps; n++)
        today = discounted(today, rates[n]);
    return (struct dual){today.x * value.x, today.x * value.slope + today.slope * value.x};
}

struct expected {
    double *values, *slopes, *nearest;
};

static struct expected expect(const struct market *market, const float *normals, size_t paths)
{
    struct expected expected = {zeroed(paths, sizeof(double)), zeroed(paths, sizeof(double)),
                                zeroed(paths, sizeof(double))};
    for (size_t path = 0; path < paths; path++) {
        struct dual rates[MOST_RATES];
        for (int i = 0; i < market->rates; i++)
            rates[i] = (struct dual){start, i == market->rates - 1};
        for (int n = 0; n < market->steps; n++)
            advance(market, rates, n, normals[(size_t)n * paths + path]);
        struct dual value = price(market, rates, &expected.nearest[path]);
        expected.values[path] = value.x;
        expected.slopes[path] = value.slope;
    }
    return expected;
}

/* Buffers of the device. */
struct device {
    struct shape block;
    cl_mem normals, values, slopes, volatilities, maturities, strikes;
};

static void run_values(struct workload *w, struct device *d, size_t blocks, cl_uint paths)
{
    cl_kernel kernel = workload_kernel(w, "values");
    workload_args(w, kernel, ARG(d->normals), ARG(d->values), ARG(d->volatilities),
                  ARG(d->maturities), ARG(d->strikes), ARG(paths));
    workload_launch(w, kernel, &d->block, blocks, 1, 1);
}

static void run_slopes(struct workload *w, struct device *d, size_t blocks, cl_uint paths)
{
    cl_kernel kernel = workload_kernel(w, "slopes");
    workload_args(w, kernel, ARG(d->normals), ARG(d->values), ARG(d->slopes), ARG(d->volatilities),
                  ARG(d->maturities), ARG(d->strikes), ARG(paths));
    workload_launch(w, kernel, &d->block, blocks, 1, 1);
}

static void check_values(struct workload *w, struct device *d, const struct expected *expected,
                         size_t paths, double tolerance)
{
    float *values = zeroed(paths, sizeof *values);
    workload_read(w, d->values, values, paths * sizeof *values);
    check_floats(w, "values", values, expected->values, paths, 0, tolerance);
    free(values);
}

/* Of paths on which no swaption is too near to nothing to tell on which side it is. */
static void check_slopes(struct workload *w, struct device *d, const struct expected *expected,
                         size_t paths, double tolerance)
{
    float *slopes = zeroed(paths, sizeof *slopes);
    double *clear = zeroed(paths, sizeof *clear);
    size_t count = 0;
    workload_read(w, d->slopes, slopes, paths * sizeof *slopes);
    for (size_t i = 0; i < paths; i++)
        if (expected->nearest[i] > tolerance / notional) {
            slopes[count] = slopes[i];
            clear[count++] = expected->slopes[i];
        }
    check_true(w, count >= paths / 2, "%zu of %zu slopes can be told", count, paths);
    check_floats(w, "slopes", slopes, clear, count, 0, tolerance);
    free(slopes);
    free(clear);
}

int main(int argc, char **argv)
{
    struct workload *w = workload_open(&program, argc, argv);
    cl_uint paths = (cl_uint)option(w, PATHS);
    int rates = (int)option(w, RATES), steps = (int)option(w, STEPS);
    bool equal = option(w, DRAWS) == DRAWS_EQUAL;
    if (steps >= rates)
        steps = rates - 1;
    struct market market = make_market(rates, steps);
    size_t draws = (size_t)paths * steps;
    float *normals = zeroed(draws, sizeof *normals);
    random_normals(w, normals, draws);
    for (size_t i = 0; equal && i < draws; i++)
        normals[i] = 0.3f;
    struct expected expected = expect(&market, normals, paths);

    struct device d = {.block = {"BLOCK", 256}};
    workload_build(w, &d.block, 1, "-D RATES=%d -D STEPS=%d -D SWAPTIONS=%d -D EQUAL_DRAWS=%d",
                   rates, steps, SWAPTIONS, equal);
    size_t blocks = pieces(paths, d.block.x);
    d.normals = workload_input(w, normals, draws * sizeof *normals);
    d.values = workload_output(w, paths * sizeof(float));
    d.slopes = workload_output(w, paths * sizeof(float));
    d.volatilities = workload_input(w, market.volatilities, rates * sizeof(cl_float));
    d.maturities = workload_input(w, market.maturities, sizeof market.maturities);
    d.strikes = workload_input(w, market.strikes, sizeof market.strikes);
    /* A step multiplies a rate with a native exponential, some 2^-20 off; a swaption moves with its
     * rates by less than its notional, and so does its slope. */
    double tolerance = notional * SWAPTIONS * (steps + 2) * 0x1p-20;
    if (option(w, KIND) != KIND_SLOPES) {
        run_values(w, &d, blocks, paths);
        check_values(w, &d, &expected, paths, tolerance);
    }
    if (option(w, KIND) != KIND_VALUES) {
        run_slopes(w, &d, blocks, paths);
        check_values(w, &d, &expected, paths, tolerance);
        check_slopes(w, &d, &expected, paths, tolerance);
    }
    free(normals);
    free(expected.values);
    free(expected.slopes);
    free(expected.nearest);
    return workload_close(w);
}
