/* The component tables of execution. */
#include "exec/params.h"

#define COMPONENT core
#define COMPONENT_DEF "exec/core.def"
#define COMPONENT_HELP "a compute core: threads, registers and shared memory that it holds"
#include "base/component_table.h"

#define COMPONENT memory
#define COMPONENT_DEF "exec/memory.def"
#define COMPONENT_HELP "what out-of-bounds accesses do"
#include "base/component_table.h"

#define COMPONENT launch
#define COMPONENT_DEF "exec/launch.def"
#define COMPONENT_HELP "limits and resources of a launch"
#include "base/component_table.h"

#define COMPONENT exec
#define COMPONENT_DEF "exec/exec.def"
#define COMPONENT_HELP "functional execution of instructions"
#include "base/component_table.h"
