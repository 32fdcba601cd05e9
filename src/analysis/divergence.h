/*
 * Where threads that a branch has separated may meet again.
 *
 * Threads that leave a branch by different sides carry the side as a label, and the labels flow
 * along the edges. A block where two labels arrive is a *meeting*: from there on the threads of
 * both carry its own label. This continues to the branch's immediate post-dominator, where all have
 * met, or to the end of the code if there is none (iterated joins, as for the placement of phi
 * functions).
 *
 *  M1  A branch that one of its sides leads back to passes on this side's label beside its own: one
 *      thread may iterate while the other has left the loop. With `rounds` it passes on the label
 *      of a meeting, too: threads may meet in each iteration and yet leave the loop in different
 *      ones.
 *  M2  A block that has become a meeting stays one, even if its incoming labels become the same
 *      later: too many meetings are safe.
 *  M3  If no path leads back to the branch, the search ends sooner: at a block that all paths which
 *      have not ended go through.
 *  M4  Nothing is assumed of the flow graph: loops may have several entries.
 */
#ifndef ANALYSIS_DIVERGENCE_H
#define ANALYSIS_DIVERGENCE_H

#include "analysis/cfg.h"

#define NO_LABEL UINT32_MAX

struct divergence {
    const struct cfg *cfg;
    u32 *label;   /* by block: NO_LABEL, itself (a meeting), another meeting, or count + side */
    u32 *reached; /* blocks with a label */
    u32 reached_count;
    u32 branch, stop; /* blocks; `stop` is where the search ends, or NO_BLOCK */
    bool rounds;
    u8 *leads;     /* by labelled block: a path leads from it to a meeting */
    u8 *cycles;    /* by block: separated threads can return to the branch; see divergence_cycles */
    u32 *position; /* by block: its place in cfg->order */
    u64 *pending;  /* places in the order to visit, one bit each */
    u32 pending_count;
    u8 *loops; /* by block: may be part of a cycle */
    u32 *stack;
};

struct divergence *divergence_create(struct arena *arena, const struct cfg *cfg);
/* Fills label, reached, leads, branch and stop for the branch that ends a block. */
void divergence_find(struct divergence *divergence, u32 branch, bool rounds);
/* Fills `cycles` for the last divergence_find(), at most once. */
void divergence_cycles(struct divergence *divergence);

static inline bool divergence_is_side(const struct divergence *divergence, u32 block)
{
    return divergence->label[block] != NO_LABEL &&
           divergence->label[block] >= divergence->cfg->count;
}
static inline bool divergence_is_meeting(const struct divergence *divergence, u32 block)
{
    return divergence->label[block] == block;
}
/* Whether all threads that arrive at a meeting have not met anywhere before. */
bool divergence_is_first(const struct divergence *divergence, u32 meeting);

#endif
