/*
 * The parts of the mechanism `less`: a register file of two segments. less.c has its seams,
 * less_place.c says where registers are, less_cost.c what the segments cost.
 */
#ifndef MECH_LESS_H
#define MECH_LESS_H

#include "core/mechanism.h"

#define COMPONENT less
#define COMPONENT_DEF "mech/less.def"
#include "base/component_struct.h"

enum {
    LESS_LA, /* parameter mode */
    LESS_NWA,
    LESS_BOTH
};

enum less_kind {
    LESS_SHORT, /* its home is SRAM */
    LESS_LONG   /* STT-RAM; also registers that the code does not use */
};

/* A result in flight. */
struct less_inflight {
    bool narrow;
    bool shares;  /* the bus of an earlier one */
    u8 stt, sram; /* registers that it writes, by segment */
};

/* A bus is shared by two narrow writes: each has a half of every 32 bits. */
struct less_bus {
    struct {
        u64 began, until; /* cycles; until > now: its valid bit is set */
        u8 slot;
    } half[2];
};

struct less;
struct less_slot {
    struct less *less;
    struct register_view view; /* of registers that are stored as 16 bits */
    u64 *halved;               /* these, bits */
};

struct less {
    MECHANISM_STATE(less);
    struct core *core;
    u32 sram, rows; /* rows of SRAM, which come first, and of both segments */
    bool pairs;     /* narrow writes are looked for */
    /* of the launch: */
    u32 registers, words; /* of a warp; of a set of them */
    u8 *kind;             /* by register: enum less_kind; NULL: not known yet */
    u16 *number;          /* by register: among those of its kind */
    u32 count[2];         /* registers of a warp, by kind */
    u64 *taken;           /* rows that a warp is about to get, bits, */
    u32 taken_words;      /* and the words of this set */
    struct less_slot slots[CORE_WARPS];
    struct less_inflight inflight[CORE_INFLIGHT];
    struct less_bus buses[2][MOST_BUSES]; /* result buses; ports of the load/store unit */
    struct write_waits waited;            /* cycles that have been counted */
};

/* Rows of a register file that are SRAM. */
static inline u32 less_sram_of(const struct less_params *params, u32 rows)
{
    return (u32)(params->sram_share * rows + 0.5);
}
static inline bool less_in_stt(const struct less *l, u32 row)
{
    return row >= l->sram;
}
/* The bank of a row, among those of the warp's schedulers. */
u32 less_bank(const struct less *l, u32 slot, u32 reg, u32 row);

/* less_place.c */
void less_create_places(struct less *l, struct core *core);
void less_launch(struct less *l, bool begins);
void less_allocate(struct less *l, u32 slot, u32 *rows, u32 count);
void less_start(struct less *l, u32 slot);
/* Lanes of a register in STT-RAM have been written; if the result is narrow, the upper halves are
 * not stored where the bank can do without. */
void less_store(struct less *l, u32 slot, u32 reg, lane_set lanes, bool narrow);

/* less_cost.c */
void less_storage(const void *params, struct state_list *list);
extern const struct energy_event less_events[];
extern const struct energy_replace less_replaces[];
extern const struct energy_cell less_cells[];

#endif
