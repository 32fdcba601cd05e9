/*
 * Divergence and merges in the inner loop: the most common forms of what paths.c does for all. Part
 * of lanes_run.c, compiled once per instruction set with it.
 *
 * Invariant
 *  P1  Each function changes the tree of paths, the active lanes and the counters exactly as
 *      warp_pass_end would, or returns NULL and has changed nothing.
 */
#ifndef EXEC_LANES_PATHS_H
#define EXEC_LANES_PATHS_H

#include "exec/lanes_loop.h"
#include "exec/warp.h"

/* warp_set_active for 32 lanes, whose mask has changed. */
ALWAYS_INLINE void change_active(struct warp *warp, u32 mask)
{
    struct chunk *const chunk = &warp->chunks[0];
    u32 *const row = chunk->active_mask;
    warp->active = mask;
    warp->active_count = count_lanes(mask);
    chunk->active = chunk->lanes.mask = mask;
    EACH_LANE
    {
        row[i] = mask & lane_bit[i] ? ~0u : 0;
    }
}

/* A free place for a path; NO_PATH: only paths.c can make one. */
ALWAYS_INLINE u32 take_place(struct warp *warp)
{
    const u32 index = warp->path_free;
    if (index != NO_PATH)
        warp->path_free = warp->paths[index].parent;
    else if (warp->path_used < warp->path_capacity)
        return warp->path_used++;
    return index;
}

/*
 * Some lanes take the plain branch forward at the end of a block, and one side is there where they
 * meet again: these lanes wait in the path, and the others continue in a child of it.
 */
ALWAYS_INLINE struct stretch *part_lanes(struct warp *warp, struct stretch *stretch)
{
    const u32 end = stretch->straight_end, meet = stretch->reconverge;
    const u32 taken = chunk_guard(&warp->chunks[0], stretch->last) & (u32)warp->active;
    const bool jumpers_wait = stretch->target == meet;
    struct path *const path = warp_path(warp);
    if (jumpers_wait == (end + 1 == meet) || stretch->target <= end || path->rpc == meet ||
        warp->order[warp->order_count - 1] != warp->current ||
        warp->path_live + 2 > warp->exec->limits->path_limit)
        return NULL;
    const u32 index = take_place(warp);
    if (UNLIKELY(index == NO_PATH))
        return NULL;
    const u32 mask = jumpers_wait ? (u32)warp->active & ~taken : taken;
    warp->exec->stats.divergent_branches++;
    warp->exec->guard_threads[end] += count_lanes(taken);
    warp->paths[index] = (struct path){.mask = mask,
                                       .pc = jumpers_wait ? end + 1 : stretch->target,
                                       .rpc = meet,
                                       .kind = PATH_BRANCH,
                                       .parent = warp->current};
    path->pc = meet;
    path->children++;
    warp->path_live++;
    warp->current = warp->order[warp->order_count - 1] = index;
    change_active(warp, mask);
    return jumpers_wait ? stretch + 1 : stretch->taken;
}

/* All lanes of the path, `taken` of which take a branch to it, have come where they wait for others:
 * the path merges into its parent, and that or the path below it on the stack continues. */
ALWAYS_INLINE struct stretch *merge_lanes(struct warp *warp, struct stretch *stretch, u32 taken)
{
    const u32 leaf = warp->current, parent = warp->paths[leaf].parent;
    const u32 top = warp->order_count - 1;
    if (parent == NO_PATH || warp->order[top] != leaf)
        return NULL;
    struct path *const paths = warp->paths;
    const bool last = paths[parent].children == 1;
    const u32 next = last ? parent : top ? warp->order[top - 1] : NO_PATH;
    if (next == NO_PATH || !paths[next].mask || paths[next].state != PATH_READY ||
        paths[next].resume || paths[next].pc == paths[next].rpc)
        return NULL;
    if (taken)
        warp->exec->guard_threads[stretch->straight_end] += warp->active_count;
    paths[leaf].parent = warp->path_free;
    warp->path_free = leaf;
    warp->path_live--;
    paths[parent].children--;
    warp->order_count = last ? top + 1 : top;
    warp->current = warp->order[warp->order_count - 1] = next;
    change_active(warp, (u32)paths[next].mask);
    const struct image *const image = warp->exec->image;
    return &image->views->stretches[image->stretch_of[paths[next].pc]];
}

/* What pass_branch leaves to do at the end of a block. */
static __attribute__((noinline)) struct stretch *pass_apart(struct warp *warp,
                                                            struct stretch *stretch)
{
    const u32 end = stretch->straight_end, meet = warp_path(warp)->rpc;
    u32 taken = 0;
    if (stretch->kind > STRETCH_FALLS)
        return NULL;
    if (stretch->kind == STRETCH_FALLS)
        return end == meet ? merge_lanes(warp, stretch, 0) : NULL;
    if (stretch->kind == STRETCH_BRANCHES) {
        taken = chunk_guard(&warp->chunks[0], stretch->last) & (u32)warp->active;
        if (!taken)
            return end + 1 == meet ? merge_lanes(warp, stretch, 0) : NULL;
        if (taken != (u32)warp->active)
            return part_lanes(warp, stretch);
    }
    return stretch->target == meet && meet > end ? merge_lanes(warp, stretch, taken) : NULL;
}

#endif
