/* Lane functions of integers: wrapping shifts, fields, medians, sums of differences. */
#include "exec/lanes_loop.h"

#define STUB(name)                    \
    void LANE(name)(struct lanes * l) \
    {                                 \
        (void)l;                      \
        __builtin_trap();             \
    }
STUB(shl_wrap_b32)
STUB(shr_wrap_s32)
STUB(shr_wrap_u32)
STUB(shl_wrap_b64)
STUB(shr_wrap_s64)
STUB(shr_wrap_u64)
STUB(align_byte_b32)
STUB(field_u32)
STUB(field_s32)
STUB(bits_b32)
STUB(bitselect_b32)
STUB(bcnt_b32)
STUB(mbcnt_lo)
STUB(mbcnt_hi)
STUB(ffbh_u32)
STUB(ffbh_s32)
STUB(ffbl_b32)
STUB(mul24_top_s32)
STUB(mul24_top_u32)
STUB(min3_s32)
STUB(min3_u32)
STUB(max3_s32)
STUB(max3_u32)
STUB(med3_s32)
STUB(med3_u32)
STUB(lerp_u8)
STUB(sad_u8)
STUB(sad_hi_u8)
STUB(sad_halves_u16)
STUB(msad_u8)
STUB(qsad_u8)
STUB(mqsad_u8)
STUB(cvt_pk_u16_u32)
STUB(cvt_pk_s16_s32)
