/*
 * The space of a plan: the product of its axes, of which some may be zipped, without the excluded
 * points. Nothing is stored per point, so that a space of millions costs no more than its axes.
 *
 *     axes:
 *       - {set: l1d.sets, values: [8, 16]}
 *       - zip:                                  # the first value of each, the second of each, ...
 *           - {set: gpu.cores, values: [15, 30]}
 *           - {set: l2.slices, values: [6, 12]}
 *     exclude:
 *       - {l1d.sets: 8, mechanism: [darsie, uniform]}
 *
 *  X1  A point is a number below `size`; the last axis varies fastest.
 *  X2  The order of points depends on the plan alone.
 */
#ifndef LAB_SPACE_H
#define LAB_SPACE_H

#include "lab/axis.h"

enum {
    SPACE_MAX_AXES = 64 /* a product of more is a mistake; digits of a point are on the stack */
};

/* Axes that vary together: one, or several of equal length. */
struct axis_group {
    u32 first, count; /* axes */
    u32 length;       /* values of each */
};

/* Points whose values of some axes are in given sets; the other axes do not matter. */
struct point_pattern {
    bool *values[SPACE_MAX_AXES]; /* by value of the axis; NULL: any */
    struct text_place place;
};

struct space {
    struct axis axes[SPACE_MAX_AXES];
    u32 axis_count;
    struct axis_group groups[SPACE_MAX_AXES];
    u32 group_count;
    struct point_pattern *exclusions;
    u32 exclusion_count;
    u64 size; /* points, excluded ones included */
};

/* Appends axes as groups of one. */
struct axis *space_add(struct space *space);
/* Reads `axes` and appends them. */
bool space_read_axes(const struct fields *fields, const struct lab_files *files,
                     const struct yaml *node, struct space *space);
/* Reads `exclude`. */
bool space_read_exclusions(const struct fields *fields, const struct yaml *node,
                           struct space *space);
/* Reads {AXIS: VALUE or [VALUES]}. */
bool space_read_pattern(const struct fields *fields, const struct yaml *node,
                        const struct space *space, struct point_pattern *pattern);
/* Computes the size; at most one axis may choose the program, and one must. */
bool space_finish(const struct fields *fields, const struct yaml *map, struct space *space);

/* The value of every axis at a point. */
void space_values(const struct space *space, u64 point, u32 values[SPACE_MAX_AXES]);
/* The point with these values; of zipped axes, only the first is looked at. */
u64 space_point(const struct space *space, const u32 values[SPACE_MAX_AXES]);
bool pattern_matches(const struct point_pattern *pattern, const struct space *space,
                     const u32 values[SPACE_MAX_AXES]);
bool space_excludes(const struct space *space, u64 point);
/* Whether tables use a name for something else than axes and columns of the plan. */
bool space_reserves(const char *name);
/* The axis with this name, or -1. */
int space_axis(const struct space *space, const char *name);
/* "l1d.sets=8, mechanism=darsie, workload=bfs" */
const char *space_label(struct arena *arena, const struct space *space, u64 point);

#endif
