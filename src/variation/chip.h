/*
 * Chips: register files whose cells differ.
 *
 *  H1  A chip is a function of its parameters, the seed and its number: chip 7 is the same in a
 *      batch of 10 and of 100. Its delays do not depend on what is drawn for V_min, nor the other
 *      way round.
 *  H2  A cell that fails at some supply fails at every lower one: it has one V_min.
 *  H3  Of V_min, the cells with the highest values are kept, down to the chip's floor: a share of
 *      all cells in expectation, which `chip_source_make` is given. Above the floor, the record is
 *      complete.
 *  H4  Delays and V_min are rounded to what is stored (DELAY_ONE, VMIN_ONE) as soon as they are
 *      drawn: a chip that is read from a file equals the one that was written.
 */
#ifndef VARIATION_CHIP_H
#define VARIATION_CHIP_H

#include "variation/cell.h"
#include "variation/field.h"

enum {
    DELAY_ONE = 16384, /* stored delay of a cell without variation */
    VMIN_ONE = 32768,  /* stored V_min of one volt */
    CELL_PREFERS = 0x8000,
    MAP_SIDE = 64 /* of the stored map of thresholds */
};

/* A cell with a high V_min. */
struct weak_cell {
    u16 place; /* bit of its entry, check bits last; CELL_PREFERS: it fails to 1, else to 0 */
    u16 vmin;  /* in 1 / VMIN_ONE volts */
};

struct chip_core {
    u16 *delays;             /* of each word, its slowest cell, in 1 / DELAY_ONE */
    u32 *first;              /* of each entry and one more: index into `cells` */
    struct weak_cell *cells; /* by entry; within one, by falling V_min */
    f64 threshold;           /* mean systematic deviation, volts */
};

/* Words are counted through entries, entries through banks: see word_index. */
struct chip {
    struct file_plan plan;
    u32 number;
    f64 floor; /* volts: all cells with a V_min above it are kept */
    struct chip_core *cores;
    f32 *map; /* MAP_SIDE rows of systematic deviations of the threshold, volts */
};

static inline u32 entry_index(const struct file_plan *plan, u32 bank, u32 entry)
{
    return bank * plan->entries + entry;
}
static inline u32 word_index(const struct file_plan *plan, u32 bank, u32 entry, u32 word)
{
    return entry_index(plan, bank, entry) * plan->words + word;
}

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

/* The cells of an entry that fail at a supply are the first of its list; how many. */
u32 chip_failing(const struct chip_core *core, u32 entry, f64 volts);

#endif
