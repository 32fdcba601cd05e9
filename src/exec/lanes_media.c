/*
 * Lane functions on the bytes and halves of words: averages, sums of absolute differences, packing
 * of integers.
 */
#include "exec/lanes_loop.h"

/* By bytes, (a + b + lowest bit of c) / 2: halves, plus the majority of the bits that they lose. */
ALWAYS_INLINE u32 lerp(u32 a, u32 b, u32 c)
{
    const u32 majority = ((a & b) | ((a | b) & c)) & 0x01010101;
    return (a >> 1 & 0x7f7f7f7f) + (b >> 1 & 0x7f7f7f7f) + majority;
}
LANE3(lerp_u8, w, w, w, w, lerp(a, b, c))

ALWAYS_INLINE u32 distance(u32 a, u32 b)
{
    return a > b ? a - b : b - a;
}
/* With `masked`, bytes of b that are 0 are ignored. */
ALWAYS_INLINE u32 byte_sum(u32 a, u32 b, bool masked)
{
    u32 sum = 0;
    for (u32 at = 0; at < 32; at += 8) {
        const u32 x = a >> at & 255, y = b >> at & 255;
        sum += masked && !y ? 0 : distance(x, y);
    }
    return sum;
}
LANE3(sad_u8, w, w, w, w, c + byte_sum(a, b, false))
LANE3(sad_hi_u8, w, w, w, w, c + (byte_sum(a, b, false) << 16))
LANE3(sad_halves_u16, w, w, w, w, c + distance(a & 0xffff, b & 0xffff) + distance(a >> 16, b >> 16))
LANE3(msad_u8, w, w, w, w, c + byte_sum(a, b, true))

/* Four sums, of the bytes of a starting at 0, 1, 2 and 3; each is added to its half of c and
 * wraps. */
ALWAYS_INLINE u64 four_sums(u64 a, u32 b, u64 c, bool masked)
{
    u64 r = 0;
    for (u32 k = 0; k < 4; k++) {
        const u32 sum = (u32)(c >> 16 * k) + byte_sum((u32)(a >> 8 * k), b, masked);
        r |= (u64)(sum & 0xffff) << 16 * k;
    }
    return r;
}
LANE3(qsad_u8, p, p, w, p, four_sums(a, b, c, false))
LANE3(mqsad_u8, p, p, w, p, four_sums(a, b, c, true))

ALWAYS_INLINE u32 clamp_s16(u32 x)
{
    const i32 low = (i32)x < -32768 ? -32768 : (i32)x;
    return (u32)(low > 32767 ? 32767 : low) & 0xffff;
}
LANE2(cvt_pk_u16_u32, w, w, w, MIN(a, 0xffffu) | MIN(b, 0xffffu) << 16)
LANE2(cvt_pk_s16_s32, w, w, w, clamp_s16(a) | clamp_s16(b) << 16)
