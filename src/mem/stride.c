/* Runs of lanes: see mem/stride.h. Goes by 16 lanes: blocks are often 16 wide. */
#include "mem/stride.h"

enum {
    GROUP = 16
};

typedef u64 two_u64 __attribute__((vector_size(16), aligned(8), may_alias));

/* Whether lane i of a group has address[0] + i * step. */
static bool evenly_apart(const u64 *address, u64 step)
{
    two_u64 expected = {address[0], address[0] + step}, both = {2 * step, 2 * step};
    two_u64 differs = {0, 0};
#pragma GCC unroll 8
    for (u32 lane = 0; lane < GROUP; lane += 2) {
        differs |= *(const two_u64 *)(address + lane) ^ expected;
        expected += both;
    }
    return !(differs[0] | differs[1]);
}

/* Lanes of `pairs` and those after them. */
static void add_pairs(struct strides *strides, const u64 *address, u64 pairs, u32 bytes)
{
    for (; pairs; pairs &= pairs - 1) {
        u32 lane = (u32)__builtin_ctzll(pairs);
        u64 apart = address[lane + 1] - address[lane];
        strides->equal |= (u64)(apart == 0) << lane;
        strides->next |= (u64)(apart == bytes) << lane;
    }
}

struct strides strides_of(const u64 *address, u64 lanes, u32 bytes)
{
    const u64 all = (1ull << GROUP) - 1, inner = all >> 1;
    struct strides strides = {0, 0};
    u64 pairs = lanes & lanes >> 1;
    for (u32 first = 0; first < 64 && lanes >> first; first += GROUP) {
        const u64 *group = address + first;
        if ((lanes >> first & all) != all)
            continue;
        u64 step = group[1] - group[0];
        if ((step && step != bytes) || group[GROUP - 1] - group[0] != step * (GROUP - 1) ||
            !evenly_apart(group, step))
            continue;
        *(step ? &strides.next : &strides.equal) |= inner << first;
        pairs &= ~(inner << first);
    }
    add_pairs(&strides, address, pairs, bytes);
    return strides;
}
