/*
 * A memory cell of eight transistors: its delay and the lowest supply at which it works.
 *
 * Six transistors store and write: two inverters of a pull-up (P) and a pull-down (N) transistor,
 * and an access transistor (A) on each side. Two in series read: R1 and R2.
 *
 * Delays follow the alpha-power law, as in VARIUS; they are relative to those of a cell without
 * variation. A cell is as slow as the slowest of a read and of writes to either side.
 *
 * Below V_min a cell fails in one of two ways (Karpuzcu et al., "VARIUS-NTV: A microarchitectural
 * model to capture the increased sensitivity of manycores to process variations at near-threshold
 * voltages", DSN 2012); reads do not disturb a cell of eight transistors:
 *   write  the access transistor cannot pull a node that is high below the switching voltage of the
 *          opposite inverter, however long the write lasts;
 *   hold   leakage through pull-down and access transistors pulls a node that is high below it.
 *
 *  C1  The sides of a cell fail independently of each other in the tables. They share transistors
 *      whose effects are opposite (a strong P keeps one node high and raises the other's switching
 *      voltage), so both failing is rarer still; the difference is of the order of the failure
 *      probability squared. tests/variation compares with cells that are drawn whole.
 *  C2  A cell's delay and V_min are drawn independently, though a write depends on transistors of
 *      both. Nothing uses both at once.
 */
#ifndef VARIATION_CELL_H
#define VARIATION_CELL_H

#include "variation/quantile.h"
#include "variation/variation.h"

/* Constants of a cell at one place: what its transistors have in common. */
struct cell_model {
    f64 volts;     /* supply for delays */
    f64 threshold; /* without any variation */
    f64 vth_random, vth_systematic;
    f64 leff_random, leff_systematic;
    f64 nominal; /* supply at which thresholds are given */
    f64 thermal; /* kT/q, volts */
    enum cell_failures failures;
};

void cell_model_make(struct cell_model *model, const struct variation *variation);

/* ---- alpha-power law: delays ---- */

/* Share of the pull-up's current that opposes a write, relative to the access transistor's. */
f64 cell_opposition(void);
/* Time of a transistor to move its charge, relative to one without variation, at nominal length. */
f64 transistor_slowness(const struct cell_model *model, f64 deviation);

/* ---- EKV: currents at any supply, relative to the specific current of unit width ---- */

enum transistor_kind {
    PULL_UP,
    PULL_DOWN,
    ACCESS
};
/* The current at nominal length; divide by 1 + the deviation of the length. `deviation` is that of
 * the threshold, in volts. */
f64 transistor_current(const struct cell_model *model, enum transistor_kind kind, f64 gate,
                       f64 drain, f64 deviation);

/* ---- distributions ---- */

/* The delay of one cell at nominal systematic length: multiply by 1 + its deviation. */
void delay_table_make(struct quantiles *table, struct arena *arena, const struct cell_model *model);
/* V_min of one cell, volts. */
void vmin_table_make(struct quantiles *table, struct arena *arena, const struct cell_model *model);

#endif
