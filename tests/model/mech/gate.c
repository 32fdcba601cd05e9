/* Test mechanism: a share of the register file is powered. List: powers; seam: settle. */
#include "mech.h"

#define COMPONENT gate
#define COMPONENT_DEF "gate.def"
#define COMPONENT_HELP "a register file that is powered in part, for tests"
#include "base/component_struct.h"
#include "base/component_table.h"

enum {
    FS_PER_PS = 1000
};

struct gate {
    MECHANISM_STATE(gate);
    fs since; /* counted up to here */
};

static void launch(void *state, struct core *core, bool begins)
{
    if (begins)
        ((struct gate *)state)->since = core_now(core);
}

static void settle(void *state, struct core *core, fs now)
{
    struct gate *gate = state;
    const u64 entries = (u64)(gate->params->share * core_config(core)->core->registers);
    const u64 ps = (now - gate->since) / FS_PER_PS;
    gate->stats->powered += entries * ps;
    gate->since += ps * FS_PER_PS;
}

static const struct energy_power powers[] = {
    {"collect.registers", "powered", "off", "powered registers"},
    {0},
};

const struct mechanism gate_mechanism = {
    MECHANISM_NAMED(gate, "a register file that is powered in part"),
    .powers = powers,
    .state_size = sizeof(struct gate),
    .launch = launch,
    .settle = settle,
};
