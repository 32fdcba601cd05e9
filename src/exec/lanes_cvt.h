/*
 * Conversions: a general function that does all of them, exactly and slowly (cvt_any.c), and vector
 * functions for the common ones. The general one is the definition; tests compare the others with
 * it.
 */
#ifndef EXEC_LANES_CVT_H
#define EXEC_LANES_CVT_H

#include "exec/lanes_loop.h"

lane_fn cvt_any_canonical, cvt_any_propagating;
/* Whether PTX (or SI) has this conversion at all. */
bool cvt_exists(const struct inst *inst);

/* The vector function for this conversion, or NULL. */
lane_fn *LANE_JOIN(LANE_INT_PREFIX, cvt_int)(const struct inst *inst);
lane_fn *LANE(cvt_float)(const struct inst *inst);

#endif
