/* The tables of a core's components. */
#include "core/params.h"

#define COMPONENT_TABLES
#include "core/components.def"
#undef COMPONENT_TABLES
