/*
 * Cooperative groups: blocks, tiles of a warp, the threads of a warp that are together, and grids.
 *
 * A grid's barrier counts arrivals in memory that the runtime sets up for cooperative launches; its
 * address is in %envreg1 (high half) and %envreg2. Reductions, scans and copies of groups are missing.
 */
#ifndef HEDDLE_COOPERATIVE_GROUPS_H
#define HEDDLE_COOPERATIVE_GROUPS_H

#include "cuda_runtime.h"

namespace cooperative_groups
{

class thread_group
{
  protected:
    unsigned number, rank, mask; // mask: of the warp's lanes; 0: the group is the block
    __device__ thread_group(unsigned number_, unsigned rank_, unsigned mask_)
        : number(number_), rank(rank_), mask(mask_)
    {
    }

  public:
    __device__ unsigned size() const
    {
        return number;
    }
    __device__ unsigned num_threads() const
    {
        return number;
    }
    __device__ unsigned thread_rank() const
    {
        return rank;
    }
    __device__ unsigned lane_mask() const
    {
        return mask;
    }
    __device__ void sync() const
    {
        if (mask)
            __syncwarp(mask);
        else
            __syncthreads();
    }
};

__device__ static inline unsigned heddle_block_rank()
{
    return (threadIdx.z * blockDim.y + threadIdx.y) * blockDim.x + threadIdx.x;
}

class thread_block : public thread_group
{
  public:
    __device__ thread_block()
        : thread_group(blockDim.x * blockDim.y * blockDim.z, heddle_block_rank(), 0)
    {
    }
    __device__ static dim3 group_index()
    {
        return blockIdx;
    }
    __device__ static dim3 thread_index()
    {
        return threadIdx;
    }
    __device__ static dim3 group_dim()
    {
        return blockDim;
    }
    __device__ static dim3 dim_threads()
    {
        return blockDim;
    }
};

__device__ static inline thread_block this_thread_block()
{
    return thread_block();
}

template <unsigned Size, typename Parent = void> class thread_block_tile : public thread_group
{
    static_assert(Size && Size <= 32 && !(Size & (Size - 1)), "a power of two up to 32");
    __device__ static unsigned lanes()
    {
        const unsigned lane = heddle_block_rank() % 32;
        return (Size == 32 ? 0xffffffffu : (1u << Size % 32) - 1) << (lane / Size * Size);
    }
    __device__ unsigned own(unsigned bits) const
    {
        return bits >> (__ffs(mask) - 1) & (Size == 32 ? 0xffffffffu : (1u << Size % 32) - 1);
    }

  public:
    __device__ thread_block_tile() : thread_group(Size, heddle_block_rank() % Size, lanes())
    {
    }
    __device__ unsigned meta_group_rank() const
    {
        return heddle_block_rank() / Size;
    }
    __device__ unsigned meta_group_size() const
    {
        return (blockDim.x * blockDim.y * blockDim.z + Size - 1) / Size;
    }
    template <typename T> __device__ T shfl(T value, int from) const
    {
        return __shfl_sync(mask, value, from, Size);
    }
    template <typename T> __device__ T shfl_up(T value, unsigned by) const
    {
        return __shfl_up_sync(mask, value, by, Size);
    }
    template <typename T> __device__ T shfl_down(T value, unsigned by) const
    {
        return __shfl_down_sync(mask, value, by, Size);
    }
    template <typename T> __device__ T shfl_xor(T value, unsigned with) const
    {
        return __shfl_xor_sync(mask, value, with, Size);
    }
    __device__ int any(int condition) const
    {
        return __any_sync(mask, condition);
    }
    __device__ int all(int condition) const
    {
        return __all_sync(mask, condition);
    }
    __device__ unsigned ballot(int condition) const
    {
        return own(__ballot_sync(mask, condition));
    }
};

template <unsigned Size> __device__ static inline thread_block_tile<Size> tiled_partition(const thread_group &)
{
    return thread_block_tile<Size>();
}

class coalesced_group : public thread_group
{
    __device__ static unsigned below()
    {
        return (1u << heddle_block_rank() % 32) - 1;
    }

  public:
    __device__ explicit coalesced_group(unsigned active)
        : thread_group(__popc(active), __popc(active & below()), active)
    {
    }
    template <typename T> __device__ T shfl(T value, unsigned from) const
    {
        unsigned left = mask;
        for (unsigned i = 0; i < from; i++)
            left &= left - 1;
        return __shfl_sync(mask, value, __ffs(left) - 1);
    }
    __device__ int any(int condition) const
    {
        return __any_sync(mask, condition);
    }
    __device__ int all(int condition) const
    {
        return __all_sync(mask, condition);
    }
};

__device__ static inline coalesced_group coalesced_threads()
{
    return coalesced_group(__activemask());
}

/* The threads of a group that have the same condition, or the same label. */
template <typename Group>
__device__ static inline coalesced_group binary_partition(const Group &group, bool condition)
{
    const unsigned yes = __ballot_sync(group.lane_mask(), condition);
    return coalesced_group(condition ? yes : group.lane_mask() & ~yes);
}
template <typename Group, typename Label>
__device__ static inline coalesced_group labeled_partition(const Group &group, Label label)
{
    return coalesced_group(__match_any_sync(group.lane_mask(), label));
}

class grid_group
{
    unsigned *arrivals; // since the launch; NULL: the launch is not cooperative

  public:
    __device__ grid_group()
    {
        unsigned high, low;
        asm("mov.u32 %0, %%envreg1;" : "=r"(high));
        asm("mov.u32 %0, %%envreg2;" : "=r"(low));
        const unsigned long long workspace = (unsigned long long)high << 32 | low;
        arrivals = workspace ? (unsigned *)workspace + 1 : NULL;
    }
    __device__ bool is_valid() const
    {
        return arrivals;
    }
    __device__ unsigned long long num_blocks() const
    {
        return (unsigned long long)gridDim.x * gridDim.y * gridDim.z;
    }
    __device__ unsigned long long block_rank() const
    {
        return ((unsigned long long)blockIdx.z * gridDim.y + blockIdx.y) * gridDim.x + blockIdx.x;
    }
    __device__ unsigned long long size() const
    {
        return num_blocks() * blockDim.x * blockDim.y * blockDim.z;
    }
    __device__ unsigned long long num_threads() const
    {
        return size();
    }
    __device__ unsigned long long thread_rank() const
    {
        return block_rank() * blockDim.x * blockDim.y * blockDim.z + heddle_block_rank();
    }
    __device__ void sync() const
    {
        if (!arrivals)
            __builtin_trap();
        __syncthreads();
        if (!heddle_block_rank()) {
            const unsigned blocks = (unsigned)num_blocks();
            __threadfence();
            const unsigned before = atomicAdd(arrivals, 1u);
            const unsigned wanted = (before / blocks + 1) * blocks;
            while ((int)(*(volatile unsigned *)arrivals - wanted) < 0)
                ;
            __threadfence();
        }
        __syncthreads();
    }
};

__device__ static inline grid_group this_grid()
{
    return grid_group();
}

template <typename Group> __device__ static inline void sync(const Group &group)
{
    group.sync();
}

}

#endif
