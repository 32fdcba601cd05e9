// Prefix sums: Hillis-Steele with two buffers, and the work-efficient form in dynamic shared memory.
#include "cuda.h"

extern "C" __global__ void scan_inclusive(const int *in, int *out)
{
    __shared__ int buffer[2][256];
    int t = threadIdx.x, base = blockIdx.x * 256, which = 0;
    buffer[0][t] = in[base + t];
    __syncthreads();
    for (int d = 1; d < 256; d <<= 1) {
        int v = buffer[which][t];
        if (t >= d)
            v += buffer[which][t - d];
        which ^= 1;
        buffer[which][t] = v;
        __syncthreads();
    }
    out[base + t] = buffer[which][t];
}

extern __shared__ int work[];

extern "C" __global__ void scan_exclusive(const int *in, int *out, int *sums, int n)
{
    int t = threadIdx.x, base = blockIdx.x * n;
    work[2 * t] = in[base + 2 * t];
    work[2 * t + 1] = in[base + 2 * t + 1];
    int offset = 1;
    for (int d = n >> 1; d > 0; d >>= 1) {
        __syncthreads();
        if (t < d)
            work[offset * (2 * t + 2) - 1] += work[offset * (2 * t + 1) - 1];
        offset <<= 1;
    }
    if (t == 0) {
        sums[blockIdx.x] = work[n - 1];
        work[n - 1] = 0;
    }
    for (int d = 1; d < n; d <<= 1) {
        offset >>= 1;
        __syncthreads();
        if (t < d) {
            int a = offset * (2 * t + 1) - 1, b = offset * (2 * t + 2) - 1;
            int v = work[a];
            work[a] = work[b];
            work[b] += v;
        }
    }
    __syncthreads();
    out[base + 2 * t] = work[2 * t];
    out[base + 2 * t + 1] = work[2 * t + 1];
}
