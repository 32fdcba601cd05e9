// Sums of unsigned integers, three ways; and a maximum of floats by compare-and-swap.
#include "cuda.h"

extern "C" __global__ void reduce_tree(const unsigned *in, unsigned *out, int n)
{
    __shared__ unsigned part[256];
    int t = threadIdx.x, i = blockIdx.x * 512 + t;
    unsigned sum = i < n ? in[i] : 0;
    if (i + 256 < n)
        sum += in[i + 256];
    part[t] = sum;
    __syncthreads();
    for (int s = 128; s > 0; s >>= 1) {
        if (t < s)
            part[t] += part[t + s];
        __syncthreads();
    }
    if (t == 0)
        out[blockIdx.x] = part[0];
}

extern "C" __global__ void reduce_shuffle(const unsigned *in, unsigned long long *out, int n)
{
    __shared__ unsigned long long part[32];
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    unsigned long long sum = i < n ? in[i] : 0;
    for (int s = 16; s > 0; s >>= 1)
        sum += __shfl_down_sync(0xffffffffu, sum, s);
    if ((threadIdx.x & 31) == 0)
        part[threadIdx.x >> 5] = sum;
    __syncthreads();
    if (threadIdx.x < 32) {
        sum = threadIdx.x < blockDim.x / 32 ? part[threadIdx.x] : 0;
        for (int s = 16; s > 0; s >>= 1)
            sum += __shfl_xor_sync(0xffffffffu, sum, s);
        if (threadIdx.x == 0)
            atomicAdd(out, sum);
    }
}

extern "C" __global__ void reduce_atomic(const unsigned *in, unsigned *out, int n)
{
    __shared__ unsigned total;
    if (threadIdx.x == 0)
        total = 0;
    __syncthreads();
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i < n)
        atomicAdd(&total, in[i]);
    __syncthreads();
    if (threadIdx.x == 0)
        atomicAdd(out, total);
}

extern "C" __global__ void max_float(const float *in, unsigned *out, int n)
{
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i >= n)
        return;
    float v = in[i];
    unsigned seen = *(volatile unsigned *)out;
    while (__uint_as_float(seen) < v) {
        unsigned old = atomicCAS(out, seen, __float_as_uint(v));
        if (old == seen)
            break;
        seen = old;
    }
}
