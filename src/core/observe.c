/* Names of what is observed: see observe.h. */
#include "core/observe.h"

const char *const stall_names[STALLS] = {
    [STALL_NONE] = "none",     [STALL_EMPTY] = "empty",         [STALL_FETCH] = "fetch",
    [STALL_BRANCH] = "branch", [STALL_BARRIER] = "barrier",     [STALL_RAW] = "raw",
    [STALL_WAW] = "waw",       [STALL_MEMORY] = "memory",       [STALL_WAIT] = "wait",
    [STALL_UNIT] = "unit",     [STALL_COLLECTOR] = "collector", [STALL_HELD] = "held",
};
