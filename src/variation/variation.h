/*
 * Process variation: how the transistors of a register file differ.
 *
 * Threshold voltage and channel length of a transistor are their nominal value plus a systematic
 * part, a Gaussian field over the chip (field.h), plus a random part, independent for every
 * transistor: VARIUS (Sarangi et al., "VARIUS: A model of process variation and resulting timing
 * errors for microarchitects", IEEE Trans. Semiconductor Manufacturing 21(1), 2008). The random part
 * of the length is relative to its local mean, so that a systematic length is a factor of every
 * delay; VARIUS adds both, which differs by the product of two small deviations.
 *
 * docs/variation.md has the equations, and the source of each constant.
 */
#ifndef VARIATION_VARIATION_H
#define VARIATION_VARIATION_H

#include "chip/chip.h"

/* Constants of a technology. */
struct variation_node {
    u32 nm;
    f64 volts;                 /* nominal supply */
    f64 threshold;             /* volts, nominal */
    f64 vth_sigma, leff_sigma; /* sigma/mu in total */
    const char *source;
};

/* The node of that feature size; NULL: there is none. */
const struct variation_node *variation_node(u32 nm);
/* All nodes, largest first. */
const struct variation_node *variation_nodes(u32 *count);

/* Which of the two failures of cells count (cell.h). One alone is an ablation. */
enum cell_failures {
    FAILURES_BOTH,
    FAILURES_HOLD,
    FAILURES_WRITE
};

/* What chips are drawn from. */
struct variation {
    u32 nm;
    f64 volts;                 /* supply at which delays are taken */
    f64 nominal;               /* supply at which thresholds are given */
    f64 threshold;             /* volts */
    f64 vth_sigma, leff_sigma; /* sigma/mu in total */
    f64 random, systematic;    /* their ratio */
    bool of_variance;          /* the ratio is of variances; else of sigmas */
    f64 range;                 /* phi: distance beyond which nothing correlates, in chip widths */
    f64 leff_correlation;      /* of the systematic parts of length and threshold: 0 to 1 */
    f64 celsius;
    f64 chip_mm2;
    enum cell_failures failures;
};

/* The default of a node, at its nominal supply. */
void variation_default(struct variation *variation, const struct variation_node *node);
/* Whether all values make sense. `place` is used in messages. */
bool variation_check(const struct variation *variation, const char *place, struct error *error);
/* "1:4" */
bool variation_ratio(struct variation *variation, const char *text, struct error *error);

/* The parts of a total sigma. */
struct sigma_parts {
    f64 random, systematic;
};
struct sigma_parts variation_parts(const struct variation *variation, f64 total);

/* Where a word lies, in chip widths. */
struct chip_place {
    f64 x, y;
};
struct chip_place file_place(const struct file_plan *plan, const struct variation *variation,
                             u32 core, u32 bank, u32 entry, u32 word);

#endif
