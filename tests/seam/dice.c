/* Test mechanism: random numbers on cores, in partitions and in the dispatcher. Seams: issued,
 * l2_request, dispatch, launch_done. */
#include "seam/seam.h"

#define COMPONENT dice
#define COMPONENT_DEF "seam/dice.def"
#define COMPONENT_HELP "random numbers, for tests"
#include "base/component_struct.h"
#include "base/component_table.h"

struct dice {
    MECHANISM_STATE(dice);
    u64 first; /* number of the launch; 0: none yet */
};

/* 32 bits: sums do not overflow in tests. */
static u64 draw(void *state)
{
    return mechanism_random(state) >> 32;
}

static void launch(void *state, struct core *core, bool begins)
{
    ((struct dice *)state)->first = 0;
}

static void issued(void *state, struct core *core, struct inflight *inflight)
{
    struct dice *dice = state;
    const u64 value = draw(state);
    dice->first = dice->first ? dice->first : value;
    dice->stats->cores += value;
    dice->stats->drawn++;
}

static void dispatch(void *state, struct core *core, struct dispatch *d)
{
    struct dice *dice = d->dispatcher;
    if (d->block == d->blocks)
        return;
    dice->stats->dispatched += draw(dice);
    if (dice->params->decides && !mechanism_random_below(dice, 4))
        d->answer = DISPATCH_REFUSE;
}

static void l2_request(void *memory, u32 slice, struct packet *packet, fs now, u64 cycle)
{
    ((struct dice *)memory)->stats->partitions += draw(memory);
}

static void launch_done(void *const *states, u32 count, struct exec *exec)
{
    for (u32 i = 0; i < count; i++)
        for (u32 j = 0; j < i; j++)
            ((struct dice *)states[0])->stats->repeated +=
                ((struct dice *)states[i])->first &&
                ((struct dice *)states[i])->first == ((struct dice *)states[j])->first;
}

const struct mechanism dice_mechanism = {
    MECHANISM_NAMED(dice, "random numbers on cores, in partitions and in the dispatcher"),
    .random = true,
    .state_size = sizeof(struct dice),
    .dispatcher_size = sizeof(struct dice),
    .memory_size = sizeof(struct dice),
    .launch = launch,
    .issued = issued,
    .dispatch = dispatch,
    .l2_request = l2_request,
    .launch_done = launch_done,
};
