#include "demo.h"

#define COMPONENT demo
#define COMPONENT_DEF "demo.def"
#define COMPONENT_HELP "a component for tests"
#include "base/component_table.h"
