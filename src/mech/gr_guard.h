/*
 * What the files of the mechanism `gr_guard` share: see gr_guard.c.
 */
#ifndef MECH_GR_GUARD_H
#define MECH_GR_GUARD_H

#include "core/mechanism.h"

#define COMPONENT gr_guard
#define COMPONENT_DEF "mech/gr_guard.def"
#include "base/component_struct.h"

enum {
    GUARD_DEAD, /* the parameter `patches` */
    GUARD_UNALLOCATED
};

enum {
    ENTRY_BITS = 128,
    ENTRY_LANES = ENTRY_BITS / 32,
    MOST_ENTRIES = MAX_LANES / ENTRY_LANES, /* of a vector register */
    MOST_STAGED = 256,                      /* registers of a warp */
    NO_FRAME = 0xff
};

typedef u16
    entry_set; /* entries of a vector register, one bit each: entry e has lanes 4e to 4e+3 */

/* A row of the register file: a WRG of the published design. */
struct guard_row {
    entry_set faulty; /* entries that must not be used */
    entry_set single; /* entries that the code repairs */
    entry_set moved;  /* entries of its register that are in `patch` */
    entry_set lent;   /* entries that patch another register */
    bool is_dead, is_lent;
    u8 frame;     /* of the warp that it belongs to; NO_FRAME: unallocated */
    u16 reg;      /* which of its registers */
    u16 readers;  /* instructions that have issued and not read it from its banks yet */
    bool dying;   /* it is dead when these have */
    u32 patch;    /* NO_ROW: none. Rows from `lines` on are lines of the L1, then memory */
    u32 borrower; /* while `lent`: the row whose register has these entries; hardware does not
                   * need to know */
};

/* An instruction in flight. */
struct guard_inflight {
    bool reads;   /* it is counted in `readers` */
    bool written; /* its results have been given places */
};

struct gr_guard {
    MECHANISM_STATE(gr_guard);
    struct core *core;
    u32 entries; /* of a row */
    u32 count;   /* rows of the register file */
    u32 banks;   /* each as wide as a row */
    u32 span;    /* 64-bit words of a set of the rows of a bank */
    u32 lines;   /* the first row that stands for a line of the reserved way, */
    u32 line_count;
    u32 memory;  /* for memory, */
    u32 staging; /* and for use while a warp starts */
    struct guard_row *rows;
    u32 *fails, *preferred; /* by row and lane: failing bits, and the values that they take */
    u8 *check_fails;        /* by row and entry: failing check bits */
    /* sets of rows, bank by bank: bit row / banks of bank row % banks */
    u64 *dead, *lent, *owned, *taken; /* taken: lines and memory */
    u64 *faulty[MOST_ENTRIES];        /* by entry */
    bool made;                        /* the faults are known */
    /* of the launch */
    const struct last_reads *last;
    struct arena *arena;
    u32 registers;                   /* of a warp */
    u32 *home;                       /* by frame and register: its row */
    struct warp *warps[MOST_FRAMES]; /* a warp keeps its frame until its block has left, but not its
                                      * slot */
    u32 staged[MOST_STAGED]; /* by register of the starting warp: the row whose register's lanes
                              * have made way; NO_ROW: none */
    u32 starting;            /* frame, or NO_FRAME */
    u32 spills;              /* lines in use */
    u32 peak;
    bool reserved;
    struct guard_inflight inflight[CORE_INFLIGHT];
    /* entries now, and the cycle up to which their time is counted */
    u64 live, live_faulty, needing, dead_good, allocated, since;
};

static inline u32 guard_home(const struct gr_guard *g, const struct warp *warp, u32 reg)
{
    return g->home[warp->frame * g->registers + reg];
}
static inline u32 count_entries(entry_set set)
{
    return (u32)__builtin_popcount(set);
}
/* The lanes of entries, and the entries that hold any of these lanes. */
lane_set guard_lanes(entry_set entries);
entry_set guard_entries(lane_set lanes);

/* gr_guard_maps.c: which rows are faulty, dead and lent, and what patches what. */
void guard_create(struct gr_guard *g, struct core *core);
/* A launch begins: all rows are dead and unallocated. */
void guard_reset(struct gr_guard *g);
/* Counts the time of entries up to now. */
void guard_count_time(struct gr_guard *g);
/* A warp is given rows, and has them. */
void guard_allocate(struct gr_guard *g, u32 slot, u32 *rows, u32 count);
void guard_started(struct gr_guard *g);
/* A warp has left the core. */
void guard_ended(struct gr_guard *g, const struct warp *warp);
/* A register is about to be written: in all lanes that will ever be read, or in some. */
void guard_write(struct gr_guard *g, u32 row, bool whole);
void guard_mark_dead(struct gr_guard *g, u32 row);
/* Failing cells of the entries that hold a register take their preferred values. */
void guard_fail(struct gr_guard *g, u32 row);

/* gr_guard_cost.c */
extern const struct energy_event guard_events[];
extern const struct energy_supply guard_supplies[];
extern const char *const guard_deviations[];
void guard_storage(const void *params, struct state_list *list);

#endif
