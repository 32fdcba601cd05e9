/*
 * Tags of the mechanism `dac_ideal`: which registers hold uniform or affine values.
 *
 * A tag follows from the operation and the tags of its sources, never from values seen in the
 * registers. The exception are operations (`checked`) whose result is affine unless it wraps around
 * in some lanes: a product or an extension to 64 bits, a 24-bit product, an `or` that replaces a
 * sum.
 *
 *  T1  A register with TAG_AFFINE, together with the next one if that has TAG_HIGH, holds an affine
 *      value modulo 2^32, or 2^64 (exec/values.h). Sums, and products with uniform factors, preserve
 *      this even if they wrap around.
 *  T2  TAG_HIGH is valid only while both registers are written together.
 */
#include "ir/special.h"
#include "mech/dac_ideal.h"

/* ---- instructions ---- */

static enum dac_rule rule_of_cvt(const struct inst *inst, bool *checked)
{
    const u32 from = type_bytes(inst->stype), to = type_bytes(inst->type);
    if (type_is_float(inst->type) || type_is_float(inst->stype) || inst->key || inst->key2 ||
        from < 4 || to < 4 || from > 8 || to > 8)
        return RULE_NONE;
    *checked = to > from; /* an extension: affine unless the 32-bit sum wraps around */
    return RULE_LINEAR;
}

static enum dac_rule rule_of(const struct inst *inst, bool *checked)
{
    switch (inst->op) {
    case OP_mov_b32:
    case OP_mov_b64:
    case OP_unpack_b64:
    case OP_add_b32:
    case OP_add_b64:
    case OP_sub_b32:
    case OP_sub_b64:
    case OP_neg_s32:
    case OP_neg_s64:
    case OP_not_b32: /* -x - 1 */
    case OP_not_b64:
    case OP_selp_b32: /* a mask has a tag only if it is uniform */
    case OP_selp_b64:
        return RULE_LINEAR;
    case OP_or_b32: /* a sum, if no bit is set in both */
    case OP_or_b64:
        *checked = true;
        return RULE_LINEAR;
    case OP_addc_b32: /* writes a carry; a carry in is a mask */
    case OP_subc_b32:
        *checked = true;
        return inst->src[2].kind == OPERAND_NONE ? RULE_LINEAR : RULE_NONE;
    case OP_mul_lo_b32:
    case OP_mul_lo_b64:
    case OP_mad_lo_b32:
    case OP_mad_lo_b64:
        return RULE_SCALE;
    case OP_mul_wide_s32:
    case OP_mul_wide_u32:
    case OP_mad_wide_s32:
    case OP_mad_wide_u32:
    case OP_mul24_lo_s32:
    case OP_mul24_lo_u32:
    case OP_mad24_lo_s32:
    case OP_mad24_lo_u32:
        *checked = true;
        return RULE_SCALE;
    case OP_shl_b32:
    case OP_shl_b64:
    case OP_shl_wrap_b32:
    case OP_shl_wrap_b64:
        return RULE_SHIFT;
    case OP_cvt:
        return rule_of_cvt(inst, checked);
    default:
        return RULE_NONE;
    }
}

/* Special registers with one value in all threads of a block, for as long as it runs. */
static bool is_uniform_special(i64 special)
{
    switch (special) {
    case SPECIAL_tid_x ... SPECIAL_tid_z:
    case SPECIAL_laneid:
    case SPECIAL_warpid:
    case SPECIAL_lanemask_eq ... SPECIAL_lanemask_gt:
    case SPECIAL_clock ... SPECIAL_pm64:
        return false;
    default:
        return true;
    }
}

/* Operations on masks are not comparisons. */
static bool is_compare(const struct inst *inst)
{
    return op_info[inst->op].signature[0] == 'm' && inst->src[0].kind != OPERAND_MASK;
}

/* Index of a coordinate in dac_judge's `thread`; DAC_COORDINATES: not a coordinate. */
static u32 coordinate(i64 special)
{
    switch (special) {
    case SPECIAL_tid_x ... SPECIAL_tid_z:
        return (u32)(special - SPECIAL_tid_x);
    case SPECIAL_laneid:
        return DAC_LANE;
    default:
        return DAC_COORDINATES;
    }
}

static void classify_special(struct dac_inst *info, i64 special)
{
    info->pure = is_uniform_special(special);
    if (coordinate(special) < DAC_COORDINATES) {
        info->rule = RULE_THREAD;
        info->pure = true;
    }
}

struct dac_inst dac_classify(const struct inst *inst, const struct inst_time *time,
                             bool changes_exec, bool loads)
{
    const u16 flags = op_info[inst->op].flags;
    struct dac_inst info = {
        .blocks = time->flags & (TIME_BRANCH | TIME_DRAIN | TIME_SERIAL) || changes_exec,
    };
    if (info.blocks)
        return info;
    if (inst->op == OP_sreg)
        classify_special(&info, inst->imm);
    if (inst->op == OP_ld)
        info.load = info.pure = inst->space != SPACE_LOCAL && !(inst->mods & MOD_VOLATILE);
    if (flags & OPF_LANE) {
        info.pure = true;
        info.compare = is_compare(inst);
        if (!(inst->mods & (MOD_SAT | MOD_RELU)))
            info.rule = (u8)rule_of(inst, &info.checked);
    }
    info.removable = info.pure && inst->guard.kind == OPERAND_NONE && (loads || !info.load);
    return info;
}

/* ---- tags ---- */

static u8 tag_of(const struct dac_view *view, u32 reg, bool mask)
{
    for (u32 i = view->count; i-- > 0;)
        if (view->changes[i].reg == reg && view->changes[i].mask == mask)
            return view->changes[i].tag;
    if (mask)
        return view->masks[reg / 64] >> reg % 64 & 1 ? TAG_UNIFORM : TAG_NONE;
    return view->tags[reg];
}

static void set_tag(struct dac_view *view, u32 reg, bool mask, u8 tag)
{
    if (view->ahead) {
        if (view->count == DAC_CHANGES) {
            view->full = true;
            return;
        }
        view->changes[view->count].reg = reg;
        view->changes[view->count].mask = mask;
        view->changes[view->count++].tag = tag;
    } else if (!mask) {
        view->tags[reg] = tag;
    } else if (tag == TAG_UNIFORM) {
        view->masks[reg / 64] |= bit(reg % 64);
    } else {
        view->masks[reg / 64] &= ~bit(reg % 64);
    }
}

static u8 vector_tag(const struct dac_view *view, struct operand o)
{
    const u8 first = tag_of(view, o.index, false);
    u8 least = first;
    for (u32 j = 1; j < o.count; j++) {
        const u8 tag = tag_of(view, o.index + j, false);
        if (o.count == 2 && tag == TAG_HIGH && first == TAG_AFFINE)
            return TAG_AFFINE;
        least = tag == TAG_UNIFORM ? least : TAG_NONE;
    }
    if (least == TAG_HIGH || (o.count > 1 && least != TAG_UNIFORM))
        return TAG_NONE;
    return least;
}

static u8 operand_tag(const struct dac_view *view, struct operand o)
{
    switch (o.kind) {
    case OPERAND_VECTOR:
        return vector_tag(view, o);
    case OPERAND_MASK:
        return view->no_masks ? TAG_NONE : tag_of(view, o.index, true);
    case OPERAND_SCALAR: /* one value per warp */
        return view->warp ? TAG_UNIFORM : TAG_AFFINE;
    case OPERAND_LANEID:
        return TAG_AFFINE;
    default:
        return TAG_UNIFORM;
    }
}

struct dac_verdict dac_judge(const struct dac_view *view, const struct dac_inst *info,
                             const struct inst *inst, const u8 *thread)
{
    u8 tags[ARRAY_LEN(inst->src)], least = TAG_UNIFORM;
    bool changed = false; /* some source is negated or absolute */
    for (u32 k = 0; k < ARRAY_LEN(inst->src); k++) {
        tags[k] = operand_tag(view, inst->src[k]);
        least = MIN(least, tags[k]);
        changed |= inst->src[k].kind != OPERAND_MASK && (inst->src[k].neg || inst->src[k].abs);
    }
    if (info->rule == RULE_THREAD)
        least = thread[coordinate(inst->imm)];
    struct dac_verdict verdict = {least, info->pure ? least : TAG_NONE};
    if (least != TAG_AFFINE || info->rule == RULE_THREAD)
        return verdict;
    bool affine =
        !changed && !info->load && inst->dst[0].kind == OPERAND_VECTOR && inst->dst[0].count <= 2;
    switch (info->rule) {
    case RULE_LINEAR:
        break;
    case RULE_SCALE:
        affine &= tags[0] == TAG_UNIFORM || tags[1] == TAG_UNIFORM;
        break;
    case RULE_SHIFT:
        affine &= tags[1] == TAG_UNIFORM;
        break;
    default:
        affine = false;
    }
    verdict.result = affine ? TAG_AFFINE : TAG_NONE;
    return verdict;
}

void dac_write(struct dac_view *view, const struct inst *inst, enum dac_tag result)
{
    for (u32 k = 0; k < ARRAY_LEN(inst->dst); k++) {
        const struct operand o = inst->dst[k];
        if (o.kind == OPERAND_MASK && !view->no_masks)
            set_tag(view, o.index, true, (u8)result);
        if (o.kind != OPERAND_VECTOR)
            continue;
        for (u32 j = 0; j < o.count; j++) {
            u8 tag = (u8)result;
            if (result == TAG_AFFINE)
                tag = k ? TAG_NONE : j ? TAG_HIGH : TAG_AFFINE;
            set_tag(view, o.index + j, false, tag);
        }
        if (tag_of(view, o.index + o.count, false) == TAG_HIGH) /* T2 */
            set_tag(view, o.index + o.count, false, TAG_NONE);
    }
}
