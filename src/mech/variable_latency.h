/* Parts of the mechanism `variable_latency`: see variable_latency.c. */
#ifndef MECH_VARIABLE_LATENCY_H
#define MECH_VARIABLE_LATENCY_H

#include "core/mechanism.h"

#define COMPONENT variable_latency
#define COMPONENT_DEF "mech/variable_latency.def"
#include "base/component_struct.h"

enum {
    PARTS_FILE,
    PARTS_REGISTER,
    PARTS_ARRAY,
    PARTS_SUB_BANK
};
enum {
    MAPPING_PLAIN,
    MAPPING_FAST_FIRST
};

enum {
    MOST_PARTS = 256, /* arrays or sub-banks: 64 banks of 4 */
    SLOW_CYCLES = 2
};

/* The kind of a bank, as the registers see it. */
enum bank_kind {
    BANK_FAST,
    BANK_SLOW,
    BANK_HYBRID, /* the fast half holds the first lanes */
    BANK_KINDS
};

struct variable_latency {
    MECHANISM_STATE(variable_latency);
    struct file_plan plan;
    /* A bank is as wide as a vector register; register `entry` of bank b is row entry * banks + b. */
    u32 banks, entries;
    u32 per_bank, parts;   /* parts of a bank, and all of them */
    u16 limit;             /* delay of the slowest part that takes one cycle */
    u32 fast_count;        /* parts that take one cycle */
    u8 fast[MOST_PARTS];   /* by part, unless parts are registers */
    u16 table[MOST_PARTS]; /* the parts of each bank, per_bank each */
    u8 kind[CORE_BANKS];
    u8 *slow_rows; /* by row: an access by all lanes takes two cycles */

    /* of a launch */
    u32 of_kind[BANK_KINDS];
    u8 list[BANK_KINDS][CORE_BANKS]; /* banks by kind */
    u32 near;       /* registers of a warp that fit into fast banks (fast_first); UINT32_MAX: all */
    bool narrow;    /* blocks have at most half a warp: all registers belong into hybrid banks */
    u64 special[4]; /* registers that belong into hybrid banks, one bit each */
    struct next_inst { /* by slot: whether the next instruction is fast */
        u64 age;
        u32 inst;
        bool fast;
    } next[CORE_WARPS];
};

/* variable_latency_parts.c: what is fast. */
void parts_classify(struct variable_latency *v, const struct core *core);
/* The bank table for so many hybrid banks (an even number), and which rows are slow. */
void parts_arrange(struct variable_latency *v, const struct core *core, u32 hybrid);
/* Banks that can be hybrid at most: an even number. */
u32 parts_most_hybrid(const struct variable_latency *v);

/* variable_latency_map.c: where registers are. */
void map_launch(struct variable_latency *v, const struct core *core);
void map_allocate(struct variable_latency *v, struct core *core, u32 slot, u32 *rows, u32 count);

static inline bool map_special(const struct variable_latency *v, u32 reg)
{
    return v->narrow || (reg < 256 && v->special[reg / 64] >> reg % 64 & 1);
}

#endif
