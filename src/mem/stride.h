/* Lanes whose addresses are evenly apart: the common case, seen at two lanes a step. */
#ifndef MEM_STRIDE_H
#define MEM_STRIDE_H

#include "base/types.h"

typedef u64 two_u64 __attribute__((vector_size(16), aligned(8), may_alias));

/* Whether lane i has address[0] + i * step, for all of an even number of lanes. */
static inline bool evenly_apart(const u64 *address, u32 lanes, u64 step)
{
    two_u64 expected = {address[0], address[0] + step}, both = {2 * step, 2 * step};
    two_u64 differs = {0, 0};
    for (u32 lane = 0; lane < lanes; lane += 2) {
        differs |= *(const two_u64 *)(address + lane) ^ expected;
        expected += both;
    }
    return !(differs[0] | differs[1]);
}

#endif
