// Two-dimensional convolution, filter in constant memory (set by the host), clamped borders.
#include "cuda.h"

#define R 2
__constant__ float filter_weights[(2 * R + 1) * (2 * R + 1)];
__constant__ float filter_scale = 0.0625f;

extern "C" __global__ void convolve(const float *in, float *out, int w, int h)
{
    int x = blockIdx.x * blockDim.x + threadIdx.x, y = blockIdx.y * blockDim.y + threadIdx.y;
    if (x >= w || y >= h)
        return;
    float sum = 0.0f;
    for (int dy = -R; dy <= R; dy++)
        for (int dx = -R; dx <= R; dx++) {
            int sx = min(max(x + dx, 0), w - 1), sy = min(max(y + dy, 0), h - 1);
            sum = fmaf(filter_weights[(dy + R) * (2 * R + 1) + dx + R], in[sy * w + sx], sum);
        }
    out[y * w + x] = sum * filter_scale;
}
