/* Test mechanism: block 1 is for core 1 alone, which takes it late. */
#include "seam/seam.h"

#define COMPONENT late
#define COMPONENT_DEF "seam/late.def"
#define COMPONENT_HELP "a block that starts late, for tests"
#include "base/component_struct.h"
#include "base/component_table.h"

struct late {
    MECHANISM_STATE(late);
    u32 refused;
};

static void launch(void *state, struct core *core, bool begins)
{
    ((struct late *)state)->refused = 0;
}

static void dispatch(void *state, struct core *core, struct dispatch *d)
{
    struct late *late = state;
    const u32 index = core_config(core)->index;
    if (d->block >= d->blocks)
        return;
    if (d->block != index || (index && late->refused++ < late->params->refusals))
        d->answer = DISPATCH_REFUSE;
}

const struct mechanism late_mechanism = {
    MECHANISM_NAMED(late, "block 1 starts late"),
    .state_size = sizeof(struct late),
    .launch = launch,
    .dispatch = dispatch,
};
