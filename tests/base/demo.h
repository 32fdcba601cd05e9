/* A component with one parameter of every type, for tests of everything made from tables. */
#ifndef TESTS_BASE_DEMO_H
#define TESTS_BASE_DEMO_H

#define COMPONENT demo
#define COMPONENT_DEF "demo.def"
#include "base/component_struct.h"

#endif
