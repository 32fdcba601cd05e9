// Escape counts: a trip count that depends on the data.
#include "cuda.h"

extern "C" __global__ void mandel(int *out, int w, float x0, float y0, float d, int maxit)
{
    int px = blockIdx.x * blockDim.x + threadIdx.x;
    int py = blockIdx.y * blockDim.y + threadIdx.y;
    float cr = fmaf((float)px, d, x0), ci = fmaf((float)py, d, y0), zr = 0.0f, zi = 0.0f;
    int it = 0;
#pragma unroll 1
    while (it < maxit) {
        float r2 = zr * zr, i2 = zi * zi;
        if (r2 + i2 > 4.0f)
            break;
        zi = fmaf(2.0f * zr, zi, ci);
        zr = r2 - i2 + cr;
        it++;
    }
    out[py * w + px] = it;
}
