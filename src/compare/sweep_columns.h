/* Columns of sweeps: formulas over statistics of a point and of its baseline in the same sweep. */
#ifndef COMPARE_SWEEP_COLUMNS_H
#define COMPARE_SWEEP_COLUMNS_H

#include "compare/sweep.h"

struct sweep_columns;

/* The columns of the first sweep; the others' values are computed by the same formulas. NULL and an
 * error on failure. */
struct sweep_columns *sweep_columns_make(struct arena *arena, struct compare_sweep *const *sweeps,
                                         u32 count, struct error *error);
void sweep_columns_free(struct sweep_columns *columns); /* NULL is fine */
u32 sweep_columns_count(const struct sweep_columns *columns);
/* "gain, %" */
const char *sweep_columns_title(const struct sweep_columns *columns, u32 column);
/* Notes the statistics of a point. A baseline that is not noted is read from the store. */
void sweep_columns_note(struct sweep_columns *columns, u32 sweep, u32 point,
                        const json_t *statistics);
/* The value of a column at a point that was noted; false: it has none. */
bool sweep_columns_value(struct sweep_columns *columns, u32 column, u32 sweep, u32 point,
                         f64 *value);

#endif
