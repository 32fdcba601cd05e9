// What a kernel asks the system for: printf, assert that holds, malloc and free.
#include "cuda.h"

extern "C" __global__ void print(int n, float f)
{
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i == 0)
        printf("start %d of %u, %s %c%%\n", n, 7u, "text", 'x');
    __syncthreads();
    if (i < n)
        printf("thread %2d: %08x %lld %.3f %g|%-5d|%+d|%5s|\n", i, i * 0x1111, (long long)i << 33,
               f * i, (double)f / (i + 1), i, i, "ab");
}

extern "C" __global__ void asserted(const int *in, int *out, int n)
{
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    assert(blockDim.x == 64);
    if (i < n) {
        assert(in[i] >= 0);
        out[i] = in[i] + 1;
    }
}

struct node {
    int value;
    node *next;
};

/* Builds, reverses, sums and frees a list per thread. */
extern "C" __global__ void lists(const int *in, int *out, int *failures)
{
    int i = blockIdx.x * blockDim.x + threadIdx.x, length = 1 + (in[i] & 7);
    node *head = 0;
    for (int k = 0; k < length; k++) {
        node *fresh = (node *)malloc(sizeof(node));
        if (!fresh) {
            atomicAdd(failures, 1);
            break;
        }
        fresh->value = in[i] + k;
        fresh->next = head;
        head = fresh;
    }
    node *reversed = 0;
    while (head) {
        node *next = head->next;
        head->next = reversed;
        reversed = head;
        head = next;
    }
    int sum = 0, place = 1;
    while (reversed) {
        node *next = reversed->next;
        sum += place++ * reversed->value;
        free(reversed);
        reversed = next;
    }
    free(0);
    out[i] = sum;
}
