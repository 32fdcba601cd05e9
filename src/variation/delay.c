/* The delay of a cell by the alpha-power law: see cell.h. */
#include "variation/cell.h"

enum {
    ROWS = 33, /* systematic deviations of -5 to 5 sigma */
    TIMES = 160,
    CURRENTS = 48
};

static const f64 reach_sigmas = 5;
/* Sakurai and Newton, "Alpha-power law MOSFET model", JSSC 1990: short channels. */
static const f64 alpha = 1.3;
/* Assumed: the law ends near the threshold; a transistor has at least this overdrive. */
static const f64 least_overdrive = 0.05;
/* CACTI 7, tech_params: widths of access and pull-up transistors of a cell in feature sizes, and how
 * much more current an n-transistor carries than a p-transistor of the same width. */
static const f64 access_width = 1.31, pull_up_width = 1.23, n_to_p = 2.41;
/* Assumed: the pull-up's current grows from none to its full value while its node falls. */
static const f64 mean_opposition = 0.5;

void cell_model_make(struct cell_model *model, const struct variation *variation)
{
    static const f64 volts_per_kelvin = 8.617e-5, kelvin = 273.15; /* Boltzmann's / charge */
    struct sigma_parts vth =
        variation_parts(variation, variation->vth_sigma * variation->threshold);
    struct sigma_parts leff = variation_parts(variation, variation->leff_sigma);
    *model = (struct cell_model){.volts = variation->volts,
                                 .threshold = variation->threshold,
                                 .vth_random = vth.random,
                                 .vth_systematic = vth.systematic,
                                 .leff_random = leff.random,
                                 .leff_systematic = leff.systematic,
                                 .nominal = variation->nominal,
                                 .thermal = volts_per_kelvin * (kelvin + variation->celsius),
                                 .failures = variation->failures};
}

f64 cell_opposition(void)
{
    return mean_opposition * pull_up_width / (access_width * n_to_p);
}

f64 transistor_slowness(const struct cell_model *model, f64 deviation)
{
    f64 drive = model->volts - model->threshold;
    return pow(drive / fmax(drive - deviation, least_overdrive), alpha);
}

/*
 * Read: both transistors of the read port are in series, so their times add: t = (X1 + X2) / 2
 * with X = (1 + l) h(v). For given thresholds, t is a normal number.
 */
static f64 read_above(const struct normal_rule *rule, const f64 *slowness, f64 leff, f64 time)
{
    f64 sum = 0;
    for (u32 i = 0; i < NORMAL_NODES; i++) {
        f64 part = 0;
        for (u32 j = 0; j < NORMAL_NODES; j++) {
            f64 a = slowness[i], b = slowness[j];
            part += rule->weight[j] *
                    normal_above(rule, (2 * time - a - b) / (leff * sqrt(a * a + b * b)));
        }
        sum += rule->weight[i] * part;
    }
    return sum;
}

/* The distribution of the pull-up's current, as masses at equidistant currents. */
struct current_masses {
    f64 low, step;
    f64 mass[CURRENTS];
};

static void find_masses(struct current_masses *masses, const struct normal_rule *rule,
                        const f64 *slowness, f64 leff)
{
    enum {
        LENGTHS = 13
    };
    f64 least = INFINITY, most = 0;
    for (u32 i = 0; i < NORMAL_NODES; i++) {
        least = fmin(least, 1 / slowness[i] / (1 + 5 * leff));
        most = fmax(most, 1 / slowness[i] / (1 - 5 * leff));
    }
    *masses = (struct current_masses){least, (most - least) / (CURRENTS - 1), {0}};
    f64 sum = 0;
    for (u32 i = 0; i < NORMAL_NODES; i++)
        for (u32 l = 0; l < LENGTHS; l++) {
            f64 z = 0.8 * (l - 0.5 * (LENGTHS - 1)), weight = rule->weight[i] * exp(-z * z / 2);
            f64 at = (1 / slowness[i] / (1 + z * leff) - least) / masses->step;
            u32 k = (u32)fmin(at, CURRENTS - 2);
            masses->mass[k] += weight * (1 - (at - k));
            masses->mass[k + 1] += weight * (at - k);
            sum += weight;
        }
    for (u32 k = 0; k < CURRENTS; k++)
        masses->mass[k] /= sum;
}

/* Write: t = (1 - q) / (I_A - q I_P), with I = 1 / X. */
static f64 write_above(const struct normal_rule *rule, const f64 *slowness,
                       const struct current_masses *masses, f64 leff, f64 time)
{
    f64 opposition = cell_opposition(), sum = 0;
    for (u32 k = 0; k < CURRENTS; k++) {
        f64 needed = (1 - opposition) / time + opposition * (masses->low + k * masses->step);
        f64 part = 0;
        for (u32 i = 0; i < NORMAL_NODES; i++) /* too slow: 1 / (h (1 + l)) < needed */
            part += rule->weight[i] * normal_above(rule, (1 / (slowness[i] * needed) - 1) / leff);
        sum += masses->mass[k] * part;
    }
    return sum;
}

static void fill_row(struct quantiles *table, u32 row, const struct cell_model *model,
                     const struct normal_rule *rule)
{
    f64 slowness[NORMAL_NODES], times[TIMES], levels[TIMES];
    f64 deviation = quantiles_deviation(table, row), leff = model->leff_random;
    for (u32 i = 0; i < NORMAL_NODES; i++)
        slowness[i] = transistor_slowness(model, deviation + model->vth_random * rule->at[i]);
    struct current_masses masses;
    find_masses(&masses, rule, slowness, leff);
    f64 middle = transistor_slowness(model, deviation);
    for (u32 t = 0; t < TIMES; t++) {
        times[t] = middle * pow(2, -1.0 + 4.0 * t / (TIMES - 1)); /* a half to eight times */
        f64 reads = read_above(rule, slowness, leff, times[t]);
        f64 writes = write_above(rule, slowness, &masses, leff, times[t]);
        levels[t] = -log1p(-fmin(reads, 1 - 1e-12)) - 2 * log1p(-fmin(writes, 1 - 1e-12));
    }
    quantiles_fill(table, row, times, levels, TIMES);
}

void delay_table_make(struct quantiles *table, struct arena *arena, const struct cell_model *model)
{
    struct normal_rule rule;
    normal_rule_make(&rule);
    quantiles_make(table, arena, ROWS, reach_sigmas * model->vth_systematic);
    for (u32 row = 0; row < ROWS; row++)
        fill_row(table, row, model, &rule);
}
