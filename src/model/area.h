/* The area of a machine, element by element: storage by its shape, logic by published units. */
#ifndef MODEL_AREA_H
#define MODEL_AREA_H

#include "base/config.h"
#include "model/element.h"

struct area_row {
    struct state_row state;       /* of logic: no entries, no bits */
    struct array_cost cost;       /* of one owner's; nothing of one that is replaced */
    struct array_cost plain;      /* the same on a machine without mechanisms */
    const char *mechanism;        /* whose it is; NULL: the machine's own */
    const char *changed;          /* the mechanism that has changed its cost, or NULL */
    struct element_origin origin; /* its supply, and where the costs come from */
    const char *source;           /* of logic: where its area comes from */
    bool logic;
    bool inside; /* registers within units, whose published area has them: they cost nothing more */
};

struct area_list {
    VEC(struct area_row) rows;
};

/* What a configuration says of its technology, and whose published costs it uses. */
struct technology area_technology(const struct config *config);
const char *area_table(const struct config *config);

/* Fills an empty list: the machine's storage, that of mechanisms which are on, then logic. */
void area_collect(struct area_list *list, const struct config *config,
                  const struct mechanism_set *set);
void area_free(struct area_list *list);
/* Logic only; area.c calls it. */
void area_logic(struct area_list *list, const struct config *config,
                const struct technology *technology);

/* A part of what a core does before its units: fetching, issuing, collecting operands. */
bool area_in_front_end(const struct area_row *row);

#endif
