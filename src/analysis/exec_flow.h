/*
 * Where EXEC is the one that the warp started with, in code with explicit EXEC.
 *
 * For every aligned pair of scalars, including EXEC, a forward analysis tracks whether it holds the
 * EXEC that the warp started with (a saved copy), a subset of it, or anything else. Comparisons and
 * carries produce subsets of EXEC, since inactive lanes get 0.
 *
 * Where EXEC never has a lane outside the initial one, only those lanes matter, except to
 * instructions that read other lanes: lane_liveness.h.
 */
#ifndef ANALYSIS_EXEC_FLOW_H
#define ANALYSIS_EXEC_FLOW_H

#include "analysis/cfg.h"

struct exec_flow {
    u8 *initial; /* by instruction: EXEC before it is the initial one */
};

/*
 * NULL if EXEC may get lanes outside the initial one, or if the warp may enter anywhere with any
 * EXEC (function->open).
 */
struct exec_flow *exec_flow_compute(struct arena *arena, const struct code *code,
                                    const struct cfg *cfg, bool open);

#endif
