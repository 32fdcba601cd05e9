/*
 * Re-formed warps: a warp whose lanes execute threads of several warps of its block.
 *
 * A re-formed warp has paths, an active mask and a place in the pipeline of its own. All else stays
 * with the warp in which the thread started, its home: registers and predicates, local memory, the
 * thread's numbers, and whether it lives. A lane keeps its number: lane i of a re-formed warp
 * executes lane i of its home.
 *
 * Only dynamic instructions know re-formed warps. When one issues, the operands of each lane are
 * gathered from its home into a frame, from which the instruction reads them as from any warp's
 * registers (reformed_stage). When it commits, the results are scattered to the homes (F4 of
 * dyninst.h). Memory is accessed home by home.
 *
 * Invariants
 *  V1  A thread is in at most one warp. While it is in a re-formed one, its home is not executing it.
 *  V2  The frame's masks and registers have no meaning except while the warp is staged. At most one
 *      warp of a block is staged at a time, and nothing commits meanwhile.
 *  V3  `live` and the arrivals at barriers are those of homes.
 *  V4  A re-formed warp without lanes at a path waits: they have exited, or are at the place where
 *      the re-formed warp ends. The mechanism that formed it decides what it executes next.
 *  V5  Instructions that read other lanes of their warp are not executed by one.
 *
 * With explicit EXEC, masks and scalars are the re-formed warp's own, in the rows of the warp whose
 * slot it has; what the home had there is kept aside meanwhile (reformed_keep). When it is formed, it
 * gets the bits of masks from the homes of its lanes, and other scalars from one of them, which must
 * be able to speak for all (analysis/lane_regions.h); when it ends, bits return to the homes.
 */
#ifndef EXEC_REFORMED_H
#define EXEC_REFORMED_H

#include "exec/warp.h"
#include "ir/scalars.h"

struct dyninst;

struct reformed {
    struct warp *homes[MAX_LANES]; /* by lane; NULL: the lane has no thread */
    u32 *frame;                    /* masks and registers of a warp, as in S3 of image.h */
    /* While staged: the base of the warp's own rows, its map and its view; otherwise NULL. */
    u8 *own;
    struct register_map *map;
    const struct register_view *registers;
    u32 kept
        [SCALAR_COUNT]; /* with explicit EXEC: those of the slot's warp (struct warp's `kept`) */
};

/* Words of a frame. */
static inline size_t reformed_words(const struct exec *exec)
{
    const struct image *image = exec->image;
    return (size_t)(image->mask_rows + image->own_rows + exec->register_rows) * image->warp_size;
}
/* The warp executes these lanes of `homes` from pc on, and has no lane left at a path that reaches
 * rpc (NO_INST: until they exit). `reformed` is the warp's until warp_restore; its frame is set. */
void warp_reform(struct warp *warp, struct reformed *reformed, struct warp *const *homes,
                 lane_set lanes, u32 pc, u32 rpc);
/* The warp executes its own live threads again. */
void warp_restore(struct warp *warp, u32 pc);
/* With explicit EXEC, before the warps of a group are formed anew. First, for each of them: the home's
 * scalars are kept, if the warp is at home; otherwise the homes of its lanes get back their bits of the
 * region's masks, and the values that it writes. */
struct lane_region;
void reformed_keep(struct warp *warp, struct reformed *reformed, const struct lane_region *region);
/* Then, before warp_reform: the scalars of a warp that executes these lanes of `homes`; before
 * warp_restore: its own. */
void reformed_gather(struct warp *warp, struct warp *const *homes, lane_set lanes,
                     const struct lane_region *region);
void reformed_return(struct warp *warp);
/* The home of a lane. */
static inline struct warp *warp_home(struct warp *warp, u32 lane)
{
    return LIKELY(!warp->reformed) ? warp : warp->reformed->homes[lane];
}
/* Those of the lanes that have the same home as the lowest one. */
static inline lane_set warp_same_home(const struct warp *warp, lane_set lanes)
{
    lane_set same = 0;
    if (LIKELY(!warp->reformed))
        return lanes;
    for (lane_set set = lanes; set; set &= set - 1)
        if (warp->reformed->homes[first_lane(set)] == warp->reformed->homes[first_lane(lanes)])
            same |= set & -set;
    return same;
}

/* Gathers the operands of an instruction of a re-formed warp, and lets the warp use the frame. */
void reformed_stage(struct warp *warp, const struct inst *code);
/* It uses its own rows again. */
void reformed_unstage(struct warp *warp);
/* The instruction has issued: it commits to the homes. */
void reformed_issued(struct dyninst *f);
/* Writes a mask result to the homes. */
void reformed_commit_mask(const struct dyninst *f, unsigned k);
/* Lanes have exited: their threads no longer live. */
void reformed_exit(struct warp *warp, lane_set lanes);

#endif
