/*
 * The catalogue of a store: the points of its plans, with the values of their axes and the keys of
 * their results. With it a results file explains itself: it can be read when the plan file has
 * changed or is gone, and by a Heddle other than the one that ran it.
 *
 *  K1  A plan is written whole, in one transaction, before its points run.
 *  K2  Points are in the order of the plan. Results are not part of it: they are found by key.
 */
#ifndef LAB_CATALOGUE_H
#define LAB_CATALOGUE_H

#include "lab/plan.h"
#include "lab/store.h"
#include "lab/survey.h"

struct catalogue_point {
    const char **labels; /* by axis; NULL: its plan has no such axis */
    char key[SHA256_TEXT];
};

struct catalogue_column {
    const char *name, *formula, *unit;
};

struct catalogue {
    const char **axes; /* names; with several plans, the first is "experiment" */
    u32 axis_count;
    const char **baseline; /* by axis: label of the baseline; NULL: the point's own; or no array */
    struct catalogue_column *columns; /* of a single sweep */
    u32 column_count;
    VEC(struct catalogue_point) points;
};

/* Writes the plans of `plan`. `alone`: the store has no others. */
bool catalogue_write(struct store *store, const struct plan *plan, const struct survey *survey,
                     bool alone, struct error *error);
/* Reads all plans into `arena`, except for the vector of points: catalogue_free. NULL and an error
 * on failure. */
struct catalogue *catalogue_read(struct store *store, struct arena *arena, struct error *error);
void catalogue_free(struct catalogue *catalogue); /* NULL is fine */
/* The axis with this name, or -1. */
int catalogue_axis(const struct catalogue *catalogue, const char *name);

#endif
