/* Test mechanism: warp 1 stops behind an instruction until warp 0 has issued another one. */
#include "late.h"

#define COMPONENT late
#define COMPONENT_DEF "late.def"
#define COMPONENT_HELP "a warp waits for another one, for tests"
#include "base/component_struct.h"
#include "base/component_table.h"

struct late {
    MECHANISM_STATE(late);
};

static void issued(void *state, struct core *core, struct inflight *inflight)
{
    const struct late *l = state;
    if (inflight->slot == 1 && inflight->dyn.inst == l->params->from)
        core_hold(core, bit(1));
    if (inflight->slot == 0 && inflight->dyn.inst == l->params->to)
        core_release(core, bit(1));
}

const struct mechanism late_mechanism = {
    MECHANISM_NAMED(late, "a warp waits for another one"),
    .state_size = sizeof(struct late),
    .issued = issued,
};
