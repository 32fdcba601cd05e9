/* A HIP program: memory, streams, events, shared memory and both ways to launch. */
#include <hip/hip_runtime.h>

#include <cstdio>
#include <vector>

#define OK(call)                                                                          \
    do {                                                                                  \
        const hipError_t status = call;                                                   \
        if (status != hipSuccess) {                                                       \
            printf("%s:%d: %s\n", __FILE__, __LINE__, hipGetErrorString(status));         \
            return 1;                                                                     \
        }                                                                                 \
    } while (0)

__constant__ float factor;

template <typename T> __global__ void reverse(T *data, const T *from)
{
    HIP_DYNAMIC_SHARED(T, place)
    const int at = hipBlockIdx_x * hipBlockDim_x + hipThreadIdx_x;
    place[threadIdx.x] = from[at];
    __syncthreads();
    data[at] = place[blockDim.x - 1 - threadIdx.x] * factor;
}

int main()
{
    const int n = 512, block = 128;
    std::vector<float> from(n), to(n);
    float *a, *b, two = 2, time;
    hipDeviceProp_t properties;
    hipStream_t stream;
    hipEvent_t begin, end;
    for (int i = 0; i < n; i++)
        from[i] = (float)i;
    OK(hipGetDeviceProperties(&properties, 0));
    OK(hipMalloc(&a, n * sizeof(float)));
    OK(hipMalloc((void **)&b, n * sizeof(float)));
    OK(hipMemcpyToSymbol(HIP_SYMBOL(factor), &two, sizeof two));
    OK(hipStreamCreate(&stream));
    OK(hipEventCreate(&begin));
    OK(hipEventCreate(&end));
    OK(hipMemcpyAsync(a, from.data(), n * sizeof(float), hipMemcpyHostToDevice, stream));
    OK(hipEventRecord(begin, stream));
    hipLaunchKernelGGL(HIP_KERNEL_NAME(reverse<float>), dim3(n / block), dim3(block), block * sizeof(float), stream, b, a);
    reverse<<<n / block, block, block * sizeof(float), stream>>>(a, b);
    OK(hipEventRecord(end, stream));
    OK(hipMemcpyAsync(to.data(), a, n * sizeof(float), hipMemcpyDeviceToHost, stream));
    OK(hipStreamSynchronize(stream));
    OK(hipEventElapsedTime(&time, begin, end));
    for (int i = 0; i < n; i++)
        if (to[i] != 4 * from[i]) {
            printf("%d: %g\n", i, to[i]);
            return 1;
        }
    if (hipFree((void *)8) != hipErrorInvalidValue || hipGetLastError() != hipErrorInvalidValue)
        return 1;
    OK(hipFree(a));
    OK(hipFree(b));
    printf("hip: right\n");
    return 0;
}
