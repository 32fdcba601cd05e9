/* The parameters of a core and of the memory system, from a configuration. */
#ifndef GPU_MACHINE_CONFIG_H
#define GPU_MACHINE_CONFIG_H

#include "base/config.h"
#include "core/core.h"
#include "mem/system.h"

/* Parameters only: index, ports and mechanisms are not set. */
struct core_config core_config_of(const struct config *config);
struct memory_system_params memory_system_params_of(const struct config *config);

#endif
