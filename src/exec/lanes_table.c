/*
 * The lane function of an instruction, in one build: by op, then by modifiers.
 *
 * The table expands ops.def: an op with OPF_LANE that has no function does not link. Ops without
 * OPF_FLOAT have no NaN rule and are shared by builds that differ only in it.
 */
#include "exec/lanes_build.h"
#include "exec/lanes_cvt.h"
#include "exec/lanes_modify.h"

#define OP(name, text, signature, unit, latency, event, flags) lane_fn LANE(name), LANE_SET(name);
#include "ir/ops.def"
#undef OP

static lane_fn *const functions[OP_COUNT] = {
#define OP(name, text, signature, unit, latency, event, flags) \
    [OP_##name] = !((flags)&OPF_LANE) ? NULL : (flags)&OPF_FLOAT ? LANE(name) : LANE_SET(name),
#include "ir/ops.def"
#undef OP
};

/* Functions other than the plain one, by modifier. */
#define VARIANTS(X)                        \
    X(add_f32, MOD_FTZ, add_f32_ftz)       \
    X(sub_f32, MOD_FTZ, sub_f32_ftz)       \
    X(mul_f32, MOD_FTZ, mul_f32_ftz)       \
    X(fma_f32, MOD_FTZ, fma_f32_ftz)       \
    X(setp_f32, MOD_FTZ, setp_f32_ftz)     \
    X(set_f32, MOD_FTZ, set_f32_ftz)       \
    FUNCTION(X, rcp)                       \
    FUNCTION(X, sqrt)                      \
    FUNCTION(X, rsqrt)                     \
    FUNCTION(X, ex2)                       \
    FUNCTION(X, lg2)                       \
    X(div_f32, MOD_APPROX, div_approx_f32) \
    X(rcp_f64, MOD_APPROX, rcp_approx_f64) \
    X(rsqrt_f64, MOD_FTZ, rsqrt_ftz_f64)   \
    X(min3_f32, MOD_NAN, min3_nan_f32)     \
    X(max3_f32, MOD_NAN, max3_nan_f32)     \
    X(min_f32, MOD_IEEE, min_ieee_f32)     \
    X(max_f32, MOD_IEEE, max_ieee_f32)     \
    X(min_f64, MOD_IEEE, min_ieee_f64)     \
    X(max_f64, MOD_IEEE, max_ieee_f64)     \
    X(min3_f32, MOD_IEEE, min3_ieee_f32)   \
    X(max3_f32, MOD_IEEE, max3_ieee_f32)   \
    X(med3_f32, MOD_IEEE, med3_ieee_f32)   \
    EXTREMES(X, f32)                       \
    EXTREMES(X, f16)                       \
    EXTREMES(X, f16x2)                     \
    EXTREMES(X, bf16)                      \
    EXTREMES(X, bf16x2)
#define EXTREMES(X, type)                                        \
    X(min_##type, MOD_NAN, min_nan_##type)                       \
    X(max_##type, MOD_NAN, max_nan_##type)                       \
    X(min_##type, MOD_XORSIGN, min_xorsign_##type)               \
    X(max_##type, MOD_XORSIGN, max_xorsign_##type)               \
    X(min_##type, MOD_NAN | MOD_XORSIGN, min_nan_xorsign_##type) \
    X(max_##type, MOD_NAN | MOD_XORSIGN, max_nan_xorsign_##type)

/* MOD_APPROX allows an error that these functions do not have. */
#define FUNCTION(X, name)                  \
    X(name##_f32, MOD_FTZ, name##_f32_ftz) \
    X(name##_f32, MOD_APPROX | MOD_FTZ, name##_f32_ftz)

/* Functions that apply the signs of their operands. */
#define SIGNED_VARIANTS(X)                    \
    SIGNED_FTZ(X, add_f32)                    \
    SIGNED_FTZ(X, sub_f32)                    \
    SIGNED_FTZ(X, mul_f32)                    \
    SIGNED_FTZ(X, fma_f32)                    \
    SIGNED_FTZ(X, setp_f32)                   \
    X(mad_f32, 0, mad_f32_signed)             \
    X(add_f64, 0, add_f64_signed)             \
    X(sub_f64, 0, sub_f64_signed)             \
    X(mul_f64, 0, mul_f64_signed)             \
    X(fma_f64, 0, fma_f64_signed)             \
    X(setp_f64, 0, setp_f64_signed)           \
    X(min_f32, 0, min_f32_signed)             \
    X(max_f32, 0, max_f32_signed)             \
    X(min_f64, 0, min_f64_signed)             \
    X(max_f64, 0, max_f64_signed)             \
    X(min_f32, MOD_IEEE, min_ieee_f32_signed) \
    X(max_f32, MOD_IEEE, max_ieee_f32_signed) \
    X(min_f64, MOD_IEEE, min_ieee_f64_signed) \
    X(max_f64, MOD_IEEE, max_ieee_f64_signed)
#define SIGNED_FTZ(X, name)   \
    X(name, 0, name##_signed) \
    X(name, MOD_FTZ, name##_ftz_signed)

#define DECLARE(op, mods, name) lane_fn LANE(name);
VARIANTS(DECLARE)
SIGNED_VARIANTS(DECLARE)
lane_fn LANE_SET(selp_b32_signed);
struct variant {
    u16 op;
    u16 mods;
    lane_fn *fn;
};
#define ENTRY(op, mods, name) {OP_##op, mods, LANE(name)},
static const struct variant variants[] = {VARIANTS(ENTRY)};
static const struct variant signed_variants[] = {
    SIGNED_VARIANTS(ENTRY){OP_selp_b32, 0, LANE_SET(selp_b32_signed)}};

static lane_fn *find(const struct variant *in, size_t count, const struct inst *inst, unsigned mods)
{
    for (size_t i = 0; i < count; i++)
        if (in[i].op == inst->op && in[i].mods == mods)
            return in[i].fn;
    return NULL;
}
static lane_fn *variant(const struct inst *inst, unsigned mods)
{
    return find(variants, ARRAY_LEN(variants), inst, mods);
}
/* Only floats have signs that can be applied this way. */
static lane_fn *signed_variant(const struct inst *inst, unsigned mods)
{
    const enum element element = LANE_SET(element_of)(inst);
    if (element != ELEMENT_F32 && element != ELEMENT_F64)
        return NULL;
    return find(signed_variants, ARRAY_LEN(signed_variants), inst, mods);
}

/* The function without the modifiers that lanes_modify.c applies. */
static lane_fn *base_of(const struct inst *inst)
{
    const unsigned mods = inst->mods & (MOD_NAN | MOD_XORSIGN | MOD_APPROX | MOD_IEEE);
    lane_fn *fn = mods ? variant(inst, mods) : NULL;
    return fn ? fn : functions[inst->op];
}

static void modify(struct lanes *l, enum element element)
{
    LANE_SET(run_modified)(l, element, base_of(l->inst));
}
/* clang-format off */
static void modified_s16(struct lanes *l) { modify(l, ELEMENT_S16); }
static void modified_s32(struct lanes *l) { modify(l, ELEMENT_S32); }
static void modified_s64(struct lanes *l) { modify(l, ELEMENT_S64); }
static void modified_s16x2(struct lanes *l) { modify(l, ELEMENT_S16X2); }
static void modified_f16(struct lanes *l) { modify(l, ELEMENT_F16); }
static void modified_bf16(struct lanes *l) { modify(l, ELEMENT_BF16); }
static void modified_f16x2(struct lanes *l) { modify(l, ELEMENT_F16X2); }
static void modified_bf16x2(struct lanes *l) { modify(l, ELEMENT_BF16X2); }
static void modified_f32(struct lanes *l) { modify(l, ELEMENT_F32); }
static void modified_f64(struct lanes *l) { modify(l, ELEMENT_F64); }
static void rounded(struct lanes *l) { LANE_SET(run_rounded)(l, base_of(l->inst)); }
/* clang-format on */
static lane_fn *const modified[ELEMENT_COUNT] = {
    [ELEMENT_S16] = modified_s16,     [ELEMENT_S32] = modified_s32,
    [ELEMENT_S64] = modified_s64,     [ELEMENT_S16X2] = modified_s16x2,
    [ELEMENT_F16] = modified_f16,     [ELEMENT_BF16] = modified_bf16,
    [ELEMENT_F16X2] = modified_f16x2, [ELEMENT_BF16X2] = modified_bf16x2,
    [ELEMENT_F32] = modified_f32,     [ELEMENT_F64] = modified_f64,
};

static bool has_signs(const struct inst *inst)
{
    struct inst plain = *inst;
    plain.mods = 0, plain.scale = SCALE_NONE;
    return LANE_SET(is_modified)(&plain);
}

/* A function that applies all the modifiers itself, or NULL. */
static lane_fn *whole_function(const struct inst *inst)
{
    unsigned mods = inst->mods & (MOD_FTZ | MOD_FTZ_IN | MOD_FTZ_OUT | MOD_SAT | MOD_RELU |
                                  MOD_NAN | MOD_XORSIGN | MOD_APPROX | MOD_IEEE);
    /* rcp.approx.ftz.f64 and rsqrt.approx.ftz.f64 flush on their own. */
    if (inst->op == OP_rcp_f64)
        mods &= ~(unsigned)MOD_FTZ;
    if (inst->op == OP_rsqrt_f64)
        mods &= ~(unsigned)MOD_APPROX;
    if (op_info[inst->op].flags & OPF_FLOAT && inst->scale != SCALE_NONE)
        return NULL;
    return has_signs(inst) ? signed_variant(inst, mods) : variant(inst, mods);
}

lane_fn *LANE(resolve)(const struct inst *inst)
{
    if (!(op_info[inst->op].flags & OPF_LANE))
        return NULL;
    if (inst->op == OP_cvt) {
        if (!cvt_exists(inst))
            return NULL;
        lane_fn *fn = LANE_SET(cvt_int)(inst);
        fn = fn ? fn : LANE(cvt_float)(inst);
        return fn ? fn : functions[OP_cvt];
    }
    const bool directed = inst->rounding != ROUND_NEAREST && op_info[inst->op].flags & OPF_FLOAT;
    lane_fn *const whole = directed ? NULL : whole_function(inst);
    if (whole)
        return whole;
    if (LANE_SET(is_modified)(inst))
        return modified[LANE_SET(element_of)(inst)];
    return directed ? rounded : base_of(inst);
}

/* The table's entry for cvt. */
void LANE(cvt)(struct lanes *l)
{
#if LANE_NAN_CANONICAL
    cvt_any_canonical(l);
#else
    cvt_any_propagating(l);
#endif
}
