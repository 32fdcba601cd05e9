/* Test mechanism: banks and result buses that take long, and registers that are spread over banks. */
#include "seam/seam.h"

#define COMPONENT slow
#define COMPONENT_DEF "seam/slow.def"
#define COMPONENT_HELP "slow banks and buses, for tests"
#include "base/component_struct.h"
#include "base/component_table.h"

struct slow {
    MECHANISM_STATE(slow);
};

static void launch(void *state, struct core *core, bool begins)
{
    struct slow *s = state;
    if (begins)
        return;
    s->stats->bank_waits += core_write_waits(core)->banks;
    s->stats->bus_waits += core_write_waits(core)->buses;
}

static void places(void *state, struct core *core, const struct inflight *inflight, bool write,
                   struct places *places)
{
    struct slow *s = state;
    const struct slow_params *p = s->params;
    for (u32 i = 0; i < places->count; i++) {
        places->at[i].cycles = (u8)(write ? p->write : p->read);
        if (p->one_bank)
            places->at[i].banks = core_bank_mask(core, write ? 0 : 1);
        if (p->apart && !write)
            places->at[i].banks = 255ull << i * p->apart;
    }
    if (!write)
        return;
    places->arbitrate = p->arbitrate;
    places->bus_cycles = (u8)p->bus;
    s->stats->again += places->waited;
}

const struct mechanism slow_mechanism = {
    MECHANISM_NAMED(slow, "slow banks and buses"),
    .state_size = sizeof(struct slow),
    .launch = launch,
    .places = places,
};
