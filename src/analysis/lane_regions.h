/*
 * Regions of code with explicit EXEC whose threads any warp of the block may execute.
 *
 * Such code leaves a region out when EXEC is empty: s_cbranch_execz past it, or s_cbranch_execnz back
 * to it. The *region* of such a branch is what is executed from there to the branch's immediate
 * post-dominator, where the lanes meet. If its threads are executed by other warps, with EXEC and all
 * masks gathered lane by lane, each thread must find what it would have found at home:
 *
 *  E1  A pair of scalars in the region is either a *mask*, which only lane-by-lane instructions read
 *      and write (comparisons, carries, 64-bit logic), or its words are *values*. What a mask says of a
 *      thread travels with the thread.
 *  E2  Warps whose values agree at the start compute the same values, since no value comes from lanes
 *      (readlane, masks as numbers) and no branch depends on any but values and EXEC. `needs` lists
 *      those that must agree.
 *  E3  A branch on EXEC depends on the other threads of a warp: it decides how often code is executed
 *      in which a thread is not active. So this changes nothing for an inactive thread: EXEC does not
 *      get its lane back, its bits of masks that are live afterwards are as they were, and values that
 *      are written there are dead afterwards.
 *  E4  Nothing reads other lanes, waits for other warps, reads or sets state of the wavefront
 *      (MODE, the PC, the branch stack), or ends it; loops do not wait for other threads' data.
 */
#ifndef ANALYSIS_LANE_REGIONS_H
#define ANALYSIS_LANE_REGIONS_H

#include "analysis/lane_liveness.h"

struct lane_region {
    u32 body, meet;                /* the first instruction, and where lanes meet */
    u64 masks;                     /* E1: pairs that are masks, EXEC among them */
    u64 needs[LANE_SCALAR_WORDS];  /* E2: scalars */
    u64 values[LANE_SCALAR_WORDS]; /* those it writes as values, and perhaps some of `needs` */
    bool shared;                   /* it accesses shared memory, */
    bool scalars;                  /* or reads or writes values in scalars */
};

struct lane_regions;

/* NULL: nothing is known of the code, which may be entered anywhere. */
struct lane_regions *lane_regions_create(struct arena *arena, const struct code *code,
                                         const struct cfg *cfg, bool open);
/* Whether a block ends with a branch on EXEC. */
bool lane_regions_is_branch(const struct lane_regions *regions, u32 block);
/* The region of such a branch, with instructions relative to the code. False: E1 to E4 are not
 * proved. */
bool lane_regions_find(struct lane_regions *regions, u32 block, struct lane_region *region);

#endif
