/*
 * What storage costs: area, energy of an access, leakage and delay of an array of memory cells,
 * from its size, ports, width and technology; and what the literature has printed for some.
 */
#ifndef MODEL_ARRAY_H
#define MODEL_ARRAY_H

#include "base/state.h"

struct technology {
    u32 nm;      /* 45, 40, 32 or 28; others between 22 and 45 are interpolated, too */
    f64 volts;   /* supply; 0: what the technology is made for */
    f64 celsius; /* for leakage */
};

/* The supply that a technology is made for. */
f64 technology_volts(u32 nm);
/* Power that leaks through transistors of a width of `off_um` that are off, and gates of `on_um`
 * that are on. */
f64 technology_leakage_mw(const struct technology *technology, f64 off_um, f64 on_um);
/* Of an inverter that drives four like it. */
f64 technology_fo4_ps(const struct technology *technology);
/* Factors from one technology to another: of an event's energy (CV^2), of leakage power, of area
 * and of delay. */
f64 scale_energy(const struct technology *from, const struct technology *to);
f64 scale_leakage(const struct technology *from, const struct technology *to);
f64 scale_area(const struct technology *from, const struct technology *to);
f64 scale_delay(const struct technology *from, const struct technology *to);

struct array_cost {
    f64 area_um2;
    f64 leakage_mw;
    f64 read_pj, write_pj, search_pj; /* of an access as its shape says */
    f64 delay_ps;                     /* of a read */
};

/* Of one owner's element. */
struct array_cost array_cost(u64 entries, u32 bits, const struct array_shape *shape,
                             const struct technology *technology);
/* Bits that an access moves, of an element of this shape. */
u32 array_access_bits(u64 entries, u32 bits, const struct array_shape *shape);

/* ---- what has been printed ---- */

/* An entry of a published table. A number that it does not give is 0. */
struct published {
    const char *table;   /* whose: "lashgar", as energy.table names it */
    const char *place;   /* in the text: "table 1" */
    const char *what;    /* as it is called there */
    const char *element; /* of storage: "icache.data"; NULL: none of ours */
    u64 entries;
    u32 bits;
    struct array_shape shape;
    bool sized; /* the text gives its size; else size and ports are assumed */
    struct technology technology;
    f64 area_um2, leakage_mw, read_pj, write_pj, delay_ps;
    const char *note; /* what is known of the number; NULL: nothing */
    bool resistive;   /* cells of another kind: the array model is not about them */
};

/* All of them; one without a table ends the list. */
extern const struct published published_rows[];
/*
 * The row of a table for an element of this size, or NULL. Where the text says how large its array
 * is, one of another size (by more than a quarter) is not the same thing.
 */
const struct published *published_find(const char *table, const char *element, u64 entries,
                                       u32 bits);
/*
 * Of one owner's element: what the table of this name has printed (scaled if it is of another
 * technology, not by temperature, and by bits if the text says how many its access moves and ours
 * moves another number), and the array model for the rest.
 * `used` may be NULL; it becomes the row, or NULL.
 */
struct array_cost element_cost(const char *table, const struct state_row *row,
                               const struct technology *technology, const struct published **used);

#endif
