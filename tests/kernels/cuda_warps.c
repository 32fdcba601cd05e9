/*
 * CUDA kernels about the lanes of a warp of 32: vote, match, shuffle, reduction, special registers.
 */
#include "kernels.h"

static void votes(struct test *t)
{
    enum {
        WARPS = 4,
        N = 32 * WARPS
    };
    u32 *in = random_u32(t, N), want[8 * N];
    for (int i = 0; i < N; i++)
        in[i] = i / 32 == 1 ? in[i] & 0x7fff : i / 32 == 2 ? in[i] & 3 : in[i];
    for (int i = 0; i < N; i++) {
        const u32 *w = in + i / 32 * 32;
        u32 v = in[i], *o = want + 8 * i;
        u32 odd = 0, two = 0, match = 0, match64 = 0, any = 0, all = 1, same_high = 1;
        for (int k = 0; k < 32; k++) {
            odd |= (w[k] & 1) << k;
            two |= (w[k] & 3) == 3 ? 1u << k : 0;
            match |= (u32)((w[k] & 7) == (v & 7)) << k;
            match64 |= (u32)((w[k] & 3) == (v & 3)) << k;
            any |= w[k] == 3;
            all &= (i32)w[k] >= 0;
            same_high &= (i32)w[k] >> 16 == (i32)v >> 16;
        }
        o[0] = odd;
        o[1] = any | all << 1;
        o[2] = match;
        o[3] = match64;
        o[4] = (same_high ? 0xffffffff : 0) + (same_high << 31);
        o[5] = 0xffffffff;
        o[6] = v & 1 ? two : 77;
        o[7] = v & 1 ? odd : 0;
    }
    hd_address out = room(t, sizeof want);
    LAUNCH(t, "votes", D1(2), D1(N / 2), 0, PTR(give(t, in, N * 4)), PTR(out));
    SAME(t, "out", (u32 *)take(t, out, sizeof want), want, 8 * N);
}

static void shuffles(struct test *t)
{
    enum {
        N = 96
    };
    i32 *in = (i32 *)random_u32(t, N), want[8 * N];
    double wide[N];
    for (int i = 0; i < N; i++)
        in[i] >>= 9;
    for (int i = 0; i < N; i++) {
        const i32 *w = in + i / 32 * 32;
        int lane = i % 32;
        i32 *o = want + 8 * i;
        o[0] = w[(lane * 7 + 3) & 31];
        o[1] = w[(lane & 24) + 5];
        o[2] = w[lane < 3 ? lane : lane - 3];
        o[3] = w[lane % 16 < 2 ? lane : lane - 2];
        o[4] = w[lane + 9 > 31 ? lane : lane + 9];
        o[5] = w[lane % 4 == 3 ? lane : lane + 1];
        o[6] = w[lane ^ 21];
        o[7] = (i32)f32_bits((float)w[lane ^ 3]);
        wide[i] = w[31 - lane] * 0.5;
    }
    hd_address out = room(t, sizeof want), dw = room(t, sizeof wide);
    LAUNCH(t, "shuffles", D1(1), D1(N), 0, PTR(give(t, in, N * 4)), PTR(out), PTR(dw));
    SAME(t, "out", (i32 *)take(t, out, sizeof want), want, 8 * N);
    SAME(t, "wide", (double *)take(t, dw, sizeof wide), wide, N);
}

static void aggregate(struct test *t)
{
    enum {
        N = 500,
        KEYS = 10
    };
    u32 *keys = random_u32(t, N), want[KEYS] = {0};
    for (int i = 0; i < N; i++)
        want[keys[i] %= KEYS]++;
    hd_address counts = zeros(t, sizeof want);
    LAUNCH(t, "aggregate", D1(4), D1(128), 0, PTR(give(t, keys, N * 4)), PTR(counts), I32(N));
    SAME(t, "counts", (u32 *)take(t, counts, sizeof want), want, KEYS);
}

static void exchange(struct test *t)
{
    i32 want[64], v[32];
    for (i32 k = 0; k < 32; k++)
        v[k] = k < 16 ? k * k + (k ^ 1) * (k ^ 1) : k * k - (k ^ 2) * (k ^ 2);
    for (int i = 0; i < 64; i++)
        want[i] = v[i % 32] + v[(i % 32) ^ 16];
    hd_address out = room(t, sizeof want);
    LAUNCH(t, "exchange", D1(1), D1(64), 0, PTR(out));
    SAME(t, "out", (i32 *)take(t, out, sizeof want), want, 64);
}

static void redux(struct test *t)
{
    enum {
        N = 64
    };
    u32 *in = random_u32(t, N), want[8 * N];
    for (int i = 0; i < N; i++)
        in[i] |= i < 32 ? 0x40 : 0;
    for (int i = 0; i < N; i++) {
        const u32 *w = in + i / 32 * 32;
        u32 *o = want + 8 * i, all[8] = {0, ~0u, 0, INT32_MAX, (u32)INT32_MIN, ~0u, 0, 0};
        for (int k = 0; k < 32; k++) {
            all[0] += w[k];
            all[1] = w[k] < all[1] ? w[k] : all[1];
            all[2] = w[k] > all[2] ? w[k] : all[2];
            all[3] = (i32)w[k] < (i32)all[3] ? w[k] : all[3];
            all[4] = (i32)w[k] > (i32)all[4] ? w[k] : all[4];
            all[5] &= w[k];
            all[6] |= w[k];
            all[7] ^= w[k];
        }
        memcpy(o, all, sizeof all);
    }
    hd_address out = room(t, sizeof want);
    LAUNCH(t, "redux", D1(1), D1(N), 0, PTR(give(t, in, N * 4)), PTR(out));
    SAME(t, "out", (u32 *)take(t, out, sizeof want), want, 8 * N);
}

static void special(struct test *t)
{
    enum {
        X = 3,
        Y = 2,
        EACH = 80,
        N = X * Y * EACH
    };
    hd_address out = room(t, N * 32), elapsed = room(t, N * 8);
    LAUNCH(t, "special", D2(X, Y), D1(EACH), 0, PTR(out), PTR(elapsed));
    u32 *got = take(t, out, N * 32);
    i64 *time = take(t, elapsed, N * 8);
    for (u32 i = 0; i < N && !t->failed; i++, got += 8) {
        u32 lane = i % EACH % 32, below = (1u << lane) - 1;
        equals(t, "laneid", got[0], lane);
        equals(t, "warpid", got[1], i % EACH / 32);
        equals(t, "lanemask_lt", got[2], below);
        equals(t, "lanemask_ge", got[3], ~below);
        equals(t, "lanemask_eq", got[4], below + 1);
        equals(t, "nctaid.y", got[5], Y);
        if (got[6] >= got[7])
            fail(t, "smid %u of %u", got[6], got[7]);
        if (time[i] <= 0 || time[i] > 100000) /* one store at a time takes long */
            fail(t, "elapsed clocks: %lld", (long long)time[i]);
    }
}

const struct kernel_case cuda_warp_cases[] = {
    {"cuda/warps", "votes", votes, CASE_WARP32},
    {"cuda/warps", "shuffles", shuffles, CASE_WARP32},
    {"cuda/warps", "aggregate", aggregate, CASE_WARP32},
    {"cuda/warps", "exchange", exchange, CASE_WARP32},
    {"cuda/redux", "redux", redux, CASE_WARP32},
    {"cuda/assembly", "special", special, CASE_WARP32},
    {0},
};
