/*
 * The cost of storage: area, energy per access, leakage and delay of an array of memory cells, from
 * its size, ports, width and technology; and published costs of some arrays.
 */
#ifndef MODEL_ARRAY_H
#define MODEL_ARRAY_H

#include "base/state.h"

struct technology {
    u32 nm;      /* 45, 40, 32 or 28; other values between 22 and 45 are interpolated as well */
    f64 volts;   /* supply; 0: nominal */
    f64 celsius; /* for leakage */
};

/* The nominal supply of a technology. */
f64 technology_volts(u32 nm);
/* Leakage power of transistors with a total width of `off_um` that are off, and of gates with
 * `on_um` that are on. */
f64 technology_leakage_mw(const struct technology *technology, f64 off_um, f64 on_um);
/* Delay of an inverter that drives four equal ones. */
f64 technology_fo4_ps(const struct technology *technology);
/* Factors from one technology to another: for the energy of an event (CV^2), leakage power, area
 * and delay. */
f64 scale_energy(const struct technology *from, const struct technology *to);
f64 scale_leakage(const struct technology *from, const struct technology *to);
f64 scale_area(const struct technology *from, const struct technology *to);
f64 scale_delay(const struct technology *from, const struct technology *to);

struct array_cost {
    f64 area_um2;
    f64 leakage_mw;
    f64 read_pj, write_pj, search_pj; /* for an access of the given shape */
    f64 delay_ps;                     /* for a read */
};

/* The cost of one owner's element. */
struct array_cost array_cost(u64 entries, u32 bits, const struct array_shape *shape,
                             const struct technology *technology);
/* Bits that an access to an element of this shape moves. */
u32 array_access_bits(u64 entries, u32 bits, const struct array_shape *shape);

/* ---- published costs ---- */

/* An entry of a published table. A number that the table does not give is 0. */
struct published {
    const char *table;   /* its name: "lashgar", as in energy.table */
    const char *place;   /* in the text: "table 1" */
    const char *what;    /* its name in the text */
    const char *element; /* storage element: "icache.data"; NULL: none of ours */
    u64 entries;
    u32 bits;
    struct array_shape shape;
    bool sized; /* the text gives its size; otherwise size and ports are assumed */
    struct technology technology;
    f64 area_um2, leakage_mw, read_pj, write_pj, delay_ps;
    const char *note; /* a remark about the number; NULL: none */
    bool resistive;   /* other kinds of cells, for which the array model does not hold */
};

/* All entries; the last one has no table. */
extern const struct published published_rows[];
/*
 * The row of a table for an element of this size, or NULL. If the text gives the size of its array,
 * an element whose size differs by more than a quarter does not match.
 */
const struct published *published_find(const char *table, const char *element, u64 entries,
                                       u32 bits);
/*
 * The cost of one owner's element: what the table of this name gives (scaled to the technology, not
 * by temperature; and by bits, if the text says how many an access moves and ours moves another
 * number), and the array model for the rest. `used` may be NULL; it is set to the row, or NULL.
 */
struct array_cost element_cost(const char *table, const struct state_row *row,
                               const struct technology *technology, const struct published **used);

#endif
