/* Kernels that tests/cuda/driver.cpp loads as PTX. */
extern "C" {
__device__ int counter = 5;
__constant__ int factor = 3;

__global__ void scale(int *to, short offset, const int *from, char last)
{
    const int at = blockIdx.x * blockDim.x + threadIdx.x;
    to[at] = from[at] * factor + offset + last;
    atomicAdd(&counter, 1);
}

__global__ void wild(int *to)
{
    to[0] = 1;
}

__global__ void __launch_bounds__(128) shared(int *to)
{
    extern __shared__ int dynamic[];
    __shared__ int place[100];
    dynamic[threadIdx.x] = threadIdx.x;
    place[threadIdx.x % 100] = 1;
    __syncthreads();
    to[threadIdx.x] = dynamic[threadIdx.x ^ 1] + place[0];
}
}
