// Barriers: named ones with counts (producers and consumers), reductions at a barrier, a barrier
// in a divergent loop that all threads reach equally often.
#include "cuda.h"

/* Warps 0 and 1 produce, 2 and 3 consume; barriers 1 (full) and 2 (empty), 128 threads each. */
extern "C" __global__ void producers(const int *in, int *out, int rounds)
{
    __shared__ int slot[64];
    int t = threadIdx.x;
    if (t < 64) {
        for (int r = 0; r < rounds; r++) {
            if (r > 0)
                asm volatile("bar.sync 2, 128;" ::: "memory");
            slot[t] = in[r * 64 + t] * 3;
            asm volatile("bar.arrive 1, 128;" ::: "memory");
        }
    } else {
        int sum = 0;
        for (int r = 0; r < rounds; r++) {
            asm volatile("bar.sync 1, 128;" ::: "memory");
            sum += slot[(t + r) & 63];
            if (r < rounds - 1)
                asm volatile("bar.arrive 2, 128;" ::: "memory");
        }
        out[t - 64] = sum;
    }
}

extern "C" __global__ void barrier_votes(const int *in, int *out)
{
    int v = in[blockIdx.x * blockDim.x + threadIdx.x];
    int count = __syncthreads_count(v > 0);
    int all = __syncthreads_and(v > -100);
    int any = __syncthreads_or(v == 77);
    if (threadIdx.x == 0)
        out[blockIdx.x] = count | all << 16 | any << 17;
}

/* Two halves of the block use different barriers at the same time, at different rates. */
extern "C" __global__ void halves(int *out)
{
    __shared__ int value[2];
    int t = threadIdx.x, half = t >> 6;
    if ((t & 63) == 0)
        value[half] = 1;
    int rounds = half ? 3 : 9;
    for (int r = 0; r < rounds; r++) {
        asm volatile("bar.sync %0, 64;" ::"r"(half + 4) : "memory");
        if ((t & 63) == r)
            value[half] = value[half] * 3 + r;
        asm volatile("barrier.sync %0, 64;" ::"r"(half + 4) : "memory");
    }
    out[t] = value[half];
}
