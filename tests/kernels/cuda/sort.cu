// Bitonic sort of a block's keys, and one stable one-bit radix split.
#include "cuda.h"

extern "C" __global__ void bitonic(unsigned *keys)
{
    __shared__ unsigned s[512];
    int t = threadIdx.x, base = blockIdx.x * 512;
    s[t] = keys[base + t];
    s[t + 256] = keys[base + t + 256];
    for (int k = 2; k <= 512; k <<= 1) {
        for (int j = k >> 1; j > 0; j >>= 1) {
            __syncthreads();
            int lo = 2 * j * (t / j) + t % j, hi = lo + j;
            bool up = (lo & k) == 0;
            unsigned a = s[lo], b = s[hi];
            if ((a > b) == up) {
                s[lo] = b;
                s[hi] = a;
            }
        }
    }
    __syncthreads();
    keys[base + t] = s[t];
    keys[base + t + 256] = s[t + 256];
}

/* One block of 256; zeros first, order kept. */
extern "C" __global__ void radix_split(const unsigned *in, unsigned *out, int bit)
{
    __shared__ unsigned zeros[8], ones[8];
    unsigned t = threadIdx.x, key = in[t], is_one = key >> bit & 1;
    unsigned votes = __ballot_sync(0xffffffffu, is_one);
    unsigned below = (1u << (t & 31)) - 1, warp = t >> 5;
    if ((t & 31) == 0) {
        ones[warp] = __popc(votes);
        zeros[warp] = 32 - __popc(votes);
    }
    __syncthreads();
    unsigned total_zeros = 0, zeros_before = 0, ones_before = 0;
    for (unsigned w = 0; w < 8; w++) {
        total_zeros += zeros[w];
        if (w < warp) {
            zeros_before += zeros[w];
            ones_before += ones[w];
        }
    }
    unsigned place = is_one ? total_zeros + ones_before + __popc(votes & below)
                            : zeros_before + __popc(~votes & below);
    out[place] = key;
}
