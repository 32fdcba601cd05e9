/*
 * A chip: register files whose cells differ. heddle chip draws them (variation); a run reads one
 * (maps.h), and mechanisms look up what they need: core_chip in core/mechanism.h.
 *
 *  H1  A cell that fails at some supply fails at every lower one: it has one V_min.
 *  H2  Of V_min, the cells with the highest values are kept, down to the chip's floor. Above the
 *      floor, the record is complete; no supply below it may be asked for.
 */
#ifndef CHIP_CHIP_H
#define CHIP_CHIP_H

#include "base/arena.h"
#include "base/error.h"

enum {
    CELLS_PER_WORD = 32, /* a word: one lane's part of a register */
    MOST_CORES = 1024
};

/* A register file as cells, from a machine's configuration. */
struct file_plan {
    u32 cores, banks;
    u32 entries;    /* of a bank */
    u32 words;      /* of an entry, each of one lane */
    u32 lanes;      /* of a vector register */
    u32 check_bits; /* of an entry; 0: check bits are no part of the study */
};

/* `registers` counts 32-bit registers of a core; a bank of 0 bits is as wide as a vector register. */
bool file_plan_make(struct file_plan *plan, u32 cores, u32 registers, u32 banks, u32 bank_bits,
                    u32 lanes, struct error *error);
/* Check bits of a SEC-DED code over an entry. */
u32 file_plan_check_bits(const struct file_plan *plan);
/* Banks that hold one vector register side by side. */
static inline u32 file_plan_columns(const struct file_plan *plan)
{
    return plan->words < plan->lanes ? plan->lanes / plan->words : 1;
}
static inline u32 file_plan_words(const struct file_plan *plan)
{
    return plan->banks * plan->entries * plan->words;
}
static inline u32 file_plan_cells(const struct file_plan *plan)
{
    return plan->banks * plan->entries * (plan->words * CELLS_PER_WORD + plan->check_bits);
}

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
    u32 number;    /* in its file */
    f64 volts;     /* supply at which delays are taken */
    f64 threshold; /* nominal, volts */
    f64 floor;     /* volts: all cells with a V_min above it are kept */
    struct chip_core *cores;
    f32 *map; /* MAP_SIDE rows of systematic deviations of the threshold, volts; NULL: not kept */
};

static inline u32 entry_index(const struct file_plan *plan, u32 bank, u32 entry)
{
    return bank * plan->entries + entry;
}
static inline u32 word_index(const struct file_plan *plan, u32 bank, u32 entry, u32 word)
{
    return entry_index(plan, bank, entry) * plan->words + word;
}

/* The cells of an entry that fail at a supply are the first of its list; how many. */
u32 chip_failing(const struct chip_core *core, u32 entry, f64 volts);
/* Whether all cells lie within their entry and fall from the highest V_min to the floor. */
bool chip_cells_fit(const struct chip *chip, const struct chip_core *core);
/* The cells of an entry, by falling V_min. */
static inline const struct weak_cell *chip_cells(const struct chip_core *core, u32 entry)
{
    return &core->cells[core->first[entry]];
}
static inline u32 cell_bit(const struct weak_cell *cell)
{
    return cell->place & ~(u32)CELL_PREFERS;
}
static inline bool cell_reads(const struct weak_cell *cell)
{
    return cell->place & CELL_PREFERS;
}

#endif
