/*
 * Basic blocks, edges, dominators and post-dominators of one function.
 *
 *  G1  Blocks are maximal straight-line runs in address order; block 0 is the entry.
 *  G2  ret, exit, end and traps lead to one virtual exit; a guarded one also falls through. A call
 *      falls through. A jump to an address and a join, whose targets are not known, lead to the
 *      exit; a jump with a link and a join also fall through. Successors are listed taken first,
 *      then fall-through, without repetition.
 *  G3  A loop that can never leave gets an edge to the exit for the post-dominator computation
 *      only, so that every block has a place in that tree.
 *  G4  idom of the entry and of unreachable blocks, and ipdom of a block whose immediate
 *      post-dominator is the exit, are NO_BLOCK.
 */
#ifndef ANALYSIS_CFG_H
#define ANALYSIS_CFG_H

#include "analysis/code.h"

struct cfg_block {
    u32 first, end; /* range of instructions */
    u32 *successors, *predecessors;
    u32 successor_count, predecessor_count;
    bool exits; /* has an edge to the virtual exit */
    u32 idom, ipdom;
    u32 enter, leave; /* interval in a depth-first walk of the dominator tree */
    u32 loop_depth;   /* number of natural loops that contain it */
};

struct cfg {
    struct cfg_block *blocks;
    u32 count;
    u32 *block_of; /* by instruction */
    u32 *order;    /* reachable blocks in reverse post-order */
    u32 order_count;
};

/* Everything is allocated in `arena`. Targets must lie inside the code. */
struct cfg *cfg_build(struct arena *arena, const struct code *code);

/* Whether every path to b goes through a; a block dominates itself. False if b is unreachable. */
static inline bool cfg_dominates(const struct cfg *cfg, u32 a, u32 b)
{
    const struct cfg_block *x = &cfg->blocks[a], *y = &cfg->blocks[b];
    return x->enter && y->enter && x->enter <= y->enter && y->leave <= x->leave;
}

/* The target of a branch with a fixed target, as an index into the code; else NO_INST. */
u32 code_target(const struct code *code, const struct inst *inst);

/* dominators.c; called by cfg_build. */
void cfg_dominators(struct cfg *cfg, struct arena *arena);

#endif
