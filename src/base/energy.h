/*
 * What events cost. An event is a counter of a component (STAT); a row here says where its energy
 * goes and where the number comes from. The parts of a machine have their rows in model/, a
 * mechanism has its own in its file; the model turns them into pJ (docs/energy.md).
 */
#ifndef BASE_ENERGY_H
#define BASE_ENERGY_H

#include "base/types.h"

enum energy_kind {
    ENERGY_READ, /* an access to an array */
    ENERGY_WRITE,
    ENERGY_SEARCH, /* all entries of a bank are compared */
    ENERGY_LOGIC,  /* not an array: `pj` at `nm` */
};

struct energy_event {
    const char *counter; /* a STAT of the component; NULL ends a list */
    const char *part;    /* what the breakdown shows it under: "registers" */
    enum energy_kind kind;
    const char *array;  /* the element of storage, as `heddle machines --storage` has it:
                         * "collect.registers"; NULL for logic */
    u32 bits;           /* that the event moves; 0: an access of the array as it is built */
    f64 pj;             /* ENERGY_LOGIC: of one event in this technology, at its nominal voltage; */
    u32 nm;             /* other kinds: 0, the model knows */
    const char *source; /* of `pj`; NULL else */
    const char *given;  /* a parameter of the component in pJ that says it instead, unless it is 0;
                         * NULL: none */
};

#endif
