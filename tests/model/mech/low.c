/* Test mechanism: supplies of the register file and of the units. List: supplies. */
#include "mech.h"

#define COMPONENT low
#define COMPONENT_DEF "low.def"
#define COMPONENT_HELP "supplies of their own, for tests"
#include "base/component_struct.h"
#include "base/component_table.h"

static const struct energy_supply supplies[] = {
    {"collect.registers", "registers", "rate"},
    {"units", "units"},
    {0},
};

const struct mechanism low_mechanism = {
    MECHANISM_NAMED(low, "supplies of their own"),
    .supplies = supplies,
};
