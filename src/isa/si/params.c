/* The component table of the Southern Islands front end. */
#include "isa/si/params.h"

#define COMPONENT si
#define COMPONENT_DEF "isa/si/params.def"
#define COMPONENT_HELP "Southern Islands: loading code objects"
#include "base/component_table.h"
