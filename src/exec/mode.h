/*
 * MODE as modifiers: how a warp's MODE register changes what an instruction computes.
 *
 * An instruction with MOD_MODE takes rounding, subnormals and NaN rules from the warp. For one
 * value of MODE it equals an instruction with explicit modifiers, which the lane functions
 * implement.
 */
#ifndef EXEC_MODE_H
#define EXEC_MODE_H

#include "ir/inst.h"

/* Rewrites an instruction with MOD_MODE for this value of MODE (ir/scalars.h): it then has its own
 * `rounding`, `scale` and modifiers, and no MOD_MODE. Others do not change. */
void inst_apply_mode(struct inst *inst, u32 mode);

#endif
