/*
 * CUDA kernels about arithmetic: integers of every width, floats, halves, carry chains, bits, and a
 * hash. All exact but the approximate functions, which get the error PTX documents for them.
 */
#include "kernels.h"
#include <fenv.h>
#include <math.h>

static void collatz(struct test *t)
{
    enum {
        N = 200
    };
    u32 *in = random_u32(t, N), *want = host(t, N * 4);
    for (int i = 0; i < N; i++) {
        in[i] >>= i % 24 + 4;
        for (u64 v = in[i]; v > 1; v = v % 2 ? 3 * v + 1 : v / 2)
            want[i]++;
    }
    hd_address out = room(t, N * 4);
    LAUNCH(t, "collatz", D1(2), D1(128), 0, PTR(give(t, in, N * 4)), PTR(out), I32(N));
    SAME(t, "steps", (u32 *)take(t, out, N * 4), want, N);
}

static void divide(struct test *t)
{
    enum {
        N = 150
    };
    i32 *a = (i32 *)random_u32(t, N), *b = (i32 *)random_u32(t, N), *want = host(t, N * 40);
    for (int i = 0; i < N; i++) {
        b[i] >>= i % 32;
        if (b[i] == 0 || (i % 7 == 0 && b[i] == -1))
            b[i] = 3;
        if (i % 11 == 0)
            a[i] = INT32_MIN;
        if (b[i] == -1 && a[i] == INT32_MIN)
            a[i] = INT32_MAX;
        i32 x = a[i], y = b[i], *o = want + 10 * i;
        u32 ux = (u32)x, uy = (u32)y;
        o[0] = x / y;
        o[1] = x % y;
        o[2] = (i32)(ux / uy);
        o[3] = (i32)(ux % uy);
        o[4] = x / 7;
        o[5] = (i32)(ux % 10);
        o[6] = (i16)x / (i16)((i16)y | 1);
        o[7] = (u8)x % (u8)((u8)y | 1);
        o[8] = x / -16;
        o[9] = (i32)(ux / 641);
    }
    hd_address out = room(t, N * 40);
    LAUNCH(t, "divide", D1(3), D1(64), 0, PTR(give(t, a, N * 4)), PTR(give(t, b, N * 4)), PTR(out),
           I32(N));
    SAME(t, "out", (i32 *)take(t, out, N * 40), want, N * 10);
}

static u64 reversed(u64 v, int bits)
{
    u64 r = 0;
    for (int k = 0; k < bits; k++)
        r |= (v >> k & 1) << (bits - 1 - k);
    return r;
}

static void wide(struct test *t)
{
    enum {
        N = 130
    };
    u64 *a = random_u64(t, N), *b = random_u64(t, N), *want = host(t, N * 112);
    for (int i = 0; i < N; i++) {
        a[i] >>= i % 9 * 7;
        b[i] = (u64)((i64)b[i] >> i % 60);
        if (b[i] == 0 || b[i] == UINT64_MAX)
            b[i] = 10;
        u64 x = a[i], y = b[i], *o = want + 14 * i;
        i64 sx = (i64)x, sy = (i64)y;
        o[0] = x + y;
        o[1] = x * y;
        o[2] = (u64)(sx / sy);
        o[3] = (u64)(sx % sy);
        o[4] = x / y;
        o[5] = x % y;
        o[6] = x << (y & 63);
        o[7] = (u64)(sx >> (y & 63));
        o[8] = x >> (y & 63);
        o[9] = (u64)((__int128)sx * sy >> 64);
        o[10] = (u64)((unsigned __int128)x * y >> 64);
        o[11] = (u64)__builtin_popcountll(x) | (x ? (u64)__builtin_clzll(x) : 64) << 8 |
                (u64)(sx < sy) << 16 | (u64)(x < y) << 17;
        o[12] = reversed(x, 64);
        o[13] = ((u64)(u32)x * (u32)y >> 32) << 32 | (u32)((i64)(i32)x * (i32)y >> 32);
    }
    hd_address out = room(t, N * 112);
    LAUNCH(t, "wide", D1(2), D1(96), 0, PTR(give(t, a, N * 8)), PTR(give(t, b, N * 8)), PTR(out),
           I32(N));
    SAME(t, "out", (u64 *)take(t, out, N * 112), want, N * 14);
}

static void narrow(struct test *t)
{
    enum {
        N = 300
    };
    i8 *a = (i8 *)random_u8(t, N);
    u16 *b = (u16 *)random_u8(t, 2 * N);
    i16 *c = host(t, 2 * N);
    u8 *d = host(t, N);
    for (int i = 0; i < N; i++) {
        i16 s = (i16)(a[i] * b[i]);
        i8 w = (i8)(a[i] + b[i]);
        c[i] = (i16)(s + w);
        d[i] = (u8)(b[i] >> 3 ^ (a[i] * 2) ^ (s < w));
    }
    hd_address dc = room(t, 2 * N), dd = room(t, N);
    LAUNCH(t, "narrow", D1(3), D1(100), 0, PTR(give(t, a, N)), PTR(give(t, b, 2 * N)), PTR(dc),
           PTR(dd), I32(N));
    SAME(t, "c", (i16 *)take(t, dc, 2 * N), c, N);
    SAME(t, "d", (u8 *)take(t, dd, N), d, N);
}

static void doubles(struct test *t)
{
    enum {
        N = 120
    };
    double *a = random_f64(t, N, -1000, 1000), *b = random_f64(t, N, -1000, 1000);
    double *want = host(t, N * 64);
    u64 *bits = host(t, N * 8);
    for (int i = 0; i < N; i++) {
        double x = a[i], y = b[i], *o = want + 8 * i;
        o[0] = x + y;
        o[1] = x * y;
        o[2] = x / y;
        o[3] = sqrt(fabs(x));
        o[4] = fma(x, y, -x);
        o[5] = fmin(x, y) - fmax(x, y);
        o[6] = (double)(float)x;
        o[7] = (double)(i32)(y * 1000.0) + (double)i;
        memcpy(bits + i, &y, 8);
        bits[i] ^= (u64)(i64)(x * 1e6);
    }
    hd_address out = room(t, N * 64), db = room(t, N * 8);
    LAUNCH(t, "doubles", D1(2), D1(64), 0, PTR(give(t, a, N * 8)), PTR(give(t, b, N * 8)), PTR(out),
           PTR(db), I32(N));
    SAME(t, "out", (double *)take(t, out, N * 64), want, N * 8);
    SAME(t, "bits", (u64 *)take(t, db, N * 8), bits, N);
}

static void cube_root(struct test *t)
{
    enum {
        N = 70
    };
    double *a = random_f64(t, N, 0.001, 50), *want = host(t, N * 8);
    for (int i = 0; i < N; i++) {
        double v = a[i], r = v < 1.0 ? 1.0 : v;
        for (int k = 0; k < 60; k++) {
            double next = r - (r * r * r - v) / (3.0 * r * r);
            if (next == r)
                break;
            r = next;
        }
        want[i] = r;
    }
    hd_address out = room(t, N * 8);
    LAUNCH(t, "cube_root", D1(2), D1(48), 0, PTR(give(t, a, N * 8)), PTR(out), I32(N));
    SAME(t, "out", (double *)take(t, out, N * 8), want, N);
}

static void approximate(struct test *t)
{
    enum {
        N = 200
    };
    float *in = random_f32(t, N, -3, 3);
    double *want = host(t, N * 7 * 8);
    for (int i = 0; i < N; i++) {
        double x = in[i];
        want[i] = sin(x);
        want[N + i] = cos(x);
        want[2 * N + i] = exp2(x);
        want[3 * N + i] = log2((double)(fabsf(in[i]) + 0.125f));
        want[4 * N + i] = 1 / sqrt((double)(fabsf(in[i]) + 0.5f));
        want[5 * N + i] = x / (double)(3.0f + fabsf(in[i]));
        want[6 * N + i] = x < 0 ? 0 : x > 1 ? 1 : x;
    }
    hd_address out = room(t, N * 28);
    LAUNCH(t, "approximate", D1(2), D1(128), 0, PTR(give(t, in, N * 4)), PTR(out), I32(N));
    float *got = take(t, out, N * 28);
    double ulp = 0x1p-23;
    near32(t, "sin", got, want, N, 7, 0, 0x1p-20);
    near32(t, "cos", got + 1, want + N, N, 7, 0, 0x1p-20);
    near32(t, "ex2", got + 2, want + 2 * N, N, 7, 4 * ulp, 0);
    near32(t, "lg2", got + 3, want + 3 * N, N, 7, 4 * ulp, 0x1p-21);
    near32(t, "rsqrt", got + 4, want + 4 * N, N, 7, 4 * ulp, 0);
    near32(t, "div", got + 5, want + 5 * N, N, 7, 4 * ulp, 0);
    near32(t, "saturate", got + 6, want + 6 * N, N, 7, 0, 0);
}

/* One operation in a rounding mode; volatile keeps it between the mode changes. */
static float in_mode(int mode, char op, float a, float b)
{
    volatile float x = a, y = b, r;
    fesetround(mode);
    r = op == '+' ? x + y : x * y;
    fesetround(FE_TONEAREST);
    return r;
}

static void rounded(struct test *t)
{
    enum {
        N = 200
    };
    float *a = random_f32(t, N, -300, 300), *b = random_f32(t, N, -3, 3), *want = host(t, N * 32);
    i32 *ints = host(t, N * 16);
    for (int i = 0; i < N; i++) {
        float x = a[i], y = b[i], *o = want + 8 * i;
        if (i % 10 == 0)
            a[i] = x = floorf(x) + 0.5f;
        o[0] = in_mode(FE_TOWARDZERO, '+', x, y);
        o[1] = in_mode(FE_UPWARD, '*', x, y);
        o[2] = in_mode(FE_DOWNWARD, '+', x, y);
        o[3] = 1.0f / y;
        o[4] = x / y;
        o[5] = sqrtf(fabsf(x));
        o[6] = floorf(x) + ceilf(y) * truncf(x);
        o[7] = rintf(x);
        ints[4 * i] = (i32)rintf(x);
        ints[4 * i + 1] = (i32)floorf(x);
        ints[4 * i + 2] = (i32)ceilf(x);
        ints[4 * i + 3] = (i32)y;
    }
    hd_address out = room(t, N * 32), di = room(t, N * 16);
    LAUNCH(t, "rounded", D1(2), D1(128), 0, PTR(give(t, a, N * 4)), PTR(give(t, b, N * 4)),
           PTR(out), PTR(di), I32(N));
    SAME(t, "out", (float *)take(t, out, N * 32), want, N * 8);
    SAME(t, "ints", (i32 *)take(t, di, N * 16), ints, N * 4);
}

static void put128(u32 *to, unsigned __int128 v)
{
    for (int k = 0; k < 4; k++)
        to[k] = (u32)(v >> 32 * k);
}

static void carry(struct test *t)
{
    enum {
        N = 100
    };
    u32 *a = random_u32(t, 4 * N), *b = random_u32(t, 4 * N), *want = host(t, N * 56);
    for (int i = 0; i < N; i++) {
        unsigned __int128 x = 0, y = 0;
        for (int k = 0; k < 4; k++) {
            if (i % 5 == k) /* long carries */
                a[4 * i + k] = 0xffffffff, b[4 * i + k] = 0;
            x |= (unsigned __int128)a[4 * i + k] << 32 * k;
            y |= (unsigned __int128)b[4 * i + k] << 32 * k;
        }
        u32 *o = want + 14 * i;
        put128(o, x + y);
        o[4] = x + y < x;
        put128(o + 5, x - y);
        o[9] = x < y ? 0xffffffff : 0;
        put128(o + 10, (unsigned __int128)(u64)x * (u64)y);
    }
    hd_address out = room(t, N * 56);
    LAUNCH(t, "carry", D1(1), D1(N), 0, PTR(give(t, a, N * 16)), PTR(give(t, b, N * 16)), PTR(out),
           I32(N));
    SAME(t, "out", (u32 *)take(t, out, N * 56), want, N * 14);
}

static u32 prmt(u32 a, u32 b, u32 selector)
{
    u64 both = (u64)b << 32 | a;
    u32 r = 0;
    for (int k = 0; k < 4; k++) {
        u32 s = selector >> 4 * k & 15;
        u32 byte = (u32)(both >> 8 * (s & 7)) & 0xff;
        if (s & 8)
            byte = byte & 0x80 ? 0xff : 0;
        r |= byte << 8 * k;
    }
    return r;
}

static u32 bfe(u32 a, u32 pos, u32 len, bool is_signed)
{
    u32 top = pos + len - 1 < 31 ? pos + len - 1 : 31;
    u32 sign = is_signed && len > 0 ? a >> top & 1 : 0, r = 0;
    for (u32 k = 0; k < 32; k++)
        r |= (k < len && pos + k <= 31 ? a >> (pos + k) & 1 : sign) << k;
    return r;
}

static u32 bfi(u32 a, u32 b, u32 pos, u32 len)
{
    for (u32 k = 0; k < len && pos + k <= 31; k++)
        b = (b & ~(1u << (pos + k))) | (a >> k & 1) << (pos + k);
    return b;
}

static u32 dot(u32 a, u32 b, u32 c, bool signed_a, bool signed_b)
{
    for (int k = 0; k < 4; k++) {
        i32 x = signed_a ? (i8)(a >> 8 * k) : (u8)(a >> 8 * k);
        i32 y = signed_b ? (i8)(b >> 8 * k) : (u8)(b >> 8 * k);
        c += (u32)(x * y);
    }
    return c;
}

static void bits_of(u32 x, u32 y, u32 *o)
{
    u32 z = x * 0x9e3779b9u ^ y, s = z & 63, high = x >> (y & 31);
    u64 both = (u64)y << 32 | x;
    o[0] = x ^ y ^ z;
    o[1] = (x & y) | (x & z) | (y & z);
    o[2] = (x & y) | (~x & z);
    o[3] = prmt(x, y, z);
    o[4] = (u32)(both >> 8 * (z & 3));
    o[5] = bfe(x, y & 31, z & 31, false);
    o[6] = bfe(x, y & 63, s, true);
    o[7] = bfi(x, z, y & 31, z & 31);
    o[8] = (u32)((both << (s & 31)) >> 32);
    o[9] = (u32)(both >> (s < 32 ? s : 32));
    o[10] = dot(x, y, z, true, true);
    o[11] = dot(x, y, z, false, true);
    o[12] = z + (u32)((i16)x * (i32)(u8)y) + (u32)((i16)(x >> 16) * (i32)(u8)(y >> 8));
    o[13] = z + (x < y ? y - x : x - y);
    o[14] = (u32)reversed(x, 32);
    o[15] = high ? 31 - (u32)__builtin_clz(high) : 0xffffffff;
    u32 v = (i32)x < 0 ? ~x : x;
    o[16] = v ? (u32)__builtin_clz(v) : 0xffffffff;
    o[17] = (x & 0xffffff) * (y & 0xffffff);
    o[18] = (u32)((i64)((i32)(x << 8) >> 8) * ((i32)(y << 8) >> 8)) + z;
    o[19] = x < y ? x : y;
}

static void bits(struct test *t)
{
    enum {
        N = 200
    };
    u32 *a = random_u32(t, N), *b = random_u32(t, N), *want = host(t, N * 80);
    a[3] = 0;
    a[4] = 0xffffffff;
    for (int i = 0; i < N; i++)
        bits_of(a[i], b[i], want + 20 * i);
    hd_address out = room(t, N * 80);
    LAUNCH(t, "bits", D1(2), D1(128), 0, PTR(give(t, a, N * 4)), PTR(give(t, b, N * 4)), PTR(out),
           I32(N));
    SAME(t, "out", (u32 *)take(t, out, N * 80), want, N * 20);
}

/* Normal halves only. */
static double half_value(u16 h)
{
    double v = ldexp((h & 0x3ff) + 1024, (h >> 10 & 31) - 25);
    return h >> 15 ? -v : v;
}

static u16 half_of(double v, bool to_zero)
{
    if (v == 0)
        return 0;
    int exponent;
    double m = frexp(fabs(v), &exponent) * 2048;
    m = to_zero ? trunc(m) : nearbyint(m);
    if (m == 2048) {
        m = 1024;
        exponent++;
    }
    return (u16)((v < 0) << 15 | (exponent + 14) << 10 | ((int)m - 1024));
}

static void halves16(struct test *t)
{
    enum {
        N = 200
    };
    u16 *a = host(t, 2 * N), *b = host(t, 2 * N), *want = host(t, 10 * N);
    u32 *packed = host(t, 8 * N);
    for (int i = 0; i < N; i++) {
        a[i] = (u16)((rnd(t) & 0x83ff) | (10 + rnd(t) % 10) << 10);
        b[i] = (u16)((rnd(t) & 0x83ff) | (10 + rnd(t) % 10) << 10);
        double x = half_value(a[i]), y = half_value(b[i]);
        u16 *o = want + 5 * i;
        o[0] = half_of(x + y, false);
        o[1] = half_of(x * y, false);
        o[2] = half_of(x * y + x, false);
        o[3] = half_of(x * 3, false);
        o[4] = half_of(x * 3, true);
        packed[2 * i] = o[0] | (u32)o[0] << 16;
        packed[2 * i + 1] = o[2] | (u32)half_of(x * y + y, false) << 16;
    }
    hd_address out = room(t, 10 * N), dp = room(t, 8 * N);
    LAUNCH(t, "halves16", D1(2), D1(128), 0, PTR(give(t, a, 2 * N)), PTR(give(t, b, 2 * N)),
           PTR(out), PTR(dp), I32(N));
    SAME(t, "out", (u16 *)take(t, out, 10 * N), want, 5 * N);
    SAME(t, "packed", (u32 *)take(t, dp, 8 * N), packed, 2 * N);
}

/* The first 32 bits of the fraction of the cube roots of the first primes. */
static void sha_constants(u32 *k)
{
    int count = 0;
    for (int p = 2; count < 64; p++) {
        bool prime = true;
        for (int d = 2; d * d <= p; d++)
            prime &= p % d != 0;
        if (prime) {
            long double root = cbrtl(p);
            k[count++] = (u32)((root - floorl(root)) * 4294967296.0L);
        }
    }
}

static u32 rotr(u32 v, u32 n)
{
    return v >> n | v << (32 - n);
}

static void sha_block(u32 *h, const u8 *block, const u32 *constants)
{
    u32 w[64], s[8];
    for (int k = 0; k < 16; k++)
        w[k] = (u32)block[4 * k] << 24 | (u32)block[4 * k + 1] << 16 | (u32)block[4 * k + 2] << 8 |
               block[4 * k + 3];
    for (int k = 16; k < 64; k++)
        w[k] = w[k - 16] + (rotr(w[k - 15], 7) ^ rotr(w[k - 15], 18) ^ w[k - 15] >> 3) + w[k - 7] +
               (rotr(w[k - 2], 17) ^ rotr(w[k - 2], 19) ^ w[k - 2] >> 10);
    memcpy(s, h, sizeof s);
    for (int k = 0; k < 64; k++) {
        u32 choose = (s[4] & s[5]) | (~s[4] & s[6]);
        u32 majority = (s[0] & s[1]) | (s[2] & (s[0] | s[1]));
        u32 one =
            s[7] + (rotr(s[4], 6) ^ rotr(s[4], 11) ^ rotr(s[4], 25)) + choose + constants[k] + w[k];
        u32 two = (rotr(s[0], 2) ^ rotr(s[0], 13) ^ rotr(s[0], 22)) + majority;
        memmove(s + 1, s, 28);
        s[4] += one;
        s[0] = one + two;
    }
    for (int k = 0; k < 8; k++)
        h[k] += s[k];
}

static void sha256(struct test *t)
{
    enum {
        N = 40
    };
    static const u32 start[8] = {0x6a09e667, 0xbb67ae85, 0x3c6ef372, 0xa54ff53a,
                                 0x510e527f, 0x9b05688c, 0x1f83d9ab, 0x5be0cd19};
    u32 constants[64];
    u8 *in = random_u8(t, 64 * N), *want = host(t, 32 * N), tail[64] = {0x80, [62] = 2};
    memset(in, 0, 64);
    sha_constants(constants);
    for (int i = 0; i < N; i++) {
        u32 h[8];
        memcpy(h, start, sizeof h);
        sha_block(h, in + 64 * i, constants);
        sha_block(h, tail, constants);
        for (int k = 0; k < 32; k++)
            want[32 * i + k] = (u8)(h[k / 4] >> (24 - k % 4 * 8));
    }
    equals(t, "first word of SHA-256 of 64 zeros", want[0] | want[1] << 8, 0xa5f5);
    hd_address out = room(t, 32 * N);
    set_variable(t, "round_constants", constants, sizeof constants);
    LAUNCH(t, "sha256", D1(2), D1(32), 0, PTR(give(t, in, 64 * N)), PTR(out), I32(N));
    SAME(t, "digests", (u8 *)take(t, out, 32 * N), want, 32 * N);
}

const struct kernel_case cuda_number_cases[] = {
    {"cuda/integer", "collatz", collatz, 0},
    {"cuda/integer", "divide", divide, 0},
    {"cuda/integer", "wide", wide, 0},
    {"cuda/integer", "narrow", narrow, 0},
    {"cuda/double", "doubles", doubles, 0},
    {"cuda/double", "cube_root", cube_root, 0},
    {"cuda/approx", "approximate", approximate, 0},
    {"cuda/approx", "rounded", rounded, 0},
    {"cuda/assembly", "carry", carry, 0},
    {"cuda/assembly", "bits", bits, 0},
    {"cuda/assembly", "halves16", halves16, 0},
    {"cuda/sha256", "sha256", sha256, 0},
    {0},
};
