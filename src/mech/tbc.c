/*
 * Thread block compaction: at a divergent branch, warps of a block wait for each other, and their
 * threads are formed into new warps, each of threads that go the same way (compaction.h). What is
 * waited for, and when warps are formed, are parameters: in the paper, all warps wait at every branch
 * that may diverge (wait=all), and warps are formed after each that does (when=always).
 */
#include "mech/compaction.h"

#define COMPONENT tbc
#define COMPONENT_DEF "mech/tbc.def"
#define COMPONENT_HELP "thread block compaction"
#include "base/component_struct.h"
#include "base/component_table.h"

static void storage(const void *params, struct state_list *list)
{
    compaction_storage(params, "tbc", list);
}

static const struct energy_event events[] = {COMPACTION_EVENTS("tbc")};

static const char *const deviations[] = {
    "Warps whose threads agree do not wait, and warps are formed anew only if fewer result: so a "
    "program that does not diverge runs as without. wait=all and when=always are as published.",
    "A warp that is formed anew has no instruction in flight. The papers let the scoreboard follow "
    "the threads, or do not say.",
    "Branches are taken out whose region synchronises, reads other lanes or may wait for data of "
    "other threads; there, warps diverge by themselves. Fung and Aamodt leave such code to the "
    "programmer.",
    "Priorities of branches that are likely to converge early are not modelled: threads meet at "
    "the "
    "immediate post-dominator.",
    "A register of a re-formed warp takes one bank, as in MIAOW, where each lane reads a page of "
    "its "
    "own. In a register file whose banks are as wide as a warp, it would take those of all homes: "
    "banks=home.",
    "With explicit EXEC, regions are those of branches on EXEC of which it is proved that any warp "
    "may "
    "execute them; warps that hold different scalars which a region reads continue as they were.",
    NULL,
};

/* They keep registers in forms of their own, or follow the instructions of whole warps. */
static const char *const conflicts[] = {
    "avf",  "block_sync", "dac_ideal",        "darsie",     "gr_guard",
    "less", "lifetimes",  "operand_file",     "redundancy", "register_ecc",
    "rise", "uniform",    "variable_latency", "waits",      NULL};

const struct mechanism tbc_mechanism = {
    MECHANISM_NAMED(tbc, "threads of a block that go the same way after a divergent branch are "
                         "compacted into fewer warps"),
    .source = "W. W. L. Fung, T. M. Aamodt, \"Thread block compaction for efficient SIMT control "
              "flow\", HPCA 2011; R. Balasubramanian and others, \"Enabling GPGPU low-level "
              "hardware explorations with MIAOW\", ACM TACO 2015, section 5",
    .deviations = deviations,
    .conflicts = conflicts,
    .events = events,
    .storage = storage,
    COMPACTION_SEAMS,
};
