// Cooperative groups: tiles, threads that are together, and barriers of whole grids.
#include "check.h"
#include <cooperative_groups.h>
#include <cooperative_groups/reduce.h>
namespace cg = cooperative_groups;

__global__ void tiles(int *out)
{
    cg::thread_block block = cg::this_thread_block();
    cg::thread_block_tile<8> tile = cg::tiled_partition<8>(block);
    int sum = block.thread_rank();
    for (int step = 4; step; step /= 2)
        sum += tile.shfl_down(sum, step);
    sum = tile.shfl(sum, 0);
    int together = 0;
    if (threadIdx.x % 3 == 0) {
        cg::coalesced_group some = cg::coalesced_threads();
        together = some.size() * 100 + some.thread_rank();
    }
    block.sync();
    out[block.thread_rank()] = sum * 10000 + together;
    const int any = tile.any(threadIdx.x == 9), odd = tile.ballot(threadIdx.x % 2);
    if (any && tile.thread_rank() == 0)
        out[64] = odd;
}

// Each round needs what all blocks have written in the round before.
__global__ void rounds(int *a, int *b, int n)
{
    cg::grid_group grid = cg::this_grid();
    const int i = grid.thread_rank();
    for (int round = 0; round < 4; round++) {
        b[i] = a[i] + a[(i + n / 2) % n];
        grid.sync();
        a[i] = b[i] + 1;
        grid.sync();
    }
}

/* Reductions, and groups by condition and label. */
__global__ void reductions(int *out)
{
    const int i = threadIdx.x;
    const auto tile = cg::tiled_partition<8>(cg::this_thread_block());
    out[i] = cg::reduce(tile, i, cg::plus<int>());
    out[32 + i] = cg::reduce(tile, i * 37 % 32, cg::greater<int>());
    const auto half = cg::binary_partition(cg::coalesced_threads(), i % 4 == 1);
    out[64 + i] = cg::reduce(half, i, cg::plus<int>());
    const auto label = cg::labeled_partition(cg::coalesced_threads(), i % 5);
    out[96 + i] = label.size() * 100 + label.thread_rank();
}

static void check_reductions(int *out)
{
    int result[128];
    reductions<<<1, 32>>>(out);
    OK(cudaMemcpy(result, out, sizeof result, cudaMemcpyDeviceToHost));
    for (int i = 0; i < 32; i++) {
        const int first = i / 8 * 8;
        int most = 0;
        for (int k = first; k < first + 8; k++)
            most = k * 37 % 32 > most ? k * 37 % 32 : most;
        CHECK(result[i] == 8 * first + 28 && result[32 + i] == most);
        CHECK(result[64 + i] == (i % 4 == 1 ? 120 : 496 - 120));
        CHECK(result[96 + i] == (i % 5 < 2 ? 7 : 6) * 100 + i / 5);
    }
}

int main()
{
    int *out, result[65];
    OK(cudaMalloc(&out, 128 * sizeof(int)));
    check_reductions(out);
    tiles<<<1, 64>>>(out);
    OK(cudaMemcpy(result, out, sizeof result, cudaMemcpyDeviceToHost));
    for (int i = 0; i < 64; i++) {
        const int first = i / 8 * 8, sum = 8 * first + 28;
        const int offset = i / 32; // of the first multiple of 3 in the warp; each has 11
        const int expected = i % 3 ? 0 : 11 * 100 + (i % 32 - offset) / 3;
        CHECK(result[i] == sum * 10000 + expected);
    }
    CHECK(result[64] == 0xaa);

    const int blocks = 12, threads = 64, n = blocks * threads;
    int *a, *b, size = n;
    OK(cudaMallocManaged(&a, n * sizeof(int)));
    OK(cudaMallocManaged(&b, n * sizeof(int)));
    static int expected[n], next[n];
    for (int i = 0; i < n; i++)
        a[i] = expected[i] = i;
    for (int round = 0; round < 4; round++) {
        for (int i = 0; i < n; i++)
            next[i] = expected[i] + expected[(i + n / 2) % n] + 1;
        for (int i = 0; i < n; i++)
            expected[i] = next[i];
    }
    void *args[] = {&a, &b, &size};
    OK(cudaLaunchCooperativeKernel(rounds, dim3(blocks), dim3(threads), args));
    OK(cudaDeviceSynchronize());
    for (int i = 0; i < n; i++)
        CHECK(a[i] == expected[i]);
    EXPECT(cudaErrorCooperativeLaunchTooLarge,
           cudaLaunchCooperativeKernel(rounds, dim3(100000), dim3(threads), args));
    rounds<<<1, 64>>>(a, b, 64); // not cooperative: the barrier traps
    EXPECT(cudaErrorLaunchFailure, cudaDeviceSynchronize());
    return done("groups");
}
