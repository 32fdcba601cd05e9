/* The cost of a storage element on a machine whose mechanisms may change it (base/energy.h). */
#ifndef MODEL_ELEMENT_H
#define MODEL_ELEMENT_H

#include "gpu/mechanism/changes.h"
#include "gpu/mechanism/mechanisms.h"
#include "model/array.h"

/* The origin of an element's costs. */
struct element_origin {
    const struct published *published; /* the row of the machine's table that was used, or NULL */
    const struct energy_cell *cell;    /* a mechanism's own numbers, or NULL */
    const struct mechanism_use *cell_of;
    const struct mechanism_use *supplied; /* the mechanism that has set its supply, or NULL */
    f64 volts;                            /* its supply */
    f64 rate;                             /* its clock rate as a factor of the machine's */
};

/* For one owner's element, as if it were not replaced. */
struct array_cost element_cost_with(const struct mechanism_set *set, const char *table,
                                    const struct state_row *row,
                                    const struct technology *technology,
                                    struct element_origin *origin);
/* Supply and clock rate of an element or a block of logic; ignores costs. */
struct element_origin element_supply(const struct mechanism_set *set, const struct state_row *row,
                                     const struct technology *technology);
/* The value of a parameter of the mechanism's cell; 0: the mechanism does not give it. */
f64 cell_given(const struct element_origin *origin, const char *param);

#endif
