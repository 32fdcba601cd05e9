/* The component table of the PTX front end. */
#include "isa/ptx/ptx.h"

#define COMPONENT ptx
#define COMPONENT_DEF "isa/ptx/ptx.def"
#define COMPONENT_HELP "PTX: lowering to machine instructions"
#include "base/component_table.h"
