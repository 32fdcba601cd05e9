/*
 * Warp throttling: only some warps of each scheduler may access memory, so that what they share of
 * the L1 is enough for each. The others go on up to their next access. Warps that wait at a barrier
 * or have ended make room for others, so that no barrier waits for a warp that is held.
 *
 * Source: static wavefront limiting, in T. G. Rogers, M. O'Connor and T. M. Aamodt,
 * "Cache-conscious wavefront scheduling", MICRO 2012. Parameters and statistics: throttle.def.
 */
#include "core/mechanism.h"

#define COMPONENT throttle
#define COMPONENT_DEF "throttle.def"
#define COMPONENT_HELP "limits the warps that access memory"
#include "base/component_struct.h"
#include "base/component_table.h"

struct throttle {
    MECHANISM_STATE(throttle);
};

/* Called when a scheduler has ready warps: bits are slots of the core, one for each warp. */
static void pick(void *state, struct core *core, u32 scheduler, struct pick *pick)
{
    const struct throttle *t = state;
    const u64 own = core_scheduler_slots(core, scheduler);
    u64 others = own & core_present(core) & ~core_ended(core) & ~core_waiting(core);
    for (u32 i = 0; i < t->params->warps; i++)
        others &= others - 1; /* the lowest one may go */
    const u64 held = others & core_memory_slots(core);
    pick->never |= held;
    t->stats->turns++;
    t->stats->held += held != 0;
}

static const char *const deviations[] = {
    "The paper limits the warps that issue at all; here only accesses to memory are held back.",
    "A warp that spins until another one has stored may keep that one from it forever.",
    NULL,
};

const struct mechanism throttle_mechanism = {
    MECHANISM_NAMED(throttle, "only a few warps of each scheduler may access memory"),
    .source = "T. G. Rogers, M. O'Connor and T. M. Aamodt, \"Cache-conscious wavefront "
              "scheduling\", MICRO 2012 (static wavefront limiting)",
    .deviations = deviations,
    .state_size = sizeof(struct throttle),
    .pick = pick,
};

MECHANISM_PLUGIN(throttle)
