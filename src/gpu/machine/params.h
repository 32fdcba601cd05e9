/* Parameters and statistics of the GPU as a whole (gpu/machine/components.def). */
#ifndef GPU_MACHINE_PARAMS_H
#define GPU_MACHINE_PARAMS_H

#include "gpu/machine/components.def"

/* Every component of this build, NULL-terminated: the tables behind parameters and statistics. */
extern const struct component *const gpu_components[];

/* The clock of one core. */
static inline f64 clock_core_mhz(const struct clock_params *params, u32 core)
{
    return params->core_mhz * (core < params->core_rates_count ? params->core_rates[core] : 1);
}

/* The technology in nanometres. */
static inline u32 energy_nm(const struct energy_params *params)
{
    static const u32 nm[] = {45, 40, 32, 28};
    return nm[params->nm];
}

#endif
