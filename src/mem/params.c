/* The component tables of the memory side. */
#include "mem/system.h"

#define COMPONENT network
#define COMPONENT_DEF "mem/network.def"
#define COMPONENT_HELP "the network between cores and memory"
#include "base/component_table.h"

#define COMPONENT cluster_icache
#define COMPONENT_DEF "mem/cluster_icache.def"
#define COMPONENT_HELP "the instruction cache that the cores of a cluster share"
#include "base/component_table.h"

#define COMPONENT cluster_constant
#define COMPONENT_DEF "mem/cluster_constant.def"
#define COMPONENT_HELP "the cache for constants and scalar loads that the cores of a cluster share"
#include "base/component_table.h"

#define COMPONENT l2
#define COMPONENT_DEF "mem/l2.def"
#define COMPONENT_HELP "the second-level cache: channels and their slices"
#include "base/component_table.h"

#define COMPONENT dram
#define COMPONENT_DEF "mem/dram.def"
#define COMPONENT_HELP "DRAM channels: scheduler, banks and timing"
#include "base/component_table.h"
