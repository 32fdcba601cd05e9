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
    bool wait;           /* if no entry is in use, in the first cycle, or outside of cores window,
                          * in which one is */
    bool seek;           /* if its entry is not in use, another one that is; `bit` is changed */
    u64 hold;            /* 0: the bit is flipped once. Otherwise it keeps its flipped value for
                          * this many cycles: it is looked at in each of them, outside of cores
                          * before each window. It begins in the first cycle in which its entry is in
                          * use */
    bool done;           /* false: the launch ended before */
    enum state_flip result;
    u64 until;        /* with `hold`: the cycle in which it ends; 0: it has not begun, */
    bool value, held; /* the bit's value, and whether it has been flipped */
};

/* Called between windows, every `every` cycles: the hash of what can still matter (no statistics, no
 * absolute times, nothing that is not in use), and that of all bits. */
typedef void live_hash_fn(void *user, u64 cycle, u64 canonical, u64 full);

/* Called before each window of a launch, and once when it has ended: its warps are gone, what caches
 * hold is there. */
struct live_moment {
    const struct timed_run *run;
    u64 cycle; /* of the launch, in the nominal clock of cores; when it has ended, all of them */
    fs end;    /* of the window */
    bool ended;
};
typedef void live_moment_fn(void *user, const struct live_moment *moment);

/* The rows of the machine; NULL: timing.live_state is off. */
const struct state_list *timing_rows(const struct timing *timing);
/* How many owners of a row can be struck: 0 if nothing locates them. */
u32 timing_owners(const struct timing *timing, const struct state_row *row);
/* Strikes the next launch; the list must remain until it ends. */
void timing_strike(struct timing *timing, struct strike *strikes, u32 count);
/* Called before each strike, in its cycle; false: the bit is not flipped. `ask` may fork, and may strike
 * itself: timing_strike_now. NULL: no more. */
typedef bool live_ask_fn(void *user, struct strike *strike);
void timing_watch_strikes(struct timing *timing, live_ask_fn *ask, void *user);
/* timing_strike, and all of them at once. */
void timing_strike_now(struct timing *timing, struct strike *strikes, u32 count);
/* Whether the entry of a strike is in use, so that a flip would act. */
bool timing_is_used(const struct timing *timing, const struct strike *strike);
/* Hashes from now on; take NULL: no more. */
void timing_watch_hash(struct timing *timing, u64 every, live_hash_fn *take, void *user);
/* The same without the hash of all bits, which is slow: `full` is 0. */
void timing_watch_canonical(struct timing *timing, u64 every, live_hash_fn *take, void *user);
/* The canonical hash walks large arrays as words and only what is in use of the others; that of all bits
 * visits each declared bit. */
u64 timing_hash(const struct timing *timing, bool canonical);
/* Moments of all launches from now on; call NULL: no more. */
void timing_watch_moments(struct timing *timing, live_moment_fn *call, void *user);
/* During a launch: whether a strike takes effect before `end`. Strikes that are given to the timing
 * model (timing_strike) at a moment before that are in time. */
bool timing_strike_due(const struct timing *timing, const struct strike *strike, fs end);

/* What rows of the registry do not have, and a launch depends on from here on: local memory, masks and
 * registers of warps by their own hash, blocks that are not dispatched yet, requests under way. Times
 * are absolute: only runs that were the same up to some moment can be compared. live_rest.c */
u64 live_hash_rest(const struct timed_run *run);
/* Device memory without the code, as the level below the L2 has it. */
u64 live_hash_memory(const struct timed_run *run);

/* ---- for the timing model ---- */
struct live *live_create(struct timing *timing);
void live_destroy(struct live *live);
/* A window is about to run until `end`. */
void live_window(struct timed_run *run, fs end);
/* The launch has ended. */
void live_end(struct timed_run *run);

#endif
