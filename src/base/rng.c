/* Random numbers: see rng.h. */
#include "base/rng.h"

u64 splitmix64(u64 *state)
{
    u64 z = *state += 0x9e3779b97f4a7c15ull;
    z = (z ^ z >> 30) * 0xbf58476d1ce4e5b9ull;
    z = (z ^ z >> 27) * 0x94d049bb133111ebull;
    return z ^ z >> 31;
}

/* Each part of a name is mixed into all bits before the next one comes. */
static u64 mix(u64 state, u64 part)
{
    state ^= part;
    return splitmix64(&state);
}

/* FNV-1a (Fowler, Noll, Vo; RFC 9923), 64 bits. */
static u64 hash_text(const char *text)
{
    u64 hash = 0xcbf29ce484222325ull;
    for (; *text; text++)
        hash = (hash ^ (u8)*text) * 0x100000001b3ull;
    return hash;
}

void rng_stream(struct rng *rng, u64 seed, u64 launch, const char *place, u64 index,
                const char *user)
{
    u64 state = mix(seed, 0);
    state = mix(state, launch);
    state = mix(state, hash_text(place));
    state = mix(state, index);
    state = mix(state, hash_text(user));
    for (u32 i = 0; i < ARRAY_LEN(rng->state); i++)
        rng->state[i] = splitmix64(&state);
}
