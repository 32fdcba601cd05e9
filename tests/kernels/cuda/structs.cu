// Structures by value as parameters (with padding, arrays and pointers inside), unions, and
// structures in memory.
#include "cuda.h"

struct settings {
    char tag;
    short bias[3];
    double scale;
    const int *table;
    struct {
        unsigned char mode;
        int limit;
    } inner;
};

union word {
    float f;
    unsigned u;
    unsigned short h[2];
    unsigned char b[4];
};

struct record {
    unsigned char kind;
    int key;
    long long weight;
};

extern "C" __global__ void by_value(settings s, char flag, double *out, int n, float4 v)
{
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i >= n)
        return;
    int limited = min(s.table[i & 7], s.inner.limit);
    double r = s.scale * limited + s.bias[i % 3];
    if (s.inner.mode == flag)
        r += s.tag;
    out[i] = r + (i & 1 ? v.x : v.w);
}

extern "C" __global__ void unions(const float *in, unsigned *out, int n)
{
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i >= n)
        return;
    union word w;
    w.f = in[i];
    w.b[i & 3] ^= 0x5a;
    w.h[i >> 2 & 1] += 3;
    out[i] = w.u;
}

extern "C" __global__ void records(const record *in, record *out, int n)
{
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i >= n)
        return;
    record r = in[i], s = in[(i + 1) % n];
    r.weight += (long long)s.key * r.kind;
    r.kind ^= s.kind;
    r.key = -r.key;
    out[i] = r;
}
