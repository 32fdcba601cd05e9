/* Lane functions of floats: legacy arithmetic, scaling, division steps, classes, packing. */
#include "exec/lanes_loop.h"

#define STUB(name)                    \
    void LANE(name)(struct lanes * l) \
    {                                 \
        (void)l;                      \
        __builtin_trap();             \
    }
STUB(mad_legacy_f32)
STUB(mul_legacy_f32)
STUB(min_legacy_f32)
STUB(max_legacy_f32)
STUB(mullit_f32)
STUB(med3_f32)
STUB(fract_f32)
STUB(fract_f64)
STUB(ldexp_f32)
STUB(ldexp_f64)
STUB(frexp_exp_f32)
STUB(frexp_exp_f64)
STUB(frexp_mant_f32)
STUB(frexp_mant_f64)
STUB(class_f32)
STUB(class_f64)
STUB(div_scale_f32)
STUB(div_scale_f64)
STUB(div_fmas_f32)
STUB(div_fmas_f64)
STUB(div_fixup_f32)
STUB(div_fixup_f64)
STUB(trig_preop_f64)
STUB(cvt_ubyte_f32)
STUB(cvt_off_f32_s4)
STUB(cvt_nearest_s32_f32)
STUB(cvt_floor_s32_f32)
STUB(cvt_pk_u8_f32)
STUB(cvt_pknorm_s16_f32)
STUB(cvt_pknorm_u16_f32)
STUB(cvt_pkrtz_f16_f32)
STUB(sin_turns_f32)
STUB(cos_turns_f32)
STUB(rcp_clamp_f32)
STUB(rcp_clamp_f64)
STUB(rsqrt_clamp_f32)
STUB(rsqrt_clamp_f64)
STUB(lg2_clamp_f32)
