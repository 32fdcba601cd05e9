/*
 * OpenCL kernels about control and calls: divergent loops, switches, functions that stay functions,
 * arguments by value, narrow buffers, SHA-256.
 */
#include "kernels.h"
#include <math.h>

static void mandelbrot(struct test *t)
{
    enum {
        W = 50,
        H = 30,
        LIMIT = 60
    };
    float x0 = -2, y0 = -1.2f, step = 0.06f;
    i32 want[W * H];
    for (int i = 0; i < W * H; i++) {
        float cr = fmaf((float)(i % W), step, x0), ci = fmaf((float)(i / W), step, y0);
        float zr = 0, zi = 0;
        int k = 0;
        while (k < LIMIT && zr * zr + zi * zi <= 4.0f) {
            float r2 = zr * zr, i2 = zi * zi;
            zi = fmaf(2.0f * zr, zi, ci);
            zr = r2 - i2 + cr;
            k++;
        }
        want[i] = k;
    }
    hd_address out = room(t, sizeof want);
    LAUNCH(t, "mandelbrot", D2(4, 5), D2(16, 7), 0, PTR(out), I32(W), I32(H), F32(x0), F32(y0),
           F32(step), I32(LIMIT));
    SAME(t, "out", (i32 *)take(t, out, sizeof want), want, W * H);
}

static void collatz(struct test *t)
{
    enum {
        N = 120,
        LIMIT = 150
    };
    u32 in[N], steps[N];
    u64 peak[N];
    memset(peak, 0xa5, sizeof peak);
    for (u32 i = 0; i < N; i++) {
        in[i] = i + 1 + (i % 5 == 0 ? 900 : 0);
        u64 v = in[i], top = v;
        u32 k = 0;
        for (; v != 1 && k <= LIMIT; k++) {
            v = v % 2 ? 3 * v + 1 : v / 2;
            top = v > top ? v : top;
        }
        steps[i] = k > LIMIT ? ~0u : k;
        if (k <= LIMIT)
            peak[i] = top;
    }
    hd_address ds = room(t, sizeof steps), dp = room(t, sizeof peak);
    LAUNCH(t, "collatz", D1(2), D1(N / 2), 0, PTR(give(t, in, sizeof in)), PTR(ds), PTR(dp),
           U32(LIMIT));
    SAME(t, "steps", (u32 *)take(t, ds, sizeof steps), steps, N);
    SAME(t, "peak", (u64 *)take(t, dp, sizeof peak), peak, N);
}

static void two_squares(struct test *t)
{
    enum {
        N = 130,
        MOST = 3
    };
    u32 in[N], want[2 * N] = {0};
    for (u32 i = 0; i < N; i++) {
        in[i] = i < 100 ? i : rnd(t) % 5 * 325 + 65;
        u32 n = in[i];
        for (u32 a = 0; a <= 80 && n % 4 != 3; a++)
            for (u32 b = a; b <= 80; b++)
                if (a * a + b * b == n && want[2 * i] < MOST && !(a % 2 == 1 && n % 8 == 4)) {
                    want[2 * i]++;
                    want[2 * i + 1] = a << 16 | b;
                }
    }
    hd_address out = room(t, sizeof want);
    LAUNCH(t, "two_squares", D1(1), D1(N), 0, PTR(give(t, in, sizeof in)), PTR(out), U32(MOST));
    SAME(t, "out", (u32 *)take(t, out, sizeof want), want, 2 * N);
}

static i32 tangle(const u8 *p, i32 n)
{
    u32 score = 0;
    bool odd = n & 1;
    for (i32 at = 0; at < n;) {
        if (odd) {
            score = score * 3 - p[at];
            at += 1 + (p[at] & 1);
            odd = score & 8;
        } else {
            score = score * 2 + p[at];
            odd = !(p[at] & 4);
            at++;
        }
    }
    return (i32)score;
}

static void tangled(struct test *t)
{
    enum {
        N = 100,
        STRIDE = 20
    };
    u8 *text = random_u8(t, N * STRIDE);
    i32 length[N], want[N];
    for (int i = 0; i < N; i++) {
        length[i] = (i32)(rnd(t) % (STRIDE + 1));
        want[i] = tangle(text + i * STRIDE, length[i]);
    }
    hd_address out = room(t, sizeof want);
    LAUNCH(t, "tangled", D1(2), D1(N / 2), 0, PTR(give(t, text, N * STRIDE)),
           PTR(give(t, length, sizeof length)), PTR(out), I32(STRIDE));
    SAME(t, "out", (i32 *)take(t, out, sizeof want), want, N);
}

static void rounds(struct test *t)
{
    enum {
        EACH = 90,
        GROUPS = 2,
        N = EACH * GROUPS,
        COUNT = 7
    };
    u32 *in = random_u32(t, N), want[N];
    memcpy(want, in, sizeof want);
    for (u32 *s = want; s < want + N; s += EACH)
        for (int r = 0; r < COUNT; r++) {
            u32 add[EACH];
            for (int i = 0; i < EACH; i++) {
                u32 v = s[(i + r) % EACH], k = 0;
                for (; v & 1 && k < 5; k++)
                    v = v * 1664525u + 1013904223u;
                add[i] = v + k;
            }
            for (int i = 0; i < EACH; i++)
                s[i] ^= add[i];
        }
    hd_address out = room(t, sizeof want);
    LAUNCH(t, "rounds", D1(GROUPS), D1(EACH), 0, PTR(give(t, in, N * 4)), PTR(out), I32(COUNT));
    SAME(t, "out", (u32 *)take(t, out, sizeof want), want, N);
}

static void dense(struct test *t)
{
    enum {
        N = 160
    };
    u32 *op = random_u32(t, N);
    i32 *a = (i32 *)random_u32(t, N), want[N];
    memset(want, 0xa5, sizeof want);
    for (int i = 0; i < N; i++) {
        i32 x = a[i] >>= 18;
        op[i] %= 10;
        i32 sums[8] = {0, 0, x, 3 * x, 6 * x, 10 * x, 15 * x, 21 * x};
        i32 all[10] = {x + 1,
                       x * x,
                       x / 3,
                       x / 3,
                       __builtin_popcount((u32)x),
                       sums[x & 7],
                       -x,
                       0,
                       (x & 15) * (x & 15),
                       99};
        if (op[i] != 7)
            want[i] = all[op[i]];
    }
    hd_address out = room(t, sizeof want);
    LAUNCH(t, "dense", D1(2), D1(90), 0, PTR(give(t, op, N * 4)), PTR(give(t, a, N * 4)), PTR(out),
           I32(N));
    SAME(t, "out", (i32 *)take(t, out, sizeof want), want, N);
}

static void many_arguments(struct test *t)
{
    enum {
        N = 70
    };
    i32 in[N];
    i64 want[N];
    for (i64 i = 0; i < N; i++) {
        i64 v = in[i] = (i32)(rnd(t) % 20001) - 10000;
        i64 all[30] = {v,  v + 1,  v * 2, i,      5,  v * 3, 7,  v ^ 8,      9,      v - 10,
                       11, v * 12, 13,    i + 14, 15, 16,    v,  18ll << 33, 19,     v,
                       21, v / 22, 23,    v * 24, 25, 26,    -v, 28,         v & 29, 30};
        want[i] = 0;
        for (int k = 0; k < 30; k++)
            want[i] += all[k] * (k + 1);
    }
    hd_address out = room(t, sizeof want);
    LAUNCH(t, "many_arguments", D1(1), D1(N), 0, PTR(give(t, in, sizeof in)), PTR(out));
    SAME(t, "out", (i64 *)take(t, out, sizeof want), want, N);
}

static void tribonacci(struct test *t)
{
    enum {
        N = 40
    };
    /* The third element of the matrix's first row: 0, 1, 1, 2, 4, 7, 13, ... */
    u32 at[N], want[N] = {0, 1, 1};
    for (u32 i = 0; i < N; i++) {
        at[i] = i;
        if (i >= 3)
            want[i] = want[i - 1] + want[i - 2] + want[i - 3];
    }
    hd_address out = room(t, sizeof want);
    LAUNCH(t, "tribonacci", D1(1), D1(N), 0, PTR(give(t, at, sizeof at)), PTR(out));
    SAME(t, "out", (u32 *)take(t, out, sizeof want), want, N);
}

static u32 level1(u32 x)
{
    return x * 2654435761u ^ x >> 15;
}
static u32 level2(u32 x)
{
    return level1(x + 1) + level1(x + 2);
}
static u32 level3(u32 x)
{
    return level2(x + (x & 3)) ^ level2(level2(x + (x >> 1 & 3)));
}
static u32 level4(u32 x)
{
    return x & 1 ? level3(x) : level3(x >> 1) + level1(x);
}

static void chain(struct test *t)
{
    enum {
        N = 100
    };
    u32 *in = random_u32(t, N), want[N];
    for (int i = 0; i < N; i++) {
        want[i] = 0;
        for (u32 k = 0; k < (in[i] & 3); k++)
            want[i] += level4(in[i] + k);
        if (in[i] & 16)
            want[i] ^= level2(want[i]);
    }
    hd_address out = room(t, sizeof want);
    LAUNCH(t, "chain", D1(2), D1(N / 2), 0, PTR(give(t, in, N * 4)), PTR(out));
    SAME(t, "out", (u32 *)take(t, out, sizeof want), want, N);
}

static int by_u32(const void *a, const void *b)
{
    u32 x = *(const u32 *)a, y = *(const u32 *)b;
    return (x > y) - (x < y);
}

static void arranged(struct test *t)
{
    enum {
        N = 70
    };
    u32 *in = random_u32(t, 16 * N), want[16 * N];
    memcpy(want, in, sizeof want);
    for (int i = 0; i < N; i++) {
        u32 *w = want + 16 * i, from = i & 7, to = 15 - (i & 3), turned[16];
        qsort(w, 16, 4, by_u32);
        memcpy(turned, w, sizeof turned);
        for (u32 k = from; k <= to; k++)
            w[k] = turned[from + to - k];
    }
    hd_address out = room(t, sizeof want);
    LAUNCH(t, "arranged", D1(1), D1(N), 0, PTR(give(t, in, sizeof want)), PTR(out));
    SAME(t, "out", (u32 *)take(t, out, sizeof want), want, 16 * N);
}

static void scalars(struct test *t)
{
    double d = -1.25e-300;
    u64 want[10] = {(u64)-5,
                    250,
                    (u64)-30000,
                    60000,
                    (u64)-2000000000,
                    4000000000u,
                    (u64)INT64_MIN + 3,
                    UINT64_MAX - 4,
                    f32_bits(0.1f),
                    0};
    memcpy(&want[9], &d, 8);
    hd_address out = room(t, sizeof want);
    LAUNCH(t, "scalars", D1(1), D1(3), 0, PTR(out), VALUE(i8, -5), VALUE(u8, 250),
           VALUE(i16, -30000), VALUE(u16, 60000), I32(-2000000000), U32(4000000000u),
           VALUE(i64, INT64_MIN + 3), U64(UINT64_MAX - 4), F32(0.1f), BYTES(d));
    SAME(t, "out", (u64 *)take(t, out, sizeof want), want, 10);
}

static void vectors(struct test *t)
{
    enum {
        N = 20
    };
    i8 a[2] = {-3, 4}, f[16];
    u8 b[4] = {200, 100, 50, 0xee};
    i16 c[4] = {1000, -2000, 3000, -4000};
    i32 d[4] = {0x12345678, -1, 0x0f0f0f0f, 0x7eeeeeee}, want[16 * N];
    float e[2] = {1.5f, -2.5f};
    memset(want, 0xa5, sizeof want);
    for (int k = 0; k < 16; k++)
        f[k] = (i8)(k * 37);
    for (int i = 0; i < N; i++) {
        i32 *o = want + 16 * i;
        o[0] = -2;
        o[1] = 200 + 300 + 250;
        o[2] = 1000 - 2000 - 3000 - 4000;
        o[3] = d[0] ^ d[1] ^ d[2];
        o[4] = (i32)(f32_bits(e[0]) + f32_bits(e[1]));
        o[5] = f[0] + f[7] * 2 + f[15] * 3;
        o[6] = 77;
        o[7] = f[i & 15];
    }
    hd_address out = room(t, sizeof want);
    LAUNCH(t, "vectors", D1(1), D1(N), 0, BYTES(a), PTR(out), BYTES(b), BYTES(c), BYTES(d),
           BYTES(e), BYTES(f), VALUE(u8, 77));
    SAME(t, "out", (i32 *)take(t, out, sizeof want), want, 16 * N);
}

struct inner {
    i16 a;
    i8 b[3];
};
struct outer {
    i8 tag;
    double weight;
    struct inner parts[4];
    _Alignas(16) i32 where[4];
    u8 flags;
};

static void nested(struct test *t)
{
    enum {
        N = 60
    };
    struct outer *array = (struct outer *)random_u8(t, (N + 1) * sizeof *array), *first = array + N;
    struct inner alone = {-321, {1, 2, -100}};
    i64 want[N];
    for (int i = 0; i <= N; i++)
        array[i].weight = (double)((i32)rnd(t) >> 8) / 16;
    for (int i = 0; i < N; i++) {
        const struct outer *o = array + i;
        int k = i & 3;
        i64 sum = first->tag + (i64)(first->weight * 8.0);
        sum += (i64)first->where[1] + first->flags + 12345;
        sum += first->parts[k].a * first->parts[(k + 1) & 3].b[i % 3];
        sum += alone.a + alone.b[2];
        want[i] = sum * 3 + o->tag + (i64)o->weight + o->parts[k].a - o->parts[k].b[1] +
                  (i32)((u32)o->where[2] * o->flags);
    }
    hd_address out = room(t, sizeof want);
    LAUNCH(t, "nested", D1(1), D1(N), 0, BYTES(*first), I32(12345), BYTES(alone),
           PTR(give(t, array, N * sizeof *array)), PTR(out), I32(N));
    SAME(t, "out", (i64 *)take(t, out, sizeof want), want, N);
}

static void through(struct test *t)
{
    enum {
        N = 12
    };
    u64 addresses[N];
    u32 length[N], want[N] = {0};
    for (u32 i = 0; i < N; i++) {
        u32 *data = random_u32(t, 10);
        length[i] = rnd(t) % 10;
        addresses[i] = give(t, data, 40) + 4 * (i & 1);
        for (u32 k = 0; k < length[i]; k++)
            want[i] = want[i] * 3 + data[k + (i & 1)];
    }
    hd_address out = room(t, sizeof want);
    LAUNCH(t, "through", D1(1), D1(N), 0, PTR(give(t, addresses, sizeof addresses)),
           PTR(give(t, length, sizeof length)), PTR(out));
    SAME(t, "out", (u32 *)take(t, out, sizeof want), want, N);
}

static void mix_sound(struct test *t)
{
    enum {
        N = 300
    };
    i16 *a = (i16 *)random_u8(t, 2 * N), *b = (i16 *)random_u8(t, 2 * N), want[N];
    for (int i = 0; i < N; i++) {
        i32 sum = a[i] + (i16)(b[i] * 200 >> 8);
        want[i] = (i16)(sum > 32767 ? 32767 : sum < -32768 ? -32768 : sum);
    }
    hd_address out = room(t, sizeof want);
    LAUNCH(t, "mix_sound", D1(4), D1(90), 0, PTR(give(t, a, 2 * N)), PTR(give(t, b, 2 * N)),
           PTR(out), VALUE(i16, 200), I32(N));
    SAME(t, "out", (i16 *)take(t, out, sizeof want), want, N);
}

static void swap_bytes(struct test *t)
{
    enum {
        N = 150
    };
    u8 *in = random_u8(t, 2 * N), turned[N] = {0};
    u16 halves[N];
    for (int i = 0; i < N; i++) {
        halves[i] = (u16)(in[2 * i] * 256 + in[2 * i + 1]);
        for (int k = 0; k < 8; k++)
            turned[i] = (u8)(turned[i] | (in[i] >> k & 1) << (7 - k));
    }
    hd_address dh = room(t, sizeof halves), dt = room(t, sizeof turned);
    LAUNCH(t, "swap_bytes", D1(2), D1(80), 0, PTR(give(t, in, 2 * N)), PTR(dh), PTR(dt), I32(N));
    SAME(t, "halves", (u16 *)take(t, dh, sizeof halves), halves, N);
    SAME(t, "turned", (u8 *)take(t, dt, sizeof turned), turned, N);
}

static void records(struct test *t)
{
    enum {
        N = 99
    };
    u8 *in = random_u8(t, 7 * N), want[7 * N];
    i32 sums[N];
    for (int i = 0; i < N; i++) {
        u8 *to = want + 7 * (N - 1 - i);
        i16 value;
        u32 weight;
        memcpy(&value, in + 7 * i + 1, 2);
        memcpy(&weight, in + 7 * i + 3, 4);
        value = (i16)-value;
        weight += in[7 * i];
        to[0] = in[7 * i];
        memcpy(to + 1, &value, 2);
        memcpy(to + 3, &weight, 4);
        sums[i] = (i32)((u32)(value * (i8)in[7 * i]) + (u32)((i32)weight >> 3));
    }
    hd_address out = room(t, sizeof want), ds = room(t, sizeof sums);
    LAUNCH(t, "records", D1(1), D1(N), 0, PTR(give(t, in, 7 * N)), PTR(out), PTR(ds), I32(N));
    SAME(t, "out", (u8 *)take(t, out, sizeof want), want, 7 * N);
    SAME(t, "sums", (i32 *)take(t, ds, sizeof sums), sums, N);
}

static void dither(struct test *t)
{
    enum {
        W = 72,
        H = 10
    };
    static const u8 bayer[16] = {0, 8, 2, 10, 12, 4, 14, 6, 3, 11, 1, 9, 15, 7, 13, 5};
    u8 *in = random_u8(t, W * H), want[W * H / 8] = {0};
    for (int i = 0; i < W * H; i++)
        if (in[i] > bayer[i / W % 4 * 4 + i % W % 4] * 16 + 8)
            want[i / 8] |= (u8)(1 << i % 8);
    hd_address out = room(t, sizeof want);
    LAUNCH(t, "dither", D2(3, 2), D2(3, 5), 0, PTR(give(t, in, W * H)), PTR(out), I32(W));
    SAME(t, "out", (u8 *)take(t, out, sizeof want), want, W * H / 8);
}

static void dot16(struct test *t)
{
    enum {
        N = 50,
        LENGTH = 21
    };
    i16 *a = (i16 *)random_u8(t, 2 * N * LENGTH);
    i8 *b = (i8 *)random_u8(t, LENGTH);
    i32 want[N] = {0};
    for (int i = 0; i < N * LENGTH; i++)
        want[i / LENGTH] += a[i] * b[i % LENGTH];
    hd_address out = room(t, sizeof want);
    LAUNCH(t, "dot16", D1(1), D1(N), 0, PTR(give(t, a, 2 * N * LENGTH)), PTR(give(t, b, LENGTH)),
           PTR(out), I32(LENGTH));
    SAME(t, "out", (i32 *)take(t, out, sizeof want), want, N);
}

/* The standard's example; the other blocks only have to differ from it and be the same each run,
 * which two work-items with the same block show. */
static void sha256(struct test *t)
{
    enum {
        N = 20
    };
    static const u32 abc[8] = {0xba7816bf, 0x8f01cfea, 0x414140de, 0x5dae2223,
                               0xb00361a3, 0x96177a9c, 0xb410ff61, 0xf20015ad};
    static const u32 empty[8] = {0xe3b0c442, 0x98fc1c14, 0x9afbf4c8, 0x996fb924,
                                 0x27ae41e4, 0x649b934c, 0xa495991b, 0x7852b855};
    u32 *blocks = random_u32(t, 16 * N);
    for (int i = 0; i < N; i += 4) {
        memset(blocks + 16 * i, 0, 128);
        blocks[16 * i] = 0x61626380;
        blocks[16 * i + 15] = 24;
        blocks[16 * i + 16] = 0x80000000;
    }
    memcpy(blocks + 16 * 7, blocks + 16 * 18, 64);
    hd_address out = room(t, N * 32);
    LAUNCH(t, "sha256", D1(1), D1(N), 0, PTR(give(t, blocks, N * 64)), PTR(out));
    u32 *got = take(t, out, N * 32);
    for (int i = 0; i < N; i += 4) {
        SAME(t, "SHA-256 of abc", got + 8 * i, abc, 8);
        SAME(t, "SHA-256 of nothing", got + 8 * i + 8, empty, 8);
    }
    SAME(t, "equal blocks", got + 8 * 7, got + 8 * 18, 8);
}

const struct kernel_case opencl_flow_cases[] = {
    {"opencl/loops", "mandelbrot", mandelbrot, 0},
    {"opencl/loops", "collatz", collatz, 0},
    {"opencl/loops", "two_squares", two_squares, 0},
    {"opencl/loops", "tangled", tangled, 0},
    {"opencl/loops", "rounds", rounds, 0},
    {"opencl/tables", "dense", dense, 0},
    {"opencl/stack", "many_arguments", many_arguments, 0},
    {"opencl/stack", "tribonacci", tribonacci, 0},
    {"opencl/stack", "chain", chain, 0},
    {"opencl/stack", "arranged", arranged, 0},
    {"opencl/arguments", "scalars", scalars, 0},
    {"opencl/arguments", "vectors", vectors, 0},
    {"opencl/arguments", "nested", nested, 0},
    {"opencl/arguments", "through", through, 0},
    {"opencl/narrow", "mix_sound", mix_sound, 0},
    {"opencl/narrow", "swap_bytes", swap_bytes, 0},
    {"opencl/narrow", "records", records, 0},
    {"opencl/narrow", "dither", dither, 0},
    {"opencl/narrow", "dot16", dot16, 0},
    {"opencl/sha", "sha256", sha256, 0},
    {0},
};
