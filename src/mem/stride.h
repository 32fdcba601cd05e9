/*
 * Runs of lanes: neighbouring lanes at equal or consecutive addresses. Accesses of warps are mostly
 * one run, or a few if blocks are narrower than a warp, so addresses are processed run by run.
 */
#ifndef MEM_STRIDE_H
#define MEM_STRIDE_H

#include "base/types.h"

/* Bit l: lanes l and l + 1 are both active, and the address of the second is ... */
struct strides {
    u64 equal; /* that of the first */
    u64 next;  /* that of the first + bytes */
};

struct run {
    u32 first, lanes;
    bool consecutive; /* otherwise all addresses are equal */
};

enum {
    STRIDE_GROUP = 16 /* lanes that are checked together: blocks are often 16 wide */
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

/* Addresses of lanes outside `lanes` are not read. */
struct strides strides_of(const u64 *address, u64 lanes, u32 bytes);

/* The run that starts at an active lane. */
static inline struct run run_at(const struct strides *strides, u32 first)
{
    /* Lane 63 has no successor, so there is a zero to find. */
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
