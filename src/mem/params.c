/* The component tables of the memory side. */
#include "mem/memside.h"

#define COMPONENT network
#define COMPONENT_DEF "mem/network.def"
#define COMPONENT_HELP "the interconnect between cores and memory"
#include "base/component_table.h"

#define COMPONENT l2
#define COMPONENT_DEF "mem/l2.def"
#define COMPONENT_HELP "the second-level cache: channels and their slices"
#include "base/component_table.h"

#define COMPONENT dram
#define COMPONENT_DEF "mem/dram.def"
#define COMPONENT_HELP "a DRAM channel: scheduler, banks and timing"
#include "base/component_table.h"
