/* Parameters and statistics of the GPU's clocks, its technology, and a launch in time. */
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

#define COMPONENT energy
#define COMPONENT_DEF "gpu/energy.def"
#include "base/component_struct.h"

/* The technology in nanometres. */
static inline u32 energy_nm(const struct energy_params *params)
{
    static const u32 nm[] = {45, 40, 32, 28};
    return nm[params->nm];
}

#define COMPONENT timing
#define COMPONENT_DEF "gpu/timing.def"
#include "base/component_struct.h"

#endif
