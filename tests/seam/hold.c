/*
 * Test mechanism: every result with vector registers takes hold.cycles on its result bus, and the
 * results behind it wait. With hold.cycles = 1 it changes nothing.
 *
 * Seam: write-back (hold).
 */
#include "seam/seam.h"

#define COMPONENT hold
#define COMPONENT_DEF "seam/hold.def"
#define COMPONENT_HELP "slow writes of registers, for tests"
#include "base/component_struct.h"
#include "base/component_table.h"

struct hold {
    MECHANISM_STATE(hold);
    u64 bus_free[16];         /* cycle from which each bus takes a result */
    u64 until[CORE_INFLIGHT]; /* 1 + the cycle in which the result is written; 0: not come yet */
};

static bool writes_vectors(const struct inflight *inflight)
{
    return inflight->dyn.kind <= DYNINST_ACCESS &&
           (inflight->dyn.dst_rows[0] || inflight->dyn.dst_rows[1]);
}

/* The bus that is free first takes it. */
static u64 take_bus(struct hold *hold, struct core *core)
{
    u64 now = core_cycle(core);
    u32 best = 0,
        buses = MIN(core_config(core)->units->result_buses, (u32)ARRAY_LEN(hold->bus_free));
    for (u32 b = 1; b < buses; b++)
        if (hold->bus_free[b] < hold->bus_free[best])
            best = b;
    u64 start = MAX(now, hold->bus_free[best]);
    hold->bus_free[best] = start + hold->params->cycles;
    hold->stats->writes++;
    hold->stats->waits += start - now;
    return start + hold->params->cycles - 1;
}

static enum write_back_answer write_back(void *state, struct core *core, struct inflight *inflight)
{
    struct hold *hold = state;
    u64 *until = &hold->until[inflight_index(core, inflight)];
    if (!writes_vectors(inflight))
        return WRITE_BACK_COMMIT;
    if (!*until)
        *until = 1 + take_bus(hold, core);
    return core_cycle(core) + 1 < *until ? WRITE_BACK_HOLD : WRITE_BACK_COMMIT;
}

static void retired(void *state, struct core *core, struct inflight *inflight)
{
    ((struct hold *)state)->until[inflight_index(core, inflight)] = 0;
}

const struct mechanism hold_mechanism = {
    MECHANISM_NAMED(hold, "results are on the result bus for several cycles"),
    .state_size = sizeof(struct hold),
    .forgets = true,
    .write_back = write_back,
    .retired = retired,
};
