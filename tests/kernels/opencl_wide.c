/*
 * OpenCL kernels about numbers of every width: division, 64-bit integers, doubles, vectors. All
 * exact but Kepler's equation.
 */
#include "kernels.h"
#include <math.h>

static u32 both8(i32 a, i32 b)
{
    return (u32)((i8)((i8)a / (i8)b) * 7 + (i8)((i8)a % (i8)b));
}
static u32 both16(i32 a, i32 b)
{
    return (u32)((i16)((i16)a / (i16)b) * 7 + (i16)((i16)a % (i16)b));
}

static void divide32(struct test *t)
{
    enum {
        N = 200
    };
    i32 *a = (i32 *)random_u32(t, N), *b = (i32 *)random_u32(t, N);
    u32 want[10 * N];
    for (int i = 0; i < N; i++) {
        a[i] >>= i % 4 * 5;
        b[i] >>= i % 7 * 5;
        if (b[i] == 0 || b[i] == -1)
            b[i] = i % 2 ? 1 : -3;
        i32 x = a[i], y = b[i];
        u32 ux = (u32)x, uy = (u32)y, *o = want + 10 * i;
        o[0] = (u32)(x / y);
        o[1] = (u32)(x % y);
        o[2] = ux / uy;
        o[3] = ux % uy;
        o[4] = both8(x, y | 1);
        o[5] = (u32)((u8)x / (u8)(y | 1) * 7 + (u8)x % (u8)(y | 1));
        o[6] = both16(x, y | 1);
        o[7] = (u32)((u16)x / (u16)(y | 1) * 7 + (u16)x % (u16)(y | 1));
        o[8] = (u32)(x / 7) + (u32)(x % 1000) + (u32)(x / -16);
        o[9] = ux / 7 + ux % 1000 + ux / 641;
    }
    hd_address out = room(t, sizeof want);
    LAUNCH(t, "divide32", D1(2), D1(100), 0, PTR(give(t, a, N * 4)), PTR(give(t, b, N * 4)),
           PTR(out), I32(N));
    SAME(t, "out", (u32 *)take(t, out, sizeof want), want, 10 * N);
}

static void divide64(struct test *t)
{
    enum {
        N = 150
    };
    i64 *a = (i64 *)random_u64(t, N), *b = (i64 *)random_u64(t, N);
    u64 want[7 * N];
    for (int i = 0; i < N; i++) {
        a[i] >>= i % 4 * 11;
        b[i] >>= i % 9 * 7;
        if (b[i] == 0 || b[i] == -1)
            b[i] = i % 2 ? 1 : -3;
        i64 x = a[i], y = b[i];
        u64 ux = (u64)x, uy = (u64)y, *o = want + 7 * i;
        o[0] = (u64)(x / y);
        o[1] = (u64)(x % y);
        o[2] = ux / uy;
        o[3] = ux % uy;
        o[4] = (u64)(x / 10 + x % 1000000007);
        o[5] = ux / 10 + ux % 1000000007;
        /* INT64_MIN / -1 would trap on the host; the values above never meet there. */
        o[6] = (u64)(x / (i32)(y | 1)) + (u64)((i32)x / (y | 1));
    }
    hd_address out = room(t, sizeof want);
    LAUNCH(t, "divide64", D1(2), D1(75), 0, PTR(give(t, a, N * 8)), PTR(give(t, b, N * 8)),
           PTR(out), I32(N));
    SAME(t, "out", (u64 *)take(t, out, sizeof want), want, 7 * N);
}

static void power_mod(struct test *t)
{
    enum {
        N = 80
    };
    u32 *base = random_u32(t, N), *modulus = random_u32(t, N), exponent[N], want[N];
    for (int i = 0; i < N; i++) {
        exponent[i] = rnd(t) % 300;
        modulus[i] = (modulus[i] >> i % 20) + 1;
        u64 r = 1 % modulus[i];
        for (u32 k = 0; k < exponent[i]; k++)
            r = r * base[i] % modulus[i];
        want[i] = (u32)r;
    }
    hd_address out = room(t, sizeof want);
    LAUNCH(t, "power_mod", D1(1), D1(N), 0, PTR(give(t, base, N * 4)),
           PTR(give(t, exponent, sizeof exponent)), PTR(give(t, modulus, N * 4)), PTR(out));
    SAME(t, "out", (u32 *)take(t, out, sizeof want), want, N);
}

static void digits(struct test *t)
{
    enum {
        N = 64
    };
    i64 *in = (i64 *)random_u64(t, N);
    char want[22 * N];
    in[0] = 0;
    in[1] = INT64_MIN;
    in[2] = INT64_MAX;
    for (int i = 0; i < N; i++) {
        in[i] >>= i;
        snprintf(want + 21 * i, 22, "%20lld", (long long)in[i]);
    }
    hd_address out = room(t, 21 * N);
    LAUNCH(t, "digits", D1(1), D1(N), 0, PTR(give(t, in, N * 8)), PTR(out));
    SAME(t, "out", (char *)take(t, out, 21 * N), want, 21 * N);
}

static void shifts(struct test *t)
{
    enum {
        N = 130
    };
    u64 *a = random_u64(t, N), want[8 * N];
    u32 by[N];
    a[3] = 0;
    for (int i = 0; i < N; i++) {
        by[i] = i < 64 ? (u32)i : rnd(t);
        u64 x = a[i], *o = want + 8 * i;
        u32 s = by[i] & 63;
        o[0] = x << s;
        o[1] = x >> s;
        o[2] = (u64)((i64)x >> s);
        o[3] = s ? x << s | x >> (64 - s) : x;
        o[4] = x << 32 | x >> 33;
        o[5] = x >> s & 1 ? ~x : x ^ s;
        o[6] = (x ? (u64)__builtin_clzll(x) : 64) * 100 + (u64)__builtin_popcountll(x);
        o[7] = (x << 32 | (u32)(x >> 7)) + ((i64)x < 0 ? 0 - x : x);
    }
    hd_address out = room(t, sizeof want);
    LAUNCH(t, "shifts", D1(2), D1(70), 0, PTR(give(t, a, N * 8)), PTR(give(t, by, sizeof by)),
           PTR(out), I32(N));
    SAME(t, "out", (u64 *)take(t, out, sizeof want), want, 8 * N);
}

static void products(struct test *t)
{
    enum {
        N = 130
    };
    u64 *a = random_u64(t, N), *b = random_u64(t, N), want[10 * N];
    for (int i = 0; i < N; i++) {
        a[i] = (u64)((i64)a[i] >> i % 3 * 20);
        b[i] = i % 10 == 0 ? a[i] : b[i];
        i64 x = (i64)a[i], y = (i64)b[i];
        u64 ux = a[i], uy = b[i], *o = want + 10 * i;
        o[0] = ux * uy;
        o[1] = (u64)((i64)(i32)x * (i32)y);
        o[2] = (u64)(u32)x * (u32)y;
        o[3] = (u64)((__int128)x * y >> 64);
        o[4] = (u64)((unsigned __int128)ux * uy >> 64);
        o[5] = (x < y ? ux : uy) - (ux > uy ? ux : uy);
        o[6] = x < y ? ux : uy - ux;
        o[7] = ux < uy ? 1 : (u64)(x == y) + 2;
        __int128 difference = (__int128)x - y;
        o[8] = (u64)(difference > INT64_MAX   ? INT64_MAX
                     : difference < INT64_MIN ? INT64_MIN
                                              : (i64)difference);
        o[9] = ux + uy < ux ? UINT64_MAX : ux + uy;
    }
    hd_address out = room(t, sizeof want);
    LAUNCH(t, "products", D1(2), D1(70), 0, PTR(give(t, a, N * 8)), PTR(give(t, b, N * 8)),
           PTR(out), I32(N));
    SAME(t, "out", (u64 *)take(t, out, sizeof want), want, 10 * N);
}

static u64 f64_bits(double v)
{
    u64 u;
    memcpy(&u, &v, 8);
    return u;
}

static void conversions(struct test *t)
{
    enum {
        N = 120
    };
    i64 *a = (i64 *)random_u64(t, N);
    double *d = random_f64(t, N, -4e18, 4e18);
    u64 want[10 * N];
    for (int i = 0; i < N; i++) {
        a[i] >>= i % 60;
        d[i] = ldexp(d[i], -(i % 64));
        u64 *o = want + 10 * i;
        float narrow = (float)d[i];
        o[0] = f64_bits((double)a[i]);
        o[1] = f64_bits((double)(u64)a[i]);
        o[2] = f32_bits((float)a[i]);
        o[3] = f32_bits((float)(u64)a[i]);
        o[4] = (u64)(i64)d[i];
        o[5] = (u64)fabs(d[i]);
        o[6] = (u64)(i64)narrow;
        o[7] = (u64)fabsf(narrow);
        o[8] = f32_bits(narrow);
        double small = d[i] * 1e-9;
        if (fabs(small) > 2e9) /* beyond int: what comes is not said */
            small = d[i] = 0, o[4] = o[5] = o[6] = o[7] = o[8] = 0;
        o[9] = (u32)fabs(small) + ((u64)(i64)(i32)small << 32);
    }
    hd_address out = room(t, sizeof want);
    LAUNCH(t, "conversions", D1(2), D1(60), 0, PTR(give(t, a, N * 8)), PTR(give(t, d, N * 8)),
           PTR(out), I32(N));
    SAME(t, "out", (u64 *)take(t, out, sizeof want), want, 10 * N);
}

static void carries(struct test *t)
{
    enum {
        N = 70
    };
    u32 *a = random_u32(t, 8 * N), *b = random_u32(t, 8 * N), want[16 * N];
    for (int i = 0; i < N; i++) {
        for (int k = 0; k < 8; k++)
            if (i % 3 == 0 && k < 6)
                a[8 * i + k] = ~b[8 * i + k]; /* long carries */
        a[8 * i] += i % 3 == 0;
        u32 carry = 0, borrow = 0;
        for (int k = 0; k < 8; k++) {
            u32 x = a[8 * i + k], y = b[8 * i + k], s = x + y, d = x - y;
            want[16 * i + k] = s + carry;
            carry = (s < x) | (s + carry < s);
            want[16 * i + 8 + k] = d - borrow;
            borrow = (x < y) | (d < borrow);
        }
    }
    hd_address out = room(t, sizeof want);
    LAUNCH(t, "carries", D1(1), D1(N), 0, PTR(give(t, a, N * 32)), PTR(give(t, b, N * 32)),
           PTR(out));
    SAME(t, "out", (u32 *)take(t, out, sizeof want), want, 16 * N);
}

static void exact64(struct test *t)
{
    enum {
        N = 120
    };
    double *a = random_f64(t, N, -1e4, 1e4), *b = random_f64(t, N, -1e4, 1e4), want[14 * N];
    for (int i = 0; i < N; i++) {
        if (i % 8 == 0)
            a[i] = floor(a[i]) + 0.5;
        double x = a[i], y = b[i], *o = want + 14 * i;
        o[0] = x + y;
        o[1] = x - y;
        o[2] = x * y;
        o[3] = x / y;
        o[4] = sqrt(fabs(x));
        o[5] = fma(x, y, -x);
        o[6] = floor(x) + 2.0 * ceil(y);
        o[7] = trunc(x) + 2.0 * rint(y);
        o[8] = fmin(x, y) - fmax(x, y);
        o[9] = copysign(x, y);
        o[10] = ldexp(x, 5) + ldexp(y, -40);
        o[11] = (float)x;
        o[12] = (double)(i32)x - (double)(u32)fabs(y);
        o[13] = round(x);
    }
    hd_address out = room(t, sizeof want);
    LAUNCH(t, "exact64", D1(2), D1(60), 0, PTR(give(t, a, N * 8)), PTR(give(t, b, N * 8)), PTR(out),
           I32(N));
    SAME(t, "out", (double *)take(t, out, sizeof want), want, 14 * N);
}

static void compare64(struct test *t)
{
    static const double values[] = {0.0,    -0.0,   1.0,      -1.0, 1.5,       1e300,
                                    -1e300, 5e-324, INFINITY, NAN,  -INFINITY, 1.0 + 0x1p-52};
    enum {
        V = sizeof values / sizeof *values,
        N = V * V
    };
    double a[N], b[N];
    u32 want[N];
    for (int i = 0; i < N; i++) {
        double x = a[i] = values[i / V], y = b[i] = values[i % V];
        want[i] =
            (u32)((x < y) << 0 | (x <= y) << 1 | (x > y) << 2 | (x >= y) << 3 | (x == y) << 4 |
                  (x != y) << 5 | !(x < y) << 6 | !(x >= y) << 7 | !!isnan(x) << 8 |
                  !!isinf(x) << 9 | !!signbit(x) << 10 | !!isfinite(y) << 11 |
                  !(isnan(x) || isnan(y)) << 12 | (x < y || x > y) << 13);
    }
    hd_address out = room(t, sizeof want);
    LAUNCH(t, "compare64", D1(3), D1(50), 0, PTR(give(t, a, sizeof a)), PTR(give(t, b, sizeof b)),
           PTR(out), I32(N));
    SAME(t, "out", (u32 *)take(t, out, sizeof want), want, N);
}

static void simpson(struct test *t)
{
    enum {
        N = 40,
        STEPS = 20
    };
    double *bound = random_f64(t, N, 0.5, 9), want[N];
    for (int i = 0; i < N; i++) {
        double h = bound[i] / STEPS, sum = 0;
        for (int k = 0; k <= STEPS; k++)
            sum = fma(k == 0 || k == STEPS ? 1 : 2 + k % 2 * 2, sqrt(fma(k * h, k * h, 1)), sum);
        want[i] = sum * h / 3;
    }
    hd_address out = room(t, sizeof want);
    LAUNCH(t, "simpson", D1(1), D1(N), 0, PTR(give(t, bound, sizeof want)), PTR(out), I32(STEPS));
    SAME(t, "out", (double *)take(t, out, sizeof want), want, N);
}

/* The solution is checked in the equation itself: its error is that of e, a few rounding steps. */
static void kepler(struct test *t)
{
    enum {
        N = 50
    };
    double *m = random_f64(t, N, 0, 6), q = 0.6, back[N];
    hd_address out = room(t, N * 8);
    LAUNCH(t, "kepler", D1(1), D1(N), 0, PTR(give(t, m, N * 8)), BYTES(q), PTR(out));
    double *e = take(t, out, N * 8);
    for (int i = 0; i < N; i++)
        back[i] = e[i] - q * sin(e[i]);
    near64(t, "mean anomaly", back, m, N, 1, 0, 0x1p-49);
}

static void bytes16(struct test *t)
{
    enum {
        N = 50
    };
    static const u8 order[16] = {0, 2, 4, 6, 8, 1, 3, 5, 7, 9, 11, 13, 15, 10, 12, 14};
    i8 *a = (i8 *)random_u8(t, 16 * N), *b = (i8 *)random_u8(t, 16 * N), want[48 * N];
    for (int i = 0; i < N; i++) {
        const i8 *x = a + 16 * i;
        i8 *y = b + 16 * i, *o = want + 48 * i;
        y[i % 16] = x[i % 16];
        for (int k = 0; k < 16; k++)
            o[k] = (i8)(x[order[k]] + y[15 - k] * 3);
        o[0] = o[15] = y[8];
        for (int k = 0; k < 16; k += 2)
            o[k] ^= x[k + 1];
        for (int k = 0; k < 16; k++) {
            i8 high = y[8 + k % 8];
            o[16 + k] = (i8)((x[k] > y[k] ? x[k] : y[k]) - (x[k] < high ? x[k] : high));
            o[32 + k] = (i8)((x[k] < y[k] ? y[k] : x[k]) | (x[k] == y[k] ? -1 : 0) | x[7]);
        }
    }
    hd_address out = room(t, sizeof want);
    LAUNCH(t, "bytes16", D1(1), D1(60), 0, PTR(give(t, a, 16 * N)), PTR(give(t, b, 16 * N)),
           PTR(out), I32(N));
    SAME(t, "out", (i8 *)take(t, out, sizeof want), want, 48 * N);
}

static void triples(struct test *t)
{
    enum {
        N = 70
    };
    i32 *a = (i32 *)random_u32(t, 3 * N), *b = (i32 *)random_u32(t, 4 * N);
    i32 want[4 * N], whole[4 * N];
    memset(whole, 0xa5, sizeof whole);
    for (int i = 0; i < N; i++) {
        i32 *x = a + 3 * i, *y = b + 4 * i;
        for (int k = 0; k < 4; k++) {
            y[k] >>= 20;
            if (k < 3)
                x[k] >>= 20;
        }
        if (i % 4 == 0)
            x[i % 3] = y[1];
        int equal = 0, less = 1;
        for (int k = 0; k < 3; k++) {
            int p = (k + 1) % 3, q = (k + 2) % 3;
            want[3 * i + k] = x[p] * y[q] - x[q] * y[p];
            whole[4 * i + k] = x[k] > y[k] ? x[k] : y[2 - k];
            equal |= x[k] == y[1];
            less &= x[k] < y[k] + 100;
        }
        want[3 * N + i] = equal * 2 + less;
    }
    hd_address out = room(t, sizeof want), dw = room(t, sizeof whole);
    LAUNCH(t, "triples", D1(2), D1(40), 0, PTR(give(t, a, N * 12)), PTR(give(t, b, N * 16)),
           PTR(out), PTR(dw), I32(N));
    SAME(t, "out", (i32 *)take(t, out, sizeof want), want, 4 * N);
    i32 *got = take(t, dw, sizeof whole);
    for (int i = 0; i < N; i++) /* the fourth word may be written or not */
        got[4 * i + 3] = whole[4 * i + 3];
    SAME(t, "whole", got, whole, 4 * N);
}

static void mixed(struct test *t)
{
    enum {
        N = 60
    };
    i16 *a = (i16 *)random_u8(t, 16 * N);
    double *d = random_f64(t, 2 * N, -100, 100);
    i32 want[4 * N];
    u64 bits[2 * N];
    for (int i = 0; i < N; i++) {
        const i16 *x = a + 8 * i;
        const double *e = d + 2 * i;
        u64 low = 0;
        for (int k = 0; k < 4; k++) {
            want[4 * i + k] =
                (x[k] * x[4 + k] >> (k + 1)) + (i32)(u16)x[2 * k] + (x[3 - k] & x[4 + k]);
            low |= (u64)(u16)x[k] << 16 * k;
        }
        bits[2 * i] = f64_bits(e[1] * 2.0 + e[0]) ^ f64_bits(e[0]) >> 32;
        bits[2 * i + 1] = f64_bits(e[0] * 2.0 + e[1]) ^ low;
    }
    hd_address out = room(t, sizeof want), db = room(t, sizeof bits);
    LAUNCH(t, "mixed", D1(1), D1(N), 0, PTR(give(t, a, 16 * N)), PTR(give(t, d, 16 * N)), PTR(out),
           PTR(db), I32(N));
    SAME(t, "out", (i32 *)take(t, out, sizeof want), want, 4 * N);
    SAME(t, "bits", (u64 *)take(t, db, sizeof bits), bits, 2 * N);
}

static void colours(struct test *t)
{
    enum {
        N = 100
    };
    u8 *in = random_u8(t, 4 * N), want[4 * N];
    u16 grey[N];
    memset(in + 40, 77, 8);
    memset(in + 80, 0, 4);
    for (int i = 0; i < N; i++) {
        const u8 *c = in + 4 * i;
        int most = c[0], least = c[0], hue = 0;
        for (int k = 1; k < 3; k++) {
            most = c[k] > most ? c[k] : most;
            least = c[k] < least ? c[k] : least;
        }
        if (most > least)
            for (int k = 2; k >= 0; k--)
                if (c[k] == most)
                    hue = (k == 0   ? 0
                           : k == 1 ? 85
                                    : 171) +
                          43 * (c[(k + 1) % 3] - c[(k + 2) % 3]) / (most - least);
        want[4 * i] = (u8)hue;
        want[4 * i + 1] = (u8)(most ? 255 * (most - least) / most : 0);
        want[4 * i + 2] = (u8)most;
        want[4 * i + 3] = c[3];
        grey[i] = (u16)((c[0] * 77 + c[1] * 151 + c[2] * 28) >> 1);
    }
    hd_address out = room(t, sizeof want), dg = room(t, sizeof grey);
    LAUNCH(t, "colours", D1(2), D1(64), 0, PTR(give(t, in, 4 * N)), PTR(out), PTR(dg), I32(N));
    SAME(t, "out", (u8 *)take(t, out, sizeof want), want, 4 * N);
    SAME(t, "grey", (u16 *)take(t, dg, sizeof grey), grey, N);
}

const struct kernel_case opencl_wide_cases[] = {
    {"opencl/divide", "divide32", divide32, 0},
    {"opencl/divide", "divide64", divide64, 0},
    {"opencl/divide", "power_mod", power_mod, 0},
    {"opencl/divide", "digits", digits, 0},
    {"opencl/wide", "shifts", shifts, 0},
    {"opencl/wide", "products", products, 0},
    {"opencl/wide", "conversions", conversions, 0},
    {"opencl/wide", "carries", carries, 0},
    {"opencl/doubles", "exact64", exact64, 0},
    {"opencl/doubles", "compare64", compare64, 0},
    {"opencl/doubles", "simpson", simpson, 0},
    {"opencl/doubles", "kepler", kepler, 0},
    {"opencl/vectors", "bytes16", bytes16, 0},
    {"opencl/vectors", "triples", triples, 0},
    {"opencl/vectors", "mixed", mixed, 0},
    {"opencl/vectors", "colours", colours, 0},
    {0},
};
