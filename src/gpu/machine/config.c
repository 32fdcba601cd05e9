/* Parameters of cores and the memory system from a configuration: see config.h. */
#include "gpu/machine/config.h"

#include "gpu/machine/params.h"

#define PARAMS(config, name) \
    ((const struct name##_params *)config_params(config, &name##_component))

struct core_config core_config_of(const struct config *config)
{
    return (struct core_config){
        .cores = PARAMS(config, gpu)->cores,
        .core = PARAMS(config, core),
#define COMPONENT_ROW(name) .name = PARAMS(config, name),
#include "core/components.def"
#undef COMPONENT_ROW
        .mhz = PARAMS(config, clock)->core_mhz,
        .l2_line_bytes = PARAMS(config, l2)->line_bytes,
        .memory_bytes = PARAMS(config, gpu)->memory_bytes,
    };
}

struct memory_system_params memory_system_params_of(const struct config *config)
{
    const struct clock_params *clock = PARAMS(config, clock);
    return (struct memory_system_params){
#define COMPONENT_ROW(name) .name = PARAMS(config, name),
#include "mem/components.def"
#undef COMPONENT_ROW
        .network_mhz = clock->network_mhz,
        .l2_mhz = clock->l2_mhz,
        .dram_mhz = clock->dram_mhz,
        .cores = PARAMS(config, gpu)->cores,
        .cluster = PARAMS(config, gpu)->cluster,
    };
}
