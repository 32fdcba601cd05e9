/* The tables of the memory side's components. */
#include "mem/params.h"

#define COMPONENT_TABLES
#include "mem/components.def"
#undef COMPONENT_TABLES
