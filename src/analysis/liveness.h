/*
 * Which locations hold a value that may still be read.
 *
 * Liveness is lane-wise: a lane's registers are its own columns, so a location is live at a point
 * when some path *of one thread* from there reads it before writing it. When a warp diverges,
 * the values of other lanes are in other columns of the same registers, and no instruction writes
 * columns of inactive lanes; hence the order in which a warp serialises its paths does not matter.
 *
 *  V1  Only locations read before they are written in some block have bits in the block sets
 *      ("global" ones); all others live inside one block. The sets stay small this way.
 *  V2  A location that is live at the entry is read before it is written on some path.
 */
#ifndef ANALYSIS_LIVENESS_H
#define ANALYSIS_LIVENESS_H

#include "analysis/cfg.h"

struct liveness {
    u32 locations;
    u32 globals;    /* number of global locations */
    u32 words;      /* u64 words in a set */
    u32 *global_of; /* by location: index in the sets, or UINT32_MAX */
    u32 *location;  /* by index in the sets: its location */
    u64 *in, *out;  /* block b: words [b * words, (b + 1) * words) */
};

struct liveness *liveness_compute(struct arena *arena, const struct code *code,
                                  const struct cfg *cfg);

/* A set of locations with constant-time changes, for walking a block backward. */
struct live_set {
    u32 *items, *place; /* place[location] - 1 is its index in items; 0: absent */
    u32 count;
};

struct live_set live_set_create(u32 locations);
void live_set_free(struct live_set *set);
static inline bool live_set_has(const struct live_set *set, u32 location)
{
    return set->place[location];
}

/* Sets the set to the locations live at the end (or start) of a block. */
void live_set_at_end(struct live_set *set, const struct liveness *live, u32 block);
void live_set_at_start(struct live_set *set, const struct liveness *live, u32 block);
void live_set_add(struct live_set *set, u32 location);
void live_set_drop(struct live_set *set, u32 location);
/* Updates the set from after an instruction to before it. */
void live_set_step(struct live_set *set, const struct refs *refs);

#endif
