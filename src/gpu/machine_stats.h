/*
 * All that the parts of a machine count in a launch, summed over cores and channels.
 *
 * The list of members is written once, below; adding, subtracting and printing go through it.
 */
#ifndef GPU_MACHINE_STATS_H
#define GPU_MACHINE_STATS_H

#include "base/config.h"
#include "core/params.h"
#include "gpu/params.h"
#include "mem/system.h"

#define MACHINE_PARTS(PART) \
    PART(timing)            \
    PART(fetch)             \
    PART(icache)            \
    PART(issue)             \
    PART(collect)           \
    PART(units)             \
    PART(lsu)               \
    PART(l1d)               \
    PART(readonly)          \
    PART(constant)          \
    PART(cluster_icache)    \
    PART(cluster_constant)  \
    PART(network)           \
    PART(l2)                \
    PART(dram)

struct machine_stats {
#define PART(name) struct name##_stats name;
    MACHINE_PARTS(PART)
#undef PART
};

void machine_stats_add(struct machine_stats *into, const struct machine_stats *from);
/* `later` has counted on from `earlier`: what came in between. False: nothing did. */
bool machine_stats_between(struct machine_stats *into, const struct machine_stats *later,
                           const struct machine_stats *earlier);
/* Every counter; `stats` may be NULL: zeros. */
void machine_stats_each(const struct machine_stats *stats, count_fn *visit, void *user);
/* Adds "component.name": value of every counter and rate. */
void machine_stats_json(json_t *into, const struct machine_stats *stats);

#endif
