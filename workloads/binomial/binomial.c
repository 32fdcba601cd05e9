/* Prices European calls on a lattice of prices, a block an option: a barrier after every step. */
#include "common/workload.h"
#include <math.h>
#include <stdlib.h>

enum {
    OPTIONS,
    STEPS,
};

static const struct option_row options[] = {
    [OPTIONS] = {"options", NULL, "number of options to price", 64, 8, 1, 1 << 20},
    [STEPS] = {"steps", NULL, "time steps of the lattice", 255, 0, 1, 1023},
    {0},
};

static const struct program program = {
    "binomial", "Prices European call options on a binomial lattice, one per block.", options};

/* What the kernel is told of an option; of the same layout there. */
struct call {
    cl_float spot, strike;
    cl_float step;     /* logarithm of the factor by which a price moves up or down */
    cl_float up, down; /* probability of either, discounted by a step */
};

static struct call random_call(struct workload *w, long steps, double *expected)
{
    const double rate = 0.02, volatility = 0.30; /* a year */
    struct call call = {.spot = random_float(w, 5, 30), .strike = random_float(w, 5, 30)};
    double time = random_float(w, 1, 5) / (double)steps; /* of a step */
    call.step = (float)(volatility * sqrt(time));
    double move = call.step;
    double up = (exp(rate * time) - exp(-move)) / (exp(move) - exp(-move));
    call.up = (float)(up * exp(-rate * time));
    call.down = (float)((1 - up) * exp(-rate * time));
    /* Without the lattice: the payment after k moves up is as likely as the binomial says. */
    *expected = 0;
    for (long k = 0; k <= steps; k++) {
        double paths =
            lgamma((double)steps + 1) - lgamma((double)k + 1) - lgamma((double)(steps - k) + 1);
        double weight = exp(paths + (double)k * log(up) + (double)(steps - k) * log(1 - up));
        double price = call.spot * exp((double)(2 * k - steps) * move);
        *expected += weight * fmax(price - call.strike, 0);
    }
    *expected *= exp(-rate * time * (double)steps);
    return call;
}

int main(int argc, char **argv)
{
    struct workload *w = workload_open(&program, argc, argv);
    size_t count = option(w, OPTIONS);
    cl_uint steps = (cl_uint)option(w, STEPS);
    struct call *calls = zeroed(count, sizeof *calls);
    double *expected = zeroed(count, sizeof *expected);
    for (size_t i = 0; i < count; i++)
        calls[i] = random_call(w, steps, &expected[i]);

    struct shape block = {"BLOCK", 256};
    workload_build(w, &block, 1, "-D STEPS=%u", steps);
    cl_mem calls_device = workload_input(w, calls, count * sizeof *calls);
    cl_mem prices_device = workload_output(w, count * sizeof(float));
    cl_kernel kernel = workload_kernel(w, "price");
    workload_args(w, kernel, ARG(calls_device), ARG(prices_device));
    workload_launch(w, kernel, &block, count, 1, 1);

    float *prices = zeroed(count, sizeof *prices);
    workload_read(w, prices_device, prices, count * sizeof *prices);
    /* Positive terms: a step rounds two products, their sum and the two probabilities. The payments
     * at the end are off by a few roundings of the exponents, which are below 4 for likely prices,
     * and of prices whose mean is not above 30. */
    check_floats(w, "prices", prices, expected, count, 4 * steps * 0x1p-24, 30 * 16 * 0x1p-24);
    free(calls);
    free(expected);
    free(prices);
    return workload_close(w);
}
