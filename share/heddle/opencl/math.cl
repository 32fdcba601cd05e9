/*
 * Functions of real numbers that libclc 14 lacks, or whose results are outside the limits of OpenCL
 * C (section 7.4), or wrong for zeros, subnormal numbers, infinities or NaN. How good they and all
 * others are is in docs/opencl-builtins.md.
 *
 * They follow from the mathematics: reduction to a small interval, then Taylor's series there (for
 * the gamma function Stirling's), with as many terms as leave less than a quarter ULP.
 */

/* Where a function is defined here for one type, the compiler no longer knows it for the other. */
#define BOTH_TYPES(name)              \
    PURE float name(float);           \
    PURE double name(double);
BOTH_TYPES(sin)
BOTH_TYPES(cos)
BOTH_TYPES(tan)
BOTH_TYPES(sinh)
BOTH_TYPES(cosh)
BOTH_TYPES(sinpi)
BOTH_TYPES(cospi)
BOTH_TYPES(atan)
BOTH_TYPES(atanpi)
BOTH_TYPES(tgamma)
BOTH_TYPES(erfc)
BOTH_TYPES(exp)
BOTH_TYPES(exp2)
BOTH_TYPES(floor)
BOTH_TYPES(ceil)
BOTH_TYPES(round)
BOTH_TYPES(rint)
PURE float fmod(float, float);
PURE double fmod(double, double);

/* ---- cospi of n + 1/2 is +0 for all n; libraries give -0 for some ---- */

#define COSPI(type, pi)                                                       \
    PURE type cospi(type x)                                                   \
    {                                                                         \
        type y = fabs(x);                                                     \
        y -= 2 * floor(y / 2);                                                \
        y = y > 1 ? 2 - y : y; /* to here all is exact */                     \
        return y <= (type)0.25   ? cos(pi * y)                                \
               : y < (type)0.75  ? sin(pi * ((type)0.5 - y))                  \
                                 : -cos(pi * (1 - y));                        \
    }                                                                         \
    WIDEN_1(type, cospi, type)
COSPI(float, M_PI_F)
COSPI(double, M_PI)

/* ---- atanpi: libclc's of double makes 0 of -0 ---- */

PURE double atanpi(double x)
{
    return x == 0 ? x : atan(x) * M_1_PI;
}
WIDEN_1(double, atanpi, double)

/* ---- smoothstep: libclc lacks some forms ---- */

#define SMOOTHSTEP(type)                                                      \
    PURE type smoothstep(double edge0, double edge1, type x)                  \
    {                                                                         \
        type t = clamp((x - (type)edge0) / ((type)edge1 - (type)edge0), 0.0, 1.0); \
        return t * t * (3.0 - 2.0 * t);                                       \
    }
SMOOTHSTEP(double2)
SMOOTHSTEP(double3)
SMOOTHSTEP(double4)
SMOOTHSTEP(double8)
SMOOTHSTEP(double16)

/* Functions that store a second result: `name(x, &s)`. */
#define STORES_OF(type, space, name)                             \
    OVERLOAD type name(type x, space type *p)                    \
    {                                                            \
        type s, r = name(x, &s);                                 \
        *p = s;                                                  \
        return r;                                                \
    }
#define STORES_HALVES(type, half_type, name)                     \
    OVERLOAD type name(type x, private type *p)                  \
    {                                                            \
        half_type a, b, c = name(x.lo, &a), d = name(x.hi, &b);  \
        *p = (type)(a, b);                                       \
        return (type)(c, d);                                     \
    }
#define STORES_TO(type, name)           \
    STORES_OF(type, global, name)       \
    STORES_OF(type, local, name)
#define STORES(type, name)                                       \
    STORES_HALVES(type##2, type, name)                           \
    OVERLOAD type##3 name(type##3 x, private type##3 *p)         \
    {                                                            \
        type a, b, c, d = name(x.x, &a), e = name(x.y, &b), f = name(x.z, &c); \
        *p = (type##3)(a, b, c);                                 \
        return (type##3)(d, e, f);                               \
    }                                                            \
    STORES_HALVES(type##4, type##2, name)                        \
    STORES_HALVES(type##8, type##4, name)                        \
    STORES_HALVES(type##16, type##8, name)                       \
    STORES_TO(type, name)                                        \
    STORES_TO(type##2, name)                                     \
    STORES_TO(type##3, name)                                     \
    STORES_TO(type##4, name)                                     \
    STORES_TO(type##8, name)                                     \
    STORES_TO(type##16, name)

/* ---- nan of double: libclc's of 0 is infinite ---- */

PURE double nan(ulong code)
{
    return as_double(code | 0x7ff8000000000000);
}

WIDEN_1(double, nan, ulong)

/* ---- nextafter, fract: libclc loses signs of zeros ---- */

#define NEXTAFTER(type, bits_type, as_bits, as_type, lowest)                        \
    PURE type nextafter(type x, type y)                                             \
    {                                                                               \
        bits_type a = as_bits(x), b = as_bits(y);                                   \
        if (isnan(x) || isnan(y))                                                   \
            return x + y;                                                           \
        /* In the order of the numbers; both zeros are 0. */                        \
        bits_type from = a < 0 ? lowest - a : a, to = b < 0 ? lowest - b : b;       \
        if (from == to)                                                             \
            return y;                                                               \
        if (from == 0)                                                              \
            return as_type(to < 0 ? lowest + 1 : (bits_type)1);                     \
        return as_type((from < to) == (a > 0) ? a + 1 : a - 1);                     \
    }                                                                               \
    WIDEN_2(type, nextafter, type, type)
NEXTAFTER(float, int, as_int, as_float, INT_MIN)
NEXTAFTER(double, long, as_long, as_double, LONG_MIN)

#define FRACT(type, top)                                         \
    OVERLOAD type fract(type x, private type *p)                 \
    {                                                            \
        type whole = floor(x);                                   \
        *p = whole;                                              \
        if (x == 0 || isinf(x))                                  \
            return copysign((type)0, x);                         \
        return isnan(x) ? x : fmin(x - whole, top);              \
    }                                                            \
    STORES(type, fract)
FRACT(float, 0x1.fffffep-1f)
FRACT(double, 0x1.fffffffffffffp-1)

/* ---- sines: kernels for |x| up to a quarter of pi, with a small second part ---- */

static float sin_kernel_float(float x)
{
    float z = x * x;
    float p = fma(z, 0x1.71de3ap-19f, -0x1.a01a02p-13f);
    p = fma(z, p, 0x1.111112p-7f);
    p = fma(z, p, -0x1.555556p-3f);
    return fma(x * z, p, x);
}

static float cos_kernel_float(float x)
{
    float z = x * x;
    float p = fma(z, -0x1.27e4fcp-22f, 0x1.a01a02p-16f);
    p = fma(z, p, -0x1.6c16c2p-10f);
    p = fma(z, p, 0x1.555556p-5f);
    return fma(z * z, p, fma(z, -0.5f, 1.0f));
}

static double sin_kernel(double x, double rest)
{
    double z = x * x;
    double p = fma(z, 0x1.952c77030ad4ap-49, -0x1.ae7f3e733b81fp-41);
    p = fma(z, p, 0x1.6124613a86d09p-33);
    p = fma(z, p, -0x1.ae64567f544e4p-26);
    p = fma(z, p, 0x1.71de3a556c734p-19);
    p = fma(z, p, -0x1.a01a01a01a01ap-13);
    p = fma(z, p, 0x1.1111111111111p-7);
    p = fma(z, p, -0x1.5555555555555p-3);
    return x + fma(x * z, p, fma(rest, z * -0.5, rest));
}

static double cos_kernel(double x, double rest)
{
    double z = x * x, half_z = 0.5 * z, first = 1.0 - half_z;
    double p = fma(z, -0x1.6827863b97d97p-53, 0x1.ae7f3e733b81fp-45);
    p = fma(z, p, -0x1.93974a8c07c9dp-37);
    p = fma(z, p, 0x1.1eed8eff8d898p-29);
    p = fma(z, p, -0x1.27e4fb7789f5cp-22);
    p = fma(z, p, 0x1.a01a01a01a01ap-16);
    p = fma(z, p, -0x1.6c16c16c16c17p-10);
    p = fma(z, p, 0x1.5555555555555p-5);
    return first + fma(z * z, p, ((1.0 - first) - half_z) - x * rest);
}

/* ---- sin, cos, tan of double: libclc reads past the end of its table, and loses -0 ---- */

#define HALF_PI_1 0x1.921fb54442d18p+0
#define HALF_PI_2 0x1.1a62633145c07p-54
#define HALF_PI_3 -0x1.f1976b7ed8fbcp-110

/* The digits of 2/pi after the point; before them 64 zeros, so that any window begins inside. */
static constant const ulong two_over_pi[20] = {
    0,
    0xa2f9836e4e441529, 0xfc2757d1f534ddc0, 0xdb6295993c439041, 0xfe5163abdebbc561,
    0xb7246e3a424dd2e0, 0x06492eea09d1921c, 0xfe1deb1cb129a73e, 0xe88235f52ebb4484,
    0xe99c7026b45f7e41, 0x3991d639835339f4, 0x9c845f8bbdf9283b, 0x1ff897ffde05980f,
    0xef2f118b5a0a6d1f, 0x6d367ecf27cb09b7, 0x4f463f669e5fea2d, 0x7527bac7ebe5f17b,
    0x3d0739f78a5292ea, 0x6bfb5fb11f8d5d08, 0x56033046fc7b6bab,
};

struct angle {
    double value, rest; /* their sum, at most pi/4 */
    int quadrant;
};

/* x = m 2^e, m whole: digits of 2/pi that x makes multiples of 4 are left out, and of the next 192
 * the product with m is exact; two bits of it are the quadrant, the rest the place in it. */
static struct angle reduce_large(double x)
{
    struct angle angle;
    ulong bits = as_ulong(x), m = (bits & 0xfffffffffffff) | 0x10000000000000;
    int place = (int)(bits >> 52 & 0x7ff) - 1075 - 2 + 64;
    int word = place >> 6, shift = place & 63;
    ulong w[3];
    for (int i = 0; i < 3; i++)
        w[i] = shift ? two_over_pi[word + i] << shift | two_over_pi[word + i + 1] >> (64 - shift)
                     : two_over_pi[word + i];
    ulong low = w[2] * m, middle = w[1] * m, high = w[0] * m, carry = mul_hi(w[2], m);
    middle += carry;
    high += mul_hi(w[1], m) + (middle < carry);
    angle.quadrant = (int)(high >> 62);
    high = high << 2 | middle >> 62;
    middle = middle << 2 | low >> 62;
    low <<= 2;
    bool over = high >> 63; /* beyond the middle: count back from the next */
    if (over) {
        angle.quadrant++;
        high = ~high, middle = ~middle, low = ~low;
    }
    int scale = 0;
    if (!high) { /* no double is so close to a multiple that the next were 0 too */
        high = middle, middle = low, low = 0;
        scale = -64;
    }
    int zeros = (int)clz(high);
    if (zeros) {
        high = high << zeros | middle >> (64 - zeros);
        middle = middle << zeros | low >> (64 - zeros);
    }
    scale -= zeros;
    double unit = as_double((ulong)(1023 - 53 + scale) << 52);
    double a = (double)(high >> 11) * unit;
    double b = (double)((high & 0x7ff) << 42 | middle >> 22) * (unit * 0x1p-53);
    if ((bits >> 63) != over)
        a = -a, b = -b;
    if (bits >> 63)
        angle.quadrant = -angle.quadrant;
    angle.value = a * HALF_PI_1;
    angle.rest = fma(a, HALF_PI_1, -angle.value) + fma(a, HALF_PI_2, b * HALF_PI_1);
    return angle;
}

static struct angle reduce(double x)
{
    struct angle angle;
    if (fabs(x) >= 0x1p20 && isfinite(x))
        return reduce_large(x);
    double n = rint(x * 0x1.45f306dc9c883p-1);
    /* The first difference is exact, as is the second with what it leaves. */
    double first = fma(-n, HALF_PI_1, x), p = n * HALF_PI_2, q = fma(n, HALF_PI_2, -p);
    angle.value = first - p;
    double back = angle.value - first;
    angle.rest = (first - (angle.value - back)) - (p + back);
    angle.rest = fma(-n, HALF_PI_3, angle.rest - q);
    angle.quadrant = (int)n;
    return angle;
}

static double sin_at(struct angle angle)
{
    double y = angle.quadrant & 1 ? cos_kernel(angle.value, angle.rest)
                                  : sin_kernel(angle.value, angle.rest);
    return angle.quadrant & 2 ? -y : y;
}

PURE double sin(double x)
{
    return fabs(x) < 0x1p-27 ? x : sin_at(reduce(x));
}

PURE double cos(double x)
{
    struct angle angle = reduce(x);
    angle.quadrant++;
    return sin_at(angle);
}

PURE double tan(double x)
{
    if (fabs(x) < 0x1p-27)
        return x;
    struct angle angle = reduce(x);
    double s = sin_kernel(angle.value, angle.rest), c = cos_kernel(angle.value, angle.rest);
    return angle.quadrant & 1 ? -c / s : s / c;
}

OVERLOAD double sincos(double x, private double *cosine)
{
    struct angle angle = reduce(x);
    double s = sin_at(angle);
    angle.quadrant++;
    *cosine = sin_at(angle);
    return fabs(x) < 0x1p-27 ? x : s;
}

WIDEN_1(double, sin, double)
WIDEN_1(double, cos, double)
WIDEN_1(double, tan, double)
STORES(double, sincos)

/* ---- sinpi, tanpi: libclc gives some zeros the wrong sign ---- */

#define SINPI(type, pi, sine, cosine)                                        \
    PURE type sinpi(type x)                                                  \
    {                                                                        \
        type r = x - 2 * rint(x * (type)0.5); /* exact, -1 to 1 */           \
        if (r == 0 || fabs(r) == 1)                                          \
            return copysign((type)0, x);                                     \
        if (fabs(r) > (type)0.5)                                             \
            r = copysign((type)1, r) - r;                                    \
        if (fabs(r) > (type)0.25)                                            \
            return copysign(cosine(((type)0.5 - fabs(r)) * pi), r);          \
        return sine(r * pi);                                                 \
    }                                                                        \
    PURE type tanpi(type x)                                                  \
    {                                                                        \
        type n = rint(x), r = x - n;                                         \
        bool odd = n - 2 * trunc(n * (type)0.5) != 0;                        \
        if (r == 0)                                                          \
            return copysign((type)0, odd ? -x : x);                          \
        type a = fabs(r);                                                    \
        if (a == (type)0.5) /* of the two whole numbers beside, n is even */ \
            return r > 0 ? (type)INFINITY : -(type)INFINITY;                 \
        type b = (a > (type)0.25 ? (type)0.5 - a : a) * pi;                  \
        type s = sine(b), c = cosine(b);                                     \
        return copysign(a > (type)0.25 ? c / s : s / c, r);                  \
    }                                                                        \
    WIDEN_1(type, sinpi, type)                                                        \
    WIDEN_1(type, tanpi, type)
#define SIN_DOUBLE(x) sin_kernel(x, 0)
#define COS_DOUBLE(x) cos_kernel(x, 0)
SINPI(float, M_PI_F, sin_kernel_float, cos_kernel_float)
SINPI(double, M_PI, SIN_DOUBLE, COS_DOUBLE)

/* ---- sinh and cosh of double: libclc reads far beyond its tables for infinities and NaN ---- */

PURE double cosh(double x)
{
    double a = fabs(x);
    if (a > 700) { /* the square of the half, which does not overflow too early */
        double h = exp(0.5 * fmin(a, 2000.0));
        return isnan(x) ? x : (0.5 * h) * h;
    }
    double e = exp(a);
    return isnan(x) ? x : fma(0.5, e, 0.5 / e);
}

PURE double sinh(double x)
{
    double a = fabs(x), y;
    if (a < 0x1p-28 || isnan(x))
        return x;
    if (a < 1) {
        double e = expm1(a);
        y = 0.5 * (e + e / (e + 1));
    } else if (a > 700) {
        double h = exp(0.5 * fmin(a, 2000.0));
        y = (0.5 * h) * h;
    } else {
        double e = exp(a);
        y = fma(0.5, e, -0.5 / e);
    }
    return copysign(y, x);
}

WIDEN_1(double, cosh, double)
WIDEN_1(double, sinh, double)

/* ---- tgamma: libclc's is the exponential of lgamma ---- */

/* Gamma(a), a > 0, is factor * power * power: neither overflows before all of it does. From 9 on by
 * Stirling's series, below by the function of a + n and the product of what lies between. */
static double gamma_factor(double a, private double *power)
{
    double product = 1, base = a;
    int n = a < 9 ? (int)ceil(9 - a) : 0;
    for (int i = 0; i < n; i++)
        product *= base + i;
    a = base + n;
    double lost = base - (a - n); /* what rounding has taken from a; log a is the derivative */
    double y = 1 / a, z = y * y;
    double p = fma(z, 0x1.6fe96381e0680p-3, -0x1.e4286cb0f5398p-6);
    p = fma(z, p, 0x1.a41a41a41a41ap-8);
    p = fma(z, p, -0x1.f6ab0d9993c7dp-10);
    p = fma(z, p, 0x1.b951e2b18ff23p-11);
    p = fma(z, p, -0x1.3813813813814p-11);
    p = fma(z, p, 0x1.a01a01a01a01ap-11);
    p = fma(z, p, -0x1.6c16c16c16c17p-9);
    p = fma(z, p, 0x1.5555555555555p-4);
    p = fma(p, y, lost * (log(a) - 0.5 * y));
    *power = pow(a, fma(0.5, a, -0.25));
    double e = exp(-a) * 0x1.40d931ff62706p+1; /* sqrt(2 pi) */
    return fma(e, expm1(p), e) / product;
}

PURE double tgamma(double x)
{
    double a = fabs(x), power;
    if (isnan(x) || x == INFINITY)
        return x;
    if (a < 0x1p-60)
        return 1 / x;
    if (x > 172)
        return INFINITY;
    if (x < 0 && floor(x) == x)
        return NAN;
    if (x < -190)
        return fmod(floor(x), 2.0) == 0 ? 0.0 : -0.0;
    double factor = gamma_factor(a, &power);
    if (x > 0)
        return factor * power * power;
    return -M_PI / (a * sinpi(a)) / factor / power / power;
}

PURE float tgamma(float x)
{
    return (float)tgamma((double)x);
}

/* libclc's loses digits from 7 on. */
PURE float erfc(float x)
{
    return (float)erfc((double)x);
}

WIDEN_1(double, tgamma, double)
WIDEN_1(float, tgamma, float)
WIDEN_1(float, erfc, float)

#ifndef __NVPTX__
/* ---- Southern Islands has only trunc of double; what the compiler makes of the others from it
 * loses -0, and floor of small negative numbers is not whole ---- */

PURE double floor(double x)
{
    double t = trunc(x);
    return t > x ? t - 1 : t;
}

PURE double ceil(double x)
{
    double t = trunc(x);
    return t < x ? t + 1 : t;
}

#define ROUND_AWAY(type)                                                                \
    PURE type round(type x)                                                        \
    {                                                                              \
        type t = trunc(x);                                                         \
        return fabs(x - t) >= (type)0.5 ? t + copysign((type)1, x) : t;            \
    }                                                                              \
    WIDEN_1(type, round, type)
ROUND_AWAY(float)
ROUND_AWAY(double)

PURE double rint(double x)
{
    double big = copysign(0x1p52, x);
    return fabs(x) < 0x1p52 ? copysign((x + big) - big, x) : x;
}

WIDEN_1(double, floor, double)
WIDEN_1(double, ceil, double)
WIDEN_1(double, rint, double)
#endif

#ifdef __NVPTX__
#include "subnormal.cl"
#endif
