// What device code has besides C: warps, atomics, shared memory, printf, the heap, and launches.
#include "check.h"
#include <cassert>
#include <cuda_runtime.h>

__global__ void warps(int *out)
{
    const unsigned all = 0xffffffff;
    const int lane = threadIdx.x;
    int sum = lane;
    for (int step = 16; step; step /= 2)
        sum += __shfl_down_sync(all, sum, step);
    int *row = out + lane * 8;
    row[0] = __shfl_sync(all, sum, 0);            // 496
    row[1] = __shfl_up_sync(all, lane, 1);        // lane - 1, or 0
    row[2] = __shfl_xor_sync(all, lane, 5);       // lane ^ 5
    row[3] = __popc(__ballot_sync(all, lane % 3 == 0)); // 11
    row[4] = __any_sync(all, lane == 31) + 2 * __all_sync(all, lane < 31);
    row[5] = __ffs(__match_any_sync(all, lane / 4)) - 1; // the first of four
    row[6] = __brev(1u << lane) == 1u << (31 - lane);
    row[7] = __clz(1 << lane) + __byte_perm(0x03020100, 0, 0x4441);
}

__global__ void atomics(int *cells, float *sum, unsigned long long *wide)
{
    const int i = blockIdx.x * blockDim.x + threadIdx.x;
    atomicAdd(&cells[0], i);
    atomicSub(&cells[1], 1);
    atomicMax(&cells[2], i * 7 % 101);
    atomicMin(&cells[3], i * 7 % 101 - 5);
    atomicOr(&cells[4], 1 << i % 31);
    atomicXor(&cells[5], i);
    atomicInc((unsigned *)&cells[6], 9);
    for (int old = cells[7], seen; (seen = atomicCAS(&cells[7], old, old + 2)) != old; old = seen)
        ;
    atomicAdd(sum, 0.5f);
    atomicAdd(wide, 1ull << 33);
    if (i == 3)
        atomicExch(&cells[8], 77);
}

template <typename T, int N> struct point {
    T x[N];
    __host__ __device__ T norm() const
    {
        T sum = 0;
        for (int i = 0; i < N; i++)
            sum += x[i] * x[i];
        return sum;
    }
};

template <typename T> __global__ void reverse(T *data, point<T, 3> add)
{
    extern __shared__ unsigned char bytes[];
    T *tile = (T *)bytes;
    tile[threadIdx.x] = data[threadIdx.x];
    __syncthreads();
    data[threadIdx.x] = tile[blockDim.x - 1 - threadIdx.x] + add.norm();
}

__global__ void services(int *out)
{
    int *list = (int *)malloc((threadIdx.x + 1) * sizeof(int));
    assert(list);
    for (int i = 0; i <= threadIdx.x; i++)
        list[i] = i;
    int sum = 0;
    for (int i = 0; i <= threadIdx.x; i++)
        sum += list[i];
    free(list);
    out[threadIdx.x] = sum;
    if (threadIdx.x == 2)
        printf("thread %d of %d: %s %5.2f %c\n", threadIdx.x, blockDim.x, "text", 1.5, 'x');
}

int main()
{
    int *out, rows[32][8], cells[9] = {0, 0, 0, 1000, 0, 0, 0, 0, 0};
    OK(cudaMalloc(&out, sizeof rows));
    warps<<<1, 32>>>(out);
    OK(cudaMemcpy(rows, out, sizeof rows, cudaMemcpyDeviceToHost));
    for (int i = 0; i < 32; i++)
        CHECK(rows[i][0] == 496 && rows[i][1] == (i ? i - 1 : 0) && rows[i][2] == (i ^ 5) &&
              rows[i][3] == 11 && rows[i][4] == 1 && rows[i][5] == i / 4 * 4 && rows[i][6] == 1 &&
              rows[i][7] == 31 - i + 1);

    float *sum;
    unsigned long long *wide;
    OK(cudaMallocManaged(&sum, sizeof *sum));
    OK(cudaMallocManaged(&wide, sizeof *wide));
    *sum = 0;
    *wide = 0;
    OK(cudaMemcpy(out, cells, sizeof cells, cudaMemcpyHostToDevice));
    atomics<<<3, 50>>>(out, sum, wide);
    OK(cudaMemcpy(cells, out, sizeof cells, cudaMemcpyDeviceToHost));
    int parity = 0, most = 0;
    for (int i = 0; i < 150; i++) {
        parity ^= i;
        most = max(most, i * 7 % 101);
    }
    CHECK(cells[0] == 149 * 150 / 2 && cells[1] == -150 && cells[2] == most && cells[3] == -5 &&
          cells[4] == 0x7fffffff && cells[5] == parity && cells[6] == 0 && cells[7] == 300 &&
          cells[8] == 77 && *sum == 75 && *wide == 150ull << 33);

    double values[8] = {1, 2, 3, 4, 5, 6, 7, 8}, *data;
    OK(cudaMalloc(&data, sizeof values));
    OK(cudaMemcpy(data, values, sizeof values, cudaMemcpyHostToDevice));
    reverse<<<dim3(1), dim3(8), sizeof values>>>(data, point<double, 3>{{1, 2, 3}});
    OK(cudaMemcpy(values, data, sizeof values, cudaMemcpyDeviceToHost));
    for (int i = 0; i < 8; i++)
        CHECK(values[i] == 8 - i + 14);

    services<<<1, 20>>>(out);
    OK(cudaMemcpy(rows, out, 20 * sizeof(int), cudaMemcpyDeviceToHost));
    for (int i = 0; i < 20; i++)
        CHECK(rows[0][i] == i * (i + 1) / 2);
    return done("language");
}
