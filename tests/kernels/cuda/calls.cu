// flags: -Wno-unused-value
// Functions: not inlined, recursive (single, double, mutual), through pointers in tables.
#include "cuda.h"

struct pair {
    long long first;
    float second;
};

__device__ __noinline__ pair combine(pair a, int b, char c)
{
    pair r = {a.first * b + c, a.second + (float)b};
    return r;
}

extern "C" __global__ void plain_calls(const int *in, long long *first, float *second, int n)
{
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i >= n)
        return;
    pair p = {in[i], 0.5f};
    for (int k = 0; k < (in[i] & 7); k++)
        p = combine(p, in[i] + k, (char)i);
    first[i] = p.first;
    second[i] = p.second;
}

__device__ __noinline__ unsigned fibonacci(unsigned n)
{
    if (n < 2)
        return n;
    unsigned a = fibonacci(n - 1);
    return a + fibonacci(n - 2);
}

__device__ __noinline__ unsigned ackermann(unsigned m, unsigned n)
{
    if (m == 0)
        return n + 1;
    if (n == 0)
        return ackermann(m - 1, 1);
    return ackermann(m - 1, ackermann(m, n - 1));
}

__device__ bool is_odd(unsigned n);
__device__ __noinline__ bool is_even(unsigned n)
{
    return n == 0 ? true : is_odd(n - 1);
}
__device__ __noinline__ bool is_odd(unsigned n)
{
    return n == 0 ? false : is_even(n - 1);
}

extern "C" __global__ void recursion(unsigned *out)
{
    unsigned i = threadIdx.x;
    out[3 * i] = fibonacci(i % 12);
    out[3 * i + 1] = ackermann(i % 3, i % 5);
    out[3 * i + 2] = is_even(i);
}

__device__ __noinline__ void quicksort(int *v, int lo, int hi)
{
    while (lo < hi) {
        int pivot = v[(lo + hi) / 2], i = lo, j = hi;
        while (i <= j) {
            while (v[i] < pivot)
                i++;
            while (v[j] > pivot)
                j--;
            if (i <= j) {
                int t = v[i];
                v[i++] = v[j];
                v[j--] = t;
            }
        }
        if (j - lo < hi - i) {
            quicksort(v, lo, j);
            lo = i;
        } else {
            quicksort(v, i, hi);
            hi = j;
        }
    }
}

/* Each thread sorts 16 of its own numbers in local memory. */
extern "C" __global__ void sort_private(int *data)
{
    int mine[16], base = (blockIdx.x * blockDim.x + threadIdx.x) * 16;
    for (int k = 0; k < 16; k++)
        mine[k] = data[base + k];
    quicksort(mine, 0, 15);
    for (int k = 0; k < 16; k++)
        data[base + k] = mine[k];
}

typedef float binary(float, float);
__device__ __noinline__ float op_add(float a, float b)
{
    return a + b;
}
__device__ __noinline__ float op_sub(float a, float b)
{
    return a - b;
}
__device__ __noinline__ float op_mul(float a, float b)
{
    return a * b;
}
__device__ __noinline__ float op_min(float a, float b)
{
    return a < b ? a : b;
}
__device__ binary *const operations[4] = {op_add, op_sub, op_mul, op_min};

extern "C" __global__ void pointers(const float *a, const float *b, const int *which, float *out,
                                    int n)
{
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i >= n)
        return;
    binary *f = operations[which[i] & 3];
    out[i] = f(a[i], f(b[i], 2.0f));
}
