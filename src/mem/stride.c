/* Runs of lanes: see mem/stride.h. Processes 16 lanes at a time: blocks are often 16 wide. */
#include "mem/stride.h"

/* Compares each lane of `pairs` with the next one. */
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
    const u64 all = (1ull << STRIDE_GROUP) - 1, inner = all >> 1;
    struct strides strides = {0, 0};
    u64 pairs = lanes & lanes >> 1;
    for (u32 first = 0; first < 64 && lanes >> first; first += STRIDE_GROUP) {
        const u64 *group = address + first;
        if ((lanes >> first & all) != all)
            continue;
        u64 step = group[1] - group[0];
        if ((step && step != bytes) ||
            group[STRIDE_GROUP - 1] - group[0] != step * (STRIDE_GROUP - 1) ||
            !evenly_apart(group, step))
            continue;
        *(step ? &strides.next : &strides.equal) |= inner << first;
        pairs &= ~(inner << first);
    }
    add_pairs(&strides, address, pairs, bytes);
    return strides;
}
