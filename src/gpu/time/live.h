/*
 * Live state of a device: bit flips at given cycles of a launch, and hashes of all declared bits
 * (timing.live_state; base/state_walk.h). For fault campaigns and tests.
 *
 * A flip in a core happens before the core's clock edge of its cycle. A flip elsewhere happens
 * before the window that the cycle is in, and hashes are taken between windows: nothing else is
 * halfway then.
 */
#ifndef GPU_TIME_LIVE_H
#define GPU_TIME_LIVE_H

#include "base/state_walk.h"
#include "gpu/time/timing.h"

struct live;
struct timed_run;

struct strike {
    const char *element; /* "issue.scoreboard": a row of the state registry */
    u32 owner;           /* number of the core or slice */
    u64 bit;             /* of the owner's row: state_flip() */
    u64 cycle;           /* of the launch, in the core's own clock */
    bool wait;           /* if no entry is in use, in the first cycle in which one is; cores only */
    bool seek;           /* if its entry is not in use, another one that is; `bit` is changed */
    bool done;           /* false: the launch ended before */
    enum state_flip result;
};

/* Called between windows, every `every` cycles: the hash of what can still matter (no statistics, no
 * absolute times, nothing that is not in use), and that of all bits. */
typedef void live_hash_fn(void *user, u64 cycle, u64 canonical, u64 full);

/* The rows of the machine; NULL: timing.live_state is off. */
const struct state_list *timing_rows(const struct timing *timing);
/* How many owners of a row can be struck: 0 if nothing locates them. */
u32 timing_owners(const struct timing *timing, const struct state_row *row);
/* Strikes the next launch; the list must remain until it ends. */
void timing_strike(struct timing *timing, struct strike *strikes, u32 count);
/* Hashes from now on; take NULL: no more. */
void timing_watch_hash(struct timing *timing, u64 every, live_hash_fn *take, void *user);
/* The same without the hash of all bits, which is slow: `full` is 0. */
void timing_watch_canonical(struct timing *timing, u64 every, live_hash_fn *take, void *user);
/* The canonical hash walks large arrays as words and only what is in use of the others; that of all bits
 * visits each declared bit. */
u64 timing_hash(const struct timing *timing, bool canonical);

/* ---- for the timing model ---- */
struct live *live_create(struct timing *timing);
void live_destroy(struct live *live);
/* A window is about to run until `end`. */
void live_window(struct timed_run *run, fs end);
/* The launch has ended. */
void live_end(struct timed_run *run);

#endif
