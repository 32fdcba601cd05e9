/*
 * Words of 32 lanes as vectors: their offsets, and moving them. For the fast paths in
 * lanes_short.h, lanes_rare.h and lanes_access.h.
 */
#ifndef EXEC_LANES_WORDS_H
#define EXEC_LANES_WORDS_H

#include "exec/lanes_loop.h"

/* 32 lanes are four of these. */
typedef u32 eight __attribute__((vector_size(32), aligned(4), may_alias));
enum {
    EIGHTS = 4
};

/* Vectors are passed by address: without AVX there is no standard way to pass 32 bytes by value. */
#ifdef __AVX2__
#include <immintrin.h>

ALWAYS_INLINE bool have_common(const eight *a, const eight *b)
{
    return !_mm256_testz_si256((__m256i)*a, (__m256i)*b);
}
ALWAYS_INLINE void gather(u32 *dst, const u8 *base, const eight *at)
{
    for (unsigned k = 0; k < EIGHTS; k++) {
        const __m256i r = _mm256_i32gather_epi32((const int *)base, (__m256i)at[k], 1);
        _mm256_storeu_si256((__m256i *)dst + k, r);
    }
}
#else
ALWAYS_INLINE bool have_common(const eight *a, const eight *b)
{
    const eight both = *a & *b;
    u32 any = 0;
    for (unsigned i = 0; i < 8; i++)
        any |= both[i];
    return any;
}
ALWAYS_INLINE void gather(u32 *dst, const u8 *base, const eight *at)
{
    const u32 *const offset = (const u32 *)at;
    for (unsigned i = 0; i < LANES; i++)
        memcpy(&dst[i], base + offset[i], sizeof dst[i]);
}
#endif

#define SPLAT(x) ((eight){} + (x))
#define SIGN 0x80000000u

/* Whether the lanes' words are contiguous, in lane order. */
ALWAYS_INLINE bool are_adjacent(const eight *at)
{
    static const eight step = {0, 4, 8, 12, 16, 20, 24, 28};
    const eight first = SPLAT(at[0][0]), all = SPLAT(~0u);
    eight differ = {};
    for (unsigned k = 0; k < EIGHTS; k++)
        differ |= (at[k] - first) ^ (step + 32 * k);
    return !have_common(&differ, &all);
}

/* at = from + add; false if one is misaligned or beyond `limit`, which is below 2^31. */
ALWAYS_INLINE bool offsets_within(eight *at, const u32 *from, u32 add, u32 limit, u32 align)
{
    const eight *const row = (const eight *)from;
    const eight all = SPLAT(~0u);
    eight bits = {}, over = {};
    for (unsigned k = 0; k < EIGHTS; k++) {
        at[k] = row[k] + add;
        bits |= at[k];
        over |= limit - at[k];
    }
    const eight wrong = (bits & (SIGN | align)) | (over & SIGN);
    return !have_common(&wrong, &all);
}

ALWAYS_INLINE void load_words(u32 *dst, const u8 *base, const eight *at, u32 stride, u32 words)
{
    if (words == 1 && are_adjacent(at)) {
        memcpy(dst, base + at[0][0], LANES * sizeof *dst);
        return;
    }
    for (u32 j = 0; j < words; j++)
        gather(dst + j * stride, base + 4 * j, at);
}

ALWAYS_INLINE void store_word(u8 *base, const eight *at, const u32 *src)
{
    if (are_adjacent(at)) {
        memcpy(base + at[0][0], src, LANES * sizeof *src);
        return;
    }
    const u32 *const offset = (const u32 *)at;
    for (unsigned i = 0; i < LANES; i++)
        memcpy(base + offset[i], &src[i], sizeof src[i]);
}

#endif
