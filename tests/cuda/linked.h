/* What both files of the test of relocatable device code know. */
#ifndef TESTS_CUDA_LINKED_H
#define TESTS_CUDA_LINKED_H

extern __device__ int total; /* linked_other.cu has the definitions */
extern __constant__ int table[4];
__device__ int twice(int value);

/* One function and one variable, whichever file's is taken. */
template <int N> __device__ __noinline__ int count(void)
{
    static __device__ int calls;
    return N + atomicAdd(&calls, 1);
}
inline __device__ __noinline__ int through_shared(int value)
{
    __shared__ int place[32];
    place[threadIdx.x] = value;
    __syncthreads();
    return place[threadIdx.x ^ 1];
}

/* Each file has its own. */
static __device__ int mine;
namespace
{
__device__ int unnamed = FILE_NUMBER;
}
static __global__ void tell(int *to)
{
    extern __shared__ int dynamic[];
    dynamic[threadIdx.x] = FILE_NUMBER;
    to[0] = dynamic[threadIdx.x] * 1000 + mine * 100 + unnamed;
}

void other_tell(int *to, int own);
void other_add(int amount);

#endif
