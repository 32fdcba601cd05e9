/*
 * Launches that may never end: whether warps repeat themselves.
 *
 * A warp that comes back to a place with the same registers and the same local memory does the same
 * again, unless what it reads has changed. Now and then (N2) some warps are sampled where the host
 * looks anyway, between turns of the functional machine or between windows of time. If they all
 * repeat themselves in a loop that stores nothing, the launch is noted as perhaps endless. It is
 * never stopped for that.
 *
 *  N1  Nothing happens within a tick: between looks it costs one comparison.
 *  N2  When samples are taken depends on the number of instructions alone, so that what is said is
 *      the same in every run: from FIRST_LOOK warp instructions on, and each time after twice as
 *      many.
 *  N3  At first one warp is sampled. Only if it repeats itself all of them are: one that does not
 *      may be about to write what the others wait for.
 *  N4  What is not found: loops that count, or that store to memory other than local; loops that
 *      call functions.
 *
 * Two equal samples of a warp are found as Brent does: one state is kept and compared with those
 * after it, and replaced after 1, 2, 4, 8... of them.
 */
#ifndef GPU_OBSERVE_ENDLESS_H
#define GPU_OBSERVE_ENDLESS_H

#include "base/arena.h"
#include "exec/warp.h"

/* Samples of a warp. */
struct repeats {
    u64 block;     /* its number + 1; 0: no sample yet */
    u64 hash;      /* of the state that is kept, */
    u64 issued;    /* how much the warp had issued then, */
    u64 first;     /* and at the first sample; */
    u32 since;     /* samples after the kept one, */
    u32 limit;     /* at which it is replaced, */
    u32 equal;     /* that were equal to it, */
    u32 low, high; /* and between which instructions all of these are */
    u32 samples;
};

struct endless {
    u64 next;     /* warp instructions of the launch at which there is something to do */
    u32 looks;    /* rounds so far */
    bool in_time; /* the timing model calls, with each warp it has */
    bool all;     /* N3 */
    const struct warp *picked; /* the one that is sampled first, or NULL */
    struct repeats one;
    VEC(struct repeats) warps; /* by slot of the block and number in it, while `all` */
    u32 visits;                /* in this round */
    bool found;
    u64 blocks_done; /* when it was found */
    char text[1536];
};

struct hd_device;

/* A launch begins. */
void endless_begin(struct endless *endless);
void endless_free(struct endless *endless);
/* A warp between two of its instructions; `issued`: by it so far. `instructions`: of the launch. */
void endless_look(struct hd_device *device, const struct warp *warp, u64 issued, u64 instructions);
/* Which of `count` warps is the one to look at first; `all`: call endless_look with each. */
static inline u32 endless_pick(const struct endless *endless, u32 count)
{
    return endless->looks % count;
}
/* The note, if it still holds: no block has ended since; else NULL. */
const char *endless_text(const struct hd_device *device);

#endif
