// Integer arithmetic: division and remainder of every width and sign, 64 bits, high products.
#include "cuda.h"

extern "C" __global__ void collatz(const unsigned *in, unsigned *steps, int n)
{
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i >= n)
        return;
    unsigned long long v = in[i];
    unsigned count = 0;
    while (v > 1) {
        v = v & 1 ? 3 * v + 1 : v >> 1;
        count++;
    }
    steps[i] = count;
}

extern "C" __global__ void divide(const int *a, const int *b, int *out, int n)
{
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i >= n)
        return;
    int x = a[i], y = b[i];
    unsigned ux = x, uy = y;
    int *o = out + 10 * i;
    o[0] = x / y;
    o[1] = x % y;
    o[2] = ux / uy;
    o[3] = ux % uy;
    o[4] = x / 7;
    o[5] = ux % 10;
    o[6] = (short)x / (short)((short)y | 1);
    o[7] = (unsigned char)x % (unsigned char)((unsigned char)y | 1);
    o[8] = x / -16;
    o[9] = ux / 641u;
}

extern "C" __global__ void wide(const long long *a, const long long *b, long long *out, int n)
{
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i >= n)
        return;
    long long x = a[i], y = b[i];
    unsigned long long ux = x, uy = y;
    long long *o = out + 14 * i;
    o[0] = x + y;
    o[1] = x * y;
    o[2] = x / y;
    o[3] = x % y;
    o[4] = ux / uy;
    o[5] = ux % uy;
    o[6] = x << (y & 63);
    o[7] = x >> (y & 63);
    o[8] = ux >> (y & 63);
    o[9] = __mul64hi(x, y);
    o[10] = __umul64hi(ux, uy);
    o[11] = __popcll(ux) | (long long)__clzll(x) << 8 | (long long)(x < y) << 16 |
            (long long)(ux < uy) << 17;
    o[12] = __brevll(ux);
    o[13] = (long long)__umulhi((unsigned)ux, (unsigned)uy) << 32 | (unsigned)__mulhi((int)x, (int)y);
}

/* Data of 8 and 16 bits, signed and unsigned, wrapping. */
extern "C" __global__ void narrow(const signed char *a, const unsigned short *b, short *c,
                                  unsigned char *d, int n)
{
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i >= n)
        return;
    signed char x = a[i];
    unsigned short y = b[i];
    short s = (short)(x * y);
    signed char t = (signed char)(x + y);
    c[i] = (short)(s + t);
    d[i] = (unsigned char)((y >> 3) ^ (x << 1) ^ (s < t));
}
