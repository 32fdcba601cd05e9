/* Simulated time: femtoseconds, and clocks whose edges fall on multiples of a period. */
#ifndef BASE_TIME_H
#define BASE_TIME_H

#include "base/types.h"

typedef u64 fs;
#define FS_NEVER UINT64_MAX
#define FS_PER_S 1000000000000000ull

struct clock {
    fs period;
    fs next;   /* the next edge to run */
    u64 cycle; /* edges run */
};

static inline fs clock_period(f64 mhz)
{
    return (fs)(1e9 / mhz + 0.5);
}
static inline void clock_start(struct clock *clock, f64 mhz, fs from)
{
    *clock = (struct clock){.period = clock_period(mhz), .next = from};
}
static inline void clock_advance(struct clock *clock, u64 cycles)
{
    clock->next += cycles * clock->period;
    clock->cycle += cycles;
}
/* The number of cycles to skip so that the next edge is the first one at or after `time`. */
static inline u64 clock_cycles_until(const struct clock *clock, fs time)
{
    return time <= clock->next ? 0 : (time - clock->next + clock->period - 1) / clock->period;
}

#endif
