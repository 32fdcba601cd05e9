// Double precision: exact operations, conversions, and an iteration.
#include "cuda.h"

extern "C" __global__ void doubles(const double *a, const double *b, double *out, long long *bits,
                                   int n)
{
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i >= n)
        return;
    double x = a[i], y = b[i];
    double *o = out + 8 * i;
    o[0] = x + y;
    o[1] = x * y;
    o[2] = x / y;
    o[3] = sqrt(fabs(x));
    o[4] = fma(x, y, -x);
    o[5] = fmin(x, y) - fmax(x, y);
    o[6] = (double)(float)x;
    o[7] = (double)(int)(y * 1000.0) + (double)(unsigned)i;
    bits[i] = (long long)(x * 1e6) ^ __double_as_longlong(y);
}

/* Newton's iteration for the cube root. */
extern "C" __global__ void cube_root(const double *a, double *out, int n)
{
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i >= n)
        return;
    double v = a[i], r = v < 1.0 ? 1.0 : v;
    for (int k = 0; k < 60; k++) {
        double next = r - (r * r * r - v) / (3.0 * r * r);
        if (next == r)
            break;
        r = next;
    }
    out[i] = r;
}
