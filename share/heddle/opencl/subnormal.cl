/*
 * Functions of float in which libclc takes subnormal numbers for zeros, for machines that have
 * them; included by math.cl.
 */

/* ---- ldexp ---- */

/* In steps, of which only the last can round: a product that a later step makes smaller by
 * 2^(digits) at least is not subnormal itself, unless it vanishes anyway. */
#define LDEXP(type, bits_type, as_type, digits, bias)                              \
    static OVERLOAD type power_of_two(type unused, int n)                                   \
    {                                                                              \
        return as_type((bits_type)(n + bias) << (digits - 1));                     \
    }                                                                              \
    PURE type ldexp(type x, int n)                                                 \
    {                                                                              \
        const int down = bias - 1 - digits;                                        \
        for (int i = 0; i < 2 && n > bias; i++, n -= bias)                         \
            x *= power_of_two(x, bias);                                            \
        for (int i = 0; i < 2 && n < 1 - bias; i++, n += down)                     \
            x *= power_of_two(x, -down);                                           \
        return x * power_of_two(x, clamp(n, 1 - bias, bias));                      \
    }                                                                              \
    WIDEN_2(type, ldexp, type, int)                                                        \
    LDEXP_ONE(type##2, int2)                                                       \
    LDEXP_ONE(type##3, int3)                                                       \
    LDEXP_ONE(type##4, int4)                                                       \
    LDEXP_ONE(type##8, int8)                                                       \
    LDEXP_ONE(type##16, int16)
#define LDEXP_ONE(type, integers)            \
    PURE type ldexp(type x, int n)           \
    {                                        \
        return ldexp(x, (integers)n);        \
    }
LDEXP(float, uint, as_float, 24, 127)
LDEXP(double, ulong, as_double, 53, 1023)

/* ---- exponentials ---- */

/* e^r 2^k, r small: the scale in two parts, of which neither is too small or too large. */
static float exp_scaled(float r, float k)
{
    float p = fma(r, 0x1.a01a02p-13f, 0x1.6c16c2p-10f);
    p = fma(r, p, 0x1.111112p-7f);
    p = fma(r, p, 0x1.555556p-5f);
    p = fma(r, p, 0x1.555556p-3f);
    p = fma(r, p, 0.5f);
    p = fma(r * r, p, r) + 1.0f;
    int n = (int)k, half_n = n >> 1;
    return p * as_float((half_n + 127) << 23) * as_float((n - half_n + 127) << 23);
}

PURE float exp(float x)
{
    float y = clamp(x, -110.0f, 100.0f), k = rint(y * 0x1.715476p+0f);
    float r = fma(k, 0x1.05c61p-29f, fma(k, -0x1.62e43p-1f, y));
    return isnan(x) ? x : exp_scaled(r, k);
}

PURE float exp2(float x)
{
    float y = clamp(x, -160.0f, 140.0f), k = rint(y);
    return isnan(x) ? x : exp_scaled((y - k) * M_LN2_F, k);
}

WIDEN_1(float, exp, float)
WIDEN_1(float, exp2, float)

/* ---- remainders ---- */

/* |x| modulo |y|, both finite, y not 0; the quotient's last 32 bits. */
static float modulo(float x, float y, private uint *quotient)
{
    uint a = as_uint(x) & 0x7fffffff, b = as_uint(y) & 0x7fffffff;
    int exponent_a = max((int)(a >> 23), 1), exponent_b = max((int)(b >> 23), 1);
    *quotient = 0;
    if (exponent_a < exponent_b)
        return as_float(a);
    /* Whole numbers of units of 2^exponent. */
    a = a >> 23 ? (a & 0x7fffff) | 0x800000 : a;
    b = b >> 23 ? (b & 0x7fffff) | 0x800000 : b;
    uint q = a / b, rest = a % b;
    for (int left = exponent_a - exponent_b; left > 0; left -= 32) {
        int step = min(left, 32);
        ulong wide = (ulong)rest << step;
        q = (step == 32 ? 0 : q << step) + (uint)(wide / b);
        rest = (uint)(wide % b);
    }
    *quotient = q;
    return ldexp((float)rest, exponent_b - 150);
}

PURE float fmod(float x, float y)
{
    uint q;
    if (isnan(x) || isinf(x) || isnan(y) || y == 0)
        return NAN;
    return isinf(y) ? x : copysign(modulo(x, y, &q), x);
}

OVERLOAD float remquo(float x, float y, private int *quotient)
{
    uint q = 0;
    *quotient = 0;
    if (isnan(x) || isinf(x) || isnan(y) || y == 0)
        return NAN;
    if (isinf(y))
        return x;
    float b = fabs(y), r = modulo(x, y, &q), other = b - r;
    if (r > other || (r == other && q & 1)) { /* the next multiple is nearer, or is the even one */
        r = r - b;
        q++;
    }
    int low = (int)(q & 127);
    *quotient = signbit(x) != signbit(y) ? -low : low;
    return r == 0 ? copysign(0.0f, x) : signbit(x) ? -r : r;
}

PURE float remainder(float x, float y)
{
    int q;
    return remquo(x, y, &q);
}

WIDEN_2(float, fmod, float, float)
WIDEN_2(float, remainder, float, float)

#define REMQUO_HALVES(n, half_type, half_int)                                               \
    OVERLOAD float##n remquo(float##n x, float##n y, private int##n *p)                     \
    {                                                                                       \
        half_int a, b;                                                                      \
        half_type c = remquo(x.lo, y.lo, &a), d = remquo(x.hi, y.hi, &b);                   \
        *p = (int##n)(a, b);                                                                \
        return (float##n)(c, d);                                                            \
    }
#define REMQUO_TO(n, space)                                                                 \
    OVERLOAD float##n remquo(float##n x, float##n y, space int##n *p)                       \
    {                                                                                       \
        int##n q;                                                                           \
        float##n r = remquo(x, y, &q);                                                      \
        *p = q;                                                                             \
        return r;                                                                           \
    }
#define REMQUO_OUT(n)       \
    REMQUO_TO(n, global)    \
    REMQUO_TO(n, local)
REMQUO_HALVES(2, float, int)
OVERLOAD float3 remquo(float3 x, float3 y, private int3 *p)
{
    int a, b, c;
    float d = remquo(x.x, y.x, &a), e = remquo(x.y, y.y, &b), f = remquo(x.z, y.z, &c);
    *p = (int3)(a, b, c);
    return (float3)(d, e, f);
}
REMQUO_HALVES(4, float2, int2)
REMQUO_HALVES(8, float4, int4)
REMQUO_HALVES(16, float8, int8)
REMQUO_OUT()
REMQUO_OUT(2)
REMQUO_OUT(3)
REMQUO_OUT(4)
REMQUO_OUT(8)
REMQUO_OUT(16)

/* ---- roots ---- */

/* Of libclc's own, which is right for all other numbers. */
float HD_OVERLOAD __clc_rootn(float x, int n);

PURE float rootn(float x, int n)
{
    return n == 1 ? x : n == -1 ? 1.0f / x : __clc_rootn(x, n);
}

WIDEN_2(float, rootn, float, int)
