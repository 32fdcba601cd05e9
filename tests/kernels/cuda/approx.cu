// Single precision: approximate functions (checked within the documented error) and directed
// rounding, conversions (checked exactly).
#include "cuda.h"

extern "C" __global__ void approximate(const float *in, float *out, int n)
{
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i >= n)
        return;
    float x = in[i];
    float *o = out + 7 * i;
    o[0] = __sinf(x);
    o[1] = __cosf(x);
    o[2] = exp2f(x);
    o[3] = __log2f(fabsf(x) + 0.125f);
    o[4] = rsqrtf(fabsf(x) + 0.5f);
    o[5] = __fdividef(x, 3.0f + fabsf(x));
    o[6] = __saturatef(x);
}

extern "C" __global__ void rounded(const float *a, const float *b, float *out, int *ints, int n)
{
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i >= n)
        return;
    float x = a[i], y = b[i];
    float *o = out + 8 * i;
    o[0] = __fadd_rz(x, y);
    o[1] = __fmul_ru(x, y);
    o[2] = __fadd_rd(x, y);
    o[3] = __frcp_rn(y);
    o[4] = x / y;
    o[5] = sqrtf(fabsf(x));
    o[6] = floorf(x) + ceilf(y) * truncf(x);
    o[7] = rintf(x);
    int *p = ints + 4 * i;
    p[0] = __float2int_rn(x);
    p[1] = __float2int_rd(x);
    p[2] = __float2int_ru(x);
    p[3] = __float2int_rz(y);
}
