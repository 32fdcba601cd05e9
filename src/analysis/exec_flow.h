/*
 * What is known of EXEC in code with explicit EXEC: where a vector write leaves nothing of the old
 * value.
 *
 * A vector write changes the lanes in EXEC. It kills its register only if no other lane's old value
 * can be read any more. Of every aligned pair of scalars, EXEC among them, the analysis knows
 * whether it is the EXEC the warp started with (a saved copy), a subset of it, or anything else:
 * forward over the flow graph; comparisons and carries give subsets of EXEC, as lanes that do not
 * run get 0.
 *
 * Rule: the write of register r at instruction i kills iff
 *  X1  EXEC is the initial one at i, and
 *  X2  nowhere in the function EXEC may have a lane outside the initial one, and
 *  X3  no instruction of the function reads other lanes of r (readlane, readfirstlane, swizzle,
 *      and what goes by register number), and
 *  X4  the warp entered at the first instruction (function->open is not set), and
 *  X5  the write is to all lanes that run: not of one lane, not to an indexed register.
 * By X2 and X3 only lanes of the initial EXEC are ever read; by X1 all of them are written.
 */
#ifndef ANALYSIS_EXEC_FLOW_H
#define ANALYSIS_EXEC_FLOW_H

#include "analysis/cfg.h"

struct exec_flow {
    u8 *initial; /* by instruction: X1 and X5 */
    u8 *crossed; /* by vector register: X3 */
};

/* NULL when no write of the function kills (X2, X4). */
struct exec_flow *exec_flow_compute(struct arena *arena, const struct code *code,
                                    const struct cfg *cfg, bool open);

static inline bool exec_flow_kills(const struct exec_flow *flow, u32 inst, u32 vector)
{
    return flow && flow->initial[inst] && !flow->crossed[vector];
}

#endif
