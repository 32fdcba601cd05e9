/* A seeded generator for tests: splitmix64. */
#ifndef TESTS_MEM_RANDOM_H
#define TESTS_MEM_RANDOM_H

#include "base/types.h"

struct random {
    u64 state;
};

static inline u64 random_next(struct random *random)
{
    u64 z = random->state += 0x9E3779B97F4A7C15ull;
    z = (z ^ z >> 30) * 0xBF58476D1CE4E5B9ull;
    z = (z ^ z >> 27) * 0x94D049BB133111EBull;
    return z ^ z >> 31;
}

/* Below `limit`. */
static inline u32 random_below(struct random *random, u32 limit)
{
    return (u32)((random_next(random) >> 32) * limit >> 32);
}

#endif
