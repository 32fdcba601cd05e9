/*
 * Detection of launches that may never end: all warps repeat themselves.
 *
 * A warp that returns to an instruction with the same registers and the same local memory does the
 * same again, unless memory that it reads has changed. From time to time (N2) some warps are
 * sampled where the host has control anyway, between turns of the functional scheduler or between
 * windows. If they all repeat themselves in a loop that stores nothing, the launch is noted as
 * possibly endless. It is never stopped for that.
 *
 *  N1  Nothing happens within a tick: between rounds it costs one comparison.
 *  N2  When samples are taken depends only on the number of instructions, so that the note is the
 *      same in every run: from FIRST_LOOK warp instructions on, then each time at twice as many.
 *  N3  At first one warp is sampled. Only if it repeats itself, all are: one that does not may be
 *      about to write what the others wait for.
 *  N4  Not detected: loops with counters, with stores to memory other than local, or with function
 *      calls.
 *
 * Equal samples of a warp are found by Brent's algorithm: one state is kept and compared with later
 * ones, and replaced after 1, 2, 4, 8... of them.
 */
#ifndef GPU_OBSERVE_ENDLESS_H
#define GPU_OBSERVE_ENDLESS_H

#include "base/arena.h"
#include "exec/warp.h"

/* Samples of a warp. */
struct repeats {
    u64 block;     /* block number + 1; 0: no sample yet */
    u64 hash;      /* of the kept state */
    u64 issued;    /* instructions issued at the kept state */
    u64 first;     /* instructions issued at the first sample */
    u32 since;     /* samples after the kept state */
    u32 limit;     /* value of `since` at which the state is replaced */
    u32 equal;     /* samples equal to the kept state */
    u32 low, high; /* range of the samples' instructions */
    u32 samples;
};

struct endless {
    u64 next;                  /* warp instructions of the launch at the next round */
    u32 looks;                 /* rounds so far */
    bool in_time;              /* called by the timing model */
    bool all;                  /* N3 */
    const struct warp *picked; /* the warp sampled first, or NULL */
    struct repeats one;
    VEC(struct repeats) warps; /* by block slot and warp index, while `all` */
    u32 visits;                /* warps visited in this round */
    bool found;
    u64 blocks_done; /* blocks done at the time of the note */
    char text[1536];
};

struct hd_device;

/* A launch begins. */
void endless_begin(struct endless *endless);
void endless_free(struct endless *endless);
/* Samples a warp between two of its instructions; `issued`: by it so far, `instructions`: by the
 * launch. */
void endless_look(struct hd_device *device, const struct warp *warp, u64 issued, u64 instructions);
/* The index, among `count` warps, of the one to sample first; with `all`, call endless_look for
 * each. */
static inline u32 endless_pick(const struct endless *endless, u32 count)
{
    return endless->looks % count;
}
/* The note, if no block has ended since; else NULL. */
const char *endless_text(const struct hd_device *device);

#endif
