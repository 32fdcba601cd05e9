/*
 * Runs one lane function on 32 lanes of operands laid out as a warp of 64 would have them, and
 * checks what every function must keep: inactive lanes, the other half of the warp, other rows.
 */
#ifndef TESTS_EXEC_LANES_HARNESS_H
#define TESTS_EXEC_LANES_HARNESS_H

#include <setjmp.h>
#include <stdarg.h>
#include <stdio.h>
/* cmocka wants the above first. */
#include <cmocka.h>

#include "exec/lanes.h"

struct operands {
    u64 value[4][LANES];
    u32 mask[4];
};
struct results {
    u64 value[2][LANES];
    u32 mask[2];
};

/* How the destination shares rows with the sources. */
enum alias {
    ALIAS_NONE,
    ALIAS_FIRST,
    ALIAS_SECOND,
    ALIAS_SWAPPED,
    ALIAS_COUNT
};

/* Operand kinds as the instruction needs them: 'w', 'p', 'm' or 0 when absent. */
char source_kind(const struct inst *inst, unsigned k);
char result_kind(const struct inst *inst, unsigned k);
/* An instruction with plain operands for `op`: optional ones absent unless `all`. */
struct inst make_inst(enum op op, bool all);

/* `half` is 0 or 1: which 32 lanes of the warp. Inactive results read as the rows' old content. */
void run_lanes(const struct inst *inst, lane_fn *fn, const struct operands *in, u32 mask,
               unsigned half, enum alias alias, struct results *out);

u64 random_next(u64 *state);
/* Random bits, small numbers, patterns, and values that are special in some float format. */
u64 random_value(u64 *state);
void random_operands(u64 *state, struct operands *in);

#endif
