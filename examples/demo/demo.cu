// flags: -gline-tables-only
// The kernels of `make demo`. scripts/compile-kernels turns this into demo.ptx with clang alone.
#include "cuda.h"

// How many steps each point of the plane takes to leave the circle of radius 2: neighbouring threads
// loop for very different times.
extern "C" __global__ void mandelbrot(int *steps, int width, int height, int limit)
{
    int x = blockIdx.x * blockDim.x + threadIdx.x;
    int y = blockIdx.y * blockDim.y + threadIdx.y;
    float cr = fmaf((float)x, 3.0f / width, -2.25f), ci = fmaf((float)y, 2.4f / height, -1.2f);
    float zr = 0.0f, zi = 0.0f;
    int n = 0;
    while (n < limit && zr * zr + zi * zi <= 4.0f) {
        float next = zr * zr - zi * zi + cr;
        zi = fmaf(2.0f * zr, zi, ci);
        zr = next;
        n++;
    }
    steps[y * width + x] = n;
}

// C = A * B with tiles in shared memory and a barrier on each side of their use.
extern "C" __global__ void matmul(const float *A, const float *B, float *C, int n)
{
    __shared__ float a[16][16], b[16][16];
    int x = blockIdx.x * 16 + threadIdx.x, y = blockIdx.y * 16 + threadIdx.y;
    float sum = 0.0f;
    for (int t = 0; t < n; t += 16) {
        a[threadIdx.y][threadIdx.x] = A[y * n + t + threadIdx.x];
        b[threadIdx.y][threadIdx.x] = B[(t + threadIdx.y) * n + x];
        __syncthreads();
        for (int k = 0; k < 16; k++)
            sum = fmaf(a[threadIdx.y][k], b[k][threadIdx.x], sum);
        __syncthreads();
    }
    C[y * n + x] = sum;
}

// Counts each byte value, in shared memory first.
extern "C" __global__ void histogram(const unsigned char *data, unsigned *bins, int n)
{
    __shared__ unsigned count[256];
    count[threadIdx.x] = 0;
    __syncthreads();
    for (int i = blockIdx.x * blockDim.x + threadIdx.x; i < n; i += gridDim.x * blockDim.x)
        atomicAdd(&count[data[i]], 1u);
    __syncthreads();
    atomicAdd(&bins[threadIdx.x], count[threadIdx.x]);
}
