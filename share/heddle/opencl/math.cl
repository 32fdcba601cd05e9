/* Functions of real numbers that libclc lacks or that are not right enough. */
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

/* ---- sinh and cosh of doubles: libclc looks them up in a table, beyond its end for numbers that
 * are large or none. The usual formulas keep each sum free of cancellation. ---- */

enum {
    HYPERBOLIC_LARGE = 22 /* beyond it exp(-x) is less than half an ULP of exp(x) */
};

/* exp(x) / 2 also where exp(x) is too large. */
static double half_exp_of(double x)
{
    double root = exp(0.5 * x);
    return x < 700.0 ? 0.5 * exp(x) : 0.5 * root * root;
}

PURE double cosh(double x)
{
    double y = fabs(x);
    if (y < 0.35) {
        double t = expm1(y);
        return 1.0 + t * t / (2.0 * (1.0 + t));
    }
    if (y < HYPERBOLIC_LARGE) {
        double t = exp(y);
        return 0.5 * t + 0.5 / t;
    }
    return half_exp_of(y);
}

PURE double sinh(double x)
{
    double y = fabs(x), t = expm1(y);
    if (y < 0x1p-28)
        return x;
    double result = y < 1.0                ? 0.5 * (2.0 * t - t * t / (t + 1.0))
                    : y < HYPERBOLIC_LARGE ? 0.5 * (t + t / (t + 1.0))
                                           : half_exp_of(y);
    return copysign(result, x);
}
WIDEN_1(double, cosh, double)
WIDEN_1(double, sinh, double)

/* ---- tgamma: Stirling's series, whose argument is made large by the recurrence ---- */

enum {
    STIRLING_FROM = 12 /* the first term left out, 1 / (156 x^13), is 2^-53.9 there */
};

/* The series' factor, 1 + 1/(12 x) + ..., by the logarithm's series, which has fewer terms. */
static double stirling_factor(double x)
{
    double y = 1.0 / x, z = y * y;
    double series = -691.0 / 360360.0;
    series = series * z + 1.0 / 1188.0;
    series = series * z - 1.0 / 1680.0;
    series = series * z + 1.0 / 1260.0;
    series = series * z - 1.0 / 360.0;
    series = series * z + 1.0 / 12.0;
    return exp(series * y);
}

/* For x from STIRLING_FROM on. */
static double gamma_large(double x)
{
    const double root_2_pi = 2.5066282746310005;
    double half_power = pow(x, 0.5 * x - 0.25); /* the power itself may be too large */
    return half_power * exp(-x) * half_power * root_2_pi * stirling_factor(x);
}

static double gamma_positive(double x)
{
    double product = 1.0, y = x;
    if (x > 172.0)
        return INFINITY;
    if (x < STIRLING_FROM) {
        y = x + STIRLING_FROM;
        /* What the sum has lost counts as much as the function's logarithm is steep there. */
        double lost = x - (y - STIRLING_FROM);
        for (int i = 0; i < STIRLING_FROM; i++)
            product *= x + i;
        product *= 1.0 - lost * (log(y) - 0.5 / y);
    }
    return gamma_large(y) / product;
}

PURE double tgamma(double x)
{
    if (isnan(x) || (x < 0.0 && x == floor(x)))
        return NAN;
    if (x == 0.0)
        return copysign((double)INFINITY, x);
    if (x > 0.0)
        return gamma_positive(x);
    double y = -x;
    return y > 184.0 ? copysign(0.0, sinpi(x)) * -1.0 : -M_PI / (y * sinpi(y) * gamma_positive(y));
}

PURE float tgamma(float x)
{
    return (float)tgamma((double)x);
}
WIDEN_1(double, tgamma, double)
WIDEN_1(float, tgamma, float)

#ifdef __NVPTX__
/* ---- ldexp: libclc's goes wrong at both ends. Steps that are too large are taken in parts, which
 * stay clear of denormals until the last, so that it is rounded once. ---- */

PURE double ldexp(double x, int n)
{
    const double down = 0x1p-1022 * 0x1p53;
    for (int i = 0; i < 2 && n > 1023; i++) {
        x *= 0x1p1023;
        n -= 1023;
    }
    for (int i = 0; i < 2 && n < -1022; i++) {
        x *= down;
        n += 1022 - 53;
    }
    n = n > 1023 ? 1023 : n < -1022 ? -1022 : n;
    return x * as_double((long)(1023 + n) << 52);
}

/* A double holds every step between floats, denormals too. */
PURE float ldexp(float x, int n)
{
    n = n > 300 ? 300 : n < -300 ? -300 : n;
    return (float)((double)x * as_double((long)(1023 + n) << 52));
}

#define LDEXP(type, n)                        \
    PURE type##n ldexp(type##n x, int k)      \
    {                                         \
        return ldexp(x, (int##n)k);           \
    }
#define LDEXP_WIDTHS(type)                    \
    WIDEN_2(type, ldexp, type, int)           \
    LDEXP(type, 2)                            \
    LDEXP(type, 3)                            \
    LDEXP(type, 4)                            \
    LDEXP(type, 8)                            \
    LDEXP(type, 16)
LDEXP_WIDTHS(double)
LDEXP_WIDTHS(float)
#endif
