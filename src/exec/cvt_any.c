/*
 * The general conversion: any type to any type, lane by lane, exact.
 *
 * Rules (PTX ISA, cvt)
 *  V1  A float to an integer clamps to the range. A NaN gives 0; but by the canonical rule (PTX)
 *      only the top bit of the result is set when the source is f64 or the result 64 bits wide.
 *  V2  An integer to an integer truncates, with MOD_SAT clamps.
 *  V3  To a float, rounds once as `rounding` says; MOD_SAT clamps to [0, 1] with NaN as +0;
 *      MOD_RELU makes negative results +0 and NaN canonical.
 *  V4  key 1 rounds to an integral value and keeps the format. MOD_FTZ flushes f32 on either side,
 *      MOD_FTZ_IN and MOD_FTZ_OUT whatever float is on theirs.
 *  V5  key2 bit 0: two sources, a for the upper half of the result, b for the lower. bit 1:
 *      .satfinite. 8-bit floats always saturate. x2 sources convert half by half.
 *  V6  Two integer sources are cvt.pack: both are clamped; a third source, if present, supplies the
 *      bits above them, from its bit 0.
 *  V7  `scale` multiplies a float result before it is clamped, and flushes it.
 */
#include "exec/float_soft.h"
#include "exec/lanes_cvt.h"

enum {
    KEY2_TWO = 1,
    KEY2_FINITE = 2
};

static bool is_x2(unsigned type)
{
    return type == TYPE_F16X2 || type == TYPE_BF16X2 || type == TYPE_E4M3X2 || type == TYPE_E5M2X2;
}
static bool is_int(unsigned type)
{
    return type >= TYPE_U8 && type <= TYPE_B64;
}
static bool is_signed(unsigned type)
{
    return type_is_signed(type);
}
/* Bits of one element. */
static unsigned element_bits(unsigned type)
{
    return type_bytes(type) * 8 / (is_x2(type) ? 2 : 1);
}

bool cvt_exists(const struct inst *inst)
{
    const unsigned to = inst->type, from = inst->stype;
    enum soft_format f;
    const bool to_float = soft_format_of(to, &f), from_float = soft_format_of(from, &f);
    if (!(is_int(to) || to_float) || !(is_int(from) || from_float))
        return false;
    if (inst->key2 & KEY2_TWO)
        return is_int(from) ? is_int(to) && element_bits(to) <= 16 : is_x2(to) && !is_x2(from);
    if (is_x2(to) || is_x2(from))
        return is_x2(to) && is_x2(from);
    return true;
}

/* Bits of element `at` of a value, extended to 64 bits by its signedness. */
static u64 extend_element(unsigned type, u64 value, unsigned at)
{
    const unsigned bits = element_bits(type);
    value >>= at * bits;
    if (bits == 64)
        return value;
    const u64 up = value << (64 - bits);
    return is_signed(type) ? (u64)((i64)up >> (64 - bits)) : up >> (64 - bits);
}

static u64 clamp_int(u64 value, bool source_signed, unsigned bits, bool to_signed)
{
    const bool negative = source_signed && (i64)value < 0;
    const u64 largest = ~0ull >> (64 - bits + to_signed);
    if (negative) {
        const i64 least = to_signed ? -(i64)largest - 1 : 0;
        return (i64)value < least ? (u64)least : value;
    }
    return value > largest ? largest : value;
}

/* `mod` is MOD_FTZ_IN or MOD_FTZ_OUT. */
static u64 flush(unsigned type, u64 bits, unsigned mods, unsigned mod)
{
    const u64 exponent = type == TYPE_F64 ? 0x7ffull << 52 : type == TYPE_F16 ? 0x7c00 : 0x7f800000;
    const bool f32_too = type == TYPE_F32 && mods & MOD_FTZ;
    const bool any = mods & mod && (type == TYPE_F32 || type == TYPE_F64 || type == TYPE_F16);
    if ((f32_too || any) && !(bits & exponent))
        bits &= 1ull << (type_bytes(type) * 8 - 1);
    return bits;
}

static u64 int_to_int(const struct inst *inst, u64 value)
{
    const unsigned bits = element_bits(inst->type);
    if (inst->mods & MOD_SAT || inst->key2 & KEY2_TWO)
        value = clamp_int(value, is_signed(inst->stype), bits, is_signed(inst->type));
    return extend_element(inst->type, value, 0);
}

static u64 float_to_int(const struct inst *inst, struct soft value, bool canonical_nan)
{
    const unsigned bits = element_bits(inst->type);
    const bool wide = canonical_nan && (inst->stype == TYPE_F64 || bits == 64);
    const u64 r = soft_to_int(value, inst->rounding, bits, is_signed(inst->type),
                              wide ? 1ull << (bits - 1) : 0);
    return extend_element(inst->type, r, 0);
}

/* Rounded and flushed before it is scaled, and after. */
static struct soft scaled(const struct inst *inst, enum soft_format format, struct soft value,
                          struct soft_rules rules)
{
    static const i8 powers[] = {[SCALE_TWICE] = 1, [SCALE_FOURFOLD] = 2, [SCALE_HALF] = -1};
    const u64 bits = flush(inst->type, soft_pack(format, value, rules), inst->mods, MOD_FTZ_OUT);
    value = soft_unpack(format, bits);
    value.exponent += powers[inst->scale];
    rules.rounding = inst->key == 1 ? ROUND_NEAREST : rules.rounding;
    return soft_unpack(
        format, flush(inst->type, soft_pack(format, value, rules), MOD_FTZ_OUT, MOD_FTZ_OUT));
}

static u64 to_float(const struct inst *inst, struct soft value, bool canonical_nan)
{
    enum soft_format format = SOFT_F32;
    soft_format_of(inst->type, &format);
    const bool eight_bits = format == SOFT_E4M3 || format == SOFT_E5M2;
    const struct soft_rules rules = {.rounding = inst->rounding,
                                     .finite = eight_bits || inst->key2 & KEY2_FINITE,
                                     .canonical_nan = canonical_nan || inst->mods & MOD_RELU};
    if (inst->scale)
        value = scaled(inst, format, value, rules);
    if (inst->mods & MOD_SAT && !(inst->mods & MOD_KEEP_NAN && value.class == SOFT_NAN)) {
        if (value.class == SOFT_NAN || value.negative)
            return 0;
        if (value.class == SOFT_INFINITE || (value.class == SOFT_FINITE && value.exponent >= 0))
            return soft_one(format);
    }
    if (inst->mods & MOD_RELU && value.negative && value.class != SOFT_NAN)
        return 0;
    if (inst->mods & MOD_RELU)
        value.negative = false;
    return flush(inst->type, soft_pack(format, value, rules), inst->mods, MOD_FTZ_OUT);
}

/* One element; `bits` holds it in its lowest bits. */
static u64 convert(const struct inst *inst, u64 bits, unsigned k, bool canonical_nan)
{
    const bool negate = inst->src[k].neg, absolute = inst->src[k].abs;
    enum soft_format format;
    struct soft value;
    if (soft_format_of(inst->stype, &format)) {
        value = soft_unpack(format, flush(inst->stype, bits, inst->mods, MOD_FTZ_IN));
        value.negative = (value.negative && !absolute) != negate;
        if (inst->key == 1)
            value = soft_integral(value, inst->rounding);
        if (is_int(inst->type))
            return float_to_int(inst, value, canonical_nan);
        return to_float(inst, value, canonical_nan);
    }
    u64 integer = extend_element(inst->stype, bits, 0);
    if (absolute && is_signed(inst->stype) && (i64)integer < 0)
        integer = 0 - integer;
    if (negate)
        integer = extend_element(inst->stype, 0 - integer, 0);
    if (is_int(inst->type))
        return int_to_int(inst, integer);
    return to_float(inst, soft_from_int(integer, is_signed(inst->stype)), canonical_nan);
}

static u64 source(const struct lanes *l, unsigned k, unsigned i)
{
    u64 bits = l->src[k][i];
    if (type_bytes(l->inst->stype) == 8)
        bits |= (u64)l->src[k][l->stride + i] << 32;
    return bits;
}

static u64 convert_lane(const struct lanes *l, unsigned i, bool canonical_nan)
{
    const struct inst *inst = l->inst;
    const u64 a = source(l, 0, i);
    const unsigned bits = element_bits(inst->type);
    if (inst->key2 & KEY2_TWO) {
        const u64 mask = (1ull << bits) - 1;
        const u64 high = convert(inst, a, 0, canonical_nan) & mask;
        const u64 low = convert(inst, source(l, 1, i), 1, canonical_nan) & mask;
        const u64 above = is_int(inst->type) && l->src[2] ? l->src[2][i] : 0;
        return low | high << bits | (bits < 16 ? above << 2 * bits : 0);
    }
    if (is_x2(inst->stype))
        return convert(inst, extend_element(inst->stype, a, 0), 0, canonical_nan) |
               convert(inst, extend_element(inst->stype, a, 1), 0, canonical_nan) << bits;
    return convert(inst, a, 0, canonical_nan);
}

static void convert_lanes(struct lanes *l, bool canonical_nan)
{
    const bool wide = type_bytes(l->inst->type) == 8;
    for (unsigned i = 0; i < LANES; i++) {
        if (!(l->mask >> i & 1))
            continue;
        const u64 r = convert_lane(l, i, canonical_nan);
        l->dst[0][i] = (u32)r;
        if (wide)
            l->dst[0][l->stride + i] = (u32)(r >> 32);
    }
}

void cvt_any_canonical(struct lanes *l)
{
    convert_lanes(l, true);
}
void cvt_any_propagating(struct lanes *l)
{
    convert_lanes(l, false);
}
