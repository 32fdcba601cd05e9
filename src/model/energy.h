/*
 * The inside of the energy model: what each event of one machine costs, and what leaks.
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
    size_t offset;  /* of the counter, in struct machine_stats or the mechanisms' counters */
    bool mechanism; /* which of the two */
    u8 share;       /* enum energy_share */
    u8 kind;        /* enum energy_kind */
    u32 part;
    const char *array;                 /* NULL: logic */
    u32 bits;                          /* that it moves; 0: logic */
    f64 pj;                            /* of one event */
    const char *from;                  /* "published", "array model", "literature", "set",
                                        * "mechanism" (energy_cell) or "replaced" */
    const char *source;                /* in words, or NULL */
    const struct published *published; /* the row, or NULL */
    const char *replaced;              /* the mechanism that replaces the array: it costs nothing */
    f64 volts;                         /* supply that a mechanism has set; 0: the machine's */
};

/* What leaks, whether anything happens or not. */
struct energy_leak {
    u32 part;
    const char *unit, *name; /* of storage; or NULL and what it is */
    u64 copies;
    f64 mw; /* of one */
    const char *from, *source;
    const struct published *published;
    const char *replaced; /* the mechanism that replaces it: it leaks nothing */
    f64 volts, rate;      /* supply and clock that a mechanism has set; 0: the machine's */
    /* A mechanism's counter of powered entries times ps, "component.counter"; NULL: it is always
     * powered. */
    const char *powered;
    size_t offset;    /* of the counter, in the mechanisms' */
    f64 off;          /* share of leakage that is left without power */
    f64 fj_per_count; /* of the counter */
};

struct energy_model {
    struct technology technology;
    const char *table;
    u32 per_vector; /* lanes that a published access to registers is of; 0: one */
    struct arena *arena;
    const char *parts[ENERGY_PARTS];
    u32 part_count;
    f64 part_mw[ENERGY_PARTS]; /* leakage as long as a launch lasts */
    VEC(struct energy_row) rows;
    VEC(struct energy_leak) leaks;
    struct state_list storage; /* of the machine and its mechanisms */
    const struct mechanism_set *set;
};

/* "filter cache" and "filter_cache" are the same. */
u32 energy_part(struct energy_model *model, const char *name);
/* energy_leaks.c: fills leaks and part_mw; events are there. */
void energy_find_leaks(struct energy_model *model, const struct config *config);
/* Of a channel. */
u32 energy_dram_chips(const struct config *config);
/* Energy of one event's count. */
u64 energy_row_fj(const struct energy_row *row, const struct machine_stats *stats,
                  const u8 *mechanisms);
/* Leakage of an element that a mechanism powers, by what it has counted. */
u64 energy_leak_fj(const struct energy_leak *leak, const u8 *mechanisms);
/* A counter of a component; NULL: it has none of this name. */
const struct stat *energy_stat(const struct component *component, const char *name);

#endif
