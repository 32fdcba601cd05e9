/* What one build of the lane functions offers; exec/lanes.c picks the build. */
#ifndef EXEC_LANES_BUILD_H
#define EXEC_LANES_BUILD_H

#include "exec/lanes.h"

lane_fn *lane_portable_canonical_resolve(const struct inst *inst);
lane_fn *lane_portable_propagating_resolve(const struct inst *inst);
lane_fn *lane_avx2_canonical_resolve(const struct inst *inst);
lane_fn *lane_avx2_propagating_resolve(const struct inst *inst);

lanes_run_fn lane_portable_run, lane_avx2_run;

extern const struct lanes_memory lane_portable_memory, lane_avx2_memory;

#endif
