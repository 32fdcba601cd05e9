/*
 * CUDA kernels about memory and waiting: spaces, generic pointers, module data, barriers, atomics,
 * locks between lanes and between blocks.
 */
#include "kernels.h"

static void shared_mix(struct test *t)
{
    enum {
        BLOCKS = 2,
        N = 64 * BLOCKS
    };
    i32 *in = (i32 *)random_u32(t, N);
    double want[N];
    for (int i = 0; i < N; i++)
        in[i] >>= 14;
    for (int i = 0; i < N; i++) {
        const i32 *mine = in + i / 64 * 64;
        i32 k = i % 64, v = mine[63 - k];
        want[i] = (double)(i8)v + (double)((i64)v * v) + (double)(float)(v + k % 3) + v * 0.5 +
                  (double)(float)mine[(k + 1) & 63];
    }
    hd_address out = room(t, sizeof want);
    LAUNCH(t, "shared_mix", D1(BLOCKS), D1(64), 64 * 12, PTR(give(t, in, N * 4)), PTR(out));
    SAME(t, "out", (double *)take(t, out, sizeof want), want, N);
}

static void local_index(struct test *t)
{
    enum {
        N = 150
    };
    i32 *in = (i32 *)random_u32(t, N), want[N];
    for (int i = 0; i < N; i++) {
        i32 table[20], at;
        in[i] >>= 3;
        for (i32 k = 0; k < 20; k++)
            table[k] = k * k - in[i];
        at = in[i] & 15;
        for (i32 k = 0; k < 10; k++) {
            table[at] += k;
            at = (at + (table[at] & 7) + 1) % 20;
        }
        want[i] = table[at] + table[in[i] & 15];
    }
    hd_address out = room(t, sizeof want);
    LAUNCH(t, "local_index", D1(2), D1(96), 0, PTR(give(t, in, N * 4)), PTR(out), I32(N));
    SAME(t, "out", (i32 *)take(t, out, sizeof want), want, N);
}

static void big_frame(struct test *t)
{
    enum {
        N = 40
    };
    u32 want[N];
    for (u32 i = 0; i < N; i++) {
        u32 seed = i, sum = 0;
        for (int k = 0; k < 6000; k++) {
            seed = seed * 1664525u + 1013904223u;
            if (k % 7 == 0)
                sum = sum * 31 + (seed >> 24);
        }
        want[i] = sum;
    }
    hd_address out = room(t, sizeof want);
    LAUNCH(t, "big_frame", D1(2), D1(N / 2), 0, PTR(out));
    SAME(t, "out", (u32 *)take(t, out, sizeof want), want, N);
}

static void generic(struct test *t)
{
    i32 *in = (i32 *)random_u32(t, 64), want[64];
    for (i32 i = 0; i < 64; i++) {
        i32 at = in[i] >> 2 & 3,
            all[4] = {in[i], 5 * (63 - i), 7 * i + ((at - i) & 3), 1000 * (at + 1)};
        want[i] = all[in[i] & 3];
    }
    hd_address out = room(t, sizeof want);
    LAUNCH(t, "generic", D1(1), D1(64), 0, PTR(give(t, in, 256)), PTR(out));
    SAME(t, "out", (i32 *)take(t, out, sizeof want), want, 64);
}

static void module_data(struct test *t)
{
    static const i32 array[5] = {3, 1, 4, 1, 5};
    i32 want[64];
    for (i32 i = 0; i < 64; i++)
        want[i] = (i & 15) * (i & 15) + array[i % 3];
    hd_address out = room(t, sizeof want), text = room(t, 24);
    for (i32 round = 0; round < 2 && !t->failed; round++) {
        LAUNCH(t, "module_data", D1(1), D1(64), 0, PTR(out), PTR(text));
        want[0] += round == 0 ? 41 : 1; /* the counter keeps its value between launches */
        SAME(t, "out", (i32 *)take(t, out, sizeof want), want, 64);
    }
    char *names = take(t, text, 24);
    if (!t->failed &&
        (strcmp(names, "warp") || strcmp(names + 8, "weft") || strcmp(names + 16, "heddle")))
        fail(t, "names are %.8s %.8s %.8s", names, names + 8, names + 16);
}

static void volatiles(struct test *t)
{
    u32 *in = random_u32(t, 64), v[64], want[64];
    for (int i = 0; i < 64; i++) {
        v[i] = (in[i] + 2) * 2;
        want[i] = v[i] + v[i];
    }
    hd_address dv = room(t, sizeof v), out = room(t, sizeof want);
    LAUNCH(t, "volatiles", D1(1), D1(64), 0, PTR(dv), PTR(give(t, in, 256)), PTR(out));
    SAME(t, "v", (u32 *)take(t, dv, sizeof v), v, 64);
    SAME(t, "out", (u32 *)take(t, out, sizeof want), want, 64);
}

static void producers(struct test *t)
{
    enum {
        ROUNDS = 7
    };
    u32 *in = random_u32(t, 64 * ROUNDS), want[64] = {0};
    for (int k = 0; k < 64; k++)
        for (int r = 0; r < ROUNDS; r++)
            want[k] += in[r * 64 + ((k + r) & 63)] * 3;
    hd_address out = room(t, sizeof want);
    LAUNCH(t, "producers", D1(1), D1(128), 0, PTR(give(t, in, 256 * ROUNDS)), PTR(out),
           I32(ROUNDS));
    SAME(t, "out", (u32 *)take(t, out, sizeof want), want, 64);
}

static void barrier_votes(struct test *t)
{
    enum {
        BLOCKS = 4,
        EACH = 80,
        N = BLOCKS * EACH
    };
    i32 *in = (i32 *)random_u32(t, N), want[BLOCKS];
    for (int b = 0; b < BLOCKS; b++) {
        i32 count = 0, all = 1, any = 0;
        for (int k = 0; k < EACH; k++) {
            i32 *v = &in[b * EACH + k];
            *v = (*v >> 24) + (b == 1 ? 0 : 30); /* -128 to 127, moved up but in block 1 */
            if (b == 2 && k == 71)
                *v = 77;
            count += *v > 0;
            all &= *v > -100;
            any |= *v == 77;
        }
        want[b] = count | all << 16 | any << 17;
    }
    hd_address out = room(t, sizeof want);
    LAUNCH(t, "barrier_votes", D1(BLOCKS), D1(EACH), 0, PTR(give(t, in, N * 4)), PTR(out));
    SAME(t, "out", (i32 *)take(t, out, sizeof want), want, BLOCKS);
}

static void halves(struct test *t)
{
    i32 want[128], value[2] = {1, 1};
    for (i32 r = 0; r < 9; r++)
        value[0] = value[0] * 3 + r;
    for (i32 r = 0; r < 3; r++)
        value[1] = value[1] * 3 + r;
    for (int i = 0; i < 128; i++)
        want[i] = value[i >> 6];
    hd_address out = room(t, sizeof want);
    LAUNCH(t, "halves", D1(1), D1(128), 0, PTR(out));
    SAME(t, "out", (i32 *)take(t, out, sizeof want), want, 128);
}

static void atomics_global(struct test *t)
{
    enum {
        N = 300
    };
    u32 *in = random_u32(t, N), u[12] = {0, ~0u, 0, ~0u, 0, 0, 0, 0, 7, 0, 11, 0}, *ring;
    i32 s[2] = {INT32_MAX, INT32_MIN};
    u64 w[5] = {0, UINT64_MAX, 0, (u64)INT64_MIN, 0};
    hd_address du = give(t, u, sizeof u), ds = give(t, s, sizeof s), dw = give(t, w, sizeof w);
    hd_address dr = zeros(t, (100 + N) * 4);
    LAUNCH(t, "atomics_global", D1(3), D1(128), 0, PTR(give(t, in, N * 4)), PTR(du), PTR(ds),
           PTR(dw), PTR(dr), I32(N));
    u32 exchanged = 11;
    for (int i = 0; i < N; i++) {
        u32 v = in[i];
        u[0] += v;
        u[1] = v < u[1] ? v : u[1];
        u[2] = v > u[2] ? v : u[2];
        u[3] &= v | 0xf0f0f0f0u;
        u[4] |= v & 0xff00;
        u[5] ^= v;
        u[6] -= v;
        s[0] = (i32)v < s[0] ? (i32)v : s[0];
        s[1] = (i32)v > s[1] ? (i32)v : s[1];
        w[0] += (u64)v << 20;
        w[1] = (u64)v * v < w[1] ? (u64)v * v : w[1];
        w[2] = (u64)v * v > w[2] ? (u64)v * v : w[2];
        i64 big = (i64)(i32)v * 4000000000ll;
        w[3] = big > (i64)w[3] ? (u64)big : w[3];
        w[4] ^= (u64)v << 17;
        u[7] = u[7] >= 99 ? 0 : u[7] + 1;
        u[8] = u[8] == 0 || u[8] > 50 ? 50 : u[8] - 1;
        u[9]++;
        exchanged += v;
    }
    u32 *got = take(t, du, sizeof u);
    /* Which value stays last in the exchange slot depends on the order; the total does not. */
    got[11] += got[10];
    u[10] = got[10];
    u[11] = exchanged;
    SAME(t, "u", got, u, 12);
    SAME(t, "s", (i32 *)take(t, ds, sizeof s), s, 2);
    SAME(t, "w", (u64 *)take(t, dw, sizeof w), w, 5);
    ring = take(t, dr, (100 + N) * 4);
    for (int i = 0; i < 100 + N; i++)
        equals(t, "a ticket", ring[i], 1);
}

static void atomics_shared(struct test *t)
{
    enum {
        BLOCKS = 2,
        EACH = 100
    };
    u32 *in = random_u32(t, BLOCKS * EACH), want[BLOCKS * 10];
    for (int b = 0; b < BLOCKS; b++) {
        u32 u[6] = {0, ~0u, 0, ~0u, 0, 0};
        u64 w[2] = {0, 0};
        for (int k = 0; k < EACH; k++) {
            u32 v = in[b * EACH + k];
            u[0] += v;
            u[1] = v < u[1] ? v : u[1];
            u[2] = v > u[2] ? v : u[2];
            u[3] &= v;
            u[4] |= v;
            u[5] ^= v;
            w[0] += (u64)v * v;
            w[1] += v;
        }
        memcpy(want + 10 * b, u, sizeof u);
        memcpy(want + 10 * b + 6, w, sizeof w);
    }
    hd_address out = room(t, sizeof want);
    LAUNCH(t, "atomics_shared", D1(BLOCKS), D1(EACH), 0, PTR(give(t, in, BLOCKS * EACH * 4)),
           PTR(out));
    SAME(t, "out", (u32 *)take(t, out, sizeof want), want, BLOCKS * 10);
}

static void atomics_float(struct test *t)
{
    enum {
        N = 300
    };
    float in[N], f[2] = {0, 0};
    double d = 0;
    for (int i = 0; i < N; i++) {
        in[i] = (float)(i32)(rnd(t) % 20001 - 10000) * 0.125f;
        f[0] += in[i];
        d += in[i] * 0.5;
    }
    f[1] = f[0];
    hd_address df = zeros(t, sizeof f), dd = zeros(t, 8);
    LAUNCH(t, "atomics_float", D1(3), D1(112), 0, PTR(give(t, in, sizeof in)), PTR(df), PTR(dd),
           I32(N));
    SAME(t, "f", (float *)take(t, df, sizeof f), f, 2);
    SAME(t, "d", (double *)take(t, dd, 8), &d, 1);
}

static void block_lock(struct test *t)
{
    i32 want[2] = {12, 66};
    hd_address words = zeros(t, 8);
    LAUNCH(t, "block_lock", D1(12), D1(40), 0, PTR(zeros(t, 4)), PTR(words));
    SAME(t, "words", (i32 *)take(t, words, 8), want, 2);
}

static void lane_lock(struct test *t)
{
    u32 want = 0;
    for (int i = 0; i < 3 * 70; i++)
        want = want * 3 + 1;
    hd_address counter = zeros(t, 4);
    LAUNCH(t, "lane_lock", D1(3), D1(70), 0, PTR(zeros(t, 4)), PTR(counter));
    equals(t, "counter", *(u32 *)take(t, counter, 4), want);
}

static void lane_spin(struct test *t)
{
    hd_address counter = zeros(t, 4);
    LAUNCH(t, "lane_spin", D1(2), D1(70), 0, PTR(zeros(t, 4)), PTR(counter));
    equals(t, "counter", *(u32 *)take(t, counter, 4), 140);
}

static void grid_barrier(struct test *t)
{
    enum {
        BLOCKS = 6,
        EACH = 48,
        N = BLOCKS * EACH,
        ROUNDS = 4
    };
    i32 want[N], next[N];
    for (int i = 0; i < N; i++)
        want[i] = i;
    for (int r = 0; r < ROUNDS; r++) {
        for (int i = 0; i < N; i++)
            next[i] = want[(i + 37) % N] + 1;
        memcpy(want, next, sizeof want);
    }
    hd_address out = room(t, sizeof want);
    LAUNCH(t, "grid_barrier", D1(BLOCKS), D1(EACH), 0, PTR(zeros(t, 4)), PTR(zeros(t, 4)),
           PTR(room(t, 2 * sizeof want)), PTR(out), I32(ROUNDS));
    SAME(t, "out", (i32 *)take(t, out, sizeof want), want, N);
}

static void chain(struct test *t)
{
    enum {
        BLOCKS = 8,
        EACH = 40
    };
    i32 want[BLOCKS * EACH];
    for (int i = 0; i < BLOCKS * EACH; i++)
        want[i] = i < EACH ? i : want[i - EACH] * 2 + i / EACH;
    hd_address values = room(t, sizeof want);
    LAUNCH(t, "chain", D1(BLOCKS), D1(EACH), 0, PTR(zeros(t, sizeof want)), PTR(values));
    SAME(t, "value", (i32 *)take(t, values, sizeof want), want, BLOCKS * EACH);
}

const struct kernel_case cuda_space_cases[] = {
    {"cuda/spaces", "shared_mix", shared_mix, 0},
    {"cuda/spaces", "local_index", local_index, 0},
    {"cuda/spaces", "big_frame", big_frame, CASE_LONG},
    {"cuda/spaces", "generic", generic, 0},
    {"cuda/spaces", "module_data", module_data, 0},
    {"cuda/spaces", "volatiles", volatiles, 0},
    {"cuda/barriers", "producers", producers, 0},
    {"cuda/barriers", "barrier_votes", barrier_votes, 0},
    {"cuda/barriers", "halves", halves, 0},
    {"cuda/atomics", "atomics_global", atomics_global, 0},
    {"cuda/atomics", "atomics_shared", atomics_shared, CASE_ORDER},
    {"cuda/atomics", "atomics_float", atomics_float, 0},
    {"cuda/locks", "block_lock", block_lock, CASE_ORDER},
    {"cuda/locks", "lane_lock", lane_lock, CASE_ORDER | CASE_LONG},
    {"cuda/locks", "lane_spin", lane_spin, CASE_ORDER | CASE_LONG},
    {"cuda/locks", "grid_barrier", grid_barrier, CASE_ORDER},
    {"cuda/locks", "chain", chain, CASE_ORDER},
    {0},
};
