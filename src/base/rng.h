/*
 * Random numbers: xoshiro256** (Blackman and Vigna, "Scrambled linear pseudorandom number
 * generators", ACM TOMS 2021; public-domain code at prng.di.unimi.it), seeded by SplitMix64
 * (Steele, Lea and Flood, "Fast splittable pseudorandom number generators", OOPSLA 2014), as its
 * authors recommend.
 *
 * A stream is named by the seed of the run, the number of the launch, a place of the machine and a
 * user there. Streams of different names have nothing to do with each other: that one more is used,
 * or used more, changes no other.
 */
#ifndef BASE_RNG_H
#define BASE_RNG_H

#include "base/types.h"

struct rng {
    u64 state[4]; /* not all zero */
};

/* `place` is what has streams ("core"), `index` which of them, `user` whose this one is. */
void rng_stream(struct rng *rng, u64 seed, u64 launch, const char *place, u64 index,
                const char *user);
/* The next output of SplitMix64; *state moves on. */
u64 splitmix64(u64 *state);

static inline u64 rng_next(struct rng *rng)
{
    u64 *s = rng->state;
    const u64 product = s[1] * 5, result = (product << 7 | product >> 57) * 9, t = s[1] << 17;
    s[2] ^= s[0];
    s[3] ^= s[1];
    s[1] ^= s[2];
    s[0] ^= s[3];
    s[2] ^= t;
    s[3] = s[3] << 45 | s[3] >> 19;
    return result;
}

/* Evenly from 0 to limit - 1; limit is not 0. */
static inline u64 rng_below(struct rng *rng, u64 limit)
{
    const u64 rest = -limit % limit; /* 2^64 mod limit: so many of the lowest are left out */
    u64 value = rng_next(rng);
    while (value < rest)
        value = rng_next(rng);
    return value % limit;
}

/* Evenly from [0, 1), a multiple of 2^-53. */
static inline f64 rng_unit(struct rng *rng)
{
    return (f64)(rng_next(rng) >> 11) * 0x1p-53;
}

#endif
