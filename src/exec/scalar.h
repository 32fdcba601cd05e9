/*
 * Operations on scalar registers, once for the warp.
 *
 * A scalar function has the form of a lane function: src[k] and dst[k] point to the first word of
 * an operand, and the second word of a pair is LANES words later (S3 of image.h). Ops that need
 * more than their operands (the PC, hardware registers, registers by number) are in scalar_step.
 */
#ifndef EXEC_SCALAR_H
#define EXEC_SCALAR_H

#include "exec/lanes.h"

/* NULL if the op has none. */
lane_fn *scalar_function(enum op op);

#endif
