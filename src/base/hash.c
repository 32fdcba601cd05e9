/* SHA-256 from its specification, FIPS 180-4, sections 4.1.2, 5 and 6.2. */
#include "base/hash.h"

#include <stdio.h>

/* clang 14 cannot ask the processor for these instructions */
#if defined(__x86_64__) && !defined(__clang__)
#include <immintrin.h>
#define HAS_SHA_CODE 1
#else
#define HAS_SHA_CODE 0
#endif

/* Section 4.2.2: the first 32 bits of the fractional parts of the cube roots of the first 64
 * primes. */
static const u32 constants[64] = {
    0x428a2f98, 0x71374491, 0xb5c0fbcf, 0xe9b5dba5, 0x3956c25b, 0x59f111f1, 0x923f82a4, 0xab1c5ed5,
    0xd807aa98, 0x12835b01, 0x243185be, 0x550c7dc3, 0x72be5d74, 0x80deb1fe, 0x9bdc06a7, 0xc19bf174,
    0xe49b69c1, 0xefbe4786, 0x0fc19dc6, 0x240ca1cc, 0x2de92c6f, 0x4a7484aa, 0x5cb0a9dc, 0x76f988da,
    0x983e5152, 0xa831c66d, 0xb00327c8, 0xbf597fc7, 0xc6e00bf3, 0xd5a79147, 0x06ca6351, 0x14292967,
    0x27b70a85, 0x2e1b2138, 0x4d2c6dfc, 0x53380d13, 0x650a7354, 0x766a0abb, 0x81c2c92e, 0x92722c85,
    0xa2bfe8a1, 0xa81a664b, 0xc24b8b70, 0xc76c51a3, 0xd192e819, 0xd6990624, 0xf40e3585, 0x106aa070,
    0x19a4c116, 0x1e376c08, 0x2748774c, 0x34b0bcb5, 0x391c0cb3, 0x4ed8aa4a, 0x5b9cca4f, 0x682e6ff3,
    0x748f82ee, 0x78a5636f, 0x84c87814, 0x8cc70208, 0x90befffa, 0xa4506ceb, 0xbef9a3f7, 0xc67178f2};

static u32 turn(u32 value, u32 by)
{
    return value >> by | value << (32 - by);
}

static void absorb_portable(struct sha256 *hash, const u8 *block)
{
    u32 words[64];
    for (u32 i = 0; i < 16; i++) {
        u32 word;
        memcpy(&word, block + 4 * i, 4);
        words[i] = __builtin_bswap32(word);
    }
    for (u32 i = 16; i < 64; i++) {
        u32 a = words[i - 15], b = words[i - 2];
        words[i] = words[i - 16] + (turn(a, 7) ^ turn(a, 18) ^ a >> 3) + words[i - 7] +
                   (turn(b, 17) ^ turn(b, 19) ^ b >> 10);
    }
    u32 s[8];
    memcpy(s, hash->state, sizeof s);
    /* the eight variables rotate by one each round: s[(k - i) & 7] is the specification's k-th */
#define AT(k) s[((k)-i) & 7]
#pragma GCC unroll 64
    for (u32 i = 0; i < 64; i++) {
        u32 a = AT(0), e = AT(4);
        u32 choose = (e & AT(5)) ^ (~e & AT(6));
        u32 majority = (a & AT(1)) ^ (a & AT(2)) ^ (AT(1) & AT(2));
        u32 first =
            AT(7) + (turn(e, 6) ^ turn(e, 11) ^ turn(e, 25)) + choose + constants[i] + words[i];
        AT(3) += first;
        AT(7) = first + (turn(a, 2) ^ turn(a, 13) ^ turn(a, 22)) + majority;
    }
#undef AT
    for (u32 i = 0; i < 8; i++)
        hash->state[i] += s[i];
}

#if HAS_SHA_CODE
/* The same with the processor's own instructions, four rounds at a time. They want the variables as
 * (f, e, b, a) and (h, g, d, c), lowest word first. */
__attribute__((target("sha,sse4.1"))) static void absorb_fast(struct sha256 *hash, const u8 *block)
{
    const __m128i swap = _mm_set_epi64x(0x0c0d0e0f08090a0b, 0x0405060700010203);
    __m128i words[4], *state = (__m128i *)hash->state;
    const __m128i cdab = _mm_shuffle_epi32(_mm_loadu_si128(state), 0xb1);
    const __m128i efgh = _mm_shuffle_epi32(_mm_loadu_si128(state + 1), 0x1b);
    __m128i abef = _mm_alignr_epi8(cdab, efgh, 8), cdgh = _mm_blend_epi16(efgh, cdab, 0xf0);
    const __m128i abef_before = abef, cdgh_before = cdgh;
    for (u32 i = 0; i < 4; i++)
        words[i] = _mm_shuffle_epi8(_mm_loadu_si128((const __m128i *)block + i), swap);
#pragma GCC unroll 16
    for (u32 i = 0; i < 16; i++) {
        __m128i *first = &words[i & 3];
        const __m128i last = words[(i + 3) & 3];
        const __m128i sum =
            _mm_add_epi32(*first, _mm_loadu_si128((const __m128i *)&constants[4 * i]));
        cdgh = _mm_sha256rnds2_epu32(cdgh, abef, sum);
        abef = _mm_sha256rnds2_epu32(abef, cdgh, _mm_shuffle_epi32(sum, 0x0e));
        if (i < 12) /* these words have been used: the next but three take their place */
            *first =
                _mm_sha256msg2_epu32(_mm_add_epi32(_mm_sha256msg1_epu32(*first, words[(i + 1) & 3]),
                                                   _mm_alignr_epi8(last, words[(i + 2) & 3], 4)),
                                     last);
    }
    const __m128i feba = _mm_shuffle_epi32(_mm_add_epi32(abef, abef_before), 0x1b);
    const __m128i dchg = _mm_shuffle_epi32(_mm_add_epi32(cdgh, cdgh_before), 0xb1);
    _mm_storeu_si128(state, _mm_blend_epi16(feba, dchg, 0xf0));
    _mm_storeu_si128(state + 1, _mm_alignr_epi8(dchg, feba, 8));
}
#endif

static void absorb(struct sha256 *hash, const u8 *block)
{
#if HAS_SHA_CODE
    if (!hash->portable && __builtin_cpu_supports("sha") && __builtin_cpu_supports("sse4.1")) {
        absorb_fast(hash, block);
        return;
    }
#endif
    absorb_portable(hash, block);
}

void sha256_start(struct sha256 *hash)
{
    /* Section 5.3.3: fractional parts of the square roots of the first eight primes. */
    static const u32 initial[8] = {0x6a09e667, 0xbb67ae85, 0x3c6ef372, 0xa54ff53a,
                                   0x510e527f, 0x9b05688c, 0x1f83d9ab, 0x5be0cd19};
    memcpy(hash->state, initial, sizeof initial);
    hash->length = 0;
    hash->portable = false;
}

void sha256_add(struct sha256 *hash, const void *data, size_t bytes)
{
    const u8 *at = data;
    while (bytes) {
        size_t used = hash->length % 64, step = MIN(bytes, 64 - used);
        const bool whole = step == 64; /* it need not be copied */
        if (!whole)
            memcpy(hash->block + used, at, step);
        if (used + step == 64)
            absorb(hash, whole ? at : hash->block);
        hash->length += step;
        at += step;
        bytes -= step;
    }
}

void sha256_text(struct sha256 *hash, char text[SHA256_TEXT])
{
    static const u8 padding[64] = {0x80};
    u64 bits = __builtin_bswap64(hash->length * 8);
    sha256_add(hash, padding, 1 + (119 - hash->length % 64) % 64);
    sha256_add(hash, &bits, 8);
    for (u32 i = 0; i < 8; i++)
        sprintf(text + 8 * i, "%08x", hash->state[i]);
}
