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

/*
 * What a mechanism changes of a machine's costs, a list for each kind of change. A row without an
 * element ends a list. A row applies if `when`, asked with the mechanism's parameters, says so;
 * NULL: always. A row about an element that the machine does not have changes nothing.
 */

/* An element of the machine is not built: elements of the mechanism take its place. */
struct energy_replace {
    const char *element; /* of the machine: "collect.registers" */
    const char *by;      /* of the mechanism: what the machine's events of `element` access instead;
                       * NULL: these cost nothing, because the mechanism counts its own */
    const char *part; /* that the breakdown shows such accesses under; NULL: the mechanism's name */
    bool (*when)(const void *params);
};

/*
 * What an element of the mechanism's own storage costs where neither the published tables nor the
 * array model apply: cells of another kind. A number that is 0 is the array model's. Energies are
 * those of an access as state_shape describes it.
 */
struct energy_cell {
    const char *element;
    const char *cell; /* what it is made of, as `heddle area` shows it: "STT-RAM" */
    f64 area_um2, leakage_mw, read_pj, write_pj, delay_ps; /* of one owner's */
    f64 area_share; /* area, as a share of the array model's, where area_um2 is 0 */
    /* The size that the numbers are for: an element of another size costs as much more, or less, as
     * the array model says. Of several rows, the one nearest in size applies. entries 0: any
     * size. */
    u32 entries, access_bits;
    u32 nm;    /* technology of these numbers */
    f64 volts; /* 0: its nominal supply */
    const char *source;
    /* Parameters of the component that say it instead, unless they are 0; NULL: none. What they
     * say is of the machine's technology. */
    struct {
        const char *area_um2, *leakage_mw, *read_pj, *write_pj;
    } given;
    bool (*when)(const void *params);
};

/* An element has a supply and a clock of its own. */
struct energy_supply {
    const char *element; /* of the machine or the mechanism; or a unit, "collect": all its
                          * elements and logic */
    const char *volts;   /* a parameter in V; NULL, or a value of 0: the machine's supply */
    const char *rate;    /* a parameter: its clock as a factor of the machine's; its leakage lasts
                          * the time of the launch divided by this. NULL, or 0: 1 */
    bool (*when)(const void *params);
};

/* An element leaks only where it is powered. */
struct energy_power {
    const char *element; /* of the machine or the mechanism */
    const char *counter; /* a STAT: powered entries times picoseconds, over all owners */
    const char *off;     /* a parameter: the share of leakage that is left without power; NULL: 0 */
    const char *part;    /* that the breakdown shows its leakage under; NULL: as it was */
    bool (*when)(const void *params);
};

#endif
