/*
 * The critical path of an issue stage that issues one instruction per cycle, as that of MIAOW: from the
 * busy bits of registers through the arbiters to the chosen instruction, in levels of gates with two
 * inputs. Wires and fan-out are not modelled.
 *
 *     the busy bit of a register       a multiplexer of all busy bits
 *     all registers of an instruction  an AND of four
 *     the next warp                    a round-robin arbiter: a parallel prefix of the warps, there and back
 *     the next class of units          the same, of four
 *     the instruction of the warp      a multiplexer of the warps
 *
 * If busy bits are kept by warp and offset instead of by register, which re-formed warps need, their
 * multiplexer has an input for each offset of each warp: a level of dereference more, as R.
 * Balasubramanian and others describe it (TACO 2015, section 5.1, figure 10). No number is fitted.
 */
#ifndef MODEL_ISSUE_PATH_H
#define MODEL_ISSUE_PATH_H

#include "base/types.h"

struct issue_path {
    f64 levels;    /* with a busy bit for each register of the core, */
    f64 by_offset; /* and for each offset of each warp */
};

enum {
    ISSUE_OFFSETS = 256 /* registers that an instruction can name */
};

struct issue_path issue_path_of(u32 registers, u32 warps);

#endif
