/*
 * Sweeps for comparison: the points of a results file, or those that a selection names.
 *
 *  W1  Only the results file is read, not the plan: a sweep of another Heddle, or one whose plan file
 *      is gone, can be compared.
 *  W2  Points are matched by the values of the axes that all sweeps have, except for those that a
 *      selection gives: r.db#mechanism=none and r.db#mechanism=darsie are matched by all others.
 */
#ifndef COMPARE_SWEEP_H
#define COMPARE_SWEEP_H

#include "compare/compare.h"
#include "lab/catalogue.h"

struct compare_sweep {
    const char *label, *place;
    struct store *store;
    struct catalogue *catalogue;
    bool *given; /* by axis of the catalogue: the selection names it */
    VEC(u32) points;
};

/* Opens a results file. `selection`: "AXIS=VALUE,AXIS=VALUE", or NULL for all points. The sweep is in
 * the arena; compare_sweep_close gives back the rest. NULL and an error on failure. */
struct compare_sweep *compare_sweep_open(struct arena *arena, const char *path,
                                         const char *selection, struct error *error);
void compare_sweep_close(struct compare_sweep *sweep); /* NULL is fine */

/* "l1d.sets=8, workload=bfs", without the axes that `without` marks; NULL: with all. */
const char *compare_point_name(struct arena *arena, const struct compare_sweep *sweep, u32 point,
                               const bool *without);
/* The result of a point as a run. NULL: it has none; *status says why, in the arena: "waiting",
 * "fault: ...". NULL and an error: its document cannot be read. */
struct compare_run *compare_sweep_run(struct arena *arena, const struct compare_sweep *sweep,
                                      u32 point, const char **status, struct error *error);

/* ---- finding points by their labels ---- */

enum {
    NO_POINT = UINT32_MAX
};

struct indexed_point {
    const char *text; /* from match_text */
    u32 point;
};

/* Points sorted by text. */
struct point_index {
    struct indexed_point *list;
    u32 count;
};

/* The labels of some axes as one text; labels that stand for the same number give the same text. */
const char *match_text(struct arena *arena, const char *const *labels, const u32 *axes, u32 count);
struct point_index point_index_make(struct arena *arena, const struct compare_sweep *sweep,
                                    const u32 *points, u32 count, const u32 *axes, u32 axis_count);
/* The point with this text, or NO_POINT. */
u32 point_index_find(const struct point_index *index, const char *text);

/* Compares sweeps with the first of them, point by point. NULL and an error on failure: points that
 * cannot be matched. compare_free ends it. */
struct run_comparison *compare_sweeps(struct arena *arena, struct compare_sweep *const *sweeps,
                                      u32 count, struct compare_options options,
                                      struct error *error);

#endif
