/*
 * OpenCL kernels that libclc for PTX cannot make, and those whose results have a bound: where a
 * work-item is, 64-bit atomics, functions of the hardware, fused sums, what only the ROCm library
 * has.
 */
#include "kernels.h"
#include <math.h>

static void places(struct test *t)
{
    enum {
        X = 10,
        Y = 6,
        Z = 4,
        N = X * Y * Z
    };
    const u32 global[3] = {X, Y, Z}, local[3] = {5, 3, 2};
    u32 *want = host(t, N * 128);
    memset(want, 0xa5, N * 128);
    for (u32 i = 0; i < N; i++) {
        u32 at[3] = {i % X, i / X % Y, i / X / Y}, *o = want + 32 * i;
        for (int d = 0; d < 3; d++) {
            o[d] = at[d];
            o[3 + d] = at[d] % local[d];
            o[6 + d] = at[d] / local[d];
            o[9 + d] = global[d];
            o[12 + d] = local[d];
            o[15 + d] = global[d] / local[d];
            o[18 + d] = 0;
        }
        o[21] = 3;
    }
    hd_address out = room(t, N * 128);
    LAUNCH(t, "places", D3(2, 2, 2), D3(5, 3, 2), 0, PTR(out));
    SAME(t, "out", (u32 *)take(t, out, N * 128), want, 32 * N);
}

static void asked(struct test *t)
{
    enum {
        W = 21,
        H = 8,
        N = W * H
    };
    u32 *dimension = random_u32(t, N), want[2 * N];
    for (u32 i = 0; i < N; i++) {
        u32 d = dimension[i] %= 3;
        want[2 * i] = d == 0 ? i % W * 1000 + W : d == 1 ? i / W * 1000 + H : 1;
        want[2 * i + 1] = d == 0 ? 7 * 1000 + 3 : d == 1 ? 4 * 1000 + 2 : 1001;
    }
    hd_address out = room(t, sizeof want);
    LAUNCH(t, "asked", D2(3, 2), D2(7, 4), 0, PTR(give(t, dimension, N * 4)), PTR(out));
    SAME(t, "out", (u32 *)take(t, out, sizeof want), want, 2 * N);
}

static void promised(struct test *t)
{
    enum {
        N = 8 * 3 * 6
    };
    u32 want[N];
    for (u32 i = 0; i < N; i++)
        want[i] = i % 8 % 4 + 4 * (i / 8 % 3) + 12 * (i / 24 % 2) + (24 << 8) + (i / 48 << 16);
    hd_address out = room(t, sizeof want);
    LAUNCH(t, "promised", D3(2, 1, 3), D3(4, 3, 2), 0, PTR(out));
    SAME(t, "out", (u32 *)take(t, out, sizeof want), want, N);
}

static void atomics64(struct test *t)
{
    enum {
        N = 250
    };
    i64 *in = (i64 *)random_u64(t, N), s[10] = {0, 0, INT64_MAX, INT64_MIN, -1, 0, 0, 5, 5, 17};
    u64 u[3] = {~0ull, 0, 0}, total = 17;
    hd_address ds = give(t, s, sizeof s), du = give(t, u, sizeof u);
    LAUNCH(t, "atomics64", D1(3), D1(96), 0, PTR(give(t, in, N * 8)), PTR(ds), PTR(du), I32(N));
    for (int i = 0; i < N; i++) {
        i64 v = in[i];
        s[0] = (i64)((u64)s[0] + (u64)v);
        s[1] = (i64)((u64)s[1] - (u64)v);
        s[2] = v < s[2] ? v : s[2];
        s[3] = v > s[3] ? v : s[3];
        s[4] &= v | 0xffff0000ffffll;
        s[5] |= v & 0x00ff00ff00ff00ffll;
        s[6] ^= v;
        s[7]++;
        s[8]--;
        u[0] = (u64)v < u[0] ? (u64)v : u[0];
        u[1] = (u64)v > u[1] ? (u64)v : u[1];
        total += (u64)v;
    }
    i64 *got = take(t, ds, sizeof s);
    /* The last value exchanged in depends on the order, the total does not. */
    u[2] = total - (u64)got[9];
    s[9] = got[9];
    SAME(t, "s", got, s, 10);
    SAME(t, "u", (u64 *)take(t, du, sizeof u), u, 3);
}

static void local64(struct test *t)
{
    enum {
        N = 200,
        EACH = 80,
        GROUPS = 3
    };
    u64 *in = random_u64(t, N), want[5 * GROUPS];
    for (int g = 0; g < GROUPS; g++) {
        u64 *w = want + 5 * g;
        w[0] = w[2] = w[3] = 0;
        w[1] = ~0ull;
        w[4] = 1;
        for (int i = EACH * g; i < N && i < EACH * (g + 1); i++) {
            w[0] += in[i];
            w[1] = in[i] < w[1] ? in[i] : w[1];
            w[2] = in[i] > w[2] ? in[i] : w[2];
            w[3] ^= in[i];
            w[4] *= in[i] | 1;
        }
    }
    hd_address out = room(t, sizeof want);
    LAUNCH(t, "local64", D1(GROUPS), D1(EACH), 0, PTR(give(t, in, N * 8)), PTR(out), I32(N));
    SAME(t, "out", (u64 *)take(t, out, sizeof want), want, 5 * GROUPS);
}

static void tickets(struct test *t)
{
    enum {
        ITEMS = 140,
        N = 3 * ITEMS
    };
    u32 want[N];
    for (int i = 0; i < N; i++)
        want[i] = 1;
    hd_address counter = zeros(t, 8), taken = zeros(t, sizeof want);
    LAUNCH(t, "tickets", D1(2), D1(ITEMS / 2), 0, PTR(counter), PTR(taken), U32(N));
    SAME(t, "taken", (u32 *)take(t, taken, sizeof want), want, N);
    equals(t, "counter", *(u64 *)take(t, counter, 8), (u64)N << 32 | N);
}

/*
 * Column k of a result of `columns` against what the host's double gives, within ulps of the result
 * and an absolute error.
 */
struct bound {
    const char *name;
    double ulps, absolute;
};

static void within(struct test *t, const float *got, const double *want, int n, int columns,
                   const struct bound *bounds)
{
    double *column = host(t, (size_t)n * 8);
    for (int k = 0; k < columns; k++) {
        for (int i = 0; i < n; i++)
            column[i] = want[i * columns + k];
        near32(t, bounds[k].name, got + k, column, (size_t)n, (size_t)columns,
               bounds[k].ulps * 0x1p-23, bounds[k].absolute);
    }
}

/* Arguments reach 12: the product with 1/2pi or log2(e) loses about 4 bits before the function. */
static void natives(struct test *t)
{
    enum {
        N = 150,
        K = 14
    };
    static const struct bound bounds[K] = {
        {"native_sin", 0, 0x1p-18},  {"native_cos", 0, 0x1p-18},   {"sine and cosine", 0, 0x1p-17},
        {"native_exp", 32, 0},       {"native_exp2", 2, 0},        {"native_log", 4, 0x1p-22},
        {"native_log2", 2, 0x1p-22}, {"native_log10", 4, 0x1p-22}, {"native_sqrt", 2, 0},
        {"native_rsqrt", 2, 0},      {"native_recip", 2, 0},       {"native_divide", 3, 0},
        {"native_powr", 16, 0},      {"native_exp10", 32, 0},
    };
    float *in = random_f32(t, N, -12, 12);
    double *want = host(t, N * K * 8);
    for (int i = 0; i < N; i++) {
        double x = in[i], p = fabsf(in[i]) + 0.125f, *o = want + K * i;
        o[0] = sin(x);
        o[1] = cos(x);
        o[2] = sin(x) + cos(x);
        o[3] = exp(x);
        o[4] = exp2(x);
        o[5] = log(p);
        o[6] = log2(p);
        o[7] = log10(p);
        o[8] = sqrt(p);
        o[9] = 1 / sqrt(p);
        o[10] = 1 / p;
        o[11] = x / p;
        o[12] = pow(p, 0.75);
        o[13] = pow(10, in[i] * 0.25f);
    }
    hd_address out = room(t, N * K * 4);
    LAUNCH(t, "natives", D1(2), D1(80), 0, PTR(give(t, in, N * 4)), PTR(out), I32(N));
    within(t, take(t, out, N * K * 4), want, N, K, bounds);
}

/* OpenCL asks 8192 ulps of the half_ functions; libraries give their full ones or the native. */
static void halves(struct test *t)
{
    enum {
        N = 100,
        K = 8
    };
    static const struct bound bounds[K] = {
        {"half_sin", 0, 0x1p-18},  {"half_cos", 0, 0x1p-18}, {"half_exp", 64, 0},
        {"half_log2", 4, 0x1p-22}, {"half_sqrt", 4, 0},      {"half_rsqrt", 4, 0},
        {"half_recip", 4, 0},      {"half_powr", 64, 0},
    };
    float *in = random_f32(t, N, -12, 12);
    double *want = host(t, N * K * 8);
    for (int i = 0; i < N; i++) {
        double x = in[i], p = fabsf(in[i]) + 0.125f, *o = want + K * i;
        o[0] = sin(x);
        o[1] = cos(x);
        o[2] = exp(x);
        o[3] = log2(p);
        o[4] = sqrt(p);
        o[5] = 1 / sqrt(p);
        o[6] = 1 / p;
        o[7] = pow(p, 1.5);
    }
    hd_address out = room(t, N * K * 4);
    LAUNCH(t, "halves", D1(2), D1(50), 0, PTR(give(t, in, N * 4)), PTR(out), I32(N));
    within(t, take(t, out, N * K * 4), want, N, K, bounds);
}

static void relaxed(struct test *t)
{
    enum {
        N = 120,
        K = 8
    };
    static const struct bound bounds[K] = {
        {"x / p", 3, 0},     {"sqrt", 2, 0}, {"exp", 16, 0}, {"log", 4, 0x1p-22},
        {"sin", 0, 0x1p-18}, {"pow", 32, 0}, {"sum", 2, 0},  {"rsqrt + 1 / p", 4, 0},
    };
    float *in = random_f32(t, N, -12, 12);
    double *want = host(t, N * K * 8);
    for (int i = 0; i < N; i++) {
        double x = in[i], p = fabsf(in[i]) + 0.5f, *o = want + K * i;
        o[0] = x / p;
        o[1] = sqrt(p);
        o[2] = exp(x * 0.25);
        o[3] = log(p);
        o[4] = sin(in[i] * 0.2f);
        o[5] = pow(p, 1.25);
        o[6] = x * x + p * p;
        o[7] = 1 / sqrt(p) + 1 / p;
    }
    hd_address out = room(t, N * K * 4);
    LAUNCH(t, "relaxed", D1(2), D1(60), 0, PTR(give(t, in, N * 4)), PTR(out), I32(N));
    within(t, take(t, out, N * K * 4), want, N, K, bounds);
}

static void special(struct test *t)
{
    enum {
        N = 100,
        K = 20
    };
    static const struct bound bounds[K] = {
        {"sincos", 4, 0}, {"sincos cosine", 4, 0},   {"fract", 0, 0}, {"fract floor", 0, 0},
        {"modf", 0, 0},   {"modf whole", 0, 0},      {"frexp", 0, 0}, {"frexp exponent", 0, 0},
        {"remquo", 0, 0}, {"remquo quotient", 0, 0}, {"erf", 16, 0},  {"tgamma", 16, 0},
        {"log1p", 2, 0},  {"expm1", 3, 0},           {"acos", 4, 0},  {"ilogb", 0, 0},
        {"logb", 0, 0},   {"nextafter", 0, 0},       {"pown", 16, 0}, {"rootn", 16, 0},
    };
    float *in = random_f32(t, N, -15, 15);
    double *want = host(t, N * K * 8);
    for (int i = 0; i < N; i++) {
        float x = in[i], p = fabsf(x) + 0.25f, whole_part;
        double *o = want + K * i;
        int whole;
        o[0] = sin(x);
        o[1] = cos(x);
        o[2] = x - floorf(x);
        o[3] = floorf(x);
        o[4] = modff(x, &whole_part);
        o[5] = whole_part;
        o[6] = frexpf(x, &whole);
        o[7] = whole;
        o[8] = remquof(x, 0.7f, &whole);
        o[9] = whole & 7;
        o[10] = erf(x * 0.2f);
        o[11] = tgamma(p * 0.25f);
        o[12] = log1p(p);
        o[13] = expm1(x * 0.1f);
        o[14] = acos(x * 0.05f);
        o[15] = ilogbf(p);
        o[16] = logbf(p);
        o[17] = nextafterf(x, 100.0f);
        o[18] = pow(p, 3);
        o[19] = cbrt(p);
    }
    hd_address out = room(t, N * K * 4);
    LAUNCH(t, "special", D1(2), D1(64), 0, PTR(give(t, in, N * 4)), PTR(out), I32(N));
    within(t, take(t, out, N * K * 4), want, N, K, bounds);
}

static bool one_nan(float x, float y)
{
    return isnan(x) || isnan(y);
}

static u32 saturated(double v, double lo, double hi)
{
    return isnan(v) ? 0 : v < lo ? (u32)(i64)lo : v > hi ? (u32)(i64)hi : (u32)(i64)v;
}

static void edges(struct test *t)
{
    static const float values[] = {0,    -0.0f, 1,     -1,  1.5f,      -2.5f,  254.5f,
                                   3e9f, -3e9f, 1e38f, NAN, -INFINITY, 7e-30f, INFINITY};
    enum {
        V = sizeof values / sizeof *values,
        N = V * V
    };
    float a[N], b[N];
    u32 want[10 * N];
    for (int i = 0; i < N; i++) {
        float x = a[i] = values[i / V], y = b[i] = values[i % V];
        u32 *o = want + 10 * i;
        o[0] = (u32)((x < y) | (x <= y) << 1 | (x > y) << 2 | (x >= y) << 3 | (x == y) << 4 |
                     (x != y) << 5);
        o[1] = (u32)((isnan(x) != 0) | (isinf(x) != 0) << 1 | (isfinite(x) != 0) << 2 |
                     (signbit(x) != 0) << 3);
        o[2] = (u32)(one_nan(x, y) | (x < y) << 1 | (x <= y) << 2);
        o[3] = f32_bits(isnan(x) ? y : isnan(y) ? x : x < y ? x : y);
        o[4] = f32_bits(isnan(x) ? y : isnan(y) ? x : x > y ? x : y);
        o[5] = f32_bits(fabsf(x));
        o[6] = f32_bits(copysignf(x, y));
        o[7] = f32_bits(truncf(x));
        o[8] = saturated(x, INT32_MIN, INT32_MAX);
        o[9] = saturated(rint(x), 0, 255);
    }
    hd_address out = room(t, sizeof want);
    LAUNCH(t, "edges", D1(2), D1(100), 0, PTR(give(t, a, sizeof a)), PTR(give(t, b, sizeof b)),
           PTR(out), I32(N));
    u32 *got = take(t, out, sizeof want);
    /* Which zero fmin and fmax give, which NaN, and what a NaN saturates to is not said. */
    for (int i = 0; i < N && !t->failed; i++)
        for (int k = 3; k < 10; k++) {
            float g = bits_f32(got[10 * i + k]), w = bits_f32(want[10 * i + k]);
            if (k >= 8 ? (bool)isnan(a[i]) : (isnan(g) && isnan(w)) || (k < 5 && g == 0 && w == 0))
                got[10 * i + k] = want[10 * i + k];
        }
    SAME(t, "out", got, want, 10 * N);
}

/* Error of a sum of products, fused or not: each term rounds twice, the sum as often as it has
 * terms. The bound is of the sum of magnitudes. */
static void dots(struct test *t)
{
    enum {
        N = 90
    };
    float *a = random_f32(t, 4 * N, -3, 3), *b = random_f32(t, 4 * N, -3, 3);
    double want[6][N];
    for (int i = 0; i < N; i++) {
        const float *x = a + 4 * i, *y = b + 4 * i;
        double product = 0, length = 0, far = 0;
        for (int k = 0; k < 4; k++) {
            product += (double)x[k] * y[k];
            length += (double)x[k] * x[k];
            far += pow((double)x[k] - y[k], 2);
        }
        want[0][i] = product;
        want[1][i] = sqrt(length);
        want[2][i] = sqrt(far);
        want[3][i] = (double)x[0] * y[0] + x[1];
        want[4][i] = (double)x[0] * y[0] + (double)x[1] * y[1] - (double)x[2] * y[2];
        want[5][i] = x[1] / sqrt(length);
    }
    hd_address out = room(t, N * 24);
    LAUNCH(t, "dots", D1(1), D1(N), 0, PTR(give(t, a, 16 * N)), PTR(give(t, b, 16 * N)), PTR(out),
           I32(N));
    static const char *const names[6] = {"dot", "length", "distance", "mad", "sum", "normalize"};
    static const double absolute[6] = {36 * 0x1p-22, 0, 0, 12 * 0x1p-23, 27 * 0x1p-22, 0};
    static const double ulps[6] = {0, 4, 6, 0, 0, 6};
    float *got = take(t, out, N * 24);
    for (int k = 0; k < 6; k++)
        near32(t, names[k], got + k, want[k], N, 6, ulps[k] * 0x1p-23, absolute[k]);
}

static void convolve(struct test *t)
{
    enum {
        N = 100,
        TAPS = 9
    };
    float *in = random_f32(t, N + TAPS, -1, 1), *taps = random_f32(t, TAPS, -1, 1);
    double want[N] = {0};
    for (int i = 0; i < N * TAPS; i++)
        want[i / TAPS] += (double)in[i / TAPS + i % TAPS] * taps[i % TAPS];
    hd_address out = room(t, N * 4);
    LAUNCH(t, "convolve", D1(2), D1(N / 2), 0, PTR(give(t, in, (N + TAPS) * 4)),
           PTR(give(t, taps, TAPS * 4)), PTR(out), I32(TAPS));
    near32(t, "out", take(t, out, N * 4), want, N, 1, 0, TAPS * 2 * 0x1p-23);
}

static void bodies(struct test *t)
{
    enum {
        N = 70
    };
    float *b = random_f32(t, 4 * N, 0, 1), soft = 0.25f;
    double want[4 * N] = {0};
    for (int i = 0; i < N; i++)
        for (int j = 0; j < N; j++) {
            double d[3], r2 = soft;
            for (int k = 0; k < 3; k++) {
                d[k] = (double)b[4 * j + k] - b[4 * i + k];
                r2 += d[k] * d[k];
            }
            for (int k = 0; k < 3; k++)
                want[4 * i + k] += d[k] * b[4 * j + 3] / (r2 * sqrt(r2));
        }
    hd_address out = room(t, N * 16);
    LAUNCH(t, "bodies", D1(1), D1(N), 0, PTR(give(t, b, N * 16)), PTR(out), I32(N), F32(soft));
    /* 70 terms of at most 8, each with a few roundings. */
    near32(t, "out", take(t, out, N * 16), want, 4 * N, 1, 0, 70 * 8 * 4 * 0x1p-24);
}

static void high(struct test *t)
{
    enum {
        N = 90
    };
    i32 *a = (i32 *)random_u32(t, N), *b = (i32 *)random_u32(t, N);
    u32 want[4 * N];
    for (int i = 0; i < N; i++) {
        i64 x = a[i], y = b[i], ux = (u32)a[i], uy = (u32)b[i], sum = x * (y >> 20) + x;
        u64 total = (u64)ux * ((u64)uy >> 20) + (u64)ux;
        want[4 * i] = (u32)(x * y >> 32) + 7;
        want[4 * i + 1] = (u32)((u64)ux * (u64)uy >> 32) + 7;
        want[4 * i + 2] = (u32)(sum > INT32_MAX ? INT32_MAX : sum < INT32_MIN ? INT32_MIN : sum);
        want[4 * i + 3] = total > UINT32_MAX ? UINT32_MAX : (u32)total;
    }
    hd_address out = room(t, sizeof want);
    LAUNCH(t, "high", D1(1), D1(N), 0, PTR(give(t, a, N * 4)), PTR(give(t, b, N * 4)), PTR(out),
           I32(N));
    SAME(t, "out", (u32 *)take(t, out, sizeof want), want, 4 * N);
}

static void group_copy(struct test *t)
{
    enum {
        EACH = 150,
        GROUPS = 3,
        N = EACH * GROUPS
    };
    u32 *in = random_u32(t, N), want[2 * N];
    memset(want, 0xa5, sizeof want);
    for (int i = 0; i < N; i++)
        want[2 * i] = in[i / EACH * EACH + EACH - 1 - i % EACH];
    hd_address out = room(t, sizeof want);
    LAUNCH(t, "group_copy", D1(GROUPS), D1(70), EACH * 4 + 16, PTR(give(t, in, N * 4)), PTR(out),
           local_at(t, "group_copy", 0), I32(EACH));
    SAME(t, "out", (u32 *)take(t, out, sizeof want), want, 2 * N);
}

/* Half to float: exact. */
static float widened(u16 h)
{
    int exponent = h >> 10 & 31;
    float v = exponent ? ldexpf((float)((h & 1023) | 1024), exponent - 25)
                       : ldexpf((float)(h & 1023), -24);
    return h >> 15 ? -v : v;
}

/* The half nearest to v (ties to even), or the next toward zero. */
static u16 narrowed(float v, bool nearest)
{
    u16 best = 0;
    double error = INFINITY, magnitude = fabsf(v);
    for (u32 h = 0; h < 0x7c00; h++) {
        double off = fabs(widened((u16)h) - magnitude);
        if (!nearest && widened((u16)h) > magnitude)
            break;
        if (off < error || (off == error && h % 2 == 0)) {
            error = off;
            best = (u16)h;
        }
    }
    return (u16)(best | (signbit(v) ? 0x8000 : 0));
}

static void half_memory(struct test *t)
{
    enum {
        N = 60
    };
    u16 in[N], want[2 * N];
    float wide[N];
    for (int i = 0; i < N; i++) {
        in[i] = (u16)(rnd(t) & 0xbfff); /* below 2, some subnormal */
        if (i % 9 == 0)
            in[i] &= 0x81ff;
        wide[i] = widened(in[i]);
        want[i] = narrowed(wide[i] * 1.5f + 0.001f, true);
        want[N + i] = narrowed(wide[i] * 0.3f, false);
    }
    hd_address out = room(t, sizeof want), dw = room(t, sizeof wide);
    LAUNCH(t, "half_memory", D1(1), D1(N), 0, PTR(give(t, in, sizeof in)), PTR(out), PTR(dw),
           I32(N));
    SAME(t, "wide", (float *)take(t, dw, sizeof wide), wide, N);
    SAME(t, "out", (u16 *)take(t, out, sizeof want), want, 2 * N);
}

static void mixed_up(struct test *t)
{
    enum {
        N = 40
    };
    u32 *in = random_u32(t, 4 * N), *order = random_u32(t, 4 * N), want[8 * N];
    for (int i = 0; i < N; i++)
        for (int k = 0; k < 4; k++) {
            u32 o = order[4 * i + k], second = in[4 * i + (o & 3)] * (o & 4 ? 3 : 1);
            want[8 * i + k] = in[4 * i + (o & 3)];
            want[8 * i + 4 + k] = second;
        }
    hd_address out = room(t, sizeof want);
    LAUNCH(t, "mixed_up", D1(1), D1(N), 0, PTR(give(t, in, 16 * N)), PTR(give(t, order, 16 * N)),
           PTR(out));
    SAME(t, "out", (u32 *)take(t, out, sizeof want), want, 8 * N);
}

const struct kernel_case opencl_si_cases[] = {
    {"opencl/places", "places", places, CASE_SI},
    {"opencl/places", "asked", asked, CASE_SI},
    {"opencl/places", "promised", promised, CASE_SI},
    {"opencl/atomic64", "atomics64", atomics64, CASE_SI},
    {"opencl/atomic64", "local64", local64, CASE_SI | CASE_ORDER},
    {"opencl/atomic64", "tickets", tickets, CASE_SI},
    {"opencl/native", "natives", natives, CASE_SI},
    {"opencl/native", "halves", halves, CASE_SI},
    {"opencl/relaxed", "relaxed", relaxed, CASE_SI},
    {"opencl/more_math", "special", special, CASE_SI},
    {"opencl/more_math", "edges", edges, CASE_SI},
    {"opencl/fused", "dots", dots, 0},
    {"opencl/fused", "convolve", convolve, 0},
    {"opencl/fused", "bodies", bodies, 0},
    {"opencl/rocm", "high", high, CASE_ROCM},
    {"opencl/rocm", "group_copy", group_copy, CASE_ROCM},
    {"opencl/rocm", "half_memory", half_memory, CASE_ROCM},
    {"opencl/rocm", "mixed_up", mixed_up, CASE_ROCM},
    {0},
};
