/* Parameters and statistics of execution: limits of cores and launches, and what was counted. */
#ifndef EXEC_PARAMS_H
#define EXEC_PARAMS_H

#define COMPONENT core
#define COMPONENT_DEF "exec/core.def"
#include "base/component_struct.h"

#define COMPONENT memory
#define COMPONENT_DEF "exec/memory.def"
#include "base/component_struct.h"

#define COMPONENT launch
#define COMPONENT_DEF "exec/launch.def"
#include "base/component_struct.h"

#define COMPONENT exec
#define COMPONENT_DEF "exec/exec.def"
#include "base/component_struct.h"

#endif
