/*
 * OpenCL kernels of the everyday kinds: matrices, reductions, images, searching, transforms.
 */
#include "kernels.h"
#include <math.h>

static void saxpy(struct test *t)
{
    enum {
        N = 500
    };
    float *x = random_f32(t, N, -9, 9), *y = random_f32(t, N, -9, 9);
    hd_address dy = give(t, y, N * 4);
    LAUNCH(t, "saxpy", D1(4), D1(128), 0, F32(-0.3f), PTR(give(t, x, N * 4)), PTR(dy), I32(N));
    for (int i = 0; i < N; i++)
        y[i] = fmaf(-0.3f, x[i], y[i]);
    SAME(t, "y", (float *)take(t, dy, N * 4), y, N);
}

static void matrix_vector(struct test *t)
{
    enum {
        R = 37,
        C = 53
    };
    float *m = random_f32(t, R * C, -1, 1), *v = random_f32(t, C, -1, 1);
    double want[R] = {0};
    for (int i = 0; i < R * C; i++)
        want[i / C] += (double)m[i] * v[i % C];
    hd_address out = room(t, R * 4);
    LAUNCH(t, "matrix_vector", D1(2), D1(20), 0, PTR(give(t, m, R * C * 4)), PTR(give(t, v, C * 4)),
           PTR(out), I32(R), I32(C));
    /* mad() may round once or twice; partial sums stay below C / 2. */
    near32(t, "out", take(t, out, R * 4), want, R, 1, 0, C * (C / 2) * 0x1p-24);
}

static void matmul(struct test *t)
{
    enum {
        N = 24
    };
    float *a = random_f32(t, N * N, -1, 1), *b = random_f32(t, N * N, -1, 1), want[N * N];
    for (int i = 0; i < N * N; i++) {
        want[i] = 0;
        for (int k = 0; k < N; k++)
            want[i] = fmaf(a[i / N * N + k], b[k * N + i % N], want[i]);
    }
    hd_address c = room(t, sizeof want);
    LAUNCH(t, "matmul", D2(3, 3), D2(8, 8), 0, PTR(give(t, a, sizeof want)),
           PTR(give(t, b, sizeof want)), PTR(c), I32(N));
    SAME(t, "c", (float *)take(t, c, sizeof want), want, N * N);
}

static void identity(struct test *t)
{
    enum {
        N = 6 * 10 * 9
    };
    u32 want[4 * N], local[3] = {3, 5, 3}, groups[3] = {2, 2, 3};
    for (u32 i = 0; i < N; i++) {
        u32 at[3] = {i % 6, i / 6 % 10, i / 60}, *o = want + 4 * i;
        memset(o, 0, 16);
        for (u32 k = 0; k < 3; k++) {
            o[0] |= at[k] % local[k] << 8 * k;
            o[1] |= at[k] / local[k] << 8 * k;
            o[2] |= local[k] << 8 * k;
            o[3] |= groups[k] << 8 * k;
        }
    }
    hd_address out = room(t, sizeof want);
    LAUNCH(t, "identity", D3(2, 2, 3), D3(3, 5, 3), 0, PTR(out));
    SAME(t, "out", (u32 *)take(t, out, sizeof want), want, 4 * N);
}

static void reduce(struct test *t)
{
    enum {
        N = 1500,
        EACH = 64,
        GROUPS = 3
    };
    u32 *in = random_u32(t, N), want[GROUPS] = {0};
    for (int i = 0; i < N; i++)
        want[i % (EACH * GROUPS) / EACH] += in[i];
    hd_address out = room(t, sizeof want);
    LAUNCH(t, "reduce", D1(GROUPS), D1(EACH), EACH * 4, PTR(give(t, in, N * 4)), PTR(out),
           local_at(t, "reduce", 0), I32(N));
    SAME(t, "out", (u32 *)take(t, out, sizeof want), want, GROUPS);
}

static void prefix(struct test *t)
{
    enum {
        N = 256
    };
    u32 *in = random_u32(t, N), want[N];
    for (int i = 0; i < N; i++)
        want[i] = in[i] + (i % 128 ? want[i - 1] : 0);
    hd_address out = room(t, sizeof want);
    LAUNCH(t, "prefix", D1(2), D1(128), 0, PTR(give(t, in, N * 4)), PTR(out));
    SAME(t, "out", (u32 *)take(t, out, sizeof want), want, N);
}

static void histogram16(struct test *t)
{
    enum {
        N = 2000
    };
    u32 *in = random_u32(t, N), want[17] = {0};
    for (int i = 0; i < N; i++) {
        want[in[i] >> 28]++;
        want[16] = in[i] > want[16] ? in[i] : want[16];
    }
    hd_address bins = zeros(t, sizeof want);
    LAUNCH(t, "histogram16", D1(3), D1(96), 0, PTR(give(t, in, N * 4)), PTR(bins), I32(N));
    SAME(t, "bins", (u32 *)take(t, bins, sizeof want), want, 17);
}

static void fft(struct test *t)
{
    enum {
        N = 64,
        SIGNALS = 3
    };
    float *in = random_f32(t, 2 * N * SIGNALS, -1, 1), twiddle[N];
    double want[2 * N * SIGNALS];
    for (int k = 0; k < N / 2; k++) {
        twiddle[2 * k] = (float)cos(2 * M_PI * k / N);
        twiddle[2 * k + 1] = (float)-sin(2 * M_PI * k / N);
    }
    for (int i = 0; i < N * SIGNALS; i++) {
        const float *s = in + i / N * N * 2;
        double re = 0, im = 0;
        for (int k = 0; k < N; k++) {
            double c = cos(2 * M_PI * (i % N * k) / N), d = -sin(2 * M_PI * (i % N * k) / N);
            re += s[2 * k] * c - s[2 * k + 1] * d;
            im += s[2 * k] * d + s[2 * k + 1] * c;
        }
        want[2 * i] = re;
        want[2 * i + 1] = im;
    }
    hd_address out = room(t, 2 * N * SIGNALS * 4);
    LAUNCH(t, "fft", D1(SIGNALS), D1(N / 2), 0, PTR(give(t, in, 2 * N * SIGNALS * 4)), PTR(out),
           PTR(give(t, twiddle, sizeof twiddle)));
    /* Six levels of rounding on values up to 64. */
    near32(t, "out", take(t, out, 2 * N * SIGNALS * 4), want, 2 * N * SIGNALS, 1, 0, 2e-5);
}

static void lu(struct test *t)
{
    enum {
        N = 16,
        COUNT = 2,
        ALL = N * N * COUNT
    };
    double *m = random_f64(t, ALL, -1, 1);
    for (int i = 0; i < ALL; i++)
        m[i] += i % (N * N) % (N + 1) == 0 ? 8 : 0;
    hd_address d = give(t, m, ALL * 8);
    LAUNCH(t, "lu", D1(COUNT), D2(N, N), 0, PTR(d));
    for (double *s = m; s < m + ALL; s += N * N)
        for (int k = 0; k < N - 1; k++)
            for (int y = k + 1; y < N; y++) {
                s[y * N + k] /= s[k * N + k];
                for (int x = k + 1; x < N; x++)
                    s[y * N + x] = fma(-s[y * N + k], s[k * N + x], s[y * N + x]);
            }
    SAME(t, "m", (double *)take(t, d, ALL * 8), m, ALL);
}

static void life(struct test *t)
{
    enum {
        W = 30,
        H = 21,
        STEPS = 5
    };
    u8 *cells = random_u8(t, W * H), next[W * H];
    for (int i = 0; i < W * H; i++)
        cells[i] = cells[i] % 3 == 0;
    hd_address a = give(t, cells, W * H), b = room(t, W * H);
    for (int s = 0; s < STEPS; s++) {
        LAUNCH(t, "life", D2(4, 3), D2(8, 8), 0, PTR(s & 1 ? b : a), PTR(s & 1 ? a : b), I32(W),
               I32(H));
        for (int i = 0; i < W * H; i++) {
            int count = 0, x = i % W, y = i / W;
            for (int k = 0; k < 9; k++)
                count += k == 4 ? 0 : cells[(y + k / 3 + H - 1) % H * W + (x + k % 3 + W - 1) % W];
            next[i] = count == 3 || (count == 2 && cells[i]);
        }
        memcpy(cells, next, sizeof next);
    }
    SAME(t, "cells", (u8 *)take(t, STEPS & 1 ? b : a, W * H), cells, W * H);
}

static void lcs(struct test *t)
{
    enum {
        N = 60,
        W = N + 1
    };
    u8 *a = random_u8(t, N), *b = random_u8(t, N);
    i32 want[W * W] = {0};
    for (int i = 0; i < N; i++) {
        a[i] &= 3;
        b[i] &= 3;
    }
    for (int i = 1; i <= N; i++)
        for (int j = 1; j <= N; j++) {
            i32 up = want[(i - 1) * W + j], left = want[i * W + j - 1];
            want[i * W + j] = a[i - 1] == b[j - 1] ? want[(i - 1) * W + j - 1] + 1
                              : up > left          ? up
                                                   : left;
        }
    hd_address table = zeros(t, sizeof want);
    LAUNCH(t, "lcs", D1(1), D1(48), 0, PTR(give(t, a, N)), PTR(give(t, b, N)), PTR(table), I32(N));
    SAME(t, "table", (i32 *)take(t, table, sizeof want), want, W * W);
}

static void floyd(struct test *t)
{
    enum {
        N = 24
    };
    i32 d[N * N];
    for (int i = 0; i < N * N; i++)
        d[i] = i % (N + 1) == 0 ? 0 : rnd(t) % 5 ? 1000000 : (i32)(rnd(t) % 100);
    hd_address dd = give(t, d, sizeof d);
    for (i32 k = 0; k < N; k++) {
        LAUNCH(t, "floyd", D2(3, 2), D2(8, 12), 0, PTR(dd), I32(N), I32(k));
        for (int i = 0; i < N * N; i++)
            if (d[i / N * N + k] + d[k * N + i % N] < d[i])
                d[i] = d[i / N * N + k] + d[k * N + i % N];
    }
    SAME(t, "dist", (i32 *)take(t, dd, sizeof d), d, N * N);
}

static int at(int v, int n)
{
    return v < 0 ? 0 : v >= n ? n - 1 : v;
}

static void sobel(struct test *t)
{
    enum {
        W = 40,
        H = 19
    };
    u8 *in = random_u8(t, W * H), want[W * H];
    for (int i = 0; i < W * H; i++)
        in[i] = (u8)(in[i] / 4 + i % W * 3);
    for (int i = 0; i < W * H; i++) {
        int gx = 0, gy = 0;
        for (int dy = -1; dy <= 1; dy++)
            for (int dx = -1; dx <= 1; dx++) {
                int p = in[at(i / W + dy, H) * W + at(i % W + dx, W)];
                gx += p * dx * (2 - dy * dy);
                gy += p * dy * (2 - dx * dx);
            }
        int g = abs(gx) + abs(gy);
        want[i] = (u8)(g < 255 ? g : 255);
    }
    hd_address out = room(t, W * H);
    LAUNCH(t, "sobel", D2(5, 5), D2(8, 4), 0, PTR(give(t, in, W * H)), PTR(out), I32(W), I32(H));
    SAME(t, "out", (u8 *)take(t, out, W * H), want, W * H);
}

static void blur(struct test *t)
{
    enum {
        W = 50,
        H = 33,
        R = 4
    };
    u32 *in = random_u32(t, W * H), want[W * H];
    for (int i = 0; i < W * H; i++)
        in[i] >>= 8;
    for (int i = 0; i < W * H; i++) {
        u32 sum = 0;
        for (int x = i % W - R; x <= i % W + R; x++)
            sum += x >= 0 && x < W ? in[i / W * W + x] : 0;
        want[i] = sum / (2 * R + 1);
    }
    hd_address out = room(t, sizeof want);
    LAUNCH(t, "blur", D1(1), D1(H), 0, PTR(give(t, in, sizeof want)), PTR(out), I32(W), I32(R));
    SAME(t, "out", (u32 *)take(t, out, sizeof want), want, W * H);
}

static void nearest(struct test *t)
{
    enum {
        N = 200,
        K = 7
    };
    float *points = random_f32(t, 2 * N, -1, 1), *centres = random_f32(t, 2 * K, -1, 1);
    i32 class[N], sizes[K] = {0};
    for (int i = 0; i < N; i++) {
        float best = INFINITY;
        for (int c = 0; c < K; c++) {
            float dx = points[2 * i] - centres[2 * c], dy = points[2 * i + 1] - centres[2 * c + 1];
            float far = fmaf(dx, dx, dy * dy);
            if (far < best) {
                best = far;
                class[i] = c;
            }
        }
        sizes[class[i]]++;
    }
    hd_address dc = room(t, sizeof class), ds = zeros(t, sizeof sizes);
    LAUNCH(t, "nearest", D1(4), D1(64), 0, PTR(give(t, points, N * 8)),
           PTR(give(t, centres, K * 8)), I32(K), PTR(dc), PTR(ds), I32(N));
    SAME(t, "class", (i32 *)take(t, dc, sizeof class), class, N);
    SAME(t, "sizes", (i32 *)take(t, ds, sizeof sizes), sizes, K);
}

const struct kernel_case opencl_cases[] = {
    {"opencl/basic", "saxpy", saxpy, 0},
    {"opencl/basic", "matrix_vector", matrix_vector, 0},
    {"opencl/basic", "matmul", matmul, 0},
    {"opencl/basic", "identity", identity, 0},
    {"opencl/reduce", "reduce", reduce, 0},
    {"opencl/reduce", "prefix", prefix, 0},
    {"opencl/reduce", "histogram16", histogram16, 0},
    {"opencl/fft", "fft", fft, 0},
    {"opencl/lu", "lu", lu, 0},
    {"opencl/life", "life", life, 0},
    {"opencl/dynamic", "lcs", lcs, 0},
    {"opencl/dynamic", "floyd", floyd, 0},
    {"opencl/image", "sobel", sobel, 0},
    {"opencl/image", "blur", blur, 0},
    {"opencl/image", "nearest", nearest, 0},
    {0},
};
