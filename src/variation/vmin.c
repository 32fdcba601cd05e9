/*
 * The lowest supply at which a cell works: see cell.h.
 *
 * Whether a cell fails at a supply V is a matter of pairs of currents. The switching voltage s of an
 * inverter is below y if its N carries more current at y than its P. A node that is written stays
 * above y if at y its P carries more than its A. So with G(y) = P(s < y) and H(y) = P(node > y), of
 * different transistors, a side cannot be written with probability integral H dG. The lengths of
 * two transistors enter as factors of their currents, so for given thresholds the comparison is one
 * of normal numbers.
 *
 * Currents are those of the EKV model (Enz, Krummenacher and Vittoz, "An analytical MOS transistor
 * model valid in all regions of operation", Analog Integrated Circuits and Signal Processing 8,
 * 1995), which VARIUS-NTV uses as well:
 *   I = W / L (F(v_p) - F(v_p - v_d)),  F(x) = ln^2(1 + e^(x / 2)),  v_p = (V_g - V_th) / n,
 * all in units of kT/q; drain-induced barrier lowering takes a share of the drain voltage off V_th.
 */
#include "variation/cell.h"

enum {
    ROWS = 13,     /* systematic deviations of -5 to 5 sigma */
    SUPPLIES = 98, /* every 25 mV */
    SWITCHING = 27 /* voltages at which currents are compared */
};

static const f64 reach_sigmas = 5;
static const f64 first_supply = 0.05, supply_step = 0.025;
/* In units of the random sigma of the threshold. */
static const f64 first_switching = -6, switching_step = 0.4;
/* Probabilities below are none: the last of 10^12 cells. */
static const f64 negligible = 1e-14;

/* CACTI 7, tech_params: widths in feature sizes; a p-transistor carries less per width. */
static const f64 strength[] = {[PULL_UP] = 1.23 / 2.41, [PULL_DOWN] = 2.08, [ACCESS] = 1.31};
/* As in model/technology.c, assumed for the roadmap's high-performance devices. */
static const f64 barrier_lowering = 0.1, swing = 1.5;

static f64 ekv(f64 x)
{
    f64 root = x > 60 ? x / 2 : log1p(exp(x / 2));
    return root * root;
}

f64 transistor_current(const struct cell_model *model, enum transistor_kind kind, f64 gate,
                       f64 drain, f64 deviation)
{
    f64 threshold = model->threshold + deviation + barrier_lowering * (model->nominal - drain);
    f64 pinch = (gate - threshold) / swing / model->thermal;
    return strength[kind] * (ekv(pinch) - ekv(pinch - drain / model->thermal));
}

/* Currents of a transistor for the nodes of the rule. */
struct currents {
    f64 at[NORMAL_NODES];
};

static void find_currents(struct currents *currents, const struct cell_model *model,
                          const struct normal_rule *rule, f64 deviation, enum transistor_kind kind,
                          f64 gate, f64 drain)
{
    for (u32 i = 0; i < NORMAL_NODES; i++)
        currents->at[i] = transistor_current(model, kind, gate, drain,
                                             deviation + model->vth_random * rule->at[i]);
}

/* The probability that one current exceeds another: a / (1 + l_a) > b / (1 + l_b). */
static f64 exceeds(const struct normal_rule *rule, const struct currents *a,
                   const struct currents *b, f64 leff)
{
    f64 sum = 0;
    for (u32 i = 0; i < NORMAL_NODES; i++) {
        f64 part = 0, x = a->at[i];
        for (u32 j = 0; j < NORMAL_NODES; j++) {
            f64 y = b->at[j], spread = leff * sqrt(x * x + y * y);
            part += rule->weight[j] * normal_above(rule, (y - x) / spread);
        }
        sum += rule->weight[i] * part;
    }
    return sum;
}

/* The probability that two leakage currents together exceed a third; lengths to first order. The
 * sum of the two is put into masses at equal ratios of currents. */
static f64 leaks(const struct normal_rule *rule, const struct currents *n, const struct currents *a,
                 const struct currents *p, f64 leff)
{
    enum {
        MASSES = 96
    };
    f64 mass[MASSES] = {0}, sum = 0;
    f64 low = log(n->at[NORMAL_NODES - 1] + a->at[NORMAL_NODES - 1]);
    f64 step = (log(n->at[0] + a->at[0]) - low) / (MASSES - 1);
    for (u32 i = 0; i < NORMAL_NODES; i++)
        for (u32 j = 0; j < NORMAL_NODES; j++) {
            f64 at = (log(n->at[i] + a->at[j]) - low) / step;
            u32 k = (u32)fmin(fmax(at, 0), MASSES - 2);
            f64 weight = rule->weight[i] * rule->weight[j];
            mass[k] += weight * (1 - (at - k));
            mass[k + 1] += weight * (at - k);
        }
    /* two independent lengths behind one sum partly cancel: by nominal strengths */
    const f64 shared =
        hypot(strength[PULL_DOWN], strength[ACCESS]) / (strength[PULL_DOWN] + strength[ACCESS]);
    for (u32 k = 0; k < MASSES; k++) {
        f64 both = exp(low + k * step);
        for (u32 i = 0; i < NORMAL_NODES; i++)
            sum += mass[k] * rule->weight[i] *
                   normal_above(rule, (p->at[i] - both) / (leff * hypot(p->at[i], shared * both)));
    }
    return sum;
}

/* The nominal switching voltage of an inverter. */
static f64 switching_voltage(const struct cell_model *model, f64 supply, f64 deviation)
{
    f64 low = 0, high = supply;
    for (u32 i = 0; i < 40; i++) {
        f64 y = (low + high) / 2;
        if (transistor_current(model, PULL_DOWN, y, y, deviation) >
            transistor_current(model, PULL_UP, supply - y, supply - y, deviation))
            high = y;
        else
            low = y;
    }
    return (low + high) / 2;
}

struct failures {
    f64 write, hold; /* probabilities for one side */
};

/* Integrates over the switching voltage. `hold` is skipped where it is known to be none. */
static struct failures failures_at(const struct cell_model *model, const struct normal_rule *rule,
                                   f64 supply, f64 deviation, bool hold)
{
    const bool write = model->failures != FAILURES_HOLD;
    struct failures sum = {0, 0};
    f64 middle = switching_voltage(model, supply, deviation), before = 0, leff = model->leff_random;
    for (u32 k = 0; k < SWITCHING; k++) {
        /* G at the upper end of the interval, H in its middle */
        f64 y = middle + model->vth_random * (first_switching + switching_step * k);
        f64 upper = fmin(y + model->vth_random * switching_step / 2, 0.999 * supply);
        if (upper <= 0.001 * supply)
            continue;
        struct currents p, n, a;
        find_currents(&n, model, rule, deviation, PULL_DOWN, upper, upper);
        find_currents(&p, model, rule, deviation, PULL_UP, supply - upper, supply - upper);
        f64 below = k + 1 == SWITCHING ? 1 : exceeds(rule, &n, &p, leff);
        f64 share = below - before;
        before = below;
        y = fmin(fmax(y, 0.001 * supply), 0.999 * supply);
        find_currents(&p, model, rule, deviation, PULL_UP, supply, supply - y);
        find_currents(&a, model, rule, deviation, ACCESS, supply, y);
        if (write)
            sum.write += share * exceeds(rule, &p, &a, leff);
        if (!hold)
            continue;
        find_currents(&n, model, rule, deviation, PULL_DOWN, 0, y);
        find_currents(&a, model, rule, deviation, ACCESS, 0, y);
        sum.hold += share * leaks(rule, &n, &a, &p, leff);
    }
    return sum;
}

static void fill_row(struct quantiles *table, u32 row, const struct cell_model *model,
                     const struct normal_rule *rule)
{
    f64 supplies[SUPPLIES], levels[SUPPLIES], deviation = quantiles_deviation(table, row);
    u32 count = 0;
    bool hold = model->failures != FAILURES_WRITE;
    while (count < SUPPLIES) {
        f64 supply = first_supply + supply_step * count;
        struct failures side = failures_at(model, rule, supply, deviation, hold);
        hold = hold && side.hold > negligible;
        supplies[count] = supply;
        levels[count] =
            -2 * log1p(-fmin(side.write, 1 - 1e-12)) - 2 * log1p(-fmin(side.hold, 1 - 1e-12));
        count++;
        if (side.write + side.hold < negligible)
            break;
    }
    quantiles_fill(table, row, supplies, levels, count);
}

void vmin_table_make(struct quantiles *table, struct arena *arena, const struct cell_model *model)
{
    struct normal_rule rule;
    normal_rule_make(&rule);
    quantiles_make(table, arena, ROWS, reach_sigmas * model->vth_systematic);
    for (u32 row = 0; row < ROWS; row++)
        fill_row(table, row, model, &rule);
}
