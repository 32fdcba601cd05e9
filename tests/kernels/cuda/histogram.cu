// Byte histogram: private counts in shared memory, then merged.
#include "cuda.h"

extern "C" __global__ void histogram(const unsigned char *data, unsigned *bins, int n)
{
    __shared__ unsigned count[256];
    for (int i = threadIdx.x; i < 256; i += blockDim.x)
        count[i] = 0;
    __syncthreads();
    for (int i = blockIdx.x * blockDim.x + threadIdx.x; i < n; i += gridDim.x * blockDim.x)
        atomicAdd(&count[data[i]], 1u);
    __syncthreads();
    for (int i = threadIdx.x; i < 256; i += blockDim.x)
        if (count[i])
            atomicAdd(&bins[i], count[i]);
}
