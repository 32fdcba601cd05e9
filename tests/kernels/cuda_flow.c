/*
 * CUDA kernels about control: structures as parameters, branches, loops, calls, recursion, and the
 * services of the system.
 */
#include "kernels.h"

struct settings {
    char tag;
    i16 bias[3];
    double scale;
    hd_address table;
    struct {
        u8 mode;
        i32 limit;
    } inner;
};

static void by_value(struct test *t)
{
    enum {
        N = 90
    };
    i32 table[8];
    double want[N];
    for (int k = 0; k < 8; k++)
        table[k] = (i32)(rnd(t) % 2000);
    struct settings s = {-7, {-100, 32000, 5}, 1.25, give(t, table, sizeof table), {66, 1000}};
    struct {
        float x, y, z, w;
    } v = {0.5f, 1, 2, -0.25f};
    for (int i = 0; i < N; i++) {
        i32 limited = table[i & 7] < 1000 ? table[i & 7] : 1000;
        want[i] = 1.25 * limited + s.bias[i % 3] + s.tag + (i & 1 ? v.x : v.w);
    }
    hd_address out = room(t, sizeof want);
    LAUNCH(t, "by_value", D1(2), D1(64), 0, BYTES(s), VALUE(char, 66), PTR(out), I32(N), BYTES(v));
    SAME(t, "out", (double *)take(t, out, sizeof want), want, N);
}

static void unions(struct test *t)
{
    enum {
        N = 100
    };
    float *in = random_f32(t, N, -4, 4);
    u32 want[N];
    for (int i = 0; i < N; i++) {
        u32 u = f32_bits(in[i]) ^ 0x5au << 8 * (i & 3), shift = 16 * (i >> 2 & 1);
        want[i] = (u & ~(0xffffu << shift)) | (((u >> shift) + 3) & 0xffff) << shift;
    }
    hd_address out = room(t, sizeof want);
    LAUNCH(t, "unions", D1(2), D1(64), 0, PTR(give(t, in, N * 4)), PTR(out), I32(N));
    SAME(t, "out", (u32 *)take(t, out, sizeof want), want, N);
}

struct record {
    u8 kind;
    i32 key;
    i64 weight;
};

static void records(struct test *t)
{
    enum {
        N = 70
    };
    struct record *in = host(t, N * sizeof *in), *want = host(t, N * sizeof *in);
    for (int i = 0; i < N; i++) {
        in[i].kind = (u8)rnd(t);
        in[i].key = (i32)rnd(t) >> 4;
        in[i].weight = (i64)rnd64(t) >> 8;
    }
    for (int i = 0; i < N; i++) {
        const struct record *s = &in[(i + 1) % N];
        want[i].weight = in[i].weight + (i64)s->key * in[i].kind;
        want[i].kind = in[i].kind ^ s->kind;
        want[i].key = -in[i].key;
    }
    hd_address out = room(t, N * sizeof *in);
    LAUNCH(t, "records", D1(1), D1(96), 0, PTR(give(t, in, N * sizeof *in)), PTR(out), I32(N));
    struct record *got = take(t, out, N * sizeof *in);
    for (int i = 0; i < N && !t->failed; i++) { /* padding may have any value */
        equals(t, "kind", got[i].kind, want[i].kind);
        equals(t, "key", (u64)got[i].key, (u64)want[i].key);
        equals(t, "weight", (u64)got[i].weight, (u64)want[i].weight);
    }
}

static u32 switched(u32 v)
{
    u32 r = 1;
    for (u32 k = 0; k < 6; k++) {
        u32 c = v & 15;
        if (c == 0)
            r += v;
        else if (c == 1)
            r ^= v * 3;
        else if (c == 2)
            r = r * 5 - 7;
        else if (c == 3)
            r -= 7;
        else if (c == 4)
            r = rotl(r, 3);
        else if (c == 5)
            r |= v >> 8;
        else if (c == 6)
            r = ~r;
        else if (c == 7)
            r += k;
        else if (c == 8)
            r = (r & 1 ? r + 100 : r) ^ 0x1234;
        else if (c == 9)
            r ^= 0x1234;
        else if (c == 11)
            r /= 3;
        else if (c == 14)
            k++;
        else
            r++;
        v = v >> 4 | r << 28;
    }
    return r;
}

static void switches(struct test *t)
{
    enum {
        N = 300
    };
    u32 *in = random_u32(t, N), want[N];
    for (int i = 0; i < N; i++)
        want[i] = switched(in[i]);
    hd_address out = room(t, sizeof want);
    LAUNCH(t, "switches", D1(3), D1(128), 0, PTR(give(t, in, N * 4)), PTR(out), I32(N));
    SAME(t, "out", (u32 *)take(t, out, sizeof want), want, N);
}

static i32 looped(i32 v)
{
    i32 limit = v & 31, sum = 0;
    for (i32 a = 0; a < limit; a++) {
        if (a % 3 == 1)
            continue;
        for (i32 b = a; b <= limit + 3; b += 2) {
            if ((b ^ v) & 4) {
                sum += b;
            } else {
                sum ^= a * 4;
                if (sum > 5000)
                    return sum;
            }
        }
        sum += 3;
        while (sum & 3)
            sum += 3;
    }
    return -sum;
}

static void loops(struct test *t)
{
    enum {
        N = 250
    };
    i32 *in = (i32 *)random_u32(t, N), want[N];
    for (int i = 0; i < N; i++)
        want[i] = looped(in[i]);
    hd_address out = room(t, sizeof want);
    LAUNCH(t, "loops", D1(2), D1(128), 0, PTR(give(t, in, N * 4)), PTR(out), I32(N));
    SAME(t, "out", (i32 *)take(t, out, sizeof want), want, N);
}

static u32 jumped(u32 v)
{
    bool odd = v & 1;
    for (u32 steps = 0;;) {
        if (odd) {
            v = v * 3 + steps;
            steps += 2;
            odd = v & 4;
        } else {
            v = v / 2 + 1;
            steps++;
            odd = !(v & 2);
        }
        if (steps > 40)
            return v ^ steps;
    }
}

static void jumps(struct test *t)
{
    enum {
        N = 250
    };
    u32 *in = random_u32(t, N), want[N];
    for (int i = 0; i < N; i++)
        want[i] = jumped(in[i]);
    hd_address out = room(t, sizeof want);
    LAUNCH(t, "jumps", D1(2), D1(128), 0, PTR(give(t, in, N * 4)), PTR(out), I32(N));
    SAME(t, "out", (u32 *)take(t, out, sizeof want), want, N);
}

static void jump_table(struct test *t)
{
    enum {
        N = 100
    };
    u32 *in = random_u32(t, N), want[N];
    for (int i = 0; i < N; i++) {
        u32 v = in[i], all[5] = {v * 3, v ^ 0x55, ~v, v >> 4, v ^ 0x55};
        want[i] = all[v % 5];
    }
    hd_address out = room(t, sizeof want);
    LAUNCH(t, "jump_table", D1(2), D1(64), 0, PTR(give(t, in, N * 4)), PTR(out), I32(N));
    SAME(t, "out", (u32 *)take(t, out, sizeof want), want, N);
}

static void leavers(struct test *t)
{
    enum {
        BLOCKS = 3,
        N = BLOCKS * 128 - 20
    };
    i32 want[N], count = 0;
    for (int k = 0; k < 96; k++)
        count += k % 5 == 3 ? 1 : 100;
    for (int i = 0; i < N; i++) {
        i32 k = i % 128;
        want[i] = k >= 96 || k % 5 == 3 ? -1 : k * k + count;
    }
    hd_address out = room(t, sizeof want);
    LAUNCH(t, "leavers", D1(BLOCKS), D1(128), 0, PTR(out), I32(N));
    /* A barrier waits for all threads that have not exited: those that exit have added by then. */
    SAME(t, "out", (i32 *)take(t, out, sizeof want), want, N);
}

static void plain_calls(struct test *t)
{
    enum {
        N = 80
    };
    i32 *in = (i32 *)random_u32(t, N);
    u64 *first = host(t, N * 8);
    float *second = host(t, N * 4);
    for (int i = 0; i < N; i++) {
        in[i] >>= 20;
        first[i] = (u64)(i64)in[i];
        second[i] = 0.5f;
        for (i32 k = 0; k < (in[i] & 7); k++) {
            first[i] = first[i] * (u64)(i64)(in[i] + k) + (u64)(i64)(i8)i;
            second[i] += (float)(in[i] + k);
        }
    }
    hd_address a = room(t, N * 8), b = room(t, N * 4);
    LAUNCH(t, "plain_calls", D1(2), D1(48), 0, PTR(give(t, in, N * 4)), PTR(a), PTR(b), I32(N));
    SAME(t, "first", (u64 *)take(t, a, N * 8), first, N);
    SAME(t, "second", (float *)take(t, b, N * 4), second, N);
}

static void recursion(struct test *t)
{
    enum {
        N = 64
    };
    static const u32 fibonacci[12] = {0, 1, 1, 2, 3, 5, 8, 13, 21, 34, 55, 89};
    u32 want[3 * N];
    for (u32 i = 0; i < N; i++) {
        u32 m = i % 3, n = i % 5;
        want[3 * i] = fibonacci[i % 12];
        want[3 * i + 1] = m == 0 ? n + 1 : m == 1 ? n + 2 : 2 * n + 3;
        want[3 * i + 2] = i % 2 == 0;
    }
    hd_address out = room(t, sizeof want);
    LAUNCH(t, "recursion", D1(1), D1(N), 0, PTR(out));
    SAME(t, "out", (u32 *)take(t, out, sizeof want), want, 3 * N);
}

static int by_i32(const void *a, const void *b)
{
    i32 x = *(const i32 *)a, y = *(const i32 *)b;
    return (x > y) - (x < y);
}

static void sort_private(struct test *t)
{
    enum {
        THREADS = 80
    };
    i32 *data = (i32 *)random_u32(t, THREADS * 16);
    for (int i = 0; i < THREADS * 16; i++)
        data[i] >>= i % 30;
    hd_address d = give(t, data, THREADS * 64);
    LAUNCH(t, "sort_private", D1(2), D1(THREADS / 2), 0, PTR(d));
    for (int i = 0; i < THREADS; i++)
        qsort(data + 16 * i, 16, 4, by_i32);
    SAME(t, "data", (i32 *)take(t, d, THREADS * 64), data, THREADS * 16);
}

static float operate(u32 which, float a, float b)
{
    return which == 0 ? a + b : which == 1 ? a - b : which == 2 ? a * b : a < b ? a : b;
}

static void pointers(struct test *t)
{
    enum {
        N = 100
    };
    float *a = random_f32(t, N, -5, 5), *b = random_f32(t, N, -5, 5), want[N];
    u32 *which = random_u32(t, N);
    for (int i = 0; i < N; i++)
        want[i] = operate(which[i] & 3, a[i], operate(which[i] & 3, b[i], 2.0f));
    hd_address out = room(t, sizeof want);
    LAUNCH(t, "pointers", D1(2), D1(64), 0, PTR(give(t, a, N * 4)), PTR(give(t, b, N * 4)),
           PTR(give(t, which, N * 4)), PTR(out), I32(N));
    SAME(t, "out", (float *)take(t, out, sizeof want), want, N);
}

static void print(struct test *t)
{
    char want[2048];
    size_t at = (size_t)sprintf(want, "start %d of %u, %s %c%%\n", 5, 7u, "text", 'x');
    for (int i = 0; i < 5; i++)
        at += (size_t)sprintf(want + at, "thread %2d: %08x %lld %.3f %g|%-5d|%+d|%5s|\n", i,
                              (unsigned)i * 0x1111, (long long)i << 33, (double)(1.7f * (float)i),
                              (double)1.7f / (i + 1), i, i, "ab");
    LAUNCH(t, "print", D1(1), D1(64), 0, I32(5), F32(1.7f));
    t->output[t->output_length] = 0;
    if (strcmp(t->output, want) != 0)
        fail(t, "printed\n%s\nnot\n%s", t->output, want);
}

static void asserted(struct test *t)
{
    enum {
        N = 100
    };
    i32 *in = (i32 *)random_u32(t, N), want[N];
    for (int i = 0; i < N; i++) {
        in[i] &= 0xffff;
        want[i] = in[i] + 1;
    }
    hd_address out = room(t, sizeof want);
    LAUNCH(t, "asserted", D1(2), D1(64), 0, PTR(give(t, in, N * 4)), PTR(out), I32(N));
    SAME(t, "out", (i32 *)take(t, out, sizeof want), want, N);
}

static void lists(struct test *t)
{
    enum {
        N = 96
    };
    i32 *in = (i32 *)random_u32(t, N), want[N];
    for (int i = 0; i < N; i++) {
        in[i] >>= 12;
        want[i] = 0;
        for (i32 k = 0; k < 1 + (in[i] & 7); k++)
            want[i] += (k + 1) * (in[i] + k);
    }
    hd_address out = room(t, sizeof want), failures = zeros(t, 4);
    LAUNCH(t, "lists", D1(3), D1(N / 3), 0, PTR(give(t, in, N * 4)), PTR(out), PTR(failures));
    equals(t, "failed mallocs", *(u32 *)take(t, failures, 4), 0);
    SAME(t, "out", (i32 *)take(t, out, sizeof want), want, N);
}

const struct kernel_case cuda_flow_cases[] = {
    {"cuda/structs", "by_value", by_value, CASE_LAYOUT},
    {"cuda/structs", "unions", unions, 0},
    {"cuda/structs", "records", records, 0},
    {"cuda/control", "switches", switches, 0},
    {"cuda/control", "loops", loops, 0},
    {"cuda/control", "jumps", jumps, 0},
    {"cuda/assembly", "jump_table", jump_table, 0},
    {"cuda/control", "leavers", leavers, 0},
    {"cuda/calls", "plain_calls", plain_calls, CASE_LAYOUT},
    {"cuda/calls", "recursion", recursion, 0},
    {"cuda/calls", "sort_private", sort_private, 0},
    {"cuda/calls", "pointers", pointers, 0},
    {"cuda/services", "print", print, 0},
    {"cuda/services", "asserted", asserted, 0},
    {"cuda/services", "lists", lists, 0},
    {0},
};
