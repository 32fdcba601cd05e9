/*
 * Modifiers around a plain lane function.
 *
 * Invariants
 *  M1  Sources are copied, with sign and flushing applied; results go through a copy too, so that
 *      no source row is overwritten before the result is final.
 *  M2  Order: abs, neg, flush the input; operate; flush the result; saturate or clamp at zero.
 *  M3  Outside run_rounded's call of `base` the host rounds to nearest.
 *
 * Integer operands are negated in two's complement; MOD_RELU is the only other integer modifier.
 */
#include "exec/lanes_modify.h"

#if defined(__SSE__)
#include <xmmintrin.h>
#else
#include <fenv.h>
#endif

bool LANE(is_modified)(const struct inst *inst)
{
    const char *letter = strchr(op_info[inst->op].signature, '=') + 1;
    for (unsigned k = 0; letter[k]; k++)
        if (letter[k] != 'm' && letter[k] != 'M' && (inst->src[k].neg || inst->src[k].abs))
            return true;
    const unsigned mods =
        op_info[inst->op].flags & OPF_FLOAT ? MOD_FTZ | MOD_SAT | MOD_RELU : MOD_RELU;
    return inst->mods & mods;
}

enum element LANE(element_of)(const struct inst *inst)
{
    static const struct {
        const char *suffix;
        enum element element;
    } suffixes[] = {
        {"bf16x2", ELEMENT_BF16X2}, {"f16x2", ELEMENT_F16X2}, {"bf16", ELEMENT_BF16},
        {"f16", ELEMENT_F16},       {"f32", ELEMENT_F32},     {"f64", ELEMENT_F64},
        {"16x2", ELEMENT_S16X2},    {"16", ELEMENT_S16},      {"64", ELEMENT_S64},
    };
    if (inst->op == OP_slct_f32_b32 || inst->op == OP_slct_f32_b64)
        return ELEMENT_F32; /* of the deciding operand; the others are only moved */
    if (inst->op == OP_selp_b32 && inst->stype == TYPE_F32)
        return ELEMENT_F32; /* signs of floats */
    const char *name = op_info[inst->op].name;
    const size_t length = strlen(name);
    for (size_t i = 0; i < ARRAY_LEN(suffixes); i++) {
        const size_t n = strlen(suffixes[i].suffix);
        if (length >= n && !strcmp(name + length - n, suffixes[i].suffix))
            return suffixes[i].element;
    }
    return ELEMENT_S32;
}

enum change {
    CHANGE_ABS = 1,
    CHANGE_NEG = 2,
    CHANGE_FLUSH = 4,
    CHANGE_SAT = 8,
    CHANGE_RELU = 16
};

/* Where a float format has its sign and exponent, and its one. */
struct layout {
    u64 sign, exponent, one;
};

ALWAYS_INLINE u64 change_float(u64 x, enum change change, struct layout f)
{
    const u64 magnitude = x & ~f.sign;
    const bool negative = x & f.sign, nan = magnitude > f.exponent;
    switch (change) {
    case CHANGE_ABS:
        return magnitude;
    case CHANGE_NEG:
        return x ^ f.sign;
    case CHANGE_FLUSH:
        return x & f.exponent ? x : x & f.sign;
    case CHANGE_SAT:
        return (negative | nan) ? 0 : magnitude > f.one ? f.one : x;
    default: /* relu */
        return (negative & !nan) ? 0 : x;
    }
}
ALWAYS_INLINE u64 change_int(u64 x, enum change change, struct layout f)
{
    const bool negative = x & f.sign;
    switch (change) {
    case CHANGE_ABS:
        return negative ? 0 - x : x;
    case CHANGE_NEG:
        return 0 - x;
    case CHANGE_RELU:
        return negative ? 0 : x;
    default: /* integers are neither flushed nor saturated here */
        return x;
    }
}

/* One change at a time, as a loop over elements of T: 64 halves, 32 words or 32 pairs. */
#define CHANGE_LOOP(T, count, change, function, layout) \
    if (changes & change)                               \
        EACH_OF(count)                                  \
        {                                               \
            at[i] = (T)function(at[i], change, layout); \
        }
#if defined(__clang__)
#define EACH_OF(count) \
    _Pragma("clang loop vectorize(assume_safety)") for (unsigned i = 0; i < (count); i++)
#else
#define EACH_OF(count) _Pragma("GCC ivdep") for (unsigned i = 0; i < (count); i++)
#endif
#define CHANGE_ROW(name, T, count, function, ...)        \
    static void change_##name(T *at, unsigned changes)   \
    {                                                    \
        const struct layout f = {__VA_ARGS__};           \
        CHANGE_LOOP(T, count, CHANGE_ABS, function, f)   \
        CHANGE_LOOP(T, count, CHANGE_NEG, function, f)   \
        CHANGE_LOOP(T, count, CHANGE_FLUSH, function, f) \
        CHANGE_LOOP(T, count, CHANGE_SAT, function, f)   \
        CHANGE_LOOP(T, count, CHANGE_RELU, function, f)  \
    }
CHANGE_ROW(f16, u16, 2 * LANES, change_float, 0x8000, 0x7c00, 0x3c00)
CHANGE_ROW(bf16, u16, 2 * LANES, change_float, 0x8000, 0x7f80, 0x3f80)
CHANGE_ROW(f32, u32, LANES, change_float, 0x80000000, 0x7f800000, 0x3f800000)
CHANGE_ROW(f64, u64, LANES, change_float, 1ull << 63, 0x7ffull << 52, 0x3ffull << 52)
CHANGE_ROW(s16, u16, 2 * LANES, change_int, 0x8000)
CHANGE_ROW(s32, u32, LANES, change_int, 0x80000000)
CHANGE_ROW(s64, u64, LANES, change_int, 1ull << 63)

/*
 * `row` holds the low words, row + LANES the high ones. The unused upper half of a 16-bit element
 * is changed along: nobody reads it in a source, and in a result it is zero, which stays zero.
 */
static void change_row(u32 *row, unsigned changes, enum element element)
{
    u16 halves[2 * LANES];
    u64 pairs[LANES];
    switch (element) {
    case ELEMENT_F32:
        change_f32(row, changes);
        break;
    case ELEMENT_S32:
        change_s32(row, changes);
        break;
    case ELEMENT_F64:
    case ELEMENT_S64:
        EACH_LANE
        {
            pairs[i] = (u64)row[LANES + i] << 32 | row[i];
        }
        (element == ELEMENT_F64 ? change_f64 : change_s64)(pairs, changes);
        EACH_LANE
        {
            row[i] = (u32)pairs[i];
            row[LANES + i] = (u32)(pairs[i] >> 32);
        }
        break;
    default:
        memcpy(halves, row, sizeof halves);
        if (element == ELEMENT_F16 || element == ELEMENT_F16X2)
            change_f16(halves, changes);
        else if (element == ELEMENT_BF16 || element == ELEMENT_BF16X2)
            change_bf16(halves, changes);
        else
            change_s16(halves, changes);
        memcpy(row, halves, sizeof halves);
    }
}

static void copy_row(u32 *to, const u32 *from, u32 stride, bool pair)
{
    memcpy(to, from, LANES * sizeof *to);
    if (pair)
        memcpy(to + LANES, from + stride, LANES * sizeof *to);
}

/* Integer ops mix widths (wide products, shift counts): the operand's own decides. */
static enum element element_at(enum element element, char letter)
{
    if (letter == 'p' && element == ELEMENT_S32)
        return ELEMENT_S64;
    if (letter == 'w' && element == ELEMENT_S64)
        return ELEMENT_S32;
    return element;
}

static unsigned source_changes(const struct inst *inst, unsigned k)
{
    /* slct compares its last source only; the first two are moved as they are. */
    const bool moved = (inst->op == OP_slct_f32_b32 || inst->op == OP_slct_f32_b64) && k < 2;
    unsigned changes = 0;
    if (inst->src[k].abs)
        changes |= CHANGE_ABS;
    if (inst->src[k].neg)
        changes |= CHANGE_NEG;
    if (inst->mods & MOD_FTZ && op_info[inst->op].flags & OPF_FLOAT)
        changes |= CHANGE_FLUSH;
    return moved ? 0 : changes;
}

static unsigned result_changes(const struct inst *inst)
{
    const bool is_float = op_info[inst->op].flags & OPF_FLOAT;
    const bool is_set =
        op_info[inst->op].text[0] == 's' && !strncmp(op_info[inst->op].text, "set.", 4);
    if (is_set || inst->op == OP_slct_f32_b32 || inst->op == OP_slct_f32_b64)
        return 0;
    unsigned changes = inst->mods & MOD_RELU ? CHANGE_RELU : 0;
    if (is_float && inst->mods & MOD_FTZ)
        changes |= CHANGE_FLUSH;
    if (is_float && inst->mods & MOD_SAT)
        changes |= CHANGE_SAT;
    return changes;
}

void LANE(run_modified)(struct lanes *l, enum element element, lane_fn *base)
{
    const struct inst *inst = l->inst;
    const char *signature = op_info[inst->op].signature, *letter = strchr(signature, '=') + 1;
    u32 copies[4][2 * LANES] __attribute__((aligned(32)));
    u32 result[2 * LANES] __attribute__((aligned(32)));
    struct lanes inner = *l;
    inner.stride = LANES;
    for (unsigned k = 0; letter[k]; k++) {
        if (!l->src[k] || letter[k] == 'm' || letter[k] == 'M')
            continue;
        copy_row(copies[k], l->src[k], l->stride, letter[k] == 'p');
        const unsigned changes = source_changes(inst, k);
        if (changes)
            change_row(copies[k], changes, element_at(element, letter[k]));
        inner.src[k] = copies[k];
    }
    if (signature[0] == 'm' || !l->dst[0]) {
        LANE(run_rounded)(&inner, base);
        return;
    }
    const bool pair = signature[0] == 'p';
    copy_row(result, l->dst[0], l->stride, pair);
    inner.dst[0] = result;
    LANE(run_rounded)(&inner, base);
    const unsigned changes = result_changes(inst);
    if (changes)
        change_row(result, changes, element_at(element, signature[0]));
    for (unsigned j = 0; j < (pair ? 2u : 1u); j++) {
        u32 *const d = l->dst[0] + j * l->stride;
        const u32 *const r = result + j * LANES, *const m = l->lane_mask;
        EACH_LANE
        {
            d[i] = mix(m[i], r[i], d[i]);
        }
    }
}

#if defined(__SSE__)
void LANE(run_rounded)(struct lanes *l, lane_fn *base)
{
    static const u8 control[] = {
        [ROUND_NEAREST] = 0, [ROUND_DOWN] = 1, [ROUND_UP] = 2, [ROUND_ZERO] = 3};
    const unsigned rounding = l->inst->rounding;
    if (rounding == ROUND_NEAREST || rounding >= ARRAY_LEN(control)) {
        base(l);
        return;
    }
    const unsigned saved = _mm_getcsr();
    _mm_setcsr((saved & ~0x6000u) | (unsigned)control[rounding] << 13);
    base(l);
    _mm_setcsr(saved);
}
#else
void LANE(run_rounded)(struct lanes *l, lane_fn *base)
{
    static const int modes[] = {[ROUND_NEAREST] = FE_TONEAREST,
                                [ROUND_DOWN] = FE_DOWNWARD,
                                [ROUND_UP] = FE_UPWARD,
                                [ROUND_ZERO] = FE_TOWARDZERO};
    const unsigned rounding = l->inst->rounding;
    if (rounding == ROUND_NEAREST || rounding >= ARRAY_LEN(modes)) {
        base(l);
        return;
    }
    const int saved = fegetround();
    fesetround(modes[rounding]);
    base(l);
    fesetround(saved);
}
#endif
