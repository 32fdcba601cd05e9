/* Numbers from the command line: see values.h. */
#include "cli/values.h"

#include "base/text.h"
#include <ctype.h>
#include <fenv.h>
#include <locale.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>

static const struct kind {
    const char *name;
    u32 size;
    char class; /* unsigned, signed, float */
} kinds[] = {
    {"u8", 1, 'u'},  {"s8", 1, 's'},  {"u16", 2, 'u'}, {"s16", 2, 's'},
    {"u32", 4, 'u'}, {"s32", 4, 's'}, {"u64", 8, 'u'}, {"s64", 8, 's'},
    {"f16", 2, 'f'}, {"f32", 4, 'f'}, {"f64", 8, 'f'},
};

const char *scalar_type(const char *type, size_t length)
{
    for (u32 i = 0; i < ARRAY_LEN(kinds); i++)
        if (strlen(kinds[i].name) == length && !memcmp(kinds[i].name, type, length))
            return kinds[i].name;
    return NULL;
}

/* ---- integers ---- */

static bool parse_unsigned(const struct kind *kind, const char *text, u64 *bits,
                           struct error *error)
{
    u64 max = kind->size == 8 ? UINT64_MAX : (1ull << 8 * kind->size) - 1;
    enum text_result result = text_u64(text, bits);
    i64 negative;
    if (result == TEXT_SYNTAX && text_i64(text, &negative) == TEXT_OK)
        result = TEXT_RANGE;
    if (result == TEXT_SYNTAX)
        return error_set(error, ERROR_USAGE, "", "'%.64s' is not an integer: expected 0 to %llu",
                         text, (unsigned long long)max);
    if (result == TEXT_RANGE || *bits > max)
        return error_set(error, ERROR_USAGE, "", "%.64s does not fit in %s: expected 0 to %llu",
                         text, kind->name, (unsigned long long)max);
    return true;
}

static bool parse_signed(const struct kind *kind, const char *text, u64 *bits, struct error *error)
{
    i64 max = (i64)(UINT64_MAX >> (65 - 8 * kind->size)), value;
    enum text_result result = text_i64(text, &value);
    if (result == TEXT_SYNTAX)
        return error_set(error, ERROR_USAGE, "", "'%.64s' is not an integer: expected %lld to %lld",
                         text, (long long)(-max - 1), (long long)max);
    if (result == TEXT_RANGE || value > max || value < -max - 1)
        return error_set(error, ERROR_USAGE, "", "%.64s does not fit in %s: expected %lld to %lld",
                         text, kind->name, (long long)(-max - 1), (long long)max);
    *bits = (u64)value;
    return true;
}

/* ---- floats ---- */

/*
 * The written number rounded to odd: truncated to f64, with its last bit set if anything was cut
 * off. Rounding this to 11 bits gives the same result as rounding the exact number.
 */
static f64 parse_to_odd(const char *text, locale_t locale)
{
    int mode = fegetround();
    fesetround(FE_TOWARDZERO);
    f64 low = strtod_l(text, NULL, locale);
    fesetround(low < 0 || *text == '-' ? FE_DOWNWARD : FE_UPWARD);
    f64 high = strtod_l(text, NULL, locale);
    fesetround(mode);
    u64 bits;
    memcpy(&bits, &low, 8);
    bits |= low != high;
    memcpy(&low, &bits, 8);
    return low;
}

/* f64 to f16 bits, to nearest even; overflow gives infinity. */
static u16 f16_bits(f64 value)
{
    u64 bits;
    memcpy(&bits, &value, 8);
    u16 sign = (u16)(bits >> 48 & 0x8000);
    f64 size = fabs(value);
    if (isnan(value))
        return sign | 0x7e00;
    if (size >= 65520) /* halfway between the largest, 65504, and the next value */
        return sign | 0x7c00;
    /* In units of the last place: 2^-24 below 2^-14, else 2^(exponent - 10). */
    int exponent = size < 0x1p-14 ? -14 : ilogb(size);
    f64 units = ldexp(size, 10 - exponent);
    u32 whole = (u32)units;
    f64 rest = units - whole;
    whole += rest > 0.5 || (rest == 0.5 && (whole & 1));
    /* a carry out of the fraction increments the exponent */
    return sign | (u16)(whole + ((u32)(exponent + 14) << 10));
}

static bool plain_float(const char *text, locale_t locale)
{
    char *end;
    if (!*text || isspace((u8)*text))
        return false;
    strtod_l(text, &end, locale);
    return !*end;
}

static bool parse_float(const struct kind *kind, const char *text, u64 *bits, struct error *error)
{
    static const char *const largest[] = {[2] = "65504", [4] = "3.4028235e38", [8] = "1.798e308"};
    locale_t locale = newlocale(LC_ALL_MASK, "C", (locale_t)0);
    if (!locale)
        return error_set(error, ERROR_MEMORY, "", "out of memory");
    bool ok = plain_float(text, locale), infinite = false;
    *bits = 0;
    if (ok && kind->size == 2) {
        *bits = f16_bits(parse_to_odd(text, locale));
        infinite = (*bits & 0x7fff) == 0x7c00;
    } else if (ok && kind->size == 4) {
        f32 value = strtof_l(text, NULL, locale);
        memcpy(bits, &value, 4);
        infinite = isinf(value);
    } else if (ok) {
        f64 value = strtod_l(text, NULL, locale);
        memcpy(bits, &value, 8);
        infinite = isinf(value);
    }
    freelocale(locale);
    if (!ok)
        return error_set(error, ERROR_USAGE, "",
                         "'%.64s' is not a number: expected one like 1.5, 2e-3, 0x1p4, inf or nan",
                         text);
    const char *digits = text + strspn(text, "+-");
    if (infinite && tolower((u8)*digits) != 'i')
        return error_set(error, ERROR_USAGE, "",
                         "%.64s does not fit in %s: the largest is %s; write inf for infinity",
                         text, kind->name, largest[kind->size]);
    return true;
}

bool scalar_parse(const char *type, const char *text, struct scalar *scalar, struct error *error)
{
    const struct kind *kind = kinds;
    while (strcmp(kind->name, type) != 0)
        kind++;
    u64 bits;
    bool ok = kind->class == 'f'   ? parse_float(kind, text, &bits, error)
              : kind->class == 's' ? parse_signed(kind, text, &bits, error)
                                   : parse_unsigned(kind, text, &bits, error);
    if (!ok)
        return false;
    scalar->type = kind->name;
    scalar->size = kind->size;
    scalar->is_float = kind->class == 'f';
    memcpy(scalar->data, &bits, 8);
    return true;
}

/* ---- dimensions ---- */

bool dim_parse(const char *text, struct hd_dim *dim, struct error *error)
{
    u32 *const parts[] = {&dim->x, &dim->y, &dim->z};
    *dim = (struct hd_dim){1, 1, 1};
    const char *at = text;
    for (u32 i = 0;; i++) {
        char part[32];
        size_t length = strcspn(at, ",");
        u64 value = 0;
        snprintf(part, sizeof part, "%.*s", (int)MIN(length, sizeof part - 1), at);
        if (i == 3 || length >= sizeof part || text_u64(part, &value) != TEXT_OK || !value ||
            value > UINT32_MAX)
            return error_set(error, ERROR_USAGE, "",
                             "'%.64s' is not a size: expected X[,Y[,Z]], each from 1 to 4294967295",
                             text);
        *parts[i] = (u32)value;
        if (!at[length])
            return true;
        at += length + 1;
    }
}

const char *dim_text(struct hd_dim dim, char *buffer, size_t size)
{
    if (dim.z > 1)
        snprintf(buffer, size, "%u,%u,%u", dim.x, dim.y, dim.z);
    else if (dim.y > 1)
        snprintf(buffer, size, "%u,%u", dim.x, dim.y);
    else
        snprintf(buffer, size, "%u", dim.x);
    return buffer;
}
