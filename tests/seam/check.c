/*
 * Test mechanism: the last core takes no blocks of its own but copies of some, and keeps their
 * stores to itself in one view a block. Seams: dispatch, memory view.
 */
#include "seam/seam.h"

#define COMPONENT check
#define COMPONENT_DEF "seam/check.def"
#define COMPONENT_HELP "copies of blocks, for tests"
#include "base/component_struct.h"
#include "base/component_table.h"

struct check {
    MECHANISM_STATE(check);
    struct memory_view *views[CORE_BLOCKS];
    u64 next; /* block to be copied */
};

static void create(void *state, struct core *core)
{
    for (u32 i = 0; i < CORE_BLOCKS; i++)
        ((struct check *)state)->views[i] = memory_view_create();
}

static void destroy(void *state)
{
    for (u32 i = 0; i < CORE_BLOCKS; i++)
        memory_view_destroy(((struct check *)state)->views[i]);
}

static void launch(void *state, struct core *core, bool begins)
{
    ((struct check *)state)->next = 0;
}

static void dispatch(void *state, struct core *core, struct dispatch *d)
{
    struct check *check = state;
    if (core_config(core)->index + 1 != core_config(core)->cores)
        return;
    d->answer = check->next < d->block ? DISPATCH_COPY : DISPATCH_REFUSE;
    if (d->answer == DISPATCH_REFUSE)
        return;
    d->copy = check->next;
    check->next += check->params->every;
    check->stats->copies++;
}

static void block(void *state, struct core *core, u32 place, bool started)
{
    memory_view_clear(((struct check *)state)->views[place]);
}

static struct memory_view *view(void *state, struct core *core, struct inflight *inflight,
                                struct memory_view *plain)
{
    struct check *check = state;
    const u32 place = core_slot(core, inflight->slot)->block;
    if (!core_block(core, place)->copy)
        return plain;
    inflight->silent = true;
    check->stats->stores += inflight->dyn.stores;
    return check->views[place];
}

const struct mechanism check_mechanism = {
    MECHANISM_NAMED(check, "copies of blocks on a core of their own"),
    .state_size = sizeof(struct check),
    .create = create,
    .destroy = destroy,
    .launch = launch,
    .dispatch = dispatch,
    .block = block,
    .view = view,
};
