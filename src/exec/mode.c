/*
 * MODE as modifiers.
 *
 * Decisions
 *  - Extremes and medians do not flush: before GFX9 the hardware's do not (LLVM, SIISelLowering:
 *    isCanonicalized), nor do they round.
 *  - Classes depend on the bits, whatever MODE says about subnormals.
 *  - Reciprocals, roots, logarithms and exponentials of f32 always flush and round to nearest: the
 *    hardware approximates them without support for subnormals. For f64 they follow MODE.
 *  - mad and mac flush on their own; only their rounding follows MODE.
 *  - A conversion's source is flushed by the field of its format, its result by its own. To
 *    integers and integral values it rounds as the instruction says, to floats by the result's
 *    field.
 *  - `scale` has an effect only where results are flushed and IEEE is off.
 */
#include "exec/mode.h"
#include "ir/scalars.h"

enum {
    IN = 1,       /* subnormal inputs follow MODE */
    OUT = 2,      /* subnormal results do */
    ROUND = 4,    /* rounding does */
    ALWAYS = 8,   /* flushes whatever MODE says */
    EXTREME = 16, /* has rules for signaling NaNs */
    WIDE = 32,    /* fields of f64 and f16 */
    BOTH = IN | OUT,
    ALL = IN | OUT | ROUND
};

static const u8 uses[OP_COUNT] = {
#define WIDTHS(name, what) [OP_##name##_f32] = (what), [OP_##name##_f64] = (what) | WIDE
    WIDTHS(add, ALL),
    WIDTHS(sub, ALL),
    WIDTHS(mul, ALL),
    WIDTHS(fma, ALL),
    WIDTHS(div, ALL),
    WIDTHS(min, EXTREME),
    WIDTHS(max, EXTREME),
    [OP_min3_f32] = EXTREME,
    [OP_max3_f32] = EXTREME,
    [OP_med3_f32] = EXTREME,
    WIDTHS(setp, IN),
    WIDTHS(set, IN),
    WIDTHS(fract, ALL),
    WIDTHS(ldexp, ALL),
    WIDTHS(frexp_exp, IN),
    WIDTHS(frexp_mant, IN),
    WIDTHS(div_scale, ALL),
    WIDTHS(div_fmas, ALL),
    WIDTHS(div_fixup, ALL),
    [OP_mad_f32] = ROUND,
    [OP_mad_legacy_f32] = ROUND,
    [OP_mul_legacy_f32] = ALL,
    [OP_mullit_f32] = ALL,
    [OP_rcp_f32] = ALWAYS,
    [OP_rcp_f64] = BOTH | WIDE,
    [OP_sqrt_f32] = ALWAYS,
    [OP_sqrt_f64] = BOTH | WIDE,
    [OP_rsqrt_f32] = ALWAYS,
    [OP_rsqrt_f64] = BOTH | WIDE,
    [OP_ex2_f32] = ALWAYS,
    [OP_lg2_f32] = ALWAYS,
    [OP_rcp_clamp_f32] = ALWAYS,
    [OP_rcp_clamp_f64] = BOTH | WIDE,
    [OP_rsqrt_clamp_f32] = ALWAYS,
    [OP_rsqrt_clamp_f64] = BOTH | WIDE,
    [OP_lg2_clamp_f32] = ALWAYS,
    [OP_sin_turns_f32] = ALWAYS,
    [OP_cos_turns_f32] = ALWAYS,
    [OP_trig_preop_f64] = OUT | ROUND | WIDE,
    [OP_cvt_nearest_s32_f32] = IN,
    [OP_cvt_floor_s32_f32] = IN,
    [OP_cvt_pkrtz_f16_f32] = IN,
    [OP_cvt_pk_u8_f32] = IN | ROUND,
};

static enum rounding rounding_in(u32 mode, bool wide)
{
    static const u8 roundings[] = {ROUND_NEAREST, ROUND_UP, ROUND_DOWN, ROUND_ZERO};
    return roundings[mode >> (wide ? MODE_ROUND64 : MODE_ROUND32) & 3];
}
static bool flushes_in(u32 mode, bool wide)
{
    return !(mode >> (wide ? MODE_DENORM64 : MODE_DENORM32) & 1);
}
static bool flushes_out(u32 mode, bool wide)
{
    return !(mode >> (wide ? MODE_DENORM64 : MODE_DENORM32) & 2);
}

static bool is_wide(unsigned type)
{
    return type_is_float(type) && type != TYPE_F32;
}

/* MOD_FTZ of a conversion applies to f32 on either side only. */
static unsigned conversion_flush(const struct inst *inst, u32 mode)
{
    const bool in = type_is_float(inst->stype) && flushes_in(mode, is_wide(inst->stype));
    const bool out = type_is_float(inst->type) && flushes_out(mode, is_wide(inst->type));
    if ((in || out) && in == (inst->stype == TYPE_F32) && out == (inst->type == TYPE_F32))
        return MOD_FTZ;
    return (in ? MOD_FTZ_IN : 0) | (out ? MOD_FTZ_OUT : 0);
}

static unsigned flush_of(unsigned use, u32 mode)
{
    const bool wide = use & WIDE;
    const bool in = use & ALWAYS || (use & IN && flushes_in(mode, wide));
    const bool out = use & ALWAYS || (use & OUT && flushes_out(mode, wide));
    /* An instruction without a float result is done when its inputs are flushed. For f64, MOD_FTZ
     * can mean more: rsqrt.approx.ftz.f64 is a separate function. */
    if (in && !wide && (out || !(use & OUT)))
        return MOD_FTZ;
    return (in ? MOD_FTZ_IN : 0) | (out ? MOD_FTZ_OUT : 0);
}

void inst_apply_mode(struct inst *inst, u32 mode)
{
    if (!(inst->mods & MOD_MODE))
        return;
    const bool converts = inst->op == OP_cvt;
    const unsigned use = uses[inst->op];
    const bool wide = converts ? is_wide(inst->type) : use & WIDE;
    unsigned mods =
        inst->mods & ~(MOD_MODE | MOD_FTZ | MOD_FTZ_IN | MOD_FTZ_OUT | MOD_IEEE | MOD_KEEP_NAN);
    mods |= converts ? conversion_flush(inst, mode) : flush_of(use, mode);
    if (use & EXTREME && mode & MODE_IEEE)
        mods |= MOD_IEEE;
    if (mods & MOD_SAT && !(mode & MODE_DX10_CLAMP))
        mods |= MOD_KEEP_NAN;
    inst->mods = (u16)mods;
    if (mode & MODE_IEEE || !flushes_out(mode, wide))
        inst->scale = SCALE_NONE;
    if (converts ? type_is_float(inst->type) && inst->key != 1 : true)
        inst->rounding = converts || use & ROUND ? rounding_in(mode, wide) : ROUND_NEAREST;
}
