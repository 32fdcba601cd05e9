/* What an element of storage costs on a machine whose mechanisms may change it (base/energy.h). */
#ifndef MODEL_ELEMENT_H
#define MODEL_ELEMENT_H

#include "gpu/mechanism/changes.h"
#include "gpu/mechanism/mechanisms.h"
#include "model/array.h"

/* Where the costs of an element come from. */
struct element_origin {
    const struct published *published; /* the row of the machine's table that was used, or NULL */
    const struct energy_cell *cell;    /* a mechanism's own numbers, or NULL */
    const struct mechanism_use *cell_of;
    const struct mechanism_use *supplied; /* the mechanism that has set its supply, or NULL */
    f64 volts;                            /* its supply */
    f64 rate;                             /* its clock as a factor of the machine's */
};

/* Of one owner's element, as if it were not replaced. */
struct array_cost element_cost_with(const struct mechanism_set *set, const char *table,
                                    const struct state_row *row,
                                    const struct technology *technology,
                                    struct element_origin *origin);
/* Supply and rate of an element or of a block of logic; the costs are not looked at. */
struct element_origin element_supply(const struct mechanism_set *set, const struct state_row *row,
                                     const struct technology *technology);
/* Whether the mechanism's numbers for a cell include this one; by a parameter. */
f64 cell_given(const struct element_origin *origin, const char *param);

#endif
