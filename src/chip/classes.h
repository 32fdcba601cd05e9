/*
 * Fast and slow parts of register files, and what a chip's numbers come to.
 *
 * The slowest part of what has to be reached in one cycle sets a core's clock. If the slowest
 * (100 - n) % may take two cycles, the slowest of the rest sets it. Parts are registers (VL-RF: a word
 * of one lane), arrays of register vectors (VL-RV) or sub-banks (VL-SB), as in chapter 5 of Tan's
 * dissertation (2016). Frequencies are relative to a chip without variation.
 */
#ifndef CHIP_CLASSES_H
#define CHIP_CLASSES_H

#include "chip/chip.h"

enum part_kind {
    PART_FILE,     /* all of it in one cycle */
    PART_REGISTER, /* VL-RF */
    PART_ARRAY,    /* VL-RV: as many arrays of neighbouring vectors as there are sub-banks */
    PART_SUB_BANK, /* VL-SB */
    PART_KINDS
};

struct class_rule {
    f64 fast;      /* share of parts that take one cycle */
    u32 sub_banks; /* of a bank, side by side */
};

/* Two halves of a bank that holds a vector register; whole banks if they are narrower. */
u32 class_sub_banks(const struct file_plan *plan);
bool class_rule_check(const struct class_rule *rule, const struct file_plan *plan,
                      struct error *error);
/* Parts of a core, and how many of them are fast: the share, rounded down. */
u32 class_parts(const struct file_plan *plan, const struct class_rule *rule, enum part_kind kind);
u32 class_fast(const struct file_plan *plan, const struct class_rule *rule, enum part_kind kind);
/* The delay of each sub-bank or array, in 1 / DELAY_ONE. */
void class_delays(const struct chip_core *core, const struct file_plan *plan,
                  const struct class_rule *rule, enum part_kind kind, u16 *delays);
/* The delay of the slowest part that is fast, in 1 / DELAY_ONE. */
u16 class_limit(const struct chip_core *core, const struct file_plan *plan,
                const struct class_rule *rule, enum part_kind kind);

/* Which of these parts are fast: 1, else 0. Of equal delays, the first ones. */
void class_mark(const struct file_plan *plan, const struct class_rule *rule, enum part_kind kind,
                const u16 *delays, u8 *fast);

struct core_numbers {
    f64 frequency[PART_KINDS];
    f64 word_ratio, vector_ratio; /* slowest over fastest word, and vector register */
    f64 vmin;                     /* of its weakest cell */
    f64 threshold;                /* mean systematic deviation, volts */
};

enum {
    BAD_BITS = 6, /* entries with 0, 1, ..., 5 or more failing cells */
    RARE_SHARES = 4
};
/* Shares of failing cells, below 1 %: 10^-5, 10^-4, 10^-3 and half a percent. */
extern const f64 rare_shares[RARE_SHARES];

struct chip_numbers {
    f64 frequency[PART_KINDS];    /* mean over cores */
    f64 between;                  /* fastest over slowest core, all in one cycle */
    f64 word_ratio, vector_ratio; /* means over cores */
    f64 vmin;                     /* of the weakest cell */
    f64 one_percent;              /* supply at which 1 % of all cells fail */
    f64 reduction;                /* from `vmin` to it, scaled so that `vmin` is 1 V */
    f64 rare[RARE_SHARES];        /* the same reduction for smaller shares of failing cells */
    f64 bad_bits[BAD_BITS];       /* shares of entries at that supply */
    u32 most_bad;                 /* failing cells of the worst entry there */
};

void core_count(struct core_numbers *numbers, const struct chip_core *core,
                const struct file_plan *plan, const struct class_rule *rule);
/* `cores` has an element for each core. */
void chip_count(struct chip_numbers *numbers, struct core_numbers *cores, const struct chip *chip,
                const struct class_rule *rule);

#endif
