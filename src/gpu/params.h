/* Parameters and statistics of the GPU's clocks and of a launch in time. */
#ifndef GPU_PARAMS_H
#define GPU_PARAMS_H

#define COMPONENT clock
#define COMPONENT_DEF "gpu/clock.def"
#include "base/component_struct.h"

#define COMPONENT timing
#define COMPONENT_DEF "gpu/timing.def"
#include "base/component_struct.h"

#endif
