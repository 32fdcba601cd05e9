// Stencils: 5-point in two dimensions with a halo in shared memory, 7-point in three.
#include "cuda.h"

#define TX 16
#define TY 8

extern "C" __global__ void stencil2d(const float *in, float *out, int w, int h)
{
    __shared__ float tile[TY + 2][TX + 2];
    int x = blockIdx.x * TX + threadIdx.x, y = blockIdx.y * TY + threadIdx.y;
    int lx = threadIdx.x + 1, ly = threadIdx.y + 1;
    int cx = min(x, w - 1), cy = min(y, h - 1);
    tile[ly][lx] = in[cy * w + cx];
    if (threadIdx.x == 0)
        tile[ly][0] = in[cy * w + max(cx - 1, 0)];
    if (threadIdx.x == TX - 1)
        tile[ly][TX + 1] = in[cy * w + min(x + 1, w - 1)];
    if (threadIdx.y == 0)
        tile[0][lx] = in[max(cy - 1, 0) * w + cx];
    if (threadIdx.y == TY - 1)
        tile[TY + 1][lx] = in[min(y + 1, h - 1) * w + cx];
    __syncthreads();
    if (x > 0 && y > 0 && x < w - 1 && y < h - 1) {
        float s = (tile[ly - 1][lx] + tile[ly + 1][lx]) + (tile[ly][lx - 1] + tile[ly][lx + 1]);
        out[y * w + x] = 0.5f * tile[ly][lx] + 0.125f * s;
    } else if (x < w && y < h) {
        out[y * w + x] = tile[ly][lx];
    }
}

extern "C" __global__ void stencil3d(const float *in, float *out, int n, float a, float b)
{
    int x = blockIdx.x * blockDim.x + threadIdx.x;
    int y = blockIdx.y * blockDim.y + threadIdx.y;
    if (x < 1 || y < 1 || x >= n - 1 || y >= n - 1)
        return;
    int plane = n * n, i = y * n + x;
    float below = in[i], here = in[i + plane];
    for (int z = 1; z < n - 1; z++) {
        i += plane;
        float above = in[i + plane];
        float s = below + above;
        s += in[i - 1];
        s += in[i + 1];
        s += in[i - n];
        s += in[i + n];
        out[i] = fmaf(a, here, b * s);
        below = here;
        here = above;
    }
}
