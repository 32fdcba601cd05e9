// Memory spaces: dynamic and several static shared arrays, local arrays indexed at run time, a big
// frame, generic pointers to every space, volatile, constant tables, initialised pointers.
#include "cuda.h"

extern __shared__ double dynamic[];

extern "C" __global__ void shared_mix(const int *in, double *out)
{
    __shared__ char bytes[100];
    __shared__ long long longs[64];
    __shared__ float floats[64][3];
    int t = threadIdx.x, v = in[blockIdx.x * 64 + t];
    bytes[t] = (char)v;
    longs[t] = (long long)v * v;
    for (int k = 0; k < 3; k++)
        floats[t][k] = (float)(v + k);
    dynamic[t] = v * 0.5;
    ((float *)(dynamic + 64))[t] = (float)v;
    __syncthreads();
    int o = 63 - t;
    out[blockIdx.x * 64 + t] = bytes[o] + (double)longs[o] + floats[o][t % 3] + dynamic[o] +
                               ((float *)(dynamic + 64))[(t + 1) & 63];
}

extern "C" __global__ void local_index(const int *in, int *out, int n)
{
    int table[20], i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i >= n)
        return;
    for (int k = 0; k < 20; k++)
        table[k] = k * k - in[i];
    int at = in[i] & 15;
    for (int k = 0; k < 10; k++) {
        table[at] += k;
        at = (at + (table[at] & 7) + 1) % 20;
    }
    out[i] = table[at] + table[in[i] & 15];
}

/* Fills 6 KB a thread through a pointer the compiler cannot see through. */
__device__ __noinline__ void fill(unsigned char *p, int bytes, unsigned seed)
{
    for (int k = 0; k < bytes; k++) {
        seed = seed * 1664525u + 1013904223u;
        p[k] = (unsigned char)(seed >> 24);
    }
}
extern "C" __global__ void big_frame(unsigned *out)
{
    unsigned char frame[6000];
    unsigned i = blockIdx.x * blockDim.x + threadIdx.x, sum = 0;
    fill(frame, 6000, i);
    for (int k = 0; k < 6000; k += 7)
        sum = sum * 31 + frame[k];
    out[i] = sum;
}

/* One load through a pointer that is global, shared, local or constant, by lane. */
__constant__ int constant_words[4] = {1000, 2000, 3000, 4000};
extern "C" __global__ void generic(const int *in, int *out)
{
    __shared__ int shared_words[64];
    int local_words[4];
    int t = threadIdx.x;
    shared_words[t] = 5 * t;
    for (int k = 0; k < 4; k++)
        local_words[(k + t) & 3] = 7 * t + k;
    __syncthreads();
    const int *p;
    switch (in[t] & 3) {
    case 0:
        p = in + t;
        break;
    case 1:
        p = shared_words + (63 - t);
        break;
    case 2:
        p = local_words + (in[t] >> 2 & 3);
        break;
    default:
        p = constant_words + (in[t] >> 2 & 3);
    }
    out[t] = *(volatile const int *)p;
}

__device__ int module_counter = 41;
__device__ int module_array[5] = {3, 1, 4, 1, 5};
__device__ int *module_pointer = module_array;
__device__ const char *module_names[3] = {"warp", "weft", "heddle"};
__constant__ short squares[16] = {0,  1,  4,   9,   16,  25,  36,  49,
                                  64, 81, 100, 121, 144, 169, 196, 225};
extern "C" __global__ void module_data(int *out, char *text)
{
    int t = threadIdx.x;
    out[t] = squares[t & 15] + module_pointer[t % 3] + (t == 0 ? atomicAdd(&module_counter, 1) : 0);
    if (t < 3) {
        const char *s = module_names[t];
        int k = 0;
        for (; s[k]; k++)
            text[8 * t + k] = s[k];
        text[8 * t + k] = 0;
    }
}

/* Volatile and plain accesses to the same word, pointers that do not alias said so. */
extern "C" __global__ void volatiles(volatile int *v, const int *__restrict__ in,
                                     int *__restrict__ out)
{
    int t = threadIdx.x;
    v[t] = in[t];
    v[t] += 2;
    int a = v[t];
    v[t] = a * 2;
    out[t] = v[t] + v[t];
}
