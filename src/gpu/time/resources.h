/*
 * Resource tables of a dispatcher: which parts of each core's registers and shared memory belong to
 * which block.
 *
 * A block has one contiguous range of each, as hardware addresses them by a base; warp slots are
 * only counted. So a block may not fit although enough is free, due to fragmentation.
 *
 * Invariants
 *  RT1  Ranges of a table are sorted, disjoint and inside it; a block has at most one in each.
 *  RT2  A block has everything it needs or nothing.
 *
 * Source: MIAOW's dispatcher (Balasubramanian et al., ACM TACO 2015, section 2.4, and its RTL,
 * whose tables give their largest free range, at whose beginning the next block is placed).
 */
#ifndef GPU_TIME_RESOURCES_H
#define GPU_TIME_RESOURCES_H

#include "base/types.h"

enum resource {
    RESOURCE_WARPS, /* counted */
    RESOURCE_VECTORS,
    RESOURCE_SCALARS,
    RESOURCE_SHARED,
    RESOURCES
};

/* Amounts of a block, or of a core. Registers count 32-bit words, shared memory bytes. */
struct amounts {
    u32 of[RESOURCES];
};

enum fit {
    FIT_FIRST,  /* the lowest free range that is large enough */
    FIT_LARGEST /* the largest free range, the lowest of several */
};

enum {
    RESOURCE_OWNERS = 64 /* blocks of a core */
};

struct resource_range {
    u32 start, size;
    u32 owner;
};

struct resource_table {
    u32 size, count;
    struct resource_range ranges[RESOURCE_OWNERS];
};

/* The resources of one core. */
struct resources {
    enum fit fit;
    u32 warps, warps_taken;
    u32 warps_of[RESOURCE_OWNERS];
    struct resource_table tables[RESOURCES]; /* from RESOURCE_VECTORS on */
};

void resources_init(struct resources *resources, const struct amounts *capacity, enum fit fit);
/* The start of a range for `size`; UINT32_MAX: none. A size of 0 is placed at 0. */
u32 resource_find(const struct resource_table *table, enum fit fit, u32 size);
bool resources_fit(const struct resources *resources, const struct amounts *needs);
/* Whether there would be room if the free space were contiguous. */
bool resources_suffice(const struct resources *resources, const struct amounts *needs);
/* Requires that they fit and that `owner` has nothing. */
void resources_take(struct resources *resources, u32 owner, const struct amounts *needs);
void resources_give(struct resources *resources, u32 owner);

#endif
