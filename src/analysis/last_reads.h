/*
 * Last reads: after which instructions the registers that they read are dead.
 *
 * A source operand is dead after an instruction if no continuation of the thread reads any of its
 * registers before writing it: the instruction is the last to read their values. It follows from
 * liveness (liveness.h; lane_liveness.h for code with explicit EXEC, where no lane may read the
 * value).
 *
 *  E1  An operand that is said to be dead is never read again by the threads that execute the
 *      instruction. Threads that are on another path at that time may still read theirs.
 *  E2  Operands whose registers are known only at run time are never said to be dead.
 *  E3  In programs with calls, registers that a called function may read from its caller, or that
 *      are live after some call, are never said to be dead.
 */
#ifndef ANALYSIS_LAST_READS_H
#define ANALYSIS_LAST_READS_H

#include "analysis/lane_liveness.h"

struct last_reads {
    u8 *dead;      /* by instruction of the program: source operands that are dead after it, bits */
    u64 *entry;    /* vector registers that are live where the kernel begins */
    u32 registers; /* of the largest function */
};

/* Of a finished program, of which `kernel` is to run. */
struct last_reads *last_reads_of(struct arena *arena, const struct program *program,
                                 const struct function *kernel);

#endif
