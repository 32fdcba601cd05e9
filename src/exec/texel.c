/*
 * Formats of texels in buffers: components as stored in memory, and in registers.
 *
 * Chosen where manuals are silent: stores saturate to the range of the component and round to
 * nearest even (a NaN becomes 0 except in floats); floats of 10 and 11 bits have no sign: negative
 * numbers become 0. Components of 32 bits are integers or floats; with any other number format,
 * which no surface has, they are plain words (programs use this for plain loads).
 */
#include "exec/buffer.h"
#include "exec/float_soft.h"

#include <math.h>

/* Bits of the components, the lowest first. Names of formats list the highest first. */
static const u8 layouts[15][4] = {
    {0},              /* none */
    {8},              /* 8 */
    {16},             /* 16 */
    {8, 8},           /* 8_8 */
    {32},             /* 32 */
    {16, 16},         /* 16_16 */
    {11, 11, 10},     /* 10_11_11 */
    {10, 11, 11},     /* 11_11_10 */
    {2, 10, 10, 10},  /* 10_10_10_2 */
    {10, 10, 10, 2},  /* 2_10_10_10 */
    {8, 8, 8, 8},     /* 8_8_8_8 */
    {32, 32},         /* 32_32 */
    {16, 16, 16, 16}, /* 16_16_16_16 */
    {32, 32, 32},     /* 32_32_32 */
    {32, 32, 32, 32}, /* 32_32_32_32 */
};

bool texel_format(u32 data, u32 number, struct texel_format *format)
{
    *format = (struct texel_format){.data = (u8)data, .number = (u8)number};
    if (data >= ARRAY_LEN(layouts) || !layouts[data][0])
        return false;
    u32 total = 0;
    for (u32 c = 0; c < 4 && layouts[data][c]; c++) {
        format->bits[c] = layouts[data][c];
        format->shift[c] = (u8)total;
        format->packed |= layouts[data][c] % 8 != 0;
        format->components++;
        total += layouts[data][c];
    }
    format->bytes = (u8)(total / 8);
    for (u32 c = 0; c < format->components; c++) /* there are no floats of 2 or 8 bits */
        if (number == NUMBER_FLOAT && format->bits[c] < 10)
            return false;
    return true;
}

static u32 float_bits(f64 value)
{
    f32 narrow = (f32)value;
    u32 bits;
    memcpy(&bits, &narrow, sizeof bits);
    return bits;
}
static f64 float_value(u32 bits)
{
    f32 value;
    memcpy(&value, &bits, sizeof value);
    return (f64)value;
}

static const struct soft_rules rules = {.rounding = ROUND_NEAREST};

/* A float of 10 or 11 bits is an f16 without sign and with fewer bits of fraction. */
static u32 load_float(u32 raw, u32 bits)
{
    u32 half = bits == 16 ? raw : raw << (15 - bits);
    return (u32)soft_pack(SOFT_F32, soft_unpack(SOFT_F16, half), rules);
}

static u32 store_float(u32 word, u32 bits)
{
    struct soft value = soft_unpack(SOFT_F32, word);
    if (bits == 16)
        return (u32)soft_pack(SOFT_F16, value, rules);
    if (value.class == SOFT_NAN)
        return (1u << bits) - 1;
    if (value.negative || value.class == SOFT_ZERO)
        return 0;
    u32 fraction = bits - 5;
    f64 number = float_value(word), largest = (2 - ldexp(1, -(int)fraction)) * 0x1p15;
    if (number > largest) /* as for f16: halfway to the next power and beyond is infinity */
        return value.class == SOFT_FINITE && number < largest + ldexp(0.5, 15 - (int)fraction)
                   ? (31u << fraction) - 1
                   : 31u << fraction;
    int exponent = MAX(ilogb(number), -14);
    u32 scaled = (u32)nearbyint(ldexp(number, (int)fraction - exponent));
    return (u32)(exponent + 14) * (1u << fraction) + scaled;
}

u32 texel_one(const struct texel_format *format)
{
    return format->number == NUMBER_UINT || format->number == NUMBER_SINT ? 1 : 0x3f800000;
}

u32 texel_load(const struct texel_format *format, const u8 *from, u32 component)
{
    u32 bits = format->bits[component], shift = format->shift[component], raw = 0;
    if (format->packed) {
        memcpy(&raw, from, format->bytes);
        raw = raw >> shift & ((1u << bits) - 1);
    } else {
        memcpy(&raw, from + shift / 8, bits / 8);
    }
    if (bits == 32)
        return raw;
    const i32 as_signed = (i32)(raw << (32 - bits)) >> (32 - bits);
    const f64 all = (f64)((1ull << bits) - 1), half = (f64)((1ull << (bits - 1)) - 1);
    switch (format->number) {
    case NUMBER_UNORM:
        return float_bits(raw / all);
    case NUMBER_SNORM:
        return float_bits(MAX(as_signed / half, -1.0));
    case NUMBER_SNORM_OGL:
        return float_bits((2.0 * as_signed + 1) / all);
    case NUMBER_USCALED:
        return float_bits(raw);
    case NUMBER_SSCALED:
        return float_bits(as_signed);
    case NUMBER_FLOAT:
        return load_float(raw, bits);
    case NUMBER_SINT:
        return (u32)as_signed;
    default:
        return raw;
    }
}

/* Rounds to an integer of the component; NaN gives 0. */
static u32 round_within(f64 value, f64 low, f64 high)
{
    value = value != value ? 0 : value < low ? low : value > high ? high : value;
    return (u32)(i64)nearbyint(value);
}

u32 texel_store(const struct texel_format *format, u32 word, u32 component)
{
    u32 bits = format->bits[component];
    if (bits == 32)
        return word;
    u32 mask = (1u << bits) - 1;
    const f64 all = (f64)mask, half = (f64)(mask >> 1);
    switch (format->number) {
    case NUMBER_UNORM:
        return round_within(float_value(word) * all, 0, all) & mask;
    case NUMBER_SNORM:
        return round_within(float_value(word) * half, -half, half) & mask;
    case NUMBER_SNORM_OGL:
        return round_within((float_value(word) * all - 1) / 2, -half - 1, half) & mask;
    case NUMBER_USCALED:
        return round_within(float_value(word), 0, all) & mask;
    case NUMBER_SSCALED:
        return round_within(float_value(word), -half - 1, half) & mask;
    case NUMBER_FLOAT:
        return store_float(word, bits);
    case NUMBER_SINT: {
        i64 value = (i32)word, top = mask >> 1;
        return (u32)(value > top ? top : value < -top - 1 ? -top - 1 : value) & mask;
    }
    default:
        return MIN(word, mask);
    }
}
