/* Exact floating-point arithmetic in integers. See float_soft.h. */
#include "exec/float_soft.h"

static const struct format {
    u8 fraction;   /* stored bits of the significand */
    u8 exponent;   /* bits of the exponent */
    u8 shift;      /* zero bits below the fraction */
    bool infinity; /* top exponent means infinity and NaN; otherwise only all ones is NaN */
    u32 quiet_nan; /* canonical NaN, in units of 1 << shift */
} formats[] = {
    [SOFT_F16] = {10, 5, 0, true, 0x7fff},
    [SOFT_BF16] = {7, 8, 0, true, 0x7fff},
    [SOFT_F32] = {23, 8, 0, true, 0x7fffffff},
    [SOFT_F64] = {52, 11, 0, true, 0},
    /* tf32 is an f32 without its low 13 bits; NaN as for f32. */
    [SOFT_TF32] = {10, 8, 13, true, 0x3ffff},
    [SOFT_E4M3] = {3, 4, 0, false, 0x7f},
    [SOFT_E5M2] = {2, 5, 0, true, 0x7f},
};

static u64 infinity_bits(const struct format *f)
{
    return ((1ull << f->exponent) - 1) << f->fraction;
}

static i32 bias(const struct format *f)
{
    return (1 << (f->exponent - 1)) - 1;
}

/* First encoding that is not a finite number. */
static u64 end_of_finite(const struct format *f)
{
    return f->infinity ? infinity_bits(f) : (1ull << (f->fraction + f->exponent)) - 1;
}

bool soft_format_of(enum type type, enum soft_format *format)
{
    switch (type) {
    case TYPE_F16:
    case TYPE_F16X2:
        *format = SOFT_F16;
        return true;
    case TYPE_BF16:
    case TYPE_BF16X2:
        *format = SOFT_BF16;
        return true;
    case TYPE_F32:
        *format = SOFT_F32;
        return true;
    case TYPE_F64:
        *format = SOFT_F64;
        return true;
    case TYPE_TF32:
        *format = SOFT_TF32;
        return true;
    case TYPE_E4M3X2:
        *format = SOFT_E4M3;
        return true;
    case TYPE_E5M2X2:
        *format = SOFT_E5M2;
        return true;
    default:
        return false;
    }
}

static struct soft normalise(bool negative, i32 exponent, u64 significand)
{
    const int zeros = __builtin_clzll(significand);
    return (struct soft){SOFT_FINITE, negative, exponent - zeros, significand << zeros};
}

struct soft soft_unpack(enum soft_format format, u64 bits)
{
    const struct format *f = &formats[format];
    bits >>= f->shift;
    const bool negative = bits >> (f->fraction + f->exponent) & 1;
    const u64 magnitude = bits & ((1ull << (f->fraction + f->exponent)) - 1);
    const u64 fraction = magnitude & ((1ull << f->fraction) - 1);
    if (magnitude >= end_of_finite(f))
        return (struct soft){f->infinity && !fraction ? SOFT_INFINITE : SOFT_NAN, negative, 0,
                             fraction << (64 - f->fraction)};
    if (magnitude == 0)
        return (struct soft){SOFT_ZERO, negative, 0, 0};
    const i32 e = (i32)(magnitude >> f->fraction);
    const i32 top = 63 - f->fraction; /* so that the fraction's unit is bit 0 */
    if (e == 0)
        return normalise(negative, 1 - bias(f) + top, fraction);
    return normalise(negative, e - bias(f) + top, fraction | 1ull << f->fraction);
}

/* Whether to increment a truncated significand, from the bits below it. */
static bool round_up(enum rounding rounding, bool negative, bool odd, u64 rest, bool half_or_more,
                     bool exactly_half)
{
    switch (rounding) {
    case ROUND_NEAREST:
        return half_or_more && (!exactly_half || odd);
    case ROUND_AWAY:
        return half_or_more;
    case ROUND_DOWN:
        return negative && rest;
    case ROUND_UP:
        return !negative && rest;
    default:
        return false;
    }
}

/* value / 2^shift, rounded; shift is at least 1. */
static u64 shift_round(u64 value, u32 shift, bool negative, enum rounding rounding)
{
    if (shift > 64) /* below half a unit */
        return round_up(rounding, negative, false, value, false, false);
    const u64 kept = shift == 64 ? 0 : value >> shift;
    const u64 rest = shift == 64 ? value : value & ((1ull << shift) - 1);
    const u64 half = 1ull << (shift - 1);
    return kept + round_up(rounding, negative, kept & 1, rest, rest >= half, rest == half);
}

static u64 pack_nan(const struct format *f, enum soft_format format, struct soft value,
                    struct soft_rules rules)
{
    const u64 sign = (u64)value.negative << (f->fraction + f->exponent);
    if (!f->infinity)
        return f->quiet_nan;
    if (rules.canonical_nan && format != SOFT_F64)
        return (u64)f->quiet_nan << f->shift;
    const u64 quiet = 1ull << (f->fraction - 1);
    return (sign | infinity_bits(f) | quiet | value.significand >> (64 - f->fraction)) << f->shift;
}

u64 soft_pack(enum soft_format format, struct soft value, struct soft_rules rules)
{
    const struct format *f = &formats[format];
    const u64 sign = (u64)value.negative << (f->fraction + f->exponent);
    if (value.class == SOFT_NAN)
        return pack_nan(f, format, value, rules);
    const bool finite = rules.finite || !f->infinity;
    const u64 largest = end_of_finite(f) - 1;
    if (value.class == SOFT_INFINITE)
        return (sign | (finite ? largest : infinity_bits(f))) << f->shift;
    if (value.class == SOFT_ZERO)
        return sign << f->shift;
    const i32 least = 1 - bias(f);
    const bool subnormal = value.exponent < least;
    const u32 below = subnormal ? (u32)MIN(least - value.exponent, 70) : 0;
    u64 bits =
        shift_round(value.significand, 63 - f->fraction + below, value.negative, rules.rounding);
    if (!subnormal)
        bits += (u64)(value.exponent + bias(f) - 1) << f->fraction;
    if (value.exponent > bias(f) + 1 || bits >= end_of_finite(f)) {
        const bool inward = rules.rounding == ROUND_ZERO ||
                            (rules.rounding == ROUND_DOWN && !value.negative) ||
                            (rules.rounding == ROUND_UP && value.negative);
        bits = inward || finite ? largest : infinity_bits(f);
    }
    return (sign | bits) << f->shift;
}

u64 soft_one(enum soft_format format)
{
    const struct format *f = &formats[format];
    return (u64)bias(f) << (f->fraction + f->shift);
}

struct soft soft_from_int(u64 value, bool is_signed)
{
    const bool negative = is_signed && (i64)value < 0;
    const u64 magnitude = negative ? 0 - value : value;
    if (magnitude == 0)
        return (struct soft){SOFT_ZERO, false, 0, 0};
    return normalise(negative, 63, magnitude);
}

u64 soft_to_int(struct soft value, enum rounding rounding, unsigned bits, bool is_signed, u64 nan)
{
    if (value.class == SOFT_NAN)
        return nan;
    if (value.class == SOFT_ZERO)
        return 0;
    const u64 largest = ~0ull >> (64 - bits + is_signed);
    const u64 limit = value.negative ? (is_signed ? largest + 1 : 0) : largest;
    u64 magnitude = limit;
    if (value.class == SOFT_FINITE && value.exponent < 64) {
        const u32 shift = (u32)MIN(63 - value.exponent, 70);
        magnitude = shift ? shift_round(value.significand, shift, value.negative, rounding)
                          : value.significand;
    }
    magnitude = MIN(magnitude, limit);
    return value.negative ? 0 - magnitude : magnitude;
}

struct soft soft_integral(struct soft value, enum rounding rounding)
{
    if (value.class != SOFT_FINITE || value.exponent >= 63)
        return value;
    const u32 shift = (u32)MIN(63 - value.exponent, 70);
    const u64 kept = shift_round(value.significand, shift, value.negative, rounding);
    if (kept == 0)
        return (struct soft){SOFT_ZERO, value.negative, 0, 0};
    return normalise(value.negative, 63, kept);
}

/* value >> shift with lost bits ORed into the lowest. */
static u128 shift_sticky(u128 value, u32 shift)
{
    if (shift > 127)
        return value != 0;
    return shift ? value >> shift | ((value << (128 - shift)) != 0) : value;
}

static struct soft from_wide(bool negative, i32 exponent, u128 value)
{
    int zeros = 0;
    while (!(value >> 127)) {
        value <<= 1;
        zeros++;
    }
    return (struct soft){SOFT_FINITE, negative, exponent - zeros,
                         (u64)(value >> 64) | ((u64)value != 0)};
}

struct soft soft_fma(struct soft a, struct soft b, struct soft c, enum rounding rounding)
{
    const bool negative = a.negative != b.negative;
    const struct soft invalid = {SOFT_NAN, false, 0, 0};
    if (a.class == SOFT_INFINITE || b.class == SOFT_INFINITE) {
        if (a.class == SOFT_ZERO || b.class == SOFT_ZERO ||
            (c.class == SOFT_INFINITE && c.negative != negative))
            return invalid;
        return (struct soft){SOFT_INFINITE, negative, 0, 0};
    }
    if (c.class == SOFT_INFINITE)
        return c;
    const bool zero_sign = negative == c.negative ? negative : rounding == ROUND_DOWN;
    const struct soft zero = {SOFT_ZERO, zero_sign, 0, 0};
    if (a.class == SOFT_ZERO || b.class == SOFT_ZERO)
        return c.class == SOFT_ZERO ? zero : c;
    /* Both as 128-bit significands, the leading one at bit 125 or 126: room for a carry. */
    u128 p = (u128)a.significand * b.significand >> 1;
    i32 e = a.exponent + b.exponent + 2; /* value = p / 2^127 * 2^e */
    if (c.class == SOFT_ZERO)
        return from_wide(negative, e, p);
    u128 q = (u128)c.significand << 62;
    const i32 f = c.exponent + 2;
    /* At most 106 of p's bits and 53 of q's are used: a shift by one loses nothing, and after a
     * longer one at most one leading bit cancels, so the sticky bit stays below the rounding. */
    if (e >= f) {
        q = shift_sticky(q, (u32)(e - f));
    } else {
        p = shift_sticky(p, (u32)(f - e));
        e = f;
    }
    if (negative == c.negative)
        return from_wide(negative, e, p + q);
    if (p == q)
        return zero;
    return p > q ? from_wide(negative, e, p - q) : from_wide(c.negative, e, q - p);
}

u64 soft_scaled_fma_f64(u64 a, u64 b, u64 c, i32 scale, enum rounding rounding, bool *invalid)
{
    struct soft r = soft_fma(soft_unpack(SOFT_F64, a), soft_unpack(SOFT_F64, b),
                             soft_unpack(SOFT_F64, c), rounding);
    r.exponent += scale;
    *invalid = r.class == SOFT_NAN;
    return soft_pack(SOFT_F64, r, (struct soft_rules){.rounding = rounding});
}

u64 soft_fma_f64(u64 a, u64 b, u64 c, enum rounding rounding, bool *invalid)
{
    return soft_scaled_fma_f64(a, b, c, 0, rounding, invalid);
}
