/*
 * Drawing of chips: register files whose cells differ (chip/chip.h).
 *
 *  H1  A chip is a function of its parameters, the seed and its number: chip 7 is the same in a
 *      batch of 10 and of 100. Its delays do not depend on what is drawn for V_min, nor the other
 *      way round.
 *  H2  Delays and V_min are rounded to what is stored (DELAY_ONE, VMIN_ONE) as soon as they are
 *      drawn: a chip that is read from a file equals the one that was written.
 */
#ifndef VARIATION_DRAW_H
#define VARIATION_DRAW_H

#include "variation/cell.h"
#include "variation/field.h"

struct chip_source {
    struct variation variation;
    struct file_plan plan;
    u64 seed;
    f64 kept; /* share of cells above the floor */
    struct cell_model model;
    struct quantiles delays, vmins;
    struct field_source *field;
    f32 *thresholds, *lengths; /* fields of the chip that is being drawn */
    f32 *deviations;           /* systematic, of each word of the chip: threshold, volts */
    f32 *factors;              /* the same: length, relative to the nominal one */
};

/* Parameters must have been checked. */
void chip_source_make(struct chip_source *source, struct arena *arena,
                      const struct variation *variation, const struct file_plan *plan, u64 seed,
                      f64 kept);
void chip_source_end(struct chip_source *source);
/* Draws a chip; all of it is in `arena`. */
struct chip *chip_draw(struct chip_source *source, u32 number, struct arena *arena);

#endif
