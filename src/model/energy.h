/*
 * Internals of the energy model: the cost of each event of one machine, and leakage.
 */
#ifndef MODEL_ENERGY_H
#define MODEL_ENERGY_H

#include "base/energy.h"
#include "gpu/machine/energy.h"
#include "gpu/time/lanes.h"
#include "model/element.h"

/* How the energy of an event is shared among instructions. */
enum energy_share {
    SHARE_NONE,
    SHARE_ISSUED,
    SHARE_READS,
    SHARE_WRITES,
    SHARE_SCALAR_READS,
    SHARE_SCALAR_WRITES,
    SHARE_SHARED_READS,
    SHARE_SHARED_WRITES,
    SHARE_INT,
    SHARE_INT_MULTIPLIES,
    SHARE_FP32,
    SHARE_FP64,
    SHARE_SFU,
    SHARE_MEM,
    SHARE_SCALAR,
    SHARE_CONSTANT,
    SHARE_TRANSACTIONS,
};

/* An event of this machine. */
struct energy_row {
    const struct component *component;
    const char *counter;
    size_t offset;  /* of the counter, in struct machine_stats or in the counters of mechanisms */
    bool mechanism; /* which of the two */
    u8 share;       /* enum energy_share */
    u8 kind;        /* enum energy_kind */
    u32 part;
    const char *array;                 /* NULL: logic */
    u32 bits;                          /* bits moved by an event; 0: logic */
    f64 pj;                            /* per event */
    const char *from;                  /* "published", "array model", "literature", "set",
                                        * "mechanism" (energy_cell) or "replaced" */
    const char *source;                /* in words, or NULL */
    const struct published *published; /* the row, or NULL */
    const char *replaced;              /* the mechanism that replaces the array, which then costs
                                        * nothing */
    f64 volts;                         /* supply set by a mechanism; 0: the machine's */
};

/* Leakage, whether anything happens or not. */
struct energy_leak {
    u32 part;
    const char *unit, *name; /* storage; or NULL and a name */
    u64 copies;
    f64 mw; /* of each copy */
    const char *from, *source;
    const struct published *published;
    const char *replaced; /* the mechanism that replaces it: it does not leak */
    f64 volts, rate;      /* supply and clock rate set by a mechanism; 0: the machine's */
    /* A mechanism's counter of powered entries times ps, "component.counter"; NULL: always
     * powered. */
    const char *powered;
    size_t offset;    /* of the counter, in those of mechanisms */
    f64 off;          /* share of leakage that remains without power */
    f64 fj_per_count; /* per count */
};

struct energy_model {
    struct technology technology;
    const char *table;
    u32 per_vector; /* lanes covered by a published register access; 0: one */
    struct arena *arena;
    const char *parts[ENERGY_PARTS];
    u32 part_count;
    f64 part_mw[ENERGY_PARTS]; /* leakage during the whole launch */
    VEC(struct energy_row) rows;
    VEC(struct energy_leak) leaks;
    struct state_list storage; /* of the machine and its mechanisms */
    const struct mechanism_set *set;
};

/* "filter cache" and "filter_cache" name the same part. */
u32 energy_part(struct energy_model *model, const char *name);
/* energy_leaks.c: fills leaks and part_mw; needs the events. */
void energy_find_leaks(struct energy_model *model, const struct config *config);
/* DRAM chips per channel. */
u32 energy_dram_chips(const struct config *config);
/* Energy of an event's count. */
u64 energy_row_fj(const struct energy_row *row, const struct machine_stats *stats,
                  const u8 *mechanisms);
/* Leakage of an element that a mechanism powers, from its counter. */
u64 energy_leak_fj(const struct energy_leak *leak, const u8 *mechanisms);
/* A counter of a component; NULL: there is none of this name. */
const struct stat *energy_stat(const struct component *component, const char *name);

#endif
