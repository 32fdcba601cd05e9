/* Functions of each build of the lane functions; exec/lanes.c selects the build. */
#ifndef EXEC_LANES_BUILD_H
#define EXEC_LANES_BUILD_H

#include "exec/lanes.h"

lane_fn *lane_portable_canonical_resolve(const struct inst *inst);
lane_fn *lane_portable_propagating_resolve(const struct inst *inst);
lane_fn *lane_avx2_canonical_resolve(const struct inst *inst);
lane_fn *lane_avx2_propagating_resolve(const struct inst *inst);

extern const struct lanes_memory lane_portable_memory, lane_avx2_memory;
extern const struct lanes_loops lane_portable_loops, lane_avx2_loops;
extern const struct lanes_waves lane_portable_waves, lane_avx2_waves;

#endif
