/* The list of all components, from the GPU to its parts; and the tables of the GPU's own ones. */
#include "core/params.h"
#include "exec/params.h"
#include "gpu/machine/params.h"
#include "isa/ptx/ptx.h"
#include "isa/si/params.h"
#include "mem/params.h"

#define COMPONENT_TABLES
#include "gpu/machine/components.def"
#undef COMPONENT_TABLES

/* Components of functional execution (core, memory, launch, exec) and of the front ends have no
 * list of their own. The order is that of the reference pages. */
/* clang-format off */
const struct component *const gpu_components[] = {
#define COMPONENT_ROW(name) &name##_component,
#include "gpu/machine/components.def"
    COMPONENT_ROW(core)
#include "core/components.def"
#include "mem/components.def"
    COMPONENT_ROW(memory)
    COMPONENT_ROW(launch)
    COMPONENT_ROW(ptx)
    COMPONENT_ROW(si)
    COMPONENT_ROW(exec)
#undef COMPONENT_ROW
    NULL,
};
/* clang-format on */
