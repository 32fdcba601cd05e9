// Across the lanes of a warp of 32: vote, match, shuffle in all forms, lane masks.
#include "cuda.h"

extern "C" __global__ void votes(const int *in, unsigned *out)
{
    int i = blockIdx.x * blockDim.x + threadIdx.x, v = in[i];
    unsigned *o = out + 8 * i;
    o[0] = __ballot_sync(0xffffffffu, v & 1);
    o[1] = __any_sync(0xffffffffu, v == 3) | __all_sync(0xffffffffu, v >= 0) << 1;
    o[2] = __match_any_sync(0xffffffffu, (unsigned)(v & 7));
    o[3] = __match_any_sync(0xffffffffu, (unsigned long long)(v & 3) << 40);
    int same;
    o[4] = __match_all_sync(0xffffffffu, (unsigned)(v >> 16), &same);
    o[4] += same << 31;
    o[5] = __activemask();
    if (v & 1) {
        unsigned odd = __activemask();
        o[6] = __ballot_sync(odd, v & 2);
        o[7] = odd;
    } else {
        o[6] = 77;
        o[7] = 0;
    }
}

extern "C" __global__ void shuffles(const int *in, int *out, double *wide)
{
    int i = blockIdx.x * blockDim.x + threadIdx.x, lane = threadIdx.x & 31, v = in[i];
    int *o = out + 8 * i;
    o[0] = __shfl_sync(0xffffffffu, v, (lane * 7 + 3) & 31);
    o[1] = __shfl_sync(0xffffffffu, v, 5, 8);
    o[2] = __shfl_up_sync(0xffffffffu, v, 3);
    o[3] = __shfl_up_sync(0xffffffffu, v, 2, 16);
    o[4] = __shfl_down_sync(0xffffffffu, v, 9);
    o[5] = __shfl_down_sync(0xffffffffu, v, 1, 4);
    o[6] = __shfl_xor_sync(0xffffffffu, v, 21);
    o[7] = __float_as_int(__shfl_xor_sync(0xffffffffu, (float)v, 3, 8));
    wide[i] = __shfl_sync(0xffffffffu, v * 0.5, 31 - lane);
}

/* Counts equal keys with one atomic a group of lanes. */
extern "C" __global__ void aggregate(const unsigned *keys, unsigned *counts, int n)
{
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    bool valid = i < n;
    unsigned members = __ballot_sync(0xffffffffu, valid);
    if (!valid)
        return;
    unsigned key = keys[i];
    unsigned peers = __match_any_sync(members, key);
    unsigned lane = threadIdx.x & 31;
    if ((unsigned)__ffs(peers) == lane + 1)
        atomicAdd(&counts[key], (unsigned)__popc(peers));
}

/* Lanes that take different ways meet again by naming each other. */
extern "C" __global__ void exchange(int *out)
{
    int lane = threadIdx.x & 31, v = lane * lane;
    if (lane < 16) {
        v += __shfl_xor_sync(0x0000ffffu, v, 1);
        __syncwarp(0x0000ffffu);
    } else {
        v -= __shfl_xor_sync(0xffff0000u, v, 2);
        __syncwarp(0xffff0000u);
    }
    __syncwarp();
    out[blockIdx.x * blockDim.x + threadIdx.x] = v + __shfl_sync(0xffffffffu, v, lane ^ 16);
}
