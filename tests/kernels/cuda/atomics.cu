// Atomics of every operation and type, in global and shared memory.
#include "cuda.h"

extern "C" __global__ void atomics_global(const unsigned *in, unsigned *u, int *s,
                                          unsigned long long *w, unsigned *ring, int n)
{
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i >= n)
        return;
    unsigned v = in[i];
    atomicAdd(&u[0], v);
    atomicMin(&u[1], v);
    atomicMax(&u[2], v);
    atomicAnd(&u[3], v | 0xf0f0f0f0u);
    atomicOr(&u[4], v & 0x0000ff00u);
    atomicXor(&u[5], v);
    atomicSub(&u[6], v);
    atomicMin(&s[0], (int)v);
    atomicMax(&s[1], (int)v);
    atomicAdd(&w[0], (unsigned long long)v << 20);
    atomicMin(&w[1], (unsigned long long)v * v);
    atomicMax(&w[2], (unsigned long long)v * v);
    atomicMax((long long *)&w[3], (long long)(int)v * 4000000000ll);
    atomicXor(&w[4], (unsigned long long)v << 17);
    ring[atomicInc(&u[7], 99)] = 1;
    atomicDec(&u[8], 50);
    /* A ticket each, all different. */
    ring[100 + atomicAdd(&u[9], 1u)] = 1;
    /* The slot's old values are a permutation: exchanged sums stay. */
    unsigned old = atomicExch(&u[10], v);
    atomicAdd(&u[11], old);
}

extern "C" __global__ void atomics_shared(const unsigned *in, unsigned *out)
{
    __shared__ unsigned u[6];
    __shared__ unsigned long long w[2];
    int t = threadIdx.x;
    if (t < 6)
        u[t] = t == 1 || t == 3 ? 0xffffffffu : 0;
    if (t < 2)
        w[t] = 0;
    __syncthreads();
    unsigned v = in[blockIdx.x * blockDim.x + t];
    atomicAdd(&u[0], v);
    atomicMin(&u[1], v);
    atomicMax(&u[2], v);
    atomicAnd(&u[3], v);
    atomicOr(&u[4], v);
    atomicXor(&u[5], v);
    atomicAdd(&w[0], (unsigned long long)v * v);
    unsigned long long seen = w[1], old;
    do {
        old = seen;
        seen = atomicCAS(&w[1], old, old + v);
    } while (seen != old);
    __syncthreads();
    if (t < 6)
        out[blockIdx.x * 10 + t] = u[t];
    if (t < 2)
        *(unsigned long long *)&out[blockIdx.x * 10 + 6 + 2 * t] = w[t];
}

/* Multiples of 1/8 below 2^24: sums are exact in any order. */
extern "C" __global__ void atomics_float(const float *in, float *f, double *d, int n)
{
    __shared__ float part;
    if (threadIdx.x == 0)
        part = 0.0f;
    __syncthreads();
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i < n) {
        atomicAdd(&f[0], in[i]);
        atomicAdd(&part, in[i]);
        atomicAdd(d, (double)in[i] * 0.5);
    }
    __syncthreads();
    if (threadIdx.x == 0)
        atomicAdd(&f[1], part);
}
