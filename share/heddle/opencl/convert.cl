/*
 * Conversions: libclc turns no number (NaN) into the least integer where it must become 0, and
 * steps the wrong way where an integer rounds up to a power of two that its type does not have.
 */

/* ---- to integers, saturated: F is real, T whole, from `least` to below `beyond`, a power of 2 */

#define SATURATE(F, T, least, most, beyond, suffix, rounded)                          \
    PURE T convert_##T##_sat##suffix(F x)                                             \
    {                                                                                 \
        F y = rounded;                                                                \
        if (y >= (F)(beyond))                                                         \
            return (T)(most);                                                         \
        return isnan(x) ? (T)0 : y <= (F)(least) ? (T)(least) : (T)y;                 \
    }                                                                                 \
    WIDEN_CONVERT(T, _sat##suffix, F)
#define SATURATE_MODES(F, T, least, most, beyond)               \
    SATURATE(F, T, least, most, beyond, , trunc(x))             \
    SATURATE(F, T, least, most, beyond, _rtz, trunc(x))         \
    SATURATE(F, T, least, most, beyond, _rte, rint(x))          \
    SATURATE(F, T, least, most, beyond, _rtp, ceil(x))          \
    SATURATE(F, T, least, most, beyond, _rtn, floor(x))
#define SATURATE_TYPES(F)                                                \
    SATURATE_MODES(F, char, CHAR_MIN, CHAR_MAX, 0x1p7)                   \
    SATURATE_MODES(F, uchar, 0, UCHAR_MAX, 0x1p8)                        \
    SATURATE_MODES(F, short, SHRT_MIN, SHRT_MAX, 0x1p15)                 \
    SATURATE_MODES(F, ushort, 0, USHRT_MAX, 0x1p16)                      \
    SATURATE_MODES(F, int, INT_MIN, INT_MAX, 0x1p31)                     \
    SATURATE_MODES(F, uint, 0, UINT_MAX, 0x1p32)                         \
    SATURATE_MODES(F, long, LONG_MIN, LONG_MAX, 0x1p63)                  \
    SATURATE_MODES(F, ulong, 0, ULONG_MAX, 0x1p64)
SATURATE_TYPES(float)
SATURATE_TYPES(double)

/* ---- to real numbers: the nearest first, then a step if it is on the wrong side ---- */

static float float_below(float x)
{
    return as_float(as_int(x) + (x > 0.0f ? -1 : 1));
}

static float float_above(float x)
{
    return as_float(as_int(x) + (x > 0.0f ? 1 : -1));
}

static double double_below(double x)
{
    return as_double(as_long(x) + (x > 0.0 ? -1 : 1));
}

static double double_above(double x)
{
    return as_double(as_long(x) + (x > 0.0 ? 1 : -1));
}

#define ROUND(F, T, beyond)                                                        \
    PURE F convert_##F##_rtn(T x)                                                  \
    {                                                                              \
        F y = (F)x;                                                                \
        return y >= (F)(beyond) || (T)y > x ? F##_below(y) : y;                    \
    }                                                                              \
    PURE F convert_##F##_rtp(T x)                                                  \
    {                                                                              \
        F y = (F)x;                                                                \
        return y < (F)(beyond) && (T)y < x ? F##_above(y) : y;                     \
    }                                                                              \
    PURE F convert_##F##_rtz(T x)                                                  \
    {                                                                              \
        return x < 0 ? convert_##F##_rtp(x) : convert_##F##_rtn(x);                \
    }                                                                              \
    WIDEN_CONVERT(F, _rtn, T)                                                      \
    WIDEN_CONVERT(F, _rtp, T)                                                      \
    WIDEN_CONVERT(F, _rtz, T)
ROUND(float, int, 0x1p31)
ROUND(float, uint, 0x1p32)
ROUND(float, long, 0x1p63)
ROUND(float, ulong, 0x1p64)
ROUND(double, long, 0x1p63)
ROUND(double, ulong, 0x1p64)
