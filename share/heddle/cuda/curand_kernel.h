/*
 * Random numbers in kernels: the generators XORWOW, Philox4x32-10 and MRG32k3a of cuRAND, with the same
 * sequences for the same seed, subsequence and offset.
 *
 * Sources: G. Marsaglia, "Xorshift RNGs" (2003); J. Salmon et al., "Parallel random numbers: as easy as
 * 1, 2, 3" (2011); P. L'Ecuyer, "Good parameters and implementations for combined multiple recursive
 * random number generators" (1999). Start values, distances of subsequences and the mapping to reals are
 * cuRAND's. Not here: MTGP32, Sobol', discrete distributions.
 */
#ifndef HEDDLE_CURAND_KERNEL_H
#define HEDDLE_CURAND_KERNEL_H

#define CURAND_KERNEL_H_

#include "cuda_runtime.h"

#define HEDDLE_RN static __device__ inline

/* ---- states ---- */

struct curandStateXORWOW {
    unsigned d, v[5];
    int boxmuller_flag, boxmuller_flag_double; /* whether there is one more normal value */
    float boxmuller_extra;
    double boxmuller_extra_double;
};
struct curandStatePhilox4_32_10 {
    uint4 ctr, output;
    uint2 key;
    unsigned STATE; /* words of `output` that are used up */
    int boxmuller_flag, boxmuller_flag_double;
    float boxmuller_extra;
    double boxmuller_extra_double;
};
struct curandStateMRG32k3a {
    unsigned s1[3], s2[3];
    int boxmuller_flag, boxmuller_flag_double;
    float boxmuller_extra;
    double boxmuller_extra_double;
};
typedef curandStateXORWOW curandStateXORWOW_t;
typedef curandStateXORWOW curandState_t;
typedef curandStateXORWOW curandState;
typedef curandStatePhilox4_32_10 curandStatePhilox4_32_10_t;
typedef curandStateMRG32k3a curandStateMRG32k3a_t;

template <typename State> HEDDLE_RN void heddle_no_extra(State *state)
{
    state->boxmuller_flag = state->boxmuller_flag_double = 0;
    state->boxmuller_extra = 0;
    state->boxmuller_extra_double = 0;
}

/* ---- XORWOW ---- */

#include "heddle_xorwow.h"

HEDDLE_RN unsigned curand(curandStateXORWOW *state)
{
    const unsigned t = state->v[0] ^ state->v[0] >> 2, last = state->v[4];
    for (int i = 0; i < 4; i++)
        state->v[i] = state->v[i + 1];
    state->v[4] = (last ^ last << 4) ^ (t ^ t << 1);
    state->d += 362437;
    return state->v[4] + state->d;
}

HEDDLE_RN void heddle_xorwow_move(curandStateXORWOW *state, const unsigned *matrix)
{
    unsigned image[5] = {0, 0, 0, 0, 0};
    for (int bit = 0; bit < 160; bit++)
        if (state->v[bit / 32] >> bit % 32 & 1)
            for (int i = 0; i < 5; i++)
                image[i] ^= matrix[5 * bit + i];
    for (int i = 0; i < 5; i++)
        state->v[i] = image[i];
}

HEDDLE_RN void skipahead(unsigned long long steps, curandStateXORWOW *state)
{
    state->d += 362437 * (unsigned)steps;
    for (int digit = 0; steps; steps >>= 4, digit++)
        for (int times = steps & 15; times; times--)
            heddle_xorwow_move(state, heddle_xorwow_offset[digit]);
}

HEDDLE_RN void skipahead_sequence(unsigned long long sequences, curandStateXORWOW *state)
{
    for (int digit = 0; sequences; sequences >>= 2, digit++)
        for (int times = sequences & 3; times; times--)
            heddle_xorwow_move(state, heddle_xorwow_sequence[digit]);
}

HEDDLE_RN void curand_init(unsigned long long seed, unsigned long long subsequence,
                           unsigned long long offset, curandStateXORWOW *state)
{
    const unsigned s0 = (unsigned)seed ^ 0xaad26b49, s1 = (unsigned)(seed >> 32) ^ 0xf7dcefdd;
    const unsigned t0 = 1099087573 * s0, t1 = 2591861531u * s1;
    state->d = 6615241 + t1 + t0;
    state->v[0] = 123456789 + t0;
    state->v[1] = 362436069 ^ t0;
    state->v[2] = 521288629 + t1;
    state->v[3] = 88675123 ^ t1;
    state->v[4] = 5783321 + t0;
    skipahead_sequence(subsequence, state);
    skipahead(offset, state);
    heddle_no_extra(state);
}

/* ---- Philox4x32-10 ---- */

HEDDLE_RN uint4 curand_Philox4x32_10(uint4 c, uint2 k)
{
    for (int round = 0; round < 10; round++) {
        const unsigned high0 = __umulhi(0xd2511f53, c.x), low0 = 0xd2511f53 * c.x;
        const unsigned high1 = __umulhi(0xcd9e8d57, c.z), low1 = 0xcd9e8d57 * c.z;
        c = make_uint4(high1 ^ c.y ^ k.x, low1, high0 ^ c.w ^ k.y, low0);
        k.x += 0x9e3779b9;
        k.y += 0xbb67ae85;
    }
    return c;
}

/* The counter has 128 bits: the lower half counts blocks of four, the upper one subsequences. */
HEDDLE_RN void heddle_philox_add(uint4 *counter, unsigned long long blocks)
{
    const unsigned long long low = (unsigned long long)counter->y << 32 | counter->x;
    const unsigned long long sum = low + blocks;
    counter->x = (unsigned)sum;
    counter->y = (unsigned)(sum >> 32);
    if (sum < low && !++counter->z)
        ++counter->w;
}

HEDDLE_RN unsigned heddle_philox_word(const uint4 &output, unsigned index)
{
    return index == 0 ? output.x : index == 1 ? output.y : index == 2 ? output.z : output.w;
}

HEDDLE_RN unsigned curand(curandStatePhilox4_32_10 *state)
{
    const unsigned word = heddle_philox_word(state->output, state->STATE++);
    if (state->STATE == 4) {
        heddle_philox_add(&state->ctr, 1);
        state->output = curand_Philox4x32_10(state->ctr, state->key);
        state->STATE = 0;
    }
    return word;
}

HEDDLE_RN uint4 curand4(curandStatePhilox4_32_10 *state)
{
    const uint4 before = state->output;
    heddle_philox_add(&state->ctr, 1);
    state->output = curand_Philox4x32_10(state->ctr, state->key);
    unsigned words[4];
    for (unsigned i = 0; i < 4; i++) {
        const unsigned at = state->STATE + i;
        words[i] = at < 4 ? heddle_philox_word(before, at) : heddle_philox_word(state->output, at - 4);
    }
    return make_uint4(words[0], words[1], words[2], words[3]);
}

HEDDLE_RN void skipahead(unsigned long long steps, curandStatePhilox4_32_10 *state)
{
    state->STATE += (unsigned)(steps & 3);
    steps /= 4;
    if (state->STATE > 3) {
        steps++;
        state->STATE -= 4;
    }
    heddle_philox_add(&state->ctr, steps);
    state->output = curand_Philox4x32_10(state->ctr, state->key);
}

HEDDLE_RN void skipahead_sequence(unsigned long long sequences, curandStatePhilox4_32_10 *state)
{
    const unsigned long long sum =
        ((unsigned long long)state->ctr.w << 32 | state->ctr.z) + sequences;
    state->ctr.z = (unsigned)sum;
    state->ctr.w = (unsigned)(sum >> 32);
    state->output = curand_Philox4x32_10(state->ctr, state->key);
}

HEDDLE_RN void curand_init(unsigned long long seed, unsigned long long subsequence,
                           unsigned long long offset, curandStatePhilox4_32_10 *state)
{
    state->ctr = make_uint4(0, 0, 0, 0);
    state->key = make_uint2((unsigned)seed, (unsigned)(seed >> 32));
    state->STATE = 0;
    skipahead_sequence(subsequence, state);
    skipahead(offset, state);
    heddle_no_extra(state);
}

/* ---- MRG32k3a ---- */

#define HEDDLE_MRG_1 4294967087ull
#define HEDDLE_MRG_2 4294944443ull

/* The two recurrences as matrices: a step takes (s0, s1, s2) to (s1, s2, new). */
struct heddle_mrg {
    unsigned at[3][3];
};
HEDDLE_RN heddle_mrg heddle_mrg_matrix(int which)
{
    return which == 1 ? heddle_mrg{{{0, 1, 0}, {0, 0, 1}, {(unsigned)(HEDDLE_MRG_1 - 810728), 1403580, 0}}}
                      : heddle_mrg{{{0, 1, 0}, {0, 0, 1}, {(unsigned)(HEDDLE_MRG_2 - 1370589), 0, 527612}}};
}
HEDDLE_RN heddle_mrg heddle_mrg_product(const heddle_mrg &a, const heddle_mrg &b,
                                        unsigned long long modulus)
{
    heddle_mrg product;
    for (int i = 0; i < 3; i++)
        for (int j = 0; j < 3; j++) {
            unsigned long long sum = 0;
            for (int k = 0; k < 3; k++)
                sum = (sum + (unsigned long long)a.at[i][k] * b.at[k][j] % modulus) % modulus;
            product.at[i][j] = (unsigned)sum;
        }
    return product;
}
/* Moves a recurrence by steps * 2^shift. */
HEDDLE_RN void heddle_mrg_move(unsigned *s, int which, unsigned long long steps, int shift)
{
    const unsigned long long modulus = which == 1 ? HEDDLE_MRG_1 : HEDDLE_MRG_2;
    heddle_mrg power = heddle_mrg_matrix(which);
    for (int i = 0; i < shift && steps; i++)
        power = heddle_mrg_product(power, power, modulus);
    for (; steps; steps >>= 1) {
        if (steps & 1) {
            unsigned image[3];
            for (int i = 0; i < 3; i++) {
                unsigned long long sum = 0;
                for (int k = 0; k < 3; k++)
                    sum = (sum + (unsigned long long)power.at[i][k] * s[k] % modulus) % modulus;
                image[i] = (unsigned)sum;
            }
            for (int i = 0; i < 3; i++)
                s[i] = image[i];
        }
        power = heddle_mrg_product(power, power, modulus);
    }
}

/* 1 to the first modulus. */
HEDDLE_RN double curand_MRG32k3a(curandStateMRG32k3a *state)
{
    unsigned *s1 = state->s1, *s2 = state->s2;
    const unsigned long long p1 =
        (1403580ull * s1[1] + 810728ull * (HEDDLE_MRG_1 - s1[0])) % HEDDLE_MRG_1;
    const unsigned long long p2 =
        (527612ull * s2[2] + 1370589ull * (HEDDLE_MRG_2 - s2[0])) % HEDDLE_MRG_2;
    s1[0] = s1[1], s1[1] = s1[2], s1[2] = (unsigned)p1;
    s2[0] = s2[1], s2[1] = s2[2], s2[2] = (unsigned)p2;
    return (double)(p1 > p2 ? p1 - p2 : p1 + HEDDLE_MRG_1 - p2);
}

HEDDLE_RN unsigned curand(curandStateMRG32k3a *state)
{
    return (unsigned)(curand_MRG32k3a(state) * 1.000000048662);
}

HEDDLE_RN void skipahead(unsigned long long steps, curandStateMRG32k3a *state)
{
    heddle_mrg_move(state->s1, 1, steps, 0);
    heddle_mrg_move(state->s2, 2, steps, 0);
}

HEDDLE_RN void skipahead_subsequence(unsigned long long count, curandStateMRG32k3a *state)
{
    heddle_mrg_move(state->s1, 1, count, 76);
    heddle_mrg_move(state->s2, 2, count, 76);
}

HEDDLE_RN void skipahead_sequence(unsigned long long count, curandStateMRG32k3a *state)
{
    heddle_mrg_move(state->s1, 1, count, 127);
    heddle_mrg_move(state->s2, 2, count, 127);
}

HEDDLE_RN void curand_init(unsigned long long seed, unsigned long long subsequence,
                           unsigned long long offset, curandStateMRG32k3a *state)
{
    for (int i = 0; i < 3; i++) {
        const unsigned long long low = (unsigned)seed ^ 0x55555555u;
        const unsigned long long high = (unsigned)(seed >> 32) ^ 0xaaaaaaaau;
        state->s1[i] = seed ? (unsigned)((i == 1 ? high : low) * 12345 % HEDDLE_MRG_1) : 12345;
        state->s2[i] = seed ? (unsigned)((i == 1 ? low : high) * 12345 % HEDDLE_MRG_2) : 12345;
    }
    skipahead_subsequence(subsequence, state);
    skipahead(offset, state);
    heddle_no_extra(state);
}

/* ---- uniform: above 0, up to 1 ---- */

#define HEDDLE_2_32 2.3283064e-10f
#define HEDDLE_2_53 1.1102230246251565e-16

HEDDLE_RN float _curand_uniform(unsigned x)
{
    return x * HEDDLE_2_32 + HEDDLE_2_32 / 2;
}
/* Of 53 bits. */
HEDDLE_RN double heddle_uniform_53(unsigned x, unsigned y)
{
    return ((unsigned long long)x ^ (unsigned long long)y << 21) * HEDDLE_2_53 + HEDDLE_2_53 / 2;
}
HEDDLE_RN float curand_uniform(curandStateXORWOW *state)
{
    return _curand_uniform(curand(state));
}
HEDDLE_RN float curand_uniform(curandStatePhilox4_32_10 *state)
{
    return _curand_uniform(curand(state));
}
HEDDLE_RN float curand_uniform(curandStateMRG32k3a *state)
{
    return (float)(curand_MRG32k3a(state) * 2.3283065498378288e-10);
}
HEDDLE_RN float4 curand_uniform4(curandStatePhilox4_32_10 *state)
{
    const uint4 x = curand4(state);
    return make_float4(_curand_uniform(x.x), _curand_uniform(x.y), _curand_uniform(x.z),
                       _curand_uniform(x.w));
}
HEDDLE_RN double curand_uniform_double(curandStateXORWOW *state)
{
    const unsigned x = curand(state), y = curand(state);
    return heddle_uniform_53(x, y);
}
HEDDLE_RN double curand_uniform_double(curandStatePhilox4_32_10 *state)
{
    return curand(state) * 0x1p-32 + 0x1p-32;
}
HEDDLE_RN double curand_uniform_double(curandStateMRG32k3a *state)
{
    return curand_MRG32k3a(state) * 2.3283065498378288e-10;
}
HEDDLE_RN double2 curand_uniform2_double(curandStatePhilox4_32_10 *state)
{
    const uint4 x = curand4(state);
    return make_double2(heddle_uniform_53(x.x, x.y), heddle_uniform_53(x.z, x.w));
}

/* ---- normal: by the method of Box and Muller, two at a time ---- */

HEDDLE_RN float2 _curand_box_muller(unsigned x, unsigned y)
{
    const float angle = y * (HEDDLE_2_32 * 6.2831855f) + HEDDLE_2_32 * 6.2831855f / 2;
    const float radius = sqrtf(-2.0f * logf(_curand_uniform(x)));
    float2 both;
    __sincosf(angle, &both.x, &both.y);
    return make_float2(both.x * radius, both.y * radius);
}
HEDDLE_RN double2 heddle_box_muller(double u, double half_turns)
{
    const double radius = sqrt(-2.0 * log(u));
    double2 both;
    sincospi(half_turns, &both.x, &both.y);
    return make_double2(both.x * radius, both.y * radius);
}
template <typename State> HEDDLE_RN float2 curand_normal2(State *state)
{
    const unsigned x = curand(state), y = curand(state);
    return _curand_box_muller(x, y);
}
HEDDLE_RN float2 curand_normal2(curandStateMRG32k3a *state)
{
    const float x = curand_uniform(state), angle = curand_uniform(state) * 6.2831855f;
    const float radius = sqrtf(-2.0f * logf(x));
    float2 both;
    __sincosf(angle, &both.x, &both.y);
    return make_float2(both.x * radius, both.y * radius);
}
HEDDLE_RN float4 curand_normal4(curandStatePhilox4_32_10 *state)
{
    const uint4 x = curand4(state);
    const float2 a = _curand_box_muller(x.x, x.y), b = _curand_box_muller(x.z, x.w);
    return make_float4(a.x, a.y, b.x, b.y);
}
HEDDLE_RN double2 curand_normal2_double(curandStateXORWOW *state)
{
    const unsigned x0 = curand(state), x1 = curand(state), y0 = curand(state), y1 = curand(state);
    return heddle_box_muller(heddle_uniform_53(x0, x1), heddle_uniform_53(y0, y1) * 2);
}
HEDDLE_RN double2 curand_normal2_double(curandStatePhilox4_32_10 *state)
{
    const uint4 x = curand4(state);
    return heddle_box_muller(heddle_uniform_53(x.x, x.y), heddle_uniform_53(x.z, x.w) * 2);
}
HEDDLE_RN double2 curand_normal2_double(curandStateMRG32k3a *state)
{
    const double x = curand_uniform_double(state);
    return heddle_box_muller(x, curand_uniform_double(state) * 2);
}
/* One value; the other of the pair is the next. */
template <typename State> HEDDLE_RN float curand_normal(State *state)
{
    state->boxmuller_flag = !state->boxmuller_flag;
    if (!state->boxmuller_flag)
        return state->boxmuller_extra;
    const float2 both = curand_normal2(state);
    state->boxmuller_extra = both.y;
    return both.x;
}
template <typename State> HEDDLE_RN double curand_normal_double(State *state)
{
    state->boxmuller_flag_double = !state->boxmuller_flag_double;
    if (!state->boxmuller_flag_double)
        return state->boxmuller_extra_double;
    const double2 both = curand_normal2_double(state);
    state->boxmuller_extra_double = both.y;
    return both.x;
}
template <typename State>
HEDDLE_RN float curand_log_normal(State *state, float mean, float deviation)
{
    return expf(mean + deviation * curand_normal(state));
}
template <typename State>
HEDDLE_RN double curand_log_normal_double(State *state, double mean, double deviation)
{
    return exp(mean + deviation * curand_normal_double(state));
}

#undef HEDDLE_RN

#endif
