/*
 * Runs of lanes: neighbours at equal or at consecutive addresses. Warps' accesses are mostly one
 * run, or a few when blocks are narrower than a warp, so whatever looks at addresses goes by runs.
 */
#ifndef MEM_STRIDE_H
#define MEM_STRIDE_H

#include "base/types.h"

/* Bit l: lanes l and l + 1 are both there, and the second one's address is ... */
struct strides {
    u64 equal; /* that of the first */
    u64 next;  /* that of the first + bytes */
};

struct run {
    u32 first, lanes;
    bool consecutive; /* otherwise all addresses are equal */
};

enum {
    STRIDE_GROUP = 16 /* lanes that are looked at together: blocks are often 16 wide */
};

typedef u64 two_u64 __attribute__((vector_size(16), aligned(8), may_alias));

/* Whether lane i of a group has address[0] + i * step. */
static inline bool evenly_apart(const u64 *address, u64 step)
{
    two_u64 expected = {address[0], address[0] + step}, both = {2 * step, 2 * step};
    two_u64 differs = {0, 0};
#pragma GCC unroll 8
    for (u32 lane = 0; lane < STRIDE_GROUP; lane += 2) {
        differs |= *(const two_u64 *)(address + lane) ^ expected;
        expected += both;
    }
    return !(differs[0] | differs[1]);
}

/* Addresses of lanes that are not in `lanes` are not looked at. */
struct strides strides_of(const u64 *address, u64 lanes, u32 bytes);

/* The run that begins at a lane that is there. */
static inline struct run run_at(const struct strides *strides, u32 first)
{
    /* Lane 63 has no next, so there is a zero to find. */
    u64 next = strides->next >> first, equal = strides->equal >> first;
    if (next & 1)
        return (struct run){first, (u32)__builtin_ctzll(~next) + 1, true};
    return (struct run){first, (u32)__builtin_ctzll(~equal) + 1, false};
}

static inline u64 run_mask(const struct run *run)
{
    return UINT64_MAX >> (64 - run->lanes) << run->first;
}

#endif
