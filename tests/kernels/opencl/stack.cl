// targets: ptx clang14 clang19 v4 debug
// Calls that stay calls: more arguments than registers pass, big structures in and out, chains,
// calls in divergent loops, arrays of the caller changed by the callee.
#define KEPT __attribute__((noinline))

KEPT long many(int a, int b, long c, int d, int e, long f, int g, int h, long i, int j, int k,
               long l, int m, int n, long o, int p, int q, long r, int s, int t, long u, int v,
               int w, long x, int y, int z, long aa, int bb, int cc, long dd)
{
    return a + 2 * b + 3 * c + 4 * d + 5 * e + 6 * f + 7 * g + 8 * h + 9 * i + 10 * j + 11 * k +
           12 * l + 13 * m + 14 * n + 15 * o + 16 * p + 17 * q + 18 * r + 19 * s + 20 * t + 21 * u +
           22 * v + 23 * w + 24 * x + 25 * y + 26 * z + 27 * aa + 28 * bb + 29 * cc + 30 * dd;
}

kernel void many_arguments(global const int *in, global long *out)
{
    int i = get_global_id(0), v = in[i];
    out[i] = many(v, v + 1, v * 2l, i, 5, v * 3l, 7, v ^ 8, 9, v - 10, 11, v * 12l, 13, i + 14, 15,
                  16, v, 18l << 33, 19, v, 21, v / 22, 23, v * 24l, 25, 26, -v, 28, v & 29, 30l);
}

struct matrix {
    int m[9];
};

KEPT struct matrix multiply(struct matrix a, struct matrix b)
{
    struct matrix r;
    for (int y = 0; y < 3; y++)
        for (int x = 0; x < 3; x++) {
            int sum = 0;
            for (int k = 0; k < 3; k++)
                sum += a.m[3 * y + k] * b.m[3 * k + x];
            r.m[3 * y + x] = sum;
        }
    return r;
}

KEPT struct matrix power(struct matrix base, uint exponent)
{
    struct matrix r = {{1, 0, 0, 0, 1, 0, 0, 0, 1}};
    while (exponent) {
        if (exponent & 1)
            r = multiply(r, base);
        base = multiply(base, base);
        exponent >>= 1;
    }
    return r;
}

kernel void tribonacci(global const uint *at, global int *out)
{
    struct matrix step = {{1, 1, 1, 1, 0, 0, 0, 1, 0}};
    out[get_global_id(0)] = power(step, at[get_global_id(0)]).m[2];
}

KEPT uint level1(uint x)
{
    return x * 2654435761u ^ x >> 15;
}
KEPT uint level2(uint x)
{
    return level1(x + 1) + level1(x + 2);
}
KEPT uint level3(uint x)
{
    uint kept[4];
    for (int k = 0; k < 4; k++)
        kept[k] = level2(x + k);
    return kept[x & 3] ^ level2(kept[x >> 1 & 3]);
}
KEPT uint level4(uint x)
{
    return x & 1 ? level3(x) : level3(x >> 1) + level1(x);
}

// Work-items call a different number of times, and not all of them at all.
kernel void chain(global const uint *in, global uint *out)
{
    int i = get_global_id(0);
    uint v = in[i], sum = 0;
    for (uint k = 0; k < (v & 3); k++)
        sum += level4(v + k);
    if (v & 16)
        sum ^= level2(sum);
    out[i] = sum;
}

KEPT void reverse(uint *array, int from, int to)
{
    for (; from < to; from++, to--) {
        uint swap = array[from];
        array[from] = array[to];
        array[to] = swap;
    }
}
KEPT int insert(uint *array, int n, uint v)
{
    int at = n;
    for (; at > 0 && array[at - 1] > v; at--)
        array[at] = array[at - 1];
    array[at] = v;
    return n + 1;
}

kernel void arranged(global const uint *in, global uint *out)
{
    uint array[16];
    int n = 0, i = get_global_id(0);
    for (int k = 0; k < 16; k++)
        n = insert(array, n, in[16 * i + k]);
    reverse(array, i & 7, 15 - (i & 3));
    for (int k = 0; k < 16; k++)
        out[16 * i + k] = array[k];
}
