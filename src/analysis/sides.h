/*
 * Values that are used only on one side of branches which depend on the numbers of threads: there,
 * always the same threads of a warp are active.
 *
 * A taint analysis (as in Tan's dissertation, section 5.2.4): a value is *known* if it is computed
 * from numbers of threads and blocks, constants and kernel parameters only, so that it is fixed when
 * a kernel is launched. Data from other memory is not, nor what depends on such data.
 *
 *  S1  A branch *splits* if its condition is known and depends on the thread. Its sides are the blocks
 *      between it and the place where they meet, its immediate post-dominator.
 *  S2  A branch whose sides meet only at the end of the code does not count: it usually sends home
 *      the threads beyond the end of an array. Nor does one that one of its sides leads back to,
 *      since it ends a loop.
 *  S3  Where sides of a branch meet, what was written on them is at most as known as its condition.
 *  S4  The result is a hint on where values are used: it promises nothing about which threads are
 *      active.
 */
#ifndef ANALYSIS_SIDES_H
#define ANALYSIS_SIDES_H

#include "analysis/cfg.h"

struct sides {
    u8 *inst;      /* by instruction of the code: it is on a side, or has a guard that splits */
    u8 *location;  /* by vector register: all instructions that use it are, and there are some */
    u32 *branches; /* blocks that end with a branch that splits (S1, S2) */
    u32 branch_count;
};

/* NULL: code with explicit EXEC or indirect jumps, or too large. Allocated in `arena`. */
/* Marks the blocks that a branch's side, its successor of this number, goes through until it meets the
 * other. `stack` has an element for each block. */
void sides_walk(const struct cfg *cfg, u32 branch, u32 side, u8 *reached, u32 *stack);
struct sides *sides_find(struct arena *arena, const struct code *code, const struct cfg *cfg);

#endif
