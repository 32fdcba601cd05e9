/*
 * Hardware costs of `loscache`: the prediction tables and what is added to the L2, the energy of
 * accesses to them, and the deviations from the published design.
 *
 * Sizes are the text's (section 7.2.4): 21 entries of 25 + 32 + 6 bits, and 6 bits for each line.
 * What this design needs beyond that has rows of its own.
 */
#include "mech/loscache.h"

enum {
    ADDRESS_BITS = 25, /* of a line in 4 GB, section 7.2.4 */
    PC_BITS = 32
};

void loscache_storage(const void *params, struct state_list *list)
{
    const struct loscache_params *p = params;
    const struct state_row *lines = state_find(list, "l2.data"),
                           *waiters = state_find(list, "l2.waiters");
    const char *const owner = list->owner;
    const u64 copies = list->copies;
    if (p->gating == LOSCACHE_IDEAL)
        return;
    state_add(list, "loscache", "pcs", p->entries, PC_BITS, STATE_LIVE,
              "prediction table: instructions");
    state_shape(list, (struct array_shape){.searched = true});
    state_add(list, "loscache", "table", p->entries, ADDRESS_BITS + LOSCACHE_BITS, STATE_LIVE,
              "prediction table: a line of the L2, and its access count");
    state_add(list, "loscache", "added", p->entries, 3, STATE_LIVE,
              "what early gating adds to a prediction, and whether the count is known; not in the "
              "published size");
    if (!lines) /* the machine has no L2 */
        return;
    const u64 places = lines->entries, slices = lines->copies;
    const u64 requests = waiters ? waiters->entries : 0;
    state_owner(list, "slice", slices);
    state_add(list, "loscache", "counts", places, LOSCACHE_BITS, STATE_LIVE, "accesses of a line");
    state_add(list, "loscache", "powered", places, 1, STATE_LIVE,
              "whether a line is on; not in the published size");
    state_add(list, "loscache", "waiting", requests, LOSCACHE_BITS, STATE_LIVE,
              "predictions of requests that wait for DRAM; not in the published size");
    state_owner(list, owner, copies);
}

const struct energy_event loscache_events[] = {
    {"searches", "loscache", ENERGY_SEARCH, "loscache.pcs"},
    {"predicted", "loscache", ENERGY_READ, "loscache.table"},
    {"predicted", "loscache", ENERGY_READ, "loscache.added"},
    {"inserts", "loscache", ENERGY_WRITE, "loscache.pcs"},
    {"inserts", "loscache", ENERGY_WRITE, "loscache.table"},
    {"read_backs", "loscache", ENERGY_WRITE, "loscache.table"},
    {"added", "loscache", ENERGY_WRITE, "loscache.added"},
    {"counted", "loscache", ENERGY_READ, "loscache.counts"},
    {"counted", "loscache", ENERGY_WRITE, "loscache.counts"},
    {"probed", "loscache", ENERGY_READ, "l2.tags"},
    {"probed", "loscache", ENERGY_READ, "loscache.counts"},
    {"wakeups", "loscache", ENERGY_WRITE, "loscache.powered"},
    {"gated", "loscache", ENERGY_WRITE, "loscache.powered"},
    {0},
};

const struct energy_power loscache_powers[] = {
    {.element = "l2.data", .counter = "powered_ps", .off = "off"},
    {0},
};

const char *const loscache_deviations[] = {
    "The text compares a line's count with the prediction before it adds the access to the count, "
    "and "
    "calls the access the last one when the count is not smaller: that gates one access late. Here "
    "the count grows first; `order` has the other order.",
    "A header of 8 bytes has room for the 6 bits of a prediction beside an address of 32 bits, and "
    "an "
    "answer for the flag, so that only counts that are read back cost traffic, as in the text; "
    "in_header=false counts them in flits.",
    "The prediction phase ends after 100 accesses to the L2 of the core, by any of its blocks; the "
    "text does not say whose accesses count.",
    "The predictor is drawn from the blocks that a core has at its first request.",
    "An instruction that did not access the L2 in the prediction phase, or whose line had left "
    "when "
    "its count was read back, makes no predictions.",
    "Counts and gated tags last from launch to launch, as data do; tables and predictions start "
    "again with each launch.",
    "A gated line that is missed again may wake up in another way of its set.",
    "A line is gated when the answer to its last predicted access leaves the slice; if the queue "
    "to "
    "DRAM has no room for its dirty data, later.",
    "Atomics always allocate a line, in which the L2 performs them.",
    "Waking a line takes no time, for stores, either, which do not wait for data from DRAM. "
    "Switching a line costs the energy of writing its bit.",
    "Tags, counts and the state of lines are always powered.",
    "Instructions and constants are counted in the L2 but make and get no predictions.",
    "Where lines are allocated when they are filled (l2.allocate=fill), the access that misses is "
    "not counted.",
    NULL,
};
