/*
 * The temperature of a chip over time: heat from its circuits flows to neighbours and out of the
 * package. A launch makes several steps, for which blocks compute their surroundings as well.
 */
#include "common/workload.h"
#include <math.h>
#include <stdlib.h>
#include <string.h>

enum {
    SIDE,
    STEPS,
    PYRAMID,
};

enum {
    BLOCK_SIDE = 16,
};

static const struct option_row options[] = {
    [SIDE] = {"side", "cells", "side of the chip", 512, 128, 2, 8192},
    [STEPS] = {"steps", NULL, "time steps", 2, 0, 1, 100000},
    [PYRAMID] = {"pyramid", NULL, "time steps per launch", 2, 0, 1, (BLOCK_SIDE - 1) / 2},
    {0},
};

static const struct program program = {"hotspot", "Simulates the temperature of a chip over time.",
                                       options};

/* What a step multiplies differences with; of the same layout in the kernel. */
struct rates {
    cl_float side;    /* of temperature to a neighbour */
    cl_float above;   /* of temperature to the surroundings */
    cl_float power;   /* degrees for a watt */
    cl_float outside; /* temperature of the surroundings */
};

/* A square chip of silicon, 16 mm wide and 0.5 mm thick; the step is a tenth of the shortest time
 * in which a cell follows one of its neighbours, so that steps do not swing. */
static struct rates chip(long side)
{
    const double thickness = 0.5e-3, conductivity = 100, heat = 1.75e6; /* m, W/(m K), J/(m3 K) */
    double cell = 16e-3 / (double)side, capacity = heat * thickness * cell * cell;
    double to_side = conductivity * thickness; /* W/K, through a face one cell wide */
    double to_above = conductivity * cell * cell / thickness; /* W/K */
    double time = capacity / fmax(to_side, to_above) / 10;
    return (struct rates){.side = (float)(time / capacity * to_side),
                          .above = (float)(time / capacity * to_above),
                          .power = (float)(time / capacity),
                          .outside = 80};
}

/* One step on the host. A cell at the edge has itself as a neighbour there. */
static void step(const double *from, double *to, const float *power, struct rates rates, long side)
{
    for (long y = 0; y < side; y++)
        for (long x = 0; x < side; x++) {
            long i = y * side + x;
            double around = from[x > 0 ? i - 1 : i] + from[x < side - 1 ? i + 1 : i] +
                            from[y > 0 ? i - side : i] + from[y < side - 1 ? i + side : i];
            to[i] = from[i] + rates.side * (around - 4 * from[i]) +
                    rates.above * (rates.outside - from[i]) + rates.power * power[i];
        }
}

int main(int argc, char **argv)
{
    struct workload *w = workload_open(&program, argc, argv);
    cl_int side = (cl_int)option(w, SIDE);
    long steps = option(w, STEPS);
    size_t count = (size_t)side * side;
    struct rates rates = chip(side);
    float *heat = zeroed(count, sizeof *heat), *power = zeroed(count, sizeof *power);
    double *before = zeroed(count, sizeof *before), *expected = zeroed(count, sizeof *expected);
    for (size_t i = 0; i < count; i++) {
        expected[i] = heat[i] = random_float(w, 320, 345);
        power[i] = random_float(w, 0, 3) / rates.power; /* up to three degrees a step */
    }

    struct shape block = {"BLOCK", BLOCK_SIDE, BLOCK_SIDE};
    workload_build(w, &block, 1, NULL);
    cl_int pyramid = (cl_int)option(w, PYRAMID), most = (cl_int)(block.x - 1) / 2;
    pyramid = pyramid < most ? pyramid : most;
    size_t blocks = pieces(side, block.x - 2 * (size_t)pyramid);
    cl_mem power_device = workload_input(w, power, count * sizeof *power);
    cl_mem from = workload_input(w, heat, count * sizeof *heat);
    cl_mem to = workload_output(w, count * sizeof *heat);
    cl_kernel kernel = workload_kernel(w, "hotspot");
    for (long done = 0; done < steps; done += pyramid) {
        cl_int now = (cl_int)(steps - done < pyramid ? steps - done : pyramid);
        workload_args(w, kernel, ARG(from), ARG(power_device), ARG(to), ARG(rates), ARG(side),
                      ARG(pyramid), ARG(now));
        workload_launch(w, kernel, &block, blocks, blocks, 1);
        cl_mem other = from;
        from = to;
        to = other;
    }

    workload_read(w, from, heat, count * sizeof *heat);
    for (long i = 0; i < steps; i++) {
        memcpy(before, expected, count * sizeof *before);
        step(before, expected, power, rates, side);
    }
    /* A step rounds its four terms and their sums, each no larger than twice the temperature.
     * Errors of the steps before it do not grow. */
    check_floats(w, "temperatures", heat, expected, count, (double)steps * 8 * 0x1p-24, 0);
    free(heat);
    free(power);
    free(before);
    free(expected);
    return workload_close(w);
}
