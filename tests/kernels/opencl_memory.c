/*
 * OpenCL kernels about memory: private arrays, local memory the host sizes, atomics, constants of
 * the program, narrow buffers.
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

static void heap_sort(struct test *t)
{
    enum {
        N = 100,
        EACH = 24
    };
    i32 *in = (i32 *)random_u32(t, N * EACH);
    hd_address out = room(t, N * EACH * 4);
    LAUNCH(t, "heap_sort", D1(2), D1(N / 2), 0, PTR(give(t, in, N * EACH * 4)), PTR(out));
    for (int i = 0; i < N; i++)
        qsort(in + EACH * i, EACH, 4, by_i32);
    SAME(t, "out", (i32 *)take(t, out, N * EACH * 4), in, N * EACH);
}

struct arrays {
    u8 c[37];
    u16 s[21];
    u32 w[19], v[5][4];
    u64 l[13];
};

static u64 digest(const struct arrays *a)
{
    u64 sum = 0;
    for (int k = 0; k < 37; k++)
        sum = sum * 31 + a->c[k];
    for (int k = 0; k < 21; k++)
        sum = sum * 31 + a->s[k];
    for (int k = 0; k < 19; k++)
        sum = sum * 31 + a->w[k];
    for (int k = 0; k < 13; k++)
        sum = sum * 31 + a->l[k];
    for (int k = 0; k < 5; k++) /* two products of 32 bits, as in the kernel */
        sum = sum * 31 + a->v[k][0] + 3 * a->v[k][1] + 5 * a->v[k][2] + 7ull * a->v[k][3];
    return sum;
}

static u64 moved(u32 x, int steps)
{
    struct arrays a;
    for (u32 k = 0; k < 37; k++)
        a.c[k] = (u8)k;
    for (u32 k = 0; k < 21; k++)
        a.s[k] = (u16)(1000 * k);
    for (u32 k = 0; k < 19; k++)
        a.w[k] = 100000 * k;
    for (u32 k = 0; k < 13; k++)
        a.l[k] = 10000000000ull * k;
    for (u32 k = 0; k < 20; k++)
        a.v[k / 4][k % 4] = (k % 4 + 1) * (k / 4);
    for (int k = 0; k < steps; k++) {
        x = x * 1664525u + 1013904223u;
        u32 r = x >> 16, *v = a.v[r % 5];
        a.c[r % 37] = (u8)(a.c[r % 37] + a.s[r % 21]);
        a.s[r % 21] = (u16)(a.s[r % 21] ^ a.w[r % 19]);
        a.w[r % 19] += (u32)(a.l[r % 13] >> 20);
        a.l[r % 13] += v[1] * 77ull + (u64)(i64)(i8)a.c[r % 11];
        v[0] += a.c[r % 37];
        v[1] += (u32)(i32)(i16)a.s[(r >> 3) % 21];
        v[2] += r;
        v[3] += (u32)a.l[(r >> 2) % 13];
    }
    return digest(&a);
}

static void sizes(struct test *t)
{
    enum {
        N = 75,
        STEPS = 40
    };
    u32 *seeds = random_u32(t, N);
    u64 want[N];
    for (int i = 0; i < N; i++)
        want[i] = moved(seeds[i], STEPS);
    hd_address out = room(t, sizeof want);
    LAUNCH(t, "sizes", D1(1), D1(N), 0, PTR(give(t, seeds, N * 4)), PTR(out), I32(STEPS));
    SAME(t, "out", (u64 *)take(t, out, sizeof want), want, N);
}

/* By minors along the first row. */
static i64 minors(const i32 *m, int n, int stride)
{
    i64 sum = 0;
    i32 rest[16];
    if (n == 1)
        return m[0];
    for (int c = 0; c < n; c++) {
        for (int y = 1; y < n; y++)
            for (int x = 0, to = 0; x < n; x++)
                if (x != c)
                    rest[(y - 1) * (n - 1) + to++] = m[y * stride + x];
        sum += (c & 1 ? -1 : 1) * m[c] * minors(rest, n - 1, n - 1);
    }
    return sum;
}

static void determinant(struct test *t)
{
    enum {
        N = 96
    };
    i32 *in = host(t, N * 25 * 4);
    i64 want[N];
    for (int i = 0; i < N; i++) {
        for (int k = 0; k < 25; k++)
            in[25 * i + k] = rnd(t) % 3 ? (i32)(rnd(t) % 19) - 9 : 0;
        want[i] = minors(in + 25 * i, 5, 5);
    }
    hd_address out = room(t, sizeof want);
    LAUNCH(t, "determinant", D1(2), D1(N / 2), 0, PTR(give(t, in, N * 100)), PTR(out));
    SAME(t, "out", (i64 *)take(t, out, sizeof want), want, N);
}

static i32 edit_distance(const u8 *a, i32 n, const u8 *b, i32 m)
{
    i32 table[33][33];
    for (int y = 0; y <= n; y++)
        for (int x = 0; x <= m; x++) {
            if (x == 0 || y == 0) {
                table[y][x] = x + y;
                continue;
            }
            i32 best = table[y - 1][x - 1] + (a[y - 1] != b[x - 1]);
            best = table[y - 1][x] + 1 < best ? table[y - 1][x] + 1 : best;
            table[y][x] = table[y][x - 1] + 1 < best ? table[y][x - 1] + 1 : best;
        }
    return table[n][m];
}

static void edits(struct test *t)
{
    enum {
        N = 70,
        MOST = 32
    };
    u8 *a = random_u8(t, N * MOST), *b = random_u8(t, N * MOST);
    i32 length[2 * N], want[N];
    for (int i = 0; i < N * MOST; i++) {
        a[i] &= 3;
        b[i] &= 3;
    }
    for (int i = 0; i < N; i++) {
        length[2 * i] = (i32)(rnd(t) % (MOST + 1));
        length[2 * i + 1] = (i32)(rnd(t) % (MOST + 1));
        want[i] = edit_distance(a + i * MOST, length[2 * i], b + i * MOST, length[2 * i + 1]);
    }
    hd_address out = room(t, sizeof want);
    LAUNCH(t, "edits", D1(1), D1(N), 0, PTR(give(t, a, N * MOST)), PTR(give(t, b, N * MOST)),
           PTR(give(t, length, sizeof length)), PTR(out), I32(MOST));
    SAME(t, "out", (i32 *)take(t, out, sizeof want), want, N);
}

static void scan(struct test *t)
{
    enum {
        N = 430,
        EACH = 100,
        GROUPS = 5
    };
    u32 *in = random_u32(t, N), want[N], sum = 0;
    for (int i = 0; i < N; i++) {
        want[i] = sum;
        sum += in[i];
    }
    hd_address out = room(t, sizeof want), sums = room(t, GROUPS * 4);
    LAUNCH(t, "scan", D1(GROUPS), D1(EACH), 2 * EACH * 4 + 16, PTR(give(t, in, N * 4)), PTR(out),
           PTR(sums), local_at(t, "scan", 0), local_at(t, "scan", EACH * 4), I32(N));
    LAUNCH(t, "add_sums", D1(GROUPS), D1(EACH), 0, PTR(out), PTR(sums), I32(N));
    SAME(t, "out", (u32 *)take(t, out, sizeof want), want, N);
}

static void transpose(struct test *t)
{
    enum {
        W = 37,
        H = 21
    };
    float *in = random_f32(t, W * H, -1, 1), want[W * H];
    for (int i = 0; i < W * H; i++)
        want[i % W * H + i / W] = in[i];
    hd_address out = room(t, sizeof want);
    LAUNCH(t, "transpose", D2(3, 2), D2(16, 16), 0, PTR(give(t, in, sizeof want)), PTR(out), I32(W),
           I32(H));
    SAME(t, "out", (float *)take(t, out, sizeof want), want, W * H);
}

static void matmul16(struct test *t)
{
    enum {
        N = 40
    };
    float *a = random_f32(t, N * N, -1, 1), *b = random_f32(t, N * N, -1, 1), want[N * N];
    for (int i = 0; i < N * N; i++) {
        want[i] = 0;
        for (int k = 0; k < N; k++)
            want[i] = fmaf(a[i / N * N + k], b[k * N + i % N], want[i]);
    }
    hd_address c = room(t, sizeof want);
    LAUNCH(t, "matmul16", D2(3, 3), D2(16, 16), 0, PTR(give(t, a, sizeof want)),
           PTR(give(t, b, sizeof want)), PTR(c), I32(N));
    SAME(t, "c", (float *)take(t, c, sizeof want), want, N * N);
}

/* One group of the kernel, on little-endian bytes of the host. */
static void seen_in_widths(const u32 *in, u32 *out, int n)
{
    union {
        u8 bytes[256];
        u16 shorts[128];
        u32 words[64];
        u64 longs[32];
    } m;
    u32 sum[64];
    memcpy(m.words, in, (size_t)n * 4);
    for (int k = 0; k < n; k++)
        sum[k] = m.bytes[k * 7 % (4 * n)] + (u32)(i32)(i8)m.bytes[k] + m.shorts[k * 5 % (2 * n)] +
                 (u32)(i32)(i16)m.shorts[k] + (u32)(m.longs[k / 2] >> 13) + m.words[k / 4 * 4 + 2];
    for (int k = 0; k < n; k++)
        m.bytes[k] = (u8)sum[k];
    for (int k = 0; k < n / 8; k++)
        m.longs[k] = m.longs[k] * 0x100000001b3ull + m.shorts[2 * n - 1];
    for (int k = 0; k < n / 4; k++)
        m.shorts[n + k] = (u16)(sum[k] >> 3);
    for (int k = 0; k < n; k++)
        out[k] = m.words[k] ^ sum[k] << 16;
}

static void widths(struct test *t)
{
    enum {
        EACH = 40,
        GROUPS = 3,
        N = EACH * GROUPS
    };
    u32 *in = random_u32(t, N), want[N];
    for (int g = 0; g < GROUPS; g++)
        seen_in_widths(in + EACH * g, want + EACH * g, EACH);
    hd_address out = room(t, sizeof want);
    LAUNCH(t, "widths", D1(GROUPS), D1(EACH), EACH * 4 + 16, PTR(give(t, in, N * 4)), PTR(out),
           local_at(t, "widths", 0));
    SAME(t, "out", (u32 *)take(t, out, sizeof want), want, N);
}

static void local_atomics(struct test *t)
{
    enum {
        N = 250,
        EACH = 100,
        GROUPS = 3
    };
    i32 *in = (i32 *)random_u32(t, N), want[11 * GROUPS] = {0};
    for (int g = 0; g < GROUPS; g++) {
        i32 *s = want + 11 * g;
        u32 low = ~0u, high = 0, sum = 0;
        s[2] = INT32_MAX;
        s[3] = INT32_MIN;
        s[4] = -1;
        for (int i = EACH * g; i < N && i < EACH * (g + 1); i++) {
            i32 v = in[i];
            sum += (u32)v;
            s[2] = v < s[2] ? v : s[2];
            s[3] = v > s[3] ? v : s[3];
            s[4] &= v | 0xff;
            s[5] |= v & 0xff00;
            s[6] ^= v;
            s[7]++;
            s[8]--;
            low = (u32)v < low ? (u32)v : low;
            high = (u32)v > high ? (u32)v : high;
        }
        s[0] = (i32)sum;
        s[1] = (i32)(0 - sum);
        s[9] = (i32)low;
        s[10] = (i32)high;
    }
    hd_address out = room(t, sizeof want);
    LAUNCH(t, "local_atomics", D1(GROUPS), D1(EACH), 0, PTR(give(t, in, N * 4)), PTR(out), I32(N));
    SAME(t, "out", (i32 *)take(t, out, sizeof want), want, 11 * GROUPS);
}

static void queue(struct test *t)
{
    enum {
        EACH = 150,
        GROUPS = 2,
        N = EACH * GROUPS
    };
    const u32 limit = 3u << 30;
    u32 *in = random_u32(t, N);
    hd_address out = room(t, N * 4), counts = room(t, GROUPS * 8);
    LAUNCH(t, "queue", D1(GROUPS), D1(EACH), 0, PTR(give(t, in, N * 4)), PTR(out), PTR(counts),
           U32(limit));
    u32 *got = take(t, out, N * 4), *count = take(t, counts, GROUPS * 8);
    for (int g = 0; g < GROUPS && !t->failed; g++) {
        u32 want[EACH], n = 0;
        bool last_is_in = false;
        for (int i = EACH * g; i < EACH * (g + 1); i++) {
            if (in[i] < limit)
                want[n++] = in[i];
            last_is_in |= in[i] % 7 == 0 && in[i] == count[2 * g + 1];
        }
        equals(t, "values kept", count[2 * g], n);
        if (!last_is_in)
            fail(t, "the last exchanged value, %u, was never given", count[2 * g + 1]);
        qsort(want, n, 4, by_u32);
        qsort(got + EACH * g, n, 4, by_u32);
        SAME(t, "queue", got + EACH * g, want, n);
    }
}

static void last_group(struct test *t)
{
    enum {
        EACH = 70,
        GROUPS = 6,
        N = EACH * GROUPS
    };
    u32 *in = random_u32(t, N), sum = 0;
    for (int i = 0; i < N; i++)
        sum += in[i];
    hd_address part = room(t, GROUPS * 4), counter = zeros(t, 4), total = room(t, 4);
    LAUNCH(t, "last_group", D1(GROUPS), D1(EACH), 0, PTR(give(t, in, N * 4)), PTR(part),
           PTR(counter), PTR(total));
    equals(t, "total", *(u32 *)take(t, total, 4), sum);
    equals(t, "counter", *(u32 *)take(t, counter, 4), GROUPS);
}

/* What EVERY of localatomic.cl finds in a word that starts as `word`. */
static u32 every(u32 word, i32 v, i32 *o)
{
    i32 x = (i32)word;
    u32 u = (u32)v;
    o[0] = x, x = v;
    o[1] = x, x = (i32)((u32)x + 77);
    o[2] = x, x = (i32)((u32)x - (u32)(v >> 3));
    o[3] = x, x = (v ^ 0x1234) < x ? v ^ 0x1234 : x;
    o[4] = x, x = v >> 1 > x ? v >> 1 : x;
    o[5] = x, x &= v | 0xff00ff;
    o[6] = x, x |= v & 0xf0f0f0;
    o[7] = x, x ^= (i32)(u << 5);
    o[8] = x, x = (i32)((u32)x + 1);
    o[9] = x, x = (i32)((u32)x - 1);
    o[10] = x, x = x == v ? 5 : x;
    o[11] = x, x = x == o[10] ? v : x;
    o[12] = x;
    return (u32)x;
}

static void old_values(struct test *t)
{
    enum {
        N = 140
    };
    i32 *in = (i32 *)random_u32(t, N), want[52 * N];
    u32 *words = random_u32(t, N);
    hd_address dw = give(t, words, N * 4), out = room(t, sizeof want);
    LAUNCH(t, "old_values", D1(2), D1(N / 2), 0, PTR(give(t, in, N * 4)), PTR(dw), PTR(out));
    memset(want, 0xa5, sizeof want);
    for (int i = 0; i < N; i++) {
        u32 v = (u32)in[i], local = every(v + 1, in[i], want + 52 * i);
        u32 global = every(words[i], in[i], want + 52 * i + 13);
        i32 *o = want + 52 * i + 26;
        o[0] = (i32)local;
        local = v / 2 < local ? v / 2 : local;
        o[1] = (i32)local;
        local = v > local ? v : local;
        o[2] = (i32)global;
        global = v / 2 < global ? v / 2 : global;
        o[3] = (i32)global;
        global = v > global ? v : global;
        o[4] = (i32)local;
        o[5] = (i32)global;
        words[i] = global;
    }
    SAME(t, "out", (i32 *)take(t, out, sizeof want), want, 52 * N);
    SAME(t, "words", (u32 *)take(t, dw, N * 4), words, N);
}

static void float_sum(struct test *t)
{
    enum {
        N = 90
    };
    float in[N], want = 0.5f;
    for (int i = 0; i < N; i++)
        want += in[i] = (float)(rnd(t) % 1000);
    hd_address sum = give(t, &(float){0.5f}, 4);
    LAUNCH(t, "float_sum", D1(2), D1(60), 0, PTR(give(t, in, sizeof in)), PTR(sum), I32(N));
    SAME(t, "sum", (float *)take(t, sum, 4), &want, 1);
}

static void look_up(struct test *t)
{
    enum {
        N = 130
    };
    static const u32 primes[8] = {2, 3, 5, 7, 11, 13, 17, 19};
    u32 *in = random_u32(t, N);
    u64 want[N];
    for (int i = 0; i < N; i++) {
        u32 v = in[i];
        want[i] = (v & 15) * (v & 15) + ((u64)primes[v >> 4 & 7] << 32) + (v >> 8) % 7 * 1000;
    }
    hd_address out = room(t, sizeof want);
    LAUNCH(t, "look_up", D1(2), D1(80), 0, PTR(give(t, in, N * 4)), PTR(out), I32(N));
    SAME(t, "out", (u64 *)take(t, out, sizeof want), want, N);
}

static void smooth(struct test *t)
{
    enum {
        N = 90
    };
    static const float weights[5] = {0.0625f, 0.25f, 0.375f, 0.25f, 0.0625f};
    float *in = random_f32(t, N, -1, 1), want[N];
    for (int i = 0; i < N; i++) {
        want[i] = 0;
        for (int k = 0; k < 5; k++) {
            int at = i + k - 2;
            want[i] = fmaf(weights[k], in[at < 0 ? 0 : at >= N ? N - 1 : at], want[i]);
        }
    }
    hd_address out = room(t, sizeof want);
    LAUNCH(t, "smooth", D1(2), D1(50), 0, PTR(give(t, in, N * 4)), PTR(out), I32(N));
    SAME(t, "out", (float *)take(t, out, sizeof want), want, N);
}

static void dates(struct test *t)
{
    enum {
        N = 365
    };
    static const u8 days[12] = {31, 28, 31, 30, 31, 30, 31, 31, 30, 31, 30, 31};
    static const char names[] = "JanFebMarAprMayJunJulAugSepOctNovDec";
    u16 day[N];
    char want[5 * N];
    for (int i = 0, m = 0, d = 1; i < N; i++) {
        day[i] = (u16)i;
        memcpy(want + 5 * i, names + 3 * m, 3);
        want[5 * i + 3] = (char)('0' + d / 10);
        want[5 * i + 4] = (char)('0' + d % 10);
        if (d++ == days[m]) {
            m++;
            d = 1;
        }
    }
    hd_address out = room(t, sizeof want);
    LAUNCH(t, "dates", D1(3), D1(125), 0, PTR(give(t, day, sizeof day)), PTR(out), I32(N));
    SAME(t, "out", (char *)take(t, out, sizeof want), want, 5 * N);
}

static void spell(struct test *t)
{
    enum {
        N = 66
    };
    static const char *const words[3] = {"warp....", "weft....", "shuttle."};
    u32 *which = random_u32(t, N);
    char want[8 * N];
    for (int i = 0; i < N; i++)
        memcpy(want + 8 * i, words[which[i] % 3], 8);
    hd_address out = room(t, sizeof want);
    LAUNCH(t, "spell", D1(1), D1(N), 0, PTR(give(t, which, N * 4)), PTR(out));
    SAME(t, "out", (char *)take(t, out, sizeof want), want, 8 * N);
}

const struct kernel_case opencl_memory_cases[] = {
    {"opencl/scratch", "heap_sort", heap_sort, 0},
    {"opencl/scratch", "sizes", sizes, 0},
    {"opencl/scratch", "determinant", determinant, 0},
    {"opencl/scratch", "edits", edits, 0},
    {"opencl/scan", "scan", scan, 0},
    {"opencl/scan", "transpose", transpose, 0},
    {"opencl/scan", "matmul16", matmul16, 0},
    {"opencl/scan", "widths", widths, 0},
    {"opencl/localatomic", "local_atomics", local_atomics, 0},
    {"opencl/localatomic", "queue", queue, 0},
    {"opencl/localatomic", "last_group", last_group, 0},
    {"opencl/localatomic", "old_values", old_values, 0},
    {"opencl/localatomic", "float_sum", float_sum, CASE_ORDER},
    {"opencl/tables", "look_up", look_up, 0},
    {"opencl/tables", "smooth", smooth, 0},
    {"opencl/tables", "dates", dates, 0},
    {"opencl/pointers", "spell", spell, 0},
    {0},
};
