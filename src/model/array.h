/*
 * What storage costs: area, energy of an access, leakage and delay of an array of memory cells,
 * from its size, ports, width and technology.
 */
#ifndef MODEL_ARRAY_H
#define MODEL_ARRAY_H

#include "base/state.h"

struct technology {
    u32 nm;      /* 45, 40, 32 or 28 */
    f64 volts;   /* supply */
    f64 celsius; /* for leakage */
};

/* The supply that a technology is made for. */
f64 technology_volts(u32 nm);
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

#endif
