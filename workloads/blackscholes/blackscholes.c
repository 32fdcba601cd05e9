/* Prices European options by the formula of Black and Scholes: arithmetic, and little memory. */
#include "common/workload.h"
#include <math.h>
#include <stdlib.h>

enum {
    OPTIONS,
};

static const struct option_row options[] = {
    [OPTIONS] = {"options", NULL, "number of options to price", 65536, 15000, 1, 1 << 26},
    {0},
};

static const struct program program = {
    "blackscholes", "Prices European options with the Black-Scholes formula.", options};

static const float rate = 0.02f, volatility = 0.30f; /* a year */

enum {
    LARGEST_PRICE = 30,
    LARGEST_STRIKE = 100,
};

/* The share of a normal distribution below x. */
static double normal(double x)
{
    return erfc(-x * M_SQRT1_2) / 2;
}

static void price(double spot, double strike, double years, double *call, double *put)
{
    double spread = volatility * sqrt(years);
    double d = (log(spot / strike) + rate * years) / spread + spread / 2;
    double discounted = strike * exp(-rate * years);
    *call = spot * normal(d) - discounted * normal(d - spread);
    *put = discounted * normal(spread - d) - spot * normal(-d);
}

int main(int argc, char **argv)
{
    struct workload *w = workload_open(&program, argc, argv);
    cl_uint count = (cl_uint)option(w, OPTIONS);
    float *spot = zeroed(count, sizeof *spot), *strike = zeroed(count, sizeof *strike);
    float *years = zeroed(count, sizeof *years);
    double *call = zeroed(count, sizeof *call), *put = zeroed(count, sizeof *put);
    for (cl_uint i = 0; i < count; i++) {
        spot[i] = random_float(w, 5, LARGEST_PRICE);
        strike[i] = random_float(w, 1, LARGEST_STRIKE);
        years[i] = random_float(w, 0.25f, 10);
        price(spot[i], strike[i], years[i], &call[i], &put[i]);
    }

    struct shape block = {"BLOCK", 128};
    workload_build(w, &block, 1, NULL);
    size_t bytes = count * sizeof(float);
    cl_mem spot_device = workload_input(w, spot, bytes);
    cl_mem strike_device = workload_input(w, strike, bytes);
    cl_mem years_device = workload_input(w, years, bytes);
    cl_mem call_device = workload_output(w, bytes), put_device = workload_output(w, bytes);
    cl_kernel kernel = workload_kernel(w, "price");
    workload_args(w, kernel, ARG(spot_device), ARG(strike_device), ARG(years_device),
                  ARG(call_device), ARG(put_device), ARG(rate), ARG(volatility), ARG(count));
    workload_launch(w, kernel, &block, pieces(count, block.x), 1, 1);

    float *got = spot; /* the input is not needed any more */
    /* A price is a difference of at most the spot price and the strike. Their factors are off by
     * the polynomial's 7.5e-8 and by about 16 roundings on the way to them. */
    double tolerance = (LARGEST_PRICE + LARGEST_STRIKE) * (7.5e-8 + 16 * 0x1p-24);
    workload_read(w, call_device, got, bytes);
    check_floats(w, "calls", got, call, count, 0, tolerance);
    workload_read(w, put_device, got, bytes);
    check_floats(w, "puts", got, put, count, 0, tolerance);
    free(spot);
    free(strike);
    free(years);
    free(call);
    free(put);
    return workload_close(w);
}
