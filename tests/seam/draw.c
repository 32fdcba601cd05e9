/* Test mechanism: another one that draws numbers, whose streams are its own. Seam: retired. */
#include "seam/seam.h"

#define COMPONENT draw
#define COMPONENT_DEF "seam/draw.def"
#define COMPONENT_HELP "random numbers, for tests"
#include "base/component_struct.h"
#include "base/component_table.h"

struct draw {
    MECHANISM_STATE(draw);
};

static void retired(void *state, struct core *core, struct inflight *inflight)
{
    ((struct draw *)state)->stats->numbers += mechanism_random(state) >> 32;
}

const struct mechanism draw_mechanism = {
    MECHANISM_NAMED(draw, "random numbers on cores"),
    .random = true,
    .state_size = sizeof(struct draw),
    .retired = retired,
};
