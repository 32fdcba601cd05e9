/*
 * What is known of EXEC in code with explicit EXEC: where it is what the warp started with.
 *
 * Of every aligned pair of scalars, EXEC among them, the analysis knows whether it is the EXEC the
 * warp started with (a saved copy), a subset of it, or anything else: forward over the flow graph;
 * comparisons and carries give subsets of EXEC, as lanes that do not run get 0.
 *
 * Where EXEC never has a lane outside the initial one, only those lanes matter, but to instructions
 * that look at other lanes: lane_liveness.h.
 */
#ifndef ANALYSIS_EXEC_FLOW_H
#define ANALYSIS_EXEC_FLOW_H

#include "analysis/cfg.h"

struct exec_flow {
    u8 *initial; /* by instruction: EXEC is the initial one before it */
};

/*
 * NULL when EXEC may get lanes outside the initial one, or when the warp may enter anywhere
 * (function->open), with any EXEC.
 */
struct exec_flow *exec_flow_compute(struct arena *arena, const struct code *code,
                                    const struct cfg *cfg, bool open);

#endif
