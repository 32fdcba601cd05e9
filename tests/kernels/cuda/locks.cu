// Waiting for others: a lock between blocks, a lock between the lanes of a warp, a barrier of all
// blocks, a chain of blocks. Legal from sm_70 on, where every thread makes progress.
#include "cuda.h"

/* One thread a block takes the lock and changes two words that must stay in step. */
extern "C" __global__ void block_lock(int *lock, volatile int *shared_words)
{
    if (threadIdx.x == 0) {
        while (atomicCAS(lock, 0, 1) != 0)
            ;
        __threadfence();
        int v = shared_words[0];
        shared_words[0] = v + 1;
        shared_words[1] = shared_words[1] + v;
        __threadfence();
        atomicExch(lock, 0);
    }
}

/* Every lane takes the same lock: the holder must get to run while the others spin. */
extern "C" __global__ void lane_lock(int *lock, volatile int *counter)
{
    bool done = false;
    while (!done) {
        if (atomicCAS(lock, 0, 1) == 0) {
            *counter = *counter * 3 + 1;
            __threadfence();
            atomicExch(lock, 0);
            done = true;
        }
    }
}

/* The same, written so that a lane spins in a loop of its own before the critical section. */
extern "C" __global__ void lane_spin(int *lock, volatile int *counter)
{
    while (atomicCAS(lock, 0, 1) != 0)
        ;
    *counter = *counter + 1;
    __threadfence();
    atomicExch(lock, 0);
}

/* All blocks meet: arrival count and a round number. */
extern "C" __global__ void grid_barrier(int *arrived, volatile int *round, int *data, int *out,
                                        int rounds)
{
    int i = blockIdx.x * blockDim.x + threadIdx.x, n = gridDim.x * blockDim.x;
    for (int r = 0; r < rounds; r++) {
        data[(r & 1) * n + i] = (r == 0 ? i : out[i]) + 1;
        __threadfence();
        __syncthreads();
        if (threadIdx.x == 0) {
            if (atomicAdd(arrived, 1) == (int)gridDim.x * (r + 1) - 1) {
                *round = r + 1;
            } else {
                while (*round < r + 1)
                    ;
            }
        }
        __syncthreads();
        out[i] = *(volatile int *)&data[(r & 1) * n + (i + 37) % n];
    }
}

/* Block b waits for block b - 1, lane to lane. */
extern "C" __global__ void chain(volatile int *flag, volatile int *value)
{
    int b = blockIdx.x, t = threadIdx.x;
    if (b > 0)
        while (flag[(b - 1) * blockDim.x + t] == 0)
            ;
    value[b * blockDim.x + t] = b == 0 ? t : value[(b - 1) * blockDim.x + t] * 2 + b;
    __threadfence();
    flag[b * blockDim.x + t] = 1;
}
