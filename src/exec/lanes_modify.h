/*
 * Modifiers of an instruction applied around a plain lane function: operand signs, flushing,
 * saturation, rounding mode. Only instructions that have a modifier pay for it.
 */
#ifndef EXEC_LANES_MODIFY_H
#define EXEC_LANES_MODIFY_H

#include "exec/lanes_loop.h"

#define LANE_SET(name) LANE_JOIN(LANE_INT_PREFIX, name)

/* The element type of a row, for signs, flushing and saturation. */
enum element {
    ELEMENT_S16,
    ELEMENT_S32,
    ELEMENT_S64,
    ELEMENT_S16X2,
    ELEMENT_F16,
    ELEMENT_BF16,
    ELEMENT_F16X2,
    ELEMENT_BF16X2,
    ELEMENT_F32,
    ELEMENT_F64,
    ELEMENT_COUNT
};

/* From the op's name: "fma_f16x2" works on ELEMENT_F16X2. */
enum element LANE_SET(element_of)(const struct inst *inst);
/* Whether the instruction has operand signs, or modifiers of inputs or results. */
bool LANE_SET(is_modified)(const struct inst *inst);

/* Runs `base` with the modifiers of l->inst. */
void LANE_SET(run_modified)(struct lanes *l, enum element element, lane_fn *base);
/* Runs `base` in the rounding mode of l->inst and restores the host's. */
void LANE_SET(run_rounded)(struct lanes *l, lane_fn *base);

#endif
