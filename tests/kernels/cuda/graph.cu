// Breadth-first search, one level a launch; and sparse matrix times vector (a thread a row, and a
// warp a row).
#include "cuda.h"

extern "C" __global__ void bfs_level(const int *row, const int *column, int *depth, int nodes,
                                     int level, int *changed)
{
    int v = blockIdx.x * blockDim.x + threadIdx.x;
    if (v >= nodes || depth[v] != level)
        return;
    for (int e = row[v]; e < row[v + 1]; e++) {
        int u = column[e];
        if (depth[u] < 0) {
            depth[u] = level + 1;
            *changed = 1;
        }
    }
}

extern "C" __global__ void spmv_row(const int *row, const int *column, const float *value,
                                    const float *x, float *y, int rows)
{
    int r = blockIdx.x * blockDim.x + threadIdx.x;
    if (r >= rows)
        return;
    float sum = 0.0f;
    for (int e = row[r]; e < row[r + 1]; e++)
        sum = fmaf(value[e], x[column[e]], sum);
    y[r] = sum;
}

/* The order of the sum is fixed: lane partial sums, then a butterfly. */
extern "C" __global__ void spmv_warp(const int *row, const int *column, const float *value,
                                     const float *x, float *y, int rows)
{
    int r = (blockIdx.x * blockDim.x + threadIdx.x) >> 5, lane = threadIdx.x & 31;
    if (r >= rows)
        return;
    float sum = 0.0f;
    for (int e = row[r] + lane; e < row[r + 1]; e += 32)
        sum = fmaf(value[e], x[column[e]], sum);
    for (int s = 16; s > 0; s >>= 1)
        sum += __shfl_xor_sync(0xffffffffu, sum, s);
    if (lane == 0)
        y[r] = sum;
}
