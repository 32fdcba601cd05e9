/*
 * OpenCL kernels about arithmetic: the math library, vector types, integer built-ins. Exact but for
 * the math functions, which get about the error OpenCL allows.
 */
#include "kernels.h"
#include <math.h>

static void math32(struct test *t)
{
    enum {
        N = 150
    };
    static const struct {
        const char *name;
        double ulps;
    } functions[16] = {
        {"sin", 4},   {"cos", 4},   {"tan", 5},  {"exp", 3},   {"log", 3},  {"pow", 16},
        {"atan2", 6}, {"asin", 4},  {"exp2", 3}, {"log10", 3}, {"tanh", 5}, {"cbrt", 2},
        {"hypot", 4}, {"rsqrt", 2}, {"fmod", 0}, {"sinh", 4},
    };
    float *in = random_f32(t, N, -15, 15);
    double *want = host(t, 16 * N * 8);
    for (int i = 0; i < N; i++) {
        double x = in[i], p = fabsf(in[i]) + 0.01f, clamped = in[i] * 0.05f;
        double all[16] = {sin(x),
                          cos(x),
                          tan(x),
                          exp(in[i] * 0.25f),
                          log(p),
                          pow(p, in[i] * 0.125f),
                          atan2(x, 1.5),
                          asin(clamped < -1  ? -1
                               : clamped > 1 ? 1
                                             : clamped),
                          exp2(in[i] * 0.5f),
                          log10(p),
                          tanh(x),
                          cbrt(x),
                          hypot(x, 2),
                          1 / sqrt(p),
                          fmod(x, 0.75),
                          sinh(in[i] * 0.25f)};
        for (int k = 0; k < 16; k++)
            want[k * N + i] = all[k];
    }
    hd_address out = room(t, 16 * N * 4);
    LAUNCH(t, "math32", D1(2), D1(96), 0, PTR(give(t, in, N * 4)), PTR(out), I32(N));
    float *got = take(t, out, 16 * N * 4);
    for (int k = 0; k < 16; k++)
        near32(t, functions[k].name, got + k, want + k * N, N, 16, functions[k].ulps * 0x1p-23,
               1e-37);
}

static void math64(struct test *t)
{
    enum {
        N = 100
    };
    static const char *const names[8] = {"sin", "cos", "exp", "log", "pow", "atan", "sqrt", "1/x"};
    static const double ulps[8] = {4, 4, 3, 3, 16, 5, 0, 0};
    double *in = random_f64(t, N, -15, 15), *want = host(t, 8 * N * 8);
    for (int i = 0; i < N; i++) {
        double x = in[i], p = fabs(x) + 0.01;
        double all[8] = {sin(x),  cos(x),  exp(x * 0.25), log(p), pow(p, x * 0.125),
                         atan(x), sqrt(p), 1.0 / x};
        for (int k = 0; k < 8; k++)
            want[k * N + i] = all[k];
    }
    hd_address out = room(t, 8 * N * 8);
    LAUNCH(t, "math64", D1(2), D1(64), 0, PTR(give(t, in, N * 8)), PTR(out), I32(N));
    double *got = take(t, out, 8 * N * 8);
    for (int k = 0; k < 8; k++)
        near64(t, names[k], got + k, want + k * N, N, 8, ulps[k] * 0x1p-52, 0);
}

static void exact32(struct test *t)
{
    enum {
        N = 200
    };
    float *a = random_f32(t, N, -9, 9), *b = random_f32(t, N, -9, 9), want[12 * N];
    for (int i = 0; i < N; i++) {
        if (i % 8 == 0)
            a[i] = floorf(a[i]) + 0.5f;
        float x = a[i], y = b[i], *o = want + 12 * i;
        o[0] = sqrtf(fabsf(x));
        o[1] = x / y;
        o[2] = floorf(x) + ceilf(y);
        o[3] = truncf(x) - rintf(y);
        o[4] = roundf(x);
        o[5] = fminf(x, y) * fmaxf(x, y);
        o[6] = copysignf(x, y);
        o[7] = x * 8;
        o[8] = fmaf(y - x, 0.25f, x);
        o[9] = (y < x ? 0.0f : 1.0f) + (x > 0 ? 1.0f : x < 0 ? -1.0f : 0.0f);
        o[10] = 1;
        o[11] = x < -1 ? -1 : x > 1 ? 1 : x;
    }
    hd_address out = room(t, sizeof want);
    LAUNCH(t, "exact32", D1(2), D1(112), 0, PTR(give(t, a, N * 4)), PTR(give(t, b, N * 4)),
           PTR(out), I32(N));
    float *got = take(t, out, sizeof want);
    for (int i = 4; i < 12 * N; i += 12) /* round() of what is nearly 0: clang 14 loses the sign */
        if (got[i] == 0 && want[i] == 0)
            got[i] = want[i];
    SAME(t, "out", got, want, 12 * N);
}

static void swizzle(struct test *t)
{
    enum {
        N = 90
    };
    float *in = random_f32(t, 4 * N, -100, 100), want[4 * N];
    i32 whole[4 * N];
    for (int i = 0; i < N; i++) {
        const float *v = in + 4 * i;
        want[4 * i] = v[3] * 2.0f + v[0];
        want[4 * i + 1] = v[0];
        want[4 * i + 2] = v[1] * 2.0f + v[1];
        want[4 * i + 3] = v[1];
        for (int k = 0; k < 4; k++)
            whole[4 * i + k] = (i32)(v[k] * 10.0f) + (k + 1) * i;
    }
    hd_address out = room(t, sizeof want), dw = room(t, sizeof whole);
    LAUNCH(t, "swizzle", D1(2), D1(64), 0, PTR(give(t, in, sizeof want)), PTR(out), PTR(dw),
           I32(N));
    SAME(t, "out", (float *)take(t, out, sizeof want), want, 4 * N);
    SAME(t, "whole", (i32 *)take(t, dw, sizeof whole), whole, 4 * N);
}

static i32 limited(i32 v, i32 lo, i32 hi)
{
    return v < lo ? lo : v > hi ? hi : v;
}

static void saturate(struct test *t)
{
    enum {
        N = 400
    };
    i32 *in = (i32 *)random_u32(t, N);
    u8 bytes[N];
    i16 shorts[N / 2];
    for (int i = 0; i < N; i++) {
        in[i] >>= i % 3 == 0 ? 22 : i % 3 == 1 ? 15 : 0;
        bytes[i] = (u8)limited(in[i], 0, 255);
        if (i % 2 == 0)
            shorts[i / 2] = (i16)limited(in[i], INT16_MIN, INT16_MAX);
    }
    hd_address db = room(t, sizeof bytes), ds = room(t, sizeof shorts);
    LAUNCH(t, "saturate", D1(2), D1(64), 0, PTR(give(t, in, N * 4)), PTR(db), PTR(ds), I32(N));
    SAME(t, "bytes", (u8 *)take(t, db, sizeof bytes), bytes, N);
    SAME(t, "shorts", (i16 *)take(t, ds, sizeof shorts), shorts, N / 2);
}

static void geometry(struct test *t)
{
    enum {
        N = 80
    };
    float *a = random_f32(t, 3 * N, -1, 1), *b = random_f32(t, 3 * N, -1, 1);
    double want[3 * N];
    float products[N];
    for (int i = 0; i < N; i++) {
        const float *u = a + 3 * i, *v = b + 3 * i;
        for (int k = 0; k < 3; k++) {
            int p = (k + 1) % 3, q = (k + 2) % 3;
            want[3 * i + k] = (double)u[p] * v[q] - (double)u[q] * v[p];
        }
        products[i] = u[0] * v[0] + u[1] * v[1] + u[2] * v[2];
    }
    hd_address out = room(t, N * 16);
    LAUNCH(t, "geometry", D1(2), D1(48), 0, PTR(give(t, a, N * 12)), PTR(give(t, b, N * 12)),
           PTR(out), I32(N));
    float *got = take(t, out, N * 16);
    near32(t, "cross", got, want, 3 * N, 1, 0, 0x1p-23); /* the library may fuse or not */
    SAME(t, "dot", got + 3 * N, products, N);
}

static void packs(struct test *t)
{
    enum {
        N = 70
    };
    i8 *a = (i8 *)random_u8(t, 4 * N);
    i16 *b = (i16 *)random_u8(t, 8 * N);
    i64 want[2 * N];
    for (int i = 0; i < N; i++) {
        const i8 *x = a + 4 * i;
        const i16 *y = b + 4 * i;
        want[2 * i] = (i64)(x[0] * y[0]) * (x[1] * y[1]) + (i8)(x[0] + x[1]);
        want[2 * i + 1] = (i64)(x[2] * y[2]) * (x[3] * y[3]) - (i8)(x[3] + x[2]);
    }
    hd_address out = room(t, sizeof want);
    LAUNCH(t, "packs", D1(1), D1(96), 0, PTR(give(t, a, 4 * N)), PTR(give(t, b, 8 * N)), PTR(out),
           I32(N));
    SAME(t, "out", (i64 *)take(t, out, sizeof want), want, 2 * N);
}

static i64 clamp64(i64 v, i64 lo, i64 hi)
{
    return v < lo ? lo : v > hi ? hi : v;
}

static void builtins(struct test *t)
{
    enum {
        N = 150
    };
    i32 *a = (i32 *)random_u32(t, N), *b = (i32 *)random_u32(t, N);
    u32 want[18 * N];
    a[5] = 0;
    for (int i = 0; i < N; i++) {
        a[i] >>= i % 5 * 3;
        i64 x = a[i], y = b[i];
        u32 *o = want + 18 * i, ux = (u32)x, uy = (u32)y;
        o[0] = (u32)clamp64(x + y, INT32_MIN, INT32_MAX);
        o[1] = (u32)clamp64((i64)ux + uy, 0, UINT32_MAX);
        o[2] = (u32)clamp64(x - y, INT32_MIN, INT32_MAX);
        o[3] = (u32)clamp64((i64)ux - uy, 0, UINT32_MAX);
        o[4] = (u32)((x + y) >> 1);
        o[5] = (u32)(((u64)ux + uy + 1) >> 1);
        o[6] = rotl(ux, uy & 31);
        o[7] = (u32)(x * y >> 32);
        o[8] = (u32)((u64)ux * uy >> 32);
        o[9] = (u32)__builtin_popcount(ux);
        o[10] = ux ? (u32)__builtin_clz(ux) : 32;
        o[11] = (u32)((x >> 8) * (y >> 8));
        o[12] = (u32)((x >> 1) < (y >> 1) ? (y >> 1) - (x >> 1) : (x >> 1) - (y >> 1));
        o[13] = (u32)(x < 0 ? -x : x);
        o[14] = (u32)(x > y ? x : y) - (ux < uy ? ux : uy);
        o[15] = (u32)clamp64(x, -1000, 1000);
        o[16] = ux << 16 | (uy & 0xffff);
        o[17] = (ux & ~0x0ff00ff0u) | (uy & 0x0ff00ff0u);
    }
    hd_address out = room(t, sizeof want);
    LAUNCH(t, "builtins", D1(3), D1(64), 0, PTR(give(t, a, N * 4)), PTR(give(t, b, N * 4)),
           PTR(out), I32(N));
    SAME(t, "out", (u32 *)take(t, out, sizeof want), want, 18 * N);
}

static void longs(struct test *t)
{
    enum {
        N = 100
    };
    u64 *a = random_u64(t, N), *b = random_u64(t, N), want[7 * N];
    for (int i = 0; i < N; i++) {
        if (i % 3)
            b[i] = (u64)((i64)b[i] >> i % 55);
        if (b[i] + 1 < 2)
            b[i] = 99;
        i64 x = (i64)a[i], y = (i64)b[i];
        u64 *o = want + 7 * i;
        o[0] = a[i] * b[i] + (u64)(x / y) - (u64)(x % y);
        o[1] = (u64)((__int128)x * y >> 64);
        o[2] = (u64)((unsigned __int128)a[i] * b[i] >> 64);
        __int128 sum = (__int128)x + y;
        o[3] = (u64)(sum > INT64_MAX ? INT64_MAX : sum < INT64_MIN ? INT64_MIN : (i64)sum);
        o[4] = (a[i] << 13 | a[i] >> 51) ^ (b[i] << 51 | b[i] >> 13);
        o[5] = (a[i] ? (u64)__builtin_clzll(a[i]) : 64) + (u64)__builtin_popcountll(b[i]);
        o[6] = a[i] / 1000003;
    }
    hd_address out = room(t, sizeof want);
    LAUNCH(t, "longs", D1(2), D1(64), 0, PTR(give(t, a, N * 8)), PTR(give(t, b, N * 8)), PTR(out),
           I32(N));
    SAME(t, "out", (u64 *)take(t, out, sizeof want), want, 7 * N);
}

static void small(struct test *t)
{
    enum {
        N = 120
    };
    i8 *a = (i8 *)random_u8(t, N);
    u16 *b = (u16 *)random_u8(t, 2 * N);
    i32 want[4 * N];
    for (int i = 0; i < N; i++) {
        i8 x = a[i], z = a[N - 1 - i];
        want[4 * i] = limited(x + z, -128, 127);
        want[4 * i + 1] = (u8)(x * z) / (u8)(z | 1);
        want[4 * i + 2] = (u16)(b[i] << 3) >> 1;
        want[4 * i + 3] = x < z ? -(i32)b[i] : (i16)b[i];
    }
    hd_address out = room(t, sizeof want);
    LAUNCH(t, "small", D1(2), D1(64), 0, PTR(give(t, a, N)), PTR(give(t, b, 2 * N)), PTR(out),
           I32(N));
    SAME(t, "out", (i32 *)take(t, out, sizeof want), want, 4 * N);
}

const struct kernel_case opencl_number_cases[] = {
    {"opencl/math", "math32", math32, 0},
    {"opencl/math", "math64", math64, 0},
    {"opencl/math", "exact32", exact32, 0},
    {"opencl/vector", "swizzle", swizzle, 0},
    {"opencl/vector", "saturate", saturate, 0},
    {"opencl/vector", "geometry", geometry, 0},
    {"opencl/vector", "packs", packs, 0},
    {"opencl/integer", "builtins", builtins, 0},
    {"opencl/integer", "longs", longs, 0},
    {"opencl/integer", "small", small, 0},
    {0},
};
