/*
 * Large warps: eight neighbouring warps of a block are one large warp of 256 threads, and what the
 * pipeline executes are its sub-warps, packed column by column from the threads that are at the same
 * instruction (compaction.h). A column is a lane: a thread stays in its lane. All sub-warps of a large
 * warp wait for each other at every conditional branch, since the large warp has one stack.
 *
 * The paper schedules large warps in two levels; here that is a parameter of the machine
 * (issue.policy=two_level).
 */
#include "mech/compaction.h"

#define COMPONENT lwm
#define COMPONENT_DEF "mech/lwm.def"
#define COMPONENT_HELP "large warps"
#include "base/component_struct.h"
#include "base/component_table.h"

static void storage(const void *params, struct state_list *list)
{
    compaction_storage(params, "lwm", list);
}

static const struct energy_event events[] = {COMPACTION_EVENTS("lwm")};

static const char *const deviations[] = {
    "Sub-warps are packed when the threads of a large warp go different ways or meet, not each "
    "time "
    "that one issues: in between, its active threads only change by exits.",
    "Each sub-warp fetches its instructions, which the paper fetches once for a large warp; and "
    "its "
    "sub-warps may be at different instructions between two branches.",
    "Sub-warps are packed anew when none has an instruction in flight. The paper does not say what "
    "becomes of the scoreboard.",
    "Branches are taken out whose region synchronises, reads other lanes or may wait for data of "
    "other threads; there, each warp diverges by itself. A large warp of the paper always diverges "
    "as a whole.",
    "The optimisation of unconditional branches is not modelled; the warps of a block that do not "
    "fill a large warp form a smaller one.",
    "With explicit EXEC, regions are those of branches on EXEC of which it is proved that any warp "
    "may "
    "execute them; warps that hold different scalars which a region reads continue as they were.",
    NULL,
};

/* They keep registers in forms of their own, or follow the instructions of whole warps. */
static const char *const conflicts[] = {
    "avf",  "block_sync", "dac_ideal",    "darsie",           "gr_guard",
    "less", "lifetimes",  "operand_file", "redundancy",       "register_ecc",
    "rise", "tbc",        "uniform",      "variable_latency", "waits",
    NULL};

const struct mechanism lwm_mechanism = {
    MECHANISM_NAMED(lwm, "warps are packed from the threads of large warps that are at the same "
                         "instruction"),
    .source = "V. Narasiman and others, \"Improving GPU performance via large warps and two-level "
              "warp scheduling\", MICRO 2011",
    .deviations = deviations,
    .conflicts = conflicts,
    .events = events,
    .storage = storage,
    COMPACTION_SEAMS,
};
