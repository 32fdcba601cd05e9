// flags: -gline-tables-only
// Kernels that go wrong, each at a line the test names.
#include "cuda.h"

extern "C" __global__ void past_end(int *out, int n)
{
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i <= n)
        out[i] = i; // line: past_end
}

extern "C" __global__ void before_start(const int *in, int *out)
{
    int i = threadIdx.x;
    out[i] = in[i - (i == 5)] + in[-(i == 5)]; // line: before_start
}

extern "C" __global__ void misaligned(const char *in, int *out)
{
    int i = threadIdx.x;
    out[i] = *(const int *)(in + 4 * i + (i == 9 ? 2 : 0)); // line: misaligned
}

__constant__ int table[4] = {1, 2, 3, 4};
extern "C" __global__ void store_constant(int *out)
{
    int *p = (int *)table;
    if (out[0])
        p = out;
    p[threadIdx.x & 3] = 7; // line: store_constant
}

/* Half of the block waits at a barrier the other half never reaches, since it waits at another. */
extern "C" __global__ void barrier_deadlock(int *out)
{
    if (threadIdx.x < 32)
        asm volatile("bar.sync 1, 64;" ::: "memory"); // line: barrier_deadlock
    else
        asm volatile("bar.sync 2, 64;" ::: "memory");
    out[threadIdx.x] = 1;
}

extern "C" __global__ void endless(volatile int *flag)
{
    while (flag[0] == 0)
        flag[1] = threadIdx.x;
}

__device__ __noinline__ int deeper(int *p, int n)
{
    int here[64];
    for (int k = 0; k < 64; k++)
        here[k] = p[k & 1] + n;
    int r = deeper(here + (n & 31), n + 1); // line: deeper
    return r + here[n & 63];
}
extern "C" __global__ void overflow(int *out)
{
    out[threadIdx.x] = deeper(out, threadIdx.x);
}

extern "C" __global__ void failing_assert(const int *in, int *out)
{
    int i = threadIdx.x;
    assert(in[i] != 13); // line: failing_assert
    out[i] = in[i];
}

extern "C" __global__ void trapped(const int *in, int *out)
{
    int i = threadIdx.x;
    if (in[i] == 13)
        __trap();
    out[i] = in[i];
}

extern "C" __global__ void bad_free(int *out)
{
    free(out + threadIdx.x); // line: bad_free
}

extern "C" __global__ void shared_past_end(int *out, int n)
{
    __shared__ int buffer[32];
    int t = threadIdx.x;
    buffer[t] = t;
    __syncthreads();
    out[t] = buffer[t + n]; // line: shared_past_end
}

extern "C" __global__ void null_pointer(int *out)
{
    if (threadIdx.x == 3)
        *out = 1; // line: null_pointer
}
