/* Relations between parameters, all in one place: see relations.c. */
#ifndef GPU_MACHINE_RELATIONS_H
#define GPU_MACHINE_RELATIONS_H

#include "base/config.h"
#include "mem/system.h"

/* Whether the values of a complete configuration fit together. */
bool relations_check(const struct config *config, struct error *error);
/* The parts of relations_check() for a memory system, or one DRAM channel, alone. */
bool relations_check_memory(const struct memory_system_params *params, struct error *error);
bool relations_check_dram(const struct dram_params *params, struct error *error);

#endif
