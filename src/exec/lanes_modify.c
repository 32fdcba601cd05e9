/*
 * Modifiers around a plain lane function.
 *
 * Invariants
 *  M1  Sources are copied, with sign and flushing applied; results go through a copy too, so that
 *      no source row is overwritten before the result is final.
 *  M2  Order: abs, neg, flush the input; operate; flush the result; scale it (and flush again);
 *      saturate or clamp at zero.
 *  M3  Outside run_rounded's call of `base` the host rounds to nearest.
 *
 * Integer operands are negated in two's complement, unless stype says that an op that only moves
 * them moves floats; MOD_RELU is the only other integer modifier.
 */
#include "exec/lanes_modify.h"
#include "exec/lanes_float.h"

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
    if (!(op_info[inst->op].flags & OPF_FLOAT))
        return inst->mods & MOD_RELU;
    return inst->scale != SCALE_NONE ||
           inst->mods & (MOD_FTZ | MOD_FTZ_IN | MOD_FTZ_OUT | MOD_SAT | MOD_RELU);
}

/* Floating-point ops with operands that are not floats: bits of such sources, and the result. */
enum {
    PLAIN_RESULT = 1 << 4
};
static unsigned plain_operands(unsigned op)
{
    switch (op) {
    case OP_slct_f32_b32: /* compares its last source; the others are moved */
    case OP_slct_f32_b64:
        return 1 << 0 | 1 << 1 | PLAIN_RESULT;
    case OP_cvt_ubyte_f32:
    case OP_cvt_off_f32_s4:
        return 1 << 0;
    case OP_ldexp_f32:
    case OP_ldexp_f64:
    case OP_class_f32:
    case OP_class_f64:
    case OP_trig_preop_f64:
        return 1 << 1;
    case OP_cvt_pk_u8_f32:
        return 1 << 1 | 1 << 2 | PLAIN_RESULT;
    case OP_frexp_exp_f32:
    case OP_frexp_exp_f64:
    case OP_cvt_nearest_s32_f32:
    case OP_cvt_floor_s32_f32:
    case OP_cvt_pknorm_s16_f32:
    case OP_cvt_pknorm_u16_f32:
    case OP_cvt_pkrtz_f16_f32:
        return PLAIN_RESULT;
    default:
        return strncmp(op_info[op].name, "set_", 4) ? 0 : PLAIN_RESULT;
    }
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
    if (inst->op == OP_slct_f32_b32 || inst->op == OP_slct_f32_b64 || inst->op == OP_cvt_off_f32_s4)
        return ELEMENT_F32;
    if (!(op_info[inst->op].flags & OPF_FLOAT) && inst->stype == TYPE_F32)
        return ELEMENT_F32;
    const char *name = op_info[inst->op].name;
    const size_t length = strlen(name);
    for (size_t i = 0; i < ARRAY_LEN(suffixes); i++) {
        const size_t n = strlen(suffixes[i].suffix);
        if (length >= n && !strcmp(name + length - n, suffixes[i].suffix))
            return suffixes[i].element;
    }
    return ELEMENT_S32;
}

enum source_change {
    CHANGE_ABS = 1,
    CHANGE_NEG = 2,
    CHANGE_FLUSH = 4,
    CHANGE_SAT = 8,
    CHANGE_CLAMP = 16, /* as SAT, but NaN stays */
    CHANGE_RELU = 32
};

/* The sign, exponent and one of a floating-point format. */
struct layout {
    u64 sign, exponent, one;
};

ALWAYS_INLINE u64 change_float(u64 x, enum source_change change, struct layout f)
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
    case CHANGE_CLAMP:
        return nan ? x : negative ? 0 : magnitude > f.one ? f.one : x;
    default: /* relu */
        return (negative & !nan) ? 0 : x;
    }
}
ALWAYS_INLINE u64 change_int(u64 x, enum source_change change, struct layout f)
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
        CHANGE_LOOP(T, count, CHANGE_CLAMP, function, f) \
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
 * is changed as well: nothing reads it in a source, and in a result it is zero, which stays zero.
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

/* Integer ops mix widths (wide products, shift counts): the operand's own width decides. */
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
    const bool is_float = op_info[inst->op].flags & OPF_FLOAT;
    unsigned changes = 0;
    if (is_float && plain_operands(inst->op) >> k & 1)
        return 0;
    if (inst->src[k].abs)
        changes |= CHANGE_ABS;
    if (inst->src[k].neg)
        changes |= CHANGE_NEG;
    if (is_float && inst->mods & (MOD_FTZ | MOD_FTZ_IN))
        changes |= CHANGE_FLUSH;
    return changes;
}

/* Changes after scaling, if there is any. */
static unsigned result_changes(const struct inst *inst)
{
    unsigned changes = inst->mods & MOD_RELU ? CHANGE_RELU : 0;
    if (!(op_info[inst->op].flags & OPF_FLOAT))
        return changes;
    if (inst->mods & (MOD_FTZ | MOD_FTZ_OUT) || inst->scale)
        changes |= CHANGE_FLUSH;
    if (inst->mods & MOD_SAT)
        changes |= inst->mods & MOD_KEEP_NAN ? CHANGE_CLAMP : CHANGE_SAT;
    return changes;
}

static const f32 factors[] = {1.0f, 2.0f, 4.0f, 0.5f};
static void scale_f32(struct lanes *l)
{
    const f32 factor = factors[l->inst->scale];
    u32 *const d = l->dst[0];
    EACH_LANE
    {
        const f32 x = as_f32(d[i]);
        d[i] = x == x ? of_f32(x * factor) : d[i];
    }
}
static void scale_f64(struct lanes *l)
{
    const f64 factor = factors[l->inst->scale];
    u32 *const d = l->dst[0], *const e = d + l->stride;
    EACH_LANE
    {
        const u64 bits = (u64)e[i] << 32 | d[i];
        const f64 x = as_f64(bits);
        const u64 r = x == x ? of_f64(x * factor) : bits;
        d[i] = (u32)r, e[i] = (u32)(r >> 32);
    }
}

/* inner->dst[0] has the result of the operation. */
static void finish_result(struct lanes *inner, enum element element, bool pair)
{
    const struct inst *inst = inner->inst;
    u32 *const result = inner->dst[0];
    if (op_info[inst->op].flags & OPF_FLOAT && plain_operands(inst->op) & PLAIN_RESULT)
        return;
    if (op_info[inst->op].flags & OPF_FLOAT && inst->scale) {
        if (inst->mods & (MOD_FTZ | MOD_FTZ_OUT))
            change_row(result, CHANGE_FLUSH, element);
        LANE(run_rounded)(inner, pair ? scale_f64 : scale_f32);
    }
    const unsigned changes = result_changes(inst);
    if (changes)
        change_row(result, changes, element);
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
    finish_result(&inner, element_at(element, signature[0]), pair);
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
