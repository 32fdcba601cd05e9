// C = A * B, n x n row-major, tiles in shared memory, block (T, T).
#include "cuda.h"

template <int T> __device__ void multiply(const float *A, const float *B, float *C, int n)
{
    __shared__ float As[T][T];
    __shared__ float Bs[T][T];
    int tx = threadIdx.x, ty = threadIdx.y;
    int row = blockIdx.y * T + ty, col = blockIdx.x * T + tx;
    float acc = 0.0f;
    for (int t = 0; t < n; t += T) {
        As[ty][tx] = A[row * n + t + tx];
        Bs[ty][tx] = B[(t + ty) * n + col];
        __syncthreads();
        for (int k = 0; k < T; k++)
            acc = fmaf(As[ty][k], Bs[k][tx], acc);
        __syncthreads();
    }
    C[row * n + col] = acc;
}

extern "C" __global__ void matmul16(const float *A, const float *B, float *C, int n)
{
    multiply<16>(A, B, C, n);
}

extern "C" __global__ void __launch_bounds__(1024) matmul32(const float *A, const float *B, float *C,
                                                            int n)
{
    multiply<32>(A, B, C, n);
}
