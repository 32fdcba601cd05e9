/*
 * OpenCL kernels, second part: sorting, grids, atomics, functions, coding, vectors of floats.
 */
#include "kernels.h"
#include <math.h>

static int by_i32(const void *a, const void *b)
{
    i32 x = *(const i32 *)a, y = *(const i32 *)b;
    return (x > y) - (x < y);
}

static int by_u32(const void *a, const void *b)
{
    u32 x = *(const u32 *)a, y = *(const u32 *)b;
    return (x > y) - (x < y);
}

static void bitonic(struct test *t)
{
    i32 *keys = (i32 *)random_u32(t, 384);
    hd_address d = give(t, keys, 384 * 4);
    LAUNCH(t, "bitonic", D1(3), D1(128), 0, PTR(d));
    for (int g = 0; g < 3; g++)
        qsort(keys + 128 * g, 128, 4, by_i32);
    SAME(t, "keys", (i32 *)take(t, d, 384 * 4), keys, 384);
}

static void rank_sort(struct test *t)
{
    enum {
        N = 150
    };
    u8 *in = random_u8(t, N), want[N];
    i32 from[N];
    int at = 0;
    for (int i = 0; i < N; i++)
        in[i] &= 31;
    for (int v = 0; v < 32; v++)
        for (int i = 0; i < N; i++)
            if (in[i] == v) {
                want[at] = (u8)v;
                from[at++] = i;
            }
    hd_address out = room(t, N), df = room(t, sizeof from);
    LAUNCH(t, "rank_sort", D1(3), D1(64), 0, PTR(give(t, in, N)), PTR(out), PTR(df), I32(N));
    SAME(t, "out", (u8 *)take(t, out, N), want, N);
    SAME(t, "from", (i32 *)take(t, df, sizeof from), from, N);
}

static void merge(struct test *t)
{
    enum {
        N = 100
    };
    u32 *both = random_u32(t, 2 * N);
    for (int i = 0; i < 2 * N; i++)
        both[i] %= 200;
    qsort(both, N, 4, by_u32);
    qsort(both + N, N, 4, by_u32);
    hd_address a = give(t, both, N * 4), b = give(t, both + N, N * 4), out = room(t, 2 * N * 4);
    LAUNCH(t, "merge", D1(4), D1(N / 2), 0, PTR(a), PTR(b), PTR(out), I32(N));
    qsort(both, 2 * N, 4, by_u32);
    SAME(t, "out", (u32 *)take(t, out, 2 * N * 4), both, 2 * N);
}

static void jacobi(struct test *t)
{
    enum {
        N = 21,
        W = N + 2,
        ALL = W * W,
        STEPS = 4
    };
    float *v = random_f32(t, ALL, -1, 1), *rhs = random_f32(t, ALL, -1, 1), next[ALL];
    hd_address a = give(t, v, sizeof next), b = give(t, v, sizeof next);
    hd_address dr = give(t, rhs, sizeof next), worst = 0;
    u32 want = 0;
    memcpy(next, v, sizeof next);
    for (int s = 0; s < STEPS; s++) {
        worst = zeros(t, 4);
        LAUNCH(t, "jacobi", D2(3, 3), D2(8, 8), 0, PTR(s & 1 ? b : a), PTR(s & 1 ? a : b), PTR(dr),
               PTR(worst), I32(N));
        float most = 0;
        for (int y = 1; y <= N; y++)
            for (int x = 1; x <= N; x++) {
                int i = y * W + x;
                next[i] = 0.25f * (v[i - 1] + v[i + 1] + v[i - W] + v[i + W] - rhs[i]);
                most = fmaxf(most, fabsf(next[i] - v[i]));
            }
        memcpy(v, next, sizeof next);
        want = f32_bits(most);
    }
    equals(t, "residual", *(u32 *)take(t, worst, 4), want);
    SAME(t, "grid", (float *)take(t, STEPS & 1 ? b : a, sizeof next), v, ALL);
}

static void heat(struct test *t)
{
    enum {
        X = 9,
        Y = 6,
        Z = 4,
        N = X * Y * Z
    };
    static const int step[6][3] = {{-1, 0, 0}, {1, 0, 0},  {0, -1, 0},
                                   {0, 1, 0},  {0, 0, -1}, {0, 0, 1}};
    double *in = random_f64(t, N, 0, 100), want[N], k = 0.1;
    for (int i = 0; i < N; i++) {
        int at[3] = {i % X, i / X % Y, i / X / Y}, size[3] = {X, Y, Z};
        double sum = 0;
        for (int s = 0; s < 6; s++) {
            int p[3];
            for (int d = 0; d < 3; d++) {
                p[d] = at[d] + step[s][d];
                p[d] = p[d] < 0 ? 0 : p[d] >= size[d] ? size[d] - 1 : p[d];
            }
            sum += in[(p[2] * Y + p[1]) * X + p[0]] - in[i];
        }
        want[i] = fma(k, sum, in[i]);
    }
    hd_address out = room(t, sizeof want);
    LAUNCH(t, "heat", D3(3, 2, 2), D3(3, 3, 2), 0, PTR(give(t, in, sizeof want)), PTR(out),
           BYTES(k));
    SAME(t, "out", (double *)take(t, out, sizeof want), want, N);
}

static void rule110(struct test *t)
{
    enum {
        WORDS = 5,
        CELLS = 64 * WORDS,
        STEPS = 9
    };
    u64 *in = random_u64(t, WORDS), want[WORDS] = {0};
    u8 cell[CELLS], next[CELLS];
    hd_address a = give(t, in, sizeof want), b = room(t, sizeof want);
    for (int i = 0; i < CELLS; i++)
        cell[i] = in[i / 64] >> i % 64 & 1;
    for (int s = 0; s < STEPS; s++) {
        LAUNCH(t, "rule110", D1(1), D1(8), 0, PTR(s & 1 ? b : a), PTR(s & 1 ? a : b), I32(WORDS));
        for (int i = 0; i < CELLS; i++) {
            int left = cell[(i + CELLS - 1) % CELLS], right = cell[(i + 1) % CELLS];
            next[i] = 110 >> (left * 4 + cell[i] * 2 + right) & 1;
        }
        memcpy(cell, next, sizeof cell);
    }
    for (int i = 0; i < CELLS; i++)
        want[i / 64] |= (u64)cell[i] << i % 64;
    SAME(t, "cells", (u64 *)take(t, STEPS & 1 ? b : a, sizeof want), want, WORDS);
}

static void atomics(struct test *t)
{
    enum {
        N = 250
    };
    i32 *in = (i32 *)random_u32(t, N), s[10] = {0, 0, INT32_MAX, INT32_MIN, -1, 0, 0, 5, 5, 17};
    u32 u[3] = {~0u, 0, 0}, total = 17;
    hd_address ds = give(t, s, sizeof s), du = give(t, u, sizeof u);
    LAUNCH(t, "atomics", D1(3), D1(96), 0, PTR(give(t, in, N * 4)), PTR(ds), PTR(du), I32(N));
    for (int i = 0; i < N; i++) {
        i32 v = in[i];
        s[0] = (i32)((u32)s[0] + (u32)v);
        s[1] = (i32)((u32)s[1] - (u32)v);
        s[2] = v < s[2] ? v : s[2];
        s[3] = v > s[3] ? v : s[3];
        s[4] &= v | 0xff;
        s[5] |= v & 0xff00;
        s[6] ^= v;
        s[7]++;
        s[8]--;
        u[0] = (u32)v < u[0] ? (u32)v : u[0];
        u[1] = (u32)v > u[1] ? (u32)v : u[1];
        total += (u32)v;
    }
    i32 *got = take(t, ds, sizeof s);
    u32 *unsigned_got = take(t, du, sizeof u);
    /* The last value exchanged in depends on the order, the total does not. */
    u[2] = total - (u32)got[9];
    s[9] = got[9];
    SAME(t, "s", got, s, 10);
    SAME(t, "u", unsigned_got, u, 3);
}

static void multiply_all(struct test *t)
{
    enum {
        N = 200,
        EACH = 80,
        GROUPS = 3
    };
    u32 *in = random_u32(t, N), want[GROUPS] = {1, 1, 1};
    for (int i = 0; i < N; i++)
        want[i / EACH] *= in[i] | 1;
    hd_address out = room(t, sizeof want);
    LAUNCH(t, "multiply_all", D1(GROUPS), D1(EACH), 0, PTR(give(t, in, N * 4)), PTR(out), I32(N));
    SAME(t, "out", (u32 *)take(t, out, sizeof want), want, GROUPS);
}

static void buckets(struct test *t)
{
    enum {
        N = 300,
        COUNT = 11
    };
    u32 *keys = random_u32(t, N);
    i32 none[COUNT];
    memset(none, 0xff, sizeof none);
    hd_address head = give(t, none, sizeof none), next = room(t, N * 4);
    LAUNCH(t, "buckets", D1(3), D1(128), 0, PTR(give(t, keys, N * 4)), PTR(head), PTR(next), I32(N),
           I32(COUNT));
    i32 *first = take(t, head, sizeof none), *after = take(t, next, N * 4);
    int seen = 0;
    for (u32 b = 0; b < COUNT && !t->failed; b++)
        for (i32 i = first[b]; i != -1 && !t->failed; i = after[i], seen++) {
            if (i < 0 || i >= N || keys[i] % COUNT != b || seen > N)
                fail(t, "item %d in bucket %u", i, b);
            if (t->failed)
                break;
        }
    equals(t, "items in all lists", (u64)seen, N);
}

static i32 divisor(i32 a, i32 b)
{
    return b == 0 ? abs(a) : divisor(b, a % b);
}

static void fractions(struct test *t)
{
    enum {
        N = 40,
        TERMS = 4
    };
    i32 *in = host(t, N * TERMS * 8), want[2 * N];
    for (int i = 0; i < N; i++) {
        i32 *w = want + 2 * i;
        w[0] = 0;
        w[1] = 1;
        for (int k = 0; k < TERMS; k++) {
            i32 *f = in + 2 * (i * TERMS + k);
            f[0] = (i32)(rnd(t) % 41) - 20;
            f[1] = (i32)(rnd(t) % 15) + 1;
            i32 n = w[0] * f[1] + f[0] * w[1], d = w[1] * f[1], g = divisor(n, d);
            w[0] = n / g;
            w[1] = d / g;
        }
    }
    hd_address out = room(t, sizeof want);
    LAUNCH(t, "fractions", D1(2), D1(N / 2), 0, PTR(give(t, in, N * TERMS * 8)), PTR(out),
           I32(TERMS));
    SAME(t, "out", (i32 *)take(t, out, sizeof want), want, 2 * N);
}

static void permutations(struct test *t)
{
    enum {
        N = 60
    };
    u32 *seeds = random_u32(t, N);
    u8 want[16 * N];
    for (int i = 0; i < N; i++) {
        u8 *p = want + 16 * i;
        u32 s = seeds[i];
        for (int k = 0; k < 16; k++)
            p[k] = (u8)k;
        for (u32 k = 15; k > 0; k--) {
            s = s * 747796405u + 2891336453u;
            u32 other = (s >> 16) % (k + 1);
            u8 kept = p[k];
            p[k] = p[other];
            p[other] = kept;
        }
    }
    hd_address out = room(t, sizeof want);
    LAUNCH(t, "permutations", D1(2), D1(N / 2), 0, PTR(give(t, seeds, N * 4)), PTR(out));
    SAME(t, "out", (u8 *)take(t, out, sizeof want), want, 16 * N);
}

static i32 interpreted(const u8 *code, int length)
{
    u32 stack[20] = {1, 2, 3};
    int top = 2, counter = 6;
    for (int pc = 0; pc < length;) {
        u8 op = code[pc++] % 7;
        if (op == 0 && top < 18 && pc < length) {
            stack[++top] = code[pc++];
        } else if ((op == 1 || op == 2) && top > 0) {
            top--;
            stack[top] = op == 1 ? stack[top] + stack[top + 1] : stack[top] * (stack[top + 1] | 1);
        } else if (op == 3 && top > 0) {
            u32 kept = stack[top];
            stack[top] = stack[top - 1];
            stack[top - 1] = kept;
        } else if (op == 4 && top < 18) {
            stack[top + 1] = stack[top];
            top++;
        } else if (op == 5 && top > 0) {
            top--;
        } else if (op == 6 && counter-- > 0) {
            pc = pc > 4 ? pc - 4 : 0;
        }
    }
    return (i32)(stack[top] * 31 + (u32)top);
}

static void interpret(struct test *t)
{
    enum {
        N = 96,
        LENGTH = 30
    };
    u8 *programs = random_u8(t, N * LENGTH);
    i32 want[N];
    for (int i = 0; i < N; i++)
        want[i] = interpreted(programs + i * LENGTH, LENGTH);
    hd_address out = room(t, sizeof want);
    LAUNCH(t, "interpret", D1(2), D1(N / 2), 0, PTR(give(t, programs, N * LENGTH)), PTR(out),
           I32(LENGTH));
    SAME(t, "out", (i32 *)take(t, out, sizeof want), want, N);
}

static void crc32(struct test *t)
{
    enum {
        N = 50,
        LENGTH = 9
    };
    u8 *data = random_u8(t, N * LENGTH);
    u32 table[256], want[N];
    memcpy(data, "123456789", LENGTH);
    for (u32 i = 0; i < 256; i++) {
        table[i] = i;
        for (int k = 0; k < 8; k++)
            table[i] = table[i] >> 1 ^ (table[i] & 1 ? 0xedb88320u : 0);
    }
    for (int i = 0; i < N; i++) {
        want[i] = ~0u;
        for (int k = 0; k < LENGTH * 8; k++) {
            u32 bit = data[i * LENGTH + k / 8] >> k % 8 & 1;
            want[i] = want[i] >> 1 ^ ((want[i] ^ bit) & 1 ? 0xedb88320u : 0);
        }
        want[i] = ~want[i];
    }
    equals(t, "CRC of 123456789", want[0], 0xcbf43926);
    hd_address out = room(t, sizeof want);
    LAUNCH(t, "crc32", D1(2), D1(N / 2), 0, PTR(give(t, data, N * LENGTH)), PTR(out),
           PTR(give(t, table, sizeof table)), I32(LENGTH));
    SAME(t, "out", (u32 *)take(t, out, sizeof want), want, N);
}

static void base64(struct test *t)
{
    static const char *const plain[3] = {"loom and weft", "loom and wefts", "loom and weft's"};
    static const char *const coded[3] = {
        "bG9vbSBhbmQgd2VmdA==", "bG9vbSBhbmQgd2VmdHM=", "bG9vbSBhbmQgd2VmdCdz"};
    for (int i = 0; i < 3; i++) {
        i32 length = (i32)strlen(plain[i]);
        hd_address out = room(t, 20);
        LAUNCH(t, "base64", D1(1), D1(16), 0, PTR(give(t, plain[i], (size_t)length)), PTR(out),
               I32(length));
        SAME(t, coded[i], (char *)take(t, out, 20), coded[i], 20);
    }
}

static void expand(struct test *t)
{
    enum {
        N = 60
    };
    u8 *runs = random_u8(t, 2 * N), want[N * 32];
    size_t length = 0;
    for (int i = 0; i < N; i++) {
        runs[2 * i] &= 31;
        memset(want + length, runs[2 * i + 1], runs[2 * i]);
        length += runs[2 * i];
    }
    hd_address out = room(t, length);
    LAUNCH(t, "expand", D1(1), D1(64), 0, PTR(give(t, runs, 2 * N)), PTR(out), I32(N));
    SAME(t, "out", (u8 *)take(t, out, length), want, length);
}

static void gray(struct test *t)
{
    enum {
        N = 64
    };
    u64 *in = random_u64(t, N), coded[N];
    for (int i = 0; i < N; i++) {
        coded[i] = 0;
        for (int k = 0; k < 64; k++)
            coded[i] |= (u64)((in[i] >> k & 1) != (k < 63 ? in[i] >> (k + 1) & 1 : 0)) << k;
    }
    hd_address dc = room(t, sizeof coded), dd = room(t, sizeof coded);
    LAUNCH(t, "gray", D1(1), D1(N), 0, PTR(give(t, in, sizeof coded)), PTR(dc), PTR(dd));
    SAME(t, "coded", (u64 *)take(t, dc, sizeof coded), coded, N);
    SAME(t, "decoded", (u64 *)take(t, dd, sizeof coded), in, N);
}

/* What makes it a Hilbert curve: every cell once, each step to a neighbour, quarters in turn. */
static void hilbert(struct test *t)
{
    enum {
        ORDER = 4,
        SIDE = 16,
        N = 256
    };
    hd_address out = room(t, N * 8);
    LAUNCH(t, "hilbert", D1(2), D1(N / 2), 0, PTR(out), I32(ORDER));
    i32 *at = take(t, out, N * 8);
    u8 seen[N] = {0};
    for (int i = 0; i < N && !t->failed; i++) {
        i32 x = at[2 * i], y = at[2 * i + 1];
        if (x < 0 || y < 0 || x >= SIDE || y >= SIDE || seen[y * SIDE + x]++)
            fail(t, "point %d is (%d, %d), outside or again", i, x, y);
        else if (i > 0 && abs(x - at[2 * i - 2]) + abs(y - at[2 * i - 1]) != 1)
            fail(t, "point %d is no neighbour of the one before", i);
        else if (i % 64 && (x / 8 != at[2 * (i & ~63)] / 8 || y / 8 != at[2 * (i & ~63) + 1] / 8))
            fail(t, "point %d leaves its quarter", i);
    }
}

static void gravity(struct test *t)
{
    enum {
        N = 64
    };
    float *b = random_f32(t, 4 * N, -1, 1), want[4 * N];
    for (int i = 0; i < N; i++) {
        float sum[4] = {0, 0, 0, 0};
        for (int j = 0; j < N; j++) {
            float d[4];
            for (int k = 0; k < 4; k++)
                d[k] = b[4 * j + k] - b[4 * i + k];
            float r2 = fmaf(d[0], d[0], fmaf(d[1], d[1], fmaf(d[2], d[2], 0.5f)));
            float s = b[4 * j + 3] / (r2 * sqrtf(r2));
            for (int k = 0; k < 4; k++)
                sum[k] = sum[k] + d[k] * s;
        }
        memcpy(want + 4 * i, sum, sizeof sum);
    }
    hd_address out = room(t, sizeof want);
    LAUNCH(t, "gravity", D1(2), D1(32), 0, PTR(give(t, b, sizeof want)), PTR(out), I32(N));
    SAME(t, "out", (float *)take(t, out, sizeof want), want, 4 * N);
}

static void cross3(const float *a, const float *b, float *r)
{
    for (int k = 0; k < 3; k++)
        r[k] = a[(k + 1) % 3] * b[(k + 2) % 3] - a[(k + 2) % 3] * b[(k + 1) % 3];
}

static void turn(struct test *t)
{
    enum {
        N = 50
    };
    float *q = random_f32(t, 4 * N, -1, 1), *v = random_f32(t, 4 * N, -1, 1), want[4 * N];
    for (int i = 0; i < N; i++) {
        float a[3], b[3], *w = want + 4 * i;
        cross3(q + 4 * i, v + 4 * i, a);
        for (int k = 0; k < 3; k++)
            a[k] *= 2.0f;
        cross3(q + 4 * i, a, b);
        for (int k = 0; k < 3; k++)
            w[k] = v[4 * i + k] + q[4 * i + 3] * a[k] + b[k];
        w[3] = v[4 * i + 3];
    }
    hd_address out = room(t, sizeof want);
    LAUNCH(t, "turn", D1(1), D1(N), 0, PTR(give(t, q, sizeof want)), PTR(give(t, v, sizeof want)),
           PTR(out));
    SAME(t, "out", (float *)take(t, out, sizeof want), want, 4 * N);
}

static float lerp(float f, float a, float b)
{
    return fmaf(f, b - a, a);
}

static void sample(struct test *t)
{
    enum {
        W = 12,
        H = 9,
        N = 100
    };
    float *image = random_f32(t, W * H, 0, 1), *at = random_f32(t, 2 * N, -3, 14), want[N];
    for (int i = 0; i < N; i++) {
        float x = fminf(fmaxf(at[2 * i], 0), W - 1), y = fminf(fmaxf(at[2 * i + 1], 0), H - 1);
        int x0 = (int)x, y0 = (int)y, x1 = x0 + 1 < W ? x0 + 1 : x0, y1 = y0 + 1 < H ? y0 + 1 : y0;
        float fx = x - (float)x0, fy = y - (float)y0;
        want[i] = lerp(fy, lerp(fx, image[y0 * W + x0], image[y0 * W + x1]),
                       lerp(fx, image[y1 * W + x0], image[y1 * W + x1]));
    }
    hd_address out = room(t, sizeof want);
    LAUNCH(t, "sample", D1(2), D1(N / 2), 0, PTR(give(t, image, W * H * 4)), I32(W), I32(H),
           PTR(give(t, at, N * 8)), PTR(out));
    SAME(t, "out", (float *)take(t, out, sizeof want), want, N);
}

static void knapsack(struct test *t)
{
    enum {
        C = 120,
        ITEMS = 12
    };
    u32 want[C + 1] = {0};
    hd_address a = zeros(t, sizeof want), b = room(t, sizeof want);
    for (int i = 0; i < ITEMS; i++) {
        i32 weight = (i32)(rnd(t) % 40) + 1;
        u32 value = rnd(t) % 1000;
        LAUNCH(t, "knapsack", D1(2), D1(64), 0, PTR(i & 1 ? b : a), PTR(i & 1 ? a : b), I32(C),
               I32(weight), U32(value));
        for (int c = C; c >= weight; c--)
            if (want[c - weight] + value > want[c])
                want[c] = want[c - weight] + value;
    }
    SAME(t, "best", (u32 *)take(t, ITEMS & 1 ? b : a, sizeof want), want, C + 1);
}

const struct kernel_case opencl_more_cases[] = {
    {"opencl/sort", "bitonic", bitonic, 0},
    {"opencl/sort", "rank_sort", rank_sort, 0},
    {"opencl/sort", "merge", merge, 0},
    {"opencl/stencil", "jacobi", jacobi, 0},
    {"opencl/stencil", "heat", heat, 0},
    {"opencl/stencil", "rule110", rule110, 0},
    {"opencl/atomic", "atomics", atomics, 0},
    {"opencl/atomic", "multiply_all", multiply_all, CASE_ORDER},
    {"opencl/atomic", "buckets", buckets, 0},
    {"opencl/calls", "fractions", fractions, 0},
    {"opencl/calls", "permutations", permutations, 0},
    {"opencl/calls", "interpret", interpret, 0},
    {"opencl/codec", "crc32", crc32, 0},
    {"opencl/codec", "base64", base64, 0},
    {"opencl/codec", "expand", expand, 0},
    {"opencl/codec", "gray", gray, 0},
    {"opencl/codec", "hilbert", hilbert, 0},
    {"opencl/physics", "gravity", gravity, 0},
    {"opencl/physics", "turn", turn, 0},
    {"opencl/physics", "sample", sample, 0},
    {"opencl/physics", "knapsack", knapsack, 0},
    {0},
};
