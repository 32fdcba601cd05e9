/*
 * Statistics of a whole machine: the counters of all its components in a launch, summed over cores
 * and channels. The members are generated from the lists of components; adding, subtracting and
 * printing handle all of them.
 */
#ifndef GPU_MACHINE_STATS_H
#define GPU_MACHINE_STATS_H

#include "base/config.h"
#include "core/params.h"
#include "gpu/machine/params.h"
#include "mem/system.h"

struct machine_stats {
#define COMPONENT_ROW(name) struct name##_stats name;
#include "gpu/machine/machine.def"
#undef COMPONENT_ROW
};

void machine_stats_add(struct machine_stats *into, const struct machine_stats *from);
/* The difference between two states of the same counters. False: it is zero. */
bool machine_stats_between(struct machine_stats *into, const struct machine_stats *later,
                           const struct machine_stats *earlier);
/* Visits every counter; `stats` may be NULL: zeros. */
void machine_stats_each(const struct machine_stats *stats, count_fn *visit, void *user);
/* Adds "component.name": value of every counter and rate. */
void machine_stats_json(json_t *into, const struct machine_stats *stats);

#endif
