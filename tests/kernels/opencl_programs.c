/*
 * OpenCL kernels that are small programs: hashes and ciphers, primes, random walks, rays, searches,
 * option prices.
 */
#include "kernels.h"
#include <math.h>

static void sieve(struct test *t)
{
    enum {
        N = 5000
    };
    u8 *want = host(t, N + 1);
    for (u32 p = 2; p * p <= N; p++)
        for (u32 m = p * p; !want[p] && m <= N; m += p)
            want[m] = 1;
    hd_address composite = zeros(t, N + 1);
    LAUNCH(t, "strike", D1(2), D1(48), 0, PTR(composite), U32(N));
    SAME(t, "composite", (u8 *)take(t, composite, N + 1), want, N + 1);
}

static void trial(struct test *t)
{
    enum {
        N = 200
    };
    u32 *in = random_u32(t, N), want[N];
    for (int i = 0; i < N; i++) {
        in[i] >>= 16 + i % 16;
        u32 divisors = 0;
        for (u32 d = 1; d * d <= in[i]; d++)
            divisors += in[i] % d == 0;
        want[i] = in[i] > 1 && divisors == 1;
    }
    hd_address out = room(t, sizeof want);
    LAUNCH(t, "trial", D1(4), D1(64), 0, PTR(give(t, in, N * 4)), PTR(out), I32(N));
    SAME(t, "is_prime", (u32 *)take(t, out, sizeof want), want, N);
}

static u32 xorshift(u32 *s)
{
    *s ^= *s << 13;
    *s ^= *s >> 17;
    return *s ^= *s << 5;
}

static void quarter_circle(struct test *t)
{
    enum {
        N = 64,
        SAMPLES = 40
    };
    u32 *seeds = random_u32(t, N), want[N] = {0};
    for (int i = 0; i < N; i++) {
        u32 s = seeds[i] |= 1;
        for (int k = 0; k < SAMPLES; k++) {
            float x = (float)(xorshift(&s) >> 8) * 0x1p-24f;
            float y = (float)(xorshift(&s) >> 8) * 0x1p-24f;
            want[i] += x * x + y * y < 1.0f;
        }
    }
    hd_address out = room(t, sizeof want);
    LAUNCH(t, "quarter_circle", D1(1), D1(N), 0, PTR(give(t, seeds, N * 4)), PTR(out),
           I32(SAMPLES));
    SAME(t, "inside", (u32 *)take(t, out, sizeof want), want, N);
}

static void walk(struct test *t)
{
    enum {
        N = 64,
        LIMIT = 150
    };
    static const int dx[4] = {1, -1, 0, 0}, dy[4] = {0, 0, 1, -1};
    u64 *seeds = random_u64(t, N);
    i32 want[2 * N];
    for (int i = 0; i < N; i++) {
        u64 s = seeds[i];
        int x = 0, y = 0, steps = 0;
        for (; steps < LIMIT && abs(x) + abs(y) < 12; steps++) {
            s ^= s >> 12;
            s ^= s << 25;
            s ^= s >> 27;
            u64 way = s * 0x2545f4914f6cdd1dull >> 62;
            x += dx[way];
            y += dy[way];
        }
        want[2 * i] = x * 100 + y;
        want[2 * i + 1] = steps;
    }
    hd_address out = room(t, sizeof want);
    LAUNCH(t, "walk", D1(2), D1(32), 0, PTR(give(t, seeds, N * 8)), PTR(out), I32(LIMIT));
    SAME(t, "end", (i32 *)take(t, out, sizeof want), want, 2 * N);
}

struct sphere {
    _Alignas(16) float centre[4];
    u32 colour;
};

static u32 traced(const struct sphere *spheres, int count, int x, int y, int w, int h)
{
    float dx = ((float)x + 0.5f) / (float)w - 0.5f, dy = ((float)y + 0.5f) / (float)h - 0.5f;
    float dz = 1.0f, norm = sqrtf(fmaf(dx, dx, fmaf(dy, dy, dz * dz))), nearest = 1e30f;
    u32 colour = 0x202020;
    dx /= norm;
    dy /= norm;
    dz /= norm;
    for (int i = 0; i < count; i++) {
        const float *c = spheres[i].centre;
        float b = fmaf(dx, c[0], fmaf(dy, c[1], dz * c[2]));
        float q = fmaf(c[0], c[0], fmaf(c[1], c[1], c[2] * c[2])) - c[3] * c[3];
        float disc = fmaf(b, b, -q);
        float distance = disc < 0 ? -1 : b - sqrtf(disc);
        if (distance > 0 && distance < nearest) {
            nearest = distance;
            colour = spheres[i].colour ^ (u32)(nearest * 16.0f);
        }
    }
    return colour;
}

static void rays(struct test *t)
{
    enum {
        W = 40,
        H = 22,
        COUNT = 6
    };
    struct sphere spheres[COUNT];
    u32 want[W * H];
    for (int i = 0; i < COUNT; i++)
        spheres[i] = (struct sphere){
            {frnd(t, -1, 1), frnd(t, -1, 1), frnd(t, 2, 5), frnd(t, 0.2f, 0.9f)}, rnd(t)};
    for (int i = 0; i < W * H; i++)
        want[i] = traced(spheres, COUNT, i % W, i / W, W, H);
    hd_address out = room(t, sizeof want);
    LAUNCH(t, "rays", D2(5, 6), D2(8, 4), 0, PTR(give(t, spheres, sizeof spheres)), I32(COUNT),
           PTR(out), I32(W), I32(H));
    SAME(t, "image", (u32 *)take(t, out, sizeof want), want, W * H);
}

static u32 le32(const u8 *p)
{
    return (u32)p[0] | (u32)p[1] << 8 | (u32)p[2] << 16 | (u32)p[3] << 24;
}

static u32 xxh32(const u8 *p, u32 n)
{
    const u32 p1 = 2654435761u, p2 = 2246822519u, p3 = 3266489917u, p4 = 668265263u,
              p5 = 374761393u;
    u32 v[4] = {p1 + p2, p2, 0, 0 - p1}, left = n, h = p5;
    for (; left >= 16; left -= 16, p += 16)
        for (int k = 0; k < 4; k++)
            v[k] = rotl(v[k] + le32(p + 4 * k) * p2, 13) * p1;
    if (n >= 16)
        h = rotl(v[0], 1) + rotl(v[1], 7) + rotl(v[2], 12) + rotl(v[3], 18);
    for (h += n; left >= 4; left -= 4, p += 4)
        h = rotl(h + le32(p) * p3, 17) * p4;
    for (; left > 0; left--)
        h = rotl(h + *p++ * p5, 11) * p1;
    h = (h ^ h >> 15) * p2;
    h = (h ^ h >> 13) * p3;
    return h ^ h >> 16;
}

static void xxhash(struct test *t)
{
    enum {
        N = 70,
        STRIDE = 80
    };
    u8 *data = random_u8(t, N * STRIDE);
    u32 length[N], want[N];
    for (u32 i = 0; i < N; i++) {
        length[i] = i;
        want[i] = xxh32(data + i * STRIDE, i);
    }
    equals(t, "XXH32 of nothing", want[0], 0x02cc5d05);
    hd_address out = room(t, sizeof want);
    LAUNCH(t, "xxhash", D1(2), D1(N / 2), 0, PTR(give(t, data, N * STRIDE)),
           PTR(give(t, length, sizeof length)), PTR(out), I32(STRIDE));
    SAME(t, "hashes", (u32 *)take(t, out, sizeof want), want, N);
}

static void chacha_block(const u32 *start, u32 *out)
{
    static const u8 lines[8][4] = {{0, 4, 8, 12},  {1, 5, 9, 13},  {2, 6, 10, 14}, {3, 7, 11, 15},
                                   {0, 5, 10, 15}, {1, 6, 11, 12}, {2, 7, 8, 13},  {3, 4, 9, 14}};
    static const u8 turns[4] = {16, 12, 8, 7};
    u32 x[16];
    memcpy(x, start, sizeof x);
    for (int r = 0; r < 80; r++) {
        const u8 *l = lines[r % 8];
        for (int k = 0; k < 4; k++) {
            u32 *a = &x[l[k & 1 ? 2 : 0]], *b = &x[l[k & 1 ? 3 : 1]], *d = &x[l[k & 1 ? 1 : 3]];
            *a += *b;
            *d = rotl(*d ^ *a, turns[k]);
        }
    }
    for (int k = 0; k < 16; k++)
        out[k] = x[k] + start[k];
}

static void chacha20(struct test *t)
{
    enum {
        N = 40
    };
    u32 key[8], want[16 * N], state[16] = {0x61707865, 0x3320646e, 0x79622d32, 0x6b206574};
    for (u32 k = 0; k < 8; k++)
        state[4 + k] = key[k] = 0x03020100 + 0x04040404 * k;
    state[13] = 0x09000000;
    state[14] = 0x4a000000;
    for (u32 i = 0; i < N; i++) {
        state[12] = 1 + i;
        chacha_block(state, want + 16 * i);
    }
    equals(t, "first word of RFC 8439's example", want[0], 0xe4e7f110);
    hd_address out = room(t, sizeof want);
    LAUNCH(t, "chacha20", D1(1), D1(N), 0, PTR(give(t, key, sizeof key)), PTR(out), U32(1));
    SAME(t, "out", (u32 *)take(t, out, sizeof want), want, 16 * N);
}

static void substitute(struct test *t)
{
    enum {
        N = 40
    };
    static const u8 box[16] = {12, 5, 6, 11, 9, 0, 10, 13, 3, 14, 15, 8, 4, 7, 1, 2};
    u64 *in = random_u64(t, N), key = rnd64(t), want[N];
    for (int i = 0; i < N; i++) {
        u64 v = in[i];
        for (u64 r = 1; r <= 31; r++) {
            u64 moved = 0;
            v ^= key * r;
            for (int k = 0; k < 64; k++) {
                u64 bit = box[v >> (k & ~3) & 15] >> (k & 3) & 1;
                moved |= bit << (k == 63 ? 63 : 16 * k % 63);
            }
            v = moved;
        }
        want[i] = v;
    }
    hd_address out = room(t, sizeof want);
    LAUNCH(t, "substitute", D1(1), D1(N), 0, PTR(give(t, in, N * 8)), PTR(out), U64(key));
    SAME(t, "out", (u64 *)take(t, out, sizeof want), want, N);
}

static int by_i32(const void *a, const void *b)
{
    i32 x = *(const i32 *)a, y = *(const i32 *)b;
    return (x > y) - (x < y);
}

static void binary_search(struct test *t)
{
    enum {
        N = 300,
        KEYS = 128
    };
    i32 *sorted = (i32 *)random_u32(t, N), keys[KEYS], want[KEYS];
    for (int i = 0; i < N; i++)
        sorted[i] >>= 22;
    qsort(sorted, N, 4, by_i32);
    for (int i = 0; i < KEYS; i++) {
        keys[i] = (i32)rnd(t) >> 22;
        int place = 0;
        while (place < N && sorted[place] < keys[i])
            place++;
        want[i] = place < N && sorted[place] == keys[i] ? place : ~place;
    }
    hd_address out = room(t, sizeof want);
    LAUNCH(t, "binary_search", D1(2), D1(KEYS / 2), 0, PTR(give(t, sorted, N * 4)), I32(N),
           PTR(give(t, keys, sizeof keys)), PTR(out));
    SAME(t, "at", (i32 *)take(t, out, sizeof want), want, KEYS);
}

static void substring(struct test *t)
{
    enum {
        N = 600,
        M = 3
    };
    u8 *text = random_u8(t, N);
    i32 count = 0, first = 1 << 30;
    for (int i = 0; i < N; i++)
        text[i] = "ab"[text[i] & 1];
    for (int i = N - M; i >= 0; i--)
        if (memcmp(text + i, "aba", M) == 0) {
            count++;
            first = i;
        }
    hd_address dc = zeros(t, 4), df = give(t, &(i32){1 << 30}, 4);
    LAUNCH(t, "substring", D1(5), D1(128), 0, PTR(give(t, text, N)), I32(N), PTR(give(t, "aba", M)),
           I32(M), PTR(dc), PTR(df));
    equals(t, "count", *(u32 *)take(t, dc, 4), (u32)count);
    equals(t, "first", *(u32 *)take(t, df, 4), (u32)first);
}

static int placed(const int *column, int row)
{
    for (int r = 0; r < row; r++)
        if (column[r] == column[row] || abs(column[r] - column[row]) == row - r)
            return 0;
    return 1;
}

static i32 solutions(int *column, int row, int n)
{
    i32 found = 0;
    if (row == n)
        return 1;
    for (column[row] = 0; column[row] < n; column[row]++)
        if (placed(column, row))
            found += solutions(column, row + 1, n);
    return found;
}

static void queens(struct test *t)
{
    enum {
        N = 7
    };
    i32 want[N * N], total = 0;
    for (int i = 0; i < N * N; i++) {
        int column[N] = {i / N, i % N};
        want[i] = placed(column, 1) ? solutions(column, 2, N) : 0;
        total += want[i];
    }
    equals(t, "solutions of 7 queens", (u64)total, 40);
    hd_address out = room(t, sizeof want);
    LAUNCH(t, "queens", D1(1), D1(N * N), 0, PTR(out), I32(N));
    SAME(t, "out", (i32 *)take(t, out, sizeof want), want, N * N);
}

struct option {
    float spot, strike, up, down, chance, discount;
};

static float priced(const struct option *o)
{
    float value[65];
    for (int k = 0; k <= 64; k++) {
        float s = o->spot;
        for (int j = 0; j < 64; j++)
            s *= j < k ? o->up : o->down;
        value[k] = s - o->strike > 0 ? s - o->strike : 0;
    }
    for (int step = 64; step > 0; step--)
        for (int k = 0; k < step; k++)
            value[k] = o->discount * fmaf(o->chance, value[k + 1], (1.0f - o->chance) * value[k]);
    return value[0];
}

static void binomial(struct test *t)
{
    enum {
        N = 5
    };
    struct option options[N];
    float want[N];
    for (int i = 0; i < N; i++) {
        float up = frnd(t, 1.01f, 1.05f);
        options[i] = (struct option){frnd(t, 50, 100), frnd(t, 50, 100),    up,
                                     1 / up,           frnd(t, 0.4f, 0.6f), 0.999f};
        want[i] = priced(&options[i]);
    }
    hd_address out = room(t, sizeof want);
    LAUNCH(t, "binomial", D1(N), D1(65), 0, PTR(give(t, options, sizeof options)), PTR(out));
    SAME(t, "price", (float *)take(t, out, sizeof want), want, N);
}

struct polynomial {
    i32 degree;
    float c[7];
};

static void horner(struct test *t)
{
    enum {
        N = 64,
        COUNT = 3
    };
    struct polynomial p[COUNT + 1];
    float *x = random_f32(t, N, -1, 1), want[N];
    for (int k = 0; k <= COUNT; k++) {
        p[k].degree = 3 + k;
        for (int d = 0; d < 7; d++)
            p[k].c[d] = frnd(t, -1, 1);
    }
    for (int i = 0; i < N; i++) {
        want[i] = 0;
        for (int k = 0; k <= COUNT; k++) {
            float r = 0;
            for (int d = p[k].degree; d >= 0; d--)
                r = fmaf(r, x[i], p[k].c[d]);
            want[i] += r;
        }
    }
    hd_address out = room(t, sizeof want);
    LAUNCH(t, "horner", D1(2), D1(N / 2), 0, PTR(give(t, p, sizeof p)), BYTES(p[COUNT]),
           PTR(give(t, x, N * 4)), PTR(out), I32(COUNT));
    SAME(t, "out", (float *)take(t, out, sizeof want), want, N);
}

const struct kernel_case opencl_program_cases[] = {
    {"opencl/sieve", "strike", sieve, 0},
    {"opencl/sieve", "trial", trial, 0},
    {"opencl/random", "quarter_circle", quarter_circle, 0},
    {"opencl/random", "walk", walk, 0},
    {"opencl/rays", "rays", rays, 0},
    {"opencl/hash", "xxhash", xxhash, 0},
    {"opencl/hash", "chacha20", chacha20, 0},
    {"opencl/hash", "substitute", substitute, CASE_LONG},
    {"opencl/search", "binary_search", binary_search, 0},
    {"opencl/search", "substring", substring, 0},
    {"opencl/search", "queens", queens, 0},
    {"opencl/finance", "binomial", binomial, 0},
    {"opencl/finance", "horner", horner, 0},
    {0},
};
