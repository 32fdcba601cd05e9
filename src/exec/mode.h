/*
 * MODE turned into modifiers: how a warp's MODE register changes what an instruction computes.
 *
 * An instruction with MOD_MODE leaves rounding, subnormals and NaN rules to the warp. For one value
 * of MODE it equals an instruction that says them itself, which is what lane functions know.
 */
#ifndef EXEC_MODE_H
#define EXEC_MODE_H

#include "ir/inst.h"

/* Rewrites an instruction with MOD_MODE for this value of MODE (ir/scalars.h): afterwards it has
 * `rounding`, `scale` and modifiers of its own and MOD_MODE no more. Others stay as they are. */
void inst_apply_mode(struct inst *inst, u32 mode);

#endif
