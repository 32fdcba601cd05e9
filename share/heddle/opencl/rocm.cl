/* Functions that AMD's device libraries have and do wrong. */

/* They subtract in the arguments' own type, where the difference can overflow. */
#define ABS_DIFF(type, result)                                   \
    PURE result abs_diff(type a, type b)                         \
    {                                                            \
        return a > b ? (result)a - (result)b : (result)b - (result)a; \
    }                                                            \
    WIDEN_2(result, abs_diff, type, type)
ABS_DIFF(char, uchar)
ABS_DIFF(short, ushort)
ABS_DIFF(int, uint)
ABS_DIFF(long, ulong)

/* Theirs makes 0 of -0. */
double __ocml_log1p_f64(double x) __attribute__((const));

PURE double log1p(double x)
{
    return x == 0 ? x : __ocml_log1p_f64(x);
}
WIDEN_1(double, log1p, double)

/* Theirs makes NaN of 0 where numbers are said to be finite. */
double __ocml_cbrt_f64(double x) __attribute__((const));

PURE double cbrt(double x)
{
    return x == 0 ? x : __ocml_cbrt_f64(x);
}
WIDEN_1(double, cbrt, double)

/* Theirs scales its argument twice. */
PURE float native_tan(float x)
{
    return native_sin(x) / native_cos(x);
}
WIDEN_1(float, native_tan, float)
