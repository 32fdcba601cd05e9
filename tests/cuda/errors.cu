// Errors: of launches that are refused, of guest faults, which stay until a reset, and questions.
#include "check.h"
#include <cstring>

__global__ void store(int *to, int value)
{
    *to = value;
}
__global__ void never()
{
    __builtin_trap();
}
__global__ __launch_bounds__(64) void small(int *to)
{
    __shared__ int own[256];
    own[threadIdx.x] = threadIdx.x;
    __syncthreads();
    to[threadIdx.x] = own[threadIdx.x ^ 1];
}

static void not_a_kernel()
{
}

static void refused(int *memory)
{
    store<<<1, 5000>>>(memory, 1);
    EXPECT(cudaErrorInvalidConfiguration, cudaGetLastError());
    store<<<0, 1>>>(memory, 1);
    EXPECT(cudaErrorInvalidConfiguration, cudaPeekAtLastError());
    EXPECT(cudaErrorInvalidConfiguration, cudaGetLastError());
    OK(cudaGetLastError());
    small<<<1, 128>>>(memory);
    EXPECT(cudaErrorInvalidConfiguration, cudaGetLastError());
    store<<<1, 1, 1 << 30>>>(memory, 1);
    EXPECT(cudaErrorInvalidConfiguration, cudaGetLastError());
    void *args[] = {&memory};
    EXPECT(cudaErrorInvalidDeviceFunction,
           ::cudaLaunchKernel((const void *)not_a_kernel, dim3(1), dim3(1), args, 0, 0));
    EXPECT(cudaErrorInvalidDeviceFunction, cudaGetLastError());
    OK(cudaDeviceSynchronize());
}

static void faults()
{
    int *memory, value = 0;
    cudaGetLastError();
    store<<<1, 1>>>((int *)0x10, 1);
    OK(cudaPeekAtLastError()); // the launch itself has succeeded
    EXPECT(cudaErrorIllegalAddress, cudaDeviceSynchronize());
    EXPECT(cudaErrorIllegalAddress, cudaMalloc(&memory, 4));
    OK(cudaDeviceReset());
    cudaGetLastError();
    OK(cudaMalloc(&memory, 8));
    store<<<1, 1>>>((int *)((char *)memory + 2), 1);
    EXPECT(cudaErrorMisalignedAddress, cudaDeviceSynchronize());
    OK(cudaDeviceReset());
    never<<<1, 1>>>();
    EXPECT(cudaErrorLaunchFailure, cudaMalloc(&memory, 4));
    OK(cudaDeviceReset());
    OK(cudaMalloc(&memory, 4));
    store<<<1, 1>>>(memory, 5);
    OK(cudaMemcpy(&value, memory, 4, cudaMemcpyDeviceToHost));
    CHECK(value == 5);
    cudaGetLastError();
}

static void questions()
{
    cudaDeviceProp about;
    cudaFuncAttributes of;
    int count, value, blocks, grid, block;
    OK(cudaGetDeviceCount(&count));
    CHECK(count == 1);
    OK(cudaGetDeviceProperties(&about, 0));
    CHECK(!strcmp(about.name, "Heddle gtx1080ti") && about.major == 6 && about.minor == 1 &&
          about.multiProcessorCount == 28 && about.warpSize == 32 &&
          about.maxThreadsPerBlock == 1024 && about.totalGlobalMem == 11ull << 30 &&
          about.clockRate == 1417000 && about.regsPerMultiprocessor == 65536);
    OK(cudaDeviceGetAttribute(&value, cudaDevAttrMultiProcessorCount, 0));
    CHECK(value == about.multiProcessorCount);
    EXPECT(cudaErrorInvalidDevice, cudaGetDeviceProperties(&about, 1));
    EXPECT(cudaErrorInvalidDevice, cudaSetDevice(-1));
    OK(cudaFuncGetAttributes(&of, small));
    CHECK(of.ptxVersion == 70); /* what heddle nvcc compiles for by default */
    CHECK(of.sharedSizeBytes == 1024 && of.maxThreadsPerBlock == 64 && of.numRegs > 0);
    OK(cudaFuncSetAttribute(small, cudaFuncAttributeMaxDynamicSharedMemorySize, 40000));
    EXPECT(cudaErrorInvalidValue,
           cudaFuncSetAttribute(small, cudaFuncAttributeMaxDynamicSharedMemorySize, 1 << 20));
    // 32 blocks of 64 threads fit by threads (2048) and blocks (32), fewer by shared memory
    OK(cudaOccupancyMaxActiveBlocksPerMultiprocessor(&blocks, small, 64, 0));
    CHECK(blocks == 32);
    OK(cudaOccupancyMaxActiveBlocksPerMultiprocessor(&blocks, small, 64, 31 << 10));
    CHECK(blocks == (int)(about.sharedMemPerMultiprocessor / (32 << 10)));
    OK(cudaOccupancyMaxPotentialBlockSize(&grid, &block, store));
    CHECK(block == 1024 && grid == 2 * 28);
    CHECK(!strcmp(cudaGetErrorName(cudaErrorNotReady), "cudaErrorNotReady") &&
          !strcmp(cudaGetErrorString(cudaErrorInvalidValue), "invalid argument"));
    int version;
    OK(cudaRuntimeGetVersion(&version));
    CHECK(version == CUDART_VERSION);
}

int main()
{
    int *memory;
    OK(cudaMalloc(&memory, 1024));
    refused(memory);
    questions();
    faults();
    return done("errors");
}
