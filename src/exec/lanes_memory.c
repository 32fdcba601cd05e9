/*
 * Gather, scatter and address translation for 32 lanes.
 *
 * Address arithmetic wraps at 64 (translate64) or 32 bits (translate32), like the guest's; wrapped
 * addresses are then checked against the bounds. An imm beyond 32 bits is outside every 32-bit
 * space.
 */
#include "exec/lanes_build.h"
#include "exec/lanes_words.h"

#ifdef __AVX2__
#include <immintrin.h>

static void gather32(u32 *dst, const u8 *base, const u32 *offset, u32 mask, const u32 *lane_mask)
{
    for (unsigned i = 0; i < LANES; i += 8) {
        const __m256i m = _mm256_loadu_si256((const __m256i *)(lane_mask + i));
        const __m256i at = _mm256_loadu_si256((const __m256i *)(offset + i));
        const __m256i old = _mm256_loadu_si256((const __m256i *)(dst + i));
        const __m256i r = _mm256_mask_i32gather_epi32(old, (const int *)base, at, m, 1);
        _mm256_storeu_si256((__m256i *)(dst + i), r);
    }
}

#else
static void gather32(u32 *dst, const u8 *base, const u32 *offset, u32 mask, const u32 *lane_mask)
{
    for (u32 left = mask; left; left &= left - 1) {
        const unsigned i = (unsigned)__builtin_ctz(left);
        memcpy(&dst[i], base + offset[i], sizeof dst[i]);
    }
}
#endif

static void scatter32(u8 *base, const u32 *offset, const u32 *src, u32 mask)
{
    if (mask == LANES_FULL) {
        for (unsigned i = 0; i < LANES; i++)
            memcpy(base + offset[i], &src[i], sizeof src[i]);
        return;
    }
    for (u32 left = mask; left; left &= left - 1) {
        const unsigned i = (unsigned)__builtin_ctz(left);
        memcpy(base + offset[i], &src[i], sizeof src[i]);
    }
}

/* In 32-bit halves with an explicit carry: eight lanes per vector. */
static u32 translate64(u32 *offset, const u32 *low, const u32 *high, i64 imm, u64 lo, u32 size,
                       u32 bytes, u32 mask)
{
    const u64 add = (u64)imm - lo;
    const u32 add_low = (u32)add, add_high = (u32)(add >> 32);
    const u32 limit = size - bytes, align = bytes - 1, skew = (u32)lo;
    u32 inside = 0;
    if (size < bytes) {
        memset(offset, 0, LANES * sizeof *offset);
        return 0;
    }
    if (LIKELY(mask == LANES_FULL)) { /* nearly always all lanes are in range: checked first */
        u32 top = 0, bits = 0, beyond = 0;
        EACH_LANE
        {
            const u32 at = low[i] + add_low;
            beyond |= high[i] + add_high + (at < add_low);
            bits |= at + skew;
            top = MAX(top, at);
            offset[i] = at;
        }
        if (LIKELY(!beyond && !(bits & align) && top <= limit))
            return LANES_FULL;
    }
    EACH_LANE
    {
        const u32 at = low[i] + add_low;
        const u32 above = high[i] + add_high + (at < add_low);
        const u32 wrong = above | ((at + skew) & align) | (at > limit) | (~mask & lane_bit[i]);
        inside |= wrong ? 0 : lane_bit[i];
        offset[i] = wrong ? 0 : at;
    }
    return inside;
}

static u32 translate32(u32 *offset, const u32 *address, i64 imm, u32 size, u32 bytes, u32 mask)
{
    const u32 add = (u32)imm, limit = size - bytes, align = bytes - 1;
    u32 inside = 0;
    if (size < bytes || imm > UINT32_MAX || imm < -(i64)UINT32_MAX) {
        memset(offset, 0, LANES * sizeof *offset);
        return 0;
    }
    if (LIKELY(mask == LANES_FULL)) {
        u32 top = 0, bits = 0;
        EACH_LANE
        {
            const u32 at = address[i] + add;
            bits |= at;
            top = MAX(top, at);
            offset[i] = at;
        }
        if (LIKELY(!(bits & align) && top <= limit))
            return LANES_FULL;
    }
    EACH_LANE
    {
        const u32 at = address[i] + add;
        const u32 wrong = (at & align) | (at > limit) | (~mask & lane_bit[i]);
        inside |= wrong ? 0 : lane_bit[i];
        offset[i] = wrong ? 0 : at;
    }
    return inside;
}

/* Vector stores, where memset may be slow to start. */
static void clear(u8 *at, size_t bytes)
{
    typedef u64 line __attribute__((vector_size(32), aligned(32), may_alias));
    for (line *next = (line *)at, *end = (line *)(at + bytes); next != end; next += 2)
        next[0] = next[1] = (line){};
}

static bool adjacent(const u32 *offset, u32 bytes)
{
    u32 differ = 0;
    for (unsigned i = 0; i < LANES - 1; i++)
        differ |= offset[i] + bytes - offset[i + 1];
    return !differ;
}

static u64 join64(u64 *address, const u32 *low, const u32 *high, u64 add, u64 keep)
{
    u64 bits = 0;
    EACH_LANE
    {
        const u64 at = (((u64)high[i] << 32 | low[i]) + add) & keep;
        bits |= at;
        address[i] = at;
    }
    return bits;
}

static const eight lane_numbers = {0, 1, 2, 3, 4, 5, 6, 7};

static bool find_strides(const u32 *low, const u32 *high, u32 *first, u32 *apart)
{
    const eight all = SPLAT(~0u);
    eight differ = {};
    for (unsigned g = 0; g < EVEN_GROUPS; g++, low += STRIDE_LANES) {
        first[g] = low[0];
        apart[g] = low[1] - low[0];
        const eight expected = lane_numbers * apart[g] + first[g];
        differ |= ((const eight *)low)[0] ^ expected;
        differ |= ((const eight *)low)[1] ^ (expected + 8 * apart[g]);
    }
    if (high)
        for (unsigned k = 0; k < EIGHTS; k++)
            differ |= ((const eight *)high)[k] ^ high[0];
    return !have_common(&differ, &all);
}

static void load_strided(u32 *dst, const u8 *const *first, const i32 *apart)
{
    for (unsigned g = 0; g < EVEN_GROUPS; g++, dst += STRIDE_LANES) {
        if (apart[g] == 4) {
            memcpy(dst, first[g], STRIDE_LANES * sizeof *dst);
        } else if (!apart[g]) {
            u32 word;
            memcpy(&word, first[g], sizeof word);
            ((eight *)dst)[0] = ((eight *)dst)[1] = SPLAT(word);
        } else {
            for (i32 i = 0; i < STRIDE_LANES; i++)
                memcpy(&dst[i], first[g] + (i64)i * apart[g], sizeof *dst);
        }
    }
}

static void store_strided(u8 *const *first, const i32 *apart, const u32 *src)
{
    for (unsigned g = 0; g < EVEN_GROUPS; g++, src += STRIDE_LANES) {
        if (apart[g] == 4)
            memcpy(first[g], src, STRIDE_LANES * sizeof *src);
        else
            for (i32 i = 0; i < STRIDE_LANES; i++)
                memcpy(first[g] + (i64)i * apart[g], &src[i], sizeof *src);
    }
}

static void expand(u32 mask, u32 *lane_mask)
{
    EACH_LANE
    {
        lane_mask[i] = mask & lane_bit[i] ? ~0u : 0;
    }
}

/* The source lane of a shuffle, and whether it is in range. */
ALWAYS_INLINE u32 shuffle_source(enum shuffle kind, u32 lane, u32 b, u32 c, bool *in_range)
{
    const u32 segment = (c >> 8) & 31, clamp = c & 31, by = b & 31;
    const u32 lowest = lane & segment, limit = lowest | (clamp & ~segment);
    const i32 source = kind == SHUFFLE_UP          ? (i32)lane - (i32)by
                       : kind == SHUFFLE_DOWN      ? (i32)(lane + by)
                       : kind == SHUFFLE_BUTTERFLY ? (i32)(lane ^ by)
                                                   : (i32)(lowest | (by & ~segment));
    *in_range = kind == SHUFFLE_UP ? source >= (i32)limit : source <= (i32)limit;
    return *in_range ? (u32)source : lane;
}

ALWAYS_INLINE u32 shuffle_by(enum shuffle kind, u32 *result, const u32 *a, const u32 *b,
                             const u32 *c, u32 mask)
{
    _Alignas(32) u32 at[LANES];
    u32 flags = 0;
    EACH_LANE
    {
        bool in_range;
        const u32 source = shuffle_source(kind, i, b[i], c[i], &in_range);
        at[i] = 4 * source;
        flags |= in_range ? lane_bit[i] : 0;
    }
    for (unsigned i = 0; mask != LANES_FULL && i < LANES; i++)
        at[i] = mask >> at[i] / 4 & 1 ? at[i] : 4 * i;
    gather(result, (const u8 *)a, (const eight *)at);
    return flags;
}

/* The kind of shuffle is a constant in each loop. */
static u32 shuffle(enum shuffle kind, u32 *result, const u32 *a, const u32 *b, const u32 *c,
                   u32 mask)
{
    switch (kind) {
    case SHUFFLE_UP:
        return shuffle_by(SHUFFLE_UP, result, a, b, c, mask);
    case SHUFFLE_DOWN:
        return shuffle_by(SHUFFLE_DOWN, result, a, b, c, mask);
    case SHUFFLE_BUTTERFLY:
        return shuffle_by(SHUFFLE_BUTTERFLY, result, a, b, c, mask);
    default:
        return shuffle_by(SHUFFLE_INDEX, result, a, b, c, mask);
    }
}

const struct lanes_memory LANE(memory) = {
    gather32, scatter32,    translate64,  translate32,   clear,  adjacent,
    join64,   find_strides, load_strided, store_strided, expand, shuffle,
};
