// Errors of mathematical functions against MPFR, in units in the last place (ULP) of the exact result.
// A row's limit is the maximum that CUDA documents for the function.
//
//   math [COUNT]    inputs of each function; prints the table
#include <cmath>
#include <cstdio>
#include <cstdlib>
#include <mpfr.h>

enum {
    BITS = 160,   // of the exact results
    SPECIAL = 24, // inputs that are not random
    MOST = 1 << 16
};

template <typename T> struct row {
    const char *name;
    int (*exact)(mpfr_t, const mpfr_t, mpfr_rnd_t);
    int (*exact2)(mpfr_t, const mpfr_t, const mpfr_t, mpfr_rnd_t);
    double low, high; // of inputs: of random numbers; exponents of powers of two if `wide`
    bool wide;
    double limit;
    void (*kernel)(const T *, const T *, T *, int);
};

#define ONE(name)                                                                        \
    template <typename T> __global__ void k_##name(const T *x, const T *, T *out, int n) \
    {                                                                                    \
        const int i = blockIdx.x * blockDim.x + threadIdx.x;                             \
        if (i < n)                                                                       \
            out[i] = name(x[i]);                                                         \
    }
#define TWO(name)                                                                          \
    template <typename T> __global__ void k_##name(const T *x, const T *y, T *out, int n)  \
    {                                                                                      \
        const int i = blockIdx.x * blockDim.x + threadIdx.x;                               \
        if (i < n)                                                                         \
            out[i] = name(x[i], y[i]);                                                     \
    }
ONE(sin) ONE(cos) ONE(tan) ONE(exp) ONE(exp2) ONE(expm1) ONE(log) ONE(log2) ONE(log10) ONE(log1p)
ONE(sqrt) ONE(rsqrt) ONE(cbrt) ONE(asin) ONE(acos) ONE(atan) ONE(sinh) ONE(cosh) ONE(tanh)
ONE(asinh) ONE(acosh) ONE(atanh) ONE(erf) ONE(erfc) ONE(tgamma)
TWO(pow) TWO(hypot) TWO(atan2) TWO(fmod)

static int exact_rsqrt(mpfr_t to, const mpfr_t x, mpfr_rnd_t mode)
{
    const int sign = mpfr_rec_sqrt(to, x, mode);
    if (mpfr_zero_p(x)) // CUDA: the infinity of the zero's sign
        mpfr_setsign(to, to, mpfr_signbit(x), mode);
    return sign;
}

template <typename T> static int digits();
template <> int digits<float>()
{
    return 24;
}
template <> int digits<double>()
{
    return 53;
}
template <typename T> static int lowest();
template <> int lowest<float>()
{
    return -125;
}
template <> int lowest<double>()
{
    return -1021;
}

// The distance of a result from the exact one, in ULP of that; huge where one of them is not finite.
template <typename T> static double error_of(T got, const mpfr_t exact)
{
    const T rounded = sizeof(T) == 4 ? (T)mpfr_get_flt(exact, MPFR_RNDN) : (T)mpfr_get_d(exact, MPFR_RNDN);
    if (std::isnan(rounded) || std::isinf(rounded) || std::isnan(got) || std::isinf(got))
        return std::isnan(rounded) == std::isnan(got) && (std::isnan(got) || got == rounded) ? 0 : 1e9;
    mpfr_t difference;
    mpfr_init2(difference, BITS);
    mpfr_sub_d(difference, exact, (double)got, MPFR_RNDN);
    const int exponent = mpfr_zero_p(exact) ? lowest<T>() : (int)mpfr_get_exp(exact);
    mpfr_mul_2si(difference, difference, digits<T>() - (exponent < lowest<T>() ? lowest<T>() : exponent), MPFR_RNDN);
    const double error = std::fabs(mpfr_get_d(difference, MPFR_RNDN));
    mpfr_clear(difference);
    return error;
}

static double random_unit()
{
    return ((double)rand() + (double)rand() / RAND_MAX) / ((double)RAND_MAX + 1);
}

template <typename T> static T input(const row<T> &row, int i)
{
    static const double special[SPECIAL] = {0.0, -0.0, 1, -1, 0.5, -0.5, 2, -2, 3, 10, -10, 0.25, 1e-3, -1e-3, 100,
                                            INFINITY, -INFINITY, NAN, 1e-30, -1e-30, 1e30, 4, 0.75, 7};
    if (i < SPECIAL)
        return (T)special[i];
    const double at = row.low + (row.high - row.low) * random_unit();
    return (T)(row.wide ? std::exp2(at) : at);
}

template <typename T> static int measure(const row<T> &row, int count, const char *type)
{
    static T *x, *y, *out;
    static mpfr_t exact, a, b;
    if (!x) {
        cudaMallocManaged(&x, MOST * sizeof(T));
        cudaMallocManaged(&y, MOST * sizeof(T));
        cudaMallocManaged(&out, MOST * sizeof(T));
        mpfr_init2(exact, BITS);
        mpfr_init2(a, 53);
        mpfr_init2(b, 53);
    }
    for (int i = 0; i < count; i++) {
        x[i] = input(row, i);
        y[i] = input(row, row.exact2 && i < SPECIAL * SPECIAL ? i / SPECIAL : i);
        if (row.exact2 && i < SPECIAL * SPECIAL)
            x[i] = input(row, i % SPECIAL);
    }
    row.kernel<<<(count + 127) / 128, 128>>>(x, y, out, count);
    if (cudaDeviceSynchronize() != cudaSuccess)
        return 1;
    double worst = 0, at = 0, with = 0;
    for (int i = 0; i < count; i++) {
        mpfr_set_d(a, x[i], MPFR_RNDN);
        mpfr_set_d(b, y[i], MPFR_RNDN);
        if (row.exact)
            row.exact(exact, a, MPFR_RNDN);
        else
            row.exact2(exact, a, b, MPFR_RNDN);
        const double error = error_of(out[i], exact);
        if (error > worst) {
            worst = error;
            at = x[i];
            with = y[i];
        }
    }
    const bool wrong = worst > row.limit;
    printf("%-7s %-7s %9.2f %6.1f%s", type, row.name, worst, row.limit, wrong ? "  WRONG" : "");
    if (wrong)
        printf(" at %.17g, %.17g", at, with);
    printf("\n");
    return wrong;
}

#define F1(name, low, high, wide, limit) \
    {                                    \
        #name, mpfr_##name, NULL, low, high, wide, limit, k_##name<T> \
    }
#define F2(name, low, high, wide, limit) \
    {                                    \
        #name, NULL, mpfr_##name, low, high, wide, limit, k_##name<T> \
    }
template <typename T> static int measure_all(int count, const char *type, const double (&limits)[29])
{
    const double *l = limits;
    const row<T> rows[] = {
        F1(sin, -100, 100, false, l[0]),    F1(cos, -100, 100, false, l[1]),
        F1(tan, -100, 100, false, l[2]),    F1(exp, -80, 80, false, l[3]),
        F1(exp2, -120, 120, false, l[4]),   F1(expm1, -20, 20, false, l[5]),
        F1(log, -100, 100, true, l[6]),     F1(log2, -100, 100, true, l[7]),
        F1(log10, -100, 100, true, l[8]),   F1(log1p, -20, 100, true, l[9]),
        F1(sqrt, -100, 100, true, l[10]),   {"rsqrt", exact_rsqrt, NULL, -100, 100, true, l[11], k_rsqrt<T>},
        F1(cbrt, -100, 100, true, l[12]),   F1(asin, -1, 1, false, l[13]),
        F1(acos, -1, 1, false, l[14]),      F1(atan, -20, 20, false, l[15]),
        F1(sinh, -50, 50, false, l[16]),    F1(cosh, -50, 50, false, l[17]),
        F1(tanh, -10, 10, false, l[18]),    F1(asinh, -100, 100, false, l[19]),
        F1(acosh, 1, 100, false, l[20]),    F1(atanh, -1, 1, false, l[21]),
        F1(erf, -4, 4, false, l[22]),       F1(erfc, -4, 8, false, l[23]),
        {"tgamma", mpfr_gamma, NULL, -10, 30, false, l[24], k_tgamma<T>},
        F2(pow, -5, 5, true, l[25]),        F2(hypot, -100, 100, false, l[26]),
        F2(atan2, -100, 100, false, l[27]), F2(fmod, -100, 100, false, l[28]),
    };
    int wrong = 0;
    for (const row<T> &row : rows)
        wrong += measure(row, count, type);
    return wrong;
}

int main(int words, char **word)
{
    const int count = words > 1 ? atoi(word[1]) : 2000;
    // by CUDA's documentation: sin, cos, tan, exp, exp2, expm1, log, log2, log10, log1p, sqrt, rsqrt, cbrt,
    // asin, acos, atan, sinh, cosh, tanh, asinh, acosh, atanh, erf, erfc, tgamma, pow, hypot, atan2, fmod
    const double of_float[] = {2, 2, 4, 2, 2, 1, 1, 1, 2, 1, 0.5, 2, 1, 2, 2, 2, 3, 2, 2, 3, 4, 3, 2, 4, 5, 4, 3, 3, 0};
    const double of_double[] = {2, 2, 2, 1, 1, 1, 1, 1, 1, 1, 0.5, 1, 1, 2, 2, 2, 2, 1, 1, 3, 3, 2, 2, 5, 10, 2, 2, 2, 0};
    const int wrong = measure_all<float>(count, "float", of_float) + measure_all<double>(count, "double", of_double);
    printf("math: %s\n", wrong ? "wrong" : "right");
    return wrong != 0;
}
