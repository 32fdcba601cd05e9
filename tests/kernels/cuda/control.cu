// Control flow: dense switch, loops with break and continue, jumps into shared tails, early exit.
#include "cuda.h"

extern "C" __global__ void switches(const unsigned *in, unsigned *out, int n)
{
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i >= n)
        return;
    unsigned v = in[i], r = 1;
    for (int k = 0; k < 6; k++) {
        switch (v & 15) {
        case 0:
            r += v;
            break;
        case 1:
            r ^= v * 3;
            break;
        case 2:
            r *= 5;
            /* fall through */
        case 3:
            r -= 7;
            break;
        case 4:
            r = r << 3 | r >> 29;
            break;
        case 5:
            r |= v >> 8;
            break;
        case 6:
            r = ~r;
            break;
        case 7:
            r += k;
            break;
        case 8:
            if (r & 1)
                r += 100;
            /* fall through */
        case 9:
            r ^= 0x1234;
            break;
        case 11:
            r = r / 3;
            break;
        case 14:
            k++;
            break;
        default:
            r++;
        }
        v = v >> 4 | r << 28;
    }
    out[i] = r;
}

extern "C" __global__ void loops(const int *in, int *out, int n)
{
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i >= n)
        return;
    int limit = in[i] & 31, sum = 0;
    for (int a = 0; a < limit; a++) {
        if (a % 3 == 1)
            continue;
        for (int b = a;; b += 2) {
            if (b > limit + 3)
                break;
            if ((b ^ in[i]) & 4) {
                sum += b;
                continue;
            }
            sum ^= a << 2;
            if (sum > 5000)
                goto out;
        }
        do {
            sum += 3;
        } while (sum & 3);
    }
    sum = -sum;
out:
    out[i] = sum;
}

/* An irreducible shape: two loops that jump into each other's middle. */
extern "C" __global__ void jumps(const unsigned *in, unsigned *out, int n)
{
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i >= n)
        return;
    unsigned v = in[i], steps = 0;
    if (v & 1)
        goto odd;
even:
    v = v / 2 + 1;
    steps++;
    if (steps > 40)
        goto done;
    if (v & 2)
        goto even;
odd:
    v = v * 3 + steps;
    steps += 2;
    if (steps > 40)
        goto done;
    if (v & 4)
        goto odd;
    goto even;
done:
    out[i] = v ^ steps;
}

/* Threads leave at different points; those that stay still meet at barriers. */
extern "C" __global__ void leavers(int *out, int n)
{
    __shared__ int count;
    int t = threadIdx.x, i = blockIdx.x * blockDim.x + t;
    if (t == 0)
        count = 0;
    __syncthreads();
    if (i < n)
        out[i] = -1;
    if (t >= 96)
        return;
    if (t % 5 == 3) {
        atomicAdd(&count, 1);
        return;
    }
    __syncwarp(__activemask());
    atomicAdd(&count, 100);
    __syncthreads();
    if (i < n)
        out[i] = t * t + count;
}
