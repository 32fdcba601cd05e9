/*
 * CUDA kernels of the everyday kinds: element-wise, matrices, reductions, scans, stencils, sorting,
 * graphs. All exact: the host sums in the same order with fmaf.
 */
#include "kernels.h"
#include <math.h>

static void vecadd(struct test *t)
{
    enum {
        N = 1000
    };
    float *a = random_f32(t, N, -1, 1), *b = random_f32(t, N, -1, 1), *want = host(t, N * 4);
    for (int i = 0; i < N; i++)
        want[i] = a[i] + b[i];
    hd_address out = room(t, N * 4);
    LAUNCH(t, "vecadd", D1(8), D1(128), 0, PTR(give(t, a, N * 4)), PTR(give(t, b, N * 4)), PTR(out),
           I32(N));
    SAME(t, "c", (float *)take(t, out, N * 4), want, N);
}

static void saxpy(struct test *t)
{
    enum {
        N = 777
    };
    float *x = random_f32(t, N, -9, 9), *y = random_f32(t, N, -9, 9);
    hd_address dy = give(t, y, N * 4);
    LAUNCH(t, "saxpy", D1(2), D1(96), 0, F32(2.7f), PTR(give(t, x, N * 4)), PTR(dy), I32(N));
    for (int i = 0; i < N; i++)
        y[i] = fmaf(2.7f, x[i], y[i]);
    SAME(t, "y", (float *)take(t, dy, N * 4), y, N);
}

static void index3d(struct test *t)
{
    enum {
        X = 13,
        Y = 10,
        Z = 7,
        N = X * Y * Z
    };
    u32 *want = host(t, N * 4);
    for (u32 z = 0; z < Z; z++)
        for (u32 y = 0; y < Y; y++)
            for (u32 x = 0; x < X; x++)
                want[(z * Y + y) * X + x] = x | y << 8 | z << 16 | (x % 5 + y % 3) << 24;
    hd_address out = room(t, N * 4);
    LAUNCH(t, "index3d", D3(3, 4, 4), D3(5, 3, 2), 0, PTR(out), U32(X), U32(Y), U32(Z));
    SAME(t, "out", (u32 *)take(t, out, N * 4), want, N);
}

static void blend4(struct test *t)
{
    enum {
        N = 100
    };
    float *a = random_f32(t, 4 * N, -5, 5), *want = host(t, 16 * N);
    i32 *b = (i32 *)random_u32(t, 4 * N);
    u8 *bytes = host(t, 4 * N);
    for (int i = 0; i < N; i++) {
        const float *p = a + 4 * i;
        const i32 *q = b + 4 * i;
        want[4 * i] = p[0] + (float)q[3];
        want[4 * i + 1] = p[1] * (float)q[2];
        want[4 * i + 2] = p[2] - (float)q[1];
        want[4 * i + 3] = p[3] / (float)q[0];
        for (int k = 0; k < 4; k++)
            bytes[4 * i + k] = (u8)((u32)q[k] >> 8 * k);
    }
    hd_address c = room(t, 16 * N), d = room(t, 4 * N);
    LAUNCH(t, "blend4", D1(2), D1(64), 0, PTR(give(t, a, 16 * N)), PTR(give(t, b, 16 * N)), PTR(c),
           PTR(d), I32(N));
    SAME(t, "c", (float *)take(t, c, 16 * N), want, 4 * N);
    SAME(t, "d", (u8 *)take(t, d, 4 * N), bytes, 4 * N);
}

static void matmul(struct test *t, const char *kernel, u32 tile, u32 n)
{
    float *a = random_f32(t, n * n, -1, 1), *b = random_f32(t, n * n, -1, 1);
    float *want = host(t, n * n * 4);
    for (u32 y = 0; y < n; y++)
        for (u32 x = 0; x < n; x++) {
            float sum = 0;
            for (u32 k = 0; k < n; k++)
                sum = fmaf(a[y * n + k], b[k * n + x], sum);
            want[y * n + x] = sum;
        }
    hd_address c = room(t, n * n * 4);
    LAUNCH(t, kernel, D2(n / tile, n / tile), D2(tile, tile), 0, PTR(give(t, a, n * n * 4)),
           PTR(give(t, b, n * n * 4)), PTR(c), U32(n));
    SAME(t, "C", (float *)take(t, c, n * n * 4), want, n * n);
}

static void matmul16(struct test *t)
{
    matmul(t, "matmul16", 16, 48);
}

static void matmul32(struct test *t)
{
    matmul(t, "matmul32", 32, 64);
}

static void transpose(struct test *t)
{
    enum {
        W = 70,
        H = 45
    };
    float *in = random_f32(t, W * H, -1, 1), *want = host(t, W * H * 4);
    for (int y = 0; y < H; y++)
        for (int x = 0; x < W; x++)
            want[x * H + y] = in[y * W + x];
    hd_address out = room(t, W * H * 4);
    LAUNCH(t, "transpose", D2(3, 2), D2(32, 8), 0, PTR(give(t, in, W * H * 4)), PTR(out), I32(W),
           I32(H));
    SAME(t, "out", (float *)take(t, out, W * H * 4), want, W * H);
}

static void reduce_tree(struct test *t)
{
    enum {
        N = 2000
    };
    u32 *in = random_u32(t, N), want[4] = {0};
    for (int i = 0; i < N; i++)
        want[i / 512] += in[i];
    hd_address out = room(t, sizeof want);
    LAUNCH(t, "reduce_tree", D1(4), D1(256), 0, PTR(give(t, in, N * 4)), PTR(out), I32(N));
    SAME(t, "out", (u32 *)take(t, out, sizeof want), want, 4);
}

static void reduce_shuffle(struct test *t)
{
    enum {
        N = 900
    };
    u32 *in = random_u32(t, N);
    u64 want = 0;
    for (int i = 0; i < N; i++)
        want += in[i];
    hd_address out = zeros(t, 8);
    LAUNCH(t, "reduce_shuffle", D1(5), D1(192), 0, PTR(give(t, in, N * 4)), PTR(out), I32(N));
    equals(t, "sum", *(u64 *)take(t, out, 8), want);
}

static void reduce_atomic(struct test *t)
{
    enum {
        N = 900
    };
    u32 *in = random_u32(t, N), want = 0;
    for (int i = 0; i < N; i++)
        want += in[i];
    hd_address out = zeros(t, 4);
    LAUNCH(t, "reduce_atomic", D1(9), D1(100), 0, PTR(give(t, in, N * 4)), PTR(out), I32(N));
    equals(t, "sum", *(u32 *)take(t, out, 4), want);
}

static void max_float(struct test *t)
{
    enum {
        N = 500
    };
    float *in = random_f32(t, N, -100, 100), want = 0;
    for (int i = 0; i < N; i++)
        want = in[i] > want ? in[i] : want;
    hd_address out = zeros(t, 4);
    LAUNCH(t, "max_float", D1(4), D1(128), 0, PTR(give(t, in, N * 4)), PTR(out), I32(N));
    equals(t, "maximum", *(u32 *)take(t, out, 4), f32_bits(want));
}

static void scan_inclusive(struct test *t)
{
    enum {
        N = 768
    };
    u32 *in = random_u32(t, N), *want = host(t, N * 4);
    for (int i = 0; i < N; i++)
        want[i] = in[i] + (i % 256 ? want[i - 1] : 0);
    hd_address out = room(t, N * 4);
    LAUNCH(t, "scan_inclusive", D1(3), D1(256), 0, PTR(give(t, in, N * 4)), PTR(out));
    SAME(t, "out", (u32 *)take(t, out, N * 4), want, N);
}

static void scan_exclusive(struct test *t)
{
    enum {
        EACH = 128,
        GROUPS = 3,
        N = EACH * GROUPS
    };
    u32 *in = random_u32(t, N), *want = host(t, N * 4), sums[GROUPS] = {0};
    for (int i = 0; i < N; i++) {
        want[i] = sums[i / EACH];
        sums[i / EACH] += in[i];
    }
    hd_address out = room(t, N * 4), totals = room(t, sizeof sums);
    LAUNCH(t, "scan_exclusive", D1(GROUPS), D1(EACH / 2), EACH * 4, PTR(give(t, in, N * 4)),
           PTR(out), PTR(totals), I32(EACH));
    SAME(t, "out", (u32 *)take(t, out, N * 4), want, N);
    SAME(t, "sums", (u32 *)take(t, totals, sizeof sums), sums, GROUPS);
}

static void histogram(struct test *t)
{
    enum {
        N = 5000
    };
    u8 *in = random_u8(t, N);
    u32 *want = host(t, 1024);
    for (int i = 0; i < N; i++) {
        in[i] &= in[i] >> 3;
        want[in[i]]++;
    }
    hd_address bins = zeros(t, 1024);
    LAUNCH(t, "histogram", D1(4), D1(128), 0, PTR(give(t, in, N)), PTR(bins), I32(N));
    SAME(t, "bins", (u32 *)take(t, bins, 1024), want, 256);
}

static void stencil2d(struct test *t)
{
    enum {
        W = 50,
        H = 37
    };
    float *in = random_f32(t, W * H, -1, 1), *want = host(t, W * H * 4);
    for (int y = 0; y < H; y++)
        for (int x = 0; x < W; x++) {
            int i = y * W + x;
            want[i] = in[i];
            if (x > 0 && y > 0 && x < W - 1 && y < H - 1)
                want[i] =
                    0.5f * in[i] + 0.125f * ((in[i - W] + in[i + W]) + (in[i - 1] + in[i + 1]));
        }
    hd_address out = room(t, W * H * 4);
    LAUNCH(t, "stencil2d", D2(ceil_div(W, 16), ceil_div(H, 8)), D2(16, 8), 0,
           PTR(give(t, in, W * H * 4)), PTR(out), I32(W), I32(H));
    SAME(t, "out", (float *)take(t, out, W * H * 4), want, W * H);
}

static void stencil3d(struct test *t)
{
    enum {
        N = 14,
        ALL = N * N * N
    };
    float *in = random_f32(t, ALL, -1, 1), *want = host(t, ALL * 4);
    for (int z = 1; z < N - 1; z++)
        for (int y = 1; y < N - 1; y++)
            for (int x = 1; x < N - 1; x++) {
                int i = (z * N + y) * N + x;
                float s = in[i - N * N] + in[i + N * N];
                s = s + in[i - 1] + in[i + 1] + in[i - N] + in[i + N];
                want[i] = fmaf(0.4f, in[i], 0.1f * s);
            }
    hd_address out = zeros(t, ALL * 4);
    LAUNCH(t, "stencil3d", D2(2, 4), D2(8, 4), 0, PTR(give(t, in, ALL * 4)), PTR(out), I32(N),
           F32(0.4f), F32(0.1f));
    SAME(t, "out", (float *)take(t, out, ALL * 4), want, ALL);
}

static int clamped(int v, int n)
{
    return v < 0 ? 0 : v >= n ? n - 1 : v;
}

static void convolve(struct test *t)
{
    enum {
        W = 33,
        H = 20
    };
    float *in = random_f32(t, W * H, -1, 1), *f = random_f32(t, 25, -1, 1);
    float *want = host(t, W * H * 4);
    for (int y = 0; y < H; y++)
        for (int x = 0; x < W; x++) {
            float sum = 0;
            for (int k = 0; k < 25; k++)
                sum =
                    fmaf(f[k], in[clamped(y + k / 5 - 2, H) * W + clamped(x + k % 5 - 2, W)], sum);
            want[y * W + x] = sum * 0.0625f;
        }
    hd_address out = room(t, W * H * 4);
    set_variable(t, "filter_weights", f, 100);
    LAUNCH(t, "convolve", D2(3, 3), D2(16, 8), 0, PTR(give(t, in, W * H * 4)), PTR(out), I32(W),
           I32(H));
    SAME(t, "out", (float *)take(t, out, W * H * 4), want, W * H);
}

static void mandel(struct test *t)
{
    enum {
        N = 32,
        LIMIT = 60
    };
    i32 *want = host(t, N * N * 4);
    float d = 2.5f / N;
    for (int y = 0; y < N; y++)
        for (int x = 0; x < N; x++) {
            float cr = fmaf((float)x, d, -2.0f), ci = fmaf((float)y, d, -1.25f), zr = 0, zi = 0;
            int it = 0;
            while (it < LIMIT && !(zr * zr + zi * zi > 4.0f)) {
                float r = zr * zr - zi * zi + cr;
                zi = fmaf(2.0f * zr, zi, ci);
                zr = r;
                it++;
            }
            want[y * N + x] = it;
        }
    hd_address out = room(t, N * N * 4);
    LAUNCH(t, "mandel", D2(1, 4), D2(32, 8), 0, PTR(out), I32(N), F32(-2.0f), F32(-1.25f), F32(d),
           I32(LIMIT));
    SAME(t, "out", (i32 *)take(t, out, N * N * 4), want, N * N);
}

static void nbody(struct test *t)
{
    enum {
        N = 100
    };
    float *b = random_f32(t, 4 * N, -1, 1), *want = host(t, 16 * N);
    for (int i = 0; i < N; i++) {
        const float *me = b + 4 * i;
        float a[3] = {0, 0, 0};
        for (int j = 0; j < 128; j++) {
            static const float none[4];
            const float *o = j < N ? b + 4 * j : none;
            float d[3] = {o[0] - me[0], o[1] - me[1], o[2] - me[2]};
            float d2 = fmaf(d[0], d[0], fmaf(d[1], d[1], fmaf(d[2], d[2], 0.01f)));
            float s = o[3] / (d2 * sqrtf(d2));
            for (int k = 0; k < 3; k++)
                a[k] = fmaf(d[k], s, a[k]);
        }
        memcpy(want + 4 * i, a, sizeof a);
        want[4 * i + 3] = me[3];
    }
    hd_address out = room(t, 16 * N);
    LAUNCH(t, "nbody", D1(2), D1(64), 0, PTR(give(t, b, 16 * N)), PTR(out), I32(N));
    SAME(t, "force", (float *)take(t, out, 16 * N), want, 4 * N);
}

static int by_u32(const void *a, const void *b)
{
    u32 x = *(const u32 *)a, y = *(const u32 *)b;
    return (x > y) - (x < y);
}

static void bitonic(struct test *t)
{
    u32 *keys = random_u32(t, 1024);
    for (int i = 0; i < 1024; i += 3)
        keys[i] &= 0xff;
    hd_address d = give(t, keys, 4096);
    LAUNCH(t, "bitonic", D1(2), D1(256), 0, PTR(d));
    qsort(keys, 512, 4, by_u32);
    qsort(keys + 512, 512, 4, by_u32);
    SAME(t, "keys", (u32 *)take(t, d, 4096), keys, 1024);
}

static void radix_split(struct test *t)
{
    u32 *keys = random_u32(t, 256);
    hd_address a = give(t, keys, 1024), b = room(t, 1024);
    for (i32 bit = 0; bit < 32; bit++) {
        LAUNCH(t, "radix_split", D1(1), D1(256), 0, PTR(bit & 1 ? b : a), PTR(bit & 1 ? a : b),
               I32(bit));
    }
    qsort(keys, 256, 4, by_u32);
    SAME(t, "keys", (u32 *)take(t, a, 1024), keys, 256);
}

/* A random graph in compressed rows; degrees from 0 to 40. */
struct graph {
    i32 *row, *column;
    int nodes, edges;
};

static struct graph make_graph(struct test *t, int nodes)
{
    struct graph g = {host(t, (size_t)(nodes + 1) * 4), host(t, (size_t)nodes * 41 * 4), nodes, 0};
    for (int v = 0; v < nodes; v++) {
        u32 degree = v % 17 == 0 ? rnd(t) % 41 : rnd(t) % 4;
        for (u32 k = 0; k < degree; k++)
            g.column[g.edges++] = (i32)(rnd(t) % (u32)nodes);
        g.row[v + 1] = g.edges;
    }
    return g;
}

static void bfs(struct test *t)
{
    enum {
        N = 500
    };
    struct graph g = make_graph(t, N);
    i32 *want = host(t, N * 4), *queue = host(t, N * 4), *start = host(t, N * 4);
    memset(want, 0xff, N * 4);
    memset(start, 0xff, N * 4);
    int head = 0, tail = 1;
    want[0] = start[0] = 0;
    while (head < tail) {
        int v = queue[head++];
        for (int e = g.row[v]; e < g.row[v + 1]; e++)
            if (want[g.column[e]] < 0) {
                want[g.column[e]] = want[v] + 1;
                queue[tail++] = g.column[e];
            }
    }
    hd_address row = give(t, g.row, (N + 1) * 4), column = give(t, g.column, (size_t)g.edges * 4);
    hd_address depth = give(t, start, N * 4);
    for (i32 level = 0; level < N; level++) {
        hd_address changed = zeros(t, 4);
        LAUNCH(t, "bfs_level", D1(4), D1(128), 0, PTR(row), PTR(column), PTR(depth), I32(N),
               I32(level), PTR(changed));
        if (t->failed || *(i32 *)take(t, changed, 4) == 0)
            break;
    }
    SAME(t, "depth", (i32 *)take(t, depth, N * 4), want, N);
}

static void spmv(struct test *t, bool by_warp)
{
    enum {
        N = 200
    };
    struct graph g = make_graph(t, N);
    float *value = random_f32(t, (size_t)g.edges, -1, 1), *x = random_f32(t, N, -1, 1);
    float *want = host(t, N * 4);
    u32 width = by_warp ? 32 : 1;
    for (int r = 0; r < N; r++) {
        float part[32] = {0};
        for (int e = g.row[r]; e < g.row[r + 1]; e++) {
            u32 lane = (u32)(e - g.row[r]) % width;
            part[lane] = fmaf(value[e], x[g.column[e]], part[lane]);
        }
        for (u32 s = width / 2; s > 0; s /= 2) {
            float next[32];
            for (u32 k = 0; k < 32; k++)
                next[k] = part[k] + part[k ^ s];
            memcpy(part, next, sizeof part);
        }
        want[r] = part[0];
    }
    hd_address y = room(t, N * 4);
    LAUNCH(t, by_warp ? "spmv_warp" : "spmv_row", D1(by_warp ? N / 4 : 4), D1(by_warp ? 128 : 64),
           0, PTR(give(t, g.row, (N + 1) * 4)), PTR(give(t, g.column, (size_t)g.edges * 4)),
           PTR(give(t, value, (size_t)g.edges * 4)), PTR(give(t, x, N * 4)), PTR(y), I32(N));
    SAME(t, "y", (float *)take(t, y, N * 4), want, N);
}

static void spmv_row(struct test *t)
{
    spmv(t, false);
}

static void spmv_warp(struct test *t)
{
    spmv(t, true);
}

const struct kernel_case cuda_basic_cases[] = {
    {"cuda/vectors", "vecadd", vecadd, 0},
    {"cuda/vectors", "saxpy", saxpy, 0},
    {"cuda/vectors", "index3d", index3d, 0},
    {"cuda/vectors", "blend4", blend4, 0},
    {"cuda/matmul", "matmul16", matmul16, 0},
    {"cuda/matmul", "matmul32", matmul32, CASE_LONG | CASE_WIDE},
    {"cuda/transpose", "transpose", transpose, 0},
    {"cuda/reduce", "reduce_tree", reduce_tree, 0},
    {"cuda/reduce", "reduce_shuffle", reduce_shuffle, CASE_WARP32},
    {"cuda/reduce", "reduce_atomic", reduce_atomic, 0},
    {"cuda/reduce", "max_float", max_float, CASE_ORDER},
    {"cuda/scan", "scan_inclusive", scan_inclusive, 0},
    {"cuda/scan", "scan_exclusive", scan_exclusive, 0},
    {"cuda/histogram", "histogram", histogram, 0},
    {"cuda/stencil", "stencil2d", stencil2d, 0},
    {"cuda/stencil", "stencil3d", stencil3d, 0},
    {"cuda/convolve", "convolve", convolve, 0},
    {"cuda/mandel", "mandel", mandel, 0},
    {"cuda/nbody", "nbody", nbody, 0},
    {"cuda/sort", "bitonic", bitonic, 0},
    {"cuda/sort", "radix_split", radix_split, CASE_WARP32},
    {"cuda/graph", "bfs_level", bfs, CASE_ORDER},
    {"cuda/graph", "spmv_row", spmv_row, 0},
    {"cuda/graph", "spmv_warp", spmv_warp, CASE_WARP32},
    {0},
};
