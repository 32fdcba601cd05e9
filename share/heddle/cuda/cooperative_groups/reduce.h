/* Reductions over tiles and coalesced threads: every thread of the group gets the result. */
#ifndef HEDDLE_COOPERATIVE_GROUPS_REDUCE_H
#define HEDDLE_COOPERATIVE_GROUPS_REDUCE_H

#include "../cooperative_groups.h"

namespace cooperative_groups
{

#define HEDDLE_OPERATION(name, expression)               \
    template <typename T> struct name {                  \
        __device__ T operator()(T a, T b) const          \
        {                                                \
            return expression;                           \
        }                                                \
    };
HEDDLE_OPERATION(plus, a + b)
HEDDLE_OPERATION(less, b < a ? b : a)
HEDDLE_OPERATION(greater, a < b ? b : a)
HEDDLE_OPERATION(bit_and, a &b)
HEDDLE_OPERATION(bit_or, a | b)
HEDDLE_OPERATION(bit_xor, a ^ b)
#undef HEDDLE_OPERATION

/* A butterfly: log2(Size) steps. */
template <unsigned Size, typename Parent, typename T, typename Operation>
__device__ static inline T reduce(const thread_block_tile<Size, Parent> &tile, T value, Operation operation)
{
    for (unsigned with = Size / 2; with; with /= 2)
        value = operation(value, tile.shfl_xor(value, with));
    return value;
}

/* One thread after the other: the group may have any size. */
template <typename T, typename Operation>
__device__ static inline T reduce(const coalesced_group &group, T value, Operation operation)
{
    T all = group.shfl(value, 0);
    for (unsigned i = 1; i < group.size(); i++)
        all = operation(all, group.shfl(value, i));
    return all;
}

}

#endif
