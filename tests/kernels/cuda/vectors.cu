// Element-wise kernels: one to three dimensions, partial blocks, vector types.
#include "cuda.h"

extern "C" __global__ void vecadd(const float *a, const float *b, float *c, int n)
{
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i < n)
        c[i] = a[i] + b[i];
}

extern "C" __global__ void saxpy(float a, const float *__restrict__ x, float *__restrict__ y, int n)
{
    int stride = gridDim.x * blockDim.x;
    for (int i = blockIdx.x * blockDim.x + threadIdx.x; i < n; i += stride)
        y[i] = fmaf(a, __ldg(x + i), y[i]);
}

extern "C" __global__ void index3d(unsigned *out, unsigned nx, unsigned ny, unsigned nz)
{
    unsigned x = blockIdx.x * blockDim.x + threadIdx.x;
    unsigned y = blockIdx.y * blockDim.y + threadIdx.y;
    unsigned z = blockIdx.z * blockDim.z + threadIdx.z;
    if (x >= nx || y >= ny || z >= nz)
        return;
    out[(z * ny + y) * nx + x] = x | y << 8 | z << 16 | (threadIdx.x + threadIdx.y) << 24;
}

extern "C" __global__ void blend4(const float4 *a, const int4 *b, float4 *c, uchar4 *d, int n)
{
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i >= n)
        return;
    float4 p = __ldg(a + i);
    int4 q = b[i];
    c[i] = make_float4(p.x + q.w, p.y * q.z, p.z - q.y, p.w / q.x);
    d[i] = make_uchar4(q.x, q.y >> 8, q.z >> 16, q.w >> 24);
}
