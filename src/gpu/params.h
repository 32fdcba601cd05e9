/* Parameters and statistics of the GPU's clocks and of a launch in time. */
#ifndef GPU_PARAMS_H
#define GPU_PARAMS_H

#define COMPONENT clock
#define COMPONENT_DEF "gpu/clock.def"
#include "base/component_struct.h"

/* The clock of one core. */
static inline f64 clock_core_mhz(const struct clock_params *params, u32 core)
{
    return params->core_mhz * (core < params->core_rates_count ? params->core_rates[core] : 1);
}

#define COMPONENT host
#define COMPONENT_DEF "gpu/host.def"
#include "base/component_struct.h"

#define COMPONENT timing
#define COMPONENT_DEF "gpu/timing.def"
#include "base/component_struct.h"

#endif
