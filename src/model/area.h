/* The area of a machine, element by element: storage by its shape, logic from published units. */
#ifndef MODEL_AREA_H
#define MODEL_AREA_H

#include "base/config.h"
#include "model/element.h"

struct area_row {
    struct state_row state;       /* for logic: no entries, no bits */
    struct array_cost cost;       /* per owner; zero if the element is replaced */
    struct array_cost plain;      /* the same without mechanisms */
    const char *mechanism;        /* its mechanism; NULL: the machine's own */
    const char *changed;          /* the mechanism that has changed its cost, or NULL */
    struct element_origin origin; /* its supply, and the origin of the costs */
    const char *source;           /* for logic: the source of its area */
    bool logic;
    bool inside; /* registers within units: the unit's published area includes them */
};

struct area_list {
    VEC(struct area_row) rows;
};

/* The technology of a configuration, and the name of its table of published costs. */
struct technology area_technology(const struct config *config);
const char *area_table(const struct config *config);

/* Fills an empty list: the machine's storage, that of active mechanisms, then logic. */
void area_collect(struct area_list *list, const struct config *config,
                  const struct mechanism_set *set);
void area_free(struct area_list *list);
/* Logic only; called by area.c. */
void area_logic(struct area_list *list, const struct config *config,
                const struct technology *technology);

/* Whether it is part of the front end of a core: fetch, issue, operand collection. */
bool area_in_front_end(const struct area_row *row);

#endif
