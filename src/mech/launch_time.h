/*
 * Time that passes in launches only, for states of the memory side (launch_memory, settle_memory):
 * between launches the clock stands still.
 */
#ifndef MECH_LAUNCH_TIME_H
#define MECH_LAUNCH_TIME_H

#include "base/time.h"
#include "base/types.h"

struct launch_time {
    fs began, settled; /* of the current or last launch; counters were last taken */
    u64 before;        /* length of all earlier launches, fs */
};

static inline void launch_time_begin(struct launch_time *t, fs now)
{
    t->before += t->settled - t->began;
    t->began = t->settled = now;
}
/* fs of launches before a time. */
static inline u64 launch_time_at(const struct launch_time *t, fs now)
{
    return t->before + (now > t->began ? now - t->began : 0);
}

/* Moves whole ps to a counter. */
static inline void launch_sum_take(u64 *sum_fs, u64 *counter_ps)
{
    *counter_ps += *sum_fs / 1000;
    *sum_fs %= 1000;
}

#endif
