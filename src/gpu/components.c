/* The list of components. */
#include "gpu/device.h"
#include "isa/si/params.h"

#define COMPONENT gpu
#define COMPONENT_DEF "gpu/gpu.def"
#define COMPONENT_HELP "the GPU as a whole"
#include "base/component_table.h"

const struct component *const gpu_components[] = {
    &gpu_component, &core_component, &launch_component,
    &ptx_component, &si_component,   &exec_component,
    NULL,
};
