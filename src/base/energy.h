/*
 * The energy of events. An event is a counter of a component (STAT); a row here gives the part that
 * its energy belongs to and the source of the number. The rows of a machine's components are in
 * model/, those of a mechanism in its file; the model turns them into pJ (docs/energy.md).
 */
#ifndef BASE_ENERGY_H
#define BASE_ENERGY_H

#include "base/types.h"

enum energy_kind {
    ENERGY_READ, /* an access to an array */
    ENERGY_WRITE,
    ENERGY_SEARCH, /* an access that compares all entries of a bank */
    ENERGY_LOGIC,  /* not an array: `pj` at `nm` */
};

struct energy_event {
    const char *counter; /* a STAT of the component; NULL ends a list */
    const char *part;    /* name in the energy breakdown: "registers" */
    enum energy_kind kind;
    const char *array;  /* the storage element, as in `heddle machines --storage`:
                         * "collect.registers"; NULL for logic */
    u32 bits;           /* bits that the event transfers; 0: the array's access width */
    f64 pj;             /* ENERGY_LOGIC: energy of one event at `nm`, nominal voltage */
    u32 nm;             /* ENERGY_LOGIC: technology of `pj`; else 0 */
    const char *source; /* of `pj`, or NULL */
    const char *given;  /* a parameter of the component, in pJ, that overrides it unless 0;
                         * NULL: none */
};

#endif
