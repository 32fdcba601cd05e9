/* Needed bits: see needs.h and needs.def. */
#include "avf/needs.h"

const struct need_row need_rows[OP_COUNT] = {
#define NEED(op, rule, width) [OP_##op] = {NEED_##rule, width},
#include "avf/needs.def"
};

static u64 low_bits(u32 count)
{
    return count >= 64 ? ~0ull : (1ull << count) - 1;
}

static u32 type_bits(enum type type)
{
    return 8 * type_bytes(type);
}

static bool converts_integers(const struct inst *inst)
{
    return !type_is_float(inst->type) && !type_is_float(inst->stype) && type_bytes(inst->type) &&
           type_bytes(inst->stype) && type_bytes(inst->type) <= 8 && type_bytes(inst->stype) <= 8 &&
           !(inst->mods & MOD_SAT) && !inst->key && !inst->key2 &&
           inst->src[1].kind == OPERAND_NONE;
}

struct need_row need_row_of(const struct inst *inst)
{
    const struct need_row row = need_rows[inst->op];
    const struct need_row all = {NEED_ALL, row.width == 16 ? 16 : 0};
    if (row.rule == NEED_CONVERT)
        return converts_integers(inst) ? row : (struct need_row){NEED_ALL, 0};
    if (inst->mods & (MOD_SAT | MOD_RELU))
        return all;
    for (u32 k = 0; k < ARRAY_LEN(inst->src); k++)
        if (inst->src[k].kind != OPERAND_MASK && (inst->src[k].neg || inst->src[k].abs))
            return all;
    return row;
}

u32 need_values(const struct inst *inst, struct need_row row)
{
    u32 wanted = 0, kept = 0;
    switch ((enum need_rule)row.rule) {
    case NEED_AND:
    case NEED_OR:
    case NEED_COMPARE:
    case NEED_CHOOSE:
        wanted = 3;
        break;
    case NEED_SHIFT_LEFT:
    case NEED_SHIFT_RIGHT:
    case NEED_SHIFT_SIGNED:
    case NEED_SHIFT_LEFT_WRAP:
    case NEED_SHIFT_RIGHT_WRAP:
    case NEED_SHIFT_SIGNED_WRAP:
        wanted = 2;
        break;
    case NEED_SELECT:
        wanted = 4;
        break;
    default:
        break;
    }
    /* A constant masks the other source by itself. */
    const bool logic = row.rule == NEED_AND || row.rule == NEED_OR;
    for (u32 k = 0; k < 3; k++)
        if (wanted >> k & 1 && inst->src[k].kind != OPERAND_CONST &&
            !(logic && inst->src[1 - k].kind == OPERAND_CONST))
            kept |= 1u << k;
    return kept;
}

/* ---- rules ---- */

static u64 up_to_highest(u64 bits)
{
    return bits ? low_bits(64 - (u32)__builtin_clzll(bits)) : 0;
}

/* The bits from the highest one in which two values differ upwards; all if they are equal. */
static u64 from_difference(u64 a, u64 b, u64 mask)
{
    const u64 differ = (a ^ b) & mask;
    return differ ? mask & ~low_bits(63 - (u32)__builtin_clzll(differ)) : mask;
}

/* Sources of AND: a bit that is 0 masks the other. The second source masks the first, so where both
 * are 0 only the first is needed (N1). A constant cannot be wrong: it masks alone. */
static void need_and(const struct inst *inst, struct lane_need *lane, u64 d, u64 a, u64 b)
{
    if (inst->src[1].kind == OPERAND_CONST) {
        lane->source[0] = d & b;
    } else if (inst->src[0].kind == OPERAND_CONST) {
        lane->source[1] = d & a;
    } else {
        lane->source[0] = d & (b | ~a);
        lane->source[1] = d & a;
    }
}

/* `count` is that of the shift, `signs`: the result's upper bits are copies of the sign. */
static u64 need_right(u64 d, u64 count, u32 width, bool signs)
{
    const u64 mask = low_bits(width), sign = 1ull << (width - 1);
    if (count >= width)
        return signs && d ? sign : 0;
    const u64 copies = mask & ~low_bits(width - (u32)count);
    return ((d << count) & mask) | (signs && d & copies ? sign : 0);
}

static void need_shift(const struct need_row row, struct lane_need *lane, u64 d)
{
    const bool wraps = row.rule >= NEED_SHIFT_LEFT_WRAP;
    const u32 rule = wraps ? row.rule - (NEED_SHIFT_LEFT_WRAP - NEED_SHIFT_LEFT) : row.rule;
    const u64 count = wraps ? lane->value[1] & (row.width - 1u) : lane->value[1] & 0xffffffff;
    if (rule == NEED_SHIFT_LEFT)
        lane->source[0] = count < row.width ? d >> count : 0;
    else
        lane->source[0] = need_right(d, count, row.width, rule == NEED_SHIFT_SIGNED);
    lane->source[1] = !d ? 0 : wraps ? row.width - 1u : 0xffffffff;
}

/* A factor that is a constant with z zeros at its end moves the other one up by z bits. Bits of a wide
 * product above 32 + z depend on all bits of a factor, and so on its sign; those below not on the sign. */
static void need_multiply(const struct inst *inst, struct lane_need *lane, u64 d, u64 factor)
{
    const u64 bits = up_to_highest(d);
    for (u32 k = 0; k < 2; k++) {
        lane->source[k] = bits & factor;
        if (inst->src[1 - k].kind != OPERAND_CONST)
            continue;
        const u64 other = lane->value[1 - k] & factor;
        lane->source[k] = other ? bits >> (u32)__builtin_ctzll(other) & factor : 0;
    }
    lane->source[2] = bits;
}

/* A narrow result or source is extended: the bits above it are zeros, or copies of its sign. */
static u64 need_extended(u64 d, u32 width, bool is_signed)
{
    const u64 above = d & ~low_bits(width);
    return (d & low_bits(width)) | (is_signed && above ? 1ull << (width - 1) : 0);
}

static u64 need_convert(const struct inst *inst, u64 d)
{
    d = need_extended(d, type_bits(inst->type), type_is_signed(inst->type));
    return need_extended(d, type_bits(inst->stype), type_is_signed(inst->stype));
}

static void need_compare(const struct inst *inst, struct lane_need *lane, bool needed, u64 mask)
{
    const u64 bits = needed ? from_difference(lane->value[0], lane->value[1], mask) : 0;
    const bool equality = inst->key == CMP_EQ || inst->key == CMP_NE;
    const bool differ = (lane->value[0] ^ lane->value[1]) & mask;
    /* values that differ in one bit are not equal */
    lane->source[0] = lane->source[1] = equality && differ ? bits & -bits : bits;
    lane->source[2] = needed ? ~0ull : 0;
}

/* Minimum and maximum compare, and pass one of their sources on. Which one is not looked up: both are
 * needed as the result is. */
static void need_choose(struct lane_need *lane, u64 d, u64 mask)
{
    const u64 order = d ? from_difference(lane->value[0], lane->value[1], mask) : 0;
    lane->source[0] = lane->source[1] = d | order;
}

static void need_all(struct lane_need *lane, u64 mask)
{
    const u64 bits = lane->result[0] | lane->result[1] ? mask : 0;
    lane->source[0] = lane->source[1] = lane->source[2] = bits;
}

static void need_packed(enum need_rule rule, struct lane_need *lane)
{
    const u64 *d = lane->result;
    if (rule == NEED_PACK_HALVES) {
        lane->source[0] = d[0] & 0xffff;
        lane->source[1] = d[0] >> 16 & 0xffff;
    } else if (rule == NEED_PACK_WORDS) {
        lane->source[0] = d[0] & 0xffffffff;
        lane->source[1] = d[0] >> 32;
    } else if (rule == NEED_UNPACK_HALVES) {
        lane->source[0] = (d[0] & 0xffff) | (d[1] & 0xffff) << 16;
    } else {
        lane->source[0] = (d[0] & 0xffffffff) | d[1] << 32;
    }
}

void need_sources(const struct inst *inst, struct need_row row, struct lane_need *lane)
{
    const u64 mask = row.width ? low_bits(row.width) : ~0ull;
    const u64 d = lane->result[0] & mask;
    lane->source[0] = lane->source[1] = lane->source[2] = 0;
    switch ((enum need_rule)row.rule) {
    case NEED_MOVE:
    case NEED_BITWISE:
        lane->source[0] = lane->source[1] = lane->source[2] = d;
        break;
    case NEED_PACK_HALVES:
    case NEED_UNPACK_HALVES:
    case NEED_PACK_WORDS:
    case NEED_UNPACK_WORDS:
        need_packed(row.rule, lane);
        break;
    case NEED_SELECT:
        lane->source[lane->value[2] ? 0 : 1] = d;
        lane->source[2] = d ? ~0ull : 0;
        break;
    case NEED_CONVERT:
        lane->source[0] = need_convert(inst, lane->result[0]);
        break;
    case NEED_AND:
        need_and(inst, lane, d, lane->value[0], lane->value[1]);
        break;
    case NEED_OR:
        need_and(inst, lane, d, ~lane->value[0], ~lane->value[1]);
        break;
    case NEED_SHIFT_LEFT:
    case NEED_SHIFT_RIGHT:
    case NEED_SHIFT_SIGNED:
    case NEED_SHIFT_LEFT_WRAP:
    case NEED_SHIFT_RIGHT_WRAP:
    case NEED_SHIFT_SIGNED_WRAP:
        need_shift(row, lane, d);
        break;
    case NEED_CARRY:
        lane->source[0] = lane->source[1] = lane->source[2] = up_to_highest(d);
        break;
    case NEED_MULTIPLY:
        need_multiply(inst, lane, d, mask);
        break;
    case NEED_MULTIPLY_WIDE:
        need_multiply(inst, lane, d, 0xffffffff);
        break;
    case NEED_COMPARE:
        need_compare(inst, lane, lane->result[0] | lane->result[1], mask);
        break;
    case NEED_CHOOSE:
        need_choose(lane, d, mask);
        break;
    case NEED_SOURCES_16:
        need_all(lane, 0xffff);
        break;
    case NEED_ALL:
        need_all(lane, mask);
        break;
    }
}
