/*
 * Where threads that a branch has parted may meet again.
 *
 * Threads that leave a branch by different sides carry the side as a label, and the labels flow
 * along the edges. A block where two labels arrive is a *meeting*: from there on threads of either
 * carry its own label. This goes on to the branch's immediate post-dominator, where all have met,
 * or to the end if there is none (iterated joins, as phi functions are placed).
 *
 *  M1  A branch that one side leads back to hands on this side's label beside its own: one
 *      thread may go round while the other has left the loop. With `rounds` it hands on the label
 *      of a meeting, too: threads may meet in each round and yet leave the loop in different ones.
 *  M2  A block that has become a meeting stays one, even if the labels it was made for become the
 *      same later: too many meetings are safe.
 *  M3  Where no way leads back to the branch it ends sooner: at a block that all ways go through
 *      which have not ended.
 *  M4  Nothing is assumed of the flow graph: loops may have several entries.
 */
#ifndef ANALYSIS_PARTING_H
#define ANALYSIS_PARTING_H

#include "analysis/cfg.h"

#define NO_LABEL UINT32_MAX

struct divergence {
    const struct cfg *cfg;
    u32 *label;   /* by block: NO_LABEL, itself (a meeting), another meeting, or count + side */
    u32 *reached; /* blocks with a label */
    u32 reached_count;
    u32 branch, stop; /* blocks; stop may be NO_BLOCK */
    bool rounds;
    u8 *leads;  /* by block with a label: a way leads from it to a meeting */
    u8 *cycles; /* by block: parted threads can come from it to the branch; see divergence_cycles */
    u32 *position; /* by block: in cfg->order */
    u64 *pending;  /* places in the order */
    u32 pending_count;
    u8 *loops; /* by block: a way may lead back to it */
    u32 *stack;
};

struct divergence *divergence_create(struct arena *arena, const struct cfg *cfg);
/* Fills label, reached, leads, branch and stop for the branch that ends a block. */
void divergence_find(struct divergence *parting, u32 branch, bool rounds);
/* Fills `cycles` for what was found, once. */
void divergence_cycles(struct divergence *parting);

static inline bool divergence_is_side(const struct divergence *parting, u32 block)
{
    return parting->label[block] != NO_LABEL && parting->label[block] >= parting->cfg->count;
}
static inline bool divergence_is_meeting(const struct divergence *parting, u32 block)
{
    return parting->label[block] == block;
}
/* Whether only threads come to a meeting that have met nowhere before. */
bool divergence_is_first(const struct divergence *parting, u32 meeting);

#endif
