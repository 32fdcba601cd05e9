/* Test mechanism: flips a bit of a vector result. Seam: result. */
#include "seam/seam.h"

#define COMPONENT flip
#define COMPONENT_DEF "seam/flip.def"
#define COMPONENT_HELP "faults in results, for tests"
#include "base/component_struct.h"
#include "base/component_table.h"

struct flip {
    MECHANISM_STATE(flip);
    u32 seen;
};

static void result(void *state, struct core *core, struct inflight *inflight)
{
    struct flip *flip = state;
    struct dyninst *f = &inflight->dyn;
    if (inflight->injected != flip->params->copies || f->kind != DYNINST_COMPUTE ||
        f->plan->kind == PLAN_ACCESS || !f->dst_rows[0] || !f->writes ||
        ++flip->seen % flip->params->every)
        return;
    f->dst[0][first_lane(f->writes)] ^= 1u << flip->seen % 32;
    flip->stats->flips++;
}

const struct mechanism flip_mechanism = {
    MECHANISM_NAMED(flip, "faults in results"),
    .state_size = sizeof(struct flip),
    .result = result,
};
