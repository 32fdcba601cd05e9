/* The list of components, from the whole to its parts; and the tables of the whole. */
#include "core/params.h"
#include "gpu/device.h"
#include "gpu/params.h"
#include "isa/si/params.h"
#include "mem/system.h"

#define COMPONENT gpu
#define COMPONENT_DEF "gpu/gpu.def"
#define COMPONENT_HELP "the GPU as a whole"
#include "base/component_table.h"

#define COMPONENT clock
#define COMPONENT_DEF "gpu/clock.def"
#define COMPONENT_HELP "clock domains"
#include "base/component_table.h"

#define COMPONENT timing
#define COMPONENT_DEF "gpu/timing.def"
#define COMPONENT_HELP "timing of a launch: dispatch of blocks, limits, totals"
#include "base/component_table.h"

#define COMPONENT energy
#define COMPONENT_DEF "gpu/energy.def"
#define COMPONENT_HELP "technology, and costs of events"
#include "base/component_table.h"

#define COMPONENT host
#define COMPONENT_DEF "gpu/host.def"
#define COMPONENT_HELP "the link between host and GPU"
#include "base/component_table.h"

const struct component *const gpu_components[] = {
    &gpu_component,
    &clock_component,
    &energy_component,
    &timing_component,
    &host_component,
    &core_component,
    &fetch_component,
    &icache_component,
    &issue_component,
    &collect_component,
    &units_component,
    &miaow_component,
    &lsu_component,
    &l1d_component,
    &readonly_component,
    &constant_component,
    &cluster_icache_component,
    &cluster_constant_component,
    &network_component,
    &l2_component,
    &dram_component,
    &memory_component,
    &launch_component,
    &ptx_component,
    &si_component,
    &exec_component,
    NULL,
};
