/* What a configuration says of a core and of the memory side, in the form that these take. */
#ifndef GPU_MACHINE_CONFIG_H
#define GPU_MACHINE_CONFIG_H

#include "base/config.h"
#include "core/core.h"
#include "mem/system.h"

/* Parameters only: index, ports and mechanisms are left empty. */
struct core_config core_config_of(const struct config *config);
struct memory_system_params memory_system_params_of(const struct config *config);

#endif
