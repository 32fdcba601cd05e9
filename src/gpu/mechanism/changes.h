/*
 * What mechanisms change of a machine's costs: the lists of base/energy.h. Here is which row of a
 * list applies to an element, and which mechanisms cannot be combined because of their lists; what
 * the rows cost is known to src/model.
 */
#ifndef GPU_MECHANISM_CHANGES_H
#define GPU_MECHANISM_CHANGES_H

#include "core/hooks.h"

/* The first row of a mechanism's list that applies to an element; NULL: none. */
const struct energy_replace *change_replace(const struct mechanism_use *use,
                                            const struct state_row *element);
const struct energy_cell *change_cell(const struct mechanism_use *use,
                                      const struct state_row *element);
const struct energy_supply *change_supply(const struct mechanism_use *use,
                                          const struct state_row *element);
const struct energy_power *change_power(const struct mechanism_use *use,
                                        const struct state_row *element);
/* The value of a parameter that a list names; 0: it names none. */
f64 change_param(const struct mechanism_use *use, const char *name);

/* Marks the elements of the machine that the mechanism replaces (state_row.replaced). */
void changes_mark(const struct mechanism_use *use, struct state_list *list);
/* An element that two mechanisms change in ways that exclude each other; NULL: none. */
const char *changes_clash(const struct mechanism_use *a, const struct mechanism_use *b);
/* Whether the parameters and counters that the lists name exist. `place` is that of the error. */
bool changes_check(const struct mechanism *mechanism, const char *place, struct error *error);

#endif
