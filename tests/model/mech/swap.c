/* Test mechanism: the register file is built of other cells. Lists: replaces, cells, events. */
#include "mech.h"

#define COMPONENT swap
#define COMPONENT_DEF "swap.def"
#define COMPONENT_HELP "a register file of other cells, for tests"
#include "base/component_struct.h"
#include "base/component_table.h"

struct swap {
    MECHANISM_STATE(swap);
};

static void retired(void *state, struct core *core, struct inflight *inflight)
{
    struct swap *swap = state;
    swap->stats->writes += inflight->lane_writes > 0;
}

static void storage(const void *params, struct state_list *list)
{
    enum {
        VECTORS = 1024,
        VECTOR_BITS = 1024
    };
    state_add(list, "swap", "cells", VECTORS, VECTOR_BITS, STATE_COUNTED, "vector registers");
}

static bool counts(const void *params)
{
    return ((const struct swap_params *)params)->counts;
}

static bool counts_not(const void *params)
{
    return !counts(params);
}

static const struct energy_replace replaces[] = {
    {"collect.registers", NULL, NULL, counts},
    {"collect.registers", "swap.cells", "cells", counts_not},
    {0},
};

static const struct energy_cell cells[] = {
    {
        .element = "swap.cells",
        .cell = "STT-RAM",
        .area_um2 = 1e5,
        .leakage_mw = 3.21,
        .read_pj = 82,
        .write_pj = 529,
        .delay_ps = 5124,
        .nm = 40,
        .source = "table 4.1",
        .given = {.leakage_mw = "leakage_mw", .read_pj = "read_pj"},
    },
    {0},
};

static const struct energy_event events[] = {
    {"writes", "counted cells", ENERGY_WRITE, "swap.cells"},
    {0},
};

/* Without `counts` the machine counts; the events above are there all the same. */
static u32 idle(const void *params)
{
    return counts(params) ? 0 : 1u << SEAM_RETIRED;
}

const struct mechanism swap_mechanism = {
    MECHANISM_NAMED(swap, "a register file of other cells"),
    .events = events,
    .replaces = replaces,
    .cells = cells,
    .state_size = sizeof(struct swap),
    .idle = idle,
    .storage = storage,
    .retired = retired,
};
